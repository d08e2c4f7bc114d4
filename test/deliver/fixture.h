/* SPDX-License-Identifier: MIT
 *
 * fixture.h - a fresh store for each test, a shop that declares things, and what is found in it.
 *
 * Time stands still until a test moves it; dice fall the same way each time. What is asked of the
 * store is asked on a second connection, so that only what was committed is seen.
 */
#ifndef TEST_DELIVER_FIXTURE_H
#define TEST_DELIVER_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <owed/owed.h>

#include "base/buf.h"
#include "deliver/handle.h"
#include "store/look.h"
#include "test_store.h"

#define FIXTURE_NOW_US (INT64_C(4102444800) * 1000000)

typedef struct order {
    int64_t id;
    int64_t cents;
    const char *currency;
} order;

extern const owed_event_type order_placed;  // "shop.OrderPlaced", an order
extern const owed_event_type order_shipped; // "shop.OrderShipped", an order
extern const owed_event_type note_taken;    // "shop.NoteTaken", opaque

struct fixture {
    struct test_store store;
    const char *folder; // of the test's own; on SQLite the store is in it
    const char *url;
    int64_t now_us;
    bool has_one_clock;      // the monotonic clock stands still with it
    int64_t busy_timeout_us; // a millisecond, unless a test has a second writer that is no sham
    uint64_t seed;
    owed_registry *registry;
    owed *owed;
    owed_tx *tx;
    owed_error err;
    struct db *other; // the second connection
    struct raw *raw;  // a third one, as the application has it
    struct buf log;   // every line that the handle logged
};

/* fixture_new makes the tables and declares the three events; the handle is opened by fixture_open,
 * once the test has declared its receivers. */
struct fixture *fixture_new(void);
void fixture_free(struct fixture *fixture);
int fixture_setup(void **state);
int fixture_teardown(void **state);

owed_settings fixture_settings(struct fixture *fixture);
void fixture_receiver(struct fixture *fixture, owed_receiver receiver);
void fixture_open(struct fixture *fixture);

void fixture_begin(struct fixture *fixture);
int64_t fixture_fire(struct fixture *fixture, const owed_event_type *type, int64_t order_id);
void fixture_commit(struct fixture *fixture);

/* fixture_run runs statements on a connection of ours as the application would, and expects them to
 * work. fixture_try only tells whether they did. */
void fixture_run(struct db *db, const char *statements);
bool fixture_try(struct db *db, const char *statements);

/* What was committed: owed to receiver (NULL: anyone) for event_id (0: any). */
size_t fixture_events(struct fixture *fixture);
size_t fixture_owed(struct fixture *fixture, int64_t event_id, const char *receiver);

/* fixture_event reads one back; its text lives in the arena. */
struct event_row fixture_event(struct fixture *fixture, int64_t id, struct arena *arena);

/* An application's own table: fixture_table makes it, fixture_add writes a row on any connection,
 * fixture_rows counts what was committed. */
void fixture_table(struct fixture *fixture);
void fixture_add(struct db *db);
size_t fixture_rows(struct fixture *fixture);

/* fixture_cannot_commit tells whether a commit in plain SQL fails. On MariaDB it works, and commits nothing
 * that was refused. */
bool fixture_cannot_commit(struct db *db, const char *statements);

/* fixture_join fires in the transaction that an application's connection has open. */
void fixture_join(struct fixture *fixture, struct raw *raw);
/* fixture_raw is the connection of a transaction, or of a receiver's; NULL: there is none. */
struct raw *fixture_raw(owed_tx *tx);

#define assert_ok(call) assert_status(OWED_OK, call)
#define assert_status(expected, call) \
    do { \
        owed_status got_ = (call); \
        if (got_ != (expected)) \
            fail_msg("%s is %d, not %d", #call, (int)got_, (int)(expected)); \
    } while (0)
#define assert_says(err, words) \
    do { \
        if (strstr((err).text, (words)) == NULL) \
            fail_msg("\"%s\" does not say \"%s\"", (err).text, (words)); \
    } while (0)

#endif
