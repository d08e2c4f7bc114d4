/* SPDX-License-Identifier: MIT
 *
 * behind.h - outcomes of the loop, written while it goes on.
 *
 * A thread writes them on a connection of its own, so that requests are begun, and others land, while the store
 * makes a commit last. It touches nothing of the worker, which reports what was written once it is. What could not be
 * written so is back among what has landed, as if nobody had tried.
 */
#ifndef DELIVER_BEHIND_H
#define DELIVER_BEHIND_H

#include <stdbool.h>
#include <stddef.h>

struct behind;
struct worker;

/* behind_begin takes what has landed, all of it requests that succeeded; false: it is for the worker itself to write. */
bool behind_begin(struct worker *worker);
/* behind_rows is how many were taken and are not reported yet, behind_is_busy whether any. */
size_t behind_rows(const struct worker *worker);
bool behind_is_busy(const struct worker *worker);
/* behind_collect reports what was written; waits: it is waited for. */
void behind_collect(struct worker *worker, bool waits);
/* behind_drop waits for it and ends it, with its connection. */
void behind_drop(struct worker *worker);

#endif
