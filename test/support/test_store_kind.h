/* SPDX-License-Identifier: MIT
 *
 * test_store_kind.h - what test_store.c needs of one kind of store.
 */
#ifndef TEST_SUPPORT_TEST_STORE_KIND_H
#define TEST_SUPPORT_TEST_STORE_KIND_H

#include "raw.h"

struct server_kind {
    const char *scheme;
    const char *helpers; // micros, moment and what raw_refuse needs; in each new database
    const char *drop;    // a database, with one %s
    /* empty_it takes every row of ours away, and every thing that is not ours. */
    void (*empty_it)(struct raw *raw);
};

extern const struct server_kind postgres_server;
extern const struct server_kind mariadb_server;

#endif
