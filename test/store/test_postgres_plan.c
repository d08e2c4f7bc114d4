/* SPDX-License-Identifier: MIT
 *
 * test_postgres_plan.c - the statements that run all day find their rows by index, also by plans that
 * were made while the tables were small, and cost the same whatever has ended before.
 */
#include "world.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"

#define LANES "'[\"shop/default\",\"shop/other\"]', 'inside'"
#define KEYS "'[\"shop.a\"]'"
#define BY "'w', now() + interval '1 min', 1000000, 1"
#define FENCE "1, 'w', now()"

/* ALWAYS: whatever the statistics were when the plan was made. NOW: where they are those of now. */
enum { ALWAYS, FRESH };

/* Which index each statement must use; none may walk a table that grows. */
static const struct {
    const char *name;
    enum stmt stmt;
    const char *arguments;
    int when;
    const char *uses[3];
} pins[] = {
    {"claim_lane", STMT_CLAIM_LANE, "'shop/default', 'inside', now(), 10, null, " BY, ALWAYS,
        {"owed_delivery_owed", "owed_delivery_claimed", "owed_delivery_pkey"}},
    {"claim_lanes", STMT_CLAIM_LANES, LANES ", now(), 10, null, " BY, ALWAYS,
        {"owed_delivery_owed", "owed_delivery_claimed", "owed_delivery_pkey"}},
    {"claim_receivers", STMT_CLAIM_RECEIVERS, LANES ", now(), 10, " KEYS ", null, " BY, ALWAYS,
        {"owed_delivery_by_receiver", "owed_delivery_claimed", "owed_delivery_pkey"}},
    {"claim_but", STMT_CLAIM_BUT, LANES ", now(), 10, null, '[\"x\"]', null, " BY, ALWAYS,
        {"owed_delivery_owed", "owed_delivery_claimed", "owed_delivery_pkey"}},
    {"claim_early", STMT_CLAIM_EARLY, LANES ", now(), 10, " KEYS ", now(), 0, '[]', '[]', " BY,
        ALWAYS, {"owed_delivery_owed", "owed_delivery_claimed", "owed_delivery_pkey"}},
    {"claim_events", STMT_CLAIM_EVENTS, "'[1,2]', " KEYS ", 'inside', now(), 10, " BY, ALWAYS,
        {"owed_delivery_event_id_receiver_key_target_digest_key"}},
    {"claim_one", STMT_CLAIM_ONE, "1, now(), " BY, ALWAYS, {"owed_delivery_pkey"}},
    {"claim_fetch", STMT_CLAIM_FETCH, "'[1,2]'", ALWAYS, {"owed_delivery_pkey", "owed_event_pkey"}},
    {"next_due", STMT_NEXT_DUE, LANES, ALWAYS, {"owed_delivery_owed", "owed_delivery_claimed"}},
    {"next_due_receivers", STMT_NEXT_DUE_RECEIVERS, LANES ", " KEYS, ALWAYS,
        {"owed_delivery_by_receiver", "owed_delivery_claimed"}},
    {"lanes", STMT_LANES, "'shop/', 'shop0'", ALWAYS,
        {"owed_delivery_owed", "owed_delivery_claimed"}},
    {"settle", STMT_SETTLE, FENCE ", 'succeeded', 1, now(), '', now(), now()", ALWAYS,
        {"owed_delivery_pkey"}},
    {"settle_all", STMT_SETTLE_ALL,
        "'{1}', '{w}', '{epoch}', '{dead}', '{1}', '{epoch}', '{epoch}', '{epoch}', '{x}', '{}', '{}', '{}', '{}',"
        " '{}', '{}', '{}'",
        ALWAYS, {"owed_delivery_pkey"}},
    {"settle_all_successes", STMT_SETTLE_ALL,
        "'{1}', '{w}', '{epoch}', '{}', '{1}', '{}', '{epoch}', '{}', '{}', '{}', '{}', '{}', '{}', '{}',"
        " '{}', '{}'",
        ALWAYS, {"owed_delivery_pkey"}},
    {"settle_all_kept", STMT_SETTLE_ALL,
        "'{1}', '{w}', '{epoch}', '{}', '{1}', '{}', '{epoch}', '{}', '{}', '{succeeded}', '{}', '{epoch}',"
        " '{0}', '{0}', '{}', '{x}'",
        ALWAYS, {"owed_delivery_pkey"}},
    {"renew", STMT_RENEW, FENCE ", now()", ALWAYS, {"owed_delivery_pkey"}},
    {"hand_back", STMT_HAND_BACK, FENCE, ALWAYS, {"owed_delivery_pkey"}},
    {"hand_off", STMT_HAND_OFF, FENCE ", now()", ALWAYS, {"owed_delivery_pkey"}},
    {"take", STMT_TAKE, FENCE ", 'x', now(), now()", ALWAYS, {"owed_delivery_pkey"}},
    {"count_loss", STMT_COUNT_LOSS, FENCE, ALWAYS, {"owed_delivery_pkey"}},
    {"expanded", STMT_EXPANDED, FENCE, ALWAYS, {"owed_delivery_pkey"}},
    {"attempt_trim", STMT_ATTEMPT_TRIM, "1, 5", ALWAYS, {"owed_attempt_by_delivery"}},
    {"event_by_dedupe", STMT_EVENT_BY_DEDUPE, "'key'", ALWAYS, {"owed_event_dedupe_key_key"}},
    {"event_exists", STMT_EVENT_EXISTS, "1, '\\x00'", ALWAYS, {"owed_event_pkey"}},
    {"delivery_exists", STMT_DELIVERY_EXISTS, "1, 'shop.a'", ALWAYS,
        {"owed_delivery_event_id_receiver_key_target_digest_key"}},
    {"delivery_delete_blank", STMT_DELIVERY_DELETE_BLANK, "1, 'shop.a'", ALWAYS,
        {"owed_delivery_event_id_receiver_key_target_digest_key"}},
    {"misplaced", STMT_MISPLACED, "'shop.a', 10", ALWAYS, {"owed_delivery_by_receiver"}},
    {"misplaced_claimed", STMT_MISPLACED_CLAIMED, "10", ALWAYS, {"owed_delivery_claimed"}},
    {"move", STMT_MOVE, "'[1,2]'", ALWAYS, {"owed_delivery_pkey"}},
    {"owed_receivers", STMT_OWED_RECEIVERS, NULL, ALWAYS,
        {"owed_delivery_by_receiver", "owed_delivery_claimed"}},
    {"orphans", STMT_ORPHANS, "'shop.none', now(), now(), 10", ALWAYS,
        {"owed_delivery_by_receiver", "owed_delivery_claimed"}},
    {"orphan", STMT_ORPHAN, "'[1,2]', now(), 'gone'", ALWAYS, {"owed_delivery_pkey"}},
    {"hand_back_all", STMT_HAND_BACK_ALL, "'w', 0", FRESH, {"owed_delivery_claimed"}},
    {"count_loss_all", STMT_COUNT_LOSS_ALL, "'w'", FRESH, {"owed_delivery_claimed"}},
    {"forgive_losses", STMT_FORGIVE_LOSSES, "'w'", FRESH, {"owed_delivery_claimed"}},
    {"events", STMT_EVENTS, "100, 10", FRESH, {"owed_event_pkey"}},
    {"events_by_name", STMT_EVENTS_BY_NAME, "100, 10, 'shop.Rare', ''", FRESH,
        {"owed_event_by_name"}},
    {"lately", STMT_LATELY, "'shop.a', 'shop.Rare', 10, 'epoch'", FRESH,
        {"owed_event_by_name", "owed_delivery_event_id_receiver_key_target_digest_key"}},
    {"events_by_correlation", STMT_EVENTS_BY_CORRELATION, "100, 10, 'c'", FRESH,
        {"owed_event_by_correlation"}},
    {"events_by_cause", STMT_EVENTS_BY_CAUSE, "7, 100", FRESH, {"owed_event_by_cause"}},
    {"deliveries", STMT_DELIVERIES, "100, 10, '', '', '', '', ''", FRESH, {"owed_delivery_pkey"}},
    {"deliveries_of_event", STMT_DELIVERIES_OF_EVENT, "100000, 10, '', '', '', '', '', 5", FRESH,
        {"owed_delivery_event_id_receiver_key_target_digest_key"}},
    {"attempts", STMT_ATTEMPTS, "1", FRESH, {"owed_attempt_by_delivery"}},
    {"consume", STMT_CONSUME, "'{1}', '{1}', 'w', '{epoch}', '{epoch}', 60", ALWAYS,
        {"owed_delivery_pkey", "owed_event_pkey",
            "owed_delivery_event_id_receiver_key_target_digest_key"}},
    {"prune_old", STMT_PRUNE_OLD, "0, 10, now()", ALWAYS,
        {"owed_event_pkey", "owed_delivery_event_id_receiver_key_target_digest_key"}},
    {"prune_own", STMT_PRUNE_OWN, "0, 10, now(), 60", FRESH, {"owed_event_own_window"}},
    {"prune_consumed", STMT_PRUNE_CONSUMED, "0, 10, 'succeeded'", FRESH, {"owed_event_consumed"}},
    {"prune_windows", STMT_PRUNE_WINDOWS, "0", FRESH, {"owed_event_own_window"}},
    {"forget", STMT_FORGET, "'[1,2]', 'succeeded', 10, 0", ALWAYS,
        {"owed_event_pkey", "owed_delivery_event_id_receiver_key_target_digest_key"}},
    {"requeue_pick", STMT_REQUEUE_PICK, "0, 10, '', 0, '', 'epoch', now()", FRESH,
        {"owed_delivery_ended_badly_ids"}},
    {"requeue_pick_ids", STMT_REQUEUE_PICK_IDS, "'[1,2]', '', 0, '', 'epoch', now()", FRESH,
        {"Index Cond: (id = ANY"}},
    {"events_hold", STMT_EVENTS_HOLD, "'[1,2]'", FRESH, {"owed_event_pkey"}},
    {"cancel_pick", STMT_CANCEL_PICK, "0, 10, '', now()", FRESH, {"owed_delivery_pkey"}},
    {"cancel_pick_ids", STMT_CANCEL_PICK_IDS, "'[1,2]', '', now()", FRESH, {"owed_delivery_pkey"}},
    {"owed_payloads", STMT_OWED_PAYLOADS, "0, 10, " KEYS, FRESH,
        {"owed_delivery_pkey", "owed_event_pkey"}},
    {"cancel", STMT_CANCEL, "'[1,2]', now()", FRESH, {"owed_delivery_pkey"}},
    {"replay_pick", STMT_REPLAY_PICK, "'shop.Rare', 0, 10, 'epoch', now()", FRESH,
        {"owed_event_by_name"}},
    {"replay_target", STMT_REPLAY_TARGET, "1, 'shop.a', '\\x00', now(), 5, 'shop/default'", FRESH,
        {"owed_delivery_event_id_receiver_key_target_digest_key"}},
};

