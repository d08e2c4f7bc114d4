/* SPDX-License-Identifier: MIT
 *
 * test_mariadb_outage.c - a MariaDB server that ends connections, restarts, refuses or says nothing.
 *
 * What is done to a whole server is done to one of this program's own.
 */
#include "store/mariadb.h"
#include "world.h"

#include <mysql.h>
#include <mysqld_error.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "loopback.h"
#include "own_server.h"

static MYSQL *
handle_of(struct db *db)
{
    return db->driver->native(db);
}

static void
reopen(struct world *world)
{
    struct db_options options = {0};
    store_close(world->db);
    world->db = NULL;
    assert_ok(store_open(world->url, &options, &world->db, &world->err));
}

/* number_of is the server's for a connection, which nobody is lent by that. */
static unsigned long
number_of(const struct db *db)
{
    return mysql_thread_id(((const struct mariadb_db *)db)->handle);
}

static void
kill_it(struct world *world, const struct db *db)
{
    raw_runf(plain(world), "kill %lu", number_of(db));
}

/* --- a connection that ends --- */

static void
a_killed_connection_is_unavailable_until_it_is_opened_anew(void **state)
{
    struct world *world = *state;
    assert_ok(try_fire_on(world, world->db));
    kill_it(world, world->db);
    assert_int_equal(try_fire_on(world, world->db), OWED_UNAVAILABLE);
    assert_int_equal(try_fire_on(world, world->db), OWED_UNAVAILABLE);
    assert_int_equal(store_begin(world->db, true, &world->err), OWED_UNAVAILABLE);
    assert_false(store_in_transaction(world->db));
    store_rollback(world->db);
    reopen(world);
    assert_ok(try_fire_on(world, world->db));
    assert_int_equal(count_of(world, "owed_event"), 2);
}

static void
one_that_was_killed_in_a_transaction_has_written_nothing(void **state)
{
    struct world *world = *state;
    for (int way = 0; way < 2; way++) {
        assert_ok(store_begin(world->db, true, &world->err));
        assert_ok(try_fire_on(world, world->db));
        kill_it(world, world->db);
        owed_status status =
            way == 0 ? try_fire_on(world, world->db) : store_commit(world->db, &world->err);
        // An answer to a commit that never comes may have been lost on its way.
        assert_true(status == OWED_UNAVAILABLE || (way == 1 && status == OWED_UNSURE));
        assert_false(store_in_transaction(world->db));
        assert_int_equal(count_of(world, "owed_event"), 0);
        reopen(world);
    }
}

struct call {
    struct world *world;
    owed_status (*make)(struct world *world);
    owed_status status;
};

static void *
make_call(void *arg)
{
    struct call *call = arg;
    call->status = call->make(call->world);
    return NULL;
}

static void
wait_until_it_works(struct world *world)
{
    int64_t end_us = clock_monotonic_us(&clock_system) + 10 * US_PER_SECOND;
    while (raw_numberf(plain(world),
               "select count(*) from information_schema.processlist where id = %lu "
               "and command <> 'Sleep' and time_ms > 50",
               number_of(world->db)) == 0)
        assert_true(clock_monotonic_us(&clock_system) < end_us);
}

/* ended_while makes a call that waits for what plain holds, and meanwhile ends its connection (kill), or what that
 * does (kill query). */
static owed_status
ended_while(struct world *world, const char *kill, owed_status (*make)(struct world *world))
{
    struct call call = {.world = world, .make = make};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, make_call, &call), 0);
    wait_until_it_works(world);
    raw_runf(plain(world), "%s %lu", kill, number_of(world->db));
    pthread_join(thread, NULL);
    return call.status;
}

static owed_status
killed_while(struct world *world, owed_status (*make)(struct world *world))
{
    return ended_while(world, "kill", make);
}

static owed_status
make_claim(struct world *world)
{
    struct claim request = a_claim("first", NOW, 1);
    return store_claim(
        world->db, &request, &world->arena, &world->rows, &world->count, &world->err);
}

