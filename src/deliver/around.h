/* SPDX-License-Identifier: MIT
 *
 * around.h - the hook around each attempt of a durable delivery.
 *
 * Whoever runs an attempt enters before the receiver and outside any transaction, and leaves once the
 * outcome is recorded: the ledger does that, when it reports. What was never recorded is left by
 * whoever entered it.
 */
#ifndef DELIVER_AROUND_H
#define DELIVER_AROUND_H

#include "deliver/delivery.h"

/* around_of is the hook that is in force now; NULL: none. */
const owed_around *around_of(const owed *handle);

/* around_enter returns true where the receiver is to run. Else *ret_outcome is what the attempt came
 * to, and the text stands in the delivery. */
bool around_enter(owed_delivery *delivery, owed_outcome *ret_outcome);

/* around_is_entered tells whether the hook is still to be left. */
bool around_is_entered(const owed_delivery *delivery);

/* around_leave leaves what was entered; nothing happens where nothing was, or the second time. */
void around_leave(owed_delivery *delivery, owed_outcome outcome, const char *text);

/* around_leave_unrecorded is for an attempt whose outcome was not written. */
void around_leave_unrecorded(owed_delivery *delivery);

#endif
