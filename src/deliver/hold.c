/* SPDX-License-Identifier: MIT
 *
 * hold.c - pauses, as a worker's rows meet them: which may start, what is heard of those that settled,
 * and what claims leave out.
 */
#include <stdio.h>

#include "base/moment.h"
#include "deliver/worker.h"

/* trier is who a worker is in the table of pauses. */
static int
trier(const struct worker *w)
{
    return w->seat.slot + 1;
}

static void
lane_of(const char *lane, struct pause_of *ret_of)
{
    *ret_of = (struct pause_of){.kind = PAUSE_LANE};
    snprintf(ret_of->name, sizeof ret_of->name, "%s", lane);
}

/* own_of answers what of its own a receiver pauses; false: it pauses its lane. */
static bool
own_of(const struct receiver *receiver, const char *target, struct pause_of *ret_of)
{
    if (receiver == NULL || receiver->declared.pause != OWED_PAUSE_TARGET)
        return false;
    // All its targets have one broker.
    bool is_whole = receiver->runner == RUN_PUBLISH;
    const struct str text = str_of(or_empty(target));
    *ret_of = (struct pause_of){.kind = is_whole ? PAUSE_RECEIVER : PAUSE_TARGET};
    snprintf(ret_of->name, sizeof ret_of->name, "%s", receiver->declared.key);
    return is_whole || sha256(&text, 1, ret_of->digest);
}

bool
hold_any(const struct worker *w)
{
    return w->pauses != NULL && pauses_any(w->pauses);
}

enum hold
hold_ask(struct worker *w, const struct claimed *row, const struct receiver *receiver)
{
    if (!hold_any(w))
        return HOLD_NONE;
    struct pause_of lane, own;
    lane_of(row->lane, &lane);
    int64_t now_us = worker_mono_us(w);
    enum hold hold = pauses_ask(w->pauses, &lane, trier(w), now_us);
    if (hold == HOLD_HELD || !own_of(receiver, row->target, &own))
        return hold;
    enum hold second = pauses_ask(w->pauses, &own, trier(w), now_us);
    if (second == HOLD_HELD && hold == HOLD_TRIAL)
        pauses_release(w->pauses, &lane, trier(w));
    return second == HOLD_NONE ? hold : second;
}

bool
hold_holds(struct worker *w, const struct claimed *row, const struct receiver *receiver)
{
    enum hold hold = hold_ask(w, row, receiver);
    if (hold == HOLD_TRIAL)
        hold_release(w, row, receiver);
    return hold == HOLD_HELD;
}

void
hold_release(struct worker *w, const struct claimed *row, const struct receiver *receiver)
{
    struct pause_of of;
    lane_of(row->lane, &of);
    pauses_release(w->pauses, &of, trier(w));
    if (own_of(receiver, row->target, &of))
        pauses_release(w->pauses, &of, trier(w));
}

void
hold_release_all(struct worker *w)
{
    if (hold_any(w))
        pauses_release_all(w->pauses, trier(w));
}

void
hold_note(struct worker *w, struct ledger *ledger, const struct ended *ended, int64_t pause_us,
    struct note *note)
{
    if (w->pauses == NULL || (pause_us == 0 && !pauses_any(w->pauses)))
        return;
    note->pause_us = pause_us;
    note->started_mono_us = ended->started_mono_us;
    note->receiver = ended->receiver;
    note->lane = arena_strdup(&ledger->arena, or_empty(ended->row->lane));
    const owed_delivery *delivery = ended->delivery;
    const char *target = delivery != NULL && delivery->left.heard_from != NULL
        ? delivery->left.heard_from
        : ended->row->target;
    note->pause_target = arena_strdup(&ledger->arena, or_empty(target));
}

static struct log_field
paused_of(const struct note *note, enum pause_kind kind)
{
    if (kind == PAUSE_RECEIVER)
        return LOG_TEXT("publish", note->receiver->declared.publish);
    return kind == PAUSE_TARGET ? LOG_TEXT("target", note->pause_target)
                                : LOG_TEXT("lane", note->lane);
}

static void
pause(struct worker *w, const struct note *note, const struct pause_of *of)
{
    char how_long[MOMENT_BYTES];
    int64_t now_us = worker_mono_us(w);
    // One call has no clock to wait on: it is over before the pause is.
    int64_t until_us = w->visit != NULL ? INT64_MAX : now_us + note->pause_us;
    int64_t before_us = pauses_add(w->pauses, of, until_us);
    // What was under way together is put off together, which is said once.
    if (before_us > now_us && until_us - before_us < US_PER_SECOND)
        return;
    // A broker that is away has asked for nothing.
    log_say(&w->owed->log, OWED_LOG_INFO,
        of->kind == PAUSE_RECEIVER ? "paused, since its broker takes nothing just now"
                                   : "paused, since its destination asked for it",
        LOG_TEXT("receiver", note->receiver_key), paused_of(note, of->kind),
        LOG_TEXT("pause", duration_write(note->pause_us, how_long)));
}

void
hold_hear(struct worker *w, const struct note *note)
{
    if (note->lane == NULL || note->pause_target == NULL)
        return;
    struct pause_of lane, own;
    lane_of(note->lane, &lane);
    bool has_own = own_of(note->receiver, note->pause_target, &own);
    if (note->pause_us > 0) {
        pause(w, note, has_own ? &own : &lane);
        return;
    }
    // It says nothing of the destination.
    if (!ending_is_attempt(note->ending) || note->ending == ENDING_HOOK || note->expanded)
        return;
    pauses_end(w->pauses, &lane, note->started_mono_us);
    if (has_own)
        pauses_end(w->pauses, &own, note->started_mono_us);
}

void
hold_leave_out(const struct worker *w, struct claim *claim)
{
    struct left_out *out = w->left_out;
    if (!hold_any(w))
        return;
    size_t count = pauses_list(w->pauses, worker_mono_us(w), out->list);
    size_t lane_count = 0;
    size_t target_count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct pause_of *of = &out->list[i];
        if (of->kind == PAUSE_TARGET)
            out->targets[target_count++] =
                (struct left_target){.receiver_key = of->name, .digest = of->digest};
        else if (of->kind == PAUSE_LANE)
            out->lanes[lane_count++] = of->name;
    }
    out->lanes[lane_count] = NULL;
    claim->but_lanes = out->lanes;
    claim->but_targets = out->targets;
    claim->but_target_count = target_count;
}

bool
hold_rests(const struct worker *w, const struct receiver *receiver)
{
    struct pause_of of;
    return hold_any(w) && own_of(receiver, NULL, &of) && of.kind == PAUSE_RECEIVER &&
        pauses_rests(w->pauses, &of, worker_mono_us(w));
}

int64_t
hold_wait_us(const struct worker *w)
{
    if (!hold_any(w))
        return INT64_MAX;
    bool is_tried = false;
    int64_t now_us = worker_mono_us(w);
    int64_t next_us = pauses_next_us(w->pauses, trier(w), now_us, &is_tried);
    int64_t wait_us = next_us == INT64_MAX ? INT64_MAX : next_us - now_us;
    return is_tried && wait_us > TRIAL_LOOK_US ? TRIAL_LOOK_US : wait_us;
}
