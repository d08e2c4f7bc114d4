/* SPDX-License-Identifier: MIT
 *
 * retry_after.h - how long an HTTP answer asks to wait.
 */
#ifndef BASE_RETRY_AFTER_H
#define BASE_RETRY_AFTER_H

#include <stdbool.h>
#include <stdint.h>

/* retry_after_read takes whole seconds or an HTTP date (one in the past means 0); false: neither.
 * The result is never above LIMIT_DURATION_US. */
bool retry_after_read(const char *value, int64_t now_us, int64_t *ret_wait_us);

#endif
