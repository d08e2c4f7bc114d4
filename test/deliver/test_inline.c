/* SPDX-License-Identifier: MIT
 *
 * test_inline.c - an inline receiver that is not done makes the commit impossible, whoever tries.
 */
#include "fixture.h"

#include "deliver/local.h"

/* What the receivers of a test do and saw. */
struct play {
    struct fixture *fixture;
    int64_t refuses_id; // the credit check refuses this order
    int runs;
    int64_t seen_id;
    int64_t seen_cents;
    bool passes_over;  // a receiver that fires is done whatever came of it
    owed_status inner; // what that fire answered
};

static owed_outcome
check_credit(owed_delivery *delivery, const void *payload)
{
    struct play *play = owed_delivery_state(delivery);
    const order *placed = payload;
    play->runs++;
    play->seen_id = placed->id;
    play->seen_cents = placed->cents;
    assert_int_equal(owed_delivery_id(delivery), 0);
    assert_int_equal(owed_delivery_attempt(delivery), 1);
    assert_non_null(owed_delivery_tx(delivery));
    if (placed->id == play->refuses_id)
        return owed_failed(delivery, "order %lld: no credit", (long long)placed->id);
    return owed_done();
}

static owed_outcome
fires_more(owed_delivery *delivery, const void *payload)
{
    struct play *play = owed_delivery_state(delivery);
    owed_error err = {0};
    play->inner = owed_fire(owed_delivery_tx(delivery), &order_shipped, payload, NULL, NULL, &err);
    if (play->inner != OWED_OK && !play->passes_over)
        return owed_failed(delivery, "%s", err.text);
    return owed_done();
}

static int
setup(void **state)
{
    static struct play play;
    play = (struct play){.fixture = fixture_new(), .refuses_id = 13};
    fixture_table(play.fixture);
    fixture_receiver(play.fixture,
        (owed_receiver){.key = "shop.credit",
            .event = &order_placed,
            .mode = OWED_INLINE,
            .run = check_credit,
            .state = &play});
    fixture_receiver(play.fixture,
        (owed_receiver){.key = "shop.stock", .event = &order_placed, .discard = true});
    *state = &play;
    return 0;
}

static int
teardown(void **state)
{
    struct play *play = *state;
    fixture_free(play->fixture);
    return 0;
}

static owed_status
fire(struct fixture *f, const owed_event_type *type, int64_t id)
{
    order payload = {.id = id, .cents = 1200, .currency = "EUR"};
    return owed_fire(f->tx, type, &payload, NULL, NULL, &f->err);
}

static void
it_runs_inside_the_transaction_with_the_decoded_payload(void **state)
{
    struct play *play = *state;
    struct fixture *f = play->fixture;
    fixture_open(f);
    fixture_begin(f);
    assert_ok(fire(f, &order_placed, 7));
    assert_int_equal(play->runs, 1);
    assert_int_equal(play->seen_id, 7);
    assert_int_equal(play->seen_cents, 1200);
    fixture_commit(f);
    assert_int_equal(fixture_events(f), 1);
}

static void
a_veto_undoes_everything_and_says_who_and_why(void **state)
{
    struct play *play = *state;
    struct fixture *f = play->fixture;
    fixture_open(f);
    fixture_begin(f);
    fixture_add(f->owed->db);
    assert_status(OWED_VETOED, fire(f, &order_placed, 13));
    assert_string_equal(f->err.text,
        "inline receiver shop.credit refused event shop.OrderPlaced: order 13: no credit");
    assert_status(OWED_VETOED, owed_commit(f->tx, &f->err));
    assert_says(f->err, "order 13: no credit");
    assert_int_equal(fixture_events(f), 0);
    assert_int_equal(fixture_owed(f, 0, NULL), 0);
    assert_int_equal(fixture_rows(f), 0);
}

