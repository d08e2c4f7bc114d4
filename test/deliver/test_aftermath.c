/* SPDX-License-Identifier: MIT
 *
 * test_aftermath.c - a worker died: the next one in its slot makes good what it left, first of all.
 * And what a worker tells its supervisor while it lives.
 */
#include "desk.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"

static const owed_receiver stock = {.key = "shop.stock"};

struct post {
    struct desk *desk;
    struct shared *shared;
    struct slot *slot;
    int fd;
    struct actor actor;
};

static int
post_setup(void **state)
{
    static struct post post;
    post = (struct post){.fd = -1};
    void *desk = NULL;
    if (desk_setup(&desk) != 0)
        return -1;
    post.desk = desk;
    owed_dice dice = dice_seeded(&post.desk->f->seed);
    assert_ok(shared_new("packer", &dice, &post.shared, &post.fd, &post.desk->f->err));
    post.shared->slot_count = 1;
    post.slot = &post.shared->slots[0];
    post.slot->role = ROLE_INSIDE;
    atomic_store(&post.shared->limit_left, -1);
    post.desk->seat.shared = post.shared;
    post.desk->seat.role = ROLE_INSIDE;
    *state = &post;
    return 0;
}

static int
post_teardown(void **state)
{
    struct post *post = *state;
    shared_free(post->shared);
    close(post->fd);
    void *desk = post->desk;
    return desk_teardown(&desk);
}

/* What on_failure was told last. */
static struct {
    int calls;
    int64_t delivery_id;
    int32_t attempt;
    char event_name[64], kind[16], error[128];
} heard;

static void
hears(owed *handle, const owed_failure *failure, void *state)
{
    (void)handle;
    (void)state;
    heard.calls++;
    heard.delivery_id = failure->delivery_id;
    heard.attempt = failure->attempt;
    snprintf(heard.event_name, sizeof heard.event_name, "%s", failure->event_name);
    snprintf(heard.kind, sizeof heard.kind, "%s", failure->kind);
    snprintf(heard.error, sizeof heard.error, "%s", failure->error);
}

/* dies has a worker of this slot hold all orders, with the first in hand. */
static void
dies(struct post *post, int64_t orders, enum phase phase, struct death death)
{
    struct desk *desk = post->desk;
    desk_receiver(desk, &post->actor,
        (owed_receiver){.key = "shop.stock", .timeout_us = OWED_SECONDS(30), .on_failure = hears});
    fixture_open(desk->f);
    desk_fire_many(desk, orders);
    char sql[300];
    snprintf(sql, sizeof sql,
        "update owed_delivery set status = 'claimed', claimed_by = '%s/0', claimed_at = moment(5), "
        "lease_expires_at = moment(%" PRId64 ")",
        post->shared->instance, FIXTURE_NOW_US + OWED_MINUTES(5));
    raw_run(desk->f->raw, sql);
    const struct in_hand hand = {
        .delivery_id = desk_number(desk, "select min(id) from owed_delivery"),
        .claimed_at_us = 5,
        .started_at_us = FIXTURE_NOW_US - OWED_SECONDS(2),
        .timeout_us = OWED_SECONDS(30),
        .attempt = 1,
        .receiver_key = "shop.stock",
    };
    slot_begin(post->shared, 0, &hand);
    slot_phase(post->shared, 0, phase);
    post->slot->death = death;
}

/* next_worker only makes good: a stop has been asked for. */
static void
next_worker(struct post *post)
{
    atomic_store(&post->shared->stop, 1);
    desk_run(post->desk);
    assert_int_equal(post->slot->death.cause, DEATH_NONE);
    assert_int_equal(atomic_load(&post->slot->phase), PHASE_IDLE);
    assert_int_equal(post->actor.calls, 0);
}

static void
assert_free(struct post *post, int64_t expected)
{
    assert_int_equal(desk_number(post->desk,
                         "select count(*) from owed_delivery where status = "
                         "'claimed' and lease_expires_at = moment(0)"),
        expected);
}

