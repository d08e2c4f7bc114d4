/* SPDX-License-Identifier: MIT
 *
 * test_failure.c - who is told of a failed attempt, of what, and when: on_failure, and the log.
 */
#include "desk.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

/* What on_failure was told; the actor's state. */
struct told {
    struct desk *desk;
    int calls;
    owed_failure last;
    char event_name[64], receiver_key[64], target[64], status[16], kind[16], error[128];
    char status_in_store[256]; // while it ran
    bool in_transaction;
    void (*doing)(struct told *told, owed *handle);
};

static void
hear(owed *handle, const owed_failure *failure, void *state)
{
    struct actor *actor = state;
    struct told *told = actor->state;
    told->calls++;
    told->last = *failure;
    snprintf(told->event_name, sizeof told->event_name, "%s", failure->event_name);
    snprintf(told->receiver_key, sizeof told->receiver_key, "%s", failure->receiver_key);
    snprintf(told->target, sizeof told->target, "%s", failure->target);
    snprintf(told->status, sizeof told->status, "%s", failure->status);
    snprintf(told->kind, sizeof told->kind, "%s", failure->kind);
    snprintf(told->error, sizeof told->error, "%s", failure->error);
    told->in_transaction = handle->tx != NULL || store_in_transaction(handle->db);
    char sql[100];
    snprintf(sql, sizeof sql, "select status from owed_delivery where id = %" PRId64,
        failure->delivery_id);
    desk_text(told->desk, sql, told->status_in_store);
    if (told->doing != NULL)
        told->doing(told, handle);
}

static void
open_told(struct desk *desk, struct actor *actor, struct told *told, owed_receiver receiver)
{
    told->desk = desk;
    actor->state = told;
    receiver.key = "shop.stock";
    receiver.on_failure = hear;
    desk_receiver(desk, actor, receiver);
    fixture_open(desk->f);
}

static owed_outcome
is_refused_for_good(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)actor;
    (void)order;
    return owed_permanent(delivery, "gone");
}

static owed_outcome
is_told_to_wait(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)actor;
    (void)order;
    return owed_retry_after(delivery, 60, "busy");
}

static owed_outcome
is_throttled(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)actor;
    (void)order;
    return owed_defer(delivery, 60, "quota");
}

static owed_outcome
is_not_due(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)order;
    return owed_not_yet(delivery, actor->desk->f->now_us + OWED_HOURS(1), "later");
}

static int
times_logged(struct desk *desk, const char *words)
{
    int times = 0;
    for (const char *p = buf_text(&desk->f->log); (p = strstr(p, words)) != NULL; p++)
        times++;
    return times;
}

/* --- of what --- */

static void
on_failure_is_told_the_facts_of_what_was_recorded(void **state)
{
    struct desk *desk = *state;
    struct told told = {0};
    struct actor actor = {.acts = {[1] = writes_and_fails}};
    open_told(desk, &actor, &told, (owed_receiver){0});
    int64_t event_id = desk_fire(desk, 1);
    desk_once(desk);
    assert_int_equal(told.calls, 1);
    assert_int_equal(told.last.delivery_id, desk_number(desk, "select id from owed_delivery"));
    assert_int_equal(told.last.event_id, event_id);
    assert_string_equal(told.event_name, "shop.OrderPlaced");
    assert_string_equal(told.receiver_key, "shop.stock");
    assert_string_equal(told.target, "");
    assert_int_equal(told.last.attempt, 1);
    assert_string_equal(told.status, "failed");
    assert_string_equal(told.kind, "failed");
    assert_string_equal(told.error, "order 1: nothing on the shelf");
}

static void
it_is_told_after_the_record_is_committed_and_outside_any_transaction(void **state)
{
    struct desk *desk = *state;
    struct told told = {0};
    struct actor actor = {.acts = {[1] = writes_and_fails}};
    open_told(desk, &actor, &told, (owed_receiver){0});
    desk_fire(desk, 1);
    desk_once(desk);
    assert_string_equal(told.status_in_store, "failed"); // asked on another connection
    assert_false(told.in_transaction);
}

