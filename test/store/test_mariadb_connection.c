/* SPDX-License-Identifier: MIT
 *
 * test_mariadb_connection.c - URLs, sessions and values on MariaDB.
 */
#include "world.h"

#include <fcntl.h>
#include <mysql.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "store/mariadb.h"

/* --- URLs --- */

static void
a_url_names_host_port_user_and_database(void **state)
{
    struct world *world = *state;
    static const struct {
        const char *url;
        const char *user, *password, *host, *database;
        unsigned port;
    } cases[] = {
        {"mariadb://shop:geheim@db.example:3307/orders", "shop", "geheim", "db.example", "orders",
            3307},
        {"mysql://db.example/orders", NULL, NULL, "db.example", "orders", 0},
        {"mariadb://shop@[::1]:3306/orders", "shop", NULL, "::1", "orders", 3306},
        {"mariadb://[fe80::1]/orders", NULL, NULL, "fe80::1", "orders", 0},
        {"mariadb://sh%6Fp:a%40b%3A%2F%25@h/o%20p", "shop", "a@b:/%", "h", "o p", 0},
        {"mariadb://shop:a:b@c@h/o", "shop", "a:b@c", "h", "o", 0},
        {"mariadb://shop@/orders", "shop", NULL, NULL, "orders", 0},
        {"mariadb:///orders", NULL, NULL, NULL, "orders", 0},
        {"mariadb://", NULL, NULL, NULL, NULL, 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct mariadb_url url;
        assert_ok(mariadb_url_read(cases[i].url, &url, &world->err));
        check_case(strcmp(or_empty(url.user), or_empty(cases[i].user)) == 0, cases[i].url);
        check_case(strcmp(or_empty(url.password), or_empty(cases[i].password)) == 0, cases[i].url);
        check_case(strcmp(or_empty(url.host), or_empty(cases[i].host)) == 0, cases[i].url);
        check_case(strcmp(or_empty(url.database), or_empty(cases[i].database)) == 0, cases[i].url);
        check_case(url.port == cases[i].port, cases[i].url);
        mariadb_url_done(&url);
    }
}

static void
options_follow_a_question_mark(void **state)
{
    struct world *world = *state;
    struct mariadb_url url;
    assert_ok(mariadb_url_read(
        "mariadb://h/o?socket=/run/my%20sql.sock&ssl_ca=/etc/ca.pem&connect-timeout=3s", &url,
        &world->err));
    assert_string_equal(url.options[MARIADB_SOCKET], "/run/my sql.sock");
    assert_string_equal(url.options[MARIADB_SSL_CA], "/etc/ca.pem");
    assert_string_equal(url.options[MARIADB_CONNECT_TIMEOUT], "3s");
    assert_null(url.options[MARIADB_SSL_KEY]);
    mariadb_url_done(&url);
}

static void
a_bad_url_is_refused_without_its_password(void **state)
{
    struct world *world = *state;
    static const struct {
        const char *url;
        const char *says;
    } cases[] = {
        {"mariadb:geheim", "//"},
        {"mariadb://u:geheim@h:0/o", "port"},
        {"mariadb://u:geheim@h:65536/o", "port"},
        {"mariadb://u:geheim@h:3x/o", "port"},
        {"mariadb://u:geheim@[::1/o", "[]"},
        {"mariadb://u:geheim@[::1]x/o", "[]"},
        {"mariadb://u:geheim%4@h/o", "password"},
        {"mariadb://u:geheim%zz@h/o", "%25"},
        {"mariadb://u:geheim%00@h/o", "password"},
        {"mariadb://u:geheim@h/o#x", "#"},
        {"mariadb://u:geheim@h/o?sokcet=/x", "socket"},
        {"mariadb://u:12?geheim@h/o", "%3F"},
        {"mariadb://u@h/o?geheim", "%3F"},
        {"mariadb://u:12/geheim@h/o", "%2F"},
        {"mariadb://u:geheim@h/o?ssl-mode=perhaps", "verify-identity"},
        {"mariadb://u:geheim@h/o?ssl-mode=verify-ca", "ssl-ca"},
        {"mariadb://u:geheim@h/o?connect-timeout=soon", "10s"},
        {"mariadb://u:geheim@h/o?read-timeout=0", "10s"},
        {"mariadb://u:geheim@h/o?defaults-file=/nowhere/my.cnf", "/nowhere/my.cnf"},
    };
    struct db_options options = {0};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct db *db = NULL;
        check_case(
            store_open(cases[i].url, &options, &db, &world->err) == OWED_CONFIG, cases[i].url);
        check_case(strstr(world->err.text, cases[i].says) != NULL, world->err.text);
        check_case(strstr(world->err.text, "geheim") == NULL, world->err.text);
    }
}