/* A server that keeps sessions. */
static struct {
    struct driver driver;
    char ended[64];
    int64_t failed_when_it_ended; // deliveries that the dead one's end had been recorded for
    struct desk *desk;
} server;

static const char *
our_session(struct db *db)
{
    (void)db;
    return "4712/9";
}

static owed_status
end_session(struct db *db, const char *session, owed_error *err)
{
    (void)db;
    (void)err;
    snprintf(server.ended, sizeof server.ended, "%s", session);
    server.failed_when_it_ended = desk_count(server.desk, "failed");
    return OWED_OK;
}

static void
the_dead_ones_session_ends_before_anything_is_recorded(void **state)
{
    struct post *post = *state;
    dies(post, 2, PHASE_RUNNING, (struct death){.cause = DEATH_ITSELF, .signal = SIGSEGV});
    struct db *db = post->desk->f->owed->db;
    server.driver = *db->driver;
    server.driver.session = our_session;
    server.driver.end_session = end_session;
    server.desk = post->desk;
    db->driver = &server.driver;
    snprintf(post->slot->session, sizeof post->slot->session, "4711/8");
    next_worker(post);
    assert_string_equal(server.ended, "4711/8");
    assert_int_equal(server.failed_when_it_ended, 0);
    assert_count(post->desk, "failed", 1);
    // Whoever comes next finds ours.
    assert_string_equal(post->slot->session, "4712/9");
}

static void
the_sessions_of_its_threads_end_as_well(void **state)
{
    struct post *post = *state;
    dies(post, 2, PHASE_RUNNING, (struct death){.cause = DEATH_ITSELF, .signal = SIGKILL});
    struct db *db = post->desk->f->owed->db;
    server.driver = *db->driver;
    server.driver.end_session = end_session;
    server.desk = post->desk;
    db->driver = &server.driver;
    for (int which = 0; which < THREAD_SESSIONS; which++) {
        char *noted = post->slot->thread_sessions[which];
        snprintf(noted, SHARED_SESSION_BYTES, "4711/%d", which);
        server.ended[0] = '\0';
        next_worker(post);
        char expected[64];
        snprintf(expected, sizeof expected, "4711/%d", which);
        assert_string_equal(server.ended, expected);
        assert_string_equal(noted, "");
    }
}

static void
a_crash_is_a_failed_attempt_that_names_the_signal_and_the_rest_is_free(void **state)
{
    struct post *post = *state;
    struct desk *desk = post->desk;
    dies(post, 3, PHASE_RUNNING, (struct death){.cause = DEATH_ITSELF, .signal = SIGSEGV});
    next_worker(post);
    assert_count(desk, "failed", 1);
    assert_text(desk, "select last_error from owed_delivery where status = 'failed'",
        "the worker running it died: SIGSEGV");
    assert_text(desk, "select verdict from owed_attempt", "died");
    assert_int_equal(desk_number(desk, "select code from owed_attempt"), -SIGSEGV);
    assert_int_equal(desk_number(desk, "select duration from owed_attempt"), OWED_SECONDS(2));
    assert_int_equal(desk_number(desk, "select sum(attempts) from owed_delivery"), 1);
    assert_int_equal(desk_number(desk, "select sum(losses) from owed_delivery"), 0);
    assert_free(post, 2);
    assert_true(desk_logged(desk, "receiver=shop.stock delivery=1 attempt=1 kind=died now=failed"));
}

static void
on_failure_is_told_of_a_crash_by_the_next_worker(void **state)
{
    struct post *post = *state;
    heard.calls = 0;
    dies(post, 3, PHASE_RUNNING, (struct death){.cause = DEATH_ITSELF, .signal = SIGSEGV});
    next_worker(post);
    assert_int_equal(heard.calls, 1);
    assert_int_equal(
        heard.delivery_id, desk_number(post->desk, "select min(id) from owed_delivery"));
    assert_int_equal(heard.attempt, 1);
    assert_string_equal(heard.event_name, "shop.OrderPlaced");
    assert_string_equal(heard.kind, "died");
    assert_string_equal(heard.error, "the worker running it died: SIGSEGV");
}

