/* SPDX-License-Identifier: MIT
 *
 * test_catalogue.c - what apps declare, and owed rows that follow it.
 */
#include "world.h"

#include <stdio.h>
#include <string.h>

static int64_t
publish_as(struct world *world, const char *app, int64_t release, int64_t now_us,
    const struct catalogue_receiver *receivers, size_t count)
{
    struct publication publication = {.app = app,
        .release = release,
        .now_us = now_us,
        .receivers = receivers,
        .receiver_count = count};
    int64_t changed = -1;
    assert_ok(store_publish(world->db, &publication, &changed, &world->err));
    return changed;
}

static struct catalogue_receiver
published(struct world *world, const char *key)
{
    struct catalogue_receiver *receivers;
    size_t count;
    assert_ok(store_catalogue_receivers(world->db, &world->arena, &receivers, &count, &world->err));
    for (size_t i = 0; i < count; i++)
        if (strcmp(receivers[i].key, key) == 0)
            return receivers[i];
    return (struct catalogue_receiver){.key = NULL};
}

static void
a_receiver_reads_back_as_it_was_published(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver r = a_receiver("shop.hook");
    r.kind = "outside";
    r.lane = "shop/hooks";
    r.max_attempts = 12;
    r.backoff_base_us = 3;
    r.backoff_cap_us = 4;
    r.lease_us = 5;
    r.timeout_us = 6;
    r.database_only = true;
    r.options = "{\"webhook\": \"https://example.com\"}";
    assert_int_equal(publish_as(world, "shop", 7, NOW, &r, 1), 1);
    struct catalogue_receiver back = published(world, "shop.hook");
    assert_string_equal(back.app, "shop");
    assert_string_equal(back.event_name, EVENT);
    assert_string_equal(back.mode, "durable");
    assert_string_equal(back.site, "relay");
    assert_string_equal(back.kind, "outside");
    assert_string_equal(back.lane, "shop/hooks");
    assert_int_equal(back.max_attempts, 12);
    assert_int_equal(back.backoff_base_us, 3);
    assert_int_equal(back.backoff_cap_us, 4);
    assert_int_equal(back.lease_us, 5);
    assert_int_equal(back.timeout_us, 6);
    assert_true(back.database_only);
    assert_string_equal(back.options, r.options);
    assert_int_equal(back.release, 7);
    assert_int_equal(back.published_at_us, NOW);
    assert_int_equal(back.removed_at_us, 0);
}

static void
publishing_the_same_again_writes_nothing(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver r = a_receiver("shop.hook");
    struct catalogue_event e = {.app = "shop", .name = EVENT, .version = 2, .fields = "[1]"};
    struct publication publication = {.app = "shop",
        .release = 1,
        .now_us = NOW,
        .events = &e,
        .event_count = 1,
        .receivers = &r,
        .receiver_count = 1};
    int64_t changed;
    assert_ok(store_publish(world->db, &publication, &changed, &world->err));
    assert_int_equal(changed, 2);
    publication.now_us = NOW + SECOND;
    assert_ok(store_publish(world->db, &publication, &changed, &world->err));
    assert_int_equal(changed, 0);
    assert_int_equal(published(world, "shop.hook").published_at_us, NOW);
    e.version = 3;
    r.lane = "shop/b";
    assert_ok(store_publish(world->db, &publication, &changed, &world->err));
    assert_int_equal(changed, 2);

    struct catalogue_event *events;
    size_t count;
    assert_ok(store_catalogue_events(world->db, &world->arena, &events, &count, &world->err));
    assert_int_equal(count, 1);
    assert_string_equal(events[0].name, EVENT);
    assert_string_equal(events[0].app, "shop");
    assert_int_equal(events[0].version, 3);
    assert_string_equal(events[0].fields, "[1]");
}

