/* SPDX-License-Identifier: MIT
 *
 * watchers.c - a module with a hook around each attempt, an on_failure that writes, and a receiver that
 * another thread finishes.
 */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <owed/owed.h>

#include "effect.h"

static owed_outcome
crash(owed_delivery *delivery, const void *payload)
{
    const owed_bytes *bytes = payload;
    if (memmem(bytes->data, bytes->len, "fail", 4) != NULL)
        return owed_failed(delivery, "as told");
    setrlimit(RLIMIT_CORE, &(struct rlimit){0});
    raise(SIGSEGV);
    return owed_done();
}

static void
keep_a_record(owed *handle, const owed_failure *failure, void *state)
{
    (void)state;
    owed_error err;
    owed_tx *tx = NULL;
    if (owed_begin(handle, &tx, &err) != OWED_OK)
        return;
    char sql[200];
    snprintf(sql, sizeof sql,
        "insert into record (delivery, attempt, kind, now) values (%" PRId64 ", %d, '%s', '%s')",
        failure->delivery_id, (int)failure->attempt, failure->kind, failure->status);
    effect(tx, sql);
    if (owed_commit(tx, &err) != OWED_OK)
        return;
}

static owed_outcome
enter(owed_delivery *delivery, void *state, void **ret_attempt_state)
{
    (void)state;
    (void)ret_attempt_state;
    owed_delivery_note(delivery, "tenant", "acme");
    return owed_done();
}

static void *
finish(void *state)
{
    owed_delivery *delivery = state;
    owed_error err;
    if (owed_finish(delivery, owed_done(), &err) != OWED_OK)
        abort();
    owed_delivery_release(delivery);
    return NULL;
}

static void
start(owed_delivery *delivery, const void *payload)
{
    (void)payload;
    pthread_t thread;
    if (pthread_create(&thread, NULL, finish, delivery) != 0)
        abort();
    pthread_detach(thread);
}

OWED_API owed_status owed_module_init(owed_registry *registry, owed_error *err);

OWED_API owed_status
owed_module_init(owed_registry *registry, owed_error *err)
{
    const owed_around around = {.enter = enter};
    const owed_receiver crashing = {.key = "shop.crash",
        .event_name = "shop.Crash",
        .run = crash,
        .max_attempts = 2,
        .backoff_base_us = 1,
        .backoff_cap_us = 1,
        .on_failure = keep_a_record};
    const owed_receiver async = {
        .key = "shop.async", .event_name = "shop.Async", .start = start, .max_attempts = 1};
    owed_status status = owed_registry_set_around(registry, &around, err);
    if (status == OWED_OK)
        status = owed_declare_receiver(registry, &crashing, err);
    return status == OWED_OK ? owed_declare_receiver(registry, &async, err) : status;
}
