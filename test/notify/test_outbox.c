/* SPDX-License-Identifier: MIT
 *
 * test_outbox.c - tickets: put off, drained, settled, and asked how it went.
 */
#include "desk.h"

#include <owed/outbox.h>

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include <unistd.h>

#define LONG (60 * SECOND) // never waited for in full

struct office {
    struct desk desk;
    owed_outbox *outbox;
};

static void
office_open(struct office *office, const owed_dispatcher_options *dispatcher,
    const owed_outbox_options *outbox)
{
    desk_open(&office->desk, dispatcher);
    assert_int_equal(
        owed_outbox_new(office->desk.dispatcher, outbox, &office->outbox, &office->desk.err),
        OWED_OK);
}

static void
office_close(struct office *office)
{
    owed_outbox_free(office->outbox);
    desk_close(&office->desk);
}

static owed_ticket *
enqueue(struct office *office, const owed_recipient *recipient, const owed_value *context,
    const owed_send_options *options)
{
    owed_ticket *ticket = NULL;
    if (owed_outbox_enqueue(office->outbox, recipient, office->desk.confirmation, context, options,
            &ticket, &office->desk.err) != OWED_OK)
        fail_msg("%s", office->desk.err.text);
    return ticket;
}

static void
drain(struct office *office)
{
    assert_int_equal(
        owed_outbox_drain(office->outbox, OWED_DRAIN_ALL, NULL, &office->desk.err), OWED_OK);
}

static void
check_failed(owed_ticket *ticket, owed_status wanted, const char *sentence)
{
    const owed_receipt *receipt = NULL;
    owed_error err;
    assert_true(owed_ticket_is_failed(ticket));
    assert_false(owed_ticket_is_sent(ticket));
    assert_int_equal(owed_ticket_result(ticket, &receipt, &err), wanted);
    assert_string_equal(err.text, sentence);
    assert_null(receipt);
    owed_ticket_release(ticket);
}

static void
check_sent(owed_ticket *ticket, const char *reference)
{
    const owed_receipt *receipt;
    owed_error err;
    assert_true(owed_ticket_is_sent(ticket));
    assert_int_equal(owed_ticket_result(ticket, &receipt, &err), OWED_OK);
    assert_string_equal(receipt->reference, reference);
    owed_ticket_release(ticket);
}

/* --- enqueue --- */

static int64_t
outbox_now(void *state)
{
    (void)state;
    return 42;
}

static void
to_enqueue_touches_nothing(void **state)
{
    (void)state;
    struct office office = {0};
    const owed_outbox_options options = {
        .clock = {.now_us = outbox_now, .monotonic_us = outbox_now}};
    office_open(&office, NULL, &options);
    owed_ticket *ticket = enqueue(&office, &(owed_recipient){0}, NULL,
        &(owed_send_options){.dedup_key = "k"}); // nobody, and nothing that would render
    const owed_receipt *receipt;
    owed_error err;
    assert_int_equal(owed_ticket_state_of(ticket), OWED_TICKET_PENDING);
    assert_int_equal(owed_ticket_result(ticket, &receipt, &err), OWED_PENDING);
    assert_non_null(strstr(err.text, owed_ticket_id(ticket)));
    assert_int_equal(strlen(owed_ticket_id(ticket)), 32);
    assert_int_equal(strspn(owed_ticket_id(ticket), "0123456789abcdef"), 32);
    assert_int_equal(owed_ticket_enqueued_at_us(ticket), 42);
    assert_int_equal(owed_outbox_length(office.outbox), 1);
    assert_int_equal(owed_dedup_count(owed_dispatcher_dedup(office.desk.dispatcher)), 0);
    assert_int_equal(office.desk.sms.calls, 0);
    assert_false(owed_ticket_wait(ticket, 0));
    owed_ticket_release(ticket);
    office_close(&office);
}

