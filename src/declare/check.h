/* SPDX-License-Identifier: MIT
 *
 * check.h - what a declaration may not say. For the registry alone.
 */
#ifndef DECLARE_CHECK_H
#define DECLARE_CHECK_H

#include "declare/registry.h"

/* A receiver on its way into a registry. */
struct declaration {
    const owed_receiver *receiver;
    const char *where; // "owed.conf:12", or "" when declared in C
    const char *app;   // of the registry
};

/* check_receiver refuses whatever is contradictory, out of range or only for durable receivers;
 * CONFIG, in one sentence that names the receiver and what would be right. */
owed_status check_receiver(const struct declaration *declaration, owed_error *err);

/* refuse is fail(err, OWED_CONFIG, ...) after the declaration's place and key. */
owed_status refuse(const struct declaration *declaration, owed_error *err, const char *format, ...)
    OWED_PRINTF(3, 4);

/* receiver_event_name is the name of the event that it is declared for, "*" for any; never NULL. */
const char *receiver_event_name(const owed_receiver *receiver);

/* is_any_event: the name that stands for every event. */
static inline bool
is_any_event(const char *event_name)
{
    return strcmp(event_name, owed_any_event.name) == 0;
}

/* type_check refuses a type that cannot be used, or of whose name another one is declared; type_add keeps
 * one that was accepted, a real one in the place of a mere name; type_of_name makes one of a name. */
owed_status type_check(const owed_registry *registry, const owed_event_type *type, owed_error *err);
owed_status type_add(
    owed_registry *registry, const owed_event_type *type, bool by_name, owed_error *err);
const owed_event_type *type_of_name(struct arena *arena, const char *name);

/* receiver_runner finds which of run, webhook, exec, pipe, file and discard it has; exactly one is given. */
enum runner receiver_runner(const owed_receiver *receiver);

/* endpoints.c: check_endpoints refuses what owed_endpoint_settings may not say; endpoints_copy reads it into the arena,
 * NULL: no memory. */
owed_status check_endpoints(const struct declaration *declaration, owed_error *err);
const struct endpoints *endpoints_copy(
    struct arena *arena, const owed_endpoint_settings *said, const char *app);
bool endpoints_same(const owed_endpoint_settings *a, const owed_endpoint_settings *b);

/* show copies a text that may hold anything so that a message can: cut, unprintable bytes as "?". */
#define SHOWN_BYTES 100
const char *show(const char *text, char shown[static SHOWN_BYTES]);

/* Of check_receiver: what a secret, a target and a broker need. */
owed_status check_secret(const struct declaration *declaration, owed_error *err);
owed_status check_target(const struct declaration *declaration, owed_error *err);
owed_status check_broker(const struct declaration *declaration, owed_error *err);

#endif
