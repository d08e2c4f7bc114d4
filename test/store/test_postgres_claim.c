/* SPDX-License-Identifier: MIT
 *
 * test_postgres_claim.c - claims beside other claims: each row goes to one, nobody waits, and nobody
 * comes back with nothing while there is something left. And what a statement that writes many outcomes
 * leaves.
 */
#include "world.h"

#define ROWS 12

static const char *const one_lane[] = {LANE, NULL};
static const char *const two_lanes[] = {LANE, "shop/other", NULL};
static const char *const keys[] = {"shop.billing", NULL};

/* The ways to ask for the same rows: each is another statement. */
static struct claim
ask(int way, const char *claimed_by, int32_t limit)
{
    static const uint8_t digest[32] = {0};
    static const struct left_target nobody = {"shop.nobody", digest};
    struct claim asked = a_claim(claimed_by, NOW, limit);
    asked.lanes = way == 0 ? one_lane : two_lanes;
    if (way == 2)
        asked.receivers = keys;
    if (way == 3) {
        asked.but_targets = &nobody;
        asked.but_target_count = 1;
    }
    return asked;
}

static void
make_owed(struct world *world, int64_t *ids)
{
    publish_keys(world, keys);
    fire_many(world, ROWS, ids);
}

static size_t
claim_on(struct world *world, struct db *db, const struct claim *asked)
{
    assert_ok(store_claim(db, asked, &world->arena, &world->rows, &world->count, &world->err));
    return world->count;
}

static void
a_claim_steps_over_what_another_is_claiming(void **state)
{
    struct world *world = *state;
    int64_t ids[ROWS];
    make_owed(world, ids);
    for (int way = 0; way < 4; way++) {
        struct claim first = ask(way, "first", 5), second = ask(way, "second", 5);
        assert_ok(store_begin(world->db, true, &world->err));
        assert_int_equal(claim_on(world, world->db, &first), 5);
        check_order(world, ids, 5);
        // Not committed yet: its rows are locked, and look owed to everybody else.
        assert_int_equal(claim_on(world, world->other, &second), 5);
        check_order(world, ids + 5, 5);
        assert_int_equal(claim_on(world, world->other, &second), 2);
        check_order(world, ids + 10, 2);
        assert_int_equal(claim_on(world, world->other, &second), 0);
        store_rollback(world->db);
        for (size_t i = 0; i < ROWS; i++) // owed as before, for the next way
            raw_runf(plain(world),
                "update owed_delivery set status = 'pending', claimed_by = '' where id = %lld",
                (long long)ids[i]);
    }
}

static void
a_row_claimed_meanwhile_is_not_taken_again(void **state)
{
    struct world *world = *state;
    int64_t ids[ROWS];
    make_owed(world, ids);
    for (int i = 0; i < ROWS; i++) {
        struct claim asked = ask(i % 4, i % 2 == 0 ? "first" : "second", 1);
        assert_int_equal(claim_on(world, i % 2 == 0 ? world->db : world->other, &asked), 1);
        assert_int_equal(world->rows[0].fence.delivery_id, ids[i]);
    }
}

static void
note_commits(struct world *world)
{
    world->store.is_spoilt = true;
    raw_run(plain(world),
        "create table commits (status text, waits text);"
        "create function note_commit() returns trigger language plpgsql as $$ begin"
        " insert into commits values (new.status, current_setting('synchronous_commit'));"
        " return null; end $$;"
        "create constraint trigger note_commit after update on owed_delivery deferrable"
        " initially deferred for each row execute function note_commit()");
}

static void
a_claim_does_not_wait_for_the_disk_and_what_follows_it_does(void **state)
{
    struct world *world = *state;
    int64_t ids[ROWS];
    make_owed(world, ids);
    note_commits(world);
    assert_int_equal(claim_as(world, "first", NOW, 1), 1);
    struct settlement outcome = a_settlement(&world->rows[0].fence, "succeeded");
    assert_ok(store_settle(world->db, &outcome, 1, NULL, &world->err));
    assert_int_equal(raw_number(plain(world),
                         "select count(*) from commits where status = 'claimed'"
                         " and waits = 'off'"),
        1);
    assert_int_equal(raw_number(plain(world),
                         "select count(*) from commits where status = 'succeeded'"
                         " and waits = 'on'"),
        1);
}

static void
a_claim_in_a_transaction_leaves_it_as_it_is(void **state)
{
    struct world *world = *state;
    int64_t ids[ROWS];
    make_owed(world, ids);
    note_commits(world);
    assert_ok(store_begin(world->db, true, &world->err));
    assert_int_equal(claim_as(world, "first", NOW, 1), 1);
    assert_ok(store_commit(world->db, &world->err));
    assert_int_equal(
        raw_number(plain(world), "select count(*) from commits where waits = 'on'"), 1);
}

