/* SPDX-License-Identifier: MIT
 *
 * test_fire_faults.c - the store fails at call 1, 2, 3 ... of a firing transaction: there is never an
 * event without all that is owed for it, nor a change without its event.
 */
#include "fixture.h"

#include <stdlib.h>

#define RECEIVERS 3 // durable ones of an order
#define TARGETS 2   // of one more
#define ROWS (RECEIVERS + TARGETS)
#define ORDERS 2 // fired in one transaction
#define LAST_CALL 200

struct faulty {
    struct fixture *fixture;
    struct fault fault;
    int on_commit_runs;
};

static owed_outcome
counts(owed_delivery *delivery, const void *payload)
{
    struct faulty *faulty = owed_delivery_state(delivery);
    (void)payload;
    faulty->on_commit_runs++;
    return owed_done();
}

static owed_status
two_lists(owed_delivery *delivery, const void *payload, owed_target_list *list, owed_error *err)
{
    (void)delivery;
    (void)payload;
    owed_status status = owed_target_add(list, "anna", err);
    return status == OWED_OK ? owed_target_add(list, "bert", err) : status;
}

/* The catalogue is empty, so that each row is written by the firing process, one by one. */
static void
open_unpublished(struct faulty *faulty)
{
    struct fixture *f = faulty->fixture;
    owed_settings settings = fixture_settings(f);
    settings.no_publish = true;
    assert_ok(owed_open(&settings, &f->owed, &f->err));
}

static int
setup(void **state)
{
    struct faulty *faulty = calloc(1, sizeof *faulty);
    assert_non_null(faulty);
    faulty->fixture = fixture_new();
    struct fixture *f = faulty->fixture;
    fixture_table(f);
    const char *const keys[RECEIVERS] = {"shop.stock", "shop.billing", "shop.audit"};
    for (size_t i = 0; i < RECEIVERS; i++)
        fixture_receiver(
            f, (owed_receiver){.key = keys[i], .event = &order_placed, .discard = true});
    fixture_receiver(f,
        (owed_receiver){
            .key = "shop.lists", .event = &order_placed, .discard = true, .targets = two_lists});
    fixture_receiver(f,
        (owed_receiver){.key = "shop.counter",
            .event = &order_placed,
            .mode = OWED_ON_COMMIT,
            .run = counts,
            .state = faulty});
    *state = faulty;
    return 0;
}

static int
teardown(void **state)
{
    struct faulty *faulty = *state;
    fixture_free(faulty->fixture);
    free(faulty);
    return 0;
}

/* place fires ORDERS orders beside a row of the application's, and commits whatever happened: a
 * caller who looks at the commit alone must be safe. */
static owed_status
place(struct faulty *faulty)
{
    struct fixture *f = faulty->fixture;
    owed_tx *tx = NULL;
    owed_status status = owed_begin(f->owed, &tx, &f->err);
    if (status != OWED_OK)
        return status;
    fixture_try(f->owed->db, "insert into app (id) values (1)");
    for (int64_t i = 0; i < ORDERS; i++) {
        order payload = {.id = i, .cents = 100, .currency = "EUR"};
        owed_status fired = owed_fire(tx, &order_placed, &payload, NULL, NULL, &f->err);
        (void)fired;
    }
    return owed_commit(tx, &f->err);
}

static void
check_whole(struct faulty *faulty, owed_status status, size_t before, int64_t call)
{
    struct fixture *f = faulty->fixture;
    size_t events = fixture_events(f) - before;
    size_t owed = fixture_owed(f, 0, NULL) - before * ROWS;
    size_t rows = fixture_rows(f) - before / ORDERS;
    if (owed != events * ROWS)
        fail_msg("call %lld: %zu events with %zu rows", (long long)call, events, owed);
    if (events != 0 && events != ORDERS)
        fail_msg("call %lld: %zu events of %d", (long long)call, events, ORDERS);
    if (rows * ORDERS != events)
        fail_msg("call %lld: %zu changes with %zu events", (long long)call, rows, events);
    if (status == OWED_OK && events != ORDERS)
        fail_msg("call %lld: committed, and %zu events", (long long)call, events);
    if (status != OWED_OK && status != OWED_UNSURE && events != 0)
        fail_msg("call %lld: %d was answered, and %zu events", (long long)call, status, events);
    if (status == OWED_OK && faulty->on_commit_runs != ORDERS)
        fail_msg("call %lld: %d ran after the commit", (long long)call, faulty->on_commit_runs);
    if (status != OWED_OK && faulty->on_commit_runs != 0)
        fail_msg("call %lld: something ran after no commit", (long long)call);
}

