/* SPDX-License-Identifier: MIT
 *
 * worker.h - what the parts of one worker share.
 *
 * A pass claims a batch and makes a task of each row. What the attempts come to is noted in a ledger
 * and written under the rows' fences: at once, gathered, or in the transaction of a group. A store
 * that fails is noted as trouble, which ends the pass; the loop then reconnects.
 */
#ifndef DELIVER_WORKER_H
#define DELIVER_WORKER_H

#include <stdatomic.h>

#include "base/buf.h"
#include "deliver/around.h"
#include "deliver/pauses.h"
#include "deliver/relay.h"
#include "deliver/wake.h"
#include "engine/decide.h"

#define SLOW_US INT64_C(20000)        // a receiver that usually takes longer runs alone
#define GATHER_US INT64_C(50000)      // an acknowledgement waits no longer for others
#define GROUP_ROWS 60                 // deliveries of one transaction
#define GROUP_US INT64_C(100000)      // how long it stays open
#define GROUP_SHORT_US INT64_C(2000)  // the same on a single writer that others wait for
#define GROUP_PAUSE_US INT64_C(3000)  // and what it leaves them afterwards
#define STUMBLES 3                    // as often as this the store is thought to be to blame
#define TRIAL_LOOK_US INT64_C(100000) // how often to look whether another worker's trial is over

/* --- receivers of this process, and which rows a claim may ask for: claim_filter.c --- */

struct known {
    const struct receiver *receiver;
    bool timed;
    int64_t usual_us; // how long it takes, as a moving average
    int32_t away;     // attempts that it has started and that are in flight
};

/* What a worker runs; a role is a set of these. */
enum share {
    SHARE_INSIDE,
    SHARE_EXPAND,   // rows that stand for the targets of any receiver
    SHARE_TASK,     // rows that are handed on to a task site: nothing is run
    SHARE_LOOP,     // webhooks, programs, files
    SHARE_FUNCTION, // outside receivers in C
    SHARE_COUNT
};

struct claim_filter {
    bool serves;                  // there is something of this share to run
    bool on;                      // name the receivers to the store, since it holds rows of others
    bool met_stranger;            // a row came that cannot be run here
    const char **keys;            // all that can be run, NULL-ended
    const struct known **members; // the same
    const char **some;            // room for a list of a part of them
};

/* --- outcomes on their way into the store: ledger.c --- */

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
    char receiver_key[LIMIT_KEY_BYTES + 1];
    enum ending ending;
    enum state state;
    bool expanded;
    size_t target_count;
    int64_t asked_wait_us; // of a wait that was cut; else 0
    atomic_flag *was_told; // of a deferral that counts, since its receiver has no bound; else NULL
    const struct receiver *to_tell; // of the failure; NULL: nobody. Below here: only for it
    int64_t event_id;
    const char *event_name;
    const char *target;
    const char *correlation_id;
    const char *lane; // for pauses; NULL: nothing is to be heard of it. Below here: only for them
    const char *pause_target;
    const struct receiver *receiver;
    int64_t pause_us; // its destination is to be left alone for so long; 0: it is not
    int64_t started_mono_us;
};

#define LEDGER_ROWS 256
struct ledger {
    struct arena arena;
    size_t count;
    int64_t oldest_mono_us;
    bool is_unsure; // the answer to its commit was lost: what does not land had landed then
    struct settlement settlements[LEDGER_ROWS];
    struct note notes[LEDGER_ROWS];
    bool landed[LEDGER_ROWS];
};

/* --- a claimed batch: inside_pass.c --- */

enum task_state {
    TASK_TODO,
    TASK_ALONE, // to do, in a transaction of its own
    TASK_OPEN,  // ran; its transaction is open
    TASK_LEFT,  // not for us
    TASK_AWAY,  // a sortie has it
    TASK_BACK,  // given back, since its lane is paused
    TASK_DONE   // recorded, or noted in the gathered ledger, or lost
};

struct task {
    const struct claimed *row;
    int64_t lease_expires_at_us;
    enum task_state state;
};

