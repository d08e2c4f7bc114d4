/* SPDX-License-Identifier: MIT
 *
 * test_scope.c - what events take from the blocks that they are fired in, and from what they follow.
 */
#include "desk.h"

#include <owed/scope.h>
#include <stdlib.h>

#define TRACE "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
#define OTHER_TRACE "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"

static owed_scope *
begin(owed_attribution says)
{
    owed_scope *scope = NULL;
    assert_ok(owed_scope_begin(&says, &scope, NULL));
    return scope;
}

static int64_t
fire(struct desk *desk, const owed_event_type *type, const owed_fire_options *options)
{
    struct fixture *f = desk->f;
    order payload = {.id = 1};
    int64_t id = 0;
    fixture_begin(f);
    assert_ok(owed_fire(f->tx, type, &payload, options, &id, &f->err));
    fixture_commit(f);
    return id;
}

/* facts_of gives what is kept of an event, in one line. */
static void
facts_of(struct desk *desk, int64_t id, char line[static 512])
{
    struct arena arena;
    arena_init(&arena, 0);
    struct event_row row = fixture_event(desk->f, id, &arena);
    snprintf(line, 512, "%s|%s|%s|%s|%s|%d", row.actor_key, row.actor_label, row.correlation_id,
        row.scope, row.traceparent, (int)row.causation_id);
    arena_done(&arena);
}

#define assert_facts(desk, id, expected) \
    do { \
        char line_[512]; \
        facts_of((desk), (id), line_); \
        assert_string_equal(line_, (expected)); \
    } while (0)

static void
an_event_takes_from_its_block_what_its_fire_does_not_say(void **state)
{
    struct desk *desk = *state;
    fixture_open(desk->f);
    char facts[] = "{\"tenant\":1,\"shop\":\"a\"}";
    owed_scope *scope = begin((owed_attribution){.actor_key = "user:1",
        .actor_label = "Zoe",
        .correlation_id = "req-1",
        .facts = facts,
        .traceparent = TRACE});
    memset(facts, 'x', sizeof facts - 1);
    int64_t id = fire(desk, &order_placed, NULL);
    assert_facts(desk, id, "user:1|Zoe|req-1|{\"tenant\":1,\"shop\":\"a\"}|" TRACE "|0");
    const owed_fire_options own = {.actor_key = "job",
        .correlation_id = "own",
        .scope = "{\"shop\":\"b\"}",
        .traceparent = OTHER_TRACE,
        .causation_id = 99};
    id = fire(desk, &order_placed, &own);
    assert_facts(desk, id, "job||own|{\"tenant\":1,\"shop\":\"b\"}|" OTHER_TRACE "|99");
    assert_ok(owed_scope_end(scope, NULL));
    id = fire(desk, &order_placed, NULL);
    assert_facts(desk, id, "|||{}||0");
}

static void
a_cause_may_be_named_by_hand(void **state)
{
    struct desk *desk = *state;
    fixture_open(desk->f);
    owed_scope *scope = NULL;
    assert_ok(owed_scope_begin_cause(42, "req-42", TRACE, &scope, NULL));
    int64_t id = fire(desk, &order_placed, NULL);
    assert_facts(desk, id, "||req-42|{}|" TRACE "|42");
    assert_ok(owed_scope_end(scope, NULL));
}

/* --- receivers --- */

/* What a receiver's act does: it fires an order shipped, by one of the ways there are. */
struct way {
    bool by_itself; // in a transaction of its own
    owed *other;    // by another handle
    int64_t id;
};

static owed_status
fire_next(owed_tx *tx, int64_t *ret_id)
{
    order payload = {.id = 2};
    return owed_fire(tx, &order_shipped, &payload, NULL, ret_id, NULL);
}

static owed_outcome
fires(struct actor *actor, owed_delivery *delivery, const order *order)
{
    struct way *way = actor->state;
    (void)order;
    owed_tx *tx = NULL;
    bool is_own = way->by_itself || way->other != NULL;
    if (is_own)
        assert_ok(owed_begin(way->other != NULL ? way->other : actor->desk->f->owed, &tx, NULL));
    else
        tx = owed_delivery_tx(delivery);
    assert_ok(fire_next(tx, &way->id));
    if (is_own)
        assert_ok(owed_commit(tx, NULL));
    // It is ended for it.
    begin((owed_attribution){.correlation_id = "left open"});
    return owed_done();
}

