/* SPDX-License-Identifier: MIT
 *
 * test_payload.c - payloads of other versions on their way to a receiver, and what of them is secret.
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

/* --- secrets --- */

#define CARD "4111-2222"

static const owed_field paid_fields[] = {
    OWED_INT64(order, id),
    OWED_INT64_WITH(order, cents, .optional = true),
    OWED_TEXT_WITH(order, currency, .secret = true),
    OWED_FIELDS_END,
};
static const owed_event_type paid = {
    .name = "shop.Paid", .fields = paid_fields, .size = sizeof(order)};

static owed_outcome
quotes_its_secret(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)actor;
    // Delivered as it was fired.
    assert_string_equal(order->currency, CARD);
    owed_delivery_note(delivery, "card", order->currency);
    return owed_failed(delivery, "no money on %s for order %d", order->currency, (int)order->id);
}

static void
hear_no_secret(owed *handle, const owed_failure *failure, void *state)
{
    (void)handle;
    struct actor *actor = state;
    *(int *)actor->state += 1;
    assert_string_equal(failure->error, "no money on *** for order 7");
}

static void
fire_paid(struct desk *desk, const char *json)
{
    fixture_begin(desk->f);
    int64_t id = 0;
    assert_ok(
        owed_fire_json(desk->f->tx, "shop.Paid", 0, json, strlen(json), NULL, &id, &desk->f->err));
    fixture_commit(desk->f);
}

static void
what_a_receiver_says_is_kept_and_told_without_secrets(void **state)
{
    struct desk *desk = *state;
    int told = 0;
    struct actor actor = {.acts = {[7] = quotes_its_secret}, .state = &told};
    desk_receiver(desk, &actor,
        (owed_receiver){.key = "shop.stock", .event = &paid, .on_failure = hear_no_secret});
    fixture_open(desk->f);
    fire_paid(desk, "{\"id\":7,\"currency\":\"" CARD "\"}");
    desk->settings.passes = 1;
    desk_run(desk);
    assert_int_equal(told, 1);
    assert_text(desk, "select last_error from owed_delivery", "no money on *** for order 7");
    assert_text(desk, "select error from owed_attempt", "no money on *** for order 7");
    assert_true(desk_logged(desk, "card=***"));
    assert_false(desk_logged(desk, CARD));
    assert_text(desk, "select payload from owed_event", "{\"id\":7,\"currency\":\"" CARD "\"}");
}

static void
a_secret_that_was_cut_is_hidden_too(void **state)
{
    struct desk *desk = *state;
    int told = 0;
    struct actor actor = {.acts = {[7] = quotes_its_secret}, .state = &told};
    desk_receiver(desk, &actor, (owed_receiver){.key = "shop.stock", .event = &paid});
    fixture_open(desk->f);
    fire_paid(desk, "{\"id\":7,\"currency\":\"" CARD "\"}");
    desk->settings.passes = 1;
    desk->settings.error_length = 18; // in the midst of the number
    desk_run(desk);
    assert_text(desk, "select last_error from owed_delivery", "no money on ***");
}

static void
no_sentence_about_a_payload_quotes_a_secret(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    desk_receiver(desk, &actor, (owed_receiver){.key = "shop.stock", .event = &paid});
    fixture_open(desk->f);
    fire_paid(desk, "{\"id\":7,\"currency\":41112222}");
    desk_once(desk);
    assert_count(desk, "dead", 1);
    assert_text(desk, "select last_error from owed_delivery",
        "shop.Paid version 1: field currency: expected a string of UTF-8 without NUL, found "
        "something else, which is secret");
    assert_false(desk_logged(desk, "41112222"));
}

/* --- of what others declare --- */

static owed_outcome
quotes_all(owed_delivery *delivery, const void *payload)
{
    const owed_bytes *bytes = payload;
    return owed_failed(delivery, "got %.*s", (int)bytes->len, (const char *)bytes->data);
}

static void
what_another_application_published_as_secret_is_hidden_too(void **state)
{
    struct desk *desk = *state;
    static const owed_event_type opaque = {.name = "shop.Paid"};
    assert_ok(owed_declare_event(desk->f->registry, &opaque, &desk->f->err));
    fixture_receiver(
        desk->f, (owed_receiver){.key = "shop.any", .event = &owed_any_event, .run = quotes_all});
    fixture_open(desk->f);
    struct catalogue_event event = {.app = "bank",
        .name = "shop.Paid",
        .version = 1,
        .fields = "[{\"name\":\"currency\",\"kind\":\"text\",\"secret\":true}]",
        .published_at_us = FIXTURE_NOW_US};
    const struct publication publication = {
        .app = "bank", .events = &event, .event_count = 1, .now_us = FIXTURE_NOW_US};
    int64_t changed = 0;
    assert_ok(store_publish(desk->f->other, &publication, &changed, &desk->f->err));
    fire_paid(desk, "{\"currency\":\"" CARD "\"}");
    desk->settings.passes = 1;
    desk_run(desk);
    assert_text(desk, "select last_error from owed_delivery", "got {\"currency\":\"***\"}");
}

static owed_outcome
refuses_on_commit(owed_delivery *delivery, const void *payload)
{
    const order *order = payload;
    return owed_failed(delivery, "no mail about %s", order->currency);
}

static void
the_log_of_an_on_commit_receiver_has_no_secret(void **state)
{
    struct desk *desk = *state;
    fixture_receiver(desk->f,
        (owed_receiver){
            .key = "shop.mail", .event = &paid, .mode = OWED_ON_COMMIT, .run = refuses_on_commit});
    fixture_open(desk->f);
    fire_paid(desk, "{\"id\":7,\"currency\":\"" CARD "\"}");
    assert_true(desk_logged(desk, "no mail about ***"));
    assert_false(desk_logged(desk, CARD));
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
        DESK_TEST(what_a_receiver_says_is_kept_and_told_without_secrets),
        DESK_TEST(a_secret_that_was_cut_is_hidden_too),
        DESK_TEST(no_sentence_about_a_payload_quotes_a_secret),
        DESK_TEST(what_another_application_published_as_secret_is_hidden_too),
        DESK_TEST(the_log_of_an_on_commit_receiver_has_no_secret),
    };
    return RUN_ON_ALL_STORES("payload", tests);
}
