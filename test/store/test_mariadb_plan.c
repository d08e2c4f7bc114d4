/* SPDX-License-Identifier: MIT
 *
 * test_mariadb_plan.c - the statements that run all day find their rows by index, cost the same whatever
 * has ended before and whatever waits behind, and lock what they take.
 */
#include "world.h"

#include <mysql.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "store/prune.h"

#define LATER "'2130-01-01'"

/* Which index each statement must use, for which table (or alias), and how. Arguments are literals. */
static const struct pin {
    enum stmt stmt;
    const char *args[9];
    const char *uses[4];
} pins[] = {
    {STMT_EVENT_BY_DEDUPE, {"'A-1'"}, {"owed_event const owed_event_by_dedupe_key"}},
    {STMT_EVENT_EXISTS, {"1", "uid"}, {"owed_event const PRIMARY"}},
    {STMT_DELIVERY_EXISTS, {"1", "'shop.a'"}, {"owed_delivery const owed_delivery_once"}},
    {STMT_CLAIM_PICK_LANE, {"'shop/default'", "'inside'", LATER, "10", "null"},
        {"owed_delivery range owed_delivery_owed Using where; Using index\n",
            "owed_delivery ref owed_delivery_claimed Using where; Using index\n",
            "owed_delivery range owed_delivery_claimed"}},
    {STMT_CLAIM_PICK_EVENTS, {"'[1, 2]'", "'[\"shop.a\"]'", "'inside'", LATER, "10"},
        {"d ref owed_delivery_once"}},
    {STMT_CLAIM_PICK_ONE, {"1", LATER}, {"owed_delivery const PRIMARY"}},
    {STMT_CLAIM_FETCH, {"'[1, 2]'"}, {"d eq_ref PRIMARY", "e eq_ref PRIMARY"}},
    {STMT_OWED_PAYLOADS, {"0", "10", "'[\"shop.a\"]'"}, {"d range PRIMARY", "e eq_ref PRIMARY"}},
    {STMT_CLAIM_MARK, {"'[1, 2]'", "'w'", LATER, LATER}, {"d eq_ref PRIMARY"}},
    {STMT_AHEAD, {"'shop/default'", "'inside'", LATER, "5", "100"}, {"d range owed_delivery_owed"}},
    {STMT_NEXT_DUE, {"'[\"shop/default\"]'", "'inside'"},
        {"d ref owed_delivery_owed", "d ref owed_delivery_claimed"}},
    {STMT_NEXT_DUE_RECEIVERS, {"'[\"shop/default\"]'", "'inside'", "'[\"shop.a\"]'"},
        {"d ref owed_delivery_by_receiver", "d ref owed_delivery_claimed"}},
    {STMT_SETTLE, {"1", "'w'", LATER, "'succeeded'", "1", LATER, "''", LATER, LATER},
        {"owed_delivery range PRIMARY"}},
    {STMT_SETTLE_DONE_PAIRS, {"'[[1,5],[2,5]]'", "'w'", LATER, "1"}, {"d eq_ref PRIMARY"}},
    {STMT_DONE_PAIRS, {"'[[1,5],[2,5]]'", "'w'", LATER}, {"d eq_ref PRIMARY"}},
    {STMT_ATTEMPTS_INSERT, {"'[[1,5,5,200,\"\"],[2,5,5,200,\"\"]]'", "'w'", LATER, "1"},
        {"d eq_ref PRIMARY"}},
    {STMT_EXPANDED, {"1", "'w'", LATER}, {"owed_delivery range PRIMARY"}},
    {STMT_RENEW, {"1", "'w'", LATER, LATER}, {"owed_delivery range PRIMARY"}},
    {STMT_HAND_BACK, {"1", "'w'", LATER}, {"owed_delivery range PRIMARY"}},
    {STMT_TAKE, {"1", "'w'", LATER, "'v'", LATER, LATER}, {"owed_delivery range PRIMARY"}},
    {STMT_ATTEMPT_TRIM, {"1", "100"}, {"owed_attempt range owed_attempt_by_delivery"}},
    {STMT_PUT_OFF, {"'shop/default'", "'inside'", LATER, "'shop.a'", "''"},
        {"owed_delivery range owed_delivery_owed"}},
    {STMT_ATTEMPTS, {"1"}, {"owed_attempt ref owed_attempt_by_delivery"}},
    {STMT_MISPLACED, {"'shop.a'", "10"},
        {"d range owed_delivery_by_receiver", "d ref owed_delivery_by_receiver"}},
    {STMT_MISPLACED_CLAIMED, {"10"}, {"d range owed_delivery_claimed"}},
    {STMT_MOVE, {"'[1, 2]'"}, {"d eq_ref PRIMARY"}},
    {STMT_ORPHANS, {"'shop.a'", LATER, LATER, "10"},
        {"d ref owed_delivery_by_receiver", "d range owed_delivery_claimed"}},
    {STMT_ORPHAN, {"'[1, 2]'", LATER, "''"}, {"d eq_ref PRIMARY"}},
    {STMT_STATUS_OWED, {LATER}, {"owed_delivery range owed_delivery_by_receiver"}},
    {STMT_STATUS_CLAIMED, {LATER}, {"owed_delivery range owed_delivery_claimed"}},
    {STMT_STATUS_ENDED, {0}, {"owed_delivery range owed_delivery_ended_badly"}},
    {STMT_EVENTS, {"50000", "10"}, {"e range PRIMARY", "d ref owed_delivery_once"}},
    {STMT_EVENTS_BY_NAME, {"50000", "10", "'shop.Bulk'", "''"}, {"e range owed_event_by_name"}},
    {STMT_LATELY, {"'shop.a'", "'shop.Bulk'", "10", LATER},
        {"owed_event ref owed_event_by_name", "d ref owed_delivery_once"}},
    {STMT_EVENTS_BY_CORRELATION, {"50000", "10", "'c'"}, {"e range owed_event_by_correlation"}},
    {STMT_EVENTS_BY_CAUSE, {"7", "100"}, {"owed_event ref owed_event_by_cause"}},
    {STMT_EVENT, {"1"}, {"e const PRIMARY"}},
    {STMT_FIRED, {"'shop.Bulk'"}, {"owed_event ref owed_event_by_name"}},
    {STMT_DELIVERIES, {"50000", "10", "''", "''", "''", "''", "''"}, {"d range PRIMARY"}},
    {STMT_DELIVERIES_OF_EVENT, {"50000", "10", "''", "''", "''", "''", "''", "1"},
        {"d ref owed_delivery_once"}},
    {STMT_DELIVERIES_ENDED_BADLY, {"500000", "10", "''", "'dead'", "''", "''", "''"},
        {"d range owed_delivery_ended_badly Using where\n"}},
    {STMT_DELIVERY, {"1"}, {"d const PRIMARY"}},
    {STMT_REQUEUE_PICK, {"0", "10", "''", "1", "''", LATER, LATER},
        {"d range owed_delivery_ended_badly Using index condition; Using where\n",
            "r eq_ref PRIMARY"}},
    {STMT_PRUNE_OWN, {"0", "10", LATER, "60"},
        {"owed_event range owed_event_own_window Using where; Using index\n", "e eq_ref PRIMARY"}},
    {STMT_REQUEUE_PICK_IDS, {"'[1, 2]'", "''", "1", "''", LATER, LATER}, {"d eq_ref PRIMARY"}},
    {STMT_REQUEUE, {"'[1, 2]'", LATER}, {"d eq_ref PRIMARY"}},
};

