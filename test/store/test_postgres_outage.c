/* SPDX-License-Identifier: MIT
 *
 * test_postgres_outage.c - what a connection to PostgreSQL that ends, or says nothing, comes to.
 */
#include "world.h"

#include <owed/postgres.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "loopback.h"

static PGconn *
handle_of(struct db *db)
{
    return db->driver->native(db);
}

/* --- a listener that says nothing --- */

static void
check_silent(struct world *world, int port, const char *which)
{
    char url[128];
    snprintf(url, sizeof url, "postgres://somebody:geheim@127.0.0.1:%d/shop", port);
    const struct db_options options = {.connect_timeout_us = 200 * US_PER_MS};
    struct db *db = NULL;
    int64_t began_us = clock_monotonic_us(&clock_system);
    check_case(store_open(url, &options, &db, &world->err) == OWED_UNAVAILABLE, which);
    int64_t took_us = clock_monotonic_us(&clock_system) - began_us;
    check_case(took_us >= 200 * US_PER_MS && took_us < 5 * US_PER_SECOND, which);
    check_case(strstr(world->err.text, "200 ms") != NULL, world->err.text);
    check_case(strstr(world->err.text, "geheim") == NULL, world->err.text);
}

static void
a_server_that_takes_the_connection_and_says_nothing_is_given_up(void **state)
{
    struct world *world = *state;
    int port;
    int fd = loopback_listen(8, &port);
    check_silent(world, port, "silent");
    close(fd);
}

static void
a_listener_whose_queue_is_full_is_given_up(void **state)
{
    struct world *world = *state;
    struct loopback_full full;
    loopback_full_open(&full);
    check_silent(world, full.port, "full");
    loopback_full_close(&full);
}

static void
a_stop_ends_the_wait_for_a_connection(void **state)
{
    struct world *world = *state;
    int port;
    int fd = loopback_listen(8, &port);
    char url[128];
    snprintf(url, sizeof url, "postgres://somebody@127.0.0.1:%d/shop", port);
    int stop_fd = eventfd(1, EFD_CLOEXEC);
    const struct db_options options = {.stop_fd = stop_fd};
    struct db *db = NULL;
    int64_t began_us = clock_monotonic_us(&clock_system);
    assert_int_equal(store_open(url, &options, &db, &world->err), OWED_UNAVAILABLE);
    assert_true(clock_monotonic_us(&clock_system) - began_us < 5 * US_PER_SECOND);
    assert_non_null(strstr(world->err.text, "stop"));
    close(stop_fd);
    close(fd);
}

static void
of_several_hosts_the_next_is_tried(void **state)
{
    struct world *world = *state;
    int port;
    int fd = loopback_listen(8, &port);
    // One that says nothing, one where nobody listens, and the store.
    const char *at = strchr(world->url, '@');
    assert_non_null(at);
    char url[256];
    snprintf(url, sizeof url, "%.*s@127.0.0.1:%d,127.0.0.1:1,%s", (int)(at - world->url),
        world->url, port, at + 1);
    const struct db_options options = {.connect_timeout_us = 200 * US_PER_MS};
    struct db *db = NULL;
    assert_ok(store_open(url, &options, &db, &world->err));
    assert_ok(store_check(db, &world->err));
    store_close(db);
    close(fd);
}

/* --- a server that ends what we have --- */

static void
a_session_that_ends_in_its_commit_has_written_nothing(void **state)
{
    struct world *world = *state;
    raw_run(plain(world),
        "create table app (id integer); "
        "create function end_it() returns trigger language plpgsql as "
        "'begin perform pg_terminate_backend(pg_backend_pid()); return null; end'; "
        "create constraint trigger end_it after insert on app deferrable initially deferred "
        "for each row execute function end_it()");
    world->store.is_spoilt = true;
    assert_ok(store_begin(world->db, true, &world->err));
    fire(world, EVENT);
    PQclear(PQexec(handle_of(world->db), "insert into app values (1)"));
    assert_int_equal(store_commit(world->db, &world->err), OWED_UNAVAILABLE);
    assert_non_null(strstr(world->err.text, "nothing was written"));
    assert_int_equal(count_of(world, "owed_event"), 0);
}

static void
a_session_that_was_ended_is_unavailable_and_its_transaction_gone(void **state)
{
    struct world *world = *state;
    assert_ok(store_begin(world->db, true, &world->err));
    fire(world, EVENT);
    assert_ok(world->other->driver->end_session(
        world->other, world->db->driver->session(world->db), &world->err));
    assert_int_equal(try_fire_on(world, world->db), OWED_UNAVAILABLE);
    store_rollback(world->db);
    assert_false(store_in_transaction(world->db));
    assert_int_equal(store_begin(world->db, true, &world->err), OWED_UNAVAILABLE);
    assert_int_equal(count_of(world, "owed_event"), 0);
    // Once more is no mistake: there is no such session any more.
    assert_ok(world->other->driver->end_session(
        world->other, world->db->driver->session(world->db), &world->err));
}

