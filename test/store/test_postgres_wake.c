/* SPDX-License-Identifier: MIT
 *
 * test_postgres_wake.c - being told of commits on PostgreSQL while nobody is at work, and only then.
 */
#include "world.h"

#include <libpq-fe.h>
#include <poll.h>
#include <string.h>

#include "base/clock.h"

#define SOON_MS 5000

static int64_t
mono_us(void)
{
    return clock_monotonic_us(&clock_system);
}

/* comes waits until something is heard; false: the time is over. */
static bool
comes(struct db *db, int timeout_ms)
{
    int64_t end_us = mono_us() + timeout_ms * US_PER_MS;
    for (;;) {
        if (db->driver->changed(db))
            return true;
        int64_t left_us = end_us - mono_us();
        if (left_us <= 0)
            return false;
        struct pollfd fd = {.fd = db->driver->wake_fd(db), .events = POLLIN};
        poll(&fd, 1, (int)(left_us / US_PER_MS) + 1);
    }
}

/* lie_down waits until the watch is proven, and says that somebody waits. */
static bool
lie_down(struct db *db)
{
    int64_t end_us = mono_us() + SOON_MS * US_PER_MS;
    while (mono_us() < end_us) {
        if (db->driver->asleep(db, true))
            return true;
        comes(db, 10);
    }
    return false;
}

static void
start(struct world *world)
{
    static const char *const keys[] = {"shop.billing", NULL};
    publish_keys(world, keys);
    assert_true(world->db->driver->wake_fd(world->db) >= 0);
    assert_true(world->db->driver->changed(world->db)); // what came before is looked for
}

static void
fire_there(struct world *world)
{
    raw_fire(plain(world), EVENT, "{}");
}

static void
a_commit_wakes_who_sleeps(void **state)
{
    struct world *world = *state;
    start(world);
    assert_true(lie_down(world->db));
    assert_false(comes(world->db, 0));
    for (int i = 0; i < 3; i++) {
        fire_there(world);
        assert_true(comes(world->db, SOON_MS));
        assert_false(comes(world->db, 0));
    }
    assert_null(world->db->driver->deaf(world->db));
}

static void
nothing_is_announced_to_nobody(void **state)
{
    struct world *world = *state;
    start(world);
    assert_true(lie_down(world->db));
    world->db->driver->asleep(world->db, false);
    fire_there(world);
    // A notification would be older than the answer to this one.
    raw_run(plain(world), "notify owed, 'last'");
    assert_true(comes(world->db, SOON_MS));
    assert_false(comes(world->db, 0));
    assert_int_equal(raw_number(plain(world),
                         "select count(*) from pg_locks where locktype = 'advisory' and objid = 2"),
        0);
}

static void
one_who_began_before_is_waited_for(void **state)
{
    struct world *world = *state;
    start(world);
    raw_run(plain(world), "begin");
    fire_there(world);
    comes(world->db, 100);
    // Nobody told him that somebody waits, so nobody is told of his commit.
    int64_t end_us = mono_us() + 200 * US_PER_MS;
    while (mono_us() < end_us) {
        assert_false(world->db->driver->asleep(world->db, true));
        comes(world->db, 10);
    }
    raw_run(plain(world), "commit");
    assert_true(lie_down(world->db));
}

static void
those_who_come_later_announce_it_even_while_one_is_not_done(void **state)
{
    struct world *world = *state;
    start(world);
    raw_run(plain(world), "begin");
    fire_there(world);
    while (comes(world->db, 50))
        continue;
    assert_false(world->db->driver->asleep(world->db, true));
    fire(world, EVENT);
    assert_true(comes(world->db, SOON_MS));
    raw_run(plain(world), "commit");
}

/* wake_for runs something that makes a row free, and expects it to be heard. */
static void
wake_for(struct world *world, const char *statement, bool is_heard)
{
    while (comes(world->db, 0))
        continue;
    raw_run(plain(world), statement);
    raw_run(plain(world), "select pg_notify('owed last', '')");
    check_case(comes(world->db, is_heard ? SOON_MS : 50) == is_heard, statement);
}

static void
rows_that_are_free_again_are_announced_and_others_are_not(void **state)
{
    struct world *world = *state;
    start(world);
    fire(world, EVENT);
    assert_true(lie_down(world->db));
    wake_for(world,
        "update owed_delivery set status = 'claimed', claimed_by = 'a', "
        "lease_expires_at = now() + interval '1 h'",
        false);
    wake_for(world, "update owed_delivery set lease_expires_at = timestamptz 'epoch'", true);
    wake_for(world, "update owed_delivery set status = 'dead'", false);
    wake_for(world, "update owed_delivery set status = 'pending'", true);
    wake_for(world, "update owed_delivery set lane = 'shop/other'", true);
    wake_for(world, "update owed_delivery set status = 'succeeded'", false);
}

static void
two_sleep_and_one_rises(void **state)
{
    struct world *world = *state;
    start(world);
    assert_true(world->other->driver->wake_fd(world->other) >= 0);
    assert_true(lie_down(world->db));
    assert_true(lie_down(world->other));
    while (comes(world->db, 0) || comes(world->other, 0))
        continue;
    world->other->driver->asleep(world->other, false);
    fire_there(world);
    assert_true(comes(world->db, SOON_MS));
}

static int64_t
listeners(struct world *world)
{
    return raw_number(plain(world),
        "select count(*) from pg_stat_activity where datname = current_database() and query like '%owed%' "
        "and query like '%listen%' and pid <> pg_backend_pid()");
}

static void
a_listener_that_was_ended_is_noticed_and_comes_back(void **state)
{
    struct world *world = *state;
    start(world);
    while (comes(world->db, 100))
        continue;
    assert_int_equal(listeners(world), 1);
    raw_run(plain(world),
        "select pg_terminate_backend(pid, 5000) from pg_stat_activity where "
        "datname = current_database() and query like '%listen%' and pid <> pg_backend_pid()");
    fire_there(world); // nobody hears it, so it has to be looked for
    assert_true(comes(world->db, SOON_MS));
    assert_true(lie_down(world->db));
    while (comes(world->db, 0))
        continue;
    fire_there(world);
    assert_true(comes(world->db, SOON_MS));
}

static void
who_died_in_his_sleep_is_not_waited_for(void **state)
{
    struct world *world = *state;
    start(world);
    assert_true(lie_down(world->db));
    store_close(world->db);
    world->db = NULL;
    int64_t end_us = mono_us() + SOON_MS * US_PER_MS;
    int64_t left = 1;
    while (left > 0 && mono_us() < end_us)
        left = raw_number(plain(world),
            "select count(*) from pg_locks where locktype = 'advisory' and objid = 2");
    assert_int_equal(left, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_commit_wakes_who_sleeps),
        TEST(nothing_is_announced_to_nobody),
        TEST(one_who_began_before_is_waited_for),
        TEST(those_who_come_later_announce_it_even_while_one_is_not_done),
        TEST(rows_that_are_free_again_are_announced_and_others_are_not),
        TEST(two_sleep_and_one_rises),
        TEST(a_listener_that_was_ended_is_noticed_and_comes_back),
        TEST(who_died_in_his_sleep_is_not_waited_for),
    };
    return run_on_stores("postgres", "postgres wake", tests, COUNT(tests));
}