static void
on_failure_is_not_told_of_a_loss(void **state)
{
    struct post *post = *state;
    heard.calls = 0;
    dies(post, 1, PHASE_RUNNING, (struct death){.cause = DEATH_ITSELF, .signal = SIGKILL});
    next_worker(post);
    assert_int_equal(heard.calls, 0);
}

static void
the_last_attempt_of_one_that_crashes_ends_it(void **state)
{
    struct post *post = *state;
    dies(post, 1, PHASE_RUNNING, (struct death){.cause = DEATH_ITSELF, .signal = SIGABRT});
    raw_run(post->desk->f->raw, "update owed_delivery set attempts = 4");
    next_worker(post);
    assert_count(post->desk, "dead", 1);
    assert_int_equal(atomic_load(&post->shared->dead), 1);
}

static void
a_receiver_that_calls_exit_has_failed_too(void **state)
{
    struct post *post = *state;
    dies(post, 1, PHASE_RUNNING, (struct death){.cause = DEATH_ITSELF, .exit_status = 3});
    next_worker(post);
    assert_text(post->desk, "select last_error from owed_delivery",
        "the worker running it died: it exited with status 3");
}

static void
one_that_ran_past_its_timeout_has_failed_too(void **state)
{
    struct post *post = *state;
    dies(post, 2, PHASE_RUNNING, (struct death){.cause = DEATH_TIMEOUT, .signal = SIGKILL});
    next_worker(post);
    assert_text(post->desk, "select last_error from owed_delivery where status = 'failed'",
        "still running after 30s: the worker was killed");
    assert_free(post, 1);
}

static void
a_kill_from_outside_is_a_loss_and_no_attempt(void **state)
{
    struct post *post = *state;
    struct desk *desk = post->desk;
    dies(post, 3, PHASE_RUNNING, (struct death){.cause = DEATH_ITSELF, .signal = SIGKILL});
    next_worker(post);
    assert_int_equal(desk_number(desk, "select sum(attempts) from owed_delivery"), 0);
    assert_int_equal(desk_number(desk, "select losses from owed_delivery order by id"), 1);
    assert_int_equal(desk_number(desk, "select sum(losses) from owed_delivery"), 1);
    assert_free(post, 3);
}

static void
a_death_while_the_outcome_was_written_blames_no_receiver(void **state)
{
    struct post *post = *state;
    dies(post, 2, PHASE_ACKNOWLEDGING, (struct death){.cause = DEATH_ITSELF, .signal = SIGSEGV});
    next_worker(post);
    assert_int_equal(desk_number(post->desk, "select sum(attempts) from owed_delivery"), 0);
    assert_free(post, 2);
}

static void
a_worker_that_was_called_off_costs_nothing(void **state)
{
    struct post *post = *state;
    dies(post, 2, PHASE_RUNNING, (struct death){.cause = DEATH_CALLED_OFF, .signal = SIGKILL});
    next_worker(post);
    assert_int_equal(
        desk_number(post->desk, "select sum(attempts) + sum(losses) from owed_delivery"), 0);
    assert_free(post, 2);
}

static void
a_crash_over_nobody_knows_which_row_is_a_loss_of_each(void **state)
{
    struct post *post = *state;
    dies(post, 2, PHASE_IDLE, (struct death){.cause = DEATH_ITSELF, .signal = SIGSEGV});
    next_worker(post);
    assert_int_equal(desk_number(post->desk, "select sum(attempts) from owed_delivery"), 0);
    assert_int_equal(desk_number(post->desk, "select min(losses) from owed_delivery"), 1);
    assert_int_equal(desk_number(post->desk, "select max(losses) from owed_delivery"), 1);
    assert_free(post, 2);
}

