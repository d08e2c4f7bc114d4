/* SPDX-License-Identifier: MIT
 *
 * driver_nested.c - a transaction inside somebody else's: what begins and commits on it is a savepoint.
 *
 * The wrapper has a copy of the inner driver's table with its own functions in it. Nothing that it does
 * ends the transaction around it; once that is over, whoever ended it, nothing can begin any more: a
 * savepoint outside a transaction would begin one of its own. Rows are the inner driver's own.
 */
#include <stdlib.h>

#include "base/error.h"
#include "store/driver.h"

struct nested_db {
    struct db base;
    struct driver driver;
    struct db *inner;
    bool begun;
    bool vetoed;
};

static struct nested_db *
nested_of(struct db *db)
{
    return (struct nested_db *)db;
}

static const struct driver *
inner_driver(struct db *db)
{
    return nested_of(db)->inner->driver;
}

static void
nested_close(struct db *db)
{
    free(nested_of(db));
}

static void
nested_nothing(struct db *db)
{
    (void)db;
}

static void
nested_guard(struct db *db, bool on)
{
    // Whoever began the transaction guards it, or does not.
    (void)db;
    (void)on;
}

static owed_status
check_around(struct db *db, owed_error *err)
{
    if (inner_driver(db)->in_transaction(nested_of(db)->inner))
        return OWED_OK;
    return fail(err, OWED_ABORTED,
        "the transaction around this is over: somebody committed it or rolled it back");
}

static owed_status
nested_begin(struct db *db, bool write, owed_error *err)
{
    (void)write;
    struct nested_db *nested = nested_of(db);
    owed_status status = check_around(db, err);
    if (status == OWED_OK)
        status = inner_driver(db)->savepoint(nested->inner, err);
    nested->begun = status == OWED_OK;
    nested->vetoed = false;
    return status;
}

static void
nested_rollback(struct db *db)
{
    struct nested_db *nested = nested_of(db);
    bool was_begun = nested->begun;
    nested->begun = nested->vetoed = false;
    if (!was_begun || check_around(db, NULL) != OWED_OK)
        return;
    if (inner_driver(db)->rollback_to(nested->inner, NULL) == OWED_OK)
        inner_driver(db)->release(nested->inner, NULL);
}

static owed_status
nested_commit(struct db *db, owed_error *err)
{
    struct nested_db *nested = nested_of(db);
    owed_status status = check_around(db, err);
    if (status == OWED_OK && nested->vetoed)
        status = fail(err, OWED_VETOED, "an inline receiver refused the change; it was undone");
    if (status == OWED_OK)
        status = inner_driver(db)->release(nested->inner, err);
    if (status != OWED_OK)
        nested_rollback(db);
    nested->begun = nested->vetoed = false;
    return status;
}

static bool
nested_in_transaction(struct db *db)
{
    return nested_of(db)->begun && check_around(db, NULL) == OWED_OK;
}

static owed_status
nested_savepoint(struct db *db, owed_error *err)
{
    owed_status status = check_around(db, err);
    return status == OWED_OK ? inner_driver(db)->savepoint(nested_of(db)->inner, err) : status;
}

static owed_status
nested_release(struct db *db, owed_error *err)
{
    owed_status status = check_around(db, err);
    return status == OWED_OK ? inner_driver(db)->release(nested_of(db)->inner, err) : status;
}

static owed_status
nested_rollback_to(struct db *db, owed_error *err)
{
    owed_status status = check_around(db, err);
    return status == OWED_OK ? inner_driver(db)->rollback_to(nested_of(db)->inner, err) : status;
}

static void
nested_veto(struct db *db)
{
    nested_of(db)->vetoed = true;
}

static void
nested_sweep(struct db *db)
{
    inner_driver(db)->sweep(nested_of(db)->inner);
}

static owed_status
nested_still_there(struct db *db, owed_error *err)
{
    (void)db;
    (void)err;
    return OWED_OK;
}

static owed_status
nested_run(struct db *db, enum stmt stmt, const struct value *args, size_t count,
    struct rows **ret_rows, owed_error *err)
{
    owed_status status = check_around(db, err);
    if (status != OWED_OK)
        return status;
    return inner_driver(db)->run(nested_of(db)->inner, stmt, args, count, ret_rows, err);
}

static bool
nested_takes_rows(struct db *db)
{
    return inner_driver(db)->takes_rows(nested_of(db)->inner);
}

static owed_status
nested_script(struct db *db, const char *text, owed_error *err)
{
    return inner_driver(db)->script(nested_of(db)->inner, text, err);
}

static int
nested_wake_fd(struct db *db)
{
    (void)db;
    return -1;
}

static bool
nested_changed(struct db *db)
{
    (void)db;
    return false;
}

static const char *
nested_where(struct db *db)
{
    return inner_driver(db)->where(nested_of(db)->inner);
}

static const char *
nested_path(struct db *db)
{
    return inner_driver(db)->path(nested_of(db)->inner);
}

static void *
nested_native(struct db *db)
{
    return inner_driver(db)->native(nested_of(db)->inner);
}

struct db *
driver_nest(struct db *inner)
{
    struct nested_db *db = calloc(1, sizeof *db);
    if (db == NULL)
        return NULL;
    // What works on rows stays the inner driver's.
    db->driver = *inner->driver;
    db->driver.single_writer = false; // it is held already: there is nobody to yield to
    db->driver.close = nested_close;
    db->driver.light = nested_nothing;
    db->driver.begin = nested_begin;
    db->driver.commit = nested_commit;
    db->driver.rollback = nested_rollback;
    db->driver.in_transaction = nested_in_transaction;
    db->driver.savepoint = nested_savepoint;
    db->driver.release = nested_release;
    db->driver.rollback_to = nested_rollback_to;
    db->driver.guard = nested_guard;
    db->driver.veto = nested_veto;
    db->driver.sweep = nested_sweep;
    db->driver.still_there = nested_still_there;
    db->driver.run = nested_run;
    db->driver.takes_rows = inner->driver->takes_rows == NULL ? NULL : nested_takes_rows;
    db->driver.script = nested_script;
    db->driver.wake_fd = nested_wake_fd;
    db->driver.changed = nested_changed;
    db->driver.asleep = NULL;
    db->driver.deaf = NULL;
    db->driver.alone = NULL;
    db->driver.hurry = NULL;
    db->driver.contention = NULL;
    db->driver.settles_early = false; // the outer transaction's end is the caller's
    db->driver.now = NULL;            // the handle has its clock already
    db->driver.session = NULL;
    db->driver.end_session = NULL;
    db->driver.path = nested_path;
    db->driver.where = inner->driver->where == NULL ? NULL : nested_where;
    db->driver.warning = NULL; // said when inner was opened
    db->driver.tidy = nested_nothing;
    db->driver.native = nested_native;
    db->driver.hold = NULL;
    db->driver.holds = NULL;
    db->driver.pipeline = NULL; // whoever began it may read what comes in between
    db->driver.send = NULL;
    db->driver.collect = NULL;
    db->base.driver = &db->driver;
    db->inner = inner;
    return &db->base;
}
