/* SPDX-License-Identifier: MIT
 *
 * test_fire.c - an event exists if and only if its transaction committed, with all that is owed.
 */
#include "fixture.h"

#include <stdlib.h>

#include "base/limits.h"
#include "declare/publish.h"

static owed_outcome
takes_it(owed_delivery *delivery, const void *payload)
{
    (void)delivery;
    (void)payload;
    return owed_done();
}

static owed_receiver
durable(const char *key, const owed_event_type *type)
{
    return (owed_receiver){.key = key, .event = type, .run = takes_it};
}

/* open_shop has two durable receivers of orders and one of everything. */
static void
open_shop(struct fixture *f)
{
    fixture_receiver(f, durable("shop.stock", &order_placed));
    fixture_receiver(f, durable("shop.billing", &order_placed));
    fixture_receiver(f, durable("shop.audit", &owed_any_event));
    fixture_open(f);
}

static void
a_commit_keeps_the_event_and_one_row_for_each_receiver(void **state)
{
    struct fixture *f = *state;
    open_shop(f);
    fixture_begin(f);
    int64_t id = fixture_fire(f, &order_placed, 7);
    assert_int_equal(fixture_events(f), 0);
    fixture_commit(f);
    assert_int_equal(fixture_events(f), 1);
    assert_int_equal(fixture_owed(f, id, NULL), 3);
    assert_int_equal(fixture_owed(f, id, "shop.stock"), 1);
    assert_int_equal(fixture_owed(f, id, "shop.billing"), 1);
    assert_int_equal(fixture_owed(f, id, "shop.audit"), 1);
}

static void
only_those_who_want_an_event_are_owed_it(void **state)
{
    struct fixture *f = *state;
    open_shop(f);
    fixture_begin(f);
    int64_t id = fixture_fire(f, &order_shipped, 7);
    fixture_commit(f);
    assert_int_equal(fixture_owed(f, id, NULL), 1);
    assert_int_equal(fixture_owed(f, id, "shop.audit"), 1);
}

static void
a_rollback_leaves_nothing(void **state)
{
    struct fixture *f = *state;
    open_shop(f);
    fixture_begin(f);
    fixture_fire(f, &order_placed, 7);
    owed_rollback(f->tx);
    assert_int_equal(fixture_events(f), 0);
    assert_int_equal(fixture_owed(f, 0, NULL), 0);
    fixture_begin(f);
    fixture_fire(f, &order_placed, 8);
    fixture_commit(f);
    assert_int_equal(fixture_events(f), 1);
}

static void
closing_the_handle_rolls_back(void **state)
{
    struct fixture *f = *state;
    open_shop(f);
    fixture_begin(f);
    fixture_fire(f, &order_placed, 7);
    owed_close(f->owed);
    f->owed = NULL;
    assert_int_equal(fixture_events(f), 0);
}

static void
a_savepoint_of_the_caller_undoes_what_was_fired_after_it(void **state)
{
    struct fixture *f = *state;
    open_shop(f);
    fixture_begin(f);
    int64_t first = fixture_fire(f, &order_placed, 1);
    fixture_run(f->owed->db, "savepoint mine");
    fixture_fire(f, &order_placed, 2);
    fixture_run(f->owed->db, "rollback to savepoint mine; release savepoint mine");
    fixture_commit(f);
    assert_int_equal(fixture_events(f), 1);
    assert_int_equal(fixture_owed(f, 0, NULL), 3);
    assert_int_equal(fixture_owed(f, first, NULL), 3);
}

static void
one_transaction_at_a_time(void **state)
{
    struct fixture *f = *state;
    owed_tx *second = NULL;
    open_shop(f);
    fixture_begin(f);
    assert_status(OWED_INVALID, owed_begin(f->owed, &second, &f->err));
    assert_says(f->err, "a transaction is open on this handle");
    assert_null(second);
    owed_rollback(f->tx);
    fixture_begin(f);
    owed_rollback(f->tx);
}

static void
a_transaction_that_somebody_else_ended_is_aborted(void **state)
{
    struct fixture *f = *state;
    open_shop(f);
    fixture_begin(f);
    fixture_fire(f, &order_placed, 1);
    // MariaDB has nothing that keeps an application from it.
    size_t kept = test_store_is("mariadb");
    assert_int_equal(fixture_try(f->owed->db, "commit"), kept);
    assert_status(OWED_ABORTED, owed_commit(f->tx, &f->err));
    fixture_begin(f);
    fixture_run(f->owed->db, "rollback");
    int64_t id = 0;
    order payload = {.id = 1};
    assert_status(OWED_ABORTED, owed_fire(f->tx, &order_placed, &payload, NULL, &id, &f->err));
    assert_says(f->err, "the transaction is over");
    owed_rollback(f->tx);
    assert_int_equal(fixture_events(f), kept);
    fixture_begin(f);
    fixture_fire(f, &order_placed, 1);
    fixture_commit(f);
    assert_int_equal(fixture_events(f), kept + 1);
}

