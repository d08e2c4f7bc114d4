/* SPDX-License-Identifier: MIT
 *
 * test_fire_many.c - many events in one call are what as many calls would make of them.
 */
#include "fixture.h"

#include <stdlib.h>

#include <owed/scope.h>

#include "deliver/fire.h"
#include "store/events.h"

#define MANY 1203 // more than two batches

static owed_outcome
takes_it(owed_delivery *delivery, const void *payload)
{
    (void)delivery;
    (void)payload;
    return owed_done();
}

static void
declare(struct fixture *f, const char *key)
{
    fixture_receiver(f, (owed_receiver){.key = key, .event = &order_placed, .run = takes_it});
}

static int64_t
number(struct fixture *f, const char *sql)
{
    return raw_number(f->raw, sql);
}

static order *
orders(size_t count)
{
    order *all = calloc(count, sizeof *all);
    assert_non_null(all);
    for (size_t i = 0; i < count; i++)
        all[i] = (order){.id = (int64_t)i, .cents = 1, .currency = "EUR"};
    return all;
}

static void
ids_come_in_order_however_many_there_are(void **state)
{
    struct fixture *f = *state;
    declare(f, "shop.stock");
    declare(f, "shop.billing");
    fixture_open(f);
    order *all = orders(MANY);
    int64_t *ids = calloc(MANY, sizeof *ids);
    size_t fired = 0;
    fixture_begin(f);
    assert_ok(
        owed_fire_many(f->tx, &order_placed, all, sizeof *all, MANY, NULL, ids, &fired, &f->err));
    assert_int_equal(fixture_events(f), 0);
    fixture_commit(f);
    assert_int_equal(fired, MANY);
    assert_int_equal(fixture_events(f), MANY);
    assert_int_equal(fixture_owed(f, 0, NULL), 2 * MANY);
    struct arena arena;
    arena_init(&arena, 0);
    for (size_t i = 0; i < MANY; i++) {
        assert_true(i == 0 || ids[i] > ids[i - 1]);
        if (i % 167 == 0 || i == MANY - 1) {
            char text[64];
            snprintf(text, sizeof text, "{\"id\":%zu,", i);
            struct event_row row = fixture_event(f, ids[i], &arena);
            assert_memory_equal(row.payload.p, text, strlen(text));
            assert_int_equal(fixture_owed(f, ids[i], NULL), 2);
        }
    }
    arena_done(&arena);
    free(ids);
    free(all);
}

static void
a_rollback_leaves_none(void **state)
{
    struct fixture *f = *state;
    declare(f, "shop.stock");
    fixture_open(f);
    order *all = orders(700);
    fixture_begin(f);
    assert_ok(
        owed_fire_many(f->tx, &order_placed, all, sizeof *all, 700, NULL, NULL, NULL, &f->err));
    owed_rollback(f->tx);
    assert_int_equal(fixture_events(f), 0);
    assert_int_equal(fixture_owed(f, 0, NULL), 0);
    free(all);
}

static void
a_savepoint_of_who_was_joined_undoes_what_was_fired_after_it(void **state)
{
    struct fixture *f = *state;
    declare(f, "shop.stock");
    fixture_open(f);
    order *all = orders(600);
    raw_run(f->raw, "begin");
    fixture_join(f, f->raw);
    assert_ok(owed_fire_many(f->tx, &order_placed, all, sizeof *all, 3, NULL, NULL, NULL, &f->err));
    raw_run(f->raw, "savepoint mine");
    assert_ok(
        owed_fire_many(f->tx, &order_placed, all, sizeof *all, 600, NULL, NULL, NULL, &f->err));
    raw_run(f->raw, "rollback to savepoint mine");
    raw_run(f->raw, "commit");
    assert_ok(owed_committed(f->tx, &f->err));
    assert_int_equal(fixture_events(f), 3);
    assert_int_equal(fixture_owed(f, 0, NULL), 3);
    free(all);
}

