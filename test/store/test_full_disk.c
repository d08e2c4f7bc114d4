/* SPDX-License-Identifier: MIT
 *
 * test_full_disk.c - a server whose disk is full: what is new is refused, nothing is lost, and all goes on
 * when there is room again.
 *
 * The server is one of this program's own, and is told that its disk is full (see full_disk.c).
 */
#include "world.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "own_server.h"

#define ROWS 300
#define FIRES_MOST 1000 // each longer than a page is
#define PAYLOAD_BYTES 100000
#define ERROR_BYTES 20000

static char own_url[256];
static char sign[128]; // while this file is there the disk is full

static void
fill_disk(void)
{
    int fd = open(sign, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    close(fd);
}

static void
make_room(void)
{
    assert_int_equal(unlink(sign), 0);
}

/* make_text makes what no server packs: the digits of a generator's numbers. */
static void
make_text(char *text, size_t len)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_";
    static uint64_t number = 88172645463325252;
    for (size_t i = 0; i < len; i++) {
        number ^= number << 13;
        number ^= number >> 7;
        number ^= number << 17;
        text[i] = digits[number % 64];
    }
    text[len] = '\0';
}

static owed_status
fire_much(struct world *world, size_t i)
{
    (void)i;
    static char payload[PAYLOAD_BYTES + 1];
    struct new_event event = an_event(EVENT);
    int64_t id;
    bool fresh;
    make_text(payload, PAYLOAD_BYTES);
    payload[0] = payload[PAYLOAD_BYTES - 1] = '"';
    event.payload = (struct str){payload, PAYLOAD_BYTES};
    return store_insert_event(world->db, &event, &id, &fresh, &world->err);
}

static owed_status
fail_row(struct world *world, size_t i)
{
    static char error[ERROR_BYTES + 1];
    bool landed = false;
    struct settlement settlement = a_settlement(&world->rows[i].fence, "failed");
    make_text(error, ERROR_BYTES);
    settlement.last_error = error;
    owed_status status = store_settle(world->db, &settlement, 1, &landed, &world->err);
    if (status == OWED_OK)
        assert_true(landed);
    return status;
}

static void
reopen(struct world *world)
{
    struct db_options options = {.create = true};
    store_close(world->db);
    world->db = NULL;
    assert_ok(store_open(own_url, &options, &world->db, &world->err));
    raw_close(world->raw);
    world->raw = raw_open(own_url);
}

/* copy puts the library where whoever runs the server can read it. */
static void
copy(const char *library, const char *folder)
{
    char target[128];
    char bytes[1 << 14];
    ssize_t count;
    assert_non_null(library);
    snprintf(target, sizeof target, "%s/full_disk.so", folder);
    int from = open(library, O_RDONLY | O_CLOEXEC);
    int to = open(target, O_CREAT | O_WRONLY | O_CLOEXEC, 0755);
    assert_true(from >= 0 && to >= 0);
    while ((count = read(from, bytes, sizeof bytes)) > 0)
        assert_int_equal(write(to, bytes, (size_t)count), count);
    assert_int_equal(count, 0);
    close(from);
    close(to);
}

/* own_world has the world on a server of this program's own. */
static void
own_world(struct world *world)
{
    char environment[512];
    const char *folder = own_server_folder();
    snprintf(sign, sizeof sign, "%s/full", folder);
    copy(getenv("FULL_DISK"), folder);
    snprintf(environment, sizeof environment, "LD_PRELOAD=%s/full_disk.so OWED_TEST_FULL_DISK=%s",
        folder, sign);
    own_server_start(test_store_scheme(), environment, "--durable", own_url);
    reopen(world);
    assert_ok(store_migrate(world->db, NOW, NULL, &world->err));
}

/* until_full does it until there is no room, and answers how often it was done. */
static size_t
until_full(struct world *world, owed_status (*act)(struct world *world, size_t i), size_t most)
{
    size_t done = 0;
    owed_status status = OWED_OK;
    fill_disk();
    while (done < most && (status = act(world, done)) == OWED_OK)
        done++;
    make_room();
    assert_int_equal(status, OWED_UNAVAILABLE);
    assert_false(store_in_transaction(world->db));
    // MariaDB may end for it, in the midst of a rollback or of clearing away what is old.
    if (test_store_is("mariadb")) {
        own_server_do("mariadb", "restart", "immediate");
        reopen(world);
    }
    return done;
}

static void
a_full_disk_refuses_what_is_new_and_loses_nothing(void **state)
{
    struct world *world = *state;
    int64_t ids[ROWS];
    own_server_needed();
    own_world(world);
    publish_keys(world, (const char *const[]){"shop.billing", NULL});
    fire_many(world, ROWS, ids);
    assert_int_equal(claim_as(world, "first", NOW, ROWS), ROWS);

    size_t fired = until_full(world, fire_much, FIRES_MOST);
    assert_int_equal(count_of(world, "owed_event"), ROWS + fired);
    assert_int_equal(count_of(world, "owed_delivery"), ROWS + fired);
    assert_ok(fire_much(world, fired));

    size_t failed = until_full(world, fail_row, ROWS);
    assert_string_equal(status_of(world, ids[failed]), "claimed");
    for (; failed < ROWS; failed++)
        assert_ok(fail_row(world, failed));
    assert_int_equal(
        raw_number(plain(world),
            "select count(*) from owed_delivery where status = 'failed' and attempts = 1"),
        ROWS);
    assert_int_equal(count_of(world, "owed_event"), ROWS + fired + 1);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {TEST(a_full_disk_refuses_what_is_new_and_loses_nothing)};
    const char *scheme = argc > 1 ? argv[1] : "postgres";
    return run_on_stores(scheme, "full disk", tests, COUNT(tests));
}