/* filled_in is a statement with literals where its parameters stand. */
static void
filled_in(const struct sql *sql, const struct pin *pin, struct buf *text)
{
    const uint8_t *order = sql->orders[pin->stmt];
    for (const char *p = sql->statements[pin->stmt]; *p != '\0'; p++) {
        if (*p == '?')
            buf_puts(text, pin->args[*order++ - 1]);
        else
            buf_putc(text, *p);
    }
}

static void
ask(MYSQL *conn, const char *text, MYSQL_RES **ret_result)
{
    if (mysql_real_query(conn, text, strlen(text)) != 0) {
        print_error("%s: %s\n", text, mysql_error(conn));
        _fail(__FILE__, __LINE__);
    }
    *ret_result = mysql_store_result(conn);
    assert_non_null(*ret_result);
}

/* plan_of writes a line a table: its alias, how it is read, by which index, and what else there is. */
static void
plan_of(struct world *world, const struct pin *pin, struct buf *plan)
{
    MYSQL *conn = raw_native(raw_of(world->db));
    struct buf text;
    buf_init(&text, 1 << 16);
    buf_puts(&text, "explain ");
    filled_in(world->db->driver->sql, pin, &text);
    MYSQL_RES *result;
    ask(conn, buf_text(&text), &result);
    buf_clear(plan);
    for (MYSQL_ROW row = mysql_fetch_row(result); row != NULL; row = mysql_fetch_row(result))
        buf_printf(plan, "%s %s %s %s\n", row[2] == NULL ? "-" : row[2],
            row[3] == NULL ? "-" : row[3], row[5] == NULL ? "-" : row[5],
            row[9] == NULL ? "" : row[9]);
    mysql_free_result(result);
    buf_done(&text);
}

