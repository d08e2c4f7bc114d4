/* SPDX-License-Identifier: MIT
 *
 * shop.c - a small shop: orders in SQLite, and an event for each, in the same transaction.
 *
 *   shop FILE init          make the shop's tables and owed's
 *   shop FILE order COUNT   place so many orders; some customers are over their limit
 *   shop FILE relay         deliver what is owed to the receivers in C, until nothing is
 */
#include "shop.h"

#include <inttypes.h>
#include <owed/sqlite.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char shop_tables[] =
    "create table if not exists customer ("
    " name text primary key, credit_cents integer not null check (credit_cents >= 0));"
    "create table if not exists shop_order ("
    " id integer primary key, customer text not null, total_cents integer not null);"
    "create table if not exists reservation (order_id integer not null, sku text not null);"
    "insert or ignore into customer values ('ada', 100000000), ('grace', 100000000), ('eve', 2500);";

static int
complain(const char *what, const owed_error *err)
{
    fprintf(stderr, "shop: %s: %s\n", what, err->text);
    return EXIT_FAILURE;
}

static int
make_tables(const char *path, const char *url, owed_error *err)
{
    if (owed_init(url, err) != OWED_OK)
        return complain("init", err);
    sqlite3 *db;
    if (sqlite3_open(path, &db) != SQLITE_OK ||
        sqlite3_exec(db, shop_tables, NULL, NULL, NULL) != SQLITE_OK) {
        fprintf(stderr, "shop: %s: %s\n", path, sqlite3_errmsg(db));
        sqlite3_close(db);
        return EXIT_FAILURE;
    }
    sqlite3_close(db);
    return EXIT_SUCCESS;
}

static bool
save_order(sqlite3 *db, const order_placed *order, int64_t *ret_id)
{
    sqlite3_stmt *stmt;
    if (sqlite3_prepare_v2(db, "insert into shop_order (customer, total_cents) values (?1, ?2)", -1,
            &stmt, NULL) != SQLITE_OK)
        return false;
    sqlite3_bind_text(stmt, 1, order->customer, -1, SQLITE_STATIC);
    sqlite3_bind_int64(stmt, 2, order->total_cents);
    bool saved = sqlite3_step(stmt) == SQLITE_DONE;
    sqlite3_finalize(stmt);
    *ret_id = sqlite3_last_insert_rowid(db);
    return saved;
}

/* place_order saves the order and fires the event: both commit, or neither does. */
static owed_status
place_order(owed *owed, order_placed *order, owed_error *err)
{
    owed_tx *tx;
    owed_status status = owed_begin(owed, &tx, err);
    if (status != OWED_OK)
        return status;
    if (!save_order(owed_tx_sqlite(tx), order, &order->order_id)) {
        snprintf(err->text, sizeof err->text, "%s", sqlite3_errmsg(owed_tx_sqlite(tx)));
        owed_rollback(tx);
        return OWED_STORE;
    }
    status = owed_fire(tx, &order_placed_type, order, NULL, NULL, err);
    if (status != OWED_OK) {
        owed_rollback(tx);
        return status;
    }
    return owed_commit(tx, err);
}

static int
place_orders(owed *owed, int64_t count, owed_error *err)
{
    static const char *const customers[] = {"ada", "grace", "ada", "eve", "grace"};
    static const char *const skus[] = {"lamp", "chair", "rug"};
    int64_t placed = 0, vetoed = 0;

    for (int64_t i = 0; i < count; i++) {
        order_placed order = {
            .customer = customers[i % 5],
            .sku = skus[i % 3],
            .total_cents = 1000 + i % 7 * 250,
            .currency = "EUR",
        };
        owed_status status = place_order(owed, &order, err);
        if (status == OWED_OK)
            placed++;
        else if (status == OWED_VETOED)
            vetoed++;
        else
            return complain("order", err);
    }
    printf("placed: %" PRId64 ", vetoed: %" PRId64 ", thanks: %" PRId64 "\n", placed, vetoed,
        thanks_said);
    return EXIT_SUCCESS;
}

static int
run_relay(owed *owed, owed_error *err)
{
    owed_relay_counts counts;
    owed_relay_settings settings = {.once = true, .all_lanes = true};
    if (owed_relay_run(owed, &settings, &counts, err) != OWED_OK)
        return complain("relay", err);
    printf("succeeded: %" PRId64 ", failed: %" PRId64 "\n", counts.succeeded, counts.failed);
    return EXIT_SUCCESS;
}

static int
run_command(owed *owed, int argc, char **argv, owed_error *err)
{
    if (strcmp(argv[2], "order") == 0 && argc == 4)
        return place_orders(owed, strtoll(argv[3], NULL, 10), err);
    if (strcmp(argv[2], "relay") == 0)
        return run_relay(owed, err);
    fprintf(stderr, "shop: %s: no such command; there are init, order COUNT and relay\n", argv[2]);
    return 64;
}

int
main(int argc, char **argv)
{
    owed_error err = {0};
    char url[4096];

    if (argc < 3) {
        fprintf(stderr, "usage: shop FILE init | order COUNT | relay\n");
        return 64;
    }
    snprintf(url, sizeof url, "sqlite:%s", argv[1]);
    if (strcmp(argv[2], "init") == 0)
        return make_tables(argv[1], url, &err);

    owed_registry *registry = NULL;
    if (owed_registry_new("shop", &registry, &err) != OWED_OK ||
        owed_module_init(registry, &err) != OWED_OK)
        return complain("declarations", &err);
    owed *owed = NULL;
    if (owed_open(&(owed_settings){.url = url, .registry = registry}, &owed, &err) != OWED_OK)
        return complain("open", &err);
    int status = run_command(owed, argc, argv, &err);
    owed_close(owed);
    owed_registry_free(registry);
    return status;
}
