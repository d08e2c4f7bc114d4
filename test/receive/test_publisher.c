/* SPDX-License-Identifier: MIT
 *
 * test_publisher.c - deliveries for a broker that is away, breaks off, or is slow to be reached. It is one of
 * the test's own.
 */
#include "attempt.h"

#include <poll.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "receive/publisher.h"

#define MOST 8
#define SENT_MOST 32
#define PATIENCE_SECONDS 5

/* --- the broker --- */

/* What belongs to the publisher's thread is looked at when it is known to wait. */
struct played {
    bool is_away;
    int break_after; // so many answers the connection ends, once; -1: it does not
    enum broker_answer answer;
    sem_t asked; // posted by each who comes
    sem_t gate;  // and waited for
    int opens;
    char sent[SENT_MOST][64]; // ids
    int sent_count;
    int sends;
};

static struct played broker; // open has no state of the caller's

static bool
waits_for(sem_t *semaphore)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_SECONDS;
    return sem_timedwait(semaphore, &until) == 0;
}

static void
wait_until_asked(void)
{
    assert_true(waits_for(&broker.asked));
}

static owed_status
hang_up(owed_error *err, const char *why)
{
    snprintf(err->text, sizeof err->text, "%s", why);
    return OWED_UNAVAILABLE;
}

static owed_status
play_open(const struct broker_place *place, void **ret_connection, owed_error *err)
{
    (void)place;
    broker.opens++;
    sem_post(&broker.asked);
    if (!waits_for(&broker.gate) || broker.is_away)
        return hang_up(err, "it cannot be reached: nobody is there");
    *ret_connection = &broker;
    return OWED_OK;
}

static bool
play_send(void *connection, struct broker_message *messages, owed_error *err)
{
    (void)connection;
    broker.sends++;
    for (struct broker_message *m = messages; m != NULL; m = m->next)
        snprintf(broker.sent[broker.sent_count++ % SENT_MOST], sizeof broker.sent[0], "%s", m->id);
    for (struct broker_message *m = messages; m != NULL; m = m->next) {
        if (broker.break_after-- == 0) {
            hang_up(err, "it has hung up");
            return false;
        }
        m->answer = broker.answer;
        snprintf(m->text, sizeof m->text, "no room");
    }
    return true;
}

static void
play_close(void *connection)
{
    (void)connection;
}

static const struct broker_kind played_kind = {play_open, play_send, play_close};

/* --- the deliveries --- */

struct scene {
    struct publishers publishers;
    struct landing landing;
    struct publisher *publisher;
    struct receiver receiver; // of all attempts
    struct attempt attempts[MOST];
};

static int
setup(void **state)
{
    static struct scene scene;
    *state = &scene;
    scene = (struct scene){.landing.clock = clock_system};
    for (int i = 0; i < MOST; i++) {
        struct owed_delivery *delivery = &scene.attempts[i].flight.delivery;
        attempt_init(&scene.attempts[i], RUN_PUBLISH, "redis://here", STR("{\"n\":1}"));
        delivery->receiver = &scene.receiver;
        snprintf(delivery->idempotency_key, sizeof scene.attempts[i].key, "owed_%d", i);
    }
    scene.receiver = scene.attempts[0].receiver;
    broker = (struct played){.break_after = -1, .answer = BROKER_ACKED};
    sem_init(&broker.asked, 0, 0);
    sem_init(&broker.gate, 0, 0);
    assert_int_equal(publishers_open(&scene.publishers, &scene.landing, NULL, NULL), OWED_OK);
    assert_int_equal(publishers_room(&scene.publishers, &scene.receiver), PUBLISH_IN_FLIGHT);
    scene.publisher = scene.publishers.first;
    scene.publisher->kind = &played_kind;
    return 0;
}

static int
teardown(void **state)
{
    struct scene *scene = *state;
    publishers_close(&scene->publishers);
    share_done(&scene->landing.shares[RUN_PUBLISH]);
    sem_destroy(&broker.asked);
    sem_destroy(&broker.gate);
    return 0;
}

static void
start(struct scene *scene, int first, int count)
{
    for (int i = first; i < first + count; i++)
        publishers_start(&scene->publishers, &scene->attempts[i].flight);
}

