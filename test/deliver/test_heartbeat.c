/* SPDX-License-Identifier: MIT
 *
 * test_heartbeat.c - a receiver that runs for longer than its lease keeps its row while its relay
 * lives, and is told when it has lost it. Three workers in one process, each with its own handle: one
 * runs the receiver, one looks after leases, one would take the row.
 */
#include "desk.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

#define LEASE_US OWED_MINUTES(1)

struct ward {
    struct desk *desk;
    struct shared *shared;
    int fd;
    struct actor actor;
    owed *keeper;
    owed *thief;
    bool is_kept;    // the keeper does its rounds
    bool asks;       // for its transaction, before it goes on for long
    int tries;       // of the thief
    int lost_at;     // the round in which the receiver first saw that it had lost the row; 0: never
    bool lost_first; // before anything happened
};

static int
ward_setup(void **state)
{
    static struct ward ward;
    ward = (struct ward){.fd = -1};
    void *desk = NULL;
    if (desk_setup(&desk) != 0)
        return -1;
    ward.desk = desk;
    owed_dice dice = dice_seeded(&ward.desk->f->seed);
    assert_ok(shared_new("packer", &dice, &ward.shared, &ward.fd, &ward.desk->f->err));
    ward.shared->slot_count = 2;
    ward.shared->slots[1].role = ROLE_LOOP;
    ward.desk->seat.shared = ward.shared;
    ward.desk->settings.lease_us = LEASE_US;
    *state = &ward;
    return 0;
}

static int
ward_teardown(void **state)
{
    struct ward *ward = *state;
    owed_close(ward->keeper);
    owed_close(ward->thief);
    shared_free(ward->shared);
    close(ward->fd);
    void *desk = ward->desk;
    return desk_teardown(&desk);
}

static void
pass_no_time(void *state, int64_t timeout_us)
{
    (void)state;
    (void)timeout_us;
}

/* keep has the worker of the loop make one round. */
static void
keep(struct ward *ward)
{
    const struct relay_seat seat = {
        .shared = ward->shared, .slot = 1, .role = ROLE_LOOP, .wait = pass_no_time};
    const owed_relay_settings settings = {.passes = 1};
    assert_ok(relay_work(ward->keeper, &settings, &seat, NULL, &ward->desk->f->err));
}

static void
try_to_take(struct ward *ward)
{
    const struct relay_seat seat = {.role = ROLE_ALL, .wait = pass_no_time};
    const owed_relay_settings settings = {.passes = 1};
    owed_error err = {0};
    owed_status status = relay_work(ward->thief, &settings, &seat, NULL, &err);
    assert_true(status == OWED_OK || status == OWED_BUSY);
    ward->tries++;
}

/* goes_on_for_long takes three leases, in steps of less than half a one. */
static owed_outcome
goes_on_for_long(struct actor *actor, owed_delivery *delivery, const order *order)
{
    struct ward *ward = actor->state;
    if (actor->calls > 1)
        return asks_for_nothing(actor, delivery, order); // in the thief's hands
    ward->lost_first = owed_delivery_lost(delivery);
    if (ward->asks)
        write_row(delivery, order->id);
    for (int round = 1; round <= 8; round++) {
        ward->desk->f->now_us += LEASE_US * 3 / 8 + 1;
        if (ward->is_kept)
            keep(ward);
        try_to_take(ward);
        if (owed_delivery_lost(delivery) && ward->lost_at == 0)
            ward->lost_at = round;
    }
    return ward->asks ? owed_done() : writes(actor, delivery, order);
}

static owed *
open_other(struct ward *ward)
{
    owed_settings settings = fixture_settings(ward->desk->f);
    settings.no_publish = true;
    owed *handle = NULL;
    assert_ok(owed_open(&settings, &handle, &ward->desk->f->err));
    return handle;
}

static void
stop_all(struct desk *desk)
{
    atomic_store(&desk->seat.shared->stop, 1);
}

