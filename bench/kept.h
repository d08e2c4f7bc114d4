/* SPDX-License-Identifier: MIT
 *
 * kept.h - an outbox that a store keeps, with one channel: what its benchmarks share. Whatever fails ends the program.
 */
#ifndef BENCH_KEPT_H
#define BENCH_KEPT_H

#include <owed/outbox.h>
#include <owed/owed.h>

typedef void (*kept_send)(
    const owed_channel *channel, const owed_message *message, owed_answer *answer);

struct kept {
    owed *handle;
    owed_outbox *outbox;
    owed_template *tmpl; // its text is the ticket's number
    owed_templates *templates;
    owed_dispatcher *dispatcher;
    owed_notifier *notifier;
    owed_registry *registry;
};

/* kept_open makes the store where there is none, and takes a clock of zeroes as the system's. kept_close frees all of it. */
void kept_open(struct kept *kept, const char *url, kept_send send, owed_clock clock);
void kept_close(struct kept *kept);

/* kept_enqueue puts tickets numbered from 0 on into it, 1,000 in a transaction. */
void kept_enqueue(const struct kept *kept, int64_t tickets);

void kept_must(owed_status status, const owed_error *err);

#endif