static void
a_kill_of_one_with_nothing_in_hand_leaves_its_batch_to_others(void **state)
{
    struct post *post = *state;
    dies(post, 2, PHASE_IDLE, (struct death){.cause = DEATH_ITSELF, .signal = SIGKILL});
    next_worker(post);
    assert_int_equal(
        desk_number(post->desk, "select sum(attempts) + sum(losses) from owed_delivery"), 0);
    assert_free(post, 2);
}

static void
what_somebody_else_holds_by_now_is_left_alone(void **state)
{
    struct post *post = *state;
    dies(post, 2, PHASE_RUNNING, (struct death){.cause = DEATH_ITSELF, .signal = SIGSEGV});
    raw_run(post->desk->f->raw, "update owed_delivery set claimed_by = 'x'");
    next_worker(post);
    assert_int_equal(desk_number(post->desk, "select sum(attempts) from owed_delivery"), 0);
    assert_count(post->desk, "claimed", 2);
    assert_free(post, 0);
}

static void
a_later_claim_of_the_same_worker_is_not_the_one_that_crashed(void **state)
{
    struct post *post = *state;
    dies(post, 1, PHASE_RUNNING, (struct death){.cause = DEATH_ITSELF, .signal = SIGSEGV});
    raw_run(post->desk->f->raw, "update owed_delivery set claimed_at = moment(6)");
    next_worker(post);
    assert_int_equal(desk_number(post->desk, "select sum(attempts) from owed_delivery"), 0);
}

/* --- what the supervisor is told --- */

static owed_outcome
looks_at_its_hand(struct actor *actor, owed_delivery *delivery, const order *order)
{
    struct post *post = actor->state;
    const struct in_hand *hand = &post->slot->hand;
    assert_int_equal(atomic_load(&post->slot->phase), PHASE_RUNNING);
    assert_int_equal(hand->delivery_id, owed_delivery_id(delivery));
    assert_string_equal(hand->receiver_key, "shop.stock");
    assert_int_equal(hand->attempt, 1);
    assert_int_equal(hand->timeout_us, OWED_SECONDS(9));
    assert_true(atomic_load(&post->slot->ready));
    return writes(actor, delivery, order);
}

static void
open_post(struct post *post, owed_receiver receiver)
{
    post->actor.state = post;
    desk_receiver(post->desk, &post->actor, receiver);
    fixture_open(post->desk->f);
}

static void
stop_all(struct desk *desk)
{
    atomic_store(&desk->seat.shared->stop, 1);
}

static void
what_is_in_hand_is_written_before_its_receiver_runs(void **state)
{
    struct post *post = *state;
    post->actor.acts[1] = looks_at_its_hand;
    open_post(post, (owed_receiver){.key = "shop.stock", .timeout_us = OWED_SECONDS(9)});
    desk_fire(post->desk, 1);
    post->desk->at_wait = stop_all;
    desk_run(post->desk);
    assert_count(post->desk, "succeeded", 1);
    assert_int_equal(atomic_load(&post->slot->phase), PHASE_IDLE);
    assert_int_equal(atomic_load(&post->shared->succeeded), 1);
    char by[256];
    desk_text(post->desk, "select claimed_by from owed_delivery", by);
    assert_int_equal(strncmp(by, post->shared->instance, strlen(post->shared->instance)), 0);
    assert_string_equal(by + strlen(post->shared->instance), "/0");
}

static void
nothing_is_in_hand_when_a_worker_ends_well(void **state)
{
    struct post *post = *state;
    open_post(post, (owed_receiver){.key = "shop.stock", .database_only = true});
    desk_fire_many(post->desk, 5);
    post->desk->at_wait = stop_all;
    desk_run(post->desk);
    assert_count(post->desk, "succeeded", 5);
    assert_int_equal(atomic_load(&post->slot->phase), PHASE_IDLE);
}

/* A worker beside this one commits, and counts it. */
static owed_outcome
a_colleague_writes(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)delivery;
    (void)order;
    struct post *post = actor->state;
    raw_run(post->desk->f->raw, "insert into app (id) values (1000)");
    shared_committed(post->shared);
    return owed_done();
}

