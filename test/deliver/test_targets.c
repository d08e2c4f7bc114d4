/* SPDX-License-Identifier: MIT
 *
 * test_targets.c - one delivery for each target: named when the event is fired, or by the first relay
 * that can.
 */
#include "desk.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <owed/testing.h>

#include "base/clock.h"
#include "base/limits.h"
#include "store/driver.h"

#define KEY "shop.lists"
#define SEEN_MAX 16
#define CALLS_MAX 400

struct namer;
typedef owed_status (*naming)(
    struct namer *namer, owed_delivery *delivery, owed_target_list *list, owed_error *err);

/* What a receiver with targets names and sees. */
struct namer {
    struct actor actor;
    naming naming;
    const char *const *names; // NULL-ended
    int calls;                // of the targets function
    int32_t attempt;
    int64_t delivery_id;
    int64_t event_id;
    int64_t due_at_us;
    char facts[256];
    bool refused;
    char seen[SEEN_MAX][64]; // targets, in the order of the attempts
    char keys[SEEN_MAX][64]; // their idempotency keys
    int seen_count;
    const char *failing; // this target fails
};

static const char *const two[] = {"anna", "bert", NULL};

static owed_status
name_all(struct namer *namer, owed_delivery *delivery, owed_target_list *list, owed_error *err)
{
    (void)delivery;
    for (const char *const *name = namer->names; *name != NULL; name++)
        if (owed_target_add(list, *name, err) != OWED_OK)
            return err->status;
    return OWED_OK;
}

static owed_status
name_targets(owed_delivery *delivery, const void *payload, owed_target_list *list, owed_error *err)
{
    struct actor *actor = owed_delivery_state(delivery);
    struct namer *namer = actor->state;
    const order *order = payload;
    namer->calls++;
    namer->attempt = owed_delivery_attempt(delivery);
    namer->delivery_id = owed_delivery_id(delivery);
    namer->event_id = owed_delivery_event_id(delivery);
    namer->due_at_us = owed_delivery_due_at_us(delivery);
    snprintf(namer->facts, sizeof namer->facts, "%s %s [%s] %s %s %s %" PRId64,
        owed_delivery_event_name(delivery), owed_delivery_receiver_key(delivery),
        owed_delivery_target(delivery), owed_delivery_actor_key(delivery),
        owed_delivery_scope(delivery), owed_delivery_correlation_id(delivery), order->id);
    return (namer->naming == NULL ? name_all : namer->naming)(namer, delivery, list, err);
}

/* notes_target notes the target and does as the namer says. */
static owed_outcome
notes_target(struct actor *actor, owed_delivery *delivery, const order *order)
{
    struct namer *namer = actor->state;
    (void)order;
    const char *target = owed_delivery_target(delivery);
    int at = namer->seen_count++ % SEEN_MAX;
    snprintf(namer->seen[at], sizeof namer->seen[at], "%s", target);
    snprintf(
        namer->keys[at], sizeof namer->keys[at], "%s", owed_delivery_idempotency_key(delivery));
    if (namer->failing != NULL && strcmp(target, namer->failing) == 0)
        return owed_failed(delivery, "%s is away", target);
    return owed_done();
}

static void
declare_namer(struct desk *desk, struct namer *namer, owed_receiver receiver)
{
    namer->actor.state = namer;
    for (size_t i = 0; i < DESK_ORDERS; i++)
        namer->actor.acts[i] = notes_target;
    if (namer->names == NULL)
        namer->names = two;
    if (receiver.key == NULL)
        receiver.key = KEY;
    receiver.targets = name_targets;
    desk_receiver(desk, &namer->actor, receiver);
}

static void
open_namer(struct desk *desk, struct namer *namer, owed_receiver receiver)
{
    declare_namer(desk, namer, receiver);
    fixture_open(desk->f);
}

/* fire_in_sql fires as a client without the function would. */
static void
fire_in_sql(struct desk *desk, int64_t order_id)
{
    char payload[64];
    snprintf(payload, sizeof payload, "{\"id\":%" PRId64 ",\"cents\":1}", order_id);
    raw_fire(desk->f->raw, "shop.OrderPlaced", payload);
    // The store's own clock is not the test's.
    raw_run(desk->f->raw,
        "update owed_delivery set available_at = moment(1000000), due_at = moment(1000000) where kind = 'expand'");
    char sql[128];
    snprintf(sql, sizeof sql, "update owed_event set recorded_at = moment(%" PRId64 ")",
        desk->f->now_us);
    raw_run(desk->f->raw, sql);
}

