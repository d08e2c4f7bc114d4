/* SPDX-License-Identifier: MIT
 *
 * desk.h - a dispatcher with channels, a clock and waits that tests own.
 */
#ifndef TEST_NOTIFY_DESK_H
#define TEST_NOTIFY_DESK_H

#include "../unit.h"

#include <owed/notify.h>

#define DESK_NOW INT64_C(4102444800000000) // 2100-01-01T00:00:00Z, a Friday
#define SECOND INT64_C(1000000)
#define CALLS_MAX 64

/* A channel that answers as it is told, and notes what it was given. */
struct teller {
    owed_answer answers[8]; // of the first calls; the last one is repeated
    int answer_count;       // 0: all are sent, with reference "r<n>"
    int calls;
    char texts[CALLS_MAX][64];
    char subjects[CALLS_MAX][64];
    char addresses[CALLS_MAX][64];
    char ids[CALLS_MAX][64];
    char extras[CALLS_MAX][128]; // the files, and where to unsubscribe
    void (*during)(void *during_state);
    void *during_state;
};

struct desk {
    owed_dispatcher *dispatcher;
    struct teller sms, push, email;
    int64_t now_us;
    int64_t waits[CALLS_MAX];
    int wait_count;
    owed_template *confirmation; // of order_id and total
    owed_error err;
};

/* desk_open makes a dispatcher with the three channels; options may be NULL, clock and wait are the desk's. */
void desk_open(struct desk *desk, const owed_dispatcher_options *options);
void desk_close(struct desk *desk);

/* desk_send sends the confirmation with all its values. */
owed_status desk_send(struct desk *desk, const owed_recipient *recipient,
    const owed_send_options *options, owed_receipt **ret_receipt);

extern const owed_value full_context[];
extern const owed_recipient ada; // phone +49151000000, email ada@example.com

#endif
