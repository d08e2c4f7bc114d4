/* SPDX-License-Identifier: MIT
 *
 * test_sqlite_plan.c - the statements that run all day find their rows by index, and cost the same
 * whatever has ended before and whatever waits behind.
 */
#include "world.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"

static sqlite3 *
handle_of(struct db *db)
{
    return db->driver->native(db);
}

static void
run_sql(struct world *world, const char *sql)
{
    char *said = NULL;
    if (sqlite3_exec(handle_of(world->db), sql, NULL, NULL, &said) != SQLITE_OK)
        print_error("%s\n", said);
    assert_null(said);
}

static void
plan_of(struct world *world, const char *sql, struct buf *plan)
{
    struct buf text;
    buf_init(&text, 1 << 16);
    buf_printf(&text, "explain query plan %s", sql);
    sqlite3_stmt *stmt;
    assert_int_equal(sqlite3_prepare_v2(handle_of(world->db), text.p, -1, &stmt, NULL), SQLITE_OK);
    buf_clear(plan);
    while (sqlite3_step(stmt) == SQLITE_ROW)
        buf_printf(plan, "%s\n", (const char *)sqlite3_column_text(stmt, 3));
    sqlite3_finalize(stmt);
    buf_done(&text);
}

/* Which index each statement must name; all are also held to walk no table. */
static const struct {
    enum stmt stmt;
    const char *name;
    const char *uses[3];
} pins[] = {
    {STMT_EVENT_BY_DEDUPE, "event_by_dedupe", {"sqlite_autoindex_owed_event_1 (dedupe_key=?)"}},
    {STMT_EVENT_EXISTS, "event_exists", {"INTEGER PRIMARY KEY (rowid=?)"}},
    {STMT_LANES, "lanes",
        {"owed_delivery_owed (lane>? AND lane<?)", "owed_delivery_claimed (lane>? AND lane<?)"}},
    {STMT_CLAIM_PICK_LANES, "claim_pick",
        {"owed_delivery_owed (lane=? AND kind=? AND available_at>? AND available_at<?)",
            "owed_delivery_claimed (lane=? AND kind=? AND lease_expires_at<?)"}},
    {STMT_CLAIM_PICK_LANE, "claim_pick_lane",
        {"owed_delivery_owed (lane=? AND kind=? AND available_at>? AND available_at<?)",
            "owed_delivery_claimed (lane=? AND kind=? AND lease_expires_at<?)"}},
    {STMT_CLAIM_PICK_RECEIVERS, "claim_pick_receivers",
        {"owed_delivery_by_receiver (receiver_key=? AND lane=? AND kind=? AND available_at>? AND available_at<?)",
            "owed_delivery_claimed (lane=? AND kind=? AND lease_expires_at<?)"}},
    {STMT_CLAIM_FETCH, "claim_fetch",
        {"SEARCH d USING INTEGER PRIMARY KEY (rowid=?)",
            "SEARCH e USING INTEGER PRIMARY KEY (rowid=?)"}},
    {STMT_CLAIM_MARK, "claim_mark", {"SEARCH owed_delivery USING INTEGER PRIMARY KEY (rowid=?)"}},
    {STMT_SETTLE, "settle", {"SEARCH owed_delivery USING INTEGER PRIMARY KEY (rowid=?)"}},
    {STMT_SETTLE_DONE, "settle_done", {"SEARCH owed_delivery USING INTEGER PRIMARY KEY (rowid=?)"}},
    {STMT_DONE, "done", {"SEARCH d USING INTEGER PRIMARY KEY (rowid=?)"}},
    {STMT_RENEW, "renew", {"SEARCH owed_delivery USING INTEGER PRIMARY KEY (rowid=?)"}},
    {STMT_HAND_BACK, "hand_back", {"SEARCH owed_delivery USING INTEGER PRIMARY KEY (rowid=?)"}},
    {STMT_HAND_OFF, "hand_off", {"SEARCH owed_delivery USING INTEGER PRIMARY KEY (rowid=?)"}},
    {STMT_TAKE, "take", {"SEARCH owed_delivery USING INTEGER PRIMARY KEY (rowid=?)"}},
    {STMT_ATTEMPT_TRIM, "attempt_trim", {"owed_attempt_by_delivery (delivery_id=? AND id<?)"}},
    {STMT_NEXT_DUE, "next_due",
        {"owed_delivery_owed (lane=? AND kind=?)", "owed_delivery_claimed (lane=? AND kind=?)"}},
    {STMT_NEXT_DUE_RECEIVERS, "next_due_receivers",
        {"owed_delivery_by_receiver (receiver_key=? AND lane=? AND kind=?)"}},
    {STMT_MISPLACED, "misplaced",
        {"owed_delivery_by_receiver (receiver_key=? AND lane<?)",
            "owed_delivery_by_receiver (receiver_key=? AND lane>?)"}},
    {STMT_EVENTS, "events", {"SEARCH e USING INTEGER PRIMARY KEY (rowid<?)"}},
    {STMT_EVENTS_BY_NAME, "events_by_name", {"owed_event_by_name (name=? AND id<?)"}},
    {STMT_EVENTS_BY_CORRELATION, "events_by_correlation",
        {"owed_event_by_correlation (correlation_id=? AND id<?)"}},
    {STMT_EVENTS_BY_CAUSE, "events_by_cause", {"owed_event_by_cause (causation_id=?)"}},
    {STMT_DELIVERIES, "deliveries", {"SEARCH d USING INTEGER PRIMARY KEY (rowid<?)"}},
    {STMT_DELIVERIES_OF_EVENT, "deliveries_of_event",
        {"sqlite_autoindex_owed_delivery_1 (event_id=?)"}},
    {STMT_DELIVERIES_ENDED_BADLY, "deliveries_ended_badly", {"owed_delivery_ended_badly_ids ("}},
    {STMT_PUT_OFF, "put_off",
        {"owed_delivery_owed (lane=? AND kind=? AND available_at>?)",
            "owed_attempt_by_delivery (delivery_id=?)", "SEARCH a USING INTEGER PRIMARY KEY"}},
    {STMT_OWED_PAYLOADS, "owed_payloads",
        {"SEARCH d USING INTEGER PRIMARY KEY (rowid>?)",
            "SEARCH e USING INTEGER PRIMARY KEY (rowid=?)"}},
    {STMT_ATTEMPTS, "attempts", {"owed_attempt_by_delivery (delivery_id=?)"}},
    {STMT_REQUEUE_PICK, "requeue_pick", {"owed_delivery_ended_badly_ids ("}},
};