static void
a_server_older_than_our_statements_is_refused_with_its_version(void **state)
{
    struct world *world = *state;
    assert_int_equal(mariadb_check_version(101099, true, &world->err), OWED_CONFIG);
    assert_non_null(strstr(world->err.text, "MariaDB 10.10.99 is too old"));
    assert_int_equal(mariadb_check_version(50568, true, &world->err), OWED_CONFIG);
    assert_int_equal(mariadb_check_version(101100, true, &world->err), OWED_OK);
    assert_int_equal(mariadb_check_version(110402, true, &world->err), OWED_OK);
    assert_int_equal(mariadb_check_version(80021, false, &world->err), OWED_OK); // that is MySQL
    assert_int_equal(mariadb_check_version(80020, false, &world->err), OWED_CONFIG);
    assert_non_null(strstr(world->err.text, "MySQL 8.0.20 is too old: 8.0.21"));
}

/* --- what a connection is opened with --- */

static void
part_of_url(struct world *world, char host[static 64], unsigned *port, char database[static 128])
{
    char user[64];
    assert_int_equal(
        sscanf(world->url, "mariadb://%63[^@]@%63[^:]:%u/%127s", user, host, port, database), 4);
}

static void
write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void
what_the_url_leaves_out_an_option_file_says(void **state)
{
    struct world *world = *state;
    char host[64], database[128], path[128], url[512], text[512];
    unsigned port;
    part_of_url(world, host, &port, database);
    snprintf(path, sizeof path, "%s/my.cnf", world->folder);
    snprintf(text, sizeof text,
        "[client]\nhost=%s\nport=1\nuser=nobody\ndefault-character-set=latin1\n"
        "[owed]\nport=%u\nuser=owed\ndatabase=%s\n",
        host, port, database);
    write_file(path, text);
    snprintf(url, sizeof url, "mariadb://?defaults-file=%s", path);
    struct db_options options = {0};
    struct db *db;
    assert_ok(store_open(url, &options, &db, &world->err));
    assert_ok(store_check(db, &world->err));
    char charset[256];
    raw_text(raw_of(db), "select @@character_set_client", charset);
    assert_string_equal(charset, "utf8mb4");
    store_close(db);
    // And what the URL says goes first.
    snprintf(url, sizeof url, "mariadb:///nowhere?defaults-file=%s", path);
    assert_int_equal(store_open(url, &options, &db, &world->err), OWED_UNAVAILABLE);
    assert_non_null(strstr(world->err.text, "there is no database 'nowhere'"));
    // Another group may be named, which here lacks the port.
    snprintf(url, sizeof url, "mariadb:///%s?defaults-file=%s&defaults-group=else", database, path);
    assert_int_equal(store_open(url, &options, &db, &world->err), OWED_UNAVAILABLE);
    unlink(path);
}

static void
a_unix_socket_may_be_named(void **state)
{
    struct world *world = *state;
    char host[64], database[128], socket[256], url[512];
    unsigned port;
    part_of_url(world, host, &port, database);
    raw_text(plain(world), "select @@socket", socket);
    snprintf(url, sizeof url, "mariadb://owed@/%s?socket=%s", database, socket);
    struct db_options options = {0};
    struct db *db;
    assert_ok(store_open(url, &options, &db, &world->err));
    assert_int_equal(raw_number(raw_of(db),
                         "select count(*) from information_schema.processlist "
                         "where id = connection_id() and host = 'localhost'"),
        1);
    store_close(db);
    snprintf(url, sizeof url, "mariadb://owed@/%s?socket=%s.not", database, socket);
    assert_int_equal(store_open(url, &options, &db, &world->err), OWED_UNAVAILABLE);
    assert_non_null(strstr(world->err.text, ".not"));
}

static void
with_a_port_localhost_is_a_host_as_any_other(void **state)
{
    struct world *world = *state;
    char host[64], database[128], url[256];
    unsigned port;
    part_of_url(world, host, &port, database);
    snprintf(url, sizeof url, "mariadb://owed@localhost:%u/%s", port, database);
    struct db_options options = {0};
    struct db *db;
    assert_ok(store_open(url, &options, &db, &world->err));
    store_close(db);
}