/* try_every_call fails each call in turn until a run has fewer calls than that. */
static void
try_every_call(struct faulty *faulty, owed_status failure, bool after, bool is_published)
{
    struct fixture *f = faulty->fixture;
    if (is_published)
        fixture_open(f);
    else
        open_unpublished(faulty);
    f->owed->db = driver_fault_wrap(f->owed->db, &faulty->fault);
    assert_non_null(f->owed->db);
    int64_t call = 1;
    for (; call < LAST_CALL; call++) {
        size_t before = fixture_events(f);
        faulty->on_commit_runs = 0;
        faulty->fault = (struct fault){.fail_at = call, .status = failure, .after = after};
        owed_status status = place(faulty);
        bool reached = faulty->fault.calls >= call;
        faulty->fault = (struct fault){0};
        check_whole(faulty, status, before, call);
        // Afterwards the handle works again.
        faulty->on_commit_runs = 0;
        before = fixture_events(f);
        assert_ok(place(faulty));
        check_whole(faulty, OWED_OK, before, call);
        if (!reached)
            break;
    }
    assert_in_range(call, 8, LAST_CALL - 1);
    assert_int_equal(fixture_owed(f, 0, "shop.lists"), fixture_events(f) * TARGETS);
}

static void
a_lost_connection_at_any_call_loses_all_or_nothing(void **state)
{
    try_every_call(*state, OWED_UNAVAILABLE, false, false);
}

static void
a_busy_store_at_any_call_loses_all_or_nothing(void **state)
{
    try_every_call(*state, OWED_BUSY, false, false);
}

static void
an_answer_lost_at_any_call_loses_all_or_nothing(void **state)
{
    try_every_call(*state, OWED_UNSURE, true, false);
}

static void
the_same_holds_where_the_catalogue_knows_the_receivers(void **state)
{
    try_every_call(*state, OWED_UNAVAILABLE, false, true);
}

static void
a_refusal_in_mid_write_ends_the_transaction_or_is_undone(void **state)
{
    struct faulty *faulty = *state;
    struct fixture *f = faulty->fixture;
    open_unpublished(faulty);
    raw_refuse(f->raw, "owed_delivery", "insert", "new.receiver_key = 'shop.billing'",
        "the shelf is broken");
    order payload = {.id = 1};
    fixture_begin(f);
    fixture_add(f->owed->db);
    assert_status(OWED_STORE, owed_fire(f->tx, &order_placed, &payload, NULL, NULL, &f->err));
    if (test_store_is("mariadb")) {
        // There a procedure writes the event and what is owed for it, and undoes both.
        fixture_commit(f);
        assert_int_equal(fixture_events(f), 0);
        assert_int_equal(fixture_rows(f), 1);
        return;
    }
    assert_says(f->err, "event shop.OrderPlaced could not be written in full");
    assert_says(f->err, "the shelf is broken");
    assert_status(OWED_ABORTED, owed_fire(f->tx, &order_shipped, &payload, NULL, NULL, &f->err));
    assert_true(fixture_cannot_commit(f->owed->db, "commit"));
    assert_status(OWED_ABORTED, owed_commit(f->tx, &f->err));
    assert_says(f->err, "the shelf is broken");
    assert_int_equal(fixture_events(f), 0);
    assert_int_equal(fixture_rows(f), 0);
    raw_allow(f->raw, "owed_delivery", "insert");
    assert_ok(place(faulty));
    assert_int_equal(fixture_events(f), ORDERS);
}