static void
a_ticket_keeps_copies_of_all_that_it_was_given(void **state)
{
    (void)state;
    struct office office = {0};
    office_open(&office, NULL, NULL);
    char phone[] = "+49151000000", email[] = "ada@example.com", id[] = "A-1042",
         name[] = "order_id";
    char subject[] = "Hello", channel[] = "email", key[] = "order-7", other[] = "slack";
    const owed_address others[] = {{other, phone}, {NULL, NULL}};
    const char *preferred[] = {channel, NULL};
    owed_quiet_hours windows[] = {{"22:00", "07:00", preferred, 0}, {.start = NULL}};
    owed_value context[] = {
        OWED_VALUE_TEXT(name, id), OWED_VALUE_DOUBLE("total", 1), OWED_VALUES_END};
    owed_retry retry = {.attempts = 2};
    owed_recipient recipient = {.phone = phone,
        .email = email,
        .others = others,
        .preferred = preferred,
        .quiet_hours = windows};
    char file[] = "a.pdf", media[] = "application/pdf", pdf[] = "%PDF",
         url[] = "mailto:u@shop.example";
    owed_attachment files[] = {{file, media, pdf, strlen(pdf)}, {NULL, NULL, NULL, 0}};
    owed_send_options options = {.subject = subject,
        .channel = channel,
        .dedup_key = key,
        .retry = &retry,
        .now_us = DESK_NOW + 9 * 3600 * SECOND,
        .urgency = OWED_URGENCY_URGENT,
        .attachments = files,
        .unsubscribe = url};
    office.desk.email = (struct teller){
        .answers = {{.reason = "busy"}, {.verdict = OWED_ANSWER_SENT}}, .answer_count = 2};
    owed_ticket *ticket = enqueue(&office, &recipient, context, &options);
    char *const all[] = {
        phone, email, id, name, subject, channel, key, other, file, media, pdf, url};
    for (size_t i = 0; i < COUNT(all); i++)
        memset(all[i], 'x', strlen(all[i]));
    memset(context, 0, sizeof context);
    memset(windows, 0, sizeof windows);
    memset(files, 0, sizeof files);
    memset(&recipient, 0, sizeof recipient);
    memset(&options, 0, sizeof options);
    retry.attempts = 1;
    drain(&office);
    const owed_receipt *receipt;
    owed_error err;
    if (owed_ticket_result(ticket, &receipt, &err) != OWED_OK)
        fail_msg("%s", err.text);
    assert_string_equal(receipt->address, "ada@example.com");
    assert_string_equal(receipt->subject, "Hello");
    assert_string_equal(receipt->text, "A-1042: 1.00");
    assert_string_equal(
        office.desk.email.extras[1], "a.pdf application/pdf %PDF mailto:u@shop.example");
    assert_int_equal(receipt->attempts, 2);
    assert_int_equal(owed_dedup_count(owed_dispatcher_dedup(office.desk.dispatcher)), 1);
    owed_ticket_release(ticket);
    office_close(&office);
}

static void
a_ticket_keeps_its_language_and_its_wish_for_another_channel(void **state)
{
    (void)state;
    struct office office = {0};
    office_open(&office, NULL, NULL);
    const owed_template_variant variants[] = {
        {"en", {.name = "greeting", .text = "Hello"}},
        {"de", {.name = "greeting", .text = "Hallo"}},
        {.locale = NULL},
    };
    owed_template *greeting = NULL;
    assert_int_equal(
        owed_template_localized_new("greeting", variants, NULL, &greeting, NULL), OWED_OK);
    office.desk.sms = (struct teller){.answers = {{.reason = "busy"}}, .answer_count = 1};
    char locale[] = "de-AT";
    owed_ticket *ticket = NULL;
    assert_int_equal(
        owed_outbox_enqueue(office.outbox, &ada, greeting, NULL,
            &(owed_send_options){.locale = locale, .fall_through = true}, &ticket, NULL),
        OWED_OK);
    memset(locale, 'x', strlen(locale));
    drain(&office);
    const owed_receipt *receipt;
    assert_int_equal(owed_ticket_result(ticket, &receipt, NULL), OWED_OK);
    assert_string_equal(receipt->text, "Hallo");
    assert_string_equal(receipt->channel, "email");
    owed_ticket_release(ticket);
    office_close(&office);
    owed_template_free(greeting);
}

