/* SPDX-License-Identifier: MIT
 *
 * limits.h - the bounds on everything that others control.
 */
#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

#include <stddef.h>

#define LIMIT_PAYLOAD_BYTES ((size_t)16 * 1024 * 1024)
#define LIMIT_PAYLOAD_DEPTH 512
#define LIMIT_JSON_DEPTH (LIMIT_PAYLOAD_DEPTH + 1)      // a payload inside a line of fire --lines
#define LIMIT_DECODED_BYTES ((size_t)256 * 1024 * 1024) // arrays of one payload, as C has them
#define LIMIT_FIELDS 512                                // of one struct
#define LIMIT_FIELD_DEPTH 32                            // of structs in structs
#define LIMIT_KEY_BYTES 255 // receiver key, event name, dedupe key, actor, correlation id
#define LIMIT_LANE_BYTES 64 // app, and lane without its app
#define LIMIT_WORKER_ID_BYTES 128
#define LIMIT_SCOPE_BYTES 65536
#define LIMIT_VERSION 32767
#define LIMIT_OLDER_TYPES 64 // that one event type is upgraded from
#define LIMIT_MAX_ATTEMPTS 1000000
#define LIMIT_BATCH_SIZE 10000
#define LIMIT_ERROR_BYTES 65536 // setting error-length may not be above
#define LIMIT_DURATION_US (INT64_C(10) * 366 * 24 * 3600 * 1000000)
#define LIMIT_MOMENT_US INT64_C(253402300799999999)  // the end of the year 9999
#define LIMIT_SCRIPT_BYTES ((size_t)4 * 1024 * 1024) // of sql/
#define LIMIT_CONFIG_BYTES ((size_t)1024 * 1024)
#define LIMIT_CONFIG_LINE_BYTES ((size_t)16 * 1024)
#define LIMIT_FIRE_LINE_BYTES (LIMIT_PAYLOAD_BYTES + (size_t)1024 * 1024)
#define LIMIT_HEADERS_BYTES ((size_t)64 * 1024)  // of an HTTP answer
#define LIMIT_RESPONSE_BYTES ((size_t)64 * 1024) // of an HTTP answer; the rest is not read
#define LIMIT_EXEC_OUTPUT_BYTES ((size_t)64 * 1024)
#define LIMIT_SECRET_BYTES 4096
#define LIMIT_BATCH_BYTES ((size_t)256 * 1024 * 1024)    // payloads of one claim
#define LIMIT_IN_FLIGHT_BYTES ((size_t)64 * 1024 * 1024) // payloads in hand outside, above one
#define LIMIT_PIPE_IN_FLIGHT 1000                        // given to one coprocess
#define LIMIT_ATTEMPT_ROWS 100                           // kept for one delivery
#define LIMIT_TARGET_BYTES ((size_t)64 * 1024)
#define LIMIT_TARGETS ((size_t)10000) // that one receiver names for one event

#endif
