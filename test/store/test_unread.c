/* SPDX-License-Identifier: MIT
 *
 * test_unread.c - rows that were claimed and are read later: whatever the connection did meanwhile, they
 * are what they would have been at once. Where a store reads them at once they are the same.
 */
#include "world.h"

#include <string.h>

#include "store/unread.h"

static const char *const billing[] = {"shop.billing", NULL};

struct later {
    struct unread unread;
    struct claimed *rows;
    size_t count;
};

static struct later
claim_later(struct world *world, const char *claimed_by, int64_t now_us, int32_t limit)
{
    struct claim asked = a_claim(claimed_by, now_us, limit);
    struct later later = {0};
    assert_ok(store_claim_unread(
        world->db, &asked, &world->arena, &later.unread, &later.rows, &later.count, &world->err));
    return later;
}

static void
read_now(struct world *world, struct db *db, struct later *later)
{
    if (later->unread.rows != NULL)
        assert_ok(store_read_claimed(
            db, &later->unread, &world->arena, &later->rows, &later->count, &world->err));
    world->rows = later->rows;
    world->count = later->count;
}

static void
what_is_read_later_is_what_was_claimed_whatever_was_claimed_since(void **state)
{
    struct world *world = *state;
    publish_keys(world, billing);
    int64_t ids[6];
    fire_many(world, 6, ids);
    struct later first = claim_later(world, "one", NOW + 1, 3);
    struct later second = claim_later(world, "two", NOW + 2, 3);
    assert_int_equal(first.count, 3);
    read_now(world, world->other, &second);
    check_order(world, ids + 3, 3);
    assert_string_equal(world->rows[0].fence.claimed_by, "two");
    read_now(world, world->other, &first);
    check_order(world, ids, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(world->rows[i].fence.claimed_by, "one");
        assert_int_equal(world->rows[i].fence.claimed_at_us, NOW + 1);
        assert_int_equal(world->rows[i].lease_expires_at_us, NOW + 1 + LEASE);
        assert_string_equal(world->rows[i].event_name, EVENT);
    }
    struct settlement outcome = a_settlement(&world->rows[1].fence, "succeeded");
    bool landed = false;
    assert_ok(store_settle(world->db, &outcome, 1, &landed, &world->err));
    assert_true(landed);
}

static void
the_last_row_says_from_where_the_next_claim_looks(void **state)
{
    struct world *world = *state;
    publish_keys(world, billing);
    fire_due(world, NOW + 10);
    fire_due(world, NOW + 20);
    fire_due(world, NOW + 30);
    struct later later = claim_later(world, "one", NOW + SECOND, 2);
    assert_int_equal(later.count, 2);
    if (later.unread.rows != NULL)
        assert_int_equal(unread_last_us(&later.unread), NOW + 20);
    read_now(world, world->db, &later);
    assert_int_equal(world->rows[1].available_at_us, NOW + 20);
}

static void
a_row_whose_event_is_gone_is_put_away_when_it_is_read(void **state)
{
    struct world *world = *state;
    publish_keys(world, billing);
    int64_t ids[3];
    fire_many(world, 3, ids);
    raw_runf(plain(world),
        "delete from owed_event where id = (select event_id from owed_delivery where id = %lld)",
        (long long)ids[1]);
    struct later later = claim_later(world, "one", NOW, 3);
    read_now(world, world->other, &later);
    check_order(world, (int64_t[]){ids[0], ids[2]}, 2);
    assert_string_equal(delivery(world, ids[1]).status, "orphaned");
}

static void
what_is_never_read_is_let_go_and_comes_back_with_its_lease(void **state)
{
    struct world *world = *state;
    publish_keys(world, billing);
    int64_t ids[2];
    fire_many(world, 2, ids);
    struct later later = claim_later(world, "one", NOW, 2);
    unread_done(&later.unread);
    assert_null(later.unread.rows);
    assert_int_equal(claim_as(world, "two", NOW + 1, 2), 0);
    assert_int_equal(
        claim_as(world, "two", NOW + LEASE + 1, 2), 1); // alone, since somebody was lost
}

static void
nothing_to_claim_leaves_nothing_unread(void **state)
{
    struct world *world = *state;
    publish_keys(world, billing);
    struct later later = claim_later(world, "one", NOW, 2);
    assert_int_equal(later.count, 0);
    assert_null(later.unread.rows);
}

#define LONG_BYTES 30000

static void
fire_long(struct world *world, int count)
{
    static char text[LONG_BYTES];
    memset(text, 'a', sizeof text);
    text[0] = text[LONG_BYTES - 1] = '"';
    for (int i = 0; i < count; i++) {
        struct new_event event = an_event(EVENT);
        event.payload = (struct str){text, sizeof text};
        int64_t id;
        bool fresh;
        assert_ok(store_insert_event(world->db, &event, &id, &fresh, &world->err));
    }
}

static void
long_payloads_that_do_not_fit_are_there_for_the_next_claim(void **state)
{
    struct world *world = *state;
    publish_keys(world, billing);
    fire_long(world, 5);
    size_t all = 0;
    for (int round = 0; round < 3; round++) {
        struct claim asked = a_claim(round % 2 == 0 ? "one" : "two", NOW + round, 4);
        asked.max_bytes = 65536;
        struct later later = {0};
        assert_ok(store_claim_unread(round == 0 ? world->db : world->other, &asked, &world->arena,
            &later.unread, &later.rows, &later.count, &world->err));
        read_now(world, world->db, &later);
        assert_int_equal(world->count, round < 2 ? 2 : 1);
        for (size_t i = 0; i < world->count; i++) {
            assert_int_equal(world->rows[i].payload.len, LONG_BYTES);
            assert_int_equal(world->rows[i].losses, 0);
            struct settlement outcome = a_settlement(&world->rows[i].fence, "succeeded");
            assert_ok(store_settle(world->db, &outcome, 1, NULL, &world->err));
        }
        all += world->count;
    }
    assert_int_equal(all, 5);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_read_later_is_what_was_claimed_whatever_was_claimed_since),
        TEST(the_last_row_says_from_where_the_next_claim_looks),
        TEST(a_row_whose_event_is_gone_is_put_away_when_it_is_read),
        TEST(what_is_never_read_is_let_go_and_comes_back_with_its_lease),
        TEST(nothing_to_claim_leaves_nothing_unread),
        TEST(long_payloads_that_do_not_fit_are_there_for_the_next_claim),
    };
    return run_on_all_stores("store unread", tests, COUNT(tests));
}
