/* SPDX-License-Identifier: MIT
 *
 * connect.c - which driver a URL asks for, connections to a store, and their transactions.
 */
#include <dlfcn.h>
#include <stdio.h>

#include "base/clock.h"
#include "store/verbs.h"

#define SCHEME_SHOWN 40 // bytes

/* A scheme's driver: linked in, or in a library of its own under its name. */
static const struct door {
    const char *scheme;
    const struct driver *linked; // NULL: not in this program
    const char *library;
    const char *symbol;
} doors[] = {
    {"sqlite", &driver_sqlite, NULL, NULL},
    {"postgres", &driver_postgres, "libowed-postgres.so.0", "driver_postgres"},
    {"postgresql", &driver_postgres, "libowed-postgres.so.0", "driver_postgres"},
    {"mariadb", &driver_mariadb, "libowed-mariadb.so.0", "driver_mariadb"},
    {"mysql", &driver_mysql, "libowed-mariadb.so.0", "driver_mysql"},
};

/* load keeps the library for the rest of the process: connections point into it. */
static owed_status
load(const struct door *door, const struct driver **ret_driver, owed_error *err)
{
    void *library = dlopen(door->library, RTLD_NOW | RTLD_LOCAL);
    const struct driver *found = library == NULL ? NULL : dlsym(library, door->symbol);
    if (found == NULL)
        return fail(err, OWED_CONFIG,
            "stores of scheme '%s' need %s, which cannot be loaded (%s): install it, or build owed "
            "with it",
            door->scheme, door->library, or_empty(dlerror()));
    *ret_driver = found;
    return OWED_OK;
}

/* is_word tells whether text may be a scheme that somebody meant. */
static bool
is_word(struct str text)
{
    static const char signs[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.";
    return text.len > 0 && text.len <= SCHEME_SHOWN && strspn(text.p, signs) >= text.len;
}

owed_status
driver_for(const char *url, const struct driver **ret_driver, owed_error *err)
{
    const char *colon = url == NULL ? NULL : strchr(url, ':');
    struct str scheme = {url, colon == NULL ? 0 : (size_t)(colon - url)};
    for (size_t i = 0; i < sizeof doors / sizeof doors[0]; i++) {
        if (!str_is(scheme, doors[i].scheme))
            continue;
        if (doors[i].linked == NULL)
            return load(&doors[i], ret_driver, err);
        *ret_driver = doors[i].linked;
        return OWED_OK;
    }
    // A word before the colon may be all there is to show: anything else can hold a password.
    return fail(err, OWED_CONFIG,
        "store URL '%.*s...' begins with no scheme that is known here; write sqlite:shop.db, "
        "postgres://user@host/shop or mariadb://user@host/shop",
        is_word(scheme) ? (int)scheme.len : 0, or_empty(url));
}

void
store_url_shown(const char *url, char *text, size_t size)
{
    const char *start = strstr(url, "://");
    if (strncmp(url, "sqlite:", 7) == 0 || start == NULL) {
        snprintf(text, size, "%s", url);
        return;
    }
    start += 3;
    // A password may hold any sign but these two.
    const char *end = start + strcspn(start, "/?");
    const char *host = memrchr(start, '@', (size_t)(end - start));
    host = host == NULL ? start : host + 1;
    snprintf(text, size, "%.*s%.*s", (int)(start - url), url, (int)strcspn(host, "?"), host);
}

owed_status
store_open(const char *url, const struct db_options *options, struct db **ret_db, owed_error *err)
{
    const struct driver *driver = NULL;
    owed_status status = driver_for(url, &driver, err);
    return status == OWED_OK ? driver->open(url, options, ret_db, err) : status;
}

void
store_close(struct db *db)
{
    if (db != NULL)
        db->driver->close(db);
}

owed_status
store_now(struct db *db, int64_t *ret_now_us, owed_error *err)
{
    if (db->driver->now != NULL)
        return db->driver->now(db, ret_now_us, err);
    *ret_now_us = clock_now_us(&clock_system);
    return OWED_OK;
}

owed_status
store_begin(struct db *db, bool write, owed_error *err)
{
    return db->driver->begin(db, write, err);
}

owed_status
store_commit(struct db *db, owed_error *err)
{
    return db->driver->commit(db, err);
}

void
store_rollback(struct db *db)
{
    db->driver->rollback(db);
}

bool
store_in_transaction(struct db *db)
{
    return db->driver->in_transaction(db);
}