static void
a_release_removes_what_it_no_longer_declares(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver r[] = {a_receiver("shop.a"), a_receiver("shop.b")};
    publish_as(world, "shop", 1, NOW, r, 2);
    assert_int_equal(publish_as(world, "shop", 2, NOW + SECOND, r, 1), 2);
    assert_int_equal(published(world, "shop.a").removed_at_us, 0);
    assert_int_equal(published(world, "shop.b").removed_at_us, NOW + SECOND);
    publish_as(world, "shop", 3, NOW + 2 * SECOND, r, 2);
    assert_int_equal(published(world, "shop.b").removed_at_us, 0);
}

static void
an_older_release_neither_removes_nor_changes_what_a_newer_declared(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver r[] = {a_receiver("shop.a"), a_receiver("shop.b")};
    publish_as(world, "shop", 5, NOW, r, 2);
    r[0].lane = "shop/old";
    assert_int_equal(publish_as(world, "shop", 4, NOW, r, 1), 0);
    assert_int_equal(published(world, "shop.b").removed_at_us, 0);
    assert_string_equal(published(world, "shop.a").lane, LANE);
}

static void
without_a_release_nothing_is_removed(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver r[] = {a_receiver("shop.a"), a_receiver("shop.b")};
    publish_as(world, "shop", 0, NOW, r, 2);
    assert_int_equal(publish_as(world, "shop", 0, NOW, r, 1), 0);
    assert_int_equal(published(world, "shop.b").removed_at_us, 0);
}

static void
a_release_leaves_other_apps_alone(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver theirs = a_receiver("crm.a");
    theirs.app = "crm";
    publish_as(world, "crm", 1, NOW, &theirs, 1);
    publish_as(world, "shop", 9, NOW, NULL, 0);
    assert_int_equal(published(world, "crm.a").removed_at_us, 0);
    assert_ok(store_retire(world->db, "shop", NOW, NULL, &world->err));
    assert_int_equal(published(world, "crm.a").removed_at_us, 0);
}

static void
a_key_of_another_app_is_refused_and_both_are_named(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver r[] = {a_receiver("shop.new"), a_receiver("shared.key")};
    publish_as(world, "shop", 1, NOW, &r[1], 1);
    r[0].app = r[1].app = "crm";
    struct publication publication = {
        .app = "crm", .now_us = NOW, .receivers = r, .receiver_count = 2};
    assert_int_equal(store_publish(world->db, &publication, NULL, &world->err), OWED_CONFIG);
    assert_non_null(strstr(world->err.text, "'shop'"));
    assert_non_null(strstr(world->err.text, "'crm'"));
    assert_non_null(strstr(world->err.text, "'shared.key'"));
    // All of it or nothing.
    assert_null(published(world, "shop.new").key);
    assert_false(store_in_transaction(world->db));
    // Once it was removed the key is free.
    assert_ok(store_retire(world->db, "shop", NOW, NULL, &world->err));
    assert_ok(store_publish(world->db, &publication, NULL, &world->err));
    assert_string_equal(published(world, "shared.key").app, "crm");
}

static void
retiring_an_app_removes_all_that_it_declared(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver r[] = {a_receiver("shop.a"), a_receiver("shop.b")};
    publish_as(world, "shop", 77, NOW, r, 2);
    int64_t changed = 0;
    assert_ok(store_retire(world->db, "shop", NOW + 1, &changed, &world->err));
    assert_int_equal(changed, 2);
    assert_int_equal(published(world, "shop.a").removed_at_us, NOW + 1);
    assert_ok(store_retire(world->db, "shop", NOW + 2, &changed, &world->err));
    assert_int_equal(changed, 0);
}

/* A row of shop.a in each of the states that are owed, and one that has ended. */
struct owed_rows {
    int64_t pending, failed, held, done;
};

