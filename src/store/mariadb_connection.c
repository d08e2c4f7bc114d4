/* SPDX-License-Identifier: MIT
 *
 * mariadb_connection.c - opening, adopting and closing MariaDB connections.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "store/mariadb.h"

#define PLACE_BYTES 512
#define OLDEST_MARIADB 101100
#define OLDEST_MYSQL 80021

static void
start_library(void)
{
    mysql_library_init(0, NULL, NULL);
}

static struct mariadb_db *
new_connection(bool adopted)
{
    // The library starts itself at its first handle, but not for two threads at once.
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start_library);
    struct mariadb_db *conn = calloc(1, sizeof *conn);
    if (conn == NULL)
        return NULL;
    conn->base = (struct db){.driver = &driver_mariadb, .adopted = adopted};
    for (int i = 0; i < STMT_MAX; i++)
        conn->rows[i].conn = conn;
    return conn;
}

static void
free_connection(struct mariadb_db **conn)
{
    if (*conn != NULL)
        mariadb_close(&(*conn)->base);
}

/* name_place: what is not said here stands in an option file, and is named once it is connected. */
static owed_status
name_place(struct mariadb_db *conn, const struct mariadb_url *url, owed_error *err)
{
    char text[PLACE_BYTES];
    const char *database = or_empty(url->database);
    const char *on = database[0] == '\0' ? "" : " on ";
    const char *socket = url->options[MARIADB_SOCKET];
    if (socket != NULL)
        snprintf(text, sizeof text, "%s%s%s", database, on, socket);
    else if (url->port != 0)
        snprintf(text, sizeof text, "%s%s%s:%u", database, on,
            url->host == NULL ? "127.0.0.1" : url->host, url->port);
    else
        snprintf(text, sizeof text, "%s%s%s", database, on,
            url->host == NULL ? "the default server" : url->host);
    free(conn->place);
    conn->place = strdup(text);
    return conn->place == NULL ? fail_memory(err) : OWED_OK;
}

/* name_real_place names what the connection says of itself. */
static owed_status
name_real_place(struct mariadb_db *conn, owed_error *err)
{
    const MYSQL *handle = conn->handle;
    char text[PLACE_BYTES];
    if (handle->unix_socket != NULL)
        snprintf(text, sizeof text, "%s on %s", or_empty(handle->db), handle->unix_socket);
    else
        snprintf(text, sizeof text, "%s on %s:%u", or_empty(handle->db), or_empty(handle->host),
            handle->port);
    free(conn->place);
    conn->place = strdup(text);
    return conn->place == NULL ? fail_memory(err) : OWED_OK;
}

owed_status
mariadb_check_version(unsigned long version, bool is_mariadb, owed_error *err)
{
    if (version >= (is_mariadb ? OLDEST_MARIADB : OLDEST_MYSQL))
        return OWED_OK;
    return fail(err, OWED_CONFIG, "%s %lu.%lu.%lu is too old: %s or later is needed",
        is_mariadb ? "MariaDB" : "MySQL", version / 10000, version / 100 % 100, version % 100,
        is_mariadb ? "10.11" : "8.0.21");
}

/* choose_dialect: a server says in its version what it is. */
static void
choose_dialect(struct mariadb_db *conn)
{
    conn->base.driver = mariadb_connection(conn->handle) ? &driver_mariadb : &driver_mysql;
}

/* set_up prepares a session: what stands in session.sql, and the limits that were asked for. */
static owed_status
set_up(struct mariadb_db *conn, const struct db_options *options, owed_error *err)
{
    if (is_empty(conn->handle->db))
        return fail(err, OWED_CONFIG,
            "the store URL names no database, nor does an option file: write "
            "mariadb://user@host/database");
    owed_status status = mariadb_check_version(
        mysql_get_server_version(conn->handle), mariadb_connection(conn->handle) != 0, err);
    if (status == OWED_OK)
        status = mariadb_harden(conn, err);
    if (status == OWED_OK)
        status = mariadb_script(&conn->base, conn->base.driver->sql->session, err);
    if (status == OWED_OK)
        status = mariadb_limit(conn, options, err);
    return status == OWED_OK ? mariadb_meet(conn, err) : status;
}

static owed_status
connect_to(struct mariadb_db *conn, const struct mariadb_url *url, const struct db_options *options,
    owed_error *err)
{
    owed_status status = name_place(conn, url, err);
    if (status == OWED_OK)
        status = mariadb_handle(url, options, &conn->handle, err);
    if (status != OWED_OK)
        return status;
    enum mariadb_connected end = mariadb_try_connect(&conn->handle, url, options->stop_fd);
    if (end == MARIADB_STOPPED)
        return fail(err, OWED_UNAVAILABLE, "connecting to %s was given up: a stop was asked for",
            conn->place);
    if (end == MARIADB_REFUSED)
        return mariadb_cannot_connect(conn->handle, conn->place, url, err);
    choose_dialect(conn);
    status = name_real_place(conn, err);
    if (status == OWED_OK)
        status = mariadb_check_tls(conn, url, err);
    return status == OWED_OK ? set_up(conn, options, err) : status;
}

owed_status
mariadb_open(const char *url, const struct db_options *options, struct db **ret_db, owed_error *err)
{
    CLEANUP(mariadb_url_done) struct mariadb_url parts = {0};
    owed_status status = mariadb_url_read(url, &parts, err);
    if (status != OWED_OK)
        return status;
    CLEANUP(free_connection) struct mariadb_db *conn = new_connection(false);
    if (conn == NULL)
        return fail_memory(err);
    status = connect_to(conn, &parts, options, err);
    if (status == OWED_OK)
        *ret_db = &steal(&conn)->base;
    return status;
}

/* check_charset: texts go over the connection as they are, and it is not ours to change. */
static owed_status
check_charset(const struct mariadb_db *conn, owed_error *err)
{
    const char *charset = mysql_character_set_name(conn->handle);
    if (strcmp(charset, "utf8mb4") == 0)
        return OWED_OK;
    return fail(err, OWED_INVALID,
        "that connection to %s speaks %s, which cannot carry every payload: open it with "
        "MYSQL_SET_CHARSET_NAME utf8mb4",
        conn->place, charset);
}

owed_status
mariadb_adopt(void *native, struct db **ret_db, owed_error *err)
{
    CLEANUP(free_connection) struct mariadb_db *conn = new_connection(true);
    if (conn == NULL)
        return fail_memory(err);
    conn->handle = native;
    choose_dialect(conn);
    owed_status status = name_real_place(conn, err);
    if (status == OWED_OK)
        status = check_charset(conn, err);
    if (status == OWED_OK)
        status = mariadb_meet(conn, err);
    if (status == OWED_OK)
        *ret_db = &steal(&conn)->base;
    return status;
}

void
mariadb_close(struct db *db)
{
    if (db == NULL)
        return;
    struct mariadb_db *conn = mariadb_of(db);
    mariadb_forget_statements(conn);
    if (!db->adopted && conn->handle != NULL)
        mysql_close(conn->handle);
    free(conn->identity);
    free(conn->place);
    free(conn);
}
