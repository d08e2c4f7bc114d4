/* SPDX-License-Identifier: MIT
 *
 * store.h - what owed asks of its store: the domain's verbs, the same on every database. What only looks
 * at rows, or is an operator's, stands in look.h.
 *
 * A verb that writes several rows runs in a transaction of its own unless one is open. Every write
 * to a claimed row names its fence and answers LOST when the row is no longer held under it.
 * Text in results lives in the arena that was passed in.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <owed/owed.h>

#include "base/arena.h"
#include "store/driver.h"

/* --- connections and schema: connect.c, migrate.c --- */

owed_status store_open(
    const char *url, const struct db_options *options, struct db **ret_db, owed_error *err);
/* store_url_shown writes what of a URL may be shown: neither user nor password, nor options. */
void store_url_shown(const char *url, char *text, size_t size);
void store_close(struct db *db);

/* store_now tells the time by which the store goes: its own clock's, or the host's where it has none. */
owed_status store_now(struct db *db, int64_t *ret_now_us, owed_error *err);

/* store_check answers SCHEMA where the tables are missing, older or newer than this program. */
owed_status store_check(struct db *db, owed_error *err);

/* store_migrate brings tables and routines up to date; ret_applied counts what it ran. A schema that
 * is newer, or whose checksums differ from ours, is refused. */
owed_status store_migrate(struct db *db, int64_t now_us, int *ret_applied, owed_error *err);

/* store_print_migrations calls print with every script that store_migrate would run on db (db NULL: on
 * an empty store of that scheme), each with the statement that notes it as run at now_us. */
struct printer {
    void (*print)(void *state, const char *name, const char *text);
    void *state;
};
owed_status store_print_migrations(const char *scheme, struct db *db, int64_t now_us,
    const struct printer *printer, owed_error *err);

owed_status store_begin(struct db *db, bool write, owed_error *err);
owed_status store_commit(struct db *db, owed_error *err);
void store_rollback(struct db *db);
bool store_in_transaction(struct db *db);

/* --- firing: fire.c --- */

struct new_delivery;
struct new_event {
    uint8_t uid[16];
    const char *name;
    int32_t version;
    struct str payload;
    const char *dedupe_key; // NULL: none. All that follow: NULL or "" for none
    int64_t occurred_at_us;
    int64_t recorded_at_us;
    int64_t due_at_us; // what is owed for it may run from here; recorded_at_us where nobody said
    const char *actor_key;
    const char *actor_label;
    const char *scope;
    const char *correlation_id;
    int64_t causation_id; // 0: none
    const char *traceparent;
    const char *suppressed_reason; // given, it is owed to nobody
    bool
        may_wait; // nobody needs its id: a store that can writes it with what follows, or with the commit
    // What store_insert_delivery is for, where store_owes_own says that it goes along; no targets.
    const struct new_delivery *own;
    size_t own_count;
};
/* store_owes_own tells whether store_insert_event writes what own says as well. */
bool store_owes_own(const struct db *db);

/* store_insert_event writes the event and fans out to the catalogue. *ret_fresh is false when the
 * dedupe key is taken: *ret_id is then the existing event and nothing was written. *ret_id 0: it waits, and
 * whether it could be written is told by what follows. */
owed_status store_insert_event(struct db *db, const struct new_event *event, int64_t *ret_id,
    bool *ret_fresh, owed_error *err);

/* store_insert_delivery owes the event to one receiver, unless it already does: for receivers that
 * the firing process declares and the catalogue may not know. */
struct new_delivery {
    int64_t event_id;
    const char *receiver_key;
    const char *lane; // qualified
    const char *kind;
    const char *target; // NULL or "": none. With one, the catalogue's lane and kind go first
    int32_t max_attempts;
    int64_t available_at_us;
    int64_t due_at_us; // 0: available_at_us
    bool again;        // to a target: where it has ended it is made owed once more
};
owed_status store_insert_delivery(
    struct db *db, const struct new_delivery *delivery, owed_error *err);

/* store_is_replay tells whether a row that stands for targets does so not for the first time. */
owed_status store_is_replay(struct db *db, int64_t delivery_id, bool *ret_is, owed_error *err);

