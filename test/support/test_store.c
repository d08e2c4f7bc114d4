/* SPDX-License-Identifier: MIT
 *
 * test_store.c - see test_store.h.
 */
#include "test_store.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "../unit.h"

#include "store/verbs.h"
#include "test_store_kind.h"

static const struct server_kind *const servers[] = {&postgres_server, &mariadb_server};

static struct {
    char url[256];                // as OWED_TEST_STORES has it
    const struct server_kind *of; // NULL: SQLite
    struct raw *admin;
    char kept[256]; // a migrated store that nobody uses; ""
    int number;     // of databases made
} now = {.url = "sqlite:"};

static void
scheme_of(const char *url, char scheme[static 32])
{
    snprintf(scheme, 32, "%.*s", (int)strcspn(url, ":"), url);
}

const char *
test_store_scheme(void)
{
    static char scheme[32];
    scheme_of(now.url, scheme);
    return scheme;
}

bool
test_store_is(const char *scheme)
{
    return strcmp(test_store_scheme(), scheme) == 0;
}

static bool
has_room(const char *path)
{
    struct statvfs fs;
    return access(path, W_OK) == 0 && statvfs(path, &fs) == 0 && fs.f_bavail * fs.f_bsize > 1 << 30;
}

static void
make_folder(struct test_store *store)
{
    // In memory where that can be: thousands of commits would wait for the disk.
    // Whoever runs what may be killed says where, and clears it away.
    const char *base = getenv("OWED_TEST_FOLDER");
    if (base == NULL)
        base = has_room("/dev/shm") ? "/dev/shm" : "/tmp";
    snprintf(store->folder, sizeof store->folder, "%s/owed-test-XXXXXX", base);
    assert_non_null(mkdtemp(store->folder));
}

static void
remove_folder(const char *path)
{
    DIR *dir = opendir(path);
    if (dir == NULL)
        return;
    for (const struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(dirfd(dir), entry->d_name, 0);
    closedir(dir);
    rmdir(path);
}

/* The database's name is what stands behind the last slash, up to a question mark. */
static char *
name_in(char *url)
{
    char *slash = strrchr(url, '/');
    assert_non_null(slash);
    return slash + 1;
}

static void
create_database(struct test_store *store)
{
    char name[64];
    snprintf(name, sizeof name, "owed_%d_%d", (int)getpid(), ++now.number);
    snprintf(store->url, sizeof store->url, "%s", now.url);
    char *at = name_in(store->url);
    char options[128];
    snprintf(options, sizeof options, "%s", at + strcspn(at, "?"));
    snprintf(at, sizeof store->url - (size_t)(at - store->url), "%s%s", name, options);
    if (now.admin == NULL)
        now.admin = raw_open(now.url);
    raw_runf(now.admin, "create database %s", name);
    struct raw *raw = raw_open(store->url);
    raw_run(raw, now.of->helpers);
    raw_close(raw);
}

static void
drop_database(const char *url)
{
    char copy[256];
    snprintf(copy, sizeof copy, "%s", url);
    char *name = name_in(copy);
    name[strcspn(name, "?")] = '\0';
    raw_runf(now.admin, now.of->drop, name);
}

void
test_store_empty(struct test_store *store)
{
    *store = (struct test_store){.is_empty = true};
    make_folder(store);
    if (now.of == NULL)
        snprintf(store->url, sizeof store->url, "sqlite:%s/shop.db", store->folder);
    else
        create_database(store);
}

void
test_store_new(struct test_store *store)
{
    if (now.kept[0] == '\0') {
        test_store_empty(store);
    } else {
        *store = (struct test_store){0};
        make_folder(store);
        memcpy(store->url, now.kept, sizeof store->url);
        now.kept[0] = '\0';
    }
    store->is_empty = false;
}

static void
keep(struct test_store *store)
{
    struct raw *raw = raw_open(store->url);
    now.of->empty_it(raw);
    raw_close(raw);
    memcpy(now.kept, store->url, sizeof now.kept);
}

void
test_store_free(struct test_store *store)
{
    if (now.of != NULL) {
        if (store->is_empty || store->is_spoilt || now.kept[0] != '\0')
            drop_database(store->url);
        else
            keep(store);
    }
    remove_folder(store->folder);
}

static void
forget_kept(void)
{
    if (now.kept[0] != '\0')
        drop_database(now.kept);
    raw_close(now.admin);
    now.admin = NULL;
    now.kept[0] = '\0';
}

static void
serve(const char *url)
{
    snprintf(now.url, sizeof now.url, "%s", url);
    now.of = NULL;
    for (size_t i = 0; i < COUNT(servers); i++)
        if (test_store_is(servers[i]->scheme))
            now.of = servers[i];
}

const char *
test_store_make(const char *url)
{
    static struct test_store store;
    serve(url);
    create_database(&store);
    forget_kept();
    return store.url;
}

void
test_store_unmake(const char *url, const char *made)
{
    serve(url);
    now.admin = raw_open(url);
    drop_database(made);
    forget_kept();
}

/* turn_to makes this URL the store of what follows; false: this build cannot. */
static bool
turn_to(const char *url)
{
    const struct driver *driver;
    if (driver_for(url, &driver, NULL) != OWED_OK) {
        char scheme[32];
        scheme_of(url, scheme);
        print_message("%s is left out: this build has no driver for it\n", scheme);
        return false;
    }
    serve(url);
    return true;
}

int
run_on_stores(const char *scheme, const char *name, const struct CMUnitTest *tests, size_t count)
{
    const char *said = getenv("OWED_TEST_STORES");
    char *list = strdup(said == NULL ? "sqlite:" : said);
    char *rest = NULL;
    int failed = 0;
    for (char *url = strtok_r(list, " ", &rest); url != NULL; url = strtok_r(NULL, " ", &rest)) {
        if (scheme != NULL && strncmp(url, scheme, strlen(scheme)) != 0)
            continue;
        if (!turn_to(url))
            continue;
        print_message("on %s\n", test_store_scheme());
        failed += _cmocka_run_group_tests(name, tests, count, NULL, NULL);
        forget_kept();
    }
    free(list);
    return failed;
}

int
run_on_all_stores(const char *name, const struct CMUnitTest *tests, size_t count)
{
    return run_on_stores(NULL, name, tests, count);
}
