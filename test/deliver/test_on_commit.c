/* SPDX-License-Identifier: MIT
 *
 * test_on_commit.c - receivers after the commit: in order, each for itself, and only for what is
 * there; and what an event fired inside a receiver says of its cause.
 */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>

#include "deliver/local.h"

struct seen {
    struct fixture *fixture;
    char trace[256]; // "key:order " for each run
    int64_t fired_id;
    owed_status status;
    owed_error err;
    int runs;
};

static void
note(struct seen *seen, const owed_delivery *delivery, int64_t order_id)
{
    size_t used = strlen(seen->trace);
    snprintf(seen->trace + used, sizeof seen->trace - used, "%s:%lld ",
        owed_delivery_receiver_key(delivery), (long long)order_id);
    seen->runs++;
}

static owed_outcome
counts(owed_delivery *delivery, const void *payload)
{
    const order *placed = payload;
    note(owed_delivery_state(delivery), delivery, placed->id);
    assert_null(owed_delivery_tx(delivery));
    assert_int_equal(owed_delivery_id(delivery), 0);
    return owed_done();
}

static owed_outcome
fails(owed_delivery *delivery, const void *payload)
{
    const order *placed = payload;
    note(owed_delivery_state(delivery), delivery, placed->id);
    return owed_failed(delivery, "the counter is stuck");
}

static owed_outcome
sees_any(owed_delivery *delivery, const void *payload)
{
    const owed_bytes *json = payload;
    assert_true(json->len > 0 && *(const char *)json->data == '{');
    note(owed_delivery_state(delivery), delivery, 0);
    return owed_done();
}

static owed_receiver
after(struct seen *seen, const char *key, const owed_event_type *type, owed_run run)
{
    return (owed_receiver){
        .key = key, .event = type, .mode = OWED_ON_COMMIT, .run = run, .state = seen};
}

static int
setup(void **state)
{
    struct seen *seen = calloc(1, sizeof *seen);
    assert_non_null(seen);
    seen->fixture = fixture_new();
    *state = seen;
    return 0;
}

static int
teardown(void **state)
{
    struct seen *seen = *state;
    fixture_free(seen->fixture);
    free(seen);
    return 0;
}

static void
they_run_after_the_commit_in_order(void **state)
{
    struct seen *seen = *state;
    struct fixture *f = seen->fixture;
    fixture_receiver(f, after(seen, "shop.b", &order_placed, counts));
    fixture_receiver(f, after(seen, "shop.a", &order_placed, counts));
    fixture_open(f);
    fixture_begin(f);
    fixture_fire(f, &order_placed, 1);
    fixture_fire(f, &order_placed, 2);
    assert_string_equal(seen->trace, "");
    fixture_commit(f);
    assert_string_equal(seen->trace, "shop.b:1 shop.a:1 shop.b:2 shop.a:2 ");
}

static void
nothing_runs_after_a_rollback(void **state)
{
    struct seen *seen = *state;
    struct fixture *f = seen->fixture;
    fixture_receiver(f, after(seen, "shop.a", &order_placed, counts));
    fixture_open(f);
    fixture_begin(f);
    fixture_fire(f, &order_placed, 1);
    owed_rollback(f->tx);
    assert_string_equal(seen->trace, "");
}

static void
one_that_fails_is_logged_and_stops_nobody(void **state)
{
    struct seen *seen = *state;
    struct fixture *f = seen->fixture;
    fixture_receiver(f, after(seen, "shop.bad", &order_placed, fails));
    fixture_receiver(f, after(seen, "shop.good", &order_placed, counts));
    fixture_open(f);
    fixture_begin(f);
    fixture_fire(f, &order_placed, 1);
    fixture_commit(f);
    assert_string_equal(seen->trace, "shop.bad:1 shop.good:1 ");
    const char *log = buf_text(&f->log);
    assert_non_null(strstr(log, "shop.bad"));
    assert_non_null(strstr(log, "shop.OrderPlaced"));
    assert_non_null(strstr(log, "the counter is stuck"));
    assert_int_equal(log[0] - '0', OWED_LOG_WARNING);
    assert_null(strstr(log, "shop.good"));
}

/* answers_by_number comes to what the order says. */
static owed_outcome
answers_by_number(owed_delivery *delivery, const void *payload)
{
    const order *placed = payload;
    note(owed_delivery_state(delivery), delivery, placed->id);
    switch (placed->id) {
    case 1:
        return owed_permanent(delivery, "said never");
    case 2:
        return owed_retry_after(delivery, 60, "said in a minute");
    case 3:
        return owed_defer(delivery, 60, "said quota spent");
    default:
        return owed_not_yet(delivery, INT64_MAX, "said far from now");
    }
}