static void
it_is_told_of_each_failure_and_of_the_last_as_dead(void **state)
{
    struct desk *desk = *state;
    struct told told = {0};
    struct actor actor = {.acts = {[1] = fails}};
    open_told(desk, &actor, &told, (owed_receiver){.max_attempts = 3});
    desk_fire(desk, 1);
    for (int i = 0; i < 5; i++) {
        desk_once(desk);
        desk->f->now_us += OWED_HOURS(1);
    }
    assert_int_equal(told.calls, 3);
    assert_int_equal(told.last.attempt, 3);
    assert_string_equal(told.status, "dead");
    assert_int_equal(times_logged(desk, "msg=\"delivery failed\""), 3);
    assert_true(desk_logged(desk, "receiver=shop.stock delivery=1 attempt=3 kind=failed now=dead"));
}

static void
a_success_is_a_line_for_those_who_debug(void **state)
{
    struct desk *desk = *state;
    struct told told = {0};
    struct actor actor = {.acts = {[1] = fails}};
    open_told(desk, &actor, &told, (owed_receiver){0});
    desk_fire(desk, 1);
    desk_once(desk);
    assert_false(desk_logged(desk, "delivered"));
    desk->f->now_us += OWED_HOURS(1);
    desk->f->owed->log.level = OWED_LOG_INFO;
    desk_fire(desk, 2);
    desk_once(desk);
    assert_int_equal(times_logged(desk, "delivered"), 0);
    desk->f->owed->log.level = OWED_LOG_DEBUG;
    desk_fire(desk, 3);
    desk_once(desk);
    assert_int_equal(
        times_logged(desk, "level=debug msg=delivered receiver=shop.stock delivery=3 attempt=1"),
        1);
    assert_int_equal(times_logged(desk, "delivered"), 1);
}

static void
a_permanent_failure_and_a_wait_are_told_by_their_kinds(void **state)
{
    struct desk *desk = *state;
    struct told told = {0};
    struct actor actor = {.acts = {[1] = is_refused_for_good, [2] = is_told_to_wait}};
    open_told(desk, &actor, &told, (owed_receiver){0});
    desk_fire(desk, 1);
    desk_once(desk);
    assert_string_equal(told.kind, "permanent");
    assert_string_equal(told.status, "dead");
    desk_fire(desk, 2);
    desk_once(desk);
    assert_string_equal(told.kind, "retry_after");
    assert_string_equal(told.status, "failed");
    assert_int_equal(told.calls, 2);
}

static void
a_deferral_is_told_with_its_attempt_unspent_and_so_is_the_giving_up(void **state)
{
    struct desk *desk = *state;
    struct told told = {0};
    struct actor actor = {.acts = {[1] = is_throttled}};
    open_told(desk, &actor, &told, (owed_receiver){.give_up_after_us = OWED_HOURS(1)});
    desk_fire(desk, 1);
    desk_once(desk);
    assert_string_equal(told.kind, "deferred");
    assert_string_equal(told.status, "failed");
    assert_int_equal(told.last.attempt, 1);
    desk->f->now_us += OWED_HOURS(1);
    desk_once(desk);
    assert_int_equal(told.calls, 2);
    assert_string_equal(told.kind, "gave_up");
    assert_string_equal(told.status, "dead");
    assert_int_equal(told.last.attempt, 1);
    assert_true(desk_logged(desk, "attempt=1 kind=deferred now=failed"));
    assert_true(desk_logged(desk, "attempt=1 kind=gave_up now=dead"));
}

static void
work_that_is_not_due_yet_is_neither_told_nor_logged_as_a_failure(void **state)
{
    struct desk *desk = *state;
    struct told told = {0};
    struct actor actor = {.acts = {[1] = is_not_due}};
    open_told(desk, &actor, &told, (owed_receiver){0});
    desk_fire(desk, 1);
    desk_once(desk);
    assert_count(desk, "pending", 1);
    assert_int_equal(told.calls, 0);
    assert_false(desk_logged(desk, "delivery failed"));
}

static void
too_many_losses_are_told_as_a_death(void **state)
{
    struct desk *desk = *state;
    struct told told = {0};
    struct actor actor = {0};
    open_told(desk, &actor, &told, (owed_receiver){0});
    desk_fire(desk, 1);
    raw_run(desk->f->raw, "update owed_delivery set losses = 10");
    desk_once(desk);
    assert_int_equal(actor.calls, 0);
    assert_int_equal(told.calls, 1);
    assert_string_equal(told.kind, "died");
    assert_string_equal(told.status, "dead");
}

