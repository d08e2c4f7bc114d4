/* SPDX-License-Identifier: MIT
 *
 * checks.h - what was declared well and still cannot work here: for owed check.
 */
#ifndef DECLARE_CHECKS_H
#define DECLARE_CHECKS_H

#include "declare/registry.h"
#include "store/store.h"

enum finding {
    FINDING_WARNING, // may be meant so
    FINDING_ERROR,   // deliveries will fail
    FINDING_COUNT
};
const char *finding_name(enum finding finding);

/* Called with one sentence for each finding. */
typedef void (*checks_print)(void *state, enum finding finding, const char *sentence);

/*
 * checks_run looks at the registry and at what it names on this host: events that nobody declared,
 * task sites without a backend, receivers that share a transaction and a hook that forbids it, programs that cannot be run, files that cannot be written, secrets that cannot be read. Nothing is
 * run, written or sent. Returns how many findings there were.
 */
size_t checks_run(const owed_registry *registry, checks_print print, void *state);

/* checks_store looks for what is owed to receivers that neither the catalogue nor the registry has, or that want
 * another event by now. */
owed_status checks_store(struct db *db, const owed_registry *registry, int64_t now_us,
    checks_print print, void *state, size_t *ret_count, owed_error *err);

/* checks_payloads reads what is owed to receivers with a type as a relay would, page by page: one finding
 * for each event, version and field that cannot be read. */
owed_status checks_payloads(struct db *db, const owed_registry *registry, checks_print print,
    void *state, size_t *ret_count, owed_error *err);

#endif
