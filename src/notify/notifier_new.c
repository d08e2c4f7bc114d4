/* SPDX-License-Identifier: MIT
 *
 * notifier_new.c - making what delivers tickets, and ending it.
 */
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "notify/notifier.h"

#define DEFAULT_THREADS 4
#define DAY_US (24 * 3600 * US_PER_SECOND)

static owed_status
check_options(const owed_notifier_options *options, owed_error *err)
{
    if (options->threads < 0 || options->threads > LIMIT_THREADS)
        return fail(err, OWED_INVALID, "a notifier has 1 to %d threads, or the usual number (0)",
            LIMIT_THREADS);
    if (options->max_attempts < 0 || options->backoff_base_us < 0 || options->backoff_cap_us < 0 ||
        options->give_up_after_us < 0 || options->dedup_ttl_us < 0)
        return fail(err, OWED_INVALID, "an option of a notifier is negative");
    return OWED_OK;
}

owed_status
owed_notifier_new(const owed_templates *templates, owed_dispatcher *dispatcher,
    const owed_notifier_options *options, owed_notifier **ret_notifier, owed_error *err)
{
    static const owed_notifier_options none;
    options = options == NULL ? &none : options;
    owed_status status = check_options(options, err);
    if (status != OWED_OK)
        return status;
    owed_notifier *notifier = calloc(1, sizeof *notifier);
    if (notifier == NULL)
        return fail_memory(err);
    notifier->templates = templates;
    notifier->dispatcher = dispatcher;
    notifier->options = *options;
    owed_notifier_options *own = &notifier->options;
    own->threads = own->threads == 0 ? DEFAULT_THREADS : own->threads;
    own->max_attempts = own->max_attempts == 0 ? NOTIFY_MAX_ATTEMPTS : own->max_attempts;
    own->backoff_base_us =
        own->backoff_base_us == 0 ? NOTIFY_BACKOFF_BASE_US : own->backoff_base_us;
    own->give_up_after_us =
        own->give_up_after_us == 0 ? NOTIFY_GIVE_UP_AFTER_US : own->give_up_after_us;
    own->dedup_ttl_us = own->dedup_ttl_us == 0 ? DAY_US : own->dedup_ttl_us;
    pthread_mutex_init(&notifier->lock, NULL);
    pthread_cond_init(&notifier->wanted, NULL);
    STAILQ_INIT(&notifier->jobs);
    *ret_notifier = notifier;
    return OWED_OK;
}

void
owed_notifier_free(owed_notifier *notifier)
{
    if (notifier == NULL)
        return;
    pthread_mutex_lock(&notifier->lock);
    notifier->is_ending = true;
    pthread_cond_broadcast(&notifier->wanted);
    pthread_mutex_unlock(&notifier->lock);
    for (int i = 0; i < notifier->thread_count; i++)
        pthread_join(notifier->threads[i], NULL);
    pthread_cond_destroy(&notifier->wanted);
    pthread_mutex_destroy(&notifier->lock);
    free(notifier);
}
