/* SPDX-License-Identifier: MIT
 *
 * shared.h - what a relay's supervisor and its workers tell each other: a few pages of shared memory.
 *
 * A worker writes what it has in hand before it calls a receiver. When it dies, the supervisor notes
 * how, and the next worker in the slot makes it good before anything else. The supervisor sleeps; a
 * worker that has something for it rings (SIGUSR1).
 */
#ifndef DELIVER_SHARED_H
#define DELIVER_SHARED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <owed/owed.h>

#include "base/limits.h"
#include "deliver/pauses.h"

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
    int64_t lease_us;        // of the receiver
    int64_t lease_expires_at_us;
    int32_t attempt;
    char receiver_key[LIMIT_KEY_BYTES + 1];
};

enum death_cause {
    DEATH_NONE,
    DEATH_ITSELF,    // it crashed, exited, or somebody else killed it
    DEATH_TIMEOUT,   // the supervisor killed it: its receiver ran past its timeout
    DEATH_CALLED_OFF // the supervisor killed it for another reason: nothing counts
};

struct death {
    atomic_int cause; // while it is not DEATH_NONE, phase and hand are the dead one's
    int signal;       // 0: it exited
    int exit_status;
};

#define SHARED_SESSION_BYTES 64
enum thread_session { SESSION_AHEAD, SESSION_BEHIND, THREAD_SESSIONS };

struct slot {
    enum role role;
    atomic_int pid;   // 0: nobody
    atomic_uint turn; // one more whenever hand begins and ends to change: odd in between
    atomic_int phase;
    struct in_hand hand;                // valid unless phase is PHASE_IDLE
    atomic_uint lost_turn;              // the hand of that turn is known to be somebody else's
    atomic_bool holds_store;            // it has a write transaction open
    struct death death;                 // of the one before, until it is made good
    char session[SHARED_SESSION_BYTES]; // of its connection, as the server names it; "": none
    char thread_sessions[THREAD_SESSIONS][SHARED_SESSION_BYTES]; // of its threads' connections
    atomic_bool ready;  // it has opened its store and module
    atomic_bool idle;   // its last claim came back empty, and nothing is in flight
    atomic_llong seen;  // shared->commits before that claim
    atomic_bool closed; // its worker has done its share, and none follows
};

#define SHARED_SLOTS 64
#define SHARED_MAGIC 0x6f776564
#define SHARED_INSTANCE_BYTES (LIMIT_WORKER_ID_BYTES + 16)

struct shared {
    uint32_t magic;
    int supervisor_pid;
    char instance[SHARED_INSTANCE_BYTES]; // "<worker-id>.<8 hex>": claimed_by is this, "/", slot
    bool once;
    atomic_int stop;                   // the workers end when it is set
    atomic_llong commits;              // by all workers
    atomic_llong kept_us;              // for how long all of them kept a single writer
    atomic_llong fences;               // counter for the relay
    atomic_llong limit_left;           // --limit; -1: none
    atomic_llong look_at_us;           // when the supervisor looks unasked, CLOCK_MONOTONIC
    atomic_bool has_outside_functions; // a worker found outside receivers in C: the supervisor
                                       // starts workers of ROLE_FUNCTION
    atomic_llong succeeded, failed, dead, orphaned, handed_back, handed_on, put_off;
    atomic_llong
        next_due_us;      // when the next row is due, as workers saw at their end; 0: none is owed
    struct pauses pauses; // of all workers
    int slot_count;
    struct slot slots[SHARED_SLOTS];
};

/* shared_new makes the memory and draws the instance's digits; *ret_fd is closed on exec. Unmap it
 * with shared_free. LIMIT: worker_id is too long. */
owed_status shared_new(const char *worker_id, const owed_dice *dice, struct shared **ret_shared,
    int *ret_fd, owed_error *err);
void shared_free(struct shared *shared);

/* The seat that a supervisor gives its child is the variable OWED_SEAT: "<fd>:<slot>". */
#define SEAT_VARIABLE "OWED_SEAT"

/* With it comes the URL that the command line named, for the worker to take out as well. */
#define SEAT_STORE_VARIABLE "OWED_SEAT_STORE"

/* shared_take_seat attaches a worker to its supervisor's memory and takes the seat out of the
 * environment; *ret_shared is NULL in a process that is no worker. BUG: a seat that is none. */
owed_status shared_take_seat(
    struct shared **ret_shared, int *ret_slot, enum role *ret_role, owed_error *err);

/* slot_ready says that the worker has opened what it needs. What it found out before (that there are
 * outside receivers in C) is known to the supervisor when it hears of it. */
void slot_ready(struct shared *shared, int slot);

/* slot_make_good ends what the supervisor noted of a death: the worker has done what follows of it. */
void slot_make_good(struct shared *shared, int slot);

/* slot_begin notes what is in hand, before its receiver is called; slot_phase where it stands. */
void slot_begin(struct shared *shared, int slot, const struct in_hand *hand);
void slot_phase(struct shared *shared, int slot, enum phase phase);

/* slot_hand copies what is in hand while its receiver runs; false: none does, or it changes just now. */
bool slot_hand(struct shared *shared, int slot, struct in_hand *ret_hand, unsigned *ret_turn);

/* slot_lose tells a worker that what it had in hand in that turn was taken; slot_is_lost is its
 * question. */
void slot_lose(struct shared *shared, int slot, unsigned turn);
bool slot_is_lost(const struct slot *slot);

/* slot_is_running tells whether a receiver runs there, and its worker is alive. */
bool slot_is_running(const struct shared *shared, int slot);

/*
 * Of these three the supervisor makes out when nothing is left to do. A worker calls slot_works
 * before it claims, with what it returns goes to slot_waits when that claim came back empty and
 * nothing is in flight; and shared_committed after each of its commits, while it still works.
 */
long long slot_works(struct shared *shared, int slot);
void slot_waits(struct shared *shared, int slot, long long seen);
void shared_committed(struct shared *shared);

/* shared_tell_due keeps the earliest of these moments. */
void shared_tell_due(struct shared *shared, int64_t at_us);

/* slot_is_behind tells whether a worker that waits has to look again: all the others wait as well by now, and
 * one of them has committed since it looked. */
bool slot_is_behind(struct shared *shared, int slot);

/* shared_all_wait tells whether every worker that is left waits and nobody has given another anything to do. */
bool shared_all_wait(struct shared *shared);

/* slot_overdue_at tells when the receiver in hand is over its time, INT64_MAX: never; *ret_turn is
 * the turn of that hand. */
int64_t slot_overdue_at(struct shared *shared, int slot, unsigned *ret_turn);

#endif
