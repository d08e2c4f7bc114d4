/* SPDX-License-Identifier: MIT
 *
 * migrate.c - making the tables, bringing them up to date, and refusing those of another time.
 *
 * Migrations are numbered and never edited once released; each runs once. Routines (views, triggers)
 * are replaced whole by every migrate. Everything happens in one transaction.
 */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/moment.h"
#include "store/doctor.h"
#include "store/verbs.h"

/* One line of what has run here. */
struct applied {
    const char *kind;
    int64_t version;
    const char *name;
    const char *checksum;
};

struct history {
    struct applied *lines;
    size_t count;
};

static void
read_applied(struct reader *reader, void *item)
{
    struct applied *applied = item;
    applied->kind = read_text(reader);
    applied->version = read_int(reader);
    applied->name = read_text(reader);
    applied->checksum = read_text(reader);
}

static owed_status
read_history(struct db *db, struct arena *arena, struct history *ret_history, owed_error *err)
{
    *ret_history = (struct history){0};
    int64_t exists = 0;
    owed_status status = query_int(db, STMT_SCHEMA_EXISTS, NO_ARGS, &exists, NULL, err);
    if (status != OWED_OK || exists == 0)
        return status;
    void *lines = NULL;
    struct list list = {sizeof(struct applied), read_applied, arena};
    status = read_all(db, STMT_SCHEMA_APPLIED, NO_ARGS, &list, &lines, &ret_history->count, err);
    ret_history->lines = lines;
    return status;
}

static const struct applied *
find(const struct history *history, const char *kind, const char *name)
{
    for (size_t i = 0; i < history->count; i++) {
        const struct applied *line = &history->lines[i];
        if (strcmp(line->kind, kind) == 0 && strcmp(line->name, name) == 0)
            return line;
    }
    return NULL;
}

static int64_t
version_here(const struct history *history)
{
    int64_t version = 0;
    for (size_t i = 0; i < history->count; i++)
        if (strcmp(history->lines[i].kind, "schema") == 0 && history->lines[i].version > version)
            version = history->lines[i].version;
    return version;
}

static int64_t
version_known(const struct sql *sql)
{
    int64_t version = 0;
    for (const struct script *script = sql->schema; script->name != NULL; script++)
        version = script->version;
    return version;
}

/* refuse_foreign answers SCHEMA for tables that a newer program made, or that another text made. */
static owed_status
refuse_foreign(const struct sql *sql, const struct history *history, owed_error *err)
{
    int64_t here = version_here(history), known = version_known(sql);
    if (here > known)
        return fail(err, OWED_SCHEMA,
            "the tables are of version %lld and this program knows up to version %lld: use the "
            "program that made them, or a newer one",
            (long long)here, (long long)known);
    for (const struct script *script = sql->schema; script->name != NULL; script++) {
        const struct applied *line = find(history, "schema", script->name);
        if (line != NULL && strcmp(line->checksum, script->checksum) != 0)
            return fail(err, OWED_SCHEMA,
                "migration %s ran here with another text (checksum %.12s, this program's is %.12s): "
                "an applied migration is never edited",
                script->name, line->checksum, script->checksum);
    }
    return OWED_OK;
}

owed_status
store_check(struct db *db, owed_error *err)
{
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, 0);
    struct history history;
    owed_status status = read_history(db, &arena, &history, err);
    if (status == OWED_OK)
        status = refuse_foreign(db->driver->sql, &history, err);
    if (status != OWED_OK)
        return status;
    int64_t here = version_here(&history), known = version_known(db->driver->sql);
    if (here == 0)
        return fail(err, OWED_SCHEMA, "the store has no tables of owed%s",
            // A server may hide what an account has no right to.
            db->driver->session == NULL
                ? ": run owed init"
                : " that this account can see: run owed init, or grant it its rights");
    if (here < known)
        return fail(err, OWED_SCHEMA,
            "the tables are of version %lld and this program wants version %lld: run owed migrate",
            (long long)here, (long long)known);
    for (const struct script *script = db->driver->sql->routines; script->name != NULL; script++)
        if (find(&history, "routine", script->name) == NULL)
            return fail(err, OWED_SCHEMA, "routine %s is missing: run owed migrate", script->name);
    return OWED_OK;
}

