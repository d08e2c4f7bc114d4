/* SPDX-License-Identifier: MIT
 *
 * test_around.c - the hook around each attempt: when it is entered and left, what it sees, what it can
 * and cannot do.
 */
#include "desk.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <owed/testing.h>

#include "base/clock.h"

/* What happens is written down in its order: "enter run leave". */
struct scene {
    struct desk *desk;
    struct actor actor;
    char story[1024];
    owed_outcome (*entering)(struct scene *scene, owed_delivery *delivery);
    owed_status (*leaving)(struct scene *scene, owed_error *err);
    owed_verdict left_verdict;
    char left_text[200];
    char status_at_leave[256];
    bool had_transaction; // while entering or leaving
    int entered, left;
};

static struct scene *the_scene; // of the receivers, whose state is an actor

static void
tell(struct scene *scene, const char *word)
{
    size_t len = strlen(scene->story);
    snprintf(scene->story + len, sizeof scene->story - len, "%s%s", len == 0 ? "" : " ", word);
}

static void
look(struct scene *scene)
{
    const owed *handle = scene->desk->f->owed;
    if (handle->tx != NULL || store_in_transaction(handle->db))
        scene->had_transaction = true;
}

static owed_outcome
enter(owed_delivery *delivery, void *state, void **ret_attempt_state)
{
    struct scene *scene = state;
    scene->entered++;
    tell(scene, "enter");
    look(scene);
    assert_null(owed_delivery_tx(delivery));
    *ret_attempt_state = (void *)(uintptr_t)owed_delivery_id(delivery);
    return scene->entering == NULL ? owed_done() : scene->entering(scene, delivery);
}

static owed_status
leave(owed_delivery *delivery, owed_outcome outcome, const char *text, void *attempt_state,
    void *state, owed_error *err)
{
    struct scene *scene = state;
    scene->left++;
    tell(scene, "leave");
    look(scene);
    assert_null(owed_delivery_tx(delivery));
    assert_int_equal((int64_t)(uintptr_t)attempt_state, owed_delivery_id(delivery));
    scene->left_verdict = outcome.verdict;
    snprintf(scene->left_text, sizeof scene->left_text, "%s", text);
    char sql[100];
    snprintf(sql, sizeof sql,
        "select coalesce(max(status), '') from owed_delivery where id = %" PRId64,
        owed_delivery_id(delivery));
    desk_text(scene->desk, sql, scene->status_at_leave);
    return scene->leaving == NULL ? OWED_OK : scene->leaving(scene, err);
}

static owed_outcome
runs(struct actor *actor, owed_delivery *delivery, const order *order)
{
    tell(the_scene, "run");
    return writes(actor, delivery, order);
}

static owed_outcome
runs_and_fails(struct actor *actor, owed_delivery *delivery, const order *order)
{
    tell(the_scene, "run");
    return writes_and_fails(actor, delivery, order);
}

static void
hear(owed *handle, const owed_failure *failure, void *state)
{
    (void)handle;
    (void)state;
    char word[32];
    snprintf(word, sizeof word, "told:%s", failure->kind);
    tell(the_scene, word);
}

static void
open_scene(struct desk *desk, struct scene *scene, owed_receiver receiver)
{
    scene->desk = desk;
    the_scene = scene;
    for (size_t i = 0; i < DESK_ORDERS; i++)
        if (scene->actor.acts[i] == NULL)
            scene->actor.acts[i] = runs;
    receiver.key = "shop.stock";
    receiver.on_failure = hear;
    desk_receiver(desk, &scene->actor, receiver);
    fixture_open(desk->f);
    const owed_around around = {enter, leave, scene};
    assert_ok(owed_set_around(desk->f->owed, &around, &desk->f->err));
}

static void
run_one(struct desk *desk, struct scene *scene, owed_receiver receiver)
{
    open_scene(desk, scene, receiver);
    desk_fire(desk, 1);
    desk_once(desk);
}

/* --- where it sits --- */

static void
it_is_entered_before_the_receiver_and_left_after_the_record(void **state)
{
    struct scene scene = {0};
    run_one(*state, &scene, (owed_receiver){0});
    assert_string_equal(scene.story, "enter run leave");
    assert_string_equal(scene.status_at_leave, "succeeded"); // asked on another connection
    assert_int_equal(scene.left_verdict, OWED_VERDICT_DONE);
    assert_string_equal(scene.left_text, "");
}