static void
a_full_outbox_refuses(void **state)
{
    (void)state;
    struct office office = {0};
    owed_outbox *none = NULL;
    office_open(&office, NULL, &(owed_outbox_options){.max_pending = 2});
    owed_ticket_release(enqueue(&office, &ada, full_context, NULL));
    owed_ticket_release(enqueue(&office, &ada, full_context, NULL));
    owed_ticket *ticket = NULL;
    assert_int_equal(owed_outbox_enqueue(office.outbox, &ada, office.desk.confirmation,
                         full_context, NULL, &ticket, &office.desk.err),
        OWED_LIMIT);
    assert_null(ticket);
    assert_string_equal(
        office.desk.err.text, "the outbox is full: 2 tickets are pending, and no more are allowed");
    drain(&office);
    owed_ticket_release(enqueue(&office, &ada, full_context, NULL));
    assert_int_equal(owed_outbox_new(office.desk.dispatcher,
                         &(owed_outbox_options){.max_pending = -1}, &none, &office.desk.err),
        OWED_INVALID);
    owed_send_failure failure;
    assert_int_equal(
        owed_outbox_enqueue(office.outbox, &ada, office.desk.confirmation, full_context,
            &(owed_send_options){.failure = &failure}, NULL, &office.desk.err),
        OWED_INVALID);
    office_close(&office);
}

/* --- drain --- */

static void
a_drain_sends_the_oldest_first_and_a_second_one_finds_nothing(void **state)
{
    (void)state;
    struct office office = {0};
    office_open(&office, NULL, NULL);
    owed_ticket *tickets[3];
    for (size_t i = 0; i < COUNT(tickets); i++)
        tickets[i] = enqueue(&office, &ada, full_context, NULL);
    owed_ticket_list handled;
    assert_int_equal(owed_outbox_drain(office.outbox, 2, &handled, NULL), OWED_OK);
    assert_int_equal(handled.count, 2);
    assert_ptr_equal(handled.tickets[0], tickets[0]);
    assert_ptr_equal(handled.tickets[1], tickets[1]);
    owed_ticket_list_done(&handled);
    assert_int_equal(owed_outbox_length(office.outbox), 1);
    assert_int_equal(owed_ticket_state_of(tickets[2]), OWED_TICKET_PENDING);
    drain(&office);
    assert_int_equal(owed_outbox_drain(office.outbox, OWED_DRAIN_ALL, &handled, NULL), OWED_OK);
    assert_int_equal(handled.count, 0);
    owed_ticket_list_done(&handled);
    check_sent(tickets[0], "r1");
    check_sent(tickets[1], "r2");
    check_sent(tickets[2], "r3");
    office_close(&office);
}

static void
note_thread(void *state)
{
    *(pthread_t *)state = pthread_self();
}

static void
a_drain_runs_on_the_calling_thread(void **state)
{
    (void)state;
    struct office office = {0};
    pthread_t thread = 0;
    office_open(&office, NULL, NULL);
    office.desk.sms.during = note_thread;
    office.desk.sms.during_state = &thread;
    owed_ticket *ticket = enqueue(&office, &ada, full_context, NULL);
    drain(&office);
    assert_true(pthread_equal(thread, pthread_self()));
    check_sent(ticket, "r1");
    office_close(&office);
}

struct look {
    struct office *office;
    owed_ticket *ticket;
    owed_ticket_state state;
    size_t length;
};

static void
look(void *state)
{
    struct look *seen = state;
    seen->state = owed_ticket_state_of(seen->ticket);
    seen->length = owed_outbox_length(seen->office->outbox);
}

static void
a_ticket_that_is_being_sent_is_pending_and_not_in_the_outbox(void **state)
{
    (void)state;
    struct office office = {0};
    office_open(&office, NULL, NULL);
    struct look seen = {.office = &office, .state = OWED_TICKET_FAILED, .length = 9};
    office.desk.sms.during = look;
    office.desk.sms.during_state = &seen;
    seen.ticket = enqueue(&office, &ada, full_context, NULL);
    drain(&office);
    assert_int_equal(seen.state, OWED_TICKET_PENDING);
    assert_int_equal(seen.length, 0);
    assert_true(owed_ticket_wait(seen.ticket, 0));
    check_sent(seen.ticket, "r1");
    office_close(&office);
}

static void
nobody_has_to_keep_a_ticket(void **state)
{
    (void)state;
    struct office office = {0};
    office_open(&office, NULL, NULL);
    for (int i = 0; i < 2; i++)
        assert_int_equal(owed_outbox_enqueue(office.outbox, &ada, office.desk.confirmation,
                             full_context, NULL, NULL, NULL),
            OWED_OK);
    owed_ticket_release(enqueue(&office, &ada, full_context, NULL));
    owed_ticket_release(NULL);
    assert_int_equal(owed_outbox_drain(office.outbox, 2, NULL, NULL), OWED_OK);
    assert_int_equal(office.desk.sms.calls, 2);
    office_close(&office); // with one pending that is nobody's
}

