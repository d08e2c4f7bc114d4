/* SPDX-License-Identifier: MIT
 *
 * ahead.c - the next claim, made while receivers run or outcomes are written.
 */
#include "deliver/ahead.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "deliver/worker.h"

enum stage { AHEAD_RESTS, AHEAD_CLAIMS, AHEAD_CAME, AHEAD_ENDS };

struct ahead {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t turned;
    enum stage stage; // guarded by lock; what follows is the thread's while it claims
    const owed *owed;
    struct slot *slot; // NULL: nobody comes after this worker
    struct db *db;     // NULL: there is no connection yet
    struct claim claim;
    struct batch *batch;
    struct claimed *rows;
    int64_t took_us;
    owed_status status;
    owed_error err;
    enum share share;
    // The worker's own:
    struct looked looked;
};

/* --- the thread --- */

static void
turn(struct ahead *ahead, enum stage stage)
{
    ahead->stage = stage;
    pthread_cond_broadcast(&ahead->turned);
}

/* is_connected opens the connection at the first claim, while the worker runs what it has. */
static bool
is_connected(struct ahead *ahead)
{
    if (ahead->db != NULL)
        return true;
    if (handle_connect_again(ahead->owed, &ahead->db, NULL) != OWED_OK)
        return false;
    session_note(ahead->slot, SESSION_AHEAD, ahead->db);
    return true;
}

/* claim gives nothing where no connection is to be had: then claims are made one after another. */
static void
claim(struct ahead *ahead)
{
    ahead->status = OWED_OK;
    if (!is_connected(ahead))
        return;
    int64_t start_us = clock_monotonic_us(&clock_system);
    struct batch *batch = ahead->batch;
    ahead->status = store_claim_unread(ahead->db, &ahead->claim, &batch->arena, &batch->unread,
        &ahead->rows, &batch->count, &ahead->err);
    // The loop has its hands full with requests; else the connection is the one that should not wait.
    if (ahead->status == OWED_OK && ahead->share == SHARE_LOOP && batch->unread.rows != NULL)
        ahead->status = store_read_claimed(
            ahead->db, &batch->unread, &batch->arena, &ahead->rows, &batch->count, &ahead->err);
    ahead->took_us = clock_monotonic_us(&clock_system) - start_us;
}

static void *
run(void *argument)
{
    struct ahead *ahead = argument;
    pthread_mutex_lock(&ahead->lock);
    while (ahead->stage != AHEAD_ENDS) {
        if (ahead->stage != AHEAD_CLAIMS) {
            pthread_cond_wait(&ahead->turned, &ahead->lock);
            continue;
        }
        pthread_mutex_unlock(&ahead->lock);
        claim(ahead);
        pthread_mutex_lock(&ahead->lock);
        turn(ahead, AHEAD_CAME);
    }
    pthread_mutex_unlock(&ahead->lock);
    return NULL;
}

/* --- beginning and ending it --- */

static void
free_ahead(struct ahead *ahead)
{
    store_close(ahead->db);
    batch_free(ahead->batch);
    pthread_cond_destroy(&ahead->turned);
    pthread_mutex_destroy(&ahead->lock);
    free(ahead);
}

/* start_thread takes no signals: they are for the worker. */
static bool
start_thread(struct ahead *ahead)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int problem = pthread_create(&ahead->thread, NULL, run, ahead);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return problem == 0;
}

/* ahead_new: without it claims are made one after another. */
static struct ahead *
ahead_new(struct worker *w)
{
    struct ahead *ahead = calloc(1, sizeof *ahead);
    if (ahead == NULL)
        return NULL;
    ahead->owed = w->owed;
    ahead->slot = w->slot;
    pthread_mutex_init(&ahead->lock, NULL);
    pthread_cond_init(&ahead->turned, NULL);
    if (start_thread(ahead))
        return ahead;
    free_ahead(ahead);
    return NULL;
}

/* settle_down waits for a claim that is under way. */
static void
settle_down(struct ahead *ahead)
{
    pthread_mutex_lock(&ahead->lock);
    while (ahead->stage == AHEAD_CLAIMS)
        pthread_cond_wait(&ahead->turned, &ahead->lock);
    if (ahead->stage == AHEAD_CAME)
        turn(ahead, AHEAD_RESTS);
    pthread_mutex_unlock(&ahead->lock);
}

