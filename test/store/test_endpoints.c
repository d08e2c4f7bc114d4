/* SPDX-License-Identifier: MIT
 *
 * test_endpoints.c - endpoints, and which events are owed to which of them.
 */
#include "world.h"

#include "store/endpoints.h"
#include "store/fire_many.h"
#include "store/verbs.h"

#include <stdio.h>
#include <string.h>

#define HOUR_US INT64_C(3600000000)
#define A_SECRET "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

static void
publish_webhooks(struct world *world, const char *options)
{
    struct catalogue_receiver r = a_receiver(ENDPOINTS_RECEIVER);
    r.event_name = "*";
    r.kind = "outside";
    r.lane = "shop/hooks";
    r.max_attempts = 7;
    r.due_us = 3;
    r.targets = "endpoints";
    r.pause = "target";
    r.options = options;
    publish(world, &r, 1);
}

static struct endpoint_row
an_endpoint(const char *id)
{
    return (struct endpoint_row){.id = id,
        .name = "",
        .url = "https://hooks.example/in",
        .tenant = "",
        .format = "envelope",
        .signing = "v1",
        .secret = A_SECRET,
        .filter = "",
        .created_at_us = NOW};
}

static void
add(struct world *world, const struct endpoint_row *endpoint, const char *const *names)
{
    assert_ok(store_endpoint_add(world->db, endpoint, names, &world->err));
}

static void
add_for(struct world *world, const char *id, const char *name)
{
    struct endpoint_row e = an_endpoint(id);
    add(world, &e, (const char *const[]){name, NULL});
}

static struct endpoint_row
look(struct world *world, const char *id)
{
    struct endpoint_row row;
    assert_ok(store_endpoint(world->db, id, &world->arena, &row, &world->err));
    return row;
}

/* targets_of writes the targets that an event is owed to, in order, as "a b"; checks what each row says. */
static const char *
targets_of(struct world *world, int64_t event_id, char *text, size_t size)
{
    int64_t ids[16];
    size_t count = ids_of_event(world, event_id, ids, COUNT(ids));
    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        struct delivery_row row = delivery(world, ids[i]);
        assert_string_equal(row.receiver_key, ENDPOINTS_RECEIVER);
        assert_string_equal(row.lane, "shop/hooks");
        assert_string_equal(row.kind, "outside");
        assert_int_equal(row.max_attempts, 7);
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%s", used == 0 ? "" : " ", row.target);
    }
    return text;
}

static void
assert_owed(struct world *world, int64_t event_id, const char *expected)
{
    char text[256];
    assert_string_equal(targets_of(world, event_id, text, sizeof text), expected);
}

static int64_t
fire_with_scope(struct world *world, const char *scope)
{
    struct new_event event = an_event(EVENT);
    int64_t id = 0;
    bool fresh = false;
    event.scope = scope;
    assert_ok(store_insert_event(world->db, &event, &id, &fresh, &world->err));
    return id;
}

/* assert_subscribed compares the names, however the store spaces them. */
static void
assert_subscribed(const struct endpoint_row *row, const char *expected)
{
    char text[256];
    size_t len = 0;
    for (const char *p = row->subscriptions; *p != '\0' && len < sizeof text - 1; p++)
        if (*p != ' ')
            text[len++] = *p;
    text[len] = '\0';
    assert_string_equal(text, expected);
}

static void
an_endpoint_reads_back_as_it_was_added(void **state)
{
    struct world *world = *state;
    struct endpoint_row e = an_endpoint("ep_1");
    e.name = "Acme \"main\"";
    e.tenant = "acme";
    e.format = "cloudevents";
    e.signing = "v1a";
    e.filter = "{\"/type\":\"new\"}";
    e.rate = 9;
    add(world, &e, (const char *const[]){"shop.Paid", "shop.*", "shop.Paid", NULL});
    add_for(world, "ep_2", EVENT);
    struct endpoint_row back = look(world, "ep_1");
    assert_string_equal(back.name, e.name);
    assert_string_equal(back.url, e.url);
    assert_string_equal(back.tenant, "acme");
    assert_string_equal(back.format, "cloudevents");
    assert_string_equal(back.signing, "v1a");
    assert_string_equal(back.secret, A_SECRET);
    assert_string_equal(back.previous_secret, "");
    assert_int_equal(back.previous_until_us, 0);
    assert_string_equal(back.filter, e.filter);
    assert_int_equal(back.rate, 9);
    assert_int_equal(back.dead_in_row, 0);
    assert_int_equal(back.disabled_at_us, 0);
    assert_int_equal(back.created_at_us, NOW);
    assert_subscribed(&back, "[\"shop.*\",\"shop.Paid\"]");
}

