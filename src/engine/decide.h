/* SPDX-License-Identifier: MIT
 *
 * decide.h - what becomes of a row after an attempt: pure arithmetic on facts.
 */
#ifndef ENGINE_DECIDE_H
#define ENGINE_DECIDE_H

#include <owed/owed.h>

#include "engine/states.h"

/* What can end an attempt: the receiver's own verdicts, and those that never reached it. The names
 * stand in owed_attempt.verdict (not_yet, put_off, not_sent: no row is kept) and in the log. */
enum ending {
    ENDING_SUCCEEDED,
    ENDING_FAILED,
    ENDING_PERMANENT,
    ENDING_RETRY_AFTER,
    ENDING_DEFERRED,
    ENDING_GAVE_UP, // what a deferral, or putting off, after the bound turns into: decide
    ENDING_NOT_YET,
    ENDING_PUT_OFF, // its destination has no room for it just now, as we know ourselves
    ENDING_UNDECODABLE,
    ENDING_DIED,     // the worker that ran it crashed or was killed by us
    ENDING_HOOK,     // the hook around it could not be entered
    ENDING_LOST,     // too many losses: verdict "died"
    ENDING_NOT_SENT, // it could not be handed to its task site
    ENDING_COUNT
};
const char *ending_verdict(enum ending ending);
/* ending_is_attempt: something was tried and is to be told of; else the row only waits on. */
bool ending_is_attempt(enum ending ending);

struct curve {
    int64_t base_us;
    int64_t cap_us;
};

struct attempt_facts {
    enum ending ending;
    int64_t wait_us;      // RETRY_AFTER and DEFERRED, as asked for; NOT_SENT
    int64_t until_us;     // NOT_YET and PUT_OFF
    int32_t attempts;     // before this one
    int32_t max_attempts; // of the row
    struct curve curve;
    int64_t max_retry_delay_us;
    int64_t due_at_us;        // of the row: since when it is owed
    int64_t give_up_after_us; // of the receiver; 0: it declares none, and a deferral counts
    int64_t now_us;           // of the outcome
};

struct decision {
    enum ending ending; // what it was taken for: a deferral may be another
    enum happening happening;
    enum state state;
    int32_t attempts;
    int64_t available_at_us; // now, where nothing more is owed
    bool wait_was_cut;       // what was asked for is more than max_retry_delay_us
    int64_t pause_us;        // how long the destination is to be left alone; 0: not at all
};

/* backoff_us draws from the whole window (full jitter): dice * min(cap, base * 2^(attempt - 1)).
 * attempt from 1; never overflows. */
int64_t backoff_us(struct curve curve, int32_t attempt, const owed_dice *dice);

/* backoff_ceiling_us is the longest that wait can be. */
int64_t backoff_ceiling_us(struct curve curve, int32_t attempt);

struct decision decide(const struct attempt_facts *facts, const owed_dice *dice);

#endif