void
ahead_close(struct worker *w)
{
    struct ahead *ahead = w->ahead;
    if (ahead == NULL)
        return;
    settle_down(ahead);
    pthread_mutex_lock(&ahead->lock);
    turn(ahead, AHEAD_ENDS);
    pthread_mutex_unlock(&ahead->lock);
    pthread_join(ahead->thread, NULL);
    session_note(ahead->slot, SESSION_AHEAD, NULL);
    free_ahead(ahead);
    w->ahead = NULL;
}

/* --- claiming --- */

/* may_begin: where outcomes go along with a claim, it is not made ahead. A pause changes what may be
 * claimed, and who counts rows or passes wants no more of them. */
static bool
may_begin(const struct worker *w)
{
    return w->visit == NULL && !w->is_eager && !store_claims_along(w->owed->db) && !hold_any(w) &&
        !worker_has_limit(w) && w->passes_left < 0 && !worker_is_stopping(w);
}

void
ahead_begin(struct worker *w, enum share share, const char *const *receivers, int32_t limit)
{
    if (!may_begin(w))
        return;
    if (w->ahead == NULL)
        w->ahead = ahead_new(w);
    struct ahead *ahead = w->ahead;
    if (ahead == NULL || ahead->batch != NULL || (ahead->batch = batch_new()) == NULL)
        return;
    claim_fill(w, share, &ahead->claim);
    if (receivers != NULL)
        ahead->claim.receivers = receivers;
    claim_from(w, share, &ahead->claim, &ahead->looked);
    ahead->claim.limit = limit;
    ahead->share = share;
    ahead->rows = NULL;
    ahead->err = (owed_error){0};
    ahead->batch->claimed_by = ahead->claim.claimed_by;
    pthread_mutex_lock(&ahead->lock);
    turn(ahead, AHEAD_CLAIMS);
    pthread_mutex_unlock(&ahead->lock);
}

bool
ahead_has(const struct worker *w, enum share share)
{
    return w->ahead != NULL && w->ahead->batch != NULL && w->ahead->share == share;
}

bool
ahead_has_come(const struct worker *w, enum share share)
{
    if (!ahead_has(w, share))
        return false;
    pthread_mutex_lock(&w->ahead->lock);
    bool has_come = w->ahead->stage == AHEAD_CAME;
    pthread_mutex_unlock(&w->ahead->lock);
    return has_come;
}

bool
ahead_take(struct worker *w, struct batch **ret_batch, int32_t *ret_limit)
{
    struct ahead *ahead = w->ahead;
    settle_down(ahead);
    struct batch *batch = ahead->batch;
    ahead->batch = NULL;
    *ret_batch = NULL;
    if (batch->count > 0)
        *ret_limit = ahead->claim.limit;
    owed_status status = ahead->status;
    if (ahead->db == NULL) {
        batch_free(batch);
        return true;
    }
    if (status == OWED_OK && w->seat.claimed != NULL)
        w->seat.claimed(w->seat.claimed_state, ahead->took_us, batch->count);
    if (status == OWED_OK && batch->unread.rows == NULL)
        status = claim_came(w, batch, ahead->rows, &ahead->err);
    if (status != OWED_OK) {
        batch_free(batch);
        trouble(w, "claim", &ahead->err);
        return false;
    }
    trouble_over(w);
    claim_learn(w, ahead->share, batch, ahead->claim.limit, &ahead->looked);
    if (batch->count == 0)
        batch_free(batch);
    else
        *ret_batch = batch;
    return true;
}

/* finish_claim is the batch that came, if one did. */
static struct batch *
finish_claim(struct worker *w)
{
    struct ahead *ahead = w->ahead;
    if (ahead == NULL || ahead->batch == NULL)
        return NULL;
    settle_down(ahead);
    struct batch *batch = ahead->batch;
    ahead->batch = NULL;
    bool is_read = batch->unread.rows != NULL
        ? batch_read(w, batch)
        : ahead->status == OWED_OK && claim_came(w, batch, ahead->rows, NULL) == OWED_OK;
    if (is_read)
        return batch;
    batch_free(batch);
    return NULL;
}

void
ahead_drop(struct worker *w)
{
    struct batch *batch = finish_claim(w);
    if (batch != NULL)
        batch_drop(w, batch);
    batch_free(batch);
    ahead_close(w);
}

bool
ahead_hand_back(struct worker *w)
{
    struct batch *batch = finish_claim(w);
    bool ok = batch == NULL || batch_hand_back(w, batch);
    batch_free(batch);
    return ok;
}