static void
a_second_one_of_an_id_leaves_the_first_alone(void **state)
{
    struct world *world = *state;
    add_for(world, "ep_1", EVENT);
    struct endpoint_row e = an_endpoint("ep_1");
    assert_int_not_equal(
        store_endpoint_add(world->db, &e, (const char *const[]){"shop.Other", NULL}, &world->err),
        OWED_OK);
    assert_null(strstr(look(world, "ep_1").subscriptions, "Other"));
}

static void
an_event_is_owed_to_those_who_want_its_name(void **state)
{
    struct world *world = *state;
    publish_webhooks(world, "{}");
    add_for(world, "ep_exact", EVENT);
    add_for(world, "ep_front", "shop.*");
    add_for(world, "ep_all", "*");
    add_for(world, "ep_other", "shop.OrderPlace");
    add_for(world, "ep_longer", "shop.OrderPlaced.*");
    add_for(world, "ep_case", "SHOP.*");
    struct endpoint_row both = an_endpoint("ep_twice");
    add(world, &both, (const char *const[]){EVENT, "shop.*", "*", NULL});
    assert_owed(world, fire(world, EVENT), "ep_all ep_exact ep_front ep_twice");
    assert_owed(world, fire(world, "shopping.Done"), "ep_all ep_twice");
}

static void
the_digest_is_that_of_the_target(void **state)
{
    struct world *world = *state;
    publish_webhooks(world, "{}");
    add_for(world, "ep_1", EVENT);
    int64_t event = fire(world, EVENT);
    // Owed once more, by whoever makes the digest itself, it is the same row.
    const struct new_delivery again = {.event_id = event,
        .receiver_key = ENDPOINTS_RECEIVER,
        .lane = "shop/hooks",
        .kind = "outside",
        .target = "ep_1",
        .max_attempts = 7,
        .available_at_us = NOW};
    assert_ok(store_insert_delivery(world->db, &again, &world->err));
    assert_owed(world, event, "ep_1");
}

static void
it_is_due_when_the_event_and_the_receiver_say(void **state)
{
    struct world *world = *state;
    publish_webhooks(world, "{}");
    add_for(world, "ep_1", EVENT);
    struct delivery_row row = delivery(world, only_delivery(world, fire_due(world, NOW + SECOND)));
    assert_int_equal(row.available_at_us, NOW + SECOND + 3);
    assert_int_equal(row.due_at_us, NOW + SECOND + 3);
    row = delivery(world, only_delivery(world, fire_due(world, NOW - SECOND)));
    assert_int_equal(row.available_at_us, NOW + 3);
    assert_int_equal(row.due_at_us, NOW + 3);
}

static void
nothing_is_owed_where_nobody_delivers(void **state)
{
    struct world *world = *state;
    add_for(world, "ep_1", EVENT);
    assert_owed(world, fire(world, EVENT), "");
    publish_keys(world, (const char *const[]){ENDPOINTS_RECEIVER, NULL});
    int64_t ids[4];
    // A receiver without endpoints of that very key is one like any other.
    assert_int_equal(ids_of_event(world, fire(world, EVENT), ids, 4), 1);
    assert_string_equal(delivery(world, ids[0]).target, "");
    struct catalogue_receiver r = a_receiver(ENDPOINTS_RECEIVER);
    r.targets = "endpoints";
    r.mode = "inline";
    publish(world, &r, 1);
    assert_owed(world, fire(world, EVENT), "");
}

static void
events_of_its_own_and_suppressed_ones_go_to_no_endpoint(void **state)
{
    struct world *world = *state;
    publish_webhooks(world, "{}");
    add_for(world, "ep_1", "*");
    assert_owed(world, fire(world, "owed.EndpointDisabled"), "");
    assert_owed(world, fire(world, "owedshop.Paid"), "ep_1");
    struct new_event event = an_event(EVENT);
    int64_t id = 0;
    bool fresh = false;
    event.suppressed_reason = "a test";
    assert_ok(store_insert_event(world->db, &event, &id, &fresh, &world->err));
    assert_owed(world, id, "");
}

static void
a_disabled_endpoint_is_owed_nothing_new(void **state)
{
    struct world *world = *state;
    bool changed = false;
    publish_webhooks(world, "{}");
    add_for(world, "ep_1", EVENT);
    add_for(world, "ep_2", EVENT);
    assert_ok(store_endpoint_disable(world->db, "ep_1", NOW, "a test", &changed, &world->err));
    assert_true(changed);
    assert_owed(world, fire(world, EVENT), "ep_2");
    assert_ok(store_endpoint_enable(world->db, "ep_1", NOW, &changed, &world->err));
    assert_true(changed);
    assert_owed(world, fire(world, EVENT), "ep_1 ep_2");
}

