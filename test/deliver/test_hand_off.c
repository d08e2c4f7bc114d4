/* SPDX-License-Identifier: MIT
 *
 * test_hand_off.c - what is for a task site leaves the relay with its claim, and is never run there.
 */
#include "site.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/moment.h"

#define LEASE OWED_MINUTES(5)

/* --- the message --- */

static void
a_delivery_for_a_task_site_is_handed_on_with_its_claim(void **state)
{
    struct site *site = *state;
    site_open(site, (owed_receiver){0});
    desk_fire_many(site->desk, 3);
    site_once(site);
    assert_int_equal(site->actor.calls, 0);
    assert_int_equal(site_handed_on(site), 3);
    assert_count(site->desk, "claimed", 3);
    for (size_t i = 0; i < 3; i++) {
        const owed_test_message *said = owed_test_queue_message(site->queue, i);
        char sql[300];
        snprintf(sql, sizeof sql,
            "select count(*) from owed_delivery where id = %" PRId64 " and claimed_by = '%s' and "
            "micros(claimed_at) = %" PRId64 " and kind = 'task' and attempts = 0",
            said->delivery_id, said->claimed_by, said->claimed_at_us);
        assert_int_equal(desk_number(site->desk, sql), 1);
        assert_non_null(strstr(said->claimed_by, "/task"));
    }
    const owed_relay_counts *counts = &site->desk->counts;
    assert_int_equal(counts->succeeded + counts->failed + counts->dead + counts->handed_back, 0);
    assert_int_equal(counts->handed_on, 3);
    // It is held: no relay hands it on twice within its lease.
    site_once(site);
    assert_int_equal(site_handed_on(site), 3);
}

static void
is_slow(struct site *site)
{
    site->desk->f->now_us += LEASE * 3 / 4;
}

static void
every_row_has_its_full_lease_when_it_is_handed_on(void **state)
{
    struct site *site = *state;
    site_open(site, (owed_receiver){0});
    site->at_enqueue = is_slow;
    site->desk->settings.passes = 1;
    desk_fire_many(site->desk, 2);
    desk_run(site->desk);
    assert_int_equal(site->enqueued, 2);
    assert_int_equal(site->lease_left_us[0], LEASE);
    assert_int_equal(site->lease_left_us[1], LEASE);
}

static void
the_lease_is_the_receivers_own(void **state)
{
    struct site *site = *state;
    site_open(site, (owed_receiver){.lease_us = OWED_HOURS(2)});
    desk_fire(site->desk, 1);
    site_once(site);
    assert_int_equal(site->lease_left_us[0], OWED_HOURS(2));
}

static void
robs_the_next(struct site *site)
{
    const owed_test_message *first = owed_test_queue_message(site->queue, 0);
    if (first == NULL)
        rob(site->desk, desk_number(site->desk, "select max(id) from owed_delivery"));
}

static void
a_row_that_was_lost_is_not_handed_on(void **state)
{
    struct site *site = *state;
    site_open(site, (owed_receiver){0});
    site->at_enqueue = robs_the_next;
    desk_fire_many(site->desk, 2);
    site_once(site);
    assert_int_equal(site->enqueued, 1);
    assert_true(desk_logged(site->desk, "row lost before it ran"));
    assert_text(site->desk, "select claimed_by from owed_delivery order by id desc", "thief");
}

static void
gives_back_the_next(struct site *site)
{
    if (site->enqueued == 1)
        raw_run(site->desk->f->raw,
            "update owed_delivery set lease_expires_at = moment(0) where id = 2");
}

static void
a_row_that_was_handed_back_is_not_handed_on_under_the_old_claim(void **state)
{
    struct site *site = *state;
    site_open(site, (owed_receiver){0});
    site->at_enqueue = gives_back_the_next;
    site->desk->settings.passes = 1;
    desk_fire_many(site->desk, 2);
    desk_run(site->desk);
    assert_int_equal(site->enqueued, 1);
    assert_true(desk_logged(site->desk, "row lost before it ran"));
}

