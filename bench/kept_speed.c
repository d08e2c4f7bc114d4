/* SPDX-License-Identifier: MIT
 *
 * kept_speed.c - tickets into an outbox that a store keeps, 1,000 in a transaction, and out of it through a channel
 * that does nothing.
 *
 * usage: kept_speed URL TICKETS
 *
 * Prints "ENQUEUED DRAINED", in tickets a second; fails where one is left.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "kept.h"

static void
send_nothing(const owed_channel *channel, const owed_message *message, owed_answer *answer)
{
    (void)channel;
    (void)message;
    answer->verdict = OWED_ANSWER_SENT;
}

static double
now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int
main(int argc, char **argv)
{
    int64_t tickets = argc == 3 ? strtoll(argv[2], NULL, 10) : 0;
    if (tickets < 1) {
        fprintf(stderr, "usage: kept_speed URL TICKETS\n");
        return 64;
    }
    struct kept kept;
    owed_error err;
    kept_open(&kept, argv[1], send_nothing, (owed_clock){0});
    double from_s = now_s();
    kept_enqueue(&kept, tickets);
    double enqueued_s = now_s();
    kept_must(owed_outbox_drain(kept.outbox, OWED_DRAIN_ALL, NULL, &err), &err);
    double drained_s = now_s();
    size_t left = owed_outbox_length(kept.outbox);
    kept_close(&kept);
    printf("%.0f %.0f\n", (double)tickets / (enqueued_s - from_s),
        (double)tickets / (drained_s - enqueued_s));
    return left == 0 ? 0 : 1;
}
