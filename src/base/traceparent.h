/* SPDX-License-Identifier: MIT
 *
 * traceparent.h - the header of W3C Trace Context that names a trace and whoever is within it.
 */
#ifndef BASE_TRACEPARENT_H
#define BASE_TRACEPARENT_H

#include <stdbool.h>

#define TRACE_ID_BYTES 33 // 32 digits and a NUL

/*
 * traceparent_is_valid: version-traceid-parentid-flags, in lower-case hex of 2, 32, 16 and 2 digits, no
 * id all zeros, and a version that is not ff. A later version than 00 may go on after another "-", in
 * visible ASCII.
 */
bool traceparent_is_valid(const char *text);

/* traceparent_trace_id writes the trace id of a valid one, and "" for any other; returns ret_id. */
const char *traceparent_trace_id(const char *text, char ret_id[static TRACE_ID_BYTES]);

#endif
