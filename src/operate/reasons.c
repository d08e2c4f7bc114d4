/* SPDX-License-Identifier: MIT
 *
 * reasons.c - one table: when a reason holds, and how it is said.
 *
 * What the states mean is said in the engine's own words, by its table of states.
 */
#include "operate/reasons.h"

#include <inttypes.h>

#include "deliver/relay.h"
#include "operate/say.h"

static void
say_attempts(struct buf *out, const struct facts *f)
{
    buf_printf(
        out, "after %" PRId32 " of %" PRId32 " attempts", f->row.attempts, f->row.max_attempts);
}

static void
say_error(struct buf *out, const struct facts *f)
{
    if (f->row.last_error[0] != '\0')
        buf_printf(out, ": %s", f->row.last_error);
}

/* --- the reasons --- */

static bool
is_unsent(const struct facts *f)
{
    return f->unsent != NULL;
}

static bool
is_succeeded(const struct facts *f)
{
    return f->state == STATE_SUCCEEDED;
}

static void
say_succeeded(struct buf *out, const struct facts *f)
{
    buf_printf(out, "on attempt %" PRId32 " ", f->row.attempts);
    say_edge(out, STATE_CLAIMED, HAPPENS_SUCCEED);
    buf_puts(out, ", at ");
    say_moment(out, f, f->row.succeeded_at_us);
}

static bool
is_dead(const struct facts *f)
{
    return f->state == STATE_DEAD;
}

static void
say_dead(struct buf *out, const struct facts *f)
{
    say_attempts(out, f);
    buf_puts(out, " it was given up at ");
    say_moment(out, f, f->row.completed_at_us);
    say_error(out, f);
    buf_printf(out, "; `owed requeue %" PRId64 "` owes it again", f->row.id);
}

static bool
is_orphaned(const struct facts *f)
{
    return f->state == STATE_ORPHANED;
}

static void
say_orphaned(struct buf *out, const struct facts *f)
{
    buf_puts(out, "it was set aside at ");
    say_moment(out, f, f->row.completed_at_us);
    say_error(out, f);
    buf_printf(out,
        "; once the receiver is published, `owed requeue --orphaned %" PRId64 "` owes it again",
        f->row.id);
}

static bool
is_cancelled(const struct facts *f)
{
    return f->state == STATE_CANCELLED;
}

static void
say_cancelled(struct buf *out, const struct facts *f)
{
    buf_puts(out, "it was withdrawn at ");
    say_moment(out, f, f->row.completed_at_us);
    buf_printf(out, "; `owed replay %" PRId64 "` owes its event again", f->row.event_id);
}

/* Only a row that could be started else waits for it. */
static bool
is_lane_paused(const struct facts *f)
{
    bool is_free = f->state == STATE_CLAIMED ? f->row.lease_expires_at_us == 0
                                             : f->row.available_at_us <= f->now_us;
    return f->put_off.delivery_id != 0 && is_free && f->served && f->receiver != NULL &&
        f->receiver->removed_at_us == 0 && is_in_its_lane(f);
}

static bool
is_handed_back(const struct facts *f)
{
    return f->state == STATE_CLAIMED && f->row.lease_expires_at_us == 0;
}

static void
say_handed_back(struct buf *out, const struct facts *f)
{
    say_edge(out, STATE_CLAIMED, HAPPENS_HAND_BACK);
    buf_printf(out, "; that was %s", f->row.claimed_by);
    if (!f->served)
        buf_printf(out, ", and no relay that is alive serves lane %s", f->row.lane);
}

static bool
is_lapsed(const struct facts *f)
{
    return f->state == STATE_CLAIMED && f->row.lease_expires_at_us < f->now_us;
}

/* is_for_a_task tells whether whoever claimed it did so to hand it on. */
static bool
is_for_a_task(const struct facts *f)
{
    const char *end = strrchr(f->row.claimed_by, HANDED_ON[0]);
    return end != NULL && strcmp(end, HANDED_ON) == 0;
}

