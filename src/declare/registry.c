/* SPDX-License-Identifier: MIT
 *
 * registry.c - two lists, types and receivers, in order of declaration.
 *
 * A declaration is checked in full before anything is kept, so a refused one leaves no trace.
 */
#include "declare/registry.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "declare/check.h"
#include "declare/codec.h"

#define DEFAULT_LANE "default"

const owed_event_type owed_any_event = {.name = "*", .version = 1};

owed_status
owed_registry_new(const char *app, owed_registry **ret_registry, owed_error *err)
{
    owed_status status = check_lane("app", app, err);
    if (status != OWED_OK)
        return status;
    owed_registry *registry = calloc(1, sizeof *registry);
    if (registry == NULL)
        return fail_memory(err);
    arena_init(&registry->arena, 0);
    registry->max_attempts = DEFAULT_MAX_ATTEMPTS;
    registry->receivers_end = &registry->receivers;
    registry->types_end = &registry->types;
    registry->app = arena_strdup(&registry->arena, app);
    if (registry->app == NULL) {
        owed_registry_free(registry);
        return fail_memory(err);
    }
    *ret_registry = registry;
    return OWED_OK;
}

void
owed_registry_free(owed_registry *registry)
{
    if (registry == NULL)
        return;
    arena_done(&registry->arena);
    free(registry);
}

const char *
owed_registry_app(const owed_registry *registry)
{
    return registry->app;
}

const struct receiver *
registry_receiver(const owed_registry *registry, const char *key)
{
    for (const struct receiver *r = registry->receivers; r != NULL; r = r->next)
        if (strcmp(r->declared.key, key) == 0)
            return r;
    return NULL;
}

bool
receiver_wants(const struct receiver *receiver, const char *event_name)
{
    return receiver->any_event || strcmp(receiver->type->name, event_name) == 0;
}

int32_t
receiver_max_attempts(const owed_registry *registry, const struct receiver *receiver)
{
    int32_t declared = receiver->declared.max_attempts;
    return declared != 0 ? declared : registry->max_attempts;
}

static bool
same_text(const char *a, const char *b)
{
    return (a == NULL) == (b == NULL) && (a == NULL || strcmp(a, b) == 0);
}

static bool
same_event(const owed_receiver *a, const owed_receiver *b)
{
    if ((a->event == NULL) != (b->event == NULL))
        return false;
    return a->event == NULL ? same_text(a->event_name, b->event_name)
                            : codec_same(a->event, b->event);
}

/* pauses_itself: many destinations share its lane, or it has one that others do not, whatever is declared. */
static bool
pauses_itself(const owed_receiver *receiver)
{
    return receiver->endpoints != NULL || receiver->publish != NULL;
}

/* is_same compares what was declared word for word; lanes by what they come to. */
static bool
is_same(const struct receiver *known, const owed_receiver *b, const char *lane)
{
    const owed_receiver *a = &known->declared;
    return same_event(a, b) && a->mode == b->mode && a->run == b->run && a->start == b->start &&
        same_text(a->webhook, b->webhook) && same_text(a->exec, b->exec) &&
        same_text(a->file, b->file) && same_text(a->pipe, b->pipe) &&
        same_text(a->publish, b->publish) && same_text(a->topic, b->topic) &&
        same_text(a->exchange, b->exchange) && same_text(a->password_file, b->password_file) &&
        same_text(a->ca_file, b->ca_file) && same_text(a->credentials_file, b->credentials_file) &&
        a->in_flight == b->in_flight && a->discard == b->discard &&
        same_text(a->secret, b->secret) && same_text(a->secret_file, b->secret_file) &&
        a->state == b->state && strcmp(known->lane, lane) == 0 && a->outside == b->outside &&
        a->database_only == b->database_only && a->max_attempts == b->max_attempts &&
        a->backoff_base_us == b->backoff_base_us && a->backoff_cap_us == b->backoff_cap_us &&
        a->lease_us == b->lease_us && a->timeout_us == b->timeout_us && a->due_us == b->due_us &&
        a->give_up_after_us == b->give_up_after_us && a->on_failure == b->on_failure &&
        a->targets == b->targets && a->eager == b->eager &&
        (a->pause == b->pause || pauses_itself(b)) && a->site == b->site &&
        endpoints_same(a->endpoints, b->endpoints);
}

/* copy_text makes a member's text the registry's own; NULL stays. false: no memory. */
static bool
copy_text(struct arena *arena, const char **text)
{
    if (*text == NULL)
        return true;
    *text = arena_strdup(arena, *text);
    return *text != NULL;
}

static bool
copy_texts(struct arena *arena, owed_receiver *declared)
{
    return copy_text(arena, &declared->key) && copy_text(arena, &declared->event_name) &&
        copy_text(arena, &declared->webhook) && copy_text(arena, &declared->exec) &&
        copy_text(arena, &declared->file) && copy_text(arena, &declared->pipe) &&
        copy_text(arena, &declared->publish) && copy_text(arena, &declared->topic) &&
        copy_text(arena, &declared->exchange) && copy_text(arena, &declared->password_file) &&
        copy_text(arena, &declared->ca_file) && copy_text(arena, &declared->credentials_file) &&
        copy_text(arena, &declared->secret) && copy_text(arena, &declared->secret_file) &&
        copy_text(arena, &declared->lane);
}

