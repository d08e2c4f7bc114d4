/* SPDX-License-Identifier: MIT
 *
 * errand.c - the line of what was finished, and the functions that a receiver finishes with.
 */
#include "deliver/errand.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/error.h"
#include "deliver/sortie.h"

struct errands {
    pthread_mutex_t lock;
    atomic_size_t holders; // the worker, and each delivery that was handed out
    int fd;
    struct errand *first, *last;
};

owed_status
errands_new(struct errands **ret_line, owed_error *err)
{
    struct errands *line = calloc(1, sizeof *line);
    if (line == NULL)
        return fail_memory(err);
    line->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (line->fd < 0) {
        int native = errno;
        free(line);
        return fail_native(
            err, OWED_UNAVAILABLE, native, "no eventfd could be opened (errno %d)", native);
    }
    pthread_mutex_init(&line->lock, NULL);
    atomic_init(&line->holders, 1);
    *ret_line = line;
    return OWED_OK;
}

void
errands_let_go(struct errands *line)
{
    if (line == NULL || atomic_fetch_sub(&line->holders, 1) > 1)
        return;
    pthread_mutex_destroy(&line->lock);
    close(line->fd);
    free(line);
}

int
errands_fd(const struct errands *line)
{
    return line->fd;
}

struct errand *
errands_take(struct errands *line)
{
    uint64_t count;
    ssize_t got = read(line->fd, &count, sizeof count);
    (void)got;
    pthread_mutex_lock(&line->lock);
    struct errand *first = line->first;
    line->first = NULL;
    line->last = NULL;
    pthread_mutex_unlock(&line->lock);
    return first;
}

void
errand_prepare(struct errand *errand, struct errands *line, struct batch *batch,
    struct sortie *sortie, owed_delivery *delivery)
{
    *errand = (struct errand){.line = line, .batch = batch, .sortie = sortie};
    atomic_fetch_add(&line->holders, 1);
    atomic_fetch_add(&batch->flights, 1);
    delivery->errand = errand;
}

void
errand_open(struct errand *errand)
{
    pthread_mutex_lock(&errand->line->lock);
    errand->state = ERRAND_OPEN;
    pthread_mutex_unlock(&errand->line->lock);
}

void
errand_withdraw(struct errand *errand, owed_delivery *delivery)
{
    delivery->errand = NULL;
    errands_let_go(errand->line);
    errand->line = NULL;
    // Never the last: whoever withdraws it has the batch, too.
    atomic_fetch_sub(&errand->batch->flights, 1);
}

bool
errand_close(struct errand *errand)
{
    pthread_mutex_lock(&errand->line->lock);
    bool was_open = errand->state == ERRAND_OPEN;
    if (was_open)
        errand->state = ERRAND_CLOSED;
    pthread_mutex_unlock(&errand->line->lock);
    return was_open;
}

bool
errand_hold(const owed_delivery *delivery)
{
    const struct errand *errand = delivery->errand;
    if (errand == NULL)
        return true;
    pthread_mutex_lock(&errand->line->lock);
    return errand->state == ERRAND_OPEN || errand->state == ERRAND_NONE;
}

void
errand_unhold(const owed_delivery *delivery)
{
    if (delivery->errand != NULL)
        pthread_mutex_unlock(&delivery->errand->line->lock);
}

/* --- for receivers --- */

/* stand_in_line is called with the lock held. */
static void
stand_in_line(struct errand *errand)
{
    struct errands *line = errand->line;
    errand->state = ERRAND_FINISHED;
    errand->next = NULL;
    if (line->last == NULL)
        line->first = errand;
    else
        line->last->next = errand;
    line->last = errand;
    uint64_t one = 1;
    ssize_t written = write(line->fd, &one, sizeof one);
    (void)written;
}

static owed_status
refuse(const owed_delivery *delivery, enum errand_state state, owed_error *err)
{
    long long id = owed_delivery_id(delivery);
    if (state == ERRAND_FINISHED)
        return fail(err, OWED_INVALID, "delivery %lld was finished before: once is right", id);
    return fail(err, OWED_LOST,
        "delivery %lld is no longer waited for: its time or its lease was over, or the relay ended",
        id);
}

/* errand_is_out tells whether it was handed to its receiver: a hook has it before. */
static bool
errand_is_out(const struct errand *errand)
{
    pthread_mutex_lock(&errand->line->lock);
    bool is_out = errand->state != ERRAND_NONE;
    pthread_mutex_unlock(&errand->line->lock);
    return is_out;
}

static owed_status
finish(owed_delivery *delivery, owed_outcome outcome, owed_finish_function function, void *state,
    owed_error *err)
{
    struct errand *errand = delivery->errand;
    if (errand == NULL || !errand_is_out(errand))
        return fail(err, OWED_INVALID,
            "delivery %lld was not handed to a start function: a receiver that runs returns what it "
            "came to",
            (long long)owed_delivery_id(delivery));
    errand_hold(delivery);
    enum errand_state before = errand->state;
    if (before == ERRAND_OPEN) {
        errand->outcome = outcome;
        errand->function = function;
        errand->function_state = state;
        stand_in_line(errand);
    }
    errand_unhold(delivery);
    return before == ERRAND_OPEN ? OWED_OK : refuse(delivery, before, err);
}

owed_status
owed_finish(owed_delivery *delivery, owed_outcome outcome, owed_error *err)
{
    return finish(delivery, outcome, NULL, NULL, err);
}

owed_status
owed_finish_with(
    owed_delivery *delivery, owed_finish_function function, void *state, owed_error *err)
{
    if (function == NULL)
        return fail(err, OWED_INVALID,
            "no function to finish with: give one, or an outcome to owed_finish");
    return finish(delivery, (owed_outcome){0}, function, state, err);
}

void
owed_delivery_release(owed_delivery *delivery)
{
    struct errand *errand = delivery == NULL ? NULL : delivery->errand;
    if (errand == NULL || !errand_is_out(errand))
        return;
    if (errand_hold(delivery)) {
        delivery_say(delivery, "receiver %s let go of the delivery without finishing it",
            owed_delivery_receiver_key(delivery));
        errand->outcome = (owed_outcome){.verdict = OWED_VERDICT_FAILED};
        stand_in_line(errand);
    }
    errand_unhold(delivery);
    struct errands *line = errand->line;
    sortie_let_go(errand->batch); // the errand may be gone with it
    errands_let_go(line);
}
