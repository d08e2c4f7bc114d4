/* SPDX-License-Identifier: MIT
 *
 * common.h - what the tests of declarations share.
 */
#ifndef TEST_DECLARE_COMMON_H
#define TEST_DECLARE_COMMON_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <owed/receiver.h>

#define assert_status(expected, call) \
    do { \
        owed_status got_ = (call); \
        if (got_ != (expected)) \
            fail_msg("%s is %d, not %d", #call, (int)got_, (int)(expected)); \
    } while (0)

/* assert_refused: the call answers CONFIG, and with this very sentence. */
#define assert_refused(call, sentence) assert_fails(OWED_CONFIG, call, sentence)
#define assert_fails(expected, call, sentence) \
    do { \
        err = (owed_error){.status = OWED_OK}; \
        assert_status((expected), (call)); \
        assert_string_equal(err.text, (sentence)); \
        assert_int_equal(err.status, (expected)); \
    } while (0)

#endif
