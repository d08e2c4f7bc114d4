/* SPDX-License-Identifier: MIT
 *
 * local.h - receivers that run in the firing process: INLINE before the commit, ON_COMMIT after it.
 */
#ifndef DELIVER_LOCAL_H
#define DELIVER_LOCAL_H

#include "deliver/targets.h"

/* Receivers inside receivers inside receivers: at most so many. */
#define LOCAL_DEPTH 16

struct local_run {
    owed *owed;
    owed_tx *tx; // INLINE: the caller's; ON_COMMIT: NULL
    const struct receiver *receiver;
    const struct new_event *event;
    int64_t event_id;
};

/*
 * local_run decodes the payload and calls the receiver, with its event as the cause of whatever it
 * fires. *ret_text, in the arena, is why it was not done.
 */
owed_outcome local_run(const struct local_run *run, struct arena *arena, const char **ret_text);

/* local_targets has the receiver name the targets of an event that is being fired. */
owed_status local_targets(
    const struct local_run *run, struct owed_target_list *list, owed_error *err);

/* inline_run runs the INLINE receivers of an event that was just written, in order of declaration,
 * up to the first that is not done: then tx is vetoed. */
owed_status inline_run(
    owed_tx *tx, const struct new_event *event, int64_t event_id, owed_error *err);

/* on_commit_wanted tells whether anything of this process is to happen after the commit. */
bool on_commit_wanted(const owed_registry *registry, const char *event_name);

/* on_commit_remember keeps a copy of the event in tx where an ON_COMMIT or an eager receiver wants it. */
owed_status on_commit_remember(owed_tx *tx, const owed_event_type *type,
    const struct new_event *event, int64_t event_id, owed_error *err);

/* eager_wants tells whether the receiver is to be attempted right after the commit. */
bool eager_wants(const struct receiver *receiver, const char *event_name);

/* eager_after_commit attempts, once, what was fired in tx for the eager receivers of this process. It
 * cannot fail: what it does not finish is owed to a relay. */
void eager_after_commit(owed_tx *tx);

#endif
