/* SPDX-License-Identifier: MIT
 *
 * world.c - see world.h. The one place that knows how a fresh store is made.
 */
#include "world.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

int
world_new(void **state)
{
    struct world *world = calloc(1, sizeof *world);
    assert_non_null(world);
    *state = world;
    test_store_new(&world->store);
    world->url = world->store.url;
    world->folder = world->store.folder;
    arena_init(&world->arena, 0);
    struct db_options options = {.create = true, .busy_timeout_us = SECOND};
    assert_ok(store_open(world->url, &options, &world->db, &world->err));
    assert_ok(store_migrate(world->db, NOW, NULL, &world->err));
    assert_ok(store_open(world->url, &options, &world->other, &world->err));
    return 0;
}

int
world_free(void **state)
{
    struct world *world = *state;
    store_close(world->other);
    store_close(world->db);
    arena_done(&world->arena);
    raw_close(world->raw);
    test_store_free(&world->store);
    free(world);
    return 0;
}

struct raw *
plain(struct world *world)
{
    if (world->raw == NULL)
        world->raw = raw_open(world->url);
    return world->raw;
}

int64_t
count_of(struct world *world, const char *table)
{
    return raw_numberf(plain(world), "select count(*) from %s", table);
}

void
check_refused(struct world *world, const char *call, const struct refusal *cases, size_t count)
{
    struct buf statement;
    buf_init(&statement, 1 << 16);
    for (size_t i = 0; i < count; i++) {
        buf_clear(&statement);
        buf_printf(&statement, "%s(%s)", call, cases[i].arguments);
        raw_refused(plain(world), buf_text(&statement), cases[i].words);
    }
    buf_done(&statement);
    assert_int_equal(count_of(world, "owed_event"), 0);
}

struct catalogue_receiver
a_receiver(const char *key)
{
    return (struct catalogue_receiver){.key = key,
        .app = "shop",
        .event_name = EVENT,
        .mode = "durable",
        .site = "relay",
        .kind = "inside",
        .lane = LANE,
        .max_attempts = 5,
        .options = "{}"};
}

void
publish(struct world *world, const struct catalogue_receiver *receivers, size_t count)
{
    struct publication publication = {
        .app = "shop", .now_us = NOW, .receivers = receivers, .receiver_count = count};
    assert_ok(store_publish(world->db, &publication, NULL, &world->err));
}

void
publish_keys(struct world *world, const char *const *keys)
{
    for (; *keys != NULL; keys++) {
        struct catalogue_receiver receiver = a_receiver(*keys);
        publish(world, &receiver, 1);
    }
}

struct new_event
an_event(const char *name)
{
    static uint8_t number;
    struct new_event event = {.name = name,
        .version = 1,
        .payload = STR("{\"order_id\": 7}"),
        .occurred_at_us = NOW,
        .recorded_at_us = NOW,
        .due_at_us = NOW};
    event.uid[0] = ++number;
    return event;
}

static int64_t
insert(struct world *world, const struct new_event *event)
{
    int64_t id = 0;
    bool fresh = false;
    assert_ok(store_insert_event(world->db, event, &id, &fresh, &world->err));
    assert_true(fresh);
    return id;
}

int64_t
fire(struct world *world, const char *name)
{
    struct new_event event = an_event(name);
    return insert(world, &event);
}

int64_t
fire_due(struct world *world, int64_t due_at_us)
{
    struct new_event event = an_event(EVENT);
    event.due_at_us = due_at_us;
    return insert(world, &event);
}

owed_status
try_fire_on(struct world *world, struct db *db)
{
    struct new_event event = an_event(EVENT);
    int64_t id;
    bool fresh;
    return store_insert_event(db, &event, &id, &fresh, &world->err);
}

struct claim
a_claim(const char *claimed_by, int64_t now_us, int32_t limit)
{
    static const char *const lanes[] = {LANE, NULL};
    return (struct claim){.claimed_by = claimed_by,
        .now_us = now_us,
        .lease_us = LEASE,
        .kind = "inside",
        .lanes = lanes,
        .app = "shop",
        .limit = limit,
        .max_losses = 10,
        .max_bytes = SIZE_MAX};
}

size_t
claim(struct world *world, const struct claim *claim)
{
    assert_ok(
        store_claim(world->db, claim, &world->arena, &world->rows, &world->count, &world->err));
    return world->count;
}

size_t
claim_as(struct world *world, const char *claimed_by, int64_t now_us, int32_t limit)
{
    struct claim asked = a_claim(claimed_by, now_us, limit);
    return claim(world, &asked);
}

void
fire_many(struct world *world, size_t count, int64_t *ids)
{
    for (size_t i = 0; i < count; i++)
        ids[i] = only_delivery(world, fire(world, EVENT));
}

void
check_order(const struct world *world, const int64_t *ids, size_t count)
{
    assert_int_equal(world->count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(world->rows[i].fence.delivery_id, ids[i]);
}

struct settlement
a_settlement(const struct fence *fence, const char *status)
{
    return (struct settlement){.fence = *fence,
        .status = status,
        .attempts = 1,
        .available_at_us = NOW + 10 * SECOND,
        .now_us = NOW + SECOND,
        .last_error = strcmp(status, "succeeded") == 0 ? "" : "it did not work"};
}

struct delivery_row
delivery(struct world *world, int64_t id)
{
    struct delivery_row row;
    assert_ok(store_delivery(world->db, id, &world->arena, &row, &world->err));
    return row;
}

const char *
status_of(struct world *world, int64_t id)
{
    return delivery(world, id).status;
}

size_t
ids_of_event(struct world *world, int64_t event_id, int64_t *ids, size_t max)
{
    struct filter filter = {.event_id = event_id, .limit = 1000};
    struct delivery_row *rows;
    size_t count;
    assert_ok(store_deliveries(world->db, &filter, &world->arena, &rows, &count, &world->err));
    assert_true(count <= max);
    for (size_t i = 0; i < count; i++)
        ids[i] = rows[count - 1 - i].id;
    return count;
}

int64_t
only_delivery(struct world *world, int64_t event_id)
{
    int64_t id = 0;
    assert_int_equal(ids_of_event(world, event_id, &id, 1), 1);
    return id;
}

int64_t
bring_to(struct world *world, const char *state)
{
    static const char *const keys[] = {"shop.billing", NULL};
    publish_keys(world, keys);
    int64_t id = only_delivery(world, fire(world, EVENT));
    if (strcmp(state, "pending") == 0)
        return id;
    assert_int_equal(claim_as(world, "first", NOW, 1), 1);
    assert_int_equal(world->rows[0].fence.delivery_id, id);
    if (strcmp(state, "claimed") == 0)
        return id;
    struct settlement settlement = a_settlement(&world->rows[0].fence, state);
    assert_ok(store_settle(world->db, &settlement, 1, NULL, &world->err));
    assert_string_equal(status_of(world, id), state);
    return id;
}
