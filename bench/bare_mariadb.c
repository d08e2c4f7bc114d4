/* SPDX-License-Identifier: MIT
 *
 * bare_mariadb.c - the limit of MariaDB: the loops of bare.h over libmariadb, nothing of ours but the
 * tables. URL is mariadb://USER@HOST:PORT/DATABASE, without a password.
 *
 * Fire is a text of three statements in one round trip; so is a delivery inside, and all of a group.
 * Bulk writes rows of many values, whose ids follow each other, and their deliveries from those ids.
 *
 * A drain has two connections: one claims, the other acknowledges whatever was claimed while it last
 * committed. Both are durable: a session cannot choose. Each claim looks from where the last one ended,
 * so that it need not walk over what was claimed before.
 */
#include "bare.h"
#include "bench_payload.h"

#include <inttypes.h>
#include <mysql.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CLAIM_BATCH 1000
#define GROUP 100
#define AHEAD_MOST (8 * CLAIM_BATCH) // claimed and not yet acknowledged
#define MOMENT_BYTES 32

#define NO_TARGET "x'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'"
#define INTO_EVENT \
    "insert into owed_event (uid, name, payload, occurred_at, recorded_at, due_at) values "
#define INTO_DELIVERY \
    "insert into owed_delivery (event_id, receiver_key, target_digest, lane, kind, max_attempts," \
    " available_at, due_at) "

static MYSQL *connections[BARE_CONNECTIONS];
static const char *url;
static int receivers;

/* --- text that grows --- */

struct text {
    char *p;
    size_t len;
    size_t size;
};

__attribute__((format(printf, 2, 3))) static void
add(struct text *text, const char *format, ...)
{
    if (text->size - text->len < 4096) {
        text->size = text->size * 2 + 8192;
        text->p = realloc(text->p, text->size);
        if (text->p == NULL)
            bare_fail("realloc", "no memory");
    }
    va_list args;
    va_start(args, format);
    text->len += (size_t)vsnprintf(text->p + text->len, text->size - text->len, format, args);
    va_end(args);
}

static void
clear(struct text *text)
{
    text->len = 0;
}

/* --- the connection --- */

static void
must(MYSQL *db, int code, const char *what)
{
    if (code != 0)
        bare_fail(what, mysql_error(db));
}

static void
run(MYSQL *db, const char *sql)
{
    must(db, mysql_query(db, sql), sql);
    mysql_free_result(mysql_store_result(db));
}

/* run_all runs a text of several statements that give no rows; the rows that the one at changed. */
static int64_t
run_all(MYSQL *db, const struct text *text, int at)
{
    must(db, mysql_real_query(db, text->p, text->len), "several statements");
    int64_t changed = 0;
    int code = 0;
    for (int i = 0; code == 0; i++) {
        if (i == at)
            changed = (int64_t)mysql_affected_rows(db);
        code = mysql_next_result(db);
    }
    if (code > 0)
        bare_fail("several statements", mysql_error(db));
    return changed;
}

static MYSQL *
connect_to_store(void)
{
    char user[64], host[64], database[64];
    unsigned port;
    if (sscanf(url, "mariadb://%63[^@:]@%63[^:/]:%u/%63[^?]", user, host, &port, database) != 4)
        bare_fail("URL", "write mariadb://USER@HOST:PORT/DATABASE");
    MYSQL *db = mysql_init(NULL);
    if (db == NULL ||
        mysql_real_connect(db, host, user, NULL, database, port, NULL, CLIENT_MULTI_STATEMENTS) ==
            NULL)
        bare_fail("connect", mysql_error(db));
    run(db, "set names utf8mb4");
    run(db, "set session time_zone = '+00:00'");
    run(db, "set session transaction isolation level read committed");
    run(db, "set autocommit = 0");
    return db;
}

static void
open_store(const struct bare *bare)
{
    url = bare->url;
    receivers = bare->receivers;
    if (mysql_library_init(0, NULL, NULL) != 0)
        bare_fail("libmariadb", "does not start");
    for (int i = 0; i < bare->connections; i++)
        connections[i] = connect_to_store();
}

/* --- fire --- */

