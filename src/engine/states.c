/* SPDX-License-Identifier: MIT
 *
 * states.c - the table, and the words for what stands in it.
 */
#include "engine/states.h"

#include <string.h>

const struct edge edges[] = {
    {STATE_NONE, HAPPENS_FIRE, STATE_PENDING, "an event that the receiver wants was fired"},
    {STATE_PENDING, HAPPENS_CLAIM, STATE_CLAIMED, "it was due, and a relay took it under a lease"},
    {STATE_PENDING, HAPPENS_ORPHAN, STATE_ORPHANED,
        "its receiver is declared nowhere, and the grace is over"},
    {STATE_CLAIMED, HAPPENS_LAPSE, STATE_CLAIMED,
        "its lease had ended, or it was handed back, and a relay took it over"},
    {STATE_CLAIMED, HAPPENS_HAND_BACK, STATE_CLAIMED,
        "the relay gave it back untried: it is free for every relay at once"},
    {STATE_CLAIMED, HAPPENS_SUCCEED, STATE_SUCCEEDED, "the receiver did its work"},
    {STATE_CLAIMED, HAPPENS_FAIL, STATE_FAILED, "the attempt failed, and attempts are left"},
    {STATE_CLAIMED, HAPPENS_EXHAUST, STATE_DEAD,
        "the last attempt failed, or one that no other attempt could mend"},
    {STATE_CLAIMED, HAPPENS_DEFER, STATE_FAILED,
        "its destination asked to be left alone for a while; no attempt was spent"},
    {STATE_CLAIMED, HAPPENS_GIVE_UP, STATE_DEAD,
        "it was put off until it had been owed for as long as its receiver allows"},
    {STATE_CLAIMED, HAPPENS_NOT_YET, STATE_PENDING,
        "its receiver said that the work is due later; nothing was counted"},
    {STATE_CLAIMED, HAPPENS_HAND_OFF, STATE_CLAIMED,
        "its receiver runs at a task site, and the relay handed it on with its claim"},
    {STATE_CLAIMED, HAPPENS_TAKE, STATE_CLAIMED,
        "the task that was handed its claim took it under a lease of its own"},
    {STATE_CLAIMED, HAPPENS_NOT_SENT, STATE_FAILED,
        "it could not be handed to its task site; no attempt was spent"},
    {STATE_CLAIMED, HAPPENS_LOSE, STATE_DEAD, "too many relays died while they held it"},
    {STATE_CLAIMED, HAPPENS_ORPHAN, STATE_ORPHANED,
        "its receiver is declared nowhere, and the grace is over"},
    {STATE_FAILED, HAPPENS_CLAIM, STATE_CLAIMED,
        "its wait was over, and a relay took it under a lease"},
    {STATE_FAILED, HAPPENS_ORPHAN, STATE_ORPHANED,
        "its receiver is declared nowhere, and the grace is over"},
    {STATE_DEAD, HAPPENS_REQUEUE, STATE_PENDING, "an operator asked for it again"},
    {STATE_ORPHANED, HAPPENS_REQUEUE, STATE_PENDING,
        "an operator asked for it again, now that its receiver is declared"},
    {STATE_PENDING, HAPPENS_CANCEL, STATE_CANCELLED, "an operator withdrew it"},
    {STATE_CLAIMED, HAPPENS_CANCEL, STATE_CANCELLED,
        "an operator withdrew it; what it comes to is discarded"},
    {STATE_FAILED, HAPPENS_CANCEL, STATE_CANCELLED, "an operator withdrew it"},
    {STATE_SUCCEEDED, HAPPENS_REPLAY, STATE_PENDING, "an operator replayed its event"},
    {STATE_DEAD, HAPPENS_REPLAY, STATE_PENDING, "an operator replayed its event"},
    {STATE_ORPHANED, HAPPENS_REPLAY, STATE_PENDING,
        "an operator replayed its event, now that its receiver is declared"},
    {STATE_CANCELLED, HAPPENS_REPLAY, STATE_PENDING, "an operator replayed its event"},
};
const size_t edge_count = sizeof edges / sizeof edges[0];

static const struct {
    const char *name;
    bool is_terminal;
} states[] = {
    [STATE_NONE] = {"none", false},
    [STATE_PENDING] = {"pending", false},
    [STATE_CLAIMED] = {"claimed", false},
    [STATE_SUCCEEDED] = {"succeeded", true},
    [STATE_FAILED] = {"failed", false},
    [STATE_DEAD] = {"dead", true},
    [STATE_ORPHANED] = {"orphaned", true},
    [STATE_CANCELLED] = {"cancelled", true},
};
_Static_assert(sizeof states / sizeof states[0] == STATE_COUNT, "every state has its name");

static const char *const happenings[] = {
    [HAPPENS_FIRE] = "fire",
    [HAPPENS_CLAIM] = "claim",
    [HAPPENS_LAPSE] = "lapse",
    [HAPPENS_SUCCEED] = "succeed",
    [HAPPENS_FAIL] = "fail",
    [HAPPENS_EXHAUST] = "exhaust",
    [HAPPENS_DEFER] = "defer",
    [HAPPENS_GIVE_UP] = "give up",
    [HAPPENS_NOT_YET] = "not yet",
    [HAPPENS_LOSE] = "lose",
    [HAPPENS_HAND_OFF] = "hand off",
    [HAPPENS_TAKE] = "take",
    [HAPPENS_NOT_SENT] = "not sent",
    [HAPPENS_HAND_BACK] = "hand back",
    [HAPPENS_ORPHAN] = "orphan",
    [HAPPENS_REQUEUE] = "requeue",
    [HAPPENS_CANCEL] = "cancel",
    [HAPPENS_REPLAY] = "replay",
};
_Static_assert(
    sizeof happenings / sizeof happenings[0] == HAPPENS_COUNT, "every happening has its name");

const char *
state_name(enum state state)
{
    return states[state].name;
}

bool
state_parse(const char *name, enum state *ret_state)
{
    for (size_t i = STATE_PENDING; i < STATE_COUNT; i++)
        if (strcmp(name, states[i].name) == 0) {
            *ret_state = (enum state)i;
            return true;
        }
    return false;
}

const char *
happening_name(enum happening happening)
{
    return happenings[happening];
}

const struct edge *
edge_find(enum state from, enum happening happening)
{
    for (size_t i = 0; i < edge_count; i++)
        if (edges[i].from == from && edges[i].happening == happening)
            return &edges[i];
    return NULL;
}

bool
state_is_terminal(enum state state)
{
    return states[state].is_terminal;
}