static void
what_was_said_of_an_event_is_kept(void **state)
{
    struct fixture *f = *state;
    struct arena arena;
    arena_init(&arena, 0);
    open_shop(f);
    order payload = {.id = 7, .cents = 1200, .currency = NULL};
    owed_fire_options options = {
        .dedupe_key = "order-7",
        .due_at_us = f->now_us + 60000000,
        .occurred_at_us = f->now_us - 5,
        .actor_key = "user:3",
        .actor_label = "Zoë",
        .correlation_id = "req-1",
        .causation_id = 99,
        .traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        .scope = "{\"tenant\": 4}",
    };
    int64_t id = 0;
    fixture_begin(f);
    assert_ok(owed_fire(f->tx, &order_placed, &payload, &options, &id, &f->err));
    fixture_commit(f);
    struct event_row row = fixture_event(f, id, &arena);
    assert_string_equal(row.name, "shop.OrderPlaced");
    assert_int_equal(row.version, 2);
    assert_true(str_is(row.payload, "{\"id\":7,\"cents\":1200,\"currency\":null}"));
    assert_string_equal(row.dedupe_key, "order-7");
    assert_int_equal(row.occurred_at_us, f->now_us - 5);
    assert_int_equal(row.recorded_at_us, f->now_us);
    assert_string_equal(row.actor_key, "user:3");
    assert_string_equal(row.actor_label, "Zoë");
    assert_string_equal(row.correlation_id, "req-1");
    assert_int_equal(row.causation_id, 99);
    assert_string_equal(row.traceparent, options.traceparent);
    assert_string_equal(row.scope, "{\"tenant\": 4}");
    arena_done(&arena);
}

/* first_delivery reads one row of those that are owed for an event. */
static struct delivery_row
first_delivery(struct fixture *f, int64_t event_id, struct arena *arena)
{
    struct delivery_row *rows = NULL;
    size_t count = 0;
    struct filter filter = {.limit = 1, .event_id = event_id};
    assert_ok(store_deliveries(f->other, &filter, arena, &rows, &count, &f->err));
    assert_int_equal(count, 1);
    return rows[0];
}

static void
what_is_due_later_waits_and_what_was_due_before_does_not(void **state)
{
    struct fixture *f = *state;
    struct arena arena;
    arena_init(&arena, 0);
    open_shop(f);
    const int64_t due[] = {0, f->now_us + 60000000, f->now_us - 60000000};
    const int64_t expected[] = {f->now_us, f->now_us + 60000000, f->now_us};
    order payload = {.id = 7};
    for (size_t i = 0; i < 3; i++) {
        owed_fire_options options = {.due_at_us = due[i]};
        int64_t id = 0;
        fixture_begin(f);
        assert_ok(owed_fire(f->tx, &order_placed, &payload, &options, &id, &f->err));
        fixture_commit(f);
        struct delivery_row row = first_delivery(f, id, &arena);
        assert_int_equal(row.available_at_us, expected[i]);
        assert_int_equal(row.due_at_us, expected[i]);
    }
    arena_done(&arena);
}

static void
a_duplicate_answers_the_existing_event_and_writes_nothing(void **state)
{
    struct fixture *f = *state;
    open_shop(f);
    order payload = {.id = 7};
    owed_fire_options options = {.dedupe_key = "order-7"};
    int64_t first = 0;
    int64_t again = 0;
    fixture_begin(f);
    assert_ok(owed_fire(f->tx, &order_placed, &payload, &options, &first, &f->err));
    assert_status(
        OWED_DUPLICATE, owed_fire(f->tx, &order_placed, &payload, &options, &again, &f->err));
    assert_int_equal(again, first);
    assert_says(f->err, "the dedupe key \"order-7\"");
    fixture_fire(f, &order_placed, 8);
    fixture_commit(f);
    fixture_begin(f);
    again = 0;
    assert_status(
        OWED_DUPLICATE, owed_fire(f->tx, &order_shipped, &payload, &options, &again, &f->err));
    assert_int_equal(again, first);
    fixture_commit(f);
    assert_int_equal(fixture_events(f), 2);
    assert_int_equal(fixture_owed(f, 0, NULL), 6);
}

