/* SPDX-License-Identifier: MIT
 *
 * look.h - looking at what is in the store, and acting on it as an operator does: look.c, status.c, quiet.c,
 * requeue.c.
 */
#ifndef STORE_LOOK_H
#define STORE_LOOK_H

#include "store/store.h"

struct status_line { // one receiver
    const char *receiver_key;
    const char *lane; // the receiver's, also of what stands in the lane of a paused one
    int64_t owed;     // pending, failed and claimed
    int64_t due;      // of these: may run now
    int64_t held;     // would be due, but its lane or receiver is paused
    int64_t scheduled;
    int64_t claimed;
    int64_t lapsed;      // claimed, lease over
    int64_t handed_back; // claimed, lease at the epoch
    int64_t failed;
    int64_t dead;
    int64_t orphaned;
    int64_t oldest_due_at_us; // available_at of the oldest due row; 0: none
};
struct status {
    struct status_line total;
    struct status_line *lines; // by most owed, most dead, key
    size_t count;
    int64_t events; // at most STATUS_EVENTS_MAX: nobody waits for a count of years
    bool more_events;
};
#define STATUS_EVENTS_MAX INT64_C(100000)
owed_status store_status(
    struct db *db, int64_t now_us, struct arena *arena, struct status *ret_status, owed_error *err);
/* status_add adds what a line counts to another. */
void status_add(struct status_line *sum, const struct status_line *line);
/* status_compare puts most owed, then most dead first; 0: the same of both. */
int status_compare(const struct status_line *a, const struct status_line *b);

/* store_owed_names counts what is owed by receiver and event name, in that order. */
struct owed_name {
    const char *receiver_key;
    const char *event_name;
    int64_t owed;
};
owed_status store_owed_names(struct db *db, struct arena *arena, struct owed_name **ret_names,
    size_t *ret_count, owed_error *err);

/* store_paused lists what an operator has paused, by lane: a lane with all its receivers, a receiver alone, or one of
 * its endpoints. */
struct paused_row {
    const char *lane;
    const char *receiver_key; // "": the lane
    int64_t paused_at_us;
    int64_t paused_until_us; // 0: until it is resumed
    const char *paused_by;
    const char *reason;
    const char *endpoint; // its id; "": none
};
owed_status store_paused(struct db *db, struct arena *arena, struct paused_row **ret_paused,
    size_t *ret_count, owed_error *err);

/* store_quiet lists the durable receivers, by key, whose last success is before a moment, or which had none. What is
 * kept of it is looked up, and the newest most_events events that it wants are looked through. */
#define QUIET_EVENTS 1000
struct quiet_row {
    const char *receiver_key;
    const char *app;
    const char *event_name;
    const char *lane;
    int64_t last_success_at_us; // 0: none
    int64_t events;             // that were owed to it and recorded since; at most most_events
    int64_t last_event_at_us;   // the newest of them; 0: none
};
owed_status store_quiet(struct db *db, int64_t since_us, int32_t most_events, struct arena *arena,
    struct quiet_row **ret_quiet, size_t *ret_count, owed_error *err);

struct event_row {
    int64_t id;
    uint8_t uid[16];
    const char *name;
    int32_t version;
    struct str payload; // empty in lists
    const char *dedupe_key;
    int64_t occurred_at_us;
    int64_t recorded_at_us;
    const char *actor_key;
    const char *actor_label;
    const char *scope;
    const char *correlation_id;
    int64_t causation_id;
    const char *traceparent;
    const char *suppressed_reason; // why it is owed to nobody
    int64_t owed;                  // deliveries not yet ended
    int64_t deliveries;
};

/* store_fired lists the events of a name in id order; of each only id, version and payload. */
owed_status store_fired(struct db *db, const char *event_name, struct arena *arena,
    struct event_row **ret_events, size_t *ret_count, owed_error *err);

/* store_owed_payloads reads a page of what is owed to the receivers in a JSON array of keys, by id. */
struct owed_payload {
    int64_t id; // the delivery's
    const char *receiver_key;
    const char *event_name;
    int32_t version;
    struct str payload;
};
owed_status store_owed_payloads(struct db *db, const char *keys, int64_t after_id, int32_t limit,
    struct arena *arena, struct owed_payload **ret_payloads, size_t *ret_count, owed_error *err);

