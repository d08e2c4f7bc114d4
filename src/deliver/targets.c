/* SPDX-License-Identifier: MIT
 *
 * targets.c - one delivery for each target that a receiver names.
 *
 * The store drops what is named twice: a row's digest makes it unique.
 */
#include "deliver/targets.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/utf8.h"

void
target_list_init(struct owed_target_list *list, const char *receiver_key, struct arena *arena)
{
    *list = (struct owed_target_list){.receiver_key = receiver_key, .arena = arena};
    list->end = &list->first;
}

/* refuse notes the first refusal: a function that passes over it has failed all the same. */
static owed_status
refuse(struct owed_target_list *list, owed_status status, const char *why, owed_error *err)
{
    owed_error refusal;
    fail(&refusal, status, "receiver %s: target %zu %s", list->receiver_key, list->count + 1, why);
    if (list->refusal.status == OWED_OK)
        list->refusal = refusal;
    return fail(err, status, "%s", refusal.text);
}

owed_status
owed_target_add(owed_target_list *list, const char *target, owed_error *err)
{
    if (is_empty(target))
        return refuse(list, OWED_INVALID, "is empty: it has to be a text", err);
    struct str text = str_of(target);
    if (text.len > LIMIT_TARGET_BYTES)
        return refuse(list, OWED_LIMIT, "is longer than 65536 bytes", err);
    if (!utf8_is_valid(text))
        return refuse(list, OWED_INVALID, "is not UTF-8", err);
    if (list->count >= LIMIT_TARGETS)
        return refuse(list, OWED_LIMIT, "is one too many: 10000 for one event are the most", err);
    struct target_entry *entry = arena_alloc(list->arena, sizeof *entry);
    if (entry != NULL)
        entry->target = arena_copy(list->arena, text);
    if (entry == NULL || entry->target == NULL) {
        fail_memory(&list->refusal);
        return fail_memory(err);
    }
    *list->end = entry;
    list->end = &entry->next;
    list->count++;
    return OWED_OK;
}

owed_status
targets_ask(
    owed_delivery *delivery, const void *payload, struct owed_target_list *list, owed_error *err)
{
    owed_error why = {0};
    owed_status status = delivery->receiver->declared.targets(delivery, payload, list, &why);
    if (list->refusal.status != OWED_OK)
        return fail(err, list->refusal.status, "%s", list->refusal.text);
    if (status == OWED_OK)
        return OWED_OK;
    // To whoever fires, that one means that the transaction goes on.
    if (status == OWED_DUPLICATE)
        status = OWED_INVALID;
    return fail_native(err, status, why.native, "receiver %s could not name its targets: %s",
        list->receiver_key, why.text[0] == '\0' ? "it did not say why" : why.text);
}

owed_status
targets_owe(struct db *db, const struct owed_target_list *list, struct new_delivery *delivery,
    owed_error *err)
{
    for (const struct target_entry *entry = list->first; entry != NULL; entry = entry->next) {
        delivery->target = entry->target;
        owed_status status = store_insert_delivery(db, delivery, err);
        if (status != OWED_OK)
            return status;
    }
    return OWED_OK;
}