static void
only_the_declared_descriptor_can_be_fired(void **state)
{
    struct fixture *f = *state;
    open_shop(f);
    static const owed_event_type unknown = {.name = "shop.Unknown"};
    static const owed_event_type another = {.name = "shop.OrderPlaced", .version = 1};
    const owed_event_type same = order_placed; // as a second copy of a static in a header
    owed_bytes json = {"{}", 2};
    order payload = {.id = 7};
    fixture_begin(f);
    assert_status(OWED_NOT_FOUND, owed_fire(f->tx, &unknown, &json, NULL, NULL, &f->err));
    assert_says(f->err, "shop.Unknown was not declared");
    assert_status(OWED_NOT_FOUND, owed_fire(f->tx, &another, &json, NULL, NULL, &f->err));
    assert_says(f->err, "another descriptor");
    assert_status(OWED_INVALID, owed_fire(f->tx, &owed_any_event, &json, NULL, NULL, &f->err));
    assert_status(OWED_INVALID, owed_fire(f->tx, NULL, &json, NULL, NULL, &f->err));
    assert_status(OWED_INVALID, owed_fire(f->tx, &order_placed, NULL, NULL, NULL, &f->err));
    assert_ok(owed_fire(f->tx, &same, &payload, NULL, NULL, &f->err));
    fixture_commit(f);
    assert_int_equal(fixture_events(f), 1);
}

static void
a_refused_value_leaves_the_transaction_usable(void **state)
{
    struct fixture *f = *state;
    open_shop(f);
    order bad = {.id = 7, .currency = "\xff"};
    fixture_begin(f);
    fixture_fire(f, &order_placed, 1);
    assert_status(OWED_CONFIG, owed_fire(f->tx, &order_placed, &bad, NULL, NULL, &f->err));
    assert_says(f->err, "currency");
    fixture_fire(f, &order_placed, 2);
    fixture_commit(f);
    assert_int_equal(fixture_events(f), 2);
    assert_int_equal(fixture_owed(f, 0, NULL), 6);
}

static void
many_end_at_the_first_refusal_and_say_how_many(void **state)
{
    struct fixture *f = *state;
    open_shop(f);
    const order orders[] = {{1, 10, "EUR"}, {2, 20, "EUR"}, {3, 30, "\xff"}, {4, 40, "EUR"}};
    int64_t ids[4] = {0};
    size_t fired = 0;
    fixture_begin(f);
    assert_status(OWED_CONFIG,
        owed_fire_many(
            f->tx, &order_placed, orders, sizeof orders[0], 4, NULL, ids, &fired, &f->err));
    assert_int_equal(fired, 2);
    assert_true(ids[0] > 0 && ids[1] > ids[0]);
    assert_int_equal(ids[2], 0);
    fixture_commit(f);
    assert_int_equal(fixture_events(f), 2);
    assert_int_equal(fixture_owed(f, 0, NULL), 6);
}

static void
many_pass_over_duplicates(void **state)
{
    struct fixture *f = *state;
    open_shop(f);
    const order orders[] = {{1, 10, "EUR"}, {2, 20, "EUR"}, {3, 30, "EUR"}};
    const owed_fire_options options[] = {
        {.dedupe_key = "a"}, {.dedupe_key = "a"}, {.dedupe_key = "b"}};
    int64_t ids[3] = {0};
    size_t fired = 0;
    fixture_begin(f);
    assert_ok(owed_fire_many(
        f->tx, &order_placed, orders, sizeof orders[0], 3, options, ids, &fired, &f->err));
    fixture_commit(f);
    assert_int_equal(fired, 3);
    assert_int_equal(ids[1], ids[0]);
    assert_true(ids[2] > ids[0]);
    assert_int_equal(fixture_events(f), 2);
}

static void
a_fire_before_the_first_publish_misses_nobody(void **state)
{
    struct fixture *f = *state;
    fixture_receiver(f, durable("shop.stock", &order_placed));
    fixture_receiver(
        f, (owed_receiver){.key = "shop.hook", .event = &order_placed, .webhook = "http://h/x"});
    owed_settings settings = fixture_settings(f);
    settings.no_publish = true;
    assert_ok(owed_open(&settings, &f->owed, &f->err));
    fixture_begin(f);
    int64_t id = fixture_fire(f, &order_placed, 7);
    fixture_commit(f);
    assert_int_equal(fixture_owed(f, id, NULL), 2);
    assert_int_equal(fixture_owed(f, id, "shop.hook"), 1);
}

