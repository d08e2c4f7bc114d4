/* SPDX-License-Identifier: MIT
 *
 * test_group.c - receivers that touch this database alone share a transaction, and none of them can
 * tell: what one of them does to it never costs another its work, or gives it twice.
 */
#include "desk.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "deliver/group.h"

#define ORDERS (GROUP_ROWS + 10)

static const owed_receiver stock = {.key = "shop.stock", .database_only = true};

/* open_timed has run the receiver once (order 0), so that it is known to be quick. */
static void
open_timed(struct desk *desk, struct actor *actor)
{
    desk_receiver(desk, actor, stock);
    fixture_open(desk->f);
}

/* assert_each tells that every order of the run but one (0: none) took effect exactly once. */
static void
assert_each(struct desk *desk, int64_t count, int64_t but)
{
    for (int64_t i = 1; i <= count; i++)
        if (desk_written(desk, i) != (i != but))
            fail_msg("order %" PRId64 " was written %" PRId64 " times", i, desk_written(desk, i));
    assert_count(desk, "succeeded", count + 1 - (but != 0));
}

struct sight {
    int64_t rows_before[ORDERS]; // committed when each order's turn came
};

static owed_outcome
looks_and_writes(struct actor *actor, owed_delivery *delivery, const order *order)
{
    struct sight *sight = actor->state;
    sight->rows_before[order->id] = (int64_t)fixture_rows(actor->desk->f);
    return writes(actor, delivery, order);
}

static void
all_look(struct actor *actor, struct sight *sight)
{
    actor->state = sight;
    for (size_t i = 0; i < DESK_ORDERS; i++)
        actor->acts[i] = looks_and_writes;
}

static void
neighbours_share_one_commit_once_it_is_known_that_they_are_quick(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    struct sight sight = {{0}};
    all_look(&actor, &sight);
    open_timed(desk, &actor);
    desk_run_orders(desk, 5);
    assert_int_equal(sight.rows_before[1], 1);
    assert_int_equal(sight.rows_before[5], 1);
    assert_each(desk, 5, 0);
    assert_int_equal(desk->counts.succeeded, 6);
}

static void
a_group_has_at_most_as_many_rows_as_it_may(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    struct sight sight = {{0}};
    all_look(&actor, &sight);
    open_timed(desk, &actor);
    desk->settings.batch_size = ORDERS;
    int64_t most = test_store_is("sqlite") ? GROUP_ROWS : GROUP_SHARED_ROWS;
    desk_run_orders(desk, most + 2);
    assert_int_equal(sight.rows_before[most], 1);
    assert_int_equal(sight.rows_before[most + 1], most + 1);
    assert_each(desk, most + 2, 0);
}

static owed_outcome
takes_15_ms(struct actor *actor, owed_delivery *delivery, const order *order)
{
    actor->desk->f->now_us += 15 * US_PER_MS;
    return looks_and_writes(actor, delivery, order);
}

static void
a_group_is_open_for_a_tenth_of_a_second_at_most(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    struct sight sight = {{0}};
    all_look(&actor, &sight);
    for (size_t i = 0; i < DESK_ORDERS; i++)
        actor.acts[i] = takes_15_ms;
    open_timed(desk, &actor);
    desk_run_orders(desk, 9);
    // Its time began with the first statement of order 1, after 15 ms: seven more make it 105.
    assert_int_equal(sight.rows_before[8], 1);
    assert_int_equal(sight.rows_before[9], 9);
    assert_each(desk, 9, 0);
}

static owed_outcome
takes_30_ms(struct actor *actor, owed_delivery *delivery, const order *order)
{
    actor->desk->f->now_us += 30 * US_PER_MS;
    return looks_and_writes(actor, delivery, order);
}

static void
a_receiver_that_usually_takes_long_runs_alone(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    struct sight sight = {{0}};
    all_look(&actor, &sight);
    for (size_t i = 0; i < DESK_ORDERS; i++)
        actor.acts[i] = takes_30_ms;
    open_timed(desk, &actor);
    desk_run_orders(desk, 4);
    for (int64_t i = 1; i <= 4; i++)
        assert_int_equal(sight.rows_before[i], i);
}