/* A connection that tells the plan of every statement, those inside of functions too. */
struct watched {
    struct raw *raw;
    struct buf plans;
};

static void
hear(void *state, const char *notice)
{
    buf_puts(state, notice);
}

static void
watch(struct world *world, struct watched *watched)
{
    watched->raw = raw_open(world->url);
    buf_init(&watched->plans, 1 << 22);
    raw_run(watched->raw,
        "load 'auto_explain'; set auto_explain.log_min_duration = 0;"
        "set auto_explain.log_nested_statements = on; set client_min_messages = log");
    PQsetNoticeProcessor(raw_native(watched->raw), hear, &watched->plans);
}

static void
watched_done(struct watched *watched)
{
    raw_close(watched->raw);
    buf_done(&watched->plans);
}

static void
prepare(struct world *world, struct watched *watched)
{
    for (size_t i = 0; i < COUNT(pins); i++)
        raw_runf(watched->raw, "prepare %s as %s", pins[i].name,
            world->db->driver->sql->statements[pins[i].stmt]);
}

/* plans_of runs a prepared statement, and leaves nothing of what it wrote. */
static const char *
plans_of(struct watched *watched, size_t pin)
{
    const char *arguments = pins[pin].arguments;
    raw_run(watched->raw, "begin");
    buf_clear(&watched->plans);
    if (arguments == NULL)
        raw_runf(watched->raw, "execute %s", pins[pin].name);
    else
        raw_runf(watched->raw, "execute %s(%s)", pins[pin].name, arguments);
    raw_run(watched->raw, "rollback");
    return buf_text(&watched->plans);
}

