/* SPDX-License-Identifier: MIT
 *
 * test_asleep.c - a relay that has nothing to do costs its store next to nothing, and misses nothing: what
 * nobody announced is found by the rounds that it makes.
 *
 * Commits are announced here by the test alone, and time passes in waits alone.
 */
#include "desk.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"

#define ROUND_US OWED_MINUTES(1)
#define WAIT_US OWED_SECONDS(15)

/* The fixture's store, of which nothing is heard but what the test says. */
static struct {
    struct driver driver;
    const struct driver *real;
    int sign; // eventfd
    bool is_deaf;
    bool has_fired;
    int transactions;
    int claims;
    int64_t until_us;
    void (*at_wait)(struct desk *desk);
} quiet;

static int
quiet_fd(struct db *db)
{
    (void)db;
    return quiet.sign;
}

static bool
quiet_changed(struct db *db)
{
    (void)db;
    eventfd_t count;
    return eventfd_read(quiet.sign, &count) == 0;
}

static bool
quiet_asleep(struct db *db, bool on)
{
    (void)db;
    return on && !quiet.is_deaf;
}

static owed_status
count_begin(struct db *db, bool write, owed_error *err)
{
    quiet.transactions++;
    return quiet.real->begin(db, write, err);
}

static bool
is_claim(enum stmt stmt)
{
    return (stmt >= STMT_CLAIM_PICK_LANES && stmt <= STMT_CLAIM_PICK_BUT) ||
        (stmt >= STMT_CLAIM_LANES && stmt <= STMT_CLAIM_BUT);
}

static owed_status
count_run(struct db *db, enum stmt stmt, const struct value *args, size_t count,
    struct rows **ret_rows, owed_error *err)
{
    quiet.transactions += !store_in_transaction(db);
    quiet.claims += is_claim(stmt);
    return quiet.real->run(db, stmt, args, count, ret_rows, err);
}

static const owed_receiver stock = {.key = "shop.stock"};
static const char payload[] = "{\"id\": 1, \"cents\": 2, \"currency\": \"EUR\"}";

static int64_t
passed_us(const struct desk *desk)
{
    return desk->f->now_us - FIXTURE_NOW_US;
}

static void
at_wait(struct desk *desk)
{
    if (quiet.at_wait != NULL)
        quiet.at_wait(desk);
    if (passed_us(desk) >= quiet.until_us)
        owed_relay_stop(desk->f->owed);
}

static void
open_quiet(struct desk *desk, struct actor *actor)
{
    desk->f->has_one_clock = true;
    desk_receiver(desk, actor, stock);
    fixture_open(desk->f);
    struct db *db = desk->f->owed->db;
    memset(&quiet, 0, sizeof quiet);
    quiet.sign = eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC); // that of its own first commit
    quiet.real = db->driver;
    quiet.driver = *db->driver;
    quiet.driver.wake_fd = quiet_fd;
    quiet.driver.changed = quiet_changed;
    quiet.driver.asleep = quiet_asleep;
    quiet.driver.deaf = NULL;
    quiet.driver.begin = count_begin;
    quiet.driver.run = count_run;
    db->driver = &quiet.driver;
    desk->at_wait = at_wait;
    desk->seat.hears = true;
}

static void
run_until(struct desk *desk, int64_t until_us)
{
    quiet.until_us = until_us;
    desk_run(desk);
    close(quiet.sign);
}

static void
fire_in_silence(struct desk *desk)
{
    raw_fire(desk->f->raw, "shop.OrderPlaced", payload);
    quiet.has_fired = true;
}

static void
fire_once_in_silence(struct desk *desk)
{
    if (passed_us(desk) >= OWED_MINUTES(5) && !quiet.has_fired)
        fire_in_silence(desk);
}

/* --- what it costs --- */

static void
forget_the_start(struct desk *desk)
{
    if (passed_us(desk) > OWED_MINUTES(5))
        return;
    quiet.transactions = quiet.claims = 0;
}

static void
an_asleep_relay_asks_everything_in_one_transaction_twice_a_minute(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_quiet(desk, &actor);
    quiet.at_wait = forget_the_start;
    run_until(desk, OWED_MINUTES(25));
    int rounds = 2 * 20;
    int prunes = test_store_is("sqlite") ? 20 : 0; // a single writer's others do not wait for that
    assert_in_range(quiet.transactions, rounds / 2, rounds + prunes + 3); // and its end
    assert_int_equal(quiet.claims, 0);
    assert_int_equal(desk_number(desk, "select count(*) from owed_relay"), 0); // it took leave
}

static void
what_a_relay_says_of_itself_does_not_wait_for_the_disk(void **state)
{
    ONLY_ON("postgres", "elsewhere nobody is told how a commit waits");
    struct desk *desk = *state;
    struct actor actor = {0};
    open_quiet(desk, &actor);
    desk->f->store.is_spoilt = true;
    raw_run(desk->f->raw,
        "create table commits (what text, waits text);"
        "create function note_commit() returns trigger language plpgsql as $$ begin"
        " insert into commits values (tg_op, current_setting('synchronous_commit'));"
        " return null; end $$;"
        "create constraint trigger note_commit after insert or update or delete on owed_relay"
        " deferrable initially deferred for each row execute function note_commit()");
    run_until(desk, OWED_MINUTES(5));
    assert_int_equal(desk_number(desk, "select count(distinct what) from commits"), 3);
    assert_int_equal(desk_number(desk, "select count(*) from commits where waits <> 'off'"), 0);
}

/* --- what it finds --- */

