/* SPDX-License-Identifier: MIT
 *
 * idle.h - waiting: for work, and for a single writer that others want.
 */
#ifndef DELIVER_IDLE_H
#define DELIVER_IDLE_H

#include <owed/error.h>

#include <stdbool.h>
#include <stdint.h>

struct worker;

/* idle.c: both return when there may be something to do. idle_after_work is for a pass that did something. */
void idle_after_work(struct worker *worker);
void idle(struct worker *worker);
/* idle_ask asks the store when the next row falls due, in whatever lane, and notes it. */
owed_status idle_ask(struct worker *worker, owed_error *err);
/* idle_once has told the supervisor first that there is nothing left; seen is what slot_works said. */
void idle_once(struct worker *worker, long long seen);
/* idle_for_room waits until what had no room at its destination is due again; false: nothing is soon.
 * idle_tell_due counts, at the end of a relay that ends by itself, when the next row is due. */
bool idle_for_room(struct worker *worker);
void idle_tell_due(struct worker *worker);

/* others.c: others_look notices commits of the application, others_write tells whether there was one
 * lately, and others_are_here whether another process has the store open. worker_yield leaves a single
 * writer to others for a moment; called after every write. */
void others_look(struct worker *worker);
bool others_write(struct worker *worker);
bool others_are_here(struct worker *worker);
void worker_yield(struct worker *worker);

#endif
