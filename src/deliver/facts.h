/* SPDX-License-Identifier: MIT
 *
 * facts.h - JSON objects of facts, laid over one another.
 */
#ifndef DELIVER_FACTS_H
#define DELIVER_FACTS_H

#include <owed/error.h>

#include "base/arena.h"

#define FACTS_MAX_KEYS 1000

/* facts_check refuses what is no JSON object or too long, by that name: INVALID. Empty is fine. */
owed_status facts_check(const char *name, const char *text, owed_error *err);

/* facts_merge lays over on top of under, both checked; the members keep their bytes. The result is in the
 * arena, or one of the two where the other is empty. INVALID: it is too long, or has too many keys. */
owed_status facts_merge(const char *under, const char *over, struct arena *arena,
    const char **ret_facts, owed_error *err);

#endif
