/* SPDX-License-Identifier: MIT
 *
 * bare_postgres.c - the limit of PostgreSQL: the loops of bare.h over libpq, nothing of ours but the
 * tables.
 *
 * Fire is one statement and one round trip, a transaction by itself. Bulk passes arrays (COPY is faster,
 * but tells no ids, which the deliveries need).
 *
 * A drain has two connections: one claims, and its commits need not reach the disk, since a claim that
 * is lost is made again; the other acknowledges, durably, whatever was claimed while it last committed.
 * Each claim looks from where the last one ended, so that it need not walk over what was claimed before.
 *
 * Inside takes a round trip a delivery; grouped, one for each batch.
 */
#include "bare.h"
#include "bench_payload.h"

#include <arpa/inet.h>
#include <endian.h>
#include <libpq-fe.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLAIM_BATCH 1000
#define AHEAD_MOST (8 * CLAIM_BATCH) // claimed and not yet acknowledged
#define ARRAY_HEAD 20
#define TEXT_OF(word) #word
#define TEXT(word) TEXT_OF(word)
#define LIMIT_BATCH " limit " TEXT(CLAIM_BATCH)
#define OID_BYTEA 17
#define OID_INT8 20
#define OID_TEXT 25
#define OID_TIMESTAMPTZ 1184

#define NO_TARGET "'\\xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'"
#define NEW_DELIVERY \
    "insert into owed_delivery (event_id, receiver_key, target_digest, lane, kind, max_attempts," \
    " available_at, due_at) select e.id, r.key, " NO_TARGET \
    ", 'bench/default', 'inside', 5, e.recorded_at, e.recorded_at from e, unnest($3::text[]) as r (key)"

static PGconn *connections[BARE_CONNECTIONS];
static char receivers[BARE_RECEIVERS * 20];

static void
must(PGconn *db, PGresult *result, const char *what)
{
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        bare_fail(what, PQerrorMessage(db));
}

static void
run(PGconn *db, const char *sql)
{
    PGresult *result = PQexec(db, sql);
    must(db, result, sql);
    PQclear(result);
}

static void
prepare(PGconn *db, const char *name, const char *sql)
{
    PGresult *result = PQprepare(db, name, sql, 0, NULL);
    must(db, result, sql);
    PQclear(result);
}

static PGconn *
connect_to(const char *url)
{
    PGconn *db = PQconnectdb(url);
    if (PQstatus(db) != CONNECTION_OK)
        bare_fail("connect", PQerrorMessage(db));
    run(db, "set client_min_messages = warning");
    run(db, "set plan_cache_mode = force_generic_plan");
    run(db, "set enable_seqscan = off");
    run(db, "set enable_bitmapscan = off");
    run(db, "set enable_hashjoin = off");
    run(db, "set enable_mergejoin = off");
    run(db, "set jit = off");
    return db;
}

/* open_store connects, and takes over what the triggers do. */
static void
open_store(const struct bare *bare)
{
    for (int i = 0; i < bare->connections; i++)
        connections[i] = connect_to(bare->url);
    run(connections[0], "alter table owed_event disable trigger user");
    run(connections[0], "alter table owed_delivery disable trigger user");
    size_t len = 0;
    for (int i = 0; i < bare->receivers; i++)
        len += (size_t)snprintf(
            receivers + len, sizeof receivers - len, "%sbench.r%d", i == 0 ? "{" : ",", i);
    snprintf(receivers + len, sizeof receivers - len, "}");
}

/* --- arrays, as the server takes them --- */

struct array {
    char *bytes;
    size_t len;
    uint32_t count;
    uint32_t oid;
};

static void
array_begin(struct array *array, uint32_t oid)
{
    array->len = ARRAY_HEAD;
    array->count = 0;
    array->oid = oid;
}

static void
array_add(struct array *array, const void *value, uint32_t len)
{
    uint32_t big = htonl(len);
    memcpy(array->bytes + array->len, &big, 4);
    memcpy(array->bytes + array->len + 4, value, len);
    array->len += 4 + (size_t)len;
    array->count++;
}

static void
array_end(struct array *array)
{
    // One dimension, no nulls, the type, how many, counted from 1.
    uint32_t head[5] = {htonl(1), 0, htonl(array->oid), htonl(array->count), htonl(1)};
    memcpy(array->bytes, head, sizeof head);
}

static void
array_reserve(struct array *array, size_t count, size_t each)
{
    array->bytes = malloc(ARRAY_HEAD + count * (4 + each));
    if (array->bytes == NULL)
        bare_fail("malloc", "no memory");
}

/* --- fire --- */