static void
it_is_entered_and_left_outside_any_transaction(void **state)
{
    struct scene scene = {0};
    run_one(*state, &scene, (owed_receiver){.database_only = true});
    assert_false(scene.had_transaction);
    assert_int_equal(scene.left, 1);
}

static void
leave_sees_the_failure_and_its_text_and_comes_after_on_failure(void **state)
{
    struct desk *desk = *state;
    struct scene scene = {.actor = {.acts = {[1] = runs_and_fails}}};
    run_one(desk, &scene, (owed_receiver){0});
    assert_string_equal(scene.story, "enter run told:failed leave");
    assert_int_equal(scene.left_verdict, OWED_VERDICT_FAILED);
    assert_string_equal(scene.left_text, "order 1: nothing on the shelf");
    assert_string_equal(scene.status_at_leave, "failed");
}

static void
each_attempt_is_wrapped_once(void **state)
{
    struct desk *desk = *state;
    struct scene scene = {.actor = {.acts = {[1] = runs_and_fails}}};
    open_scene(desk, &scene, (owed_receiver){.max_attempts = 2});
    desk_fire(desk, 1);
    for (int i = 0; i < 4; i++) {
        desk_once(desk);
        desk->f->now_us += OWED_HOURS(1);
    }
    assert_string_equal(scene.story, "enter run told:failed leave enter run told:failed leave");
}

static void
with_a_hook_no_two_receivers_share_a_transaction(void **state)
{
    struct desk *desk = *state;
    struct scene scene = {0};
    open_scene(desk, &scene, (owed_receiver){.database_only = true});
    desk_fire_many(desk, 4);
    desk_once(desk);
    assert_string_equal(
        scene.story, "enter run leave enter run leave enter run leave enter run leave");
    assert_false(scene.had_transaction);
    assert_count(desk, "succeeded", 4);
}

static owed_outcome
sets_the_hook(struct actor *actor, owed_delivery *delivery, const order *order)
{
    const owed_around around = {enter, leave, the_scene};
    assert_ok(owed_set_around(actor->desk->f->owed, &around, &actor->desk->f->err));
    return writes(actor, delivery, order);
}

static owed_outcome
drops_the_hook(struct actor *actor, owed_delivery *delivery, const order *order)
{
    assert_ok(owed_set_around(actor->desk->f->owed, NULL, &actor->desk->f->err));
    return writes(actor, delivery, order);
}

static void
it_is_read_at_each_delivery(void **state)
{
    struct desk *desk = *state;
    struct scene scene = {.actor = {.acts = {[2] = sets_the_hook, [4] = drops_the_hook}}};
    open_scene(desk, &scene, (owed_receiver){.database_only = true});
    assert_ok(owed_set_around(desk->f->owed, NULL, &desk->f->err));
    desk_fire_many(desk, 6);
    desk_once(desk);
    // Orders 3 and 4; the hook that is left is the one that was entered.
    assert_int_equal(scene.entered, 2);
    assert_int_equal(scene.left, 2);
    assert_false(scene.had_transaction);
    assert_count(desk, "succeeded", 6);
}

/* --- entering fails --- */

static owed_outcome
fails_to_enter(struct scene *scene, owed_delivery *delivery)
{
    (void)scene;
    owed_delivery_note(delivery, "tenant", "unknown");
    return owed_failed(delivery, "no such tenant");
}

static void
one_that_cannot_be_entered_fails_the_attempt_and_the_receiver_does_not_run(void **state)
{
    struct desk *desk = *state;
    struct scene scene = {.entering = fails_to_enter};
    run_one(desk, &scene, (owed_receiver){0});
    assert_string_equal(scene.story, "enter told:hook");
    assert_int_equal(scene.actor.calls, 0);
    assert_text(desk, "select status || attempts || last_error from owed_delivery",
        "failed1no such tenant");
    assert_text(desk, "select verdict from owed_attempt", "hook");
    assert_true(desk_logged(
        desk, "receiver=shop.stock delivery=1 attempt=1 kind=hook now=failed tenant=unknown"));
}

static owed_outcome
enters_for_good(struct scene *scene, owed_delivery *delivery)
{
    (void)scene;
    return owed_permanent(delivery, "the tenant is gone");
}

static owed_outcome
enters_later(struct scene *scene, owed_delivery *delivery)
{
    (void)scene;
    return owed_retry_after(delivery, 60, "the tenant moves");
}

