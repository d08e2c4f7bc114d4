/* SPDX-License-Identifier: MIT
 *
 * line_reader.c - parting what was read at its line ends.
 */
#include "receive/line_reader.h"

#include <errno.h>
#include <unistd.h>

#include "base/limits.h"

#define CHUNK_BYTES ((size_t)16 * 1024)

void
line_reader_open(struct line_reader *reader, int fd)
{
    *reader = (struct line_reader){.fd = fd};
    buf_init(&reader->part, LIMIT_EXEC_OUTPUT_BYTES);
}

static void
shut(struct line_reader *reader)
{
    if (reader->fd >= 0)
        close(reader->fd);
    reader->fd = -1;
}

void
line_reader_close(struct line_reader *reader)
{
    shut(reader);
    buf_done(&reader->part);
}

/* end_line hands on the line that is complete now. */
static void
end_line(struct line_reader *reader, enum line_end end, line_take take, void *state)
{
    struct str line = buf_view(&reader->part);
    if (line.len > 0 && line.p[line.len - 1] == '\r')
        line.len--;
    if (line.len > 0)
        take(state, line, reader->is_long ? LINE_LONG : end);
    buf_clear(&reader->part);
    reader->is_long = false;
}

/* keep adds to the line what the limit allows. */
static void
keep(struct line_reader *reader, struct str bytes)
{
    size_t room = LIMIT_EXEC_OUTPUT_BYTES - reader->part.len;
    if (bytes.len > room) {
        reader->is_long = true;
        bytes.len = room;
    }
    buf_str(&reader->part, bytes);
}

static void
part(struct line_reader *reader, struct str bytes, line_take take, void *state)
{
    while (bytes.len > 0) {
        const char *end = memchr(bytes.p, '\n', bytes.len);
        size_t len = end == NULL ? bytes.len : (size_t)(end - bytes.p);
        keep(reader, (struct str){bytes.p, len});
        if (end == NULL)
            return;
        end_line(reader, LINE_WHOLE, take, state);
        bytes = str_skip(bytes, len + 1);
    }
}

void
line_reader_read(struct line_reader *reader, size_t most, line_take take, void *state)
{
    char chunk[CHUNK_BYTES];
    for (size_t i = 0; i < most / CHUNK_BYTES && reader->fd >= 0; i++) {
        ssize_t n = read(reader->fd, chunk, sizeof chunk);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n <= 0) {
            end_line(reader, LINE_CUT, take, state);
            shut(reader);
            return;
        }
        part(reader, (struct str){chunk, (size_t)n}, take, state);
        if ((size_t)n < sizeof chunk)
            return;
    }
}
