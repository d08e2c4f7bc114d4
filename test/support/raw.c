/* SPDX-License-Identifier: MIT
 *
 * raw.c - see raw.h.
 */
#include "raw_kind.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../unit.h"

#include "base/clock.h"
#include "store/driver.h"

struct raw {
    const struct raw_kind *kind;
    void *native;
    bool borrowed;
};

static const struct raw_kind *const kinds[] = {
    &raw_sqlite,
#ifdef TEST_WITH_POSTGRES
    &raw_postgres,
#endif
#ifdef TEST_WITH_MARIADB
    &raw_mariadb,
#endif
};

static const struct raw_kind *
kind_of(const char *url)
{
    for (size_t i = 0; i < COUNT(kinds); i++) {
        size_t len = strlen(kinds[i]->scheme);
        if (strncmp(url, kinds[i]->scheme, len) == 0 && (url[len] == ':' || url[len] == '\0'))
            return kinds[i];
    }
    fail_msg("no test can connect to %s: its client library was not there at build time", url);
    return NULL;
}

struct raw *
raw_open(const char *url)
{
    struct raw *raw = calloc(1, sizeof *raw);
    assert_non_null(raw);
    struct buf error;
    buf_init(&error, 4096);
    raw->kind = kind_of(url);
    raw->native = raw->kind->open(url, &error);
    if (raw->native == NULL)
        fail_msg("%s: %s", url, buf_text(&error));
    buf_done(&error);
    return raw;
}

void
raw_close(struct raw *raw)
{
    if (raw == NULL)
        return;
    if (!raw->borrowed)
        raw->kind->close(raw->native);
    free(raw);
}

struct raw *
raw_of(struct db *db)
{
    // Lent for the life of the test; the few that are made at a time are told apart by their handle.
    static struct raw lent[16];
    static size_t next;
    const struct raw_kind *kind = kind_of(db->driver->scheme);
    void *native = db->driver->native(db);
    for (size_t i = 0; i < COUNT(lent); i++)
        if (lent[i].native == native && lent[i].kind == kind)
            return &lent[i];
    struct raw *raw = &lent[next++ % COUNT(lent)];
    *raw = (struct raw){kind, native, true};
    return raw;
}

static bool
run(struct raw *raw, const char *statements, raw_take take, void *state, struct buf *error)
{
    buf_init(error, 4096);
    const char *end = strchr(statements, ';');
    bool is_several = raw->borrowed && raw->kind->several != NULL && end != NULL && end[1] != '\0';
    if (is_several)
        raw->kind->several(raw->native, true);
    bool worked = raw->kind->run(raw->native, statements, take, state, error);
    if (is_several)
        raw->kind->several(raw->native, false);
    return worked;
}

static void
must_run(struct raw *raw, const char *statements, raw_take take, void *state)
{
    struct buf error;
    if (!run(raw, statements, take, state, &error))
        fail_msg("%s: %s", statements, buf_text(&error));
    buf_done(&error);
}

void
raw_run(struct raw *raw, const char *statements)
{
    must_run(raw, statements, NULL, NULL);
}

static char *
written(const char *format, va_list args)
{
    char *text = NULL;
    if (vasprintf(&text, format, args) < 0)
        fail_msg("%s: no memory", format);
    return text;
}

void
raw_runf(struct raw *raw, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *statements = written(format, args);
    va_end(args);
    raw_run(raw, statements);
    free(statements);
}

bool
raw_try(struct raw *raw, const char *statements)
{
    struct buf error;
    bool worked = run(raw, statements, NULL, NULL, &error);
    buf_done(&error);
    return worked;
}

void
raw_refused(struct raw *raw, const char *statements, const char *words)
{
    struct buf error;
    if (run(raw, statements, NULL, NULL, &error))
        fail_msg("%s: worked", statements);
    if (strstr(buf_text(&error), words) == NULL)
        fail_msg("%s: '%s' does not say '%s'", statements, buf_text(&error), words);
    buf_done(&error);
}

struct first {
    bool found;
    char text[256];
};

static void
keep_first(void *state, const struct raw_value *values, size_t count)
{
    struct first *first = state;
    if (!first->found && count > 0)
        snprintf(first->text, sizeof first->text, "%s", or_empty(values[0].text));
    first->found = true;
}

void
raw_text(struct raw *raw, const char *query, char text[static 256])
{
    struct first first = {0};
    must_run(raw, query, keep_first, &first);
    if (!first.found)
        fail_msg("%s: no row", query);
    memcpy(text, first.text, sizeof first.text);
}

struct list {
    char *text;
    int count;
};

static void
keep_all(void *state, const struct raw_value *values, size_t count)
{
    struct list *list = state;
    size_t len = strlen(list->text);
    const char *comma = list->count++ == 0 ? "" : ",";
    snprintf(
        list->text + len, 256 - len, "%s%s", comma, count == 0 ? "" : or_empty(values[0].text));
}

void
raw_list(struct raw *raw, const char *query, char text[static 256])
{
    struct list list = {.text = text};
    text[0] = '\0';
    must_run(raw, query, keep_all, &list);
}

int64_t
raw_number(struct raw *raw, const char *query)
{
    char text[256];
    raw_text(raw, query, text);
    char *end = text;
    int64_t number = strtoll(text, &end, 10);
    if (*end != '\0' && *end != '.')
        fail_msg("%s: '%s' is no number", query, text);
    return number;
}

int64_t
raw_numberf(struct raw *raw, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *query = written(format, args);
    va_end(args);
    int64_t number = raw_number(raw, query);
    free(query);
    return number;
}

bool
raw_each(struct raw *raw, const char *query, raw_take take, void *state, struct buf *error)
{
    return run(raw, query, take, state, error);
}

struct taker {
    void (*take)(void *state, const char *text);
    void *state;
};

static void
take_first(void *state, const struct raw_value *values, size_t count)
{
    const struct taker *taker = state;
    taker->take(taker->state, count == 0 ? NULL : values[0].text);
}

void
raw_rows(
    struct raw *raw, const char *query, void (*take)(void *state, const char *text), void *state)
{
    struct taker taker = {take, state};
    must_run(raw, query, take_first, &taker);
}

const char *
raw_scheme(const struct raw *raw)
{
    return raw->kind->scheme;
}

void *
raw_native(struct raw *raw)
{
    return raw->native;
}

bool
raw_in_transaction(struct raw *raw)
{
    return raw->kind->in_transaction(raw->native);
}

int64_t
raw_session(struct raw *raw)
{
    return raw->kind->session(raw->native);
}

struct raw_locks
raw_locks_of(struct raw *raw, int64_t session)
{
    return raw->kind->locks(raw->native, session);
}

void
raw_await_waiter(struct raw *raw, int64_t session)
{
    int64_t end_us = clock_monotonic_us(&clock_system) + 20 * US_PER_SECOND;
    while (!raw_locks_of(raw, session).is_waiting)
        if (clock_monotonic_us(&clock_system) > end_us)
            fail_msg("session %lld waits for nothing", (long long)session);
}

void
raw_fire(struct raw *raw, const char *name, const char *payload)
{
    raw_runf(raw, raw->kind->fire, name, payload);
}

void
raw_refuse(struct raw *raw, const char *table, const char *event, const char *condition,
    const char *message)
{
    raw_runf(raw, raw->kind->refuse, event, table, event, table, condition, message);
}

void
raw_allow(struct raw *raw, const char *table, const char *event)
{
    raw_runf(raw, raw->kind->allow, event, table, table);
}
