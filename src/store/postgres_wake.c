/* SPDX-License-Identifier: MIT
 *
 * postgres_wake.c - noticing that another process wrote: LISTEN on a connection of its own.
 *
 * Producers announce a commit only while somebody waits for it, and that is said by advisory locks of
 * this connection, so that they go when it goes. Whether anything comes through here is tried: right
 * after LISTEN, and now and then, another connection sends something that has to arrive. A connection
 * that does not hear it (a pooler, a peer that is gone without a word) is given up for a while.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "store/postgres.h"

#define ANSWER_US (5 * US_PER_SECOND)
#define PROBE_EVERY_US (60 * US_PER_SECOND)
#define PAUSE_MIN_US US_PER_SECOND
#define PAUSE_MAX_US (300 * US_PER_SECOND)
#define CHANNEL "owed"

/* give_up closes the connection; the next one is not tried at once. */
static void
give_up(struct postgres_db *conn, const char *why, bool is_for_long)
{
    struct listener *listener = &conn->listener;
    if (listener->ear != NULL)
        postgres_close(&listener->ear->base);
    int64_t pause_us = listener->pause_us * 2;
    if (pause_us < PAUSE_MIN_US)
        pause_us = PAUSE_MIN_US;
    if (is_for_long || pause_us > PAUSE_MAX_US)
        pause_us = PAUSE_MAX_US;
    *listener = (struct listener){
        .deaf = why,
        .pause_us = pause_us,
        .again_at_us = postgres_monotonic_us() + pause_us,
        .heard = true, // what was missed meanwhile is found by looking
    };
}

/* is_free tells whether the connection itself may be used between two calls of others. */
static bool
is_free(const struct postgres_db *conn)
{
    return !conn->begun && PQtransactionStatus(conn->handle) == PQTRANS_IDLE;
}

static void
probe(struct postgres_db *conn)
{
    struct listener *listener = &conn->listener;
    if (!is_free(conn))
        return;
    int64_t pid = PQbackendPID(listener->ear->handle);
    const struct value args[] = {{.type = VALUE_INT, .integer = pid}};
    struct rows *rows;
    if (postgres_run(&conn->base, STMT_PROBE, args, 1, &rows, NULL) != OWED_OK)
        return;
    postgres_finish(rows, NULL, NULL);
    listener->probing = true;
    listener->probed_at_us = postgres_monotonic_us();
}

/* listen_now opens the connection. Its own waits are short: a worker is waiting meanwhile. */
static void
listen_now(struct postgres_db *conn)
{
    struct listener *listener = &conn->listener;
    const struct db_options options = {
        .busy_timeout_us = US_PER_SECOND,
        .connect_timeout_us = ANSWER_US,
        .statement_timeout_us = ANSWER_US,
        .application = conn->application,
    };
    struct db *ear = NULL;
    if (postgres_open(conn->url, &options, &ear, NULL) != OWED_OK) {
        give_up(conn, NULL, false);
        return;
    }
    listener->ear = postgres_of(ear);
    if (listener->ear->is_pooled || postgres_do(listener->ear, STMT_LISTEN, NULL) != OWED_OK) {
        give_up(conn, "LISTEN does not work through the pooler in front of the server", true);
        return;
    }
    listener->heard = true;
    probe(conn);
}

int
postgres_wake_fd(struct db *db)
{
    struct postgres_db *conn = postgres_of(db);
    struct listener *listener = &conn->listener;
    if (db->adopted || postgres_is_lost(conn->handle))
        return -1;
    if (conn->is_pooled) {
        listener->deaf = postgres_warning(db);
        return -1;
    }
    if (listener->ear == NULL && postgres_monotonic_us() >= listener->again_at_us)
        listen_now(conn);
    return listener->ear == NULL ? -1 : PQsocket(listener->ear->handle);
}

/* take reads what came: news, or what was sent to see whether anything does. */
static void
take(struct listener *listener)
{
    PGconn *handle = listener->ear->handle;
    PQconsumeInput(handle);
    for (PGnotify *notify; (notify = PQnotifies(handle)) != NULL; PQfreemem(notify)) {
        if (strcmp(notify->relname, CHANNEL) == 0) {
            listener->heard = true;
            continue;
        }
        listener->probing = false;
        listener->is_proven = true;
        listener->deaf = NULL;
        listener->pause_us = 0;
    }
}

/* check gives up a connection that is gone, or does not hear what it should have. */
static void
check(struct postgres_db *conn)
{
    struct listener *listener = &conn->listener;
    int64_t since_us = postgres_monotonic_us() - listener->probed_at_us;
    if (postgres_is_lost(listener->ear->handle))
        give_up(conn, NULL, false);
    else if (listener->probing && since_us > ANSWER_US)
        give_up(conn, "the connection that listens does not hear what is sent to it", false);
    else if (!listener->probing && (!listener->is_proven || since_us > PROBE_EVERY_US))
        probe(conn);
}

bool
postgres_changed(struct db *db)
{
    struct postgres_db *conn = postgres_of(db);
    struct listener *listener = &conn->listener;
    if (listener->ear != NULL) {
        take(listener);
        check(conn);
    }
    bool heard = listener->heard;
    listener->heard = false;
    return heard;
}

/* lie_down says that somebody waits, and asks whether all are done who did not know it. */
static bool
lie_down(struct postgres_db *conn, struct postgres_db *ear)
{
    if (!conn->listener.is_asleep)
        postgres_queue(ear, STMT_SLEEP);
    const struct command command = {.stmt = STMT_SETTLED};
    CLEANUP(clear_result) PGresult *result = NULL;
    if (postgres_talk(ear, &command, 1, &result, NULL) != OWED_OK) {
        give_up(conn, NULL, false);
        return false;
    }
    conn->listener.is_asleep = true;
    conn->listener.is_sure = PQntuples(result) == 1 && postgres_value(result, 0, 0).integer != 0;
    return conn->listener.is_sure;
}

bool
postgres_asleep(struct db *db, bool on)
{
    struct postgres_db *conn = postgres_of(db);
    struct listener *listener = &conn->listener;
    if (listener->ear == NULL)
        return false;
    if (on)
        return listener->is_sure || (listener->is_proven && lie_down(conn, listener->ear));
    if (listener->is_asleep && postgres_do(listener->ear, STMT_RISE, NULL) != OWED_OK)
        give_up(conn, NULL, false);
    listener->is_asleep = listener->is_sure = false;
    return false;
}

const char *
postgres_deaf(struct db *db)
{
    return postgres_of(db)->listener.deaf;
}

void
postgres_wake_close(struct postgres_db *conn)
{
    if (conn->listener.ear != NULL)
        postgres_close(&conn->listener.ear->base);
    conn->listener.ear = NULL;
}
