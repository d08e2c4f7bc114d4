/* SPDX-License-Identifier: MIT
 *
 * behind.c - outcomes of the loop, written while it goes on.
 */
#include "deliver/behind.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/failpoint.h"
#include "deliver/endpoints.h"
#include "deliver/sortie.h"

#define AGAIN_US US_PER_SECOND // so long nothing is tried where it failed
#define LEAST_IN_FLIGHT 32     // who lets fewer fly wants few to be sent again

enum stage { BEHIND_RESTS, BEHIND_WRITES, BEHIND_WROTE, BEHIND_ENDS };

struct behind {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t turned;
    enum stage stage; // guarded by lock; what follows is the thread's while it writes
    struct db *db;
    struct ledger ledger;
    owed_status status;
    // The worker's own:
    struct sorties sorties; // whose outcomes these are
};

/* --- the thread --- */

static void
turn(struct behind *behind, enum stage stage)
{
    behind->stage = stage;
    pthread_cond_broadcast(&behind->turned);
}

static void *
run(void *argument)
{
    struct behind *behind = argument;
    struct ledger *ledger = &behind->ledger;
    pthread_mutex_lock(&behind->lock);
    while (behind->stage != BEHIND_ENDS) {
        if (behind->stage != BEHIND_WRITES) {
            pthread_cond_wait(&behind->turned, &behind->lock);
            continue;
        }
        pthread_mutex_unlock(&behind->lock);
        // Why it fails is heard when the worker itself tries.
        behind->status =
            store_settle(behind->db, ledger->settlements, ledger->count, ledger->landed, NULL);
        pthread_mutex_lock(&behind->lock);
        turn(behind, BEHIND_WROTE);
    }
    pthread_mutex_unlock(&behind->lock);
    return NULL;
}

/* --- beginning and ending it --- */

static void
free_behind(struct behind *behind)
{
    store_close(behind->db);
    arena_done(&behind->ledger.arena);
    pthread_cond_destroy(&behind->turned);
    pthread_mutex_destroy(&behind->lock);
    free(behind);
}

/* start_thread takes no signals: they are for the worker. */
static bool
start_thread(struct behind *behind)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int problem = pthread_create(&behind->thread, NULL, run, behind);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return problem == 0;
}

/* behind_new: without it outcomes are written between one request and the next. */
static struct behind *
behind_new(struct worker *w)
{
    struct behind *behind = calloc(1, sizeof *behind);
    if (behind == NULL)
        return NULL;
    pthread_mutex_init(&behind->lock, NULL);
    pthread_cond_init(&behind->turned, NULL);
    if (handle_connect(w->owed, &behind->db, NULL) == OWED_OK) {
        // The handle's dice are not for two threads.
        behind->db->dice = (owed_dice){0};
        session_note(w->slot, SESSION_BEHIND, behind->db);
        if (start_thread(behind))
            return behind;
    }
    free_behind(behind);
    return NULL;
}

static void
behind_close(struct worker *w)
{
    struct behind *behind = w->behind;
    pthread_mutex_lock(&behind->lock);
    turn(behind, BEHIND_ENDS);
    pthread_mutex_unlock(&behind->lock);
    pthread_join(behind->thread, NULL);
    session_note(w->slot, SESSION_BEHIND, NULL);
    free_behind(behind);
    w->behind = NULL;
}

/* --- writing --- */

/* is_request: other receivers have bounds of their own on what they have in hand. Of an endpoint that is well again
 * more is written than the outcome. */
static bool
is_request(const struct sortie *s)
{
    enum runner runner = s->known->receiver->runner;
    bool is_news = s->flight.endpoint != NULL && s->flight.endpoint->row.dead_in_row > 0;
    return (runner == RUN_WEBHOOK || runner == RUN_ENDPOINT) && !is_news;
}

/* may_begin: a single writer has no second connection to write on. */
static bool
may_begin(const struct worker *w)
{
    if (w->visit != NULL || w->is_eager || w->landed_unsure || store_claims_along(w->owed->db) ||
        w->settings.in_flight < LEAST_IN_FLIGHT || worker_mono_us(w) < w->behind_mono_us)
        return false;
    for (const struct sortie *s = w->landed.first; s != NULL; s = s->next)
        if (!is_request(s))
            return false;
    return true;
}

bool
behind_begin(struct worker *w)
{
    if (!may_begin(w))
        return false;
    if (w->behind == NULL && (w->behind = behind_new(w)) == NULL)
        w->behind_mono_us = worker_mono_us(w) + AGAIN_US;
    struct behind *behind = w->behind;
    if (behind == NULL || behind_is_busy(w))
        return false;
    for (size_t count = sorties_note(w, &behind->ledger); count > 0; count--) {
        struct sortie *s = w->landed.first;
        sorties_take_out(&w->landed, s);
        sorties_append(&behind->sorties, s);
    }
    w->landed_mono_us = worker_mono_us(w);
    pthread_mutex_lock(&behind->lock);
    turn(behind, BEHIND_WRITES);
    pthread_mutex_unlock(&behind->lock);
    return true;
}

size_t
behind_rows(const struct worker *w)
{
    return w->behind == NULL ? 0 : w->behind->sorties.count;
}

bool
behind_is_busy(const struct worker *w)
{
    return behind_rows(w) > 0;
}

/* has_written tells whether the thread is done; waits: it will be. */
static bool
has_written(struct behind *behind, bool waits)
{
    pthread_mutex_lock(&behind->lock);
    while (waits && behind->stage == BEHIND_WRITES)
        pthread_cond_wait(&behind->turned, &behind->lock);
    bool is_done = behind->stage == BEHIND_WROTE;
    if (is_done)
        turn(behind, BEHIND_RESTS);
    pthread_mutex_unlock(&behind->lock);
    return is_done;
}

/* put_back is for what was not written: it landed before all that has landed since. */
static void
put_back(struct worker *w)
{
    struct behind *behind = w->behind;
    for (struct sortie *s = w->landed.first; s != NULL; s = w->landed.first) {
        sorties_take_out(&w->landed, s);
        sorties_append(&behind->sorties, s);
    }
    w->landed = behind->sorties;
    behind->sorties = (struct sorties){0};
    w->landed_unsure = behind->status == OWED_UNSURE;
    w->behind_mono_us = worker_mono_us(w) + AGAIN_US;
    behind_close(w);
}

void
behind_collect(struct worker *w, bool waits)
{
    struct behind *behind = w->behind;
    if (!behind_is_busy(w) || !has_written(behind, waits))
        return;
    // One alone that is no longer held.
    if (behind->status != OWED_OK && behind->status != OWED_LOST) {
        put_back(w);
        return;
    }
    failpoint("ack-sent");
    ledger_written(w, &behind->ledger);
    while (behind->sorties.first != NULL)
        sortie_settled(w, &behind->sorties);
}

void
behind_drop(struct worker *w)
{
    behind_collect(w, true);
    if (w->behind != NULL)
        behind_close(w);
}
