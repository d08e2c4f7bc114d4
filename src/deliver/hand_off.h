/* SPDX-License-Identifier: MIT
 *
 * hand_off.h - rows that are handed on to a task site.
 */
#ifndef DELIVER_HAND_OFF_H
#define DELIVER_HAND_OFF_H

#include <owed/task.h>

#include "base/buf.h"
#include "deliver/batch.h"

/* A row that is handed on with the rest of its batch. */
struct ready {
    struct task *task;
    const struct known *known;
};

/* Hand-offs: a backend that refuses one is left alone for a while. */
struct hand_off {
    struct ready *ready;
    size_t ready_count, ready_size;
    const char *claimed_by; // of what is handed on; who sees to this worker's rows leaves it alone
    int failures;           // in a row
    int64_t failing_since_us;
    owed_error why; // of the first of them
    int64_t next_mono_us;
};

/* hand_off.c: hand_off_row hands a row to the task backend, or has it wait for hand_off_all, which hands on
 * what waits of this batch; false is trouble. */
bool hand_off_row(struct worker *worker, struct task *task, const struct known *known);
bool hand_off_all(struct worker *worker, struct batch *batch);
/* hand_off_rows is how many rows are claimed together; 0: as many as of others. */
int32_t hand_off_rows(const struct worker *worker);
/* hand_off_waits: the backend refused one, and is left alone. */
bool hand_off_waits(const struct worker *worker);
/* hand_off_wait_us tells for how long; INT64_MAX: it is not. */
int64_t hand_off_wait_us(const struct worker *worker);
/* hand_off_away appends since when and why the backend takes nothing; nothing: it does. */
void hand_off_away(const struct worker *worker, struct buf *text);
/* task_backend_of returns the handle's, or its registry's; NULL: none is set. */
const owed_task_backend *task_backend_of(const owed *owed);

#endif