static void
a_refusal_of_the_event_itself_writes_nothing_and_the_transaction_goes_on(void **state)
{
    struct faulty *faulty = *state;
    struct fixture *f = faulty->fixture;
    fixture_open(f);
    raw_refuse(f->raw, "owed_delivery", "insert", "new.receiver_key = 'shop.billing'",
        "the shelf is broken");
    order payload = {.id = 1};
    fixture_begin(f);
    fixture_add(f->owed->db);
    // The catalogue knows the receiver, so the refusal takes the event along.
    assert_status(OWED_STORE, owed_fire(f->tx, &order_placed, &payload, NULL, NULL, &f->err));
    if (test_store_is("postgres")) {
        // Whatever fails there takes its transaction along.
        assert_status(OWED_ABORTED, owed_commit(f->tx, &f->err));
        assert_int_equal(fixture_events(f) + fixture_rows(f), 0);
        return;
    }
    assert_ok(owed_fire(f->tx, &order_shipped, &payload, NULL, NULL, &f->err));
    fixture_commit(f);
    assert_int_equal(fixture_events(f), 1);
    assert_int_equal(fixture_owed(f, 0, NULL), 0);
    assert_int_equal(fixture_rows(f), 1);
}

/* --- an event that nobody needs an answer about --- */

static void
open_for_shipping(struct faulty *faulty)
{
    struct fixture *f = faulty->fixture;
    fixture_receiver(
        f, (owed_receiver){.key = "shop.parcel", .event = &order_shipped, .discard = true});
    fixture_open(f);
}

static owed_status
ship(struct fixture *f, owed_status *ret_fired)
{
    owed_tx *tx = NULL;
    order payload = {.id = 1};
    owed_status status = owed_begin(f->owed, &tx, &f->err);
    if (status != OWED_OK)
        return status;
    *ret_fired = owed_fire(tx, &order_shipped, &payload, NULL, NULL, &f->err);
    return owed_commit(tx, &f->err);
}

static void
what_waits_for_its_commit_is_refused_by_it_in_the_same_words(void **state)
{
    struct faulty *faulty = *state;
    struct fixture *f = faulty->fixture;
    owed_status fired = OWED_OK;
    open_for_shipping(faulty);
    assert_ok(ship(f, &fired)); // which prepares it
    raw_refuse(f->raw, "owed_delivery", "insert", "new.receiver_key = 'shop.parcel'",
        "the shelf is broken");
    owed_status status = ship(f, &fired);
    assert_int_equal(fired == OWED_OK, !test_store_is("sqlite"));
    if (fired == OWED_OK) {
        assert_int_equal(status, OWED_ABORTED);
        assert_says(f->err, "event shop.OrderShipped could not be written in full");
        assert_says(f->err, "the shelf is broken");
    }
    assert_int_equal(fixture_events(f), 1);
    raw_allow(f->raw, "owed_delivery", "insert");
    assert_ok(ship(f, &fired));
    assert_int_equal(fixture_events(f), 2);
    assert_int_equal(fixture_owed(f, 0, "shop.parcel"), 2);
}

static void
what_waits_for_its_commit_is_there_if_and_only_if_that_worked(void **state)
{
    struct faulty *faulty = *state;
    struct fixture *f = faulty->fixture;
    owed_status fired = OWED_OK;
    open_for_shipping(faulty);
    f->owed->db = driver_fault_wrap(f->owed->db, &faulty->fault);
    assert_ok(ship(f, &fired));
    for (int64_t call = 1; call < 4; call++) {
        for (int after = 0; after < 2; after++) {
            size_t before = fixture_events(f);
            faulty->fault =
                (struct fault){.fail_at = call, .status = OWED_UNAVAILABLE, .after = after != 0};
            owed_status status = ship(f, &fired);
            faulty->fault = (struct fault){0};
            size_t events = fixture_events(f) - before;
            assert_true(status == OWED_UNSURE || (status == OWED_OK) == (events == 1));
            assert_int_equal(fixture_owed(f, 0, "shop.parcel"), before + events);
            assert_ok(ship(f, &fired));
        }
    }
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_lost_connection_at_any_call_loses_all_or_nothing),
        CASE(a_busy_store_at_any_call_loses_all_or_nothing),
        CASE(an_answer_lost_at_any_call_loses_all_or_nothing),
        CASE(the_same_holds_where_the_catalogue_knows_the_receivers),
        CASE(a_refusal_in_mid_write_ends_the_transaction_or_is_undone),
        CASE(a_refusal_of_the_event_itself_writes_nothing_and_the_transaction_goes_on),
        CASE(what_waits_for_its_commit_is_refused_by_it_in_the_same_words),
        CASE(what_waits_for_its_commit_is_there_if_and_only_if_that_worked),
    };
    return RUN_ON_ALL_STORES("fire faults", tests);
}
