/* SPDX-License-Identifier: MIT
 *
 * traceparent.c - W3C Trace Context, level 1: only its form is looked at.
 */
#include "base/traceparent.h"

#include "base/str.h"

#define TRACE_ID_AT 3

/* hex_run counts the lower-case hex digits at text; *ret_zero: all of them are 0. */
static size_t
hex_run(const char *text, bool *ret_zero)
{
    size_t n = strspn(text, "0123456789abcdef");
    *ret_zero = strspn(text, "0") >= n;
    return n;
}

static bool
is_visible(const char *text)
{
    for (const char *p = text; *p != '\0'; p++)
        if (*p <= ' ' || *p > '~')
            return false;
    return true;
}

bool
traceparent_is_valid(const char *text)
{
    static const size_t digits[] = {2, 32, 16, 2};
    if (strncmp(text, "ff", 2) == 0)
        return false;
    const char *p = text;
    for (size_t i = 0; i < 4; i++) {
        bool zero = false;
        if (hex_run(p, &zero) != digits[i])
            return false;
        if (zero && (i == 1 || i == 2))
            return false;
        p += digits[i];
        if (i < 3 && *p++ != '-')
            return false;
    }
    return *p == '\0' || (*p == '-' && strncmp(text, "00", 2) != 0 && is_visible(p));
}

const char *
traceparent_trace_id(const char *text, char ret_id[static TRACE_ID_BYTES])
{
    bool is_valid = traceparent_is_valid(text);
    size_t len = is_valid ? TRACE_ID_BYTES - 1 : 0;
    memcpy(ret_id, is_valid ? text + TRACE_ID_AT : "", len);
    ret_id[len] = '\0';
    return ret_id;
}