/* store_delete_blank takes back what the catalogue's fan-out just wrote for a receiver without a
 * target: the firing process names its targets itself. */
owed_status store_delete_blank(
    struct db *db, int64_t event_id, const char *receiver_key, owed_error *err);

/* store_event_exists looks up both id and uid: ids can come again. */
owed_status store_event_exists(
    struct db *db, int64_t id, const uint8_t uid[16], bool *ret_exists, owed_error *err);

/* --- claiming and settling: claim.c, settle.c, take.c --- */

/* The fence: who holds a row since when. The pair is never the same for two claims of one row. */
struct fence {
    int64_t delivery_id;
    const char *claimed_by;
    int64_t claimed_at_us;
};

struct claimed {
    struct fence fence;
    int64_t lease_expires_at_us;
    int64_t event_id;
    const char *receiver_key;
    const char *target;
    const char *lane; // qualified
    int32_t attempts;
    int32_t max_attempts;
    int32_t losses; // this claim's own included
    int64_t available_at_us;
    int64_t due_at_us;
    uint8_t event_uid[16];
    const char *event_name;
    int32_t event_version;
    struct str payload; // NUL-ended all the same
    int64_t occurred_at_us;
    int64_t recorded_at_us;
    const char *actor_key;
    const char *actor_label;
    const char *scope;
    const char *correlation_id;
    const char *traceparent;
};

/* A target whose rows a claim leaves alone. */
struct left_target {
    const char *receiver_key;
    const uint8_t *digest; // 32 bytes
};

/* The lanes in which something of an app was owed at the latest full look: a claim from a mark relies on
 * them. Zeroed: there was none; found_lanes_done frees it. */
struct found_lanes {
    struct arena arena;
    const char *const *lanes; // NULL-ended
};
void found_lanes_done(struct found_lanes *found);

struct claim {
    const char *claimed_by;
    int64_t now_us;
    int64_t lease_us;
    const char *kind;             // "inside", "outside", "task" or "expand"
    const char *const *lanes;     // qualified, NULL-ended; NULL: every lane of app
    const char *app;              // with lanes NULL
    struct found_lanes *found;    // with lanes NULL; NULL: they are looked up each time
    const char *const *but_lanes; // of these, the ones to leave alone, NULL-ended; NULL: none
    const struct left_target *but_targets; // rows to leave alone
    size_t but_target_count;
    const char *const *receivers; // keys this relay can run, NULL-ended; NULL: it can run all that
                                  // the catalogue has in these lanes, so no filter is needed
    const int64_t *event_ids;     // only pending rows of these events, in any lane; with receivers
    size_t event_count;           // 0: of any event
    // Leaves out what came due before it, and leases that lapsed; not what was handed back. 0: nothing
    // is left out. Only of a relay's claims.
    int64_t mark_us;
    int32_t limit;
    int32_t max_losses; // a row at it is not run: see store_claim; 0: no limit
    size_t max_bytes;   // of payloads: the claim ends early above it, with one row at least
    int32_t most_lost;  // rows that somebody was lost with go together up to so many; 0: each alone
    // Claims of one call, not of a relay; receivers must be given:
    const struct early *early; // NULL: rows that are due now
    int64_t delivery_id; // that row alone, whatever lanes, app, kind and receivers say; 0: any
    struct along *along; // NULL: nothing; only where store_claims_along
    // Told when a lock is held that keeps others from writing; NULL: nobody.
    void (*locked)(void *state);
    void *locked_state;
};

/* Outcomes that are written along with a claim, in its transaction: see store_claim. */
struct settlement;
struct along {
    const struct settlement *settlements;
    size_t count;
    bool *landed;    // as store_settle answers it
    bool is_written; // the claim found rows, and these are committed with it
};

/* Which rows are claimed before their time. Leases are not touched by it. */
struct early {
    int64_t due_us;      // those that are due by then
    bool ignore_backoff; // failed ones whatever they wait for, if their due_at allows it
    struct str but_ids;  // JSON array: not these
};

