/* SPDX-License-Identifier: MIT
 *
 * module.c - a module of the tests: an inline receiver that may refuse, one after the commit, one in a
 * relay's transaction. Built again with MODULE_REFUSES, MODULE_CRASHES and MODULE_IS_NONE.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <owed/owed.h>
#include <owed/sqlite.h>

typedef struct order_placed {
    int64_t total_cents;
} order_placed;

static const owed_field order_placed_fields[] = {
    OWED_INT64(order_placed, total_cents),
    OWED_FIELDS_END,
};

static const owed_event_type order_placed_type = {
    .name = "shop.OrderPlaced",
    .version = 2,
    .fields = order_placed_fields,
    .size = sizeof(order_placed),
};

static owed_outcome
credit_limit(owed_delivery *delivery, const void *payload)
{
    const order_placed *order = payload;
    if (order->total_cents > 1000)
        return owed_failed(delivery, "%" PRId64 " is over the credit limit", order->total_cents);
    return owed_done();
}

static owed_outcome
note_commit(owed_delivery *delivery, const void *payload)
{
    (void)payload;
    FILE *file = fopen("committed", "ae");
    if (file == NULL)
        return owed_failed(delivery, "no file");
    fprintf(file, "%" PRId64 "\n", owed_delivery_event_id(delivery));
    fclose(file);
    return owed_done();
}

static owed_outcome
reserve(owed_delivery *delivery, const void *payload)
{
    (void)payload;
    sqlite3 *db = owed_delivery_sqlite(delivery);
    char sql[128];
    snprintf(sql, sizeof sql, "insert into reserved (event_id) values (%" PRId64 ")",
        owed_delivery_event_id(delivery));
    if (db == NULL || sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        return owed_failed(delivery, "nothing reserved");
    return owed_done();
}

static const owed_receiver receivers[] = {
    {.key = "shop.credit", .event = &order_placed_type, .mode = OWED_INLINE, .run = credit_limit},
    {.key = "shop.note", .event = &order_placed_type, .mode = OWED_ON_COMMIT, .run = note_commit},
    {.key = "shop.reserve", .event = &order_placed_type, .run = reserve},
};

#ifndef MODULE_IS_NONE
OWED_API owed_status owed_module_init(owed_registry *registry, owed_error *err);

OWED_API owed_status
owed_module_init(owed_registry *registry, owed_error *err)
{
#ifdef MODULE_CRASHES
    abort();
#endif
    for (size_t i = 0; i < sizeof receivers / sizeof receivers[0]; i++) {
        owed_status status = owed_declare_receiver(registry, &receivers[i], err);
        if (status != OWED_OK)
            return status;
    }
#ifdef MODULE_REFUSES
    owed_receiver twice = receivers[0];
    twice.mode = OWED_ON_COMMIT;
    return owed_declare_receiver(registry, &twice, err);
#else
    return OWED_OK;
#endif
}
#endif