struct batch {
    struct arena arena;
    const char *claimed_by; // the worker's own text
    struct task *tasks;
    size_t count;
    size_t cursor;         // nothing to do before it, unless a group broke up
    atomic_size_t flights; // outside: who still needs it
};

/* --- one attempt: attempt.c; the transaction of several: group.c --- */

struct attempt {
    struct worker *worker;
    struct task *task;
    struct known *known;
    owed_delivery delivery;
    const void *payload;
    int64_t started_at_us;
    int64_t started_mono_us;
    int64_t duration_us;
    owed_outcome outcome;
    bool may_share; // the transaction, with its neighbours
    bool asked;     // it has the group's transaction, in a savepoint
    bool expands;   // the row stands for targets: they are asked for, and no receiver runs
    size_t target_count;
    owed_finish_function finish; // in place of the receiver, which has run; NULL: none
    void *finish_state;
    struct fired **mark;
};

struct member {
    struct task *task;
    struct ended ended;
};

struct group {
    bool open;
    bool hurries; // no statement in it waits for a lock
    owed_tx tx;
    int64_t opened_mono_us;
    bool broke_up; // rows that were open are to do again
    size_t count;
    struct member members[GROUP_ROWS];
    struct ledger ledger;
    bool
        is_in_doubt; // the answer to its commit was lost: the ledger stays until the store is asked
};

/* --- the worker --- */

struct trouble {
    bool now;
    int failures; // in a row
    owed_error error;
    owed_error logged; // the last one that was logged
};

/* A colleague's lease that this worker has renewed. */
struct kept {
    int64_t delivery_id;
    int64_t claimed_at_us;
    int64_t expires_at_us;
};

/* The row whose work the store did not take last. */
struct stumble {
    int64_t delivery_id;
    int times; // in a row
};

/* What claims leave out: room for lists of it. */
struct left_out {
    struct pause_of list[PAUSES];
    const char *lanes[PAUSES + 1];
    struct left_target targets[PAUSES];
};

struct keeper; // keeper.c
struct sortie; // an attempt outside: outside_pass.c
struct sorties {
    struct sortie *first, *last;
};

/* Hand-offs: a backend that refuses one is left alone for a while. */
struct hand_off {
    const char
        *claimed_by; // of what is handed on: whoever sees to this worker's rows leaves it alone
    int failures;    // in a row
    int64_t next_mono_us;
};

/* The claim that a task was handed, and what became of it. */
struct taking_over {
    bool is_taken;
    struct fence mine; // as a take that was tried has moved it, if it has; delivery_id 0: none was
    int64_t lease_us;
    bool is_function;      // that runs on this thread, so that another has to see to the lease
    struct keeper *keeper; // NULL: none does
};

/* A call that delivers what is owed now and returns, in place of a relay: visit.c. */
struct visit {
    bool is_nested; // in the caller's transaction: what runs outside is left
    bool ignore_backoff;
    int64_t now_us;             // for the claims alone; 0: the clock
    int64_t delivery_id;        // that row alone; 0: any
    bool is_site;               // what is for a task site is run here
    const struct fence *handed; // take that row under this claim; NULL: claim
};

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
    owed_relay_counts counts;
    owed_relay_counts counts_told; // of these, what the supervisor knows
    struct trouble trouble;
    struct pauses *pauses; // of the whole relay; NULL: nothing is paused here
    struct left_out *left_out;

    bool is_eager;              // for what was just fired: see eager.c
    const int64_t *only_events; // then: of these events
    size_t only_count;

    int64_t frozen_now_us; // limit: claims see nothing that became due later; 0: they do
    int64_t limit_left;    // embedded; -1: none
    int64_t passes_left;   // -1: no end

    const struct attempt *in_hand; // while its receiver runs
    struct group group;
    struct stumble stumble;
    int alone_left; // that many attempts share no transaction: one of their like has stumbled
    struct ledger gathered;
    struct fence *dropped; // claimed rows that a failing store made us let go
    size_t dropped_count, dropped_size;

    const struct outside_ops *ops;
    struct outside *outside;
    struct sorties waiting, flying, landed;
    size_t flight_count;
    bool landed_unsure; // the answer to their commit was lost
    int64_t next_renewal_us;
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
    int64_t idle_us;
    int64_t due_at_us;         // when the next row falls due, as was heard last
    int64_t due_heard_mono_us; // when that was; 0: it is to be asked
    int vain;                  // waits for a due row that could not be claimed
    int64_t mend_mono_us;      // when to mend next
    int64_t beat_mono_us;
    int64_t colleagues_mono_us; // when to look after their leases next
    struct kept kept[SHARED_SLOTS];
    int64_t started_at_us;
    int64_t own_commits;
    int64_t others_commits;       // of the other workers, when last looked at
    int64_t others_wrote_mono_us; // when the application was last seen to commit; 0: never
    int64_t yielded_mono_us;      // latest write
    int64_t streak_mono_us;       // since when the writer was not free for long
    int64_t crowd_mono_us;        // when is_crowded was last looked up
    bool is_crowded;              // another process has the store open
    bool took_sign; // others_look took the store's sign of a commit, which the wait will not see
    bool wrote;     // since the last upkeep
};

