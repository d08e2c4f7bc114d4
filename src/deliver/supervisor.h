/* SPDX-License-Identifier: MIT
 *
 * supervisor.h - the process that starts a relay's workers, buries them, and starts them anew.
 *
 * It opens no store, module or connection and starts no thread, so that nothing of the kind is ever
 * carried over a fork: each worker is this program again, run with the same command line and its seat
 * in the environment (shared.h), and opens what it needs itself. Everybody on the host can read a command
 * line, so that the store's URL, which may hold a password, goes the way of the seat. Workers die with their supervisor.
 */
#ifndef DELIVER_SUPERVISOR_H
#define DELIVER_SUPERVISOR_H

#include "base/log.h"
#include "deliver/shared.h"

/* Start from {0}. */
struct supervisor {
    const char *program;   // NULL: the program that runs now
    char *const *argv;     // its command line, NULL-ended, without the store's URL
    const char *store;     // that URL, where the command line named one; NULL: it did not
    const char *worker_id; // begins the relay's instance
    int inside_workers;    // 1; a store with a single writer gains nothing from more
    int outside_workers;   // 4: for outside receivers in C, started once a worker found some
    bool once;             // end when all workers wait
    int64_t limit;         // attempts of all together, then end; 0: none
    int64_t passes;        // that each worker ends after by itself; 0: no end
    int64_t stop_grace_us; // after a stop, what still runs is cut off; 0: it ends in its own time
    int64_t restart_us;    // 1 s: pause before the second restart in a row, doubled for each more
    owed_dice dice;
    struct log log;
};

/*
 * supervisor_run runs until the work is done or SIGTERM or SIGINT asks for a stop, and gives back the
 * signals as it found them. *ret_exit is the exit status for the program: 0; that of a worker which
 * could never start, or under once, limit or passes could not go on (64, 65, 69, 75, 78: it has said
 * why itself); 70 when workers keep crashing before they are ready; 128+n after a second signal, which
 * kills the workers at once.
 * LIMIT: too long a worker id, too many workers. NOMEM: no memory, processes or descriptors.
 */
owed_status supervisor_run(const struct supervisor *settings, owed_relay_counts *ret_counts,
    int *ret_exit, owed_error *err);

#endif