struct delivery_row {
    int64_t id;
    int64_t event_id;
    const char *event_name;
    const char *receiver_key;
    const char *target;
    const char *lane;
    const char *kind;
    const char *status;
    int32_t attempts;
    int32_t max_attempts;
    int32_t losses;
    int64_t available_at_us;
    int64_t due_at_us;
    const char *claimed_by;
    int64_t claimed_at_us;
    int64_t lease_expires_at_us;
    const char *last_error;
    const char *result;
    int64_t completed_at_us;
    int64_t succeeded_at_us;
};
struct attempt_row {
    int64_t id;
    int64_t delivery_id;
    int32_t attempt;
    int64_t started_at_us;
    int64_t duration_us;
    const char *verdict;
    int32_t code;
    const char *error;
    const char *excerpt;
};

/* A page of a list: newest first, ids below before_id (0: from the newest). NULL or 0: no filter. Of
 * events, name and correlation id are looked at. */
struct filter {
    int64_t before_id;
    int32_t limit;
    const char *event_name;
    const char *receiver_key;
    const char *status;
    const char *lane; // qualified
    int64_t event_id;
    const char *correlation_id;
};
owed_status store_events(struct db *db, const struct filter *filter, struct arena *arena,
    struct event_row **ret_events, size_t *ret_count, owed_error *err);
owed_status store_deliveries(struct db *db, const struct filter *filter, struct arena *arena,
    struct delivery_row **ret_deliveries, size_t *ret_count, owed_error *err);
owed_status store_event(struct db *db, int64_t id, struct arena *arena, struct event_row *ret_event,
    owed_error *err); // NOT_FOUND
/* store_event_of_key finds the committed event that has a dedupe key; NOT_FOUND. */
owed_status store_event_of_key(struct db *db, const char *key, int64_t *ret_id, owed_error *err);
/* store_effects lists the events that one led to, the oldest first, up to limit: of each only id and name. */
owed_status store_effects(struct db *db, int64_t event_id, int32_t limit, struct arena *arena,
    struct event_row **ret_events, size_t *ret_count, owed_error *err);
owed_status store_delivery(struct db *db, int64_t id, struct arena *arena,
    struct delivery_row *ret_delivery, owed_error *err); // NOT_FOUND
/* store_ahead counts the due rows that a claim takes before this one, up to most. */
owed_status store_ahead(struct db *db, const struct delivery_row *delivery, int64_t most,
    int64_t *ret_count, owed_error *err);
/* store_put_off finds the deferral for which a relay may leave a row's lane, or its target, alone:
 * delivery_id is 0 where there is none that waits still. */
struct put_off {
    int64_t delivery_id;
    const char *receiver_key;
    int64_t at_us;
    int64_t until_us; // the pause is over by then
    const char *error;
};
owed_status store_put_off(struct db *db, const struct delivery_row *delivery, int64_t now_us,
    struct arena *arena, struct put_off *ret_put_off, owed_error *err);
owed_status store_attempts(struct db *db, int64_t delivery_id, struct arena *arena,
    struct attempt_row **ret_attempts, size_t *ret_count, owed_error *err);

/* store_requeue makes dead deliveries (and orphaned ones whose receiver is in the catalogue) owed
 * again: pending, attempts 0, due now, no error. ids NULL: all that match; else only those, and an
 * empty list means none. limit below 0: no limit. In id order, in chunks. */
struct requeue {
    const int64_t *ids;
    size_t id_count;
    const char *receiver_key; // NULL: any
    bool orphaned;            // these too
    int64_t limit;
    int64_t now_us;
    bool dry_run;           // count only
    const char *error_text; // last_error holds it; NULL: any
    int64_t since_us;       // ended since
    int64_t until_us;       // and before; 0: any time
    int64_t audit_id;       // how many is added there with each chunk; 0: it is not
    void (*step)(void *state, int64_t so_far); // after each chunk; NULL: nobody looks
    void *state;
};
owed_status store_requeue(
    struct db *db, const struct requeue *requeue, int64_t *ret_count, owed_error *err);

