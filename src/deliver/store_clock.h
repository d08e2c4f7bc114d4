/* SPDX-License-Identifier: MIT
 *
 * store_clock.h - the time as the store has it, read without asking it each time.
 *
 * A handle to which the caller gave no clock goes by the store's, where the store has one: every time that
 * it writes or compares is then the same on all hosts, however their own clocks are set.
 */
#ifndef DELIVER_STORE_CLOCK_H
#define DELIVER_STORE_CLOCK_H

#include <stdatomic.h>

#include "store/store.h"

struct store_clock {
    atomic_llong offset_us; // what to add to the kernel's clock that nobody sets
};

/* store_clock_init begins with the host's time. */
void store_clock_init(struct store_clock *clock);

/* store_clock_read asks db, which has a clock, what time it is: as often as it takes for one quick
 * answer, thrice at most. On failure the clock goes on as it went. */
owed_status store_clock_read(struct store_clock *clock, struct db *db, owed_error *err);

/* store_clock_of is the clock as a handle has it; it points to clock. */
owed_clock store_clock_of(struct store_clock *clock);

#endif
