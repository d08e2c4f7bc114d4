/* SPDX-License-Identifier: MIT
 *
 * suppress.c - blocks whose events are owed to nobody.
 */
#include "base/error.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "deliver/scope.h"

static owed_status
check_suppression(const owed_suppression *suppression, owed_error *err)
{
    if (suppression == NULL || is_empty(suppression->reason))
        return fail(err, OWED_INVALID,
            "a suppression has no reason: it is kept with the events, for whoever misses them");
    struct str reason = str_of(suppression->reason);
    if (reason.len > LIMIT_KEY_BYTES)
        return fail(err, OWED_INVALID, "the reason of a suppression is %zu bytes long: at most %d",
            reason.len, LIMIT_KEY_BYTES);
    if (!utf8_is_valid(reason))
        return fail(err, OWED_INVALID, "the reason of a suppression is not UTF-8");
    const char *const *name = suppression->events;
    owed_error why;
    for (; name != NULL && *name != NULL; name++)
        if (check_name("event name", *name, &why) != OWED_OK)
            return fail(err, OWED_INVALID, "%s", why.text);
    return OWED_OK;
}

/* copy_names copies a NULL-ended list; NULL: memory is out. */
static const char *const *
copy_names(const char *const *names, struct arena *arena)
{
    size_t count = 0;
    while (names[count] != NULL)
        count++;
    const char **copy = arena_alloc(arena, (count + 1) * sizeof *copy);
    for (size_t i = 0; copy != NULL && i < count; i++) {
        copy[i] = arena_strdup(arena, names[i]);
        if (copy[i] == NULL)
            return NULL;
    }
    return copy;
}

/* suppress lays a suppression over those that the block has. */
static bool
suppress(struct owed_scope *scope, const char *reason, const char *const *events, bool discard)
{
    struct suppression *own = arena_alloc(&scope->arena, sizeof *own);
    if (own == NULL)
        return false;
    *own = (struct suppression){.outer = scope->suppressions, .discard = discard};
    own->reason = arena_strdup(&scope->arena, reason);
    if (events != NULL)
        own->events = copy_names(events, &scope->arena);
    scope->suppressions = own;
    return own->reason != NULL && (events == NULL || own->events != NULL);
}

owed_status
owed_scope_begin_suppressed(
    const owed_suppression *suppression, owed_scope **ret_scope, owed_error *err)
{
    owed_status status = check_suppression(suppression, err);
    if (status != OWED_OK)
        return status;
    struct owed_scope *scope = scope_new(scope_innermost());
    if (scope == NULL)
        return fail_memory(err);
    if (!suppress(scope, suppression->reason, suppression->events, suppression->discard)) {
        scope_free(scope);
        return fail_memory(err);
    }
    scope_open(scope);
    *ret_scope = scope;
    return OWED_OK;
}

static bool
means(const struct suppression *suppression, const char *event_name)
{
    if (suppression->events == NULL)
        return true;
    for (const char *const *name = suppression->events; *name != NULL; name++)
        if (strcmp(*name, event_name) == 0)
            return true;
    return false;
}

const char *
scope_suppresses(const char *event_name, bool *ret_discard)
{
    const struct owed_scope *scope = scope_innermost();
    const char *reason = NULL;
    *ret_discard = false;
    const struct suppression *s = scope != NULL ? scope->suppressions : NULL;
    for (; s != NULL; s = s->outer) {
        if (!means(s, event_name))
            continue;
        reason = reason != NULL ? reason : s->reason;
        *ret_discard = *ret_discard || s->discard;
    }
    return reason;
}

bool
scope_keep_suppressions(struct owed_scope *scope)
{
    const struct suppression *theirs = scope->suppressions;
    size_t count = 0;
    for (const struct suppression *s = theirs; s != NULL; s = s->outer)
        count++;
    scope->suppressions = NULL;
    for (size_t left = count; left > 0; left--) {
        const struct suppression *s = theirs;
        for (size_t i = 1; i < left; i++)
            s = s->outer;
        if (!suppress(scope, s->reason, s->events, s->discard))
            return false;
    }
    return true;
}