static void
check_pins(struct world *world)
{
    static const char *const walks[] = {"\nd ALL", "\ne ALL", "\nd index ", "\ne index ",
        "owed_delivery ALL", "owed_event ALL", "owed_delivery index ", "owed_event index "};
    struct buf plan, lines;
    buf_init(&plan, 1 << 16);
    buf_init(&lines, 1 << 16);
    for (size_t i = 0; i < COUNT(pins); i++) {
        char name[32];
        snprintf(name, sizeof name, "pin %zu", i);
        plan_of(world, &pins[i], &plan);
        buf_clear(&lines);
        buf_printf(&lines, "\n%s", buf_text(&plan));
        for (size_t k = 0; k < 4 && pins[i].uses[k] != NULL; k++) {
            if (strstr(buf_text(&plan), pins[i].uses[k]) == NULL)
                print_error("%s\nis not in:\n%s", pins[i].uses[k], buf_text(&plan));
            check_case(strstr(buf_text(&plan), pins[i].uses[k]) != NULL, name);
        }
        for (size_t k = 0; k < COUNT(walks); k++)
            check_case(strstr(buf_text(&lines), walks[k]) == NULL, name);
    }
    buf_done(&plan);
    buf_done(&lines);
}

/* add_rows writes so many deliveries of one event each. */
static void
add_rows(struct world *world, int count, const char *receiver, const char *lane, const char *status)
{
    raw_runf(plain(world),
        "insert into owed_event (uid, name, payload, occurred_at, recorded_at, due_at)"
        " select random_bytes(16), 'shop.Bulk', '{}', moment(%lld), moment(%lld), moment(%lld)"
        " from seq_1_to_%d",
        (long long)NOW, (long long)NOW, (long long)NOW, count);
    raw_runf(plain(world),
        "insert into owed_delivery (event_id, receiver_key, target_digest, lane, kind, status,"
        " max_attempts, available_at, due_at)"
        " select id, '%s', '', '%s', 'inside', '%s', 5, moment(%lld + id), moment(%lld)"
        " from (select id from owed_event order by id desc limit %d) as e",
        receiver, lane, status, (long long)NOW - 1000000, (long long)NOW, count);
}

/* fill makes much history, and owed rows of every sort, behind what is in lane LANE already. */
static void
fill(struct world *world)
{
    add_rows(world, 40000, "shop.a", LANE, "succeeded");
    add_rows(world, 3000, "shop.a", LANE, "dead");
    add_rows(world, 3000, "shop.a", LANE, "orphaned");
    add_rows(world, 5000, "shop.x", "shop/default!shop.x", "pending"); // a paused receiver
    add_rows(world, 5000, "shop.y", "shop/unserved", "failed");
    add_rows(world, 5000, "crm.z", "crm/default", "pending");
}

static void
hot_statements_use_their_indexes_and_walk_no_table(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {"shop.a", NULL};
    publish_keys(world, keys);
    for (int i = 0; i < 20; i++)
        fire(world, EVENT);
    raw_run(plain(world), "update owed_event set dedupe_key = 'A-1' where id = 1");
    fill(world);
    add_rows(world, 300, "shop.a", LANE, "claimed");
    raw_run(plain(world),
        "update owed_delivery set lease_expires_at = moment(micros(available_at))"
        " where status = 'claimed' and id % 2 = 0");
    raw_run(plain(world), "analyze table owed_event, owed_delivery, owed_receiver");
    check_pins(world);
}