static void
what_nobody_announced_is_found_within_a_round(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_quiet(desk, &actor);
    quiet.at_wait = fire_once_in_silence;
    run_until(desk, OWED_MINUTES(5) + ROUND_US + 2 * WAIT_US);
    assert_int_equal(actor.calls, 1);
    assert_count(desk, "succeeded", 1);
}

static int64_t called_at_us;

static owed_outcome
notes_when(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)delivery;
    (void)order;
    called_at_us = passed_us(actor->desk);
    return owed_done();
}

static void
a_row_that_is_due_far_ahead_is_delivered_in_time_and_not_looked_for_meanwhile(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = notes_when}};
    open_quiet(desk, &actor);
    const order order = {.id = 1, .currency = "EUR"};
    const owed_fire_options options = {.due_at_us = FIXTURE_NOW_US + OWED_MINUTES(20)};
    int64_t id = 0;
    fixture_begin(desk->f);
    assert_ok(owed_fire(desk->f->tx, &order_placed, &order, &options, &id, &desk->f->err));
    fixture_commit(desk->f);
    quiet.at_wait = forget_the_start;
    run_until(desk, OWED_MINUTES(21));
    assert_int_equal(actor.calls, 1);
    assert_in_range(called_at_us, OWED_MINUTES(20), OWED_MINUTES(20) + OWED_SECONDS(1));
    assert_in_range(quiet.claims, 1, 12); // those of the minute after it
}

/* leave_to_a_dead_relay is what one leaves behind that was killed elsewhere: nobody hears of it. */
static void
leave_to_a_dead_relay(struct desk *desk)
{
    if (passed_us(desk) < OWED_MINUTES(5) || quiet.has_fired)
        return;
    fire_in_silence(desk);
    raw_runf(desk->f->raw,
        "update owed_delivery set status = 'claimed', claimed_by = 'gone', claimed_at = moment(%lld), "
        "lease_expires_at = moment(%lld)",
        (long long)FIXTURE_NOW_US, (long long)(FIXTURE_NOW_US + OWED_MINUTES(10)));
}

static void
what_a_dead_relay_held_is_taken_when_its_lease_is_over(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = notes_when}};
    open_quiet(desk, &actor);
    quiet.at_wait = leave_to_a_dead_relay;
    run_until(desk, OWED_MINUTES(11));
    assert_int_equal(actor.calls, 1);
    assert_in_range(called_at_us, OWED_MINUTES(10), OWED_MINUTES(10) + OWED_SECONDS(1));
}

static void
what_waits_for_a_pause_to_end_is_delivered_within_a_round_of_it(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = notes_when}};
    open_quiet(desk, &actor);
    const struct pausing pausing = {.receiver_key = stock.key,
        .now_us = FIXTURE_NOW_US,
        .until_us = FIXTURE_NOW_US + OWED_MINUTES(10),
        .who = "somebody",
        .reason = "a test"};
    int64_t paused = 0;
    assert_ok(store_pause(desk->f->other, &pausing, &paused, &desk->f->err));
    assert_int_equal(paused, 1);
    quiet.at_wait = fire_once_in_silence;
    run_until(desk, OWED_MINUTES(10) + ROUND_US + 3 * WAIT_US);
    assert_int_equal(actor.calls, 1);
    assert_in_range(called_at_us, OWED_MINUTES(10), OWED_MINUTES(10) + ROUND_US + 3 * WAIT_US);
}

static void
fire_to_nobody(struct desk *desk)
{
    if (passed_us(desk) < OWED_MINUTES(5) || quiet.has_fired)
        return;
    fire_in_silence(desk);
    raw_run(desk->f->raw,
        "update owed_delivery set receiver_key = 'shop.nobody', available_at = moment(8000000000000000)");
}

static void
what_is_owed_to_nobody_is_orphaned_within_a_round(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_quiet(desk, &actor);
    quiet.at_wait = fire_to_nobody;
    run_until(desk, OWED_MINUTES(5) + ROUND_US + 2 * WAIT_US);
    assert_count(desk, "orphaned", 1);
    assert_int_equal(actor.calls, 0);
}

static void
what_is_old_is_deleted_while_the_relay_sleeps(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_quiet(desk, &actor);
    quiet.at_wait = fire_once_in_silence; // by the store's own clock, and that is long ago
    run_until(desk, OWED_MINUTES(15));
    assert_int_equal(actor.calls, 1);
    assert_int_equal(desk_number(desk, "select count(*) from owed_event"), 0);
}

static void
a_relay_that_hears_nothing_goes_on_polling(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = notes_when}};
    open_quiet(desk, &actor);
    quiet.is_deaf = true;
    quiet.at_wait = fire_once_in_silence;
    run_until(desk, OWED_MINUTES(6));
    assert_int_equal(actor.calls, 1);
    assert_in_range(called_at_us, OWED_MINUTES(5), OWED_MINUTES(5) + OWED_SECONDS(3));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, desk_setup, desk_teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_asleep_relay_asks_everything_in_one_transaction_twice_a_minute),
        TEST(what_a_relay_says_of_itself_does_not_wait_for_the_disk),
        TEST(what_nobody_announced_is_found_within_a_round),
        TEST(a_row_that_is_due_far_ahead_is_delivered_in_time_and_not_looked_for_meanwhile),
        TEST(what_a_dead_relay_held_is_taken_when_its_lease_is_over),
        TEST(what_waits_for_a_pause_to_end_is_delivered_within_a_round_of_it),
        TEST(what_is_owed_to_nobody_is_orphaned_within_a_round),
        TEST(what_is_old_is_deleted_while_the_relay_sleeps),
        TEST(a_relay_that_hears_nothing_goes_on_polling),
    };
    return RUN_ON_ALL_STORES("asleep", tests);
}
