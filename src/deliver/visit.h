/* SPDX-License-Identifier: MIT
 *
 * visit.h - a call that delivers what is owed now and returns.
 */
#ifndef DELIVER_VISIT_H
#define DELIVER_VISIT_H

#include "deliver/batch.h"
#include "deliver/ledger.h"
#include "deliver/relay.h"

struct keeper;

struct visit {
    bool is_nested; // in the caller's transaction: what runs outside is left
    bool ignore_backoff;
    int64_t now_us;             // for the claims alone; 0: the clock
    int64_t delivery_id;        // that row alone; 0: any
    bool is_site;               // what is for a task site is run here
    const struct fence *handed; // take that row under this claim; NULL: claim
};

/* The claim that a task was handed, and what became of it. */
struct taking_over {
    bool is_taken;
    struct fence mine; // as a take that was tried has moved it, if it has; delivery_id 0: none was
    int64_t lease_us;
    bool is_function;      // that runs on this thread, so that another has to see to the lease
    struct keeper *keeper; // NULL: none does
};

struct visit_result {
    owed_relay_counts counts;
    const char *recorded; // status of the last row that was recorded; NULL: none was
};
owed_status visit_run(owed *owed, const owed_relay_settings *settings, const struct visit *visit,
    struct visit_result *ret_result, owed_error *err);
/* visit_leave keeps a row from being claimed again during the call. */
void visit_leave(struct worker *worker, int64_t delivery_id);
/* visit_claim makes of a claim one that the visit wants. */
void visit_claim(struct worker *worker, enum share share, struct claim *claim);
/* visit_heard notes what was recorded. */
void visit_heard(
    struct worker *worker, const struct settlement *settlement, const struct note *note);

/* visit_is_free refuses (INVALID) while a relay or a receiver is at work on the handle. */
owed_status visit_is_free(const owed *owed, owed_error *err);
/* visit_take takes the row of the claim that the visit was handed; none where it is not to be had. */
owed_status visit_take(struct worker *worker, struct arena *arena, struct claimed **ret_rows,
    size_t *ret_count, owed_error *err);

#endif
