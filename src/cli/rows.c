/* SPDX-License-Identifier: MIT
 *
 * rows.c - members and their columns, one table for each kind of row.
 */
#include "cli/rows.h"

#include "cli/common.h"
#include "deliver/endpoints.h"
#include "operate/health.h"

#define NAME_WIDTH 40
#define TEXT_WIDTH 60
#define REASON_WIDTH 100

#define EVENT_FACTS \
    FIELD(struct event_row, id, "id", "ID", SHAPE_INT), \
        FIELD(struct event_row, uid, "uid", NULL, SHAPE_UID), \
        FIELD(struct event_row, name, "name", "NAME", SHAPE_TEXT), \
        FIELD(struct event_row, version, "version", "VERSION", SHAPE_INT32), \
        FIELD(struct event_row, occurred_at_us, "occurred_at", "OCCURRED", SHAPE_TIME), \
        FIELD(struct event_row, recorded_at_us, "recorded_at", NULL, SHAPE_TIME), \
        FIELD(struct event_row, owed, "owed", "OWED", SHAPE_INT), \
        FIELD(struct event_row, dedupe_key, "dedupe_key", "DEDUPE KEY", SHAPE_KEY, \
            .width = NAME_WIDTH), \
        FIELD(struct event_row, correlation_id, "correlation_id", "CORRELATION", SHAPE_KEY, \
            .width = NAME_WIDTH), \
        FIELD(struct event_row, causation_id, "causation_id", NULL, SHAPE_ID), \
        FIELD(struct event_row, actor_key, "actor_key", NULL, SHAPE_KEY), \
        FIELD(struct event_row, actor_label, "actor_label", NULL, SHAPE_KEY), \
        FIELD(struct event_row, scope, "scope", NULL, SHAPE_JSON), \
        FIELD(struct event_row, traceparent, "traceparent", NULL, SHAPE_KEY), \
        FIELD(struct event_row, suppressed_reason, "suppressed_reason", "SUPPRESSED", SHAPE_KEY, \
            .width = NAME_WIDTH)

const struct field event_fields[] = {
    EVENT_FACTS,
    FIELD(struct event_row, deliveries, "deliveries", "DELIVERIES", SHAPE_INT),
    FIELDS_END,
};

const struct field event_whole_fields[] = {
    EVENT_FACTS,
    FIELD(struct event_row, payload, "payload", NULL, SHAPE_PAYLOAD),
    FIELDS_END,
};

const struct field event_link_fields[] = {
    FIELD(struct event_row, id, "id", "ID", SHAPE_INT),
    FIELD(struct event_row, name, "name", "NAME", SHAPE_KEY, .width = NAME_WIDTH),
    FIELDS_END,
};

const struct field delivery_fields[] = {
    FIELD(struct delivery_row, id, "id", "ID", SHAPE_INT),
    FIELD(struct delivery_row, event_id, "event_id", "EVENT", SHAPE_INT),
    FIELD(struct delivery_row, event_name, "event_name", "NAME", SHAPE_KEY, .width = NAME_WIDTH),
    FIELD(struct delivery_row, receiver_key, "receiver_key", "RECEIVER", SHAPE_TEXT,
        .width = NAME_WIDTH),
    FIELD(struct delivery_row, target, "target", NULL, SHAPE_KEY),
    FIELD(struct delivery_row, lane, "lane", "LANE", SHAPE_TEXT, .width = NAME_WIDTH),
    FIELD(struct delivery_row, kind, "kind", NULL, SHAPE_TEXT),
    FIELD(struct delivery_row, status, "status", "STATUS", SHAPE_TEXT),
    FIELD(struct delivery_row, attempts, "attempts", "ATTEMPTS", SHAPE_INT32),
    FIELD(struct delivery_row, max_attempts, "max_attempts", "OF", SHAPE_INT32),
    FIELD(struct delivery_row, losses, "losses", NULL, SHAPE_INT32),
    FIELD(struct delivery_row, available_at_us, "available_at", "AVAILABLE", SHAPE_TIME),
    FIELD(struct delivery_row, due_at_us, "due_at", NULL, SHAPE_TIME),
    FIELD(struct delivery_row, claimed_by, "claimed_by", NULL, SHAPE_KEY),
    FIELD(struct delivery_row, claimed_at_us, "claimed_at", NULL, SHAPE_TIME),
    FIELD(struct delivery_row, lease_expires_at_us, "lease_expires_at", NULL, SHAPE_TIME),
    FIELD(struct delivery_row, completed_at_us, "completed_at", NULL, SHAPE_TIME),
    FIELD(struct delivery_row, succeeded_at_us, "succeeded_at", NULL, SHAPE_TIME),
    FIELD(struct delivery_row, last_error, "last_error", "LAST ERROR", SHAPE_KEY,
        .width = TEXT_WIDTH),
    FIELD(struct delivery_row, result, "result", NULL, SHAPE_KEY),
    FIELDS_END,
};

