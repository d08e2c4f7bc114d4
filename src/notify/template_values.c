/* SPDX-License-Identifier: MIT
 *
 * template_values.c - the values of a context: are all there, is none too many, is each of its kind?
 */
#include "notify/template.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "declare/kinds.h"

/* --- from JSON --- */

/* natural_value is a JSON value of its own kind: what a message names where it does not fit. */
static owed_status
natural_value(struct json json, struct arena *arena, owed_value *value, owed_error *err)
{
    static const owed_kind kinds[] = {
        [JSON_NULL] = OWED_KIND_END,
        [JSON_FALSE] = OWED_KIND_BOOL,
        [JSON_TRUE] = OWED_KIND_BOOL,
        [JSON_NUMBER] = OWED_KIND_DOUBLE,
        [JSON_STRING] = OWED_KIND_TEXT,
        [JSON_ARRAY] = OWED_KIND_ARRAY,
        [JSON_OBJECT] = OWED_KIND_STRUCT,
    };
    value->kind = kinds[json.type];
    value->is.flag = json.type == JSON_TRUE;
    if (json.type != JSON_STRING)
        return OWED_OK;
    struct str text;
    owed_status status = json_read_string(json, arena, &text, err);
    if (status != OWED_OK)
        return status;
    if (strlen(text.p) != text.len)
        return fail(err, OWED_INVALID, "context: the value of \"%s\" holds a NUL", value->name);
    value->is.text = text.p;
    return OWED_OK;
}

/* fit_number makes a JSON number what its variable wants. */
static owed_status
fit_number(owed_kind wanted, struct json json, struct arena *arena, owed_value *value)
{
    if (wanted == OWED_KIND_INT64) {
        if (json_int64(json, &value->is.integer))
            value->kind = OWED_KIND_INT64;
        return OWED_OK;
    }
    if (wanted == OWED_KIND_DECIMAL) {
        value->is.text = arena_copy(arena, json.text);
        if (value->is.text == NULL)
            return OWED_NOMEM;
        if (format_is_decimal(value->is.text))
            value->kind = OWED_KIND_DECIMAL;
        return OWED_OK;
    }
    if (!json_double(json, &value->is.real))
        value->is.real = INFINITY;
    return OWED_OK;
}

static owed_status
value_from_json(const struct variant *variant, struct json json, struct arena *arena,
    owed_value *value, owed_error *err)
{
    owed_status status = natural_value(json, arena, value, err);
    int at = variable_find(variant, str_of(value->name));
    if (status != OWED_OK || at < 0)
        return status;
    owed_kind wanted = variant->variables[at].kind;
    if (json.type == JSON_NUMBER && fit_number(wanted, json, arena, value) != OWED_OK)
        return fail_memory(err);
    if (json.type == JSON_STRING && wanted == OWED_KIND_DECIMAL &&
        format_is_decimal(value->is.text))
        value->kind = OWED_KIND_DECIMAL;
    return OWED_OK;
}

static owed_status
add_members(const struct variant *variant, struct json object, struct arena *arena,
    owed_value *values, owed_error *err)
{
    struct json_walk walk = json_walk(object);
    struct str key;
    struct json member;
    for (size_t i = 0; json_next(&walk, &key, &member); i++) {
        struct str name;
        owed_status status = json_read_string((struct json){JSON_STRING, key}, arena, &name, err);
        if (status != OWED_OK)
            return status;
        values[i].name = name.p;
        status = value_from_json(variant, member, arena, &values[i], err);
        if (status != OWED_OK)
            return status;
    }
    return OWED_OK;
}

owed_status
values_from_json(const struct variant *variant, const char *context, struct arena *arena,
    owed_value **ret_values, owed_error *err)
{
    struct str text = str_of(context);
    owed_error why;
    if (text.len > LIMIT_PAYLOAD_BYTES)
        return fail(err, OWED_LIMIT, "%s: a context of %zu bytes, of %zu at most", variant->name,
            text.len, LIMIT_PAYLOAD_BYTES);
    if (json_check(text, LIMIT_PAYLOAD_DEPTH, &why) != OWED_OK)
        return fail(err, OWED_INVALID, "%s: the context is no JSON: %s", variant->name, why.text);
    struct json object = json_root(text);
    if (object.type != JSON_OBJECT)
        return fail(err, OWED_INVALID, "%s: the context is %s, where an object would be right",
            variant->name, json_type_name(object.type));
    size_t count = 0;
    struct json_walk walk = json_walk(object);
    struct str key;
    struct json member;
    while (json_next(&walk, &key, &member))
        count++;
    owed_value *values = arena_alloc(arena, (count + 1) * sizeof *values);
    if (values == NULL)
        return fail_memory(err);
    *ret_values = values;
    return add_members(variant, object, arena, values, err);
}

