/* SPDX-License-Identifier: MIT
 *
 * office.c - see office.h.
 */
#include "office.h"

#include <stdio.h>

struct office office;
static pthread_mutex_t told = PTHREAD_MUTEX_INITIALIZER; // of what the last call left

static void
tell(const owed_channel *channel, const owed_message *message, owed_answer *answer)
{
    struct teller *teller = channel->state;
    int call = atomic_fetch_add(&teller->calls, 1) + 1;
    pthread_mutex_lock(&told);
    snprintf(teller->id, sizeof teller->id, "%s", message->id);
    teller->thread = pthread_self();
    pthread_mutex_unlock(&told);
    if (teller->during != NULL)
        teller->during(message);
    *answer = teller->answer;
    if (answer->verdict != OWED_ANSWER_FAILED || answer->reason[0] != '\0')
        return;
    answer->verdict = OWED_ANSWER_SENT;
    snprintf(answer->reference, sizeof answer->reference, "r%d", call);
}

static int64_t
office_now(void *state)
{
    (void)state;
    return office.f->now_us;
}

int
open_office(void **state)
{
    static const owed_variable variables[] = {{"order", OWED_KIND_TEXT}, {NULL, OWED_KIND_END}};
    static const owed_template_source source = {
        .name = "receipt", .variables = variables, .text = "Order {order}."};
    fixture_setup(state);
    office = (struct office){.f = *state};
    owed_error *err = &office.f->err;
    assert_ok(owed_template_new(&source, &office.receipt, err));
    assert_ok(owed_templates_new(&office.templates, err));
    assert_ok(owed_templates_add(office.templates, office.receipt, err));
    const owed_dispatcher_options options = {.clock = {.now_us = office_now}};
    assert_ok(owed_dispatcher_new(&options, &office.dispatcher, err));
    const owed_channel sms = {.name = "sms", .send = tell, .state = &office.sms};
    const owed_channel email = {.name = "email", .send = tell, .state = &office.email};
    assert_ok(owed_dispatcher_add(office.dispatcher, &sms, err));
    assert_ok(owed_dispatcher_add(office.dispatcher, &email, err));
    assert_ok(owed_notifier_new(office.templates, office.dispatcher,
        &(owed_notifier_options){.threads = 2}, &office.notifier, err));
    assert_ok(owed_notify_declare(office.f->registry, office.notifier, err));
    fixture_open(office.f);
    return 0;
}

int
close_office(void **state)
{
    int failed = fixture_teardown(state);
    owed_notifier_free(office.notifier);
    owed_dispatcher_free(office.dispatcher);
    owed_templates_free(office.templates);
    return failed;
}

void
relay(void)
{
    const owed_relay_settings settings = {.all_lanes = true, .once = true};
    owed_status status = owed_relay_run(office.f->owed, &settings, NULL, &office.f->err);
    if (status != OWED_OK)
        fail_msg("%s", office.f->err.text);
}

struct delivery_row
ticket_row(int64_t event_id, struct arena *arena)
{
    struct delivery_row *rows = NULL;
    size_t count = 0;
    const struct filter filter = {.event_id = event_id, .limit = 10};
    assert_ok(store_deliveries(office.f->other, &filter, arena, &rows, &count, &office.f->err));
    assert_int_equal(count, 1);
    return rows[0];
}