/* take_reads counts what statements of a connection have read by index since the last time. */
static int64_t
take_reads(struct db *db)
{
    static struct db *last_db;
    static int64_t last;
    int64_t sum = raw_number(raw_of(db),
        "select sum(variable_value) from information_schema.session_status where variable_name in"
        " ('HANDLER_READ_FIRST', 'HANDLER_READ_KEY', 'HANDLER_READ_LAST', 'HANDLER_READ_NEXT',"
        " 'HANDLER_READ_PREV')");
    int64_t since = last_db == db ? sum - last : sum;
    last_db = db;
    last = sum;
    return since;
}

static int64_t
cost_of_claim(struct world *world, const struct claim *asked, size_t expected)
{
    take_reads(world->db);
    assert_int_equal(claim(world, asked), expected);
    int64_t reads = take_reads(world->db);
    assert_ok(store_hand_back_all(world->db, asked->claimed_by, 0, NULL, &world->err));
    // As fresh rows again, so that each claim finds the same.
    raw_run(plain(world), "update owed_delivery set status = 'pending' where status = 'claimed'");
    return reads;
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

    fill(world);
    for (int i = 0; i < 4; i++) {
        int64_t after = cost_of_claim(world, &shapes[i], 10);
        int64_t bound = i == 2 ? 3 * before[i] : before[i] + before[i] / 10; // it has one lane more
        if (after > bound)
            print_error("shape %d: %lld, then %lld\n", i, (long long)before[i], (long long)after);
        assert_true(after <= bound);
    }
    // And before a backlog in its own lane.
    add_rows(world, 20000, "shop.a", LANE, "pending");
    for (int i = 0; i < 4; i++)
        assert_true(cost_of_claim(world, &shapes[i], 10) <= 3 * before[i]);
}

static void
mending_costs_nothing_where_all_stand_right(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {"shop.a", NULL};
    publish_keys(world, keys);
    add_rows(world, 10, "shop.a", LANE, "pending");
    take_reads(world->db);
    assert_ok(store_mend(world->db, NOW, GRACE, 100, NULL, NULL, &world->err));
    int64_t before = take_reads(world->db);
    add_rows(world, 20000, "shop.a", LANE, "pending");
    assert_ok(store_mend(world->db, NOW, GRACE, 100, NULL, NULL, &world->err));
    assert_true(take_reads(world->db) <= before + 20);
}

static int64_t
handled(struct db *db, const char *what)
{
    char sql[160];
    snprintf(sql, sizeof sql,
        "select variable_value from information_schema.session_status where variable_name = 'HANDLER_%s'",
        what);
    return raw_number(raw_of(db), sql);
}

static void
successes_that_take_their_events_along_are_written_by_nothing_but_their_end(void **state)
{
    enum { ROWS = 20 };
    struct world *world = *state;
    static const char *const keys[] = {"shop.a", NULL};
    const struct catalogue_event type = {
        .app = "shop", .name = EVENT, .version = 1, .delete_when = "succeeded"};
    const struct publication publication = {
        .app = "shop", .now_us = NOW, .events = &type, .event_count = 1};
    publish_keys(world, keys);
    assert_ok(store_publish(world->db, &publication, NULL, &world->err));
    fill(world);
    for (int i = 0; i < ROWS; i++)
        fire(world, EVENT);
    struct claim asked = a_claim("w", NOW, ROWS);
    assert_int_equal(claim(world, &asked), ROWS);
    struct settlement done[ROWS];
    for (int i = 0; i < ROWS; i++) {
        done[i] = a_settlement(&world->rows[i].fence, "succeeded");
        done[i].consumed_event_id = world->rows[i].event_id;
    }
    int64_t updates = handled(world->db, "UPDATE"), deletes = handled(world->db, "DELETE");
    take_reads(world->db);
    assert_ok(store_settle(world->db, done, ROWS, NULL, &world->err));
    assert_true(take_reads(world->db) < ROWS * 20);
    assert_int_equal(handled(world->db, "UPDATE") - updates, 0);
    assert_int_equal(handled(world->db, "DELETE") - deletes, 2 * ROWS);
}

/* check_two_claims lets two workers claim at the same time: neither waits, no row is taken twice, and
 * a claim locks little more than it takes. */
