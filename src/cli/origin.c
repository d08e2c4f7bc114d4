/* SPDX-License-Identifier: MIT
 *
 * origin.c - the environment that a relay gives to a program, read back.
 */
#include "cli/origin.h"

#include <stdlib.h>

#include "base/traceparent.h"
#include "deliver/handle.h"
#include "store/look.h"

/* is_delivered tells whether the event is the one that the idempotency key was made of. */
static bool
is_delivered(const struct event_row *event, const char *key)
{
    char made[IDEMPOTENCY_KEY_BYTES];
    idempotency_key(
        event->uid, or_empty(getenv("OWED_RECEIVER")), or_empty(getenv("OWED_TARGET")), made);
    return strcmp(made, key) == 0;
}

static owed_status
read_cause(struct cli *cli, struct origin *origin)
{
    int64_t id = 0;
    const char *text = getenv("OWED_EVENT_ID");
    const char *key = getenv("OWED_IDEMPOTENCY_KEY");
    if (is_empty(key) || is_empty(text) || !cli_id(text, &id))
        return OWED_OK;
    origin->correlation_id = getenv("OWED_CORRELATION_ID");
    struct event_row event = {0};
    owed_status status = store_event(cli->db, id, &cli->arena, &event, &cli->err);
    if (status == OWED_NOT_FOUND)
        return OWED_OK;
    if (status == OWED_OK && is_delivered(&event, key))
        origin->causation_id = id;
    return status;
}

owed_status
origin_read(struct cli *cli, struct origin *ret_origin)
{
    *ret_origin = (struct origin){0};
    const char *traceparent = getenv("TRACEPARENT");
    if (traceparent != NULL && traceparent_is_valid(traceparent))
        ret_origin->traceparent = traceparent;
    return read_cause(cli, ret_origin);
}

void
origin_complete(const struct origin *origin, owed_fire_options *options)
{
    if (options->causation_id == 0)
        options->causation_id = origin->causation_id;
    if (is_empty(options->correlation_id))
        options->correlation_id = origin->correlation_id;
    if (is_empty(options->traceparent))
        options->traceparent = origin->traceparent;
}