static int64_t
rows_of_kind(struct desk *desk, const char *kind)
{
    char sql[128];
    snprintf(sql, sizeof sql, "select count(*) from owed_delivery where kind = '%s'", kind);
    return desk_number(desk, sql);
}

/* --- when an event is fired --- */

static void
one_delivery_is_owed_for_each_target(void **state)
{
    struct desk *desk = *state;
    struct namer namer = {0};
    open_namer(desk, &namer, (owed_receiver){0});
    desk_fire(desk, 1);
    assert_int_equal(namer.calls, 1);
    assert_int_equal(desk_number(desk, "select count(*) from owed_delivery"), 2);
    assert_list(desk,
        "select target || ' ' || kind || ' ' || status from owed_delivery order by id",
        "anna inside pending,bert inside pending");
    desk_once(desk);
    assert_count(desk, "succeeded", 2);
    assert_int_equal(namer.seen_count, 2);
    assert_string_equal(namer.seen[0], "anna");
    assert_string_equal(namer.seen[1], "bert");
    assert_string_not_equal(namer.keys[0], namer.keys[1]);
    assert_int_equal(namer.calls, 1);
}

static void
one_that_fails_repeats_and_blocks_no_other(void **state)
{
    struct desk *desk = *state;
    struct namer namer = {.failing = "anna"};
    open_namer(desk, &namer, (owed_receiver){.max_attempts = 2});
    desk_fire(desk, 1);
    desk_once(desk);
    assert_count(desk, "failed", 1);
    assert_count(desk, "succeeded", 1);
    desk->f->now_us += OWED_HOURS(2);
    desk_once(desk);
    assert_int_equal(namer.seen_count, 3);
    assert_string_equal(namer.seen[2], "anna");
    // The key is the same at each attempt.
    assert_string_equal(namer.keys[2], namer.keys[0]);
    assert_text(desk,
        "select target || ': ' || last_error from owed_delivery where status = 'dead'",
        "anna: anna is away");
    assert_int_equal(
        desk_number(desk, "select attempts from owed_delivery where target = 'bert'"), 1);
}

static void
a_target_that_is_named_twice_is_owed_once(void **state)
{
    struct desk *desk = *state;
    static const char *const names[] = {"bert", "anna", "bert", "bert ", NULL};
    struct namer namer = {.names = names};
    open_namer(desk, &namer, (owed_receiver){0});
    desk_fire(desk, 1);
    assert_list(desk, "select '<' || target || '>' from owed_delivery order by id",
        "<bert>,<anna>,<bert >");
}

static void
no_target_owes_nothing_and_is_no_error(void **state)
{
    struct desk *desk = *state;
    static const char *const none[] = {NULL};
    struct namer namer = {.names = none};
    open_namer(desk, &namer, (owed_receiver){0});
    desk_fire(desk, 1);
    assert_int_equal(fixture_events(desk->f), 1);
    assert_int_equal(desk_number(desk, "select count(*) from owed_delivery"), 0);
}

static void
a_target_may_be_ten_thousand_characters_long(void **state)
{
    struct desk *desk = *state;
    char *longs[2];
    for (size_t i = 0; i < 2; i++) {
        longs[i] = calloc(1, 10001);
        assert_non_null(longs[i]);
        memset(longs[i], 'x', 10000);
        longs[i][9999] = (char)('a' + (int)i);
    }
    const char *const names[] = {longs[0], longs[1], longs[0], NULL};
    struct namer namer = {.names = names};
    open_namer(desk, &namer, (owed_receiver){0});
    desk_fire(desk, 1);
    assert_int_equal(desk_number(desk, "select count(*) from owed_delivery"), 2);
    assert_int_equal(desk_number(desk, "select min(length(target)) from owed_delivery"), 10000);
    assert_int_equal(desk_number(desk, "select max(length(target_digest)) from owed_delivery"), 32);
    desk_once(desk);
    assert_count(desk, "succeeded", 2);
    free(longs[0]);
    free(longs[1]);
}

static void
it_sees_the_facts_of_the_event_and_no_target(void **state)
{
    struct desk *desk = *state;
    struct namer namer = {0};
    open_namer(desk, &namer, (owed_receiver){.due_us = OWED_MINUTES(5)});
    order payload = {.id = 7};
    owed_fire_options options = {.actor_key = "u-1",
        .scope = "{\"tenant\":3}",
        .correlation_id = "req-9",
        .due_at_us = desk->f->now_us + OWED_HOURS(1)};
    int64_t id = 0;
    fixture_begin(desk->f);
    assert_ok(owed_fire(desk->f->tx, &order_placed, &payload, &options, &id, &desk->f->err));
    fixture_commit(desk->f);
    assert_string_equal(namer.facts, "shop.OrderPlaced shop.lists [] u-1 {\"tenant\":3} req-9 7");
    assert_int_equal(namer.attempt, 1);
    assert_int_equal(namer.delivery_id, 0);
    assert_int_equal(namer.event_id, id);
    assert_int_equal(namer.due_at_us, desk->f->now_us + OWED_HOURS(1) + OWED_MINUTES(5));
    assert_int_equal(
        desk_number(desk, "select min(available_at) from owed_delivery"), namer.due_at_us);
    assert_int_equal(desk_number(desk, "select max(due_at) from owed_delivery"), namer.due_at_us);
}

