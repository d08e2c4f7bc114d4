/* SPDX-License-Identifier: MIT
 *
 * moment.h - times and durations as text.
 */
#ifndef BASE_MOMENT_H
#define BASE_MOMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MOMENT_BYTES 48

/* moment_write gives RFC 3339 in UTC with six decimals: 2026-11-29T15:04:05.000000Z. */
const char *moment_write(int64_t at_us, char text[static MOMENT_BYTES]);

/* moment_read takes RFC 3339 with any offset, up to nine decimals (cut to six); years 1 to 9999. */
bool moment_read(const char *text, int64_t *ret_us);

/* duration_read takes "90s", "5m", "1h30m", "2d", "0.5s", "250ms", "10us" and "0": each unit at most
 * once, the largest first, in all a whole number of microseconds and at most LIMIT_DURATION_US. A
 * bare number is refused. */
bool duration_read(const char *text, int64_t *ret_us);

/* duration_write gives the exact form, each unit as large as it can be: "1h30m", "0". */
const char *duration_write(int64_t us, char text[static MOMENT_BYTES]);

/* duration_rough gives a person's form, one or two units, what is below them dropped:
 * "3m12s", "2d4h", "45ms", "0s". */
const char *duration_rough(int64_t us, char text[static MOMENT_BYTES]);

#endif