static void
run_long(struct ward *ward, enum role role, bool outside)
{
    struct desk *desk = ward->desk;
    ward->actor.state = ward;
    ward->actor.acts[1] = goes_on_for_long;
    ward->shared->slots[0].role = role;
    desk->seat.role = role;
    desk_receiver(desk, &ward->actor,
        (owed_receiver){.key = "shop.stock", .outside = outside, .lease_us = LEASE_US});
    fixture_open(desk->f);
    ward->keeper = open_other(ward);
    ward->thief = open_other(ward);
    desk_fire(desk, 1);
    desk->at_wait = stop_all;
    desk->settings.passes = 1;
    desk_run(desk);
}

static void
a_receiver_three_times_as_long_as_its_lease_keeps_its_row(void **state)
{
    struct ward *ward = *state;
    ward->is_kept = true;
    run_long(ward, ROLE_FUNCTION, true);
    assert_int_equal(ward->tries, 8);
    assert_int_equal(ward->actor.calls, 1);
    assert_int_equal(ward->lost_at, 0);
    assert_count(ward->desk, "succeeded", 1);
    assert_int_equal(desk_number(ward->desk, "select attempts from owed_delivery"), 1);
}

static void
an_inside_receiver_that_asked_for_no_transaction_yet_keeps_its_row_too(void **state)
{
    struct ward *ward = *state;
    ward->is_kept = true;
    run_long(ward, ROLE_INSIDE, false);
    assert_int_equal(ward->actor.calls, 1);
    assert_count(ward->desk, "succeeded", 1);
    assert_int_equal(desk_written(ward->desk, 1), 1);
}

static void
without_a_worker_to_look_after_it_the_row_is_taken(void **state)
{
    struct ward *ward = *state;
    run_long(ward, ROLE_FUNCTION, true);
    assert_int_equal(ward->actor.calls, 2);
    assert_int_equal(ward->lost_at, 0); // nobody was there to say so
    assert_count(ward->desk, "succeeded", 1);
    assert_true(desk_logged(ward->desk, "result discarded"));
}

static void
one_that_has_the_only_writer_is_not_robbed_though_nobody_renews(void **state)
{
    ONLY_ON("sqlite", "elsewhere a writer keeps nobody else waiting");
    struct ward *ward = *state;
    ward->asks = true;
    run_long(ward, ROLE_INSIDE, false);
    assert_int_equal(ward->actor.calls, 1);
    assert_count(ward->desk, "succeeded", 1);
    assert_int_equal(desk_written(ward->desk, 1), 1);
}

static owed_outcome
is_robbed_while_it_runs(struct actor *actor, owed_delivery *delivery, const order *order)
{
    struct ward *ward = actor->state;
    rob(ward->desk, owed_delivery_id(delivery));
    ward->lost_first = owed_delivery_lost(delivery);
    ward->desk->f->now_us += LEASE_US * 3 / 4;
    keep(ward);
    ward->lost_at = owed_delivery_lost(delivery);
    return writes(actor, delivery, order);
}

static owed_outcome
asks_whether_it_lost(struct actor *actor, owed_delivery *delivery, const order *order)
{
    struct ward *ward = actor->state;
    ward->lost_first = owed_delivery_lost(delivery);
    return writes(actor, delivery, order);
}

static void
one_whose_row_was_taken_is_told_before_it_ends_and_records_nothing(void **state)
{
    struct ward *ward = *state;
    struct desk *desk = ward->desk;
    ward->actor.state = ward;
    ward->actor.acts[1] = is_robbed_while_it_runs;
    ward->actor.acts[2] = asks_whether_it_lost;
    desk->seat.role = ROLE_INSIDE;
    desk_receiver(desk, &ward->actor, (owed_receiver){.key = "shop.stock", .lease_us = LEASE_US});
    fixture_open(desk->f);
    ward->keeper = open_other(ward);
    desk_fire(desk, 1);
    desk->settings.passes = 1;
    desk_run(desk);
    assert_false(ward->lost_first);
    assert_true(ward->lost_at);
    assert_count(desk, "claimed", 1);
    assert_text(desk, "select claimed_by from owed_delivery", "thief");
    assert_int_equal(desk_written(desk, 1), 0);
    assert_true(desk_logged(desk, "result discarded"));
    // What it has in hand next is its own again.
    desk_fire(desk, 2);
    desk_run(desk);
    assert_int_equal(ward->actor.calls, 2);
    assert_false(ward->lost_first);
    assert_int_equal(desk_written(desk, 2), 1);
}