static void
check_pins(struct watched *watched, int when)
{
    static const char *const walks[] = {"Seq Scan on owed_delivery", "Seq Scan on owed_event",
        "Seq Scan on owed_attempt", "Materialize\n", "Merge Join"};
    for (size_t i = 0; i < COUNT(pins); i++) {
        if (pins[i].when > when)
            continue;
        const char *plans = plans_of(watched, i);
        for (size_t k = 0; k < COUNT(pins[i].uses) && pins[i].uses[k] != NULL; k++) {
            if (strstr(plans, pins[i].uses[k]) == NULL)
                print_error("%s: no %s in\n%s", pins[i].name, pins[i].uses[k], plans);
            check_case(strstr(plans, pins[i].uses[k]) != NULL, pins[i].name);
        }
        // All that will go some day is far more than what goes now.
        if (pins[i].stmt == STMT_CONSUME)
            check_case(strstr(plans, "owed_event_consumed") == NULL, pins[i].name);
        // The catalogue is small, whatever joins it.
        for (size_t k = 0; k < (pins[i].stmt == STMT_OWED_RECEIVERS ? 3 : COUNT(walks)); k++) {
            if (strstr(plans, walks[k]) != NULL)
                print_error("%s: %s in\n%s", pins[i].name, walks[k], plans);
            check_case(strstr(plans, walks[k]) == NULL, pins[i].name);
        }
    }
}