static void
other_receivers_run_here_beside_it(void **state)
{
    struct site *site = *state;
    struct actor stock = {0};
    desk_receiver(site->desk, &stock, (owed_receiver){.key = "shop.stock"});
    site_open(site, (owed_receiver){0});
    desk_fire_many(site->desk, 2);
    site_once(site);
    assert_int_equal(stock.calls, 2);
    assert_int_equal(site->actor.calls, 0);
    assert_int_equal(site_handed_on(site), 2);
}

static owed_status
name_two(owed_delivery *delivery, const void *payload, owed_target_list *list, owed_error *err)
{
    (void)delivery;
    (void)payload;
    owed_status status = owed_target_add(list, "anna", err);
    return status == OWED_OK ? owed_target_add(list, "bert", err) : status;
}

static void
each_target_is_handed_on_by_itself(void **state)
{
    struct site *site = *state;
    site_open(site, (owed_receiver){.targets = name_two});
    desk_fire(site->desk, 1);
    raw_fire(site->desk->f->raw, "shop.OrderPlaced", "{\"id\":2,\"cents\":1}");
    site->desk->f->now_us = INT64_C(8000000000) * 1000000; // SQL has a clock of its own
    site_once(site);
    assert_int_equal(site_handed_on(site), 4);
    assert_int_equal(site_run(site).succeeded, 4);
    assert_int_equal(site->actor.calls, 4);
}

static void
a_receiver_that_moves_to_a_task_site_takes_along_what_it_is_owed(void **state)
{
    struct site *site = *state;
    struct fixture *f = site->desk->f;
    struct actor here = {0};
    desk_receiver(site->desk, &here, (owed_receiver){.key = SITE_KEY});
    fixture_open(f);
    desk_fire(site->desk, 1);
    owed_close(f->owed);
    owed_registry_free(f->registry);
    assert_ok(owed_registry_new("shop", &f->registry, &f->err));
    site_open(site, (owed_receiver){0});
    site_once(site);
    assert_int_equal(here.calls, 0);
    assert_int_equal(site_run(site).succeeded, 1);
}

/* --- a backend that fails --- */

static void
without_a_backend_those_rows_alone_fail_and_no_attempt_is_spent(void **state)
{
    struct site *site = *state;
    struct actor stock = {0};
    desk_receiver(site->desk, &stock, (owed_receiver){.key = "shop.stock"});
    site_open(site, (owed_receiver){0});
    assert_ok(owed_set_task_backend(site->desk->f->owed, NULL, &site->desk->f->err));
    desk_fire_many(site->desk, 3);
    site_once(site);
    assert_int_equal(stock.calls, 3);
    assert_int_equal(site->actor.calls, 0); // never quietly here
    assert_count(site->desk, "succeeded", 3);
    assert_count(site->desk, "failed", 1);
    assert_count(site->desk, "claimed", 2); // handed back
    assert_int_equal(
        desk_number(site->desk, "select micros(max(lease_expires_at)) from owed_delivery"), 0);
    assert_text(site->desk, "select last_error from owed_delivery where status = 'failed'",
        "it could not be handed to its task site: receiver shop.receipt runs at a task site and no "
        "task backend is configured here; task-queue in owed.conf, or one set with "
        "owed_set_task_backend, or by a module, is right");
    assert_int_equal(desk_number(site->desk,
                         "select max(attempts) from owed_delivery where kind "
                         "= 'task'"),
        0);
    assert_int_equal(desk_number(site->desk, "select count(*) from owed_attempt"), 0);
    assert_int_equal(site->desk->counts.failed, 0);
    assert_true(
        desk_logged(site->desk, "level=error msg=\"delivery not handed to its task site\""));
}

static void
note_failure(owed *handle, const owed_failure *failure, void *state)
{
    (void)handle;
    (void)failure;
    ++*(int *)((struct actor *)state)->state;
}

