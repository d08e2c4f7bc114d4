/* SPDX-License-Identifier: MIT
 *
 * codec_upgrade.c - payloads that were fired before their type was changed.
 *
 * A text is read by the descriptor of its own time, and made one of today step by step. What the
 * application's function made is written once, and thrown away: so it is held to the same rules as
 * what is fired.
 */
#include <stdarg.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "declare/codec.h"
#include "declare/kinds.h"

#define LIMIT_REFUSAL_BYTES 1024

struct owed_upgrade {
    int32_t version; // of the text
    struct arena *arena;
    bool is_refused;
    char refusal[LIMIT_REFUSAL_BYTES];
};

void *
owed_upgrade_alloc(owed_upgrade *upgrade, size_t size)
{
    return arena_alloc(upgrade->arena, size);
}

const char *
owed_upgrade_text(owed_upgrade *upgrade, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = len < 0 ? NULL : arena_alloc(upgrade->arena, (size_t)len + 1);
    if (text == NULL)
        return NULL;
    va_start(args, format);
    vsnprintf(text, (size_t)len + 1, format, args);
    va_end(args);
    return text;
}

int32_t
owed_upgrade_version(const owed_upgrade *upgrade)
{
    return upgrade->version;
}

bool
owed_upgrade_refuse(owed_upgrade *upgrade, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(upgrade->refusal, sizeof upgrade->refusal, format, args);
    va_end(args);
    upgrade->is_refused = true;
    return false;
}

/* check_made writes what an upgrade made, as a fire would. */
static owed_status
check_made(const owed_event_type *type, int32_t version, const void *value, owed_error *err)
{
    CLEANUP(buf_done) struct buf json;
    buf_init(&json, LIMIT_PAYLOAD_BYTES);
    owed_error why;
    owed_status status = codec_encode(type, value, &json, &why);
    if (status == OWED_OK)
        return OWED_OK;
    if (status == OWED_CONFIG)
        status = OWED_INVALID;
    return fail(err, status, "%s version %d: its upgrade made what cannot be: %s", type->name,
        (int)version, why.text);
}

/* take_step makes one payload of this type out of one of the type before it. */
static owed_status
take_step(const owed_event_type *type, int32_t version, const void *before, struct arena *arena,
    const void **ret_value, owed_error *err)
{
    struct owed_upgrade upgrade = {.version = version, .arena = arena};
    void *after = arena_alloc(arena, type->fields == NULL ? sizeof(owed_bytes) : type->size);
    if (after == NULL)
        return fail_memory(err);
    owed_status status = fallbacks_read(type, arena, after, err);
    if (status != OWED_OK)
        return status;
    if (!type->upgrade(&upgrade, before, after) || upgrade.is_refused)
        return fail(err, OWED_INVALID, "%s version %d: its upgrade to version %d failed: %s",
            type->name, (int)version, (int)version_of(type),
            upgrade.refusal[0] == '\0' ? "it did not say why" : upgrade.refusal);
    status = check_made(type, version, after, err);
    if (status == OWED_OK)
        *ret_value = after;
    return status;
}

/* decode_checked goes back to the type that reads the text, and comes up again. A type has a few dozen
 * before it at most. */
static owed_status
decode_checked(const owed_event_type *type, int32_t version, struct str json, struct arena *arena,
    const void **ret_value, owed_error *err)
{
    if (type->before == NULL || version >= version_of(type))
        return payload_read(type, version, json, arena, ret_value, err);
    const void *before = NULL;
    owed_status status = decode_checked(type->before, version, json, arena, &before, err);
    return status == OWED_OK ? take_step(type, version, before, arena, ret_value, err) : status;
}

static bool
has_secret(const owed_field *fields)
{
    for (; fields != NULL && fields->kind != OWED_KIND_END; fields++)
        if (fields->secret || has_secret(fields->fields))
            return true;
    return false;
}

/* hide_found cuts off which byte it was that is no JSON: it may be one of a secret. */
static void
hide_found(const owed_event_type *type, char *text)
{
    for (; type != NULL; type = type->before) {
        char *found = has_secret(type->fields) ? strstr(text, ", found ") : NULL;
        if (found != NULL)
            *found = '\0';
    }
}

owed_status
codec_decode(const owed_event_type *type, int32_t version, struct str json, struct arena *arena,
    const void **ret_value, owed_error *err)
{
    owed_error why = {0};
    const void *value = NULL;
    if (json_check(json, LIMIT_PAYLOAD_DEPTH, &why) != OWED_OK) {
        hide_found(type, why.text);
        return fail(err, OWED_INVALID,
            "%s version %d: payload: expected JSON, found an error at %s", type->name, (int)version,
            why.text);
    }
    owed_status status = decode_checked(type, version, json, arena, &value, &why);
    if (status == OWED_OK) {
        *ret_value = value;
        return OWED_OK;
    }
    if (status == OWED_INVALID && version > version_of(type))
        return fail(err, status, "%s; this program knows no version above %d", why.text,
            (int)version_of(type));
    return fail(err, status, "%s", why.text);
}