static owed_status
looks_up(struct namer *namer, owed_delivery *delivery, owed_target_list *list, owed_error *err)
{
    (void)namer;
    struct raw *raw = fixture_raw(owed_delivery_tx(delivery));
    assert_non_null(raw);
    char ids[256];
    raw_list(raw, "select id from app order by id", ids);
    owed_status status = OWED_OK;
    char *rest = NULL;
    for (char *id = strtok_r(ids, ",", &rest); id != NULL && status == OWED_OK;
         id = strtok_r(NULL, ",", &rest)) {
        char target[32];
        snprintf(target, sizeof target, "app-%s", id);
        status = owed_target_add(list, target, err);
    }
    return status;
}

static void
it_looks_things_up_in_the_transaction_that_fires(void **state)
{
    struct desk *desk = *state;
    struct namer namer = {.naming = looks_up};
    open_namer(desk, &namer, (owed_receiver){0});
    fixture_begin(desk->f);
    fixture_run(desk->f->owed->db, "insert into app (id) values (4), (5)");
    fixture_fire(desk->f, &order_placed, 1);
    fixture_commit(desk->f);
    assert_list(desk, "select target from owed_delivery order by id", "app-4,app-5");
}

static void
targets_are_owed_before_anything_was_published(void **state)
{
    struct desk *desk = *state;
    struct namer namer = {0};
    declare_namer(desk, &namer, (owed_receiver){.discard = false});
    owed_settings settings = fixture_settings(desk->f);
    settings.no_publish = true;
    assert_ok(owed_open(&settings, &desk->f->owed, &desk->f->err));
    desk_fire(desk, 1);
    assert_int_equal(desk_number(desk, "select count(*) from owed_delivery"), 2);
    assert_int_equal(desk_number(desk, "select count(*) from owed_delivery where target = ''"), 0);
}

static void
they_stand_in_the_lane_and_kind_that_the_catalogue_says(void **state)
{
    struct desk *desk = *state;
    struct namer namer = {0};
    open_namer(desk, &namer, (owed_receiver){.lane = "mail"});
    raw_run(desk->f->raw, "update owed_receiver set paused_at = moment(1)");
    desk_fire(desk, 1);
    assert_text(desk, "select min(lane) || ' ' || max(lane) from owed_delivery",
        "shop/mail!shop.lists shop/mail!shop.lists");
}

/* --- refusals --- */

static void
assert_fire_fails(struct desk *desk, owed_status expected, const char *words)
{
    struct fixture *f = desk->f;
    order payload = {.id = 1};
    fixture_begin(f);
    fixture_add(f->owed->db);
    assert_status(expected, owed_fire(f->tx, &order_placed, &payload, NULL, NULL, &f->err));
    assert_says(f->err, words);
    assert_says(f->err, KEY);
    // Whoever passes over it cannot commit, be it in SQL.
    assert_true(fixture_cannot_commit(f->owed->db, "commit"));
    assert_status(OWED_ABORTED, owed_commit(f->tx, &f->err));
    assert_int_equal(fixture_events(f), 0);
    assert_int_equal(fixture_rows(f), 0);
    assert_int_equal(desk_number(desk, "select count(*) from owed_delivery"), 0);
}

static void
an_empty_target_rolls_the_caller_back(void **state)
{
    struct desk *desk = *state;
    static const char *const names[] = {"anna", "", NULL};
    struct namer namer = {.names = names};
    open_namer(desk, &namer, (owed_receiver){0});
    assert_fire_fails(desk, OWED_INVALID, "target 2 is empty");
}

static void
a_target_that_is_not_utf8_rolls_the_caller_back(void **state)
{
    struct desk *desk = *state;
    static const char *const names[] = {"\xc3\x28", NULL};
    struct namer namer = {.names = names};
    open_namer(desk, &namer, (owed_receiver){0});
    assert_fire_fails(desk, OWED_INVALID, "target 1 is not UTF-8");
}