static void
a_refusal_names_the_place_and_no_password(void **state)
{
    struct world *world = *state;
    char host[64], database[128], url[256];
    unsigned port;
    part_of_url(world, host, &port, database);
    snprintf(url, sizeof url, "mariadb://stranger:geheim@%s:%u/%s", host, port, database);
    struct db_options options = {0};
    struct db *db;
    assert_int_equal(store_open(url, &options, &db, &world->err), OWED_UNAVAILABLE);
    assert_int_equal(world->err.native, 1045);
    assert_non_null(strstr(world->err.text, host));
    assert_null(strstr(world->err.text, "geheim"));
    snprintf(url, sizeof url, "mariadb://owed@%s:%u", host, port);
    assert_int_equal(store_open(url, &options, &db, &world->err), OWED_CONFIG);
    assert_non_null(strstr(world->err.text, "names no database"));
}

static void
our_sessions_are_strict_in_utc_and_read_what_is_committed(void **state)
{
    struct world *world = *state;
    struct raw *raw = raw_of(world->db);
    char text[256];
    raw_text(raw, "select @@session.tx_isolation", text);
    assert_string_equal(text, "READ-COMMITTED");
    raw_text(raw, "select @@session.time_zone", text);
    assert_string_equal(text, "+00:00");
    raw_text(raw, "select @@session.sql_mode", text);
    assert_non_null(strstr(text, "STRICT_ALL_TABLES"));
    // Nobody who may write into one statement may add a second.
    assert_false(mysql_query(world->db->driver->native(world->db), "select 1; select 2") == 0);
}

static void
limits_that_were_asked_for_hold(void **state)
{
    struct world *world = *state;
    struct db_options options = {
        .busy_timeout_us = 2500000, .statement_timeout_us = 1500000, .application = "shop"};
    struct db *db;
    assert_ok(store_open(world->url, &options, &db, &world->err));
    struct raw *raw = raw_of(db);
    assert_int_equal(raw_number(raw, "select @@session.innodb_lock_wait_timeout"), 3);
    assert_int_equal(raw_number(raw, "select @@session.max_statement_time * 1000000"), 1500000);
    store_close(db);
    options = (struct db_options){.busy_timeout_us = -1};
    assert_ok(store_open(world->url, &options, &db, &world->err));
    assert_int_equal(raw_number(raw_of(db), "select @@session.innodb_lock_wait_timeout"), 0);
    store_close(db);
}

static void
the_socket_is_not_left_to_programs_and_its_peer_is_watched(void **state)
{
    struct world *world = *state;
    int fd = mysql_get_socket(world->db->driver->native(world->db));
    assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    int value = 0;
    socklen_t len = sizeof value;
    assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &value, &len), 0);
    assert_int_equal(value, 1);
    assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &value, &len), 0);
    assert_int_equal(value, 60000);
}

static void
the_clock_is_the_servers(void **state)
{
    struct world *world = *state;
    int64_t before_us = raw_number(plain(world), "select utc_timestamp(6)");
    int64_t now_us = 0;
    assert_ok(world->db->driver->now(world->db, &now_us, &world->err));
    int64_t after_us = raw_number(plain(world), "select utc_timestamp(6)");
    assert_true(before_us <= now_us && now_us <= after_us);
}

static void
a_server_that_is_mysql_is_said_to_be_untested_and_has_its_own_statements(void **state)
{
    struct world *world = *state;
    const struct driver *driver = world->db->driver;
    MYSQL *handle = driver->native(world->db);
    assert_null(driver->warning(world->db));
    char *version = handle->server_version;
    char other[] = "8.0.36";
    handle->server_version = other;
    const char *warning = driver->warning(world->db);
    struct db *adopted = NULL;
    owed_status status = driver->adopt(handle, &adopted, &world->err);
    const struct driver *chosen = adopted == NULL ? NULL : adopted->driver;
    store_close(adopted);
    handle->server_version = version;
    assert_ok(status);
    assert_ptr_equal(chosen, &driver_mysql);
    assert_non_null(warning);
    assert_non_null(strstr(warning, "untested"));
}

/* --- sessions --- */

