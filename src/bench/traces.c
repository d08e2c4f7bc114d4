/* SPDX-License-Identifier: MIT
 *
 * traces.c - what a benchmark writes to a store, and how all of it goes again.
 *
 * Every statement names what is owed bench's own: no row of anybody else can match it.
 */
#include "bench/traces.h"

#include "bench/bench.h"
#include "store/look.h"
#include "store/verbs.h"

#define CHUNK 2000 // events that are deleted in one transaction

static owed_status
refuse_guests(struct db *db, owed_error *err)
{
    int64_t tables = 0;
    owed_status status = query_int(db, STMT_BENCH_TABLES, NO_ARGS, &tables, NULL, err);
    if (status == OWED_OK && tables > 0)
        return fail(err, OWED_INVALID,
            "another owed bench runs on this store, or one was killed there: owed bench clean takes "
            "back what it has left");
    return status;
}

static owed_status
refuse_company(struct db *db, owed_error *err)
{
    int64_t foreign = 0;
    owed_status status = query_int(db, STMT_BENCH_FOREIGN, NO_ARGS, &foreign, NULL, err);
    if (status == OWED_OK && foreign > 0)
        return fail(err, OWED_INVALID,
            "this store holds events, deliveries or receivers that are not of owed bench: name a "
            "store of its own, or measure beside them with --force (they are not touched, but their "
            "relays share the machine)");
    return status;
}

/* refuse_listeners: nothing that a benchmark fires may reach a receiver that means something, not even
 * one that was lately removed. */
static owed_status
refuse_listeners(struct db *db, owed_error *err)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct catalogue_receiver *receivers = NULL;
    size_t count = 0;
    owed_status status = store_catalogue_receivers(db, &arena, &receivers, &count, err);
    int64_t now_us = 0;
    if (status == OWED_OK)
        status = store_now(db, &now_us, err);
    for (size_t i = 0; status == OWED_OK && i < count; i++) {
        const struct catalogue_receiver *r = &receivers[i];
        bool is_gone = r->removed_at_us != 0 && r->removed_at_us < now_us - OWED_HOURS(1);
        if (strcmp(r->event_name, "*") == 0 && strcmp(r->app, BENCH_APP) != 0 && !is_gone)
            status = fail(err, OWED_INVALID,
                "receiver %s is owed every event, and so those of a benchmark: name a store of its own",
                r->key);
    }
    arena_done(&arena);
    return status;
}

owed_status
traces_refuse(struct db *db, bool beside, owed_error *err)
{
    owed_status status = refuse_guests(db, err);
    if (status == OWED_OK && !beside)
        status = refuse_company(db, err);
    return status == OWED_OK ? refuse_listeners(db, err) : status;
}

/* run_all runs statements that take nothing; a dialect may lack some. */
static owed_status
run_all(struct db *db, const enum stmt *stmts, size_t count, owed_error *err)
{
    owed_status status = OWED_OK;
    for (size_t i = 0; i < count && status == OWED_OK; i++)
        if (db->driver->sql->statements[stmts[i]] != NULL)
            status = change(db, stmts[i], NO_ARGS, NULL, err);
    return status;
}

static owed_status
drop_tables(struct db *db, owed_error *err)
{
    static const enum stmt stmts[] = {
        STMT_BENCH_DROP_EFFECT, STMT_BENCH_DROP_DELIVERY, STMT_BENCH_DROP_EVENT};
    return run_all(db, stmts, sizeof stmts / sizeof stmts[0], err);
}

owed_status
traces_make(struct db *db, owed_error *err)
{
    static const enum stmt stmts[] = {
        STMT_BENCH_MAKE_DELIVERY, STMT_BENCH_MAKE_INDEX, STMT_BENCH_MAKE_EFFECT};
    owed_status status = change(db, STMT_BENCH_MAKE_EVENT, NO_ARGS, NULL, err);
    if (status != OWED_OK) {
        owed_status guests = refuse_guests(db, err); // one that began in the same moment
        return guests == OWED_OK ? status : guests;
    }
    status = run_all(db, stmts, sizeof stmts / sizeof stmts[0], err);
    if (status != OWED_OK)
        drop_tables(db, NULL);
    return status;
}

bool
traces_are_gone(struct db *db)
{
    int64_t tables = 1;
    owed_status status = query_int(db, STMT_BENCH_TABLES, NO_ARGS, &tables, NULL, NULL);
    return status == OWED_OK && tables == 0;
}

static owed_status
delete_chunk(struct db *db, int64_t limit, int64_t below_id, int64_t *ret_events, owed_error *err)
{
    const struct args which = ARGS(V_INT(limit), V_INT(below_id));
    struct scope scope = {0};
    owed_status status;
    do {
        status = scope_begin(db, &scope, err);
        if (status != OWED_OK)
            return status;
        status = change(db, STMT_BENCH_DELETE_ATTEMPTS, which, NULL, err);
        if (status == OWED_OK)
            status = change(db, STMT_BENCH_DELETE_DELIVERIES, which, NULL, err);
        if (status == OWED_OK)
            status = change(db, STMT_BENCH_DELETE_EVENTS, which, ret_events, err);
        status = scope_end(&scope, status, err);
    } while (scope_repeats(&scope, status));
    return status;
}

owed_status
traces_trim(struct db *db, int64_t below_id, int64_t most, int64_t *ret_events, owed_error *err)
{
    int64_t all = 0;
    int64_t deleted = CHUNK;
    owed_status status = OWED_OK;
    while (status == OWED_OK && deleted == CHUNK && (most < 0 || all < most)) {
        status = delete_chunk(db, CHUNK, below_id, &deleted, err);
        all += deleted;
        db->driver->tidy(db);
    }
    if (ret_events != NULL)
        *ret_events = all;
    return status;
}

owed_status
traces_remove(struct db *db, int64_t *ret_events, owed_error *err)
{
    static const enum stmt stmts[] = {STMT_BENCH_DELETE_SUCCESSES, STMT_BENCH_DELETE_RECEIVERS,
        STMT_BENCH_DELETE_EVENT_TYPES, STMT_BENCH_DELETE_RELAYS};
    owed_status status = traces_trim(db, INT64_MAX, -1, ret_events, err);
    if (status == OWED_OK)
        status = run_all(db, stmts, sizeof stmts / sizeof stmts[0], err);
    return status == OWED_OK ? drop_tables(db, err) : status;
}
