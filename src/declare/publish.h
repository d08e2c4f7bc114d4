/* SPDX-License-Identifier: MIT
 *
 * publish.h - the registry, written to the store's catalogue.
 */
#ifndef DECLARE_PUBLISH_H
#define DECLARE_PUBLISH_H

#include "declare/registry.h"
#include "store/store.h"

owed_status publish_registry(struct db *db, const owed_registry *registry, int64_t release,
    int64_t now_us, int64_t *ret_changed, owed_error *err);

/* publish_describe gives what would be published, a row for each type and receiver of the registry, in the arena. */
owed_status publish_describe(const owed_registry *registry, struct arena *arena,
    struct catalogue_event **ret_events, struct catalogue_receiver **ret_receivers,
    owed_error *err);

#endif