static void
whatever_one_comes_to_it_is_logged_and_not_run_again(void **state)
{
    struct seen *seen = *state;
    struct fixture *f = seen->fixture;
    fixture_receiver(f, after(seen, "shop.bad", &order_placed, answers_by_number));
    fixture_open(f);
    fixture_begin(f);
    for (int64_t id = 1; id <= 4; id++)
        fixture_fire(f, &order_placed, id);
    fixture_commit(f);
    assert_string_equal(seen->trace, "shop.bad:1 shop.bad:2 shop.bad:3 shop.bad:4 ");
    static const char *const says[] = {"never", "in a minute", "quota spent", "far from now"};
    for (size_t i = 0; i < 4; i++)
        assert_non_null(strstr(buf_text(&f->log), says[i]));
    assert_int_equal(fixture_events(f), 4);
    assert_int_equal(fixture_owed(f, 0, NULL), 0);
}

static void
one_that_cannot_read_the_payload_is_logged_and_stops_nobody(void **state)
{
    struct seen *seen = *state;
    struct fixture *f = seen->fixture;
    fixture_receiver(f, after(seen, "shop.strict", &order_placed, counts));
    fixture_receiver(f, after(seen, "shop.any", &owed_any_event, sees_any));
    fixture_open(f);
    fixture_begin(f);
    assert_ok(
        owed_fire_json(f->tx, "shop.OrderPlaced", 0, "{\"id\":true}", 11, NULL, NULL, &f->err));
    fixture_commit(f);
    assert_string_equal(seen->trace, "shop.any:0 ");
    assert_non_null(strstr(buf_text(&f->log), "shop.strict"));
}

static void
who_wants_any_event_gets_those_that_nobody_declared(void **state)
{
    struct seen *seen = *state;
    struct fixture *f = seen->fixture;
    fixture_receiver(f, after(seen, "shop.any", &owed_any_event, sees_any));
    fixture_open(f);
    fixture_begin(f);
    fixture_fire(f, &order_placed, 1);
    assert_ok(owed_fire_json(f->tx, "other.Thing", 0, "{}", 2, NULL, NULL, &f->err));
    fixture_commit(f);
    assert_string_equal(seen->trace, "shop.any:0 shop.any:0 ");
}

static void
a_savepoint_rolled_back_takes_its_events_receivers_along(void **state)
{
    struct seen *seen = *state;
    struct fixture *f = seen->fixture;
    fixture_receiver(f, after(seen, "shop.a", &order_placed, counts));
    fixture_open(f);
    fixture_begin(f);
    fixture_fire(f, &order_placed, 1);
    fixture_run(f->owed->db, "savepoint mine");
    fixture_fire(f, &order_placed, 2);
    fixture_run(f->owed->db, "rollback to savepoint mine; release savepoint mine");
    // The id may come again: it is the uid that tells this event from the one that is gone.
    fixture_fire(f, &order_placed, 3);
    fixture_commit(f);
    assert_string_equal(seen->trace, "shop.a:1 shop.a:3 ");
}

static void
what_is_forgotten_after_a_mark_does_not_run(void **state)
{
    struct seen *seen = *state;
    struct fixture *f = seen->fixture;
    fixture_receiver(f, after(seen, "shop.a", &order_placed, counts));
    fixture_open(f);
    fixture_begin(f);
    struct fired **none = tx_mark(f->tx);
    fixture_fire(f, &order_placed, 1);
    tx_forget(f->tx, none);
    fixture_fire(f, &order_placed, 2);
    struct fired **mark = tx_mark(f->tx);
    fixture_fire(f, &order_placed, 3);
    tx_forget(f->tx, mark);
    fixture_fire(f, &order_placed, 4);
    fixture_commit(f);
    assert_string_equal(seen->trace, "shop.a:2 shop.a:4 ");
}

/* fire_again fires order_shipped in a transaction of the receiver's own. */
static owed_outcome
fire_again(owed_delivery *delivery, const void *payload)
{
    struct seen *seen = owed_delivery_state(delivery);
    const order *placed = payload;
    owed_tx *tx = NULL;
    note(seen, delivery, placed->id);
    seen->status = owed_begin(seen->fixture->owed, &tx, &seen->err);
    if (seen->status == OWED_OK)
        seen->status = owed_fire(tx, &order_shipped, payload, NULL, &seen->fired_id, &seen->err);
    if (seen->status == OWED_OK)
        seen->status = owed_commit(tx, &seen->err);
    else
        owed_rollback(tx);
    return seen->status == OWED_OK ? owed_done() : owed_failed(delivery, "%s", seen->err.text);
}