static void
a_receiver_of_one_event_owes_that_alone(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver r = a_receiver(ENDPOINTS_RECEIVER);
    r.kind = "outside";
    r.lane = "shop/hooks";
    r.max_attempts = 7;
    r.targets = "endpoints";
    publish(world, &r, 1);
    add_for(world, "ep_1", "*");
    assert_owed(world, fire(world, EVENT), "ep_1");
    assert_owed(world, fire(world, "shop.Other"), "");
}

static void
who_stands_beside_it_is_owed_its_own_delivery_alone(void **state)
{
    struct world *world = *state;
    int64_t ids[8];
    publish_keys(world, (const char *const[]){"shop.billing", NULL});
    publish_webhooks(world, "{}");
    add_for(world, "ep_1", EVENT);
    add_for(world, "ep_2", EVENT);
    assert_int_equal(ids_of_event(world, fire(world, EVENT), ids, 8), 3);
}

static void
a_removed_receiver_owes_for_the_grace_and_no_longer(void **state)
{
    struct world *world = *state;
    int64_t changed = 0;
    publish_webhooks(world, "{}");
    add_for(world, "ep_1", EVENT);
    assert_ok(store_retire(world->db, "shop", NOW - GRACE + SECOND, &changed, &world->err));
    assert_owed(world, fire(world, EVENT), "ep_1");
    publish_webhooks(world, "{}");
    assert_ok(store_retire(world->db, "shop", NOW - GRACE, &changed, &world->err));
    assert_owed(world, fire(world, EVENT), "");
}

static void
tenants_fail_closed(void **state)
{
    struct world *world = *state;
    struct endpoint_row acme = an_endpoint("ep_acme"), seven = an_endpoint("ep_seven");
    const char *const names[] = {EVENT, NULL};
    acme.tenant = "acme";
    seven.tenant = "7";
    add(world, &acme, names);
    add(world, &seven, names);
    static const char *const never[] = {"[\"acme\"]", "1", "true", "7.5", "{\"acme\":1}"};
    char id[] = "ep_0";
    for (size_t i = 0; i < COUNT(never); i++, id[3]++) {
        struct endpoint_row e = an_endpoint(id);
        e.tenant = never[i];
        add(world, &e, names);
    }
    add_for(world, "ep_none", EVENT);
    publish_webhooks(world, "{}");
    assert_owed(world, fire_with_scope(world, "{\"tenant\":\"acme\"}"), "ep_none");
    publish_webhooks(world, "{\"tenant_key\":\"tenant\"}");
    static const char *const cases[][2] = {{"{\"tenant\":\"acme\"}", "ep_acme"},
        {"{\"tenant\":7}", "ep_seven"}, {"{\"tenant\":\"7\"}", "ep_seven"}, {"{}", ""},
        {"{\"tenant\":\"\"}", ""}, {"{\"tenant\":null}", ""}, {"{\"tenant\":\"ACME\"}", ""},
        {"{\"tenant\":\"acme \"}", ""}, {"{\"tenant\":[\"acme\"]}", ""},
        {"{\"tenant\":{\"acme\":1}}", ""}, {"{\"tenant\":true}", ""}, {"{\"tenant\":7.5}", ""},
        {"{\"other\":\"acme\"}", ""}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[256];
        int64_t event = fire_with_scope(world, cases[i][0]);
        check_case(
            strcmp(targets_of(world, event, text, sizeof text), cases[i][1]) == 0, cases[i][0]);
    }
}

static void
several_events_at_once_are_owed_alike(void **state)
{
    struct world *world = *state;
    publish_webhooks(world, "{}");
    add_for(world, "ep_1", EVENT);
    add_for(world, "ep_2", "shop.*");
    struct new_event list[] = {an_event(EVENT), an_event("shop.Other"), an_event("other.Thing")};
    struct written_event written[3];
    size_t count = 0;
    bool torn = false;
    for (size_t i = 0; i < 3; i++)
        list[i].uid[0] = (uint8_t)(0xa0 + i);
    const struct new_events events = {.events = list, .count = 3};
    assert_ok(store_begin(world->db, true, &world->err));
    assert_ok(store_insert_events(world->db, &events, written, &count, &torn, &world->err));
    assert_ok(store_commit(world->db, &world->err));
    assert_owed(world, written[0].id, "ep_1 ep_2");
    assert_owed(world, written[1].id, "ep_2");
    assert_owed(world, written[2].id, "");
}

