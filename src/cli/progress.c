/* SPDX-License-Identifier: MIT
 *
 * progress.c - painted on standard error, over and over on one line.
 */
#include "cli/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"

#define PAINT_US (US_PER_SECOND / 10)
#define BAR_WIDTH 30

void
progress_begin(struct progress *progress, int fd)
{
    *progress = (struct progress){
        .shown = isatty(STDERR_FILENO) != 0,
        .began = clock_monotonic_us(&clock_system),
    };
    struct stat file;
    if (fstat(fd, &file) == 0 && S_ISREG(file.st_mode))
        progress->total = file.st_size - lseek(fd, 0, SEEK_CUR);
}

static double
rate(const struct progress *progress, int64_t now, int64_t events)
{
    int64_t passed = now - progress->began;
    return passed <= 0 ? 0 : (double)events * (double)US_PER_SECOND / (double)passed;
}

void
progress_step(struct progress *progress, int64_t bytes, int64_t events)
{
    int64_t now = clock_monotonic_us(&clock_system);
    if (!progress->shown || now - progress->painted < PAINT_US)
        return;
    progress->painted = now;
    if (progress->total > 0) {
        int part = (int)(bytes * BAR_WIDTH / progress->total);
        part = part > BAR_WIDTH ? BAR_WIDTH : part;
        static const char full[BAR_WIDTH + 1] = "##############################";
        static const char rest[BAR_WIDTH + 1] = "..............................";
        fprintf(stderr, "\r[%.*s%.*s] %3d %%", part, full, BAR_WIDTH - part, rest,
            part * 100 / BAR_WIDTH);
    } else {
        fputc('\r', stderr);
    }
    fprintf(
        stderr, " %" PRId64 " events, %.0f a second\033[K", events, rate(progress, now, events));
    fflush(stderr);
}

void
progress_wipe(const struct progress *progress)
{
    if (progress->shown && progress->painted != 0)
        fputs("\r\033[K", stderr);
}

void
progress_end(struct progress *progress, int64_t events)
{
    int64_t now = clock_monotonic_us(&clock_system);
    fprintf(stderr, "%s%" PRId64 " events in %.2f s, %.0f a second\n",
        progress->shown ? "\r\033[K" : "", events,
        (double)(now - progress->began) / (double)US_PER_SECOND, rate(progress, now, events));
}
