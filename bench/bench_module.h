/* SPDX-License-Identifier: MIT
 *
 * bench_module.h - the events of commit_latency.
 */
#ifndef BENCH_MODULE_H
#define BENCH_MODULE_H

#include <owed/owed.h>

extern const owed_event_type bench_taken;   // taken and nothing done
extern const owed_event_type bench_written; // a row, in a transaction of its own
extern const owed_event_type bench_grouped; // a row, in a transaction shared with others

OWED_API owed_status owed_module_init(owed_registry *registry, owed_error *err);

#endif
