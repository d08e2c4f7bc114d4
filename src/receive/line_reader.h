/* SPDX-License-Identifier: MIT
 *
 * line_reader.h - our end of a pipe that brings lines.
 */
#ifndef RECEIVE_LINE_READER_H
#define RECEIVE_LINE_READER_H

#include "base/buf.h"

enum line_end {
    LINE_WHOLE,
    LINE_LONG, // above LIMIT_EXEC_OUTPUT_BYTES: only its beginning is there
    LINE_CUT   // the other side closed in the middle of it
};

struct line_reader {
    int fd;          // -1: the other side is closed
    struct buf part; // of the line that is not complete
    bool is_long;    // what follows of it is dropped
};

typedef void (*line_take)(void *state, struct str line, enum line_end end);

/* line_reader_open takes a non-blocking descriptor over. */
void line_reader_open(struct line_reader *reader, int fd);
void line_reader_close(struct line_reader *reader);

/* line_reader_read hands on what is there, up to so many bytes, 16 KiB and more, a line at a time and without its end. A
 * line that is empty is none. */
void line_reader_read(struct line_reader *reader, size_t most, line_take take, void *state);

#endif