static void
permanent_and_retry_after_keep_their_meaning(void **state)
{
    struct desk *desk = *state;
    struct scene scene = {.entering = enters_for_good};
    run_one(desk, &scene, (owed_receiver){0});
    assert_count(desk, "dead", 1);
    assert_text(desk, "select verdict from owed_attempt", "permanent");
    scene.entering = enters_later;
    desk_fire(desk, 2);
    desk_once(desk);
    assert_int_equal(
        desk_number(desk, "select available_at from owed_delivery where status = 'failed'"),
        desk->f->now_us + OWED_SECONDS(60));
    assert_text(desk, "select verdict from owed_attempt order by id desc", "retry_after");
    assert_int_equal(scene.actor.calls, 0);
    assert_int_equal(scene.left, 0);
}

static owed_outcome
enters_when_due(struct scene *scene, owed_delivery *delivery)
{
    return owed_not_yet(delivery, scene->desk->f->now_us + OWED_HOURS(1), "the tenant sleeps");
}

static void
not_yet_keeps_its_meaning_and_on_failure_is_not_told(void **state)
{
    struct desk *desk = *state;
    struct scene scene = {.entering = enters_when_due};
    run_one(desk, &scene, (owed_receiver){0});
    assert_string_equal(scene.story, "enter");
    assert_text(desk, "select status || attempts from owed_delivery", "pending0");
    assert_int_equal(desk_number(desk, "select available_at from owed_delivery"),
        desk->f->now_us + OWED_HOURS(1));
    assert_false(desk_logged(desk, "delivery failed"));
}

static owed_outcome
is_not_due(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)order;
    return owed_not_yet(delivery, actor->desk->f->now_us + OWED_HOURS(1), "the offer was extended");
}

static void
leave_sees_not_yet_with_its_text(void **state)
{
    struct desk *desk = *state;
    struct scene scene = {.actor = {.acts = {[1] = is_not_due}}};
    run_one(desk, &scene, (owed_receiver){0});
    assert_int_equal(scene.left_verdict, OWED_VERDICT_NOT_YET);
    assert_string_equal(scene.left_text, "the offer was extended");
    assert_string_equal(scene.status_at_leave, "pending");
}

static owed_outcome
returns_nothing(struct scene *scene, owed_delivery *delivery)
{
    (void)scene;
    (void)delivery;
    return (owed_outcome){0};
}

static void
an_outcome_that_is_none_is_a_failure_of_the_hook(void **state)
{
    struct desk *desk = *state;
    struct scene scene = {.entering = returns_nothing};
    run_one(desk, &scene, (owed_receiver){0});
    assert_text(desk, "select verdict from owed_attempt", "hook");
    char text[256];
    desk_text(desk, "select last_error from owed_delivery", text);
    assert_non_null(strstr(text, "the around hook returned no outcome"));
}

static owed_outcome
begins(struct scene *scene, owed_delivery *delivery)
{
    (void)delivery;
    owed_tx *tx = NULL;
    assert_ok(owed_begin(scene->desk->f->owed, &tx, &scene->desk->f->err));
    raw_run(fixture_raw(tx), "insert into app (id) values (99)");
    return owed_done();
}

static void
a_transaction_that_it_opens_is_rolled_back_and_fails_the_attempt(void **state)
{
    struct desk *desk = *state;
    struct scene scene = {.entering = begins};
    run_one(desk, &scene, (owed_receiver){0});
    // It was entered, so it is left.
    assert_string_equal(scene.story, "enter told:hook leave");
    assert_int_equal(desk_written(desk, 99), 0);
    assert_text(desk, "select last_error from owed_delivery",
        "the around hook left a transaction open: it was rolled back, and the receiver did not run");
}

static owed_outcome
writes_by_itself(struct scene *scene, owed_delivery *delivery)
{
    begins(scene, delivery);
    assert_ok(owed_commit(scene->desk->f->owed->tx, &scene->desk->f->err));
    return owed_done();
}

static void
what_it_writes_by_itself_stays_when_the_receiver_fails(void **state)
{
    struct desk *desk = *state;
    struct scene scene = {.entering = writes_by_itself, .actor = {.acts = {[1] = runs_and_fails}}};
    run_one(desk, &scene, (owed_receiver){0});
    assert_int_equal(desk_written(desk, 99), 1);
    assert_int_equal(desk_written(desk, 1), 0);
}