static void
a_plain_receiver_never_shares(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    struct sight sight = {{0}};
    all_look(&actor, &sight);
    desk_receiver(desk, &actor, (owed_receiver){.key = "shop.stock"});
    fixture_open(desk->f);
    desk_run_orders(desk, 4);
    for (int64_t i = 1; i <= 4; i++)
        assert_int_equal(sight.rows_before[i], i);
}

/* --- what one does to the others --- */

static void
assert_calls(const struct actor *actor, const int64_t *orders, int count)
{
    assert_int_equal(actor->calls, count);
    for (int i = 0; i < count; i++)
        assert_int_equal(actor->orders[i], orders[i]);
}
#define CALLS(...) \
    ((const int64_t[]){__VA_ARGS__}), sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)

static void
note_failure(owed *handle, const owed_failure *failure, void *state)
{
    (void)handle;
    struct actor *actor = state;
    assert_int_equal(failure->attempt, 1);
    *(int *)actor->state += 1;
}

static void
a_failure_undoes_its_own_work_alone_and_is_recorded(void **state)
{
    struct desk *desk = *state;
    int told = 0;
    struct actor actor = {.acts = {[3] = writes_and_fails}, .state = &told};
    owed_receiver receiver = stock;
    receiver.on_failure = note_failure;
    desk_receiver(desk, &actor, receiver);
    fixture_open(desk->f);
    desk_run_orders(desk, 5);
    assert_each(desk, 5, 3);
    // What went with it is done again, and only the repetition counts, its own failure too.
    assert_calls(&actor, CALLS(0, 1, 2, 3, 1, 2, 3, 4, 5));
    assert_int_equal(told, 1);
    assert_int_equal(desk->counts.succeeded, 5);
    assert_int_equal(desk->counts.failed, 1);
    assert_int_equal(desk_number(desk, "select max(attempts) from owed_delivery"), 1);
    assert_count(desk, "failed", 1);
    assert_text(desk, "select last_error from owed_delivery where status = 'failed'",
        "order 3: nothing on the shelf");
    assert_int_equal(desk_number(desk, "select count(*) from owed_attempt"), 1);
}

static void
a_failure_that_wrote_nothing_ends_the_group_as_well(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[3] = fails}};
    open_timed(desk, &actor);
    desk_run_orders(desk, 5);
    assert_each(desk, 5, 3);
    assert_int_equal(actor.calls, 6); // with nothing to undo nobody ran twice
    assert_count(desk, "failed", 1);
}

static void
the_first_of_a_group_that_fails_has_nobody_to_repeat(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = writes_and_fails}};
    open_timed(desk, &actor);
    desk_run_orders(desk, 3);
    assert_each(desk, 3, 1);
    assert_calls(&actor, CALLS(0, 1, 2, 3));
}

static void
however_many_fail_each_of_the_others_takes_effect_once(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    for (size_t i = 2; i < DESK_ORDERS; i += 2)
        actor.acts[i] = i % 4 == 0 ? writes_and_fails : fails;
    open_timed(desk, &actor);
    desk->settings.batch_size = 50;
    desk_run_orders(desk, 20);
    for (int64_t i = 1; i <= 20; i++)
        assert_int_equal(desk_written(desk, i), i % 2);
    assert_count(desk, "succeeded", 11);
    assert_count(desk, "failed", 10);
    assert_int_equal(desk_number(desk, "select max(attempts) from owed_delivery"), 1);
    assert_int_equal(desk_number(desk, "select count(*) from owed_attempt"), 10);
    // None of them more than twice: where it went with a neighbour's failure, or failed itself.
    for (int64_t order = 1; order <= 20; order++) {
        int calls = 0;
        for (int i = 0; i < actor.calls; i++)
            calls += actor.orders[i] == order;
        assert_in_range(calls, 1, 2);
    }
}

static owed_outcome
fails_once(struct actor *actor, owed_delivery *delivery, const order *order)
{
    actor->acts[order->id] = NULL;
    return writes_and_fails(actor, delivery, order);
}

static void
one_that_is_done_when_it_is_repeated_has_not_failed(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[3] = fails_once}};
    open_timed(desk, &actor);
    desk_run_orders(desk, 5);
    assert_each(desk, 5, 0);
    assert_int_equal(desk_number(desk, "select count(*) from owed_attempt"), 0);
    assert_false(desk_logged(desk, "nothing on the shelf"));
}

