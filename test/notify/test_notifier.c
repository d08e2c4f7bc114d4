/* SPDX-License-Identifier: MIT
 *
 * test_notifier.c - tickets that a store keeps: what a provider says is what becomes of them.
 */
#include "office.h"

#include <stdio.h>

#include "store/sent_once.h"

/* enqueue fires a ticket to ada by a channel (NULL: any), with more members; answers its event's id. */
static int64_t
enqueue(const char *channel, const char *more)
{
    struct fixture *f = office.f;
    char json[1024], pinned[64] = "";
    int64_t id = 0;
    if (channel != NULL)
        snprintf(pinned, sizeof pinned, ",\"channel\":\"%s\"", channel);
    int len = snprintf(json, sizeof json,
        "{\"template\":\"receipt\",\"context\":{\"order\":\"A-1042\"},\"recipient\":{\"phone\":"
        "\"+49151000000\",\"email\":\"ada@example.com\"}%s%s}",
        pinned, more);
    fixture_begin(f);
    assert_ok(owed_fire_json(f->tx, "owed.Ticket", 0, json, (size_t)len, NULL, &id, &f->err));
    fixture_commit(f);
    return id;
}

static void
a_ticket_that_was_sent_keeps_its_receipt(void **state)
{
    (void)state;
    int64_t id = enqueue("sms", ",\"id\":\"00112233445566778899aabbccddeeff\"");
    relay();
    check_row(id, "succeeded", 1, "\"channel\":\"sms\",\"address\":\"+49151000000\"");
    check_row(id, "succeeded", 1, "\"reference\":\"r1\"");
    assert_string_equal(office.sms.id, "00112233445566778899aabbccddeeff");
}

static void
a_ticket_of_a_transaction_that_is_rolled_back_is_none(void **state)
{
    (void)state;
    struct fixture *f = office.f;
    static const char json[] =
        "{\"template\":\"receipt\",\"recipient\":{\"phone\":\"+49151000000\"}}";
    fixture_begin(f);
    assert_ok(owed_fire_json(f->tx, "owed.Ticket", 0, json, strlen(json), NULL, NULL, &f->err));
    owed_rollback(f->tx);
    f->tx = NULL;
    relay();
    assert_int_equal(fixture_events(f), 0);
    assert_int_equal(office.sms.calls, 0);
}

