/* SPDX-License-Identifier: MIT
 *
 * random_outcomes.c - random programs of outcomes on a virtual clock, and what must hold after each step.
 *
 *   random_outcomes COUNT [FIRST_SEED]
 *
 * A program fires a few events, some in transactions that are rolled back, and then delivers in random
 * ways while receivers return random outcomes, rows are robbed, dead ones are requeued and time passes.
 * In the end time passes until nothing is owed. The seed of a program that fails is printed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sqlite3.h>

#include <owed/sqlite.h>
#include <owed/testing.h>

#define START_US (INT64_C(4102444800) * 1000000)
#define RECEIVERS 4
#define STEPS 12
#define ROUNDS 60

struct world {
    owed *owed;
    sqlite3 *other;
    int64_t now_us;
    uint64_t dice;
    uint64_t seed;
    int64_t fired;   // events that were committed
    int64_t highest; // event id before this program
    bool is_kind;    // receivers are done, from now on
    const char *step;
};

static struct world world;

static void
broken(const char *rule)
{
    printf("seed %" PRIu64 ", after \"%s\": %s\n", world.seed, world.step, rule);
    exit(1);
}

static uint64_t
draw(void *state)
{
    uint64_t *x = state;
    *x += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = *x;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static int64_t
below(int64_t bound)
{
    return (int64_t)(draw(&world.dice) % (uint64_t)bound);
}

static int64_t
now_us(void *state)
{
    (void)state;
    return world.now_us;
}

static void
must(owed_status status, const owed_error *err)
{
    if (status != OWED_OK)
        broken(err->text);
}

static void
run_sql(sqlite3 *db, const char *sql)
{
    char *text = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &text) != SQLITE_OK)
        broken(text);
}

/* count asks on the other connection; ?1 is the highest event id before this program. */
static int64_t
count(const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(world.other, sql, -1, &stmt, NULL) != SQLITE_OK)
        broken(sqlite3_errmsg(world.other));
    sqlite3_bind_int64(stmt, 1, world.highest);
    if (sqlite3_step(stmt) != SQLITE_ROW)
        broken(sqlite3_errmsg(world.other));
    int64_t number = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    return number;
}

/* --- the shop --- */

static const owed_event_type thing = {.name = "random.Thing", .version = 1};

/* write_effect writes what one attempt does to the database. */
static void
write_effect(owed_delivery *delivery)
{
    char sql[160];
    snprintf(sql, sizeof sql, "insert into effect (delivery_id, attempt) values (%" PRId64 ", %d)",
        owed_delivery_id(delivery), (int)owed_delivery_attempt(delivery));
    sqlite3 *db = owed_delivery_sqlite(delivery);
    if (db != NULL)
        run_sql(db, sql);
}

/* rob takes the row for somebody else, whose lease ends soon. The attempt under way is void. */
static void
rob(owed_delivery *delivery)
{
    char sql[200];
    snprintf(sql, sizeof sql,
        "update owed_delivery set claimed_by = 'thief', claimed_at = claimed_at + 1, "
        "lease_expires_at = %" PRId64 " where id = %" PRId64,
        world.now_us + 1000000, owed_delivery_id(delivery));
    // Where neighbours share a transaction nobody else can write: then there is no thief.
    if (sqlite3_exec(world.other, sql, NULL, NULL, NULL) != SQLITE_OK)
        return;
    snprintf(sql, sizeof sql, "insert into temp.robbed values (%" PRId64 ")",
        owed_delivery_id(delivery));
    run_sql(world.other, sql);
}

static owed_outcome
act(owed_delivery *delivery, const void *payload)
{
    (void)payload;
    bool writes = owed_delivery_state(delivery) != NULL;
    int64_t choice = world.is_kind ? 0 : below(12);
    if (choice == 11)
        rob(delivery); // before the transaction has begun
    if (writes)
        write_effect(delivery);
    switch (choice) {
    case 0:
    case 1:
    case 2:
    case 11:
        return owed_done();
    case 3:
        return owed_permanent(delivery, "never");
    case 4:
        return owed_retry_after(delivery, (double)below(100), "later");
    case 5:
    case 6:
        return owed_defer(delivery, (double)(1 + below(100)), "busy");
    case 7:
        return owed_not_yet(delivery, world.now_us + 1 + below(100000000), "not due");
    case 8:
        return owed_not_yet(delivery, world.now_us - below(2), "past");
    case 9:
        return (owed_outcome){.verdict = (owed_verdict)99};
    default:
        return owed_failed(delivery, "no");
    }
}