static const owed_event_type *
type_of(struct arena *arena, const owed_receiver *receiver)
{
    if (is_any_event(receiver_event_name(receiver)))
        return &owed_any_event;
    return receiver->event != NULL ? receiver->event : type_of_name(arena, receiver->event_name);
}

static const char *
qualified_lane(struct arena *arena, const char *app, const owed_receiver *receiver)
{
    const char *lane = receiver->lane == NULL ? DEFAULT_LANE : receiver->lane;
    return strchr(lane, '/') != NULL ? arena_strdup(arena, lane)
                                     : arena_printf(arena, "%s/%s", app, lane);
}

/* make_receiver copies what was declared; NULL: no memory. */
static struct receiver *
make_receiver(owed_registry *registry, const owed_receiver *receiver, const char *where)
{
    struct arena *arena = &registry->arena;
    struct receiver *made = arena_alloc(arena, sizeof *made);
    if (made == NULL)
        return NULL;
    *made = (struct receiver){
        .declared = *receiver,
        .type = type_of(arena, receiver),
        .runner = receiver_runner(receiver),
        .any_event = is_any_event(receiver_event_name(receiver)),
        .lane = qualified_lane(arena, registry->app, receiver),
        .where = arena_strdup(arena, where),
        .was_told = arena_alloc(arena, sizeof *made->was_told),
        .succeeded_at_us = arena_alloc(arena, sizeof *made->succeeded_at_us),
    };
    if (receiver->endpoints != NULL) {
        made->endpoints = endpoints_copy(arena, receiver->endpoints, registry->app);
        if (made->endpoints == NULL)
            return NULL;
        made->declared.endpoints = &made->endpoints->said;
    }
    if (pauses_itself(receiver))
        made->declared.pause = OWED_PAUSE_TARGET;
    bool inside = made->runner == RUN_FUNCTION && !receiver->outside;
    made->runs = inside ? "inside" : "outside";
    made->kind = receiver->site == OWED_SITE_TASK ? "task" : made->runs;
    bool whole = copy_texts(arena, &made->declared) && made->type != NULL && made->lane != NULL &&
        made->where != NULL && made->was_told != NULL && made->succeeded_at_us != NULL;
    if (!whole)
        return NULL;
    atomic_flag_clear(made->was_told);
    atomic_init(made->succeeded_at_us, 0);
    return made;
}

/* check_known refuses another receiver under a key; the same again is fine. */
static owed_status
check_known(const struct declaration *declaration, const struct receiver *known,
    const struct receiver *made, owed_error *err)
{
    if (is_same(known, declaration->receiver, made->lane))
        return OWED_OK;
    bool in_file = known->where[0] != '\0';
    return refuse(declaration, err,
        "another receiver has this key already%s%s; a key of its own is right",
        in_file ? ", at " : " (declared in C)", in_file ? known->where : "");
}

owed_status
registry_declare(
    owed_registry *registry, const owed_receiver *given, const char *where, owed_error *err)
{
    owed_receiver whole = *given;
    const owed_receiver *receiver = &whole;
    if (whole.publish != NULL && whole.give_up_after_us == 0)
        whole.give_up_after_us = PUBLISH_GIVE_UP_US;
    struct declaration declaration = {
        .receiver = receiver, .where = or_empty(where), .app = registry->app};
    owed_status status = check_receiver(&declaration, err);
    if (status != OWED_OK)
        return status;
    owed_error why;
    bool typed = receiver->event != NULL && !is_any_event(receiver->event->name);
    if (typed && type_check(registry, receiver->event, &why) != OWED_OK)
        return refuse(&declaration, err, "%s", why.text);

    struct receiver *made = make_receiver(registry, receiver, declaration.where);
    if (made == NULL)
        return fail_memory(err);
    const struct receiver *known = registry_receiver(registry, receiver->key);
    if (known != NULL)
        return check_known(&declaration, known, made, err);
    if (!made->any_event) {
        status = type_add(registry, made->type, !typed, err);
        if (status != OWED_OK)
            return status;
    }
    *registry->receivers_end = made;
    registry->receivers_end = &made->next;
    registry->receiver_count++;
    return OWED_OK;
}

owed_status
owed_declare_receiver_sized(
    owed_registry *registry, const owed_receiver *receiver, size_t size, owed_error *err)
{
    owed_receiver whole = {0};
    if (size > sizeof whole)
        return fail(err, OWED_CONFIG,
            "a receiver of %zu bytes was declared, this library knows %zu: build it against the "
            "headers of owed %s, or run a newer owed",
            size, sizeof whole, OWED_VERSION);
    memcpy(&whole, receiver, size);
    return registry_declare(registry, &whole, "", err);
}