owed_status
store_drift(struct db *db, struct arena *arena, struct trouble **ret_troubles, size_t *ret_count,
    owed_error *err)
{
    *ret_count = 0;
    struct history history;
    owed_status status = read_history(db, arena, &history, err);
    if (status != OWED_OK)
        return status;
    struct trouble *troubles = arena_alloc(arena, (history.count + 1) * sizeof *troubles);
    if (troubles == NULL)
        return fail_memory(err);
    for (const struct script *s = db->driver->sql->routines; s->name != NULL; s++) {
        const struct applied *line = find(&history, "routine", s->name);
        if (line != NULL && strcmp(line->checksum, s->checksum) != 0)
            troubles[(*ret_count)++] =
                (struct trouble){.subject = s->name, .detail = line->checksum};
    }
    *ret_troubles = troubles;
    return OWED_OK;
}

static owed_status
run_script(
    struct db *db, const struct script *script, const char *kind, int64_t now_us, owed_error *err)
{
    owed_status status = db->driver->script(db, script->text, err);
    if (status != OWED_OK)
        return status;
    return change(db, STMT_SCHEMA_RECORD,
        ARGS(V_TEXT(kind), V_TEXT(script->name), V_INT(script->version), V_TEXT(script->checksum),
            V_TIME(now_us)),
        NULL, err);
}

static owed_status
run_all(struct db *db, int64_t now_us, int *ret_applied, owed_error *err)
{
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, 0);
    struct history history;
    const struct sql *sql = db->driver->sql;
    owed_status status = read_history(db, &arena, &history, err);
    if (status == OWED_OK)
        status = refuse_foreign(sql, &history, err);
    for (const struct script *s = sql->schema; status == OWED_OK && s->name != NULL; s++) {
        if (find(&history, "schema", s->name) != NULL)
            continue;
        status = run_script(db, s, "schema", now_us, err);
        *ret_applied += 1;
    }
    for (const struct script *s = sql->routines; status == OWED_OK && s->name != NULL; s++) {
        const struct applied *line = find(&history, "routine", s->name);
        status = run_script(db, s, "routine", now_us, err);
        *ret_applied += line == NULL || strcmp(line->checksum, s->checksum) != 0;
    }
    return status;
}

/* lock_others_out: SQLite's writer lock does by itself. */
static owed_status
lock_others_out(struct db *db, owed_error *err)
{
    int64_t locked = 1;
    owed_status status = OWED_OK;
    if (db->driver->sql->statements[STMT_MIGRATE_LOCK] != NULL)
        status = query_int(db, STMT_MIGRATE_LOCK, NO_ARGS, &locked, NULL, err);
    if (status == OWED_OK && locked != 1)
        return fail(err, OWED_BUSY,
            "another migration of this store has been running for a minute: try again when it is over");
    return status;
}

owed_status
store_migrate(struct db *db, int64_t now_us, int *ret_applied, owed_error *err)
{
    int applied = 0;
    struct scope scope = {0};
    owed_status status = scope_begin(db, &scope, err);
    if (status != OWED_OK)
        return status;
    status = lock_others_out(db, err);
    bool is_locked = status == OWED_OK;
    if (is_locked)
        status = run_all(db, now_us, &applied, err);
    status = scope_end(&scope, status, err);
    // Not before the commit: whoever waits for the lock would not see the last of what was recorded.
    if (is_locked && db->driver->sql->statements[STMT_MIGRATE_UNLOCK] != NULL)
        change(db, STMT_MIGRATE_UNLOCK, NO_ARGS, NULL, NULL);
    if (status == OWED_OK && ret_applied != NULL)
        *ret_applied = applied;
    return status;
}

