/* SPDX-License-Identifier: MIT
 *
 * test_handle.c - opening a store, and what is refused at the door.
 */
#include "fixture.h"

#include <poll.h>
#include <stdio.h>

#include <errno.h>

static owed_outcome
takes_it(owed_delivery *delivery, const void *payload)
{
    (void)delivery;
    (void)payload;
    return owed_done();
}

static void
a_store_without_tables_is_told_apart_from_none(void **state)
{
    struct fixture *f = *state;
    char url[300];
    owed_settings settings = fixture_settings(f);
    settings.url = url;
    snprintf(url, sizeof url, "%s-absent", f->url);
    assert_status(OWED_UNAVAILABLE, owed_open(&settings, &f->owed, &f->err));
    assert_null(f->owed);
    struct db_options options = {.busy_timeout_us = 1000, .create = true};
    struct db *db = NULL;
    struct test_store empty;
    test_store_empty(&empty);
    settings.url = empty.url;
    assert_ok(store_open(empty.url, &options, &db, &f->err));
    store_close(db);
    assert_status(OWED_SCHEMA, owed_open(&settings, &f->owed, &f->err));
    assert_null(f->owed);
    test_store_free(&empty);
}

static void
a_url_that_makes_no_sense_is_bad_configuration(void **state)
{
    struct fixture *f = *state;
    owed_settings settings = fixture_settings(f);
    settings.url = "oracle:shop";
    assert_status(OWED_CONFIG, owed_open(&settings, &f->owed, &f->err));
    settings.url = "";
    assert_status(OWED_CONFIG, owed_open(&settings, &f->owed, &f->err));
    settings.url = NULL;
    assert_status(OWED_CONFIG, owed_open(&settings, &f->owed, &f->err));
    assert_status(OWED_CONFIG, owed_open(NULL, &f->owed, &f->err));
    assert_status(OWED_CONFIG, owed_init("oracle:shop", &f->err));
    assert_status(OWED_CONFIG, owed_init(NULL, &f->err));
}

static void
settings_out_of_range_are_refused(void **state)
{
    struct fixture *f = *state;
    owed_settings settings = fixture_settings(f);
    settings.release = -1;
    assert_status(OWED_CONFIG, owed_open(&settings, &f->owed, &f->err));
    assert_says(f->err, "release -1");
    settings = fixture_settings(f);
    settings.busy_timeout_us = -1;
    assert_status(OWED_CONFIG, owed_open(&settings, &f->owed, &f->err));
    assert_says(f->err, "busy_timeout_us -1");
}

static void
making_the_tables_twice_changes_nothing(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    fixture_begin(f);
    fixture_fire(f, &order_placed, 1);
    fixture_commit(f);
    assert_ok(owed_init(f->url, &f->err));
    assert_int_equal(fixture_events(f), 1);
}

static size_t
published(struct fixture *f)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct catalogue_receiver *rows = NULL;
    size_t count = 0;
    assert_ok(store_catalogue_receivers(f->other, &arena, &rows, &count, &f->err));
    arena_done(&arena);
    return count;
}

static void
opening_publishes_unless_told_not_to(void **state)
{
    struct fixture *f = *state;
    fixture_receiver(
        f, (owed_receiver){.key = "shop.stock", .event = &order_placed, .run = takes_it});
    owed_settings settings = fixture_settings(f);
    settings.no_publish = true;
    assert_ok(owed_open(&settings, &f->owed, &f->err));
    assert_int_equal(published(f), 0);
    owed_close(f->owed);
    f->owed = NULL;
    fixture_open(f);
    assert_int_equal(published(f), 1);
}

static void
a_handle_without_declarations_fires_json(void **state)
{
    struct fixture *f = *state;
    owed_settings settings = fixture_settings(f);
    settings.registry = NULL;
    assert_ok(owed_open(&settings, &f->owed, &f->err));
    fixture_begin(f);
    assert_ok(owed_fire_json(f->tx, "shop.OrderPlaced", 0, "{}", 2, NULL, NULL, &f->err));
    fixture_commit(f);
    assert_int_equal(fixture_events(f), 1);
}

static void
a_stop_wakes_whatever_waits_and_leaves_errno_alone(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    struct pollfd waits = {.fd = f->owed->stop_fd, .events = POLLIN};
    assert_int_equal(poll(&waits, 1, 0), 0);
    errno = EXDEV;
    owed_relay_stop(f->owed);
    owed_relay_stop(f->owed);
    assert_int_equal(errno, EXDEV);
    assert_int_equal(poll(&waits, 1, 0), 1);
    assert_int_equal(atomic_load(&f->owed->stop), 2);
}

static void
a_busy_store_is_busy_and_nothing_is_left_open(void **state)
{
    ONLY_ON("sqlite", "elsewhere a writer keeps nobody else waiting");
    struct fixture *f = *state;
    fixture_open(f);
    assert_ok(store_begin(f->other, true, &f->err));
    assert_status(OWED_BUSY, owed_begin(f->owed, &f->tx, &f->err));
    assert_null(f->tx);
    store_rollback(f->other);
    fixture_begin(f);
    fixture_fire(f, &order_placed, 1);
    fixture_commit(f);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_store_without_tables_is_told_apart_from_none),
        CASE(a_url_that_makes_no_sense_is_bad_configuration),
        CASE(settings_out_of_range_are_refused),
        CASE(making_the_tables_twice_changes_nothing),
        CASE(opening_publishes_unless_told_not_to),
        CASE(a_handle_without_declarations_fires_json),
        CASE(a_stop_wakes_whatever_waits_and_leaves_errno_alone),
        CASE(a_busy_store_is_busy_and_nothing_is_left_open),
    };
    return RUN_ON_ALL_STORES("handle", tests);
}
