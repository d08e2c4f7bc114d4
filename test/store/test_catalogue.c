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

/* Its row is somebody's who has not committed yet; what others declare, and what is no longer declared, is not asked for. */
static void
publishing_the_same_again_waits_for_nobody(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver theirs = a_receiver("crm.a");
    struct catalogue_receiver r[] = {a_receiver("shop.hook"), a_receiver("shop.old")};
    publish_as(world, "crm", 1, NOW, &theirs, 1);
    publish_as(world, "shop", 1, NOW, r, 2);
    publish_as(world, "shop", 2, NOW, r, 1);
    raw_run(plain(world), "begin");
    raw_run(plain(world), "update owed_receiver set lease = 7");
    assert_int_equal(publish_as(world, "shop", 2, NOW + SECOND, r, 1), 0);
    raw_run(plain(world), "rollback");
}

/* one_each is a publication of an event and one of a receiver. */
static void
one_each(struct catalogue_event *event, struct catalogue_receiver *receiver,
    struct publication ret_publications[2])
{
    *event = (struct catalogue_event){.name = EVENT, .version = 1, .fields = "[]"};
    *receiver = a_receiver("shop.hook");
    ret_publications[0] = (struct publication){
        .app = "shop", .release = 1, .now_us = NOW, .events = event, .event_count = 1};
    ret_publications[1] = (struct publication){
        .app = "shop", .release = 1, .now_us = NOW, .receivers = receiver, .receiver_count = 1};
}

static void
what_was_retired_and_is_declared_again_is_back(void **state)
{
    struct world *world = *state;
    struct catalogue_event event;
    struct catalogue_receiver receiver;
    struct publication publications[2];
    one_each(&event, &receiver, publications);
    for (int i = 0; i < 4; i++) {
        int64_t changed;
        assert_ok(store_publish(world->db, &publications[i % 2], &changed, &world->err));
        assert_int_equal(changed, 1);
        assert_ok(store_retire(world->db, "shop", NOW, NULL, &world->err));
    }
}

static void
a_newer_release_that_declares_the_same_holds_against_an_older_one(void **state)
{
    struct world *world = *state;
    struct catalogue_event event;
    struct catalogue_receiver receiver;
    struct publication publications[2];
    for (int i = 0; i < 2; i++) {
        one_each(&event, &receiver, publications);
        assert_ok(store_publish(world->db, &publications[i], NULL, &world->err));
        publications[i].release = 3;
        assert_ok(store_publish(world->db, &publications[i], NULL, &world->err));
        publications[i].release = 2;
        receiver.lane = "shop/old";
        event.version = 2;
        int64_t changed;
        assert_ok(store_publish(world->db, &publications[i], &changed, &world->err));
        assert_int_equal(changed, 0);
        assert_ok(store_retire(world->db, "shop", NOW, NULL, &world->err));
    }
}

static void
what_a_release_no_longer_declares_is_removed_though_it_has_the_same_number(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver r[] = {a_receiver("shop.a"), a_receiver("shop.b")};
    publish_as(world, "shop", 1, NOW, r, 2);
    assert_int_equal(publish_as(world, "shop", 1, NOW, r, 1), 1);
    assert_int_equal(published(world, "shop.b").removed_at_us, NOW);
}

static void
whatever_of_a_receiver_is_declared_anew_is_written(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver anew[17];
    for (size_t i = 0; i < COUNT(anew); i++)
        anew[i] = a_receiver("shop.hook");
    anew[0].event_name = "shop.Other";
    anew[1].mode = "on_commit";
    anew[2].site = "task";
    anew[3].kind = "outside";
    anew[4].lane = "shop/b";
    anew[5].max_attempts = 6;
    anew[6].backoff_base_us = 1;
    anew[7].backoff_cap_us = 1;
    anew[8].lease_us = 1;
    anew[9].timeout_us = 1;
    anew[10].due_us = 1;
    anew[11].give_up_after_us = 1;
    anew[12].pause = "target";
    anew[13].targets = "callback";
    anew[14].eager = true;
    anew[15].database_only = true;
    anew[16].options = "{\"exec\":\"/bin/true\"}";
    struct catalogue_receiver before = a_receiver("shop.hook");
    for (size_t i = 0; i < COUNT(anew); i++) {
        publish_as(world, "shop", 0, NOW, &before, 1);
        assert_int_equal(publish_as(world, "shop", 0, NOW, &anew[i], 1), 1);
    }
}

