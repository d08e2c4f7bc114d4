/* SPDX-License-Identifier: MIT
 *
 * test_fire_many.c - several events written at once are what each would be by itself.
 */
#include "world.h"

#include <stdio.h>
#include <string.h>

#include <owed/owed.h>

#include "store/events.h"

#define OTHER "shop.OrderShipped"
#define MOST 40

/* Some events, what is owed for them besides the catalogue, and what became of them. */
struct some {
    struct new_event events[MOST];
    struct own_receiver own[4];
    struct written_event written[MOST];
    size_t count;
    size_t own_count;
    size_t done;
    bool is_torn;
};

static struct some
some_events(size_t count)
{
    struct some some = {.count = count};
    for (size_t i = 0; i < count; i++)
        some.events[i] = an_event(EVENT);
    return some;
}

static owed_status
try_write(struct world *world, struct some *some)
{
    const struct new_events events = {some->events, some->count, some->own, some->own_count};
    return store_insert_events(
        world->db, &events, some->written, &some->done, &some->is_torn, &world->err);
}

static void
write_all(struct world *world, struct some *some)
{
    assert_ok(store_begin(world->db, true, &world->err));
    assert_ok(try_write(world, some));
    assert_ok(store_commit(world->db, &world->err));
    assert_int_equal(some->done, some->count);
    assert_false(some->is_torn);
}

/* check_owed holds what is owed for an event to receiver keys, in the order in which they are owed. */
static void
check_owed(struct world *world, int64_t event_id, const char *const *keys)
{
    int64_t ids[8];
    size_t count = ids_of_event(world, event_id, ids, 8), i = 0;
    for (; keys[i] != NULL; i++) {
        assert_true(i < count);
        assert_string_equal(delivery(world, ids[i]).receiver_key, keys[i]);
    }
    assert_int_equal(count, i);
}

static void
each_event_reads_back_as_it_was_fired(void **state)
{
    struct world *world = *state;
    struct some some = some_events(3);
    struct new_event *event = &some.events[1];
    event->payload = STR("{\"b\": 1e400,\n\t\"a\":\"\\u0000 \\ud800 \\\"x\\\\\", \"a\":"
                         " 12345678901234567890123, \"\xc3\xa9\": \"\xf0\x9f\x8d\x8b\" } ");
    event->version = 3;
    event->dedupe_key = "order-7 \"\\'";
    event->occurred_at_us = NOW - SECOND;
    event->due_at_us = NOW + 1;
    event->actor_key = "user:5";
    event->actor_label = "Ann \xc3\xa9";
    event->scope = "{\"tenant\": \"\\u00e9\"}";
    event->correlation_id = "c-1";
    event->causation_id = 77;
    event->traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    write_all(world, &some);
    struct event_row row;
    assert_ok(store_event(world->other, some.written[1].id, &world->arena, &row, &world->err));
    assert_memory_equal(row.uid, event->uid, sizeof row.uid);
    assert_string_equal(row.name, EVENT);
    assert_int_equal(row.version, 3);
    assert_true(str_eq(row.payload, event->payload));
    assert_string_equal(row.dedupe_key, event->dedupe_key);
    assert_int_equal(row.occurred_at_us, NOW - SECOND);
    assert_int_equal(row.recorded_at_us, NOW);
    assert_string_equal(row.actor_key, "user:5");
    assert_string_equal(row.actor_label, event->actor_label);
    assert_string_equal(row.scope, event->scope);
    assert_string_equal(row.correlation_id, "c-1");
    assert_int_equal(row.causation_id, 77);
    assert_string_equal(row.traceparent, event->traceparent);

    assert_ok(store_event(world->other, some.written[2].id, &world->arena, &row, &world->err));
    assert_string_equal(row.dedupe_key, "");
    assert_string_equal(row.scope, "{}");
    assert_int_equal(row.causation_id, 0);
}

static void
ids_follow_the_order_of_the_events(void **state)
{
    struct world *world = *state;
    struct some some = some_events(8);
    write_all(world, &some);
    for (size_t i = 0; i < some.count; i++) {
        bool exists = false;
        assert_true(some.written[i].is_new);
        assert_true(i == 0 || some.written[i].id > some.written[i - 1].id);
        assert_ok(store_event_exists(
            world->db, some.written[i].id, some.events[i].uid, &exists, &world->err));
        assert_true(exists);
    }
}