/* answers_by_number is an inline receiver for which the order says what it comes to. */
static owed_outcome
answers_by_number(owed_delivery *delivery, const void *payload)
{
    switch (((const order *)payload)->id) {
    case 1:
        return owed_permanent(delivery, "never");
    case 2:
        return owed_retry_after(delivery, 60, "in a minute");
    case 3:
        return owed_defer(delivery, 60, "quota spent");
    case 4:
        return owed_not_yet(delivery, INT64_MAX, "far from now");
    default:
        return owed_done();
    }
}

static void
every_outcome_but_done_is_a_veto(void **state)
{
    struct play *play = *state;
    struct fixture *f = play->fixture;
    fixture_receiver(f,
        (owed_receiver){.key = "shop.gate",
            .event = &order_placed,
            .mode = OWED_INLINE,
            .run = answers_by_number,
            .state = play});
    fixture_open(f);
    static const char *const says[] = {"never", "in a minute", "quota spent", "far from now"};
    for (int64_t id = 1; id <= 4; id++) {
        fixture_begin(f);
        assert_status(OWED_VETOED, fire(f, &order_placed, id));
        assert_says(f->err, says[id - 1]);
        assert_status(OWED_VETOED, owed_commit(f->tx, &f->err));
    }
    assert_int_equal(fixture_events(f), 0);
    fixture_begin(f);
    assert_ok(fire(f, &order_placed, 5));
    fixture_commit(f);
    assert_int_equal(fixture_events(f), 1);
}

static void
nothing_more_can_be_fired_after_a_veto(void **state)
{
    struct play *play = *state;
    struct fixture *f = play->fixture;
    fixture_open(f);
    fixture_begin(f);
    assert_status(OWED_VETOED, fire(f, &order_placed, 13));
    assert_status(OWED_VETOED, fire(f, &order_placed, 7));
    assert_says(f->err, "order 13: no credit");
    assert_status(
        OWED_VETOED, owed_fire_json(f->tx, "shop.NoteTaken", 0, "{}", 2, NULL, NULL, &f->err));
    assert_int_equal(play->runs, 1);
    owed_rollback(f->tx);
}

static void
a_raw_commit_fails_after_a_veto_and_the_next_transaction_works(void **state)
{
    struct play *play = *state;
    struct fixture *f = play->fixture;
    const char *const attempts[] = {"commit", "end", "savepoint a; release a; commit"};
    fixture_open(f);
    for (size_t i = 0; i < sizeof attempts / sizeof attempts[0]; i++) {
        fixture_begin(f);
        fixture_add(f->owed->db);
        assert_status(OWED_VETOED, fire(f, &order_placed, 13));
        assert_true(fixture_cannot_commit(f->owed->db, attempts[i]));
        assert_status(OWED_VETOED, owed_commit(f->tx, &f->err));
        assert_int_equal(fixture_rows(f), 0);
        assert_int_equal(fixture_events(f), 0);
    }
    fixture_begin(f);
    fixture_add(f->owed->db);
    assert_ok(fire(f, &order_placed, 7));
    fixture_commit(f);
    assert_int_equal(fixture_rows(f), 1);
    assert_int_equal(fixture_events(f), 1);
}

static void
a_savepoint_rolled_back_does_not_lift_a_veto(void **state)
{
    struct play *play = *state;
    struct fixture *f = play->fixture;
    fixture_open(f);
    fixture_begin(f);
    fixture_run(f->owed->db, "savepoint mine");
    assert_status(OWED_VETOED, fire(f, &order_placed, 13));
    // MariaDB has rolled back all of it: there is no such savepoint any more.
    fixture_try(f->owed->db, "rollback to savepoint mine; release savepoint mine");
    assert_status(OWED_VETOED, owed_commit(f->tx, &f->err));
    assert_int_equal(fixture_events(f), 0);
}