static void
a_limit_below_one_is_a_fault_of_the_caller(void **state)
{
    (void)state;
    struct office office = {0};
    office_open(&office, NULL, NULL);
    owed_ticket_release(enqueue(&office, &ada, full_context, NULL));
    assert_int_equal(owed_outbox_drain(office.outbox, 0, NULL, &office.desk.err), OWED_INVALID);
    assert_int_equal(owed_outbox_drain(office.outbox, -1, NULL, &office.desk.err), OWED_INVALID);
    assert_string_equal(
        office.desk.err.text, "a drain of -1 tickets, where 1 or more would be right");
    assert_int_equal(owed_outbox_length(office.outbox), 1);
    office_close(&office);
}

static void
one_bad_ticket_does_not_end_the_batch(void **state)
{
    (void)state;
    struct office office = {0};
    office.desk.sms = (struct teller){
        .answers = {{.reason = "busy"}, {.verdict = OWED_ANSWER_SENT, .reference = "late"}},
        .answer_count = 2};
    office_open(&office, NULL, NULL);
    owed_recipient asleep = ada;
    asleep.quiet_hours = (const owed_quiet_hours[]){{"22:00", "07:00", NULL, 0}, {.start = NULL}};
    owed_ticket *broken = enqueue(&office, &ada, NULL, NULL);
    owed_ticket *unreachable = enqueue(&office, &(owed_recipient){0}, full_context, NULL);
    owed_ticket *silenced = enqueue(&office, &asleep, full_context, NULL);
    owed_ticket *refused = enqueue(&office, &ada, full_context, NULL);
    owed_ticket *fine = enqueue(&office, &ada, full_context, NULL);
    drain(&office);
    check_failed(
        broken, OWED_MISSING_VARIABLE, "confirmation: declared, and not given: order_id, total");
    check_failed(unreachable, OWED_UNROUTABLE,
        "confirmation: no channel with an address of the recipient and a sender (asked: push, sms, email)");
    check_failed(silenced, OWED_QUIET_HOURS,
        "confirmation: quiet hours on sms, email until 2100-01-01T07:00:00.000000Z");
    check_failed(
        refused, OWED_UNDELIVERED, "confirmation: sms to \"+49151000000\" was not sent: busy");
    check_sent(fine, "late");
    // The failure of a provider exists twice: with the ticket, and for who runs the service.
    assert_int_equal(
        owed_dead_letters_count(owed_dispatcher_dead_letters(office.desk.dispatcher)), 1);
    office_close(&office);
}

static void
the_hour_that_counts_is_the_drains_or_the_one_that_was_given(void **state)
{
    (void)state;
    struct office office = {0};
    office_open(&office, NULL, NULL);
    owed_recipient asleep = ada;
    asleep.quiet_hours = (const owed_quiet_hours[]){{"22:00", "07:00", NULL, 0}, {.start = NULL}};
    office.desk.now_us = DESK_NOW - 3 * 3600 * SECOND; // 21:00
    owed_ticket *late = enqueue(&office, &asleep, full_context, NULL);
    owed_ticket *given =
        enqueue(&office, &asleep, full_context, &(owed_send_options){.now_us = office.desk.now_us});
    office.desk.now_us = DESK_NOW;
    drain(&office);
    check_failed(late, OWED_QUIET_HOURS,
        "confirmation: quiet hours on sms, email until 2100-01-01T07:00:00.000000Z");
    check_sent(given, "r1");
    office_close(&office);
}

static void
a_key_belongs_to_the_first_that_is_drained(void **state)
{
    (void)state;
    struct office office = {0};
    office_open(&office, NULL, NULL);
    const owed_send_options keyed = {.dedup_key = "order-7"};
    owed_ticket *first = enqueue(&office, &ada, full_context, &keyed);
    owed_ticket *second = enqueue(&office, &ada, full_context, &keyed);
    drain(&office);
    const owed_receipt *receipt;
    assert_int_equal(owed_ticket_result(first, &receipt, NULL), OWED_OK);
    assert_false(receipt->duplicate);
    assert_int_equal(owed_ticket_result(second, &receipt, NULL), OWED_OK);
    assert_true(receipt->duplicate);
    assert_string_equal(receipt->reference, "r1");
    assert_int_equal(office.desk.sms.calls, 1);
    owed_ticket_release(first);
    owed_ticket_release(second);
    office_close(&office);
}

