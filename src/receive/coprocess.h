/* SPDX-License-Identifier: MIT
 *
 * coprocess.h - one long-lived program and the deliveries that wait for its answers.
 *
 * Which delivery is in hand decides who has failed when the program ends: those that it said it had
 * begun, and where it said so of none, the oldest that it has not answered. The others are given to
 * the next one, in their order, and nothing is counted for them. A time limit runs from the moment at
 * which a delivery is in hand. A program that does not come as far as its hello has failed all that
 * wait for it.
 */
#ifndef RECEIVE_COPROCESS_H
#define RECEIVE_COPROCESS_H

#include "base/log.h"
#include "receive/landing.h"
#include "receive/line_reader.h"
#include "receive/spawn.h"

#define PIPE_IN_FLIGHT 16
#define PIPE_TIMEOUT_US (INT64_C(5) * 60 * 1000000)
#define PIPE_HELLO_US (INT64_C(10) * 1000000)     // never longer than a receiver's timeout
#define PIPE_GRACE_US INT64_C(1000000)            // between two steps of ending it, nor this
#define PIPE_PAUSE_US INT64_C(100000)             // before the next start; it doubles ...
#define PIPE_PAUSE_MAX_US (INT64_C(30) * 1000000) // ... until one has answered a delivery

/* A delivery on its way. */
struct job {
    struct flight *flight; // NULL: abandoned; the answer is still awaited
    int64_t id;            // 0: not given yet
    bool has_begun;        // the program said so
    bool is_late;          // its time is over
    int64_t over_us;       // when its time is over; INT64_MAX: it is not in hand
    struct job *next;
};

enum coprocess_stage {
    COPROCESS_AT_REST, // not running
    COPROCESS_GREETED, // its hello is awaited
    COPROCESS_READY,
    COPROCESS_LEAVING,    // its input is closed
    COPROCESS_TERMINATED, // SIGTERM sent
    COPROCESS_KILLED      // SIGKILL sent
};

struct coprocess {
    const struct receiver *receiver;
    struct landing *landing;
    const struct log *log;
    int epoll;

    enum coprocess_stage stage;
    struct child child;
    int in;            // -1: closed
    bool is_blocked;   // it is on watch until it takes more
    struct buf unsent; // lines
    size_t sent;       // of these
    struct line_reader out;
    struct line_reader err;
    int64_t next_step_us; // what its stage waits for at most; INT64_MAX: nothing
    int64_t over_us;      // when the time of the next delivery is over; INT64_MAX
    int64_t looked_us;    // the last step
    bool said_hello;
    bool has_answered;
    char why[256];          // it is being ended, or was never ready; "": by itself
    char problem[256];      // the last line of its standard error
    int32_t noise;          // lines that mean nothing
    int64_t problem_second; // whose lines of its standard error are counted
    int32_t problem_lines;  // of these were logged
    int64_t unsaid_lines;   // and these not

    int64_t start_us; // at rest: not before
    int64_t pause_us;
    int64_t last_id;
    int32_t limit;    // in flight
    struct job *jobs; // the oldest first
    int32_t count;    // of them
    bool is_stirred;  // something has come for it
    struct coprocess *next;
};

const char *coprocess_command(const struct coprocess *coprocess);

/* coprocess_step does what can be done now; coprocess_next_us is when it wants to be called again. */
void coprocess_step(struct coprocess *coprocess, int64_t now_us);
int64_t coprocess_next_us(const struct coprocess *coprocess);

/* coprocess_leave closes its input, which asks it to end. */
void coprocess_leave(struct coprocess *coprocess, int64_t now_us);

/* --- the program: coprocess.c --- */

/* coprocess_end has it end by SIGTERM, and says why. */
void coprocess_end(struct coprocess *coprocess, int64_t now_us, const char *why);
/* coprocess_send writes what it takes of the unsent lines. */
void coprocess_send(struct coprocess *coprocess);

/* --- its deliveries: coprocess_jobs.c --- */

/* jobs_add appends a flight; false: no memory. jobs_drop forgets one (it was not given), or no longer
 * wants its answer. */
bool jobs_add(struct coprocess *coprocess, struct flight *flight);
void jobs_drop(struct coprocess *coprocess, struct flight *flight);

/* jobs_give gives the ready program what waits. */
void jobs_give(struct coprocess *coprocess);
/* jobs_recall takes out what was not given, as a list. */
struct flight *jobs_recall(struct coprocess *coprocess);
/* jobs_take reads a line of its output. */
void jobs_take(void *coprocess, struct str line, enum line_end end);
/* jobs_watch finds out what is in hand, and whose time is over: true. *ret_next_us: the next one's. */
bool jobs_watch(struct coprocess *coprocess, int64_t now_us, int64_t *ret_next_us);
/* jobs_fail_all fails everything that waits, jobs_settle what was in hand when the program ended as how
 * says; code as in a flight. */
void jobs_fail_all(struct coprocess *coprocess, const char *how, int32_t code);
void jobs_settle(struct coprocess *coprocess, const char *how, int32_t code);
void jobs_free(struct coprocess *coprocess);

#endif