/* settings.c */
owed_status settings_fill(
    const owed_relay_settings *given, owed_relay_settings *ret_settings, owed_error *err);
owed_status settings_lanes(struct worker *worker, owed_error *err);

/* claim_filter.c */
owed_status filters_init(struct worker *worker, owed_error *err);
/* filters_refresh compares what is known here with the catalogue. */
owed_status filters_refresh(struct worker *worker, owed_error *err);
struct known *known_find(const struct worker *worker, const char *key);
/* known_is_of tells whether this worker runs it in that share: at a task site it runs what any relay
 * hands on. */
bool known_is_of(const struct worker *worker, const struct known *known, enum share share);
/* share_is_served: the share has receivers here, and nothing keeps it from being claimed now. */
bool share_is_served(const struct worker *worker, enum share share);
const char *share_kind(enum share share); // of its rows
void known_time(struct known *known, int64_t duration_us);
bool known_is_slow(const struct known *known); // or was never timed

/* claim.c: worker_claim takes up to limit rows of a share; *ret_batch is NULL when there are none.
 * receivers NULL: as the share's filter has it. */
bool worker_claim(struct worker *worker, enum share share, const char *const *receivers,
    int32_t limit, struct batch **ret_batch);
void claim_fill(struct worker *worker, enum share share, struct claim *ret_claim);
void batch_free(struct batch *batch);
/* claim_name is the name that a row of ours is claimed under; unlike the row's own it stays. */
const char *claim_name(const struct worker *worker, const struct claimed *row);
/* batch_drop remembers what was not done, to be handed back once the store is there again. */
void batch_drop(struct worker *worker, const struct batch *batch);
/* batch_hand_back gives back what was not done. */
bool batch_hand_back(struct worker *worker, const struct batch *batch);
/* hand_back gives back single rows; unstarted of them were ours to run. */
bool hand_back(struct worker *worker, const struct fence *fences, size_t count, size_t unstarted);
/* hold_back gives back those of a batch that may not start now. */
bool hold_back(struct worker *worker, struct batch *batch);
/* claim_unspend gives back to --limit what was claimed and not attempted. */
void claim_unspend(struct worker *worker, int64_t count);

/* ledger.c */
void ledger_add(struct worker *worker, struct ledger *ledger, const struct ended *ended);
/* ledger_write writes all, in the open transaction or one of its own; landed says what stood. */
owed_status ledger_write(struct worker *worker, struct ledger *ledger, owed_error *err);
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

/* relay.c: worker_open takes a seat, worker_pass is one look for everything that is served. */
owed_status worker_open(owed *owed, const owed_relay_settings *settings,
    const struct relay_seat *seat, struct worker **ret_worker, owed_error *err);
void worker_close(struct worker *worker);
bool worker_pass(struct worker *worker);

/* visit.c */
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

/* keeper.c: keeper_start has a thread renew the lease of a row that this worker has taken, until
 * keeper_stop; NULL: it could not be had. keeper_slot is where a receiver asks whether it lost the row. */