static void
what_is_pending_when_the_outbox_is_closed_fails(void **state)
{
    (void)state;
    struct office office = {0};
    office_open(&office, NULL, NULL);
    owed_ticket *ticket = enqueue(&office, &ada, full_context, NULL);
    char sentence[128];
    snprintf(sentence, sizeof sentence, "ticket %s was pending when its outbox was closed",
        owed_ticket_id(ticket));
    office_close(&office);
    assert_int_equal(office.desk.sms.calls, 0);
    check_failed(ticket, OWED_CLOSED, sentence);
}

/* --- threads --- */

static void *
drain_on_a_thread(void *state)
{
    drain(state);
    return NULL;
}

/* drain_beside starts another drain while a key is being sent, which has to wait for it. */
struct beside {
    struct office *office;
    pthread_t thread;
    bool is_started;
};

static void
drain_beside(void *state)
{
    struct beside *beside = state;
    if (beside->is_started)
        return;
    beside->is_started = true;
    assert_int_equal(pthread_create(&beside->thread, NULL, drain_on_a_thread, beside->office), 0);
}

static void
a_drain_waits_for_a_key_that_another_one_is_sending(void **state)
{
    (void)state;
    struct office office = {0};
    struct beside beside = {.office = &office};
    office.desk.sms.during = drain_beside;
    office.desk.sms.during_state = &beside;
    office_open(&office, NULL, NULL);
    const owed_send_options keyed = {.dedup_key = "order-7"};
    owed_ticket *first = enqueue(&office, &ada, full_context, &keyed);
    owed_ticket *second = enqueue(&office, &ada, full_context, &keyed);
    assert_int_equal(owed_outbox_drain(office.outbox, 1, NULL, NULL), OWED_OK);
    assert_true(owed_ticket_wait(second, LONG));
    pthread_join(beside.thread, NULL);
    const owed_receipt *receipt;
    assert_int_equal(owed_ticket_result(second, &receipt, NULL), OWED_OK);
    assert_true(receipt->duplicate);
    assert_int_equal(office.desk.sms.calls, 1);
    check_sent(first, "r1");
    owed_ticket_release(second);
    office_close(&office);
}

static void
a_worker_sends_what_arrives_and_once_more_when_it_stops(void **state)
{
    (void)state;
    struct office office = {0};
    owed_worker *worker;
    office_open(&office, NULL, NULL);
    assert_int_equal(owed_worker_new(office.outbox, -1, &worker, NULL), OWED_INVALID);
    assert_int_equal(owed_worker_new(office.outbox, LONG, &worker, NULL), OWED_OK);
    owed_worker_stop(worker); // one that does not run
    assert_int_equal(owed_worker_start(worker, NULL), OWED_OK);
    assert_int_equal(owed_worker_start(worker, &office.desk.err), OWED_INVALID);
    assert_string_equal(office.desk.err.text, "the worker runs already");
    owed_ticket *early = enqueue(&office, &ada, full_context, NULL);
    assert_true(owed_ticket_wait(early, LONG)); // it does not sleep its interval out
    owed_ticket *last = enqueue(&office, &ada, full_context, NULL);
    owed_worker_stop(worker);
    assert_true(owed_ticket_is_sent(last));
    assert_int_equal(owed_worker_start(worker, NULL), OWED_OK);
    owed_ticket *again = enqueue(&office, &ada, full_context, NULL);
    owed_worker_free(worker);
    check_sent(early, "r1");
    check_sent(last, "r2");
    check_sent(again, "r3");
    office_close(&office);
}

/* is_asleep tells whether every thread but this one waits for something. */
static bool
is_asleep(void)
{
    DIR *tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    bool all = true;
    for (struct dirent *task = readdir(tasks); task != NULL; task = readdir(tasks)) {
        char path[300], text[512] = "";
        if (task->d_name[0] == '.' || strtol(task->d_name, NULL, 10) == gettid())
            continue;
        snprintf(path, sizeof path, "/proc/self/task/%s/stat", task->d_name);
        FILE *file = fopen(path, "re");
        if (file == NULL)
            continue; // it has ended
        size_t len = fread(text, 1, sizeof text - 1, file);
        fclose(file);
        const char *state = len == 0 ? NULL : strrchr(text, ')');
        all = all && state != NULL && state[2] == 'S';
    }
    closedir(tasks);
    return all;
}

