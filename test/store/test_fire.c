/* SPDX-License-Identifier: MIT
 *
 * test_fire.c - an event, and what becomes owed with it.
 */
#include "world.h"

#include <string.h>

#include <owed/owed.h>

static const char *const billing[] = {"shop.billing", NULL};

static int64_t
count_events(struct world *world, struct db *db)
{
    struct status status;
    assert_ok(store_status(db, NOW, &world->arena, &status, &world->err));
    return status.events;
}

static void
an_event_exists_if_and_only_if_its_transaction_committed(void **state)
{
    struct world *world = *state;
    assert_ok(store_begin(world->db, true, &world->err));
    fire(world, EVENT);
    assert_int_equal(count_events(world, world->other), 0);
    store_rollback(world->db);
    assert_int_equal(count_events(world, world->db), 0);

    assert_ok(store_begin(world->db, true, &world->err));
    fire(world, EVENT);
    assert_ok(store_commit(world->db, &world->err));
    assert_int_equal(count_events(world, world->other), 1);
}

static void
an_event_reads_back_as_it_was_fired(void **state)
{
    struct world *world = *state;
    struct new_event event = an_event(EVENT);
    event.payload = STR("{\"b\": 1e400,  \"a\":\"\\u0000\", \"a\": 12345678901234567890123}");
    event.version = 3;
    event.dedupe_key = "order-7";
    event.occurred_at_us = NOW - SECOND;
    event.actor_key = "user:5";
    event.actor_label = "Ann";
    event.scope = "{\"tenant\": 9}";
    event.correlation_id = "c-1";
    event.causation_id = 77;
    event.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    int64_t id;
    bool fresh;
    assert_ok(store_insert_event(world->db, &event, &id, &fresh, &world->err));
    struct event_row row;
    assert_ok(store_event(world->other, id, &world->arena, &row, &world->err));
    assert_memory_equal(row.uid, event.uid, sizeof row.uid);
    assert_string_equal(row.name, EVENT);
    assert_int_equal(row.version, 3);
    assert_true(str_eq(row.payload, event.payload));
    assert_string_equal(row.dedupe_key, "order-7");
    assert_int_equal(row.occurred_at_us, NOW - SECOND);
    assert_int_equal(row.recorded_at_us, NOW);
    assert_string_equal(row.actor_key, "user:5");
    assert_string_equal(row.actor_label, "Ann");
    assert_string_equal(row.scope, "{\"tenant\": 9}");
    assert_string_equal(row.correlation_id, "c-1");
    assert_int_equal(row.causation_id, 77);
    assert_string_equal(row.traceparent, event.traceparent);
}

static void
what_nobody_said_reads_as_empty(void **state)
{
    struct world *world = *state;
    struct event_row row;
    int64_t id = fire(world, EVENT);
    assert_ok(store_event(world->db, id, &world->arena, &row, &world->err));
    assert_string_equal(row.dedupe_key, "");
    assert_string_equal(row.actor_key, "");
    assert_string_equal(row.scope, "{}");
    assert_int_equal(row.causation_id, 0);
}

static void
a_used_dedupe_key_writes_nothing_and_names_the_event(void **state)
{
    struct world *world = *state;
    publish_keys(world, billing);
    struct new_event event = an_event(EVENT);
    event.dedupe_key = "order-7";
    int64_t first, second = 0;
    bool fresh;
    assert_ok(store_insert_event(world->db, &event, &first, &fresh, &world->err));
    assert_true(fresh);
    event.name = "shop.Another";
    assert_ok(store_insert_event(world->db, &event, &second, &fresh, &world->err));
    assert_false(fresh);
    assert_int_equal(second, first);
    assert_int_equal(count_events(world, world->db), 1);
    only_delivery(world, first);
}

static void
events_without_a_dedupe_key_never_collide(void **state)
{
    struct world *world = *state;
    struct new_event event = an_event(EVENT);
    event.dedupe_key = "";
    int64_t id;
    for (int i = 0; i < 2; i++) {
        bool fresh = false;
        assert_ok(store_insert_event(world->db, &event, &id, &fresh, &world->err));
        assert_true(fresh);
    }
    assert_int_equal(count_events(world, world->db), 2);
}

static void
an_event_is_owed_to_every_durable_receiver_of_its_name_or_of_any(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver receivers[] = {a_receiver("shop.billing"), a_receiver("shop.label"),
        a_receiver("shop.audit"), a_receiver("shop.elsewhere"), a_receiver("shop.inline"),
        a_receiver("shop.oncommit")};
    receivers[1].kind = "outside";
    receivers[1].lane = "shop/hooks";
    receivers[1].max_attempts = 9;
    receivers[2].event_name = "*";
    receivers[3].event_name = "shop.Another";
    receivers[4].mode = "inline";
    receivers[5].mode = "on_commit";
    publish(world, receivers, COUNT(receivers));

    int64_t ids[8];
    assert_int_equal(ids_of_event(world, fire(world, EVENT), ids, 8), 3);
    bool seen[3] = {false};
    for (int i = 0; i < 3; i++) {
        struct delivery_row row = delivery(world, ids[i]);
        for (int k = 0; k < 3; k++)
            if (strcmp(row.receiver_key, receivers[k].key) == 0) {
                seen[k] = true;
                assert_string_equal(row.lane, receivers[k].lane);
                assert_string_equal(row.kind, receivers[k].kind);
                assert_int_equal(row.max_attempts, receivers[k].max_attempts);
                assert_string_equal(row.status, "pending");
                assert_int_equal(row.attempts, 0);
                assert_int_equal(row.available_at_us, NOW);
                assert_int_equal(row.due_at_us, NOW);
            }
    }
    assert_true(seen[0] && seen[1] && seen[2]);
}

