/* SPDX-License-Identifier: MIT
 *
 * lines.c - one buffer: what is handed out stands at its front until the next bunch.
 */
#include "cli/lines.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"

#define READ_BYTES ((size_t)256 * 1024)
#define BUNCH_BYTES ((size_t)16 * 1024 * 1024)
#define PAUSE_MS 1000

void
lines_init(struct lines *lines, int fd)
{
    *lines = (struct lines){.fd = fd};
}

void
lines_done(struct lines *lines)
{
    free(lines->bytes);
    *lines = (struct lines){.fd = -1};
}

static void
compact(struct lines *lines)
{
    if (lines->start == 0)
        return;
    memmove(lines->bytes, lines->bytes + lines->start, lines->end - lines->start);
    lines->end -= lines->start;
    lines->start = 0;
}

static owed_status
make_room(struct lines *lines, owed_error *err)
{
    if (lines->capacity - lines->end >= READ_BYTES)
        return OWED_OK;
    size_t capacity = lines->capacity == 0 ? READ_BYTES * 4 : lines->capacity * 2;
    char *bytes = realloc(lines->bytes, capacity);
    if (bytes == NULL)
        return fail_memory(err);
    lines->bytes = bytes;
    lines->capacity = capacity;
    return OWED_OK;
}

static owed_status
read_more(struct lines *lines, owed_error *err)
{
    owed_status status = make_room(lines, err);
    if (status != OWED_OK)
        return status;
    ssize_t n = 0;
    do
        n = read(lines->fd, lines->bytes + lines->end, lines->capacity - lines->end);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return fail_native(err, OWED_UNAVAILABLE, errno, "standard input cannot be read: %m");
    lines->ended = n == 0;
    lines->end += (size_t)n;
    return OWED_OK;
}

/* pauses tells that nothing more comes for a while: what is there should not wait for it. */
static bool
pauses(const struct lines *lines)
{
    struct pollfd input = {.fd = lines->fd, .events = POLLIN};
    return poll(&input, 1, PAUSE_MS) == 0;
}

/* take_line finds the next whole line behind at, an offset; the last one may lack its end. */
static bool
take_line(struct lines *lines, size_t *at, size_t *ret_len)
{
    const char *from = lines->bytes + lines->scanned;
    const char *newline =
        lines->end > lines->scanned ? memchr(from, '\n', lines->end - lines->scanned) : NULL;
    if (newline == NULL) {
        lines->scanned = lines->end;
        if (!lines->ended || *at == lines->end)
            return false;
        *ret_len = lines->end - *at;
        *at = lines->end;
        return true;
    }
    size_t stop = (size_t)(newline - lines->bytes);
    *ret_len = stop - *at;
    *at = stop + 1;
    lines->scanned = *at;
    return true;
}

static owed_status
refuse_length(const struct lines *lines, owed_error *err)
{
    return fail(err, OWED_LIMIT, "line %" PRId64 ": longer than %zu MiB", lines->number + 1,
        LIMIT_FIRE_LINE_BYTES / 1024 / 1024);
}

/* add takes a line, unless it is blank. While a bunch is gathered the buffer may still move: the
 * text's place is the distance from the first byte. */
static size_t
add(struct lines *lines, struct line *line, size_t start, size_t len)
{
    lines->number++;
    *line = (struct line){{NULL, len}, start, lines->number};
    return str_trim((struct str){lines->bytes + start, len}).len == 0 ? 0 : 1;
}

owed_status
lines_gather(
    struct lines *lines, struct line *ret_lines, size_t max, size_t *ret_count, owed_error *err)
{
    compact(lines);
    lines->scanned = 0;
    size_t count = 0;
    size_t at = 0;
    while (count < max && at < BUNCH_BYTES) {
        size_t start = at;
        size_t len = 0;
        bool whole = take_line(lines, &at, &len);
        if ((whole ? len : lines->end - at) > LIMIT_FIRE_LINE_BYTES)
            return refuse_length(lines, err);
        if (whole) {
            count += add(lines, &ret_lines[count], start, len);
            continue;
        }
        if (lines->ended || (count > 0 && pauses(lines)))
            break;
        owed_status status = read_more(lines, err);
        if (status != OWED_OK)
            return status;
    }
    for (size_t i = 0; i < count; i++)
        ret_lines[i].text.p = lines->bytes + ret_lines[i].start;
    lines->start = at;
    lines->consumed += (int64_t)at;
    *ret_count = count;
    return OWED_OK;
}
