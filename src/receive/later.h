/* SPDX-License-Identifier: MIT
 *
 * later.h - deliveries to endpoints that go back to the store without a request, due again later; nothing is counted.
 */
#ifndef RECEIVE_LATER_H
#define RECEIVE_LATER_H

#include "receive/landing.h"

/* later puts one off; later_some one of many, which are not to come all at once again. */
owed_outcome later(
    const struct landing *landing, struct flight *flight, int64_t wait_us, const char *why);
owed_outcome later_some(
    const struct landing *landing, struct flight *flight, int64_t wait_us, const char *why);

/* later_keeps lands what is owed to an endpoint that an operator paused: as not yet due, which no bound of the
 * receiver ends. false: it is not paused, or has an end of its own. */
bool later_keeps(struct landing *landing, struct flight *flight);

#endif
