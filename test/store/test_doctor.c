/* SPDX-License-Identifier: MIT
 *
 * test_doctor.c - what the store finds wrong with itself: each trouble that is true of every store, and what
 * looks like it and is none.
 */
#include "world.h"

#include <stdio.h>
#include <string.h>

#include "store/doctor.h"
#include "store/verbs.h"

#define MINUTE (60 * SECOND)

struct found {
    struct trouble *troubles;
    size_t count;
};

static struct found
look_with(struct world *world, enum stmt stmt, struct args args)
{
    struct found found = {0};
    assert_ok(store_troubles(world->db, stmt, args.values, args.count, &world->arena,
        &found.troubles, &found.count, &world->err));
    return found;
}
#define LOOK(stmt_, ...) look_with(world, (stmt_), ARGS(__VA_ARGS__))

static void
check_one(
    struct found found, const char *subject, const char *detail, int64_t amount, int64_t other)
{
    assert_int_equal(found.count, 1);
    assert_string_equal(found.troubles[0].subject, subject);
    assert_string_equal(found.troubles[0].detail, detail);
    assert_int_equal(found.troubles[0].amount, amount);
    assert_int_equal(found.troubles[0].other, other);
}

static void
a_healthy_store_has_no_trouble(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {"shop.a", NULL};
    publish_keys(world, keys);
    fire(world, EVENT);
    claim_as(world, "w", NOW, 10);
    struct value now = V_TIME(NOW + SECOND);
    assert_int_equal(look_with(world, STMT_DOCTOR_INDEXES, NO_ARGS).count, 0);
    assert_int_equal(look_with(world, STMT_DOCTOR_TRIGGERS, NO_ARGS).count, 0);
    assert_int_equal(LOOK(STMT_DOCTOR_DEAD, V_INT(100)).count, 0);
    assert_int_equal(LOOK(STMT_DOCTOR_ORPHANED, V_INT(100), V_INT(0)).count, 0);
    assert_int_equal(LOOK(STMT_DOCTOR_ORPHANED, V_INT(100), V_INT(1)).count, 0);
    assert_int_equal(LOOK(STMT_DOCTOR_LAPSED, V_INT(0), now).count, 0);
    assert_int_equal(LOOK(STMT_DOCTOR_RELAYS, V_INT(0), now).count, 0);
    assert_int_equal(LOOK(STMT_DOCTOR_PAUSED_LANES, V_INT(0), now, V_INT(10)).count, 0);
    assert_int_equal(LOOK(STMT_DOCTOR_PAUSED_RECEIVERS, V_INT(0), now, V_INT(10)).count, 0);
    assert_int_equal(LOOK(STMT_DOCTOR_EVENTLESS, V_INT(100)).count, 0);
    assert_int_equal(LOOK(STMT_DOCTOR_UNPRUNED, V_INT(MINUTE), now).count, 0);
    size_t count = 1;
    struct trouble *troubles;
    assert_ok(store_drift(world->db, &world->arena, &troubles, &count, &world->err));
    assert_int_equal(count, 0);
    assert_ok(store_unpublished(world->db, &world->arena, &troubles, &count, &world->err));
    assert_int_equal(count, 0);
}

static void
dead_deliveries_are_told_by_receiver_with_their_commonest_error(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {"shop.a", "shop.b", NULL};
    static const char *const errors[] = {"a rare one", "common", "common", "common", "b's own"};
    static const char *const receivers[] = {"shop.a", "shop.a", "shop.a", "shop.a", "shop.b"};
    publish_keys(world, keys);
    for (int i = 0; i < 4; i++)
        fire(world, EVENT);
    assert_int_equal(claim_as(world, "w", NOW, 10), 8);
    size_t next[2] = {0, 4}; // of errors, for each receiver
    for (size_t i = 0; i < 8; i++) {
        size_t *at = &next[strcmp(world->rows[i].receiver_key, "shop.b") == 0];
        bool is_dead =
            *at < COUNT(errors) && strcmp(receivers[*at], world->rows[i].receiver_key) == 0;
        struct settlement settlement =
            a_settlement(&world->rows[i].fence, is_dead ? "dead" : "orphaned");
        settlement.last_error = is_dead ? errors[*at] : "orphaned";
        assert_ok(store_settle(world->db, &settlement, 1, NULL, &world->err));
        *at += 1;
    }
    struct found found = LOOK(STMT_DOCTOR_DEAD, V_INT(100));
    assert_int_equal(found.count, 2);
    check_one((struct found){found.troubles, 1}, "shop.a", "common", 4, 3);
    check_one((struct found){found.troubles + 1, 1}, "shop.b", "b's own", 1, 1);
    found = LOOK(STMT_DOCTOR_DEAD, V_INT(2)); // no more rows than that are looked at
    int64_t total = 0;
    for (size_t i = 0; i < found.count; i++)
        total += found.troubles[i].amount;
    assert_int_equal(total, 2);
}