static void
check_two_claims(struct world *world, const struct claim *asked)
{
    assert_ok(store_begin(world->db, true, &world->err));
    assert_int_equal(claim(world, asked), 10);
    int64_t last_at_us = world->rows[9].available_at_us;
    int64_t session = raw_session(raw_of(world->db));
    assert_in_range(raw_locks_of(plain(world), session).rows, 10, 100);

    struct claimed *rows = NULL;
    size_t count = 0;
    struct claim second = *asked;
    second.claimed_by = "second";
    assert_ok(store_claim(world->other, &second, &world->arena, &rows, &count, &world->err));
    assert_int_equal(count, 10);
    assert_true(rows[0].available_at_us > last_at_us);
    store_rollback(world->db);
    raw_run(plain(world), "update owed_delivery set status = 'pending' where status = 'claimed'");
}

/* all_reads counts the rows that statements of a connection have read, those of whole tables and of lists too. */
static int64_t
all_reads(struct db *db)
{
    return raw_number(raw_of(db),
        "select sum(variable_value) from information_schema.session_status where variable_name like"
        " 'HANDLER\\_READ\\_%'");
}

static void
a_batch_of_old_events_costs_the_same_whatever_the_history(void **state)
{
    struct world *world = *state;
    // As the server knows it after many rows were written at once, until it counts them again.
    raw_run(plain(world), "alter table owed_delivery stats_auto_recalc = 0");
    add_rows(world, 10000, "shop.a", LANE, "succeeded");
    const struct prune old = {.now_us = NOW + 10 * SECOND,
        .retention_us = SECOND,
        .batch_rows = 200,
        .limit = 100,
        .most_held = -1};
    struct prune_course course = {0};
    prune_begin(&course, &old);
    int64_t before = all_reads(world->db);
    while (!course.is_over)
        assert_ok(store_prune_step(world->db, &course, &world->err));
    assert_int_equal(course.events, 100);
    assert_in_range(all_reads(world->db) - before, 100, 4000);
}

static void
two_claims_at_once_take_different_rows_and_wait_for_nothing(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {"shop.a", NULL};
    static const char *const several[] = {LANE, "shop/other", NULL};
    publish_keys(world, keys);
    fill(world);
    add_rows(world, 5000, "shop.a", LANE, "pending");
    struct claim shapes[] = {a_claim("w", NOW, 10), a_claim("w", NOW, 10), a_claim("w", NOW, 10)};
    shapes[1].lanes = several;
    shapes[2].receivers = keys;
    for (size_t i = 0; i < COUNT(shapes); i++)
        check_two_claims(world, &shapes[i]);

    // A connection whose collation is not the tables' own.
    raw_run(raw_of(world->db), "set names utf8mb4 collate utf8mb4_general_ci");
    raw_run(raw_of(world->other), "set names utf8mb4 collate utf8mb4_general_ci");
    for (size_t i = 0; i < COUNT(shapes); i++)
        check_two_claims(world, &shapes[i]);
}

static void
a_claim_of_several_lanes_may_be_as_large_as_any(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {"shop.a", NULL};
    static const char *const several[] = {LANE, "shop/other", NULL};
    publish_keys(world, keys);
    add_rows(world, 10000, "shop.a", LANE, "pending");
    add_rows(world, 10000, "shop.a", "shop/other", "pending");
    struct claim asked = a_claim("w", NOW, 10000);
    asked.lanes = several;
    assert_int_equal(claim(world, &asked), 10000);
}

static void
two_claims_share_what_was_handed_back(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {"shop.a", NULL};
    publish_keys(world, keys);
    add_rows(world, 2000, "shop.a", LANE, "claimed"); // their leases are at the epoch
    struct claim asked = a_claim("w", NOW, 10);
    check_two_claims(world, &asked);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(hot_statements_use_their_indexes_and_walk_no_table),
        TEST(a_claim_costs_the_same_behind_history_and_before_a_backlog),
        TEST(mending_costs_nothing_where_all_stand_right),
        TEST(successes_that_take_their_events_along_are_written_by_nothing_but_their_end),
        TEST(a_batch_of_old_events_costs_the_same_whatever_the_history),
        TEST(two_claims_at_once_take_different_rows_and_wait_for_nothing),
        TEST(a_claim_of_several_lanes_may_be_as_large_as_any),
        TEST(two_claims_share_what_was_handed_back),
    };
    return run_on_stores("mariadb", "mariadb plan", tests, COUNT(tests));
}