static owed_status
make_acknowledgement(struct world *world)
{
    struct settlement done = a_settlement(&world->rows[0].fence, "succeeded");
    return store_settle(world->db, &done, 1, NULL, &world->err);
}

static void
one_that_is_killed_in_a_claim_has_claimed_nothing(void **state)
{
    struct world *world = *state;
    const char *const keys[] = {"shop.billing", NULL};
    publish_keys(world, keys);
    int64_t id = only_delivery(world, fire(world, EVENT));
    raw_run(plain(world), "lock tables owed_delivery write");
    owed_status status = killed_while(world, make_claim);
    raw_run(plain(world), "unlock tables");
    assert_int_equal(status, OWED_UNAVAILABLE);
    reopen(world);
    assert_string_equal(status_of(world, id), "pending");
    assert_int_equal(claim_as(world, "first", NOW, 1), 1);
}

static void
one_that_is_killed_in_an_acknowledgement_leaves_the_row_claimed(void **state)
{
    struct world *world = *state;
    const char *const keys[] = {"shop.billing", NULL};
    publish_keys(world, keys);
    int64_t id = only_delivery(world, fire(world, EVENT));
    assert_int_equal(claim_as(world, "first", NOW, 1), 1);
    raw_run(plain(world), "begin; update owed_delivery set losses = 7");
    owed_status status = killed_while(world, make_acknowledgement);
    raw_run(plain(world), "rollback");
    assert_int_equal(status, OWED_UNAVAILABLE);
    reopen(world);
    assert_string_equal(status_of(world, id), "claimed");
    assert_ok(make_acknowledgement(world));
    assert_string_equal(status_of(world, id), "succeeded");
}

/* make_event writes one that needs no answer, and so goes along with its commit. */
static owed_status
make_event(struct world *world)
{
    struct new_event event = an_event(EVENT);
    int64_t id = 0;
    bool fresh = false;
    event.may_wait = true;
    owed_status status = store_begin(world->db, true, &world->err);
    if (status == OWED_OK)
        status = store_insert_event(world->db, &event, &id, &fresh, &world->err);
    if (status == OWED_OK)
        assert_true(world->db->driver->holds(world->db));
    return status == OWED_OK ? store_commit(world->db, &world->err) : status;
}

static void
of_an_event_that_is_ended_amid_its_commit_nobody_is_sure_and_nothing_stays_open(void **state)
{
    struct world *world = *state;
    const char *const keys[] = {"shop.billing", NULL};
    publish_keys(world, keys);
    assert_ok(make_event(world));
    static const char *const kills[] = {"kill query", "kill"};
    for (size_t i = 0; i < COUNT(kills); i++) {
        raw_run(plain(world), "lock tables owed_delivery write");
        assert_int_equal(ended_while(world, kills[i], make_event), OWED_UNSURE);
        raw_run(plain(world), "unlock tables");
        assert_false(store_in_transaction(world->db));
        assert_int_equal(count_of(world, "owed_event"), i + 1);
        if (i > 0)
            reopen(world);
        assert_ok(make_event(world));
        assert_int_equal(count_of(world, "owed_event"), i + 2);
    }
}

static void
a_claim_that_is_interrupted_lets_go_of_what_it_had_picked(void **state)
{
    struct world *world = *state;
    const char *const keys[] = {"shop.billing", NULL};
    publish_keys(world, keys);
    fire(world, EVENT);
    world->store.is_spoilt = true;
    raw_run(plain(world),
        "create table app_door (n int); create trigger app_door before update on owed_delivery"
        " for each row set new.losses = new.losses + (select count(*) from app_door);"
        "lock tables app_door write");
    assert_int_not_equal(ended_while(world, "kill query", make_claim), OWED_OK);
    raw_run(plain(world), "unlock tables");
    assert_int_equal(
        raw_number(plain(world), "select count(*) from owed_delivery for update skip locked"), 1);
    assert_int_equal(claim_as(world, "w", NOW, 1), 1);
}

