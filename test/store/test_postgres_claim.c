/* SPDX-License-Identifier: MIT
 *
 * test_postgres_claim.c - claims beside other claims: each row goes to one, nobody waits, and nobody
 * comes back with nothing while there is something left.
 */
#include "world.h"

#define ROWS 12

static const char *const one_lane[] = {LANE, NULL};
static const char *const two_lanes[] = {LANE, "shop/other", NULL};
static const char *const keys[] = {"shop.billing", NULL};

/* The ways to ask for the same rows: each is another statement. */
static struct claim
ask(int way, const char *claimed_by, int32_t limit)
{
    static const uint8_t digest[32] = {0};
    static const struct left_target nobody = {"shop.nobody", digest};
    struct claim asked = a_claim(claimed_by, NOW, limit);
    asked.lanes = way == 0 ? one_lane : two_lanes;
    if (way == 2)
        asked.receivers = keys;
    if (way == 3) {
        asked.but_targets = &nobody;
        asked.but_target_count = 1;
    }
    return asked;
}

static void
make_owed(struct world *world, int64_t *ids)
{
    publish_keys(world, keys);
    fire_many(world, ROWS, ids);
}

static size_t
claim_on(struct world *world, struct db *db, const struct claim *asked)
{
    assert_ok(store_claim(db, asked, &world->arena, &world->rows, &world->count, &world->err));
    return world->count;
}

static void
a_claim_steps_over_what_another_is_claiming(void **state)
{
    struct world *world = *state;
    int64_t ids[ROWS];
    make_owed(world, ids);
    for (int way = 0; way < 4; way++) {
        struct claim first = ask(way, "first", 5), second = ask(way, "second", 5);
        assert_ok(store_begin(world->db, true, &world->err));
        assert_int_equal(claim_on(world, world->db, &first), 5);
        check_order(world, ids, 5);
        // Not committed yet: its rows are locked, and look owed to everybody else.
        assert_int_equal(claim_on(world, world->other, &second), 5);
        check_order(world, ids + 5, 5);
        assert_int_equal(claim_on(world, world->other, &second), 2);
        check_order(world, ids + 10, 2);
        assert_int_equal(claim_on(world, world->other, &second), 0);
        store_rollback(world->db);
        for (size_t i = 0; i < ROWS; i++) // owed as before, for the next way
            raw_runf(plain(world),
                "update owed_delivery set status = 'pending', claimed_by = '' where id = %lld",
                (long long)ids[i]);
    }
}

static void
a_row_claimed_meanwhile_is_not_taken_again(void **state)
{
    struct world *world = *state;
    int64_t ids[ROWS];
    make_owed(world, ids);
    for (int i = 0; i < ROWS; i++) {
        struct claim asked = ask(i % 4, i % 2 == 0 ? "first" : "second", 1);
        assert_int_equal(claim_on(world, i % 2 == 0 ? world->db : world->other, &asked), 1);
        assert_int_equal(world->rows[0].fence.delivery_id, ids[i]);
    }
}

static void
note_commits(struct world *world)
{
    world->store.is_spoilt = true;
    raw_run(plain(world),
        "create table commits (status text, waits text);"
        "create function note_commit() returns trigger language plpgsql as $$ begin"
        " insert into commits values (new.status, current_setting('synchronous_commit'));"
        " return null; end $$;"
        "create constraint trigger note_commit after update on owed_delivery deferrable"
        " initially deferred for each row execute function note_commit()");
}

static void
a_claim_does_not_wait_for_the_disk_and_what_follows_it_does(void **state)
{
    struct world *world = *state;
    int64_t ids[ROWS];
    make_owed(world, ids);
    note_commits(world);
    assert_int_equal(claim_as(world, "first", NOW, 1), 1);
    struct settlement outcome = a_settlement(&world->rows[0].fence, "succeeded");
    assert_ok(store_settle(world->db, &outcome, 1, NULL, &world->err));
    assert_int_equal(raw_number(plain(world),
                         "select count(*) from commits where status = 'claimed'"
                         " and waits = 'off'"),
        1);
    assert_int_equal(raw_number(plain(world),
                         "select count(*) from commits where status = 'succeeded'"
                         " and waits = 'on'"),
        1);
}

static void
a_claim_in_a_transaction_leaves_it_as_it_is(void **state)
{
    struct world *world = *state;
    int64_t ids[ROWS];
    make_owed(world, ids);
    note_commits(world);
    assert_ok(store_begin(world->db, true, &world->err));
    assert_int_equal(claim_as(world, "first", NOW, 1), 1);
    assert_ok(store_commit(world->db, &world->err));
    assert_int_equal(
        raw_number(plain(world), "select count(*) from commits where waits = 'on'"), 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_claim_steps_over_what_another_is_claiming),
        TEST(a_row_claimed_meanwhile_is_not_taken_again),
        TEST(a_claim_does_not_wait_for_the_disk_and_what_follows_it_does),
        TEST(a_claim_in_a_transaction_leaves_it_as_it_is),
    };
    return run_on_stores("postgres", "postgres claim", tests, COUNT(tests));
}