static void
await_sleep(void)
{
    int64_t end_us = clock_monotonic_us(&clock_system) + LONG / 6;
    while (!is_asleep()) {
        assert_true(clock_monotonic_us(&clock_system) < end_us);
        sched_yield();
    }
}

static void
a_worker_that_waits_is_woken_by_what_arrives_and_by_a_stop(void **state)
{
    (void)state;
    struct office office = {0};
    owed_worker *worker;
    office_open(&office, NULL, NULL);
    assert_int_equal(owed_worker_new(office.outbox, LONG, &worker, NULL), OWED_OK);
    for (int round = 0; round < 5; round++) {
        assert_int_equal(owed_worker_start(worker, NULL), OWED_OK);
        await_sleep();
        owed_ticket *ticket = enqueue(&office, &ada, full_context, NULL);
        assert_true(owed_ticket_wait(ticket, LONG / 6));
        owed_ticket_release(ticket);
        await_sleep();
        int64_t began_us = clock_monotonic_us(&clock_system);
        owed_worker_stop(worker);
        assert_true(clock_monotonic_us(&clock_system) - began_us < LONG / 6);
    }
    owed_worker_free(worker);
    office_close(&office);
}

/* What each send enqueues again. */
struct feeder {
    struct office *office;
    const owed_send_options *options;
    bool drains;
    owed_ticket *latest;
};

static void
answer_and_enqueue(const owed_channel *channel, const owed_message *message, owed_answer *answer)
{
    (void)message;
    struct feeder *feeder = channel->state;
    owed_ticket *next = enqueue(feeder->office, &ada, full_context, feeder->options);
    if (feeder->drains)
        assert_int_equal(owed_outbox_drain(feeder->office->outbox, 1, NULL, NULL), OWED_OK);
    owed_ticket_release(feeder->latest);
    feeder->latest = next;
    answer->verdict = OWED_ANSWER_SENT;
}

static void
feeder_open(struct office *office, struct feeder *feeder)
{
    feeder->office = office;
    const owed_channel channel = {.name = "sms", .send = answer_and_enqueue, .state = feeder};
    office_open(office, NULL, NULL);
    assert_int_equal(owed_dispatcher_add(office->desk.dispatcher, &channel, NULL), OWED_OK);
}

static void
a_worker_stops_however_fast_others_enqueue(void **state)
{
    (void)state;
    struct office office = {0};
    struct feeder feeder = {0};
    owed_worker *worker;
    feeder_open(&office, &feeder);
    assert_int_equal(owed_worker_new(office.outbox, LONG, &worker, NULL), OWED_OK);
    assert_int_equal(owed_worker_start(worker, NULL), OWED_OK);
    owed_ticket *first = enqueue(&office, &ada, full_context, NULL);
    assert_true(owed_ticket_wait(first, LONG));
    alarm(30); // what it must not do is go on for ever
    owed_worker_free(worker);
    alarm(0);
    assert_int_equal(owed_outbox_length(office.outbox), 1);
    owed_ticket_release(first);
    owed_ticket_release(feeder.latest);
    office_close(&office);
}

static void
a_key_that_its_own_thread_is_sending_is_refused_and_not_waited_for(void **state)
{
    (void)state;
    struct office office = {0};
    const owed_send_options keyed = {.dedup_key = "order-7"};
    struct feeder feeder = {.options = &keyed, .drains = true};
    owed_error err = {0};
    feeder_open(&office, &feeder);
    owed_ticket *first = enqueue(&office, &ada, full_context, &keyed);
    alarm(30); // what it must not do is wait for itself
    assert_int_equal(owed_outbox_drain(office.outbox, 1, NULL, NULL), OWED_OK);
    alarm(0);
    assert_true(owed_ticket_is_sent(first));
    assert_int_equal(owed_ticket_result(feeder.latest, NULL, &err), OWED_DUPLICATE_SEND);
    assert_non_null(strstr(err.text, "by the thread that would wait for it"));
    owed_ticket_release(first);
    owed_ticket_release(feeder.latest);
    office_close(&office);
}

