/* SPDX-License-Identifier: MIT
 *
 * provider_outage.c - tickets of a store while a provider is away for an hour, on a clock that is passed in.
 *
 * usage: provider_outage URL wait|fail TICKETS     what the provider says meanwhile: come back in five minutes, or nothing
 *
 * It is drained once a minute of that clock. Prints, one a line: how many were sent, twice,
 * not at all, and, of those that the outage never met, in the wrong order; how often the provider was called
 * during the outage and in all.
 */
#include <owed/outbox.h>
#include <owed/owed.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000000)
#define START_US (INT64_C(4102444800) * SECOND)
#define OUTAGE_US (3600 * SECOND)
#define STEP_US (60 * SECOND)
#define END_US (12 * 3600 * SECOND) // nobody waits longer than that

static struct {
    int64_t now_us;
    int64_t tickets, sent, twice, late, calls, calls_away;
    int64_t last_untouched; // of those that the outage never met, the last that was sent
    unsigned char *seen;    // 1: called during the outage, 2: sent
    bool fails;
} world = {.now_us = START_US};

static int64_t
world_now(void *state)
{
    (void)state;
    return world.now_us;
}

static void
provide(const owed_channel *channel, const owed_message *message, owed_answer *answer)
{
    (void)channel;
    int64_t number = strtoll(message->text, NULL, 10);
    unsigned char *seen = &world.seen[number];
    world.calls++;
    if (world.now_us < START_US + OUTAGE_US) {
        world.calls_away++;
        *seen |= 1;
        answer->verdict = world.fails ? OWED_ANSWER_FAILED : OWED_ANSWER_WAIT;
        answer->wait_us = 300 * SECOND;
        snprintf(answer->reason, sizeof answer->reason, "the provider is away");
        return;
    }
    answer->verdict = OWED_ANSWER_SENT;
    world.twice += (*seen & 2) != 0;
    world.sent += (*seen & 2) == 0;
    if ((*seen & 1) == 0) {
        world.late += number < world.last_untouched;
        world.last_untouched = number;
    }
    *seen |= 2;
}

static void
must(owed_status status, const owed_error *err)
{
    if (status == OWED_OK)
        return;
    fprintf(stderr, "%s\n", err->text);
    exit(1);
}

static void
enqueue_all(owed *handle, owed_outbox *outbox, const owed_template *tmpl)
{
    static const owed_recipient ada = {.phone = "+49151000000"};
    owed_error err;
    owed_tx *tx = NULL;
    for (int64_t i = 0; i < world.tickets; i++) {
        if (i % 1000 == 0)
            must(owed_begin(handle, &tx, &err), &err);
        const owed_value context[] = {OWED_VALUE_INT64("n", i), OWED_VALUES_END};
        const owed_send_options options = {.tx = tx};
        must(owed_outbox_enqueue(outbox, &ada, tmpl, context, &options, NULL, &err), &err);
        if (i % 1000 == 999 || i == world.tickets - 1)
            must(owed_commit(tx, &err), &err);
    }
}

static void
run(const char *url)
{
    static const owed_variable variables[] = {{"n", OWED_KIND_INT64}, {NULL, OWED_KIND_END}};
    static const owed_template_source source = {
        .name = "number", .variables = variables, .text = "{n}"};
    const owed_clock clock = {.now_us = world_now};
    const owed_channel sms = {.name = "sms", .send = provide};
    const owed_notifier_options options = {.threads = 1};
    owed_error err;
    owed_template *tmpl = NULL;
    owed_templates *templates = NULL;
    owed_dispatcher *dispatcher = NULL;
    owed_notifier *notifier = NULL;
    owed_registry *registry = NULL;
    owed *handle = NULL;
    owed_outbox *outbox = NULL;
    must(owed_init(url, &err), &err);
    must(owed_template_new(&source, &tmpl, &err), &err);
    must(owed_templates_new(&templates, &err), &err);
    must(owed_templates_add(templates, tmpl, &err), &err);
    must(owed_dispatcher_new(&(owed_dispatcher_options){.clock = clock}, &dispatcher, &err), &err);
    must(owed_dispatcher_add(dispatcher, &sms, &err), &err);
    must(owed_notifier_new(templates, dispatcher, &options, &notifier, &err), &err);
    must(owed_registry_new("shop", &registry, &err), &err);
    must(owed_notify_declare(registry, notifier, &err), &err);
    const owed_settings settings = {.url = url, .registry = registry, .clock = clock};
    must(owed_open(&settings, &handle, &err), &err);
    must(owed_outbox_open(handle, notifier, NULL, &outbox, &err), &err);
    enqueue_all(handle, outbox, tmpl);
    for (; owed_outbox_length(outbox) > 0 && world.now_us < START_US + END_US;
         world.now_us += STEP_US)
        must(owed_outbox_drain(outbox, OWED_DRAIN_ALL, NULL, &err), &err);
    owed_outbox_free(outbox);
    owed_close(handle);
    owed_registry_free(registry);
    owed_notifier_free(notifier);
    owed_dispatcher_free(dispatcher);
    owed_templates_free(templates);
}

int
main(int argc, char **argv)
{
    world.tickets = argc == 4 ? strtoll(argv[3], NULL, 10) : 0;
    if (world.tickets < 1) {
        fprintf(stderr, "usage: provider_outage URL wait|fail TICKETS\n");
        return 64;
    }
    world.fails = strcmp(argv[2], "fail") == 0;
    world.seen = calloc((size_t)world.tickets, 1);
    if (world.seen == NULL)
        return 1;
    run(argv[1]);
    printf("sent %" PRId64 "\ntwice %" PRId64 "\nlost %" PRId64 "\nlate %" PRId64
           "\ncalls_away %" PRId64 "\ncalls %" PRId64 "\nminutes %" PRId64 "\n",
        world.sent, world.twice, world.tickets - world.sent, world.late, world.calls_away,
        world.calls, (world.now_us - START_US) / SECOND / 60);
    free(world.seen);
    return 0;
}
