/* SPDX-License-Identifier: MIT
 *
 * receivers.c - the shop's receivers in C, one of each mode.
 *
 * Billing and labels need no C: they stand in owed.conf, as a webhook and a program.
 */
#include "shop.h"

#include <inttypes.h>
#include <owed/sqlite.h>

int64_t thanks_said;

static const owed_field order_placed_fields[] = {
    OWED_INT64(order_placed, order_id),
    OWED_TEXT(order_placed, customer),
    OWED_TEXT(order_placed, sku),
    OWED_INT64(order_placed, total_cents),
    OWED_TEXT_WITH(order_placed, currency, .fallback = "EUR"), // added in version 2
    OWED_FIELDS_END,
};

const owed_event_type order_placed_type = {
    .name = "shop.OrderPlaced",
    .version = 2,
    .fields = order_placed_fields,
    .size = sizeof(order_placed),
};

/* run_sql runs one statement with up to two parameters; returns its status from SQLite. */
static int
run_sql(sqlite3 *db, const char *sql, int64_t number, const char *text)
{
    sqlite3_stmt *stmt;
    int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
    if (rc != SQLITE_OK)
        return rc;
    sqlite3_bind_int64(stmt, 1, number);
    if (sqlite3_bind_parameter_count(stmt) > 1)
        sqlite3_bind_text(stmt, 2, text, -1, SQLITE_STATIC);
    rc = sqlite3_step(stmt);
    sqlite3_finalize(stmt);
    return rc;
}

/* INLINE: a customer who is over the credit limit cannot place the order at all. */
static owed_outcome
check_credit(owed_delivery *delivery, const void *payload)
{
    const order_placed *order = payload;
    sqlite3 *db = owed_delivery_sqlite(delivery);

    if (db == NULL)
        return owed_failed(delivery, "no connection");
    int rc = run_sql(db, "update customer set credit_cents = credit_cents - ?1 where name = ?2",
        order->total_cents, order->customer);
    if (rc == SQLITE_CONSTRAINT)
        return owed_failed(delivery, "%s is over the credit limit", order->customer);
    if (rc != SQLITE_DONE)
        return owed_failed(delivery, "%s", sqlite3_errmsg(db));
    return owed_done();
}

/* ON_COMMIT: best effort, in the firing process. */
static owed_outcome
say_thanks(owed_delivery *delivery, const void *payload)
{
    (void)delivery;
    (void)payload;
    thanks_said++;
    return owed_done();
}

/* DURABLE, inside: the shelf and the acknowledgement change in one transaction. Every tenth order
 * finds the shelf being restocked and has to come again. */
static owed_outcome
reserve_stock(owed_delivery *delivery, const void *payload)
{
    const order_placed *order = payload;
    sqlite3 *db = owed_delivery_sqlite(delivery);

    if (db == NULL)
        return owed_failed(delivery, "no connection");
    if (order->order_id % 10 == 0 && owed_delivery_attempt(delivery) == 1)
        return owed_failed(delivery, "order %" PRId64 ": being restocked", order->order_id);
    int rc = run_sql(
        db, "insert into reservation (order_id, sku) values (?1, ?2)", order->order_id, order->sku);
    if (rc != SQLITE_DONE)
        return owed_failed(delivery, "order %" PRId64 ": %s", order->order_id, sqlite3_errmsg(db));
    return owed_done();
}

static const owed_receiver receivers[] = {
    {
        .key = "shop.check_credit",
        .event = &order_placed_type,
        .mode = OWED_INLINE,
        .run = check_credit,
    },
    {
        .key = "shop.say_thanks",
        .event = &order_placed_type,
        .mode = OWED_ON_COMMIT,
        .run = say_thanks,
    },
    {
        .key = "shop.reserve_stock",
        .event = &order_placed_type,
        .run = reserve_stock,
        .database_only = true,
        .max_attempts = 5,
    },
};

owed_status
owed_module_init(owed_registry *registry, owed_error *err)
{
    for (size_t i = 0; i < sizeof receivers / sizeof receivers[0]; i++) {
        owed_status status = owed_declare_receiver(registry, &receivers[i], err);
        if (status != OWED_OK)
            return status;
    }
    return OWED_OK;
}
