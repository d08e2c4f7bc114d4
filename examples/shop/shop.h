/* SPDX-License-Identifier: MIT
 *
 * shop.h - what the shop fires, and who hears of it.
 */
#ifndef SHOP_H
#define SHOP_H

#include <owed/owed.h>

typedef struct order_placed {
    int64_t order_id;
    const char *customer;
    const char *sku;
    int64_t total_cents;
    const char *currency;
} order_placed;

extern const owed_event_type order_placed_type;

/* owed_module_init declares the shop's receivers; the program calls it like any module. */
OWED_API owed_status owed_module_init(owed_registry *registry, owed_error *err);

/* How many thanks were said in this process, after a commit. */
extern int64_t thanks_said;

#endif