static void
who_is_published_later_is_not_owed_what_was_fired_before(void **state)
{
    struct world *world = *state;
    publish_keys(world, billing);
    int64_t event_id = fire(world, EVENT);
    static const char *const more[] = {"shop.billing", "shop.late", NULL};
    publish_keys(world, more);
    struct delivery_row row = delivery(world, only_delivery(world, event_id));
    assert_string_equal(row.receiver_key, "shop.billing");
    int64_t ids[3];
    assert_int_equal(ids_of_event(world, fire(world, EVENT), ids, 3), 2);
}

static void
what_is_due_later_is_owed_at_once_and_available_then(void **state)
{
    struct world *world = *state;
    publish_keys(world, billing);
    struct delivery_row row =
        delivery(world, only_delivery(world, fire_due(world, NOW + 90 * SECOND)));
    assert_int_equal(row.available_at_us, NOW + 90 * SECOND);
    assert_int_equal(row.due_at_us, NOW + 90 * SECOND);
    row = delivery(world, only_delivery(world, fire_due(world, NOW - 90 * SECOND)));
    assert_int_equal(row.available_at_us, NOW);
    assert_int_equal(row.due_at_us, NOW);
}

static void
a_removed_receiver_gets_events_during_the_grace_only(void **state)
{
    struct world *world = *state;
    publish_keys(world, billing);
    assert_ok(store_retire(world->db, "shop", NOW, NULL, &world->err));
    struct new_event event = an_event(EVENT);
    int64_t ids[2], id;
    bool fresh;
    event.recorded_at_us = NOW + GRACE - 1;
    assert_ok(store_insert_event(world->db, &event, &id, &fresh, &world->err));
    assert_int_equal(ids_of_event(world, id, ids, 2), 1);
    event.recorded_at_us = NOW + GRACE;
    assert_ok(store_insert_event(world->db, &event, &id, &fresh, &world->err));
    assert_int_equal(ids_of_event(world, id, ids, 2), 0);
}

static void
a_delivery_is_owed_once_to_one_receiver(void **state)
{
    struct world *world = *state;
    publish_keys(world, billing);
    int64_t event_id = fire(world, EVENT);
    struct new_delivery owed = {.event_id = event_id,
        .receiver_key = "shop.billing",
        .lane = "shop/other",
        .kind = "outside",
        .max_attempts = 1,
        .available_at_us = 1};
    assert_ok(store_insert_delivery(world->db, &owed, &world->err));
    struct delivery_row row = delivery(world, only_delivery(world, event_id));
    assert_string_equal(row.lane, LANE);

    owed.receiver_key = "shop.unpublished";
    assert_ok(store_insert_delivery(world->db, &owed, &world->err));
    int64_t ids[2];
    assert_int_equal(ids_of_event(world, event_id, ids, 2), 2);
    row = delivery(world, ids[1]);
    assert_string_equal(row.receiver_key, "shop.unpublished");
    assert_string_equal(row.lane, "shop/other");
    assert_int_equal(row.due_at_us, 1);
}

static void
taking_back_a_row_without_a_target_touches_no_other(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {"shop.billing", "shop.label", NULL};
    publish_keys(world, keys);
    int64_t before = fire(world, EVENT), event_id = fire(world, EVENT);
    struct new_delivery owed = {.event_id = event_id,
        .receiver_key = "shop.billing",
        .target = "somebody",
        .lane = LANE,
        .kind = "inside",
        .max_attempts = 5,
        .available_at_us = NOW};
    assert_ok(store_insert_delivery(world->db, &owed, &world->err));
    assert_ok(store_delete_blank(world->db, event_id, "shop.billing", &world->err));
    int64_t ids[4];
    assert_int_equal(ids_of_event(world, before, ids, 4), 2);
    assert_int_equal(ids_of_event(world, event_id, ids, 4), 2);
    assert_string_equal(delivery(world, ids[0]).receiver_key, "shop.label");
    assert_string_equal(delivery(world, ids[1]).target, "somebody");
}

static void
an_event_is_known_by_id_and_uid(void **state)
{
    struct world *world = *state;
    struct new_event event = an_event(EVENT);
    int64_t id;
    bool fresh, exists;
    assert_ok(store_insert_event(world->db, &event, &id, &fresh, &world->err));
    assert_ok(store_event_exists(world->db, id, event.uid, &exists, &world->err));
    assert_true(exists);
    assert_ok(store_event_exists(world->db, id + 1, event.uid, &exists, &world->err));
    assert_false(exists);
    event.uid[15] ^= 1;
    assert_ok(store_event_exists(world->db, id, event.uid, &exists, &world->err));
    assert_false(exists);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_event_exists_if_and_only_if_its_transaction_committed),
        TEST(an_event_reads_back_as_it_was_fired),
        TEST(what_nobody_said_reads_as_empty),
        TEST(a_used_dedupe_key_writes_nothing_and_names_the_event),
        TEST(events_without_a_dedupe_key_never_collide),
        TEST(an_event_is_owed_to_every_durable_receiver_of_its_name_or_of_any),
        TEST(who_is_published_later_is_not_owed_what_was_fired_before),
        TEST(what_is_due_later_is_owed_at_once_and_available_then),
        TEST(a_removed_receiver_gets_events_during_the_grace_only),
        TEST(a_delivery_is_owed_once_to_one_receiver),
        TEST(taking_back_a_row_without_a_target_touches_no_other),
        TEST(an_event_is_known_by_id_and_uid),
    };
    return run_on_all_stores("store fire", tests, COUNT(tests));
}