static owed_outcome
fails_in_sql(struct actor *actor, owed_delivery *delivery, const order *order)
{
    writes(actor, delivery, order);
    run_sql(delivery, "insert into no_such_table (id) values (1)");
    return owed_failed(delivery, "order %" PRId64 ": no such table", order->id);
}

static void
a_statement_that_fails_in_one_undoes_that_one_alone(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[3] = fails_in_sql}};
    open_timed(desk, &actor);
    desk_run_orders(desk, 5);
    assert_each(desk, 5, 3);
    assert_text(desk, "select last_error from owed_delivery where status = 'failed'",
        "order 3: no such table");
}

static owed_outcome
leaves_a_savepoint(struct actor *actor, owed_delivery *delivery, const order *order)
{
    run_sql(delivery, "savepoint mine");
    return writes(actor, delivery, order);
}

static owed_outcome
leaves_a_savepoint_and_fails(struct actor *actor, owed_delivery *delivery, const order *order)
{
    leaves_a_savepoint(actor, delivery, order);
    return owed_failed(delivery, "no");
}

static owed_outcome
undoes_a_part(struct actor *actor, owed_delivery *delivery, const order *order)
{
    writes(actor, delivery, order);
    run_sql(delivery, "savepoint mine");
    writes(actor, delivery, order);
    run_sql(delivery, "rollback to savepoint mine");
    return owed_done();
}

static void
a_savepoint_that_one_leaves_open_is_nothing_to_its_neighbours(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {
        .acts = {
            [2] = leaves_a_savepoint, [4] = undoes_a_part, [5] = leaves_a_savepoint_and_fails}};
    open_timed(desk, &actor);
    desk_run_orders(desk, 7);
    assert_each(desk, 7, 5);
    assert_count(desk, "failed", 1);
}

static owed_outcome
releases_our_savepoint(struct actor *actor, owed_delivery *delivery, const order *order)
{
    writes(actor, delivery, order);
    run_sql(delivery, "release savepoint owed_delivery");
    return owed_done();
}

static void
breaks_up(struct desk *desk, act guilty)
{
    struct actor actor = {.acts = {[3] = guilty}};
    // MariaDB cannot be kept from a commit: what stood in the transaction stays, acknowledged but for one.
    bool is_kept = guilty == writes_and_commits && test_store_is("mariadb");
    open_timed(desk, &actor);
    desk_run_orders(desk, 5);
    if (is_kept)
        assert_int_equal(desk_written(desk, 3), 1);
    else
        assert_each(desk, 5, 3);
    assert_count(desk, "failed", 1);
    assert_count(desk, "succeeded", 5);
    assert_int_equal(
        desk_number(desk, "select attempts from owed_delivery where status = 'failed'"), 1);
    assert_int_equal(
        desk_number(desk, "select max(attempts) from owed_delivery where status = 'succeeded'"), 1);
    assert_int_equal(desk_number(desk, "select count(*) from owed_attempt"), 1);
    assert_int_equal(desk_number(desk,
                         "select count(*) from owed_delivery where last_error like "
                         "'receiver shop.stock ended the transaction it was handed%'"),
        1);
    // Orders 1 and 2 were undone and repeated, and all of them where only the commit tells.
    bool is_late = guilty == begins_anew && !test_store_is("sqlite");
    assert_int_equal(actor.calls, is_kept ? 6 : is_late ? 11 : 8);
}

static void
one_that_commits_fails_and_its_neighbours_are_repeated(void **state)
{
    NOT_ON("mariadb", "nothing there refuses a receiver's COMMIT: see what it commits");
    breaks_up(*state, writes_and_commits);
}

static void
what_one_commits_is_over_for_its_neighbours_where_nothing_refuses_it(void **state)
{
    ONLY_ON("mariadb", "elsewhere the commit is refused");
    struct desk *desk = *state;
    struct actor actor = {.acts = {[3] = writes_and_commits}};
    open_timed(desk, &actor);
    desk_run_orders(desk, 5);
    assert_int_equal(actor.calls, 6);
    for (int64_t i = 1; i <= 5; i++)
        assert_int_equal(desk_written(desk, i), 1);
    assert_count(desk, "failed", 1);
    assert_count(desk, "succeeded", 5);
    assert_int_equal(desk->counts.succeeded, 5);
}

