/* SPDX-License-Identifier: MIT
 *
 * scope.c - the blocks of a thread, innermost first, and what events take from them.
 */
#include "deliver/scope.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "deliver/facts.h"

/* The only state that belongs to no handle: blocks are the thread's, as its stack is. */
static _Thread_local struct owed_scope *innermost;

void
scope_free(struct owed_scope *scope)
{
    if (scope->is_engines)
        return;
    arena_done(&scope->arena);
    free(scope);
}

/* unwind ends the blocks inside of scope, which may be NULL: all of them. */
static void
unwind(const struct owed_scope *scope)
{
    while (innermost != NULL && innermost != scope) {
        struct owed_scope *inner = innermost;
        innermost = inner->outer;
        scope_free(inner);
    }
}

static bool
is_open(const struct owed_scope *scope)
{
    for (const struct owed_scope *s = innermost; s != NULL; s = s->outer)
        if (s == scope)
            return true;
    return false;
}

const struct owed_scope *
scope_innermost(void)
{
    return innermost;
}

struct owed_scope *
scope_new(const struct owed_scope *outer)
{
    struct owed_scope *scope = calloc(1, sizeof *scope);
    if (scope == NULL)
        return NULL;
    arena_init(&scope->arena, 0);
    if (outer != NULL) {
        scope->says = outer->says;
        scope->cause = outer->cause;
        scope->suppressions = outer->suppressions;
    }
    return scope;
}

void
scope_open(struct owed_scope *scope)
{
    scope->outer = innermost;
    innermost = scope;
}

/* --- copies --- */

/* keep copies a text that somebody else owns to the block's own arena. */
static bool
keep(struct owed_scope *scope, const char **text)
{
    *text = arena_strdup(&scope->arena, or_empty(*text));
    return *text != NULL;
}

static bool
keep_all(struct owed_scope *scope)
{
    owed_attribution *says = &scope->says;
    const char **const texts[] = {&says->actor_key, &says->actor_label, &says->correlation_id,
        &says->facts, &says->traceparent, &scope->cause.correlation_id, &scope->cause.traceparent};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (!keep(scope, texts[i]))
            return false;
    return scope->cause.url == NULL || keep(scope, &scope->cause.url);
}

/* --- saying things --- */

static owed_status
check(const owed_attribution *attribution, owed_error *err)
{
    const owed_fire_options options = {
        .actor_key = attribution->actor_key,
        .actor_label = attribution->actor_label,
        .correlation_id = attribution->correlation_id,
        .traceparent = attribution->traceparent,
    };
    owed_status status = fire_options_check(&options, err);
    return status == OWED_OK ? facts_check("facts", attribution->facts, err) : status;
}

