/* SPDX-License-Identifier: MIT
 *
 * effects.c - receivers whose effects can be counted.
 *
 * EFFECTS names which of them are declared, separated by commas; each is owed every event named
 * "prove.Event". Those that write need a table effect(delivery integer, receiver text).
 */
#include "effects.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* write_effect inserts one row in the transaction that carries the acknowledgement. */
static owed_outcome
write_effect(owed_delivery *delivery, const void *payload)
{
    (void)payload;
    char why[200] = "no connection";
    if (effect_insert(delivery, why))
        return owed_done();
    return owed_failed(delivery, "%s", why);
}

/* call_out writes its delivery's id to the file EFFECTS_CALLS, whatever becomes of the attempt. */
static owed_outcome
call_out(owed_delivery *delivery, const void *payload)
{
    (void)payload;
    static int fd = -1;
    const char *path = getenv("EFFECTS_CALLS");
    if (fd < 0 && path != NULL)
        fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    char line[32];
    int len = snprintf(line, sizeof line, "%" PRId64 "\n", owed_delivery_id(delivery));
    if (write(fd, line, (size_t)len) != len)
        return owed_failed(delivery, "the call could not be noted");
    return owed_done();
}

static owed_outcome
do_nothing(owed_delivery *delivery, const void *payload)
{
    (void)delivery;
    (void)payload;
    return owed_done();
}

/* take_long waits for EFFECTS_MS (50) before it writes; for stops and kills in the middle. */
static owed_outcome
take_long(owed_delivery *delivery, const void *payload)
{
    const char *ms = getenv("EFFECTS_MS");
    poll(NULL, 0, ms == NULL ? 50 : (int)strtol(ms, NULL, 10));
    return write_effect(delivery, payload);
}

/* crash_on_poison ends the process on a payload that says so. */
static owed_outcome
crash_on_poison(owed_delivery *delivery, const void *payload)
{
    const owed_bytes *json = payload;
    if (memmem(json->data, json->len, "\"poison\"", 8) != NULL)
        raise(SIGSEGV);
    return write_effect(delivery, payload);
}

/* refuse fails always. */
static owed_outcome
refuse(owed_delivery *delivery, const void *payload)
{
    (void)payload;
    return owed_failed(delivery, "refused on attempt %" PRId32, owed_delivery_attempt(delivery));
}

/* stay never comes back by itself. */
static owed_outcome
stay(owed_delivery *delivery, const void *payload)
{
    (void)delivery;
    (void)payload;
    while (poll(NULL, 0, -1) <= 0)
        ;
    return owed_done();
}

static const owed_receiver receivers[] = {
    {.key = "prove.grouped", .run = write_effect, .database_only = true},
    {.key = "prove.grouped2", .run = write_effect, .database_only = true},
    {.key = "prove.single", .run = write_effect},
    {.key = "prove.noop", .run = do_nothing},
    {.key = "prove.noop2", .run = do_nothing},
    {.key = "prove.slow", .run = take_long},
    {.key = "prove.crash", .run = crash_on_poison, .max_attempts = 3, .backoff_base_us = 1000},
    {.key = "prove.refuse", .run = refuse, .max_attempts = 3, .backoff_base_us = 1000},
    {.key = "prove.stay",
        .run = stay,
        .max_attempts = 2,
        .backoff_base_us = 1000,
        .timeout_us = 300000},
    {.key = "prove.call", .run = call_out, .outside = true},
    {.key = "prove.task", .run = write_effect, .site = OWED_SITE_TASK},
    {.key = "prove.function", .run = do_nothing, .outside = true},
};

static bool
is_wanted(const char *list, const char *key)
{
    const char *name = strchr(key, '.') + 1;
    size_t len = strlen(name);
    for (const char *p = list; p != NULL && *p != '\0';) {
        size_t word = strcspn(p, ",");
        if (word == len && strncmp(p, name, len) == 0)
            return true;
        p += word + (p[word] == ',');
    }
    return false;
}

OWED_API owed_status owed_module_init(owed_registry *registry, owed_error *err);

owed_status
owed_module_init(owed_registry *registry, owed_error *err)
{
    const char *list = getenv("EFFECTS");
    for (size_t i = 0; i < sizeof receivers / sizeof receivers[0]; i++) {
        owed_receiver receiver = receivers[i];
        if (!is_wanted(list, receiver.key))
            continue;
        receiver.event_name = "prove.Event";
        owed_status status = owed_declare_receiver(registry, &receiver, err);
        if (status != OWED_OK)
            return status;
    }
    return OWED_OK;
}