static owed_status
names_null(struct namer *namer, owed_delivery *delivery, owed_target_list *list, owed_error *err)
{
    (void)delivery;
    namer->refused = owed_target_add(list, NULL, err) == OWED_INVALID;
    return OWED_OK; // and passes over it
}

static void
a_refusal_that_the_function_passes_over_stands(void **state)
{
    struct desk *desk = *state;
    struct namer namer = {.naming = names_null};
    open_namer(desk, &namer, (owed_receiver){0});
    assert_fire_fails(desk, OWED_INVALID, "target 1 is empty");
    assert_true(namer.refused);
}

static owed_status
names_too_long(
    struct namer *namer, owed_delivery *delivery, owed_target_list *list, owed_error *err)
{
    (void)namer;
    (void)delivery;
    char *text = calloc(1, LIMIT_TARGET_BYTES + 2);
    assert_non_null(text);
    memset(text, 'x', LIMIT_TARGET_BYTES);
    owed_status longest = owed_target_add(list, text, err);
    text[LIMIT_TARGET_BYTES] = 'x';
    owed_status longer = owed_target_add(list, text, err);
    free(text);
    assert_int_equal(longest, OWED_OK);
    return longer;
}

static void
a_target_over_the_limit_rolls_the_caller_back(void **state)
{
    struct desk *desk = *state;
    struct namer namer = {.naming = names_too_long};
    open_namer(desk, &namer, (owed_receiver){0});
    assert_fire_fails(desk, OWED_LIMIT, "target 2 is longer than 65536 bytes");
}

static owed_status
names_too_many(
    struct namer *namer, owed_delivery *delivery, owed_target_list *list, owed_error *err)
{
    (void)namer;
    (void)delivery;
    for (size_t i = 0; i < LIMIT_TARGETS; i++)
        assert_ok(owed_target_add(list, "anna", err));
    return owed_target_add(list, "bert", err);
}

static void
more_targets_than_the_limit_roll_the_caller_back(void **state)
{
    struct desk *desk = *state;
    struct namer namer = {.naming = names_too_many};
    open_namer(desk, &namer, (owed_receiver){0});
    assert_fire_fails(desk, OWED_LIMIT, "10000 for one event are the most");
}

static owed_status
gives_up(struct namer *namer, owed_delivery *delivery, owed_target_list *list, owed_error *err)
{
    (void)namer;
    (void)delivery;
    assert_ok(owed_target_add(list, "anna", err));
    snprintf(err->text, sizeof err->text, "no list is there");
    return OWED_NOT_FOUND;
}

static void
a_function_that_fails_rolls_the_caller_back(void **state)
{
    struct desk *desk = *state;
    struct namer namer = {.naming = gives_up};
    open_namer(desk, &namer, (owed_receiver){0});
    assert_fire_fails(
        desk, OWED_NOT_FOUND, "receiver shop.lists could not name its targets: no list is there");
}

static owed_status
says_duplicate(
    struct namer *namer, owed_delivery *delivery, owed_target_list *list, owed_error *err)
{
    (void)namer;
    (void)delivery;
    (void)list;
    (void)err;
    return OWED_DUPLICATE;
}

static void
no_failure_of_its_can_pass_for_a_used_dedupe_key(void **state)
{
    struct desk *desk = *state;
    struct namer namer = {.naming = says_duplicate};
    open_namer(desk, &namer, (owed_receiver){0});
    assert_fire_fails(desk, OWED_INVALID, "it did not say why");
}

static owed_status
ends_it(struct namer *namer, owed_delivery *delivery, owed_target_list *list, owed_error *err)
{
    (void)namer;
    run_sql(delivery, "rollback");
    return owed_target_add(list, "anna", err);
}

static void
a_function_that_ends_the_transaction_leaves_nothing(void **state)
{
    struct desk *desk = *state;
    struct namer namer = {.naming = ends_it};
    open_namer(desk, &namer, (owed_receiver){0});
    order payload = {.id = 1};
    fixture_begin(desk->f);
    assert_status(
        OWED_ABORTED, owed_fire(desk->f->tx, &order_placed, &payload, NULL, NULL, &desk->f->err));
    assert_status(OWED_ABORTED, owed_commit(desk->f->tx, &desk->f->err));
    assert_int_equal(fixture_events(desk->f), 0);
    assert_int_equal(desk_number(desk, "select count(*) from owed_delivery"), 0);
}

static void
a_payload_that_cannot_be_read_rolls_the_caller_back(void **state)
{
    struct desk *desk = *state;
    struct namer namer = {0};
    open_namer(desk, &namer, (owed_receiver){0});
    fixture_begin(desk->f);
    assert_status(OWED_INVALID,
        owed_fire_json(
            desk->f->tx, "shop.OrderPlaced", 0, "{\"id\":true}", 11, NULL, NULL, &desk->f->err));
    assert_status(OWED_ABORTED, owed_commit(desk->f->tx, &desk->f->err));
    assert_int_equal(fixture_events(desk->f), 0);
    assert_int_equal(namer.calls, 0);
}