/* However many a dialect writes with one statement, and whether that is filled or not. */
static void
all_are_written_however_many_there_are(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {"shop.billing", NULL};
    static const size_t counts[] = {2, 3, 15, 16, 17, 31, 32, 33, MOST};
    publish_keys(world, keys);
    struct new_event before = an_event(EVENT);
    before.dedupe_key = "before";
    int64_t before_id = 0, total = 1;
    bool fresh = false;
    assert_ok(store_insert_event(world->db, &before, &before_id, &fresh, &world->err));
    for (size_t i = 0; i < COUNT(counts); i++) {
        struct some some = some_events(counts[i]);
        size_t taken = counts[i] / 2;
        some.events[taken].dedupe_key = "before";
        write_all(world, &some);
        for (size_t k = 0; k < some.count; k++) {
            bool exists = false;
            assert_ok(store_event_exists(
                world->db, some.written[k].id, some.events[k].uid, &exists, &world->err));
            assert_int_equal(exists, k != taken);
            assert_int_equal(some.written[k].is_new, k != taken);
        }
        assert_int_equal(some.written[taken].id, before_id);
        total += (int64_t)some.count - 1;
        assert_int_equal(count_of(world, "owed_event"), total);
        assert_int_equal(count_of(world, "owed_delivery"), total);
    }
}

static void
a_trigger_that_fires_as_well_mixes_nothing_up(void **state)
{
    struct world *world = *state;
    ONLY_ON("sqlite", "the triggers of an application are told in its own words");
    raw_run(plain(world),
        "create trigger app_echo after insert on owed_event when new.name = '" EVENT "' begin"
        " insert into owed_fire (name, payload) values ('" OTHER "', '{}'); end");
    world->store.is_spoilt = true;
    struct some some = some_events(20);
    write_all(world, &some);
    for (size_t i = 0; i < some.count; i++) {
        struct event_row row;
        assert_ok(store_event(world->db, some.written[i].id, &world->arena, &row, &world->err));
        assert_memory_equal(row.uid, some.events[i].uid, sizeof row.uid);
    }
    assert_int_equal(count_of(world, "owed_event"), 40);
}

static void
a_trigger_that_writes_rows_of_its_own_mixes_nothing_up(void **state)
{
    struct world *world = *state;
    ONLY_ON("mariadb", "the triggers of an application are told in its own words");
    static const char *const keys[] = {"shop.billing", NULL};
    publish_keys(world, keys);
    raw_run(plain(world),
        "create table app_log (id bigint not null auto_increment primary key, event bigint,"
        " payload longtext) auto_increment = 5000");
    raw_run(plain(world),
        "create trigger app_log after insert on owed_event for each row"
        " insert into app_log (event, payload) values (new.id, new.payload)");
    world->store.is_spoilt = true;
    struct some some = some_events(20);
    write_all(world, &some);
    for (size_t i = 0; i < some.count; i++) {
        struct event_row row;
        assert_ok(store_event(world->db, some.written[i].id, &world->arena, &row, &world->err));
        assert_memory_equal(row.uid, some.events[i].uid, sizeof row.uid);
        check_owed(world, row.id, keys);
    }
    assert_int_equal(raw_number(plain(world),
                         "select count(*) from app_log as l join owed_event as e"
                         " on e.id = l.event and e.payload = l.payload"),
        20);
    raw_run(plain(world), "drop table app_log");
}

/* More than any dialect writes with one statement. */
static void
each_of_many_is_owed_to_each_of_many(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver receivers[MOST];
    char keys[MOST][16];
    for (size_t i = 0; i < MOST; i++) {
        snprintf(keys[i], sizeof keys[i], "shop.r%zu", i);
        receivers[i] = a_receiver(keys[i]);
    }
    publish(world, receivers, MOST);
    struct some some = some_events(MOST);
    write_all(world, &some);
    assert_int_equal(count_of(world, "owed_delivery"), MOST * MOST);
    assert_int_equal(raw_number(plain(world),
                         "select count(*) from owed_event as e where (select count(*) from"
                         " owed_delivery as d where d.event_id = e.id) = 40"),
        MOST);
}

