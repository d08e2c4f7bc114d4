/* SPDX-License-Identifier: MIT
 *
 * bare.c - what the bare loops share.
 */
#include "bare.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#define ROWS_MAX 100000000

static const char *program;

void
bare_fail(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s: %s\n", program, what, why);
    exit(1);
}

static int64_t
clock_us(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t
bare_now_us(void)
{
    return clock_us(CLOCK_REALTIME);
}

void
bare_uid(unsigned char uid[16])
{
    static _Thread_local unsigned char pool[4096];
    static _Thread_local size_t used = sizeof pool;
    if (used == sizeof pool) {
        for (size_t got = 0; got < sizeof pool; got += 256)
            if (getrandom(pool + got, 256, 0) != 256)
                bare_fail("getrandom", "gave nothing");
        used = 0;
    }
    memcpy(uid, pool + used, 16);
    used += 16;
}

struct share {
    pthread_t thread;
    const struct bare *bare;
    int64_t (*run)(const struct bare *bare, int connection, int64_t rows);
    int connection;
    int64_t rows;
};

static void *
run_share(void *context)
{
    struct share *share = context;
    share->rows = share->run(share->bare, share->connection, share->rows);
    return NULL;
}

int64_t
bare_share(
    const struct bare *bare, int64_t (*run)(const struct bare *bare, int connection, int64_t rows))
{
    static struct share shares[BARE_CONNECTIONS];
    int64_t done = 0;
    for (int i = 0; i < bare->connections; i++) {
        shares[i] = (struct share){.bare = bare, .run = run, .connection = i};
        shares[i].rows = bare->rows / bare->connections + (i < bare->rows % bare->connections);
        if (pthread_create(&shares[i].thread, NULL, run_share, &shares[i]) != 0)
            bare_fail("pthread_create", "no thread");
    }
    for (int i = 0; i < bare->connections; i++) {
        pthread_join(shares[i].thread, NULL);
        done += shares[i].rows;
    }
    return done;
}

static int64_t
number(const char *text, int64_t most)
{
    char *end = NULL;
    errno = 0;
    int64_t value = strtoll(text, &end, 10);
    if (errno != 0 || *end != '\0' || value < 1 || value > most) {
        fprintf(stderr, "%s: \"%s\" is not a number from 1 to %" PRId64 "\n", program, text, most);
        exit(64);
    }
    return value;
}

static void
usage(const struct bare_mode *modes)
{
    fprintf(stderr, "usage: %s URL MODE ROWS [CONNECTIONS [RECEIVERS]]\nmodes:", program);
    for (const struct bare_mode *mode = modes; mode->name != NULL; mode++)
        fprintf(stderr, " %s", mode->name);
    fputc('\n', stderr);
    exit(64);
}

static void
measure(const struct bare *bare, const struct bare_mode *mode)
{
    mode->prepare(bare);
    int64_t start_us = clock_us(CLOCK_MONOTONIC);
    int64_t done = mode->run(bare);
    double seconds = (double)(clock_us(CLOCK_MONOTONIC) - start_us) / 1e6;
    if (done != bare->rows) {
        fprintf(stderr,
            "%s: %s: %" PRId64 " rows were done, not %" PRId64 ": is the store this run's own?\n",
            program, mode->name, done, bare->rows);
        exit(1);
    }
    printf("%s %" PRId64 " %.3f %.0f\n", mode->name, done, seconds, (double)done / seconds);
}

int
bare_main(int argc, char **argv, const struct bare_mode *modes)
{
    program = strrchr(argv[0], '/') == NULL ? argv[0] : strrchr(argv[0], '/') + 1;
    if (argc < 4 || argc > 6)
        usage(modes);
    const struct bare_mode *mode = modes;
    while (mode->name != NULL && strcmp(mode->name, argv[2]) != 0)
        mode++;
    if (mode->name == NULL)
        usage(modes);
    struct bare bare = {.url = argv[1], .rows = number(argv[3], ROWS_MAX)};
    bare.connections = argc > 4 ? (int)number(argv[4], mode->fires ? BARE_CONNECTIONS : 1) : 1;
    bare.receivers = argc > 5 ? (int)number(argv[5], BARE_RECEIVERS) : 1;
    if (!mode->fires && bare.rows % bare.receivers != 0)
        bare_fail(argv[3], "the rows must be a multiple of the receivers");
    measure(&bare, mode);
    return 0;
}
