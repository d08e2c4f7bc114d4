/* SPDX-License-Identifier: MIT
 *
 * test_keep.c - an outbox whose tickets a store keeps: put in, drained, asked about from anywhere.
 */
#include "office.h"

#include <owed/outbox.h>

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/look.h"

static const owed_recipient ada = {.phone = "+49151000000", .email = "ada@example.com"};
static owed_outbox *outbox;

static int
open_outbox(void **state)
{
    open_office(state);
    assert_ok(owed_outbox_open(office.f->owed, office.notifier, NULL, &outbox, &office.f->err));
    return 0;
}

static int
close_outbox(void **state)
{
    owed_outbox_free(outbox);
    return close_office(state);
}

static owed_ticket *
put(const char *order, const owed_send_options *options)
{
    const owed_value context[] = {OWED_VALUE_TEXT("order", order), OWED_VALUES_END};
    owed_ticket *ticket = NULL;
    if (owed_outbox_enqueue(
            outbox, &ada, office.receipt, context, options, &ticket, &office.f->err) != OWED_OK)
        fail_msg("%s", office.f->err.text);
    return ticket;
}

static void
drain(void)
{
    if (owed_outbox_drain(outbox, OWED_DRAIN_ALL, NULL, &office.f->err) != OWED_OK)
        fail_msg("%s", office.f->err.text);
}

static void
check_result(owed_ticket *ticket, owed_status wanted, const char *words)
{
    const owed_receipt *receipt = NULL;
    owed_error err = {0};
    assert_status(wanted, owed_ticket_result(ticket, &receipt, &err));
    assert_says(err, words);
}

static void
to_enqueue_calls_nobody_and_a_drain_sends_it(void **state)
{
    (void)state;
    const owed_receipt *receipt = NULL;
    owed_ticket *ticket = put("A-1042", &(owed_send_options){.channel = "email"});
    assert_int_equal(strlen(owed_ticket_id(ticket)), 32);
    assert_int_equal(owed_ticket_enqueued_at_us(ticket), office.f->now_us);
    assert_int_equal(owed_ticket_state_of(ticket), OWED_TICKET_PENDING);
    assert_int_equal(owed_outbox_length(outbox), 1);
    check_result(ticket, OWED_PENDING, owed_ticket_id(ticket));
    assert_int_equal(office.email.calls, 0);

    drain();
    assert_true(owed_ticket_is_sent(ticket));
    assert_ok(owed_ticket_result(ticket, &receipt, &office.f->err));
    assert_string_equal(receipt->channel, "email");
    assert_string_equal(receipt->address, "ada@example.com");
    assert_string_equal(receipt->reference, "r1");
    assert_int_equal(receipt->attempts, 1);
    assert_string_equal(office.email.id, owed_ticket_id(ticket));
    assert_int_equal(owed_outbox_length(outbox), 0);
    owed_ticket_release(ticket);
}

static void
a_ticket_goes_with_the_callers_transaction(void **state)
{
    (void)state;
    struct fixture *f = office.f;
    fixture_begin(f);
    owed_ticket *undone = put("1", &(owed_send_options){.tx = f->tx});
    owed_rollback(f->tx);
    f->tx = NULL;
    fixture_begin(f);
    owed_ticket *done = put("2", &(owed_send_options){.tx = f->tx});
    check_result(done, OWED_NOT_FOUND, "its transaction is open");
    fixture_commit(f);
    drain();
    assert_int_equal(office.sms.calls, 1);
    check_result(undone, OWED_NOT_FOUND, "was rolled back");
    assert_true(owed_ticket_is_sent(done));
    owed_ticket_release(undone);
    owed_ticket_release(done);
}