static void
a_hand_off_that_fails_is_no_failure_of_the_receiver(void **state)
{
    struct site *site = *state;
    int told = 0;
    site->actor.state = &told;
    site_open(site, (owed_receiver){.on_failure = note_failure, .max_attempts = 1});
    owed_test_queue_refuse(site->queue, "the broker is away");
    desk_fire(site->desk, 1);
    for (int i = 0; i < 3; i++) {
        site_once(site);
        site->desk->f->now_us += OWED_MINUTES(1);
    }
    assert_int_equal(told, 0);
    assert_row(site, "failed 0 0");
    assert_text(site->desk, "select last_error from owed_delivery",
        "it could not be handed to its task site: the broker is away");
    owed_test_queue_refuse(site->queue, NULL);
    site_once(site);
    assert_int_equal(site_run(site).succeeded, 1);
    assert_row(site, "succeeded 1 0");
    assert_int_equal(told, 0);
}

static void
a_backend_that_refuses_is_left_alone_for_longer_each_time(void **state)
{
    struct site *site = *state;
    static const int64_t seconds[] = {1, 2, 4, 8, 15, 15};
    site_open(site, (owed_receiver){0});
    owed_test_queue_refuse(site->queue, "the broker is away");
    desk_fire_many(site->desk, 40);
    site->desk->settings.passes = 200;
    desk_run(site->desk);
    assert_in_range(site->enqueued, (sizeof seconds / sizeof seconds[0]) + 1, 39);
    for (size_t i = 0; i < (sizeof seconds / sizeof seconds[0]); i++) {
        int64_t rest_us = site->enqueued_at_us[i + 1] - site->enqueued_at_us[i];
        assert_in_range(rest_us, seconds[i] * US_PER_SECOND, (seconds[i] + 1) * US_PER_SECOND);
    }
}

static void
takes_again_from_the_third(struct site *site)
{
    owed_test_queue_refuse(site->queue, site->enqueued < 3 ? "the broker is away" : NULL);
}

static void
once_it_takes_again_everything_is_handed_on_at_once(void **state)
{
    struct site *site = *state;
    site_open(site, (owed_receiver){0});
    site->at_enqueue = takes_again_from_the_third;
    desk_fire_many(site->desk, 20);
    site->desk->settings.passes = 40;
    desk_run(site->desk);
    assert_int_equal(site_handed_on(site), 20);
    assert_int_equal(site->enqueued, 22);
    assert_true(desk_logged(site->desk, "\"the task site takes deliveries again\" failures=2"));
    assert_int_equal(site_run(site).succeeded, 20);
}

/* What the relay's row says while it is asked, again and again. */
#define LOOKS 4
static char away_said[LOOKS][256];

static void
reads_who_is_away(struct site *site)
{
    int place = site->enqueued - 1;
    if (place < LOOKS)
        desk_text(site->desk, "select away from owed_relay", away_said[place]);
    takes_again_from_the_third(site);
}

static void
while_it_refuses_the_relays_row_says_so_and_since_when(void **state)
{
    struct site *site = *state;
    site_open(site, (owed_receiver){0});
    site->at_enqueue = reads_who_is_away;
    desk_fire_many(site->desk, 3);
    site->desk->settings.batch_size = 1;
    site->desk->settings.passes = 40;
    desk_run(site->desk);
    char since[MOMENT_BYTES], expected[256];
    snprintf(expected, sizeof expected, "the task site since %s: the broker is away",
        moment_write(site->enqueued_at_us[0], since));
    assert_string_equal(away_said[0], "");
    assert_string_equal(away_said[1], expected);
    assert_string_equal(away_said[2], expected);
    assert_string_equal(away_said[3], "");
}

static void
refuses_the_first(struct site *site)
{
    owed_test_queue_refuse(site->queue, site->enqueued == 1 ? "the broker is away" : NULL);
}

static void
what_waits_behind_a_refusal_keeps_its_place(void **state)
{
    struct site *site = *state;
    site_open(site, (owed_receiver){0});
    site->at_enqueue = refuses_the_first;
    desk_fire_many(site->desk, 3);
    site->desk->settings.passes = 10;
    desk_run(site->desk);
    site_run(site);
    assert_int_equal(site->actor.calls, 3);
    assert_int_equal(site->actor.orders[0], 2);
    assert_int_equal(site->actor.orders[1], 3);
    assert_int_equal(site->actor.orders[2], 1); // it came due again last
    assert_int_equal(desk_number(site->desk, "select max(losses) from owed_delivery"), 0);
}

