/* SPDX-License-Identifier: MIT
 *
 * postgres_talk.c - sending statements to PostgreSQL and waiting for what it answers.
 *
 * Several go out together in a pipeline: one round trip for BEGIN, what it needs, and the first
 * statement. Each is prepared at its first use, in the same pipeline; behind a pooler, and on an
 * adopted connection, nothing ever is. Waits are our own, so that each has its end.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "store/postgres.h"

#define BINARY 1
#define NAME_BYTES 32

int64_t
postgres_monotonic_us(void)
{
    return clock_monotonic_us(&clock_system);
}

bool
postgres_is_lost(const PGconn *handle)
{
    return handle == NULL || PQstatus(handle) != CONNECTION_OK;
}

void
postgres_cut(PGconn *handle)
{
    int fd = PQsocket(handle);
    if (fd >= 0)
        shutdown(fd, SHUT_RDWR);
    // libpq finds out when it reads.
    while (PQconsumeInput(handle) == 1 && PQstatus(handle) == CONNECTION_OK && fd >= 0)
        continue;
}

int64_t
postgres_deadline_us(const struct postgres_db *conn)
{
    int64_t timeout_us = conn->options.statement_timeout_us;
    return timeout_us > 0 ? postgres_monotonic_us() + timeout_us : INT64_MAX;
}

/* wait_io waits until something can be read, or what is left to send can be sent; false: the time is
 * over, or the connection lost. */
static bool
wait_io(PGconn *handle, int64_t deadline_us)
{
    int left = PQflush(handle);
    if (left < 0 || PQsocket(handle) < 0)
        return false;
    struct pollfd fd = {.fd = PQsocket(handle), .events = POLLIN};
    if (left > 0)
        fd.events |= POLLOUT;
    int64_t wait_us = deadline_us == INT64_MAX ? -1 : deadline_us - postgres_monotonic_us();
    if (wait_us < 0 && deadline_us != INT64_MAX)
        return false;
    struct timespec wait = {.tv_sec = (time_t)(wait_us / US_PER_SECOND),
        .tv_nsec = (long)(wait_us % US_PER_SECOND) * 1000};
    int ready = ppoll(&fd, 1, deadline_us == INT64_MAX ? NULL : &wait, NULL);
    if (ready < 0)
        return errno == EINTR;
    if (ready == 0)
        return true;
    return (fd.revents & ~POLLOUT) == 0 || PQconsumeInput(handle) == 1;
}

PGresult *
postgres_get(PGconn *handle, int64_t deadline_us)
{
    while (PQisBusy(handle) != 0) {
        if (wait_io(handle, deadline_us))
            continue;
        // What libpq noticed itself it says in a result.
        if (PQstatus(handle) == CONNECTION_OK)
            postgres_cut(handle);
        break;
    }
    return PQgetResult(handle);
}

/* --- what is prepared --- */

/* fits tells whether a prepared statement takes these arguments: a null fits anywhere. */
static bool
fits(const struct prepared *prepared, const struct command *command)
{
    for (size_t i = 0; i < command->count; i++) {
        uint8_t kind = prepared->kinds[i];
        if (kind != VALUE_NULL && command->args[i].type != VALUE_NULL &&
            kind != command->args[i].type)
            return false;
    }
    return true;
}

static void
name(enum stmt stmt, const struct prepared *prepared, char text[static NAME_BYTES])
{
    snprintf(text, NAME_BYTES, "owed_%d_%u", (int)stmt, prepared->times);
}

bool
postgres_wants_preparing(const struct postgres_db *conn, const struct command *command)
{
    const struct prepared *prepared = &conn->prepared[command->stmt];
    return !conn->is_unprepared && (!prepared->is || !fits(prepared, command));
}

/* --- sending --- */

/* send_prepare puts PREPARE in front of the first run. */
static bool
send_prepare(struct postgres_db *conn, const struct command *command, const struct bound *bound)
{
    struct prepared *prepared = &conn->prepared[command->stmt];
    char text[NAME_BYTES];
    prepared->times++;
    name(command->stmt, prepared, text);
    const char *sql = conn->base.driver->sql->statements[command->stmt];
    return PQsendPrepare(conn->handle, text, sql, bound->count, bound->types) == 1;
}

static bool
send_run(struct postgres_db *conn, const struct command *command, const struct bound *bound)
{
    if (conn->is_unprepared)
        return PQsendQueryParams(conn->handle, conn->base.driver->sql->statements[command->stmt],
                   bound->count, bound->types, bound->values, bound->lengths, bound->formats,
                   BINARY) == 1;
    char text[NAME_BYTES];
    name(command->stmt, &conn->prepared[command->stmt], text);
    return PQsendQueryPrepared(conn->handle, text, bound->count, bound->values, bound->lengths,
               bound->formats, BINARY) == 1;
}