static struct owed_rows
make_owed_rows(struct world *world)
{
    struct owed_rows rows;
    for (int i = 0; i < 4; i++)
        rows.pending = only_delivery(world, fire(world, EVENT));
    claim_as(world, "w", NOW, 3);
    rows.failed = world->rows[0].fence.delivery_id;
    rows.held = world->rows[1].fence.delivery_id;
    rows.done = world->rows[2].fence.delivery_id;
    struct settlement failed = a_settlement(&world->rows[0].fence, "failed");
    struct settlement done = a_settlement(&world->rows[2].fence, "succeeded");
    assert_ok(store_settle(world->db, &failed, 1, NULL, &world->err));
    assert_ok(store_settle(world->db, &done, 1, NULL, &world->err));
    return rows;
}

static void
check_place(struct world *world, int64_t id, const char *lane, const char *kind)
{
    struct delivery_row row = delivery(world, id);
    assert_string_equal(row.lane, lane);
    assert_string_equal(row.kind, kind);
}

static void
owed_rows_follow_their_receiver_to_another_lane_and_kind(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver r = a_receiver("shop.a");
    publish(world, &r, 1);
    struct owed_rows rows = make_owed_rows(world);
    r.lane = "shop/mail";
    publish(world, &r, 1);
    check_place(world, rows.pending, "shop/mail", "inside");
    check_place(world, rows.failed, "shop/mail", "inside");
    check_place(world, rows.held, "shop/mail", "inside");
    check_place(world, rows.done, LANE, "inside");
    r.kind = "outside";
    publish(world, &r, 1);
    check_place(world, rows.pending, "shop/mail", "outside");
    check_place(world, rows.held, "shop/mail", "outside");
    check_place(world, rows.done, LANE, "inside");
    // Who holds a row still may settle it.
    struct settlement held = a_settlement(
        &(struct fence){rows.held, "w", delivery(world, rows.held).claimed_at_us}, "succeeded");
    assert_ok(store_settle(world->db, &held, 1, NULL, &world->err));
}

static void
moving_keeps_the_order_and_takes_all_rows_however_many(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver r = a_receiver("shop.a");
    publish(world, &r, 1);
    assert_ok(store_begin(world->db, true, &world->err));
    int64_t first = only_delivery(world, fire(world, EVENT));
    for (int i = 0; i < 2300; i++)
        fire(world, EVENT);
    assert_ok(store_commit(world->db, &world->err));
    r.lane = "shop/aaa";
    publish(world, &r, 1);
    assert_int_equal(claim_as(world, "w", NOW, 3000), 0);
    struct claim asked = a_claim("w", NOW, 3000);
    asked.lanes = (const char *const[]){"shop/aaa", NULL};
    assert_int_equal(claim(world, &asked), 2301);
    for (size_t i = 0; i < 2301; i++)
        assert_int_equal(world->rows[i].fence.delivery_id, first + (int64_t)i);
}

static void
a_row_that_raced_a_publish_is_mended(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver r[] = {a_receiver("shop.a"), a_receiver("shop.b")};
    publish(world, r, 2);
    const struct {
        const char *lane;
        const char *kind;
    } wrong[] = {{"shop/a", "inside"}, {"shop/z", "inside"}, {LANE, "expand"}, {LANE, "outside"}};
    int64_t ids[COUNT(wrong)];
    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct new_delivery late = {.event_id = fire(world, "shop.Other"),
            .receiver_key = "shop.a",
            .lane = wrong[i].lane,
            .kind = wrong[i].kind,
            .max_attempts = 5,
            .available_at_us = NOW};
        assert_ok(store_insert_delivery(world->db, &late, &world->err));
        ids[i] = only_delivery(world, late.event_id);
    }
    int64_t moved = 0, orphaned = 0;
    assert_ok(store_mend(world->db, NOW, GRACE, 1, &moved, &orphaned, &world->err));
    assert_int_equal(moved, 4);
    assert_int_equal(orphaned, 0);
    for (size_t i = 0; i < COUNT(wrong); i++)
        check_place(world, ids[i], LANE, "inside");
    assert_ok(store_mend(world->db, NOW, GRACE, 1, &moved, &orphaned, &world->err));
    assert_int_equal(moved, 0);
}

