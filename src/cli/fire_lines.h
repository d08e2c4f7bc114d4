/* SPDX-License-Identifier: MIT
 *
 * fire_lines.h - events from standard input, in transactions of many.
 */
#ifndef CLI_FIRE_LINES_H
#define CLI_FIRE_LINES_H

#include "cli/common.h"

/* fire_lines fires one event a line, batch lines a transaction, and returns the exit code. A line
 * that is refused takes its transaction with it; the sentence says how far was committed. */
int fire_lines(struct cli *cli, size_t batch);

#endif
