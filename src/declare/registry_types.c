/* SPDX-License-Identifier: MIT
 *
 * registry_types.c - the event types of a registry: how long their events are kept, what of them is
 * secret.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "declare/check.h"
#include "declare/codec.h"
#include "declare/mask.h"

static struct declared_type *
find_type(const owed_registry *registry, const char *event_name)
{
    for (struct declared_type *t = registry->types; t != NULL; t = t->next)
        if (strcmp(t->type->name, event_name) == 0)
            return t;
    return NULL;
}

const owed_event_type *
registry_type(const owed_registry *registry, const char *event_name)
{
    const struct declared_type *found = find_type(registry, event_name);
    return found == NULL ? NULL : found->type;
}

/* type_check refuses a type that cannot be used, or of whose name another one is declared. */
owed_status
type_check(const owed_registry *registry, const owed_event_type *type, owed_error *err)
{
    owed_status status = codec_check(type, err);
    if (status != OWED_OK)
        return status;
    const struct declared_type *found = find_type(registry, type->name);
    if (found == NULL || found->by_name || codec_same(found->type, type))
        return OWED_OK;
    return fail(err, OWED_CONFIG,
        "event \"%s\" is declared already, with another version or other fields; one type for each "
        "name is right",
        type->name);
}

/* note_secrets describes a type that has secrets once, since that is asked for with each failure. */
static owed_status
note_secrets(owed_registry *registry, struct declared_type *declared, owed_error *err)
{
    CLEANUP(buf_done) struct buf fields;
    struct mask mask = {0};
    buf_init(&fields, LIMIT_PAYLOAD_BYTES);
    codec_describe(declared->type, declared->secret, &fields);
    mask_add(&mask, buf_text(&fields));
    declared->hides = NULL;
    if (mask.count > 0)
        declared->hides = arena_copy(&registry->arena, buf_view(&fields));
    return fields.failed || (mask.count > 0 && declared->hides == NULL) ? fail_memory(err)
                                                                        : OWED_OK;
}

/* type_add keeps a type that type_check accepted. A real one takes the place of a mere name. */
owed_status
type_add(owed_registry *registry, const owed_event_type *type, bool by_name, owed_error *err)
{
    struct declared_type *found = find_type(registry, type->name);
    if (found != NULL) {
        if (!found->by_name || by_name)
            return OWED_OK;
        found->type = type;
        found->by_name = false;
        return note_secrets(registry, found, err);
    }
    struct declared_type *added = arena_alloc(&registry->arena, sizeof *added);
    if (added == NULL)
        return fail_memory(err);
    *added = (struct declared_type){.type = type, .by_name = by_name};
    *registry->types_end = added;
    registry->types_end = &added->next;
    registry->type_count++;
    return note_secrets(registry, added, err);
}

const owed_event_type *
type_of_name(struct arena *arena, const char *name)
{
    owed_event_type *type = arena_alloc(arena, sizeof *type);
    if (type == NULL)
        return NULL;
    *type = (owed_event_type){.name = arena_strdup(arena, name), .version = 1};
    return type->name == NULL ? NULL : type;
}

/* --- how long they are kept --- */

static const char *const delete_when_names[] = {
    [OWED_DELETE_WHEN_OLD] = "",
    [OWED_DELETE_WHEN_SUCCEEDED] = "succeeded",
    [OWED_DELETE_WHEN_SETTLED] = "settled",
};

const char *
delete_when_name(owed_delete_when delete_when)
{
    return delete_when_names[delete_when];
}

owed_status
check_keeping(const char *event_name, const struct keeping *keeping, owed_error *err)
{
    int64_t us = keeping->retention_us;
    if (us < 0 || us % US_PER_SECOND != 0 || us / US_PER_SECOND > INT32_MAX)
        return fail(err, OWED_CONFIG,
            "event \"%s\": a retention is a whole number of seconds, from 1 to %d; 0 for none of "
            "its own",
            event_name, INT32_MAX);
    if ((unsigned)keeping->delete_when > OWED_DELETE_WHEN_SETTLED)
        return fail(err, OWED_CONFIG, "event \"%s\": delete_when is none of its words", event_name);
    if (us > 0 && keeping->delete_when != OWED_DELETE_WHEN_OLD)
        return fail(err, OWED_CONFIG,
            "event \"%s\": it has a retention of its own and goes when it has %s; one of the two "
            "is right",
            event_name, delete_when_name(keeping->delete_when));
    return OWED_OK;
}

struct keeping
declared_keeping(const struct declared_type *declared)
{
    if (declared->is_kept)
        return declared->kept;
    return (struct keeping){declared->type->retention_us, declared->type->delete_when};
}

struct keeping
registry_keeping(const owed_registry *registry, const char *event_name)
{
    const struct declared_type *found = find_type(registry, event_name);
    return found == NULL ? (struct keeping){0} : declared_keeping(found);
}

/* want_type finds an event that owed.conf speaks of, and declares it by name where nobody has. */
static owed_status
want_type(owed_registry *registry, const char *event_name, struct declared_type **ret_found,
    owed_error *err)
{
    owed_status status = check_name("event", event_name, err);
    if (status == OWED_OK && find_type(registry, event_name) == NULL) {
        const owed_event_type *type = type_of_name(&registry->arena, event_name);
        status = type == NULL ? fail_memory(err) : type_add(registry, type, true, err);
    }
    if (status == OWED_OK)
        *ret_found = find_type(registry, event_name);
    return status;
}

owed_status
registry_keep(
    owed_registry *registry, const char *event_name, const struct keeping *keeping, owed_error *err)
{
    struct declared_type *found = NULL;
    owed_status status = check_keeping(event_name, keeping, err);
    if (status == OWED_OK)
        status = want_type(registry, event_name, &found, err);
    if (status != OWED_OK)
        return status;
    found->is_kept = true;
    found->kept = *keeping;
    return OWED_OK;
}

owed_status
registry_hide(
    owed_registry *registry, const char *event_name, const char *pointers, owed_error *err)
{
    struct declared_type *found = NULL;
    if (!pointers_are_good(pointers))
        return fail(err, OWED_CONFIG,
            "event \"%s\": secret is a list of JSON pointers, such as /card/number or "
            "/lines/*/token, with blanks between them",
            event_name);
    owed_status status = want_type(registry, event_name, &found, err);
    if (status != OWED_OK)
        return status;
    found->secret = arena_strdup(&registry->arena, pointers);
    return found->secret == NULL ? fail_memory(err) : note_secrets(registry, found, err);
}

void
registry_mask(const owed_registry *registry, const char *event_name, struct mask *mask)
{
    const struct declared_type *found = find_type(registry, event_name);
    if (found != NULL)
        mask_add(mask, found->hides);
}

owed_status
owed_declare_event(owed_registry *registry, const owed_event_type *type, owed_error *err)
{
    if (type->name != NULL && is_any_event(type->name))
        return fail(err, OWED_CONFIG,
            "event \"*\" stands for any event and cannot be declared; a receiver may name it");
    owed_status status = type_check(registry, type, err);
    return status == OWED_OK ? type_add(registry, type, false, err) : status;
}