static int64_t
deliver(struct desk *desk, struct actor *actor, owed_receiver receiver)
{
    receiver.key = "shop.next";
    actor->acts[1] = fires;
    desk_receiver(desk, actor, receiver);
    fixture_open(desk->f);
    const owed_fire_options options = {.actor_key = "user:1",
        .correlation_id = "req-1",
        .scope = "{\"tenant\":1}",
        .traceparent = TRACE};
    return fire(desk, &order_placed, &options);
}

static void
expect_caused(struct desk *desk, const struct way *way, int64_t cause)
{
    char expected[512];
    snprintf(expected, sizeof expected, "||req-1|{}|" TRACE "|%d", (int)cause);
    assert_facts(desk, way->id, expected);
    owed_attribution after;
    owed_scope_current(&after);
    assert_string_equal(after.correlation_id, "");
    assert_int_equal(owed_scope_cause(), 0);
}

static void
what_a_durable_receiver_fires_has_its_event_as_the_cause_however_it_fires(void **state)
{
    struct desk *desk = *state;
    struct way way = {.by_itself = true};
    struct actor actor = {.state = &way};
    int64_t cause = deliver(desk, &actor, (owed_receiver){0});
    desk_once(desk);
    expect_caused(desk, &way, cause);
}

static void
an_outside_receiver_is_a_cause_like_any_other(void **state)
{
    struct desk *desk = *state;
    struct way way = {.by_itself = true};
    struct actor actor = {.state = &way};
    int64_t cause = deliver(desk, &actor, (owed_receiver){.outside = true});
    desk_once(desk);
    expect_caused(desk, &way, cause);
}

static void
a_delivery_sees_nothing_of_the_thread_that_runs_it(void **state)
{
    struct desk *desk = *state;
    struct way way = {0};
    struct actor actor = {.state = &way};
    int64_t cause = deliver(desk, &actor, (owed_receiver){0});
    owed_scope *scope = begin((owed_attribution){.actor_key = "operator", .facts = "{\"x\":1}"});
    desk_once(desk);
    assert_ok(owed_scope_end(scope, NULL));
    expect_caused(desk, &way, cause);
}

static void
an_inline_receiver_is_in_the_blocks_of_whoever_fires(void **state)
{
    struct desk *desk = *state;
    struct way way = {0};
    struct actor actor = {.state = &way};
    owed_scope *scope = begin((owed_attribution){.actor_key = "user:9", .correlation_id = "block"});
    int64_t cause = deliver(desk, &actor, (owed_receiver){.mode = OWED_INLINE});
    char expected[512];
    snprintf(expected, sizeof expected, "user:9|user:9|block|{}|" TRACE "|%d", (int)cause);
    assert_facts(desk, way.id, expected);
    assert_ok(owed_scope_end(scope, NULL));
}

static void
an_on_commit_receiver_is_not(void **state)
{
    struct desk *desk = *state;
    struct way way = {.by_itself = true};
    struct actor actor = {.state = &way};
    owed_scope *scope = begin((owed_attribution){.actor_key = "user:9", .correlation_id = "block"});
    int64_t cause = deliver(desk, &actor, (owed_receiver){.mode = OWED_ON_COMMIT});
    assert_ok(owed_scope_end(scope, NULL));
    expect_caused(desk, &way, cause);
}

static void
an_eager_attempt_is_like_a_relays(void **state)
{
    struct desk *desk = *state;
    struct way way = {0};
    struct actor actor = {.state = &way};
    owed_scope *scope = begin((owed_attribution){.actor_key = "user:9", .correlation_id = "block"});
    int64_t cause = deliver(desk, &actor, (owed_receiver){.eager = true});
    assert_ok(owed_scope_end(scope, NULL));
    expect_caused(desk, &way, cause);
}

static void
another_handle_of_the_same_store_is_linked_and_one_of_another_store_is_not(void **state)
{
    struct desk *desk = *state;
    struct way way = {0};
    struct actor actor = {.state = &way};
    owed_settings settings = fixture_settings(desk->f);
    settings.no_publish = true;
    assert_ok(owed_open(&settings, &way.other, &desk->f->err));
    int64_t cause = deliver(desk, &actor, (owed_receiver){.outside = true});
    desk_once(desk);
    expect_caused(desk, &way, cause);

    // As if it were elsewhere: its ids mean nothing here, what it belongs to does.
    char *url = way.other->url;
    char elsewhere[] = "sqlite:elsewhere";
    way.other->url = elsewhere;
    fire(desk, &order_placed, &(owed_fire_options){.correlation_id = "req-2"});
    desk_once(desk);
    assert_facts(desk, way.id, "||req-2|{}||0");
    way.other->url = url;
    owed_close(way.other);
}

