/* SPDX-License-Identifier: MIT
 *
 * clock.c - the system's clocks and random numbers.
 */
#include "base/clock.h"

#include <string.h>
#include <sys/random.h>
#include <time.h>

static int64_t
read_clock(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return t.tv_sec * US_PER_SECOND + t.tv_nsec / 1000;
}

static int64_t
system_now_us(void *state)
{
    (void)state;
    return read_clock(CLOCK_REALTIME);
}

static int64_t
system_monotonic_us(void *state)
{
    (void)state;
    return read_clock(CLOCK_MONOTONIC);
}

const owed_clock clock_system = {.now_us = system_now_us, .monotonic_us = system_monotonic_us};

static uint64_t
splitmix(void *state)
{
    uint64_t *seed = state;
    *seed += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = *seed;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

#define SYSTEM_FILL_BYTES 256 // what is never cut short

static void
system_fill(void *bytes, size_t len)
{
    // Before the kernel's pool is ready the call waits.
    while (getrandom(bytes, len, 0) != (ssize_t)len)
        ;
}

static uint64_t
system_next(void *state)
{
    (void)state;
    uint64_t bits = 0;
    system_fill(&bits, sizeof bits);
    return bits;
}

const owed_dice dice_system = {.next = system_next};

owed_clock
clock_or_system(owed_clock clock)
{
    if (clock.now_us == NULL)
        return clock_system;
    if (clock.monotonic_us == NULL)
        clock.monotonic_us = clock.now_us;
    return clock;
}

owed_dice
dice_or_system(owed_dice dice)
{
    return dice.next == NULL ? dice_system : dice;
}

int64_t
clock_now_us(const owed_clock *clock)
{
    return clock->now_us(clock->state);
}

int64_t
clock_monotonic_us(const owed_clock *clock)
{
    return clock->monotonic_us(clock->state);
}

double
dice_unit(const owed_dice *dice)
{
    return (double)(dice->next(dice->state) >> 11) * 0x1.0p-53;
}

void
dice_fill(const owed_dice *dice, void *bytes, size_t len)
{
    char *p = bytes;
    if (dice->next == system_next && len <= SYSTEM_FILL_BYTES) {
        system_fill(bytes, len);
        return;
    }
    while (len > 0) {
        uint64_t bits = dice->next(dice->state);
        size_t n = len < sizeof bits ? len : sizeof bits;
        memcpy(p, &bits, n);
        p += n;
        len -= n;
    }
}

owed_dice
dice_seeded(uint64_t *state)
{
    return (owed_dice){.next = splitmix, .state = state};
}
