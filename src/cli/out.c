/* SPDX-License-Identifier: MIT
 *
 * out.c - writes in blocks, remembers the first error.
 */
#include "cli/out.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/exits.h"

#define OUT_BLOCK_BYTES ((size_t)64 * 1024)
#define OUT_MAX_BYTES ((size_t)256 * 1024 * 1024)

void
out_init(struct out *out)
{
    *out = (struct out){0};
    buf_init(&out->text, OUT_MAX_BYTES);
}

void
out_puts(struct out *out, const char *text)
{
    buf_puts(&out->text, text);
    out_step(out);
}

void
out_printf(struct out *out, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (len >= 0)
        buf_add(&out->text, text, (size_t)len < sizeof text ? (size_t)len : sizeof text - 1);
    out_step(out);
}

void
out_step(struct out *out)
{
    if (out->text.len >= OUT_BLOCK_BYTES)
        out_flush(out);
}

bool
out_flush(struct out *out)
{
    if (out->text.failed && out->error == 0)
        out->error = ENOMEM;
    size_t written = 0;
    while (written < out->text.len && out->error == 0) {
        ssize_t n = write(STDOUT_FILENO, out->text.p + written, out->text.len - written);
        if (n >= 0)
            written += (size_t)n;
        else if (errno != EINTR)
            out->error = errno;
    }
    buf_clear(&out->text);
    return out->error == 0;
}

bool
out_gone(const struct out *out)
{
    return out->error != 0;
}

int
out_close(struct out *out, int code)
{
    bool ok = out_flush(out);
    buf_done(&out->text);
    if (ok || out->error == EPIPE)
        return code;
    errno = out->error;
    fprintf(stderr, "owed: standard output could not be written: %m\n");
    return code == EXIT_DONE ? EXIT_FOUND : code;
}