/* mint makes a correlation id: a random UUID. */
static const char *
mint(struct arena *arena)
{
    uint8_t b[16];
    dice_fill(&dice_system, b, sizeof b);
    b[6] = (uint8_t)((b[6] & 0x0f) | 0x40);
    b[8] = (uint8_t)((b[8] & 0x3f) | 0x80);
    return arena_printf(arena,
        "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1], b[2],
        b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
}

static void
say_actor(owed_attribution *says, const owed_attribution *inner)
{
    if (is_empty(inner->actor_key) && is_empty(inner->actor_label))
        return;
    says->actor_key = inner->actor_key;
    says->actor_label = is_empty(inner->actor_label) ? inner->actor_key : inner->actor_label;
}

/* say lays what an inner block says over what holds around it. */
static owed_status
say(struct owed_scope *scope, const owed_attribution *inner, owed_error *err)
{
    owed_attribution *says = &scope->says;
    say_actor(says, inner);
    if (!is_empty(inner->traceparent))
        says->traceparent = inner->traceparent;
    if (!is_empty(inner->correlation_id))
        says->correlation_id = inner->correlation_id;
    if (is_empty(says->correlation_id))
        says->correlation_id = scope->cause.correlation_id;
    if (is_empty(says->correlation_id))
        says->correlation_id = mint(&scope->arena);
    if (says->correlation_id == NULL)
        return fail_memory(err);
    owed_status status = facts_merge(says->facts, inner->facts, &scope->arena, &says->facts, err);
    if (status == OWED_OK && !keep_all(scope))
        status = fail_memory(err);
    return status;
}

owed_status
owed_scope_begin(const owed_attribution *attribution, owed_scope **ret_scope, owed_error *err)
{
    const owed_attribution nothing = {0};
    const owed_attribution *inner = attribution != NULL ? attribution : &nothing;
    owed_status status = check(inner, err);
    if (status != OWED_OK)
        return status;
    struct owed_scope *scope = scope_new(innermost);
    if (scope == NULL)
        return fail_memory(err);
    status = say(scope, inner, err);
    if (status != OWED_OK) {
        scope_free(scope);
        return status;
    }
    scope_open(scope);
    *ret_scope = scope;
    return OWED_OK;
}

owed_status
owed_scope_end(owed_scope *scope, owed_error *err)
{
    if (scope == NULL)
        return OWED_OK;
    if (!is_open(scope))
        return fail(err, OWED_INVALID,
            "the scope is not open on this thread: it was ended before, or began on another one");
    if (scope != innermost)
        return fail(err, OWED_INVALID,
            "a scope inside this one is still open: they end in the reverse order of their "
            "beginning");
    innermost = scope->outer;
    scope_free(scope);
    return OWED_OK;
}

static owed_status
call_within(owed_scope *scope, owed_scope_function function, void *state, owed_error *err)
{
    owed_status status = function(state, err);
    unwind(scope);
    (void)owed_scope_end(scope, NULL);
    return status;
}

owed_status
owed_with_scope(
    const owed_attribution *attribution, owed_scope_function function, void *state, owed_error *err)
{
    owed_scope *scope = NULL;
    owed_status status = owed_scope_begin(attribution, &scope, err);
    return status == OWED_OK ? call_within(scope, function, state, err) : status;
}

owed_status
owed_with_suppression(
    const owed_suppression *suppression, owed_scope_function function, void *state, owed_error *err)
{
    owed_scope *scope = NULL;
    owed_status status = owed_scope_begin_suppressed(suppression, &scope, err);
    return status == OWED_OK ? call_within(scope, function, state, err) : status;
}

void
owed_scope_current(owed_attribution *ret_attribution)
{
    const owed_attribution none = {0};
    const owed_attribution *says = innermost != NULL ? &innermost->says : &none;
    *ret_attribution = (owed_attribution){
        .actor_key = or_empty(says->actor_key),
        .actor_label = or_empty(says->actor_label),
        .correlation_id = or_empty(says->correlation_id),
        .facts = is_empty(says->facts) ? "{}" : says->facts,
        .traceparent = or_empty(says->traceparent),
    };
}

/* --- causes --- */

owed_status
owed_scope_begin_cause(int64_t event_id, const char *correlation_id, const char *traceparent,
    owed_scope **ret_scope, owed_error *err)
{
    if (event_id < 1)
        return fail(
            err, OWED_INVALID, "%lld is no event's id: they start at 1", (long long)event_id);
    const owed_attribution texts = {.correlation_id = correlation_id, .traceparent = traceparent};
    owed_status status = check(&texts, err);
    if (status != OWED_OK)
        return status;
    struct owed_scope *scope = scope_new(innermost);
    if (scope == NULL)
        return fail_memory(err);
    scope->cause = (struct cause){event_id, correlation_id, traceparent, NULL};
    if (!keep_all(scope)) {
        scope_free(scope);
        return fail_memory(err);
    }
    scope_open(scope);
    *ret_scope = scope;
    return OWED_OK;
}

int64_t
owed_scope_cause(void)
{
    return innermost != NULL ? innermost->cause.event_id : 0;
}

void
scope_enter(struct owed_scope *block, const struct cause *cause, bool is_apart)
{
    *block = (struct owed_scope){.outer = innermost, .is_engines = true};
    if (innermost != NULL && !is_apart) {
        block->says = innermost->says;
        block->suppressions = innermost->suppressions;
    }
    block->cause = *cause;
    innermost = block;
}

void
scope_leave(struct owed_scope *block)
{
    unwind(block);
    innermost = block->outer;
}

/* --- from thread to thread --- */

/* scope_copy makes a block that needs nothing of another. */
static struct owed_scope *
scope_copy(const struct owed_scope *other)
{
    struct owed_scope *copy = scope_new(other);
    if (copy == NULL || (keep_all(copy) && scope_keep_suppressions(copy)))
        return copy;
    scope_free(copy);
    return NULL;
}

struct owed_captured_scope {
    struct owed_scope copy; // never open
};

owed_status
owed_scope_capture(owed_captured_scope **ret_captured, owed_error *err)
{
    struct owed_scope *copy = scope_copy(innermost);
    if (copy == NULL)
        return fail_memory(err);
    *ret_captured = (owed_captured_scope *)copy;
    return OWED_OK;
}

owed_status
owed_scope_resume(const owed_captured_scope *captured, owed_scope **ret_scope, owed_error *err)
{
    if (captured == NULL)
        return fail(err, OWED_INVALID, "no scope was captured: owed_scope_capture makes one");
    struct owed_scope *scope = scope_copy(&captured->copy);
    if (scope == NULL)
        return fail_memory(err);
    scope_open(scope);
    *ret_scope = scope;
    return OWED_OK;
}

void
owed_captured_scope_free(owed_captured_scope *captured)
{
    if (captured != NULL)
        scope_free(&captured->copy);
}

/* --- what events take --- */

owed_status
scope_fill(struct new_event *event, const owed *handle, struct arena *arena, owed_error *err)
{
    const struct owed_scope *scope = innermost;
    if (scope == NULL)
        return OWED_OK;
    if (is_empty(event->actor_key) && is_empty(event->actor_label)) {
        event->actor_key = or_empty(scope->says.actor_key);
        event->actor_label = or_empty(scope->says.actor_label);
    }
    // Ids of events mean something in one store alone.
    bool is_here = scope->cause.url == NULL || strcmp(scope->cause.url, handle->url) == 0;
    if (event->causation_id == 0 && is_here)
        event->causation_id = scope->cause.event_id;
    const char **const texts[] = {&event->correlation_id, &event->traceparent};
    const char *const said[] = {scope->says.correlation_id, scope->says.traceparent};
    const char *const caused[] = {scope->cause.correlation_id, scope->cause.traceparent};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (is_empty(*texts[i]))
            *texts[i] = or_empty(is_empty(said[i]) ? caused[i] : said[i]);
    }
    return facts_merge(scope->says.facts, event->scope, arena, &event->scope, err);
}
