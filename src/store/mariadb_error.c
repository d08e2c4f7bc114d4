/* SPDX-License-Identifier: MIT
 *
 * mariadb_error.c - what the server's and the client library's errors mean to us.
 */
#include <errmsg.h>
#include <mysqld_error.h>
#include <string.h>

#include "base/error.h"
#include "store/mariadb.h"

// MySQL's own, which the header does not know.
#define ER_MYSQL_QUERY_TIMEOUT 3024
#define ER_MYSQL_SESSION_WAS_KILLED 3169
#define ER_MYSQL_IDLE_TOO_LONG 4031

struct mariadb_db *
mariadb_of(struct db *db)
{
    return (struct mariadb_db *)db;
}

/* What an error is to the caller, and whether the connection or the transaction ends with it. */
enum end { END_STATEMENT, END_TRANSACTION, END_CONNECTION };
struct meaning {
    unsigned code;
    owed_status status;
    enum end ends;
};

/* All that stand here not: STORE. */
static const struct meaning meanings[] = {
    {CR_CONNECTION_ERROR, OWED_UNAVAILABLE, END_CONNECTION},
    {CR_CONN_HOST_ERROR, OWED_UNAVAILABLE, END_CONNECTION},
    {CR_UNKNOWN_HOST, OWED_UNAVAILABLE, END_CONNECTION},
    {CR_SERVER_GONE_ERROR, OWED_UNAVAILABLE, END_CONNECTION},
    {CR_SERVER_HANDSHAKE_ERR, OWED_UNAVAILABLE, END_CONNECTION},
    {CR_SERVER_LOST, OWED_UNAVAILABLE, END_CONNECTION},
    {CR_SERVER_LOST_EXTENDED, OWED_UNAVAILABLE, END_CONNECTION},
    {CR_SSL_CONNECTION_ERROR, OWED_UNAVAILABLE, END_CONNECTION},
    {CR_MALFORMED_PACKET, OWED_UNAVAILABLE, END_CONNECTION},
    {CR_ERR_NET_READ, OWED_UNAVAILABLE, END_CONNECTION},
    {CR_ERR_NET_WRITE, OWED_UNAVAILABLE, END_CONNECTION},
    {CR_OUT_OF_MEMORY, OWED_NOMEM, END_STATEMENT},
    {CR_NET_PACKET_TOO_LARGE, OWED_LIMIT, END_CONNECTION},

    {ER_CON_COUNT_ERROR, OWED_UNAVAILABLE, END_CONNECTION},
    {ER_SERVER_SHUTDOWN, OWED_UNAVAILABLE, END_CONNECTION},
    {ER_NORMAL_SHUTDOWN, OWED_UNAVAILABLE, END_CONNECTION},
    {ER_SHUTDOWN_COMPLETE, OWED_UNAVAILABLE, END_CONNECTION},
    {ER_ABORTING_CONNECTION, OWED_UNAVAILABLE, END_CONNECTION},
    {ER_NEW_ABORTING_CONNECTION, OWED_UNAVAILABLE, END_CONNECTION},
    {ER_CONNECTION_KILLED, OWED_UNAVAILABLE, END_CONNECTION},
    {ER_NET_READ_ERROR, OWED_UNAVAILABLE, END_CONNECTION},
    {ER_NET_READ_INTERRUPTED, OWED_UNAVAILABLE, END_CONNECTION},
    {ER_NET_ERROR_ON_WRITE, OWED_UNAVAILABLE, END_CONNECTION},
    {ER_NET_WRITE_INTERRUPTED, OWED_UNAVAILABLE, END_CONNECTION},
    {ER_NET_PACKET_TOO_LARGE, OWED_LIMIT, END_CONNECTION},

    {ER_OPTION_PREVENTS_STATEMENT, OWED_UNAVAILABLE, END_STATEMENT}, // --read-only
    {ER_READ_ONLY_MODE, OWED_UNAVAILABLE, END_STATEMENT},
    {ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION, OWED_UNAVAILABLE, END_STATEMENT},
    {ER_DISK_FULL, OWED_UNAVAILABLE, END_STATEMENT},
    {ER_RECORD_FILE_FULL, OWED_UNAVAILABLE, END_STATEMENT},
    {ER_ERROR_ON_WRITE, OWED_UNAVAILABLE, END_STATEMENT},
    {ER_ERROR_ON_READ, OWED_UNAVAILABLE, END_STATEMENT},
    {ER_OUT_OF_RESOURCES, OWED_UNAVAILABLE, END_STATEMENT},
    {ER_OUTOFMEMORY, OWED_UNAVAILABLE, END_STATEMENT},
    {ER_USER_LIMIT_REACHED, OWED_UNAVAILABLE, END_STATEMENT},
    {ER_TOO_MANY_USER_CONNECTIONS, OWED_UNAVAILABLE, END_CONNECTION},
    {ER_MAX_PREPARED_STMT_COUNT_REACHED, OWED_UNAVAILABLE, END_STATEMENT},

    {ER_LOCK_DEADLOCK, OWED_BUSY, END_TRANSACTION},
    {ER_CHECKREAD, OWED_BUSY, END_STATEMENT},
    {ER_LOCK_WAIT_TIMEOUT, OWED_BUSY, END_STATEMENT},
    {ER_LOCK_ABORTED, OWED_BUSY, END_STATEMENT},
    {ER_TABLE_DEF_CHANGED, OWED_BUSY, END_STATEMENT},
    {ER_STATEMENT_TIMEOUT, OWED_UNAVAILABLE, END_STATEMENT},
    {ER_QUERY_INTERRUPTED, OWED_UNAVAILABLE, END_STATEMENT},
    {ER_MYSQL_QUERY_TIMEOUT, OWED_UNAVAILABLE, END_STATEMENT},
    {ER_MYSQL_SESSION_WAS_KILLED, OWED_UNAVAILABLE, END_CONNECTION},
    {ER_MYSQL_IDLE_TOO_LONG, OWED_UNAVAILABLE, END_CONNECTION},

    {ER_DATA_TOO_LONG, OWED_LIMIT, END_STATEMENT},
    {ER_WARN_ALLOWED_PACKET_OVERFLOWED, OWED_LIMIT, END_STATEMENT},
    {ER_TOO_LONG_STRING, OWED_LIMIT, END_STATEMENT},
    {ER_TOO_BIG_ROWSIZE, OWED_LIMIT, END_STATEMENT},
};

