/* SPDX-License-Identifier: MIT
 *
 * test_sent_once.c - keys of notifications: who has one, who comes late, and when they are forgotten.
 */
#include "world.h"

#include <string.h>

#include "store/sent_once.h"

#define DAY (24 * 3600 * SECOND)

static struct sent_once
sender(const char *key, const char *token, int64_t now_us)
{
    return (struct sent_once){.key = key, .token = token, .now_us = now_us, .lease_us = LEASE};
}

static enum once_claim
ask(struct world *world, struct db *db, const char *key, const char *token, int64_t now_us)
{
    const struct sent_once once = sender(key, token, now_us);
    enum once_claim claimed = ONCE_PENDING;
    const char *receipt = NULL;
    assert_ok(store_once_claim(db, &once, &world->arena, &claimed, &receipt, &world->err));
    if (claimed == ONCE_SENT)
        assert_string_equal(receipt, "{\"by\":\"first\"}");
    return claimed;
}

static void
complete(struct world *world, const char *key, const char *token, const char *receipt)
{
    const struct sent_once once = sender(key, token, NOW);
    assert_ok(store_once_complete(world->db, &once, receipt, NOW + DAY, &world->err));
}

static void
release(struct world *world, const char *key, const char *token)
{
    const struct sent_once once = sender(key, token, NOW);
    assert_ok(store_once_release(world->db, &once, &world->err));
}

static void
one_has_a_key_and_others_wait_until_its_lease_is_over(void **state)
{
    struct world *world = *state;
    assert_int_equal(ask(world, world->db, "a", "first", NOW), ONCE_CLAIMED);
    assert_int_equal(ask(world, world->other, "a", "second", NOW), ONCE_PENDING);
    assert_int_equal(ask(world, world->other, "b", "second", NOW), ONCE_CLAIMED);
    assert_int_equal(ask(world, world->db, "a", "first", NOW), ONCE_CLAIMED); // another attempt
    assert_int_equal(ask(world, world->other, "a", "second", NOW + LEASE - 1), ONCE_PENDING);
    assert_int_equal(ask(world, world->other, "a", "second", NOW + LEASE), ONCE_CLAIMED);
}

static void
what_was_sent_is_known_until_its_time_is_over_to_its_sender_too(void **state)
{
    struct world *world = *state;
    assert_int_equal(ask(world, world->db, "a", "first", NOW), ONCE_CLAIMED);
    assert_int_equal(ask(world, world->db, "b", "first", NOW), ONCE_CLAIMED);
    complete(world, "a", "first", "{\"by\":\"first\"}");
    assert_int_equal(ask(world, world->other, "b", "second", NOW), ONCE_PENDING);
    assert_int_equal(ask(world, world->other, "a", "second", NOW + DAY - 1), ONCE_SENT);
    assert_int_equal(ask(world, world->db, "a", "first", NOW), ONCE_SENT);
    release(world, "a", "first"); // what is sent is not given back
    complete(world, "a", "first", "{\"by\":\"nobody\"}");
    assert_int_equal(ask(world, world->db, "a", "first", NOW), ONCE_SENT);
    assert_int_equal(ask(world, world->other, "a", "second", NOW + DAY), ONCE_CLAIMED);
}

static void
who_comes_late_neither_completes_nor_releases_what_another_has(void **state)
{
    struct world *world = *state;
    assert_int_equal(ask(world, world->db, "a", "late", NOW), ONCE_CLAIMED);
    assert_int_equal(ask(world, world->db, "b", "late", NOW), ONCE_CLAIMED);
    assert_int_equal(ask(world, world->db, "c", "late", NOW), ONCE_CLAIMED);
    assert_int_equal(ask(world, world->other, "a", "first", NOW + LEASE), ONCE_CLAIMED);
    complete(world, "a", "late", "{\"by\":\"late\"}");
    release(world, "a", "late");
    assert_int_equal(ask(world, world->db, "a", "third", NOW + LEASE), ONCE_PENDING);
    complete(world, "a", "first", "{\"by\":\"first\"}");
    assert_int_equal(ask(world, world->db, "a", "third", NOW + LEASE), ONCE_SENT);
    release(world, "b", "late");
    assert_int_equal(ask(world, world->db, "b", "third", NOW), ONCE_CLAIMED);
    assert_int_equal(ask(world, world->db, "c", "third", NOW), ONCE_PENDING);
}

static void
keys_whose_time_is_over_are_forgotten_so_many_at_once(void **state)
{
    struct world *world = *state;
    int64_t count = 0;
    assert_int_equal(ask(world, world->db, "a", "first", NOW - 2 * LEASE), ONCE_CLAIMED);
    assert_int_equal(ask(world, world->db, "b", "first", NOW - LEASE), ONCE_CLAIMED);
    assert_int_equal(ask(world, world->db, "c", "first", NOW - LEASE + 1), ONCE_CLAIMED);
    assert_ok(store_once_prune(world->db, NOW, 1, &count, &world->err));
    assert_int_equal(count, 1);
    assert_int_equal(
        raw_number(plain(world), "select count(*) from owed_dedup where dedup_key = 'b'"), 1);
    assert_ok(store_once_prune(world->db, NOW, 10, &count, &world->err));
    assert_int_equal(count, 1);
    assert_int_equal(count_of(world, "owed_dedup"), 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(one_has_a_key_and_others_wait_until_its_lease_is_over),
        TEST(what_was_sent_is_known_until_its_time_is_over_to_its_sender_too),
        TEST(who_comes_late_neither_completes_nor_releases_what_another_has),
        TEST(keys_whose_time_is_over_are_forgotten_so_many_at_once),
    };
    return run_on_all_stores("store sent_once", tests, COUNT(tests));
}