static void
one_that_rolls_back_fails_and_its_neighbours_are_repeated(void **state)
{
    breaks_up(*state, writes_and_rolls_back);
}

static void
one_that_begins_another_transaction_fails_and_its_neighbours_are_repeated(void **state)
{
    breaks_up(*state, begins_anew);
}

/* What it names is there only where all of them share one, or once it has failed. */
static void
one_that_releases_our_savepoint_harms_nobody_else(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[3] = releases_our_savepoint}};
    open_timed(desk, &actor);
    desk_run_orders(desk, 5);
    bool is_harmless = test_store_is("sqlite");
    assert_each(desk, 5, is_harmless ? 0 : 3);
    assert_count(desk, "failed", !is_harmless);
    assert_int_equal(desk_number(desk,
                         "select count(*) from owed_delivery where last_error like "
                         "'receiver shop.stock ended the transaction it was handed%'"),
        !is_harmless);
}

static owed_outcome
commits_and_begins(struct actor *actor, owed_delivery *delivery, const order *order)
{
    writes(actor, delivery, order);
    run_sql(delivery, "commit");
    run_sql(delivery, "begin");
    return owed_done();
}

static void
one_that_commits_and_begins_anew_is_found_out_and_no_neighbour_takes_effect_twice(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[3] = commits_and_begins}};
    open_timed(desk, &actor);
    desk_run_orders(desk, 5);
    for (int64_t i = 1; i <= 5; i++)
        if (i != 3)
            assert_int_equal(desk_written(desk, i), 1);
    assert_count(desk, "failed", 1);
    assert_count(desk, "succeeded", 5);
    assert_int_equal(desk->counts.succeeded, 5);
    assert_int_equal(desk_number(desk, "select max(attempts) from owed_delivery"), 1);
    assert_int_equal(desk_number(desk,
                         "select count(*) from owed_delivery where last_error like "
                         "'receiver shop.stock ended the transaction it was handed%'"),
        1);
}

static owed_outcome
rolls_back_and_says_so(struct actor *actor, owed_delivery *delivery, const order *order)
{
    writes_and_rolls_back(actor, delivery, order);
    return owed_failed(delivery, "rolled back");
}

static void
one_that_rolls_back_and_fails_is_the_one_to_blame(void **state)
{
    breaks_up(*state, rolls_back_and_says_so);
}

/* robs_number_4 asks for nothing, before the group's transaction is open. */
static owed_outcome
robs_number_4(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)delivery;
    (void)order;
    rob(actor->desk, desk_number(actor->desk, "select id from owed_delivery where event_id = 5"));
    return owed_done();
}

static void
a_row_that_was_taken_is_not_run_for_its_thief_and_its_neighbours_are_repeated(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = robs_number_4}};
    open_timed(desk, &actor);
    desk_run_orders(desk, 5);
    assert_int_equal(desk_written(desk, 2), 1);
    assert_int_equal(desk_written(desk, 3), 1);
    assert_int_equal(desk_written(desk, 4), 0);
    assert_int_equal(desk_written(desk, 5), 1);
    assert_count(desk, "succeeded", 5);
    assert_text(desk, "select claimed_by from owed_delivery where status = 'claimed'", "thief");
    assert_int_equal(desk_number(desk, "select sum(attempts) from owed_delivery"), 5);
    assert_true(desk_logged(desk, "result discarded"));
}

static owed_outcome
breaks_a_promise(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)actor;
    (void)order;
    run_sql(delivery, "insert into child (id) values (99)");
    return owed_done();
}

static void
when_the_commit_is_refused_each_is_repeated_and_the_guilty_one_found(void **state)
{
    NOT_ON("mariadb", "it has no constraint that waits for the commit");
    struct desk *desk = *state;
    struct actor actor = {.acts = {[3] = breaks_a_promise}};
    open_timed(desk, &actor);
    desk_promise(desk);
    desk_run_orders(desk, 5);
    assert_each(desk, 5, 3);
    assert_count(desk, "failed", 1);
    assert_int_equal(desk_number(desk, "select max(attempts) from owed_delivery"), 1);
}