static void
one_that_was_silent_for_too_long_is_unavailable(void **state)
{
    struct world *world = *state;
    raw_run(raw_of(world->db), "set session wait_timeout = 1");
    struct pollfd hung_up = {.fd = mysql_get_socket(handle_of(world->db)), .events = POLLIN};
    assert_int_equal(poll(&hung_up, 1, 10000), 1);
    assert_int_equal(try_fire_on(world, world->db), OWED_UNAVAILABLE);
    reopen(world);
    assert_ok(try_fire_on(world, world->db));
}

static void
a_statement_that_takes_too_long_is_ended(void **state)
{
    struct world *world = *state;
    const char *const keys[] = {"shop.billing", NULL};
    publish_keys(world, keys);
    int64_t id = only_delivery(world, fire(world, EVENT));
    assert_int_equal(claim_as(world, "first", NOW, 1), 1);
    struct db_options options = {.statement_timeout_us = 200 * US_PER_MS};
    store_close(world->db);
    assert_ok(store_open(world->url, &options, &world->db, &world->err));
    raw_run(plain(world), "begin; update owed_delivery set losses = 7");
    assert_int_equal(make_acknowledgement(world), OWED_UNAVAILABLE);
    assert_int_equal(world->err.native, ER_STATEMENT_TIMEOUT);
    raw_run(plain(world), "rollback");
    assert_string_equal(status_of(world, id), "claimed");
    assert_ok(make_acknowledgement(world));
}

/* --- a listener that is no server --- */

static void
check_no_server(struct world *world, int port, const char *which)
{
    char url[128];
    snprintf(url, sizeof url, "mariadb://somebody:geheim@127.0.0.1:%d/shop", port);
    const struct db_options options = {.connect_timeout_us = US_PER_SECOND};
    struct db *db = NULL;
    int64_t began_us = clock_monotonic_us(&clock_system);
    check_case(store_open(url, &options, &db, &world->err) == OWED_UNAVAILABLE, which);
    check_case(clock_monotonic_us(&clock_system) - began_us < 5 * US_PER_SECOND, which);
    check_case(strstr(world->err.text, "shop on 127.0.0.1") != NULL, world->err.text);
    check_case(strstr(world->err.text, "geheim") == NULL, world->err.text);
}

static void
who_does_not_answer_is_given_up(void **state)
{
    struct world *world = *state;
    int port;
    int fd = loopback_listen(8, &port);
    check_no_server(world, port, "silent");
    close(fd);
    check_no_server(world, port, "closed");
    struct loopback_full full;
    loopback_full_open(&full);
    check_no_server(world, full.port, "full");
    loopback_full_close(&full);
}

static void
a_stop_ends_the_wait_for_a_connection(void **state)
{
    struct world *world = *state;
    int port;
    int fd = loopback_listen(8, &port);
    char url[128];
    snprintf(url, sizeof url, "mariadb://somebody:geheim@127.0.0.1:%d/shop", port);
    const struct db_options options = {
        .connect_timeout_us = 30 * US_PER_SECOND, .stop_fd = eventfd(1, EFD_CLOEXEC)};
    struct db *db = NULL;
    int64_t began_us = clock_monotonic_us(&clock_system);
    assert_int_equal(store_open(url, &options, &db, &world->err), OWED_UNAVAILABLE);
    assert_true(clock_monotonic_us(&clock_system) - began_us < 5 * US_PER_SECOND);
    assert_non_null(strstr(world->err.text, "stop"));
    // Nobody keeps the thread: it ends once its peer hangs up.
    close(fd);
    close(options.stop_fd);
    // Without a stop it is connected as ever.
    const struct db_options calm = {.stop_fd = eventfd(0, EFD_CLOEXEC)};
    assert_ok(store_open(world->url, &calm, &db, &world->err));
    assert_ok(store_check(db, &world->err));
    store_close(db);
    close(calm.stop_fd);
}

/* --- a whole server --- */