static void
what_an_ended_session_held_is_free_at_once(void **state)
{
    struct world *world = *state;
    const struct driver *driver = world->db->driver;
    raw_run(raw_of(world->db), "set innodb_lock_wait_timeout = 0");
    for (int i = 0; i < 20; i++) {
        struct db_options options = {0};
        struct db *dying;
        assert_ok(store_open(world->url, &options, &dying, &world->err));
        assert_ok(store_begin(dying, true, &world->err));
        struct raw *theirs = raw_of(dying);
        raw_run(
            theirs, "insert into owed_lane (lane) select concat('shop/', seq) from seq_1_to_500");
        assert_ok(driver->end_session(world->db, driver->session(dying), &world->err));
        raw_run(raw_of(world->db),
            "insert into owed_lane (lane) values ('shop/1'); delete from owed_lane");
        store_close(dying);
    }
}

static void
a_session_is_ended_by_its_name_once(void **state)
{
    struct world *world = *state;
    const struct driver *driver = world->db->driver;
    char session[64];
    snprintf(session, sizeof session, "%s", driver->session(world->other));
    assert_ok(store_begin(world->other, true, &world->err));
    assert_ok(driver->end_session(world->db, session, &world->err));
    struct status status;
    assert_int_equal(
        store_status(world->other, NOW, &world->arena, &status, &world->err), OWED_UNAVAILABLE);
    assert_ok(driver->end_session(world->db, session, &world->err));
    assert_int_equal(driver->end_session(world->db, "x", &world->err), OWED_INVALID);
    // One's own is not ended, nor one of a server that has been started anew since.
    assert_ok(driver->end_session(world->db, driver->session(world->db), &world->err));
    char *at = strchr(session, '@');
    assert_non_null(at);
    struct db_options options = {0};
    struct db *third;
    assert_ok(store_open(world->url, &options, &third, &world->err));
    snprintf(session, sizeof session, "%.*s@12345", (int)strcspn(driver->session(third), "@"),
        driver->session(third));
    assert_ok(driver->end_session(world->db, session, &world->err));
    assert_ok(store_check(third, &world->err));
    store_close(third);
}

/* --- values --- */

static void
times_come_back_to_the_microsecond(void **state)
{
    struct world *world = *state;
    static const int64_t times[] = {NOW, NOW + 1, NOW + 999999, 0, 1, -1, -1000001,
        INT64_C(253402300799999999), INT64_C(-30610224000000000)};
    for (size_t i = 0; i < COUNT(times); i++) {
        struct new_event event = an_event(EVENT);
        event.uid[0] = (uint8_t)i;
        event.occurred_at_us = times[i];
        int64_t id;
        bool fresh;
        assert_ok(store_insert_event(world->db, &event, &id, &fresh, &world->err));
        struct event_row row;
        assert_ok(store_event(world->db, id, &world->arena, &row, &world->err));
        assert_int_equal(row.occurred_at_us, times[i]);
    }
}

static char *
long_payload(size_t len)
{
    char *text = malloc(len + 1);
    assert_non_null(text);
    memset(text, 'x', len);
    memcpy(text, "[\"", 2);
    memcpy(text + len - 2, "\"]", 3);
    return text;
}

static owed_status
fire_long(struct world *world, struct str payload, int64_t *id)
{
    struct new_event event = an_event(EVENT);
    event.payload = payload;
    bool fresh;
    event.uid[0] = (uint8_t)payload.len;
    return store_insert_event(world->db, &event, id, &fresh, &world->err);
}

static void
long_payloads_come_back_whole_and_short_ones_after_them(void **state)
{
    struct world *world = *state;
    static const size_t lengths[] = {255, 256, 257, 70000, 16 << 20, 100};
    for (size_t i = 0; i < COUNT(lengths); i++) {
        char *text = long_payload(lengths[i]);
        int64_t id;
        assert_ok(fire_long(world, (struct str){text, lengths[i]}, &id));
        struct event_row row;
        assert_ok(store_event(world->db, id, &world->arena, &row, &world->err));
        assert_int_equal(row.payload.len, lengths[i]);
        assert_memory_equal(row.payload.p, text, lengths[i]);
        free(text);
    }
}

