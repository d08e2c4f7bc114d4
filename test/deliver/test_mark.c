/* SPDX-License-Identifier: MIT
 *
 * test_mark.c - a busy relay begins each claim where the last one ended; what comes to lie before that
 * is found all the same.
 */
#include "desk.h"

#include "base/clock.h"
#include "engine/mark.h"

#define ORDERS 13 // without the late one every batch is full, and the last claim finds nothing
#define BATCH 2
#define LATE 12 // the order whose row comes to lie before all others

/* come_late is the commit of a transaction that was long under way: a row that has been due for long. */
static void
come_late(struct desk *desk)
{
    raw_runf(desk->f->raw,
        "update owed_delivery set available_at = moment(%lld) where event_id = (select max(id) - %d"
        " from owed_event)",
        (long long)(FIXTURE_NOW_US - 60 * US_PER_SECOND), ORDERS - LATE);
}

static owed_outcome
is_overtaken(struct actor *actor, owed_delivery *delivery, const order *order)
{
    come_late(actor->desk);
    return asks_for_nothing(actor, delivery, order);
}

static owed_outcome
takes_a_second(struct actor *actor, owed_delivery *delivery, const order *order)
{
    actor->desk->f->now_us += MARK_FULL_EVERY_US;
    return asks_for_nothing(actor, delivery, order);
}

/* place_of is where in the order of the calls an order came, from 0. */
static int
place_of(const struct actor *actor, int64_t order_id)
{
    for (int i = 0; i < actor->calls; i++)
        if (actor->orders[i] == order_id)
            return i;
    fail_msg("order %lld was not delivered", (long long)order_id);
    return -1;
}

static void
open_with(struct desk *desk, struct actor *actor)
{
    desk->f->has_one_clock = true;
    desk->settings.batch_size = BATCH;
    for (int i = 1; i <= ORDERS; i++)
        if (actor->acts[i] == NULL)
            actor->acts[i] = asks_for_nothing;
    desk_receiver(desk, actor, (owed_receiver){.key = "shop.stock"});
    fixture_open(desk->f);
    desk_fire_many(desk, ORDERS);
}

static void
what_lies_before_the_mark_waits_for_a_busy_relay_no_longer_than_a_second(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = is_overtaken, [4] = takes_a_second}};
    open_with(desk, &actor);
    desk_once(desk);
    assert_int_equal(actor.calls, ORDERS);
    // Claimed in between: two batches from the mark on, on a server perhaps one ahead, and after a second
    // everything is looked at.
    assert_int_equal(place_of(&actor, 4), 3);
    assert_in_range(place_of(&actor, LATE), 4, 4 + BATCH);
}

static void
no_relay_takes_its_work_for_done_by_the_mark_alone(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = is_overtaken}};
    open_with(desk, &actor);
    desk_once(desk);
    assert_int_equal(actor.calls, ORDERS);
    assert_int_equal(place_of(&actor, LATE), ORDERS - 1);
}

static owed_outcome
is_overtaken_and_hands_back(struct actor *actor, owed_delivery *delivery, const order *order)
{
    // As a colleague does that is stopped with this one in its batch.
    come_late(actor->desk);
    raw_runf(actor->desk->f->raw,
        "update owed_delivery set status = 'claimed', claimed_by = 'colleague',"
        " lease_expires_at = moment(0) where event_id = (select max(id) - %d from owed_event)",
        ORDERS - LATE);
    return asks_for_nothing(actor, delivery, order);
}

static void
what_was_handed_back_comes_next_wherever_the_mark_is(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[3] = is_overtaken_and_hands_back}};
    open_with(desk, &actor);
    desk_once(desk);
    assert_int_equal(actor.calls, ORDERS);
    assert_in_range(place_of(&actor, LATE), 4, 4 + BATCH);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            what_lies_before_the_mark_waits_for_a_busy_relay_no_longer_than_a_second, desk_setup,
            desk_teardown),
        cmocka_unit_test_setup_teardown(
            no_relay_takes_its_work_for_done_by_the_mark_alone, desk_setup, desk_teardown),
        cmocka_unit_test_setup_teardown(
            what_was_handed_back_comes_next_wherever_the_mark_is, desk_setup, desk_teardown),
    };
    return run_on_all_stores("deliver mark", tests, sizeof tests / sizeof tests[0]);
}
