/* SPDX-License-Identifier: MIT
 *
 * keeper.h - the lease of a row that a task has taken, renewed while its function runs.
 */
#ifndef DELIVER_KEEPER_H
#define DELIVER_KEEPER_H

#include "deliver/handle.h"

struct keeper;
struct slot;
struct worker;

/* keeper.c: keeper_start has a thread renew the lease of a row that this worker has taken, until
 * keeper_stop; NULL: it could not be had. keeper_slot is where a receiver asks whether it lost the row. */
struct keeper *keeper_start(
    const struct worker *worker, const struct claimed *row, int64_t lease_us);
void keeper_stop(struct keeper *keeper);
const struct slot *keeper_slot(const struct keeper *keeper);

#endif