/* add_rows writes so many deliveries, of one event each. */
static void
add_rows(struct world *world, int count, const char *receiver, const char *lane, const char *status)
{
    raw_runf(plain(world),
        "insert into owed_event (uid, name, payload, occurred_at, recorded_at, due_at)"
        " select uuid_send(gen_random_uuid()), 'shop.Bulk', '{}', moment(%lld), moment(%lld),"
        " moment(%lld) from generate_series(1, %d)",
        (long long)NOW, (long long)NOW, (long long)NOW, count);
    raw_runf(plain(world),
        "insert into owed_delivery (event_id, receiver_key, target_digest, lane, kind, status,"
        " max_attempts, available_at, due_at)"
        " select id, '%s', sha256(''), '%s', 'inside', '%s', 5, moment(%lld - 1000000 + id),"
        " moment(%lld) from owed_event order by id desc limit %d",
        receiver, lane, status, (long long)NOW, (long long)NOW, count);
}

static void
fill(struct world *world)
{
    add_rows(world, 20000, "shop.a", LANE, "succeeded");
    add_rows(world, 5000, "shop.a", LANE, "pending");
    add_rows(world, 2000, "shop.a", LANE, "dead");
    add_rows(world, 3000, "shop.x", "shop/default!shop.x", "pending"); // a paused receiver
    add_rows(world, 3000, "shop.stranger", LANE, "pending");
    add_rows(world, 3000, "shop.a", LANE, "claimed");
    raw_run(plain(world),
        "insert into owed_attempt (delivery_id, attempt, started_at, verdict)"
        " select id, 1, now(), 'failed' from owed_delivery limit 5000");
    raw_run(plain(world), "update owed_event set delete_when = 'succeeded' where id = 1");
    raw_run(plain(world), "update owed_event set retention_seconds = 60 where id = 2");
}

