/* SPDX-License-Identifier: MIT
 *
 * decide.c - the rules as a table; only the wait is computed.
 */
#include "engine/decide.h"

#include <assert.h>

#include "base/clock.h"

enum wait { WAIT_NONE, WAIT_CURVE, WAIT_ASKED, WAIT_SPREAD, WAIT_UNTIL };

static const struct rule {
    const char *verdict;
    bool counts;               // as an attempt
    enum happening happening;  // with attempts left
    enum happening when_spent; // with none left
    enum wait wait;
} rules[] = {
    [ENDING_SUCCEEDED] = {"succeeded", true, HAPPENS_SUCCEED, HAPPENS_SUCCEED, WAIT_NONE},
    [ENDING_FAILED] = {"failed", true, HAPPENS_FAIL, HAPPENS_EXHAUST, WAIT_CURVE},
    [ENDING_PERMANENT] = {"permanent", true, HAPPENS_EXHAUST, HAPPENS_EXHAUST, WAIT_NONE},
    [ENDING_RETRY_AFTER] = {"retry_after", true, HAPPENS_FAIL, HAPPENS_EXHAUST, WAIT_ASKED},
    [ENDING_DEFERRED] = {"deferred", false, HAPPENS_DEFER, HAPPENS_DEFER, WAIT_SPREAD},
    [ENDING_GAVE_UP] = {"gave_up", false, HAPPENS_GIVE_UP, HAPPENS_GIVE_UP, WAIT_NONE},
    [ENDING_NOT_YET] = {"not_yet", false, HAPPENS_NOT_YET, HAPPENS_NOT_YET, WAIT_UNTIL},
    [ENDING_PUT_OFF] = {"put_off", false, HAPPENS_DEFER, HAPPENS_DEFER, WAIT_UNTIL},
    [ENDING_UNDECODABLE] = {"undecodable", true, HAPPENS_EXHAUST, HAPPENS_EXHAUST, WAIT_NONE},
    [ENDING_DIED] = {"died", true, HAPPENS_FAIL, HAPPENS_EXHAUST, WAIT_CURVE},
    [ENDING_HOOK] = {"hook", true, HAPPENS_FAIL, HAPPENS_EXHAUST, WAIT_CURVE},
    [ENDING_LOST] = {"died", false, HAPPENS_LOSE, HAPPENS_LOSE, WAIT_NONE},
    [ENDING_NOT_SENT] = {"not_sent", false, HAPPENS_NOT_SENT, HAPPENS_NOT_SENT, WAIT_ASKED},
};
_Static_assert(sizeof rules / sizeof rules[0] == ENDING_COUNT, "every ending has its rule");

const char *
ending_verdict(enum ending ending)
{
    return rules[ending].verdict;
}

bool
ending_is_attempt(enum ending ending)
{
    return ending != ENDING_NOT_YET && ending != ENDING_PUT_OFF && ending != ENDING_NOT_SENT;
}

int64_t
backoff_ceiling_us(struct curve curve, int32_t attempt)
{
    assert(attempt >= 1);
    int64_t ceiling = curve.base_us;
    for (int32_t doubled = 1; doubled < attempt && ceiling > 0; doubled++) {
        if (ceiling >= curve.cap_us - ceiling)
            return curve.cap_us;
        ceiling *= 2;
    }
    return ceiling < curve.cap_us ? ceiling : curve.cap_us;
}

int64_t
backoff_us(struct curve curve, int32_t attempt, const owed_dice *dice)
{
    return (int64_t)(dice_unit(dice) * (double)backoff_ceiling_us(curve, attempt));
}

/* asked_wait_us cuts what a destination asked for. */
static int64_t
asked_wait_us(const struct attempt_facts *facts)
{
    return facts->wait_us < facts->max_retry_delay_us ? facts->wait_us : facts->max_retry_delay_us;
}

/* spread_wait_us draws from what was asked for to twice that: never earlier, and not all at once. */
static int64_t
spread_wait_us(const struct attempt_facts *facts, const owed_dice *dice)
{
    int64_t asked_us = asked_wait_us(facts);
    int64_t left_us = facts->max_retry_delay_us - asked_us;
    int64_t more_us = (int64_t)(dice_unit(dice) * (double)asked_us);
    return asked_us + (more_us < left_us ? more_us : left_us);
}

static int64_t
wait_us(const struct attempt_facts *facts, enum wait wait, int32_t attempts, const owed_dice *dice)
{
    switch (wait) {
    case WAIT_CURVE:
        return backoff_us(facts->curve, attempts, dice);
    case WAIT_ASKED:
        return asked_wait_us(facts);
    case WAIT_SPREAD:
        return spread_wait_us(facts, dice);
    default:
        return 0;
    }
}

static bool
is_over_bound(const struct attempt_facts *facts)
{
    int64_t owed_us;
    if (__builtin_sub_overflow(facts->now_us, facts->due_at_us, &owed_us))
        return facts->now_us > facts->due_at_us;
    return owed_us >= facts->give_up_after_us;
}

/* taken_for tells what an ending comes to: what is deferred or put off ends at its bound; without one a deferral counts,
 * and what is put off is due later. */
static enum ending
taken_for(const struct attempt_facts *facts)
{
    if (facts->ending != ENDING_DEFERRED && facts->ending != ENDING_PUT_OFF)
        return facts->ending;
    if (facts->give_up_after_us <= 0)
        return facts->ending == ENDING_DEFERRED ? ENDING_RETRY_AFTER : ENDING_NOT_YET;
    return is_over_bound(facts) ? ENDING_GAVE_UP : facts->ending;
}

struct decision
decide(const struct attempt_facts *facts, const owed_dice *dice)
{
    enum ending ending = taken_for(facts);
    const struct rule *rule = &rules[ending];
    bool can_count = rule->counts && facts->attempts < INT32_MAX;
    struct decision decision = {.ending = ending, .attempts = facts->attempts + can_count};
    bool is_spent = decision.attempts >= facts->max_attempts;
    decision.happening = is_spent ? rule->when_spent : rule->happening;
    decision.state = edge_find(STATE_CLAIMED, decision.happening)->to;
    if (ending == ENDING_DEFERRED || ending == ENDING_GAVE_UP)
        decision.pause_us = asked_wait_us(facts);
    decision.available_at_us = rule->wait == WAIT_UNTIL ? facts->until_us : facts->now_us;
    if (state_is_terminal(decision.state))
        return decision;
    bool is_asked = rule->wait == WAIT_ASKED || rule->wait == WAIT_SPREAD;
    decision.wait_was_cut = is_asked && facts->wait_us > facts->max_retry_delay_us;
    int64_t us = wait_us(facts, rule->wait, decision.attempts, dice);
    if (__builtin_add_overflow(decision.available_at_us, us, &decision.available_at_us))
        decision.available_at_us = INT64_MAX;
    return decision;
}
