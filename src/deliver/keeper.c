/* SPDX-License-Identifier: MIT
 *
 * keeper.c - the lease of a row that a task runs for long.
 *
 * A relay has other workers to renew a lease while a receiver runs; a task is alone. So a thread waits
 * until half of the lease is spent, and only then opens a connection of its own: most receivers have
 * returned by then. It reads no clock but the kernel's, logs nothing, and touches nothing of the handle.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "base/clock.h"
#include "deliver/worker.h"

#define BUSY_US US_PER_SECOND
#define ANSWER_US (10 * US_PER_SECOND) // who has run its receiver waits for the thread
#define LEAST_US (10 * US_PER_MS)
#define TURN 2 // of the one hand that its slot shows

struct keeper {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t over;
    bool is_over;
    const char *url;
    struct fence fence;
    int64_t lease_us;
    int64_t expires_at_us; // as the row was taken, at started_mono_us
    int64_t started_mono_us;
    struct db *db;    // NULL: not opened yet
    struct slot slot; // where the receiver asks whether its row was taken
};

const struct slot *
keeper_slot(const struct keeper *keeper)
{
    return keeper == NULL ? NULL : &keeper->slot;
}

/* renew answers LOST when somebody else has the row. */
static owed_status
renew(struct keeper *keeper)
{
    const struct db_options options = {
        .busy_timeout_us = BUSY_US, .statement_timeout_us = ANSWER_US};
    owed_status status = OWED_OK;
    if (keeper->db == NULL)
        status = store_open(keeper->url, &options, &keeper->db, NULL);
    if (status != OWED_OK)
        return status;
    int64_t passed_us = clock_monotonic_us(&clock_system) - keeper->started_mono_us;
    status = store_renew(keeper->db, &keeper->fence, keeper->expires_at_us + passed_us, NULL);
    if (status == OWED_OK || status == OWED_LOST || status == OWED_BUSY)
        return status;
    store_close(keeper->db);
    keeper->db = NULL;
    return status;
}

/* wait_us waits with the lock held; true: it is over. */
static bool
wait_us(struct keeper *keeper, int64_t us)
{
    int64_t until_us = clock_monotonic_us(&clock_system) + (us > LEAST_US ? us : LEAST_US);
    const struct timespec until = {.tv_sec = (time_t)(until_us / US_PER_SECOND),
        .tv_nsec = (long)(until_us % US_PER_SECOND) * 1000};
    int problem = 0;
    while (!keeper->is_over && problem != ETIMEDOUT)
        problem = pthread_cond_timedwait(&keeper->over, &keeper->lock, &until);
    return keeper->is_over;
}

static void *
keep(void *argument)
{
    struct keeper *keeper = argument;
    owed_status status = OWED_OK;
    pthread_mutex_lock(&keeper->lock);
    // After a failure it is tried again while there is something left of the lease.
    while (!wait_us(keeper, keeper->lease_us / (status == OWED_OK ? 2 : 8))) {
        pthread_mutex_unlock(&keeper->lock);
        status = renew(keeper);
        if (status == OWED_LOST)
            atomic_store(&keeper->slot.lost_turn, TURN);
        pthread_mutex_lock(&keeper->lock);
        if (status == OWED_LOST)
            break;
    }
    pthread_mutex_unlock(&keeper->lock);
    store_close(keeper->db);
    return NULL;
}

/* start_thread takes no signals: they are for the application's own threads. */
static bool
start_thread(struct keeper *keeper)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int problem = pthread_create(&keeper->thread, NULL, keep, keeper);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return problem == 0;
}

struct keeper *
keeper_start(const struct worker *w, const struct claimed *row, int64_t lease_us)
{
    struct keeper *keeper = calloc(1, sizeof *keeper);
    if (keeper == NULL)
        return NULL;
    keeper->url = w->owed->url;
    keeper->fence = row->fence;
    keeper->fence.claimed_by = w->claimed_by; // the row's own text ends with its batch
    keeper->lease_us = lease_us;
    keeper->expires_at_us = row->lease_expires_at_us;
    keeper->started_mono_us = clock_monotonic_us(&clock_system);
    atomic_store(&keeper->slot.turn, TURN);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&keeper->lock, NULL);
    pthread_cond_init(&keeper->over, &attributes);
    pthread_condattr_destroy(&attributes);
    if (start_thread(keeper))
        return keeper;
    // Without it the lease is what it is.
    pthread_cond_destroy(&keeper->over);
    pthread_mutex_destroy(&keeper->lock);
    free(keeper);
    return NULL;
}

void
keeper_stop(struct keeper *keeper)
{
    if (keeper == NULL)
        return;
    pthread_mutex_lock(&keeper->lock);
    keeper->is_over = true;
    pthread_cond_signal(&keeper->over);
    pthread_mutex_unlock(&keeper->lock);
    pthread_join(keeper->thread, NULL);
    pthread_cond_destroy(&keeper->over);
    pthread_mutex_destroy(&keeper->lock);
    free(keeper);
}
