/* SPDX-License-Identifier: MIT
 *
 * raw_kind.h - what raw.c needs of one client library.
 */
#ifndef TEST_SUPPORT_RAW_KIND_H
#define TEST_SUPPORT_RAW_KIND_H

#include "base/buf.h"

#include "raw.h"

/* One value as it was read. */
struct raw_value {
    const char *text; // NULL: null
    bool is_number;   // a time is one, in microseconds; so is a truth, 0 or 1
    char number[32];  // where text may point
};
typedef void (*raw_take)(void *state, const struct raw_value *values, size_t count);

#define RAW_COLUMNS 32

struct raw_kind {
    const char *scheme;
    void *(*open)(const char *url, struct buf *error); // NULL: error says why
    void (*close)(void *native);
    /* run runs all statements and hands each row of the last one to take (which may be NULL); false:
     * error says why. */
    bool (*run)(
        void *native, const char *statements, raw_take take, void *state, struct buf *error);
    bool (*in_transaction)(void *native);
    int64_t (*session)(void *native); // NULL, as locks: nothing to look at
    /* locks reads what the session's transaction holds and waits for. */
    struct raw_locks (*locks)(void *native, int64_t session);
    /* several allows several statements in one run on a connection that somebody else has opened. */
    void (*several)(void *native, bool on);
    const char *fire;   // of name and payload, both quoted
    const char *refuse; // trigger: event, table, event, table, condition, message
    const char *allow;  // event, table, table
};

/* raw_each hands each row of a query to take, whole; false: error says why. */
bool raw_each(struct raw *raw, const char *query, raw_take take, void *state, struct buf *error);

extern const struct raw_kind raw_sqlite;
extern const struct raw_kind raw_postgres;
extern const struct raw_kind raw_mariadb;

#endif
