/* SPDX-License-Identifier: MIT
 *
 * effects.h - the one thing in which the stores differ for the receivers of effects.c.
 */
#ifndef TEST_MODULES_EFFECTS_H
#define TEST_MODULES_EFFECTS_H

#include <stdbool.h>

#include <owed/owed.h>

/* effect_insert writes a row to effect(delivery, receiver) in the transaction of the acknowledgement;
 * false: it could not, and says why. */
bool effect_insert(owed_delivery *delivery, char why[static 200]);

#endif
