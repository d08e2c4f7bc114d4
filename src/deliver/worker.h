/* SPDX-License-Identifier: MIT
 *
 * worker.h - one worker, whole. Each of its parts has a header of its own.
 *
 * A pass claims a batch and makes a task of each row. What the attempts come to is noted in a ledger
 * and written under the rows' fences: at once, gathered, or in the transaction of a group. A store
 * that fails is noted as trouble, which ends the pass; the loop then reconnects.
 */
#ifndef DELIVER_WORKER_H
#define DELIVER_WORKER_H

#include "base/buf.h"
#include "deliver/ahead.h"
#include "deliver/around.h"
#include "deliver/attempt.h"
#include "deliver/batch.h"
#include "deliver/behind.h"
#include "deliver/claim_filter.h"
#include "deliver/group.h"
#include "deliver/hand_off.h"
#include "deliver/hold.h"
#include "deliver/idle.h"
#include "deliver/keeper.h"
#include "deliver/ledger.h"
#include "deliver/pace.h"
#include "deliver/pass.h"
#include "deliver/pauses.h"
#include "deliver/put_off.h"
#include "deliver/relay.h"
#include "deliver/report.h"
#include "deliver/secrecy.h"
#include "deliver/trouble.h"
#include "deliver/upkeep.h"
#include "deliver/visit.h"
#include "deliver/wake.h"
#include "engine/mark.h"
#include "store/prune.h"

struct worker {
    owed *owed;
    owed_relay_settings settings; // defaults filled in
    struct relay_seat seat;
    struct slot *slot; // NULL: embedded
    struct arena arena;
    const char *instance;
    const char *claimed_by;
    const char *const *lanes; // qualified, NULL-ended; NULL: all of the app
    struct known *known;      // by key
    size_t known_count;
    struct claim_filter filters[SHARE_COUNT];
    struct secrecy secrecy;
    struct mark marks[SHARE_COUNT];
    struct found_lanes found_lanes[SHARE_COUNT]; // of all, by the full looks of these marks
    struct ahead *ahead;                         // NULL: nothing was claimed ahead yet
    struct behind *behind;                       // NULL: nothing was written behind yet
    int64_t behind_mono_us;                      // until then that is not tried
    int64_t row_us; // of the latest batch, what a row took; 0: there was none
    owed_relay_counts counts;
    owed_relay_counts counts_told; // of these, what the supervisor knows
    struct trouble trouble;
    struct pauses *pauses; // of the whole relay; NULL: nothing is paused here
    struct left_out *left_out;
    void *put_off; // tree of what was put off, where this relay is to end by itself

    bool is_eager;              // for what was just fired: see eager.c
    const int64_t *only_events; // then: of these events
    size_t only_count;

    int64_t frozen_now_us; // limit: claims see nothing that became due later; 0: they do
    int64_t limit_left;    // embedded; -1: none
    int64_t passes_left;   // -1: no end

    struct attempt *in_hand; // while its receiver runs
    struct group group;
    struct stumble stumble;
    int wary_left;  // that many attempts have a savepoint each: locks of others came between
    int alone_left; // that many attempts share no transaction: one of their like has stumbled
    struct ledger gathered;
    struct pace pace;
    struct fence *dropped; // claimed rows that a failing store made us let go
    size_t dropped_count, dropped_size;

    const struct outside_ops *ops;
    struct outside *outside;
    struct sorties waiting, flying, landed;
    size_t flight_count;
    size_t bytes_away;      // payloads of all of these
    size_t bytes_held;      // the batches that they came in
    bool loop_has_more;     // the last claim for the loop was filled
    bool landed_unsure;     // the answer to their commit was lost
    int64_t landed_mono_us; // since when the first of what landed waits to be written
    struct flow flow;
    int64_t lost_away;   // rows among these that somebody was lost with
    int64_t lost_landed; // such rows whose outcomes were written
    int64_t next_renewal_us;
    void *cards; // tree of struct card, of endpoints
    size_t card_count;
    struct errands *errands; // NULL: no receiver here only starts
    int64_t next_deadline_mono_us;
    bool errands_are_limited; // a stop was asked for

    struct hand_off hand_off;
    struct taking_over taking_over;

    const struct visit *visit; // NULL: a relay at work. Below here: only for it
    struct early early;
    struct buf left_ids;  // JSON array: not to be claimed again
    bool has_heard;       // something was recorded
    const char *recorded; // status of the row that was recorded last; NULL: it is gone

    struct wake *wake; // NULL: a visit waits for nobody
    bool has_worked;   // since it waited last
    int64_t idle_us;
    int64_t due_at_us;         // when the next row falls due, as was heard last
    int64_t due_heard_mono_us; // when that was; 0: it is to be asked
    int vain;                  // waits for a due row that could not be claimed
    int64_t mend_mono_us;      // when to look for what is to be mended next
    bool has_to_mend;          // something was found then
    bool is_resting;           // it waits: nothing is in flight, nothing due
    struct prune_course prune; // of the events that can go
    int64_t prune_mono_us;     // when to begin the next one
    int64_t rest_mono_us;      // until then the writers have the store for themselves
    int64_t beat_mono_us;
    char deaf_told[256];        // why it hears of no commit, as its row says
    char away_told[1024];       // and whom it cannot hand on to
    int64_t colleagues_mono_us; // when to look after their leases next
    struct kept kept[SHARED_SLOTS];
    int64_t started_at_us;
    int64_t own_commits;
    int64_t others_commits;       // of the other workers, when last looked at
    int64_t others_wrote_mono_us; // when the application was last seen to commit; 0: never
    int64_t yielded_mono_us;      // latest write
    int64_t kept_us;              // for how long it kept the writer since it yielded
    int64_t all_kept_us;          // and before that
    int64_t dose_us; // for how long it still has to leave it to others; below 0: it has already
    int64_t window_mono_us; // since when it is watched for how long all workers keep it
    int64_t window_kept_us; // for how long they had by then
    int64_t streak_mono_us; // since when the writer was not free for long
    int64_t crowd_mono_us;  // when is_crowded was last looked up
    bool is_crowded;        // another process has the store open
    bool took_sign; // others_look took the store's sign of a commit, which the wait will not see
    bool wrote;     // since the last upkeep
};

/* settings.c */
owed_status settings_fill(
    const owed_relay_settings *given, owed_relay_settings *ret_settings, owed_error *err);
owed_status settings_lanes(struct worker *worker, owed_error *err);

/* relay.c: worker_open takes a seat, worker_pass is one look for everything that is served. */
owed_status worker_open(owed *owed, const owed_relay_settings *settings,
    const struct relay_seat *seat, struct worker **ret_worker, owed_error *err);
void worker_close(struct worker *worker);
bool worker_pass(struct worker *worker);

#endif