static void
prepare_fire(const struct bare *bare)
{
    open_store(bare);
    for (int i = 0; i < bare->connections; i++) {
        prepare(connections[i], "fire",
            "with e as (insert into owed_event (uid, name, payload, occurred_at, recorded_at, due_at)"
            " values ($1::bytea, 'bench.Event', $2::text::json, statement_timestamp(),"
            " statement_timestamp(), statement_timestamp())"
            " returning id, recorded_at) " NEW_DELIVERY);
        prepare(connections[i], "bulk",
            "with e as (insert into owed_event (uid, name, payload, occurred_at, recorded_at, due_at)"
            " select g.uid, 'bench.Event', g.payload::json, g.moment, g.moment, g.moment"
            " from (select uid, payload, statement_timestamp() + place * interval '1 microsecond'"
            " as moment from unnest($1::bytea[], $2::text[]) with ordinality"
            " as given (uid, payload, place)) as g"
            " returning id, recorded_at) " NEW_DELIVERY);
    }
}

static int64_t
fire_some(const struct bare *bare, int connection, int64_t rows)
{
    (void)bare;
    PGconn *db = connections[connection];
    unsigned char uid[16];
    const char *values[] = {(char *)uid, BENCH_PAYLOAD, receivers};
    const int lengths[] = {sizeof uid, 0, 0};
    const int formats[] = {1, 0, 0};
    for (int64_t i = 0; i < rows; i++) {
        bare_uid(uid);
        PGresult *result = PQexecPrepared(db, "fire", 3, values, lengths, formats, 1);
        must(db, result, "fire");
        PQclear(result);
    }
    return rows;
}

