/* SPDX-License-Identifier: MIT
 *
 * wake.h - what an idle worker waits for: a datagram, the store's own sign of a commit, a stop.
 *
 * The poll is the floor: a wake-up that never comes costs time, never a row.
 */
#ifndef DELIVER_WAKE_H
#define DELIVER_WAKE_H

#include "deliver/handle.h"

struct wake;

/* wake_open binds the datagram socket of this instance ("<worker-id>.<8 hex>", "/", slot) beside the
 * store's file, or in the runtime folder of this service or user (else /tmp) where the store is no file,
 * and removes those that dead ones left there. Where that cannot be, the rest still works: it fails for
 * want of memory alone. */
owed_status wake_open(owed *owed, const char *instance, struct wake **ret_wake, owed_error *err);

/* wake_path is what producers send to, for owed_relay; "" where there is no socket. */
const char *wake_path(const struct wake *wake);

/*
 * wake_wait returns at the latest after timeout_us: true when somebody may have committed, false when
 * the time is over or a stop was asked for. Before its first wait and after each it knows the state
 * that the claim before it may have missed: what was committed since then ends it at once. It asks
 * owed->db each time, which may be another one than at open, or NULL.
 */
bool wake_wait(struct wake *wake, int64_t timeout_us);

/*
 * For a worker that waits for other things too: poll what wake_fds gives (it returns how many), for
 * no longer than wake_timeout_us makes of the worker's own patience, then call wake_take, whatever
 * ended the poll: it empties them and tells as wake_wait does.
 */
#define WAKE_FDS 4
size_t wake_fds(struct wake *wake, int ret_fds[static WAKE_FDS]);
int64_t wake_timeout_us(const struct wake *wake, int64_t idle_us);
bool wake_take(struct wake *wake);

/* wake_expect starts the watch that the store's sign would start, for a worker that has called the
 * driver's changed itself: the sign it took may have been that of a commit not yet to be seen. */
void wake_expect(struct wake *wake);

/*
 * wake_sleep lets those who commit know that somebody waits, where they announce nothing otherwise; true:
 * they know it only now, and what they committed until then has to be looked for once more. wake_wait
 * does so itself. wake_busy is told of each claim that found something: after some in a row they need
 * not announce anything any more.
 */
bool wake_sleep(struct wake *wake);
void wake_busy(struct wake *wake);

/* wake_deaf is why the store's sign of a commit does not come, as it was logged; "": it does, or there is none. */
const char *wake_deaf(const struct wake *wake);

/* wake_has_signs tells whether the store gives any: where it does not, a commit of who sends no datagram is
 * found by polling alone. */
bool wake_has_signs(const struct wake *wake);

/* wake_is_proven tells whether the store's own sign of a commit was seen to come, and no commit came
 * without it lately: then the poll may stretch. */
bool wake_is_proven(const struct wake *wake);

void wake_close(struct wake *wake);

#endif
