/* SPDX-License-Identifier: MIT
 *
 * effect.h - how a module of the tests writes in a transaction of owed's, whatever its store is.
 *
 * It is for what sees the public headers alone: effect.c is compiled into the module.
 */
#ifndef TEST_SUPPORT_EFFECT_H
#define TEST_SUPPORT_EFFECT_H

#include <stdbool.h>

#include <owed/owed.h>

/* effect runs a statement in the transaction; false: there is none, or it failed. */
bool effect(owed_tx *tx, const char *statement);
/* effect_of does so in the transaction of the acknowledgement. */
bool effect_of(owed_delivery *delivery, const char *statement);

#endif
