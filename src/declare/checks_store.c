/* SPDX-License-Identifier: MIT
 *
 * checks_store.c - what is owed to nobody, and what is owed to receivers that want something else by now.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "declare/checks.h"
#include "store/look.h"

struct finder {
    const owed_registry *registry;
    const struct catalogue_receiver *receivers;
    size_t receiver_count;
    checks_print print;
    void *state;
    size_t count;
};

static void tell(struct finder *finder, enum finding finding, const char *format, ...)
    OWED_PRINTF(3, 4);

static void
tell(struct finder *finder, enum finding finding, const char *format, ...)
{
    char sentence[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    finder->print(finder->state, finding, sentence);
    finder->count++;
}

/* in_catalogue finds a receiver that was published and not removed since; NULL: there is none. */
static const struct catalogue_receiver *
in_catalogue(const struct finder *finder, const char *key)
{
    for (size_t i = 0; i < finder->receiver_count; i++)
        if (strcmp(finder->receivers[i].key, key) == 0)
            return finder->receivers[i].removed_at_us == 0 ? &finder->receivers[i] : NULL;
    return NULL;
}

static void
find_nobodys(struct finder *finder, const struct status *found)
{
    for (size_t i = 0; i < found->count; i++) {
        const struct status_line *line = &found->lines[i];
        if (line->owed == 0 || registry_receiver(finder->registry, line->receiver_key) != NULL ||
            in_catalogue(finder, line->receiver_key) != NULL)
            continue;
        tell(finder, FINDING_WARNING,
            "receiver \"%s\": nobody declares it; what it is owed (%" PRId64
            ") is orphaned after the "
            "grace unless somebody publishes it",
            line->receiver_key, line->owed);
    }
}

/* wanted_instead names the event that a receiver wants, where it does not want this one; NULL: it does, or nobody
 * declares the receiver. What is declared here counts for more than what was published. */
static const char *
wanted_instead(const struct finder *finder, const char *key, const char *event_name)
{
    const struct receiver *receiver = registry_receiver(finder->registry, key);
    if (receiver != NULL)
        return receiver_wants(receiver, event_name) ? NULL : receiver->type->name;
    const struct catalogue_receiver *published = in_catalogue(finder, key);
    if (published == NULL || strcmp(published->event_name, owed_any_event.name) == 0 ||
        strcmp(published->event_name, event_name) == 0)
        return NULL;
    return published->event_name;
}

static void
find_unwanted(struct finder *finder, const struct owed_name *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct owed_name *name = &names[i];
        const char *instead = wanted_instead(finder, name->receiver_key, name->event_name);
        if (instead != NULL)
            tell(finder, FINDING_ERROR,
                "receiver \"%s\": it wants the event \"%s\" by now, and cannot be given what it is still owed of "
                "\"%s\" (%" PRId64 "); a new key for what it has become is right, or cancel these",
                name->receiver_key, instead, name->event_name, name->owed);
    }
}

owed_status
checks_store(struct db *db, const owed_registry *registry, int64_t now_us, checks_print print,
    void *state, size_t *ret_count, owed_error *err)
{
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, 0);
    struct catalogue_receiver *receivers = NULL;
    struct finder finder = {.registry = registry, .print = print, .state = state};
    struct status found = {0};
    struct owed_name *names = NULL;
    size_t name_count = 0;
    owed_status status =
        store_catalogue_receivers(db, &arena, &receivers, &finder.receiver_count, err);
    if (status == OWED_OK)
        status = store_status(db, now_us, &arena, &found, err);
    if (status == OWED_OK)
        status = store_owed_names(db, &arena, &names, &name_count, err);
    if (status != OWED_OK)
        return status;
    finder.receivers = receivers;
    find_nobodys(&finder, &found);
    find_unwanted(&finder, names, name_count);
    *ret_count = finder.count;
    return OWED_OK;
}