/* own_world has a database of the own server's; its user may not do everything. */
static void
own_world(struct world *world, char url[static 256])
{
    static char admin_url[256];
    static int number;
    own_server_needed();
    if (admin_url[0] == '\0') {
        own_server_start("mariadb", "", "--set innodb-rollback-on-timeout=ON", admin_url);
        struct raw *admin = raw_open(admin_url);
        raw_run(admin, "create user shop@'127.0.0.1' identified by 'geheim'");
        raw_close(admin);
    }
    struct raw *admin = raw_open(admin_url);
    number++;
    raw_runf(admin,
        "create database shop%d; grant all on shop%d.* to shop@'127.0.0.1'; "
        "grant select on mysql.* to shop@'127.0.0.1'",
        number, number);
    raw_close(world->raw);
    world->raw = admin;
    const char *at = strchr(admin_url, '@');
    assert_non_null(at);
    snprintf(url, 256, "mariadb://shop:geheim%.*s/shop%d", (int)strcspn(at, "/"), at, number);
    struct db_options options = {.create = true};
    store_close(world->db);
    world->db = NULL;
    assert_ok(store_open(url, &options, &world->db, &world->err));
    assert_ok(store_migrate(world->db, NOW, NULL, &world->err));
    raw_runf(admin, "use shop%d", number);
}

static void
a_server_that_only_reads_is_unavailable_and_works_again(void **state)
{
    struct world *world = *state;
    char url[256];
    own_world(world, url);
    assert_ok(try_fire_on(world, world->db));
    raw_run(plain(world), "set global read_only = 1");
    assert_int_equal(try_fire_on(world, world->db), OWED_UNAVAILABLE);
    assert_non_null(strstr(world->err.text, "read-only"));
    raw_run(plain(world), "set global read_only = 0");
    assert_ok(try_fire_on(world, world->db));
}

static void
a_server_that_begins_without_autocommit_keeps_what_was_fired(void **state)
{
    struct world *world = *state;
    char url[256];
    struct db_options options = {0};
    own_world(world, url);
    raw_run(plain(world), "set global autocommit = 0");
    store_close(world->db);
    assert_ok(store_open(url, &options, &world->db, &world->err));
    assert_ok(make_event(world));
    raw_run(plain(world), "set global autocommit = 1");
    assert_int_equal(count_of(world, "owed_event"), 1);
}

static void
a_server_with_too_many_connections_is_unavailable(void **state)
{
    struct world *world = *state;
    char url[256];
    own_world(world, url);
    raw_run(plain(world), "set global max_connections = 10");
    struct db *many[12];
    size_t count = 0;
    struct db_options options = {0};
    while (count < COUNT(many) && store_open(url, &options, &many[count], &world->err) == OWED_OK)
        count++;
    raw_run(plain(world), "set global max_connections = 100");
    assert_true(count < COUNT(many));
    assert_int_equal(world->err.status, OWED_UNAVAILABLE);
    assert_int_equal(world->err.native, ER_CON_COUNT_ERROR);
    assert_null(strstr(world->err.text, "geheim"));
    for (size_t i = 0; i < count; i++)
        store_close(many[i]);
}

static void
more_than_the_server_takes_at_once_is_refused_by_the_name_of_its_limit(void **state)
{
    struct world *world = *state;
    char url[256];
    own_world(world, url);
    raw_run(plain(world), "set global max_allowed_packet = 2097152");
    struct db_options options = {0};
    store_close(world->db);
    assert_ok(store_open(url, &options, &world->db, &world->err));
    size_t len = 2 << 20;
    char *text = malloc(len);
    assert_non_null(text);
    memset(text, ' ', len);
    text[0] = '1';
    struct new_event event = an_event(EVENT);
    event.payload = (struct str){text, len};
    int64_t id;
    bool fresh;
    assert_int_equal(store_insert_event(world->db, &event, &id, &fresh, &world->err), OWED_LIMIT);
    assert_non_null(strstr(world->err.text, "max_allowed_packet is 2097152"));
    // It was not sent, and the connection is as good as new.
    event.payload.len = len / 2;
    assert_ok(store_insert_event(world->db, &event, &id, &fresh, &world->err));
    raw_run(plain(world), "set global max_allowed_packet = 67108864");
    free(text);
}