static void
a_drain_sends_in_order_up_to_a_limit_on_the_calling_thread(void **state)
{
    (void)state;
    owed_ticket *tickets[5];
    for (int i = 0; i < 5; i++)
        tickets[i] = put("7", NULL);
    owed_ticket_list handled;
    assert_status(OWED_INVALID, owed_outbox_drain(outbox, 0, &handled, &office.f->err));
    const int64_t limits[] = {2, OWED_DRAIN_ALL, OWED_DRAIN_ALL};
    const size_t wanted[] = {2, 3, 0};
    size_t at = 0;
    for (size_t i = 0; i < 3; i++) {
        assert_ok(owed_outbox_drain(outbox, limits[i], &handled, &office.f->err));
        assert_int_equal(handled.count, wanted[i]);
        for (size_t n = 0; n < handled.count; n++, at++) {
            assert_string_equal(owed_ticket_id(handled.tickets[n]), owed_ticket_id(tickets[at]));
            assert_true(owed_ticket_is_sent(handled.tickets[n]));
        }
        owed_ticket_list_done(&handled);
    }
    assert_true(pthread_equal(office.sms.thread, pthread_self()));
    for (int i = 0; i < 5; i++)
        owed_ticket_release(tickets[i]);
}

static owed_outcome
never(owed_delivery *delivery, const void *payload)
{
    (void)payload;
    return owed_permanent(delivery, "a drain is for tickets alone");
}

static void
a_drain_leaves_what_is_no_ticket_alone(void **state)
{
    struct fixture *f = office.f;
    owed_outbox_free(outbox);
    owed_close(f->owed);
    f->owed = NULL;
    fixture_receiver(f, (owed_receiver){.key = "shop.never", .event = &note_taken, .run = never});
    fixture_open(f);
    assert_ok(owed_outbox_open(f->owed, office.notifier, NULL, &outbox, &f->err));
    fixture_begin(f);
    int64_t note = 0;
    assert_ok(owed_fire_json(f->tx, "shop.NoteTaken", 0, "{}", 2, NULL, &note, &f->err));
    fixture_commit(f);
    owed_ticket *ticket = put("7", NULL);
    drain();
    assert_true(owed_ticket_is_sent(ticket));
    check_row(note, "pending", 0, "");
    owed_ticket_release(ticket);
    (void)state;
}

static void
what_failed_is_pending_until_it_is_dead(void **state)
{
    (void)state;
    office.sms.answer = (owed_answer){.verdict = OWED_ANSWER_FAILED, .reason = "away"};
    owed_ticket *ticket = put("7", NULL);
    for (int i = 0; i < 15; i++) {
        drain();
        check_result(ticket, OWED_PENDING, "away");
        office.f->now_us += 3600 * SECOND;
    }
    drain();
    check_result(ticket, OWED_UNDELIVERED, "away");
    assert_true(owed_ticket_is_failed(ticket));
    assert_int_equal(office.sms.calls, 16);
    owed_ticket_release(ticket);
}

static void
a_channel_that_refused_is_not_asked_again_while_another_one_is(void **state)
{
    (void)state;
    office.sms.answer = (owed_answer){.verdict = OWED_ANSWER_REFUSED, .reason = "no"};
    office.email.answer = (owed_answer){.verdict = OWED_ANSWER_FAILED, .reason = "away"};
    owed_ticket *ticket = put("7", &(owed_send_options){.fall_through = true});
    drain();
    check_result(ticket, OWED_PENDING, "away");
    office.email.answer = (owed_answer){0};
    office.f->now_us += 3600 * SECOND;
    drain();
    const owed_receipt *receipt = NULL;
    assert_ok(owed_ticket_result(ticket, &receipt, &office.f->err));
    assert_string_equal(receipt->channel, "email");
    assert_int_equal(office.sms.calls, 1);
    assert_int_equal(office.email.calls, 2);
    struct delivery_row *rows = NULL;
    size_t count = 0;
    struct arena arena;
    arena_init(&arena, 0);
    assert_ok(store_deliveries(
        office.f->other, &(struct filter){.limit = 10}, &arena, &rows, &count, &office.f->err));
    static const char *const verdicts[] = {"refused", "failed", "sent"};
    const char *at = rows[0].result;
    for (size_t i = 0; i < 3 && at != NULL; i++)
        at = strstr(at, verdicts[i]);
    if (at == NULL)
        fail_msg("%s", rows[0].result);
    arena_done(&arena);
    owed_ticket_release(ticket);
}

