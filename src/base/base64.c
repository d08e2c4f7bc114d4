/* SPDX-License-Identifier: MIT
 *
 * base64.c - RFC 4648: four letters for three bytes; padded in section 4, and bare with two other letters in section 5.
 */
#include <string.h>

#include "base/cleanup.h"
#include "base/digest.h"

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void
base64_write(struct buf *buf, const uint8_t *bytes, size_t len)
{
    for (size_t i = 0; i < len; i += 3) {
        size_t n = len - i < 3 ? len - i : 3;
        uint32_t bits = (uint32_t)bytes[i] << 16;
        bits |= n > 1 ? (uint32_t)bytes[i + 1] << 8 : 0;
        bits |= n > 2 ? bytes[i + 2] : 0;
        char quad[4] = {
            letters[bits >> 18],
            letters[bits >> 12 & 63],
            n > 1 ? letters[bits >> 6 & 63] : '=',
            n > 2 ? letters[bits & 63] : '=',
        };
        buf_add(buf, quad, sizeof quad);
    }
}

/* letter_value gives 0 to 63, or -1. */
static int
letter_value(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    if (c == '+' || c == '/')
        return c == '+' ? 62 : 63;
    return -1;
}

/* read_quad adds the n bytes that the letters stand for (n = 3, 2 or 1); the bits that the padding
 * leaves over must be zero, or two texts would stand for the same bytes. */
static bool
read_quad(const char *quad, size_t n, struct buf *ret)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < n + 1; i++) {
        int value = letter_value(quad[i]);
        if (value < 0)
            return false;
        bits |= (uint32_t)value << (18 - 6 * i);
    }
    if ((bits & ((UINT32_C(1) << (24 - 8 * n)) - 1)) != 0)
        return false;
    uint8_t bytes[3] = {(uint8_t)(bits >> 16), (uint8_t)(bits >> 8), (uint8_t)bits};
    buf_add(ret, bytes, n);
    return true;
}

bool
base64_read(struct str text, struct buf *ret)
{
    if (text.len % 4 != 0)
        return false;
    for (size_t i = 0; i < text.len; i += 4) {
        size_t n = 3;
        if (i + 4 == text.len && text.p[i + 3] == '=')
            n = text.p[i + 2] == '=' ? 1 : 2;
        if (!read_quad(text.p + i, n, ret))
            return false;
    }
    return !ret->failed;
}

void
base64url_write(struct buf *buf, const uint8_t *bytes, size_t len)
{
    size_t start = buf->len;
    base64_write(buf, bytes, len);
    if (buf->failed)
        return;
    for (size_t i = start; i < buf->len; i++)
        buf->p[i] = buf->p[i] == '+' ? '-' : buf->p[i] == '/' ? '_' : buf->p[i];
    while (buf->len > start && buf->p[buf->len - 1] == '=')
        buf->p[--buf->len] = '\0';
}

bool
base64url_read(struct str text, struct buf *ret)
{
    while (text.len > 0 && text.p[text.len - 1] == '=')
        text.len--;
    CLEANUP(buf_done) struct buf plain;
    buf_init(&plain, text.len + 3);
    for (size_t i = 0; i < text.len; i++)
        buf_putc(&plain, text.p[i] == '-' ? '+' : text.p[i] == '_' ? '/' : text.p[i]);
    for (; plain.len % 4 != 0 && !plain.failed;)
        buf_putc(&plain, '=');
    bool is_read = !plain.failed && base64_read(buf_view(&plain), ret);
    if (plain.len > 0)
        explicit_bzero(plain.p, plain.len);
    return is_read;
}