static void
a_rotation_keeps_the_old_secret_for_the_overlap(void **state)
{
    struct world *world = *state;
    add_for(world, "ep_1", EVENT);
    assert_ok(
        store_endpoint_rotate(world->db, "ep_1", "whsec_new", NOW + SECOND, NOW, &world->err));
    struct endpoint_row row = look(world, "ep_1");
    assert_string_equal(row.secret, "whsec_new");
    assert_string_equal(row.previous_secret, A_SECRET);
    assert_int_equal(row.previous_until_us, NOW + SECOND);
    assert_int_equal(store_endpoint_rotate(world->db, "ep_1", "whsec_newer", NOW + HOUR_US,
                         NOW + SECOND - 1, &world->err),
        OWED_INVALID);
    assert_string_equal(look(world, "ep_1").secret, "whsec_new");
    assert_ok(store_endpoint_rotate(world->db, "ep_1", "whsec_newer", NOW, NOW, &world->err));
    row = look(world, "ep_1");
    assert_string_equal(row.secret, "whsec_newer");
    assert_string_equal(row.previous_secret, "");
    assert_int_equal(store_endpoint_rotate(world->db, "ep_2", "whsec_new", NOW, NOW, &world->err),
        OWED_NOT_FOUND);
    // At its end the overlap is over.
    assert_ok(store_endpoint_rotate(world->db, "ep_1", "whsec_a", NOW + SECOND, NOW, &world->err));
    assert_ok(store_endpoint_rotate(
        world->db, "ep_1", "whsec_b", NOW + HOUR_US, NOW + SECOND, &world->err));
    assert_string_equal(look(world, "ep_1").previous_secret, "whsec_a");
}

static void
of_two_that_disable_an_endpoint_one_does(void **state)
{
    struct world *world = *state;
    bool first = false, second = true;
    add_for(world, "ep_1", EVENT);
    assert_ok(store_endpoint_disable(world->db, "ep_1", NOW, "gone", &first, &world->err));
    assert_ok(store_endpoint_disable(world->other, "ep_1", NOW + 1, "late", &second, &world->err));
    assert_true(first);
    assert_false(second);
    struct endpoint_row row = look(world, "ep_1");
    assert_int_equal(row.disabled_at_us, NOW);
    assert_string_equal(row.disabled_reason, "gone");
}

static void
so_many_dead_in_a_row_disable_it_and_one_success_forgives_them(void **state)
{
    struct world *world = *state;
    bool changed = true;
    add_for(world, "ep_1", EVENT);
    add_for(world, "ep_2", EVENT); // has as many
    assert_ok(store_endpoint_dead(world->db, "ep_2", 7, &world->err));
    assert_ok(store_endpoint_dead(world->db, "ep_1", 1, &world->err));
    assert_ok(store_endpoint_dead(world->db, "ep_1", 1, &world->err));
    assert_int_equal(look(world, "ep_1").dead_in_row, 2);
    assert_int_equal(look(world, "ep_2").dead_in_row, 7);
    assert_ok(store_endpoint_give_up(world->db, "ep_1", NOW, "dead", 3, &changed, &world->err));
    assert_false(changed);
    assert_ok(store_endpoint_well(world->db, "ep_1", &world->err));
    assert_int_equal(look(world, "ep_1").dead_in_row, 0);
    assert_ok(store_endpoint_dead(world->db, "ep_1", 3, &world->err));
    assert_ok(store_endpoint_give_up(world->db, "ep_1", NOW, "dead", 3, &changed, &world->err));
    assert_true(changed);
    assert_ok(store_endpoint_give_up(world->other, "ep_1", NOW, "dead", 3, &changed, &world->err));
    assert_false(changed);
    assert_int_equal(look(world, "ep_2").dead_in_row, 7);
    assert_int_equal(look(world, "ep_2").disabled_at_us, 0);
    assert_ok(store_endpoint_disable(world->db, "ep_2", NOW, "a test", &changed, &world->err));
    assert_ok(store_endpoint_enable(world->db, "ep_1", NOW, &changed, &world->err));
    assert_int_equal(look(world, "ep_1").dead_in_row, 0);
    assert_ok(store_endpoint_enable(world->db, "ep_1", NOW, &changed, &world->err));
    assert_false(changed);
    assert_int_equal(look(world, "ep_2").disabled_at_us, NOW);
}