static struct meaning
meaning_of(unsigned code)
{
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++)
        if (meanings[i].code == code)
            return meanings[i];
    return (struct meaning){code, OWED_STORE, END_STATEMENT};
}

bool
mariadb_is_over(unsigned code)
{
    return meaning_of(code).ends == END_CONNECTION;
}

/* is_no_schema: the message is all there is to tell our tables from those of a receiver's. */
static bool
is_no_schema(unsigned code, const char *said)
{
    bool is_missing =
        code == ER_NO_SUCH_TABLE || code == ER_SP_DOES_NOT_EXIST || code == ER_BAD_FIELD_ERROR;
    bool is_other = code == ER_SP_WRONG_NO_OF_ARGS && strstr(said, "owed_event") == NULL;
    return (is_missing || is_other) &&
        (code == ER_BAD_FIELD_ERROR || strstr(said, "owed_") != NULL);
}

/* is_being_replaced: a migration replaces routines one by one, and for a moment one that fires calls another with
 * parameters that it does not have yet, or has no more. It was not entered. */
static bool
is_being_replaced(unsigned code, const char *said)
{
    return code == ER_SP_WRONG_NO_OF_ARGS && strstr(said, "owed_event") != NULL;
}

owed_status
mariadb_fail(
    struct mariadb_db *conn, unsigned code, const char *said, const char *what, owed_error *err)
{
    struct meaning meaning = meaning_of(code);
    conn->in_doubt = true;
    conn->broken = conn->broken || meaning.ends == END_CONNECTION;
    conn->lost = conn->lost || (conn->begun && meaning.ends == END_TRANSACTION);
    if (is_no_schema(code, said))
        return fail_native(err, OWED_SCHEMA, (int)code,
            "%s: %s lacks tables or routines of owed (%s): run owed init, or owed migrate where there "
            "are older ones",
            what, conn->place, said);
    if (is_being_replaced(code, said))
        return fail_native(err, OWED_BUSY, (int)code,
            "%s: the routines of owed are being replaced, or are another release's (%s, %s): try again, and where that does "
            "not help use the program that ran owed migrate last",
            what, said, conn->place);
    if (conn->vetoed && code == ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION)
        return fail_native(err, OWED_VETOED, (int)code,
            "%s: an inline receiver refused the change; nothing more can be written in it", what);
    return fail_native(err, meaning.status, (int)code, "%s: %s (%s)", what, said, conn->place);
}

owed_status
mariadb_fail_last(struct mariadb_db *conn, const char *what, owed_error *err)
{
    return mariadb_fail(conn, mysql_errno(conn->handle), mysql_error(conn->handle), what, err);
}

owed_status
mariadb_cannot_connect(
    MYSQL *handle, const char *place, const struct mariadb_url *url, owed_error *err)
{
    unsigned code = mysql_errno(handle);
    const char *said = mysql_error(handle);
    if (code == ER_BAD_DB_ERROR)
        return fail_native(err, OWED_UNAVAILABLE, (int)code,
            "there is no database '%s' (%s): whoever may make databases has to make it first",
            url->database == NULL ? "" : url->database, place);
    return fail_native(err, code == CR_OUT_OF_MEMORY ? OWED_NOMEM : OWED_UNAVAILABLE, (int)code,
        "cannot connect to %s: %s", place, said);
}
