/* SPDX-License-Identifier: MIT
 *
 * origin.h - what a command that fires is part of, as its environment tells.
 */
#ifndef CLI_ORIGIN_H
#define CLI_ORIGIN_H

#include "cli/common.h"

struct origin {
    int64_t causation_id; // 0: none
    const char *correlation_id;
    const char *traceparent;
};

/*
 * origin_read: a program that a relay has started is part of what it delivers, whose event is the cause
 * where it is found in the open store under the idempotency key of the environment: in another store its
 * id would mean nothing. TRACEPARENT counts wherever it comes from; a malformed one is passed over.
 */
owed_status origin_read(struct cli *cli, struct origin *ret_origin);

/* origin_complete says what the options leave out. */
void origin_complete(const struct origin *origin, owed_fire_options *options);

#endif
