/* SPDX-License-Identifier: MIT
 *
 * dispatcher.c - what a dispatcher is made of, and the way to a recipient.
 */
#include "notify/dispatcher.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"

#define DEFAULT_MAX_BACKOFF_US (30 * US_PER_SECOND)

/* --- retries --- */

owed_status
retry_check(const owed_retry *retry, owed_retry *ret_whole, owed_error *err)
{
    owed_retry whole = *retry;
    whole.attempts = whole.attempts == 0 ? 1 : whole.attempts;
    whole.multiplier = whole.multiplier == 0 ? 2 : whole.multiplier;
    if (whole.max_backoff_us == 0)
        whole.max_backoff_us =
            whole.backoff_us > DEFAULT_MAX_BACKOFF_US ? whole.backoff_us : DEFAULT_MAX_BACKOFF_US;
    if (whole.retry_on == 0)
        whole.retry_on = 1u << OWED_ANSWER_FAILED | 1u << OWED_ANSWER_WAIT;
    if (whole.attempts < 1)
        return fail(err, OWED_INVALID, "a retry of %d attempts, where 1 or more would be right",
            whole.attempts);
    if (whole.backoff_us < 0 || !(whole.multiplier >= 1) || whole.max_backoff_us < whole.backoff_us)
        return fail(err, OWED_INVALID,
            "a retry that waits %lld us, times %g, at most %lld us: a wait of 0 or more, a multiplier of 1 or more and a bound not below the wait would be right",
            (long long)whole.backoff_us, whole.multiplier, (long long)whole.max_backoff_us);
    *ret_whole = whole;
    return OWED_OK;
}

int64_t
retry_wait_us(const owed_retry *retry, int n)
{
    double wait_us = (double)retry->backoff_us;
    for (int i = 1; i < n && retry->multiplier > 1 && wait_us < (double)retry->max_backoff_us; i++)
        wait_us *= retry->multiplier;
    return wait_us < (double)retry->max_backoff_us ? (int64_t)wait_us : retry->max_backoff_us;
}

static void
really_wait(void *state, int64_t us)
{
    (void)state;
    struct timespec rest = {.tv_sec = us / US_PER_SECOND, .tv_nsec = us % US_PER_SECOND * 1000};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &rest, &rest) != 0)
        continue;
}

/* --- making one --- */

static owed_status
check_order(const char *const *order, owed_error *err)
{
    owed_status status = OWED_OK;
    for (size_t i = 0; status == OWED_OK && order != NULL && order[i] != NULL; i++) {
        if (i == LIMIT_CHANNELS)
            return fail(err, OWED_LIMIT, "an order has up to %d channels", LIMIT_CHANNELS);
        status = channel_check(order[i], err);
    }
    return status;
}

static owed_status
make_own_stores(owed_dispatcher *dispatcher, owed_error *err)
{
    owed_status status = OWED_OK;
    if (dispatcher->dead_letters == NULL) {
        dispatcher->owns_dead_letters = true;
        status = owed_dead_letters_new(0, &dispatcher->dead_letters, err);
    }
    if (dispatcher->dedup == NULL && status == OWED_OK) {
        dispatcher->owns_dedup = true;
        status = owed_dedup_new(0, &dispatcher->dedup, err);
    }
    return status;
}

owed_status
owed_dispatcher_new(
    const owed_dispatcher_options *options, owed_dispatcher **ret_dispatcher, owed_error *err)
{
    static const owed_dispatcher_options none;
    options = options == NULL ? &none : options;
    owed_retry retry;
    owed_status status = retry_check(&options->retry, &retry, err);
    if (status == OWED_OK)
        status = check_order(options->order, err);
    if (status != OWED_OK)
        return status;
    owed_dispatcher *dispatcher = calloc(1, sizeof *dispatcher);
    if (dispatcher == NULL)
        return fail_memory(err);
    *dispatcher = (owed_dispatcher){
        .order = options->order,
        .retry = retry,
        .dead_letters = options->dead_letters,
        .dedup = options->dedup,
        .clock = clock_or_system(options->clock),
        .wait = options->wait == NULL ? really_wait : options->wait,
        .wait_state = options->wait_state,
    };
    status = make_own_stores(dispatcher, err);
    if (status != OWED_OK) {
        owed_dispatcher_free(dispatcher);
        return status;
    }
    *ret_dispatcher = dispatcher;
    return OWED_OK;
}