static void
what_other_apps_published_is_owed_too(void **state)
{
    struct fixture *f = *state;
    owed_registry *mail = NULL;
    int64_t changed = 0;
    owed_receiver letter = {
        .key = "mail.letter", .event_name = "shop.OrderPlaced", .discard = true};
    assert_ok(owed_registry_new("mail", &mail, &f->err));
    assert_ok(owed_declare_receiver(mail, &letter, &f->err));
    assert_ok(publish_registry(f->other, mail, 1, f->now_us, &changed, &f->err));
    owed_registry_free(mail);
    open_shop(f);
    fixture_begin(f);
    int64_t id = fixture_fire(f, &order_placed, 7);
    fixture_commit(f);
    assert_int_equal(fixture_owed(f, id, NULL), 4);
    assert_int_equal(fixture_owed(f, id, "mail.letter"), 1);
}

static void
inline_and_on_commit_receivers_are_owed_no_row(void **state)
{
    struct fixture *f = *state;
    fixture_receiver(f,
        (owed_receiver){
            .key = "shop.credit", .event = &order_placed, .mode = OWED_INLINE, .run = takes_it});
    fixture_receiver(f,
        (owed_receiver){.key = "shop.counter",
            .event = &order_placed,
            .mode = OWED_ON_COMMIT,
            .run = takes_it});
    open_shop(f);
    fixture_begin(f);
    int64_t id = fixture_fire(f, &order_placed, 7);
    fixture_commit(f);
    assert_int_equal(fixture_owed(f, id, NULL), 3);
}

static void
json_is_kept_byte_for_byte(void **state)
{
    struct fixture *f = *state;
    open_shop(f);
    const char *const texts[] = {
        " {\"b\": 1,\t\"a\": 1e400,\n \"a\": 12345678901234567890123} ",
        "{\"nul\":\"\\u0000\",\"lone\":\"\\ud800\",\"pair\":\"\\ud83d\\ude00\"}",
        "[]",
        "null",
        "\"\xc3\xa4\"",
        "-0.0",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct arena arena;
        arena_init(&arena, 0);
        int64_t id = 0;
        fixture_begin(f);
        assert_ok(owed_fire_json(
            f->tx, "shop.NoteTaken", 0, texts[i], strlen(texts[i]), NULL, &id, &f->err));
        fixture_commit(f);
        struct event_row row = fixture_event(f, id, &arena);
        assert_true(str_is(row.payload, texts[i]));
        arena_done(&arena);
    }
}

static void
an_opaque_type_is_fired_as_its_text(void **state)
{
    struct fixture *f = *state;
    struct arena arena;
    arena_init(&arena, 0);
    open_shop(f);
    owed_bytes json = {"{ \"x\": 1.50 }", 13};
    owed_bytes bad = {"{\"x\": }", 7};
    int64_t id = 0;
    fixture_begin(f);
    assert_ok(owed_fire(f->tx, &note_taken, &json, NULL, &id, &f->err));
    assert_status(OWED_INVALID, owed_fire(f->tx, &note_taken, &bad, NULL, NULL, &f->err));
    assert_says(f->err, "shop.NoteTaken");
    fixture_commit(f);
    struct event_row row = fixture_event(f, id, &arena);
    assert_true(str_is(row.payload, "{ \"x\": 1.50 }"));
    assert_int_equal(row.version, 1);
    arena_done(&arena);
}

static void
what_is_no_json_is_refused_with_its_place(void **state)
{
    struct fixture *f = *state;
    open_shop(f);
    const struct {
        const char *text;
        size_t len;
    } bad[] = {{"", 0}, {"{} {}", 5}, {"{}\0garbage", 10}, {"\"\xff\"", 3}, {"{'a':1}", 7}};
    fixture_begin(f);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_status(OWED_INVALID,
            owed_fire_json(
                f->tx, "shop.NoteTaken", 0, bad[i].text, bad[i].len, NULL, NULL, &f->err));
        assert_says(f->err, "shop.NoteTaken: the payload is not JSON: byte ");
    }
    fixture_commit(f);
    assert_int_equal(fixture_events(f), 0);
}

