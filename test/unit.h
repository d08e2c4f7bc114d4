/* SPDX-License-Identifier: MIT
 *
 * unit.h - cmocka, with what it wants to be included first.
 */
#ifndef TEST_UNIT_H
#define TEST_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#undef fail // is the name of a function in base/error.h
#undef fail_msg
#define fail_msg(...) \
    do { \
        print_error(__VA_ARGS__); \
        print_error("\n"); \
        _fail(__FILE__, __LINE__); \
    } while (0)

/* In tables of cases, which one it was must be said. */
#define check_case(condition_, name_) \
    do { \
        if (!(condition_)) { \
            print_error("%s: %s\n", (name_), #condition_); \
            _fail(__FILE__, __LINE__); \
        } \
    } while (0)

#define COUNT(array_) (sizeof(array_) / sizeof(array_)[0])

#endif