static void
each_end_of_a_delivery_is_an_end_of_its_ticket(void **state)
{
    (void)state;
    struct ended {
        const char *set;
        owed_status result;
        const char *words;
    };
    static const struct ended ends[] = {
        {"update owed_delivery set status = 'dead', last_error = 'lost'", OWED_UNDELIVERED, "lost"},
        {"update owed_delivery set status = 'orphaned'", OWED_UNDELIVERED, "nobody declares"},
        {"update owed_delivery set status = 'cancelled'", OWED_CLOSED, "withdrawn"},
        {"update owed_delivery set status = 'claimed'", OWED_PENDING, "pending"},
    };
    owed_ticket *ticket = put("7", NULL);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        fixture_run(office.f->other, ends[i].set);
        check_result(ticket, ends[i].result, ends[i].words);
        assert_int_equal(owed_ticket_is_failed(ticket), ends[i].result != OWED_PENDING);
    }
    owed_ticket_release(ticket);
}

static void
a_ticket_that_is_requeued_is_pending_again_and_a_cancelled_one_is_not_sent(void **state)
{
    (void)state;
    struct fixture *f = office.f;
    office.sms.answer = (owed_answer){.verdict = OWED_ANSWER_REFUSED, .reason = "no"};
    owed_ticket *ticket = put("7", NULL);
    drain();
    check_result(ticket, OWED_UNDELIVERED, "no");
    office.sms.answer = (owed_answer){0};
    int64_t count = 0;
    const struct requeue again = {.receiver_key = "owed.notify", .limit = -1, .now_us = f->now_us};
    assert_ok(store_requeue(f->other, &again, &count, &f->err));
    check_result(ticket, OWED_PENDING, "nobody has tried yet");
    drain();
    assert_true(owed_ticket_is_sent(ticket));

    owed_ticket *gone = put("8", NULL);
    assert_ok(store_cancel(f->other, &again, &count, NULL, &f->err));
    assert_int_equal(count, 1);
    drain();
    check_result(gone, OWED_CLOSED, "withdrawn");
    assert_int_equal(office.sms.calls, 2);
    owed_ticket_release(ticket);
    owed_ticket_release(gone);
}

static void
a_ticket_is_found_by_its_id_through_another_handle(void **state)
{
    (void)state;
    struct fixture *f = office.f;
    owed_ticket *ticket = put("7", NULL);
    owed_ticket *found = NULL;
    owed_outbox *other = NULL;
    owed *handle = NULL;
    const owed_settings settings = fixture_settings(f);
    assert_ok(owed_open(&settings, &handle, &f->err));
    assert_ok(owed_outbox_open(handle, office.notifier, NULL, &other, &f->err));
    assert_ok(owed_outbox_find(other, owed_ticket_id(ticket), &found, &f->err));
    assert_int_equal(owed_ticket_enqueued_at_us(found), f->now_us);
    assert_int_equal(owed_ticket_state_of(found), OWED_TICKET_PENDING);
    drain();
    assert_true(owed_ticket_is_sent(found));
    owed_ticket_release(found);
    assert_status(OWED_NOT_FOUND, owed_outbox_find(other, "00", &found, &f->err));
    assert_says(f->err, "there is no ticket 00");
    owed_outbox_free(other);
    owed_close(handle);
    owed_ticket_release(ticket);
}

static void
a_ticket_that_was_fired_is_found_by_the_id_that_it_has(void **state)
{
    (void)state;
    struct fixture *f = office.f;
    static const char id[] = "0198a5c2-7d1e-7b33-9c6a-4f0d2b8e1a57";
    static const char payload[] =
        "{\"id\":\"0198a5c2-7d1e-7b33-9c6a-4f0d2b8e1a57\",\"template\":\"receipt\","
        "\"recipient\":{\"phone\":\"+49151000000\"},\"context\":{\"order\":\"7\"}}";
    const owed_fire_options keyed = {.dedupe_key = "ticket:0198a5c2-7d1e-7b33-9c6a-4f0d2b8e1a57"};
    owed_ticket *found = NULL;
    owed_ticket_list handled;
    fixture_begin(f);
    assert_ok(
        owed_fire_json(f->tx, "owed.Ticket", 0, payload, strlen(payload), &keyed, NULL, &f->err));
    fixture_commit(f);
    assert_ok(owed_outbox_find(outbox, id, &found, &f->err));
    assert_ok(owed_outbox_drain(outbox, OWED_DRAIN_ALL, &handled, &f->err));
    assert_int_equal(handled.count, 1);
    assert_string_equal(owed_ticket_id(handled.tickets[0]), id);
    assert_string_equal(office.sms.id, id);
    assert_true(owed_ticket_is_sent(found));
    owed_ticket_list_done(&handled);
    owed_ticket_release(found);
}

