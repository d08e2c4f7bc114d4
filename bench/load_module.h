/* SPDX-License-Identifier: MIT
 *
 * load_module.h - what the receivers of load_module write, one for each store.
 */
#ifndef BENCH_LOAD_MODULE_H
#define BENCH_LOAD_MODULE_H

#include <owed/owed.h>

/* load_write_row inserts a row into load_row in the delivery's transaction: one for each store. */
owed_outcome load_write_row(owed_delivery *delivery, const void *payload);

OWED_API owed_status owed_module_init(owed_registry *registry, owed_error *err);

#endif