static void
a_rollback_leaves_none_of_them(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {"shop.billing", NULL};
    publish_keys(world, keys);
    struct some some = some_events(3);
    assert_ok(store_begin(world->db, true, &world->err));
    assert_ok(try_write(world, &some));
    store_rollback(world->db);
    assert_int_equal(count_of(world, "owed_event"), 0);
    assert_int_equal(count_of(world, "owed_delivery"), 0);
}

static void
a_taken_key_names_the_event_that_has_it_be_it_among_them(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {"shop.billing", NULL}, *const none[] = {NULL};
    publish_keys(world, keys);
    struct some some = some_events(8);
    struct new_event before = an_event(EVENT);
    before.dedupe_key = "before";
    int64_t id = 0;
    bool fresh = false;
    assert_ok(store_insert_event(world->db, &before, &id, &fresh, &world->err));
    const char *const given[] = {"a", "before", NULL, "b", "a", "A", "before", "a"};
    for (size_t i = 0; i < some.count; i++)
        some.events[i].dedupe_key = given[i];
    some.own[some.own_count++] = (struct own_receiver){EVENT, "shop.own", LANE, "inside", 5, 0};
    write_all(world, &some);

    const bool is_new[] = {true, false, true, true, false, true, false, false};
    for (size_t i = 0; i < some.count; i++)
        assert_int_equal(some.written[i].is_new, is_new[i]);
    assert_int_equal(some.written[1].id, id);
    assert_int_equal(some.written[6].id, id);
    assert_int_equal(some.written[4].id, some.written[0].id);
    assert_int_equal(some.written[7].id, some.written[0].id);
    assert_int_equal(count_of(world, "owed_event"), 5);
    assert_int_equal(count_of(world, "owed_delivery"), 9);
    check_owed(world, some.written[0].id, (const char *const[]){"shop.billing", "shop.own", NULL});
    check_owed(world, id, keys);

    write_all(
        world, &(struct some){.count = 2, .events = {[0] = some.events[0], [1] = some.events[3]}});
    assert_int_equal(count_of(world, "owed_event"), 5);
    check_owed(world, some.written[7].id + 100, none);
}

static void
who_takes_a_key_meanwhile_is_named_too(void **state)
{
    struct world *world = *state;
    NOT_ON("sqlite", "nobody else writes while a transaction does");
    struct some some = some_events(2);
    some.events[1].dedupe_key = "a";
    assert_ok(store_begin(world->db, true, &world->err));
    fire(world, EVENT);
    struct new_event theirs = an_event(EVENT);
    theirs.dedupe_key = "a";
    int64_t id = 0;
    bool fresh = false;
    assert_ok(store_insert_event(world->other, &theirs, &id, &fresh, &world->err));
    owed_status status = try_write(world, &some);
    // Where a transaction sees what was there when it began, the write finds out, and writes nothing.
    if (status == OWED_OK) {
        assert_int_equal(some.written[1].id, id);
        assert_false(some.written[1].is_new);
    } else {
        assert_int_equal(some.done, 0);
        assert_false(some.is_torn);
        assert_true(store_outlives_failure(world->db));
    }
    assert_ok(store_commit(world->db, &world->err));
    assert_int_equal(count_of(world, "owed_event"), status == OWED_OK ? 3 : 2);
}

static void
they_are_owed_to_every_durable_receiver_of_their_names_or_of_any(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver receivers[] = {a_receiver("shop.billing"), a_receiver("shop.label"),
        a_receiver("shop.audit"), a_receiver("shop.elsewhere"), a_receiver("shop.inline"),
        a_receiver("shop.lists")};
    receivers[1].kind = "outside";
    receivers[1].lane = "shop/hooks";
    receivers[1].max_attempts = 9;
    receivers[1].due_us = 5 * SECOND;
    receivers[2].event_name = "*";
    receivers[3].event_name = OTHER;
    receivers[4].mode = "inline";
    receivers[5].targets = "callback";
    publish(world, receivers, COUNT(receivers));
    struct some some = some_events(3);
    some.events[1].name = OTHER;
    some.events[2].due_at_us = NOW + SECOND;
    write_all(world, &some);

    int64_t ids[8];
    assert_int_equal(ids_of_event(world, some.written[1].id, ids, 8), 2);
    assert_int_equal(ids_of_event(world, some.written[0].id, ids, 8), 4);
    assert_int_equal(ids_of_event(world, some.written[2].id, ids, 8), 4);
    for (size_t i = 0; i < 4; i++) {
        struct delivery_row row = delivery(world, ids[i]);
        bool is_label = strcmp(row.receiver_key, "shop.label") == 0;
        assert_string_equal(row.lane, is_label ? "shop/hooks" : LANE);
        assert_int_equal(row.max_attempts, is_label ? 9 : 5);
        assert_int_equal(row.available_at_us, NOW + (is_label ? 6 : 1) * SECOND);
        assert_int_equal(row.due_at_us, row.available_at_us);
        assert_string_equal(row.status, "pending");
        if (strcmp(row.receiver_key, "shop.lists") == 0)
            assert_string_equal(row.kind, "expand");
        else
            assert_string_equal(row.kind, is_label ? "outside" : "inside");
    }
}

