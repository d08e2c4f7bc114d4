/* SPDX-License-Identifier: MIT
 *
 * facts.c - an inner object's members go before the outer one's of the same name.
 */
#include "deliver/facts.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"

owed_status
facts_check(const char *name, const char *text, owed_error *err)
{
    if (is_empty(text))
        return OWED_OK;
    struct str view = str_of(text);
    if (view.len > LIMIT_SCOPE_BYTES)
        return fail(err, OWED_INVALID, "%s is %zu bytes long: at most %d", name, view.len,
            LIMIT_SCOPE_BYTES);
    owed_error why;
    if (json_check(view, LIMIT_PAYLOAD_DEPTH, &why) != OWED_OK)
        return fail(err, OWED_INVALID, "%s is not JSON: %s", name, why.text);
    struct json root = json_root(view);
    if (root.type != JSON_OBJECT)
        return fail(err, OWED_INVALID, "%s is %s: it has to be a JSON object", name,
            json_type_name(root.type));
    return OWED_OK;
}

struct member {
    struct str raw; // the name as it stands, with its quotes
    struct str name;
    struct json value;
};

struct members {
    struct member *list;
    size_t count;
};

static owed_status
refuse_count(owed_error *err)
{
    return fail(err, OWED_INVALID, "the facts have more than %d keys", FACTS_MAX_KEYS);
}

static owed_status
read_members(const char *text, struct arena *arena, struct members *ret_members, owed_error *err)
{
    struct member *list = arena_alloc(arena, FACTS_MAX_KEYS * sizeof *list);
    if (list == NULL)
        return fail_memory(err);
    size_t count = 0;
    struct json_walk walk = json_walk(json_root(str_of(text)));
    struct member member = {0};
    while (json_next(&walk, &member.raw, &member.value)) {
        if (count == FACTS_MAX_KEYS)
            return refuse_count(err);
        struct json name = {JSON_STRING, member.raw};
        // A name that no UTF-8 can hold is compared as it stands.
        if (json_read_string(name, arena, &member.name, NULL) != OWED_OK)
            member.name = member.raw;
        list[count++] = member;
    }
    *ret_members = (struct members){list, count};
    return OWED_OK;
}

static bool
is_in(const struct members *members, struct str name)
{
    for (size_t i = 0; i < members->count; i++)
        if (str_eq(members->list[i].name, name))
            return true;
    return false;
}

static void
put(struct buf *text, const struct member *member)
{
    buf_puts(text, text->len == 0 ? "{" : ",");
    buf_add(text, member->raw.p, member->raw.len);
    buf_puts(text, ":");
    buf_add(text, member->value.text.p, member->value.text.len);
}

static owed_status
write_merged(const struct members *under, const struct members *over, struct arena *arena,
    const char **ret_facts, owed_error *err)
{
    CLEANUP(buf_done) struct buf text;
    buf_init(&text, (size_t)3 * LIMIT_SCOPE_BYTES);
    size_t count = over->count;
    for (size_t i = 0; i < under->count; i++) {
        if (is_in(over, under->list[i].name))
            continue;
        put(&text, &under->list[i]);
        count++;
    }
    for (size_t i = 0; i < over->count; i++)
        put(&text, &over->list[i]);
    buf_puts(&text, text.len == 0 ? "{}" : "}");
    if (count > FACTS_MAX_KEYS)
        return refuse_count(err);
    if (text.len > LIMIT_SCOPE_BYTES)
        return fail(err, OWED_INVALID,
            "the facts are %zu bytes long with those of the blocks around: at most %d", text.len,
            LIMIT_SCOPE_BYTES);
    *ret_facts = text.failed ? NULL : arena_copy(arena, buf_view(&text));
    return *ret_facts != NULL ? OWED_OK : fail_memory(err);
}

owed_status
facts_merge(const char *under, const char *over, struct arena *arena, const char **ret_facts,
    owed_error *err)
{
    *ret_facts = is_empty(over) ? or_empty(under) : over;
    if (is_empty(under) || is_empty(over))
        return OWED_OK;
    CLEANUP(arena_done) struct arena scratch;
    arena_init(&scratch, 0);
    struct members below = {0};
    struct members above = {0};
    owed_status status = read_members(under, &scratch, &below, err);
    if (status == OWED_OK)
        status = read_members(over, &scratch, &above, err);
    return status == OWED_OK ? write_merged(&below, &above, arena, ret_facts, err) : status;
}
