/* SPDX-License-Identifier: MIT
 *
 * outside.h - attempts that run outside any transaction, many at once, on one poll loop.
 *
 * The relay starts flights and collects their results; how a request is sent or a program is run is
 * the business of src/receive, which fills in outside_builtin.
 */
#ifndef DELIVER_OUTSIDE_H
#define DELIVER_OUTSIDE_H

#include "base/buf.h"
#include "deliver/delivery.h"

struct card; // endpoints.h

/* One attempt under way. The relay owns it; it lives until the relay has settled it. */
struct flight {
    owed_delivery delivery; // its facts, and the text of its outcome
    int64_t started_at_us;  // wall clock
    int64_t started_mono_us;
    int64_t
        timeout_us; // of the attempt; 0: the kind's own default (webhook 30 s, exec and pipe 5 min)

    // Set by the builtin when it ends:
    owed_outcome outcome;
    int32_t code;      // HTTP status, exit status, or minus the signal
    char excerpt[256]; // of the answer, UTF-8
    int64_t duration_us;
    bool is_put_off; // there was no attempt: its destination has no room for it just now

    const struct card *endpoint; // where the target is one that was looked up
    void *builtin;               // the builtin's own state while it flies
    struct flight *next;         // in the relay's lists
};

struct outside_settings {
    int32_t in_flight;      // requests at once
    int32_t exec_in_flight; // programs at once
    owed_clock clock;
    const struct log *log;
};

struct outside; // the loop's state

struct outside_ops {
    owed_status (*open)(
        const struct outside_settings *settings, struct outside **ret_outside, owed_error *err);

    /* room says how many more attempts of that receiver can start now. */
    int32_t (*room)(struct outside *outside, const struct receiver *receiver);

    /* start begins an attempt and returns; it may end at once. It never fails: what goes wrong is an
     * outcome. */
    void (*start)(struct outside *outside, struct flight *flight);

    /* poll waits up to timeout_ms (0: not at all) for something to end, or for one of fds to become
     * readable, does what can be done, and returns the flights that ended since, as a list. */
    struct flight *(*poll)(
        struct outside *outside, const int *fds, size_t fd_count, int timeout_ms);

    /* abandon ends a flight without an outcome (stop-grace): killed, closed, not to be settled. */
    void (*abandon)(struct outside *outside, struct flight *flight);

    /* recall takes back the flights that were started and that nobody outside was told of yet, as a list: they
     * are neither run nor settled. A relay that stops asks for them. NULL: there never are any. */
    struct flight *(*recall)(struct outside *outside);

    /* away appends whom what was started does not reach, since when and why, parted by "; ". NULL: all is reached. */
    void (*away)(const struct outside *outside, struct buf *text);
    void (*close)(struct outside *outside);
};

extern const struct outside_ops outside_builtin; // src/receive/loop.c

#endif