/* --- many at once --- */

/* What a backend that takes many is to answer, and what it was asked. */
struct many {
    struct site *site;
    size_t kept; // of each call
    owed_status status;
    const char *why;
    bool begins; // and leaves a transaction open
    int calls;
    size_t counts[8]; // of messages, in each
};

static owed_status
enqueue_many(void *state, owed_task_message *messages, size_t count, owed_error *err)
{
    struct many *many = state;
    struct site *site = many->site;
    many->counts[many->calls++ % 8] = count;
    if (many->begins)
        assert_ok(owed_begin(site->desk->f->owed, &site->desk->f->tx, &site->desk->f->err));
    for (size_t i = 0; i < count && i < many->kept; i++) {
        owed_task_message *m = &messages[i];
        owed_task_backend one = owed_test_queue_backend(site->queue);
        char sql[100];
        snprintf(sql, sizeof sql,
            "select micros(lease_expires_at) from owed_delivery where id = %" PRId64,
            m->delivery_id);
        site->lease_left_us[i] =
            many->begins ? 0 : desk_number(site->desk, sql) - site->desk->f->now_us;
        assert_ok(one.enqueue(one.state, m->delivery_id, m->claimed_by, m->claimed_at_us, err));
        m->is_kept = true;
    }
    if (many->why != NULL)
        snprintf(err->text, sizeof err->text, "%s", many->why);
    return many->status;
}

static void
open_many(struct site *site, struct many *many)
{
    many->site = site;
    site_open(site, (owed_receiver){0});
    owed_task_backend backend = owed_test_queue_backend(site->queue);
    backend.state = many;
    backend.enqueue_many = enqueue_many;
    assert_ok(owed_set_task_backend(site->desk->f->owed, &backend, &site->desk->f->err));
}

static void
many_are_handed_on_in_one_go_each_under_its_full_lease(void **state)
{
    struct site *site = *state;
    struct many many = {.kept = 100};
    open_many(site, &many);
    desk_fire_many(site->desk, 60);
    site_once(site);
    assert_int_equal(many.calls, 1);
    assert_int_equal(many.counts[0], 60);
    for (int i = 0; i < 60; i++)
        assert_int_equal(site->lease_left_us[i], LEASE);
    assert_count(site->desk, "claimed", 60);
    assert_int_equal(site_run(site).succeeded, 60);
    assert_int_equal(site->actor.calls, 60);
}

static void
as_many_as_are_claimed_together_are_handed_on_together(void **state)
{
    struct site *site = *state;
    struct many many = {.kept = 100};
    open_many(site, &many);
    site->desk->settings.batch_size = 2;
    desk_fire_many(site->desk, 5);
    site_once(site);
    assert_int_equal(many.calls, 3);
    assert_int_equal(site_run(site).succeeded, 5);
}

static void
of_many_the_first_that_is_not_kept_says_why_and_the_others_keep_their_place(void **state)
{
    struct site *site = *state;
    struct many many = {.kept = 1, .status = OWED_UNAVAILABLE, .why = "the broker is away"};
    open_many(site, &many);
    desk_fire_many(site->desk, 4);
    site->desk->settings.passes = 1;
    desk_run(site->desk);
    assert_int_equal(many.calls, 1);
    assert_row(site, "claimed 0 -1");
    assert_count(site->desk, "failed", 1);
    assert_int_equal(desk_number(site->desk,
                         "select count(*) from owed_delivery where status = 'claimed' and "
                         "micros(lease_expires_at) = 0"),
        2);
    assert_text(site->desk, "select last_error from owed_delivery where status = 'failed'",
        "it could not be handed to its task site: the broker is away");
    assert_int_equal(site_run(site).succeeded, 1);
    many = (struct many){.site = site, .kept = 100};
    site->desk->settings.passes = 20;
    desk_run(site->desk);
    site_run(site);
    assert_count(site->desk, "succeeded", 4);
    assert_int_equal(site->actor.orders[1], 3);
    assert_int_equal(site->actor.orders[2], 4);
    assert_int_equal(site->actor.orders[3], 2); // it came due again last
    assert_int_equal(desk_number(site->desk, "select max(losses) from owed_delivery"), 0);
}

