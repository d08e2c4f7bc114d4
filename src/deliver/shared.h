/* SPDX-License-Identifier: MIT
 *
 * shared.h - what a relay's supervisor and its workers tell each other: one page of shared memory.
 *
 * A worker writes what it has in hand before it calls a receiver. When it dies, the supervisor notes
 * how, and the next worker in the slot makes it good before anything else.
 */
#ifndef DELIVER_SHARED_H
#define DELIVER_SHARED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"

enum role {
    ROLE_ALL,      // embedded: one worker does everything in turn
    ROLE_INSIDE,   // receivers in C, inside the transaction that carries the acknowledgement
    ROLE_LOOP,     // webhooks, programs, files: many at once
    ROLE_FUNCTION, // outside receivers in C, one at a time
    ROLE_COUNT
};

enum phase { PHASE_IDLE, PHASE_RUNNING, PHASE_ACKNOWLEDGING };

struct in_hand {
    int64_t delivery_id;
    int64_t claimed_at_us;
    int64_t started_at_us;   // wall clock
    int64_t started_mono_us; // CLOCK_MONOTONIC, which all processes share
    int64_t timeout_us;      // of the receiver; 0: none
    int32_t attempt;
    char receiver_key[LIMIT_KEY_BYTES + 1];
};

struct death {
    bool happened;
    bool ours;  // the supervisor killed it: its receiver ran past its timeout
    int signal; // 0: it exited
    int exit_status;
};

struct slot {
    enum role role;
    atomic_int pid; // 0: nobody
    atomic_int phase;
    struct in_hand hand; // valid unless phase is PHASE_IDLE
    struct death death;  // of the one before
    atomic_bool ready;   // it has opened its store and module
    atomic_bool idle;    // its last claim came back empty, and nothing is in flight
    atomic_llong seen;   // shared->commits before that claim
};

#define SHARED_SLOTS 64
#define SHARED_MAGIC 0x6f776564

struct shared {
    uint32_t magic;
    char instance[LIMIT_WORKER_ID_BYTES +
        16];                           // "<worker-id>.<8 hex>": claimed_by is this, "/", slot
    atomic_int stop;                   // the workers end when it is set
    atomic_llong commits;              // by all workers
    atomic_llong fences;               // counter for the relay
    atomic_llong limit_left;           // --limit; -1: none
    atomic_bool has_outside_functions; // a worker found outside receivers in C: the supervisor
                                       // starts workers of ROLE_FUNCTION
    atomic_llong succeeded, failed, dead, orphaned, handed_back;
    int slot_count;
    struct slot slots[SHARED_SLOTS];
};

#endif