/* --- where nobody could name them --- */

static void
in_sql_one_row_is_owed_that_a_relay_expands(void **state)
{
    struct desk *desk = *state;
    struct namer namer = {0};
    open_namer(desk, &namer, (owed_receiver){.max_attempts = 7});
    fire_in_sql(desk, 3);
    assert_int_equal(namer.calls, 0);
    assert_int_equal(rows_of_kind(desk, "expand"), 1);
    assert_int_equal(desk_number(desk, "select count(*) from owed_delivery"), 1);
    desk_once(desk);
    assert_int_equal(namer.calls, 1);
    assert_int_equal(rows_of_kind(desk, "expand"), 0);
    assert_count(desk, "succeeded", 2);
    assert_list(desk,
        "select target || max_attempts || lane || micros(due_at) || '=' || micros(available_at) "
        "from owed_delivery order by id",
        "anna7shop/default1000000=1000000,bert7shop/default1000000=1000000");
    assert_string_equal(namer.seen[1], "bert");
    // What is delivered is counted, not what was expanded.
    assert_int_equal(desk->counts.succeeded, 2);
    assert_true(desk_logged(desk, "became one for each of its targets"));
    assert_true(desk_logged(desk, "targets=2"));
}

static void
a_row_with_no_targets_goes_when_it_is_expanded(void **state)
{
    struct desk *desk = *state;
    static const char *const none[] = {NULL};
    struct namer namer = {.names = none};
    open_namer(desk, &namer, (owed_receiver){0});
    fire_in_sql(desk, 3);
    desk_once(desk);
    assert_int_equal(namer.calls, 1);
    assert_int_equal(desk_number(desk, "select count(*) from owed_delivery"), 0);
}

static void
it_looks_things_up_in_the_transaction_that_expands(void **state)
{
    struct desk *desk = *state;
    struct namer namer = {.naming = looks_up};
    open_namer(desk, &namer, (owed_receiver){.discard = false});
    raw_run(desk->f->raw, "insert into app (id) values (8)");
    fire_in_sql(desk, 3);
    desk_once(desk);
    assert_list(desk, "select target from owed_delivery order by id", "app-8");
}

static void
a_receiver_outside_has_its_rows_expanded_inside(void **state)
{
    struct desk *desk = *state;
    struct namer namer = {0};
    open_namer(desk, &namer, (owed_receiver){.outside = true});
    fire_in_sql(desk, 3);
    desk_once(desk);
    assert_int_equal(rows_of_kind(desk, "outside"), 2);
    assert_count(desk, "succeeded", 2);
}

static void
what_fails_there_is_a_failed_attempt_of_the_row(void **state)
{
    struct desk *desk = *state;
    struct namer namer = {.naming = gives_up};
    open_namer(desk, &namer, (owed_receiver){.max_attempts = 2});
    fire_in_sql(desk, 3);
    desk_once(desk);
    assert_int_equal(desk_number(desk, "select count(*) from owed_delivery"), 1);
    assert_text(desk,
        "select kind || ' ' || status || ' ' || attempts || ' ' || last_error from "
        "owed_delivery",
        "expand failed 1 receiver shop.lists could not name its targets: no list is there");
    assert_int_equal(desk_number(desk, "select count(*) from owed_attempt"), 1);
    namer.naming = NULL;
    desk->f->now_us += OWED_HOURS(2);
    desk_once(desk);
    assert_count(desk, "succeeded", 2);
    assert_int_equal(desk_number(desk, "select count(*) from owed_delivery"), 2);
    // What was tried of a row that is no more goes with it.
    assert_int_equal(desk_number(desk, "select count(*) from owed_attempt"), 0);
}

static void
a_row_that_cannot_be_expanded_dies_at_its_last_attempt(void **state)
{
    struct desk *desk = *state;
    struct namer namer = {.naming = names_null};
    open_namer(desk, &namer, (owed_receiver){.max_attempts = 1});
    fire_in_sql(desk, 3);
    desk_once(desk);
    assert_count(desk, "dead", 1);
    assert_text(desk, "select last_error from owed_delivery",
        "receiver shop.lists: target 1 is empty: it has to be a text");
}

static owed_status
is_robbed_meanwhile(
    struct namer *namer, owed_delivery *delivery, owed_target_list *list, owed_error *err)
{
    rob(namer->actor.desk, owed_delivery_id(delivery));
    return owed_target_add(list, "anna", err);
}

