/* SPDX-License-Identifier: MIT
 *
 * join_desk.c - see join_desk.h.
 */
#include "join_desk.h"

#include <stdlib.h>
#include <string.h>

#include <owed/sqlite.h>
#ifdef TEST_WITH_POSTGRES
#include <owed/postgres.h>
#endif
#ifdef TEST_WITH_MARIADB
#include <owed/mariadb.h>
#endif

/* What a store's public header offers, whatever the type of its handle. */
struct door {
    const char *scheme;
    owed_status (*join)(owed *owed, void *handle, owed_tx **ret_tx, owed_error *err);
    void *(*of_tx)(owed_tx *tx);
    void *(*of_delivery)(owed_delivery *delivery);
};

#define DEFINE_DOOR(scheme_) \
    static owed_status join_##scheme_(owed *owed, void *handle, owed_tx **ret_tx, owed_error *err) \
    { \
        return owed_join_##scheme_(owed, handle, ret_tx, err); \
    } \
    static void *tx_##scheme_(owed_tx *tx) \
    { \
        return owed_tx_##scheme_(tx); \
    } \
    static void *delivery_##scheme_(owed_delivery *delivery) \
    { \
        return owed_delivery_##scheme_(delivery); \
    }
#define DOOR(scheme_) \
    { \
#scheme_, join_##scheme_, tx_##scheme_, delivery_##scheme_ \
    }

DEFINE_DOOR(sqlite)
#ifdef TEST_WITH_POSTGRES
DEFINE_DOOR(postgres)
#endif
#ifdef TEST_WITH_MARIADB
DEFINE_DOOR(mariadb)
#endif

static const struct door doors[] = {
    DOOR(sqlite),
#ifdef TEST_WITH_POSTGRES
    DOOR(postgres),
#endif
#ifdef TEST_WITH_MARIADB
    DOOR(mariadb),
#endif
};

static const struct door *
door(void)
{
    for (size_t i = 0; i < sizeof doors / sizeof doors[0]; i++)
        if (test_store_is(doors[i].scheme))
            return &doors[i];
    fail_msg("nothing joins on %s", test_store_scheme());
    return NULL;
}

static owed_outcome
counts(owed_delivery *delivery, const void *payload)
{
    struct join_desk *desk = owed_delivery_state(delivery);
    (void)payload;
    desk->on_commit_runs++;
    return owed_done();
}

static owed_outcome
refuses_13(owed_delivery *delivery, const void *payload)
{
    struct join_desk *desk = owed_delivery_state(delivery);
    const order *placed = payload;
    desk->seen = door()->of_delivery(delivery);
    return placed->id == 13 ? owed_failed(delivery, "no credit") : owed_done();
}

int
join_desk_setup(void **state)
{
    struct join_desk *desk = calloc(1, sizeof *desk);
    assert_non_null(desk);
    desk->f = fixture_new();
    fixture_table(desk->f);
    fixture_receiver(desk->f,
        (owed_receiver){.key = "shop.credit",
            .event = &order_placed,
            .mode = OWED_INLINE,
            .run = refuses_13,
            .state = desk});
    fixture_receiver(desk->f,
        (owed_receiver){.key = "shop.counter",
            .event = &order_placed,
            .mode = OWED_ON_COMMIT,
            .run = counts,
            .state = desk});
    fixture_receiver(
        desk->f, (owed_receiver){.key = "shop.stock", .event = &order_placed, .discard = true});
    fixture_open(desk->f);
    desk->app = raw_open(desk->f->url);
    *state = desk;
    return 0;
}

int
join_desk_teardown(void **state)
{
    struct join_desk *desk = *state;
    // Nothing of ours may keep the application from closing its connection.
    raw_close(desk->app);
    fixture_free(desk->f);
    free(desk);
    return 0;
}

void
join_desk_begin(struct join_desk *desk)
{
    struct fixture *f = desk->f;
    raw_run(desk->app, "begin; insert into app (id) values (1)");
    if (door()->join(f->owed, raw_native(desk->app), &f->tx, &f->err) != OWED_OK)
        fail_msg("owed_join_%s: %s", test_store_scheme(), f->err.text);
}

owed_status
join_desk_fire(struct join_desk *desk, int64_t order_id)
{
    struct fixture *f = desk->f;
    order payload = {.id = order_id, .cents = 1200, .currency = "EUR"};
    return owed_fire(f->tx, &order_placed, &payload, NULL, NULL, &f->err);
}

void *
join_desk_lent(owed_tx *tx)
{
    return door()->of_tx(tx);
}
