/* SPDX-License-Identifier: MIT
 *
 * fire_line.h - one line of owed fire --lines: {"name": ..., "payload": ..., and any option}.
 */
#ifndef CLI_FIRE_LINE_H
#define CLI_FIRE_LINE_H

#include <owed/owed.h>

#include "base/arena.h"

struct fire_line {
    const char *name;
    int64_t version;    // 0: as declared
    struct str payload; // the bytes as they stand in the line
    owed_fire_options options;
};

/* fire_line_read reads a line. Texts are copied to the arena, the payload is a view of the line.
 * now_us is what "+90s" counts from. INVALID: what is wrong with it. */
owed_status fire_line_read(struct str text, int64_t now_us, struct arena *arena,
    struct fire_line *ret_line, owed_error *err);

#endif
