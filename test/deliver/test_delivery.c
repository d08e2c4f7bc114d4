/* SPDX-License-Identifier: MIT
 *
 * test_delivery.c - what a receiver is told, and how it says what came of it.
 */
#include "fixture.h"

#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/limits.h"
#include "deliver/delivery.h"

struct one {
    struct arena arena;
    struct owed owed; // its clock is all that is asked for
    struct receiver receiver;
    struct claimed row;
    owed_delivery delivery;
};

static int
setup_sized(void **state, size_t text_size)
{
    struct one *one = test_calloc(1, sizeof *one);
    arena_init(&one->arena, 0);
    one->owed.clock = clock_system;
    one->row = (struct claimed){
        .fence = {.delivery_id = 7},
        .event_id = 9,
        .receiver_key = "shop.billing",
        .target = "",
        .attempts = 2,
        .due_at_us = 5000,
        .occurred_at_us = 4000,
        .event_name = "shop.OrderPlaced",
        .event_version = 3,
        .payload = STR("{\"id\": 1}"),
        .actor_key = "user:1",
        .correlation_id = "abc",
    };
    one->receiver.declared = (owed_receiver){.key = "shop.billing", .state = one};
    assert_ok(delivery_init(
        &one->delivery, &one->owed, &one->receiver, &one->row, text_size, &one->arena, NULL));
    *state = one;
    return 0;
}

static int
setup(void **state)
{
    return setup_sized(state, 200);
}

static int
setup_short(void **state)
{
    return setup_sized(state, 10);
}

static int
teardown(void **state)
{
    struct one *one = *state;
    arena_done(&one->arena);
    test_free(one);
    return 0;
}

static void
the_facts_are_those_of_the_rows(void **state)
{
    const struct one *one = *state;
    const owed_delivery *delivery = &one->delivery;
    assert_int_equal(owed_delivery_id(delivery), 7);
    assert_int_equal(owed_delivery_event_id(delivery), 9);
    assert_string_equal(owed_delivery_event_name(delivery), "shop.OrderPlaced");
    assert_int_equal(owed_delivery_event_version(delivery), 3);
    assert_string_equal(owed_delivery_receiver_key(delivery), "shop.billing");
    assert_int_equal(owed_delivery_attempt(delivery), 3);
    assert_int_equal(owed_delivery_due_at_us(delivery), 5000);
    assert_int_equal(owed_delivery_occurred_at_us(delivery), 4000);
    assert_string_equal(owed_delivery_actor_key(delivery), "user:1");
    assert_string_equal(owed_delivery_correlation_id(delivery), "abc");
    assert_ptr_equal(owed_delivery_state(delivery), one);
    owed_bytes payload = owed_delivery_payload(delivery);
    assert_int_equal(payload.len, 9);
    assert_memory_equal(payload.data, "{\"id\": 1}", 9);
}

static void
what_is_absent_is_empty(void **state)
{
    const struct one *one = *state;
    const owed_delivery *delivery = &one->delivery;
    assert_string_equal(owed_delivery_target(delivery), "");
    assert_string_equal(owed_delivery_actor_label(delivery), "");
    assert_string_equal(owed_delivery_traceparent(delivery), "");
    assert_string_equal(owed_delivery_scope(delivery), "{}");
}

static void
the_idempotency_key_is_made_of_uid_receiver_and_target(void **state)
{
    (void)state;
    // printf '0123456789abcdef\0shop.billing\0' | sha256sum
    static const uint8_t uid[] = "0123456789abcdef";
    char key[IDEMPOTENCY_KEY_BYTES];
    char other[IDEMPOTENCY_KEY_BYTES];
    idempotency_key(uid, "shop.billing", "", key);
    assert_string_equal(key, "owed_99c8f4ac7cb399a6fc547ce5da0c50c1");
    idempotency_key(uid, "shop.billing", "a", other);
    assert_string_not_equal(key, other);
    idempotency_key(uid, "shop.billin", "g", other);
    assert_string_not_equal(key, other);
    idempotency_key((const uint8_t *)"0123456789abcdeF", "shop.billing", "", other);
    assert_string_not_equal(key, other);
}

static void
a_receiver_that_asks_for_its_key_hears_the_same_each_time(void **state)
{
    struct one *one = *state;
    char key[IDEMPOTENCY_KEY_BYTES];
    idempotency_key(one->row.event_uid, "shop.billing", "", key);
    assert_string_equal(owed_delivery_idempotency_key(&one->delivery), key);
    assert_string_equal(owed_delivery_idempotency_key(&one->delivery), key);
}