static void
an_event_fired_inside_names_its_cause_and_correlation(void **state)
{
    struct seen *seen = *state;
    struct fixture *f = seen->fixture;
    struct arena arena;
    arena_init(&arena, 0);
    fixture_receiver(f, after(seen, "shop.a", &order_placed, fire_again));
    fixture_open(f);
    order payload = {.id = 1};
    owed_fire_options options = {.correlation_id = "req-9"};
    int64_t cause = 0;
    fixture_begin(f);
    assert_ok(owed_fire(f->tx, &order_placed, &payload, &options, &cause, &f->err));
    fixture_commit(f);
    assert_int_equal(seen->status, OWED_OK);
    struct event_row row = fixture_event(f, seen->fired_id, &arena);
    assert_int_equal(row.causation_id, cause);
    assert_string_equal(row.correlation_id, "req-9");
    // Outside the receiver there is no cause any more.
    fixture_begin(f);
    int64_t later = fixture_fire(f, &order_shipped, 2);
    fixture_commit(f);
    row = fixture_event(f, later, &arena);
    assert_int_equal(row.causation_id, 0);
    assert_string_equal(row.correlation_id, "");
    arena_done(&arena);
}

static owed_outcome
fires_inside(owed_delivery *delivery, const void *payload)
{
    struct seen *seen = owed_delivery_state(delivery);
    owed_fire_options options = {.correlation_id = seen->runs++ == 0 ? NULL : "own"};
    owed_tx *tx = owed_delivery_tx(delivery);
    seen->status = owed_fire(tx, &order_shipped, payload, &options, &seen->fired_id, &seen->err);
    return seen->status == OWED_OK ? owed_done() : owed_failed(delivery, "%s", seen->err.text);
}

static void
the_same_holds_for_inline_receivers(void **state)
{
    struct seen *seen = *state;
    struct fixture *f = seen->fixture;
    struct arena arena;
    arena_init(&arena, 0);
    owed_receiver inside = after(seen, "shop.a", &order_placed, fires_inside);
    inside.mode = OWED_INLINE;
    fixture_receiver(f, inside);
    fixture_open(f);
    order payload = {.id = 1};
    owed_fire_options options = {.correlation_id = "req-9"};
    const char *const correlations[] = {"req-9", "own"};
    for (size_t i = 0; i < 2; i++) {
        int64_t cause = 0;
        fixture_begin(f);
        assert_ok(owed_fire(f->tx, &order_placed, &payload, &options, &cause, &f->err));
        int64_t sibling = fixture_fire(f, &order_shipped, 2);
        fixture_commit(f);
        struct event_row row = fixture_event(f, seen->fired_id, &arena);
        assert_int_equal(row.causation_id, cause);
        assert_string_equal(row.correlation_id, correlations[i]);
        assert_int_equal(fixture_event(f, sibling, &arena).causation_id, 0);
    }
    arena_done(&arena);
}

static void
a_receiver_that_fires_itself_for_ever_is_stopped(void **state)
{
    struct seen *seen = *state;
    struct fixture *f = seen->fixture;
    fixture_receiver(f, after(seen, "s.a", &order_shipped, fire_again));
    fixture_open(f);
    fixture_begin(f);
    fixture_fire(f, &order_shipped, 1);
    fixture_commit(f);
    assert_int_equal(seen->runs, LOCAL_DEPTH);
    assert_int_equal(fixture_events(f), LOCAL_DEPTH);
    assert_non_null(strstr(buf_text(&f->log), "16 deep"));
    assert_int_equal(f->owed->depth, 0);
}

static owed_outcome
leaves_one_open(owed_delivery *delivery, const void *payload)
{
    struct seen *seen = owed_delivery_state(delivery);
    owed_tx *tx = NULL;
    assert_ok(owed_begin(seen->fixture->owed, &tx, &seen->err));
    assert_ok(owed_fire(tx, &order_shipped, payload, NULL, NULL, &seen->err));
    return owed_done();
}

static void
a_transaction_that_it_left_open_is_rolled_back(void **state)
{
    struct seen *seen = *state;
    struct fixture *f = seen->fixture;
    fixture_receiver(f, after(seen, "shop.sloppy", &order_placed, leaves_one_open));
    fixture_open(f);
    fixture_begin(f);
    fixture_fire(f, &order_placed, 1);
    fixture_commit(f);
    assert_non_null(strstr(buf_text(&f->log), "left a transaction open"));
    assert_int_equal(fixture_events(f), 1);
    fixture_begin(f);
    fixture_fire(f, &order_shipped, 2);
    fixture_commit(f);
    assert_int_equal(fixture_events(f), 2);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(they_run_after_the_commit_in_order),
        CASE(nothing_runs_after_a_rollback),
        CASE(one_that_fails_is_logged_and_stops_nobody),
        CASE(whatever_one_comes_to_it_is_logged_and_not_run_again),
        CASE(one_that_cannot_read_the_payload_is_logged_and_stops_nobody),
        CASE(who_wants_any_event_gets_those_that_nobody_declared),
        CASE(a_savepoint_rolled_back_takes_its_events_receivers_along),
        CASE(what_is_forgotten_after_a_mark_does_not_run),
        CASE(an_event_fired_inside_names_its_cause_and_correlation),
        CASE(the_same_holds_for_inline_receivers),
        CASE(a_receiver_that_fires_itself_for_ever_is_stopped),
        CASE(a_transaction_that_it_left_open_is_rolled_back),
    };
    return RUN_ON_ALL_STORES("on commit", tests);
}
