/* SPDX-License-Identifier: MIT
 *
 * secrecy.h - what a failure says, without the secrets of its event.
 */
#ifndef DELIVER_SECRECY_H
#define DELIVER_SECRECY_H

#include "base/arena.h"
#include "deliver/handle.h"
#include "store/store.h"

struct worker;
struct hidden; // what one application published of one event

/* What the catalogue says is secret: of events that this process does not declare. */
struct secrecy {
    struct arena arena;
    struct hidden *first;
};

/* secrecy_refresh reads the catalogue; what was known stays where that fails. */
owed_status secrecy_refresh(struct worker *worker, owed_error *err);
void secrecy_done(struct worker *worker);

/* secrecy_hide returns the text without what is secret in the row's payload. */
const char *secrecy_hide(
    const struct worker *worker, const struct claimed *row, const char *text, struct arena *arena);

#endif