/* outcome is one of each kind, of a row that was tried. */
static struct settlement
outcome(const struct claimed *row, int kind)
{
    static const char *const statuses[] = {"succeeded", "failed", "dead", "pending", "failed"};
    struct settlement settlement = a_settlement(&row->fence, statuses[kind]);
    if (kind == 1 || kind == 2) {
        settlement.verdict = "failed";
        settlement.attempt = 2;
        settlement.started_at_us = NOW - SECOND;
        settlement.duration_us = 1234567;
        settlement.code = 503;
        settlement.last_error = "it said \"no\"\n\xc3\xa9 \\";
        settlement.excerpt = "<html>";
    }
    settlement.attempts = kind;
    return settlement;
}

static void
outcomes_written_together_are_those_written_one_by_one(void **state)
{
    enum { KINDS = 5 };
    struct world *world = *state;
    int64_t ids[ROWS];
    make_owed(world, ids);
    raw_run(plain(world), "update owed_delivery set last_error = 'before', losses = 1");
    struct claimed rows[2 * KINDS];
    for (int i = 0; i < 2 * KINDS; i++) { // a row that was lost is claimed alone
        assert_int_equal(claim_as(world, "first", NOW, 1), 1);
        rows[i] = world->rows[0];
    }
    struct settlement together[KINDS];
    bool landed[KINDS] = {false};
    for (int kind = 0; kind < KINDS; kind++) {
        struct settlement alone = outcome(&rows[kind], kind);
        assert_ok(store_settle(world->db, &alone, 1, NULL, &world->err));
        together[kind] = outcome(&rows[KINDS + kind], kind);
    }
    together[4].fence.claimed_at_us++; // held by nobody
    assert_ok(store_settle(world->db, together, KINDS, landed, &world->err));
    for (int kind = 0; kind < KINDS; kind++)
        assert_true(landed[kind] == (kind != 4));
    assert_int_equal(
        raw_numberf(plain(world),
            "select count(*) from owed_delivery as a join owed_delivery as b"
            " using (status, attempts, losses, available_at, due_at, claimed_by, claimed_at,"
            " lease_expires_at, last_error, completed_at, succeeded_at)"
            " where a.id < %lld and b.id >= %lld and b.id - a.id = %d",
            (long long)ids[KINDS], (long long)ids[KINDS], KINDS),
        4);
    assert_string_equal(status_of(world, ids[2 * KINDS - 1]), "claimed");
    assert_int_equal(raw_number(plain(world),
                         "select count(*) from owed_attempt as a join owed_attempt as b"
                         " using (attempt, started_at, duration, verdict, code, error, excerpt)"
                         " where a.delivery_id < b.delivery_id and a.code = 503"),
        6); // of four rows alike, every pair
}

static void
an_event_and_all_that_is_owed_for_it_are_one_round_trip(void **state)
{
    struct world *world = *state;
    publish_keys(world, keys);
    const struct new_delivery own[] = {
        {.receiver_key = "shop.billing",
            .lane = "shop/elsewhere",
            .kind = "outside",
            .max_attempts = 9,
            .available_at_us = NOW},
        {.receiver_key = "shop.\"new\"",
            .lane = LANE,
            .kind = "outside",
            .max_attempts = 3,
            .available_at_us = NOW + SECOND},
    };
    struct new_event event = an_event(EVENT);
    event.own = own;
    event.own_count = COUNT(own);
    struct db *inner = NULL;
    struct fault fault = {0};
    assert_ok(store_open(world->url, &(struct db_options){0}, &inner, &world->err));
    struct db *db = driver_fault_wrap(inner, &fault);
    int64_t id = 0;
    bool fresh = false;
    fault.calls = 0;
    assert_ok(store_insert_event(db, &event, &id, &fresh, &world->err));
    assert_int_equal(fault.calls, 1);
    store_close(db);
    // What the catalogue says of a receiver goes first.
    assert_int_equal(raw_number(plain(world),
                         "select count(*) from owed_delivery where receiver_key = 'shop.billing'"
                         " and lane = 'shop/default' and kind = 'inside'"),
        1);
    assert_int_equal(raw_numberf(plain(world),
                         "select micros(available_at) from owed_delivery where max_attempts = 3"
                         " and receiver_key = 'shop.\"new\"' and kind = 'outside'"
                         " and event_id = %lld and due_at = available_at",
                         (long long)id),
        NOW + SECOND);
    assert_int_equal(raw_number(plain(world), "select count(*) from owed_delivery"), 2);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_claim_steps_over_what_another_is_claiming),
        TEST(a_row_claimed_meanwhile_is_not_taken_again),
        TEST(a_claim_does_not_wait_for_the_disk_and_what_follows_it_does),
        TEST(a_claim_in_a_transaction_leaves_it_as_it_is),
        TEST(an_event_and_all_that_is_owed_for_it_are_one_round_trip),
        TEST(outcomes_written_together_are_those_written_one_by_one),
    };
    return run_on_stores("postgres", "postgres claim", tests, COUNT(tests));
}
