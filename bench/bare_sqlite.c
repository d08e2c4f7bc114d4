/* SPDX-License-Identifier: MIT
 *
 * bare_sqlite.c - the limit of SQLite: the loops of bare.h over sqlite3, nothing of ours but the tables.
 * URL is sqlite:PATH, or PATH alone.
 *
 * Every commit is synced (synchronous = full), and the log is copied back at each 64 MB of it. There is
 * one writer: other connections that fire wait with the library's own busy handler.
 *
 * A drain takes the writer once for each batch: it acknowledges the last one and claims the next in one
 * transaction, and lets nobody else write in between. So does inside-grouped.
 */
#include "bare.h"
#include "bench_payload.h"

#include <sqlite3.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLAIM_BATCH 1000
#define WAIT_MS 60000

#define FENCED " where id = ?1 and status = 'claimed' and claimed_by = 'bare/1' and claimed_at = ?2"

struct connection {
    sqlite3 *db;
    sqlite3_stmt *begin, *commit, *savepoint, *release;
    sqlite3_stmt *event, *delivery; // fire
    sqlite3_stmt *pick, *take, *ack, *ack_delete, *event_delete, *effect;
};

static const struct {
    size_t at;
    const char *sql;
} statements[] = {
    {offsetof(struct connection, begin), "begin immediate"},
    {offsetof(struct connection, commit), "commit"},
    {offsetof(struct connection, savepoint), "savepoint one"},
    {offsetof(struct connection, release), "release one"},
    {offsetof(struct connection, event),
        "insert into owed_event (uid, name, payload, occurred_at, recorded_at, due_at)"
        " values (?1, 'bench.Event', ?2, ?3, ?3, ?3)"},
    {offsetof(struct connection, delivery),
        "insert into owed_delivery (event_id, receiver_key, target_digest, lane, kind, max_attempts,"
        " available_at, due_at) values (?1, ?2,"
        " x'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', 'bench/default',"
        " 'inside', 5, ?3, ?3)"},
    {offsetof(struct connection, pick),
        "select d.id, d.event_id, e.payload, e.uid, e.name, d.receiver_key, d.attempts"
        " from owed_delivery as d join owed_event as e on e.id = d.event_id"
        " where d.status in ('pending', 'failed') and d.lane = 'bench/default' and d.kind = 'inside'"
        " and d.available_at <= ?1 order by d.available_at, d.id limit ?2"},
    {offsetof(struct connection, take),
        "update owed_delivery set status = 'claimed', claimed_by = 'bare/1', claimed_at = ?2,"
        " lease_expires_at = ?2 + 300000000 where id = ?1"},
    {offsetof(struct connection, ack),
        "update owed_delivery set status = 'succeeded', attempts = 1, losses = 0, completed_at = ?3,"
        " succeeded_at = ?3, lease_expires_at = 0" FENCED},
    {offsetof(struct connection, ack_delete), "delete from owed_delivery" FENCED},
    {offsetof(struct connection, event_delete), "delete from owed_event where id = ?1"},
    {offsetof(struct connection, effect),
        "insert into effect (delivery, receiver) values (?1, 'bench.r0')"},
};

static struct connection connections[BARE_CONNECTIONS];

static void
check(sqlite3 *db, int code, const char *what)
{
    if (code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_ROW)
        bare_fail(what, sqlite3_errmsg(db));
}

static void
run(sqlite3 *db, const char *sql)
{
    check(db, sqlite3_exec(db, sql, NULL, NULL, NULL), sql);
}

static void
step(sqlite3_stmt *stmt)
{
    int code = sqlite3_step(stmt);
    check(sqlite3_db_handle(stmt), code, sqlite3_sql(stmt));
    sqlite3_reset(stmt);
}

/* step_changed runs a statement that writes; how many rows it did. */
static int
step_changed(sqlite3_stmt *stmt)
{
    step(stmt);
    return sqlite3_changes(sqlite3_db_handle(stmt));
}