static void
whatever_of_an_event_is_declared_anew_is_written(void **state)
{
    struct world *world = *state;
    const struct catalogue_event before = {.name = EVENT, .version = 1, .fields = "[]"};
    const struct catalogue_event anew[] = {
        {.name = EVENT, .version = 2, .fields = "[]"},
        {.name = EVENT, .version = 1, .fields = "[1]"},
        {.name = EVENT, .version = 1, .fields = "[]", .retention_seconds = 1},
        {.name = EVENT, .version = 1, .fields = "[]", .delete_when = "settled"},
    };
    for (size_t i = 0; i < COUNT(anew); i++) {
        struct publication publication = {
            .app = "shop", .now_us = NOW, .events = &before, .event_count = 1};
        int64_t changed;
        assert_ok(store_publish(world->db, &publication, NULL, &world->err));
        publication.events = &anew[i];
        assert_ok(store_publish(world->db, &publication, &changed, &world->err));
        assert_int_equal(changed, 1);
    }
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
    relay.deaf = "a pooler";
    relay.away = "a broker";
    assert_ok(store_relay_heartbeat(world->db, &relay, &world->err));
    struct relay_row *relays;
    size_t count;
    assert_ok(store_relays(world->other, &world->arena, &relays, &count, &world->err));
    assert_int_equal(count, 1);
    assert_string_equal(relays[0].id, relay.id);
    assert_int_equal(relays[0].pid, 42);
    assert_string_equal(relays[0].wake_path, "/tmp/wake");
    assert_string_equal(relays[0].deaf, "a pooler");
    assert_string_equal(relays[0].away, "a broker");
    assert_string_equal(relays[0].lanes, "[\"*\"]");
    assert_int_equal(relays[0].started_at_us, NOW);
    assert_int_equal(relays[0].heartbeat_at_us, NOW + SECOND);
    relay.deaf = relay.away = NULL;
    assert_ok(store_relay_heartbeat(world->db, &relay, &world->err));
    assert_ok(store_relays(world->other, &world->arena, &relays, &count, &world->err));
    assert_string_equal(relays[0].deaf, "");
    assert_string_equal(relays[0].away, "");
    assert_ok(store_relay_leave(world->db, relay.id, 0, &world->err));
    assert_ok(store_relays(world->other, &world->arena, &relays, &count, &world->err));
    assert_int_equal(count, 0);
}

static void
who_leaves_forgets_those_that_were_silent_for_long(void **state)
{
    struct world *world = *state;
    const char *ids[] = {"dead", "just-alive", "leaves"};
    struct relay_row relay = {.host = "host", .lanes = "[]", .started_at_us = 1};
    for (int i = 0; i < 3; i++) {
        relay.id = ids[i];
        relay.heartbeat_at_us = NOW + i;
        assert_ok(store_relay_heartbeat(world->db, &relay, &world->err));
    }
    assert_ok(store_relay_leave(world->db, "leaves", NOW + 1, &world->err));
    struct relay_row *relays;
    size_t count;
    assert_ok(store_relays(world->other, &world->arena, &relays, &count, &world->err));
    assert_int_equal(count, 1);
    assert_string_equal(relays[0].id, "just-alive");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_receiver_reads_back_as_it_was_published),
        TEST(publishing_the_same_again_writes_nothing),
        TEST(publishing_the_same_again_waits_for_nobody),
        TEST(what_was_retired_and_is_declared_again_is_back),
        TEST(a_newer_release_that_declares_the_same_holds_against_an_older_one),
        TEST(what_a_release_no_longer_declares_is_removed_though_it_has_the_same_number),
        TEST(whatever_of_a_receiver_is_declared_anew_is_written),
        TEST(whatever_of_an_event_is_declared_anew_is_written),
        TEST(a_release_removes_what_it_no_longer_declares),
        TEST(an_older_release_neither_removes_nor_changes_what_a_newer_declared),
        TEST(without_a_release_nothing_is_removed),
        TEST(a_release_leaves_other_apps_alone),
        TEST(a_key_of_another_app_is_refused_and_both_are_named),
        TEST(retiring_an_app_removes_all_that_it_declared),
        TEST(relays_come_and_go),
        TEST(who_leaves_forgets_those_that_were_silent_for_long),
    };
    return run_on_all_stores("store catalogue", tests, COUNT(tests));
}