static void
say_lapsed(struct buf *out, const struct facts *f)
{
    buf_printf(out, "%s %s: its lease ended ", f->row.claimed_by,
        is_for_a_task(f) ? "handed it to its task site, and no task took it"
                         : "took it and was not heard of again");
    say_age(out, f, f->row.lease_expires_at_us);
    buf_puts(out,
        f->served ? ", and the next claim of its lane takes it over"
                  : ", and no relay that is alive serves its lane");
}

static bool
is_handed_on(const struct facts *f)
{
    return f->state == STATE_CLAIMED && is_for_a_task(f);
}

static void
say_handed_on(struct buf *out, const struct facts *f)
{
    say_edge(out, STATE_CLAIMED, HAPPENS_HAND_OFF);
    buf_printf(out, "; that was %s at ", f->row.claimed_by);
    say_moment(out, f, f->row.claimed_at_us);
    buf_puts(out, ", and if no task takes it, it is handed on again after ");
    say_moment(out, f, f->row.lease_expires_at_us);
}

static bool
is_taken(const struct facts *f)
{
    return f->state == STATE_CLAIMED && strcmp(f->row.kind, "task") == 0;
}

static void
say_taken(struct buf *out, const struct facts *f)
{
    say_edge(out, STATE_CLAIMED, HAPPENS_TAKE);
    buf_printf(out, "; it runs in %s since ", f->row.claimed_by);
    say_moment(out, f, f->row.claimed_at_us);
    buf_puts(out, ", until ");
    say_moment(out, f, f->row.lease_expires_at_us);
}

static bool
is_claimed(const struct facts *f)
{
    return f->state == STATE_CLAIMED;
}

static void
say_claimed(struct buf *out, const struct facts *f)
{
    buf_printf(out, "%s holds it since ", f->row.claimed_by);
    say_moment(out, f, f->row.claimed_at_us);
    buf_puts(out, ", until ");
    say_moment(out, f, f->row.lease_expires_at_us);
    buf_puts(out, ": it runs, or waits for its turn in the batch");
}

/* The lane of a paused receiver's rows is followed by '!' and its key. */
static bool
is_paused(const struct facts *f)
{
    return strchr(f->row.lane, '!') != NULL;
}

static bool
is_endpoint_ended(const struct facts *f)
{
    return f->endpoint_end != NULL;
}

static bool
is_endpoint_paused(const struct facts *f)
{
    return f->endpoint_pause != NULL;
}

static bool
is_undeclared(const struct facts *f)
{
    return f->receiver == NULL;
}

static void
say_undeclared(struct buf *out, const struct facts *f)
{
    buf_printf(out,
        "nobody has published its receiver %s: a relay that declares it runs it, or it "
        "is set aside when the grace is over",
        f->row.receiver_key);
}

static bool
is_removed(const struct facts *f)
{
    return f->receiver->removed_at_us != 0;
}

static void
say_removed(struct buf *out, const struct facts *f)
{
    buf_printf(out, "%s no longer declares its receiver %s, since ", f->receiver->app,
        f->row.receiver_key);
    say_moment(out, f, f->receiver->removed_at_us);
    buf_puts(out, ": it is set aside when the grace is over");
}

static bool
is_not_due(const struct facts *f)
{
    return f->row.available_at_us > f->now_us && f->state == STATE_PENDING;
}

static void
say_not_due(struct buf *out, const struct facts *f)
{
    buf_puts(out, "it is not due until ");
    say_moment(out, f, f->row.available_at_us);
}

static bool
is_waiting(const struct facts *f)
{
    return f->row.available_at_us > f->now_us;
}

static void
say_waiting(struct buf *out, const struct facts *f)
{
    say_attempts(out, f);
    buf_puts(out, " it waits for the next until ");
    say_moment(out, f, f->row.available_at_us);
    say_error(out, f);
}

static bool
is_misplaced(const struct facts *f)
{
    // Until its targets are known, a row may be of a kind of its own.
    bool expands = strcmp(f->row.kind, "expand") == 0 && strcmp(f->receiver->targets, "none") != 0;
    return !is_in_its_lane(f) || (!expands && strcmp(f->row.kind, f->receiver->kind) != 0);
}

static void
say_misplaced(struct buf *out, const struct facts *f)
{
    buf_printf(out,
        "it stands in lane %s as %s, where its receiver was when it was fired: the next relay that "
        "looks after the store moves it to lane %s as %s",
        f->row.lane, f->row.kind, f->receiver->lane, f->receiver->kind);
}

