/* SPDX-License-Identifier: MIT
 *
 * out.h - standard output, gathered, and its failures noticed.
 */
#ifndef CLI_OUT_H
#define CLI_OUT_H

#include <owed/export.h>

#include "base/buf.h"

struct out {
    struct buf text; // not yet written
    int error;       // errno of the first write that failed; all later text is dropped
};

void out_init(struct out *out);
void out_puts(struct out *out, const char *text);
void out_printf(struct out *out, const char *format, ...) OWED_PRINTF(2, 3);

/* out_step writes what has gathered, once it is worth a call. */
void out_step(struct out *out);

/* out_flush writes everything and tells whether all went well so far. */
bool out_flush(struct out *out);

/* out_gone tells whether nobody reads any more: a list may as well stop. */
bool out_gone(const struct out *out);

/* out_close flushes, frees, and returns code; or EXIT_FOUND with a sentence on standard error where
 * a write failed. A reader that went away is no failure. */
int out_close(struct out *out, int code);

#endif