static owed_registry *
declare(void)
{
    static int writes;
    const owed_receiver receivers[RECEIVERS] = {
        {.key = "random.plain", .event = &thing, .run = act, .state = &writes},
        {.key = "random.group",
            .event = &thing,
            .run = act,
            .state = &writes,
            .database_only = true,
            .give_up_after_us = OWED_MINUTES(10)},
        {.key = "random.outside",
            .event = &thing,
            .run = act,
            .outside = true,
            .lane = "far",
            .give_up_after_us = OWED_MINUTES(2),
            .max_attempts = 3},
        {.key = "random.later", .event = &thing, .run = act, .state = &writes, .due_us = 60000000},
    };
    owed_error err = {0};
    owed_registry *registry = NULL;
    must(owed_registry_new("random", &registry, &err), &err);
    for (size_t i = 0; i < RECEIVERS; i++)
        must(owed_declare_receiver(registry, &receivers[i], &err), &err);
    return registry;
}

/* --- what must hold --- */

static const struct {
    const char *sentence;
    const char *sql; // counts what breaks it
} rules[] = {
    {"one delivery for each event and receiver",
        "select count(*) from owed_event as e where e.id > ?1 and "
        "(select count(distinct receiver_key) from owed_delivery where event_id = e.id) <> 4"},
    {"what succeeded took effect once, what did not never did",
        "select count(*) from owed_delivery as d where d.event_id > ?1 "
        "and d.receiver_key <> 'random.outside' and (select count(*) from effect "
        "where delivery_id = d.id) <> (d.status = 'succeeded')"},
    {"no more attempts than allowed",
        "select count(*) from owed_delivery where event_id > ?1 and attempts > max_attempts"},
    {"nothing is owed again once its attempts are spent",
        "select count(*) from owed_delivery where event_id > ?1 and status in ('failed', 'pending') "
        "and attempts >= max_attempts"},
    {"what has ended says when, what has not does not",
        "select count(*) from owed_delivery where event_id > ?1 "
        "and (completed_at > 0) <> (status in ('succeeded', 'dead'))"},
    {"what is dead says why",
        "select count(*) from owed_delivery where event_id > ?1 and status = 'dead' "
        "and last_error = ''"},
    {"nobody but the thief holds a row when a call has returned",
        "select count(*) from owed_delivery where event_id > ?1 and status = 'claimed' "
        "and claimed_by <> 'thief' and lease_expires_at > 0"},
    {"who was robbed of a row writes nothing to it",
        "select count(*) from temp.robbed as r join owed_delivery as d on d.id = r.delivery_id "
        "where d.event_id > ?1 and (d.status <> 'claimed' or d.claimed_by <> 'thief')"},
    {"nothing is due before its due_at",
        "select count(*) from owed_delivery where event_id > ?1 and available_at < due_at"},
};

static void
check_all(void)
{
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (count(rules[i].sql) != 0)
            broken(rules[i].sentence);
    if (count("select count(*) from owed_event where id > ?1") != world.fired)
        broken("an event exists if and only if its transaction committed");
    run_sql(world.other, "delete from temp.robbed");
}

/* --- steps --- */

static void
fire(void)
{
    owed_error err = {0};
    owed_tx *tx = NULL;
    must(owed_begin(world.owed, &tx, &err), &err);
    int64_t events = 1 + below(3);
    bool commits = below(4) > 0;
    for (int64_t i = 0; i < events; i++)
        must(owed_fire(tx, &thing, &(owed_bytes){"{}", 2}, NULL, NULL, &err), &err);
    if (!commits) {
        owed_rollback(tx);
        return;
    }
    must(owed_commit(tx, &err), &err);
    world.fired += events;
}

static void
deliver_some(void)
{
    owed_error err = {0};
    const owed_pending_settings settings = {.limit = 1 + below(8), .ignore_backoff = below(2) == 1};
    must(owed_deliver_pending(world.owed, &settings, NULL, &err), &err);
}

static void
drain(void)
{
    owed_error err = {0};
    must(owed_drain(world.owed, 0, NULL, &err), &err);
}

static void
deliver_one(void)
{
    owed_error err = {0};
    int64_t deliveries = count("select count(*) from owed_delivery where event_id > ?1");
    if (deliveries == 0)
        return;
    int64_t id =
        count("select max(id) from owed_delivery where event_id >= ?1") - below(deliveries);
    must(owed_deliver_one(world.owed, id, NULL, &err), &err);
}

static void
relay(void)
{
    // A relay leaves the writer to others for a moment after each write, on the real clock.
    if (below(8) > 0)
        return;
    owed_error err = {0};
    const owed_relay_settings settings = {.once = true, .all_lanes = true};
    must(owed_relay_run(world.owed, &settings, NULL, &err), &err);
}

