/* SPDX-License-Identifier: MIT
 *
 * moment.h - times and durations as text.
 */
#ifndef BASE_MOMENT_H
#define BASE_MOMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MOMENT_BYTES 40

/* moment_write gives RFC 3339 in UTC with six decimals: 2026-11-29T15:04:05.000000Z. */
const char *moment_write(int64_t at_us, char text[static MOMENT_BYTES]);

/* moment_read takes RFC 3339 with any offset, up to nine decimals (cut to six); years 1 to 9999. */
bool moment_read(const char *text, int64_t *ret_us);

/* duration_read takes "90s", "5m", "1h30m", "2d", "250ms", "10us" and "0"; a bare number is refused. */
bool duration_read(const char *text, int64_t *ret_us);

/* duration_write gives the shortest exact form of that kind: "1h30m". */
const char *duration_write(int64_t us, char text[static MOMENT_BYTES]);

/* duration_rough gives a person's form, one or two units: "3m12s", "2d4h", "45ms". */
const char *duration_rough(int64_t us, char text[static MOMENT_BYTES]);

#endif