static void
rows_of_a_removed_receiver_are_orphaned_after_the_grace(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver r = a_receiver("shop.a");
    publish(world, &r, 1);
    struct owed_rows rows = make_owed_rows(world);
    assert_ok(store_retire(world->db, "shop", NOW, NULL, &world->err));
    int64_t orphaned = -1;
    assert_ok(store_mend(world->db, NOW + GRACE - 1, GRACE, 1, NULL, &orphaned, &world->err));
    assert_int_equal(orphaned, 0);
    // The lease of the held one is over by then; it would be claimable.
    assert_ok(
        store_renew(world->db, &(struct fence){rows.held, "w", NOW}, NOW + GRACE, &world->err));
    assert_ok(store_mend(world->db, NOW + GRACE, GRACE, 1, NULL, &orphaned, &world->err));
    assert_int_equal(orphaned, 2);
    assert_string_equal(status_of(world, rows.pending), "orphaned");
    assert_string_equal(status_of(world, rows.failed), "orphaned");
    assert_string_equal(status_of(world, rows.held), "claimed");
    assert_string_equal(status_of(world, rows.done), "succeeded");
    struct delivery_row row = delivery(world, rows.pending);
    assert_int_equal(row.completed_at_us, NOW + GRACE);
    assert_non_null(strstr(row.last_error, "'shop.a'"));
    assert_ok(store_mend(world->db, NOW + GRACE + 1, GRACE, 1, NULL, &orphaned, &world->err));
    assert_int_equal(orphaned, 1);
}

static void
rows_of_a_receiver_that_never_was_published_are_orphaned_once_they_are_old(void **state)
{
    struct world *world = *state;
    struct new_delivery owed = {.event_id = fire(world, EVENT),
        .receiver_key = "shop.ghost",
        .lane = LANE,
        .kind = "inside",
        .max_attempts = 5,
        .available_at_us = NOW + 100 * GRACE};
    assert_ok(store_insert_delivery(world->db, &owed, &world->err));
    int64_t orphaned = -1;
    assert_ok(store_mend(world->db, NOW + GRACE - 1, GRACE, 10, NULL, &orphaned, &world->err));
    assert_int_equal(orphaned, 0);
    assert_ok(store_mend(world->db, NOW + GRACE, GRACE, 10, NULL, &orphaned, &world->err));
    assert_int_equal(orphaned, 1);
}

static void
without_a_grace_rows_are_orphaned_at_once(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver r = a_receiver("shop.a");
    publish(world, &r, 1);
    fire(world, EVENT);
    assert_ok(store_retire(world->db, "shop", NOW, NULL, &world->err));
    int64_t orphaned = -1;
    assert_ok(store_mend(world->db, NOW, -1, 10, NULL, &orphaned, &world->err));
    assert_int_equal(orphaned, 1);
}

static void
a_row_that_is_held_does_not_hide_one_that_was_given_back(void **state)
{
    struct world *world = *state;
    static const char *const lanes[] = {"shop/a", "shop/b", NULL};
    for (int i = 0; i < 2; i++) {
        struct new_delivery owed = {.event_id = fire(world, EVENT),
            .receiver_key = "shop.ghost",
            .lane = lanes[i],
            .kind = "inside",
            .max_attempts = 5,
            .available_at_us = NOW};
        assert_ok(store_insert_delivery(world->db, &owed, &world->err));
    }
    struct claim asked = a_claim("w", NOW, 10);
    asked.lanes = lanes;
    assert_int_equal(claim(world, &asked), 2);
    assert_ok(store_hand_back(world->db, &world->rows[1].fence, 1, NULL, &world->err));
    int64_t orphaned = -1;
    assert_ok(store_mend(world->db, NOW + 1, -1, 1, NULL, &orphaned, &world->err));
    assert_int_equal(orphaned, 1);
    assert_string_equal(status_of(world, world->rows[1].fence.delivery_id), "orphaned");
}

