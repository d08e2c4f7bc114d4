/* SPDX-License-Identifier: MIT
 *
 * checks_store.c - what is owed to nobody.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "declare/checks.h"
#include "store/look.h"

/* in_catalogue finds a receiver that was published and not removed since. */
static bool
in_catalogue(const struct catalogue_receiver *receivers, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(receivers[i].key, key) == 0)
            return receivers[i].removed_at_us == 0;
    return false;
}

owed_status
checks_store(struct db *db, const owed_registry *registry, int64_t now_us, checks_print print,
    void *state, size_t *ret_count, owed_error *err)
{
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, 0);
    struct catalogue_receiver *receivers = NULL;
    size_t receiver_count = 0;
    struct status found = {0};
    owed_status status = store_catalogue_receivers(db, &arena, &receivers, &receiver_count, err);
    if (status == OWED_OK)
        status = store_status(db, now_us, &arena, &found, err);
    if (status != OWED_OK)
        return status;

    size_t count = 0;
    for (size_t i = 0; i < found.count; i++) {
        const struct status_line *line = &found.lines[i];
        char sentence[1024];
        if (line->owed == 0 || registry_receiver(registry, line->receiver_key) != NULL ||
            in_catalogue(receivers, receiver_count, line->receiver_key))
            continue;
        snprintf(sentence, sizeof sentence,
            "receiver \"%s\": nobody declares it; what it is owed (%" PRId64
            ") is orphaned after the "
            "grace unless somebody publishes it",
            line->receiver_key, line->owed);
        print(state, FINDING_WARNING, sentence);
        count++;
    }
    *ret_count = count;
    return OWED_OK;
}