static void
a_text_that_was_not_said_is_empty(void **state)
{
    struct one *one = *state;
    assert_string_equal(delivery_text(&one->delivery), "");
    delivery_say(&one->delivery, "no");
    assert_string_equal(delivery_text(&one->delivery), "no");
    delivery_forget_text(&one->delivery);
    assert_string_equal(delivery_text(&one->delivery), "");
}

static void
an_outcome_carries_its_text(void **state)
{
    struct one *one = *state;
    owed_outcome outcome = owed_failed(&one->delivery, "shelf %d is empty", 4);
    assert_int_equal(outcome.verdict, OWED_VERDICT_FAILED);
    assert_string_equal(one->delivery.text, "shelf 4 is empty");
    outcome = owed_permanent(&one->delivery, "gone");
    assert_int_equal(outcome.verdict, OWED_VERDICT_PERMANENT);
    assert_string_equal(one->delivery.text, "gone");
    assert_int_equal(owed_done().verdict, OWED_VERDICT_DONE);
}

static void
a_wait_is_kept_to_the_microsecond(void **state)
{
    struct one *one = *state;
    owed_outcome outcome = owed_retry_after(&one->delivery, 1.5, "busy");
    assert_int_equal(outcome.verdict, OWED_VERDICT_RETRY_AFTER);
    assert_int_equal(outcome.wait_us, 1500000);
    assert_string_equal(one->delivery.text, "busy");
    outcome = owed_retry_after(&one->delivery, 0, "at once");
    assert_int_equal(outcome.verdict, OWED_VERDICT_RETRY_AFTER);
    assert_int_equal(outcome.wait_us, 0);
    outcome = owed_retry_after(&one->delivery, INFINITY, "never");
    assert_int_equal(outcome.wait_us, LIMIT_DURATION_US);
}

static void
a_wait_that_is_none_is_a_failure_that_says_so(void **state)
{
    struct one *one = *state;
    owed_outcome outcome = owed_retry_after(&one->delivery, -3, "busy");
    assert_int_equal(outcome.verdict, OWED_VERDICT_FAILED);
    assert_string_equal(one->delivery.text,
        "owed_retry_after was asked to wait -3 s, which is no wait (0 or more): busy");
    outcome = owed_retry_after(&one->delivery, NAN, "busy");
    assert_int_equal(outcome.verdict, OWED_VERDICT_FAILED);
    assert_non_null(strstr(one->delivery.text, "nan s, which is no wait"));
}

static void
a_deferral_needs_a_wait(void **state)
{
    struct one *one = *state;
    owed_outcome outcome = owed_defer(&one->delivery, 1.5, "quota %s", "spent");
    assert_int_equal(outcome.verdict, OWED_VERDICT_DEFER);
    assert_int_equal(outcome.wait_us, 1500000);
    assert_string_equal(one->delivery.text, "quota spent");
    assert_int_equal(owed_defer(&one->delivery, 1e-9, "x").wait_us, 1);
    assert_int_equal(owed_defer(&one->delivery, INFINITY, "x").wait_us, LIMIT_DURATION_US);
    outcome = owed_defer(&one->delivery, 0, "quota");
    assert_int_equal(outcome.verdict, OWED_VERDICT_FAILED);
    assert_string_equal(one->delivery.text,
        "owed_defer was asked to wait 0 s, which is no wait (more than 0): quota");
    assert_int_equal(owed_defer(&one->delivery, -1, "x").verdict, OWED_VERDICT_FAILED);
    assert_int_equal(owed_defer(&one->delivery, NAN, "x").verdict, OWED_VERDICT_FAILED);
    assert_non_null(strstr(one->delivery.text, "nan s, which is no wait"));
}

static void
a_moment_to_wait_for_is_in_the_future(void **state)
{
    struct one *one = *state;
    int64_t now_us = clock_now_us(&one->delivery.owed->clock);
    owed_outcome outcome = owed_not_yet(&one->delivery, now_us + OWED_HOURS(1), "order %d", 7);
    assert_int_equal(outcome.verdict, OWED_VERDICT_NOT_YET);
    assert_int_equal(outcome.until_us, now_us + OWED_HOURS(1));
    assert_string_equal(one->delivery.text, "order 7");
    outcome = owed_not_yet(&one->delivery, 0, "order 7");
    assert_int_equal(outcome.verdict, OWED_VERDICT_FAILED);
    assert_string_equal(one->delivery.text,
        "owed_not_yet was asked to wait until 1970-01-01T00:00:00.000000Z, which is not in the "
        "future: order 7");
}

