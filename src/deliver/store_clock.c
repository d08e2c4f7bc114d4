/* SPDX-License-Identifier: MIT
 *
 * store_clock.c - see store_clock.h.
 *
 * What is kept is how far the store's clock is ahead of the kernel's time since boot, which goes on while
 * the machine sleeps and which nobody sets. The store's answer is taken for the middle of its round trip;
 * of several the one with the shortest trip can be wrong by the least.
 */
#include "deliver/store_clock.h"

#include <time.h>

#include "base/clock.h"

#define SAMPLES 3
#define QUICK_US US_PER_MS // a round trip that needs no better one

static int64_t
boot_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_BOOTTIME, &t);
    return t.tv_sec * US_PER_SECOND + t.tv_nsec / 1000;
}

void
store_clock_init(struct store_clock *clock)
{
    atomic_init(&clock->offset_us, clock_now_us(&clock_system) - boot_us());
}

owed_status
store_clock_read(struct store_clock *clock, struct db *db, owed_error *err)
{
    int64_t best_us = INT64_MAX;
    for (int i = 0; i < SAMPLES && best_us > QUICK_US; i++) {
        int64_t now_us = 0;
        int64_t asked_us = boot_us();
        owed_status status = db->driver->now(db, &now_us, err);
        if (status != OWED_OK)
            return status;
        int64_t trip_us = boot_us() - asked_us;
        if (trip_us >= best_us)
            continue;
        best_us = trip_us;
        atomic_store(&clock->offset_us, now_us - (asked_us + trip_us / 2));
    }
    return OWED_OK;
}

static int64_t
store_now_us(void *state)
{
    const struct store_clock *clock = state;
    return boot_us() + atomic_load(&clock->offset_us);
}

static int64_t
monotonic_us(void *state)
{
    (void)state;
    return clock_monotonic_us(&clock_system);
}

owed_clock
store_clock_of(struct store_clock *clock)
{
    return (owed_clock){.now_us = store_now_us, .monotonic_us = monotonic_us, .state = clock};
}