static void
land(struct scene *scene, int count)
{
    for (int landed = 0; landed < count;) {
        struct pollfd ended = {.fd = scene->publishers.ended_fd, .events = POLLIN};
        assert_int_equal(poll(&ended, 1, PATIENCE_SECONDS * 1000), 1);
        publishers_step(&scene->publishers);
        for (const struct flight *f = landing_take(&scene->landing); f != NULL; f = f->next)
            landed++;
    }
}

static void
send_one(struct scene *scene, int i)
{
    sem_post(&broker.gate);
    start(scene, i, 1);
    land(scene, 1);
}

static owed_outcome
outcome(const struct scene *scene, int i)
{
    return scene->attempts[i].flight.outcome;
}

static void
is_put_off(const struct scene *scene, int i, int64_t seconds, const char *why)
{
    assert_int_equal(outcome(scene, i).verdict, OWED_VERDICT_DEFER);
    assert_int_equal(outcome(scene, i).wait_us, seconds * US_PER_SECOND);
    assert_has(scene->attempts[i].text, why);
}

/* --- tests --- */

static void
what_waits_while_one_is_under_way_goes_at_once(void **state)
{
    struct scene *scene = *state;
    start(scene, 0, 1);
    wait_until_asked();
    start(scene, 1, 6);
    sem_post(&broker.gate);
    land(scene, 7);
    assert_int_equal(broker.sent_count, 7);
    assert_int_equal(broker.sends, 2);
    assert_int_equal(broker.opens, 1);
}

static void
who_is_away_is_asked_once_for_all_that_wait(void **state)
{
    struct scene *scene = *state;
    broker.is_away = true;
    start(scene, 0, 1);
    wait_until_asked();
    start(scene, 1, 5);
    sem_post(&broker.gate);
    land(scene, 6);
    assert_int_equal(broker.opens, 1);
    for (int i = 0; i < 6; i++)
        is_put_off(scene, i, 1, "publish redis://here: it cannot be reached: nobody is there");
    assert_int_equal(publishers_room(&scene->publishers, &scene->receiver), PUBLISH_IN_FLIGHT);
}

static void
each_look_after_the_while_that_it_was_left_alone_for_doubles_that(void **state)
{
    struct scene *scene = *state;
    static const int64_t seconds[] = {2, 4, 8, 15, 15};
    broker.is_away = true;
    send_one(scene, 0);
    is_put_off(scene, 0, 1, "nobody is there");
    for (size_t i = 0; i < sizeof seconds / sizeof seconds[0]; i++) {
        // What was on its way with the one before says nothing new.
        int64_t before = i == 0 ? 1 : seconds[i - 1];
        send_one(scene, 1);
        is_put_off(scene, 1, before, "nobody is there");
        scene->publisher->away_until_us = 0;
        send_one(scene, 2);
        is_put_off(scene, 2, seconds[i], "nobody is there");
    }
    broker.is_away = false;
    send_one(scene, 3);
    assert_int_equal(outcome(scene, 3).verdict, OWED_VERDICT_DONE);
    broker.break_after = 0;
    broker.is_away = true;
    send_one(scene, 4);
    is_put_off(scene, 4, 1, "nobody is there");
}

static void
what_a_connection_that_breaks_has_not_answered_is_sent_again_at_once_under_its_id(void **state)
{
    struct scene *scene = *state;
    send_one(scene, 0);
    broker.break_after = 0;
    send_one(scene, 1);
    assert_int_equal(outcome(scene, 1).verdict, OWED_VERDICT_DONE);
    assert_int_equal(broker.opens, 2);
    assert_int_equal(broker.sent_count, 3);
    assert_string_equal(broker.sent[1], "owed_1");
    assert_string_equal(broker.sent[2], "owed_1");
}

static void
one_that_breaks_when_it_has_just_been_made_is_not_made_again(void **state)
{
    struct scene *scene = *state;
    start(scene, 0, 1);
    wait_until_asked();
    broker.break_after = 2;
    start(scene, 1, 3);
    sem_post(&broker.gate);
    land(scene, 1);
    sem_post(&broker.gate);
    land(scene, 3);
    assert_int_equal(outcome(scene, 0).verdict, OWED_VERDICT_DONE);
    assert_int_equal(outcome(scene, 1).verdict, OWED_VERDICT_DONE);
    assert_int_equal(broker.opens, 2);
    // The second and third of the batch were sent twice, the first, which had its answer, was not.
    assert_int_equal(broker.sent_count, 1 + 3 + 2);
    assert_string_equal(broker.sent[4], "owed_2");
    assert_string_equal(broker.sent[5], "owed_3");
    broker.break_after = 0;
    publishers_close(&scene->publishers);
    assert_int_equal(publishers_open(&scene->publishers, &scene->landing, NULL, NULL), OWED_OK);
    publishers_room(&scene->publishers, &scene->receiver);
    scene->publishers.first->kind = &played_kind;
    send_one(scene, 4);
    is_put_off(scene, 4, 1, "publish redis://here: it has hung up");
    assert_int_equal(broker.opens, 3);
}