static void
orphans_are_told_apart_by_whether_their_receiver_is_back(void **state)
{
    struct world *world = *state;
    bring_to(world, "orphaned");
    check_one(LOOK(STMT_DOCTOR_ORPHANED, V_INT(100), V_INT(1)), "shop.billing", "", 1, 0);
    assert_int_equal(LOOK(STMT_DOCTOR_ORPHANED, V_INT(100), V_INT(0)).count, 0);
    assert_int_equal(LOOK(STMT_DOCTOR_ORPHANED, V_INT(0), V_INT(1)).count, 0);
    assert_int_equal(LOOK(STMT_DOCTOR_DEAD, V_INT(100)).count, 0);
    int64_t changed;
    assert_ok(store_retire(world->db, "shop", NOW, &changed, &world->err));
    assert_int_equal(LOOK(STMT_DOCTOR_ORPHANED, V_INT(100), V_INT(1)).count, 0);
    check_one(LOOK(STMT_DOCTOR_ORPHANED, V_INT(100), V_INT(0)), "shop.billing", "", 1, 0);
    bring_to(world, "dead"); // is no orphan
    assert_ok(store_retire(world->db, "shop", NOW, &changed, &world->err));
    check_one(LOOK(STMT_DOCTOR_ORPHANED, V_INT(100), V_INT(0)), "shop.billing", "", 1, 0);
}

static void
claims_that_are_over_are_told_once_nobody_took_them_for_long(void **state)
{
    struct world *world = *state;
    bring_to(world, "claimed"); // until NOW + LEASE
    int64_t end = NOW + LEASE;
    assert_int_equal(LOOK(STMT_DOCTOR_LAPSED, V_INT(-LEASE), V_TIME(end)).count, 0); // it is held
    assert_int_equal(LOOK(STMT_DOCTOR_LAPSED, V_INT(MINUTE), V_TIME(end + MINUTE)).count, 0);
    check_one(
        LOOK(STMT_DOCTOR_LAPSED, V_INT(MINUTE), V_TIME(end + MINUTE + 1)), LANE, "first", 1, end);
    // Handed back it is free at once; since when, says its claim.
    assert_ok(store_hand_back(world->db, &world->rows[0].fence, 1, NULL, &world->err));
    assert_int_equal(LOOK(STMT_DOCTOR_LAPSED, V_INT(MINUTE), V_TIME(NOW + MINUTE)).count, 0);
    check_one(
        LOOK(STMT_DOCTOR_LAPSED, V_INT(MINUTE), V_TIME(NOW + MINUTE + 1)), LANE, "first", 1, NOW);
    raw_run(plain(world), "update owed_delivery set status = 'succeeded'");
    assert_int_equal(LOOK(STMT_DOCTOR_LAPSED, V_INT(MINUTE), V_TIME(end + MINUTE + 1)).count, 0);
}

