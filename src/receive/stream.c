/* SPDX-License-Identifier: MIT
 *
 * stream.c - reading to the end, keeping only the end.
 */
#include "receive/stream.h"

#include <errno.h>
#include <unistd.h>

#include "base/limits.h"

#define CHUNK_BYTES ((size_t)16 * 1024)
#define CHUNKS_AT_ONCE 64

void
stream_open(struct stream *stream, int fd)
{
    stream->fd = fd;
    buf_init(&stream->tail, LIMIT_EXEC_OUTPUT_BYTES);
}

/* keep_tail appends, and drops from the front what is over the limit. */
static void
keep_tail(struct buf *tail, const char *bytes, size_t len)
{
    if (tail->len + len > LIMIT_EXEC_OUTPUT_BYTES) {
        size_t kept = LIMIT_EXEC_OUTPUT_BYTES - len;
        if (kept > tail->len)
            kept = tail->len;
        if (kept > 0)
            memmove(tail->p, tail->p + (tail->len - kept), kept);
        tail->len = kept;
    }
    buf_add(tail, bytes, len);
}

static void
shut(struct stream *stream)
{
    if (stream->fd >= 0)
        close(stream->fd);
    stream->fd = -1;
}

void
stream_read(struct stream *stream)
{
    char chunk[CHUNK_BYTES];
    for (int i = 0; i < CHUNKS_AT_ONCE && stream->fd >= 0; i++) {
        ssize_t n = read(stream->fd, chunk, sizeof chunk);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n <= 0)
            shut(stream);
        else
            keep_tail(&stream->tail, chunk, (size_t)n);
    }
}

void
stream_close(struct stream *stream)
{
    shut(stream);
    buf_done(&stream->tail);
}
