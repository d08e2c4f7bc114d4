/* SPDX-License-Identifier: MIT
 *
 * task.h - what those share that take messages and run them.
 */
#ifndef DELIVER_TASK_H
#define DELIVER_TASK_H

#include <owed/task.h>

#include "store/store.h"

/* task_deliver is owed_take_and_deliver with a worker's own settings. */
owed_status task_deliver(owed *owed, const owed_relay_settings *settings,
    const struct fence *handed, const char **ret_recorded, owed_error *err);

/* task_count counts what a delivery was recorded as; NULL, and what stays owed, is not counted. */
void task_count(owed_relay_counts *counts, const char *recorded);

#endif