static void
pages_are_in_the_order_of_ids_and_of_one_tenant(void **state)
{
    struct world *world = *state;
    struct endpoint_row acme = an_endpoint("ep_2");
    acme.tenant = "acme";
    add(world, &acme, (const char *const[]){EVENT, NULL});
    add_for(world, "ep_3", "shop.*");
    add_for(world, "ep_1", EVENT);
    struct endpoint_row *rows = NULL;
    size_t count = 0;
    assert_ok(store_endpoints(world->db, "", 2, NULL, &world->arena, &rows, &count, &world->err));
    assert_int_equal(count, 2);
    assert_string_equal(rows[0].id, "ep_1");
    assert_string_equal(rows[1].id, "ep_2");
    assert_ok(
        store_endpoints(world->db, "ep_2", 2, NULL, &world->arena, &rows, &count, &world->err));
    assert_int_equal(count, 1);
    assert_string_equal(rows[0].id, "ep_3");
    assert_subscribed(&rows[0], "[\"shop.*\"]");
    assert_ok(store_endpoints(world->db, "", 9, "acme", &world->arena, &rows, &count, &world->err));
    assert_int_equal(count, 1);
    assert_string_equal(rows[0].id, "ep_2");
    assert_ok(store_endpoints_of(
        world->db, "[\"ep_3\",\"ep_9\"]", &world->arena, &rows, &count, &world->err));
    assert_int_equal(count, 1);
    assert_string_equal(rows[0].id, "ep_3");
    assert_subscribed(&rows[0], "[\"shop.*\"]");
}

static struct replayed
replay(struct world *world, int64_t event_id)
{
    const struct replay asked = {.event_id = event_id, .keys = "[]", .now_us = NOW + SECOND};
    struct replayed replayed;
    assert_ok(store_replay(world->db, &asked, &world->arena, &replayed, &world->err));
    return replayed;
}

/* assert_statuses checks those of what an event is owed to, by target, as "dead pending". */
static void
assert_statuses(struct world *world, int64_t event_id, const char *expected)
{
    char text[256] = "";
    int64_t ids[16];
    size_t count = ids_of_event(world, event_id, ids, COUNT(ids));
    for (size_t i = 0; i < count; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s", used == 0 ? "" : " ",
            delivery(world, ids[i]).status);
    }
    assert_string_equal(text, expected);
}

static void
a_replay_owes_it_once_more_to_endpoints_that_had_it_and_are_still_called(void **state)
{
    struct world *world = *state;
    bool changed = false;
    publish_webhooks(world, "{}");
    add_for(world, "ep_1", EVENT);
    add_for(world, "ep_2", EVENT);
    add_for(world, "ep_3", EVENT);
    add_for(world, "ep_4", EVENT);
    int64_t event = fire(world, EVENT), other = fire(world, EVENT), nobody = fire(world, "a.b");
    raw_run(plain(world), "update owed_delivery set status = 'succeeded'");
    raw_run(plain(world), "update owed_delivery set status = 'dead' where target = 'ep_4'");
    assert_ok(store_endpoint_disable(world->db, "ep_2", NOW, "a test", &changed, &world->err));
    assert_ok(store_endpoint_remove(world->db, "ep_3", &world->err));
    add_for(world, "ep_5", EVENT); // it asked for news
    struct replayed replayed = replay(world, event);
    assert_int_equal(replayed.skip, REPLAY_DONE);
    assert_int_equal(replayed.reopened, 2);
    assert_int_equal(replayed.added, 0);
    assert_owed(world, event, "ep_1 ep_2 ep_3 ep_4");
    assert_statuses(world, event, "pending succeeded succeeded pending");
    assert_statuses(world, other, "succeeded succeeded succeeded dead");
    replayed = replay(world, event);
    assert_int_equal(replayed.reopened, 0);
    assert_int_equal(replayed.left, 1);
    assert_int_equal(replay(world, nobody).skip, REPLAY_UNWANTED);
}

static void
a_replay_takes_nobody_elses_targets_for_endpoints(void **state)
{
    struct world *world = *state;
    publish_keys(world, (const char *const[]){"shop.billing", NULL});
    int64_t event = fire(world, EVENT);
    add_for(world, "ep_1", "*");
    const struct new_delivery alike = {.event_id = event,
        .receiver_key = "shop.billing",
        .lane = LANE,
        .kind = "inside",
        .target = "ep_1",
        .max_attempts = 5,
        .available_at_us = NOW};
    assert_ok(store_insert_delivery(world->db, &alike, &world->err));
    raw_run(plain(world), "update owed_delivery set status = 'dead'");
    assert_int_equal(replay(world, event).reopened, 1);
    // Who wants it now was never owed it.
    assert_ok(store_retire(world->db, "shop", NOW, NULL, &world->err));
    publish_webhooks(world, "{}");
    assert_int_equal(replay(world, event).skip, REPLAY_UNWANTED);
}