static void
what_no_worker_takes_from_its_task_site_is_told(void **state)
{
    struct world *world = *state;
    bring_to(world, "claimed"); // owed since NOW
    int64_t later = NOW + MINUTE + 1;
    raw_run(plain(world), "update owed_delivery set claimed_by = 'first/task'");
    assert_int_equal(LOOK(STMT_DOCTOR_UNTAKEN, V_INT(MINUTE), V_TIME(later)).count, 0); // no task
    raw_run(plain(world), "update owed_delivery set kind = 'task'");
    check_one(LOOK(STMT_DOCTOR_UNTAKEN, V_INT(MINUTE), V_TIME(later)), "shop.billing", "first/task",
        1, NOW);
    assert_int_equal(LOOK(STMT_DOCTOR_UNTAKEN, V_INT(MINUTE), V_TIME(later - 1)).count, 0);
    raw_run(plain(world), "update owed_delivery set claimed_by = 'task.1/0'"); // one took it
    assert_int_equal(LOOK(STMT_DOCTOR_UNTAKEN, V_INT(MINUTE), V_TIME(later)).count, 0);
    raw_run(
        plain(world), "update owed_delivery set claimed_by = 'first/task', status = 'succeeded'");
    assert_int_equal(LOOK(STMT_DOCTOR_UNTAKEN, V_INT(MINUTE), V_TIME(later)).count, 0);
}

static void
a_relay_that_is_silent_and_holds_claims_is_told_with_host_and_process(void **state)
{
    struct world *world = *state;
    const struct relay_row relay = {.id = "first",
        .host = "box",
        .pid = 4711,
        .lanes = "[]",
        .started_at_us = NOW,
        .heartbeat_at_us = NOW};
    assert_ok(store_relay_heartbeat(world->db, &relay, &world->err));
    assert_int_equal(LOOK(STMT_DOCTOR_RELAYS, V_INT(MINUTE), V_TIME(NOW + 5 * MINUTE)).count, 0);
    bring_to(world, "claimed");
    assert_int_equal(LOOK(STMT_DOCTOR_RELAYS, V_INT(MINUTE), V_TIME(NOW + MINUTE)).count, 0);
    check_one(LOOK(STMT_DOCTOR_RELAYS, V_INT(MINUTE), V_TIME(NOW + MINUTE + 1)), "first",
        "process 4711 on box", 1, NOW);
    struct relay_row other = relay;
    other.id = "second"; // holds nothing
    assert_ok(store_relay_heartbeat(world->db, &other, &world->err));
    assert_int_equal(LOOK(STMT_DOCTOR_RELAYS, V_INT(MINUTE), V_TIME(NOW + 5 * MINUTE)).count, 1);
    raw_run(plain(world), "update owed_delivery set status = 'succeeded'");
    assert_int_equal(LOOK(STMT_DOCTOR_RELAYS, V_INT(MINUTE), V_TIME(NOW + 5 * MINUTE)).count, 0);
}

static void
pause(struct world *world, const char *lane, const char *key)
{
    const struct pausing pausing = {
        .lane = lane, .receiver_key = key, .now_us = NOW, .who = "me", .reason = "why"};
    int64_t count;
    assert_ok(store_pause(world->db, &pausing, &count, &world->err));
}

static struct found
paused_lanes(struct world *world, int64_t at_us)
{
    return LOOK(STMT_DOCTOR_PAUSED_LANES, V_INT(MINUTE), V_TIME(at_us), V_INT(2));
}

static struct found
paused_receivers(struct world *world, int64_t at_us)
{
    return LOOK(STMT_DOCTOR_PAUSED_RECEIVERS, V_INT(MINUTE), V_TIME(at_us), V_INT(2));
}

static void
a_lane_that_was_paused_long_ago_is_told_where_deliveries_wait(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {"shop.a", NULL};
    publish_keys(world, keys);
    pause(world, LANE, NULL);
    assert_int_equal(paused_lanes(world, NOW + MINUTE + 1).count, 0); // nothing waits
    for (int i = 0; i < 3; i++)
        fire(world, EVENT);
    assert_int_equal(paused_lanes(world, NOW + MINUTE).count, 0);
    check_one(paused_lanes(world, NOW + MINUTE + 1), LANE, "why", 2, NOW); // counted up to 2
    assert_int_equal(paused_receivers(world, NOW + MINUTE + 1).count, 0);  // its lane is told
    struct new_delivery beside = {.event_id = 1,
        .receiver_key = "shop.x",
        .lane = "shop/defaulu",
        .kind = "inside",
        .max_attempts = 5,
        .available_at_us = NOW};
    raw_run(plain(world), "update owed_delivery set status = 'dead'");
    assert_ok(store_insert_delivery(world->db, &beside, &world->err)); // in a lane behind it
    beside.lane = "shop/aaa";
    beside.receiver_key = "shop.y";
    assert_ok(store_insert_delivery(world->db, &beside, &world->err)); // and before it
    assert_int_equal(paused_lanes(world, NOW + MINUTE + 1).count, 0);
    raw_run(
        plain(world), "update owed_delivery set status = 'failed' where receiver_key = 'shop.a'");
    assert_int_equal(paused_lanes(world, NOW + MINUTE + 1).count, 1);
    raw_run(plain(world), "update owed_lane set paused_at = moment(0)");
    assert_int_equal(paused_lanes(world, NOW + MINUTE + 1).count, 0);
}

