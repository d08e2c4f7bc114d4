/* SPDX-License-Identifier: MIT
 *
 * mariadb_send.c - statements that are sent before it is read what came of earlier ones.
 *
 * The server takes them one after another and answers each. So many answers may be unread as fit what lies
 * between the server and us: with more of them both could wait for each other to read. Where it undoes the
 * whole transaction, to end a deadlock, what is on its way would be done and committed by itself: autocommit
 * is off as long as a transaction has such statements, so that all of it is rolled back.
 *
 * Nobody can commit by what he sends, as only statements that change rows are taken: they do not, nor do
 * triggers and functions that they call.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "store/mariadb.h"

#define UNREAD_MOST 64 // an error is half a kilobyte
#define WORD_BYTES 24

/* note_refusal: the first one stays; what follows from it is of no interest. A table that is not there is none
 * of ours. */
static void
note_refusal(struct mariadb_db *conn)
{
    bool was_lost = conn->lost;
    owed_status status = mariadb_fail_last(conn, "send", NULL);
    if (conn->refusal.status == OWED_OK)
        fail_native(&conn->refusal, status == OWED_SCHEMA ? OWED_STORE : status,
            (int)mysql_errno(conn->handle), "%s", mysql_error(conn->handle));
    conn->is_undone = conn->is_undone || (conn->lost && !was_lost);
    // A session that is not what we set it to would keep nothing of what is written.
    conn->broken = conn->broken || !conn->begun;
}

static void
hear_one(struct mariadb_db *conn)
{
    MYSQL *handle = conn->handle;
    conn->unread--;
    // The library counts packets from the statement that it sent last; the server from each.
    handle->net.pkt_nr = 1;
    if (mysql_read_query_result(handle) == 0 && mysql_field_count(handle) > 0)
        mysql_free_result(mysql_use_result(handle));
    if (mysql_errno(handle) != 0)
        note_refusal(conn);
    if (conn->broken)
        conn->unread = 0;
}

void
mariadb_hear(struct mariadb_db *conn)
{
    while (conn->unread > 0)
        hear_one(conn);
}

static owed_status
send_text(struct mariadb_db *conn, struct str text, const char *what, owed_error *err)
{
    while (conn->unread >= UNREAD_MOST)
        hear_one(conn);
    if (conn->broken)
        return fail(err, OWED_UNAVAILABLE, "the connection to %s was lost", conn->place);
    if (mysql_send_query(conn->handle, text.p, (unsigned long)text.len) != 0)
        return mariadb_fail_last(conn, what, err);
    conn->unread++;
    // A compressed packet may hold several answers, which the library does not expect.
    if (conn->handle->net.compress)
        mariadb_hear(conn);
    return OWED_OK;
}

owed_status
mariadb_send_statement(struct mariadb_db *conn, enum stmt stmt, owed_error *err)
{
    return send_text(
        conn, str_of(conn->base.driver->sql->statements[stmt]), mariadb_file(stmt), err);
}

/* be_alone sees to it that one text is one statement: who had the connection may have set it otherwise. */
static owed_status
be_alone(struct mariadb_db *conn, owed_error *err)
{
    if (!conn->was_lent)
        return OWED_OK;
    mariadb_hear(conn);
    if (!conn->broken &&
        mysql_set_server_option(conn->handle, MYSQL_OPTION_MULTI_STATEMENTS_OFF) != 0)
        return mariadb_fail_last(conn, "send", err);
    conn->was_lent = false;
    return OWED_OK;
}

/* hold_back begins what is left to begin, and keeps the server from committing anything by itself. */
static owed_status
hold_back(struct mariadb_db *conn, owed_error *err)
{
    owed_status status = mariadb_let_go(conn, err);
    if (status == OWED_OK)
        status = be_alone(conn, err);
    if (status == OWED_OK && !conn->holds_back) {
        status = mariadb_send_statement(conn, STMT_AUTOCOMMIT_OFF, err);
        conn->holds_back = status == OWED_OK;
    }
    if (status != OWED_OK || !conn->unsent)
        return status;
    conn->unsent = false;
    return mariadb_send_statement(conn, STMT_BEGIN_WRITE, err);
}

static bool
is_blank(char sign)
{
    return isspace((unsigned char)sign) != 0;
}

/* first_word is that of a statement, as far as it can be one that changes rows. */
static void
first_word(struct str text, char word[static WORD_BYTES])
{
    size_t at = 0, len = 0;
    while (at < text.len && is_blank(text.p[at]))
        at++;
    while (at < text.len && !is_blank(text.p[at]) && len < WORD_BYTES - 1)
        word[len++] = text.p[at++];
    word[len] = '\0';
}

owed_status
mariadb_may_send(struct str text, owed_error *err)
{
    static const char *const words[] = {"insert", "update", "delete", "replace"};
    char word[WORD_BYTES];
    first_word(text, word);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcasecmp(word, words[i]) == 0)
            return OWED_OK;
    return fail(err, OWED_INVALID,
        "a statement that begins with '%s' cannot be sent ahead: INSERT, UPDATE, DELETE and REPLACE can, "
        "all others are for owed_delivery_mariadb",
        word);
}

owed_status
mariadb_send(struct db *db, struct str text, owed_error *err)
{
    struct mariadb_db *conn = mariadb_of(db);
    owed_status status = mariadb_may_send(text, err);
    if (status == OWED_OK && conn->refusal.status != OWED_OK)
        status = mariadb_collect(db, false, err);
    if (status == OWED_OK)
        status = hold_back(conn, err);
    return status == OWED_OK ? send_text(conn, text, "send", err) : status;
}

owed_status
mariadb_collect(struct db *db, bool wait, owed_error *err)
{
    struct mariadb_db *conn = mariadb_of(db);
    if (wait)
        mariadb_hear(conn);
    if (conn->refusal.status != OWED_OK && err != NULL)
        *err = conn->refusal;
    return conn->refusal.status;
}
