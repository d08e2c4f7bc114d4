/* SPDX-License-Identifier: MIT
 *
 * test_spoilt.c - what a receiver leaves behind on the connection keeps nobody else waiting.
 */
#include "desk.h"

#include <sys/stat.h>

#include <owed/sqlite.h>

static const owed_receiver plain = {.key = "shop.stock", .max_attempts = 1};
static const owed_receiver grouped = {
    .key = "shop.stock", .database_only = true, .max_attempts = 1};

static sqlite3_stmt *left; // by a receiver that never finalizes it

/* leave_running begins a statement that has more to say. */
static void
leave_running(owed_delivery *delivery, const char *sql)
{
    sqlite3 *db = owed_delivery_sqlite(delivery);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &left, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(left), SQLITE_ROW);
}

static owed_outcome
leaves_a_query(struct actor *actor, owed_delivery *delivery, const order *order)
{
    leave_running(delivery, "select id from owed_delivery");
    return writes(actor, delivery, order);
}

static owed_outcome
leaves_a_change(struct actor *actor, owed_delivery *delivery, const order *order)
{
    leave_running(delivery, "update owed_event set actor_label = 'x' returning id");
    return writes(actor, delivery, order);
}

static owed_outcome
forbids_writing(struct actor *actor, owed_delivery *delivery, const order *order)
{
    owed_outcome outcome = writes(actor, delivery, order);
    run_sql(delivery, "pragma query_only = on");
    return outcome;
}

/* looks_at_the_file notes how long the store's file was at each call. */
static owed_outcome
looks_at_the_file(struct actor *actor, owed_delivery *delivery, const order *order)
{
    struct stat file;
    int64_t *sizes = actor->state;
    assert_int_equal(
        stat(actor->desk->f->owed->db->driver->path(actor->desk->f->owed->db), &file), 0);
    sizes[actor->calls - 1] = file.st_size;
    return forbids_writing(actor, delivery, order);
}

static void
fire_another(struct desk *desk)
{
    desk->at_wait = NULL;
    raw_fire(desk->f->raw, "shop.OrderPlaced", "{\"id\": 2, \"cents\": 1}");
}

static void
what_others_fire_is_seen_though_a_receiver_left_a_query_running(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = leaves_a_query}};
    desk_receiver(desk, &actor, plain);
    fixture_open(desk->f);
    desk_fire(desk, 1);
    desk->at_wait = fire_another;
    desk->settings.passes = 4;
    desk_run(desk);
    assert_count(desk, "succeeded", 2);
    assert_int_equal(desk_written(desk, 2), 1);
    sqlite3_finalize(left);
}

static void
a_change_that_was_left_running_holds_up_nothing(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = leaves_a_change}};
    desk_receiver(desk, &actor, plain);
    fixture_open(desk->f);
    desk_fire_many(desk, 3);
    desk_once(desk);
    assert_count(desk, "succeeded", 3);
    assert_int_equal(actor.calls, 3);
    assert_false(desk_logged(desk, "the store failed"));
    sqlite3_finalize(left);
}

static void
run_spoiler(struct desk *desk, owed_receiver receiver)
{
    struct actor actor = {.acts = {[2] = forbids_writing}};
    desk_receiver(desk, &actor, receiver);
    fixture_open(desk->f);
    desk_fire_many(desk, 4);
    desk_once(desk);
    assert_count(desk, "dead", 1);
    assert_count(desk, "succeeded", 3);
    for (int64_t i = 1; i <= 4; i++)
        assert_int_equal(desk_written(desk, i), i != 2);
    assert_int_equal(desk_number(desk, "select max(attempts) from owed_delivery"), 1);
    assert_true(actor.calls <= 12);
}

static void
one_whose_work_can_never_be_acknowledged_fails_and_the_rest_goes_on(void **state)
{
    run_spoiler(*state, plain);
}

static void
among_neighbours_the_one_to_blame_is_found(void **state)
{
    run_spoiler(*state, grouped);
}

static void
a_store_that_is_opened_anew_takes_its_long_log_into_the_file(void **state)
{
    struct desk *desk = *state;
    int64_t sizes[DESK_ORDERS] = {0};
    struct actor actor = {.acts = {[1] = looks_at_the_file}, .state = sizes};
    desk_receiver(desk, &actor, plain);
    fixture_open(desk->f);
    raw_run(desk->f->raw, "create table big (b); insert into big values (zeroblob(8000000))");
    desk_fire(desk, 1);
    desk_once(desk);
    assert_true(sizes[0] < 8000000);
    assert_true(sizes[1] > 8000000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, desk_setup, desk_teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_others_fire_is_seen_though_a_receiver_left_a_query_running),
        TEST(a_change_that_was_left_running_holds_up_nothing),
        TEST(one_whose_work_can_never_be_acknowledged_fails_and_the_rest_goes_on),
        TEST(among_neighbours_the_one_to_blame_is_found),
        TEST(a_store_that_is_opened_anew_takes_its_long_log_into_the_file),
    };
    return RUN_ON_SQLITE("what receivers leave behind", tests);
}
