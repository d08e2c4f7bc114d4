/* SPDX-License-Identifier: MIT
 *
 * office.h - a store, a notifier with two channels that answer as they are told, and what became of tickets.
 */
#ifndef TEST_NOTIFY_OFFICE_H
#define TEST_NOTIFY_OFFICE_H

#include "../deliver/fixture.h"

#include <owed/notifier.h>

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define SECOND INT64_C(1000000)

/* A channel that answers as it is told. */
struct teller {
    owed_answer answer; // zeroed: sent
    atomic_int calls;
    char id[64];
    pthread_t thread; // of the last call
    void (*during)(const owed_message *message);
};

extern struct office {
    struct fixture *f;
    struct teller sms, email;
    owed_template *receipt; // of order
    owed_templates *templates;
    owed_dispatcher *dispatcher;
    owed_notifier *notifier;
} office;

/* Set-up and teardown of a test. */
int open_office(void **state);
int close_office(void **state);

/* relay delivers what is due. */
void relay(void);

struct delivery_row ticket_row(int64_t event_id, struct arena *arena);

#define check_row(event_id_, status_, attempts_, result_) \
    do { \
        struct arena arena_; \
        arena_init(&arena_, 0); \
        struct delivery_row row_ = ticket_row((event_id_), &arena_); \
        if (strcmp(row_.status, (status_)) != 0 || row_.attempts != (attempts_) || \
            strstr(row_.result, (result_)) == NULL) \
            fail_msg("%s, %d attempts, \"%s\", %s", row_.status, row_.attempts, row_.last_error, \
                row_.result); \
        arena_done(&arena_); \
    } while (0)

#endif
