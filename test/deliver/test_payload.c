/* SPDX-License-Identifier: MIT
 *
 * test_payload.c - payloads of other versions on their way to a receiver.
 */
#include "desk.h"

#include <string.h>

/* Version 1 of an order that moved had its id as a text. */
typedef struct old_move {
    const char *number;
} old_move;
static const owed_field old_fields[] = {
    OWED_TEXT(old_move, number),
    OWED_FIELDS_END,
};
static const owed_event_type old_type = {
    .name = "shop.Moved", .version = 1, .fields = old_fields, .size = sizeof(old_move)};

static const owed_field new_fields[] = {
    OWED_INT64(order, id),
    OWED_INT64_WITH(order, cents, .fallback = "42"),
    OWED_TEXT_WITH(order, currency, .optional = true),
    OWED_FIELDS_END,
};

static bool
count_letters(owed_upgrade *upgrade, const void *before, void *after)
{
    const old_move *old = before;
    if (old->number[0] == '\0')
        return owed_upgrade_refuse(upgrade, "the number is empty");
    ((order *)after)->id = (int64_t)strlen(old->number);
    return true;
}
static const owed_event_type moved = {
    .name = "shop.Moved",
    .version = 2,
    .fields = new_fields,
    .size = sizeof(order),
    .before = &old_type,
    .upgrade = count_letters,
};

static void
hear_nothing(owed *handle, const owed_failure *failure, void *state)
{
    (void)handle;
    (void)failure;
    (void)state;
    fail_msg("on_failure was told");
}

static void
open_moved(struct desk *desk, struct actor *actor)
{
    const owed_receiver receiver = {
        .key = "shop.stock", .event = &moved, .on_failure = hear_nothing};
    desk_receiver(desk, actor, receiver);
    fixture_open(desk->f);
    fixture_begin(desk->f);
    fixture_fire(desk->f, &moved, 7);
    fixture_commit(desk->f);
}

static owed_outcome
expects_the_fallback(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)actor;
    assert_int_equal(order->cents, 42);
    assert_int_equal(owed_delivery_event_version(delivery), 1);
    return owed_done();
}

static void
a_payload_of_an_older_version_reaches_its_receiver_upgraded(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[4] = expects_the_fallback}};
    open_moved(desk, &actor);
    raw_run(desk->f->raw, "update owed_event set version = 1, payload = '{\"number\":\"four\"}'");
    desk_once(desk);
    assert_int_equal(actor.calls, 1);
    assert_int_equal(actor.orders[0], 4);
    assert_count(desk, "succeeded", 1);
    // What was fired stands as it did.
    assert_text(desk, "select payload from owed_event", "{\"number\":\"four\"}");
}

static void
an_upgrade_that_refuses_is_dead_at_once_with_its_words_logged_and_not_told(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_moved(desk, &actor);
    raw_run(desk->f->raw, "update owed_event set version = 1, payload = '{\"number\":\"\"}'");
    desk_once(desk);
    assert_int_equal(actor.calls, 0);
    assert_count(desk, "dead", 1);
    assert_int_equal(desk_number(desk, "select attempts from owed_delivery"), 1);
    assert_text(desk, "select verdict from owed_attempt", "undecodable");
    assert_text(desk, "select last_error from owed_delivery",
        "shop.Moved version 1: its upgrade to version 2 failed: the number is empty");
    assert_true(desk_logged(desk,
        "kind=undecodable now=dead error=\"shop.Moved version 1: its upgrade to version 2 failed"));
}

static void
a_payload_of_a_newer_version_is_read_as_it_stands(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_moved(desk, &actor);
    raw_run(desk->f->raw, "update owed_event set version = 9, payload = '{\"id\":5,\"new\":[]}'");
    desk_once(desk);
    assert_int_equal(actor.orders[0], 5);
    assert_count(desk, "succeeded", 1);
}

static void
a_newer_version_that_cannot_be_read_is_dead_and_says_what_is_known_here(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_moved(desk, &actor);
    raw_run(desk->f->raw, "update owed_event set version = 9, payload = '{\"ids\":[5]}'");
    desk_once(desk);
    assert_int_equal(actor.calls, 0);
    assert_count(desk, "dead", 1);
    assert_text(desk, "select last_error from owed_delivery",
        "shop.Moved version 9: field id: expected a whole number from -9223372036854775808 to "
        "9223372036854775807, found no such key; this program knows no version above 2");
}

int
main(void)
{
#define DESK_TEST(name) cmocka_unit_test_setup_teardown(name, desk_setup, desk_teardown)
    const struct CMUnitTest tests[] = {
        DESK_TEST(a_payload_of_an_older_version_reaches_its_receiver_upgraded),
        DESK_TEST(an_upgrade_that_refuses_is_dead_at_once_with_its_words_logged_and_not_told),
        DESK_TEST(a_payload_of_a_newer_version_is_read_as_it_stands),
        DESK_TEST(a_newer_version_that_cannot_be_read_is_dead_and_says_what_is_known_here),
    };
    return RUN_ON_ALL_STORES("payload", tests);
}
