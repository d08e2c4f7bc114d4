/* SPDX-License-Identifier: MIT
 *
 * example.c - the shop of the documentation, as a stranger's compiler sees it: C11, pedantic.
 *
 * Run with the path of a database that does not exist yet.
 */
#include <inttypes.h>
#include <stdio.h>

#include <owed/owed.h>
#include <owed/sqlite.h>

typedef struct order_line {
    const char *sku;
    int32_t quantity;
} order_line;

static const owed_field order_line_fields[] = {
    OWED_TEXT(order_line, sku),
    OWED_INT32_WITH(order_line, quantity, .fallback = "1"),
    OWED_FIELDS_END,
};

enum order_channel { CHANNEL_WEB, CHANNEL_PHONE };

static const owed_enum_value order_channels[] = {
    {"web", CHANNEL_WEB},
    {"phone", CHANNEL_PHONE},
    {NULL, 0},
};

typedef struct order_placed {
    int64_t order_id;
    int64_t total_cents;
    const char *currency;
    int32_t channel;
    order_line first;
    owed_array tags;
    owed_array lines;
} order_placed;

static const owed_field order_placed_fields[] = {
    OWED_INT64(order_placed, order_id),
    OWED_INT64_WITH(order_placed, total_cents, .key = "totalCents"),
    OWED_TEXT_WITH(order_placed, currency, .fallback = "EUR"), /* added in version 2 */
    OWED_ENUM(order_placed, channel, order_channels),
    OWED_STRUCT(order_placed, first, order_line_fields, order_line),
    OWED_ARRAY(order_placed, tags, OWED_KIND_TEXT, const char *),
    OWED_ARRAY_OF_WITH(order_placed, lines, order_line_fields, order_line, .optional = true),
    OWED_FIELDS_END,
};

static const owed_event_type order_placed_type = {
    .name = "shop.OrderPlaced",
    .version = 2,
    .fields = order_placed_fields,
    .size = sizeof(order_placed),
};

static owed_outcome
reserve_stock(owed_delivery *delivery, const void *payload)
{
    const order_placed *order = payload;
    sqlite3 *db = owed_delivery_sqlite(delivery); /* the transaction of the acknowledgement */

    if (db == NULL || order->total_cents <= 0)
        return owed_failed(delivery, "order %" PRId64 ": nothing on the shelf", order->order_id);
    printf("reserved: %" PRId64 " %s\n", order->order_id, order->currency);
    return owed_done();
}

static const owed_receiver reserve_stock_receiver = {
    .key = "shop.reserve_stock",
    .event = &order_placed_type,
    .run = reserve_stock,
    .max_attempts = 5,
    .backoff_base_us = OWED_SECONDS(2),
    .backoff_cap_us = OWED_MINUTES(30),
};

static owed_status
place_order(owed *shop, owed_error *err)
{
    static const char *const tags[] = {"new", "gift"};
    owed_tx *tx = NULL;
    int64_t event_id = 0;
    owed_status status = owed_begin(shop, &tx, err);
    if (status != OWED_OK)
        return status;
    /* the change and the event commit together, or neither does */
    if (sqlite3_exec(owed_tx_sqlite(tx), "create table shop_order (id integer)", NULL, NULL,
            NULL) != SQLITE_OK) {
        owed_rollback(tx);
        return OWED_STORE;
    }
    status = owed_fire(tx, &order_placed_type,
        &(order_placed){.order_id = 7,
            .total_cents = 1200,
            .currency = "EUR",
            .first = {.sku = "A-1", .quantity = 1},
            .tags = {tags, 2}},
        NULL, &event_id, err);
    if (status != OWED_OK) {
        owed_rollback(tx);
        return status;
    }
    return owed_commit(tx, err);
}

static owed_status
run(const char *url, const owed_registry *registry, owed_error *err)
{
    owed_settings settings = {.url = url, .registry = registry};
    owed_relay_settings relay = {.once = true};
    owed_relay_counts counts = {0};
    owed *shop = NULL;
    owed_status status = owed_init(url, err);
    if (status == OWED_OK)
        status = owed_open(&settings, &shop, err);
    if (status == OWED_OK)
        status = place_order(shop, err);
    if (status == OWED_OK)
        status = owed_relay_run(shop, &relay, &counts, err);
    if (status == OWED_OK)
        printf("succeeded: %" PRId64 "\n", counts.succeeded);
    owed_close(shop);
    return status;
}

int
main(int argc, char **argv)
{
    owed_error err = {0};
    owed_registry *registry = NULL;
    char url[512];
    if (argc < 2)
        return 64;
    snprintf(url, sizeof url, "sqlite:%s", argv[1]);
    owed_status status = owed_registry_new("shop", &registry, &err);
    if (status == OWED_OK)
        status = owed_declare_receiver(registry, &reserve_stock_receiver, &err);
    if (status == OWED_OK)
        status = run(url, registry, &err);
    owed_registry_free(registry);
    if (status != OWED_OK)
        fprintf(stderr, "%s: %s\n", owed_status_text(status), err.text);
    return status == OWED_OK ? 0 : 1;
}