static void
what_is_owed_stands_in_the_order_of_the_events(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {"shop.billing", "shop.label", NULL};
    publish_keys(world, keys);
    struct some some = some_events(4);
    some.own[some.own_count++] = (struct own_receiver){EVENT, "shop.own", LANE, "inside", 5, 0};
    write_all(world, &some);
    int64_t last = 0;
    for (size_t i = 0; i < some.count; i++) {
        int64_t ids[8];
        assert_int_equal(ids_of_event(world, some.written[i].id, ids, 8), 3);
        assert_true(ids[0] > last);
        last = ids[1];
    }
}

static void
a_removed_receiver_gets_them_during_the_grace_only(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {"shop.billing", NULL};
    publish_keys(world, keys);
    assert_ok(store_retire(world->db, "shop", NOW, NULL, &world->err));
    struct some some = some_events(2);
    some.events[0].recorded_at_us = NOW + GRACE - 1;
    some.events[1].recorded_at_us = NOW + GRACE;
    write_all(world, &some);
    int64_t ids[2];
    assert_int_equal(ids_of_event(world, some.written[0].id, ids, 2), 1);
    assert_int_equal(ids_of_event(world, some.written[1].id, ids, 2), 0);
}

static void
what_the_catalogue_does_not_know_is_owed_once_and_as_declared(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {"shop.billing", NULL};
    publish_keys(world, keys);
    struct some some = some_events(3);
    some.events[1].name = OTHER;
    some.events[2].due_at_us = NOW + SECOND;
    some.own[0] = (struct own_receiver){EVENT, "shop.billing", "shop/x", "outside", 1, 7};
    some.own[1] = (struct own_receiver){EVENT, "shop.new", "shop/y", "task", 3, 9};
    some.own[2] = (struct own_receiver){OTHER, "shop.other", "shop/z", "inside", 4, 0};
    some.own_count = 3;
    write_all(world, &some);
    check_owed(world, some.written[0].id, (const char *const[]){"shop.billing", "shop.new", NULL});
    check_owed(world, some.written[1].id, (const char *const[]){"shop.other", NULL});
    int64_t ids[2];
    assert_int_equal(ids_of_event(world, some.written[2].id, ids, 2), 2);
    assert_string_equal(delivery(world, ids[0]).lane, LANE);
    struct delivery_row row = delivery(world, ids[1]);
    assert_string_equal(row.receiver_key, "shop.new");
    assert_string_equal(row.lane, "shop/y");
    assert_string_equal(row.kind, "task");
    assert_int_equal(row.max_attempts, 3);
    assert_int_equal(row.available_at_us, NOW + SECOND + 9);
    assert_int_equal(row.due_at_us, NOW + SECOND + 9);
}

static void
each_batch_is_looked_through_by_itself(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {"shop.billing", NULL};
    publish_keys(world, keys);
    for (int i = 0; i < 2; i++) {
        struct some some = some_events(2);
        some.own[0] = (struct own_receiver){EVENT, "shop.new", "shop/y", "task", 3, 9};
        some.own_count = 1;
        write_all(world, &some);
        for (size_t k = 0; k < some.count; k++)
            check_owed(
                world, some.written[k].id, (const char *const[]){"shop.billing", "shop.new", NULL});
    }
}