static void
a_relay_whose_row_was_taken_expands_nothing(void **state)
{
    struct desk *desk = *state;
    struct namer namer = {.naming = is_robbed_meanwhile};
    open_namer(desk, &namer, (owed_receiver){0});
    fire_in_sql(desk, 3);
    desk_once(desk);
    assert_int_equal(namer.calls, 1);
    assert_int_equal(desk_number(desk, "select count(*) from owed_delivery"), 1);
    assert_text(desk, "select kind || ' ' || claimed_by from owed_delivery", "expand thief");
    assert_true(desk_logged(desk, "result discarded"));
}

static void
in_a_side_lane_the_targets_are_named_and_delivered_by_who_serves_it(void **state)
{
    struct desk *desk = *state;
    struct namer namer = {0};
    open_namer(desk, &namer, (owed_receiver){0});
    fire_in_sql(desk, 3);
    raw_run(desk->f->raw, "update owed_delivery set lane = 'shop/+catchup'");
    desk_once(desk);
    assert_int_equal(namer.calls, 0);
    const char *const lanes[] = {"+catchup", NULL};
    desk->settings.lanes = lanes;
    desk_once(desk);
    assert_int_equal(namer.calls, 1);
    assert_int_equal(namer.seen_count, 2);
    assert_text(desk, "select distinct lane from owed_delivery", "shop/+catchup");
}

static void
a_relay_that_does_not_know_the_receiver_leaves_it(void **state)
{
    struct desk *desk = *state;
    struct namer namer = {0};
    struct actor actor = {0};
    declare_namer(desk, &namer, (owed_receiver){0});
    fixture_open(desk->f);
    // An older release of the same app, that has other targets to name and this receiver not at all.
    struct namer other = {0};
    owed_registry *mine = desk->f->registry;
    assert_ok(owed_registry_new("shop", &desk->f->registry, &desk->f->err));
    desk_receiver(desk, &actor, (owed_receiver){.key = "shop.plain", .event = &order_placed});
    declare_namer(desk, &other, (owed_receiver){.key = "shop.others", .event = &order_shipped});
    owed *handle = desk->f->owed;
    owed_settings settings = fixture_settings(desk->f);
    assert_ok(owed_open(&settings, &desk->f->owed, &desk->f->err));
    fire_in_sql(desk, 3);
    desk_once(desk);
    assert_int_equal(actor.calls, 1);
    assert_int_equal(rows_of_kind(desk, "expand"), 1);
    assert_count(desk, "pending", 1);
    assert_int_equal(desk_number(desk,
                         "select attempts + losses from owed_delivery where kind = "
                         "'expand'"),
        0);
    owed_close(desk->f->owed);
    owed_registry_free(desk->f->registry);
    desk->f->owed = handle;
    desk->f->registry = mine;
    desk_once(desk);
    assert_int_equal(rows_of_kind(desk, "expand"), 0);
    assert_int_equal(namer.seen_count, 2);
}

static void
what_was_owed_before_it_had_targets_is_delivered_as_it_is(void **state)
{
    struct desk *desk = *state;
    struct namer namer = {0};
    open_namer(desk, &namer, (owed_receiver){0});
    raw_run(desk->f->raw, "update owed_receiver set targets = 'none'");
    fire_in_sql(desk, 3);
    raw_run(desk->f->raw, "update owed_delivery set available_at = moment(1), due_at = moment(1)");
    raw_run(desk->f->raw, "update owed_receiver set targets = 'callback'");
    desk_once(desk);
    assert_int_equal(namer.calls, 0);
    assert_int_equal(namer.seen_count, 1);
    assert_string_equal(namer.seen[0], "");
    assert_count(desk, "succeeded", 1);
}

static void
while_the_catalogue_does_not_know_of_targets_the_firing_process_does(void **state)
{
    struct desk *desk = *state;
    struct namer namer = {0};
    open_namer(desk, &namer, (owed_receiver){0});
    raw_run(desk->f->raw, "update owed_receiver set targets = 'none'");
    desk_fire(desk, 1);
    assert_list(desk, "select target from owed_delivery order by id", "anna,bert");
}

static void
a_drain_inside_a_transaction_expands_in_it_and_goes_with_it(void **state)
{
    struct desk *desk = *state;
    struct namer namer = {0};
    open_namer(desk, &namer, (owed_receiver){0});
    fixture_begin(desk->f);
    raw_fire(fixture_raw(desk->f->tx), "shop.OrderPlaced", "{\"id\":1,\"cents\":1}");
    owed_relay_counts counts = {0};
    assert_ok(owed_drain(desk->f->owed, 0, &counts, &desk->f->err));
    assert_int_equal(namer.calls, 1);
    assert_int_equal(namer.seen_count, 2);
    assert_int_equal(counts.succeeded, 2);
    owed_rollback(desk->f->tx);
    assert_int_equal(desk_number(desk, "select count(*) from owed_delivery"), 0);
}