static void
what_the_broker_says_is_the_outcome(void **state)
{
    struct scene *scene = *state;
    static const struct {
        enum broker_answer answer;
        owed_verdict verdict;
    } cases[] = {{BROKER_ACKED, OWED_VERDICT_DONE}, {BROKER_AWAY, OWED_VERDICT_DEFER},
        {BROKER_FAILED, OWED_VERDICT_FAILED}, {BROKER_REFUSED, OWED_VERDICT_PERMANENT},
        {BROKER_SILENT, OWED_VERDICT_DEFER}};
    for (int i = 0; i < 5; i++) {
        broker.answer = cases[i].answer;
        send_one(scene, i);
        assert_int_equal(outcome(scene, i).verdict, cases[i].verdict);
        if (i > 0 && i < 4)
            assert_has(scene->attempts[i].text, "publish redis://here: no room");
    }
    assert_has(scene->attempts[4].text, "it has not answered");
}

static void
there_is_room_for_as_many_as_the_receiver_says(void **state)
{
    struct scene *scene = *state;
    scene->receiver.declared.in_flight = 3;
    start(scene, 0, 2);
    assert_int_equal(publishers_room(&scene->publishers, &scene->receiver), 1);
    start(scene, 2, 1);
    assert_int_equal(publishers_room(&scene->publishers, &scene->receiver), 0);
    sem_post(&broker.gate);
    land(scene, 3);
    assert_int_equal(publishers_room(&scene->publishers, &scene->receiver), 3);
}

static void
what_no_broker_was_sent_is_taken_back_and_the_rest_is_answered(void **state)
{
    struct scene *scene = *state;
    start(scene, 0, 1);
    wait_until_asked();
    start(scene, 1, 2);
    const struct flight *recalled = publishers_recall(&scene->publishers);
    assert_ptr_equal(recalled, &scene->attempts[1].flight);
    assert_ptr_equal(recalled->next, &scene->attempts[2].flight);
    assert_null(recalled->next->next);
    sem_post(&broker.gate);
    land(scene, 1);
    assert_int_equal(outcome(scene, 0).verdict, OWED_VERDICT_DONE);
    send_one(scene, 3); // the queue is as it was
    assert_int_equal(broker.sent_count, 2);
}

static void
one_that_is_abandoned_is_forgotten_where_it_waits_and_waited_for_where_it_was_sent(void **state)
{
    struct scene *scene = *state;
    start(scene, 0, 1);
    wait_until_asked();
    start(scene, 1, 2);
    publishers_abandon(&scene->publishers, &scene->attempts[1].flight);
    sem_post(&broker.gate);
    publishers_abandon(&scene->publishers, &scene->attempts[0].flight);
    land(scene, 1);
    assert_int_equal(broker.sent_count, 2);
    assert_string_equal(broker.sent[0], "owed_0");
    assert_string_equal(broker.sent[1], "owed_2");
    assert_int_equal(publishers_room(&scene->publishers, &scene->receiver), PUBLISH_IN_FLIGHT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_waits_while_one_is_under_way_goes_at_once),
        TEST(who_is_away_is_asked_once_for_all_that_wait),
        TEST(each_look_after_the_while_that_it_was_left_alone_for_doubles_that),
        TEST(what_a_connection_that_breaks_has_not_answered_is_sent_again_at_once_under_its_id),
        TEST(one_that_breaks_when_it_has_just_been_made_is_not_made_again),
        TEST(what_the_broker_says_is_the_outcome),
        TEST(there_is_room_for_as_many_as_the_receiver_says),
        TEST(what_no_broker_was_sent_is_taken_back_and_the_rest_is_answered),
        TEST(one_that_is_abandoned_is_forgotten_where_it_waits_and_waited_for_where_it_was_sent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