/* store_cancel withdraws what is owed: it is cancelled, and of no use to whoever runs it. Of which only
 * ids, receiver_key, limit, now_us, dry_run, audit_id and step count. ret_running (may be NULL): how many of them were
 * being run. In id order, in chunks. */
owed_status store_cancel(struct db *db, const struct requeue *which, int64_t *ret_count,
    int64_t *ret_running, owed_error *err);

/* store_replay makes one event, or several, owed once more to those who want them now, in a transaction of its own: what
 * has ended is reopened, what never was is added. With dry_run all of it is undone. ret has an element for each;
 * how many were reopened, added and left is said with the first of a name, for all that have it. */
struct replay {
    int64_t event_id;
    const int64_t *event_ids; // in place of event_id; NULL: that one
    size_t event_count;
    const char *keys;      // JSON array of receiver keys; "[]": every receiver
    const char *side_lane; // "+name", without an app; NULL: each receiver's own lane
    int64_t now_us;
    bool dry_run;
};
enum replay_skip {
    REPLAY_DONE,
    REPLAY_UNKNOWN,    // there is no such event
    REPLAY_SUPPRESSED, // it was recorded so that nobody is owed it
    REPLAY_UNWANTED    // no receiver (of those named) wants it now
};
struct replayed {
    enum replay_skip skip;
    int64_t reopened;
    int64_t added;
    int64_t left;           // receivers that are still owed it: nothing of theirs was touched
    const char *event_name; // in the arena
};
owed_status store_replay(struct db *db, const struct replay *replay, struct arena *arena,
    struct replayed *ret, owed_error *err);

/* store_replay_pick finds events of a name that were recorded in a while, by id. */
struct replay_range {
    const char *event_name;
    int64_t since_us;
    int64_t until_us; // 0: until now
};
owed_status store_replay_pick(struct db *db, const struct replay_range *range, int64_t after_id,
    int32_t limit, struct arena *arena, int64_t **ret_ids, size_t *ret_count, owed_error *err);

/*
 * store_pause pauses a lane with all its receivers, or one receiver: what is owed to them is kept, in lanes that
 * nobody serves, and what is fired meanwhile joins it. What is being run is finished. *ret_receivers counts those
 * that are paused by it. store_resume ends it, and what waited flows on in order; a receiver that was paused by itself
 * stays so when its lane is resumed. Owed rows follow in chunks, before either returns.
 */
struct pausing {
    const char *lane;         // qualified; NULL: receiver_key
    const char *receiver_key; // NULL: lane
    int64_t now_us;
    int64_t until_us; // 0: until it is resumed; else a relay resumes it then, within its minute
    const char *who;
    const char *reason;
    bool dry_run; // count only
};
owed_status store_pause(
    struct db *db, const struct pausing *pausing, int64_t *ret_receivers, owed_error *err);
owed_status store_resume(
    struct db *db, const struct pausing *pausing, int64_t *ret_receivers, owed_error *err);

struct lane_row {
    const char *lane;
    int64_t receivers;
    int64_t paused_receivers;
    int64_t waiting;        // pending and failed
    int64_t paused_waiting; // those of paused receivers
    int64_t paused_at_us;   // 0: the lane is not paused
    int64_t paused_until_us;
    const char *paused_by;
    const char *reason;
};
owed_status store_lanes(struct db *db, struct arena *arena, struct lane_row **ret_lanes,
    size_t *ret_count, owed_error *err);

/* What an operator did. store_audit_begin is called before it begins; store_audit_add with each piece, in
 * the piece's own transaction where there is one (id 0: nothing is noted). */
struct audit_row {
    int64_t id;
    int64_t began_at_us;
    int64_t ended_at_us; // 0: it goes on, or was cut off
    const char *who;
    const char *action;
    const char *what;
    int64_t how_many;
};
owed_status store_audit_begin(
    struct db *db, const struct audit_row *audit, int64_t *ret_id, owed_error *err);
owed_status store_audit_add(
    struct db *db, int64_t id, int64_t how_many, int64_t ended_at_us, owed_error *err);
/* store_audits lists them, newest first; of filter before_id and limit. */
owed_status store_audits(struct db *db, const struct filter *filter, struct arena *arena,
    struct audit_row **ret_audits, size_t *ret_count, owed_error *err);

#endif
