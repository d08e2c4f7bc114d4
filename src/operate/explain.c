/* SPDX-License-Identifier: MIT
 *
 * explain.c - gathering the facts of one delivery.
 */
#include "operate/explain.h"

#include <inttypes.h>

#include "base/error.h"
#include "base/json.h"
#include "declare/registry.h"
#include "deliver/endpoints.h"
#include "operate/health.h"
#include "operate/reasons.h"

bool
relay_serves(const struct relay_row *relay, const char *lane)
{
    struct str lanes = str_of(relay->lanes);
    if (json_check(lanes, 2, NULL) != OWED_OK)
        return false;
    struct json_walk walk = json_walk(json_root(lanes));
    struct json served;
    while (json_next(&walk, NULL, &served)) {
        if (json_key_is(served.text, "*") || json_key_is(served.text, lane))
            return true;
    }
    return false;
}

static owed_status
read_relays(struct db *db, struct arena *arena, struct facts *facts, owed_error *err)
{
    struct relay_row *relays = NULL;
    size_t count = 0;
    owed_status status = store_relays(db, arena, &relays, &count, err);
    if (status != OWED_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        if (relays[i].heartbeat_at_us <= facts->now_us - RELAY_SILENCE_US)
            continue;
        facts->served = facts->served || relay_serves(&relays[i], facts->row.lane);
    }
    facts->relays = relays_alive(relays, count, facts->now_us);
    return OWED_OK;
}

static owed_status
read_receiver(struct db *db, struct arena *arena, struct facts *facts, owed_error *err)
{
    struct catalogue_receiver *receivers = NULL;
    size_t count = 0;
    owed_status status = store_catalogue_receivers(db, arena, &receivers, &count, err);
    for (size_t i = 0; status == OWED_OK && i < count; i++) {
        if (strcmp(receivers[i].key, facts->row.receiver_key) == 0)
            facts->receiver = &receivers[i];
    }
    return status;
}

/* is_pause_of: of its receiver, or of the lane that it belongs to. */
static bool
is_pause_of(const struct paused_row *pause, const struct facts *facts)
{
    if (pause->endpoint[0] != '\0')
        return false;
    if (pause->receiver_key[0] != '\0')
        return strcmp(pause->receiver_key, facts->row.receiver_key) == 0;
    return facts->receiver != NULL && strcmp(pause->lane, facts->receiver->lane) == 0;
}

static bool
is_endpoint_pause_of(const struct paused_row *pause, const struct facts *facts)
{
    return pause->endpoint[0] != '\0' && strcmp(pause->endpoint, facts->row.target) == 0 &&
        strcmp(pause->receiver_key, facts->row.receiver_key) == 0 &&
        (pause->paused_until_us == 0 || pause->paused_until_us > facts->now_us);
}

static owed_status
read_pause(struct db *db, struct arena *arena, struct facts *facts, owed_error *err)
{
    struct paused_row *paused = NULL;
    size_t count = 0;
    owed_status status = store_paused(db, arena, &paused, &count, err);
    for (size_t i = 0; status == OWED_OK && i < count; i++) {
        if (is_pause_of(&paused[i], facts))
            facts->pause = &paused[i];
        if (is_endpoint_pause_of(&paused[i], facts))
            facts->endpoint_pause = &paused[i];
    }
    return status;
}

/* read_endpoint asks whether its endpoint still gets anything. One that is tried out does so always. */
static owed_status
read_endpoint(struct db *db, struct arena *arena, struct facts *facts, owed_error *err)
{
    struct endpoint_row row;
    if (state_is_terminal(facts->state) || facts->row.target[0] == '\0' ||
        strcmp(facts->row.receiver_key, ENDPOINTS_RECEIVER) != 0)
        return OWED_OK;
    owed_status status = store_endpoint(db, facts->row.target, arena, &row, err);
    if (status == OWED_NOT_FOUND) {
        facts->endpoint_end = "was removed";
        return OWED_OK;
    }
    if (status != OWED_OK || row.disabled_at_us == 0 ||
        strcmp(facts->row.event_name, PING_EVENT) == 0)
        return status;
    facts->endpoint_end = arena_printf(arena, "is disabled (%s)", row.disabled_reason);
    return facts->endpoint_end == NULL ? fail_memory(err) : OWED_OK;
}

/* read_unsent asks whether a success was one without a request, as its last attempt says. */
static owed_status
read_unsent(struct db *db, struct arena *arena, struct facts *facts, owed_error *err)
{
    struct attempt_row *rows = NULL;
    size_t count = 0;
    if (facts->state != STATE_SUCCEEDED || strcmp(facts->row.receiver_key, ENDPOINTS_RECEIVER) != 0)
        return OWED_OK;
    owed_status status = store_attempts(db, facts->row.id, arena, &rows, &count, err);
    if (status == OWED_OK && count > 0 &&
        strncmp(rows[count - 1].excerpt, UNSENT, strlen(UNSENT)) == 0)
        facts->unsent = rows[count - 1].excerpt + strlen(UNSENT);
    return status;
}

static owed_status
read_facts(
    struct db *db, int64_t delivery_id, struct arena *arena, struct facts *facts, owed_error *err)
{
    owed_status status = store_delivery(db, delivery_id, arena, &facts->row, err);
    if (status == OWED_OK && !state_parse(facts->row.status, &facts->state))
        status = fail(err, OWED_STORE, "delivery %" PRId64 " has the status \"%s\", which is none",
            delivery_id, facts->row.status);
    if (status == OWED_OK)
        status = read_receiver(db, arena, facts, err);
    if (status == OWED_OK)
        status = read_relays(db, arena, facts, err);
    if (status == OWED_OK)
        status = read_pause(db, arena, facts, err);
    if (status == OWED_OK)
        status = read_endpoint(db, arena, facts, err);
    if (status == OWED_OK)
        status = read_unsent(db, arena, facts, err);
    if (status == OWED_OK)
        status = store_ahead(db, &facts->row, MOST_AHEAD, &facts->ahead, err);
    if (status == OWED_OK)
        status = store_put_off(db, &facts->row, facts->now_us, arena, &facts->put_off, err);
    return status;
}

bool
is_in_its_lane(const struct facts *facts)
{
    return strcmp(facts->row.lane, facts->receiver->lane) == 0 ||
        is_side_lane(facts->row.lane, facts->receiver->app);
}

owed_status
explain_delivery(struct db *db, int64_t delivery_id, int64_t now_us, struct arena *arena,
    enum reason *ret_reason, struct buf *sentence, owed_error *err)
{
    struct facts facts = {.now_us = now_us};
    owed_status status = read_facts(db, delivery_id, arena, &facts, err);
    if (status != OWED_OK)
        return status;
    enum reason reason = reason_find(&facts);
    buf_printf(sentence, "delivery %" PRId64 " of event %" PRId64 " to %s is %s: ", delivery_id,
        facts.row.event_id, facts.row.receiver_key, facts.row.status);
    reason_say(reason, sentence, &facts);
    *ret_reason = reason;
    return OWED_OK;
}