static void
facts_that_grow_too_long_are_refused_and_the_transaction_goes_on(void **state)
{
    struct desk *desk = *state;
    struct fixture *f = desk->f;
    fixture_open(f);
    static char facts[40000];
    static char more[40000];
    snprintf(facts, sizeof facts, "{\"a\":\"%039000d\"}", 0);
    snprintf(more, sizeof more, "{\"b\":\"%039000d\"}", 0);
    owed_scope *scope = begin((owed_attribution){.facts = facts});
    order payload = {.id = 1};
    int64_t id = 0;
    const owed_fire_options options = {.scope = more};
    fixture_begin(f);
    assert_status(OWED_INVALID, owed_fire(f->tx, &order_placed, &payload, &options, &id, &f->err));
    assert_says(f->err, "the facts are");
    assert_ok(owed_fire(f->tx, &order_placed, &payload, NULL, &id, &f->err));
    fixture_commit(f);
    assert_int_equal(fixture_events(f), 1);
    assert_ok(owed_scope_end(scope, NULL));
}

/* --- suppressed events --- */

static owed_scope *
suppress(const char *const *events, bool discard)
{
    const owed_suppression suppression = {
        .reason = "import of 2019", .events = events, .discard = discard};
    owed_scope *scope = NULL;
    assert_ok(owed_scope_begin_suppressed(&suppression, &scope, NULL));
    return scope;
}

/* open_all has a receiver of orders in every mode, which the catalogue does not know any more. */
static void
open_all(struct desk *desk, struct actor *actor)
{
    const owed_receiver receivers[] = {
        {.key = "shop.durable"},
        {.key = "shop.eager", .eager = true},
        {.key = "shop.inline", .mode = OWED_INLINE},
        {.key = "shop.on_commit", .mode = OWED_ON_COMMIT},
    };
    for (size_t i = 0; i < sizeof receivers / sizeof receivers[0]; i++)
        desk_receiver(desk, actor, receivers[i]);
    fixture_open(desk->f);
    raw_run(desk->f->raw, "delete from owed_receiver");
}

static owed_outcome
only_counts(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)actor;
    (void)delivery;
    (void)order;
    return owed_done();
}

static void
a_suppressed_event_is_recorded_with_its_reason_and_owed_to_nobody(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = only_counts}};
    open_all(desk, &actor);
    owed_scope *scope = suppress(NULL, false);
    owed_scope *says = begin((owed_attribution){.actor_key = "job", .correlation_id = "req-1"});
    int64_t id = fire(desk, &order_placed, &(owed_fire_options){.dedupe_key = "A-1"});
    assert_true(id > 0);
    order payload = {.id = 1};
    int64_t again = 0;
    fixture_begin(desk->f);
    assert_status(OWED_DUPLICATE,
        owed_fire(desk->f->tx, &order_placed, &payload, &(owed_fire_options){.dedupe_key = "A-1"},
            &again, &desk->f->err));
    fixture_commit(desk->f);
    assert_int_equal(again, id);
    assert_ok(owed_scope_end(says, NULL));
    assert_ok(owed_scope_end(scope, NULL));
    desk_once(desk);
    assert_facts(desk, id, "job|job|req-1|{}||0");
    assert_text(desk, "select suppressed_reason from owed_event", "import of 2019");
    assert_int_equal(fixture_events(desk->f), 1);
    assert_int_equal(desk_number(desk, "select count(*) from owed_delivery"), 0);
    assert_int_equal(actor.calls, 0);
    fire(desk, &order_placed, NULL);
    assert_int_equal(actor.calls, 3); // inline, eager, on commit
    assert_int_equal(desk_number(desk, "select count(*) from owed_delivery"), 2);
}

static void
a_discarded_event_is_not_even_recorded(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = only_counts}};
    open_all(desk, &actor);
    owed_scope *outer = suppress(NULL, true);
    owed_scope *inner = suppress(NULL, false);
    assert_int_equal(fire(desk, &order_placed, NULL), 0);
    const owed_event_type unknown = {.name = "shop.Unknown"};
    order payload = {.id = 1};
    int64_t id = 7;
    fixture_begin(desk->f);
    assert_status(
        OWED_NOT_FOUND, owed_fire(desk->f->tx, &unknown, &payload, NULL, &id, &desk->f->err));
    fixture_commit(desk->f);
    assert_ok(owed_scope_end(inner, NULL));
    assert_ok(owed_scope_end(outer, NULL));
    desk_once(desk);
    assert_int_equal(fixture_events(desk->f), 0);
    assert_int_equal(actor.calls, 0);
}