/* --- not told --- */

static void
a_payload_that_cannot_be_decoded_is_logged_with_the_decoders_words_and_not_told(void **state)
{
    struct desk *desk = *state;
    struct told told = {0};
    struct actor actor = {0};
    open_told(desk, &actor, &told, (owed_receiver){0});
    desk_fire(desk, 1);
    raw_run(desk->f->raw, "update owed_event set payload = '{\"id\":\"seven\"}'");
    desk_once(desk);
    assert_count(desk, "dead", 1);
    assert_int_equal(told.calls, 0);
    assert_true(desk_logged(desk, "attempt=1 kind=undecodable now=dead error="));
    assert_int_equal(times_logged(desk, "msg=\"delivery failed\""), 1);
}

static void
an_orphaned_row_is_neither_told_nor_logged_as_a_failure(void **state)
{
    struct desk *desk = *state;
    struct told told = {0};
    struct actor actor = {0};
    open_told(desk, &actor, &told, (owed_receiver){0});
    desk_fire(desk, 1);
    raw_run(desk->f->raw, "update owed_delivery set receiver_key = 'shop.gone'");
    raw_run(desk->f->raw, "update owed_event set recorded_at = moment(5)");
    desk->settings.orphan_grace_us = -1;
    desk_once(desk);
    assert_count(desk, "orphaned", 1);
    assert_int_equal(told.calls, 0);
    assert_false(desk_logged(desk, "delivery failed"));
}

static owed_outcome
is_robbed_and_fails(struct actor *actor, owed_delivery *delivery, const order *order)
{
    rob(actor->desk, owed_delivery_id(delivery));
    return fails(actor, delivery, order);
}

static void
a_worker_that_lost_the_row_neither_tells_nor_logs_a_failure(void **state)
{
    struct desk *desk = *state;
    struct told told = {0};
    struct actor actor = {.acts = {[1] = is_robbed_and_fails}};
    open_told(desk, &actor, &told, (owed_receiver){0});
    desk_fire(desk, 1);
    desk_once(desk);
    assert_int_equal(actor.calls, 1);
    assert_int_equal(told.calls, 0);
    assert_false(desk_logged(desk, "delivery failed"));
    assert_true(desk_logged(desk, "result discarded"));
}

static void
a_success_is_not_told(void **state)
{
    struct desk *desk = *state;
    struct told told = {0};
    struct actor actor = {0};
    open_told(desk, &actor, &told, (owed_receiver){0});
    desk_fire(desk, 1);
    desk_once(desk);
    assert_count(desk, "succeeded", 1);
    assert_int_equal(told.calls, 0);
}

/* --- what it does --- */

static void
writes_and_fires(struct told *told, owed *handle)
{
    owed_tx *tx = NULL;
    assert_ok(owed_begin(handle, &tx, &told->desk->f->err));
    raw_run(fixture_raw(tx), "insert into app (id) values (99)");
    const order order = {.id = 2, .currency = "EUR"};
    assert_ok(owed_fire(tx, &order_shipped, &order, NULL, NULL, &told->desk->f->err));
    assert_ok(owed_commit(tx, &told->desk->f->err));
}

static void
what_on_failure_writes_is_kept_and_what_it_fires_names_its_cause(void **state)
{
    struct desk *desk = *state;
    struct told told = {.doing = writes_and_fires};
    struct actor actor = {.acts = {[1] = writes_and_fails}};
    open_told(desk, &actor, &told, (owed_receiver){0});
    int64_t event_id = desk_fire(desk, 1);
    desk_once(desk);
    assert_int_equal(desk_written(desk, 99), 1);
    assert_int_equal(desk_written(desk, 1), 0);
    assert_int_equal(
        desk_number(desk, "select causation_id from owed_event where name = 'shop.OrderShipped'"),
        event_id);
}

static void
leaves_open(struct told *told, owed *handle)
{
    owed_tx *tx = NULL;
    assert_ok(owed_begin(handle, &tx, &told->desk->f->err));
    raw_run(fixture_raw(tx), "insert into app (id) values (99)");
}

