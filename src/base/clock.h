/* SPDX-License-Identifier: MIT
 *
 * clock.h - time and dice, passed in so that tests own them.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <owed/owed.h>

#define US_PER_SECOND INT64_C(1000000)
#define US_PER_MS INT64_C(1000)

extern const owed_clock clock_system;
extern const owed_dice dice_system;

/* clock_or_system and dice_or_system read empty ones of the caller's as the system's. */
owed_clock clock_or_system(owed_clock clock);
owed_dice dice_or_system(owed_dice dice);

int64_t clock_now_us(const owed_clock *clock);
int64_t clock_monotonic_us(const owed_clock *clock);

/* dice_unit returns a number in [0, 1), evenly spread. */
double dice_unit(const owed_dice *dice);
void dice_fill(const owed_dice *dice, void *bytes, size_t len);

/* Dice that fall the same way for the same seed (SplitMix64); state lives with the caller. */
owed_dice dice_seeded(uint64_t *state);

#endif
