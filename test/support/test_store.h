/* SPDX-License-Identifier: MIT
 *
 * test_store.h - a fresh store for a test, on every store that is at hand.
 *
 * OWED_TEST_STORES lists them as URLs, divided by blanks; "sqlite:" alone where it is not set. A
 * server's URL names a database that is only connected to: each store is a database beside it.
 */
#ifndef TEST_SUPPORT_TEST_STORE_H
#define TEST_SUPPORT_TEST_STORE_H

#include <stdbool.h>
#include <stddef.h>

#include "raw.h"

struct test_store {
    char url[256];
    char folder[64]; // of its own; SQLite's file is in it
    bool is_spoilt;  // its tables were changed: nobody gets them after this test
    bool is_empty;
};

/* test_store_empty makes a database without any table. test_store_new does, too, or hands out one that
 * an earlier test of this program migrated, with nothing in its tables: migrating it again is right
 * either way, and quick. */
void test_store_empty(struct test_store *store);
void test_store_new(struct test_store *store);
/* test_store_free is called when every connection to it is closed. */
void test_store_free(struct test_store *store);

/* test_store_make and test_store_unmake do so for a caller that keeps nothing: a server's database beside
 * the one that url names, and its URL. */
const char *test_store_make(const char *url);
void test_store_unmake(const char *url, const char *made);

/* The scheme of the stores that are made now: "sqlite", "postgres", "mariadb". */
const char *test_store_scheme(void);
bool test_store_is(const char *scheme);

struct CMUnitTest;

/*
 * run_on_all_stores runs the tests on each store of this run, and answers how many failed. A store
 * that this build has no driver for is left out with a sentence. run_on_stores does so for those of
 * one scheme: what is only true there.
 */
int run_on_all_stores(const char *name, const struct CMUnitTest *tests, size_t count);
int run_on_stores(
    const char *scheme, const char *name, const struct CMUnitTest *tests, size_t count);

#define RUN_ON_ALL_STORES(name_, tests_) \
    run_on_all_stores((name_), (tests_), sizeof(tests_) / sizeof((tests_)[0]))
#define RUN_ON_SQLITE(name_, tests_) \
    run_on_stores("sqlite", (name_), (tests_), sizeof(tests_) / sizeof((tests_)[0]))

/* Leave a test out on a store, or on all others, with the reason why. */
#define NOT_ON(scheme_, why_) \
    do { \
        if (test_store_is(scheme_)) { \
            print_message("not on %s: %s\n", (scheme_), (why_)); \
            skip(); \
        } \
    } while (0)
#define ONLY_ON(scheme_, why_) \
    do { \
        if (!test_store_is(scheme_)) { \
            print_message("only on %s: %s\n", (scheme_), (why_)); \
            skip(); \
        } \
    } while (0)

#endif
