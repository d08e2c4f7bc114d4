/* SPDX-License-Identifier: MIT
 *
 * postgres_sweep.c - what an application may have left running on a connection that it was lent.
 *
 * A query whose rows nobody read, a COPY, a pipeline, another way of waiting: all of it is ended here.
 * Settings of the session, LISTEN and the like are put back before the next transaction begins. What
 * cannot be ended is cut, and the connection made anew as after any loss. And what its statements came to:
 * those that it sent without waiting for their answers are read once something else is to be said.
 */
#include <string.h>

#include "base/clock.h"
#include "store/postgres.h"

#define DRAIN_US US_PER_SECOND
#define RESULTS_MAX 10000

/* end_copy: a COPY that was not ended by its owner is one that failed. */
static void
end_copy(PGconn *handle, ExecStatusType said)
{
    if (said == PGRES_COPY_IN)
        PQputCopyEnd(handle, "the receiver did not end its COPY");
    char *bytes = NULL;
    if (said == PGRES_COPY_OUT)
        while (PQgetCopyData(handle, &bytes, 0) > 0)
            PQfreemem(bytes);
}

/* note_refusal keeps the first one: what follows it was not done for its sake. */
static void
note_refusal(struct postgres_db *conn, const PGresult *result)
{
    if (conn->is_piped && conn->pipe_error.status == OWED_OK &&
        PQresultStatus(result) == PGRES_FATAL_ERROR)
        postgres_fail(conn, result, "a statement that was sent ahead", &conn->pipe_error);
}

/* drain reads what is left; false: it does not come to its end. */
static bool
drain(struct postgres_db *conn)
{
    PGconn *handle = conn->handle;
    int64_t deadline_us =
        conn->is_piped ? postgres_deadline_us(conn) : postgres_monotonic_us() + DRAIN_US;
    int nothing = 0;
    for (int i = 0; i < RESULTS_MAX && PQstatus(handle) == CONNECTION_OK; i++) {
        CLEANUP(clear_result) PGresult *result = postgres_get(handle, deadline_us);
        // In a pipeline a NULL only divides what came of one statement from the next.
        nothing = result == NULL ? nothing + 1 : 0;
        if (nothing > 1 || (result == NULL && PQpipelineStatus(handle) == PQ_PIPELINE_OFF))
            return true;
        ExecStatusType said = PQresultStatus(result);
        if (result != NULL && said == PGRES_COPY_BOTH)
            return false;
        if (result != NULL) {
            note_refusal(conn, result);
            end_copy(handle, said);
        }
    }
    return false;
}

static bool
end_pipeline(struct postgres_db *conn)
{
    PGconn *handle = conn->handle;
    if (PQpipelineStatus(handle) == PQ_PIPELINE_OFF)
        return true;
    return PQpipelineSync(handle) == 1 && drain(conn) && PQexitPipelineMode(handle) == 1;
}

static void
hear_nothing(void *arg, const char *message)
{
    (void)arg;
    (void)message;
}

void
postgres_sweep(struct db *db)
{
    struct postgres_db *conn = postgres_of(db);
    PGconn *handle = conn->handle;
    if (!conn->was_lent || db->adopted || postgres_is_lost(handle))
        return;
    if (conn->is_piped && PQpipelineStatus(handle) == PQ_PIPELINE_ON) {
        PQflush(handle); // the server has something to do meanwhile
        return;
    }
    PQsetnonblocking(handle, 0);
    PQsetNoticeProcessor(handle, hear_nothing, NULL);
    bool is_idle = PQtransactionStatus(handle) != PQTRANS_ACTIVE;
    if (!end_pipeline(conn) || (!is_idle && !drain(conn)))
        postgres_cut(handle);
    for (PGnotify *notify; (notify = PQnotifies(handle)) != NULL;)
        PQfreemem(notify);
}

void *
postgres_pipeline(struct db *db)
{
    struct postgres_db *conn = postgres_of(db);
    if (db->adopted || !conn->begun)
        return NULL;
    PGconn *handle = postgres_lend(conn);
    if (PQpipelineStatus(handle) == PQ_PIPELINE_OFF && PQenterPipelineMode(handle) != 1)
        return NULL;
    conn->is_piped = true;
    return handle;
}

owed_status
postgres_collect(struct db *db, bool wait, owed_error *err)
{
    struct postgres_db *conn = postgres_of(db);
    if (conn->is_piped && wait) {
        if (!postgres_is_lost(conn->handle) && !end_pipeline(conn))
            postgres_cut(conn->handle);
        conn->is_piped = false;
        postgres_sweep(db);
    }
    if (conn->pipe_error.status != OWED_OK && err != NULL)
        *err = conn->pipe_error;
    return conn->pipe_error.status;
}

/* is_undone_by_locks reads the words of a deadlock or a serialization failure: libpq keeps no code of what
 * others ran. A server that speaks another language is not understood, and the failure is what it is. */
static bool
is_undone_by_locks(const char *said)
{
    return strstr(said, "deadlock detected") != NULL ||
        strstr(said, "could not serialize access") != NULL;
}

/* postgres_contention: after any failure the transaction goes on from a savepoint only. */
owed_status
postgres_contention(struct db *db, bool failed)
{
    (void)failed; // the transaction shows it
    const struct postgres_db *conn = postgres_of(db);
    if (postgres_is_lost(conn->handle))
        return OWED_UNAVAILABLE;
    if (PQtransactionStatus(conn->handle) != PQTRANS_INERROR || conn->vetoed)
        return OWED_OK;
    return is_undone_by_locks(PQerrorMessage(conn->handle)) ? OWED_ABORTED : OWED_UNSURE;
}
