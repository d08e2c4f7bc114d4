/* SPDX-License-Identifier: MIT
 *
 * bare_sqlite.c - the physical limit: the same rows written, claimed and acknowledged by a bare loop
 * on SQLite, with nothing of ours but the tables.
 *
 *     bare_sqlite FILE EVENTS [BATCH]
 *
 * FILE must be made by owed init, and have no receivers in its catalogue, so that no trigger fans
 * out. Each event has two deliveries. Prints events and deliveries a second.
 */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOW INT64_C(1796040000000000)
#define INSERT_BATCH 1000

static sqlite3 *db;

static void
check(int code, const char *what)
{
    if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW)
        return;
    fprintf(stderr, "bare_sqlite: %s: %s\n", what, sqlite3_errmsg(db));
    exit(1);
}

static void
run(const char *sql)
{
    check(sqlite3_exec(db, sql, NULL, NULL, NULL), sql);
}

static sqlite3_stmt *
prepare(const char *sql)
{
    sqlite3_stmt *stmt;
    check(sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &stmt, NULL), sql);
    return stmt;
}

static void
step(sqlite3_stmt *stmt)
{
    check(sqlite3_step(stmt), sqlite3_sql(stmt));
    sqlite3_reset(stmt);
}

static double
seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void
report(const char *what, int64_t count, double start)
{
    double took = seconds() - start;
    printf("%s: %" PRId64 " in %.2f s, %.0f/s\n", what, count, took, (double)count / took);
}

static void
insert_all(int64_t events)
{
    static const char payload[] =
        "{\"order_id\": 7, \"total_cents\": 1200, \"currency\": \"EUR\", \"customer\": \"Ann Example\"}";
    sqlite3_stmt *event = prepare("insert into owed_event (uid, name, payload, occurred_at,"
                                  " recorded_at, due_at) values (randomblob(16),"
                                  " 'shop.OrderPlaced', ?1, ?2, ?2, ?2)");
    sqlite3_stmt *delivery =
        prepare("insert into owed_delivery (event_id, receiver_key, target_digest, lane, kind,"
                " max_attempts, available_at, due_at) values (?1, ?2, zeroblob(32),"
                " 'shop/default', 'inside', 5, ?3, ?3)");
    static const char *const receivers[] = {"shop.billing", "shop.label"};
    double start = seconds();
    for (int64_t i = 0; i < events; i++) {
        if (i % INSERT_BATCH == 0)
            run("begin immediate");
        sqlite3_bind_text(event, 1, payload, -1, SQLITE_STATIC);
        sqlite3_bind_int64(event, 2, NOW + i);
        step(event);
        sqlite3_bind_int64(delivery, 1, sqlite3_last_insert_rowid(db));
        sqlite3_bind_int64(delivery, 3, NOW + i);
        for (int r = 0; r < 2; r++) {
            sqlite3_bind_text(delivery, 2, receivers[r], -1, SQLITE_STATIC);
            step(delivery);
        }
        if (i % INSERT_BATCH == INSERT_BATCH - 1 || i == events - 1)
            run("commit");
    }
    report("events written, two deliveries each", events, start);
    sqlite3_finalize(event);
    sqlite3_finalize(delivery);
}

struct statements {
    sqlite3_stmt *pick;
    sqlite3_stmt *take;
    sqlite3_stmt *done;
};

/* claim takes a batch with its payloads in one transaction; answers how many rows it has. */
static int
claim(const struct statements *statements, int64_t *ids, int batch)
{
    int count = 0;
    volatile int bytes = 0;
    run("begin immediate");
    sqlite3_bind_int(statements->pick, 1, batch);
    while (sqlite3_step(statements->pick) == SQLITE_ROW) {
        ids[count++] = sqlite3_column_int64(statements->pick, 0);
        bytes += sqlite3_column_bytes(statements->pick, 1);
    }
    (void)bytes;
    sqlite3_reset(statements->pick);
    for (int i = 0; i < count; i++) {
        sqlite3_bind_int64(statements->take, 1, ids[i]);
        step(statements->take);
    }
    run("commit");
    return count;
}

static void
acknowledge(const struct statements *statements, const int64_t *ids, int count)
{
    run("begin immediate");
    for (int i = 0; i < count; i++) {
        sqlite3_bind_int64(statements->done, 1, ids[i]);
        step(statements->done);
    }
    run("commit");
}

static void
drain(int batch)
{
    struct statements statements = {
        .pick = prepare("select d.id, e.payload from owed_delivery d"
                        " join owed_event e on e.id = d.event_id"
                        " where d.status in ('pending', 'failed') and d.lane = 'shop/default'"
                        " and d.kind = 'inside' and d.available_at <= 4000000000000000"
                        " order by d.available_at, d.id limit ?1"),
        .take = prepare("update owed_delivery set status = 'claimed', claimed_by = 'bare/1',"
                        " claimed_at = 1796040000000001, lease_expires_at = 1796040300000001"
                        " where id = ?1"),
        .done = prepare("update owed_delivery set status = 'succeeded', attempts = 1,"
                        " completed_at = 1796040000000002, succeeded_at = 1796040000000002,"
                        " lease_expires_at = 0 where id = ?1 and status = 'claimed'"
                        " and claimed_by = 'bare/1' and claimed_at = 1796040000000001"),
    };
    int64_t *ids = calloc((size_t)batch, sizeof *ids);
    int64_t total = 0;
    double start = seconds();
    for (int count; (count = claim(&statements, ids, batch)) > 0; total += count)
        acknowledge(&statements, ids, count);
    report("deliveries claimed and acknowledged", total, start);
    free(ids);
    sqlite3_finalize(statements.pick);
    sqlite3_finalize(statements.take);
    sqlite3_finalize(statements.done);
}

int
main(int argc, char **argv)
{
    if (argc < 3 || argc > 4) {
        fprintf(stderr, "usage: bare_sqlite FILE EVENTS [BATCH]\n");
        return 64;
    }
    int64_t events = strtoll(argv[2], NULL, 10);
    long batch = argc == 4 ? strtol(argv[3], NULL, 10) : 1000;
    if (events < 1 || batch < 1 || batch > 100000) {
        fprintf(stderr, "bare_sqlite: EVENTS and BATCH must be at least 1, BATCH at most 100000\n");
        return 64;
    }
    check(sqlite3_open_v2(argv[1], &db, SQLITE_OPEN_READWRITE, NULL), "open");
    sqlite3_busy_timeout(db, 5000);
    run("pragma journal_mode = wal");
    run("pragma synchronous = full");
    insert_all(events);
    drain((int)batch);
    sqlite3_close(db);
    return 0;
}
