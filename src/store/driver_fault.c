/* SPDX-License-Identifier: MIT
 *
 * driver_fault.c - a connection that breaks at a call of the test's choosing.
 *
 * The wrapper has a copy of the inner driver's table with its own functions in it, so that whoever
 * holds it sees the same scheme and statements. Rows are the inner driver's own.
 */
#include <stdlib.h>

#include "base/error.h"
#include "store/driver.h"

struct fault_db {
    struct db base;
    struct driver driver;
    struct db *inner;
    struct fault *fault;
};

static struct fault_db *
fault_of(struct db *db)
{
    return (struct fault_db *)db;
}

enum verdict { PASS, BREAK, BREAK_AFTER };

static enum verdict
count_call(struct fault *fault)
{
    fault->calls++;
    if (fault->fail_at == 0 || fault->calls < fault->fail_at)
        return PASS;
    return fault->calls == fault->fail_at && fault->after ? BREAK_AFTER : BREAK;
}

/* cut is the connection's end: whatever was open is rolled back. */
static owed_status
cut(struct fault_db *db, owed_error *err)
{
    db->inner->driver->rollback(db->inner);
    return fail(err, db->fault->status, "call %lld: the connection was cut on purpose",
        (long long)db->fault->calls);
}

typedef owed_status (*plain_call)(struct db *db, owed_error *err);

static owed_status
pass_on(struct db *db, plain_call call, owed_error *err)
{
    struct fault_db *fault = fault_of(db);
    enum verdict verdict = count_call(fault->fault);
    if (verdict == BREAK)
        return cut(fault, err);
    owed_status status = call(fault->inner, err);
    return verdict == PASS ? status : cut(fault, err);
}

static void
fault_close(struct db *db)
{
    struct fault_db *fault = fault_of(db);
    fault->inner->driver->close(fault->inner);
    free(fault);
}

static void
fault_light(struct db *db)
{
    struct db *inner = fault_of(db)->inner;
    inner->driver->light(inner);
}

static owed_status
fault_begin(struct db *db, bool write, owed_error *err)
{
    struct fault_db *fault = fault_of(db);
    enum verdict verdict = count_call(fault->fault);
    if (verdict == BREAK)
        return cut(fault, err);
    owed_status status = fault->inner->driver->begin(fault->inner, write, err);
    return verdict == PASS ? status : cut(fault, err);
}

static owed_status
fault_commit(struct db *db, owed_error *err)
{
    struct fault_db *fault = fault_of(db);
    enum verdict verdict = count_call(fault->fault);
    if (verdict == BREAK)
        return cut(fault, err);
    owed_status status = fault->inner->driver->commit(fault->inner, err);
    if (verdict == PASS || status != OWED_OK)
        return status;
    cut(fault, err);
    return fail(err, OWED_UNSURE, "call %lld: the answer to the commit was lost on purpose",
        (long long)fault->fault->calls);
}

static void
fault_rollback(struct db *db)
{
    struct db *inner = fault_of(db)->inner;
    inner->driver->rollback(inner);
}

static bool
fault_in_transaction(struct db *db)
{
    struct db *inner = fault_of(db)->inner;
    return inner->driver->in_transaction(inner);
}

static owed_status
fault_savepoint(struct db *db, owed_error *err)
{
    return pass_on(db, fault_of(db)->inner->driver->savepoint, err);
}

static owed_status
fault_release(struct db *db, owed_error *err)
{
    return pass_on(db, fault_of(db)->inner->driver->release, err);
}

static owed_status
fault_rollback_to(struct db *db, owed_error *err)
{
    return pass_on(db, fault_of(db)->inner->driver->rollback_to, err);
}

static void
fault_guard(struct db *db, bool on)
{
    struct db *inner = fault_of(db)->inner;
    inner->driver->guard(inner, on);
}

static void
fault_sweep(struct db *db)
{
    struct db *inner = fault_of(db)->inner;
    inner->driver->sweep(inner);
}