static void
receivers_run_in_order_of_declaration_up_to_the_first_veto(void **state)
{
    struct play *play = *state;
    struct fixture *f = play->fixture;
    struct play second = {.fixture = f};
    fixture_receiver(f,
        (owed_receiver){.key = "shop.again",
            .event = &order_placed,
            .mode = OWED_INLINE,
            .run = check_credit,
            .state = &second});
    fixture_open(f);
    fixture_begin(f);
    assert_status(OWED_VETOED, fire(f, &order_placed, 13));
    assert_int_equal(play->runs, 1);
    assert_int_equal(second.runs, 0);
    owed_rollback(f->tx);
    fixture_begin(f);
    assert_ok(fire(f, &order_placed, 7));
    assert_int_equal(second.runs, 1);
    owed_rollback(f->tx);
}

static void
a_payload_that_it_cannot_read_is_a_veto(void **state)
{
    struct play *play = *state;
    struct fixture *f = play->fixture;
    fixture_open(f);
    fixture_begin(f);
    assert_status(OWED_VETOED,
        owed_fire_json(f->tx, "shop.OrderPlaced", 0, "{\"id\": \"x\"}", 11, NULL, NULL, &f->err));
    assert_says(f->err, "inline receiver shop.credit refused event shop.OrderPlaced: ");
    assert_int_equal(play->runs, 0);
    owed_rollback(f->tx);
}

/* declare_firing_receiver: an order is shipped once placed, and another check reads shipped ones. */
static void
declare_firing_receiver(struct play *play, struct play *check)
{
    fixture_receiver(play->fixture,
        (owed_receiver){.key = "shop.ships",
            .event = &order_placed,
            .mode = OWED_INLINE,
            .run = fires_more,
            .state = play});
    fixture_receiver(play->fixture,
        (owed_receiver){.key = "shop.shipcheck",
            .event = &order_shipped,
            .mode = OWED_INLINE,
            .run = check_credit,
            .state = check});
}

static void
what_it_fires_belongs_to_the_same_transaction(void **state)
{
    struct play *play = *state;
    struct play check = {0};
    struct fixture *f = play->fixture;
    declare_firing_receiver(play, &check);
    fixture_open(f);
    fixture_begin(f);
    assert_ok(fire(f, &order_placed, 7));
    assert_int_equal(play->inner, OWED_OK);
    assert_int_equal(check.runs, 1);
    fixture_commit(f);
    assert_int_equal(fixture_events(f), 2);
}

static void
a_veto_of_what_it_fired_cannot_be_passed_over(void **state)
{
    struct play *play = *state;
    struct play check = {.refuses_id = 8};
    struct fixture *f = play->fixture;
    declare_firing_receiver(play, &check);
    play->passes_over = true;
    fixture_open(f);
    fixture_begin(f);
    assert_status(OWED_VETOED, fire(f, &order_placed, 8));
    assert_int_equal(play->inner, OWED_VETOED);
    assert_says(f->err, "shop.shipcheck refused event shop.OrderShipped");
    assert_status(OWED_VETOED, owed_commit(f->tx, &f->err));
    assert_int_equal(fixture_events(f), 0);
}

struct nest {
    int deepest;
    int now;
    owed_status refusal;
    char text[512];
};

static owed_outcome
fires_itself(owed_delivery *delivery, const void *payload)
{
    struct nest *nest = owed_delivery_state(delivery);
    owed_error err = {0};
    nest->now++;
    if (nest->now > nest->deepest)
        nest->deepest = nest->now;
    owed_status status =
        owed_fire(owed_delivery_tx(delivery), &order_shipped, payload, NULL, NULL, &err);
    nest->now--;
    if (status == OWED_OK)
        return owed_done();
    if (nest->refusal == OWED_OK) {
        nest->refusal = status;
        memcpy(nest->text, err.text, sizeof nest->text);
    }
    return owed_failed(delivery, "%s", err.text);
}