/* duplicates of a batch, of the batches before it, and of what was there before. */
static void
keys_that_are_taken_give_the_event_that_has_them(void **state)
{
    struct fixture *f = *state;
    declare(f, "shop.stock");
    fixture_open(f);
    order *all = orders(MANY);
    int64_t *ids = calloc(MANY, sizeof *ids);
    owed_fire_options *options = calloc(MANY, sizeof *options);
    fixture_begin(f);
    const owed_fire_options early = {.dedupe_key = "early"};
    int64_t early_id = 0;
    assert_ok(owed_fire(f->tx, &order_placed, &all[0], &early, &early_id, &f->err));
    fixture_commit(f);
    options[3].dedupe_key = options[9].dedupe_key = options[1100].dedupe_key = "a";
    options[4].dedupe_key = options[1202].dedupe_key = "early";
    options[1101].dedupe_key = options[1102].dedupe_key = "b";
    size_t fired = 0;
    fixture_begin(f);
    assert_ok(owed_fire_many(
        f->tx, &order_placed, all, sizeof *all, MANY, options, ids, &fired, &f->err));
    fixture_commit(f);
    assert_int_equal(fired, MANY);
    assert_int_equal(ids[9], ids[3]);
    assert_int_equal(ids[1100], ids[3]);
    assert_int_equal(ids[4], early_id);
    assert_int_equal(ids[1202], early_id);
    assert_int_equal(ids[1102], ids[1101]);
    assert_true(ids[1101] > ids[3]);
    assert_int_equal(fixture_events(f), 1 + MANY - 5);
    assert_int_equal(fixture_owed(f, 0, NULL), 1 + MANY - 5);
    free(options);
    free(ids);
    free(all);
}

static void
the_first_refusal_ends_it_and_what_came_before_is_written(void **state)
{
    struct fixture *f = *state;
    declare(f, "shop.stock");
    fixture_open(f);
    order *all = orders(MANY);
    owed_fire_options *options = calloc(MANY, sizeof *options);
    options[777].traceparent = "nonsense";
    size_t fired = 0;
    fixture_begin(f);
    assert_status(OWED_INVALID,
        owed_fire_many(
            f->tx, &order_placed, all, sizeof *all, MANY, options, NULL, &fired, &f->err));
    assert_says(f->err, "traceparent");
    assert_int_equal(fired, 777);
    fixture_commit(f);
    assert_int_equal(fixture_events(f), 777);
    assert_int_equal(fixture_owed(f, 0, NULL), 777);
    free(options);
    free(all);
}

static void
none_are_none(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    size_t fired = 7;
    fixture_begin(f);
    assert_ok(
        owed_fire_many(f->tx, &order_placed, NULL, sizeof(order), 0, NULL, NULL, &fired, &f->err));
    assert_int_equal(fired, 0);
    fixture_commit(f);
    assert_int_equal(fixture_events(f), 0);
}

/* What the store refuses: a label that is there already. */
static void
what_the_store_refuses_is_named_where_the_transaction_outlives_it(void **state)
{
    struct fixture *f = *state;
    declare(f, "shop.stock");
    fixture_open(f);
    raw_run(f->raw, "create unique index refuses on owed_event (actor_label)");
    f->store.is_spoilt = true;
    order *all = orders(700);
    owed_fire_options *options = calloc(700, sizeof *options);
    char(*labels)[8] = calloc(700, sizeof *labels);
    for (size_t i = 0; i < 700; i++) {
        snprintf(labels[i], sizeof labels[i], "%zu", i == 613 ? 2 : i);
        options[i].actor_label = labels[i];
    }
    size_t fired = 0;
    fixture_begin(f);
    assert_int_not_equal(
        owed_fire_many(f->tx, &order_placed, all, sizeof *all, 700, options, NULL, &fired, &f->err),
        OWED_OK);
    if (store_outlives_failure(f->owed->db)) {
        assert_int_equal(fired, 613);
        fixture_commit(f);
    } else {
        assert_says(f->err, "can only be rolled back");
        assert_true(fired <= 613);
        assert_status(OWED_ABORTED, owed_commit(f->tx, &f->err));
        fired = 0;
    }
    assert_int_equal(fixture_events(f), fired);
    assert_int_equal(fixture_owed(f, 0, NULL), fired);
    free(labels);
    free(options);
    free(all);
}

