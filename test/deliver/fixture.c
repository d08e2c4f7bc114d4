/* SPDX-License-Identifier: MIT
 *
 * fixture.c - see fixture.h. A shop on a store of its own.
 */
#include "fixture.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "deliver/join.h"

static const owed_field order_fields[] = {
    OWED_INT64(order, id),
    OWED_INT64(order, cents),
    OWED_TEXT_WITH(order, currency, .fallback = "EUR"),
    OWED_FIELDS_END,
};

const owed_event_type order_placed = {
    .name = "shop.OrderPlaced", .version = 2, .fields = order_fields, .size = sizeof(order)};
const owed_event_type order_shipped = {
    .name = "shop.OrderShipped", .fields = order_fields, .size = sizeof(order)};
const owed_event_type note_taken = {.name = "shop.NoteTaken"};

static int64_t
fixed_now(void *state)
{
    const struct fixture *fixture = state;
    return fixture->now_us;
}

/* keep_line may be called by several handles' threads. */
static void
keep_line(void *state, owed_log_level level, const char *line)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct fixture *fixture = state;
    pthread_mutex_lock(&lock);
    buf_printf(&fixture->log, "%d %s\n", (int)level, line);
    pthread_mutex_unlock(&lock);
}

struct fixture *
fixture_new(void)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    assert_non_null(fixture);
    test_store_new(&fixture->store);
    fixture->url = fixture->store.url;
    fixture->folder = fixture->store.folder;
    fixture->now_us = FIXTURE_NOW_US;
    fixture->seed = 42;
    fixture->busy_timeout_us = US_PER_MS;
    buf_init(&fixture->log, 1 << 20);
    assert_ok(owed_init(fixture->url, &fixture->err));
    assert_ok(owed_registry_new("shop", &fixture->registry, &fixture->err));
    const owed_event_type *types[] = {&order_placed, &order_shipped, &note_taken};
    for (size_t i = 0; i < 3; i++)
        assert_ok(owed_declare_event(fixture->registry, types[i], &fixture->err));
    struct db_options options = {.busy_timeout_us = US_PER_SECOND};
    assert_ok(store_open(fixture->url, &options, &fixture->other, &fixture->err));
    fixture->raw = raw_open(fixture->url);
    return fixture;
}

void
fixture_free(struct fixture *fixture)
{
    owed_close(fixture->owed);
    store_close(fixture->other);
    owed_registry_free(fixture->registry);
    buf_done(&fixture->log);
    raw_close(fixture->raw);
    test_store_free(&fixture->store);
    free(fixture);
}

int
fixture_setup(void **state)
{
    *state = fixture_new();
    return 0;
}

int
fixture_teardown(void **state)
{
    fixture_free(*state);
    return 0;
}

owed_settings
fixture_settings(struct fixture *fixture)
{
    return (owed_settings){
        .url = fixture->url,
        .registry = fixture->registry,
        .busy_timeout_us = fixture->busy_timeout_us,
        .clock = {.now_us = fixed_now,
            .monotonic_us = fixture->has_one_clock ? fixed_now : NULL,
            .state = fixture},
        .dice = dice_seeded(&fixture->seed),
        .log = keep_line,
        .log_state = fixture,
    };
}

void
fixture_receiver(struct fixture *fixture, owed_receiver receiver)
{
    assert_ok(owed_declare_receiver(fixture->registry, &receiver, &fixture->err));
}

void
fixture_open(struct fixture *fixture)
{
    owed_settings settings = fixture_settings(fixture);
    owed_status status = owed_open(&settings, &fixture->owed, &fixture->err);
    if (status != OWED_OK)
        fail_msg("owed_open: %s", fixture->err.text);
}

void
fixture_begin(struct fixture *fixture)
{
    assert_ok(owed_begin(fixture->owed, &fixture->tx, &fixture->err));
}

int64_t
fixture_fire(struct fixture *fixture, const owed_event_type *type, int64_t order_id)
{
    order payload = {.id = order_id, .cents = 1200, .currency = "EUR"};
    int64_t id = 0;
    owed_status status = owed_fire(fixture->tx, type, &payload, NULL, &id, &fixture->err);
    if (status != OWED_OK)
        fail_msg("owed_fire: %s", fixture->err.text);
    assert_true(id > 0);
    return id;
}

void
fixture_commit(struct fixture *fixture)
{
    owed_status status = owed_commit(fixture->tx, &fixture->err);
    fixture->tx = NULL;
    if (status != OWED_OK)
        fail_msg("owed_commit: %s", fixture->err.text);
}

bool
fixture_try(struct db *db, const char *statements)
{
    return raw_try(raw_of(db), statements);
}

void
fixture_run(struct db *db, const char *statements)
{
    raw_run(raw_of(db), statements);
}

bool
fixture_cannot_commit(struct db *db, const char *statements)
{
    return !fixture_try(db, statements) || test_store_is("mariadb");
}

void
fixture_join(struct fixture *fixture, struct raw *raw)
{
    const struct driver *driver;
    assert_ok(driver_for(fixture->url, &driver, &fixture->err));
    owed_status status =
        owed_driver_join(fixture->owed, driver, raw_native(raw), &fixture->tx, &fixture->err);
    if (status != OWED_OK)
        fail_msg("owed_driver_join: %s", fixture->err.text);
}

struct raw *
fixture_raw(owed_tx *tx)
{
    // As a receiver is given it: with what has to be done before.
    bool is_given = tx != NULL && owed_driver_native(tx, tx->db->driver) != NULL;
    return is_given ? raw_of(tx->db) : NULL;
}

size_t
fixture_events(struct fixture *fixture)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct event_row *rows = NULL;
    size_t count = 0;
    struct filter filter = {.limit = 10000};
    assert_ok(store_events(fixture->other, &filter, &arena, &rows, &count, &fixture->err));
    arena_done(&arena);
    return count;
}

size_t
fixture_owed(struct fixture *fixture, int64_t event_id, const char *receiver)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct delivery_row *rows = NULL;
    size_t count = 0;
    struct filter filter = {.limit = 10000, .event_id = event_id, .receiver_key = receiver};
    assert_ok(store_deliveries(fixture->other, &filter, &arena, &rows, &count, &fixture->err));
    arena_done(&arena);
    return count;
}

struct event_row
fixture_event(struct fixture *fixture, int64_t id, struct arena *arena)
{
    struct event_row row = {0};
    assert_ok(store_event(fixture->other, id, arena, &row, &fixture->err));
    return row;
}

void
fixture_table(struct fixture *fixture)
{
    raw_run(fixture->raw, "create table app (id bigint not null)");
}

void
fixture_add(struct db *db)
{
    fixture_run(db, "insert into app (id) values (1)");
}

size_t
fixture_rows(struct fixture *fixture)
{
    return (size_t)raw_number(fixture->raw, "select count(*) from app");
}
