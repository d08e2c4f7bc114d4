/* SPDX-License-Identifier: MIT
 *
 * test_postgres_doubt.c - a COMMIT whose answer does not come, and what goes along with one.
 */
#include "world.h"

#include <libpq-fe.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "loopback.h"

/* A proxy passes on what both say until the server answers a COMMIT: that answer it keeps, and hangs up. Or it
 * does so when the first COMMIT of a connection comes by: it passes it on, and waits until it was answered, or
 * not. */
enum hangs_up { AT_ITS_ANSWER, AFTER_A_COMMIT, BEFORE_A_COMMIT };

struct proxy {
    enum hangs_up hangs_up;
    int port;
    int listener;
    int server_port;
    pthread_t thread;
};

/* is_cut tells whether what a client said is where the proxy hangs up: it prepares COMMIT. */
static bool
is_cut(const struct proxy *proxy, int server, const char *bytes, size_t len)
{
    char answers[65536];
    const char *commit = memmem(bytes, len, "commit\n", sizeof "commit\n");
    if (proxy->hangs_up == AT_ITS_ANSWER || commit == NULL)
        return false;
    if (proxy->hangs_up == BEFORE_A_COMMIT || !loopback_send(server, bytes, len))
        return true;
    ssize_t n = 0;
    do {
        n = recv(server, answers, sizeof answers, 0);
    } while (n > 0 && memmem(answers, (size_t)n, "COMMIT", sizeof "COMMIT") == NULL);
    return true;
}

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
serve(const struct proxy *proxy, int client, int server)
{
    struct pollfd fds[] = {{.fd = client, .events = POLLIN}, {.fd = server, .events = POLLIN}};
    char bytes[65536];
    while (poll(fds, 2, 30000) > 0) {
        if (fds[0].revents != 0) {
            ssize_t n = recv(client, bytes, sizeof bytes, 0);
            if (n <= 0 || is_cut(proxy, server, bytes, (size_t)n) ||
                !loopback_send(server, bytes, (size_t)n))
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
            serve(proxy, client, server);
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

static const struct new_delivery own = {
    .receiver_key = "shop.own", .lane = LANE, .kind = "inside", .max_attempts = 5};

static void
begin_and_fire(struct world *world, struct db *db, size_t own_count, bool may_wait)
{
    struct new_event event = an_event(EVENT);
    event.own = &own;
    event.own_count = own_count;
    event.may_wait = may_wait;
    int64_t id = 0;
    bool fresh = false;
    assert_ok(store_begin(db, true, &world->err));
    assert_ok(store_insert_event(db, &event, &id, &fresh, &world->err));
    assert_int_equal(id == 0, may_wait);
}

/* fired_through answers a connection through a new proxy, on which an event waits for its commit. */
static struct db *
fired_through(struct proxy *proxy, struct world *world, size_t own_count)
{
    char url[256];
    through(proxy, world, url);
    const struct db_options options = {0};
    struct db *db = NULL;
    assert_ok(store_open(url, &options, &db, &world->err));
    begin_and_fire(world, db, own_count, false);
    return db;
}

/* waits_through does, too: the event goes along with its commit. What is sent then was prepared, but COMMIT. */
static struct db *
waits_through(struct proxy *proxy, struct world *world, size_t own_count)
{
    struct db *db = fired_through(proxy, world, 1);
    store_rollback(db);
    begin_and_fire(world, db, own_count, true);
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
a_commit_whose_event_was_not_answered_either_is_asked_about(void **state)
{
    struct world *world = *state;
    static const struct {
        const char *name;
        enum hangs_up hangs_up;
        bool goes; // as soon as it succeeded: then it may have been there
        owed_status expected;
        int events;
    } cases[] = {
        {"at its answer", AT_ITS_ANSWER, false, OWED_OK, 1},
        {"after", AFTER_A_COMMIT, false, OWED_OK, 1},
        {"before", BEFORE_A_COMMIT, false, OWED_UNAVAILABLE, 0},
        {"after, goes", AFTER_A_COMMIT, true, OWED_OK, 1},
        {"before, goes", BEFORE_A_COMMIT, true, OWED_UNSURE, 0},
    };
    int64_t events = 0;
    publish_keys(world, (const char *[]){own.receiver_key, NULL});
    for (size_t i = 0; i < 2 * COUNT(cases); i++) {
        const typeof(cases[0]) *which = &cases[i % COUNT(cases)];
        struct proxy proxy = {.hangs_up = which->hangs_up};
        raw_run(plain(world), "delete from owed_event_type");
        if (which->goes)
            raw_run(plain(world),
                "insert into owed_event_type (app, name, version, delete_when, published_at) "
                "values ('shop', '" EVENT "', 1, 'succeeded', moment(0))");
        struct db *db = waits_through(&proxy, world, i / COUNT(cases));
        check_case(store_commit(db, &world->err) == which->expected, which->name);
        events += which->events;
        check_case(count_of(world, "owed_event") == events, which->name);
        store_close(db);
        end_proxy(&proxy);
    }
}

static void
an_event_that_waits_goes_with_what_follows_and_with_the_commit_at_last(void **state)
{
    struct world *world = *state;
    struct db *db = world->db;
    begin_and_fire(world, db, 1, false); // which prepares it
    assert_ok(store_commit(db, &world->err));
    begin_and_fire(world, db, 0, true);
    assert_true(db->driver->holds(db));
    store_rollback(db);
    assert_int_equal(count_of(world, "owed_event"), 1);

    begin_and_fire(world, db, 0, true);
    assert_ok(store_commit(db, &world->err));
    assert_int_equal(count_of(world, "owed_event"), 2);

    begin_and_fire(world, db, 0, true);
    PGresult *result = PQexec(db->driver->native(db), "select from owed_event");
    assert_false(db->driver->holds(db));
    assert_int_equal(PQntuples(result), 3);
    PQclear(result);
    store_rollback(db);
    assert_int_equal(count_of(world, "owed_event"), 2);
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

#define HERE "left(pg_walfile_name(pg_current_wal_lsn()), 8)"
#define ELSEWHERE "'00000000'"
#define WRITTEN "decode(md5('written'), 'hex')"
#define NEWER "decode(md5('newer'), 'hex')"
#define NOT_WRITTEN "decode(md5('not'), 'hex')"

/* assert_fate asks what became of an event; "": nobody can tell. */
static void
assert_fate(
    struct world *world, const char *uid, const char *timeline, const char *age, const char *fate)
{
    char query[256], text[256];
    snprintf(query, sizeof query, "execute fate(%s, 'shop.Old', %s, now() - interval '%s')", uid,
        timeline, age);
    raw_text(plain(world), query, text);
    if (strcmp(text, fate) != 0)
        fail_msg("%s: '%s', and not '%s'", query, text, fate);
}

static void
fire_old(struct world *world, int count, const char *uid)
{
    char sql[512];
    snprintf(sql, sizeof sql,
        "insert into owed_event (uid, name, payload, occurred_at, recorded_at, due_at)"
        " select %s, 'shop.Old', '1', now(), now(), now() from generate_series(1, %d)",
        uid, count);
    raw_run(plain(world), sql);
}

static void
an_event_that_is_not_there_was_not_written_only_where_it_must_still_be_there(void **state)
{
    struct world *world = *state;
    char sql[2048];
    snprintf(sql, sizeof sql, "prepare fate as %s",
        world->db->driver->sql->statements[STMT_EVENT_STATUS]);
    raw_run(plain(world), sql);
    fire_old(world, 1, WRITTEN);
    assert_fate(world, WRITTEN, HERE, "0s", "committed");
    assert_fate(world, WRITTEN, ELSEWHERE, "0s", "");
    assert_fate(world, NOT_WRITTEN, HERE, "0s", "aborted");
    assert_fate(world, NOT_WRITTEN, HERE, "2 minutes", ""); // it may have been pruned
    raw_run(plain(world),
        "insert into owed_event_type (name, app, version, retention_seconds, published_at)"
        " values ('shop.Old', 'shop', 1, 60, now())");
    assert_fate(world, NOT_WRITTEN, HERE, "0s", "");
    raw_run(plain(world),
        "update owed_event_type set retention_seconds = 86400 where name = 'shop.Old'");
    assert_fate(world, NOT_WRITTEN, HERE, "0s", "aborted");
    raw_run(plain(world),
        "update owed_event_type set retention_seconds = null, delete_when = 'succeeded'"
        " where name = 'shop.Old'");
    assert_fate(world, NOT_WRITTEN, HERE, "0s", "");
    raw_run(plain(world), "delete from owed_event_type where name = 'shop.Old'");
    fire_old(world, 10000, NEWER); // it may be behind all these
    assert_fate(world, NOT_WRITTEN, HERE, "0s", "");
    assert_fate(world, WRITTEN, HERE, "0s", "");
    raw_run(plain(world),
        "update owed_event set recorded_at = now() - interval '1 hour' where uid = " NEWER);
    assert_fate(world, NOT_WRITTEN, HERE, "0s", "aborted");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_commit_whose_answer_was_lost_is_asked_about),
        TEST(a_commit_whose_event_was_not_answered_either_is_asked_about),
        TEST(an_event_that_waits_goes_with_what_follows_and_with_the_commit_at_last),
        TEST(a_commit_that_nobody_can_be_asked_about_is_unsure),
        TEST(an_event_that_is_not_there_was_not_written_only_where_it_must_still_be_there),
    };
    return run_on_stores("postgres", "postgres doubt", tests, COUNT(tests));
}