static void
publish_and_know_little(struct world *world)
{
    static const char *const keys[] = {"shop.a", NULL};
    publish_keys(world, keys);
    add_rows(world, 5, "shop.a", LANE, "pending");
    world->store.is_spoilt = true;
    raw_run(plain(world),
        "alter table owed_event set (autovacuum_enabled = off);"
        "alter table owed_delivery set (autovacuum_enabled = off); analyze");
}

static void
a_plan_made_while_the_tables_were_small_walks_none_that_has_grown(void **state)
{
    struct world *world = *state;
    publish_and_know_little(world);
    struct watched watched;
    watch(world, &watched);
    prepare(world, &watched);
    for (int times = 0; times < 7; times++) // from the sixth on a plan is kept
        for (size_t i = 0; i < COUNT(pins); i++)
            plans_of(&watched, i);
    fill(world);
    check_pins(&watched, ALWAYS);
    watched_done(&watched);
}

static void
every_statement_goes_by_its_index_among_much_history(void **state)
{
    struct world *world = *state;
    publish_and_know_little(world);
    fill(world);
    raw_run(plain(world), "analyze");
    struct watched watched;
    watch(world, &watched);
    prepare(world, &watched);
    check_pins(&watched, FRESH);
    watched_done(&watched);
}

static void
status_goes_by_the_indexes_of_what_has_not_ended_well(void **state)
{
    static const struct {
        enum stmt stmt;
        const char *index;
    } counts[] = {{STMT_STATUS_OWED, "owed_delivery_by_receiver"},
        {STMT_STATUS_CLAIMED, "owed_delivery_claimed"},
        {STMT_STATUS_ENDED, "owed_delivery_ended_badly"}};
    struct world *world = *state;
    publish_and_know_little(world);
    add_rows(world, 20000, "shop.a", LANE, "succeeded");
    add_rows(world, 50, "shop.a", LANE, "dead");
    add_rows(world, 50, "shop.a", LANE, "claimed");
    raw_run(plain(world), "analyze");
    struct watched watched;
    watch(world, &watched);
    for (size_t i = 0; i < COUNT(counts); i++) {
        raw_runf(watched.raw, "prepare c%zu as %s", i,
            world->db->driver->sql->statements[counts[i].stmt]);
        buf_clear(&watched.plans);
        raw_runf(
            watched.raw, "execute c%zu%s", i, counts[i].stmt == STMT_STATUS_ENDED ? "" : "(now())");
        const char *plans = buf_text(&watched.plans);
        check_case(strstr(plans, counts[i].index) != NULL, counts[i].index);
        check_case(strstr(plans, "Seq Scan") == NULL, counts[i].index);
    }
    watched_done(&watched);
}

/* pages_of counts the pages that a claim looks at to find its rows. */
static void
take_pages(void *state, const char *text)
{
    static const char word[] = "Buffers: shared hit=";
    const char *at = strstr(text, word);
    int64_t *pages = state;
    if (at == NULL || *pages != 0)
        return;
    *pages = strtoll(at + strlen(word), NULL, 10);
    const char *read = strstr(at, " read=");
    if (read != NULL)
        *pages += strtoll(read + strlen(" read="), NULL, 10);
}