static int64_t
fire_some_in_bulk(const struct bare *bare, int connection, int64_t rows)
{
    (void)bare;
    PGconn *db = connections[connection];
    struct array uids, payloads;
    array_reserve(&uids, BARE_BULK, 16);
    array_reserve(&payloads, BARE_BULK, sizeof BENCH_PAYLOAD);
    for (int64_t done = 0; done < rows; done += uids.count) {
        array_begin(&uids, OID_BYTEA);
        array_begin(&payloads, OID_TEXT);
        while (uids.count < BARE_BULK && done + uids.count < rows) {
            unsigned char uid[16];
            bare_uid(uid);
            array_add(&uids, uid, sizeof uid);
            array_add(&payloads, BENCH_PAYLOAD, sizeof BENCH_PAYLOAD - 1);
        }
        array_end(&uids);
        array_end(&payloads);
        const char *values[] = {uids.bytes, payloads.bytes, receivers};
        const int lengths[] = {(int)uids.len, (int)payloads.len, 0};
        const int formats[] = {1, 1, 0};
        PGresult *result = PQexecPrepared(db, "bulk", 3, values, lengths, formats, 1);
        must(db, result, "bulk");
        PQclear(result);
    }
    free(uids.bytes);
    free(payloads.bytes);
    return rows;
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

static PGconn *claims, *acks;

/* What was claimed and is not acknowledged: its ids, and when it was claimed, which is its fence. */
struct held {
    struct array ids;
    struct array times;
};

static int64_t mark;       // where the last claim ended, in the server's binary form
static int64_t claimed_at; // in the same form

#define MARK_NONE INT64_MIN // -infinity

static int64_t
big_endian(int64_t value)
{
    return (int64_t)htobe64((uint64_t)value);
}

static void
send_claim(void)
{
    int64_t values_big[] = {big_endian(mark), big_endian(++claimed_at)};
    const char *values[] = {(char *)&values_big[0], (char *)&values_big[1]};
    const int lengths[] = {8, 8};
    const int formats[] = {1, 1};
    if (!PQsendQueryPrepared(claims, "claim", 2, values, lengths, formats, 1))
        bare_fail("claim", PQerrorMessage(claims));
}

/* receive_claim adds what a claim gave to what is held, and moves the mark; how many rows it gave. */
static int
receive_claim(struct held *held)
{
    PGresult *result = PQgetResult(claims);
    must(claims, result, "claim");
    int count = PQntuples(result);
    int64_t fence = big_endian(claimed_at);
    int64_t last = mark;
    volatile int bytes = 0;
    for (int i = 0; i < count; i++) {
        int64_t available_at;
        memcpy(&available_at, PQgetvalue(result, i, 1), 8);
        available_at = big_endian(available_at);
        last = available_at > last ? available_at : last;
        bytes += PQgetlength(result, i, 2);
        array_add(&held->ids, PQgetvalue(result, i, 0), 8);
        array_add(&held->times, &fence, 8);
    }
    (void)bytes;
    PQclear(result);
    while ((result = PQgetResult(claims)) != NULL)
        PQclear(result);
    mark = last;
    return count;
}

static void
held_begin(struct held *held)
{
    array_begin(&held->ids, OID_INT8);
    array_begin(&held->times, OID_TIMESTAMPTZ);
}

static void
held_reserve(struct held *held)
{
    array_reserve(&held->ids, AHEAD_MOST + CLAIM_BATCH, 8);
    array_reserve(&held->times, AHEAD_MOST + CLAIM_BATCH, 8);
    held_begin(held);
}

/* fill writes what a drain will find, as bulk does, and lets the server come to rest. */
static void
fill(const struct bare *bare)
{
    struct bare events = *bare;
    events.rows = bare->rows / bare->receivers;
    prepare_fire(&events);
    fire_bulk(&events);
    run(connections[0], "vacuum analyze owed_event");
    run(connections[0], "vacuum analyze owed_delivery");
    run(connections[0], "create table if not exists effect (delivery bigint, receiver text)");
    run(connections[0], "checkpoint");
}

// Not the bare column: the index of what is claimed would look like a way to find it.
#define FENCE "d.status || '' = 'claimed' and d.claimed_by = 'bare/1'"
#define SUCCEEDED \
    "status = 'succeeded', attempts = 1, losses = 0, completed_at = clock_timestamp()," \
    " succeeded_at = clock_timestamp(), lease_expires_at = timestamptz 'epoch'"
#define GIVEN "unnest($1::bigint[], $2::timestamptz[]) as g (id, claimed_at)"

static void
prepare_drain(const struct bare *bare)
{
    fill(bare);
    claims = connect_to(bare->url);
    acks = connections[0];
    mark = MARK_NONE;
    // The server counts from 2000.
    claimed_at = bare_now_us() - INT64_C(946684800000000);
    run(claims, "set synchronous_commit = off");
    prepare(claims, "claim",
        "update owed_delivery as d set status = 'claimed', claimed_by = 'bare/1', claimed_at = $2,"
        " lease_expires_at = $2::timestamptz + interval '5 minutes' from owed_event as e"
        " where d.id = any (array(select o.id from owed_delivery as o"
        " where o.status in ('pending', 'failed') and o.lane = 'bench/default' and o.kind = 'inside'"
        " and o.available_at >= $1 and o.available_at <= statement_timestamp()"
        " order by o.available_at, o.id" LIMIT_BATCH " for no key update skip locked))"
        " and e.id = d.event_id returning d.id, d.available_at, e.payload, e.uid, e.name,"
        " d.receiver_key, d.attempts");
    prepare(acks, "ack",
        "update owed_delivery as d set " SUCCEEDED " from " GIVEN
        " where d.id = g.id and d.claimed_at = g.claimed_at and " FENCE);
    prepare(acks, "ack-delete",
        "with gone as (delete from owed_delivery as d using " GIVEN
        " where d.id = g.id and d.claimed_at = g.claimed_at and " FENCE " returning d.event_id),"
        " events as (delete from owed_event as e using gone where e.id = gone.event_id)"
        " select event_id from gone");
    prepare(acks, "ack-one",
        "update owed_delivery as d set " SUCCEEDED
        " where d.id = $1 and d.claimed_at = $2::timestamptz and " FENCE);
    prepare(acks, "effect", "insert into effect (delivery, receiver) values ($1, 'bench.r0')");
}

/* --- drain --- */

static void
send_acks(const char *statement, struct held *held)
{
    array_end(&held->ids);
    array_end(&held->times);
    const char *values[] = {held->ids.bytes, held->times.bytes};
    const int lengths[] = {(int)held->ids.len, (int)held->times.len};
    const int formats[] = {1, 1};
    if (!PQsendQueryPrepared(acks, statement, 2, values, lengths, formats, 1))
        bare_fail(statement, PQerrorMessage(acks));
}

static int64_t
receive_acks(void)
{
    int64_t count = 0;
    PGresult *result;
    while ((result = PQgetResult(acks)) != NULL) {
        must(acks, result, "acknowledge");
        count += strtoll(PQcmdTuples(result), NULL, 10);
        PQclear(result);
    }
    return count;
}

/* has_answer reads what has come; true when the whole answer has. */
static bool
has_answer(PGconn *db)
{
    if (!PQconsumeInput(db))
        bare_fail("the server", PQerrorMessage(db));
    return !PQisBusy(db);
}

static void
wait_for_either(bool claiming, bool acking)
{
    struct pollfd sockets[] = {
        {.fd = claiming ? PQsocket(claims) : -1, .events = POLLIN},
        {.fd = acking ? PQsocket(acks) : -1, .events = POLLIN},
    };
    poll(sockets, 2, -1);
}

static int64_t
drain_with(const char *statement)
{
    struct held held[2];
    held_reserve(&held[0]);
    held_reserve(&held[1]);
    int gathering = 0;
    int64_t done = 0;
    bool claiming = false, acking = false, is_empty = false;
    while (!is_empty || claiming || acking || held[gathering].ids.count > 0) {
        if (!claiming && !is_empty && held[gathering].ids.count < AHEAD_MOST) {
            send_claim();
            claiming = true;
        }
        if (!acking && held[gathering].ids.count > 0) {
            send_acks(statement, &held[gathering]);
            acking = true;
            gathering = !gathering;
            held_begin(&held[gathering]);
        }
        wait_for_either(claiming, acking);
        if (claiming && has_answer(claims)) {
            bool was_full_look = mark == MARK_NONE;
            int count = receive_claim(&held[gathering]);
            claiming = false;
            is_empty = count == 0 && was_full_look;
            if (count < CLAIM_BATCH)
                mark = MARK_NONE;
        }
        if (acking && has_answer(acks)) {
            done += receive_acks();
            acking = false;
        }
    }
    return done;
}

static int64_t
drain(const struct bare *bare)
{
    (void)bare;
    return drain_with("ack");
}

static int64_t
drain_delete(const struct bare *bare)
{
    if (bare->receivers > 1)
        bare_fail("drain-delete", "an event with several receivers is not deleted by the first");
    return drain_with("ack-delete");
}

/* --- inside --- */

static void
queue(const char *statement, const char *id, const char *time)
{
    const char *values[] = {id, time};
    const int lengths[] = {8, 8};
    const int formats[] = {1, 1};
    if (!PQsendQueryPrepared(acks, statement, time == NULL ? 1 : 2, values, lengths, formats, 1))
        bare_fail(statement, PQerrorMessage(acks));
}

static void
queue_text(const char *sql)
{
    if (!PQsendQueryPrepared(acks, sql, 0, NULL, NULL, NULL, 1))
        bare_fail(sql, PQerrorMessage(acks));
}

/* finish_pipeline ends what was queued, and its transaction; the rows that were updated. */
static int64_t
finish_pipeline(void)
{
    if (!PQpipelineSync(acks))
        bare_fail("pipeline", PQerrorMessage(acks));
    int64_t count = 0;
    for (;;) {
        PGresult *result = PQgetResult(acks);
        if (result == NULL)
            continue;
        ExecStatusType status = PQresultStatus(result);
        if (status != PGRES_PIPELINE_SYNC) {
            must(acks, result, "pipeline");
            if (strncmp(PQcmdStatus(result), "UPDATE", 6) == 0)
                count += strtoll(PQcmdTuples(result), NULL, 10);
        }
        PQclear(result);
        if (status == PGRES_PIPELINE_SYNC)
            return count;
    }
}

static const char *
element(const struct array *array, uint32_t i)
{
    return array->bytes + ARRAY_HEAD + (size_t)i * 12 + 4;
}

static int64_t
run_one_by_one(struct held *held)
{
    int64_t done = 0;
    for (uint32_t i = 0; i < held->ids.count; i++) {
        queue("effect", element(&held->ids, i), NULL);
        queue("ack-one", element(&held->ids, i), element(&held->times, i));
        done += finish_pipeline();
    }
    return done;
}

static int64_t
run_group(struct held *held)
{
    for (uint32_t i = 0; i < held->ids.count; i++) {
        queue_text(i == 0 ? "begin" : "release");
        queue_text("savepoint");
        queue("effect", element(&held->ids, i), NULL);
    }
    queue_text("release");
    send_acks("ack", held);
    queue_text("commit");
    return finish_pipeline();
}

/* inside_with runs each batch while the next is being claimed. */
static int64_t
inside_with(int64_t (*run_batch)(struct held *held))
{
    prepare(acks, "begin", "begin");
    prepare(acks, "savepoint", "savepoint one");
    prepare(acks, "release", "release savepoint one");
    prepare(acks, "commit", "commit");
    PQenterPipelineMode(acks);
    struct held held;
    held_reserve(&held);
    int64_t done = 0;
    send_claim();
    for (;;) {
        bool was_full_look = mark == MARK_NONE;
        int count = receive_claim(&held);
        if (count == 0 && was_full_look)
            break;
        if (count < CLAIM_BATCH)
            mark = MARK_NONE;
        send_claim();
        done += count > 0 ? run_batch(&held) : 0;
        held_begin(&held);
    }
    free(held.ids.bytes);
    free(held.times.bytes);
    return done;
}

static int64_t
inside(const struct bare *bare)
{
    (void)bare;
    return inside_with(run_one_by_one);
}

static int64_t
inside_grouped(const struct bare *bare)
{
    (void)bare;
    return inside_with(run_group);
}

static const struct bare_mode modes[] = {
    {"fire", prepare_fire, fire, true},
    {"fire-bulk", prepare_fire, fire_bulk, true},
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