/* What an inline receiver counts on the connection that fires. */
struct play {
    int runs;
    int64_t seen[8];
    int64_t refuses;
};

static owed_outcome
counts_events(owed_delivery *delivery, const void *payload)
{
    struct play *play = owed_delivery_state(delivery);
    const order *placed = payload;
    struct raw *raw = fixture_raw(owed_delivery_tx(delivery));
    play->seen[play->runs++ % 8] = raw_number(raw, "select count(*) from owed_event");
    return placed->id == play->refuses ? owed_failed(delivery, "no credit") : owed_done();
}

static void
inline_receivers_run_in_turn(void **state)
{
    struct fixture *f = *state;
    struct play play = {.refuses = -1};
    fixture_receiver(f,
        (owed_receiver){.key = "shop.credit",
            .event = &order_shipped,
            .mode = OWED_INLINE,
            .run = counts_events,
            .state = &play});
    declare(f, "shop.stock");
    fixture_open(f);
    const char *const names[] = {"shop.OrderPlaced", "shop.OrderPlaced", "shop.OrderShipped",
        "shop.OrderPlaced", "shop.OrderShipped", "shop.OrderShipped"};
    struct fire_json events[6];
    int64_t ids[6] = {0};
    bool is_duplicate[6];
    size_t fired = 0;
    for (size_t i = 0; i < 6; i++)
        events[i] = (struct fire_json){
            .name = names[i], .json = STR("{\"id\":1,\"cents\":2,\"currency\":\"EUR\"}")};
    fixture_begin(f);
    assert_ok(fire_json_many(f->tx, events, 6, ids, is_duplicate, &fired, &f->err));
    fixture_commit(f);
    assert_int_equal(fired, 6);
    assert_int_equal(play.runs, 3);
    assert_int_equal(play.seen[0], 3);
    assert_int_equal(play.seen[1], 5);
    assert_int_equal(play.seen[2], 6);
    for (size_t i = 1; i < 6; i++)
        assert_true(ids[i] > ids[i - 1]);
    assert_int_equal(fixture_events(f), 6);
    assert_int_equal(fixture_owed(f, 0, "shop.stock"), 3);
}

static void
a_veto_ends_the_run_where_it_falls(void **state)
{
    struct fixture *f = *state;
    struct play play = {.refuses = 5};
    fixture_receiver(f,
        (owed_receiver){.key = "shop.credit",
            .event = &order_placed,
            .mode = OWED_INLINE,
            .run = counts_events,
            .state = &play});
    fixture_open(f);
    order *all = orders(9);
    size_t fired = 0;
    fixture_begin(f);
    assert_status(OWED_VETOED,
        owed_fire_many(f->tx, &order_placed, all, sizeof *all, 9, NULL, NULL, &fired, &f->err));
    assert_int_equal(fired, 5);
    assert_int_equal(play.runs, 6);
    assert_status(OWED_VETOED, owed_commit(f->tx, &f->err));
    assert_int_equal(fixture_events(f), 0);
    free(all);
}

static owed_status
names_two(owed_delivery *delivery, const void *payload, owed_target_list *list, owed_error *err)
{
    (void)delivery;
    (void)payload;
    owed_status status = owed_target_add(list, "anna", err);
    return status == OWED_OK ? owed_target_add(list, "bert", err) : status;
}