static void
check_pins(struct world *world)
{
    static const char *const walks[] = {"SCAN d\n", "SCAN e\n", "SCAN due\n", "SCAN lapsed\n",
        "SCAN owed_delivery\n", "SCAN owed_event\n", "SCAN d USING", "SCAN e USING",
        "SCAN owed_delivery USING", "SCAN owed_event USING", "AUTOMATIC"};
    struct buf plan;
    buf_init(&plan, 1 << 16);
    for (size_t i = 0; i < COUNT(pins); i++) {
        plan_of(world, world->db->driver->sql->statements[pins[i].stmt], &plan);
        for (size_t k = 0; k < 3 && pins[i].uses[k] != NULL; k++) {
            if (strstr(buf_text(&plan), pins[i].uses[k]) == NULL)
                print_error("%s", buf_text(&plan));
            check_case(strstr(buf_text(&plan), pins[i].uses[k]) != NULL, pins[i].name);
        }
        for (size_t k = 0; k < COUNT(walks); k++)
            check_case(strstr(buf_text(&plan), walks[k]) == NULL, pins[i].name);
    }
    buf_done(&plan);
}

static void
hot_statements_name_their_indexes_and_walk_no_table(void **state)
{
    check_pins(*state);
}

static void
payloads_are_fetched_one_after_the_other_and_never_sorted(void **state)
{
    struct world *world = *state;
    struct buf plan;
    buf_init(&plan, 1 << 16);
    plan_of(world, world->db->driver->sql->statements[STMT_CLAIM_FETCH], &plan);
    // The outermost one comes first.
    assert_ptr_equal(strstr(buf_text(&plan), "SCAN picked"), buf_text(&plan));
    assert_null(strstr(buf_text(&plan), "B-TREE"));
    buf_done(&plan);
}

/* add_rows writes so many deliveries of one event each, in one statement. */
static void
add_rows(struct world *world, int count, const char *receiver, const char *lane, const char *status)
{
    struct buf sql;
    buf_init(&sql, 1 << 16);
    buf_printf(&sql,
        "begin; with recursive n (i) as (select 1 union all select i + 1 from n where i < %d)"
        " insert into owed_event (uid, name, payload, occurred_at, recorded_at, due_at)"
        " select randomblob(16), 'shop.Bulk', '{}', %lld, %lld, %lld from n;",
        count, (long long)NOW, (long long)NOW, (long long)NOW);
    buf_printf(&sql,
        "insert into owed_delivery (event_id, receiver_key, target_digest, lane, kind, status,"
        " max_attempts, available_at, due_at)"
        " select id, '%s', zeroblob(32), '%s', 'inside', '%s', 5, %lld - 1000000 + id, %lld"
        " from owed_event order by id desc limit %d; commit;",
        receiver, lane, status, (long long)NOW, (long long)NOW, count);
    run_sql(world, sql.p);
    buf_done(&sql);
}