static void
commits_of_the_same_relay_are_not_taken_for_the_applications(void **state)
{
    struct post *post = *state;
    post->actor.acts[2] = a_colleague_writes;
    open_post(post, (owed_receiver){.key = "shop.stock", .database_only = true});
    desk_fire_many(post->desk, 6);
    post->desk->at_wait = stop_all;
    desk_run(post->desk);
    assert_count(post->desk, "succeeded", 6);
    // The only wait was the idle one at the end.
    assert_int_equal(post->desk->wait_count, 1);
    assert_true(post->desk->waits[0] > 10 * US_PER_MS);
}

static void
see_that_it_waits(struct desk *desk)
{
    struct shared *shared = desk->seat.shared;
    if (!shared_all_wait(shared))
        return;
    assert_count(desk, "succeeded", 3);
    stop_all(desk);
}

static void
under_once_a_worker_says_when_it_has_nothing_left_and_waits_for_the_word(void **state)
{
    struct post *post = *state;
    open_post(post, stock);
    desk_fire_many(post->desk, 3);
    post->desk->at_wait = see_that_it_waits;
    desk_once(post->desk);
    assert_int_equal(atomic_load(&post->shared->stop), 1);
    assert_true(post->desk->wait_count > 0);
    assert_count(post->desk, "succeeded", 3);
}

/* runs_long has a worker in slot 1 run the first of two rows under the relay's lease of 5 minutes. */
static void
runs_long(struct post *post)
{
    struct desk *desk = post->desk;
    open_post(post, stock);
    desk_fire_many(desk, 2);
    char sql[300];
    snprintf(sql, sizeof sql,
        "update owed_delivery set status = 'claimed', claimed_by = '%s/1', claimed_at = moment(5), "
        "lease_expires_at = moment(%" PRId64 ")",
        post->shared->instance, FIXTURE_NOW_US + OWED_MINUTES(5));
    raw_run(desk->f->raw, sql);
    post->shared->slot_count = 2;
    const struct in_hand hand = {
        .delivery_id = desk_number(desk, "select min(id) from owed_delivery"),
        .claimed_at_us = 5,
        .lease_us = OWED_MINUTES(5),
        .lease_expires_at_us = FIXTURE_NOW_US + OWED_MINUTES(5),
        .receiver_key = "shop.stock",
    };
    slot_begin(post->shared, 1, &hand);
    desk->seat.role = ROLE_LOOP;
}

static void
stop_after_an_hour(struct desk *desk)
{
    if (desk->f->now_us - FIXTURE_NOW_US > OWED_HOURS(1))
        stop_all(desk);
}

static void
the_worker_of_the_loop_keeps_the_row_that_another_runs_for_long(void **state)
{
    struct post *post = *state;
    runs_long(post);
    post->desk->at_wait = stop_after_an_hour;
    desk_run(post->desk);
    int64_t left = desk_number(post->desk, "select max(lease_expires_at) from owed_delivery") -
        post->desk->f->now_us;
    assert_in_range(left, OWED_MINUTES(2), OWED_MINUTES(5));
    // Half of it is let pass each time: no more than a write for every two minutes.
    assert_int_equal(desk_number(post->desk, "select min(lease_expires_at) from owed_delivery"),
        FIXTURE_NOW_US + OWED_MINUTES(5));
}

static void
it_does_not_wait_for_a_writer_whose_row_nobody_can_take(void **state)
{
    ONLY_ON("sqlite", "elsewhere a writer keeps nobody else waiting");
    struct post *post = *state;
    runs_long(post);
    atomic_store(&post->shared->slots[1].holds_store, true);
    post->desk->at_wait = stop_after_an_hour;
    desk_run(post->desk);
    assert_int_equal(desk_number(post->desk, "select max(lease_expires_at) from owed_delivery"),
        FIXTURE_NOW_US + OWED_MINUTES(5));
}