static void
who_names_targets_is_asked_for_each(void **state)
{
    struct fixture *f = *state;
    fixture_receiver(f,
        (owed_receiver){
            .key = "shop.lists", .event = &order_placed, .run = takes_it, .targets = names_two});
    declare(f, "shop.stock");
    fixture_open(f);
    order *all = orders(4);
    fixture_begin(f);
    assert_ok(owed_fire_many(f->tx, &order_placed, all, sizeof *all, 4, NULL, NULL, NULL, &f->err));
    fixture_commit(f);
    assert_int_equal(fixture_owed(f, 0, "shop.stock"), 4);
    assert_int_equal(number(f, "select count(*) from owed_delivery where target = 'anna'"), 4);
    assert_int_equal(number(f, "select count(*) from owed_delivery where target = 'bert'"), 4);
    assert_int_equal(fixture_owed(f, 0, "shop.lists"), 8);
    free(all);
}

static owed_outcome
notes_order(owed_delivery *delivery, const void *payload)
{
    struct play *play = owed_delivery_state(delivery);
    const order *placed = payload;
    play->seen[play->runs++ % 8] = placed->id;
    return owed_done();
}

static void
on_commit_receivers_run_once_for_each_that_is_new(void **state)
{
    struct fixture *f = *state;
    struct play play = {0};
    fixture_receiver(f,
        (owed_receiver){.key = "shop.cache",
            .event = &order_placed,
            .mode = OWED_ON_COMMIT,
            .run = notes_order,
            .state = &play});
    fixture_open(f);
    order *all = orders(4);
    const owed_fire_options options[4] = {
        {0}, {.dedupe_key = "a"}, {.dedupe_key = "a"}, {.dedupe_key = "b"}};
    fixture_begin(f);
    assert_ok(
        owed_fire_many(f->tx, &order_placed, all, sizeof *all, 4, options, NULL, NULL, &f->err));
    assert_int_equal(play.runs, 0);
    fixture_commit(f);
    assert_int_equal(play.runs, 3);
    assert_int_equal(play.seen[0], 0);
    assert_int_equal(play.seen[1], 1);
    assert_int_equal(play.seen[2], 3);
    free(all);
}

static void
many_before_the_first_publish_miss_nobody(void **state)
{
    struct fixture *f = *state;
    declare(f, "shop.stock");
    fixture_receiver(
        f, (owed_receiver){.key = "shop.audit", .event = &owed_any_event, .run = takes_it});
    owed_settings settings = fixture_settings(f);
    settings.no_publish = true;
    assert_ok(owed_open(&settings, &f->owed, &f->err));
    struct fire_json events[600];
    bool is_duplicate[600];
    size_t fired = 0;
    for (size_t i = 0; i < 600; i++)
        events[i] =
            (struct fire_json){.name = i % 3 == 0 ? "shop.OrderPlaced" : "shop.OrderShipped",
                .json = STR("{\"id\":1,\"cents\":2}")};
    fixture_begin(f);
    assert_ok(fire_json_many(f->tx, events, 600, NULL, is_duplicate, &fired, &f->err));
    fixture_commit(f);
    assert_int_equal(fixture_owed(f, 0, "shop.stock"), 200);
    assert_int_equal(fixture_owed(f, 0, "shop.audit"), 600);
}

static void
fire_in_turn(struct fixture *f, int64_t ids[static 5])
{
    const char *const names[] = {"shop.OrderPlaced", "shop.OrderShipped", "shop.OrderPlaced",
        "shop.OrderShipped", "shop.OrderPlaced"};
    struct fire_json events[5];
    bool is_duplicate[5];
    size_t fired = 0;
    for (size_t i = 0; i < 5; i++)
        events[i] = (struct fire_json){.name = names[i], .json = STR("{\"id\":1,\"cents\":2}")};
    fixture_begin(f);
    assert_ok(fire_json_many(f->tx, events, 5, ids, is_duplicate, &fired, &f->err));
    fixture_commit(f);
    assert_int_equal(fired, 5);
}