/*
 * store_claim takes rows for a while, in (available_at, id) order: pending and failed ones that are
 * due, and claimed ones whose lease has lapsed (a loss, unless the lease is at the epoch: then it was
 * handed back). A row with losses is claimed alone. A row whose losses reach max_losses is returned
 * too, alone, for the caller to settle as dead without running it. With no lane left nothing is asked.
 * Commits by itself. *ret_rows is in claim order. Where nothing can be claimed nothing goes along; a claim
 * that fails has written neither, unless it is UNSURE.
 */
owed_status store_claim(struct db *db, const struct claim *claim, struct arena *arena,
    struct claimed **ret_rows, size_t *ret_count, owed_error *err);

/* store_claims_along tells whether outcomes go along with a claim: where there is a single writer. Elsewhere the
 * next claim is made on a connection of its own while outcomes are written. */
bool store_claims_along(const struct db *db);

/* store_renew moves the lease; LOST. */
owed_status store_renew(
    struct db *db, const struct fence *fence, int64_t lease_expires_at_us, owed_error *err);

/* One row's outcome, to be written under its fence. */
struct settlement {
    struct fence fence;
    const char *status; // "succeeded", "failed", "dead", "orphaned"; "pending": due later
    int32_t attempts;
    int64_t available_at_us; // failed; pending: its due_at too
    int64_t now_us;          // moment of the outcome
    const char *last_error;  // succeeded: cleared; pending: what stands there stays
    // For owed_attempt; verdict NULL: no row is written.
    const char *verdict;
    int32_t attempt;
    int64_t started_at_us;
    int64_t duration_us;
    int32_t code;        // HTTP status, exit status, signal; 0: none
    const char *excerpt; // of the answer, or ""
    const char *result;  // kept with the row; NULL: what stands there stays
    bool expanded;       // succeeded, and others took its place: the row goes
    // succeeded: its event, if that may go once it has succeeded; 0: no. Where the event says so itself,
    // and nothing else of it is owed, all of it is deleted. Prune does so for what is left.
    int64_t consumed_event_id;
};

/*
 * store_settle writes outcomes, in the open transaction or one of its own. landed[i] (landed may be
 * NULL) is false for a row that is no longer held under its fence: nothing was written for it.
 * A row that landed has losses 0. Answers LOST when count is 1 and it did not land.
 */
owed_status store_settle(struct db *db, const struct settlement *settlements, size_t count,
    bool *landed, owed_error *err);

/* store_hand_back makes rows claimable by anyone at once: claimed, lease at the epoch, place in the
 * queue and attempts as they were. Rows not held under the fence are left alone. */
owed_status store_hand_back(
    struct db *db, const struct fence *fences, size_t count, int64_t *ret_count, owed_error *err);

/* store_hand_back_all does so for every row that claimed_by holds, but one (0: none). */
owed_status store_hand_back_all(struct db *db, const char *claimed_by, int64_t but_delivery_id,
    int64_t *ret_count, owed_error *err);

/* store_count_loss adds a loss to a held row and hands it back. */
owed_status store_count_loss(struct db *db, const struct fence *fence, owed_error *err);

/* store_count_loss_all does so for every row that claimed_by holds. */
owed_status store_count_loss_all(
    struct db *db, const char *claimed_by, int64_t *ret_count, owed_error *err);

/* store_forgive_losses takes one loss back from every row that somebody else now may claim but that
 * this claimed_by had claimed before and nobody has settled. For a relay back from an outage. */
owed_status store_forgive_losses(
    struct db *db, const char *claimed_by, int64_t *ret_count, owed_error *err);

/* store_next_due finds when the next row of these lanes can be claimed: its available_at, or the end
 * of a lease; INT64_MAX: none. Reads claim's lanes, app, receivers and kind; rows
 * of targets that it leaves alone may be meant all the same. */
owed_status store_next_due(
    struct db *db, const struct claim *claim, int64_t *ret_at_us, owed_error *err);

/* --- the catalogue: catalogue.c --- */

struct catalogue_event {
    const char *app;
    const char *name;
    int32_t version;
    const char *fields;        // JSON array
    int64_t retention_seconds; // 0: none of its own
    const char *delete_when;   // "succeeded", "settled"; NULL or "": when it is old
    int64_t release;
    int64_t published_at_us;
    int64_t removed_at_us; // 0: not removed
};