/* --- against the declaration --- */

static int
compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static owed_status
fail_names(const struct variant *variant, owed_status status, const char *what, const char **names,
    size_t count, owed_error *err)
{
    struct buf list CLEANUP(buf_done);
    buf_init(&list, sizeof err->text);
    qsort(names, count, sizeof *names, compare_names);
    for (size_t i = 0; i < count; i++)
        buf_printf(&list, "%s%s", i == 0 ? "" : ", ", names[i]);
    return fail(err, status, "%s: %s: %s%s", variant->name, what, buf_text(&list),
        list.failed ? ", ..." : "");
}

/* find takes the last value of a name, as JSON does. */
static const owed_value *
find(const owed_value *values, const char *name)
{
    const owed_value *found = NULL;
    for (; values != NULL && values->name != NULL; values++)
        if (strcmp(values->name, name) == 0)
            found = values;
    return found;
}

static const char *
kind_text(owed_kind kind)
{
    static const char *const texts[] = {
        [OWED_KIND_END] = "null",
        [OWED_KIND_BOOL] = "a bool",
        [OWED_KIND_INT64] = "a whole number",
        [OWED_KIND_DOUBLE] = "a double",
        [OWED_KIND_TEXT] = "a text",
        [OWED_KIND_DECIMAL] = "a decimal",
        [OWED_KIND_STRUCT] = "an object",
        [OWED_KIND_ARRAY] = "an array",
    };
    size_t i = (size_t)kind;
    return i < sizeof texts / sizeof texts[0] && texts[i] != NULL ? texts[i] : "another kind";
}

static owed_status
check_value(const struct variant *variant, const owed_variable *variable, const owed_value *value,
    owed_error *err)
{
    if (value->kind != variable->kind)
        return fail(err, OWED_VARIABLE_TYPE, "%s: variable %s wants %s and was given %s",
            variant->name, variable->name, kind_text(variable->kind), kind_text(value->kind));
    if (value->kind == OWED_KIND_DECIMAL && !format_is_decimal(value->is.text))
        return fail(err, OWED_VARIABLE_TYPE,
            "%s: variable %s wants a decimal number such as \"12.50\" and was given \"%.60s\"",
            variant->name, variable->name, or_empty(value->is.text));
    if (value->kind == OWED_KIND_TEXT && value->is.text == NULL)
        return fail(err, OWED_VARIABLE_TYPE, "%s: variable %s wants a text and was given NULL",
            variant->name, variable->name);
    if (value->kind == OWED_KIND_TEXT && !utf8_is_valid(str_of(value->is.text)))
        return fail(err, OWED_VARIABLE_TYPE,
            "%s: variable %s wants a text in UTF-8, and these bytes are not", variant->name,
            variable->name);
    if (value->kind == OWED_KIND_DOUBLE && !isfinite(value->is.real))
        return fail(err, OWED_VARIABLE_TYPE, "%s: variable %s wants a finite number", variant->name,
            variable->name);
    return OWED_OK;
}

static owed_status
check_unknown(
    const struct variant *variant, const owed_value *values, struct arena *arena, owed_error *err)
{
    size_t all = 0, unknown = 0;
    while (values != NULL && values[all].name != NULL)
        all++;
    const char **names = arena_alloc(arena, (all + 1) * sizeof *names);
    if (names == NULL)
        return fail_memory(err);
    for (size_t i = 0; i < all; i++)
        if (variable_find(variant, str_of(values[i].name)) < 0)
            names[unknown++] = values[i].name;
    if (unknown == 0)
        return OWED_OK;
    return fail_names(
        variant, OWED_UNKNOWN_VARIABLE, "given, and not declared", names, unknown, err);
}

owed_status
values_match(const struct variant *variant, const owed_value *values, struct arena *arena,
    const owed_value ***ret_found, owed_error *err)
{
    size_t count = variant->variable_count, missing = 0;
    const owed_value **found = arena_alloc(arena, (count + 1) * sizeof *found);
    const char *names[LIMIT_VARIABLES];
    if (found == NULL)
        return fail_memory(err);
    for (size_t i = 0; i < count; i++) {
        found[i] = find(values, variant->variables[i].name);
        if (found[i] == NULL)
            names[missing++] = variant->variables[i].name;
    }
    if (missing > 0)
        return fail_names(
            variant, OWED_MISSING_VARIABLE, "declared, and not given", names, missing, err);
    owed_status status = check_unknown(variant, values, arena, err);
    for (size_t i = 0; i < count && status == OWED_OK; i++)
        status = check_value(variant, &variant->variables[i], found[i], err);
    *ret_found = found;
    return status;
}