static void
a_ticket_outlives_its_outbox_and_stays_owed(void **state)
{
    (void)state;
    owed_ticket *ticket = put("7", NULL);
    owed_outbox_free(outbox);
    assert_int_equal(owed_ticket_state_of(ticket), OWED_TICKET_PENDING);
    check_result(ticket, OWED_CLOSED, "the outbox was closed");
    assert_ok(owed_outbox_open(office.f->owed, office.notifier, NULL, &outbox, &office.f->err));
    owed_ticket *found = NULL;
    assert_ok(owed_outbox_find(outbox, owed_ticket_id(ticket), &found, &office.f->err));
    drain();
    assert_true(owed_ticket_is_sent(found));
    owed_ticket_release(found);
    owed_ticket_release(ticket);
}

static void
what_a_store_cannot_keep_is_refused(void **state)
{
    (void)state;
    static const owed_retry thrice = OWED_RETRY_THRICE;
    const owed_value half[] = {OWED_VALUE_DOUBLE("order", __builtin_nan("")), OWED_VALUES_END};
    owed_outbox *other = NULL;
    owed_error *err = &office.f->err;
    assert_status(OWED_INVALID,
        owed_outbox_open(office.f->owed, office.notifier, &(owed_outbox_options){.max_pending = 5},
            &other, err));
    assert_status(OWED_INVALID,
        owed_outbox_enqueue(
            outbox, &ada, office.receipt, NULL, &(owed_send_options){.retry = &thrice}, NULL, err));
    assert_says(*err, "retry is NULL here");
    assert_status(
        OWED_INVALID, owed_outbox_enqueue(outbox, &ada, office.receipt, half, NULL, NULL, err));
    assert_int_equal(fixture_events(office.f), 0);
}

static void *
drain_on_a_thread(void *state)
{
    owed_status *ret_status = state;
    *ret_status = owed_outbox_drain(outbox, OWED_DRAIN_ALL, NULL, NULL);
    return NULL;
}

static void
two_drainers_send_each_ticket_once_and_a_wait_ends_when_it_is_sent(void **state)
{
    (void)state;
    struct fixture *f = office.f;
    enum { TICKETS = 20 };
    owed_ticket *tickets[TICKETS];
    f->busy_timeout_us = 10 * SECOND;
    owed_outbox *mine = outbox, *other = NULL;
    owed *handle = NULL;
    const owed_settings settings = fixture_settings(f);
    assert_ok(owed_open(&settings, &handle, &f->err));
    assert_ok(owed_outbox_open(handle, office.notifier, NULL, &other, &f->err));
    for (int i = 0; i < TICKETS; i++)
        tickets[i] = put("7", NULL);
    assert_false(owed_ticket_wait(tickets[0], 1000));
    pthread_t thread;
    owed_status status = OWED_BUG;
    outbox = other;
    assert_int_equal(pthread_create(&thread, NULL, drain_on_a_thread, &status), 0);
    owed_status own = owed_outbox_drain(mine, OWED_DRAIN_ALL, NULL, &f->err);
    for (int i = 0; i < TICKETS; i++)
        assert_true(owed_ticket_wait(tickets[i], 30 * SECOND));
    pthread_join(thread, NULL);
    outbox = mine;
    assert_int_equal(status, OWED_OK);
    assert_int_equal(own, OWED_OK);
    assert_int_equal(office.sms.calls, TICKETS);
    for (int i = 0; i < TICKETS; i++)
        owed_ticket_release(tickets[i]);
    owed_outbox_free(other);
    owed_close(handle);
}

static void
a_worker_drains_what_a_store_keeps(void **state)
{
    (void)state;
    owed_worker *worker = NULL;
    assert_ok(owed_worker_new(outbox, 0, &worker, &office.f->err));
    assert_ok(owed_worker_start(worker, &office.f->err));
    owed_ticket *ticket = put("7", NULL);
    assert_true(owed_ticket_wait(ticket, 30 * SECOND));
    owed_worker_stop(worker);
    owed_worker_free(worker);
    assert_true(owed_ticket_is_sent(ticket));
    owed_ticket_release(ticket);
}