static void
statements_may_be_read_one_beside_the_other(void **state)
{
    static const struct value most = {.type = VALUE_INT, .integer = 10};
    struct world *world = *state;
    const struct driver *driver = world->db->driver;
    const char *const keys[] = {"shop.a", "shop.b", "shop.c", NULL};
    publish_keys(world, keys);
    fire(world, EVENT);
    struct rows *outer;
    struct rows *inner;
    struct rows *again;
    assert_ok(driver->run(world->db, STMT_RECEIVERS, NULL, 0, &outer, &world->err));
    int count = 0;
    for (; driver->next(outer); count++) {
        char key[16];
        struct value value = driver->column(outer, 0);
        snprintf(key, sizeof key, "%.*s", (int)value.bytes.len, value.bytes.p);
        assert_string_equal(key, keys[count]);
        assert_ok(driver->run(world->db, STMT_COUNT_EVENTS, &most, 1, &inner, &world->err));
        assert_int_equal(
            driver->run(world->db, STMT_COUNT_EVENTS, &most, 1, &again, &world->err), OWED_BUG);
        assert_true(driver->next(inner));
        assert_int_equal(driver->column(inner, 0).integer, 1);
        assert_ok(driver->finish(inner, NULL, &world->err));
    }
    assert_int_equal(count, 3);
    assert_ok(driver->finish(outer, NULL, &world->err));
}

static void
a_statement_that_the_server_forgot_is_prepared_anew(void **state)
{
    struct world *world = *state;
    fire(world, EVENT);
    struct status status;
    assert_ok(store_status(world->db, NOW, &world->arena, &status, &world->err));
    assert_int_equal(mysql_reset_connection(world->db->driver->native(world->db)), 0);
    assert_ok(store_status(world->db, NOW, &world->arena, &status, &world->err));
    assert_int_equal(status.events, 1);
}

/* --- the application's own connection --- */

static void
one_that_cannot_carry_every_payload_is_not_adopted(void **state)
{
    struct world *world = *state;
    MYSQL *handle = raw_native(plain(world));
    assert_int_equal(mysql_set_character_set(handle, "latin1"), 0);
    struct db *db;
    assert_int_equal(world->db->driver->adopt(handle, &db, &world->err), OWED_INVALID);
    assert_non_null(strstr(world->err.text, "latin1"));
    assert_int_equal(mysql_set_character_set(handle, "utf8mb4"), 0);
    assert_ok(world->db->driver->adopt(handle, &db, &world->err));
    store_close(db);
}

static void
connections_know_whether_they_are_open_on_the_same_database(void **state)
{
    struct world *world = *state;
    const struct driver *driver = world->db->driver;
    assert_string_equal(driver->where(world->db), driver->where(world->other));
    struct db *db;
    assert_ok(driver->adopt(raw_native(plain(world)), &db, &world->err));
    assert_string_equal(driver->where(world->db), driver->where(db));
    store_close(db);
    raw_run(plain(world), "use information_schema");
    assert_ok(driver->adopt(raw_native(plain(world)), &db, &world->err));
    assert_string_not_equal(driver->where(world->db), driver->where(db));
    store_close(db);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_url_names_host_port_user_and_database),
        TEST(options_follow_a_question_mark),
        TEST(a_bad_url_is_refused_without_its_password),
        TEST(a_server_older_than_our_statements_is_refused_with_its_version),
        TEST(what_the_url_leaves_out_an_option_file_says),
        TEST(a_unix_socket_may_be_named),
        TEST(with_a_port_localhost_is_a_host_as_any_other),
        TEST(a_refusal_names_the_place_and_no_password),
        TEST(our_sessions_are_strict_in_utc_and_read_what_is_committed),
        TEST(limits_that_were_asked_for_hold),
        TEST(the_socket_is_not_left_to_programs_and_its_peer_is_watched),
        TEST(the_clock_is_the_servers),
        TEST(a_server_that_is_mysql_is_said_to_be_untested_and_has_its_own_statements),
        TEST(a_session_is_ended_by_its_name_once),
        TEST(what_an_ended_session_held_is_free_at_once),
        TEST(times_come_back_to_the_microsecond),
        TEST(long_payloads_come_back_whole_and_short_ones_after_them),
        TEST(statements_may_be_read_one_beside_the_other),
        TEST(a_statement_that_the_server_forgot_is_prepared_anew),
        TEST(one_that_cannot_carry_every_payload_is_not_adopted),
        TEST(connections_know_whether_they_are_open_on_the_same_database),
    };
    return run_on_stores("mariadb", "mariadb connection", tests, COUNT(tests));
}