static void
a_number_that_another_process_has_by_now_names_no_session(void **state)
{
    struct world *world = *state;
    const char *session = world->db->driver->session(world->db);
    char earlier[64];
    snprintf(earlier, sizeof earlier, "%.*s/%d", (int)strcspn(session, "/"), session, 1);
    assert_ok(world->other->driver->end_session(world->other, earlier, &world->err));
    fire(world, EVENT);
    assert_int_equal(
        world->other->driver->end_session(world->other, "nonsense", &world->err), OWED_INVALID);
}

static void
a_server_that_only_reads_is_unavailable(void **state)
{
    struct world *world = *state;
    PQclear(PQexec(handle_of(world->db), "set default_transaction_read_only = on"));
    assert_int_equal(try_fire_on(world, world->db), OWED_UNAVAILABLE);
    assert_non_null(strstr(world->err.text, "read-only"));
}

static void
a_statement_that_the_server_or_our_own_patience_ends_is_unavailable(void **state)
{
    struct world *world = *state;
    raw_run(plain(world), "begin; lock table owed_event");
    PQclear(PQexec(handle_of(world->db), "set statement_timeout = '50ms'"));
    assert_int_equal(try_fire_on(world, world->db), OWED_UNAVAILABLE);
    assert_non_null(strstr(world->err.text, "57014"));

    const struct db_options options = {.statement_timeout_us = 50 * US_PER_MS};
    struct db *db;
    assert_ok(store_open(world->url, &options, &db, &world->err));
    assert_int_equal(try_fire_on(world, db), OWED_UNAVAILABLE);
    assert_non_null(strstr(world->err.text, "50 ms"));
    store_close(db);
    raw_run(plain(world), "rollback");
}

static void
a_lock_that_is_held_for_too_long_is_busy(void **state)
{
    struct world *world = *state;
    raw_run(plain(world), "begin; lock table owed_event");
    const struct db_options options = {.busy_timeout_us = 20 * US_PER_MS};
    struct db *db;
    assert_ok(store_open(world->url, &options, &db, &world->err));
    assert_int_equal(try_fire_on(world, db), OWED_BUSY);
    assert_int_equal(world->err.native, OWED_SQLSTATE('5', '5', 'P', '0', '3'));
    store_close(db);
    raw_run(plain(world), "rollback");
}

static void
who_idles_in_a_transaction_for_too_long_is_unavailable(void **state)
{
    struct world *world = *state;
    assert_ok(store_begin(world->db, true, &world->err));
    fire(world, EVENT);
    PQclear(PQexec(handle_of(world->db), "set local idle_in_transaction_session_timeout = '20ms'"));
    const char *session = world->db->driver->session(world->db);
    int64_t end_us = clock_monotonic_us(&clock_system) + 10 * US_PER_SECOND;
    while (raw_numberf(plain(world), "select count(*) from pg_stat_activity where pid = %.*s",
               (int)strcspn(session, "/"), session) > 0)
        assert_true(clock_monotonic_us(&clock_system) < end_us);
    assert_int_equal(store_commit(world->db, &world->err), OWED_UNAVAILABLE);
    assert_int_equal(count_of(world, "owed_event"), 0);
}

static void
too_many_connections_are_unavailable(void **state)
{
    struct world *world = *state;
    raw_runf(plain(world), "alter database %s connection limit 0", strrchr(world->url, '/') + 1);
    raw_run(plain(world), "create role visitor login");
    char url[256];
    snprintf(url, sizeof url, "postgres://visitor%s", strchr(world->url, '@'));
    const struct db_options options = {0};
    struct db *db;
    assert_int_equal(store_open(url, &options, &db, &world->err), OWED_UNAVAILABLE);
    assert_non_null(strstr(world->err.text, "too many connections"));
    raw_runf(plain(world), "alter database %s connection limit -1", strrchr(world->url, '/') + 1);
    raw_run(plain(world), "drop role visitor");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_server_that_takes_the_connection_and_says_nothing_is_given_up),
        TEST(a_listener_whose_queue_is_full_is_given_up),
        TEST(a_stop_ends_the_wait_for_a_connection),
        TEST(of_several_hosts_the_next_is_tried),
        TEST(a_session_that_ends_in_its_commit_has_written_nothing),
        TEST(a_session_that_was_ended_is_unavailable_and_its_transaction_gone),
        TEST(a_number_that_another_process_has_by_now_names_no_session),
        TEST(a_server_that_only_reads_is_unavailable),
        TEST(a_statement_that_the_server_or_our_own_patience_ends_is_unavailable),
        TEST(a_lock_that_is_held_for_too_long_is_busy),
        TEST(who_idles_in_a_transaction_for_too_long_is_unavailable),
        TEST(too_many_connections_are_unavailable),
    };
    return run_on_stores("postgres", "postgres outage", tests, COUNT(tests));
}