struct catalogue_receiver {
    const char *key;
    const char *app;
    const char *event_name; // "*": any
    const char *mode;       // "durable", "on_commit", "inline"
    const char *site;       // "relay", "task"
    const char *kind;       // "inside", "outside", "task"
    const char *lane;       // qualified
    int32_t max_attempts;   // 0 in all that follow: not declared, a relay's setting holds
    int64_t backoff_base_us;
    int64_t backoff_cap_us;
    int64_t lease_us;
    int64_t timeout_us;
    int64_t due_us;
    int64_t give_up_after_us;
    const char *pause;   // "lane", "target"; NULL: "lane"
    const char *targets; // "none", "callback"; NULL: "none"
    bool eager;
    bool database_only;
    const char *options; // JSON object: what else it declares
    int64_t release;
    int64_t published_at_us;
    int64_t removed_at_us;
};

/*
 * store_publish writes what an app declares, in one transaction: rows that differ are written,
 * what the app no longer declares is marked removed where release is above 0 and the row's release
 * is not newer. CONFIG: a key of another app. Owed rows of a receiver whose lane or kind changed
 * follow it afterwards, in chunks. ret_changed counts catalogue rows written.
 */
struct publication {
    const char *app;
    int64_t release;
    int64_t now_us;
    const struct catalogue_event *events;
    size_t event_count;
    const struct catalogue_receiver *receivers;
    size_t receiver_count;
};
owed_status store_publish(
    struct db *db, const struct publication *publication, int64_t *ret_changed, owed_error *err);

/* store_retire marks everything of an app as removed. */
owed_status store_retire(
    struct db *db, const char *app, int64_t now_us, int64_t *ret_changed, owed_error *err);

owed_status store_catalogue_receivers(struct db *db, struct arena *arena,
    struct catalogue_receiver **ret_receivers, size_t *ret_count, owed_error *err);
owed_status store_catalogue_events(struct db *db, struct arena *arena,
    struct catalogue_event **ret_events, size_t *ret_count, owed_error *err);

/*
 * store_mend ends an operator's pauses whose time is over, and sets right what a race left behind, in chunks of limit
 * rows: owed rows whose lane or
 * kind is not the catalogue's follow it; owed rows of a receiver that was removed, or never was
 * published, at least grace_us ago are orphaned (grace_us below 0: at once).
 */
owed_status store_mend(struct db *db, int64_t now_us, int64_t grace_us, int32_t limit,
    int64_t *ret_moved, int64_t *ret_orphaned, owed_error *err);
/* store_mend_look ends those pauses, in the transaction that is open, and tells whether store_mend has any row to set
 * right. */
owed_status store_mend_look(
    struct db *db, int64_t now_us, int64_t grace_us, bool *ret_any, owed_error *err);

/* --- relays: relays.c --- */

struct relay_row {
    const char *id; // "<worker-id>.<8 hex>"
    const char *host;
    int64_t pid;
    const char *boot_id;
    const char *lanes;     // JSON array of qualified lanes, or ["*"]
    const char *wake_path; // of the datagram socket; ""
    const char *deaf; // why it hears of no commit, and polls; "": it hears. NULL, written: the same
    const char *
        away; // whom it cannot hand on to what it should, since when and why; "": nobody. NULL: likewise
    int64_t started_at_us;
    int64_t heartbeat_at_us;
};
/* store_relay_heartbeat inserts or updates the relay's row. */
owed_status store_relay_heartbeat(struct db *db, const struct relay_row *relay, owed_error *err);
/* store_note_successes notes when receivers last succeeded; it only moves forward. */
struct success {
    const char *receiver_key;
    int64_t at_us;
};
owed_status store_note_successes(
    struct db *db, const struct success *successes, size_t count, owed_error *err);

/* store_relay_leave removes it, and those that were silent since before a moment: they died. */
owed_status store_relay_leave(
    struct db *db, const char *id, int64_t silent_since_us, owed_error *err);
owed_status store_relays(struct db *db, struct arena *arena, struct relay_row **ret_relays,
    size_t *ret_count, owed_error *err);

#endif
