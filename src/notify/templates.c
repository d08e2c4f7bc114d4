/* SPDX-License-Identifier: MIT
 *
 * templates.c - a set of templates, sorted by name.
 */
#include <owed/templates.h>

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/options.h"
#include "base/str.h"
#include "notify/templates.h"

struct owed_templates {
    owed_template **list;
    size_t count;
    size_t capacity;
};

owed_status
owed_templates_new(owed_templates **ret_set, owed_error *err)
{
    owed_templates *set = calloc(1, sizeof *set);
    if (set == NULL)
        return fail_memory(err);
    *ret_set = set;
    return OWED_OK;
}

void
owed_templates_free(owed_templates *set)
{
    if (set == NULL)
        return;
    for (size_t i = 0; i < set->count; i++)
        owed_template_free(set->list[i]);
    free(set->list);
    free(set);
}

/* place_of is where a name stands, or would; ret_there tells which. */
static size_t
place_of(const owed_templates *set, const char *name, bool *ret_there)
{
    size_t low = 0, high = set->count;
    *ret_there = false;
    while (low < high && !*ret_there) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(owed_template_name(set->list[middle]), name);
        *ret_there = order == 0;
        if (order < 0)
            low = middle + 1;
        else if (order > 0)
            high = middle;
        else
            low = middle;
    }
    return low;
}

static bool
make_room(owed_templates *set, size_t more)
{
    size_t capacity = set->capacity == 0 ? 16 : set->capacity;
    while (capacity < set->count + more)
        capacity *= 2;
    if (capacity == set->capacity)
        return true;
    owed_template **list = reallocarray(set->list, capacity, sizeof(owed_template *));
    if (list == NULL)
        return false;
    set->list = list;
    set->capacity = capacity;
    return true;
}

owed_status
owed_templates_add(owed_templates *set, owed_template *tmpl, owed_error *err)
{
    bool is_there = false;
    const char *name = owed_template_name(tmpl);
    size_t at = place_of(set, name, &is_there);
    if (is_there)
        return fail(err, OWED_TEMPLATE,
            "there is a template called \"%s\" already; each needs a name of its own", name);
    if (set->count == LIMIT_TEMPLATES)
        return fail(err, OWED_LIMIT,
            "template \"%s\" would be one more than the %d that a set holds", name,
            LIMIT_TEMPLATES);
    if (!make_room(set, 1))
        return fail_memory(err);
    memmove(set->list + at + 1, set->list + at, (set->count - at) * sizeof(owed_template *));
    set->list[at] = tmpl;
    set->count++;
    return OWED_OK;
}

static owed_status
check_takes(const owed_templates *set, const owed_templates *from, owed_error *err)
{
    bool is_there = false;
    for (size_t i = 0; i < from->count; i++) {
        const char *name = owed_template_name(from->list[i]);
        (void)place_of(set, name, &is_there);
        if (is_there)
            return fail(err, OWED_TEMPLATE,
                "there is a template called \"%s\" already; each needs a name of its own", name);
    }
    if (set->count + from->count > LIMIT_TEMPLATES)
        return fail(err, OWED_LIMIT, "%zu templates would be more than the %d that a set holds",
            set->count + from->count, LIMIT_TEMPLATES);
    return OWED_OK;
}

owed_status
templates_take(owed_templates *set, owed_templates *from, owed_error *err)
{
    owed_status status = check_takes(set, from, err);
    if (status == OWED_OK && !make_room(set, from->count))
        status = fail_memory(err);
    // Nothing is left to go wrong.
    for (size_t i = 0; i < from->count && status == OWED_OK; i++)
        status = owed_templates_add(set, from->list[i], err);
    if (status == OWED_OK)
        from->count = 0;
    return status;
}

static owed_status
refuse_unknown(const owed_templates *set, const char *name, owed_error *err)
{
    CLEANUP(free_ptr) const char **names = calloc(set->count + 1, sizeof(const char *));
    if (names == NULL)
        return fail_memory(err);
    for (size_t i = 0; i < set->count; i++)
        names[i] = owed_template_name(set->list[i]);
    const char *near = nearest(name, names);
    if (near != NULL)
        return fail(
            err, OWED_NOT_FOUND, "no template is called \"%s\"; the nearest is \"%s\"", name, near);
    return fail(err, OWED_NOT_FOUND, "no template is called \"%s\"; there are %zu others", name,
        set->count);
}

owed_status
owed_templates_find(const owed_templates *set, const char *name, const owed_template **ret_template,
    owed_error *err)
{
    bool is_there = false;
    size_t at = place_of(set, or_empty(name), &is_there);
    if (!is_there)
        return refuse_unknown(set, or_empty(name), err);
    *ret_template = set->list[at];
    return OWED_OK;
}

size_t
owed_templates_count(const owed_templates *set)
{
    return set->count;
}

const owed_template *
owed_templates_at(const owed_templates *set, size_t index)
{
    return index < set->count ? set->list[index] : NULL;
}