static void
a_backend_that_keeps_fewer_and_gives_no_reason_is_said_so(void **state)
{
    struct site *site = *state;
    struct many many = {.kept = 1};
    open_many(site, &many);
    desk_fire_many(site->desk, 2);
    site->desk->settings.passes = 1;
    desk_run(site->desk);
    assert_text(site->desk, "select last_error from owed_delivery where status = 'failed'",
        "it could not be handed to its task site: the task backend kept 1 of 2 messages, and gave no "
        "reason");
}

static void
of_many_none_is_kept_where_a_transaction_was_left_open(void **state)
{
    struct site *site = *state;
    struct many many = {.kept = 100, .begins = true};
    open_many(site, &many);
    desk_fire_many(site->desk, 2);
    site->desk->settings.passes = 1;
    desk_run(site->desk);
    assert_count(site->desk, "failed", 1);
    assert_text(site->desk, "select last_error from owed_delivery where status = 'failed'",
        "it could not be handed to its task site: the task backend left a transaction open: it was "
        "rolled back, and the message with it");
    assert_int_equal(
        site_run(site).succeeded, 1); // what was handed back is still held for its task
}

static void
begins(struct site *site)
{
    assert_ok(owed_begin(site->desk->f->owed, &site->desk->f->tx, &site->desk->f->err));
}

static void
a_backend_may_leave_no_transaction_open(void **state)
{
    struct site *site = *state;
    site_open(site, (owed_receiver){0});
    site->at_enqueue = begins;
    desk_fire(site->desk, 1);
    site_once(site);
    assert_false(store_in_transaction(site->desk->f->owed->db));
    assert_row(site, "failed 0 0");
    assert_text(site->desk, "select last_error from owed_delivery",
        "it could not be handed to its task site: the task backend left a transaction open: it was "
        "rolled back, and the message with it");
    // The message is out all the same; its claim is no longer the row's.
    assert_null(site_take(site, 0));
    assert_int_equal(site->actor.calls, 0);
}

static owed_status
says_nothing(void *state, int64_t id, const char *by, int64_t at_us, owed_error *err)
{
    (void)state;
    (void)id;
    (void)by;
    (void)at_us;
    (void)err;
    return OWED_LIMIT;
}

static void
a_backend_without_a_word_is_told_of_by_its_status(void **state)
{
    struct site *site = *state;
    site_open(site, (owed_receiver){0});
    const owed_task_backend silent = {.enqueue = says_nothing};
    assert_ok(owed_set_task_backend(site->desk->f->owed, &silent, &site->desk->f->err));
    desk_fire(site->desk, 1);
    site_once(site);
    assert_text(site->desk, "select last_error from owed_delivery",
        "it could not be handed to its task site: the task backend gave no reason (over a limit)");
}

static void
the_handles_backend_goes_before_its_registrys(void **state)
{
    struct site *site = *state;
    struct fixture *f = site->desk->f;
    owed_test_queue *second = NULL;
    assert_ok(owed_test_queue_new(&second, &f->err));
    const owed_task_backend none = {0};
    const owed_task_backend other = owed_test_queue_backend(second);
    assert_status(OWED_INVALID, owed_registry_set_task_backend(f->registry, &none, &f->err));
    assert_ok(owed_registry_set_task_backend(f->registry, &other, &f->err));
    site_open(site, (owed_receiver){0});
    assert_status(OWED_INVALID, owed_set_task_backend(f->owed, &none, &f->err));
    assert_says(f->err, "no function to enqueue");
    desk_fire(site->desk, 1);
    site_once(site);
    assert_int_equal(site_handed_on(site), 1);
    assert_ok(owed_set_task_backend(f->owed, NULL, &f->err));
    desk_fire(site->desk, 2);
    site_once(site);
    assert_int_equal(site_handed_on(site), 1);
    assert_int_equal(owed_test_queue_count(second), 1);
    assert_ok(owed_registry_set_task_backend(f->registry, NULL, &f->err));
    owed_test_queue_free(second);
}

