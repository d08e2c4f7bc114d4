/* SPDX-License-Identifier: MIT
 *
 * test_repeat.c - a transaction of ours that others' locks undid is done once more, whole; one of the
 * caller's never is.
 */
#include "world.h"

#include <string.h>

/* The world's connection, of which some statements are undone by a deadlock. */
static struct {
    struct driver driver;
    const struct driver *real;
    enum stmt stmt; // the one that meets it
    int times;      // so often
    int met;
} deadlock;

static owed_status
none(struct db *db, bool failed)
{
    (void)db;
    (void)failed;
    return OWED_OK;
}

static owed_status
meet(struct db *db, enum stmt stmt, const struct value *args, size_t count, struct rows **ret_rows,
    owed_error *err)
{
    if (stmt != deadlock.stmt || deadlock.met >= deadlock.times)
        return deadlock.real->run(db, stmt, args, count, ret_rows, err);
    deadlock.met++;
    *err = (owed_error){.status = OWED_BUSY, .text = "deadlock detected"};
    return OWED_BUSY;
}

static void
meet_deadlocks(struct world *world, enum stmt stmt, int times)
{
    memset(&deadlock, 0, sizeof deadlock);
    deadlock.real = world->db->driver;
    deadlock.driver = *deadlock.real;
    deadlock.driver.contention = none;
    deadlock.driver.run = meet;
    deadlock.stmt = stmt;
    deadlock.times = times;
    world->db->driver = &deadlock.driver;
}

static void
publish_one(struct world *world)
{
    publish_keys(world, (const char *const[]){"shop.billing", NULL});
}

static void
what_a_deadlock_undid_is_done_once_more(void **state)
{
    struct world *world = *state;
    int64_t ids[3];
    publish_one(world);
    fire_many(world, 3, ids);
    assert_int_equal(claim_as(world, "first", NOW, 10), 3);
    struct settlement settlements[3];
    bool landed[3] = {false};
    for (size_t i = 0; i < 3; i++)
        settlements[i] = a_settlement(&world->rows[i].fence, "succeeded");
    // In whichever of these ways the dialect settles several.
    static const enum stmt ways[] = {STMT_SETTLE_ALL, STMT_SETTLE_DONE, STMT_SETTLE_DONE_PAIRS};
    size_t way = 0;
    while (world->db->driver->sql->statements[ways[way]] == NULL)
        way++;
    meet_deadlocks(world, ways[way], 2);
    assert_ok(store_settle(world->db, settlements, 3, landed, &world->err));
    assert_int_equal(deadlock.met, 2);
    for (size_t i = 0; i < 3; i++) {
        assert_true(landed[i]);
        assert_string_equal(status_of(world, ids[i]), "succeeded");
    }
}

static void
a_claim_that_was_undone_takes_the_same_rows_in_the_same_order(void **state)
{
    struct world *world = *state;
    int64_t ids[3];
    publish_one(world);
    fire_many(world, 3, ids);
    const struct claim first = a_claim("first", NOW, 10);
    // In whichever of these ways the dialect claims.
    static const enum stmt ways[] = {
        STMT_CLAIM_MARK, STMT_CLAIM_FETCH, STMT_CLAIM_LANE, STMT_CLAIM_LANES};
    int met = 0;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        const struct driver *real = world->db->driver;
        meet_deadlocks(world, ways[i], 2);
        assert_int_equal(claim(world, &first), 3);
        check_order(world, ids, 3);
        met += deadlock.met;
        assert_ok(store_hand_back_all(world->db, "first", 0, NULL, &world->err));
        world->db->driver = real;
    }
    assert_true(met >= 2);
}

static void
a_single_statement_is_a_transaction_of_ours_as_well(void **state)
{
    struct world *world = *state;
    int64_t id = bring_to(world, "claimed");
    meet_deadlocks(world, STMT_HAND_BACK_ALL, 3);
    int64_t back = 0;
    assert_ok(store_hand_back_all(world->db, "first", 0, &back, &world->err));
    assert_int_equal(back, 1);
    assert_int_equal(delivery(world, id).lease_expires_at_us, 0);
}

static void
it_ends_when_it_is_undone_again_and_again(void **state)
{
    struct world *world = *state;
    bring_to(world, "claimed");
    meet_deadlocks(world, STMT_HAND_BACK_ALL, 1000);
    assert_int_equal(store_hand_back_all(world->db, "first", 0, NULL, &world->err), OWED_BUSY);
    assert_in_range(deadlock.met, 2, 20);
}

static void
nothing_is_repeated_in_a_transaction_of_the_callers(void **state)
{
    struct world *world = *state;
    bring_to(world, "claimed");
    meet_deadlocks(world, STMT_HAND_BACK_ALL, 1);
    assert_ok(store_begin(world->db, true, &world->err));
    assert_int_equal(store_hand_back_all(world->db, "first", 0, NULL, &world->err), OWED_BUSY);
    assert_int_equal(deadlock.met, 1);
    store_rollback(world->db);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_a_deadlock_undid_is_done_once_more),
        TEST(a_claim_that_was_undone_takes_the_same_rows_in_the_same_order),
        TEST(a_single_statement_is_a_transaction_of_ours_as_well),
        TEST(it_ends_when_it_is_undone_again_and_again),
        TEST(nothing_is_repeated_in_a_transaction_of_the_callers),
    };
    return RUN_ON_ALL_STORES("store repeat", tests);
}