/* A statement as it was sent, to know its answers by. */
struct sent {
    const struct command *command;
    bool prepares;
};

static bool
send_one(struct postgres_db *conn, struct sent *sent)
{
    struct bound bound;
    if (!postgres_bind(sent->command, &bound))
        return false;
    sent->prepares = postgres_wants_preparing(conn, sent->command);
    if (sent->prepares && !send_prepare(conn, sent->command, &bound))
        return false;
    if (!send_run(conn, sent->command, &bound))
        return false;
    if (sent->command->alone && PQpipelineSync(conn->handle) != 1)
        return false;
    return !sent->command->flush || PQsendFlushRequest(conn->handle) == 1;
}

static bool
is_good(const PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

/* get_answer reads the one result of a statement, and the NULL after it. */
static PGresult *
get_answer(struct postgres_db *conn, int64_t deadline_us)
{
    PGresult *result = postgres_get(conn->handle, deadline_us);
    if (result == NULL)
        return NULL;
    if (!is_good(result) && deadline_us != INT64_MAX && deadline_us <= postgres_monotonic_us())
        conn->is_overdue = true;
    for (PGresult *more; (more = postgres_get(conn->handle, deadline_us)) != NULL;)
        PQclear(more);
    return result;
}

static void
note_prepared(struct postgres_db *conn, const struct command *command)
{
    struct prepared *prepared = &conn->prepared[command->stmt];
    prepared->is = true;
    for (size_t i = 0; i < command->count; i++)
        prepared->kinds[i] = (uint8_t)command->args[i].type;
}

/* read_one reads what came of one statement; that of a failed PREPARE stands for its run. */
static PGresult *
read_one(struct postgres_db *conn, const struct sent *sent, int64_t deadline_us)
{
    if (sent->prepares) {
        PGresult *result = get_answer(conn, deadline_us);
        if (!is_good(result)) {
            PQclear(get_answer(conn, deadline_us));
            return result;
        }
        PQclear(result);
        note_prepared(conn, sent->command);
    }
    return get_answer(conn, deadline_us);
}

/* read_sync reads the end of a part of the pipeline, which is no answer and has no NULL after it. */
static void
read_sync(struct postgres_db *conn, int64_t deadline_us)
{
    PGresult *result = postgres_get(conn->handle, deadline_us);
    PQclear(result);
}

/* --- one round trip --- */

/* A talk: the queue and the commands that follow it. */
struct talk {
    struct command queue[POSTGRES_QUEUE_MAX];
    struct sent sent[2 * POSTGRES_QUEUE_MAX];
    size_t queued;
    size_t count;
};

/* is_setting: what is set for the session must not go with the transaction that follows. */
static bool
is_setting(enum stmt stmt)
{
    return stmt == STMT_SESSION_RESET || stmt == STMT_LOCK_TIMEOUT;
}

static void
gather(struct postgres_db *conn, struct talk *talk, const struct command *commands, size_t count)
{
    talk->count = 0;
    for (size_t i = 0; i < conn->queued; i++) {
        enum stmt stmt = conn->queue[i];
        talk->queue[i] = (struct command){.stmt = stmt, .alone = is_setting(stmt)};
        if (stmt == STMT_LOCK_TIMEOUT) {
            talk->queue[i].args = &conn->lock_timeout_ms;
            talk->queue[i].count = 1;
        }
        talk->sent[talk->count++] = (struct sent){.command = &talk->queue[i]};
    }
    if (conn->held.is)
        talk->sent[talk->count++] = (struct sent){.command = &conn->held.command};
    talk->queued = talk->count;
    for (size_t i = 0; i < count; i++)
        talk->sent[talk->count++] = (struct sent){.command = &commands[i]};
    conn->queued = 0;
    conn->held.is = false;
}

static bool
is_single(const struct postgres_db *conn, const struct talk *talk)
{
    return talk->count == 1 && !talk->sent[0].command->alone &&
        !postgres_wants_preparing(conn, talk->sent[0].command);
}

static bool
send_all(struct postgres_db *conn, struct talk *talk)
{
    for (size_t i = 0; i < talk->count; i++)
        if (!send_one(conn, &talk->sent[i]))
            return false;
    return PQpipelineSync(conn->handle) == 1;
}

/* note_plans sees to prepared statements that the server does not have, or cannot use, any more: a
 * pooler gave us another server, somebody threw them away, or a table is not what it was. */
static owed_status
note_plans(struct postgres_db *conn, const PGresult *result, enum stmt stmt, owed_error *err)
{
    bool is_gone = postgres_says(result, "26000") || postgres_says(result, "42P05");
    bool is_stale = conn->prepared[stmt].is && postgres_says(result, "0A000");
    if (!is_gone && !is_stale)
        return OWED_OK;
    conn->is_unprepared = conn->is_unprepared || is_gone;
    conn->prepared[stmt].is = false;
    conn->repeat = true;
    return fail(err, OWED_BUSY, "%s: what was prepared on %s is of no use any more: try again",
        postgres_file(stmt), conn->place);
}

/* judge says what a bad answer means. */
static owed_status
judge(struct postgres_db *conn, const PGresult *result, enum stmt stmt, owed_error *err)
{
    if (is_good(result))
        return OWED_OK;
    owed_status status = note_plans(conn, result, stmt, err);
    return status == OWED_OK ? postgres_fail(conn, result, postgres_file(stmt), err) : status;
}

static owed_status
read_all(struct postgres_db *conn, struct talk *talk, PGresult **results, owed_error *err)
{
    owed_status status = OWED_OK;
    int64_t deadline_us = postgres_deadline_us(conn);
    for (size_t i = 0; i < talk->count; i++) {
        const struct command *command = talk->sent[i].command;
        PGresult *result = read_one(conn, &talk->sent[i], deadline_us);
        if (status == OWED_OK)
            status = judge(conn, result, command->stmt, err);
        postgres_note_number(conn, command->stmt, result);
        if (i >= talk->queued)
            results[i - talk->queued] = result;
        else
            PQclear(result);
        if (command->alone)
            read_sync(conn, deadline_us);
    }
    read_sync(conn, deadline_us);
    return status;
}

/* pipeline sends all and reads all. It leaves no pipeline behind, or a connection that is cut. */
static owed_status
pipeline(struct postgres_db *conn, struct talk *talk, PGresult **results, owed_error *err)
{
    PGconn *handle = conn->handle;
    const char *what = postgres_file(talk->sent[talk->count - 1].command->stmt);
    owed_status status = OWED_OK;
    PQsetnonblocking(handle, 1);
    if (PQenterPipelineMode(handle) != 1 || !send_all(conn, talk))
        status = postgres_fail_lost(conn, handle, what, err);
    else
        status = read_all(conn, talk, results, err);
    if (PQexitPipelineMode(handle) != 1 && PQstatus(handle) == CONNECTION_OK)
        postgres_cut(handle);
    PQsetnonblocking(handle, 0);
    return status;
}

static owed_status
single(struct postgres_db *conn, struct sent *sent, PGresult **ret_result, owed_error *err)
{
    const char *what = postgres_file(sent->command->stmt);
    int was_nonblocking = PQisnonblocking(conn->handle);
    PQsetnonblocking(conn->handle, 1);
    bool ok = send_one(conn, sent);
    if (ok)
        *ret_result = get_answer(conn, postgres_deadline_us(conn));
    PQsetnonblocking(conn->handle, was_nonblocking);
    if (!ok)
        return postgres_fail_lost(conn, conn->handle, what, err);
    return judge(conn, *ret_result, sent->command->stmt, err);
}

owed_status
postgres_talk(struct postgres_db *conn, const struct command *commands, size_t count,
    PGresult **results, owed_error *err)
{
    struct talk talk;
    for (size_t i = 0; i < count; i++)
        results[i] = NULL;
    owed_status sent = postgres_collect(&conn->base, true, err);
    if (sent != OWED_OK)
        return sent;
    gather(conn, &talk, commands, count);
    if (talk.count == 0)
        return OWED_OK;
    // Also where it cannot be sent: what was to go first is lost with it.
    conn->is_sent = conn->begun;
    if (postgres_is_lost(conn->handle))
        return postgres_fail_lost(
            conn, conn->handle, postgres_file(talk.sent[talk.count - 1].command->stmt), err);
    if (is_single(conn, &talk)) {
        PGresult *result = NULL;
        owed_status status = single(conn, &talk.sent[0], &result, err);
        if (talk.queued > 0)
            PQclear(result);
        else
            results[0] = result;
        return status;
    }
    return pipeline(conn, &talk, results, err);
}

void
postgres_queue(struct postgres_db *conn, enum stmt stmt)
{
    if (conn->queued < POSTGRES_QUEUE_MAX && postgres_has(conn, stmt))
        conn->queue[conn->queued++] = stmt;
}

owed_status
postgres_flush(struct postgres_db *conn, owed_error *err)
{
    return postgres_talk(conn, NULL, 0, NULL, err);
}