struct keeper *keeper_start(
    const struct worker *worker, const struct claimed *row, int64_t lease_us);
void keeper_stop(struct keeper *keeper);
const struct slot *keeper_slot(const struct keeper *keeper);

/* hand_off.c: hand_off_row hands a row to the task backend; false is trouble. */
bool hand_off_row(struct worker *worker, struct task *task, const struct known *known);
/* hand_off_waits: the backend refused one, and is left alone. */
bool hand_off_waits(const struct worker *worker);
/* hand_off_wait_us tells for how long; INT64_MAX: it is not. */
int64_t hand_off_wait_us(const struct worker *worker);
/* task_backend_of returns the handle's, or its registry's; NULL: none is set. */
const owed_task_backend *task_backend_of(const owed *owed);

/* hold.c: pauses. hold_ask asks for a row before it starts; after a trial hold_release, once its outcome
 * is recorded or will never be. */
bool hold_any(const struct worker *worker);
enum hold hold_ask(
    struct worker *worker, const struct claimed *row, const struct receiver *receiver);
/* hold_holds asks without starting it. */
bool hold_holds(struct worker *worker, const struct claimed *row, const struct receiver *receiver);
void hold_release(
    struct worker *worker, const struct claimed *row, const struct receiver *receiver);
void hold_release_all(struct worker *worker);
/* hold_note keeps what hold_hear needs once the outcome is committed. */
void hold_note(struct worker *worker, struct ledger *ledger, const struct ended *ended,
    int64_t pause_us, struct note *note);
void hold_hear(struct worker *worker, const struct note *note);
/* hold_leave_out has a claim bring no rows of what is paused, or on trial. */
void hold_leave_out(const struct worker *worker, struct claim *claim);
/* hold_wait_us tells how long until that changes; INT64_MAX: nothing will. */
int64_t hold_wait_us(const struct worker *worker);

/* attempt.c */
enum readiness {
    READY,
    NOT_OURS,   // no such receiver, or no such event, here
    NOT_HELD,   // the claim was lost
    NOT_TO_RUN, // over already: its end stands in the gathered ledger
    NO_STORE    // trouble
};
enum readiness row_check(struct worker *worker, struct task *task, const struct known *known);
enum readiness attempt_prepare(struct worker *worker, struct task *task, struct known *known,
    struct arena *arena, struct attempt *ret_attempt);
/* attempt_run calls the receiver; afterwards outcome and duration stand. */
void attempt_run(struct attempt *attempt);
void attempt_ended(struct attempt *attempt, struct ended *ret_ended);
/* attempt_over leaves the hook around an attempt whose outcome could not be recorded. */
void attempt_over(struct attempt *attempt);
/* attempt_decode is for who prepares an attempt by itself: READY, NOT_TO_RUN or NO_STORE. */
enum readiness attempt_decode(struct worker *worker, const struct task *task,
    const struct known *known, struct arena *arena, const void **ret_payload);
/* show_hand tells the supervisor what is in hand from now on. */
void show_hand(struct worker *worker, const struct task *task, const struct receiver *receiver,
    int64_t started_at_us);
/* worker_phase tells the supervisor how far the attempt in hand is. */
void worker_phase(struct worker *worker, enum phase phase);
enum ending ending_of(owed_outcome outcome);
/* delivery_ending is ending_of, unless it was the hook that failed. */
enum ending delivery_ending(const owed_delivery *delivery, owed_outcome outcome);
/* lease_us is how long a claim of that receiver's rows lasts. */
int64_t lease_us(const struct worker *worker, const struct receiver *receiver);
/* lease_keep renews a lease of which less than half is left; LOST. */
owed_status lease_keep(
    struct worker *worker, struct task *task, const struct receiver *receiver, owed_error *err);

/* expand.c: expand_run asks for the targets of a row and owes them; the row goes when it is settled. */
owed_outcome expand_run(struct attempt *attempt);