static void
a_receiver_that_was_paused_long_ago_is_told_where_deliveries_wait(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {"shop.a", "shop.b", NULL};
    publish_keys(world, keys);
    pause(world, NULL, "shop.a");
    assert_int_equal(paused_receivers(world, NOW + MINUTE + 1).count, 0);
    for (int i = 0; i < 3; i++)
        fire(world, EVENT);
    assert_int_equal(paused_receivers(world, NOW + MINUTE).count, 0);
    check_one(paused_receivers(world, NOW + MINUTE + 1), "shop.a", "why", 2, NOW);
    assert_int_equal(paused_lanes(world, NOW + MINUTE + 1).count, 0);
    raw_run(plain(world), "update owed_delivery set lane = 'shop/x' where receiver_key = 'shop.a'");
    assert_int_equal(paused_receivers(world, NOW + MINUTE + 1).count, 0);
    raw_run(plain(world),
        "update owed_delivery set lane = '" LANE
        "!shop.a', status = 'dead' where receiver_key = 'shop.a'");
    assert_int_equal(paused_receivers(world, NOW + MINUTE + 1).count, 0);
    const struct new_delivery stray = {.event_id = 1,
        .receiver_key = "shop.x",
        .lane = LANE "!shop.a",
        .kind = "inside",
        .max_attempts = 5,
        .available_at_us = NOW};
    assert_ok(store_insert_delivery(world->db, &stray, &world->err));
    assert_int_equal(paused_receivers(world, NOW + MINUTE + 1).count, 0); // is another's
    raw_run(plain(world), "update owed_delivery set lane = '" LANE "!shop.a', status = 'failed'");
    check_one(paused_receivers(world, NOW + MINUTE + 1), "shop.a", "why", 2, NOW);
    // Its lane may be paused besides.
    raw_runf(plain(world),
        "insert into owed_lane (lane, paused_at) values ('" LANE "', moment(%lld))",
        (long long)NOW + 1);
    assert_int_equal(paused_receivers(world, NOW + MINUTE + 1).count, 1);
    raw_runf(plain(world), "update owed_lane set lane = 'shop/x', paused_at = moment(%lld)",
        (long long)NOW);
    assert_int_equal(paused_receivers(world, NOW + MINUTE + 1).count, 1);
}

static struct found
unfanned(struct world *world, int64_t events, int64_t at_us)
{
    return LOOK(STMT_DOCTOR_UNFANNED, V_INT(events), V_TIME(at_us));
}

/* fire_at fires the event as recorded at a moment; its own receivers are those of the catalogue. */
static int64_t
fire_at(struct world *world, const char *name, int64_t at_us)
{
    struct new_event event = an_event(name);
    event.recorded_at_us = event.due_at_us = at_us;
    int64_t id;
    bool fresh;
    assert_ok(store_insert_event(world->db, &event, &id, &fresh, &world->err));
    return id;
}