/* take_steps counts the virtual machine's steps of all statements of a connection since the last time. */
static int64_t
take_steps(struct db *db)
{
    int64_t steps = 0;
    sqlite3_stmt *stmt = NULL;
    while ((stmt = sqlite3_next_stmt(handle_of(db), stmt)) != NULL)
        steps += sqlite3_stmt_status(stmt, SQLITE_STMTSTATUS_VM_STEP, 1);
    return steps;
}

static int64_t
cost_of_claim(struct world *world, const struct claim *asked, size_t expected)
{
    claim(world, asked); // so that everything is prepared
    for (size_t i = 0; i < world->count; i++)
        assert_ok(store_hand_back(world->db, &world->rows[i].fence, 1, NULL, &world->err));
    take_steps(world->db);
    assert_int_equal(claim(world, asked), expected);
    int64_t steps = take_steps(world->db);
    assert_ok(store_hand_back_all(world->db, asked->claimed_by, 0, NULL, &world->err));
    return steps;
}

static void
a_claim_costs_the_same_behind_history_and_before_a_backlog(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {"shop.a", NULL};
    const char *const several[] = {LANE, "shop/other", NULL};
    publish_keys(world, keys);
    for (int i = 0; i < 20; i++)
        fire(world, EVENT);
    struct claim shapes[] = {
        a_claim("w", NOW, 10), a_claim("w", NOW, 10), a_claim("w", NOW, 10), a_claim("w", NOW, 10)};
    shapes[1].lanes = several;
    shapes[2].lanes = NULL;
    shapes[3].receivers = keys;
    int64_t before[4];
    for (int i = 0; i < 4; i++)
        before[i] = cost_of_claim(world, &shapes[i], 10);

    add_rows(world, 100000, "shop.a", LANE, "succeeded");
    add_rows(world, 5000, "shop.a", LANE, "dead");
    add_rows(world, 10000, "shop.x", "shop/default!shop.x", "pending"); // a paused receiver
    add_rows(world, 10000, "shop.y", "shop/unserved", "pending");
    add_rows(world, 10000, "crm.z", "crm/default", "pending");
    run_sql(world,
        "update owed_delivery set available_at = available_at + 1000000000"
        " where lane = 'shop/unserved' and id % 2 = 0");
    for (int i = 0; i < 4; i++) {
        if (i == 2)
            continue; // it serves shop/unserved as well: below
        int64_t after = cost_of_claim(world, &shapes[i], 10);
        if (after > before[i] + before[i] / 10)
            print_error(
                "shape %d: %lld steps, then %lld\n", i, (long long)before[i], (long long)after);
        assert_true(after <= before[i] + before[i] / 10);
    }
    int64_t all = cost_of_claim(world, &shapes[2], 10);
    assert_true(all <= 3 * before[2]);

    // And before a backlog in its own lane.
    add_rows(world, 20000, "shop.a", LANE, "pending");
    for (int i = 0; i < 4; i++) {
        int64_t after = cost_of_claim(world, &shapes[i], 10);
        assert_true(after <= 3 * before[i]);
    }
    // The same plans once SQLite has looked at the tables.
    run_sql(world, "analyze");
    check_pins(world);
}

static void
a_claim_steps_over_what_its_relay_cannot_run(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {"shop.a", NULL};
    publish_keys(world, keys);
    for (int i = 0; i < 10; i++)
        fire(world, EVENT);
    struct claim asked = a_claim("w", NOW, 10);
    asked.receivers = keys;
    int64_t before = cost_of_claim(world, &asked, 10);
    add_rows(world, 20000, "shop.unknown", LANE, "pending"); // in front of ours
    int64_t after = cost_of_claim(world, &asked, 10);
    assert_true(after <= before + before / 10);
}

/* cost_of_status counts the steps of owed status, at a moment when all is due. */
static int64_t
cost_of_status(struct world *world)
{
    struct status status;
    take_steps(world->db);
    assert_ok(store_status(world->db, NOW + SECOND, &world->arena, &status, &world->err));
    take_steps(world->db); // prepared anew
    assert_ok(store_status(world->db, NOW + SECOND, &world->arena, &status, &world->err));
    return take_steps(world->db);
}

