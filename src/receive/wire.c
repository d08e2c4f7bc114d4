/* SPDX-License-Identifier: MIT
 *
 * wire.c - a thread that sends what is in one list, and puts what has ended into another.
 */
#include "receive/wire.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"

#define YOUNG_MAX 16 // of those that were begun in one turn, so many fly at a time
#define TURN_MS 1

static void
append(struct transfers *list, struct transfer *transfer)
{
    transfer->next = NULL;
    if (list->last == NULL)
        list->first = transfer;
    else
        list->last->next = transfer;
    list->last = transfer;
}

static void
take_out(struct transfers *list, const struct transfer *transfer)
{
    struct transfer *rest = list->first;
    *list = (struct transfers){0};
    while (rest != NULL) {
        struct transfer *next = rest->next;
        if (rest != transfer)
            append(list, rest);
        rest = next;
    }
}

/* --- the thread --- */

/* hand_over gives back what has ended together. */
static void
hand_over(struct wire *wire, struct transfer *ended)
{
    if (ended == NULL)
        return;
    pthread_mutex_lock(&wire->lock);
    bool is_first = wire->ended.first == NULL;
    while (ended != NULL) {
        struct transfer *transfer = ended;
        ended = ended->next;
        transfer->state = TRANSFER_ENDED;
        append(&wire->ended, transfer);
    }
    if (is_first)
        eventfd_write(wire->ended_fd, 1);
    pthread_mutex_unlock(&wire->lock);
}

/* land takes a transfer that was begun from libcurl. */
static void
land(struct wire *wire, const struct transfer *transfer)
{
    curl_multi_remove_handle(wire->multi, transfer->easy);
    wire->young -= transfer->turn == wire->turn;
}

static void
begin(struct wire *wire, struct transfer *queued)
{
    struct transfers refused = {0};
    while (queued != NULL) {
        struct transfer *transfer = queued;
        queued = queued->next;
        if (curl_multi_add_handle(wire->multi, transfer->easy) == CURLM_OK)
            continue;
        land(wire, transfer);
        transfer->code = CURLE_FAILED_INIT;
        append(&refused, transfer);
    }
    hand_over(wire, refused.first);
}

static void
let_go(struct wire *wire)
{
    struct transfer *transfer = wire->unwanted;
    if (transfer == NULL)
        return;
    if (transfer->state == TRANSFER_FLYING)
        land(wire, transfer);
    wire->unwanted = NULL;
    pthread_cond_signal(&wire->let_go);
}

/* take_turn begins a turn when the one before is over. */
static void
take_turn(struct wire *wire)
{
    int64_t now_us = clock_monotonic_us(&clock_system);
    if (now_us - wire->turn_mono_us < TURN_MS * US_PER_MS)
        return;
    wire->turn++;
    wire->turn_mono_us = now_us;
    wire->young = 0;
}

/* take_some takes from the queue what may fly. */
static struct transfer *
take_some(struct wire *wire)
{
    struct transfers some = {0};
    while (wire->queued.first != NULL && wire->young < YOUNG_MAX) {
        struct transfer *transfer = wire->queued.first;
        wire->queued.first = transfer->next;
        transfer->state = TRANSFER_FLYING;
        transfer->turn = wire->turn;
        wire->young++;
        append(&some, transfer);
    }
    if (wire->queued.first == NULL)
        wire->queued.last = NULL;
    return some.first;
}

/* obey takes what was ordered meanwhile; false: the end. *ret_more: some wait for others. */
static bool
obey(struct wire *wire, bool *ret_more)
{
    take_turn(wire);
    pthread_mutex_lock(&wire->lock);
    bool goes_on = !wire->is_over;
    let_go(wire);
    struct transfer *some = take_some(wire);
    *ret_more = wire->queued.first != NULL;
    pthread_mutex_unlock(&wire->lock);
    begin(wire, some);
    return goes_on;
}

