/* SPDX-License-Identifier: MIT
 *
 * publisher.c - a thread that sends what is queued, a batch at a time.
 */
#include "receive/publisher.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/secret_file.h"
#include "receive/broker_find.h"

#define BATCH_MESSAGES 500
#define QUICK_US INT64_C(1000000)

static owed_status
connect_to(struct publisher *publisher, owed_error *err)
{
    const struct broker_url *url = &publisher->url;
    const owed_receiver *declared = &publisher->receiver->declared;
    const void *kind = publisher->kind;
    const struct broker_files files = {
        declared->password_file, declared->ca_file, declared->credentials_file};
    struct broker_place place = {
        .timeout_us = declared->timeout_us > 0 ? declared->timeout_us : PUBLISH_TIMEOUT_US};
    char *password = NULL;
    owed_status status =
        kind == NULL ? broker_find(url->scheme, url->scheme->symbol, &kind, err) : OWED_OK;
    publisher->kind = kind;
    if (status == OWED_OK)
        status = broker_place(url, &files, &place, &password, err);
    if (status == OWED_OK)
        status = publisher->kind->open(&place, &publisher->connection, err);
    secret_free(password);
    return status;
}

static void
disconnect(struct publisher *publisher)
{
    if (publisher->connection != NULL)
        publisher->kind->close(publisher->connection);
    publisher->connection = NULL;
}

/* answer_silent answers for a broker that has not. */
static void
answer_silent(struct broker_message *messages, const owed_error *why)
{
    for (struct broker_message *m = messages; m != NULL; m = m->next) {
        if (m->answer != BROKER_SILENT)
            continue;
        m->answer = why->status == OWED_STORE ? BROKER_BARRED : BROKER_AWAY;
        snprintf(m->text, sizeof m->text, "%s",
            why->text[0] == '\0' ? "it has not answered" : why->text);
    }
}

/* send_some sends what has no answer; err says why some still have none, or "". */
static void
send_some(struct publisher *publisher, struct broker_message *messages, owed_error *err)
{
    *err = (owed_error){0};
    if (publisher->connection == NULL && connect_to(publisher, err) != OWED_OK)
        return;
    if (!publisher->kind->send(publisher->connection, messages, err))
        disconnect(publisher);
}

/* post sends until all has an answer, or there is no use in going on: false, and err says why. */
static bool
post(struct publisher *publisher, struct broker_message *messages, owed_error *ret_err)
{
    struct broker_message *left = messages;
    int64_t began_us = clock_monotonic_us(&clock_system);
    // A connection that has stood idle may have been closed meanwhile, which says nothing of the broker; nor does
    // one that ends at a message of which it is told.
    bool was_open = publisher->connection != NULL;
    for (bool goes_on = true; goes_on; was_open = false) {
        const struct broker_message *first = left;
        send_some(publisher, left, ret_err);
        left = broker_silent(left);
        bool is_quick = clock_monotonic_us(&clock_system) - began_us < QUICK_US;
        bool is_told = first->answer != BROKER_SILENT && first->answer != BROKER_AWAY;
        goes_on =
            left != NULL && publisher->connection == NULL && is_quick && (was_open || is_told);
    }
    answer_silent(left, ret_err);
    return left == NULL;
}

/* take takes the next batch out of the queue, as a list; the lock is held. */
static struct posting *
take(struct publisher *publisher)
{
    struct posting *first = publisher->queued;
    struct posting *last = first;
    for (int i = 1; last != NULL && i < BATCH_MESSAGES && last->next != NULL; i++)
        last = last->next;
    if (last != NULL) {
        publisher->queued = last->next;
        last->next = NULL;
    }
    if (publisher->queued == NULL)
        publisher->queued_end = &publisher->queued;
    for (struct posting *p = first; p != NULL; p = p->next) {
        p->is_sent = true;
        p->message.next = p->next == NULL ? NULL : &p->next->message;
    }
    return first;
}

/* give_back announces what was answered; the lock is held. */
static void
give_back(struct publisher *publisher, struct posting *posting)
{
    struct publishers *all = publisher->all;
    while (posting != NULL) {
        struct posting *next = posting->next;
        posting->next = all->ended;
        all->ended = posting;
        posting = next;
    }
    eventfd_write(all->ended_fd, 1);
    pthread_cond_broadcast(&publisher->answered);
}

/* put_off answers for what waits behind a batch as for the batch: who is away is not asked again for each;
 * the lock is held. */
static void
put_off(struct publisher *publisher, const owed_error *why)
{
    for (struct posting *batch = take(publisher); batch != NULL; batch = take(publisher)) {
        answer_silent(&batch->message, why);
        give_back(publisher, batch);
    }
}

static void *
run(void *state)
{
    struct publisher *publisher = state;
    pthread_mutex_t *lock = &publisher->all->lock;
    pthread_mutex_lock(lock);
    while (!publisher->is_over) {
        struct posting *batch = take(publisher);
        if (batch == NULL) {
            pthread_cond_wait(&publisher->stirred, lock);
            continue;
        }
        pthread_mutex_unlock(lock);
        owed_error err;
        bool is_answered = post(publisher, &batch->message, &err);
        pthread_mutex_lock(lock);
        give_back(publisher, batch);
        if (!is_answered)
            put_off(publisher, &err);
    }
    pthread_mutex_unlock(lock);
    disconnect(publisher);
    return NULL;
}

/* It begins with all signals blocked: they are for the other threads. */
bool
publisher_start(struct publisher *publisher)
{
    if (publisher->is_started)
        return true;
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    publisher->is_started = pthread_create(&publisher->thread, NULL, run, publisher) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return publisher->is_started;
}
