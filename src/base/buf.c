/* SPDX-License-Identifier: MIT
 *
 * buf.c - doubling, up to the maximum.
 */
#include "base/buf.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#define FIRST_BYTES ((size_t)256)

void
buf_init(struct buf *buf, size_t max)
{
    *buf = (struct buf){.max = max};
}

/* reserve makes room for len more bytes and the NUL, or marks the buffer as failed. */
static bool
reserve(struct buf *buf, size_t len)
{
    if (buf->failed || len > buf->max - buf->len) {
        buf->failed = true;
        return false;
    }
    size_t need = buf->len + len + 1;
    if (need <= buf->capacity)
        return true;
    size_t capacity = buf->capacity == 0 ? FIRST_BYTES : buf->capacity;
    while (capacity < need)
        capacity *= 2;
    char *p = realloc(buf->p, capacity);
    if (p == NULL) {
        buf->failed = true;
        return false;
    }
    buf->p = p;
    buf->capacity = capacity;
    return true;
}

void
buf_add(struct buf *buf, const void *bytes, size_t len)
{
    if (!reserve(buf, len))
        return;
    if (len > 0)
        memcpy(buf->p + buf->len, bytes, len);
    buf->len += len;
    buf->p[buf->len] = '\0';
}

void
buf_puts(struct buf *buf, const char *text)
{
    buf_add(buf, text, strlen(text));
}

void
buf_putc(struct buf *buf, char c)
{
    buf_add(buf, &c, 1);
}

void
buf_str(struct buf *buf, struct str view)
{
    buf_add(buf, view.p, view.len);
}

void
buf_int(struct buf *buf, int64_t number)
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%" PRId64, number);
    buf_add(buf, digits, (size_t)len);
}

void
buf_printf(struct buf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (len < 0 || !reserve(buf, (size_t)len)) {
        buf->failed = true;
        return;
    }
    va_start(args, format);
    vsnprintf(buf->p + buf->len, (size_t)len + 1, format, args);
    va_end(args);
    buf->len += (size_t)len;
}

bool
buf_add_file(struct buf *buf, FILE *file)
{
    char bytes[4096];
    size_t n;
    while (!buf->failed && (n = fread(bytes, 1, sizeof bytes, file)) > 0)
        buf_add(buf, bytes, n);
    return !ferror(file);
}

void
buf_clear(struct buf *buf)
{
    buf->len = 0;
    buf->failed = false;
    if (buf->p != NULL)
        buf->p[0] = '\0';
}

const char *
buf_text(const struct buf *buf)
{
    return buf->p == NULL ? "" : buf->p;
}

struct str
buf_view(const struct buf *buf)
{
    return (struct str){buf_text(buf), buf->len};
}

void
buf_done(struct buf *buf)
{
    free(buf->p);
    *buf = (struct buf){0};
}