static void
an_event_whose_delivery_somebody_deleted_is_told(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {"shop.a", "shop.b", NULL};
    publish_keys(world, keys); // at NOW
    int64_t later = NOW + SECOND;
    fire_at(world, EVENT, NOW); // not after it was published
    int64_t first = fire_at(world, EVENT, later);
    int64_t second = fire_at(world, EVENT, later + 1);
    fire_at(world, "shop.Other", later);
    assert_int_equal(unfanned(world, 100, NOW + 5 * MINUTE).count, 0);
    raw_runf(plain(world),
        "delete from owed_delivery where receiver_key = 'shop.a' and event_id = %lld",
        (long long)first);
    assert_int_equal(
        unfanned(world, 100, NOW + 5 * MINUTE).troubles[0].amount, 1); // other events' are there
    raw_run(plain(world), "delete from owed_delivery where receiver_key = 'shop.a'");
    char ids[64];
    snprintf(ids, sizeof ids, "%lld %lld", (long long)first, (long long)second);
    check_one(unfanned(world, 100, NOW + 5 * MINUTE), "shop.a", ids, 2, later);
    assert_int_equal(unfanned(world, 100, later + MINUTE).count, 0); // of the last minute
    check_one(unfanned(world, 2, NOW + 5 * MINUTE), "shop.a", strchr(ids, ' ') + 1, 1, later + 1);
    static const char *const others[] = {"mode = 'inline'", "targets = 'callback'",
        "removed_at = moment(1000000)", "event_name = 'shop.Third'"};
    for (size_t i = 0; i < COUNT(others); i++) {
        raw_runf(plain(world), "update owed_receiver set %s where \"key\" = 'shop.a'", others[i]);
        check_case(unfanned(world, 100, NOW + 5 * MINUTE).count == 0, others[i]);
        raw_run(plain(world),
            "update owed_receiver set mode = 'durable', targets = 'none', removed_at = moment(0),"
            " event_name = '" EVENT "' where \"key\" = 'shop.a'");
    }
    raw_run(plain(world), "update owed_event set suppressed_reason = 'a test'");
    assert_int_equal(unfanned(world, 100, NOW + 5 * MINUTE).count, 0);
}

static void
a_receiver_of_any_event_misses_every_one(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver all = a_receiver("shop.all");
    all.event_name = "*";
    publish(world, &all, 1);
    for (int i = 0; i < 22; i++)
        fire_at(world, "shop.Other", NOW + SECOND);
    raw_run(plain(world), "delete from owed_delivery");
    struct found found = unfanned(world, 100, NOW + 5 * MINUTE);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.troubles[0].amount, 22);
    size_t blanks = 0;
    for (const char *p = found.troubles[0].detail; *p != '\0'; p++)
        blanks += *p == ' ';
    assert_int_equal(blanks, 19); // 20 are named
}

static void
what_is_owed_of_an_event_that_is_gone_is_told(void **state)
{
    struct world *world = *state;
    int64_t id = bring_to(world, "pending");
    int64_t more = only_delivery(world, fire(world, EVENT));
    raw_runf(plain(world),
        "delete from owed_event where id = (select event_id from owed_delivery where id = %lld)",
        (long long)id);
    char ids[32];
    snprintf(ids, sizeof ids, "%lld", (long long)id);
    check_one(LOOK(STMT_DOCTOR_EVENTLESS, V_INT(100)), "shop.billing", ids, 1, 0);
    assert_int_equal(LOOK(STMT_DOCTOR_EVENTLESS, V_INT(0)).count, 0);
    raw_run(plain(world), "delete from owed_event");
    snprintf(ids, sizeof ids, "%lld %lld", (long long)id, (long long)more);
    check_one(LOOK(STMT_DOCTOR_EVENTLESS, V_INT(100)), "shop.billing", ids, 2, 0);
    raw_run(plain(world), "update owed_delivery set status = 'succeeded'");
    assert_int_equal(LOOK(STMT_DOCTOR_EVENTLESS, V_INT(100)).count, 0);
    for (int i = 0; i < 20; i++)
        fire(world, EVENT);
    raw_run(plain(world), "delete from owed_event; update owed_delivery set status = 'failed'");
    struct found found = LOOK(STMT_DOCTOR_EVENTLESS, V_INT(100));
    assert_int_equal(found.troubles[0].amount, 22);
    snprintf(ids, sizeof ids, " %lld", (long long)more + 19);
    assert_null(strstr(found.troubles[0].detail, ids)); // 20 are named
}