static void
a_timeout_that_undoes_the_whole_transaction_is_noticed(void **state)
{
    struct world *world = *state;
    char url[256];
    own_world(world, url);
    raw_run(plain(world),
        "create table app (id int primary key); insert into app values (1); begin; "
        "update app set id = 2");
    assert_ok(store_begin(world->db, true, &world->err));
    assert_ok(try_fire_on(world, world->db));
    assert_ok(world->db->driver->hurry(world->db, &world->err));
    assert_int_not_equal(mysql_query(handle_of(world->db), "update app set id = 3"), 0);
    assert_int_equal(world->db->driver->contention(world->db, true), OWED_ABORTED);
    assert_int_equal(try_fire_on(world, world->db), OWED_ABORTED);
    assert_int_equal(store_commit(world->db, &world->err), OWED_ABORTED);
    raw_run(plain(world), "rollback");
    assert_int_equal(count_of(world, "owed_event"), 0);
}

static void
an_answer_to_a_commit_that_is_lost_is_unsure(void **state)
{
    struct world *world = *state;
    char url[256];
    char quick[300];
    own_world(world, url);
    snprintf(quick, sizeof quick, "%s?read-timeout=1s", url);
    struct db_options options = {0};
    store_close(world->db);
    assert_ok(store_open(quick, &options, &world->db, &world->err));
    assert_ok(store_begin(world->db, true, &world->err));
    assert_ok(try_fire_on(world, world->db));
    own_server_do("mariadb", "pause", "");
    owed_status status = store_commit(world->db, &world->err);
    own_server_do("mariadb", "resume", "");
    assert_int_equal(status, OWED_UNSURE);
    assert_false(store_in_transaction(world->db));
    // It had arrived.
    int64_t end_us = clock_monotonic_us(&clock_system) + 10 * US_PER_SECOND;
    while (count_of(world, "owed_event") == 0)
        assert_true(clock_monotonic_us(&clock_system) < end_us);
}

static void
a_server_that_is_started_anew_is_found_again(void **state)
{
    struct world *world = *state;
    char url[256];
    own_world(world, url);
    const char *const ways[] = {"fast", "immediate"};
    struct db_options options = {0};
    for (size_t i = 0; i < COUNT(ways); i++) {
        assert_ok(try_fire_on(world, world->db));
        char session[64];
        snprintf(session, sizeof session, "%s", world->db->driver->session(world->db));
        raw_close(world->raw);
        world->raw = NULL;
        own_server_do("mariadb", "restart", ways[i]);
        check_case(try_fire_on(world, world->db) == OWED_UNAVAILABLE, ways[i]);
        store_close(world->db);
        assert_ok(store_open(url, &options, &world->db, &world->err));
        assert_ok(try_fire_on(world, world->db));
        assert_ok(world->db->driver->end_session(world->db, session, &world->err));
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_killed_connection_is_unavailable_until_it_is_opened_anew),
        TEST(one_that_was_killed_in_a_transaction_has_written_nothing),
        TEST(one_that_is_killed_in_a_claim_has_claimed_nothing),
        TEST(one_that_is_killed_in_an_acknowledgement_leaves_the_row_claimed),
        TEST(of_an_event_that_is_ended_amid_its_commit_nobody_is_sure_and_nothing_stays_open),
        TEST(a_claim_that_is_interrupted_lets_go_of_what_it_had_picked),
        TEST(one_that_was_silent_for_too_long_is_unavailable),
        TEST(a_statement_that_takes_too_long_is_ended),
        TEST(who_does_not_answer_is_given_up),
        TEST(a_stop_ends_the_wait_for_a_connection),
        TEST(a_server_that_only_reads_is_unavailable_and_works_again),
        TEST(a_server_that_begins_without_autocommit_keeps_what_was_fired),
        TEST(a_server_with_too_many_connections_is_unavailable),
        TEST(more_than_the_server_takes_at_once_is_refused_by_the_name_of_its_limit),
        TEST(a_timeout_that_undoes_the_whole_transaction_is_noticed),
        TEST(an_answer_to_a_commit_that_is_lost_is_unsure),
        TEST(a_server_that_is_started_anew_is_found_again),
    };
    return run_on_stores("mariadb", "mariadb outage", tests, COUNT(tests));
}
