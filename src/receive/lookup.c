/* SPDX-License-Identifier: MIT
 *
 * lookup.c - a line of hosts to be looked up, and a few threads that do.
 */
#include "receive/lookup.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/error.h"

static void
append(struct lookup_line *line, struct lookup *lookup)
{
    lookup->next = NULL;
    *line->end = lookup;
    line->end = &lookup->next;
}

static struct lookup *
take_first(struct lookup_line *line)
{
    struct lookup *lookup = line->first;
    if (lookup == NULL)
        return NULL;
    line->first = lookup->next;
    if (line->first == NULL)
        line->end = &line->first;
    return lookup;
}

/* pick: names that nobody answers for never have all the threads. */
static struct lookup *
pick(struct lookups *lookups)
{
    struct lookup *lookup = take_first(&lookups->known);
    if (lookup == NULL && lookups->doubtful_busy < LOOKUP_THREADS - LOOKUP_KEPT) {
        lookup = take_first(&lookups->doubtful);
        lookups->doubtful_busy += lookup != NULL;
    }
    lookups->queued -= lookup != NULL;
    return lookup;
}

static struct lookup *
next_lookup(struct lookups *lookups)
{
    struct lookup *lookup = NULL;
    pthread_mutex_lock(&lookups->lock);
    lookups->idle++;
    while (!lookups->is_over && (lookup = pick(lookups)) == NULL)
        pthread_cond_wait(&lookups->wanted, &lookups->lock);
    lookups->idle--;
    pthread_mutex_unlock(&lookups->lock);
    return lookup;
}

static void *
run(void *state)
{
    struct lookups *lookups = state;
    for (struct lookup *lookup; (lookup = next_lookup(lookups)) != NULL;) {
        lookup->status =
            guard_resolve(&lookup->guard, &lookup->place, &lookup->addresses, &lookup->err);
        pthread_mutex_lock(&lookups->lock);
        lookups->doubtful_busy -= lookup->is_doubtful;
        lookup->next = lookups->ended;
        lookups->ended = lookup;
        eventfd_write(lookups->ended_fd, 1);
        pthread_mutex_unlock(&lookups->lock);
    }
    return NULL;
}

owed_status
lookups_open(struct lookups *lookups, owed_error *err)
{
    *lookups = (struct lookups){.ended_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    lookups->known.end = &lookups->known.first;
    lookups->doubtful.end = &lookups->doubtful.first;
    if (lookups->ended_fd < 0)
        return fail_native(
            err, OWED_UNAVAILABLE, errno, "hosts cannot be looked up: %s", strerrordesc_np(errno));
    pthread_mutex_init(&lookups->lock, NULL);
    pthread_cond_init(&lookups->wanted, NULL);
    return OWED_OK;
}

static void
free_list(struct lookup *lookup)
{
    while (lookup != NULL) {
        struct lookup *next = lookup->next;
        free(lookup);
        lookup = next;
    }
}

void
lookups_close(struct lookups *lookups)
{
    if (lookups->known.end == NULL)
        return;
    pthread_mutex_lock(&lookups->lock);
    lookups->is_over = true;
    pthread_cond_broadcast(&lookups->wanted);
    pthread_mutex_unlock(&lookups->lock);
    for (int i = 0; i < lookups->thread_count; i++)
        pthread_join(lookups->threads[i], NULL);
    free_list(lookups->known.first);
    free_list(lookups->doubtful.first);
    free_list(lookups->ended);
    close(lookups->ended_fd);
    pthread_cond_destroy(&lookups->wanted);
    pthread_mutex_destroy(&lookups->lock);
    *lookups = (struct lookups){0};
}

/* start_thread begins with all signals blocked: they are for the other threads. */
static void
start_thread(struct lookups *lookups)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pthread_t *thread = &lookups->threads[lookups->thread_count];
    if (pthread_create(thread, NULL, run, lookups) == 0)
        lookups->thread_count++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

bool
lookups_start(struct lookups *lookups, struct lookup *lookup)
{
    pthread_mutex_lock(&lookups->lock);
    // Who is idle may not have seen yet what came before this.
    bool is_short = lookups->idle <= lookups->queued && lookups->thread_count < LOOKUP_THREADS;
    pthread_mutex_unlock(&lookups->lock);
    if (is_short)
        start_thread(lookups);
    if (lookups->thread_count == 0)
        return false;
    pthread_mutex_lock(&lookups->lock);
    lookups->queued++;
    append(lookup->is_doubtful ? &lookups->doubtful : &lookups->known, lookup);
    pthread_cond_signal(&lookups->wanted);
    pthread_mutex_unlock(&lookups->lock);
    return true;
}

struct lookup *
lookups_take(struct lookups *lookups)
{
    pthread_mutex_lock(&lookups->lock);
    struct lookup *ended = lookups->ended;
    eventfd_t count;
    eventfd_read(lookups->ended_fd, &count);
    lookups->ended = NULL;
    pthread_mutex_unlock(&lookups->lock);
    return ended;
}

void
lookups_leave(struct lookups *lookups, struct lookup *lookup)
{
    pthread_mutex_lock(&lookups->lock);
    lookup->owner = NULL;
    pthread_mutex_unlock(&lookups->lock);
}
