/* SPDX-License-Identifier: MIT
 *
 * crew.h - the supervisor's workers, each at its post: started, watched, buried, started anew.
 */
#ifndef DELIVER_CREW_H
#define DELIVER_CREW_H

#include <signal.h>
#include <sys/types.h>

#include "deliver/supervisor.h"

enum post_state {
    POST_VACANT, // to be started at start_at_us
    POST_MANNED,
    POST_CLOSED // its worker ended and none follows
};

struct post {
    enum post_state state;
    pid_t pid;
    int64_t start_at_us;
    int64_t started_at_us;
    int crashes;              // in a row, not in a receiver: each makes the next pause longer
    int64_t first_of_row_us;  // when that row began
    bool was_ready;           // some worker at this post was, once
    enum death_cause killing; // we sent SIGKILL for this reason; DEATH_NONE: we did not
    unsigned killed_turn;     // DEATH_TIMEOUT: of the hand that was over its time
    bool has_last_rites;      // started once more to make good a death during the stop
};

struct crew {
    const struct supervisor *settings;
    struct shared *shared;
    int shared_fd;
    sigset_t signals; // the mask that workers start with
    bool stopping;
    bool abandoned;                  // killed for good: nobody follows
    int failure;                     // exit status that ends the relay; 0: none
    struct post posts[SHARED_SLOTS]; // by slot
};

/* All times are CLOCK_MONOTONIC. */

/* crew_add opens a post. */
void crew_add(struct crew *crew, enum role role);

/* crew_start starts a worker at every vacant post whose time has come. */
void crew_start(struct crew *crew, int64_t now_us);

/* crew_bury takes in the children that ended. A worker's death is noted for the next at its post,
 * and what comes of it decided: another at once, another later, none, or the end of the relay. */
void crew_bury(struct crew *crew, int64_t now_us);

/* crew_kill_overdue kills the workers whose receivers ran past their timeouts. */
void crew_kill_overdue(struct crew *crew, int64_t now_us);

/* crew_kill kills all that live: what they had in hand does not count. for_good: none follows that
 * would hand it back, so that it waits for its leases to end. */
void crew_kill(struct crew *crew, bool for_good);

/* crew_stop asks all to stop. Only who must make good a death is still started. */
void crew_stop(struct crew *crew, int64_t now_us);

bool crew_is_ready(const struct crew *crew);
bool crew_is_gone(const struct crew *crew);

/* crew_next_us tells when there is something to do at the earliest; INT64_MAX: when somebody rings. */
int64_t crew_next_us(const struct crew *crew);

#endif
