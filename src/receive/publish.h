/* SPDX-License-Identifier: MIT
 *
 * publish.h - receivers that hand events to a broker: a thread and a connection for each.
 *
 * What is started while one batch is under way makes the next. A delivery is done once the broker has
 * acknowledged it. A broker that is away, or does not answer, has its deliveries put off, with no attempt
 * spent; what it may have taken is sent again under the same id.
 */
#ifndef RECEIVE_PUBLISH_H
#define RECEIVE_PUBLISH_H

#include <pthread.h>

#include "base/buf.h"
#include "base/log.h"
#include "receive/landing.h"

#define PUBLISH_IN_FLIGHT 500
#define PUBLISH_TIMEOUT_US (INT64_C(30) * 1000000)

struct publisher;
struct posting;

struct publishers {
    struct landing *landing;
    const struct log *log;
    struct publisher *first;
    int ended_fd; // readable when something has been answered
    pthread_mutex_t lock;
    bool is_open;
    struct posting *ended; // behind the lock: the last one first
};

owed_status publishers_open(
    struct publishers *publishers, struct landing *landing, const struct log *log, owed_error *err);

/* publishers_close ends the threads; one that waits for its broker does so to the end of its time. */
void publishers_close(struct publishers *publishers);

int32_t publishers_room(struct publishers *publishers, const struct receiver *receiver);
void publishers_start(struct publishers *publishers, struct flight *flight);
/* publishers_step lands what was answered. */
void publishers_step(struct publishers *publishers);
/* publishers_abandon waits for the answer where the broker has been sent it. */
void publishers_abandon(struct publishers *publishers, struct flight *flight);
/* publishers_away appends which brokers are away or refuse, since when and why, parted by "; ". */
void publishers_away(const struct publishers *publishers, struct buf *text);
/* publishers_recall takes back what no broker was sent, as a list. */
struct flight *publishers_recall(struct publishers *publishers);

#endif
