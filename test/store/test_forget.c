/* SPDX-License-Identifier: MIT
 *
 * test_forget.c - events that go as soon as all that was owed for them has succeeded, and how long the
 * others are kept.
 */
#include "world.h"

#include <stdlib.h>
#include <string.h>

#include "raw.h"

/* keep publishes how long EVENT is kept. */
static void
keep(struct world *world, const char *app, int64_t retention_seconds, const char *delete_when)
{
    const struct catalogue_event type = {.app = app,
        .name = EVENT,
        .version = 1,
        .retention_seconds = retention_seconds,
        .delete_when = delete_when};
    const struct publication publication = {
        .app = app, .now_us = NOW, .events = &type, .event_count = 1};
    assert_ok(store_publish(world->db, &publication, NULL, &world->err));
}

static void
owe_to(struct world *world, const char *first, const char *second)
{
    const char *const keys[] = {first, second, NULL};
    publish_keys(world, keys);
}

/* one settles a row of the latest claim as a relay does where the event may go by it. */
static struct settlement
one(const struct world *world, size_t i, const char *status)
{
    struct settlement settlement = a_settlement(&world->rows[i].fence, status);
    if (strcmp(status, "succeeded") == 0)
        settlement.consumed_event_id = world->rows[i].event_id;
    return settlement;
}

static owed_status
settle(struct world *world, size_t i, const char *status)
{
    struct settlement settlement = one(world, i, status);
    return store_settle(world->db, &settlement, 1, NULL, &world->err);
}

static void
assert_rows(struct world *world, int64_t events, int64_t deliveries)
{
    assert_int_equal(count_of(world, "owed_event"), events);
    assert_int_equal(count_of(world, "owed_delivery"), deliveries);
}

static int64_t
last_success(struct world *world, const char *key)
{
    return raw_numberf(plain(world),
        "select coalesce(max(micros(last_succeeded_at)), 0) from owed_last_success where "
        "receiver_key = '%s'",
        key);
}

static void
what_has_succeeded_goes_with_its_event(void **state)
{
    struct world *world = *state;
    owe_to(world, "shop.billing", NULL);
    keep(world, "shop", 0, "succeeded");
    fire(world, EVENT);
    assert_int_equal(claim_as(world, "first", NOW, 10), 1);
    struct settlement failed = one(world, 0, "failed");
    failed.verdict = "failed";
    failed.attempt = 1;
    assert_ok(store_settle(world->db, &failed, 1, NULL, &world->err));
    assert_int_equal(count_of(world, "owed_attempt"), 1);
    assert_int_equal(claim_as(world, "first", NOW + LEASE, 10), 1);
    assert_ok(settle(world, 0, "succeeded"));
    assert_rows(world, 0, 0);
    assert_int_equal(count_of(world, "owed_attempt"), 0);
    assert_int_equal(last_success(world, "shop.billing"), NOW + SECOND);
}

static void
only_an_event_that_says_so_goes(void **state)
{
    struct world *world = *state;
    owe_to(world, "shop.billing", NULL);
    keep(world, "shop", 0, "settled");
    fire(world, EVENT);
    assert_int_equal(claim_as(world, "first", NOW, 10), 1);
    assert_ok(settle(world, 0, "succeeded"));
    assert_rows(world, 1, 1);
    assert_string_equal(status_of(world, world->rows[0].fence.delivery_id), "succeeded");
}

static void
beside_one_that_goes_another_stays(void **state)
{
    struct world *world = *state;
    owe_to(world, "shop.billing", NULL);
    keep(world, "shop", 0, "settled");
    fire(world, EVENT);
    keep(world, "shop", 0, "succeeded");
    fire(world, EVENT);
    assert_int_equal(claim_as(world, "first", NOW, 10), 2);
    struct settlement both[2] = {one(world, 0, "succeeded"), one(world, 1, "succeeded")};
    assert_ok(store_settle(world->db, both, 2, NULL, &world->err));
    assert_rows(world, 1, 1);
    assert_string_equal(status_of(world, world->rows[0].fence.delivery_id), "succeeded");
}