/* collect tells whether anything has ended. */
static bool
collect(struct wire *wire)
{
    struct transfers ended = {0};
    int left = 0;
    const CURLMsg *message;
    while ((message = curl_multi_info_read(wire->multi, &left)) != NULL) {
        if (message->msg != CURLMSG_DONE)
            continue;
        CURL *easy = message->easy_handle;
        CURLcode code = message->data.result; // the message ends with the handle
        struct transfer *transfer = NULL;
        curl_easy_getinfo(easy, CURLINFO_PRIVATE, &transfer);
        land(wire, transfer);
        transfer->code = code;
        append(&ended, transfer);
    }
    hand_over(wire, ended.first);
    return ended.first != NULL;
}

static void *
run(void *state)
{
    struct wire *wire = state;
    bool is_more = false;
    while (obey(wire, &is_more)) {
        int running = 0;
        curl_multi_perform(wire->multi, &running);
        // What has ended makes room for the next at once.
        if (!collect(wire) || !is_more)
            curl_multi_poll(wire->multi, NULL, 0, is_more ? TURN_MS : INT_MAX, NULL);
    }
    return NULL;
}

/* start begins with all signals blocked: they are for the other threads. */
static bool
start(struct wire *wire)
{
    if (wire->is_started)
        return true;
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    wire->is_started = pthread_create(&wire->thread, NULL, run, wire) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return wire->is_started;
}

/* --- the caller's side --- */

owed_status
wire_open(struct wire *wire, long at_once, owed_error *err)
{
    *wire = (struct wire){.ended_fd = -1};
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return fail(err, OWED_BUG, "libcurl could not be set up");
    wire->multi = curl_multi_init();
    wire->ended_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wire->multi == NULL || wire->ended_fd < 0) {
        int native = errno;
        curl_multi_cleanup(wire->multi);
        curl_global_cleanup();
        wire->multi = NULL;
        if (wire->ended_fd >= 0)
            close(wire->ended_fd);
        return fail_native(
            err, OWED_UNAVAILABLE, native, "webhooks cannot be sent: %s", strerrordesc_np(native));
    }
    pthread_mutex_init(&wire->lock, NULL);
    pthread_cond_init(&wire->let_go, NULL);
    curl_multi_setopt(wire->multi, CURLMOPT_MAXCONNECTS, at_once);
    return OWED_OK;
}

bool
wire_send(struct wire *wire, struct transfer *transfer)
{
    if (!start(wire))
        return false;
    pthread_mutex_lock(&wire->lock);
    bool is_first = wire->queued.first == NULL;
    transfer->state = TRANSFER_QUEUED;
    append(&wire->queued, transfer);
    pthread_mutex_unlock(&wire->lock);
    if (is_first)
        curl_multi_wakeup(wire->multi);
    return true;
}

struct transfer *
wire_take(struct wire *wire)
{
    pthread_mutex_lock(&wire->lock);
    struct transfer *ended = wire->ended.first;
    wire->ended = (struct transfers){0};
    // Also where what it announced was dropped.
    eventfd_t count;
    eventfd_read(wire->ended_fd, &count);
    for (struct transfer *t = ended; t != NULL; t = t->next)
        t->state = TRANSFER_OURS;
    pthread_mutex_unlock(&wire->lock);
    return ended;
}

void
wire_drop(struct wire *wire, struct transfer *transfer)
{
    pthread_mutex_lock(&wire->lock);
    if (transfer->state == TRANSFER_FLYING) {
        wire->unwanted = transfer;
        curl_multi_wakeup(wire->multi);
        while (wire->unwanted != NULL)
            pthread_cond_wait(&wire->let_go, &wire->lock);
    }
    take_out(&wire->queued, transfer);
    take_out(&wire->ended, transfer);
    transfer->state = TRANSFER_OURS;
    pthread_mutex_unlock(&wire->lock);
}

void
wire_close(struct wire *wire)
{
    if (wire->multi == NULL)
        return;
    pthread_mutex_lock(&wire->lock);
    wire->is_over = true;
    pthread_mutex_unlock(&wire->lock);
    if (wire->is_started) {
        curl_multi_wakeup(wire->multi);
        pthread_join(wire->thread, NULL);
    }
    curl_multi_cleanup(wire->multi);
    curl_global_cleanup();
    close(wire->ended_fd);
    pthread_cond_destroy(&wire->let_go);
    pthread_mutex_destroy(&wire->lock);
    wire->multi = NULL;
}
