/* SPDX-License-Identifier: MIT
 *
 * publisher.h - one receiver's queue, thread and connection.
 */
#ifndef RECEIVE_PUBLISHER_H
#define RECEIVE_PUBLISHER_H

#include "declare/broker_url.h"
#include "receive/broker.h"
#include "receive/publish.h"

#define NUMBER_BYTES 24

/* A delivery on its way to a broker. */
struct posting {
    struct broker_message message; // the first member: a broker hands back messages
    struct publisher *publisher;
    struct flight *flight;
    bool is_sent; // the thread has it, or had it
    char delivery[NUMBER_BYTES];
    char event_id[NUMBER_BYTES];
    char version[NUMBER_BYTES];
    char attempt[NUMBER_BYTES];
    struct posting *next;
};

struct publisher {
    const struct receiver *receiver;
    struct publishers *all;
    pthread_t thread;
    bool is_started;
    pthread_cond_t stirred;
    pthread_cond_t answered;
    struct arena arena;
    struct broker_url url;
    int32_t away_seconds; // of the last deferral; 0: it was there
    int64_t away_until_us;
    enum broker_answer trouble; // AWAY or BARRED, as it was logged; SILENT: it is there
    int64_t trouble_since_us;
    char trouble_text[BROKER_TEXT_BYTES];
    int32_t count; // in flight; ours alone
    // Behind the lock:
    struct posting *queued;
    struct posting **queued_end;
    bool is_over;
    struct publisher *next;
    // The thread's:
    const struct broker_kind *kind;
    void *connection; // NULL: none
};

/* publisher_start starts the thread where it does not run; false: it cannot be. */
bool publisher_start(struct publisher *publisher);

#endif