static void
each_keeps_what_the_catalogue_says_of_its_name(void **state)
{
    struct world *world = *state;
    const struct catalogue_event types[] = {
        {.app = "shop", .name = EVENT, .version = 1, .fields = "[]", .retention_seconds = 3600},
        {.app = "shop", .name = OTHER, .version = 1, .fields = "[]", .delete_when = "settled"}};
    const struct publication publication = {
        .app = "shop", .now_us = NOW, .events = types, .event_count = COUNT(types)};
    assert_ok(store_publish(world->db, &publication, NULL, &world->err));
    struct some some = some_events(3);
    some.events[1].name = OTHER;
    some.events[2].name = "shop.Another";
    write_all(world, &some);
    assert_int_equal(raw_number(plain(world),
                         "select count(*) from owed_event where name = '" EVENT
                         "' and retention_seconds = 3600 and delete_when = ''"),
        1);
    assert_int_equal(raw_number(plain(world),
                         "select count(*) from owed_event where name = '" OTHER
                         "' and retention_seconds is null and delete_when = 'settled'"),
        1);
    assert_int_equal(raw_number(plain(world),
                         "select count(*) from owed_event where name = 'shop.Another'"
                         " and retention_seconds is null and delete_when = ''"),
        1);
    assert_ok(store_retire(world->db, "shop", NOW, NULL, &world->err));
    struct some more = some_events(2);
    write_all(world, &more);
    assert_int_equal(raw_number(plain(world),
                         "select count(*) from owed_event where name = '" EVENT
                         "' and retention_seconds is null"),
        2);
}

static void
a_write_that_fails_leaves_none_but_those_that_it_counts(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {"shop.billing", NULL};
    publish_keys(world, keys);
    raw_run(plain(world), "create unique index refuses on owed_event (actor_label)");
    world->store.is_spoilt = true;
    struct some some = some_events(4);
    const char *const labels[] = {"a", "b", "a", "c"};
    for (size_t i = 0; i < some.count; i++)
        some.events[i].actor_label = labels[i];
    assert_ok(store_begin(world->db, true, &world->err));
    assert_int_not_equal(try_write(world, &some), OWED_OK);
    assert_false(some.is_torn);
    if (!store_outlives_failure(world->db)) {
        store_rollback(world->db);
        return;
    }
    assert_ok(store_commit(world->db, &world->err));
    assert_int_equal(count_of(world, "owed_event"), some.done);
    assert_int_equal(count_of(world, "owed_delivery"), some.done);
}

static void
nothing_is_written_where_all_are_there_already(void **state)
{
    struct world *world = *state;
    struct some some = some_events(3);
    for (size_t i = 0; i < some.count; i++)
        some.events[i].dedupe_key = (const char *const[]){"a", "b", "c"}[i];
    write_all(world, &some);
    struct some again = some;
    for (size_t i = 0; i < again.count; i++)
        again.events[i].uid[15] = 1;
    write_all(world, &again);
    for (size_t i = 0; i < again.count; i++) {
        assert_int_equal(again.written[i].id, some.written[i].id);
        assert_false(again.written[i].is_new);
    }
    assert_int_equal(count_of(world, "owed_event"), 3);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_event_reads_back_as_it_was_fired),
        TEST(ids_follow_the_order_of_the_events),
        TEST(all_are_written_however_many_there_are),
        TEST(a_trigger_that_fires_as_well_mixes_nothing_up),
        TEST(a_trigger_that_writes_rows_of_its_own_mixes_nothing_up),
        TEST(each_of_many_is_owed_to_each_of_many),
        TEST(a_rollback_leaves_none_of_them),
        TEST(a_taken_key_names_the_event_that_has_it_be_it_among_them),
        TEST(who_takes_a_key_meanwhile_is_named_too),
        TEST(they_are_owed_to_every_durable_receiver_of_their_names_or_of_any),
        TEST(what_is_owed_stands_in_the_order_of_the_events),
        TEST(a_removed_receiver_gets_them_during_the_grace_only),
        TEST(what_the_catalogue_does_not_know_is_owed_once_and_as_declared),
        TEST(each_batch_is_looked_through_by_itself),
        TEST(each_keeps_what_the_catalogue_says_of_its_name),
        TEST(a_write_that_fails_leaves_none_but_those_that_it_counts),
        TEST(nothing_is_written_where_all_are_there_already),
    };
    return run_on_all_stores("store fire_many", tests, COUNT(tests));
}
