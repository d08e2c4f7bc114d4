/* SPDX-License-Identifier: MIT
 *
 * states.h - the life of a delivery, as one table.
 *
 * The engine moves by it, the log and the commands speak its sentences, and ARCHITECTURE.md is
 * printed from it. What is not in the table does not happen.
 */
#ifndef ENGINE_STATES_H
#define ENGINE_STATES_H

#include <stdbool.h>
#include <stddef.h>

enum state {
    STATE_NONE, // no row
    STATE_PENDING,
    STATE_CLAIMED,
    STATE_SUCCEEDED,
    STATE_FAILED, // owed again
    STATE_DEAD,
    STATE_ORPHANED,
    STATE_CANCELLED,
    STATE_COUNT
};

enum happening {
    HAPPENS_FIRE,
    HAPPENS_CLAIM,
    HAPPENS_LAPSE, // claimed by another after the lease ended
    HAPPENS_SUCCEED,
    HAPPENS_FAIL,      // attempts left
    HAPPENS_EXHAUST,   // the last attempt failed, or a permanent failure, or it cannot be decoded
    HAPPENS_DEFER,     // put off, uncounted
    HAPPENS_GIVE_UP,   // put off once more after the bound
    HAPPENS_NOT_YET,   // due later, says the application
    HAPPENS_LOSE,      // too many relays died while they held it
    HAPPENS_HAND_OFF,  // to a task site
    HAPPENS_TAKE,      // by the task that was handed it
    HAPPENS_NOT_SENT,  // the hand-off failed
    HAPPENS_HAND_BACK, // stays claimed, free for all
    HAPPENS_ORPHAN,
    HAPPENS_REQUEUE,
    HAPPENS_CANCEL,
    HAPPENS_REPLAY,
    HAPPENS_COUNT
};

struct edge {
    enum state from;
    enum happening happening;
    enum state to;
    const char *sentence;
};

extern const struct edge edges[];
extern const size_t edge_count;

/* state_name is the word in the status column; state_parse reads it back. */
const char *state_name(enum state state);
bool state_parse(const char *name, enum state *ret_state);
const char *happening_name(enum happening happening);

/* edge_find returns the table's row, or NULL: this does not happen in that state. */
const struct edge *edge_find(enum state from, enum happening happening);

/* state_is_terminal: nothing is owed any more. */
bool state_is_terminal(enum state state);

/* states_print appends the table as a Mermaid diagram and as a list, both in Markdown. */
struct buf;
void states_print(struct buf *text);

#endif
