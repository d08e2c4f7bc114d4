/* SPDX-License-Identifier: MIT
 *
 * causes.h - events in the order of a tree, each under the one that led to it.
 */
#ifndef CLI_CAUSES_H
#define CLI_CAUSES_H

#include "base/arena.h"
#include "store/look.h"

/* One line of the tree. */
struct cause_line {
    const struct event_row *event;
    int32_t depth;  // 0: its cause is not among the events, or there is none
    bool has_next;  // under the same cause another one follows
    bool is_circle; // its cause stands below it
};

/*
 * causes_order sorts events, which come with ids falling, into as many lines. Causes are whatever whoever
 * fired has said: a circle of them is cut at its lowest id. NULL: memory is out.
 */
struct cause_line *causes_order(const struct event_row *events, size_t count, struct arena *arena);

/* causes_prefix writes what stands before a line in text, in the order of the lines; rails is zeroed at the
 * start and kept from line to line. Below CAUSES_DEEPEST the depth is told as a number. */
#define CAUSES_DEEPEST 30
#define CAUSES_PREFIX_BYTES (3 * CAUSES_DEEPEST + 32)
void causes_prefix(const struct cause_line *line, bool rails[static CAUSES_DEEPEST + 1],
    char prefix[static CAUSES_PREFIX_BYTES]);

#endif