static void
receivers_that_fire_themselves_for_ever_are_stopped(void **state)
{
    struct play *play = *state;
    struct fixture *f = play->fixture;
    struct nest nest = {0};
    fixture_receiver(f,
        (owed_receiver){.key = "shop.loop",
            .event = &order_shipped,
            .mode = OWED_INLINE,
            .run = fires_itself,
            .state = &nest});
    fixture_open(f);
    fixture_begin(f);
    assert_status(OWED_VETOED, fire(f, &order_shipped, 7));
    assert_int_equal(nest.deepest, LOCAL_DEPTH);
    assert_int_equal(nest.refusal, OWED_LIMIT);
    assert_non_null(strstr(nest.text, "16 deep"));
    assert_int_equal(f->owed->depth, 0);
    owed_rollback(f->tx);
    fixture_begin(f);
    assert_ok(fire(f, &order_placed, 7));
    fixture_commit(f);
}

static owed_outcome
ends_the_transaction(owed_delivery *delivery, const void *payload)
{
    (void)payload;
    struct play *play = owed_delivery_state(delivery);
    fixture_run(play->fixture->owed->db, "rollback");
    return owed_done();
}

static void
a_receiver_that_rolls_back_has_aborted_the_transaction(void **state)
{
    struct play *play = *state;
    struct fixture *f = play->fixture;
    fixture_receiver(f,
        (owed_receiver){.key = "shop.rude",
            .event = &order_shipped,
            .mode = OWED_INLINE,
            .run = ends_the_transaction,
            .state = play});
    fixture_open(f);
    fixture_begin(f);
    assert_status(OWED_ABORTED, fire(f, &order_shipped, 7));
    // What is written now must not commit by itself under a transaction that is gone; a server cannot be
    // kept from that.
    if (test_store_is("sqlite"))
        fixture_try(f->owed->db, "insert into app (id) values (1)");
    assert_status(OWED_ABORTED, owed_commit(f->tx, &f->err));
    assert_int_equal(fixture_rows(f), 0);
    assert_int_equal(fixture_events(f), 0);
}

static void
a_receiver_may_not_end_the_transaction_by_our_functions(void **state)
{
    struct play *play = *state;
    struct fixture *f = play->fixture;
    owed_tx tx;
    fixture_open(f);
    tx_init(&tx, f->owed, f->owed->db, TX_DELIVERY);
    assert_status(OWED_INVALID, owed_commit(&tx, &f->err));
    assert_status(OWED_INVALID, owed_committed(&tx, &f->err));
    owed_rollback(&tx);
    tx_done(&tx);
}

static void
in_a_delivery_a_veto_only_marks_the_transaction(void **state)
{
    struct play *play = *state;
    struct fixture *f = play->fixture;
    owed_tx tx;
    fixture_open(f);
    assert_ok(store_begin(f->owed->db, true, &f->err));
    tx_init(&tx, f->owed, f->owed->db, TX_DELIVERY);
    f->tx = &tx;
    assert_status(OWED_VETOED, fire(f, &order_placed, 13));
    assert_true(tx.vetoed);
    assert_non_null(strstr(tx.veto, "order 13: no credit"));
    // Whoever delivers rolls back to its savepoint; the transaction itself can still commit.
    assert_ok(store_commit(f->owed->db, &f->err));
    tx_done(&tx);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(it_runs_inside_the_transaction_with_the_decoded_payload),
        CASE(a_veto_undoes_everything_and_says_who_and_why),
        CASE(every_outcome_but_done_is_a_veto),
        CASE(nothing_more_can_be_fired_after_a_veto),
        CASE(a_raw_commit_fails_after_a_veto_and_the_next_transaction_works),
        CASE(a_savepoint_rolled_back_does_not_lift_a_veto),
        CASE(receivers_run_in_order_of_declaration_up_to_the_first_veto),
        CASE(a_payload_that_it_cannot_read_is_a_veto),
        CASE(what_it_fires_belongs_to_the_same_transaction),
        CASE(a_veto_of_what_it_fired_cannot_be_passed_over),
        CASE(receivers_that_fire_themselves_for_ever_are_stopped),
        CASE(a_receiver_that_rolls_back_has_aborted_the_transaction),
        CASE(a_receiver_may_not_end_the_transaction_by_our_functions),
        CASE(in_a_delivery_a_veto_only_marks_the_transaction),
    };
    return RUN_ON_ALL_STORES("inline", tests);
}
