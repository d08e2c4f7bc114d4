/* SPDX-License-Identifier: MIT
 *
 * test_races.c - several processes fire, publish and fire again, all at once, on one store.
 */
#include "fixture.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "declare/publish.h"

#define PROCESSES 4
#define KEYS 40
#define EVENTS 60

/* What a process does with a store of its own; it answers with its exit status, 0 for well. */
typedef int (*part)(struct fixture *fixture, owed *owed, int number);

static void
declare_two(owed_registry *registry, const char *lane, bool both)
{
    const owed_receiver stock = {
        .key = "shop.stock", .event = &order_placed, .discard = true, .lane = lane};
    const owed_receiver billing = {.key = "shop.billing", .event = &order_placed, .discard = true};
    assert_ok(owed_declare_receiver(registry, &stock, NULL));
    if (both)
        assert_ok(owed_declare_receiver(registry, &billing, NULL));
}

/* play runs a part in a process that opens everything anew, once the start is given. */
static pid_t
play(struct fixture *f, part act, int number, const int gate[2])
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid != 0)
        return pid;
    char byte;
    close(gate[1]);
    // The end of the pipe is the start of the race.
    if (read(gate[0], &byte, 1) != 0)
        _exit(90);
    owed_settings settings = {.url = f->url, .registry = f->registry, .no_publish = true};
    owed *handle = NULL;
    owed_error err = {0};
    if (owed_open(&settings, &handle, &err) != OWED_OK) {
        fprintf(stderr, "%s\n", err.text);
        _exit(91);
    }
    int code = act(f, handle, number);
    owed_close(handle);
    _exit(code);
}

static void
race(struct fixture *f, const part *acts, size_t count)
{
    int gate[2];
    pid_t pids[PROCESSES];
    // Nothing is open while processes are made: SQLite does not outlive a fork.
    store_close(f->other);
    f->other = NULL;
    raw_close(f->raw);
    f->raw = NULL;
    assert_int_equal(pipe(gate), 0);
    for (size_t i = 0; i < count; i++)
        pids[i] = play(f, acts[i], (int)i, gate);
    close(gate[0]);
    close(gate[1]);
    for (size_t i = 0; i < count; i++) {
        int status = 0;
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    struct db_options options = {.busy_timeout_us = US_PER_SECOND};
    assert_ok(store_open(f->url, &options, &f->other, &f->err));
    f->raw = raw_open(f->url);
}

/* Every process wants to be the one who fires each key. */
static int
fire_keys(struct fixture *f, owed *handle, int number)
{
    (void)f;
    for (int i = 0; i < KEYS; i++) {
        char key[16];
        snprintf(key, sizeof key, "key-%d", (i + number * 7) % KEYS);
        const owed_fire_options options = {.dedupe_key = key};
        const order payload = {.id = i, .currency = "EUR"};
        owed_tx *tx = NULL;
        int64_t id = 0;
        if (owed_begin(handle, &tx, NULL) != OWED_OK)
            return 1;
        owed_status status = owed_fire(tx, &order_placed, &payload, &options, &id, NULL);
        if ((status != OWED_OK && status != OWED_DUPLICATE) || id == 0)
            return 2;
        if (owed_commit(tx, NULL) != OWED_OK)
            return 3;
    }
    return 0;
}

static int
fire_plainly(struct fixture *f, owed *handle, int number)
{
    (void)f;
    for (int i = 0; i < EVENTS; i++) {
        const order payload = {.id = number * 1000 + i, .currency = "EUR"};
        owed_tx *tx = NULL;
        if (owed_begin(handle, &tx, NULL) != OWED_OK)
            return 1;
        if (owed_fire(tx, &order_placed, &payload, NULL, NULL, NULL) != OWED_OK)
            return 2;
        if (owed_commit(tx, NULL) != OWED_OK)
            return 3;
    }
    return 0;
}

/* Newer and newer releases come out: now with both receivers, now with one, in another lane. */
static int
publish_again_and_again(struct fixture *f, owed *handle, int number)
{
    (void)f;
    (void)number;
    owed_registry *registries[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        if (owed_registry_new("shop", &registries[i], NULL) != OWED_OK)
            return 1;
        declare_two(registries[i], i == 0 ? "quick" : "slow", i == 0);
    }
    for (int release = 2; release < 40; release++) {
        int64_t changed = 0;
        int64_t now_us = clock_now_us(&clock_system);
        if (publish_registry(
                handle->db, registries[release % 2], release, now_us, &changed, NULL) != OWED_OK)
            return 2;
    }
    owed_registry_free(registries[0]);
    owed_registry_free(registries[1]);
    return 0;
}

static void
each_dedupe_key_is_fired_once_whoever_wins(void **state)
{
    struct fixture *f = *state;
    declare_two(f->registry, NULL, true);
    const part acts[PROCESSES] = {fire_keys, fire_keys, fire_keys, fire_keys};
    race(f, acts, PROCESSES);
    assert_int_equal(fixture_events(f), KEYS);
    assert_int_equal(fixture_owed(f, 0, "shop.stock"), KEYS);
    assert_int_equal(fixture_owed(f, 0, "shop.billing"), KEYS);
    assert_int_equal(fixture_owed(f, 0, NULL), 2 * KEYS);
}

static void
what_is_published_meanwhile_takes_nothing_from_anyone(void **state)
{
    struct fixture *f = *state;
    declare_two(f->registry, NULL, true);
    const part acts[PROCESSES] = {
        fire_plainly, fire_plainly, publish_again_and_again, fire_plainly};
    race(f, acts, PROCESSES);
    assert_int_equal(fixture_events(f), 3 * EVENTS);
    assert_int_equal(fixture_owed(f, 0, "shop.stock"), 3 * EVENTS);
    assert_int_equal(fixture_owed(f, 0, "shop.billing"), 3 * EVENTS);
    assert_int_equal(fixture_owed(f, 0, NULL), 6 * EVENTS);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(each_dedupe_key_is_fired_once_whoever_wins),
        CASE(what_is_published_meanwhile_takes_nothing_from_anyone),
    };
    return RUN_ON_ALL_STORES("races", tests);
}