/* drain_undone delivers in a transaction that is then rolled back: nothing of it may be seen. */
static void
drain_undone(void)
{
    owed_error err = {0};
    owed_tx *tx = NULL;
    const char *all = "select coalesce(sum(attempts * 7 + length(status)), 0) from owed_delivery "
                      "where event_id > ?1 and claimed_by <> 'thief'";
    int64_t before = count(all);
    bool was_kind = world.is_kind;
    world.is_kind = true; // a thief would wait for the transaction
    must(owed_begin(world.owed, &tx, &err), &err);
    must(owed_drain(world.owed, 0, NULL, &err), &err);
    if (count(all) != before)
        broken("what is delivered in a transaction is seen once it commits");
    owed_rollback(tx);
    world.is_kind = was_kind;
    if (count(all) != before)
        broken("what was delivered in a transaction goes with it");
}

static void
pass_time(void)
{
    world.now_us += below(4) == 0 ? below(400000000) : below(4000000);
}

static void
requeue(void)
{
    char sql[400];
    snprintf(sql, sizeof sql,
        "update owed_delivery set status = 'pending', attempts = 0, last_error = '', "
        "available_at = %" PRId64 ", due_at = %" PRId64 ", completed_at = 0 "
        "where status = 'dead' and event_id > %" PRId64,
        world.now_us, world.now_us, world.highest);
    run_sql(world.other, sql);
}

static const struct {
    const char *name;
    void (*run)(void);
} steps[] = {
    {"fire", fire},
    {"fire", fire},
    {"deliver some", deliver_some},
    {"deliver some", deliver_some},
    {"drain", drain},
    {"deliver one", deliver_one},
    {"deliver one", deliver_one},
    {"relay", relay},
    {"drain, undone", drain_undone},
    {"pass time", pass_time},
    {"pass time", pass_time},
    {"requeue", requeue},
};

static void
step(size_t i)
{
    world.step = steps[i].name;
    steps[i].run();
    check_all();
}

static int64_t
owed_still(void)
{
    return count("select count(*) from owed_delivery where event_id > ?1 "
                 "and status in ('pending', 'failed', 'claimed')");
}

static void
run_program(uint64_t seed)
{
    world.seed = seed;
    world.dice = seed;
    world.fired = 0;
    world.is_kind = false;
    world.highest = count("select coalesce(max(id), 0) + 0 * ?1 from owed_event");
    step(0);
    for (int i = 0; i < STEPS; i++)
        step((size_t)below(sizeof steps / sizeof steps[0]));
    world.step = "the end";
    for (int i = 0; i < ROUNDS && owed_still() > 0; i++) {
        world.now_us += OWED_SECONDS(100);
        // What defers and is robbed for ever ends only when it is left in peace.
        world.is_kind = i > ROUNDS / 4;
        drain();
        check_all();
    }
    if (owed_still() > 0)
        broken("every owed delivery ends");
    // The next program begins with an empty store: a claim has no history to look past.
    run_sql(world.other,
        "delete from owed_attempt; delete from owed_delivery; "
        "delete from owed_event; delete from effect");
}

static void
open_world(const char *folder, const owed_registry *registry)
{
    static char url[300];
    owed_error err = {0};
    snprintf(url, sizeof url, "sqlite:%s/random.db", folder);
    const owed_settings settings = {.url = url,
        .registry = registry,
        .clock = {.now_us = now_us, .monotonic_us = now_us},
        .dice = {.next = draw, .state = &world.dice}};
    world.now_us = START_US;
    world.step = "open";
    must(owed_init(url, &err), &err);
    must(owed_open(&settings, &world.owed, &err), &err);
    if (sqlite3_open(url + strlen("sqlite:"), &world.other) != SQLITE_OK)
        broken("the store cannot be opened a second time");
    run_sql(world.other,
        "pragma wal_autocheckpoint = 0; "
        "pragma synchronous = off; create table effect (delivery_id, attempt); "
        "create temp table robbed (delivery_id)");
}

int
main(int argc, char **argv)
{
    uint64_t programs = argc > 1 ? strtoull(argv[1], NULL, 10) : 200;
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    // Where nothing has to reach a disk, if there is such a place.
    char folder[64];
    snprintf(folder, sizeof folder, "%s/owed-random-XXXXXX",
        access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (mkdtemp(folder) == NULL)
        return 1;
    owed_registry *registry = declare();
    open_world(folder, registry);
    for (uint64_t i = 0; i < programs; i++)
        run_program(first + i);
    owed_close(world.owed);
    sqlite3_close(world.other);
    owed_registry_free(registry);
    static const char *const files[] = {"random.db", "random.db-wal", "random.db-shm"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[100];
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        unlink(path);
    }
    rmdir(folder);
    printf("%" PRIu64 " programs from seed %" PRIu64 ": all held\n", programs, first);
    printf("[  PASSED  ] 1 test(s).\n");
    return 0;
}
