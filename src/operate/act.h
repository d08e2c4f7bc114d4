/* SPDX-License-Identifier: MIT
 *
 * act.h - what all that operators do has in common: it goes piece by piece, each committed by itself, and
 * owed_audit says who did it to how many. What was cut off is begun again and finds the rest.
 */
#ifndef OPERATE_ACT_H
#define OPERATE_ACT_H

#include "deliver/handle.h"
#include "store/look.h"
#include "store/prune.h"

struct acting {
    const char *who;                           // for owed_audit
    const char *what;                          // the words of the command, for owed_audit
    int64_t now_us;                            // when it began
    bool dry_run;                              // nothing is changed, and nothing noted
    void (*step)(void *state, int64_t so_far); // after each piece; NULL: nobody looks
    void *state;
};

/* act_begin notes that something begins, act_step that a piece is done, act_end that all is. */
owed_status act_begin(struct db *db, const struct acting *acting, const char *action,
    int64_t *ret_id, owed_error *err);
owed_status act_step(struct db *db, const struct acting *acting, int64_t id, int64_t how_many,
    int64_t so_far, owed_error *err);
owed_status act_end(struct db *db, const struct acting *acting, int64_t id, owed_error *err);

/* pause_all and resume_all pause a lane or a receiver, and end it. */
owed_status pause_all(struct db *db, const struct pausing *pausing, const struct acting *acting,
    int64_t *ret_receivers, owed_error *err);
owed_status resume_all(struct db *db, const struct pausing *pausing, const struct acting *acting,
    int64_t *ret_receivers, owed_error *err);

/* prune_all deletes what can go, or only counts it. */
owed_status prune_all(struct db *db, const struct prune *prune, const struct acting *acting,
    int64_t *ret_events, owed_error *err);

#endif
