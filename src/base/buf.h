/* SPDX-License-Identifier: MIT
 *
 * buf.h - a growing buffer that knows its maximum.
 *
 * A write that memory or the maximum forbids changes nothing and sets failed, and all that follow are
 * ignored: build a whole text, then ask once. The bytes are always followed by a NUL.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <owed/export.h>

#include "base/str.h"

struct buf {
    char *p;
    size_t len;
    size_t capacity;
    size_t max; // of len
    bool failed;
};

void buf_init(struct buf *buf, size_t max);
void buf_add(struct buf *buf, const void *bytes, size_t len);
void buf_puts(struct buf *buf, const char *text);
void buf_putc(struct buf *buf, char c);
void buf_str(struct buf *buf, struct str view);
void buf_int(struct buf *buf, int64_t number);
void buf_printf(struct buf *buf, const char *format, ...) OWED_PRINTF(2, 3);

/* buf_add_file appends what is left of the file; false: it cannot be read, and errno says why. */
bool buf_add_file(struct buf *buf, FILE *file);

/* buf_clear empties the buffer and forgets a failure; the memory stays. */
void buf_clear(struct buf *buf);

/* buf_text returns the NUL-ended text; "" while empty. */
const char *buf_text(const struct buf *buf);
struct str buf_view(const struct buf *buf);

/* buf_done frees it; fit for CLEANUP. */
void buf_done(struct buf *buf);

#endif