static void
channel_close(owed_channel *channel)
{
    if (channel->close != NULL)
        channel->close(channel);
}

void
owed_dispatcher_free(owed_dispatcher *dispatcher)
{
    if (dispatcher == NULL)
        return;
    for (size_t i = 0; i < dispatcher->channel_count; i++)
        channel_close(&dispatcher->channels[i]);
    if (dispatcher->owns_dead_letters)
        owed_dead_letters_free(dispatcher->dead_letters);
    if (dispatcher->owns_dedup)
        owed_dedup_free(dispatcher->dedup);
    free(dispatcher);
}

owed_dead_letters *
owed_dispatcher_dead_letters(owed_dispatcher *dispatcher)
{
    return dispatcher->dead_letters;
}

owed_dedup *
owed_dispatcher_dedup(owed_dispatcher *dispatcher)
{
    return dispatcher->dedup;
}

/* --- channels --- */

const owed_channel *
channel_find(const owed_dispatcher *dispatcher, const char *name)
{
    for (size_t i = 0; i < dispatcher->channel_count; i++)
        if (strcmp(dispatcher->channels[i].name, name) == 0)
            return &dispatcher->channels[i];
    return NULL;
}

owed_status
owed_dispatcher_add(owed_dispatcher *dispatcher, const owed_channel *channel, owed_error *err)
{
    owed_status status = channel_check(or_empty(channel->name), err);
    if (status != OWED_OK)
        return status;
    if (channel->send == NULL)
        return fail(err, OWED_INVALID, "channel %s has no function that sends", channel->name);
    const owed_channel *known = channel_find(dispatcher, channel->name);
    size_t at = known == NULL ? dispatcher->channel_count : (size_t)(known - dispatcher->channels);
    if (at == LIMIT_CHANNELS)
        return fail(err, OWED_LIMIT, "a dispatcher has up to %d channels", LIMIT_CHANNELS);
    if (known != NULL)
        channel_close(&dispatcher->channels[at]);
    dispatcher->channels[at] = *channel;
    dispatcher->channel_count += known == NULL;
    return OWED_OK;
}

static size_t
add_once(const char *route[static ROUTE_MAX], size_t count, const char *channel)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(route[i], channel) == 0)
            return count;
    route[count] = channel;
    return count + 1;
}

static size_t
add_all(const char *route[static ROUTE_MAX], size_t count, const char *const *channels)
{
    for (size_t i = 0; channels != NULL && channels[i] != NULL && i < LIMIT_CHANNELS; i++)
        count = add_once(route, count, channels[i]);
    return count;
}

size_t
route_of(const owed_dispatcher *dispatcher, const owed_recipient *recipient, const char *pinned,
    const char *route[static ROUTE_MAX])
{
    static const char *const usual[] = {"push", "sms", "email", NULL};
    if (pinned != NULL) {
        route[0] = pinned;
        return 1;
    }
    size_t count = add_all(route, 0, recipient->preferred);
    if (dispatcher->order != NULL)
        return add_all(route, count, dispatcher->order);
    count = add_all(route, count, usual);
    for (size_t i = 0; i < dispatcher->channel_count; i++)
        count = add_once(route, count, dispatcher->channels[i].name);
    return count;
}

const char *
owed_dispatcher_channel(const owed_dispatcher *dispatcher, size_t n)
{
    const char *route[ROUTE_MAX];
    size_t count = route_of(dispatcher, &(owed_recipient){0}, NULL, route);
    for (size_t i = 0; i < count; i++) {
        const owed_channel *channel = channel_find(dispatcher, route[i]);
        if (channel != NULL && n-- == 0)
            return channel->name;
    }
    return NULL;
}