static void
a_veto_inside_one_fails_it_alone(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[3] = fires_what_is_refused}};
    struct actor guard = {.acts = {[3] = refuses}};
    desk_receiver(desk, &guard,
        (owed_receiver){.key = "shop.limit", .event = &order_shipped, .mode = OWED_INLINE});
    open_timed(desk, &actor);
    desk_run_orders(desk, 5);
    assert_each(desk, 5, 3);
    assert_count(desk, "failed", 1);
    assert_int_equal(
        desk_number(desk, "select count(*) from owed_event where name = 'shop.OrderShipped'"), 0);
}

static owed_outcome
fires_a_shipment(struct actor *actor, owed_delivery *delivery, const order *placed)
{
    (void)actor;
    int64_t id = 0;
    owed_error err;
    assert_ok(owed_fire(owed_delivery_tx(delivery), &order_shipped, placed, NULL, &id, &err));
    return placed->id == 3 ? owed_failed(delivery, "no") : owed_done();
}

static void
what_a_failed_one_fired_is_gone_and_nobody_hears_of_it(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {
        .acts = {[2] = fires_a_shipment, [3] = fires_a_shipment, [4] = fires_a_shipment}};
    struct actor hearer = {0};
    for (size_t i = 0; i < DESK_ORDERS; i++)
        hearer.acts[i] = asks_for_nothing;
    desk_receiver(desk, &hearer,
        (owed_receiver){.key = "shop.hear", .event = &order_shipped, .mode = OWED_ON_COMMIT});
    open_timed(desk, &actor);
    desk_run_orders(desk, 5);
    assert_int_equal(
        desk_number(desk, "select count(*) from owed_event where name = 'shop.OrderShipped'"), 2);
    assert_int_equal(hearer.calls, 2);
    assert_int_equal(hearer.orders[0], 2);
    assert_int_equal(hearer.orders[1], 4);
}

/* --- plain receivers among them --- */

static owed_outcome
fires_by_itself(struct actor *actor, owed_delivery *delivery, const order *placed)
{
    (void)delivery;
    owed *handle = actor->desk->f->owed;
    owed_tx *tx = NULL;
    owed_error err;
    int64_t id = 0;
    assert_ok(owed_begin(handle, &tx, &err));
    assert_ok(owed_fire(tx, &order_shipped, placed, NULL, &id, &err));
    assert_ok(owed_commit(tx, &err));
    return owed_done();
}

/* run_mixed has a plain receiver for every order beside the one that shares. */
static void
run_mixed(struct desk *desk, struct actor *actor, struct actor *plain, act plain_act)
{
    for (size_t i = 0; i < DESK_ORDERS; i++)
        plain->acts[i] = plain_act;
    desk_receiver(desk, plain, (owed_receiver){.key = "shop.plain"});
    open_timed(desk, actor);
    desk->settings.batch_size = 50;
    desk_run_orders(desk, 5);
}

static void
a_plain_receiver_that_asks_for_nothing_does_not_end_a_group(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    struct actor plain = {0};
    struct sight sight = {{0}};
    all_look(&actor, &sight);
    run_mixed(desk, &actor, &plain, asks_for_nothing);
    assert_int_equal(sight.rows_before[5], 1);
    assert_count(desk, "succeeded", 12);
    assert_int_equal(plain.calls, 6);
}

static void
a_plain_receiver_that_asks_has_a_transaction_for_itself(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    struct actor plain = {0};
    struct sight sight = {{0}};
    all_look(&actor, &sight);
    run_mixed(desk, &actor, &plain, writes);
    assert_count(desk, "succeeded", 12);
    // Whatever came before is committed at each turn of the plain one: two rows an order.
    assert_true(sight.rows_before[5] >= 9);
    for (int64_t i = 0; i <= 5; i++)
        assert_int_equal(desk_written(desk, i), 2);
}

static void
a_plain_receiver_may_begin_a_transaction_of_the_handle(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    struct actor plain = {0};
    run_mixed(desk, &actor, &plain, fires_by_itself);
    assert_count(desk, "succeeded", 12);
    assert_int_equal(
        desk_number(desk, "select count(*) from owed_event where name = 'shop.OrderShipped'"), 6);
    assert_int_equal(desk_number(desk, "select count(distinct causation_id) from owed_event"), 6);
}

static void
what_a_plain_receiver_did_among_them_is_not_repeated_when_they_are(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[3] = writes_and_rolls_back}};
    struct actor plain = {0};
    run_mixed(desk, &actor, &plain, asks_for_nothing);
    assert_count(desk, "succeeded", 11);
    assert_count(desk, "failed", 1);
    assert_int_equal(plain.calls, 6);
    for (int64_t i = 1; i <= 5; i++)
        assert_int_equal(desk_written(desk, i), i != 3);
}