/* add_time writes a time as text: 2026-11-29 15:04:05.000000, and the store's word for UTC. */
static void
add_time(struct buf *text, int64_t at_us, const char *zone)
{
    char moment[MOMENT_BYTES];
    moment_write(at_us, moment);
    buf_printf(text, "'%.10s %.15s%s'", moment, moment + 11, zone);
}

/* add_literal writes a value as it would stand in a statement. */
static void
add_literal(struct buf *text, const struct value *value, const char *zone)
{
    if (value->type == VALUE_INT || (value->type == VALUE_TIME && zone == NULL)) {
        buf_int(text, value->integer);
        return;
    }
    if (value->type == VALUE_TIME) {
        add_time(text, value->integer, zone);
        return;
    }
    buf_putc(text, '\'');
    for (size_t i = 0; i < value->bytes.len; i++) {
        if (value->bytes.p[i] == '\'')
            buf_putc(text, '\'');
        buf_putc(text, value->bytes.p[i]);
    }
    buf_puts(text, "'");
}

static void
add_script(struct buf *text, const struct script *script, const struct sql *sql)
{
    bool is_routine = script->version == 0;
    if (is_routine && sql->delimiter != NULL) {
        buf_printf(text, "delimiter %s\n", sql->delimiter);
        buf_puts(text, script->text);
        buf_printf(text, "%s\ndelimiter ;\n", sql->delimiter);
        return;
    }
    if (is_routine && sql->wrap != NULL) {
        buf_printf(text, "%s ", sql->wrap);
        add_literal(text, &V_TEXT(script->text), NULL);
        buf_puts(text, ";\n");
        return;
    }
    buf_puts(text, script->text);
    buf_puts(text, text->len > 0 && text->p[text->len - 1] == '\n' ? "" : "\n");
}

/* print_script prints a script, and the statement that notes it as run, its parameters filled in: who
 * runs them by hand has what migrate would have left. */
static owed_status
print_script(const struct sql *sql, const struct script *script, const char *kind, int64_t now_us,
    const struct printer *printer)
{
    const struct value args[] = {V_TEXT(kind), V_TEXT(script->name), V_INT(script->version),
        V_TEXT(script->checksum), V_TIME(now_us)};
    CLEANUP(buf_done) struct buf text;
    buf_init(&text, LIMIT_SCRIPT_BYTES);
    add_script(&text, script, sql);
    const uint8_t *order = sql->orders == NULL ? NULL : sql->orders[STMT_SCHEMA_RECORD];
    for (const char *p = sql->statements[STMT_SCHEMA_RECORD]; *p != '\0'; p++) {
        if (*p != '?' && *p != '$') {
            buf_putc(&text, *p);
            continue;
        }
        int number = order != NULL ? *order++ : *++p - '0';
        add_literal(&text, &args[number - 1], sql->zone);
    }
    buf_puts(&text, ";\n");
    if (text.failed)
        return OWED_NOMEM;
    printer->print(printer->state, script->name, text.p);
    return OWED_OK;
}

owed_status
store_print_migrations(const char *scheme, struct db *db, int64_t now_us,
    const struct printer *printer, owed_error *err)
{
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, 0);
    struct history history = {0};
    const struct driver *driver = NULL;
    owed_status status = OWED_OK;
    if (db != NULL) {
        driver = db->driver;
        status = read_history(db, &arena, &history, err);
    } else {
        char url[32];
        snprintf(url, sizeof url, "%.16s:", or_empty(scheme));
        status = driver_for(url, &driver, err);
    }
    if (status == OWED_OK)
        status = refuse_foreign(driver->sql, &history, err);
    if (status != OWED_OK)
        return status;
    for (const struct script *s = driver->sql->schema; status == OWED_OK && s->name != NULL; s++)
        if (find(&history, "schema", s->name) == NULL)
            status = print_script(driver->sql, s, "schema", now_us, printer);
    for (const struct script *s = driver->sql->routines; status == OWED_OK && s->name != NULL; s++)
        status = print_script(driver->sql, s, "routine", now_us, printer);
    return status == OWED_OK ? OWED_OK : fail_memory(err);
}
