/* SPDX-License-Identifier: MIT
 *
 * error.h - filling in the caller's owed_error.
 *
 * The lowest function that knows what was wrong fills it in; those above return it untouched.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <owed/error.h>

/* fail writes one sentence and returns the status, so that `return fail(...)` reads well.
 * err may be NULL. A text too long for it ends in "...". */
owed_status fail(owed_error *err, owed_status status, const char *format, ...) OWED_PRINTF(3, 4);

/* fail_native is fail with the code of errno or of a client library. */
owed_status fail_native(owed_error *err, owed_status status, int native, const char *format, ...)
    OWED_PRINTF(4, 5);

/* fail_memory is the sentence for NOMEM. */
owed_status fail_memory(owed_error *err);

#endif