static int64_t
pages_of(struct world *world, const char *lanes, const char *pick, const char *mark)
{
    char query[512];
    int64_t pages = 0;
    bool is_pick = strcmp(pick, "owed_pick") == 0;
    snprintf(query, sizeof query,
        "explain (analyze, buffers, costs off, timing off, summary off)"
        " select %s(%s, 'inside', moment(%lld), 10, %s%s%s)",
        pick, lanes, (long long)NOW, is_pick ? "null, null, " : "", mark,
        is_pick ? "" : ", 'w', moment(4000000000000000), 1000000, 1");
    for (int i = 0; i < 2; i++) { // once so that everything is known
        pages = 0;
        raw_run(plain(world), "begin");
        raw_rows(plain(world), query, take_pages, &pages);
        raw_run(plain(world), "rollback");
    }
    return pages;
}

static void
a_claim_costs_the_same_behind_history_and_before_a_backlog(void **state)
{
    static const struct {
        const char *pick;
        const char *lanes;
    } shapes[] = {{"owed_claim_lane", "'shop/default'"}, {"owed_pick", "'{shop/default,shop/x}'"}};
    struct world *world = *state;
    publish_and_know_little(world);
    add_rows(world, 20, "shop.a", LANE, "pending");
    int64_t before[COUNT(shapes)];
    for (size_t i = 0; i < COUNT(shapes); i++)
        before[i] = pages_of(world, shapes[i].lanes, shapes[i].pick, "null");
    fill(world);
    raw_run(plain(world),
        "update owed_delivery set lease_expires_at = moment(8000000000000000)"
        " where status = 'claimed'");
    raw_run(plain(world), "vacuum owed_delivery"); // of what this update left behind
    for (size_t i = 0; i < COUNT(shapes); i++) {
        int64_t after = pages_of(world, shapes[i].lanes, shapes[i].pick, "null");
        if (after > 2 * before[i] + 20)
            print_error("%s: %lld pages, then %lld\n", shapes[i].pick, (long long)before[i],
                (long long)after);
        assert_true(before[i] > 0 && after <= 2 * before[i] + 20);
    }
}

static void
a_claim_with_a_mark_reads_nothing_of_what_was_claimed_before_it(void **state)
{
    static const struct {
        const char *pick;
        const char *lanes;
    } shapes[] = {{"owed_claim_lane", "'shop/default'"}, {"owed_pick", "'{shop/default,shop/x}'"}};
    struct world *world = *state;
    publish_and_know_little(world);
    add_rows(world, 20, "shop.a", LANE, "pending");
    int64_t before[COUNT(shapes)];
    for (size_t i = 0; i < COUNT(shapes); i++)
        before[i] = pages_of(world, shapes[i].lanes, shapes[i].pick, "null");
    add_rows(world, 20000, "shop.a", LANE, "pending");
    // As long as somebody reads what was, nothing of it is swept.
    struct raw *reader = raw_open(world->url);
    raw_run(reader, "begin isolation level repeatable read; select 1 from owed_delivery limit 1");
    for (int i = 0; i < 20; i++)
        assert_int_equal(claim_as(world, "w", NOW, 1000), 1000);
    char mark[64];
    snprintf(mark, sizeof mark, "moment(%lld)", (long long)world->rows[999].available_at_us);
    for (size_t i = 0; i < COUNT(shapes); i++) {
        int64_t all = pages_of(world, shapes[i].lanes, shapes[i].pick, "null");
        int64_t marked = pages_of(world, shapes[i].lanes, shapes[i].pick, mark);
        assert_true(all > 4 * before[i]);
        assert_true(marked > 0 && marked <= 2 * before[i] + 20);
    }
    raw_close(reader);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_plan_made_while_the_tables_were_small_walks_none_that_has_grown),
        TEST(every_statement_goes_by_its_index_among_much_history),
        TEST(status_goes_by_the_indexes_of_what_has_not_ended_well),
        TEST(a_claim_costs_the_same_behind_history_and_before_a_backlog),
        TEST(a_claim_with_a_mark_reads_nothing_of_what_was_claimed_before_it),
    };
    return run_on_stores("postgres", "postgres plan", tests, COUNT(tests));
}
