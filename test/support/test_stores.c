/* SPDX-License-Identifier: MIT
 *
 * test_stores.c - what the tests' own ground promises: a store of one's own, and one way to ask it.
 */
#include "../unit.h"

#include <string.h>

#include "test_store.h"

static int
new_store(void **state)
{
    static struct test_store store;
    test_store_new(&store);
    *state = &store;
    return 0;
}

static int
free_store(void **state)
{
    test_store_free(*state);
    return 0;
}

static void
test_times_are_written_and_read_in_microseconds(void **state)
{
    struct test_store *store = *state;
    struct raw *raw = raw_open(store->url);
    const char *type = test_store_is("sqlite") ? "integer"
        : test_store_is("postgres")            ? "timestamptz"
                                               : "datetime(6)";
    raw_runf(raw, "create table at (t %s)", type);
    raw_run(raw, "insert into at (t) values (moment(1796000000123456))");
    assert_int_equal(raw_number(raw, "select t from at"), INT64_C(1796000000123456));
    assert_int_equal(raw_number(raw, "select micros(t) - 1 from at"), INT64_C(1796000000123455));
    raw_run(
        raw, "update at set t = moment(micros(t) + 1); update at set t = moment(micros(t) + 1)");
    assert_int_equal(raw_number(raw, "select max(t) from at"), INT64_C(1796000000123458));
    raw_close(raw);
}

static void
test_texts_and_numbers_come_back(void **state)
{
    struct test_store *store = *state;
    struct raw *raw = raw_open(store->url);
    char text[256];
    raw_run(raw, "create table app (id integer not null, \"key\" varchar(20))");
    raw_run(raw, "insert into app (id, \"key\") values (1, 'one'), (2, null)");
    raw_text(raw, "select id || ' ' || \"key\" from app where id = 1", text);
    assert_string_equal(text, "1 one");
    raw_text(raw, "select \"key\" from app where id = 2", text);
    assert_string_equal(text, "");
    assert_int_equal(raw_numberf(raw, "select sum(id) from app where id < %d", 9), 3);
    raw_list(raw, "select \"key\" from app order by id desc", text);
    assert_string_equal(text, ",one");
    assert_false(raw_try(raw, "insert into app (id) values (null)"));
    assert_false(raw_try(raw, "insert into nothing (id) values (1)"));
    raw_close(raw);
}

static void
test_a_second_connection_sees_what_was_committed(void **state)
{
    struct test_store *store = *state;
    struct raw *one = raw_open(store->url);
    struct raw *two = raw_open(store->url);
    raw_run(one, "create table app (id integer not null)");
    raw_run(one, "begin; insert into app (id) values (1)");
    assert_true(raw_in_transaction(one));
    assert_int_equal(raw_number(two, "select count(*) from app"), 0);
    raw_run(one, "commit");
    assert_false(raw_in_transaction(one));
    assert_int_equal(raw_number(two, "select count(*) from app"), 1);
    raw_close(two);
    raw_close(one);
}

static void
test_a_row_that_fits_is_refused(void **state)
{
    struct test_store *store = *state;
    struct raw *raw = raw_open(store->url);
    raw_run(raw, "create table app (id integer not null)");
    raw_refuse(raw, "app", "insert", "new.id = 2", "the shelf is full");
    raw_run(raw, "insert into app (id) values (1)");
    raw_refused(raw, "insert into app (id) values (2)", "the shelf is full");
    raw_allow(raw, "app", "insert");
    raw_run(raw, "insert into app (id) values (2)");
    raw_close(raw);
}

static void
test_the_next_test_finds_nothing_of_it(void **state)
{
    struct test_store *store = *state;
    struct raw *raw = raw_open(store->url);
    assert_false(raw_try(raw, "select count(*) from app"));
    // What a test leaves open is closed for it.
    raw_run(raw, "create table app (id integer not null)");
    raw_run(raw, "begin; insert into app (id) values (1)");
    struct test_store second;
    test_store_new(&second);
    struct raw *other = raw_open(second.url);
    assert_false(raw_try(other, "select count(*) from app"));
    raw_close(other);
    test_store_free(&second);
    raw_close(raw);
}

#define TEST(name_) cmocka_unit_test_setup_teardown(name_, new_store, free_store)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_times_are_written_and_read_in_microseconds),
        TEST(test_texts_and_numbers_come_back),
        TEST(test_a_second_connection_sees_what_was_committed),
        TEST(test_a_row_that_fits_is_refused),
        TEST(test_the_next_test_finds_nothing_of_it),
    };
    return RUN_ON_ALL_STORES("stores", tests);
}
