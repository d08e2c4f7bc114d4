/* SPDX-License-Identifier: MIT
 *
 * upkeep.h - what a worker does between passes: its heartbeat, its colleagues, who was before it.
 */
#ifndef DELIVER_UPKEEP_H
#define DELIVER_UPKEEP_H

#include <owed/error.h>

#include <stdbool.h>
#include <stdint.h>

#include "deliver/shared.h"

struct db;
struct worker;

/* A colleague's lease that this worker has renewed. */
struct kept {
    int64_t delivery_id;
    int64_t claimed_at_us;
    int64_t expires_at_us;
};

owed_status upkeep(struct worker *worker, owed_error *err);
void upkeep_end(struct worker *worker);
/* upkeep_refresh reads the catalogue, in one transaction where none is open. */
owed_status upkeep_refresh(struct worker *worker, owed_error *err);
/* round.c: in one transaction a worker says that it lives, and looks at all that is due now or soon. */
#define MEND_EVERY_US INT64_C(60000000)
bool round_is_due(const struct worker *worker);
owed_status round_make(struct worker *worker, owed_error *err);
void worker_wrote(struct worker *worker);
/* worker_share_counts adds what was counted since to the whole relay's counts. */
void worker_share_counts(struct worker *worker);
bool worker_is_stopping(const struct worker *worker);
bool worker_is_at_rest(const struct worker *worker); // nothing is in flight
bool worker_has_limit(const struct worker *worker);
/* worker_wait returns at the latest after timeout_us, sooner when woken or stopped. */
bool worker_wait(struct worker *worker, int64_t timeout_us);
/* worker_pause waits for nothing but a stop. */
void worker_pause(struct worker *worker, int64_t timeout_us);
int64_t worker_now_us(const struct worker *worker);
int64_t worker_mono_us(const struct worker *worker);

/* colleagues.c: false is trouble. */
bool colleagues_keep(struct worker *worker);
/* colleagues_see_off stays, at a stop, as long as one of them has something in hand. */
void colleagues_see_off(struct worker *worker);
/* colleagues_next_us tells how long until it wants to look; INT64_MAX: it does not. */
int64_t colleagues_next_us(const struct worker *worker);

/* cleaning.c: deletes one batch of events that nobody needs any more, where it is time to. What goes wrong
 * with it is said, and ends no relay. */
owed_status clean(struct worker *worker, owed_error *err);
/* clean_end leaves to others what is not done yet. */
void clean_end(struct worker *worker);
/* clean_looks tells whether it is time, or will be until then, to look for any; clean_look does so, in the
 * transaction that is open. A single writer's others wait meanwhile: there clean looks by itself. */
bool clean_looks(const struct worker *worker, int64_t until_mono_us);
owed_status clean_look(struct worker *worker, owed_error *err);
/* clean_next_us tells how long until it wants to go on; INT64_MAX: this worker does not. */
int64_t clean_next_us(const struct worker *worker);

/* mends tells whether this worker is the one of its relay that looks after the store. */
bool mends(const struct worker *worker);

/* aftermath.c: what the one before in this slot left undone. */
owed_status aftermath(struct worker *worker, owed_error *err);
/* session_note names a thread's session for the worker after this one; no db: it is over, no slot: nobody comes after. */
void session_note(struct slot *slot, enum thread_session which, struct db *db);

#endif
