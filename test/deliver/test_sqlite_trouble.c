/* SPDX-License-Identifier: MIT
 *
 * test_sqlite_trouble.c - a store that goes away: said once, waited for longer and longer, and then gone on.
 */
#include "desk.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"

static const owed_receiver stock = {.key = "shop.stock"};

/* The file is moved away, and the connection that was open is cut. */
struct outage {
    struct fault fault;
    char path[128], away[140];
    size_t ends_at_wait;
    bool stops;
};

static struct outage outage;

static void
begin_outage(struct desk *desk, size_t ends_at_wait)
{
    outage = (struct outage){.ends_at_wait = ends_at_wait};
    outage.fault = (struct fault){.fail_at = 1000000, .status = OWED_UNAVAILABLE};
    snprintf(outage.path, sizeof outage.path, "%s", desk->f->url + strlen("sqlite:"));
    snprintf(outage.away, sizeof outage.away, "%s.away", outage.path);
    desk->f->owed->db = driver_fault_wrap(desk->f->owed->db, &outage.fault);
}

static void
cut(struct desk *desk)
{
    (void)desk;
    outage.fault.fail_at = outage.fault.calls + 1;
    assert_int_equal(rename(outage.path, outage.away), 0);
}

static void
wait_for_the_end(struct desk *desk)
{
    if (outage.stops)
        owed_relay_stop(desk->f->owed);
    if (desk->wait_count == outage.ends_at_wait)
        assert_int_equal(rename(outage.away, outage.path), 0);
}

/* open_orders fires orders 1 to count to the actor; what is cut from then on is back after that many waits. */
static void
open_orders(struct desk *desk, struct actor *actor, int64_t count, size_t ends_at_wait)
{
    desk_receiver(desk, actor, stock);
    fixture_open(desk->f);
    desk_fire_many(desk, count);
    begin_outage(desk, ends_at_wait);
}

static owed_outcome
cuts(struct actor *actor, owed_delivery *delivery, const order *order)
{
    cut(actor->desk);
    return writes(actor, delivery, order);
}

static owed_outcome
cuts_once(struct actor *actor, owed_delivery *delivery, const order *order)
{
    actor->acts[order->id] = NULL;
    return cuts(actor, delivery, order);
}

static size_t
times_logged(const struct desk *desk, const char *words)
{
    size_t count = 0;
    const char *p = buf_text(&desk->f->log);
    while ((p = strstr(p, words)) != NULL) {
        count++;
        p++;
    }
    return count;
}

static void
a_relay_backs_off_and_comes_back(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[2] = cuts_once}};
    open_orders(desk, &actor, 3, 7);
    desk->at_wait = wait_for_the_end;
    desk->settings.passes = 9;
    desk_run(desk);
    const int64_t seconds[] = {1, 2, 4, 8, 15, 15, 15};
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(desk->waits[i], seconds[i] * US_PER_SECOND);
    assert_int_equal(times_logged(desk, "the store failed"), 2); // cut, then not there
    assert_int_equal(times_logged(desk, "the store is back"), 1);
    // The one whose transaction was cut, and the one that had not begun, were free at once.
    assert_count(desk, "succeeded", 3);
    assert_int_equal(actor.calls, 4);
    assert_int_equal(desk_written(desk, 2), 1);
    assert_int_equal(desk_number(desk, "select max(attempts) from owed_delivery"), 1);
    assert_int_equal(desk_number(desk, "select max(losses) from owed_delivery"), 0);
}

static owed_outcome
cuts_and_asks_for_nothing(struct actor *actor, owed_delivery *delivery, const order *order)
{
    cut(actor->desk);
    return asks_for_nothing(actor, delivery, order);
}

static void
an_outcome_that_could_not_be_written_is_kept_and_nothing_runs_twice(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = cuts_and_asks_for_nothing}};
    open_orders(desk, &actor, 1, 2);
    desk->at_wait = wait_for_the_end;
    desk->settings.passes = 6;
    desk_run(desk);
    assert_int_equal(actor.calls, 1);
    assert_count(desk, "succeeded", 1);
    assert_int_equal(desk->counts.succeeded, 1);
}

static void
a_run_that_is_meant_to_end_gives_up(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = cuts}};
    open_orders(desk, &actor, 1, 0);
    desk->settings.once = true;
    assert_status(OWED_UNAVAILABLE,
        relay_work(desk->f->owed, &desk->settings, &desk->seat, NULL, &desk->f->err));
    assert_int_equal(desk->wait_count, 4);
    assert_int_equal(rename(outage.away, outage.path), 0);
}

static void
a_stop_ends_the_back_off(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = cuts}};
    open_orders(desk, &actor, 1, 0);
    outage.stops = true;
    desk->at_wait = wait_for_the_end;
    desk_run(desk);
    assert_int_equal(desk->wait_count, 1);
    assert_true(desk_logged(desk, "the store is still away"));
    assert_int_equal(rename(outage.away, outage.path), 0);
}

/* restore_a_copy puts another file in the store's place, as who restores a backup does, and fires there. */
static void
restore_a_copy(struct desk *desk)
{
    desk->at_wait = NULL;
    const char *path = desk->f->url + strlen("sqlite:");
    char text[400];
    snprintf(text, sizeof text, "vacuum into '%s.copy'", path);
    raw_run(desk->f->raw, text);
    static const char *const endings[] = {"-wal", "-shm"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        snprintf(text, sizeof text, "%s%s", path, endings[i]);
        assert_int_equal(unlink(text), 0);
    }
    snprintf(text, sizeof text, "%s.copy", path);
    assert_int_equal(rename(text, path), 0);
    raw_close(desk->f->raw);
    desk->f->raw = raw_open(desk->f->url);
    store_close(desk->f->other);
    owed_error err;
    assert_ok(store_open(desk->f->url, &(struct db_options){0}, &desk->f->other, &err));
    raw_fire(desk->f->raw, "shop.OrderPlaced", "{\"id\": 2, \"cents\": 1}");
}

static void
a_file_put_in_the_stores_place_is_the_store_from_then_on(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    desk_receiver(desk, &actor, stock);
    fixture_open(desk->f);
    desk_fire(desk, 1);
    desk->at_wait = restore_a_copy;
    desk->settings.passes = 8;
    desk_run(desk);
    assert_count(desk, "succeeded", 2);
    assert_int_equal(desk_written(desk, 2), 1);
    assert_true(desk_logged(desk, "was deleted or replaced"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, desk_setup, desk_teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_relay_backs_off_and_comes_back),
        TEST(an_outcome_that_could_not_be_written_is_kept_and_nothing_runs_twice),
        TEST(a_run_that_is_meant_to_end_gives_up),
        TEST(a_stop_ends_the_back_off),
        TEST(a_file_put_in_the_stores_place_is_the_store_from_then_on),
    };
    return RUN_ON_SQLITE("trouble", tests);
}