/* hold_all makes rows look as though a relay had put them off while their endpoint was paused. */
static void
hold_all(struct world *world, const char *where)
{
    raw_runf(plain(world),
        "update owed_delivery set claimed_at = moment(%lld), available_at = moment(%lld), "
        "due_at = moment(%lld) where %s",
        (long long)NOW, (long long)(NOW + HOUR_US), (long long)(NOW + HOUR_US), where);
}

/* due_of writes the targets of what is due, as "a b". */
static const char *
due_of(struct world *world, int64_t event_id, char text[static 100])
{
    int64_t ids[16];
    size_t count = ids_of_event(world, event_id, ids, COUNT(ids));
    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        struct delivery_row row = delivery(world, ids[i]);
        if (row.available_at_us > NOW)
            continue;
        assert_int_equal(row.due_at_us, row.available_at_us);
        size_t used = strlen(text);
        snprintf(text + used, 100 - used, "%s%s", used == 0 ? "" : " ", row.target);
    }
    return text;
}

static void
pause(struct world *world, const char *id, int64_t now_us, int64_t until_us)
{
    assert_ok(store_endpoint_pause(world->db, id, now_us, until_us, "a test", &world->err));
}

static void
a_pause_keeps_its_moment_and_ends_once(void **state)
{
    struct world *world = *state;
    bool changed = false;
    add_for(world, "ep_1", EVENT);
    add_for(world, "ep_2", EVENT);
    pause(world, "ep_1", NOW, 0);
    pause(world, "ep_1", NOW + 5, NOW + 9);
    struct endpoint_row row = look(world, "ep_1");
    assert_int_equal(row.paused_at_us, NOW);
    assert_int_equal(row.paused_until_us, NOW + 9);
    assert_string_equal(row.paused_reason, "a test");
    assert_ok(store_endpoint_pause(world->db, "ep_1", NOW, NOW + 9, "", &world->err));
    assert_string_equal(look(world, "ep_1").paused_reason, "a test");
    assert_ok(store_endpoint_pause(world->db, "ep_1", NOW, NOW + 9, "another", &world->err));
    assert_string_equal(look(world, "ep_1").paused_reason, "another");
    assert_int_equal(look(world, "ep_2").paused_at_us, 0);
    assert_ok(store_endpoint_resume(world->db, "ep_2", NOW, &changed, &world->err));
    assert_false(changed);
    assert_ok(store_endpoint_resume(world->db, "ep_1", NOW, &changed, &world->err));
    assert_true(changed);
    row = look(world, "ep_1");
    assert_int_equal(row.paused_at_us, 0);
    assert_int_equal(row.paused_until_us, 0);
    assert_string_equal(row.paused_reason, "");
    pause(world, "ep_2", NOW, 0);
    assert_ok(store_endpoint_resume(world->db, "ep_1", NOW, &changed, &world->err));
    assert_int_equal(look(world, "ep_2").paused_at_us, NOW);
}

static void
a_paused_endpoint_is_owed_what_it_wants(void **state)
{
    struct world *world = *state;
    publish_webhooks(world, "{}");
    add_for(world, "ep_1", EVENT);
    pause(world, "ep_1", NOW, 0);
    assert_owed(world, fire(world, EVENT), "ep_1");
}

static void
a_pause_ends_at_its_time_and_not_before(void **state)
{
    struct world *world = *state;
    publish_webhooks(world, "{}");
    add_for(world, "ep_1", EVENT);
    add_for(world, "ep_2", EVENT);
    add_for(world, "ep_3", EVENT);
    pause(world, "ep_1", NOW - 5, NOW);
    pause(world, "ep_2", NOW - 5, NOW + 1);
    pause(world, "ep_3", NOW - 5, 0);
    int64_t event = fire(world, EVENT);
    char text[100];
    hold_all(world, "1 = 1");
    assert_ok(store_mend(world->db, NOW, 0, 100, NULL, NULL, &world->err));
    assert_int_equal(look(world, "ep_1").paused_at_us, 0);
    assert_int_equal(look(world, "ep_2").paused_at_us, NOW - 5);
    assert_int_equal(look(world, "ep_3").paused_at_us, NOW - 5);
    assert_string_equal(due_of(world, event, text), "ep_1");
}

static void
free_at(struct world *world, int64_t now_us)
{
    assert_ok(store_endpoints_free(world->db, now_us, &world->err));
}

static int64_t
held_at(struct world *world, int64_t now_us)
{
    struct buf ids;
    int64_t count = 0;
    buf_init(&ids, JSON_ARGUMENT_BYTES);
    assert_ok(collect_ids(world->db, STMT_ENDPOINT_HELD,
        ARGS(V_TIME(now_us), V_TIME(now_us), V_INT(100)), &ids, &count, &world->err));
    buf_done(&ids);
    return count;
}

