/* SPDX-License-Identifier: MIT
 *
 * test_postgres_outage.c - what a connection to PostgreSQL that ends, or says nothing, comes to.
 */
#include "world.h"

#include <owed/postgres.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
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

/* --- a connection between us and the server --- */

/* A proxy passes on what both say until the server answers a COMMIT: that answer it keeps, and hangs up. */
struct proxy {
    int port;
    int listener;
    int server_port;
    pthread_t thread;
};

/* pass_answers passes on what stands before the answer to a COMMIT; false: it came, or the end. */
static bool
pass_answers(int client, int server)
{
    char bytes[65536];
    ssize_t n = recv(server, bytes, sizeof bytes, 0);
    if (n <= 0)
        return false;
    const char *commit = memmem(bytes, (size_t)n, "COMMIT", sizeof "COMMIT");
    size_t len = commit == NULL ? (size_t)n : (size_t)(commit - bytes) - 5;
    return loopback_send(client, bytes, len) && commit == NULL;
}

static void
serve(int client, int server)
{
    struct pollfd fds[] = {{.fd = client, .events = POLLIN}, {.fd = server, .events = POLLIN}};
    char bytes[65536];
    while (poll(fds, 2, 30000) > 0) {
        if (fds[0].revents != 0) {
            ssize_t n = recv(client, bytes, sizeof bytes, 0);
            if (n <= 0 || !loopback_send(server, bytes, (size_t)n))
                return;
        }
        if (fds[1].revents != 0 && !pass_answers(client, server))
            return;
    }
}

/* A client that comes after the first is the one that asks what became of it: it talks in the open. */
static void *
run_proxy(void *arg)
{
    struct proxy *proxy = arg;
    for (;;) {
        int client = accept4(proxy->listener, NULL, NULL, SOCK_CLOEXEC);
        if (client < 0)
            return NULL;
        int server = loopback_connect(proxy->server_port);
        if (server >= 0)
            serve(client, server);
        close(server);
        close(client);
    }
}

/* through rewrites a store's URL so that it goes through a new proxy. */
static void
through(struct proxy *proxy, const struct world *world, char url[static 256])
{
    char *said = NULL;
    PQconninfoOption *options = PQconninfoParse(world->url, &said);
    assert_non_null(options);
    const char *user = "", *database = "", *host = "";
    for (const PQconninfoOption *o = options; o->keyword != NULL; o++) {
        if (o->val == NULL)
            continue;
        if (strcmp(o->keyword, "user") == 0)
            user = o->val;
        if (strcmp(o->keyword, "dbname") == 0)
            database = o->val;
        if (strcmp(o->keyword, "host") == 0)
            host = o->val;
        if (strcmp(o->keyword, "port") == 0)
            proxy->server_port = (int)strtol(o->val, NULL, 10);
    }
    assert_string_equal(host, "127.0.0.1");
    proxy->listener = loopback_listen(8, &proxy->port);
    snprintf(url, 256, "postgres://%s@127.0.0.1:%d/%s", user, proxy->port, database);
    PQconninfoFree(options);
    assert_int_equal(pthread_create(&proxy->thread, NULL, run_proxy, proxy), 0);
}

static void
end_proxy(struct proxy *proxy)
{
    shutdown(proxy->listener, SHUT_RDWR);
    pthread_join(proxy->thread, NULL);
    close(proxy->listener);
}

/* fired_through answers a connection through a new proxy, on which an event waits for its commit. */
static struct db *
fired_through(struct proxy *proxy, struct world *world, size_t own_count)
{
    const struct new_delivery own = {
        .receiver_key = "shop.own", .lane = LANE, .kind = "inside", .max_attempts = 5};
    struct new_event event = an_event(EVENT);
    event.own = &own;
    event.own_count = own_count;
    int64_t id = 0;
    bool fresh = false;
    char url[256];
    through(proxy, world, url);
    const struct db_options options = {0};
    struct db *db = NULL;
    assert_ok(store_open(url, &options, &db, &world->err));
    assert_ok(store_begin(db, true, &world->err));
    assert_ok(store_insert_event(db, &event, &id, &fresh, &world->err));
    return db;
}

static void
a_commit_whose_answer_was_lost_is_asked_about(void **state)
{
    struct world *world = *state;
    // The number of the transaction: asked for with the commit, or said by the fire.
    for (int way = 0; way < 2; way++) {
        struct proxy proxy = {0};
        struct db *db = fired_through(&proxy, world, (size_t)way);
        assert_ok(store_commit(db, &world->err));
        assert_int_equal(count_of(world, "owed_event"), way + 1);
        // It is known to have happened; the connection is gone all the same.
        assert_int_equal(store_begin(db, true, &world->err), OWED_UNAVAILABLE);
        store_close(db);
        end_proxy(&proxy);
    }
}

static void
a_commit_that_nobody_can_be_asked_about_is_unsure(void **state)
{
    struct world *world = *state;
    struct proxy proxy = {0};
    struct db *db = fired_through(&proxy, world, 0);
    shutdown(proxy.listener, SHUT_RDWR); // nobody comes through any more
    assert_int_equal(store_commit(db, &world->err), OWED_UNSURE);
    store_close(db);
    end_proxy(&proxy);
}

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

/* --- a server that ends what we have --- */

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
        TEST(a_commit_whose_answer_was_lost_is_asked_about),
        TEST(a_commit_that_nobody_can_be_asked_about_is_unsure),
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