static void
a_transaction_that_it_leaves_open_is_rolled_back_and_logged_and_changes_nothing(void **state)
{
    struct desk *desk = *state;
    struct told told = {.doing = leaves_open};
    struct actor actor = {.acts = {[1] = fails, [2] = writes}};
    open_told(desk, &actor, &told, (owed_receiver){0});
    desk_fire_many(desk, 2);
    desk_once(desk);
    assert_int_equal(told.calls, 1);
    assert_int_equal(desk_written(desk, 99), 0);
    assert_true(desk_logged(desk, "3 time="));
    assert_true(desk_logged(desk, "on_failure left a transaction open"));
    assert_count(desk, "failed", 1);
    assert_count(desk, "succeeded", 1);
}

static void
in_a_shared_transaction_each_failure_is_told_after_the_commit(void **state)
{
    struct desk *desk = *state;
    struct told told = {0};
    struct actor actor = {.acts = {[3] = writes_and_fails}};
    open_told(desk, &actor, &told, (owed_receiver){.database_only = true});
    desk_fire_many(desk, 5);
    desk_once(desk);
    assert_count(desk, "succeeded", 4);
    assert_int_equal(told.calls, 1);
    assert_string_equal(told.status_in_store, "failed");
    assert_false(told.in_transaction);
}

/* --- declaring it --- */

static void
it_is_for_durable_receivers_only(void **state)
{
    struct desk *desk = *state;
    const owed_mode modes[] = {OWED_ON_COMMIT, OWED_INLINE};
    for (size_t i = 0; i < 2; i++) {
        const owed_receiver receiver = {.key = "shop.now",
            .event = &order_placed,
            .run = actor_run,
            .mode = modes[i],
            .on_failure = hear};
        assert_status(
            OWED_CONFIG, owed_declare_receiver(desk->f->registry, &receiver, &desk->f->err));
        assert_says(desk->f->err, "on_failure is for durable receivers only");
    }
}

static void
the_failure_line_has_five_facts_and_no_words_of_the_receiver(void **state)
{
    struct desk *desk = *state;
    struct told told = {0};
    struct actor actor = {.acts = {[1] = fails}};
    open_told(desk, &actor, &told, (owed_receiver){0});
    desk_fire(desk, 1);
    desk_once(desk);
    assert_true(desk_logged(desk,
        "level=warning msg=\"delivery failed\" receiver=shop.stock delivery=1 attempt=1 "
        "kind=failed now=failed\n"));
    assert_false(desk_logged(desk, "order 1: no"));
}

int
main(void)
{
#define DESK_TEST(name) cmocka_unit_test_setup_teardown(name, desk_setup, desk_teardown)
    const struct CMUnitTest tests[] = {
        DESK_TEST(on_failure_is_told_the_facts_of_what_was_recorded),
        DESK_TEST(it_is_told_after_the_record_is_committed_and_outside_any_transaction),
        DESK_TEST(it_is_told_of_each_failure_and_of_the_last_as_dead),
        DESK_TEST(a_success_is_a_line_for_those_who_debug),
        DESK_TEST(a_permanent_failure_and_a_wait_are_told_by_their_kinds),
        DESK_TEST(a_deferral_is_told_with_its_attempt_unspent_and_so_is_the_giving_up),
        DESK_TEST(work_that_is_not_due_yet_is_neither_told_nor_logged_as_a_failure),
        DESK_TEST(too_many_losses_are_told_as_a_death),
        DESK_TEST(a_payload_that_cannot_be_decoded_is_logged_with_the_decoders_words_and_not_told),
        DESK_TEST(an_orphaned_row_is_neither_told_nor_logged_as_a_failure),
        DESK_TEST(a_worker_that_lost_the_row_neither_tells_nor_logs_a_failure),
        DESK_TEST(a_success_is_not_told),
        DESK_TEST(what_on_failure_writes_is_kept_and_what_it_fires_names_its_cause),
        DESK_TEST(a_transaction_that_it_leaves_open_is_rolled_back_and_logged_and_changes_nothing),
        DESK_TEST(in_a_shared_transaction_each_failure_is_told_after_the_commit),
        DESK_TEST(it_is_for_durable_receivers_only),
        DESK_TEST(the_failure_line_has_five_facts_and_no_words_of_the_receiver),
    };
    return RUN_ON_ALL_STORES("failure", tests);
}