/* --- what else a relay does --- */

static void
stops_it(struct site *site)
{
    owed_relay_stop(site->desk->f->owed);
}

static void
a_stop_hands_back_the_rest_and_not_what_was_handed_on(void **state)
{
    struct site *site = *state;
    site_open(site, (owed_receiver){0});
    site->at_enqueue = stops_it;
    desk_fire_many(site->desk, 3);
    desk_run(site->desk);
    assert_int_equal(site_handed_on(site), 1);
    assert_int_equal(site->desk->counts.handed_back, 2);
    assert_int_equal(desk_number(site->desk,
                         "select count(*) from owed_delivery where status = 'claimed' and "
                         "micros(lease_expires_at) = 0"),
        2);
    assert_string_equal(site_take(site, 0), "succeeded");
}

static void
who_clears_up_after_a_worker_leaves_alone_what_it_handed_on(void **state)
{
    struct site *site = *state;
    site_open(site, (owed_receiver){0});
    desk_fire(site->desk, 1);
    site_once(site);
    char worker[256];
    desk_text(site->desk, "select claimed_by from owed_delivery", worker);
    *strstr(worker, "/task") = '\0';
    int64_t given = 0;
    owed_error err = {0};
    assert_ok(store_hand_back_all(site->desk->f->other, worker, 0, &given, &err));
    assert_int_equal(given, 0);
    assert_ok(store_count_loss_all(site->desk->f->other, worker, &given, &err));
    assert_int_equal(given, 0);
    assert_string_equal(site_take(site, 0), "succeeded");
}

static void
a_limit_counts_what_is_handed_on(void **state)
{
    struct site *site = *state;
    site_open(site, (owed_receiver){0});
    desk_fire_many(site->desk, 5);
    site->desk->settings.limit = 2;
    desk_run(site->desk);
    assert_int_equal(site_handed_on(site), 2);
    assert_count(site->desk, "pending", 3);
}

static owed_outcome
defers(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)actor;
    (void)order;
    return owed_defer(delivery, 60, "busy");
}

static void
while_its_lane_is_paused_nothing_is_handed_on(void **state)
{
    struct site *site = *state;
    struct actor mail = {.acts = {[1] = defers}};
    desk_receiver(site->desk, &mail,
        (owed_receiver){.key = "shop.a_mail", .give_up_after_us = OWED_HOURS(1)});
    site_open(site, (owed_receiver){.due_us = OWED_SECONDS(2)});
    desk_fire(site->desk, 1);
    site->desk->settings.passes = 4;
    desk_run(site->desk);
    assert_int_equal(mail.calls, 1);
    assert_int_equal(site->enqueued, 0);
    site->desk->settings.passes = 200;
    desk_run(site->desk); // another relay knows of no pause
    assert_int_equal(site->enqueued, 1);
}

static void
a_pause_does_not_reach_what_was_handed_on(void **state)
{
    struct site *site = *state;
    struct actor mail = {.acts = {[1] = defers}};
    desk_receiver(site->desk, &mail,
        (owed_receiver){.key = "shop.a_mail", .give_up_after_us = OWED_HOURS(1)});
    site_open(site, (owed_receiver){0});
    desk_fire(site->desk, 1);
    site->desk->settings.passes = 3;
    desk_run(site->desk);
    assert_true(desk_logged(site->desk, "paused, since its destination asked for it"));
    assert_int_equal(site->enqueued, 1);
    assert_string_equal(site_take(site, 0), "succeeded");
}

