/* SPDX-License-Identifier: MIT
 *
 * errand.h - an attempt that its receiver has taken along, to be finished later, from any thread.
 *
 * What is finished waits in a line until the relay's own thread takes it. The line, and the batch that
 * an errand's facts live in, stay until the last receiver has let go of its delivery, be the relay over
 * or not.
 */
#ifndef DELIVER_ERRAND_H
#define DELIVER_ERRAND_H

#include <stdbool.h>

#include <owed/owed.h>

enum errand_state {
    ERRAND_NONE, // not handed out yet
    ERRAND_OPEN,
    ERRAND_FINISHED,
    ERRAND_CLOSED // the relay no longer waits for it
};

struct batch;
struct sortie;
struct errands;

/* Set up by errand_open; state and all below it is guarded by the line's lock. */
struct errand {
    struct errands *line;
    struct batch *batch;
    struct sortie *sortie;
    enum errand_state state;
    owed_outcome outcome;
    owed_finish_function function; // NULL: the outcome stands
    void *function_state;
    struct errand *next; // in the line
};

owed_status errands_new(struct errands **ret_line, owed_error *err);
/* errands_let_go frees the line once no delivery is left. NULL: fine. */
void errands_let_go(struct errands *line);

/* errands_fd is readable when something is finished; errands_take returns it all, as a list. */
int errands_fd(const struct errands *line);
struct errand *errands_take(struct errands *line);

/* errand_prepare puts a delivery under the line's lock: its siblings, whose memory it shares, may be in
 * other hands. errand_open hands it out; errand_withdraw does not. */
void errand_prepare(struct errand *errand, struct errands *line, struct batch *batch,
    struct sortie *sortie, owed_delivery *delivery);

void errand_open(struct errand *errand);
void errand_withdraw(struct errand *errand, owed_delivery *delivery);

/* errand_close ends the waiting; false: it is finished already, and in the line. */
bool errand_close(struct errand *errand);

/* errand_hold takes the lock of a delivery that may be in other hands; false: what was said of it
 * stands. A delivery that is no errand can always be written to. errand_unhold follows either. */
bool errand_hold(const owed_delivery *delivery);
void errand_unhold(const owed_delivery *delivery);

#endif
