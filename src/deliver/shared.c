/* SPDX-License-Identifier: MIT
 *
 * shared.c - the memory between a supervisor and its workers.
 *
 * Both sides only ever read and write it: no lock is held there that a dead worker could keep.
 */
#include "deliver/shared.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"

static owed_status
map(int fd, struct shared **ret_shared, owed_error *err)
{
    void *memory = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        return fail_native(err, OWED_NOMEM, errno,
            "the memory shared by the relay's processes could not be mapped (errno %d)", errno);
    *ret_shared = memory;
    return OWED_OK;
}

owed_status
shared_new(const char *worker_id, const owed_dice *dice, struct shared **ret_shared, int *ret_fd,
    owed_error *err)
{
    if (strlen(worker_id) > LIMIT_WORKER_ID_BYTES)
        return fail(
            err, OWED_LIMIT, "the worker id is longer than %d bytes", LIMIT_WORKER_ID_BYTES);
    CLEANUP(close_fd) int fd = memfd_create("owed-relay", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, sizeof(struct shared)) != 0)
        return fail_native(err, OWED_NOMEM, errno,
            "the memory shared by the relay's processes could not be made (errno %d)", errno);
    struct shared *shared = NULL;
    owed_status status = map(fd, &shared, err);
    if (status != OWED_OK)
        return status;
    shared->magic = SHARED_MAGIC;
    pauses_init(&shared->pauses);
    shared->supervisor_pid = getpid();
    snprintf(shared->instance, sizeof shared->instance, "%s.%08" PRIx32, worker_id,
        (uint32_t)dice->next(dice->state));
    atomic_store(&shared->limit_left, -1);
    *ret_shared = shared;
    *ret_fd = fd;
    fd = -1;
    return OWED_OK;
}

void
shared_free(struct shared *shared)
{
    if (shared != NULL)
        munmap(shared, sizeof *shared);
}

static owed_status
attach(int fd, int slot, struct shared **ret_shared, owed_error *err)
{
    struct shared *shared = NULL;
    owed_status status = map(fd, &shared, err);
    if (status != OWED_OK)
        return status;
    if (shared->magic != SHARED_MAGIC || slot < 0 || slot >= shared->slot_count) {
        shared_free(shared);
        return fail(err, OWED_BUG, "the seat in %s is not one of this relay", SEAT_VARIABLE);
    }
    *ret_shared = shared;
    return OWED_OK;
}

owed_status
shared_take_seat(struct shared **ret_shared, int *ret_slot, enum role *ret_role, owed_error *err)
{
    const char *seat = getenv(SEAT_VARIABLE);
    if (seat == NULL) {
        *ret_shared = NULL;
        return OWED_OK;
    }
    int fd, slot;
    if (sscanf(seat, "%d:%d", &fd, &slot) != 2)
        return fail(err, OWED_BUG, "%s is for the relay's own use: unset it", SEAT_VARIABLE);
    // What a receiver starts is not the relay's business: neither the words nor the memory.
    unsetenv(SEAT_VARIABLE);
    owed_status status = attach(fd, slot, ret_shared, err);
    if (status != OWED_OK)
        return status;
    close(fd);
    *ret_slot = slot;
    *ret_role = (*ret_shared)->slots[slot].role;
    return OWED_OK;
}

/* ring wakes the supervisor. */
static void
ring(const struct shared *shared)
{
    // Whoever else became our parent when the supervisor died must not get its signals.
    if (getppid() == shared->supervisor_pid)
        kill(shared->supervisor_pid, SIGUSR1);
}

void
slot_ready(struct shared *shared, int slot)
{
    atomic_store(&shared->slots[slot].ready, true);
    ring(shared);
}

void
slot_make_good(struct shared *shared, int slot)
{
    slot_phase(shared, slot, PHASE_IDLE);
    atomic_store(&shared->slots[slot].death.cause, DEATH_NONE);
}

void
slot_begin(struct shared *shared, int slot, const struct in_hand *hand)
{
    struct slot *s = &shared->slots[slot];
    // In between the hand is nobody's: whoever dies here has not called the receiver.
    atomic_store(&s->phase, PHASE_IDLE);
    atomic_fetch_add(&s->turn, 1);
    s->hand = *hand;
    atomic_fetch_add(&s->turn, 1);
    atomic_store(&s->phase, PHASE_RUNNING);
    // The supervisor writes look_at_us first and reads the phases then, so one of us sees the other.
    if (hand->timeout_us > 0 &&
        hand->started_mono_us + hand->timeout_us < atomic_load(&shared->look_at_us))
        ring(shared);
}