static void
a_row_that_was_lost_too_often_ends_and_is_not_handed_on(void **state)
{
    struct site *site = *state;
    site_open(site, (owed_receiver){0});
    desk_fire(site->desk, 1);
    raw_run(site->desk->f->raw, "update owed_delivery set losses = 10");
    site_once(site);
    assert_int_equal(site->enqueued, 0);
    assert_row(site, "dead 0 0");
}

/* --- other ways of delivering --- */

static void
a_drain_hands_on_too_and_counts_nothing(void **state)
{
    struct site *site = *state;
    owed *handle = NULL;
    site_open(site, (owed_receiver){0});
    handle = site->desk->f->owed;
    desk_fire_many(site->desk, 3);
    owed_relay_counts counts = {0};
    assert_ok(owed_deliver_pending(
        handle, &(owed_pending_settings){.limit = 1}, &counts, &site->desk->f->err));
    assert_int_equal(site_handed_on(site), 1);
    assert_ok(owed_drain(handle, 0, &counts, &site->desk->f->err));
    assert_int_equal(site_handed_on(site), 3);
    assert_int_equal(site->actor.calls, 0);
    assert_int_equal(counts.succeeded + counts.failed + counts.dead + counts.handed_back, 0);
    assert_int_equal(site_run(site).succeeded, 3);
}

static owed_outcome
takes_long(struct actor *actor, owed_delivery *delivery, const order *order)
{
    actor->desk->f->now_us += OWED_MINUTES(1);
    return writes(actor, delivery, order);
}

static void
a_drain_ends_though_the_backend_refuses(void **state)
{
    struct site *site = *state;
    struct actor stock = {.acts = {[1] = takes_long}};
    desk_receiver(site->desk, &stock, (owed_receiver){.key = "shop.stock"});
    site_open(site, (owed_receiver){0});
    owed_test_queue_refuse(site->queue, "the broker is away");
    desk_fire_many(site->desk, 60);
    assert_ok(owed_drain(site->desk->f->owed, 0, NULL, &site->desk->f->err));
    assert_int_equal(site->enqueued, 1);
    assert_int_equal(stock.calls, 60);
    owed_test_queue_refuse(site->queue, NULL);
    assert_ok(owed_drain(site->desk->f->owed, 0, NULL, &site->desk->f->err));
    assert_int_equal(site_handed_on(site), 60);
}

static void
one_row_that_is_asked_for_by_its_id_runs_here(void **state)
{
    struct site *site = *state;
    site_open(site, (owed_receiver){0});
    desk_fire(site->desk, 1);
    const char *recorded = NULL;
    assert_ok(owed_deliver_one(site->desk->f->owed, 1, &recorded, &site->desk->f->err));
    assert_string_equal(recorded, "succeeded");
    assert_int_equal(site->actor.calls, 1);
    assert_int_equal(site->enqueued, 0);
}

static void
in_a_transaction_of_the_callers_it_is_left_and_said(void **state)
{
    struct site *site = *state;
    site_open(site, (owed_receiver){0});
    fixture_begin(site->desk->f);
    fixture_fire(site->desk->f, &order_placed, 1);
    assert_ok(owed_drain(site->desk->f->owed, 0, NULL, &site->desk->f->err));
    assert_int_equal(site->enqueued, 0);
    assert_true(desk_logged(site->desk, "receivers at a task site were left"));
    fixture_commit(site->desk->f);
    assert_ok(owed_drain(site->desk->f->owed, 0, NULL, &site->desk->f->err));
    assert_int_equal(site_handed_on(site), 1);
}

static void
what_is_eager_is_handed_on_by_who_fired_it_under_a_claim_of_its_own(void **state)
{
    struct site *site = *state;
    site_open(site, (owed_receiver){.eager = true});
    desk_fire(site->desk, 1);
    assert_int_equal(site->actor.calls, 0);
    assert_int_equal(site_handed_on(site), 1);
    assert_int_equal(desk_number(site->desk,
                         "select count(*) from owed_delivery where claimed_by "
                         "like 'eager.________/task'"),
        1);
    assert_int_equal(site->lease_left_us[0], LEASE);
    site_once(site);
    assert_int_equal(site->enqueued, 1);
    assert_string_equal(site_take(site, 0), "succeeded");
}

