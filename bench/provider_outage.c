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
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kept.h"

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
run(const char *url)
{
    struct kept kept;
    owed_error err;
    kept_open(&kept, url, provide, (owed_clock){.now_us = world_now});
    kept_enqueue(&kept, world.tickets);
    for (; owed_outbox_length(kept.outbox) > 0 && world.now_us < START_US + END_US;
         world.now_us += STEP_US)
        kept_must(owed_outbox_drain(kept.outbox, OWED_DRAIN_ALL, NULL, &err), &err);
    kept_close(&kept);
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