static owed_outcome
begins_beside_its_own(struct actor *actor, owed_delivery *delivery, const order *order)
{
    writes(actor, delivery, order);
    owed_tx *tx = NULL;
    owed_error err;
    assert_status(OWED_INVALID, owed_begin(actor->desk->f->owed, &tx, &err));
    assert_says(err, "has the transaction of its acknowledgement");
    return owed_done();
}

static void
one_that_has_the_transaction_cannot_begin_another(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[2] = begins_beside_its_own}};
    open_timed(desk, &actor);
    desk_run_orders(desk, 3);
    assert_each(desk, 3, 0);
}

/* --- a store with one writer --- */

static owed_outcome
lets_the_application_write(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)delivery;
    (void)order;
    raw_run(actor->desk->f->raw, "insert into app (id) values (1000)");
    return owed_done();
}

static owed_outcome
takes_1_ms(struct actor *actor, owed_delivery *delivery, const order *order)
{
    actor->desk->f->now_us += US_PER_MS;
    return looks_and_writes(actor, delivery, order);
}

static void
while_the_application_writes_a_group_is_short_and_a_pause_follows(void **state)
{
    ONLY_ON("sqlite", "elsewhere a writer keeps nobody else waiting");
    struct desk *desk = *state;
    struct actor actor = {0};
    struct sight sight = {{0}};
    all_look(&actor, &sight);
    for (size_t i = 0; i < DESK_ORDERS; i++)
        actor.acts[i] = takes_1_ms;
    actor.acts[1] = lets_the_application_write;
    open_timed(desk, &actor);
    desk_run_orders(desk, 8);
    // Order 2 opens a group; the write is seen when it is committed, and the next ones are short.
    assert_true(desk->wait_count > 0);
    assert_int_equal(desk->waits[0], 3 * US_PER_MS);
    assert_count(desk, "succeeded", 9);
}

static owed_outcome
takes_4_ms_and_writes_nothing(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)delivery;
    (void)order;
    actor->desk->f->now_us += 4 * US_PER_MS;
    return owed_done();
}

static void
no_pause_follows_a_write_where_the_writer_was_free_for_as_long_before(void **state)
{
    ONLY_ON("sqlite", "elsewhere a writer keeps nobody else waiting");
    struct desk *desk = *state;
    struct actor actor = {0};
    for (size_t i = 0; i < DESK_ORDERS; i++)
        actor.acts[i] = takes_4_ms_and_writes_nothing;
    actor.acts[1] = lets_the_application_write;
    open_timed(desk, &actor);
    desk_run_orders(desk, 8);
    assert_int_equal(desk->wait_count, 0);
    assert_count(desk, "succeeded", 9);
}

static void
nobody_pauses_where_nobody_else_writes(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_timed(desk, &actor);
    desk_run_orders(desk, 8);
    assert_int_equal(desk->wait_count, 0);
    assert_each(desk, 8, 0);
}

static owed_outcome
takes_60_ms(struct actor *actor, owed_delivery *delivery, const order *order)
{
    owed_outcome outcome = looks_and_writes(actor, delivery, order);
    actor->desk->f->now_us += 60 * US_PER_MS;
    return outcome;
}

static void
a_writer_that_is_busy_for_long_is_left_to_others_that_were_not_seen(void **state)
{
    ONLY_ON("sqlite", "elsewhere a writer keeps nobody else waiting");
    struct desk *desk = *state;
    struct actor actor = {0};
    struct sight sight = {{0}};
    all_look(&actor, &sight);
    desk->seat.hole_us = 105 * US_PER_MS;
    for (size_t i = 0; i < DESK_ORDERS; i++)
        actor.acts[i] = takes_60_ms;
    open_timed(desk, &actor);
    desk_run_orders(desk, 8);
    // Nine of them take 540 ms: 40 ms into the second hole the writer is given up, for what is left.
    assert_int_equal(desk->wait_count, 1);
    assert_int_equal(desk->waits[0], 65 * US_PER_MS);
    assert_count(desk, "succeeded", 9);
}