static void
what_a_block_suppresses_is_kept_or_discarded_in_its_turn(void **state)
{
    struct fixture *f = *state;
    fixture_receiver(
        f, (owed_receiver){.key = "shop.audit", .event = &owed_any_event, .run = takes_it});
    fixture_open(f);
    static const char *const shipped[] = {"shop.OrderShipped", NULL};
    owed_suppression suppression = {.reason = "import", .events = shipped};
    int64_t ids[5] = {0};
    owed_scope *scope = NULL;
    assert_ok(owed_scope_begin_suppressed(&suppression, &scope, &f->err));
    fire_in_turn(f, ids);
    assert_ok(owed_scope_end(scope, &f->err));
    assert_true(ids[0] < ids[1] && ids[1] < ids[2] && ids[2] < ids[3] && ids[3] < ids[4]);
    assert_int_equal(fixture_events(f), 5);
    assert_int_equal(fixture_owed(f, 0, NULL), 3);
    suppression.discard = true;
    assert_ok(owed_scope_begin_suppressed(&suppression, &scope, &f->err));
    fire_in_turn(f, ids);
    assert_ok(owed_scope_end(scope, &f->err));
    assert_int_equal(ids[1], 0);
    assert_int_equal(ids[3], 0);
    assert_true(ids[0] < ids[2] && ids[2] < ids[4]);
    assert_int_equal(fixture_events(f), 8);
    assert_int_equal(fixture_owed(f, 0, NULL), 6);
}

/* One is larger than what a batch takes, others fill several. */
static void
large_payloads_arrive_as_they_were_fired(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    enum { COUNT_OF = 9, SIZE = 300000, LARGE = 1500000 };
    char *texts[COUNT_OF];
    owed_bytes payloads[COUNT_OF];
    int64_t ids[COUNT_OF] = {0};
    for (size_t i = 0; i < COUNT_OF; i++) {
        size_t size = i == 4 ? LARGE : SIZE;
        texts[i] = malloc(size + 64);
        assert_non_null(texts[i]);
        size_t len =
            (size_t)snprintf(texts[i], 64, "{ \"n\":%zu,\n\"t\": \"\\u0000\\\"\xc3\xa9", i);
        memset(texts[i] + len, (int)('a' + i), size);
        memcpy(texts[i] + len + size, "\\\\\"}", 4);
        payloads[i] = (owed_bytes){.data = texts[i], .len = len + size + 4};
    }
    fixture_begin(f);
    assert_ok(owed_fire_many(
        f->tx, &note_taken, payloads, sizeof payloads[0], COUNT_OF, NULL, ids, NULL, &f->err));
    fixture_commit(f);
    struct arena arena;
    arena_init(&arena, 0);
    for (size_t i = 0; i < COUNT_OF; i++) {
        struct event_row row = fixture_event(f, ids[i], &arena);
        assert_int_equal(row.payload.len, payloads[i].len);
        assert_memory_equal(row.payload.p, texts[i], row.payload.len);
        free(texts[i]);
    }
    arena_done(&arena);
}

#define CASE(name_) cmocka_unit_test_setup_teardown(name_, fixture_setup, fixture_teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(ids_come_in_order_however_many_there_are),
        CASE(a_rollback_leaves_none),
        CASE(a_savepoint_of_who_was_joined_undoes_what_was_fired_after_it),
        CASE(keys_that_are_taken_give_the_event_that_has_them),
        CASE(the_first_refusal_ends_it_and_what_came_before_is_written),
        CASE(none_are_none),
        CASE(what_the_store_refuses_is_named_where_the_transaction_outlives_it),
        CASE(inline_receivers_run_in_turn),
        CASE(a_veto_ends_the_run_where_it_falls),
        CASE(who_names_targets_is_asked_for_each),
        CASE(on_commit_receivers_run_once_for_each_that_is_new),
        CASE(many_before_the_first_publish_miss_nobody),
        CASE(what_a_block_suppresses_is_kept_or_discarded_in_its_turn),
        CASE(large_payloads_arrive_as_they_were_fired),
    };
    return RUN_ON_ALL_STORES("deliver fire_many", tests);
}
