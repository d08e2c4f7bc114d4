/* SPDX-License-Identifier: MIT
 *
 * raw_kind.h - what raw.c needs of one client library.
 */
#ifndef TEST_SUPPORT_RAW_KIND_H
#define TEST_SUPPORT_RAW_KIND_H

#include "base/buf.h"

#include "raw.h"

/* One value as it was read. */
typedef void (*raw_take)(void *state, const char *text);

struct raw_kind {
    const char *scheme;
    void *(*open)(const char *url, struct buf *error); // NULL: error says why
    void (*close)(void *native);
    /* run runs all statements and hands the first column of each row of the last one to take (which
     * may be NULL), times in microseconds; false: error says why. */
    bool (*run)(
        void *native, const char *statements, raw_take take, void *state, struct buf *error);
    bool (*in_transaction)(void *native);
    const char *fire;   // of name and payload, both quoted
    const char *refuse; // trigger: event, table, event, table, condition, message
    const char *allow;  // event, table, table
};

extern const struct raw_kind raw_sqlite;
extern const struct raw_kind raw_postgres;
extern const struct raw_kind raw_mariadb;

#endif
