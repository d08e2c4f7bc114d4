/* SPDX-License-Identifier: MIT
 *
 * claim_where.c - where a claim looks: lanes, receivers, events, and what it leaves alone.
 */
#include "store/claim_where.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "base/digest.h"
#include "base/limits.h"

void
where_done(struct where *where)
{
    buf_done(&where->lanes);
    buf_done(&where->receivers);
    buf_done(&where->events);
    buf_done(&where->but_targets);
}

void
found_lanes_done(struct found_lanes *found)
{
    arena_done(&found->arena);
    *found = (struct found_lanes){0};
}

static void
read_lane(struct reader *reader, void *item)
{
    *(const char **)item = read_text(reader);
}

/* lanes_of_app lists the lanes in which anything is owed, as a NULL-ended array in the arena. */
static owed_status
look_up_lanes(struct db *db, const char *app, struct arena *arena, const char *const **ret_lanes,
    owed_error *err)
{
    char from[LIMIT_LANE_BYTES + 2], to[LIMIT_LANE_BYTES + 2];
    snprintf(from, sizeof from, "%.*s/", LIMIT_LANE_BYTES, app);
    snprintf(to, sizeof to, "%.*s0", LIMIT_LANE_BYTES, app); // '0' follows '/'
    void *found = NULL;
    size_t count = 0;
    struct list list = {sizeof(const char *), read_lane, arena};
    owed_status status =
        read_all(db, STMT_LANES, ARGS(V_TEXT(from), V_TEXT(to)), &list, &found, &count, err);
    if (status != OWED_OK)
        return status;
    const char **lanes = arena_alloc(arena, (count + 1) * sizeof *lanes);
    if (lanes == NULL)
        return fail_memory(err);
    if (count > 0)
        memcpy(lanes, found, count * sizeof *lanes);
    *ret_lanes = lanes;
    return OWED_OK;
}

/* lanes_of_app relies on an earlier look where the claim leaves things to later ones anyway. */
static owed_status
lanes_of_app(struct db *db, const struct claim *claim, struct arena *arena,
    const char *const **ret_lanes, owed_error *err)
{
    struct found_lanes *found = claim->found;
    if (found == NULL)
        return look_up_lanes(db, claim->app, arena, ret_lanes, err);
    if (claim->mark_us == 0 || found->lanes == NULL) {
        found_lanes_done(found);
        arena_init(&found->arena, 0);
        owed_status status = look_up_lanes(db, claim->app, &found->arena, &found->lanes, err);
        if (status != OWED_OK)
            return status;
    }
    *ret_lanes = found->lanes;
    return OWED_OK;
}

/* find_events is for a claim of some events' rows, whatever their lane. */
static owed_status
find_events(const struct claim *claim, struct where *where, owed_error *err)
{
    for (size_t i = 0; i < claim->event_count; i++)
        json_add_id(&where->events, claim->event_ids[i]);
    json_end(&where->events);
    json_texts(&where->receivers, claim->receivers);
    return where->events.failed || where->receivers.failed ? fail_memory(err) : OWED_OK;
}

static bool
is_among(const char *lane, const char *const *lanes)
{
    for (; lanes != NULL && *lanes != NULL; lanes++)
        if (strcmp(*lanes, lane) == 0)
            return true;
    return false;
}

static void
take_lanes(struct where *where, const char *const *lanes, const char *const *but)
{
    for (; *lanes != NULL; lanes++) {
        if (is_among(*lanes, but))
            continue;
        json_add_text(&where->lanes, *lanes);
        if (where->lane_count++ == 0)
            where->one_lane = *lanes;
    }
    json_end(&where->lanes);
}

static void
take_but_targets(struct where *where, const struct claim *claim)
{
    CLEANUP(buf_done) struct buf text;
    buf_init(&text, JSON_ARGUMENT_BYTES);
    for (size_t i = 0; i < claim->but_target_count; i++) {
        buf_clear(&text);
        hex_write(&text, claim->but_targets[i].digest, SHA256_BYTES);
        buf_puts(&text, claim->but_targets[i].receiver_key);
        json_add_text(&where->but_targets, buf_text(&text));
    }
    json_end(&where->but_targets);
}

owed_status
find_where(struct db *db, const struct claim *claim, struct arena *arena, struct where *where,
    owed_error *err)
{
    buf_init(&where->lanes, JSON_ARGUMENT_BYTES);
    buf_init(&where->receivers, JSON_ARGUMENT_BYTES);
    buf_init(&where->events, JSON_ARGUMENT_BYTES);
    buf_init(&where->but_targets, JSON_ARGUMENT_BYTES);
    if (claim->event_count > 0)
        return find_events(claim, where, err);
    const char *const *lanes = claim->lanes;
    owed_status status = lanes == NULL ? lanes_of_app(db, claim, arena, &lanes, err) : OWED_OK;
    if (status != OWED_OK)
        return status;
    take_lanes(where, lanes, claim->but_lanes);
    if (claim->receivers != NULL)
        json_texts(&where->receivers, claim->receivers);
    if (claim->but_target_count > 0 || claim->early != NULL)
        take_but_targets(where, claim);
    bool failed = where->lanes.failed || where->receivers.failed || where->but_targets.failed;
    return failed ? fail_memory(err) : OWED_OK;
}

static void
take_values(struct choice *choice, enum stmt pick, enum stmt whole, struct args args)
{
    choice->pick = pick;
    choice->whole = whole;
    choice->count = args.count;
    memcpy(choice->values, args.values, args.count * sizeof *args.values);
}

#define CHOOSE(name_, ...) \
    take_values(ret_choice, STMT_CLAIM_PICK_##name_, STMT_CLAIM_##name_, ARGS(__VA_ARGS__))

void
choose(
    const struct claim *claim, const struct where *where, int32_t limit, struct choice *ret_choice)
{
    struct value now = V_TIME(claim->now_us), count = V_INT(limit), kind = V_TEXT(claim->kind);
    struct value lanes = V_STR(buf_view(&where->lanes));
    struct value receivers = V_STR(buf_view(&where->receivers));
    struct value but_targets = V_STR(buf_view(&where->but_targets));
    struct value mark = claim->mark_us == 0 ? V_NULL : V_TIME(claim->mark_us);
    const struct early *early = claim->early;
    if (claim->delivery_id != 0)
        CHOOSE(ONE, V_INT(claim->delivery_id), now);
    else if (early != NULL)
        CHOOSE(EARLY, lanes, kind, now, count, receivers, V_TIME(early->due_us),
            V_INT(early->ignore_backoff), V_STR(early->but_ids), but_targets);
    else if (claim->event_count > 0)
        CHOOSE(EVENTS, V_STR(buf_view(&where->events)), receivers, kind, now, count);
    else if (claim->but_target_count > 0)
        CHOOSE(BUT, lanes, kind, now, count, claim->receivers == NULL ? V_NULL : receivers,
            but_targets, mark);
    else if (claim->receivers != NULL)
        CHOOSE(RECEIVERS, lanes, kind, now, count, receivers, mark);
    else if (where->lane_count == 1)
        CHOOSE(LANE, V_TEXT(where->one_lane), kind, now, count, mark);
    else
        CHOOSE(LANES, lanes, kind, now, count, mark);
}
