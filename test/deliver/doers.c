/* SPDX-License-Identifier: MIT
 *
 * doers.c - a module whose receivers do what the payload says: work, crash, leave, hang, hold, pass on.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <owed/owed.h>

#include "effect.h"

static const owed_event_type job_type = {.name = "shop.Job", .version = 1};
static const owed_event_type timed_type = {.name = "shop.Timed", .version = 1};
static const owed_event_type call_type = {.name = "shop.Call", .version = 1};

static bool
says(const owed_bytes *payload, const char *word)
{
    return memmem(payload->data, payload->len, word, strlen(word)) != NULL;
}

static void
crash(int number)
{
    setrlimit(RLIMIT_CORE, &(struct rlimit){0});
    raise(number);
}

/* hold tells who it is, and waits until the test has opened its end of the pipe and closed it. */
static void
hold(void)
{
    FILE *file = fopen("held.new", "we");
    fprintf(file, "%d", getpid());
    fclose(file);
    rename("held.new", "held");
    FILE *gate = fopen("gate", "re");
    while (gate != NULL && getc(gate) != EOF)
        ;
    if (gate != NULL)
        fclose(gate);
}

static void
do_as_told(const owed_bytes *payload)
{
    if (says(payload, "segv"))
        crash(SIGSEGV);
    if (says(payload, "abort"))
        crash(SIGABRT);
    if (says(payload, "leave"))
        _exit(3);
    while (says(payload, "hang"))
        pause();
    if (says(payload, "hold"))
        hold();
}

static owed_outcome
note(owed_delivery *delivery)
{
    char sql[128];
    snprintf(sql, sizeof sql, "insert into effect (delivery) values (%" PRId64 ")",
        owed_delivery_id(delivery));
    if (!effect_of(delivery, sql))
        return owed_failed(delivery, "the effect could not be written");
    return owed_done();
}

/* pass_on has a chain go on until its number has come down to nothing, each link by another worker. */
static owed_outcome
pass_on(owed_delivery *delivery, const owed_bytes *payload, const owed_event_type *type)
{
    char text[32] = "";
    memcpy(text, payload->data, payload->len < sizeof text ? payload->len : sizeof text - 1);
    long left = strtol(text, NULL, 10);
    if (left <= 0)
        return owed_done();
    snprintf(text, sizeof text, "%ld", left - 1);
    const owed_bytes next = {text, strlen(text)};
    owed_tx *tx = owed_delivery_tx(delivery);
    owed_error err;
    if (owed_fire(tx, type, &next, NULL, NULL, &err) != OWED_OK)
        return owed_failed(delivery, "%s", err.text);
    return owed_done();
}

static owed_outcome
do_job(owed_delivery *delivery, const void *payload)
{
    const owed_bytes *bytes = payload;
    do_as_told(bytes);
    owed_outcome outcome = note(delivery);
    if (outcome.verdict != OWED_VERDICT_DONE)
        return outcome;
    return pass_on(delivery, bytes, &job_type);
}

static owed_outcome
do_call(owed_delivery *delivery, const void *payload)
{
    (void)delivery;
    do_as_told(payload);
    return owed_done();
}

OWED_API owed_status owed_module_init(owed_registry *registry, owed_error *err);

OWED_API owed_status
owed_module_init(owed_registry *registry, owed_error *err)
{
    const owed_receiver receivers[] = {
        {.key = "shop.job", .event = &job_type, .run = do_job},
        {.key = "shop.timed", .event = &timed_type, .run = do_job, .timeout_us = 1000000},
        {.key = "shop.call", .event = &call_type, .run = do_call, .outside = true},
        {.key = "shop.slow_call",
            .event = &call_type,
            .run = do_call,
            .outside = true,
            .timeout_us = 1000000},
    };
    for (size_t i = 0; i < sizeof receivers / sizeof receivers[0]; i++) {
        owed_receiver receiver = receivers[i];
        receiver.max_attempts = 2;
        receiver.backoff_base_us = receiver.backoff_cap_us = 1; // due again at once
        owed_status status = owed_declare_receiver(registry, &receiver, err);
        if (status != OWED_OK)
            return status;
    }
    return OWED_OK;
}