static void
the_last_of_several_lets_it_go(void **state)
{
    struct world *world = *state;
    owe_to(world, "shop.billing", "shop.mail");
    keep(world, "shop", 0, "succeeded");
    fire(world, EVENT);
    assert_int_equal(claim_as(world, "first", NOW, 10), 2);
    assert_ok(settle(world, 0, "succeeded"));
    assert_rows(world, 1, 2);
    assert_string_equal(status_of(world, world->rows[0].fence.delivery_id), "succeeded");
    assert_ok(settle(world, 1, "succeeded"));
    assert_rows(world, 0, 0);
    assert_true(last_success(world, "shop.billing") > 0 && last_success(world, "shop.mail") > 0);
}

static void
several_of_one_event_may_succeed_at_once(void **state)
{
    struct world *world = *state;
    owe_to(world, "shop.billing", "shop.mail");
    keep(world, "shop", 0, "succeeded");
    fire(world, EVENT);
    fire(world, EVENT);
    assert_int_equal(claim_as(world, "first", NOW, 10), 4);
    // Of the second event one has failed.
    const struct settlement settlements[] = {one(world, 0, "succeeded"), one(world, 1, "succeeded"),
        one(world, 2, "succeeded"), one(world, 3, "failed")};
    bool landed[4] = {false};
    assert_ok(store_settle(world->db, settlements, 4, landed, &world->err));
    for (int i = 0; i < 4; i++)
        assert_true(landed[i]);
    assert_rows(world, 1, 2);
    assert_string_equal(status_of(world, world->rows[2].fence.delivery_id), "succeeded");
}

static void
what_two_claimed_goes_at_once(void **state)
{
    struct world *world = *state;
    owe_to(world, "shop.billing", NULL);
    keep(world, "shop", 0, "succeeded");
    fire(world, EVENT);
    fire(world, EVENT);
    struct settlement settlements[2];
    bool landed[2] = {false};
    assert_int_equal(claim_as(world, "first", NOW, 1), 1);
    settlements[0] = one(world, 0, "succeeded");
    assert_int_equal(claim_as(world, "second", NOW, 1), 1);
    settlements[1] = one(world, 0, "succeeded");
    assert_ok(store_settle(world->db, settlements, 2, landed, &world->err));
    assert_true(landed[0] && landed[1]);
    assert_rows(world, 0, 0);
}

static void
whatever_else_became_of_one_keeps_the_event(void **state)
{
    struct world *world = *state;
    owe_to(world, "shop.billing", "shop.mail");
    keep(world, "shop", 0, "succeeded");
    static const char *const others[] = {"failed", "dead", "pending", "orphaned", "cancelled"};
    for (size_t i = 0; i < COUNT(others); i++) {
        fire(world, EVENT);
        assert_int_equal(claim_as(world, "first", NOW, 10), 2);
        assert_ok(settle(world, 0, others[i]));
        assert_ok(settle(world, 1, "succeeded"));
        assert_rows(world, (int64_t)i + 1, 2 * ((int64_t)i + 1));
    }
}

static void
who_lost_the_row_deletes_nothing(void **state)
{
    struct world *world = *state;
    owe_to(world, "shop.billing", NULL);
    keep(world, "shop", 0, "succeeded");
    fire(world, EVENT);
    assert_int_equal(claim_as(world, "first", NOW, 10), 1);
    struct settlement late = one(world, 0, "succeeded");
    assert_int_equal(claim_as(world, "second", NOW + 2 * LEASE, 10), 1);
    assert_int_equal(store_settle(world->db, &late, 1, NULL, &world->err), OWED_LOST);
    // The same name and another claim, and the same moment under another name.
    struct settlement other = one(world, 0, "succeeded");
    other.fence.claimed_by = "first";
    assert_int_equal(store_settle(world->db, &other, 1, NULL, &world->err), OWED_LOST);
    late.fence.claimed_by = "second";
    assert_int_equal(store_settle(world->db, &late, 1, NULL, &world->err), OWED_LOST);
    assert_rows(world, 1, 1);
    assert_ok(settle(world, 0, "succeeded"));
    assert_rows(world, 0, 0);
}