static owed_status
fault_still_there(struct db *db, owed_error *err)
{
    struct db *inner = fault_of(db)->inner;
    return inner->driver->still_there(inner, err);
}

static void
fault_veto(struct db *db)
{
    struct db *inner = fault_of(db)->inner;
    inner->driver->veto(inner);
}

static owed_status
fault_run(struct db *db, enum stmt stmt, const struct value *args, size_t count,
    struct rows **ret_rows, owed_error *err)
{
    struct fault_db *fault = fault_of(db);
    enum verdict verdict = count_call(fault->fault);
    if (verdict == BREAK)
        return cut(fault, err);
    struct db *inner = fault->inner;
    struct rows *rows = NULL;
    owed_status status = inner->driver->run(inner, stmt, args, count, &rows, err);
    if (status == OWED_OK && verdict == BREAK_AFTER)
        status = inner->driver->finish(rows, NULL, err);
    else if (status == OWED_OK)
        *ret_rows = rows;
    return verdict == BREAK_AFTER ? cut(fault, err) : status;
}

static bool
fault_takes_rows(struct db *db)
{
    struct db *inner = fault_of(db)->inner;
    return inner->driver->takes_rows(inner);
}

static bool
fault_hold(struct db *db, enum stmt stmt, const struct value *args, size_t count)
{
    struct db *inner = fault_of(db)->inner;
    return inner->driver->hold(inner, stmt, args, count);
}

static bool
fault_holds(struct db *db)
{
    struct db *inner = fault_of(db)->inner;
    return inner->driver->holds(inner);
}

static owed_status
fault_script(struct db *db, const char *text, owed_error *err)
{
    struct fault_db *fault = fault_of(db);
    enum verdict verdict = count_call(fault->fault);
    if (verdict == BREAK)
        return cut(fault, err);
    owed_status status = fault->inner->driver->script(fault->inner, text, err);
    return verdict == PASS ? status : cut(fault, err);
}

static owed_status
fault_hurry(struct db *db, owed_error *err)
{
    struct fault_db *fault = fault_of(db);
    enum verdict verdict = count_call(fault->fault);
    if (verdict == BREAK)
        return cut(fault, err);
    owed_status status = fault->inner->driver->hurry(fault->inner, err);
    return verdict == PASS ? status : cut(fault, err);
}

static owed_status
fault_contention(struct db *db, bool failed)
{
    struct db *inner = fault_of(db)->inner;
    return inner->driver->contention(inner, failed);
}

static owed_status
fault_now(struct db *db, int64_t *ret_now_us, owed_error *err)
{
    struct fault_db *fault = fault_of(db);
    enum verdict verdict = count_call(fault->fault);
    if (verdict == BREAK)
        return cut(fault, err);
    owed_status status = fault->inner->driver->now(fault->inner, ret_now_us, err);
    return verdict == PASS ? status : cut(fault, err);
}

static const char *
fault_session(struct db *db)
{
    struct db *inner = fault_of(db)->inner;
    return inner->driver->session(inner);
}

static owed_status
fault_end_session(struct db *db, const char *session, owed_error *err)
{
    struct db *inner = fault_of(db)->inner;
    return inner->driver->end_session(inner, session, err);
}

static int
fault_wake_fd(struct db *db)
{
    struct db *inner = fault_of(db)->inner;
    return inner->driver->wake_fd(inner);
}

static bool
fault_changed(struct db *db)
{
    struct db *inner = fault_of(db)->inner;
    return inner->driver->changed(inner);
}

static bool
fault_asleep(struct db *db, bool on)
{
    struct db *inner = fault_of(db)->inner;
    return inner->driver->asleep(inner, on);
}

static const char *
fault_deaf(struct db *db)
{
    struct db *inner = fault_of(db)->inner;
    return inner->driver->deaf(inner);
}

static const char *
fault_where(struct db *db)
{
    struct db *inner = fault_of(db)->inner;
    return inner->driver->where(inner);
}

static const char *
fault_path(struct db *db)
{
    struct db *inner = fault_of(db)->inner;
    return inner->driver->path(inner);
}

