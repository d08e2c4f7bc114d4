/* SPDX-License-Identifier: MIT
 *
 * lines.h - standard input as lines, handed out in bunches that lie still.
 */
#ifndef CLI_LINES_H
#define CLI_LINES_H

#include <owed/error.h>

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct line {
    struct str text; // without its line end
    size_t start;    // in the buffer
    int64_t number;  // from 1
};

struct lines {
    int fd;
    char *bytes;
    size_t capacity;
    size_t start;     // of what was not handed out yet
    size_t end;       // of what was read
    size_t scanned;   // no line end from start up to here
    bool ended;       // nothing more comes
    int64_t number;   // of the last line handed out, blank ones included
    int64_t consumed; // bytes handed out in all
};

void lines_init(struct lines *lines, int fd);
void lines_done(struct lines *lines);

/*
 * lines_gather hands out up to max lines that are not blank, fewer at the end, above 16 MiB of text,
 * or when the input pauses for a second. They lie still until the next call. *ret_count is 0 at the
 * end. LIMIT: a line over the limit, whose number is lines->number + 1; UNAVAILABLE: reading failed.
 */
owed_status lines_gather(
    struct lines *lines, struct line *ret_lines, size_t max, size_t *ret_count, owed_error *err);

#endif
