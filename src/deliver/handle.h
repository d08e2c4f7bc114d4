/* SPDX-License-Identifier: MIT
 *
 * handle.h - the handle behind owed.h, and the transactions it hands out.
 */
#ifndef DELIVER_HANDLE_H
#define DELIVER_HANDLE_H

#include <stdatomic.h>

#include <owed/owed.h>
#include <owed/task.h>

#include "base/log.h"
#include "declare/registry.h"
#include "deliver/store_clock.h"
#include "store/store.h"

struct owed {
    char *url;
    struct db *db;
    const owed_registry *registry; // never NULL: an empty one where none was given
    owed_registry *own_registry;   // that empty one
    int64_t release;
    int64_t busy_timeout_us;
    owed_clock clock; // the caller's, the store's, or the host's
    struct store_clock store_clock;
    bool has_own_clock;       // the caller's
    int64_t clock_read_at_us; // monotonic
    owed_dice dice;
    struct log log;
    owed_tx *tx;           // the open one of owed_begin or a join, or NULL
    owed_tx *outer;        // the caller's, while db works in savepoints of it; else NULL
    atomic_int stop;       // signals seen: set by owed_relay_stop
    int stop_fd;           // eventfd that wakes whatever waits; written by owed_relay_stop
    struct wakers *wakers; // where relays of this store listen
    // Asked before owed_begin begins: a relay may have the connection's transaction for others.
    owed_status (*make_way)(void *state, owed_error *err);
    void *make_way_state;
    owed_around around;             // enter NULL: the registry's
    owed_task_backend task_backend; // enqueue NULL: the registry's
    const char *serves; // the one receiver that a relay of this handle serves; NULL: all
    void *draining;     // who has that relay run to drain on his own thread; NULL: nobody
    int depth; // receivers of this process that run inside one another: INLINE and ON_COMMIT
};

/* handle_connect opens the store and checks its tables; handle_connect_again opens one more connection to it,
 * from any thread, and checks nothing. handle_read_clock lets the clock follow the
 * store's, where that has one and the caller gave none. */
owed_status handle_connect(const owed *owed, struct db **ret_db, owed_error *err);
owed_status handle_connect_again(const owed *owed, struct db **ret_db, owed_error *err);
owed_status handle_read_clock(owed *owed, owed_error *err);
/* handle_reconnect puts a new connection in the place of one that has failed; until there is one, the old
 * one stays. */
owed_status handle_reconnect(owed *owed, owed_error *err);
/* handle_forget_stop lets the handle be used again after what ran on it was stopped. */
void handle_forget_stop(owed *owed);
/* handle_keep_clock does so once a minute, for a handle that only fires; never in a transaction. */
void handle_keep_clock(owed *owed);

/* handle_end_stray ends a transaction that the application's code left open; false: there was none. */
bool handle_end_stray(owed *owed);

enum tx_kind {
    TX_OWN,     // owed_begin
    TX_JOINED,  // the caller's
    TX_DELIVERY // carries an acknowledgement: never ended by tx.c
};

/* An event fired in a transaction, kept for what runs after its commit. */
struct fired {
    int64_t event_id;
    uint8_t uid[16];
    const owed_event_type *type; // NULL: nobody declared the name
    struct new_event event;      // copied to the arena
    bool exists;                 // at the commit: a savepoint may have undone it
    struct fired *next;
};

struct owed_tx {
    owed *owed;
    struct db *db;
    enum tx_kind kind;
    bool vetoed;         // it can only be rolled back
    owed_status refusal; // VETOED: an inline receiver was not done; ABORTED: a fire broke off
    char veto[512];      // the sentence that goes with it
    // Asked before the connection itself is given away; false: it cannot be. NULL: nobody minds.
    bool (*lay_open)(void *state);
    void *lay_open_state;
    bool fired_anything; // something is owed: relays are woken after the commit
    char waiting[256];   // the event that the store may write as late as with the commit
    struct arena arena;
    struct fired *fired; // in order; only those that ON_COMMIT receivers want
    struct fired **fired_end;
};

/* tx_init prepares a transaction on db that somebody else begins and ends; tx_done frees what it
 * holds, without a word to the store. */
void tx_init(owed_tx *tx, owed *owed, struct db *db, enum tx_kind kind);
void tx_done(owed_tx *tx);

/* tx_refuse makes the commit impossible: on a connection of our own or a joined one for everybody,
 * raw SQL included, until it is rolled back. The first sentence stays. A TX_DELIVERY is only marked:
 * whoever delivers undoes it. Returns the status, with the sentence in err. */
owed_status tx_refuse(owed_tx *tx, owed_status status, const char *sentence, owed_error *err);

/* tx_check says whether anything can still be fired in tx: VETOED or ABORTED where not. */
owed_status tx_check(owed_tx *tx, owed_error *err);

/* tx_forget drops what was fired since fired_end was mark: for a savepoint that was rolled back. */
struct fired **tx_mark(owed_tx *tx);
void tx_forget(owed_tx *tx, struct fired **mark);

/* tx_before_commit asks, just before the commit, which fired events still exist. tx_after_commit
 * runs their ON_COMMIT receivers, each for itself, and wakes relays. */
owed_status tx_before_commit(owed_tx *tx, owed_error *err);
void tx_after_commit(owed_tx *tx);

/* fire_options_check refuses what may not be said of an event: INVALID, by the option's name. */
owed_status fire_options_check(const owed_fire_options *options, owed_error *err);

/* idempotency_key writes "owed_" and 32 hex digits. */
#define IDEMPOTENCY_KEY_BYTES 40
void idempotency_key(const uint8_t uid[static 16], const char *receiver_key, const char *target,
    char ret_key[static IDEMPOTENCY_KEY_BYTES]);

/* wakers: the datagram sockets of this host's relays, looked up in owed_relay at most once a second.
 * wakers_send never blocks and never fails: the poll is the safety net. */
struct wakers *wakers_new(void);
void wakers_free(struct wakers *wakers);
void wakers_send(struct wakers *wakers, struct db *db, const owed_clock *clock);

#endif