static void
only_the_events_that_are_named_are_suppressed(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = only_counts}};
    open_all(desk, &actor);
    const char *const shipped[] = {"shop.OrderShipped", NULL};
    owed_scope *scope = suppress(shipped, true);
    assert_true(fire(desk, &order_placed, NULL) > 0);
    assert_int_equal(fire(desk, &order_shipped, NULL), 0);
    assert_ok(owed_scope_end(scope, NULL));
    assert_int_equal(actor.calls, 3);
}

static void
a_suppressed_event_keeps_the_retention_of_its_type(void **state)
{
    struct desk *desk = *state;
    fixture_open(desk->f);
    raw_run(desk->f->raw,
        "update owed_event_type set retention_seconds = 60 where name = 'shop.OrderPlaced'");
    raw_run(desk->f->raw,
        "update owed_event_type set delete_when = 'settled' where name = 'shop.OrderShipped'");
    owed_scope *scope = suppress(NULL, false);
    fire(desk, &order_placed, NULL);
    fire(desk, &order_shipped, NULL);
    assert_int_equal(
        desk_number(desk, "select retention_seconds from owed_event where id = 1"), 60);
    assert_text(desk, "select delete_when from owed_event where id = 1", "");
    assert_int_equal(desk_number(desk,
                         "select coalesce(retention_seconds, -1) from owed_event "
                         "where id = 2"),
        -1);
    assert_text(desk, "select delete_when from owed_event where id = 2", "settled");
    raw_run(desk->f->raw, "update owed_event_type set removed_at = moment(1)");
    fire(desk, &order_placed, NULL);
    fire(desk, &order_shipped, NULL);
    assert_int_equal(desk_number(desk,
                         "select count(*) from owed_event where id > 2 and "
                         "retention_seconds is null and delete_when = ''"),
        2);
    assert_ok(owed_scope_end(scope, NULL));
}

static owed_outcome
suppresses_what_it_fires(struct actor *actor, owed_delivery *delivery, const order *order)
{
    struct way *way = actor->state;
    (void)order;
    suppress(NULL, false);
    assert_ok(fire_next(owed_delivery_tx(delivery), &way->id));
    return owed_done();
}

static void
a_receiver_may_suppress_what_it_fires_and_the_block_ends_with_it(void **state)
{
    struct desk *desk = *state;
    struct way way = {0};
    struct actor actor = {.state = &way};
    int64_t cause = deliver(desk, &actor, (owed_receiver){0});
    actor.acts[1] = suppresses_what_it_fires;
    desk_once(desk);
    expect_caused(desk, &way, cause);
    assert_int_equal(
        desk_number(desk, "select count(*) from owed_event where suppressed_reason <> ''"), 1);
    fire(desk, &order_shipped, NULL);
    assert_int_equal(
        desk_number(desk, "select count(*) from owed_event where suppressed_reason <> ''"), 1);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, desk_setup, desk_teardown)
int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(an_event_takes_from_its_block_what_its_fire_does_not_say),
        CASE(a_cause_may_be_named_by_hand),
        CASE(what_a_durable_receiver_fires_has_its_event_as_the_cause_however_it_fires),
        CASE(an_outside_receiver_is_a_cause_like_any_other),
        CASE(a_delivery_sees_nothing_of_the_thread_that_runs_it),
        CASE(an_inline_receiver_is_in_the_blocks_of_whoever_fires),
        CASE(an_on_commit_receiver_is_not),
        CASE(an_eager_attempt_is_like_a_relays),
        CASE(another_handle_of_the_same_store_is_linked_and_one_of_another_store_is_not),
        CASE(a_suppressed_event_is_recorded_with_its_reason_and_owed_to_nobody),
        CASE(a_discarded_event_is_not_even_recorded),
        CASE(only_the_events_that_are_named_are_suppressed),
        CASE(a_suppressed_event_keeps_the_retention_of_its_type),
        CASE(a_receiver_may_suppress_what_it_fires_and_the_block_ends_with_it),
        CASE(facts_that_grow_too_long_are_refused_and_the_transaction_goes_on),
    };
    return RUN_ON_ALL_STORES("scope", tests);
}