static void
add_uid(struct text *text)
{
    unsigned char uid[16];
    bare_uid(uid);
    add(text, "x'");
    for (size_t i = 0; i < sizeof uid; i++)
        add(text, "%02x", uid[i]);
    add(text, "'");
}

static int64_t
fire_some(const struct bare *bare, int connection, int64_t rows)
{
    (void)bare;
    struct text text = {.p = NULL};
    for (int64_t i = 0; i < rows; i++) {
        clear(&text);
        add(&text, INTO_EVENT "(");
        add_uid(&text);
        add(&text,
            ",'bench.Event','" BENCH_PAYLOAD "',utc_timestamp(6),utc_timestamp(6),"
            "utc_timestamp(6));" INTO_DELIVERY "values ");
        for (int r = 0; r < receivers; r++)
            add(&text,
                "%s(last_insert_id(),'bench.r%d'," NO_TARGET
                ",'bench/default','inside',5,utc_timestamp(6),utc_timestamp(6))",
                r == 0 ? "" : ",", r);
        add(&text, ";commit");
        run_all(connections[connection], &text, 0);
    }
    free(text.p);
    return rows;
}

static int64_t
fire_some_in_bulk(const struct bare *bare, int connection, int64_t rows)
{
    (void)bare;
    struct text text = {.p = NULL};
    for (int64_t done = 0; done < rows;) {
        int count = rows - done < BARE_BULK ? (int)(rows - done) : BARE_BULK;
        clear(&text);
        add(&text, INTO_EVENT);
        for (int i = 0; i < count; i++) {
            add(&text, i == 0 ? "(" : ",(");
            add_uid(&text);
            add(&text,
                ",'bench.Event','" BENCH_PAYLOAD "',utc_timestamp(6),utc_timestamp(6),"
                "utc_timestamp(6) + interval %d microsecond)",
                i);
        }
        // The first id is what last_insert_id() tells of many rows.
        add(&text,
            ";" INTO_DELIVERY "select e.id, concat('bench.r', r.seq), " NO_TARGET
            ", 'bench/default', 'inside', 5, e.due_at, e.due_at from owed_event as e"
            " join seq_0_to_%d as r where e.id between last_insert_id()"
            " and last_insert_id() + %d order by e.id;commit",
            receivers - 1, count - 1);
        run_all(connections[connection], &text, 0);
        done += count;
    }
    free(text.p);
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

/* fill writes what a drain will find, as bulk does. */
static void
fill(const struct bare *bare)
{
    struct bare events = *bare;
    events.rows = bare->rows / bare->receivers;
    open_store(&events);
    fire_bulk(&events);
    run(connections[0], "analyze table owed_event, owed_delivery");
    run(connections[0],
        "create table if not exists effect (delivery bigint, receiver varchar(255)) engine = InnoDB");
    run(connections[0], "commit");
}

/* --- claim --- */

/* What is claimed and not acknowledged: ids as text, and the moment of their claim, their fence. */
struct held {
    int count;
    int64_t ids[AHEAD_MOST + CLAIM_BATCH];
    int64_t times_us[AHEAD_MOST + CLAIM_BATCH];
};

static struct queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct held held;
    bool is_over;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void
write_moment(int64_t moment_us, char out[MOMENT_BYTES])
{
    time_t seconds = moment_us / 1000000;
    struct tm parts;
    gmtime_r(&seconds, &parts);
    size_t len = strftime(out, MOMENT_BYTES, "%Y-%m-%d %H:%M:%S", &parts);
    snprintf(out + len, MOMENT_BYTES - len, ".%06d", (int)(moment_us % 1000000));
}

struct claimer {
    MYSQL *db;
    struct text text;
    char mark[MOMENT_BYTES];
    int64_t last_us;
    int count;
    int64_t ids[CLAIM_BATCH];
};

#define MARK_NONE "1970-01-01 00:00:00"

/* pick locks and reads a batch. */
static void
pick(struct claimer *claimer)
{
    clear(&claimer->text);
    add(&claimer->text,
        "select p.id, p.available_at, e.payload, e.uid, e.name, p.receiver_key, p.attempts from ("
        "select id, available_at, event_id, receiver_key, attempts"
        " from owed_delivery force index (owed_delivery_owed)"
        " where owed_lane = 'bench/default' and kind = 'inside' and available_at >= '%s'"
        " and available_at <= utc_timestamp(6) order by available_at, id limit %d"
        " for update skip locked) as p straight_join owed_event as e on e.id = p.event_id",
        claimer->mark, CLAIM_BATCH);
    must(claimer->db, mysql_real_query(claimer->db, claimer->text.p, claimer->text.len), "pick");
    MYSQL_RES *rows = mysql_store_result(claimer->db);
    if (rows == NULL)
        bare_fail("pick", mysql_error(claimer->db));
    claimer->count = 0;
    for (MYSQL_ROW row; (row = mysql_fetch_row(rows)) != NULL;) {
        claimer->ids[claimer->count++] = strtoll(row[0], NULL, 10);
        if (strcmp(row[1], claimer->mark) > 0)
            snprintf(claimer->mark, sizeof claimer->mark, "%s", row[1]);
    }
    mysql_free_result(rows);
}

/* take marks a batch as claimed; gives the moment of it, which no other claim has. */
static int64_t
take(struct claimer *claimer)
{
    int64_t now_us = bare_now_us();
    claimer->last_us = now_us > claimer->last_us ? now_us : claimer->last_us + 1;
    char now[MOMENT_BYTES], until[MOMENT_BYTES];
    write_moment(claimer->last_us, now);
    write_moment(claimer->last_us + 300000000, until);
    struct text *text = &claimer->text;
    clear(text);
    add(text, "update json_table('[");
    for (int i = 0; i < claimer->count; i++)
        add(text, "%s%" PRId64, i == 0 ? "" : ",", claimer->ids[i]);
    add(text,
        "]', '$[*]' columns (id bigint path '$')) as picked straight_join owed_delivery as d"
        " on d.id = picked.id set d.status = 'claimed', d.claimed_by = 'bare/1',"
        " d.claimed_at = '%s', d.lease_expires_at = '%s';commit",
        now, until);
    if (run_all(claimer->db, text, 0) != claimer->count)
        bare_fail("claim", "rows that were locked are gone");
    return claimer->last_us;
}

static void
hand_over(const struct claimer *claimer, int64_t moment_us)
{
    pthread_mutex_lock(&queue.lock);
    while (queue.held.count >= AHEAD_MOST)
        pthread_cond_wait(&queue.changed, &queue.lock);
    for (int i = 0; i < claimer->count; i++) {
        queue.held.ids[queue.held.count] = claimer->ids[i];
        queue.held.times_us[queue.held.count++] = moment_us;
    }
    queue.is_over = claimer->count == 0;
    pthread_cond_signal(&queue.changed);
    pthread_mutex_unlock(&queue.lock);
}

static void *
claim_all(void *context)
{
    struct claimer *claimer = context;
    for (bool is_over = false; !is_over;) {
        bool was_full_look = strcmp(claimer->mark, MARK_NONE) == 0;
        pick(claimer);
        if (claimer->count < CLAIM_BATCH)
            snprintf(claimer->mark, sizeof claimer->mark, "%s", MARK_NONE);
        is_over = claimer->count == 0 && was_full_look;
        if (claimer->count > 0)
            hand_over(claimer, take(claimer));
    }
    hand_over(claimer, 0);
    return NULL;
}

/* take_over waits for claimed rows and moves them here; false when there will be no more. */
static bool
take_over(struct held *held)
{
    pthread_mutex_lock(&queue.lock);
    while (queue.held.count == 0 && !queue.is_over)
        pthread_cond_wait(&queue.changed, &queue.lock);
    held->count = queue.held.count;
    memcpy(held->ids, queue.held.ids, (size_t)held->count * sizeof held->ids[0]);
    memcpy(held->times_us, queue.held.times_us, (size_t)held->count * sizeof held->times_us[0]);
    queue.held.count = 0;
    pthread_cond_signal(&queue.changed);
    pthread_mutex_unlock(&queue.lock);
    return held->count > 0;
}

/* --- acknowledge --- */

#define FENCED " d.status = 'claimed' and d.claimed_by = 'bare/1' and d.claimed_at = "
#define SUCCEEDED \
    " set d.status = 'succeeded', d.attempts = 1, d.completed_at = utc_timestamp(6)," \
    " d.succeeded_at = utc_timestamp(6), d.lease_expires_at = '1970-01-01 00:00:00'"

static struct claimer claimer;
static MYSQL *acks;
static struct text words;

static void
prepare_drain(const struct bare *bare)
{
    fill(bare);
    claimer.db = connect_to_store();
    snprintf(claimer.mark, sizeof claimer.mark, "%s", MARK_NONE);
    acks = connections[0];
}

/* add_held writes rows as a list of pairs. */
static void
add_held(struct text *text, const struct held *held, int from, int count)
{
    int64_t last_us = 0;
    char moment[MOMENT_BYTES] = "";
    add(text, "json_table('[");
    for (int i = from; i < from + count; i++) {
        if (held->times_us[i] != last_us)
            write_moment(last_us = held->times_us[i], moment);
        add(text, "%s[%" PRId64 ",\"%s\"]", i == from ? "" : ",", held->ids[i], moment);
    }
    add(text,
        "]', '$[*]' columns (id bigint path '$[0]', claimed_at datetime(6) path '$[1]')) as g"
        " straight_join owed_delivery as d on d.id = g.id");
}

static int64_t
ack_all(const struct held *held)
{
    clear(&words);
    add(&words, "update ");
    add_held(&words, held, 0, held->count);
    add(&words, SUCCEEDED " where" FENCED "g.claimed_at;commit");
    return run_all(acks, &words, 0);
}

static int64_t
ack_and_delete_all(const struct held *held)
{
    clear(&words);
    add(&words, "delete d, e from ");
    add_held(&words, held, 0, held->count);
    add(&words,
        " straight_join owed_event as e on e.id = d.event_id where" FENCED "g.claimed_at;commit");
    return run_all(acks, &words, 0) / 2;
}

static int64_t
run_one_by_one(const struct held *held)
{
    int64_t done = 0;
    for (int i = 0; i < held->count; i++) {
        char moment[MOMENT_BYTES];
        write_moment(held->times_us[i], moment);
        clear(&words);
        add(&words,
            "insert into effect (delivery, receiver) values (%" PRId64 ", 'bench.r0');"
            "update owed_delivery as d" SUCCEEDED " where d.id = %" PRId64 " and" FENCED
            "'%s';commit",
            held->ids[i], held->ids[i], moment);
        done += run_all(acks, &words, 1);
    }
    return done;
}

static int64_t
run_in_groups(const struct held *held)
{
    int64_t done = 0;
    for (int from = 0; from < held->count; from += GROUP) {
        int count = held->count - from < GROUP ? held->count - from : GROUP;
        clear(&words);
        for (int i = from; i < from + count; i++)
            add(&words,
                "savepoint one;insert into effect (delivery, receiver) values (%" PRId64
                ", 'bench.r0');release savepoint one;",
                held->ids[i]);
        add(&words, "update ");
        add_held(&words, held, from, count);
        add(&words, SUCCEEDED " where" FENCED "g.claimed_at;commit");
        done += run_all(acks, &words, 3 * count);
    }
    return done;
}

static int64_t
drain_with(int64_t (*finish)(const struct held *held))
{
    static struct held held;
    pthread_t thread;
    if (pthread_create(&thread, NULL, claim_all, &claimer) != 0)
        bare_fail("pthread_create", "no thread");
    int64_t done = 0;
    while (take_over(&held))
        done += finish(&held);
    pthread_join(thread, NULL);
    return done;
}

static int64_t
drain(const struct bare *bare)
{
    (void)bare;
    return drain_with(ack_all);
}

static int64_t
drain_delete(const struct bare *bare)
{
    if (bare->receivers > 1)
        bare_fail("drain-delete", "an event with several receivers is not deleted by the first");
    return drain_with(ack_and_delete_all);
}

static int64_t
inside(const struct bare *bare)
{
    (void)bare;
    return drain_with(run_one_by_one);
}

static int64_t
inside_grouped(const struct bare *bare)
{
    (void)bare;
    return drain_with(run_in_groups);
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