/* --- leaving fails --- */

static owed_status
fails_to_leave(struct scene *scene, owed_error *err)
{
    (void)scene;
    snprintf(err->text, sizeof err->text, "the span was lost");
    return OWED_STORE;
}

static void
one_that_cannot_be_left_is_logged_and_changes_nothing(void **state)
{
    struct desk *desk = *state;
    struct scene scene = {.leaving = fails_to_leave};
    run_one(desk, &scene, (owed_receiver){0});
    assert_count(desk, "succeeded", 1);
    assert_true(desk_logged(desk,
        "level=error msg=\"leaving the around hook failed\" receiver=shop.stock delivery=1 "
        "error=\"the span was lost\""));
}

static owed_status
begins_in_leaving(struct scene *scene, owed_error *err)
{
    owed_tx *tx = NULL;
    return owed_begin(scene->desk->f->owed, &tx, err);
}

static void
a_transaction_that_leaving_opens_is_rolled_back_and_logged(void **state)
{
    struct desk *desk = *state;
    struct scene scene = {.leaving = begins_in_leaving};
    open_scene(desk, &scene, (owed_receiver){0});
    desk_fire_many(desk, 2);
    desk_once(desk);
    assert_count(desk, "succeeded", 2);
    assert_true(desk_logged(desk, "the around hook left a transaction open"));
}

/* --- what it never wraps --- */

static void
a_row_that_does_not_reach_its_receiver_is_not_wrapped(void **state)
{
    struct desk *desk = *state;
    struct scene scene = {0};
    open_scene(desk, &scene, (owed_receiver){0});
    desk_fire_many(desk, 3);
    raw_run(desk->f->raw,
        "update owed_event set payload = '{\"id\":\"seven\"}' where id = 1;"
        "update owed_delivery set losses = 10 where id = 2;"
        "update owed_event set recorded_at = moment(5) where id = 3;"
        "update owed_delivery set receiver_key = 'shop.gone' where id = 3");
    desk->settings.orphan_grace_us = -1;
    desk->settings.prune_us = -1; // so old an event would go
    for (int i = 0; i < 3; i++)
        desk_once(desk);
    assert_count(desk, "dead", 2);
    assert_count(desk, "orphaned", 1);
    assert_int_equal(scene.entered, 0);
}

static void
inline_and_on_commit_receivers_are_not_wrapped(void **state)
{
    struct desk *desk = *state;
    struct scene scene = {0};
    struct actor now = {.acts = {[1] = asks_for_nothing}};
    struct actor later = {.acts = {[1] = asks_for_nothing}};
    desk_receiver(desk, &now, (owed_receiver){.key = "shop.now", .mode = OWED_INLINE});
    desk_receiver(desk, &later, (owed_receiver){.key = "shop.later", .mode = OWED_ON_COMMIT});
    open_scene(desk, &scene, (owed_receiver){0});
    desk_fire(desk, 1);
    assert_int_equal(now.calls + later.calls, 2);
    assert_int_equal(scene.entered, 0);
}

/* --- recorded or not --- */

static owed_outcome
is_robbed_and_runs(struct actor *actor, owed_delivery *delivery, const order *order)
{
    tell(the_scene, "run");
    return is_robbed(actor, delivery, order);
}

static owed_outcome
is_robbed_and_asks_for_nothing(struct actor *actor, owed_delivery *delivery, const order *order)
{
    rob(actor->desk, owed_delivery_id(delivery));
    return asks_for_nothing(actor, delivery, order);
}

static void
a_lost_row_is_left_with_a_failure_that_says_so(void **state)
{
    struct desk *desk = *state;
    struct scene scene = {
        .actor = {.acts = {[1] = is_robbed_and_runs, [2] = is_robbed_and_asks_for_nothing}}};
    open_scene(desk, &scene, (owed_receiver){0});
    for (int64_t i = 1; i <= 2; i++) {
        desk_fire(desk, i);
        desk_once(desk);
        assert_int_equal(scene.left, i);
        assert_int_equal(scene.left_verdict, OWED_VERDICT_FAILED);
        assert_non_null(strstr(scene.left_text, "the outcome was not recorded"));
    }
    assert_false(desk_logged(desk, "delivery failed"));
}