void
slot_phase(struct shared *shared, int slot, enum phase phase)
{
    atomic_store(&shared->slots[slot].phase, (int)phase);
}

int64_t
slot_overdue_at(struct shared *shared, int slot, unsigned *ret_turn)
{
    struct slot *s = &shared->slots[slot];
    unsigned turn = atomic_load(&s->turn);
    if (turn % 2 != 0 || atomic_load(&s->phase) != PHASE_RUNNING ||
        atomic_load(&s->death.cause) != DEATH_NONE)
        return INT64_MAX;
    int64_t started_us = s->hand.started_mono_us;
    int64_t timeout_us = s->hand.timeout_us;
    atomic_thread_fence(memory_order_acquire);
    // A hand that changed meanwhile has just begun, and rings if it must.
    if (timeout_us <= 0 || atomic_load(&s->turn) != turn)
        return INT64_MAX;
    *ret_turn = turn;
    return started_us + timeout_us;
}

bool
slot_hand(struct shared *shared, int slot, struct in_hand *ret_hand, unsigned *ret_turn)
{
    struct slot *s = &shared->slots[slot];
    unsigned turn = atomic_load(&s->turn);
    if (turn % 2 != 0 || atomic_load(&s->phase) != PHASE_RUNNING)
        return false;
    *ret_hand = s->hand;
    *ret_turn = turn;
    atomic_thread_fence(memory_order_acquire);
    return atomic_load(&s->turn) == turn;
}

void
slot_lose(struct shared *shared, int slot, unsigned turn)
{
    atomic_store(&shared->slots[slot].lost_turn, turn);
}

bool
slot_is_lost(const struct slot *slot)
{
    unsigned turn = atomic_load(&slot->turn);
    return turn != 0 && atomic_load(&slot->lost_turn) == turn;
}

bool
slot_is_running(const struct shared *shared, int slot)
{
    const struct slot *s = &shared->slots[slot];
    return atomic_load(&s->pid) != 0 && atomic_load(&s->death.cause) == DEATH_NONE &&
        atomic_load(&s->phase) == PHASE_RUNNING;
}

long long
slot_works(struct shared *shared, int slot)
{
    atomic_store(&shared->slots[slot].idle, false);
    return atomic_load(&shared->commits);
}

void
slot_waits(struct shared *shared, int slot, long long seen)
{
    atomic_store(&shared->slots[slot].seen, seen);
    atomic_store(&shared->slots[slot].idle, true);
    if (shared->once)
        ring(shared);
}

bool
slot_is_behind(struct shared *shared, int slot)
{
    for (int i = 0; i < shared->slot_count; i++)
        if (i != slot && !atomic_load(&shared->slots[i].idle) &&
            !atomic_load(&shared->slots[i].closed))
            return false;
    // Whoever waits has counted its commits before.
    return atomic_load(&shared->slots[slot].seen) != atomic_load(&shared->commits);
}

void
shared_tell_due(struct shared *shared, int64_t at_us)
{
    long long before = atomic_load(&shared->next_due_us);
    while ((before == 0 || at_us < before) &&
        !atomic_compare_exchange_weak(&shared->next_due_us, &before, at_us))
        ;
}

void
shared_committed(struct shared *shared)
{
    atomic_fetch_add(&shared->commits, 1);
}

/*
 * Why this is no race. Let c be the first reading of commits; the last one says that it stayed c all
 * the while. Each worker's empty claim read commits as c before it began, so it began after every
 * commit that c counts, and saw all that they left to do. A commit that c does not count belongs to a
 * worker that was at work from before its claim (slot_works) until after it counted, which is after
 * our last reading: had that claim begun before we read the worker's slot, we would have read it as
 * not idle. So it began after all of them had found nothing, and what it found came from outside or
 * fell due since: whoever asked for one run through has had it.
 */
bool
shared_all_wait(struct shared *shared)
{
    long long commits = atomic_load(&shared->commits);
    for (int i = 0; i < shared->slot_count; i++) {
        struct slot *s = &shared->slots[i];
        if (atomic_load(&s->closed))
            continue;
        if (!atomic_load(&s->idle) || atomic_load(&s->seen) != commits)
            return false;
    }
    return atomic_load(&shared->commits) == commits;
}