static void
a_long_text_is_cut_between_characters(void **state)
{
    struct one *one = *state;
    // Ten bytes fit: the second of the last character's two would be the eleventh.
    owed_failed(&one->delivery, "123456789\xc3\xa4 and on");
    assert_string_equal(one->delivery.text, "123456789");
    owed_failed(&one->delivery, "12345678\xc3\xa4 and on");
    assert_string_equal(one->delivery.text, "12345678\xc3\xa4");
    owed_failed(&one->delivery, "1234567890");
    assert_string_equal(one->delivery.text, "1234567890");
    owed_retry_after(&one->delivery, -1, "x");
    assert_string_equal(one->delivery.text, "owed_retry");
}

static void
bytes_that_are_no_text_become_question_marks(void **state)
{
    struct one *one = *state;
    owed_failed(&one->delivery, "a\xff\xc3z\xc3");
    assert_string_equal(one->delivery.text, "a??z?");
    owed_failed(&one->delivery, "\xed\xa0\x80");
    assert_string_equal(one->delivery.text, "???");
}

static owed_outcome
makes_it_up(owed_delivery *delivery, const void *payload)
{
    (void)delivery;
    return *(const owed_outcome *)payload;
}

static void
an_outcome_made_by_hand_is_a_failure_that_says_so(void **state)
{
    struct one *one = *state;
    one->receiver.declared.run = makes_it_up;
    const owed_outcome bad[] = {{0}, {.verdict = OWED_VERDICT_NOT_YET + 1},
        {.verdict = OWED_VERDICT_RETRY_AFTER, .wait_us = -1}, {.verdict = OWED_VERDICT_DEFER},
        {.verdict = OWED_VERDICT_NOT_YET}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        owed_outcome outcome = delivery_call(&one->delivery, &bad[i]);
        assert_int_equal(outcome.verdict, OWED_VERDICT_FAILED);
        assert_non_null(strstr(one->delivery.text, "receiver shop.billing "));
    }
    owed_outcome wordless = {.verdict = OWED_VERDICT_FAILED};
    assert_int_equal(delivery_call(&one->delivery, &wordless).verdict, OWED_VERDICT_FAILED);
    assert_non_null(strstr(one->delivery.text, "did not say why"));
}

static owed_status
begin_fails(owed_delivery *delivery, owed_error *err)
{
    int *calls = delivery->begin_state;
    (*calls)++;
    *err = (owed_error){.status = OWED_BUSY};
    return OWED_BUSY;
}

static void
a_transaction_that_cannot_begin_is_null_and_tried_once(void **state)
{
    struct one *one = *state;
    int calls = 0;
    assert_null(owed_delivery_tx(&one->delivery));
    one->delivery.begin = begin_fails;
    one->delivery.begin_state = &calls;
    assert_null(owed_delivery_tx(&one->delivery));
    assert_null(owed_delivery_tx(&one->delivery));
    assert_int_equal(calls, 1);
    assert_int_equal(one->delivery.begin_error.status, OWED_BUSY);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_facts_are_those_of_the_rows, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_absent_is_empty, setup, teardown),
        cmocka_unit_test(the_idempotency_key_is_made_of_uid_receiver_and_target),
        cmocka_unit_test_setup_teardown(
            a_receiver_that_asks_for_its_key_hears_the_same_each_time, setup, teardown),
        cmocka_unit_test_setup_teardown(a_text_that_was_not_said_is_empty, setup, teardown),
        cmocka_unit_test_setup_teardown(an_outcome_carries_its_text, setup, teardown),
        cmocka_unit_test_setup_teardown(a_wait_is_kept_to_the_microsecond, setup, teardown),
        cmocka_unit_test_setup_teardown(
            a_wait_that_is_none_is_a_failure_that_says_so, setup, teardown),
        cmocka_unit_test_setup_teardown(a_deferral_needs_a_wait, setup, teardown),
        cmocka_unit_test_setup_teardown(a_moment_to_wait_for_is_in_the_future, setup, teardown),
        cmocka_unit_test_setup_teardown(
            a_long_text_is_cut_between_characters, setup_short, teardown),
        cmocka_unit_test_setup_teardown(
            bytes_that_are_no_text_become_question_marks, setup, teardown),
        cmocka_unit_test_setup_teardown(
            an_outcome_made_by_hand_is_a_failure_that_says_so, setup, teardown),
        cmocka_unit_test_setup_teardown(
            a_transaction_that_cannot_begin_is_null_and_tried_once, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