static owed_outcome
sees_who_has_the_store(struct actor *actor, owed_delivery *delivery, const order *order)
{
    struct post *post = actor->state;
    assert_false(atomic_load(&post->slot->holds_store));
    writes(actor, delivery, order);
    assert_true(atomic_load(&post->slot->holds_store));
    return owed_done();
}

static void
a_worker_says_while_it_has_the_store(void **state)
{
    struct post *post = *state;
    post->actor.acts[1] = sees_who_has_the_store;
    open_post(post, stock);
    desk_fire(post->desk, 1);
    post->desk->at_wait = stop_all;
    desk_run(post->desk);
    assert_count(post->desk, "succeeded", 1);
    assert_false(atomic_load(&post->slot->holds_store));
}

static void
the_limit_is_shared(void **state)
{
    struct post *post = *state;
    open_post(post, stock);
    desk_fire_many(post->desk, 6);
    atomic_store(&post->shared->limit_left, 4);
    post->desk->settings.limit = 100; // what the command line said matters no more
    post->desk->at_wait = stop_all;
    desk_run(post->desk);
    assert_count(post->desk, "succeeded", 4);
    assert_int_equal(atomic_load(&post->shared->limit_left), 0);
}

static void
a_worker_for_inside_receivers_leaves_outside_ones_alone_and_says_there_are_some(void **state)
{
    struct post *post = *state;
    struct actor call = {.acts = {[1] = asks_for_nothing}};
    desk_receiver(post->desk, &call, (owed_receiver){.key = "shop.call", .outside = true});
    open_post(post, stock);
    desk_fire(post->desk, 1);
    post->desk->at_wait = stop_all;
    desk_run(post->desk);
    assert_int_equal(call.calls, 0);
    assert_int_equal(post->actor.calls, 1);
    assert_true(atomic_load(&post->shared->has_outside_functions));
    // And the other way round.
    atomic_store(&post->shared->stop, 0);
    post->desk->seat.role = ROLE_FUNCTION;
    desk_run(post->desk);
    assert_int_equal(call.calls, 1);
    assert_int_equal(post->actor.calls, 1);
    assert_count(post->desk, "succeeded", 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, post_setup, post_teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_dead_ones_session_ends_before_anything_is_recorded),
        TEST(the_sessions_of_its_threads_end_as_well),
        TEST(a_crash_is_a_failed_attempt_that_names_the_signal_and_the_rest_is_free),
        TEST(on_failure_is_told_of_a_crash_by_the_next_worker),
        TEST(on_failure_is_not_told_of_a_loss),
        TEST(the_last_attempt_of_one_that_crashes_ends_it),
        TEST(a_receiver_that_calls_exit_has_failed_too),
        TEST(one_that_ran_past_its_timeout_has_failed_too),
        TEST(a_kill_from_outside_is_a_loss_and_no_attempt),
        TEST(a_death_while_the_outcome_was_written_blames_no_receiver),
        TEST(a_worker_that_was_called_off_costs_nothing),
        TEST(a_crash_over_nobody_knows_which_row_is_a_loss_of_each),
        TEST(a_kill_of_one_with_nothing_in_hand_leaves_its_batch_to_others),
        TEST(what_somebody_else_holds_by_now_is_left_alone),
        TEST(a_later_claim_of_the_same_worker_is_not_the_one_that_crashed),
        TEST(what_is_in_hand_is_written_before_its_receiver_runs),
        TEST(nothing_is_in_hand_when_a_worker_ends_well),
        TEST(commits_of_the_same_relay_are_not_taken_for_the_applications),
        TEST(under_once_a_worker_says_when_it_has_nothing_left_and_waits_for_the_word),
        TEST(the_worker_of_the_loop_keeps_the_row_that_another_runs_for_long),
        TEST(it_does_not_wait_for_a_writer_whose_row_nobody_can_take),
        TEST(a_worker_says_while_it_has_the_store),
        TEST(the_limit_is_shared),
        TEST(a_worker_for_inside_receivers_leaves_outside_ones_alone_and_says_there_are_some),
    };
    return RUN_ON_ALL_STORES("the aftermath of a death", tests);
}
