/* SPDX-License-Identifier: MIT
 *
 * status.h - what an HTTP answer means.
 */
#ifndef RECEIVE_STATUS_H
#define RECEIVE_STATUS_H

#include <owed/receiver.h>

/* status_verdict: 2xx is done; 408, 425, 429 and 5xx are failures that may pass; all else is
 * permanent. */
owed_verdict status_verdict(long status);

/* status_reason is the usual phrase, "Service Unavailable"; "" for a number without one. */
const char *status_reason(long status);

/* status_may_wait: a Retry-After beside it is obeyed. */
bool status_may_wait(long status);

#endif
