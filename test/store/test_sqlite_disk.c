/* SPDX-License-Identifier: MIT
 *
 * test_sqlite_disk.c - a disk that fails under the store.
 */
#include "world.h"

#include <sqlite3.h>
#include <string.h>

/* Which call of a log's file fails, and how. */
static struct {
    int sync;  // result of the next syncs
    int write; // result of the next writes
    int read;
} broken;
static int syncs; // that were asked for

/* SQLite has several tables of methods, for files with and without locks; they read, write and sync
 * alike. */
enum { TABLES = 4 };
static const sqlite3_io_methods *sound; // the first one seen
static struct {
    const sqlite3_io_methods *sound;
    sqlite3_io_methods flaky;
} tables[TABLES];
static sqlite3_vfs vfs;
static int (*sound_open)(sqlite3_vfs *, sqlite3_filename, sqlite3_file *, int, int *);

static int
flaky_sync(sqlite3_file *file, int flags)
{
    syncs++;
    return broken.sync != SQLITE_OK ? broken.sync : sound->xSync(file, flags);
}

static int
flaky_write(sqlite3_file *file, const void *bytes, int len, sqlite3_int64 at)
{
    return broken.write != SQLITE_OK ? broken.write : sound->xWrite(file, bytes, len, at);
}

static int
flaky_read(sqlite3_file *file, void *bytes, int len, sqlite3_int64 at)
{
    return broken.read != SQLITE_OK ? broken.read : sound->xRead(file, bytes, len, at);
}

static const sqlite3_io_methods *
flaky_methods(const sqlite3_io_methods *methods)
{
    int i = 0;
    while (tables[i].sound != NULL && tables[i].sound != methods)
        i++;
    assert_true(i < TABLES - 1);
    if (tables[i].sound == methods)
        return &tables[i].flaky;
    tables[i].sound = methods;
    tables[i].flaky = *methods;
    tables[i].flaky.xSync = flaky_sync;
    tables[i].flaky.xWrite = flaky_write;
    tables[i].flaky.xRead = flaky_read;
    sound = tables[0].sound;
    return &tables[i].flaky;
}

static int
flaky_open(sqlite3_vfs *self, sqlite3_filename name, sqlite3_file *file, int flags, int *out)
{
    int code = sound_open(self, name, file, flags, out);
    if (code == SQLITE_OK && file->pMethods != NULL)
        file->pMethods = flaky_methods(file->pMethods);
    return code;
}

static void
break_disks(void)
{
    vfs = *sqlite3_vfs_find(NULL);
    sound_open = vfs.xOpen;
    vfs.xOpen = flaky_open;
    vfs.zName = "flaky";
    vfs.pNext = NULL;
    sqlite3_vfs_register(&vfs, 1);
}

static int64_t
events_there(struct world *world, struct db *db)
{
    struct status status;
    assert_ok(store_status(db, NOW, &world->arena, &status, &world->err));
    return status.events;
}

static void
a_commit_whose_sync_failed_is_unsure(void **state)
{
    struct world *world = *state;
    assert_ok(store_begin(world->db, true, &world->err));
    fire(world, EVENT);
    broken.sync = SQLITE_IOERR_FSYNC;
    owed_status status = store_commit(world->db, &world->err);
    broken.sync = SQLITE_OK;
    assert_int_equal(status, OWED_UNSURE);
    assert_non_null(strstr(world->err.text, "shop.db"));
    assert_false(store_in_transaction(world->db));
    // Once the disk is well, both connections say the same, and the store goes on.
    assert_int_equal(events_there(world, world->db), events_there(world, world->other));
    int64_t before = events_there(world, world->db);
    fire(world, EVENT);
    assert_int_equal(events_there(world, world->other), before + 1);
}

/* syncs_of_commit counts those of one transaction. */
static int
syncs_of_commit(struct world *world)
{
    assert_ok(store_begin(world->db, true, &world->err));
    fire(world, EVENT);
    int before = syncs;
    assert_ok(store_commit(world->db, &world->err));
    return syncs - before;
}

static void
a_commit_is_synced_and_a_claim_is_not(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {"shop.a", NULL};
    publish_keys(world, keys);
    assert_true(syncs_of_commit(world) > 0);
    syncs_of_commit(world);
    int before = syncs;
    assert_int_equal(claim_as(world, "w", NOW, 1), 1);
    assert_int_equal(syncs - before, 0);
    // What comes after it is, in a transaction or by itself, and so the claim is as well.
    struct settlement done = a_settlement(&world->rows[0].fence, "succeeded");
    assert_ok(store_settle(world->db, &done, 1, NULL, &world->err));
    assert_true(syncs - before > 0);
    assert_int_equal(claim_as(world, "w", NOW, 1), 1);
    before = syncs;
    assert_ok(store_hand_back_all(world->db, "w", 0, NULL, &world->err));
    assert_true(syncs - before > 0);
    assert_int_equal(claim_as(world, "w", NOW, 1), 1);
    assert_true(syncs_of_commit(world) > 0);
    // A claim that finds nothing, or fails, leaves no light commit behind.
    assert_int_equal(claim_as(world, "w", NOW - SECOND, 1), 0);
    assert_true(syncs_of_commit(world) > 0);
}

static void
a_commit_that_found_the_disk_full_did_not_happen(void **state)
{
    struct world *world = *state;
    assert_ok(store_begin(world->db, true, &world->err));
    fire(world, EVENT);
    broken.write = SQLITE_FULL;
    owed_status status = store_commit(world->db, &world->err);
    broken.write = SQLITE_OK;
    assert_int_equal(status, OWED_UNAVAILABLE); // worth another try
    assert_non_null(strstr(world->err.text, "make room"));
    assert_false(store_in_transaction(world->db));
    assert_int_equal(events_there(world, world->other), 0);
    fire(world, EVENT);
    assert_int_equal(events_there(world, world->other), 1);
}

static void
a_disk_that_cannot_be_read_makes_the_store_unavailable(void **state)
{
    struct world *world = *state;
    fire(world, EVENT);
    struct db_options options = {0};
    struct db *db = NULL;
    broken.read = SQLITE_IOERR_READ;
    owed_status status = store_open(world->url, &options, &db, &world->err);
    broken.read = SQLITE_OK;
    assert_int_equal(status, OWED_UNAVAILABLE);
    assert_true((world->err.native & 0xff) == SQLITE_IOERR);
    assert_null(db);
}

static void
a_checkpoint_that_fails_fails_nobody(void **state)
{
    struct world *world = *state;
    static char big[8 << 20];
    memset(big, '7', sizeof big);
    struct new_event event = an_event(EVENT);
    event.payload = (struct str){big, sizeof big};
    int64_t id;
    bool fresh;
    assert_ok(store_insert_event(world->db, &event, &id, &fresh, &world->err));
    broken.sync = SQLITE_IOERR_FSYNC;
    world->db->driver->tidy(world->db);
    broken.sync = SQLITE_OK;
    assert_int_equal(events_there(world, world->other), 1);
    fire(world, EVENT);
}

int
main(void)
{
    break_disks();
    const struct CMUnitTest tests[] = {
        TEST(a_commit_whose_sync_failed_is_unsure),
        TEST(a_commit_is_synced_and_a_claim_is_not),
        TEST(a_commit_that_found_the_disk_full_did_not_happen),
        TEST(a_disk_that_cannot_be_read_makes_the_store_unavailable),
        TEST(a_checkpoint_that_fails_fails_nobody),
    };
    return run_on_stores("sqlite", "sqlite disk", tests, COUNT(tests));
}