static void
who_said_what_became_of_a_row_deletes_it_no_more(void **state)
{
    struct world *world = *state;
    owe_to(world, "shop.billing", NULL);
    keep(world, "shop", 0, "succeeded");
    fire(world, EVENT);
    assert_int_equal(claim_as(world, "first", NOW, 10), 1);
    assert_ok(settle(world, 0, "dead"));
    assert_int_equal(settle(world, 0, "succeeded"), OWED_LOST);
    assert_rows(world, 1, 1);
    assert_string_equal(status_of(world, world->rows[0].fence.delivery_id), "dead");
}

static void
an_event_with_very_many_deliveries_is_left_to_others(void **state)
{
    struct world *world = *state;
    owe_to(world, "shop.billing", NULL);
    keep(world, "shop", 0, "succeeded");
    fire(world, EVENT);
    raw_run(plain(world), "begin");
    for (int i = 0; i < 1000; i++)
        raw_runf(plain(world),
            "insert into owed_delivery (event_id, receiver_key, target_digest, lane, kind, status,"
            " max_attempts, available_at, due_at) select event_id, 'shop.number%d', target_digest,"
            " lane, kind, 'succeeded', max_attempts, available_at, due_at from owed_delivery"
            " where receiver_key = 'shop.billing'",
            i);
    raw_run(plain(world), "commit");
    assert_int_equal(claim_as(world, "first", NOW, 10), 1);
    assert_ok(settle(world, 0, "succeeded"));
    assert_int_equal(count_of(world, "owed_event"), 1);
}

static void
a_batch_of_a_thousand_goes_with_all_its_events(void **state)
{
    enum { COUNT = 1024 };
    struct world *world = *state;
    owe_to(world, "shop.billing", NULL);
    keep(world, "shop", 0, "succeeded");
    for (int i = 0; i < COUNT; i++)
        fire(world, EVENT);
    assert_int_equal(claim_as(world, "first", NOW, COUNT), COUNT);
    struct settlement *all = calloc(COUNT, sizeof *all);
    assert_non_null(all);
    for (size_t i = 0; i < COUNT; i++)
        all[i] = one(world, i, "succeeded");
    assert_ok(store_settle(world->db, all, COUNT, NULL, &world->err));
    free(all);
    assert_rows(world, 0, 0);
}

static void
an_event_that_somebody_holds_stays_until_later(void **state)
{
    struct world *world = *state;
    if (world->db->driver->contention == NULL)
        return; // a single writer waits for the other one
    owe_to(world, "shop.billing", NULL);
    keep(world, "shop", 0, "succeeded");
    fire(world, EVENT);
    assert_int_equal(claim_as(world, "first", NOW, 10), 1);
    raw_run(plain(world), "begin");
    raw_run(plain(world), "select id from owed_event for update");
    assert_ok(settle(world, 0, "succeeded"));
    raw_run(plain(world), "commit");
    assert_rows(world, 1, 1);
    assert_string_equal(status_of(world, world->rows[0].fence.delivery_id), "succeeded");
}

static void
a_last_success_is_not_written_for_each_one(void **state)
{
    struct world *world = *state;
    owe_to(world, "shop.billing", NULL);
    keep(world, "shop", 0, "succeeded");
    static const int64_t seconds[] = {100, 130, 161, 120};
    static const int64_t kept[] = {100, 100, 161, 161};
    for (size_t i = 0; i < COUNT(seconds); i++) {
        fire(world, EVENT);
        assert_int_equal(claim_as(world, "first", NOW, 10), 1);
        struct settlement settlement = one(world, 0, "succeeded");
        settlement.now_us = NOW + seconds[i] * SECOND;
        assert_ok(store_settle(world->db, &settlement, 1, NULL, &world->err));
        assert_int_equal(last_success(world, "shop.billing"), NOW + kept[i] * SECOND);
    }
}

