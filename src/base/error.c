/* SPDX-License-Identifier: MIT
 *
 * error.c - status texts and error sentences.
 */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *
owed_status_text(owed_status status)
{
    switch (status) {
#define X(name, value, again, text) \
    case OWED_##name: \
        return text;
        OWED_STATUS_MAP(X)
#undef X
    }
    return "unknown status";
}

int
owed_status_again(owed_status status)
{
    switch (status) {
#define X(name, value, again, text) \
    case OWED_##name: \
        return again;
        OWED_STATUS_MAP(X)
#undef X
    }
    return 0;
}

/* shorten puts dots at the end of a text that fills its memory, and leaves no half of a character. */
static void
shorten(char *text, size_t size)
{
    size_t end = size - sizeof "...";
    while (end > 0 && ((unsigned char)text[end] & 0xc0) == 0x80)
        end--;
    memcpy(text + end, "...", sizeof "...");
}

static owed_status
vfail(owed_error *err, owed_status status, int native, const char *format, va_list args)
{
    if (err == NULL)
        return status;
    // The arguments may point into err->text itself.
    char text[sizeof err->text];
    int len = vsnprintf(text, sizeof text, format, args);
    if (len >= (int)sizeof text)
        shorten(text, sizeof text);
    *err = (owed_error){.status = status, .native = native};
    memcpy(err->text, text, sizeof text);
    return status;
}

owed_status
fail(owed_error *err, owed_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfail(err, status, 0, format, args);
    va_end(args);
    return status;
}

owed_status
fail_native(owed_error *err, owed_status status, int native, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfail(err, status, native, format, args);
    va_end(args);
    return status;
}

owed_status
fail_memory(owed_error *err)
{
    return fail(err, OWED_NOMEM, "out of memory");
}