/* group.c and group_settle.c: the functions that return bool return false when the store failed. */
owed_status group_begin(owed_delivery *delivery, owed_error *err);
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
/* group_repeat undoes a group that others' locks made useless: its rows run again one by one, and nothing
 * is counted, unless it is one alone whose turn it was for the last time. */
bool group_repeat(struct worker *worker, const owed_error *err);
/* group_is_tired counts a repetition of one row; true: it has had enough of them. */
bool group_is_tired(struct worker *worker, int64_t delivery_id);
/* group_find_out settles a group in doubt. */
owed_status group_find_out(struct worker *worker, owed_error *err);
/* record_now writes all that is noted. */
bool record_now(struct worker *worker);

/* batch_run runs a batch of receivers in C, and gives back what was not for us. */
void batch_run(struct worker *worker, enum share share, struct batch *batch);

/* inside_pass.c and outside_pass.c: true: there was something to do. */
bool inside_pass(struct worker *worker, enum share share);
bool outside_pass(struct worker *worker);
/* outside_attend lets what is in flight go on, without waiting and without a word to the store. */
void outside_attend(struct worker *worker);
/* outside_wait polls what is in flight, and what wakes, for up to timeout_us. */
void outside_wait(struct worker *worker, int64_t timeout_us);
/* outside_settle records what has ended. */
bool outside_settle(struct worker *worker);
/* outside_stop hands back what waits for room; outside_finish waits until nothing is in flight. */
void outside_stop(struct worker *worker);
void outside_finish(struct worker *worker);
void outside_close(struct worker *worker);

/* upkeep.c */
owed_status upkeep(struct worker *worker, owed_error *err);
void upkeep_end(struct worker *worker);
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
/* others.c: others_look notices commits of the application, others_write tells whether there was one
 * lately. worker_yield leaves a single writer to others for a moment; called after every write. */
void others_look(struct worker *worker);
bool others_write(struct worker *worker);
void worker_yield(struct worker *worker);

/* idle.c: both return when there may be something to do. idle_after_work is for a pass that did something. */
void idle_after_work(struct worker *worker);
void idle(struct worker *worker);
/* idle_once has told the supervisor first that there is nothing left; seen is what slot_works said. */
void idle_once(struct worker *worker, long long seen);

/* colleagues.c: false is trouble. */
bool colleagues_keep(struct worker *worker);
/* colleagues_see_off stays, at a stop, as long as one of them has something in hand. */
void colleagues_see_off(struct worker *worker);
int64_t colleagues_next_us(
    const struct worker *worker); // how long until it wants to look; INT64_MAX

/* trouble.c */
void trouble(struct worker *worker, const char *doing, const owed_error *err);
/* trouble_mend waits, then retries; trouble_retry opens the store anew and makes good. */
void trouble_mend(struct worker *worker);
owed_status trouble_retry(struct worker *worker, owed_error *err);
void trouble_over(struct worker *worker);

/* report.c: log lines. */
void report_failure(
    struct worker *worker, const struct settlement *settlement, const struct note *note);
void report_cut(
    struct worker *worker, const struct settlement *settlement, const struct note *note);
void report_unbounded(struct worker *worker, const struct note *note);
void report_not_yet(
    struct worker *worker, const struct settlement *settlement, const struct note *note);
void report_not_sent(
    struct worker *worker, const struct settlement *settlement, const struct note *note);
void report_stale(struct worker *worker, const struct fence *fence, const char *why);
void report_expanded(
    struct worker *worker, const struct settlement *settlement, const struct note *note);
void report_discarded(
    struct worker *worker, const struct settlement *settlement, const struct note *note);
void report_lost(struct worker *worker, const struct claimed *row);
void report_left(struct worker *worker, const struct claimed *row, const char *why);

/* failure.c: failure_note keeps what on_failure is going to be told, if it is; failure_tell calls it. */
void failure_note(struct ledger *ledger, const struct ended *ended, struct note *note);
void failure_tell(
    struct worker *worker, const struct settlement *settlement, const struct note *note);

/* aftermath.c: what the one before in this slot left undone. */
owed_status aftermath(struct worker *worker, owed_error *err);

#endif
