/* SPDX-License-Identifier: MIT
 *
 * claim_cost.c - what one claim costs in a store as it is.
 *
 * usage: claim_cost URL LANE [CLAIMS] [ROWS]
 *
 * Claims ROWS (50) due inside rows of the lane, CLAIMS (100) times, and lets them lie. Prints the median
 * and the worst, in microseconds.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "store/store.h"

#define CLAIMS_MAX 10000

static int
by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* claim_once answers how long one claim took, or below 0. */
static int64_t
claim_once(struct db *db, const struct claim *claim)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct claimed *rows = NULL;
    size_t count = 0;
    owed_error err;
    int64_t start_us = clock_monotonic_us(&clock_system);
    owed_status status = store_claim(db, claim, &arena, &rows, &count, &err);
    int64_t took_us = clock_monotonic_us(&clock_system) - start_us;
    arena_done(&arena);
    if (status == OWED_OK && count == (size_t)claim->limit)
        return took_us;
    fprintf(stderr, "claim_cost: %zu rows: %s\n", count, status == OWED_OK ? "too few" : err.text);
    return -1;
}

int
main(int argc, char **argv)
{
    static int64_t samples[CLAIMS_MAX];
    size_t claims = argc > 3 ? strtoul(argv[3], NULL, 10) : 100;
    if (argc < 3 || claims < 1 || claims > CLAIMS_MAX) {
        fprintf(stderr, "usage: claim_cost URL LANE [CLAIMS] [ROWS]\n");
        return 64;
    }
    struct db_options options = {0};
    struct db *db = NULL;
    owed_error err;
    if (store_open(argv[1], &options, &db, &err) != OWED_OK) {
        fprintf(stderr, "claim_cost: %s\n", err.text);
        return 69;
    }
    const char *const lanes[] = {argv[2], NULL};
    struct claim claim = {.claimed_by = "bench.00000000/0",
        .now_us = clock_now_us(&clock_system),
        .lease_us = 300 * US_PER_SECOND,
        .kind = "inside",
        .lanes = lanes,
        .limit = argc > 4 ? (int32_t)strtol(argv[4], NULL, 10) : 50,
        .max_bytes = (size_t)64 << 20};
    for (size_t i = 0; i < claims; i++) {
        samples[i] = claim_once(db, &claim);
        if (samples[i] < 0)
            return 1;
    }
    qsort(samples, claims, sizeof samples[0], by_value);
    printf("%lld %lld\n", (long long)samples[claims / 2], (long long)samples[claims - 1]);
    store_close(db);
    return 0;
}