static void
leave_sees_what_was_recorded_where_that_is_not_what_the_receiver_said(void **state)
{
    struct desk *desk = *state;
    struct scene scene = {.actor = {.acts = {[1] = writes_and_commits}}};
    run_one(desk, &scene, (owed_receiver){0});
    assert_string_equal(scene.status_at_leave, "failed");
    assert_int_equal(scene.left_verdict, OWED_VERDICT_FAILED);
    assert_non_null(strstr(scene.left_text, "ended the transaction it was handed"));
}

/* --- notes --- */

static owed_outcome
notes(struct scene *scene, owed_delivery *delivery)
{
    (void)scene;
    owed_delivery_note(delivery, "tenant", "first");
    owed_delivery_note(delivery, "tenant", "acme");
    owed_delivery_note(delivery, "trace id", "4 2");
    owed_delivery_note(delivery, "", "nothing");
    for (int i = 0; i < 40; i++) {
        char key[16];
        snprintf(key, sizeof key, "k%d", i);
        owed_delivery_note(delivery, key, NULL);
    }
    return owed_done();
}

static void
notes_stand_on_the_failure_line_of_their_own_attempt(void **state)
{
    struct desk *desk = *state;
    struct scene scene = {
        .entering = notes, .actor = {.acts = {[1] = runs_and_fails, [2] = runs_and_fails}}};
    open_scene(desk, &scene, (owed_receiver){0});
    desk_fire(desk, 1);
    desk_once(desk);
    assert_true(desk_logged(desk, "kind=failed now=failed tenant=acme trace_id=\"4 2\" k0=\"\""));
    assert_true(desk_logged(desk, "k13=\"\"\n"));
    scene.entering = NULL;
    desk_fire(desk, 2);
    desk_once(desk);
    assert_true(desk_logged(desk, "delivery=2 attempt=1 kind=failed now=failed\n"));
}

/* --- outside --- */

static void
outside_receivers_in_c_and_those_of_the_loop_are_wrapped_too(void **state)
{
    struct desk *desk = *state;
    struct scene scene = {.actor = {.acts = {[1] = asks_for_nothing}}};
    const owed_receiver sink = {.key = "shop.sink", .event = &order_placed, .discard = true};
    fixture_receiver(desk->f, sink);
    open_scene(desk, &scene, (owed_receiver){.outside = true});
    desk_fire(desk, 1);
    desk_once(desk);
    assert_count(desk, "succeeded", 2);
    assert_int_equal(scene.entered, 2);
    assert_int_equal(scene.left, 2);
    assert_int_equal(scene.left_verdict, OWED_VERDICT_DONE);
    assert_false(scene.had_transaction);
}

static void
one_of_the_loop_does_not_start_where_the_hook_fails(void **state)
{
    struct desk *desk = *state;
    struct scene scene = {.entering = fails_to_enter};
    const owed_receiver file = {
        .key = "shop.file", .event = &order_shipped, .file = "/nowhere/at/all"};
    fixture_receiver(desk->f, file);
    open_scene(desk, &scene, (owed_receiver){0});
    fixture_begin(desk->f);
    fixture_fire(desk->f, &order_shipped, 1);
    fixture_commit(desk->f);
    desk_once(desk);
    assert_text(desk, "select last_error from owed_delivery", "no such tenant");
    assert_text(desk, "select verdict from owed_attempt", "hook");
}

static void
in_a_transaction_of_the_callers_own_it_is_entered_and_left_all_the_same(void **state)
{
    struct desk *desk = *state;
    struct scene scene = {.actor = {.acts = {[2] = runs_and_fails}}};
    open_scene(desk, &scene, (owed_receiver){.max_attempts = 1});
    fixture_begin(desk->f);
    fixture_fire(desk->f, &order_placed, 1);
    fixture_fire(desk->f, &order_placed, 2);
    owed_relay_counts counts = {0};
    assert_ok(owed_drain(desk->f->owed, 0, &counts, &desk->f->err));
    assert_string_equal(scene.story, "enter run leave enter run told:failed leave");
    assert_int_equal(counts.succeeded + counts.dead, 2);
    assert_false(scene.had_transaction);
    assert_false(desk_logged(desk, "left a transaction open"));
    owed_rollback(desk->f->tx);
    assert_int_equal(fixture_rows(desk->f), 0);
    assert_int_equal(fixture_events(desk->f), 0);
}

/* --- setting it --- */