#define CROWD 4
#define EACH 500

static void
answer_sent(const owed_channel *channel, const owed_message *message, owed_answer *answer)
{
    (void)message;
    __atomic_fetch_add((int *)channel->state, 1, __ATOMIC_RELAXED);
    answer->verdict = OWED_ANSWER_SENT;
}

static void *
enqueue_many(void *state)
{
    struct office *office = state;
    for (int i = 0; i < EACH; i++) {
        owed_ticket *ticket = enqueue(office, &ada, full_context, NULL);
        assert_true(owed_ticket_wait(ticket, LONG));
        assert_true(owed_ticket_is_sent(ticket));
        owed_ticket_release(ticket);
    }
    return NULL;
}

static void
the_channel_knows_a_message_by_its_tickets_id(void **state)
{
    (void)state;
    struct office office = {0};
    owed_ticket *ticket = NULL;
    office_open(&office, NULL, NULL);
    assert_int_equal(owed_outbox_enqueue(office.outbox, &ada, office.desk.confirmation,
                         full_context, &(owed_send_options){.id = "mine"}, &ticket, NULL),
        OWED_OK);
    assert_int_equal(owed_outbox_drain(office.outbox, OWED_DRAIN_ALL, NULL, NULL), OWED_OK);
    assert_string_equal(office.desk.sms.ids[0], owed_ticket_id(ticket));
    owed_ticket_release(ticket);
    office_close(&office);
}

static void
many_threads_and_several_workers_send_each_ticket_once(void **state)
{
    (void)state;
    struct office office = {0};
    owed_worker *workers[2];
    pthread_t threads[CROWD];
    int sent = 0;
    const owed_channel channel = {.name = "sms", .send = answer_sent, .state = &sent};
    office_open(&office, NULL, NULL);
    assert_int_equal(owed_dispatcher_add(office.desk.dispatcher, &channel, NULL), OWED_OK);
    for (size_t i = 0; i < COUNT(workers); i++) {
        assert_int_equal(owed_worker_new(office.outbox, 0, &workers[i], NULL), OWED_OK);
        assert_int_equal(owed_worker_start(workers[i], NULL), OWED_OK);
    }
    for (size_t i = 0; i < CROWD; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, enqueue_many, &office), 0);
    for (size_t i = 0; i < CROWD; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < COUNT(workers); i++)
        owed_worker_free(workers[i]);
    assert_int_equal(sent, CROWD * EACH);
    assert_int_equal(owed_outbox_length(office.outbox), 0);
    office_close(&office);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(to_enqueue_touches_nothing),
        cmocka_unit_test(a_ticket_keeps_copies_of_all_that_it_was_given),
        cmocka_unit_test(a_ticket_keeps_its_language_and_its_wish_for_another_channel),
        cmocka_unit_test(a_full_outbox_refuses),
        cmocka_unit_test(a_drain_sends_the_oldest_first_and_a_second_one_finds_nothing),
        cmocka_unit_test(a_drain_runs_on_the_calling_thread),
        cmocka_unit_test(a_ticket_that_is_being_sent_is_pending_and_not_in_the_outbox),
        cmocka_unit_test(nobody_has_to_keep_a_ticket),
        cmocka_unit_test(a_limit_below_one_is_a_fault_of_the_caller),
        cmocka_unit_test(one_bad_ticket_does_not_end_the_batch),
        cmocka_unit_test(the_hour_that_counts_is_the_drains_or_the_one_that_was_given),
        cmocka_unit_test(a_key_belongs_to_the_first_that_is_drained),
        cmocka_unit_test(what_is_pending_when_the_outbox_is_closed_fails),
        cmocka_unit_test(a_drain_waits_for_a_key_that_another_one_is_sending),
        cmocka_unit_test(a_worker_sends_what_arrives_and_once_more_when_it_stops),
        cmocka_unit_test(a_worker_that_waits_is_woken_by_what_arrives_and_by_a_stop),
        cmocka_unit_test(the_channel_knows_a_message_by_its_tickets_id),
        cmocka_unit_test(a_worker_stops_however_fast_others_enqueue),
        cmocka_unit_test(a_key_that_its_own_thread_is_sending_is_refused_and_not_waited_for),
        cmocka_unit_test(many_threads_and_several_workers_send_each_ticket_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
