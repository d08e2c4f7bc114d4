/* SPDX-License-Identifier: MIT
 *
 * group.h - the transaction that several deliveries share, or one has to itself.
 */
#ifndef DELIVER_GROUP_H
#define DELIVER_GROUP_H

#include "deliver/attempt.h"

#define GROUP_ROWS 1000              // deliveries of one transaction; a ledger holds as many
#define GROUP_SHARED_ROWS 250        // the same where others wait for single rows
#define GROUP_SAVEPOINTS 60          // and of these with a savepoint: PostgreSQL keeps 64 at hand
#define GROUP_US INT64_C(100000)     // how long it stays open
#define GROUP_SHORT_US INT64_C(2000) // the same on a single writer that others wait for
#define GROUP_PAUSE_US INT64_C(3000) // and what it leaves them afterwards
#define WARY_ATTEMPTS 600            // so many have savepoints once others' locks came between
#define STUMBLES 3                   // as often as this the store is thought to be to blame

struct member {
    struct task *task;
    struct ended ended;
    bool is_saved;
};

struct group {
    bool open;
    bool hurries;   // no statement in it waits for a lock
    bool is_marked; // a savepoint in it tells whether it is still the same
    // A receiver was given the connection, where nothing keeps it from committing what its neighbours wrote:
    // each outcome is written before the next receiver runs.
    bool is_laid_open;
    owed_tx tx;
    int64_t opened_mono_us;
    bool broke_up; // rows that were open are to do again
    int repeats;   // in a row, since locks came between
    size_t saved;  // how many had a savepoint
    size_t count;
    struct member members[GROUP_ROWS];
    struct ledger ledger;
    bool is_in_doubt; // its commit's answer was lost: the ledger stays until the store is asked
};

/* The row whose work the store did not take last. */
struct stumble {
    int64_t delivery_id;
    int times; // in a row
};

/* group.c, group_open.c and group_settle.c: the functions that return bool return false when the store failed. */
owed_status group_begin(owed_delivery *delivery, owed_error *err);
void group_set_open(struct worker *worker, bool is_open);
/* group_make_way is asked before a receiver begins a transaction of its own on the handle. */
owed_status group_make_way(void *worker, owed_error *err);
/* group_takes tells whether a task may run while the transaction of others is open. */
bool group_takes(const struct worker *worker, const struct task *task, const struct known *known);
/* group_settle makes good what attempt_run left: the transaction goes on, is committed, or is undone. */
bool group_settle(struct attempt *attempt);
bool group_close(struct worker *worker);
/* group_undo rolls everything back and gives the members a state; group_undo_in_trouble returns false. */
void group_undo(struct worker *worker, enum task_state state);
bool group_undo_in_trouble(struct worker *worker, const char *doing, const owed_error *err);
/*
 * group_stumble undoes work that the store did not take. It may be the store that is ill, and then nothing
 * counts; or a receiver that has spoilt the connection for us. The store is opened anew and the row
 * repeated. One whose work is not taken time and again, while claims are, has failed an attempt: it
 * would keep all others waiting for ever.
 */
bool group_stumble(
    struct worker *worker, struct member *who, const char *doing, const owed_error *err);
/* group_stumble_together: of several nobody can tell who is to blame. They are repeated one by one. */
bool group_stumble_together(struct worker *worker, const char *doing, const owed_error *err);
/* group_repeat undoes a group that others' locks made useless: its rows run again, in the end one by one, and
 * nothing is counted, unless it is one alone whose turn it was for the last time. */
bool group_repeat(struct worker *worker, const owed_error *err);
/* group_search undoes a group in which something was refused that a receiver did not wait for: they come again
 * with a savepoint each, which tells whose it was. */
bool group_search(struct worker *worker);
/* group_discard_lost undoes the group and sorts its members: whose row was taken is done with, the others run
 * again, each alone. */
bool group_discard_lost(struct worker *worker);
/* group_undo_rest undoes the group, but for what a receiver has committed along with its outcome; false:
 * trouble. */
bool group_undo_rest(struct worker *worker);
/* group_is_tired counts a repetition of one row; true: it has had enough of them. */
bool group_is_tired(struct worker *worker, int64_t delivery_id);
/* group_find_out settles a group in doubt. */
owed_status group_find_out(struct worker *worker, owed_error *err);
/* record_now writes all that is noted. */
bool record_now(struct worker *worker);

#endif