static void
what_a_provider_says_is_what_becomes_of_a_ticket(void **state)
{
    (void)state;
    static const struct {
        owed_answer answer;
        const char *status;
        int attempts;
    } cases[] = {
        {{.verdict = OWED_ANSWER_FAILED, .reason = "away"}, "failed", 1},
        {{.verdict = OWED_ANSWER_REFUSED, .reason = "no"}, "dead", 1},
        {{.verdict = OWED_ANSWER_GONE, .reason = "gone"}, "dead", 1},
        {{.verdict = OWED_ANSWER_WAIT, .wait_us = 60 * SECOND, .reason = "busy"}, "failed", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        office.sms.answer = cases[i].answer;
        int64_t id = enqueue("sms", "");
        relay();
        check_row(id, cases[i].status, cases[i].attempts, cases[i].answer.reason);
    }
    assert_int_equal(office.sms.calls, 4);
}

static void
an_address_that_is_gone_is_told_in_an_event(void **state)
{
    (void)state;
    office.sms.answer = (owed_answer){.verdict = OWED_ANSWER_GONE, .reason = "gone"};
    enqueue("sms", ",\"id\":\"abc\"");
    relay();
    struct event_row *events = NULL;
    size_t count = 0;
    struct arena arena;
    arena_init(&arena, 0);
    assert_ok(
        store_fired(office.f->other, "owed.AddressGone", &arena, &events, &count, &office.f->err));
    assert_int_equal(count, 1);
    assert_string_equal(events[0].payload.p,
        "{\"channel\":\"sms\",\"address\":\"+49151000000\",\"ticket\":\"abc\"}");
    arena_done(&arena);
}

/* One at a time: what is asked for is known before the next one is sent. */
static void
relay_one_by_one(void)
{
    const owed_relay_settings settings = {
        .all_lanes = true, .once = true, .batch_size = 1, .in_flight = 1};
    assert_ok(owed_relay_run(office.f->owed, &settings, NULL, &office.f->err));
}

static void
a_limit_of_one_channel_stops_no_other(void **state)
{
    (void)state;
    office.sms.answer =
        (owed_answer){.verdict = OWED_ANSWER_WAIT, .wait_us = 3600 * SECOND, .reason = "busy"};
    int64_t first = enqueue("sms", ""), second = enqueue("sms", ""), mail = enqueue("email", "");
    relay_one_by_one();
    check_row(first, "failed", 0, "busy");
    check_row(second, "pending", 0, "");
    check_row(mail, "succeeded", 1, "\"channel\":\"email\"");
    assert_int_equal(office.sms.calls, 1);
}

static void
the_channel_that_asked_for_a_wait_rests_whichever_came_first(void **state)
{
    (void)state;
    office.sms.answer = (owed_answer){.verdict = OWED_ANSWER_REFUSED, .reason = "no"};
    office.email.answer =
        (owed_answer){.verdict = OWED_ANSWER_WAIT, .wait_us = 3600 * SECOND, .reason = "busy"};
    int64_t first = enqueue(NULL, ",\"fall_through\":true");
    int64_t mail = enqueue("email", ""), sms = enqueue("sms", "");
    relay_one_by_one();
    check_row(first, "failed", 0, "busy");
    check_row(mail, "pending", 0, "");
    check_row(sms, "dead", 1, "no");
    assert_int_equal(office.email.calls, 1);
}

static void
a_key_is_sent_once_and_the_second_ticket_has_the_first_receipt(void **state)
{
    (void)state;
    int64_t first = enqueue("sms", ",\"dedup_key\":\"order-7\"");
    relay();
    int64_t second = enqueue("sms", ",\"dedup_key\":\"order-7\"");
    relay();
    check_row(first, "succeeded", 1, "\"reference\":\"r1\"");
    check_row(second, "succeeded", 1, "{\"duplicate\":true,\"status\":0");
    check_row(second, "succeeded", 1, "\"reference\":\"r1\"");
    assert_int_equal(office.sms.calls, 1);
    office.f->now_us += 25 * 3600 * SECOND; // the day for which it is known is over
    enqueue("sms", ",\"dedup_key\":\"order-7\"");
    relay();
    assert_int_equal(office.sms.calls, 2);
}

static void
a_key_that_is_being_sent_elsewhere_is_waited_for(void **state)
{
    (void)state;
    struct fixture *f = office.f;
    enum once_claim claim;
    const char *receipt = NULL;
    struct arena arena;
    arena_init(&arena, 0);
    const struct sent_once elsewhere = {
        .key = "order-7", .token = "elsewhere", .now_us = f->now_us, .lease_us = 60 * SECOND};
    assert_ok(store_once_claim(f->other, &elsewhere, &arena, &claim, &receipt, &f->err));
    assert_int_equal(claim, ONCE_CLAIMED);
    int64_t ticket = enqueue("sms", ",\"dedup_key\":\"order-7\"");
    for (int i = 0; i < 3; i++) {
        relay();
        check_row(ticket, "pending", 0, "");
        f->now_us += 2 * SECOND;
    }
    assert_ok(store_once_complete(
        f->other, &elsewhere, "{\"reference\":\"theirs\"}", f->now_us + 60 * SECOND, &f->err));
    relay();
    check_row(ticket, "succeeded", 1, "{\"duplicate\":true,\"reference\":\"theirs\"}");
    assert_int_equal(office.sms.calls, 0);
    arena_done(&arena);
}

static void
a_send_that_fails_gives_its_key_back(void **state)
{
    (void)state;
    office.sms.answer = (owed_answer){.verdict = OWED_ANSWER_REFUSED, .reason = "no"};
    int64_t first = enqueue("sms", ",\"dedup_key\":\"order-7\"");
    relay();
    check_row(first, "dead", 1, "\"status\":-32");
    office.sms.answer = (owed_answer){0};
    int64_t second = enqueue("sms", ",\"dedup_key\":\"order-7\"");
    relay();
    check_row(second, "succeeded", 1, "\"reference\":\"r2\"");
}

static void
quiet_hours_are_waited_for_or_refused(void **state)
{
    (void)state;
    static const char text[] =
        "{\"template\":\"receipt\",\"context\":{\"order\":\"7\"},\"recipient\":{\"phone\":"
        "\"+49151000000\",\"quiet_hours\":[{\"start\":\"00:00\",\"end\":\"06:00\"}]}%s}";
    static const struct {
        const char *more, *status;
        int attempts;
    } cases[] = {{"", "dead", 1}, {",\"quiet_wait\":true", "pending", 0},
        {",\"quiet_wait\":true,\"now\":4102444800000000", "dead", 1},
        {",\"urgent\":true", "succeeded", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture *f = office.f;
        char json[512];
        int64_t id = 0;
        int len = snprintf(json, sizeof json, text, cases[i].more);
        fixture_begin(f);
        assert_ok(owed_fire_json(f->tx, "owed.Ticket", 0, json, (size_t)len, NULL, &id, &f->err));
        fixture_commit(f);
        relay();
        check_row(id, cases[i].status, cases[i].attempts, "\"status\":");
    }
    assert_int_equal(office.sms.calls, 1);
}

static void
a_ticket_that_cannot_be_is_dead_and_says_why(void **state)
{
    (void)state;
    static const char *const texts[] = {"{}",
        "{\"template\":\"receipt\",\"recipient\":{\"fon\":\"1\"}}",
        "{\"template\":\"nothing\",\"recipient\":{}}",
        "{\"template\":\"receipt\",\"recipient\":{\"phone\":\"+49151000000\"}}"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct fixture *f = office.f;
        int64_t id = 0;
        fixture_begin(f);
        assert_ok(owed_fire_json(
            f->tx, "owed.Ticket", 0, texts[i], strlen(texts[i]), NULL, &id, &f->err));
        fixture_commit(f);
        relay();
        check_row(id, "dead", 1, "\"attempts\":[]");
    }
    assert_int_equal(office.sms.calls, 0);
}

int
main(void)
{
#define TEST(name_) cmocka_unit_test_setup_teardown(name_, open_office, close_office)
    const struct CMUnitTest tests[] = {
        TEST(a_ticket_that_was_sent_keeps_its_receipt),
        TEST(a_ticket_of_a_transaction_that_is_rolled_back_is_none),
        TEST(what_a_provider_says_is_what_becomes_of_a_ticket),
        TEST(an_address_that_is_gone_is_told_in_an_event),
        TEST(a_limit_of_one_channel_stops_no_other),
        TEST(the_channel_that_asked_for_a_wait_rests_whichever_came_first),
        TEST(a_key_is_sent_once_and_the_second_ticket_has_the_first_receipt),
        TEST(a_key_that_is_being_sent_elsewhere_is_waited_for),
        TEST(a_send_that_fails_gives_its_key_back),
        TEST(quiet_hours_are_waited_for_or_refused),
        TEST(a_ticket_that_cannot_be_is_dead_and_says_why),
    };
    return RUN_ON_ALL_STORES("notify notifier", tests);
}
