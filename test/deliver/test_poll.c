/* SPDX-License-Identifier: MIT
 *
 * test_poll.c - a store that gives no sign of commits is polled: quickly after work, then ever more
 * slowly, and never in step with other relays.
 */
#include "desk.h"

#include "base/clock.h"

static const owed_receiver stock = {.key = "shop.stock"};

/* The fixture's store, mute, and what is asked of it. */
static struct {
    struct driver driver;
    const struct driver *real;
    int asked[STMT_MAX];
    int all;
} mute;

static int
no_sign(struct db *db)
{
    (void)db;
    return -1;
}

static owed_status
count_run(struct db *db, enum stmt stmt, const struct value *args, size_t count,
    struct rows **ret_rows, owed_error *err)
{
    mute.asked[stmt]++;
    mute.all++;
    return mute.real->run(db, stmt, args, count, ret_rows, err);
}

static void
open_mute(struct desk *desk, struct actor *actor)
{
    desk_receiver(desk, actor, stock);
    fixture_open(desk->f);
    struct db *db = desk->f->owed->db;
    memset(&mute, 0, sizeof mute);
    mute.real = db->driver;
    mute.driver = *db->driver;
    mute.driver.wake_fd = no_sign;
    mute.driver.run = count_run;
    db->driver = &mute.driver;
}

static void
after_work_it_is_polled_quickly_and_then_more_slowly(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_mute(desk, &actor);
    desk_fire(desk, 1);
    desk->settings.passes = 9;
    desk_run(desk);
    assert_int_equal(actor.calls, 1);
    int64_t full_us = US_PER_SECOND / 16;
    for (size_t i = 0; i < desk->wait_count; i++) {
        assert_in_range(desk->waits[i], full_us / 2, full_us);
        full_us = full_us * 2 < US_PER_SECOND ? full_us * 2 : US_PER_SECOND;
    }
    assert_int_equal(desk->wait_count, 7);
}

static void
when_the_next_row_is_due_is_asked_now_and_then_alone(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_mute(desk, &actor);
    desk->settings.passes = 61;
    desk_run(desk);
    int next_due = mute.asked[STMT_NEXT_DUE] + mute.asked[STMT_NEXT_DUE_RECEIVERS];
    // Some 45 seconds of polls.
    assert_in_range(next_due, 3, 5);
}

static owed_outcome
fails_once(struct actor *actor, owed_delivery *delivery, const order *order)
{
    actor->acts[order->id] = NULL;
    return owed_failed(delivery, "not yet");
}

static void
a_retry_is_not_late_for_that(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = fails_once}};
    open_mute(desk, &actor);
    desk_fire(desk, 1);
    desk->settings.poll_us = OWED_HOURS(100);
    desk->settings.passes = 3;
    desk_run(desk);
    assert_count(desk, "succeeded", 1);
    assert_in_range(desk->f->now_us, FIXTURE_NOW_US, FIXTURE_NOW_US + OWED_HOURS(1));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, desk_setup, desk_teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(after_work_it_is_polled_quickly_and_then_more_slowly),
        TEST(when_the_next_row_is_due_is_asked_now_and_then_alone),
        TEST(a_retry_is_not_late_for_that),
    };
    return RUN_ON_ALL_STORES("deliver poll", tests);
}