static void
events_past_the_retention_are_told_unless_they_are_owed_or_keep_to_a_window_of_their_own(
    void **state)
{
    struct world *world = *state;
    static const char *const statuses[] = {"pending", "claimed", "failed"};
    bring_to(world, "dead");
    int64_t young = fire_at(world, EVENT, NOW + 30 * MINUTE); // and owed
    struct value late = V_TIME(NOW + 10 * MINUTE + 1);
    check_one(LOOK(STMT_DOCTOR_UNPRUNED, V_INT(10 * MINUTE), late), "", "", 1, NOW);
    assert_int_equal(
        LOOK(STMT_DOCTOR_UNPRUNED, V_INT(10 * MINUTE), V_TIME(NOW + 10 * MINUTE)).count, 0);
    for (size_t i = 0; i < COUNT(statuses); i++) {
        raw_runf(plain(world), "update owed_delivery set status = '%s' where event_id <> %lld",
            statuses[i], (long long)young);
        check_case(LOOK(STMT_DOCTOR_UNPRUNED, V_INT(10 * MINUTE), late).count == 0, statuses[i]);
    }
    raw_run(plain(world), "update owed_delivery set status = 'succeeded'");
    assert_int_equal(LOOK(STMT_DOCTOR_UNPRUNED, V_INT(10 * MINUTE), late).count, 1);
    raw_run(plain(world), "update owed_event set retention_seconds = 99999999");
    assert_int_equal(LOOK(STMT_DOCTOR_UNPRUNED, V_INT(10 * MINUTE), late).count, 0);
}

static void
what_is_owed_to_a_receiver_that_nobody_published_is_told(void **state)
{
    struct world *world = *state;
    bring_to(world, "pending");
    struct new_delivery stray = {.event_id = 1,
        .receiver_key = "shop.stray",
        .lane = LANE,
        .kind = "inside",
        .max_attempts = 5,
        .available_at_us = NOW};
    assert_ok(store_insert_delivery(world->db, &stray, &world->err));
    struct found found;
    assert_ok(
        store_unpublished(world->db, &world->arena, &found.troubles, &found.count, &world->err));
    assert_int_equal(found.count, 1);
    assert_string_equal(found.troubles[0].subject, "shop.stray");
}

static void
the_lanes_of_every_app_are_listed_but_paused_ones(void **state)
{
    struct world *world = *state;
    bring_to(world, "pending");
    struct new_delivery other = {.event_id = 1,
        .receiver_key = "zoo.a",
        .lane = "zoo/mail",
        .kind = "inside",
        .max_attempts = 5,
        .available_at_us = NOW};
    assert_ok(store_insert_delivery(world->db, &other, &world->err));
    pause(world, NULL, "shop.billing");
    const char *const *lanes;
    size_t count;
    assert_ok(store_lanes_in_use(world->db, &world->arena, &lanes, &count, &world->err));
    assert_int_equal(count, 1);
    assert_string_equal(lanes[0], "zoo/mail");
}

static void
a_routine_of_another_text_is_told(void **state)
{
    struct world *world = *state;
    raw_run(plain(world),
        "update owed_schema set checksum = 'another' where kind = 'routine' and name = 'owed_fire'");
    world->store.is_spoilt = true;
    struct found found;
    assert_ok(store_drift(world->db, &world->arena, &found.troubles, &found.count, &world->err));
    check_one(found, "owed_fire", "another", 0, 0);
}

/* Each index that a fresh store has is missed when it is not there, with the statement that makes it again. */
static void
keep_name(void *state, const char *text)
{
    char(*names)[64] = state;
    while (names[0][0] != '\0')
        names++;
    snprintf(names[0], sizeof names[0], "%s", text);
}

static const char *
drop_of(const char *name, char *text, size_t size)
{
    if (test_store_is("mariadb"))
        // Its table's name comes first.
        snprintf(text, size, "drop index %.63s on owed_%.*s", name,
            (int)strcspn(name + strlen("owed_"), "_"), name + strlen("owed_"));
    else if (strstr(name, "_key") != NULL)
        snprintf(text, size, "alter table owed_%s drop constraint %.63s",
            strncmp(name, "owed_event", 10) == 0 ? "event" : "delivery", name);
    else
        snprintf(text, size, "drop index %.63s", name);
    return text;
}