static void
a_registry_may_bring_one_and_the_handles_own_goes_before_it(void **state)
{
    struct desk *desk = *state;
    struct scene scene = {0};
    struct scene own = {.desk = desk};
    const owed_around around = {enter, leave, &scene};
    assert_ok(owed_registry_set_around(desk->f->registry, &around, &desk->f->err));
    open_scene(desk, &scene, (owed_receiver){0});
    assert_ok(owed_set_around(desk->f->owed, NULL, &desk->f->err));
    desk_fire(desk, 1);
    desk_once(desk);
    assert_int_equal(scene.left, 1);
    const owed_around second = {enter, leave, &own};
    assert_ok(owed_set_around(desk->f->owed, &second, &desk->f->err));
    desk_fire(desk, 2);
    desk_once(desk);
    assert_int_equal(scene.left, 1);
    assert_int_equal(own.left, 1);
}

static void
one_that_cannot_be_entered_at_all_is_refused(void **state)
{
    struct desk *desk = *state;
    fixture_open(desk->f);
    const owed_around around = {NULL, leave, NULL};
    assert_status(OWED_INVALID, owed_set_around(desk->f->owed, &around, &desk->f->err));
    assert_says(desk->f->err, "has no function to enter");
    assert_status(
        OWED_INVALID, owed_registry_set_around(desk->f->registry, &around, &desk->f->err));
}

static void
leave_may_be_left_out(void **state)
{
    struct desk *desk = *state;
    struct scene scene = {0};
    open_scene(desk, &scene, (owed_receiver){0});
    const owed_around around = {enter, NULL, &scene};
    assert_ok(owed_set_around(desk->f->owed, &around, &desk->f->err));
    desk_fire(desk, 1);
    desk_once(desk);
    assert_string_equal(scene.story, "enter run");
    assert_count(desk, "succeeded", 1);
}

int
main(void)
{
#define DESK_TEST(name) cmocka_unit_test_setup_teardown(name, desk_setup, desk_teardown)
    const struct CMUnitTest tests[] = {
        DESK_TEST(it_is_entered_before_the_receiver_and_left_after_the_record),
        DESK_TEST(it_is_entered_and_left_outside_any_transaction),
        DESK_TEST(leave_sees_the_failure_and_its_text_and_comes_after_on_failure),
        DESK_TEST(each_attempt_is_wrapped_once),
        DESK_TEST(with_a_hook_no_two_receivers_share_a_transaction),
        DESK_TEST(it_is_read_at_each_delivery),
        DESK_TEST(one_that_cannot_be_entered_fails_the_attempt_and_the_receiver_does_not_run),
        DESK_TEST(permanent_and_retry_after_keep_their_meaning),
        DESK_TEST(not_yet_keeps_its_meaning_and_on_failure_is_not_told),
        DESK_TEST(leave_sees_not_yet_with_its_text),
        DESK_TEST(an_outcome_that_is_none_is_a_failure_of_the_hook),
        DESK_TEST(a_transaction_that_it_opens_is_rolled_back_and_fails_the_attempt),
        DESK_TEST(what_it_writes_by_itself_stays_when_the_receiver_fails),
        DESK_TEST(one_that_cannot_be_left_is_logged_and_changes_nothing),
        DESK_TEST(a_transaction_that_leaving_opens_is_rolled_back_and_logged),
        DESK_TEST(a_row_that_does_not_reach_its_receiver_is_not_wrapped),
        DESK_TEST(inline_and_on_commit_receivers_are_not_wrapped),
        DESK_TEST(a_lost_row_is_left_with_a_failure_that_says_so),
        DESK_TEST(leave_sees_what_was_recorded_where_that_is_not_what_the_receiver_said),
        DESK_TEST(notes_stand_on_the_failure_line_of_their_own_attempt),
        DESK_TEST(outside_receivers_in_c_and_those_of_the_loop_are_wrapped_too),
        DESK_TEST(one_of_the_loop_does_not_start_where_the_hook_fails),
        DESK_TEST(in_a_transaction_of_the_callers_own_it_is_entered_and_left_all_the_same),
        DESK_TEST(a_registry_may_bring_one_and_the_handles_own_goes_before_it),
        DESK_TEST(one_that_cannot_be_entered_at_all_is_refused),
        DESK_TEST(leave_may_be_left_out),
    };
    return RUN_ON_ALL_STORES("the hook around an attempt", tests);
}