static void
status_looks_past_what_has_ended_well(void **state)
{
    struct world *world = *state;
    add_rows(world, 20, "shop.a", LANE, "pending");
    add_rows(world, 20, "shop.a", LANE, "dead");
    add_rows(world, 20, "shop.a", LANE, "claimed");
    int64_t few = cost_of_status(world);
    add_rows(world, 100000, "shop.a", LANE, "succeeded");
    int64_t events = cost_of_status(world) - few; // they are counted, up to so many
    assert_true(events > 0 && events <= 8 * STATUS_EVENTS_MAX);
    add_rows(world, 100000, "shop.a", LANE, "succeeded");
    int64_t many = cost_of_status(world);
    if (many > few + events + events / 100)
        print_error("%lld steps, and %lld\n", (long long)(few + events), (long long)many);
    assert_true(many <= few + events + events / 100);
}

static int64_t
cost_of_quiet(struct world *world)
{
    struct quiet_row *rows;
    size_t count;
    for (int i = 0; i < 2; i++) {
        take_steps(world->db); // prepared anew
        assert_ok(store_quiet(world->db, NOW, 100, &world->arena, &rows, &count, &world->err));
    }
    return take_steps(world->db);
}

static void
quiet_receivers_are_found_by_their_newest_events_whatever_came_before(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {"shop.a", NULL};
    struct catalogue_receiver bulk = a_receiver("shop.bulk");
    bulk.event_name = "shop.Bulk";
    publish(world, &bulk, 1);
    publish_keys(world, keys);
    for (int i = 0; i < 120; i++)
        fire(world, EVENT);
    add_rows(world, 120, "shop.bulk", LANE, "pending");
    int64_t few = cost_of_quiet(world);
    add_rows(world, 20000, "shop.bulk", LANE, "pending");
    int64_t many = cost_of_quiet(world);
    if (many > few + few / 10)
        print_error("%lld steps, then %lld\n", (long long)few, (long long)many);
    assert_true(many <= few + few / 10);
}

static void
what_is_known_of_a_receiver_that_is_not_quiet_is_enough(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {"shop.a", NULL};
    publish_keys(world, keys);
    for (int i = 0; i < 120; i++)
        fire(world, EVENT);
    const struct success late = {"shop.a", NOW}, early = {"shop.a", NOW - 1};
    assert_ok(store_note_successes(world->db, &early, 1, &world->err));
    int64_t looked_through = cost_of_quiet(world);
    assert_ok(store_note_successes(world->db, &late, 1, &world->err));
    int64_t known = cost_of_quiet(world);
    if (known > looked_through / 10)
        print_error("%lld steps, and %lld\n", (long long)looked_through, (long long)known);
    assert_true(known <= looked_through / 10);
}

static void
mending_costs_nothing_where_all_stand_right(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {"shop.a", NULL};
    publish_keys(world, keys);
    add_rows(world, 10, "shop.a", LANE, "pending");
    assert_ok(store_mend(world->db, NOW, GRACE, 100, NULL, NULL, &world->err));
    take_steps(world->db);
    assert_ok(store_mend(world->db, NOW, GRACE, 100, NULL, NULL, &world->err));
    int64_t before = take_steps(world->db);
    add_rows(world, 20000, "shop.a", LANE, "pending");
    assert_ok(store_mend(world->db, NOW, GRACE, 100, NULL, NULL, &world->err));
    take_steps(world->db); // prepared anew
    assert_ok(store_mend(world->db, NOW, GRACE, 100, NULL, NULL, &world->err));
    assert_true(take_steps(world->db) <= before + 20);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(hot_statements_name_their_indexes_and_walk_no_table),
        TEST(payloads_are_fetched_one_after_the_other_and_never_sorted),
        TEST(a_claim_costs_the_same_behind_history_and_before_a_backlog),
        TEST(a_claim_steps_over_what_its_relay_cannot_run),
        TEST(status_looks_past_what_has_ended_well),
        TEST(quiet_receivers_are_found_by_their_newest_events_whatever_came_before),
        TEST(what_is_known_of_a_receiver_that_is_not_quiet_is_enough),
        TEST(mending_costs_nothing_where_all_stand_right),
    };
    return run_on_stores("sqlite", "sqlite plan", tests, COUNT(tests));
}