static void
a_row_that_is_delivered_alone_may_be_one_to_expand(void **state)
{
    struct desk *desk = *state;
    struct namer namer = {0};
    open_namer(desk, &namer, (owed_receiver){0});
    fire_in_sql(desk, 1);
    const char *status = "never heard";
    int64_t id = desk_number(desk, "select id from owed_delivery");
    assert_ok(owed_deliver_one(desk->f->owed, id, &status, &desk->f->err));
    assert_null(status);
    assert_int_equal(namer.calls, 1);
    assert_int_equal(namer.seen_count, 0);
    assert_count(desk, "pending", 2);
    // Its targets are rows like any other.
    id = desk_number(desk, "select id from owed_delivery where target = 'bert'");
    assert_ok(owed_deliver_one(desk->f->owed, id, &status, &desk->f->err));
    assert_string_equal(status, "succeeded");
    assert_string_equal(namer.seen[0], "bert");
}

/* fail_at_every_call has the store fail at each call of the relay's run in turn. */
static void
fail_at_every_call(struct desk *desk, owed_status status, bool after)
{
    struct namer namer = {0};
    open_namer(desk, &namer, (owed_receiver){0});
    int64_t call = 1;
    bool was_reached = true;
    for (; call < CALLS_MAX && was_reached; call++) {
        fire_in_sql(desk, call % DESK_ORDERS);
        struct fault fault = {.fail_at = call, .status = status, .after = after};
        owed *handle = desk->f->owed;
        struct db *broken = driver_fault_wrap(handle->db, &fault);
        handle->db = broken;
        desk->settings.once = true;
        desk->wait_count = 0;
        owed_status ended = relay_work(handle, &desk->settings, &desk->seat, NULL, &desk->f->err);
        (void)ended;
        was_reached = fault.calls >= call;
        if (handle->db == broken) {
            store_close(broken);
            const struct db_options options = {.busy_timeout_us = US_PER_MS};
            assert_ok(store_open(desk->f->url, &options, &handle->db, &desk->f->err));
        }
        // At every moment: the row that stands for them, or all of them.
        assert_int_equal(desk_number(desk,
                             "select count(*) from (select event_id, sum(case kind when 'expand' "
                             "then 1 else 0 end) as e, count(*) as n from owed_delivery group by "
                             "event_id) as of_event where (e = 1 and "
                             "n <> 1) or (e = 0 and n <> 2)"),
            0);
        desk->f->now_us += OWED_HOURS(2);
        desk_once(desk);
        assert_int_equal(desk_count(desk, "succeeded"), call * 2);
        assert_int_equal(desk_number(desk, "select count(*) from owed_delivery"), call * 2);
    }
    assert_in_range(call, 20, CALLS_MAX - 1);
    assert_int_equal(desk_number(desk, "select max(attempts) from owed_delivery"), 1);
}

static void
a_store_that_goes_away_at_any_call_leaves_the_row_or_all_targets(void **state)
{
    fail_at_every_call(*state, OWED_UNAVAILABLE, false);
}

static void
an_answer_lost_at_any_call_leaves_the_row_or_all_targets(void **state)
{
    fail_at_every_call(*state, OWED_UNAVAILABLE, true);
}

/* --- receivers that are no functions --- */

static void
a_program_is_told_its_target(void **state)
{
    struct desk *desk = *state;
    struct namer namer = {0};
    char script[128];
    char path[128];
    snprintf(path, sizeof path, "%s/told", desk->f->folder);
    snprintf(script, sizeof script, "%s/tell", desk->f->folder);
    FILE *file = fopen(script, "w");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\ncat >/dev/null\nprintf '<%%s>' \"$OWED_TARGET\" >> %s\n", path);
    fclose(file);
    assert_int_equal(chmod(script, 0700), 0);
    namer.actor.state = &namer;
    namer.names = two;
    fixture_receiver(desk->f,
        (owed_receiver){.key = KEY,
            .event = &order_placed,
            .exec = script,
            .targets = name_targets,
            .state = &namer.actor});
    fixture_open(desk->f);
    desk_fire(desk, 1);
    assert_list(desk, "select target || ' ' || kind from owed_delivery order by id",
        "anna outside,bert outside");
    desk->seat.wait = NULL; // programs take the time that they take
    desk->settings.exec_in_flight = 1;
    desk_once(desk);
    assert_count(desk, "succeeded", 2);
    char told[64] = "";
    file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(told, sizeof told, file));
    fclose(file);
    assert_string_equal(told, "<anna><bert>");
}