const struct field attempt_fields[] = {
    FIELD(struct attempt_row, id, "id", NULL, SHAPE_INT),
    FIELD(struct attempt_row, delivery_id, "delivery_id", "DELIVERY", SHAPE_INT),
    FIELD(struct attempt_row, attempt, "attempt", "ATTEMPT", SHAPE_INT32),
    FIELD(struct attempt_row, started_at_us, "started_at", "STARTED", SHAPE_TIME),
    FIELD(struct attempt_row, duration_us, "duration", "TOOK", SHAPE_WAIT),
    FIELD(struct attempt_row, verdict, "verdict", "VERDICT", SHAPE_TEXT),
    FIELD(struct attempt_row, code, "code", "CODE", SHAPE_CODE),
    FIELD(struct attempt_row, error, "error", "ERROR", SHAPE_KEY, .width = REASON_WIDTH),
    FIELD(struct attempt_row, excerpt, "excerpt", NULL, SHAPE_KEY),
    FIELDS_END,
};

const struct field relay_fields[] = {
    FIELD(struct shown_relay, row.id, "id", "ID", SHAPE_TEXT),
    FIELD(struct shown_relay, row.host, "host", "HOST", SHAPE_TEXT),
    FIELD(struct shown_relay, row.pid, "pid", "PID", SHAPE_INT),
    FIELD(struct shown_relay, row.boot_id, "boot_id", NULL, SHAPE_KEY),
    FIELD(struct shown_relay, row.lanes, "lanes", "LANES", SHAPE_WORDS),
    FIELD(struct shown_relay, row.wake_path, "wake_path", NULL, SHAPE_KEY),
    FIELD(struct shown_relay, row.started_at_us, "started_at", "STARTED", SHAPE_TIME),
    FIELD(struct shown_relay, row.heartbeat_at_us, "heartbeat_at", "HEARTBEAT", SHAPE_TIME),
    FIELD(struct shown_relay, age_us, "heartbeat_age_seconds", "AGE", SHAPE_AGE),
    FIELD(struct shown_relay, alive, "alive", "ALIVE", SHAPE_BOOL),
    FIELD(struct shown_relay, row.deaf, "deaf", "DEAF", SHAPE_KEY),
    FIELD(struct shown_relay, row.away, "away", "AWAY", SHAPE_KEY, .width = REASON_WIDTH),
    FIELDS_END,
};

void
attempts_in_words(struct attempt_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(or_empty(rows[i].excerpt), UNSENT, strlen(UNSENT)) == 0)
            rows[i].error = rows[i].excerpt;
}

struct shown_relay *
show_relays(struct cli *cli, const struct relay_row *rows, size_t count)
{
    struct shown_relay *shown = arena_alloc(&cli->arena, (count + 1) * sizeof *shown);
    for (size_t i = 0; i < count && shown != NULL; i++) {
        int64_t age_us = cli->now_us - rows[i].heartbeat_at_us;
        shown[i] = (struct shown_relay){
            .row = rows[i],
            .alive = relay_is_alive(&rows[i], cli->now_us),
            .age_us = age_us > 0 ? age_us : 0,
        };
    }
    return shown;
}
