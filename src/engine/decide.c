/* SPDX-License-Identifier: MIT
 *
 * decide.c - the rules as a table; only the wait is computed.
 */
#include "engine/decide.h"

#include <assert.h>

#include "base/clock.h"

enum wait { WAIT_NONE, WAIT_CURVE, WAIT_ASKED };

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
    [ENDING_UNDECODABLE] = {"undecodable", true, HAPPENS_EXHAUST, HAPPENS_EXHAUST, WAIT_NONE},
    [ENDING_DIED] = {"died", true, HAPPENS_FAIL, HAPPENS_EXHAUST, WAIT_CURVE},
    [ENDING_LOST] = {"died", false, HAPPENS_LOSE, HAPPENS_LOSE, WAIT_NONE},
};
_Static_assert(sizeof rules / sizeof rules[0] == ENDING_COUNT, "every ending has its rule");

const char *
ending_verdict(enum ending ending)
{
    return rules[ending].verdict;
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
asked_wait_us(const struct attempt_facts *facts, bool *was_cut)
{
    *was_cut = facts->wait_us > facts->max_retry_delay_us;
    return *was_cut ? facts->max_retry_delay_us : facts->wait_us;
}

struct decision
decide(const struct attempt_facts *facts, const owed_dice *dice)
{
    const struct rule *rule = &rules[facts->ending];
    bool can_count = rule->counts && facts->attempts < INT32_MAX;
    struct decision decision = {.attempts = facts->attempts + can_count};
    bool is_spent = decision.attempts >= facts->max_attempts;
    decision.happening = is_spent ? rule->when_spent : rule->happening;
    decision.state = edge_find(STATE_CLAIMED, decision.happening)->to;
    decision.available_at_us = facts->now_us;
    if (state_is_terminal(decision.state))
        return decision;
    int64_t wait = rule->wait == WAIT_ASKED ? asked_wait_us(facts, &decision.wait_was_cut)
                                            : backoff_us(facts->curve, decision.attempts, dice);
    if (__builtin_add_overflow(facts->now_us, wait, &decision.available_at_us))
        decision.available_at_us = INT64_MAX;
    return decision;
}