static void
prepare_statements(struct connection *connection)
{
    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++) {
        sqlite3_stmt *stmt = NULL;
        int code = sqlite3_prepare_v3(
            connection->db, statements[i].sql, -1, SQLITE_PREPARE_PERSISTENT, &stmt, NULL);
        check(connection->db, code, statements[i].sql);
        memcpy((char *)connection + statements[i].at, &stmt, sizeof stmt);
    }
}

/* open_store connects, and takes over what the trigger does. */
static void
open_store(const struct bare *bare)
{
    const char *path = strncmp(bare->url, "sqlite:", 7) == 0 ? bare->url + 7 : bare->url;
    for (int i = 0; i < bare->connections; i++) {
        struct connection *connection = &connections[i];
        int code = sqlite3_open_v2(
            path, &connection->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
        check(connection->db, code, path);
        sqlite3_busy_timeout(connection->db, WAIT_MS);
        run(connection->db, "pragma journal_mode = wal");
        run(connection->db, "pragma synchronous = full");
        run(connection->db, "pragma wal_autocheckpoint = 16384");
        run(connection->db, "pragma cache_size = -65536");
        run(connection->db, "drop trigger if exists owed_event_fan_out");
        run(connection->db, "create table if not exists effect (delivery integer, receiver text)");
    }
    for (int i = 0; i < bare->connections; i++)
        prepare_statements(&connections[i]);
}

/* --- fire --- */

static void
fire_one(const struct connection *connection, int receivers)
{
    unsigned char uid[16];
    int64_t now_us = bare_now_us();
    bare_uid(uid);
    sqlite3_bind_blob(connection->event, 1, uid, sizeof uid, SQLITE_STATIC);
    sqlite3_bind_text(connection->event, 2, BENCH_PAYLOAD, sizeof BENCH_PAYLOAD - 1, SQLITE_STATIC);
    sqlite3_bind_int64(connection->event, 3, now_us);
    step(connection->event);
    sqlite3_bind_int64(connection->delivery, 1, sqlite3_last_insert_rowid(connection->db));
    sqlite3_bind_int64(connection->delivery, 3, now_us);
    for (int r = 0; r < receivers; r++) {
        char key[] = "bench.r0";
        key[sizeof key - 2] = (char)('0' + r);
        sqlite3_bind_text(connection->delivery, 2, key, sizeof key - 1, SQLITE_STATIC);
        step(connection->delivery);
    }
}

static int64_t
fire_in(const struct bare *bare, const struct connection *connection, int64_t rows, int64_t each)
{
    for (int64_t i = 0; i < rows; i++) {
        if (i % each == 0)
            step(connection->begin);
        fire_one(connection, bare->receivers);
        if (i % each == each - 1 || i == rows - 1)
            step(connection->commit);
    }
    return rows;
}

static int64_t
fire_some(const struct bare *bare, int connection, int64_t rows)
{
    return fire_in(bare, &connections[connection], rows, 1);
}

static int64_t
fire_some_in_bulk(const struct bare *bare, int connection, int64_t rows)
{
    return fire_in(bare, &connections[connection], rows, BARE_BULK);
}

static int64_t
fire(const struct bare *bare)
{
    return bare_share(bare, fire_some);
}

static int64_t
fire_bulk(const struct bare *bare)
{
    return bare_share(bare, fire_some_in_bulk);
}

/* --- claim --- */

struct batch {
    int count;
    int64_t claimed_at; // the fence: grows with each claim
    int64_t ids[CLAIM_BATCH];
    int64_t events[CLAIM_BATCH];
};

/* prepare_drain writes what a drain will find, as bulk does. */
static void
prepare_drain(const struct bare *bare)
{
    struct bare events = *bare;
    events.rows = bare->rows / bare->receivers;
    open_store(&events);
    fire_bulk(&events);
    run(connections[0].db, "analyze");
    run(connections[0].db, "pragma wal_checkpoint(truncate)");
}

/* claim takes a batch with its payloads, in a transaction that is open. */
static void
claim(const struct connection *connection, struct batch *batch)
{
    int64_t now_us = bare_now_us();
    volatile int bytes = 0;
    batch->count = 0;
    batch->claimed_at = now_us > batch->claimed_at ? now_us : batch->claimed_at + 1;
    sqlite3_bind_int64(connection->pick, 1, now_us);
    sqlite3_bind_int(connection->pick, 2, CLAIM_BATCH);
    while (sqlite3_step(connection->pick) == SQLITE_ROW) {
        batch->ids[batch->count] = sqlite3_column_int64(connection->pick, 0);
        batch->events[batch->count++] = sqlite3_column_int64(connection->pick, 1);
        bytes += sqlite3_column_bytes(connection->pick, 2);
    }
    (void)bytes;
    sqlite3_reset(connection->pick);
    sqlite3_bind_int64(connection->take, 2, batch->claimed_at);
    for (int i = 0; i < batch->count; i++) {
        sqlite3_bind_int64(connection->take, 1, batch->ids[i]);
        step(connection->take);
    }
}

/* --- acknowledge --- */

static int
ack(const struct connection *connection, const struct batch *batch, int i)
{
    sqlite3_bind_int64(connection->ack, 1, batch->ids[i]);
    sqlite3_bind_int64(connection->ack, 2, batch->claimed_at);
    sqlite3_bind_int64(connection->ack, 3, bare_now_us());
    return step_changed(connection->ack);
}

static int
ack_and_delete(const struct connection *connection, const struct batch *batch, int i)
{
    sqlite3_bind_int64(connection->ack_delete, 1, batch->ids[i]);
    sqlite3_bind_int64(connection->ack_delete, 2, batch->claimed_at);
    if (step_changed(connection->ack_delete) == 0)
        return 0;
    sqlite3_bind_int64(connection->event_delete, 1, batch->events[i]);
    return step_changed(connection->event_delete);
}

static void
write_effect(const struct connection *connection, const struct batch *batch, int i)
{
    sqlite3_bind_int64(connection->effect, 1, batch->ids[i]);
    step(connection->effect);
}

static int
write_effect_and_ack(const struct connection *connection, const struct batch *batch, int i)
{
    step(connection->savepoint);
    write_effect(connection, batch, i);
    step(connection->release);
    return ack(connection, batch, i);
}

/* drain_with finishes each batch and claims the next in one transaction. */
static int64_t
drain_with(int (*finish)(const struct connection *connection, const struct batch *batch, int i))
{
    static struct batch batch;
    const struct connection *connection = &connections[0];
    int64_t done = 0;
    do {
        step(connection->begin);
        for (int i = 0; i < batch.count; i++)
            done += finish(connection, &batch, i);
        claim(connection, &batch);
        step(connection->commit);
    } while (batch.count > 0);
    return done;
}

static int64_t
drain(const struct bare *bare)
{
    (void)bare;
    return drain_with(ack);
}

static int64_t
drain_delete(const struct bare *bare)
{
    if (bare->receivers > 1)
        bare_fail("drain-delete", "an event with several receivers is not deleted by the first");
    return drain_with(ack_and_delete);
}

static int64_t
inside_grouped(const struct bare *bare)
{
    (void)bare;
    return drain_with(write_effect_and_ack);
}

static int64_t
inside(const struct bare *bare)
{
    (void)bare;
    static struct batch batch;
    const struct connection *connection = &connections[0];
    int64_t done = 0;
    do {
        step(connection->begin);
        claim(connection, &batch);
        step(connection->commit);
        for (int i = 0; i < batch.count; i++) {
            step(connection->begin);
            write_effect(connection, &batch, i);
            done += ack(connection, &batch, i);
            step(connection->commit);
        }
    } while (batch.count > 0);
    return done;
}

static const struct bare_mode modes[] = {
    {"fire", open_store, fire, true},
    {"fire-bulk", open_store, fire_bulk, true},
    {"drain", prepare_drain, drain, false},
    {"drain-delete", prepare_drain, drain_delete, false},
    {"inside", prepare_drain, inside, false},
    {"inside-grouped", prepare_drain, inside_grouped, false},
    {NULL, NULL, NULL, false},
};

int
main(int argc, char **argv)
{
    return bare_main(argc, argv, modes);
}