static void
of_several_that_succeed_at_once_the_last_success_is_the_latest(void **state)
{
    struct world *world = *state;
    owe_to(world, "shop.billing", NULL);
    keep(world, "shop", 0, "succeeded");
    static const int64_t seconds[] = {200, 300, 100};
    for (size_t i = 0; i < COUNT(seconds); i++)
        fire(world, EVENT);
    assert_int_equal(claim_as(world, "first", NOW, 10), COUNT(seconds));
    struct settlement all[COUNT(seconds)];
    for (size_t i = 0; i < COUNT(seconds); i++) {
        all[i] = one(world, i, "succeeded");
        all[i].now_us = NOW + seconds[i] * SECOND;
    }
    assert_ok(store_settle(world->db, all, COUNT(seconds), NULL, &world->err));
    assert_int_equal(last_success(world, "shop.billing"), NOW + 300 * SECOND);
}

/* --- what a fire copies --- */

static void
check_latest(struct world *world, int64_t retention_seconds, const char *delete_when)
{
    char found[256];
    raw_text(plain(world), "select delete_when from owed_event order by id desc limit 1", found);
    assert_string_equal(found, delete_when);
    assert_int_equal(raw_number(plain(world),
                         "select retention_seconds from owed_event order by id desc limit 1"),
        retention_seconds);
}

static void
an_event_keeps_what_was_declared_when_it_was_fired(void **state)
{
    struct world *world = *state;
    keep(world, "shop", 3600, "");
    fire(world, EVENT);
    check_latest(world, 3600, "");
    fire(world, "shop.Other");
    check_latest(world, 0, "");
    raw_fire(plain(world), EVENT, "{}");
    check_latest(world, 3600, "");
    keep(world, "shop", 0, "succeeded");
    check_latest(world, 3600, "");
    fire(world, EVENT);
    check_latest(world, 0, "succeeded");
    raw_fire(plain(world), EVENT, "{}");
    check_latest(world, 0, "succeeded");
    fire(world, "shop.Other");
    check_latest(world, 0, "");
    keep(world, "shop", 0, "");
    fire(world, EVENT);
    check_latest(world, 0, "");
}

static void
of_apps_that_disagree_the_more_careful_one_is_heard(void **state)
{
    struct world *world = *state;
    keep(world, "shop", 0, "settled");
    keep(world, "mail", 0, "succeeded");
    fire(world, EVENT);
    check_latest(world, 0, "succeeded");
    keep(world, "mail", 60, "");
    fire(world, EVENT);
    check_latest(world, 60, "");
    keep(world, "shop", 3600, "");
    fire(world, EVENT);
    check_latest(world, 3600, "");
    // What was removed says nothing any more.
    assert_ok(store_retire(world->db, "shop", NOW, NULL, &world->err));
    fire(world, EVENT);
    check_latest(world, 60, "");
    keep(world, "shop", 0, "succeeded");
    keep(world, "mail", 0, "");
    fire(world, EVENT);
    check_latest(world, 0, "succeeded");
    assert_ok(store_retire(world->db, "shop", NOW, NULL, &world->err));
    fire(world, EVENT);
    check_latest(world, 0, "");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_has_succeeded_goes_with_its_event),
        TEST(only_an_event_that_says_so_goes),
        TEST(beside_one_that_goes_another_stays),
        TEST(the_last_of_several_lets_it_go),
        TEST(several_of_one_event_may_succeed_at_once),
        TEST(what_two_claimed_goes_at_once),
        TEST(whatever_else_became_of_one_keeps_the_event),
        TEST(who_lost_the_row_deletes_nothing),
        TEST(who_said_what_became_of_a_row_deletes_it_no_more),
        TEST(an_event_with_very_many_deliveries_is_left_to_others),
        TEST(a_batch_of_a_thousand_goes_with_all_its_events),
        TEST(an_event_that_somebody_holds_stays_until_later),
        TEST(a_last_success_is_not_written_for_each_one),
        TEST(of_several_that_succeed_at_once_the_last_success_is_the_latest),
        TEST(an_event_keeps_what_was_declared_when_it_was_fired),
        TEST(of_apps_that_disagree_the_more_careful_one_is_heard),
    };
    return run_on_all_stores("store forget", tests, COUNT(tests));
}
