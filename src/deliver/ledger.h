/* SPDX-License-Identifier: MIT
 *
 * ledger.h - what attempts came to, on its way into the store.
 */
#ifndef DELIVER_LEDGER_H
#define DELIVER_LEDGER_H

#include <stdatomic.h>

#include "base/limits.h"
#include "deliver/delivery.h"
#include "engine/decide.h"

struct worker;

#define GATHER_US INT64_C(50000) // an acknowledgement waits no longer for others

/* How one attempt ended. */
struct ended {
    const struct claimed *row;
    const struct receiver *receiver; // NULL: none ran
    enum ending ending;
    int64_t wait_us;         // as asked for
    int64_t until_us;        // as asked for
    owed_delivery *delivery; // NULL: there was no attempt
    owed_outcome outcome;    // what it said itself
    const char *text;
    int64_t started_at_us;
    int64_t started_mono_us; // 0: no receiver ran
    int64_t duration_us;
    int32_t code;
    const char *excerpt;
    bool keeps_all; // owed_attempt gets a row for a success too
    bool expanded;  // targets took the place of the row
    size_t target_count;
};

struct note {
    owed_delivery *to_leave; // its hook is left once this is recorded; NULL: none is
    owed_outcome outcome;
    const struct log_field *fields; // what the attempt has to add to its log lines
    size_t field_count;
    const char *receiver_key;
    const char *trace_id; // for the log; NULL: none
    const char *later;    // why it is due later, which stays with nothing but the log
    bool wants_room;      // that is for want of room at its destination
    enum ending ending;
    enum state state;
    bool expanded;
    size_t target_count;
    int64_t asked_wait_us; // of a wait that was cut; else 0
    atomic_flag *was_told; // of a deferral that counts, since its receiver has no bound; else NULL
    atomic_llong *succeeded_at_us;  // of the receiver, where it succeeded; else NULL
    const struct receiver *to_tell; // of the failure; NULL: nobody. Below here: only for it
    int64_t event_id;
    const char *event_name;
    const char *target;
    const char *correlation_id;
    const char *traceparent;
    const char *lane; // for pauses; NULL: nothing is to be heard of it. Below here: only for them
    const char *pause_target;
    const struct receiver *receiver;
    int64_t pause_us; // its destination is to be left alone for so long; 0: it is not
    int64_t started_mono_us;
};

#define LEDGER_ROWS 1024
struct ledger {
    struct arena arena;
    size_t count;
    int64_t oldest_mono_us;
    bool is_unsure; // the answer to its commit was lost: what does not land had landed then
    struct settlement settlements[LEDGER_ROWS];
    struct note notes[LEDGER_ROWS];
    bool landed[LEDGER_ROWS];
};

void ledger_add(struct worker *worker, struct ledger *ledger, const struct ended *ended);
/* ledger_write writes all, in the open transaction or one of its own; landed says what stood. */
owed_status ledger_write(struct worker *worker, struct ledger *ledger, owed_error *err);
/* ledger_has_landed tells whether all that was written stood. */
static inline bool
ledger_has_landed(const struct ledger *ledger)
{
    for (size_t i = 0; i < ledger->count; i++)
        if (!ledger->landed[i])
            return false;
    return true;
}
/* ledger_is_old tells whether something waits in it for as long as it may. */
bool ledger_is_old(const struct worker *worker, const struct ledger *ledger);
/* ledger_report counts and logs what was committed. */
void ledger_report(struct worker *worker, const struct ledger *ledger);
void ledger_clear(struct ledger *ledger);
/* ledger_write_last writes the one that was added last, in the open transaction. */
owed_status ledger_write_last(struct worker *worker, struct ledger *ledger, owed_error *err);
/* ledger_ask finds out what was committed: what is still held under its fence leaves the ledger. */
owed_status ledger_ask(struct worker *worker, struct ledger *ledger, owed_error *err);
/* ledger_part forgets a delivery that ends before its outcome is recorded. */
void ledger_part(struct ledger *ledger, const owed_delivery *delivery);
/* ledger_flush is write, report and clear, in a transaction of its own. */
owed_status ledger_flush(struct worker *worker, struct ledger *ledger, owed_error *err);
/* ledger_may_wait tells whether all in it succeeded, and nothing waits for it to be recorded. */
bool ledger_may_wait(const struct worker *worker, const struct ledger *ledger);
/* ledger_written is report and clear, once it is committed. */
void ledger_written(struct worker *worker, struct ledger *ledger);

#endif