static void
after_a_short_transaction_the_writer_is_free_for_its_share(void **state)
{
    ONLY_ON("sqlite", "elsewhere a writer keeps nobody else waiting");
    struct desk *desk = *state;
    struct actor actor = {0};
    struct sight sight = {{0}};
    all_look(&actor, &sight);
    desk->seat.hole_us = 105 * US_PER_MS;
    for (size_t i = 0; i < DESK_ORDERS; i++)
        actor.acts[i] = takes_1_ms;
    open_timed(desk, &actor);
    desk_run_orders(desk, 16);
    // A group kept it for fifteen of sixteen milliseconds. It was free for long before, of which three count.
    assert_int_equal(desk->wait_count, 1);
    assert_int_equal(desk->waits[0], 15 * US_PER_MS / 3 - US_PER_MS - 3 * US_PER_MS);
}

static owed_outcome
takes_1_ms_and_writes_nothing(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)delivery;
    (void)order;
    actor->desk->f->now_us += US_PER_MS;
    return owed_done();
}

static void
a_writer_that_is_kept_for_no_time_is_not_left_to_anybody(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    desk->seat.hole_us = 105 * US_PER_MS;
    for (size_t i = 0; i < DESK_ORDERS; i++)
        actor.acts[i] = takes_1_ms_and_writes_nothing;
    open_timed(desk, &actor);
    desk_run_orders(desk, 8);
    assert_int_equal(desk->wait_count, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, desk_setup, desk_teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(neighbours_share_one_commit_once_it_is_known_that_they_are_quick),
        TEST(a_group_has_at_most_as_many_rows_as_it_may),
        TEST(a_group_is_open_for_a_tenth_of_a_second_at_most),
        TEST(a_receiver_that_usually_takes_long_runs_alone),
        TEST(a_plain_receiver_never_shares),
        TEST(a_failure_undoes_its_own_work_alone_and_is_recorded),
        TEST(a_failure_that_wrote_nothing_ends_the_group_as_well),
        TEST(the_first_of_a_group_that_fails_has_nobody_to_repeat),
        TEST(however_many_fail_each_of_the_others_takes_effect_once),
        TEST(one_that_is_done_when_it_is_repeated_has_not_failed),
        TEST(a_statement_that_fails_in_one_undoes_that_one_alone),
        TEST(a_savepoint_that_one_leaves_open_is_nothing_to_its_neighbours),
        TEST(one_that_commits_fails_and_its_neighbours_are_repeated),
        TEST(what_one_commits_is_over_for_its_neighbours_where_nothing_refuses_it),
        TEST(one_that_rolls_back_fails_and_its_neighbours_are_repeated),
        TEST(one_that_begins_another_transaction_fails_and_its_neighbours_are_repeated),
        TEST(one_that_releases_our_savepoint_harms_nobody_else),
        TEST(one_that_commits_and_begins_anew_is_found_out_and_no_neighbour_takes_effect_twice),
        TEST(one_that_rolls_back_and_fails_is_the_one_to_blame),
        TEST(a_row_that_was_taken_is_not_run_for_its_thief_and_its_neighbours_are_repeated),
        TEST(when_the_commit_is_refused_each_is_repeated_and_the_guilty_one_found),
        TEST(a_veto_inside_one_fails_it_alone),
        TEST(what_a_failed_one_fired_is_gone_and_nobody_hears_of_it),
        TEST(a_plain_receiver_that_asks_for_nothing_does_not_end_a_group),
        TEST(a_plain_receiver_that_asks_has_a_transaction_for_itself),
        TEST(a_plain_receiver_may_begin_a_transaction_of_the_handle),
        TEST(what_a_plain_receiver_did_among_them_is_not_repeated_when_they_are),
        TEST(one_that_has_the_transaction_cannot_begin_another),
        TEST(while_the_application_writes_a_group_is_short_and_a_pause_follows),
        TEST(no_pause_follows_a_write_where_the_writer_was_free_for_as_long_before),
        TEST(nobody_pauses_where_nobody_else_writes),
        TEST(a_writer_that_is_busy_for_long_is_left_to_others_that_were_not_seen),
        TEST(after_a_short_transaction_the_writer_is_free_for_its_share),
        TEST(a_writer_that_is_kept_for_no_time_is_not_left_to_anybody),
    };
    return RUN_ON_ALL_STORES("groups", tests);
}
