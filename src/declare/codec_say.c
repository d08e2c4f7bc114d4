/* SPDX-License-Identifier: MIT
 *
 * codec_say.c - the sentence of the codec: which event, which field, what was expected, what came.
 */
#include "base/cleanup.h"
#include "base/error.h"
#include "declare/kinds.h"

#define LIMIT_PATH_BYTES 1024

struct str
excerpt(struct str text)
{
    if (text.len <= LIMIT_EXCERPT_BYTES)
        return text;
    size_t len = LIMIT_EXCERPT_BYTES;
    while (len > 0 && ((unsigned char)text.p[len] & 0xC0) == 0x80)
        len--;
    return (struct str){text.p, len};
}

void
expected_write(const owed_field *field, owed_kind kind, struct buf *text)
{
    if (kind_of(kind)->expected != NULL) {
        buf_puts(text, kind_of(kind)->expected);
        return;
    }
    buf_puts(text, "one of ");
    for (const owed_enum_value *word = field->words; word->name != NULL; word++)
        buf_printf(text, "%s\"%s\"", word == field->words ? "" : ", ", word->name);
}

bool
path_is_secret(const struct path *path)
{
    for (; path != NULL; path = path->parent)
        if (path->secret)
            return true;
    return false;
}

void
path_write(const struct path *path, struct buf *text)
{
    if (path->parent != NULL)
        path_write(path->parent, text);
    if (path->name == NULL)
        buf_printf(text, "[%zu]", path->index);
    else
        buf_printf(text, "%s%s", path->parent == NULL ? "" : ".", path->name);
}

owed_status
path_fail(const owed_event_type *type, int32_t version, const struct path *path, owed_status status,
    const char *expected, const char *found, owed_error *err)
{
    CLEANUP(buf_done) struct buf where;
    buf_init(&where, LIMIT_PATH_BYTES);
    if (path == NULL) {
        buf_puts(&where, "payload");
    } else {
        buf_puts(&where, "field ");
        path_write(path, &where);
    }
    return fail(err, status, "%s version %d: %s: expected %s, found %s", type->name,
        (int)(version == 0 ? 1 : version), buf_text(&where), expected, found);
}