static void
a_name_that_nobody_declared_is_recorded(void **state)
{
    struct fixture *f = *state;
    struct arena arena;
    arena_init(&arena, 0);
    open_shop(f);
    int64_t id = 0;
    fixture_begin(f);
    assert_ok(owed_fire_json(f->tx, "other.Thing", 0, "{}", 2, NULL, &id, &f->err));
    assert_status(OWED_INVALID, owed_fire_json(f->tx, "*", 0, "{}", 2, NULL, NULL, &f->err));
    assert_status(OWED_INVALID, owed_fire_json(f->tx, "a b", 0, "{}", 2, NULL, NULL, &f->err));
    assert_status(OWED_INVALID, owed_fire_json(f->tx, NULL, 0, "{}", 2, NULL, NULL, &f->err));
    assert_status(
        OWED_INVALID, owed_fire_json(f->tx, "other.Thing", -1, "{}", 2, NULL, NULL, &f->err));
    assert_status(OWED_INVALID,
        owed_fire_json(f->tx, "other.Thing", LIMIT_VERSION + 1, "{}", 2, NULL, NULL, &f->err));
    fixture_commit(f);
    assert_int_equal(fixture_event(f, id, &arena).version, 1);
    assert_int_equal(fixture_owed(f, id, NULL), 1); // who takes any event
    arena_done(&arena);
}

static void
a_payload_over_16_mib_is_refused_and_one_of_16_mib_is_not(void **state)
{
    struct fixture *f = *state;
    open_shop(f);
    size_t len = LIMIT_PAYLOAD_BYTES;
    char *text = malloc(len + 1);
    assert_non_null(text);
    memset(text, 'x', len + 1);
    text[0] = text[len - 1] = text[len] = '"';
    int64_t id = 0;
    fixture_begin(f);
    assert_ok(owed_fire_json(f->tx, "shop.NoteTaken", 0, text, len, NULL, &id, &f->err));
    text[len - 1] = 'x';
    assert_status(
        OWED_LIMIT, owed_fire_json(f->tx, "shop.NoteTaken", 0, text, len + 1, NULL, NULL, &f->err));
    assert_says(f->err, "16777217 bytes is over the limit of 16777216");
    order large = {.id = 1, .currency = text};
    text[len - 5] = '\0';
    assert_status(OWED_LIMIT, owed_fire(f->tx, &order_placed, &large, NULL, NULL, &f->err));
    fixture_commit(f);
    assert_int_equal(fixture_events(f), 1);
    free(text);
}

static void
two_events_never_have_one_uid(void **state)
{
    struct fixture *f = *state;
    struct arena arena;
    arena_init(&arena, 0);
    open_shop(f);
    fixture_begin(f);
    int64_t first = fixture_fire(f, &order_placed, 1);
    int64_t second = fixture_fire(f, &order_placed, 1);
    fixture_commit(f);
    struct event_row a = fixture_event(f, first, &arena);
    struct event_row b = fixture_event(f, second, &arena);
    assert_memory_not_equal(a.uid, b.uid, sizeof a.uid);
    arena_done(&arena);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_commit_keeps_the_event_and_one_row_for_each_receiver),
        CASE(only_those_who_want_an_event_are_owed_it),
        CASE(a_rollback_leaves_nothing),
        CASE(closing_the_handle_rolls_back),
        CASE(a_savepoint_of_the_caller_undoes_what_was_fired_after_it),
        CASE(one_transaction_at_a_time),
        CASE(a_transaction_that_somebody_else_ended_is_aborted),
        CASE(what_was_said_of_an_event_is_kept),
        CASE(what_is_due_later_waits_and_what_was_due_before_does_not),
        CASE(a_duplicate_answers_the_existing_event_and_writes_nothing),
        CASE(only_the_declared_descriptor_can_be_fired),
        CASE(a_refused_value_leaves_the_transaction_usable),
        CASE(many_end_at_the_first_refusal_and_say_how_many),
        CASE(many_pass_over_duplicates),
        CASE(a_fire_before_the_first_publish_misses_nobody),
        CASE(what_other_apps_published_is_owed_too),
        CASE(inline_and_on_commit_receivers_are_owed_no_row),
        CASE(json_is_kept_byte_for_byte),
        CASE(an_opaque_type_is_fired_as_its_text),
        CASE(what_is_no_json_is_refused_with_its_place),
        CASE(a_name_that_nobody_declared_is_recorded),
        CASE(a_payload_over_16_mib_is_refused_and_one_of_16_mib_is_not),
        CASE(two_events_never_have_one_uid),
    };
    return RUN_ON_ALL_STORES("fire", tests);
}
