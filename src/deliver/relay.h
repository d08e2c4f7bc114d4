/* SPDX-License-Identifier: MIT
 *
 * relay.h - one worker of a relay: claims what is owed, runs it, records what came of it.
 */
#ifndef DELIVER_RELAY_H
#define DELIVER_RELAY_H

#include "deliver/outside.h"
#include "deliver/shared.h"

struct visit;

/* Where a worker sits. */
struct relay_seat {
    struct shared *shared; // NULL: embedded, no supervisor, ROLE_ALL
    int slot;              // of shared->slots; its number ends claimed_by
    enum role role;

    const struct outside_ops *outside; // NULL: outside_builtin
    /* wait passes the time in place of an idle wait or a back-off; NULL: the kernel's clock does. */
    void (*wait)(void *state, int64_t timeout_us);
    void *wait_state;
    bool
        hears; // with wait: whether somebody committed is asked after it, and it ends for that at once
    int64_t hole_us; // twice a second a busy single writer is left alone for so long; 0: never
    const struct visit *visit; // NULL: a relay at work
    bool is_guest; // rows of others are neither mended nor forgotten: it only delivers its own
    /* claimed is told how long a claim took, and how many rows it came to; NULL: nobody asks. */
    void (*claimed)(void *state, int64_t took_us, size_t count);
    void *claimed_state;
};

/* What ends claimed_by of a row that is for a task site, until a task has taken it. */
#define HANDED_ON "/task"

/* What a relay at work has for it. */
#define RELAY_HOLE_US INT64_C(105000)

/*
 * relay_work delivers on the calling thread until once, limit or passes are reached, or a stop was
 * asked for (owed_relay_stop, shared->stop). Under a supervisor it first makes good what the worker that
 * died in its slot left undone, says that it is ready (slot_ready), writes what it has in hand to its
 * slot, adds to the shared counts, and under once says it is idle instead of ending: the supervisor
 * knows when all are. ret_counts may be NULL, and is filled in whatever is returned.
 * INVALID: contradictory settings, an unknown lane (the known ones are named). A store that goes away
 * ends nothing: the worker backs off and comes back. Only where once or limit is set does it give up,
 * with the store's error, after five failures in a row.
 */
owed_status relay_work(owed *owed, const owed_relay_settings *settings,
    const struct relay_seat *seat, owed_relay_counts *ret_counts, owed_error *err);

/* relay_check refuses what relay_work would refuse of these settings, and delivers nothing. */
owed_status relay_check(owed *owed, const owed_relay_settings *settings, owed_error *err);

/* relay_back_off_us is how long to wait for a store that failed so many times in a row. */
int64_t relay_back_off_us(int failures);

/* relay_worker_id gives the default worker id, "<host>-<pid>". */
#define RELAY_WORKER_ID_BYTES (LIMIT_WORKER_ID_BYTES + 1)
void relay_worker_id(char ret_id[static RELAY_WORKER_ID_BYTES]);

#endif
