/* SPDX-License-Identifier: MIT
 *
 * requeue.h - deliveries made owed again or withdrawn, events replayed, and the relays told.
 */
#ifndef OPERATE_REQUEUE_H
#define OPERATE_REQUEUE_H

#include "operate/act.h"

/* requeue_dead and cancel_owed do it chunk by chunk; who acts, and who looks on, stands in acting. */
owed_status requeue_dead(owed *handle, const struct requeue *requeue, const struct acting *acting,
    int64_t *ret_count, owed_error *err);
owed_status cancel_owed(owed *handle, const struct requeue *which, const struct acting *acting,
    int64_t *ret_count, int64_t *ret_running, owed_error *err);

/* What to replay: events by id, or those of a name; keys as in store_replay. */
struct replaying {
    const int64_t *ids;
    size_t id_count;
    struct replay_range range; // event_name NULL: by ids
    const char *keys;
    const char *side_lane; // as in store_replay
    int64_t limit;         // of events; below 0: none
    int64_t rate;          // events a second; 0: as fast as it goes
    // An event that was left alone, and why.
    void (*skipped)(void *state, int64_t event_id, const struct replayed *replayed);
    void *state;
};
struct replay_counts {
    int64_t events;
    int64_t reopened;
    int64_t added;
    int64_t left;
    int64_t skipped;
};
owed_status replay_events(owed *handle, const struct replaying *replaying,
    const struct acting *acting, struct replay_counts *ret, owed_error *err);

#endif