/* --- declaring them --- */

static void
they_are_for_durable_receivers_only(void **state)
{
    struct desk *desk = *state;
    const owed_mode modes[] = {OWED_ON_COMMIT, OWED_INLINE};
    for (size_t i = 0; i < 2; i++) {
        owed_receiver receiver = {.key = KEY,
            .event = &order_placed,
            .mode = modes[i],
            .run = actor_run,
            .targets = name_targets};
        assert_status(
            OWED_CONFIG, owed_declare_receiver(desk->f->registry, &receiver, &desk->f->err));
        assert_says(desk->f->err, "targets is for durable receivers only");
    }
}

static void
with_and_without_are_two_declarations(void **state)
{
    struct desk *desk = *state;
    owed_receiver receiver = {.key = KEY, .event = &order_placed, .run = actor_run};
    assert_ok(owed_declare_receiver(desk->f->registry, &receiver, &desk->f->err));
    receiver.targets = name_targets;
    assert_status(OWED_CONFIG, owed_declare_receiver(desk->f->registry, &receiver, &desk->f->err));
    assert_says(desk->f->err, "another receiver has this key");
}

static void
the_catalogue_says_who_has_them(void **state)
{
    struct desk *desk = *state;
    struct namer namer = {0};
    struct actor actor = {0};
    desk_receiver(desk, &actor, (owed_receiver){.key = "shop.plain"});
    open_namer(desk, &namer, (owed_receiver){0});
    assert_list(desk, "select \"key\" || ' ' || targets from owed_receiver order by \"key\"",
        "shop.lists callback,shop.plain none");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, desk_setup, desk_teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(one_delivery_is_owed_for_each_target),
        TEST(one_that_fails_repeats_and_blocks_no_other),
        TEST(a_target_that_is_named_twice_is_owed_once),
        TEST(no_target_owes_nothing_and_is_no_error),
        TEST(a_target_may_be_ten_thousand_characters_long),
        TEST(it_sees_the_facts_of_the_event_and_no_target),
        TEST(it_looks_things_up_in_the_transaction_that_fires),
        TEST(targets_are_owed_before_anything_was_published),
        TEST(they_stand_in_the_lane_and_kind_that_the_catalogue_says),
        TEST(an_empty_target_rolls_the_caller_back),
        TEST(a_target_that_is_not_utf8_rolls_the_caller_back),
        TEST(a_refusal_that_the_function_passes_over_stands),
        TEST(a_target_over_the_limit_rolls_the_caller_back),
        TEST(more_targets_than_the_limit_roll_the_caller_back),
        TEST(a_function_that_fails_rolls_the_caller_back),
        TEST(no_failure_of_its_can_pass_for_a_used_dedupe_key),
        TEST(a_function_that_ends_the_transaction_leaves_nothing),
        TEST(a_payload_that_cannot_be_read_rolls_the_caller_back),
        TEST(in_sql_one_row_is_owed_that_a_relay_expands),
        TEST(a_row_with_no_targets_goes_when_it_is_expanded),
        TEST(it_looks_things_up_in_the_transaction_that_expands),
        TEST(a_receiver_outside_has_its_rows_expanded_inside),
        TEST(what_fails_there_is_a_failed_attempt_of_the_row),
        TEST(a_row_that_cannot_be_expanded_dies_at_its_last_attempt),
        TEST(a_relay_whose_row_was_taken_expands_nothing),
        TEST(in_a_side_lane_the_targets_are_named_and_delivered_by_who_serves_it),
        TEST(a_relay_that_does_not_know_the_receiver_leaves_it),
        TEST(what_was_owed_before_it_had_targets_is_delivered_as_it_is),
        TEST(while_the_catalogue_does_not_know_of_targets_the_firing_process_does),
        TEST(a_drain_inside_a_transaction_expands_in_it_and_goes_with_it),
        TEST(a_row_that_is_delivered_alone_may_be_one_to_expand),
        TEST(a_store_that_goes_away_at_any_call_leaves_the_row_or_all_targets),
        TEST(an_answer_lost_at_any_call_leaves_the_row_or_all_targets),
        TEST(a_program_is_told_its_target),
        TEST(they_are_for_durable_receivers_only),
        TEST(with_and_without_are_two_declarations),
        TEST(the_catalogue_says_who_has_them),
    };
    return RUN_ON_ALL_STORES("targets", tests);
}