static void
each_index_is_missed_and_what_is_said_makes_it_again(void **state)
{
    struct world *world = *state;
    world->store.is_spoilt = true;
    char names[32][64] = {{0}};
    raw_rows(plain(world),
        test_store_is("sqlite")
            ? "select name from sqlite_master where type = 'index' and sql is not null"
            : test_store_is("postgres")
            ? "select indexname from pg_indexes where schemaname = 'public' and indexname not like '%pkey'"
            : "select distinct index_name from information_schema.statistics"
              " where table_schema = database() and index_name <> 'PRIMARY'",
        keep_name, names);
    size_t seen = 0;
    for (; names[seen][0] != '\0'; seen++) {
        char drop[160];
        raw_run(plain(world), drop_of(names[seen], drop, sizeof drop));
        struct found found = look_with(world, STMT_DOCTOR_INDEXES, NO_ARGS);
        check_case(found.count == 1, names[seen]);
        assert_string_equal(found.troubles[0].subject, names[seen]);
        raw_run(plain(world), found.troubles[0].detail);
        check_case(look_with(world, STMT_DOCTOR_INDEXES, NO_ARGS).count == 0, names[seen]);
    }
    assert_true(seen > 9);
}

static void
a_trigger_that_is_gone_is_told(void **state)
{
    struct world *world = *state;
    NOT_ON("mariadb", "procedures do there what triggers do, and whoever calls one notices");
    world->store.is_spoilt = true;
    raw_run(plain(world),
        test_store_is("sqlite") ? "drop trigger owed_event_fan_out"
                                : "drop trigger owed_event_fan_out on owed_event");
    check_one(
        look_with(world, STMT_DOCTOR_TRIGGERS, NO_ARGS), "owed_event_fan_out", "owed_event", 0, 0);
}

static void
a_file_of_which_more_than_half_is_free_is_told(void **state)
{
    struct world *world = *state;
    ONLY_ON("sqlite", "servers keep their own files");
    world->store.is_spoilt = true;
    raw_run(plain(world),
        "create table big as with recursive n (i) as (select 1 union all select i + 1 from n"
        " where i < 2000) select i, randomblob(1000) as b from n");
    assert_int_equal(LOOK(STMT_DOCTOR_FREE_PAGES, V_INT(0)).count, 0);
    raw_run(plain(world), "drop table big");
    struct found found = LOOK(STMT_DOCTOR_FREE_PAGES, V_INT(0));
    assert_int_equal(found.count, 1);
    assert_true(found.troubles[0].amount > 2000000);
    assert_true(found.troubles[0].other > found.troubles[0].amount);
    assert_int_equal(LOOK(STMT_DOCTOR_FREE_PAGES, V_INT(found.troubles[0].amount)).count, 0);
    raw_run(plain(world),
        "create table other as with recursive n (i) as (select 1 union all select i + 1 from n"
        " where i < 1200) select i, randomblob(1000) as b from n");
    assert_int_equal(LOOK(STMT_DOCTOR_FREE_PAGES, V_INT(0)).count, 0); // less than half
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_healthy_store_has_no_trouble),
        TEST(dead_deliveries_are_told_by_receiver_with_their_commonest_error),
        TEST(orphans_are_told_apart_by_whether_their_receiver_is_back),
        TEST(claims_that_are_over_are_told_once_nobody_took_them_for_long),
        TEST(what_no_worker_takes_from_its_task_site_is_told),
        TEST(a_relay_that_is_silent_and_holds_claims_is_told_with_host_and_process),
        TEST(a_lane_that_was_paused_long_ago_is_told_where_deliveries_wait),
        TEST(a_receiver_that_was_paused_long_ago_is_told_where_deliveries_wait),
        TEST(an_event_whose_delivery_somebody_deleted_is_told),
        TEST(a_receiver_of_any_event_misses_every_one),
        TEST(what_is_owed_of_an_event_that_is_gone_is_told),
        TEST(
            events_past_the_retention_are_told_unless_they_are_owed_or_keep_to_a_window_of_their_own),
        TEST(what_is_owed_to_a_receiver_that_nobody_published_is_told),
        TEST(the_lanes_of_every_app_are_listed_but_paused_ones),
        TEST(a_routine_of_another_text_is_told),
        TEST(each_index_is_missed_and_what_is_said_makes_it_again),
        TEST(a_trigger_that_is_gone_is_told),
        TEST(a_file_of_which_more_than_half_is_free_is_told),
    };
    return run_on_all_stores("store doctor", tests, COUNT(tests));
}