static bool
is_unserved(const struct facts *f)
{
    return !f->served;
}

static void
say_no_relay(struct buf *out, const struct facts *f)
{
    const char *bare = strchr(f->row.lane, '/');
    buf_printf(out,
        "no relay that is alive serves lane %s (%" PRId64 " alive in all): `owed relay "
        "--lane %s` does",
        f->row.lane, f->relays, bare == NULL ? f->row.lane : bare + 1);
}

static bool
is_suspect(const struct facts *f)
{
    return f->row.losses > 0;
}

static void
say_suspect(struct buf *out, const struct facts *f)
{
    buf_printf(out,
        "%" PRId32 " %s in a row died while they held it: it is claimed alone, when "
        "it comes first in its lane",
        f->row.losses, strcmp(f->row.kind, "task") == 0 ? "tasks" : "relays");
}

static bool
is_behind(const struct facts *f)
{
    return f->ahead > 0;
}

static void
say_behind(struct buf *out, const struct facts *f)
{
    buf_printf(out, "%s%" PRId64 " deliveries of lane %s came due before it",
        f->ahead >= MOST_AHEAD ? "at least " : "", f->ahead, f->row.lane);
}

static bool
is_next(const struct facts *f)
{
    (void)f;
    return true;
}

static void
say_next(struct buf *out, const struct facts *f)
{
    buf_puts(out, "it is due since ");
    say_moment(out, f, f->row.available_at_us);
    buf_puts(out, " and comes first in its lane: the next claim takes it");
}

static const struct {
    const char *name;
    bool (*holds)(const struct facts *facts);
    void (*say)(struct buf *out, const struct facts *facts);
} reasons[REASON_COUNT] = {
    [REASON_UNSENT] = {"unsent", is_unsent, say_unsent},
    [REASON_SUCCEEDED] = {"succeeded", is_succeeded, say_succeeded},
    [REASON_DEAD] = {"dead", is_dead, say_dead},
    [REASON_ORPHANED] = {"orphaned", is_orphaned, say_orphaned},
    [REASON_CANCELLED] = {"cancelled", is_cancelled, say_cancelled},
    [REASON_LANE_PAUSED] = {"lane_paused", is_lane_paused, say_put_off},
    [REASON_HANDED_BACK] = {"handed_back", is_handed_back, say_handed_back},
    [REASON_LAPSED] = {"lapsed", is_lapsed, say_lapsed},
    [REASON_HANDED_ON] = {"handed_on", is_handed_on, say_handed_on},
    [REASON_TAKEN] = {"taken", is_taken, say_taken},
    [REASON_CLAIMED] = {"claimed", is_claimed, say_claimed},
    [REASON_PAUSED] = {"paused", is_paused, say_pause},
    [REASON_ENDPOINT_ENDED] = {"endpoint_ended", is_endpoint_ended, say_endpoint_end},
    [REASON_ENDPOINT_PAUSED] = {"endpoint_paused", is_endpoint_paused, say_endpoint_pause},
    [REASON_UNDECLARED] = {"undeclared", is_undeclared, say_undeclared},
    [REASON_REMOVED] = {"removed", is_removed, say_removed},
    [REASON_NOT_DUE] = {"not_due", is_not_due, say_not_due},
    [REASON_WAITING] = {"waiting", is_waiting, say_waiting},
    [REASON_MISPLACED] = {"misplaced", is_misplaced, say_misplaced},
    [REASON_NO_RELAY] = {"no_relay", is_unserved, say_no_relay},
    [REASON_SUSPECT] = {"suspect", is_suspect, say_suspect},
    [REASON_BEHIND] = {"behind", is_behind, say_behind},
    [REASON_NEXT] = {"next", is_next, say_next},
};

const char *
reason_name(enum reason reason)
{
    return reasons[reason].name;
}

enum reason
reason_find(const struct facts *facts)
{
    enum reason reason = 0;
    while (!reasons[reason].holds(facts))
        reason++;
    return reason;
}

void
reason_say(enum reason reason, struct buf *out, const struct facts *facts)
{
    reasons[reason].say(out, facts);
}