/* --- at a stop --- */

static struct ward *the_ward;

static void
waits(void *state, int64_t timeout_us)
{
    (void)timeout_us;
    int *left = state;
    the_ward->desk->f->now_us += LEASE_US / 4;
    if (--*left == 0)
        slot_phase(the_ward->shared, 0, PHASE_IDLE);
}

static void
at_a_stop_leases_are_looked_after_until_the_last_receiver_has_returned(void **state)
{
    struct ward *ward = *state;
    struct desk *desk = ward->desk;
    the_ward = ward;
    desk_receiver(desk, &ward->actor, (owed_receiver){.key = "shop.stock", .lease_us = LEASE_US});
    fixture_open(desk->f);
    ward->keeper = open_other(ward);
    desk_fire(desk, 1);
    char sql[300];
    snprintf(sql, sizeof sql,
        "update owed_delivery set status = 'claimed', claimed_by = '%s/0', claimed_at = moment(5), "
        "lease_expires_at = moment(%lld)",
        ward->shared->instance, (long long)(FIXTURE_NOW_US + LEASE_US));
    raw_run(desk->f->raw, sql);
    const struct in_hand hand = {.delivery_id = 1,
        .claimed_at_us = 5,
        .lease_us = LEASE_US,
        .lease_expires_at_us = FIXTURE_NOW_US + LEASE_US};
    slot_begin(ward->shared, 0, &hand);
    atomic_store(&ward->shared->slots[0].pid, getpid());
    atomic_store(&ward->shared->stop, 1);
    int left = 40;
    const struct relay_seat seat = {
        .shared = ward->shared, .slot = 1, .role = ROLE_LOOP, .wait = waits, .wait_state = &left};
    assert_ok(relay_work(ward->keeper, NULL, &seat, NULL, &desk->f->err));
    assert_int_equal(left, 0);
    assert_true(desk_number(desk, "select lease_expires_at from owed_delivery") > desk->f->now_us);
}

static void
at_a_stop_nobody_stays_for_a_worker_that_died(void **state)
{
    struct ward *ward = *state;
    struct desk *desk = ward->desk;
    the_ward = ward;
    fixture_open(desk->f);
    ward->keeper = open_other(ward);
    slot_begin(ward->shared, 0, &(struct in_hand){.delivery_id = 1});
    atomic_store(&ward->shared->slots[0].pid, getpid());
    atomic_store(&ward->shared->slots[0].death.cause, DEATH_ITSELF);
    atomic_store(&ward->shared->stop, 1);
    int left = 40;
    const struct relay_seat seat = {
        .shared = ward->shared, .slot = 1, .role = ROLE_LOOP, .wait = waits, .wait_state = &left};
    assert_ok(relay_work(ward->keeper, NULL, &seat, NULL, &desk->f->err));
    assert_int_equal(left, 40);
}

int
main(void)
{
#define WARD_TEST(name) cmocka_unit_test_setup_teardown(name, ward_setup, ward_teardown)
    const struct CMUnitTest tests[] = {
        WARD_TEST(a_receiver_three_times_as_long_as_its_lease_keeps_its_row),
        WARD_TEST(an_inside_receiver_that_asked_for_no_transaction_yet_keeps_its_row_too),
        WARD_TEST(without_a_worker_to_look_after_it_the_row_is_taken),
        WARD_TEST(one_that_has_the_only_writer_is_not_robbed_though_nobody_renews),
        WARD_TEST(one_whose_row_was_taken_is_told_before_it_ends_and_records_nothing),
        WARD_TEST(at_a_stop_leases_are_looked_after_until_the_last_receiver_has_returned),
        WARD_TEST(at_a_stop_nobody_stays_for_a_worker_that_died),
    };
    return RUN_ON_ALL_STORES("leases of what runs for long", tests);
}