static void
what_was_put_off_for_a_pause_is_due_when_it_ends(void **state)
{
    struct world *world = *state;
    char text[100];
    bool changed = false;
    publish_webhooks(world, "{}");
    add_for(world, "ep_1", EVENT);
    add_for(world, "ep_2", EVENT);
    pause(world, "ep_1", NOW - 5, 0);
    pause(world, "ep_2", NOW - 5, 0);
    int64_t event = fire(world, EVENT), failed = fire(world, EVENT), later = fire(world, EVENT);
    hold_all(world, "1 = 1");
    raw_runf(plain(world), "update owed_delivery set status = 'failed' where event_id = %lld",
        (long long)failed);
    raw_runf(plain(world), "update owed_delivery set claimed_at = moment(0) where event_id = %lld",
        (long long)later);
    assert_ok(store_endpoint_resume(world->db, "ep_1", NOW, &changed, &world->err));
    free_at(world, NOW + HOUR_US - 1); // it comes by itself
    assert_string_equal(due_of(world, event, text), "");
    assert_int_equal(held_at(world, NOW), 1);
    assert_int_equal(held_at(world, NOW + 1), 0); // it was resumed before that
    free_at(world, NOW);
    assert_string_equal(due_of(world, event, text), "ep_1");
    assert_string_equal(due_of(world, failed, text), "");
    assert_string_equal(due_of(world, later, text), "");
    // What was put off in the pause before this one waits for the end of this one.
    hold_all(world, "target = 'ep_1'");
    pause(world, "ep_1", NOW, 0);
    free_at(world, NOW);
    assert_string_equal(due_of(world, event, text), "");
}

static void
what_is_freed_is_of_endpoints_alone_and_late_ones_stay_where_they_are(void **state)
{
    struct world *world = *state;
    char text[100];
    bool changed = false;
    publish_webhooks(world, "{}");
    add_for(world, "ep_1", EVENT);
    pause(world, "ep_1", NOW - 5, 0);
    int64_t event = fire(world, EVENT), due = fire(world, EVENT);
    hold_all(world, "1 = 1");
    raw_runf(plain(world), "update owed_delivery set receiver_key = 'shop.a' where event_id = %lld",
        (long long)event);
    raw_runf(plain(world),
        "update owed_delivery set available_at = moment(%lld), due_at = moment(%lld) where "
        "event_id = %lld",
        (long long)(NOW - 9), (long long)(NOW - 9), (long long)due);
    assert_ok(store_endpoint_resume(world->db, "ep_1", NOW, &changed, &world->err));
    free_at(world, NOW);
    assert_string_equal(due_of(world, event, text), "");
    int64_t ids[4];
    assert_int_equal(ids_of_event(world, due, ids, COUNT(ids)), 1);
    assert_int_equal(delivery(world, ids[0]).available_at_us, NOW - 9);
}

static void
what_was_put_off_is_due_when_its_endpoint_is_disabled(void **state)
{
    struct world *world = *state;
    char text[100];
    bool changed = false;
    publish_webhooks(world, "{}");
    add_for(world, "ep_1", EVENT);
    add_for(world, "ep_2", EVENT);
    pause(world, "ep_1", NOW - 5, 0);
    pause(world, "ep_2", NOW - 5, 0);
    int64_t event = fire(world, EVENT);
    hold_all(world, "1 = 1");
    assert_ok(store_endpoint_disable(world->db, "ep_1", NOW, "a test", &changed, &world->err));
    assert_int_equal(held_at(world, NOW), 1);
    assert_int_equal(held_at(world, NOW + 1), 0); // it was disabled before that
    free_at(world, NOW);
    assert_string_equal(due_of(world, event, text), "ep_1");
}