static void
what_is_eager_is_left_to_a_relay_where_nobody_here_can_hand_it_on(void **state)
{
    struct site *site = *state;
    site_open(site, (owed_receiver){.eager = true});
    assert_ok(owed_set_task_backend(site->desk->f->owed, NULL, &site->desk->f->err));
    desk_fire(site->desk, 1);
    assert_int_equal(site->actor.calls, 0);
    assert_row(site, "pending 0 0");
}

static void
an_eager_hand_off_that_is_refused_is_owed_to_a_relay(void **state)
{
    struct site *site = *state;
    site_open(site, (owed_receiver){.eager = true});
    owed_test_queue_refuse(site->queue, "the broker is away");
    desk_fire(site->desk, 1);
    assert_row(site, "failed 0 0");
    owed_test_queue_refuse(site->queue, NULL);
    site->desk->f->now_us += OWED_SECONDS(1);
    site_once(site);
    assert_int_equal(site_run(site).succeeded, 1);
}

int
main(void)
{
#define TEST(name_) cmocka_unit_test_setup_teardown(name_, site_setup, site_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_delivery_for_a_task_site_is_handed_on_with_its_claim),
        TEST(every_row_has_its_full_lease_when_it_is_handed_on),
        TEST(the_lease_is_the_receivers_own),
        TEST(a_row_that_was_lost_is_not_handed_on),
        TEST(a_row_that_was_handed_back_is_not_handed_on_under_the_old_claim),
        TEST(other_receivers_run_here_beside_it),
        TEST(each_target_is_handed_on_by_itself),
        TEST(a_receiver_that_moves_to_a_task_site_takes_along_what_it_is_owed),
        TEST(without_a_backend_those_rows_alone_fail_and_no_attempt_is_spent),
        TEST(a_hand_off_that_fails_is_no_failure_of_the_receiver),
        TEST(a_backend_that_refuses_is_left_alone_for_longer_each_time),
        TEST(once_it_takes_again_everything_is_handed_on_at_once),
        TEST(while_it_refuses_the_relays_row_says_so_and_since_when),
        TEST(what_waits_behind_a_refusal_keeps_its_place),
        TEST(many_are_handed_on_in_one_go_each_under_its_full_lease),
        TEST(as_many_as_are_claimed_together_are_handed_on_together),
        TEST(of_many_the_first_that_is_not_kept_says_why_and_the_others_keep_their_place),
        TEST(a_backend_that_keeps_fewer_and_gives_no_reason_is_said_so),
        TEST(of_many_none_is_kept_where_a_transaction_was_left_open),
        TEST(a_backend_may_leave_no_transaction_open),
        TEST(a_backend_without_a_word_is_told_of_by_its_status),
        TEST(the_handles_backend_goes_before_its_registrys),
        TEST(a_stop_hands_back_the_rest_and_not_what_was_handed_on),
        TEST(who_clears_up_after_a_worker_leaves_alone_what_it_handed_on),
        TEST(a_limit_counts_what_is_handed_on),
        TEST(while_its_lane_is_paused_nothing_is_handed_on),
        TEST(a_pause_does_not_reach_what_was_handed_on),
        TEST(a_row_that_was_lost_too_often_ends_and_is_not_handed_on),
        TEST(a_drain_hands_on_too_and_counts_nothing),
        TEST(a_drain_ends_though_the_backend_refuses),
        TEST(one_row_that_is_asked_for_by_its_id_runs_here),
        TEST(in_a_transaction_of_the_callers_it_is_left_and_said),
        TEST(what_is_eager_is_handed_on_by_who_fired_it_under_a_claim_of_its_own),
        TEST(what_is_eager_is_left_to_a_relay_where_nobody_here_can_hand_it_on),
        TEST(an_eager_hand_off_that_is_refused_is_owed_to_a_relay),
    };
    return RUN_ON_ALL_STORES("hand off", tests);
}
