/* SPDX-License-Identifier: MIT
 *
 * progress.h - a bar on a terminal, nothing anywhere else.
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    bool shown;      // standard error is a terminal
    int64_t total;   // bytes to come; 0: not known
    int64_t began;   // monotonic, microseconds
    int64_t painted; // when the bar was last painted
};

/* progress_begin takes the size of fd where it is a file. */
void progress_begin(struct progress *progress, int fd);

/* progress_step paints at most ten times a second. */
void progress_step(struct progress *progress, int64_t bytes, int64_t events);

/* progress_wipe wipes the bar and says nothing. */
void progress_wipe(const struct progress *progress);

/* progress_end wipes the bar and says "N events in S s, R a second". */
void progress_end(struct progress *progress, int64_t events);

#endif