static void
what_was_put_off_is_due_when_its_endpoint_is_removed(void **state)
{
    struct world *world = *state;
    char text[100];
    publish_webhooks(world, "{}");
    add_for(world, "ep_1", EVENT);
    add_for(world, "ep_2", EVENT);
    int64_t event = fire(world, EVENT), failed = fire(world, EVENT), later = fire(world, EVENT),
            due = fire(world, EVENT), other = fire(world, EVENT);
    hold_all(world, "1 = 1");
    raw_runf(plain(world), "update owed_delivery set status = 'failed' where event_id = %lld",
        (long long)failed);
    raw_runf(plain(world), "update owed_delivery set claimed_at = moment(0) where event_id = %lld",
        (long long)later);
    raw_runf(plain(world),
        "update owed_delivery set available_at = moment(%lld), due_at = moment(%lld) where "
        "event_id = %lld",
        (long long)(NOW - 9), (long long)(NOW - 9), (long long)due);
    raw_runf(plain(world), "update owed_delivery set receiver_key = 'shop.a' where event_id = %lld",
        (long long)other);
    assert_ok(store_endpoint_remove(world->db, "ep_1", &world->err));
    assert_ok(store_endpoint_free_of(world->db, "ep_1", NOW, &world->err));
    assert_string_equal(due_of(world, event, text), "ep_1");
    assert_string_equal(due_of(world, failed, text), "");
    assert_string_equal(due_of(world, later, text), "");
    assert_string_equal(due_of(world, other, text), "");
    int64_t ids[4];
    assert_int_equal(ids_of_event(world, due, ids, COUNT(ids)), 2);
    assert_int_equal(delivery(world, ids[0]).available_at_us, NOW - 9);
}

static void
what_somebody_holds_by_then_is_not_freed(void **state)
{
    struct world *world = *state;
    int64_t ids[4];
    char list[30];
    publish_webhooks(world, "{}");
    add_for(world, "ep_1", EVENT);
    int64_t event = fire(world, EVENT);
    hold_all(world, "1 = 1");
    raw_run(plain(world), "update owed_delivery set status = 'claimed'");
    assert_int_equal(ids_of_event(world, event, ids, COUNT(ids)), 1);
    snprintf(list, sizeof list, "[%lld]", (long long)ids[0]);
    assert_ok(
        change(world->db, STMT_ENDPOINT_FREE, ARGS(V_TEXT(list), V_TIME(NOW)), NULL, &world->err));
    assert_int_equal(delivery(world, ids[0]).available_at_us, NOW + HOUR_US);
}

static void
a_removed_endpoint_leaves_nothing_behind(void **state)
{
    struct world *world = *state;
    add_for(world, "ep_1", EVENT);
    add_for(world, "ep_2", EVENT);
    assert_ok(store_endpoint_remove(world->db, "ep_1", &world->err));
    assert_int_equal(count_of(world, "owed_endpoint"), 1);
    assert_int_equal(count_of(world, "owed_subscription"), 1);
    struct endpoint_row row;
    assert_int_equal(
        store_endpoint(world->db, "ep_1", &world->arena, &row, &world->err), OWED_NOT_FOUND);
    assert_int_equal(store_endpoint_remove(world->db, "ep_1", &world->err), OWED_NOT_FOUND);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_endpoint_reads_back_as_it_was_added),
        TEST(a_second_one_of_an_id_leaves_the_first_alone),
        TEST(an_event_is_owed_to_those_who_want_its_name),
        TEST(the_digest_is_that_of_the_target),
        TEST(it_is_due_when_the_event_and_the_receiver_say),
        TEST(nothing_is_owed_where_nobody_delivers),
        TEST(events_of_its_own_and_suppressed_ones_go_to_no_endpoint),
        TEST(a_disabled_endpoint_is_owed_nothing_new),
        TEST(a_receiver_of_one_event_owes_that_alone),
        TEST(who_stands_beside_it_is_owed_its_own_delivery_alone),
        TEST(a_removed_receiver_owes_for_the_grace_and_no_longer),
        TEST(tenants_fail_closed),
        TEST(several_events_at_once_are_owed_alike),
        TEST(a_rotation_keeps_the_old_secret_for_the_overlap),
        TEST(of_two_that_disable_an_endpoint_one_does),
        TEST(so_many_dead_in_a_row_disable_it_and_one_success_forgives_them),
        TEST(pages_are_in_the_order_of_ids_and_of_one_tenant),
        TEST(a_replay_owes_it_once_more_to_endpoints_that_had_it_and_are_still_called),
        TEST(a_replay_takes_nobody_elses_targets_for_endpoints),
        TEST(a_pause_keeps_its_moment_and_ends_once),
        TEST(a_paused_endpoint_is_owed_what_it_wants),
        TEST(a_pause_ends_at_its_time_and_not_before),
        TEST(what_was_put_off_for_a_pause_is_due_when_it_ends),
        TEST(what_is_freed_is_of_endpoints_alone_and_late_ones_stay_where_they_are),
        TEST(what_was_put_off_is_due_when_its_endpoint_is_disabled),
        TEST(what_was_put_off_is_due_when_its_endpoint_is_removed),
        TEST(what_somebody_holds_by_then_is_not_freed),
        TEST(a_removed_endpoint_leaves_nothing_behind),
    };
    return RUN_ON_ALL_STORES("endpoints", tests);
}