static void
rows_that_changed_since_they_were_picked_are_not_orphaned(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver r = a_receiver("shop.a");
    publish(world, &r, 1);
    struct owed_rows rows = make_owed_rows(world);
    char ids[100];
    snprintf(ids, sizeof ids, "[%lld,%lld]", (long long)rows.held, (long long)rows.done);
    // Between the look and the write somebody claimed one, and another was done.
    const struct value values[] = {{.type = VALUE_TEXT, .bytes = str_of(ids)},
        {.type = VALUE_INT, .integer = NOW}, {.type = VALUE_TEXT, .bytes = STR("gone")}};
    struct rows *run;
    int64_t changed = -1;
    assert_ok(
        world->db->driver->run(world->db, STMT_ORPHAN, values, COUNT(values), &run, &world->err));
    assert_ok(world->db->driver->finish(run, &changed, &world->err));
    assert_int_equal(changed, 0);
    assert_string_equal(status_of(world, rows.held), "claimed");
    assert_string_equal(status_of(world, rows.done), "succeeded");
}

static void
relays_come_and_go(void **state)
{
    struct world *world = *state;
    struct relay_row relay = {.id = "host-1.0a0b0c0d",
        .host = "host",
        .pid = 42,
        .boot_id = "boot",
        .lanes = "[\"shop/default\"]",
        .wake_path = "/tmp/wake",
        .started_at_us = NOW,
        .heartbeat_at_us = NOW};
    assert_ok(store_relay_heartbeat(world->db, &relay, &world->err));
    relay.heartbeat_at_us = NOW + SECOND;
    relay.lanes = "[\"*\"]";
    assert_ok(store_relay_heartbeat(world->db, &relay, &world->err));
    struct relay_row *relays;
    size_t count;
    assert_ok(store_relays(world->other, &world->arena, &relays, &count, &world->err));
    assert_int_equal(count, 1);
    assert_string_equal(relays[0].id, relay.id);
    assert_int_equal(relays[0].pid, 42);
    assert_string_equal(relays[0].wake_path, "/tmp/wake");
    assert_string_equal(relays[0].lanes, "[\"*\"]");
    assert_int_equal(relays[0].started_at_us, NOW);
    assert_int_equal(relays[0].heartbeat_at_us, NOW + SECOND);
    assert_ok(store_relay_leave(world->db, relay.id, &world->err));
    assert_ok(store_relays(world->other, &world->arena, &relays, &count, &world->err));
    assert_int_equal(count, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_receiver_reads_back_as_it_was_published),
        TEST(publishing_the_same_again_writes_nothing),
        TEST(a_release_removes_what_it_no_longer_declares),
        TEST(an_older_release_neither_removes_nor_changes_what_a_newer_declared),
        TEST(without_a_release_nothing_is_removed),
        TEST(a_release_leaves_other_apps_alone),
        TEST(a_key_of_another_app_is_refused_and_both_are_named),
        TEST(retiring_an_app_removes_all_that_it_declared),
        TEST(owed_rows_follow_their_receiver_to_another_lane_and_kind),
        TEST(moving_keeps_the_order_and_takes_all_rows_however_many),
        TEST(a_row_that_raced_a_publish_is_mended),
        TEST(rows_of_a_removed_receiver_are_orphaned_after_the_grace),
        TEST(rows_of_a_receiver_that_never_was_published_are_orphaned_once_they_are_old),
        TEST(without_a_grace_rows_are_orphaned_at_once),
        TEST(a_row_that_is_held_does_not_hide_one_that_was_given_back),
        TEST(rows_that_changed_since_they_were_picked_are_not_orphaned),
        TEST(relays_come_and_go),
    };
    return run_on_all("store catalogue", tests, COUNT(tests));
}
