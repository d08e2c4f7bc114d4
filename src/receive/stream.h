/* SPDX-License-Identifier: MIT
 *
 * stream.h - our end of a pipe, and the end of what came through it.
 */
#ifndef RECEIVE_STREAM_H
#define RECEIVE_STREAM_H

#include "base/buf.h"

struct stream {
    int fd;          // -1: the other side is closed
    struct buf tail; // the last LIMIT_EXEC_OUTPUT_BYTES
};

/* stream_open takes a non-blocking descriptor over. stream_close frees what was read, too. */
void stream_open(struct stream *stream, int fd);
void stream_close(struct stream *stream);

/* stream_read reads what is there, up to a megabyte, so that others have their turn. */
void stream_read(struct stream *stream);

#endif