/* enqueue_another is somebody who enqueues as fast as tickets are sent. */
static void
enqueue_another(const owed_message *message)
{
    (void)message;
    office.f->now_us += 1000;
    owed_ticket_release(put("7", NULL));
}

static void
a_worker_stops_however_fast_others_enqueue(void **state)
{
    (void)state;
    owed_worker *worker = NULL;
    office.sms.during = enqueue_another;
    office.f->busy_timeout_us = 10 * SECOND;
    assert_ok(owed_worker_new(outbox, 0, &worker, &office.f->err));
    owed_ticket *first = put("7", NULL);
    assert_ok(owed_worker_start(worker, &office.f->err));
    assert_true(owed_ticket_wait(first, 30 * SECOND));
    alarm(30); // what it must not do is go on for ever
    owed_worker_stop(worker);
    alarm(0);
    owed_worker_free(worker);
    assert_int_equal(owed_outbox_length(outbox), 1);
    owed_ticket_release(first);
}

/* die ends the process between the provider's yes and its record. */
static int said_yes[2];
static void
die(const owed_message *message)
{
    ssize_t written = write(said_yes[1], message->id, 32);
    (void)written;
    kill(getpid(), SIGKILL);
}

static void
a_ticket_whose_sender_dies_is_sent_again_under_the_same_id(void **state)
{
    (void)state;
    struct fixture *f = office.f;
    char id[33] = "";
    owed_ticket *ticket = put("7", NULL);
    assert_int_equal(pipe(said_yes), 0);
    pid_t child = fork();
    if (child == 0) {
        // Nothing of the parent's connections is used here: a handle of its own.
        owed *handle = NULL;
        const owed_settings settings = fixture_settings(f);
        office.sms.during = die;
        owed_error err;
        if (owed_open(&settings, &handle, &err) == OWED_OK &&
            owed_outbox_open(handle, office.notifier, NULL, &outbox, &err) == OWED_OK &&
            owed_outbox_drain(outbox, OWED_DRAIN_ALL, NULL, &err) == OWED_OK)
            _exit(0);
        _exit(1);
    }
    int how = 0;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFSIGNALED(how));
    assert_int_equal(read(said_yes[0], id, 32), 32);
    close(said_yes[0]);
    close(said_yes[1]);
    assert_string_equal(id, owed_ticket_id(ticket));
    check_result(ticket, OWED_PENDING, "pending");
    drain(); // it is held under the dead one's lease
    assert_int_equal(office.sms.calls, 0);
    f->now_us += 6 * 60 * SECOND;
    drain();
    assert_true(owed_ticket_is_sent(ticket));
    assert_int_equal(office.sms.calls, 1);
    assert_string_equal(office.sms.id, id);
    owed_ticket_release(ticket);
}

int
main(void)
{
#define TEST(name_) cmocka_unit_test_setup_teardown(name_, open_outbox, close_outbox)
    const struct CMUnitTest tests[] = {
        TEST(to_enqueue_calls_nobody_and_a_drain_sends_it),
        TEST(a_ticket_goes_with_the_callers_transaction),
        TEST(a_drain_sends_in_order_up_to_a_limit_on_the_calling_thread),
        TEST(a_drain_leaves_what_is_no_ticket_alone),
        TEST(what_failed_is_pending_until_it_is_dead),
        TEST(a_channel_that_refused_is_not_asked_again_while_another_one_is),
        TEST(each_end_of_a_delivery_is_an_end_of_its_ticket),
        TEST(a_ticket_that_is_requeued_is_pending_again_and_a_cancelled_one_is_not_sent),
        TEST(a_ticket_is_found_by_its_id_through_another_handle),
        TEST(a_ticket_that_was_fired_is_found_by_the_id_that_it_has),
        TEST(a_ticket_outlives_its_outbox_and_stays_owed),
        TEST(what_a_store_cannot_keep_is_refused),
        TEST(two_drainers_send_each_ticket_once_and_a_wait_ends_when_it_is_sent),
        TEST(a_worker_drains_what_a_store_keeps),
        TEST(a_worker_stops_however_fast_others_enqueue),
        TEST(a_ticket_whose_sender_dies_is_sent_again_under_the_same_id),
    };
    return RUN_ON_ALL_STORES("notify keep", tests);
}