static void
fault_tidy(struct db *db)
{
    struct db *inner = fault_of(db)->inner;
    inner->driver->tidy(inner);
}

static void *
fault_native(struct db *db)
{
    struct db *inner = fault_of(db)->inner;
    return inner->driver->native(inner);
}

static void *
fault_pipeline(struct db *db)
{
    struct db *inner = fault_of(db)->inner;
    return inner->driver->pipeline(inner);
}

static owed_status
fault_send(struct db *db, struct str text, owed_error *err)
{
    struct fault_db *fault = fault_of(db);
    enum verdict verdict = count_call(fault->fault);
    if (verdict == BREAK)
        return cut(fault, err);
    owed_status status = fault->inner->driver->send(fault->inner, text, err);
    return verdict == PASS ? status : cut(fault, err);
}

static owed_status
fault_collect(struct db *db, bool wait, owed_error *err)
{
    struct db *inner = fault_of(db)->inner;
    return inner->driver->collect(inner, wait, err);
}

/* The table's own functions; scheme, statements, open and adopt are the inner driver's, and what that one
 * lacks is lacking here. */
static const struct driver functions = {
    .close = fault_close,
    .light = fault_light,
    .begin = fault_begin,
    .commit = fault_commit,
    .rollback = fault_rollback,
    .in_transaction = fault_in_transaction,
    .savepoint = fault_savepoint,
    .release = fault_release,
    .rollback_to = fault_rollback_to,
    .guard = fault_guard,
    .sweep = fault_sweep,
    .still_there = fault_still_there,
    .veto = fault_veto,
    .run = fault_run,
    .script = fault_script,
    .wake_fd = fault_wake_fd,
    .changed = fault_changed,
    .path = fault_path,
    .tidy = fault_tidy,
    .native = fault_native,
};

struct db *
driver_fault_wrap(struct db *inner, struct fault *fault)
{
    struct fault_db *db = calloc(1, sizeof *db);
    if (db == NULL)
        return NULL;
    db->driver = functions;
    db->driver.scheme = inner->driver->scheme;
    db->driver.sql = inner->driver->sql;
    db->driver.open = inner->driver->open;
    db->driver.adopt = inner->driver->adopt;
    db->driver.next = inner->driver->next;
    db->driver.column = inner->driver->column;
    db->driver.finish = inner->driver->finish;
    db->driver.keep = inner->driver->keep;
    db->driver.peek = inner->driver->peek;
    db->driver.single_writer = inner->driver->single_writer;
    db->driver.settles_early = inner->driver->settles_early;
    db->driver.contention = inner->driver->contention == NULL ? NULL : fault_contention;
    db->driver.hurry = inner->driver->hurry == NULL ? NULL : fault_hurry;
    db->driver.takes_rows = inner->driver->takes_rows == NULL ? NULL : fault_takes_rows;
    db->driver.hold = inner->driver->hold == NULL ? NULL : fault_hold;
    db->driver.holds = inner->driver->holds == NULL ? NULL : fault_holds;
    db->driver.pipeline = inner->driver->pipeline == NULL ? NULL : fault_pipeline;
    db->driver.send = inner->driver->send == NULL ? NULL : fault_send;
    db->driver.collect = inner->driver->collect == NULL ? NULL : fault_collect;
    db->driver.asleep = inner->driver->asleep == NULL ? NULL : fault_asleep;
    db->driver.deaf = inner->driver->deaf == NULL ? NULL : fault_deaf;
    db->driver.where = inner->driver->where == NULL ? NULL : fault_where;
    db->driver.now = inner->driver->now == NULL ? NULL : fault_now;
    db->driver.session = inner->driver->session == NULL ? NULL : fault_session;
    db->driver.end_session = inner->driver->end_session == NULL ? NULL : fault_end_session;
    db->base = (struct db){.driver = &db->driver, .adopted = inner->adopted, .dice = inner->dice};
    db->inner = inner;
    db->fault = fault;
    return &db->base;
}
