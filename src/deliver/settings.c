/* SPDX-License-Identifier: MIT
 *
 * settings.c - a relay's settings: defaults, bounds, and which lanes it serves.
 */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "deliver/worker.h"

#define NONE (-1) // where zero already means the default

struct number_setting {
    const char *name;
    int64_t given;
    int64_t fallback;
    int64_t min, max;
    bool may_be_none;
};

static owed_status
fill_number(const struct number_setting *setting, int64_t *ret_value, owed_error *err)
{
    int64_t value = setting->given == 0 ? setting->fallback : setting->given;
    bool is_none = value == NONE && setting->may_be_none;
    if (!is_none && (value < setting->min || value > setting->max))
        return fail(err, OWED_INVALID,
            "relay setting %s is %lld: it may be %lld to %lld, or 0 for the default, %lld",
            setting->name, (long long)value, (long long)setting->min, (long long)setting->max,
            (long long)setting->fallback);
    *ret_value = value;
    return OWED_OK;
}

static owed_status
fill_durations(owed_relay_settings *s, owed_error *err)
{
    const struct {
        const char *name;
        int64_t *value;
        int64_t fallback;
        bool may_be_none;
    } table[] = {
        {"lease_us", &s->lease_us, 300 * US_PER_SECOND, false},
        {"poll_us", &s->poll_us, US_PER_SECOND, false},
        {"backoff_base_us", &s->backoff_base_us, 2 * US_PER_SECOND, false},
        {"backoff_cap_us", &s->backoff_cap_us, 3600 * US_PER_SECOND, false},
        {"max_retry_delay_us", &s->max_retry_delay_us, 86400 * US_PER_SECOND, false},
        {"orphan_grace_us", &s->orphan_grace_us, 600 * US_PER_SECOND, true},
        {"prune_us", &s->prune_us, 60 * US_PER_SECOND, true},
        {"retention_us", &s->retention_us, 90 * 86400 * US_PER_SECOND, false},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const struct number_setting setting = {table[i].name, *table[i].value, table[i].fallback, 1,
            LIMIT_DURATION_US, table[i].may_be_none};
        owed_status status = fill_number(&setting, table[i].value, err);
        if (status != OWED_OK)
            return status;
    }
    if (s->backoff_cap_us < s->backoff_base_us)
        return fail(err, OWED_INVALID,
            "relay setting backoff_cap_us (%lld) is below backoff_base_us (%lld): every retry would "
            "wait for the cap",
            (long long)s->backoff_cap_us, (long long)s->backoff_base_us);
    return OWED_OK;
}

static owed_status
fill_counts(owed_relay_settings *s, owed_error *err)
{
    const struct {
        const char *name;
        int32_t *value;
        int32_t fallback, max;
        bool may_be_none;
    } table[] = {
        {"batch_size", &s->batch_size, 50, LIMIT_BATCH_SIZE, false},
        {"max_attempts", &s->max_attempts, 5, LIMIT_MAX_ATTEMPTS, false},
        {"max_losses", &s->max_losses, 10, LIMIT_MAX_ATTEMPTS, true},
        {"error_length", &s->error_length, 2000, LIMIT_ERROR_BYTES, false},
        {"in_flight", &s->in_flight, 200, LIMIT_BATCH_SIZE, false},
        {"exec_in_flight", &s->exec_in_flight, 16, LIMIT_BATCH_SIZE, false},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const struct number_setting setting = {table[i].name, *table[i].value, table[i].fallback, 1,
            table[i].max, table[i].may_be_none};
        int64_t value = 0;
        owed_status status = fill_number(&setting, &value, err);
        if (status != OWED_OK)
            return status;
        *table[i].value = (int32_t)value;
    }
    return OWED_OK;
}

static bool
is_worker_id(const char *text)
{
    size_t len = strlen(text);
    for (size_t i = 0; i < len; i++)
        if (text[i] < '!' || text[i] > '~')
            return false;
    return len >= 1 && len <= LIMIT_WORKER_ID_BYTES;
}

owed_status
settings_fill(const owed_relay_settings *given, owed_relay_settings *ret_settings, owed_error *err)
{
    owed_relay_settings s = given == NULL ? (owed_relay_settings){0} : *given;
    if (s.limit != 0 && s.batch_size != 0)
        return fail(err, OWED_INVALID,
            "limit and batch_size exclude each other: limit is one run of so many rows, batch_size "
            "is how many a relay that goes on takes at once");
    if (s.limit < 0 || s.passes < 0)
        return fail(err, OWED_INVALID,
            "relay setting %s is negative: give 1 or more, or 0 for none",
            s.limit < 0 ? "limit" : "passes");
    if (s.all_lanes && s.lanes != NULL)
        return fail(err, OWED_INVALID,
            "lanes and all_lanes exclude each other: a relay serves the lanes named, or all");
    if (s.worker_id != NULL && !is_worker_id(s.worker_id))
        return fail(err, OWED_INVALID,
            "worker_id must have 1 to %d bytes: letters, digits and signs of ASCII",
            LIMIT_WORKER_ID_BYTES);
    owed_status status = fill_counts(&s, err);
    if (status == OWED_OK)
        status = fill_durations(&s, err);
    if (status == OWED_OK)
        *ret_settings = s;
    return status;
}

/* --- lanes --- */

struct lane_list {
    const char **names; // qualified, in order of appearance
    size_t count;
};

static bool
has_lane(const struct lane_list *list, const char *lane)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->names[i], lane) == 0)
            return true;
    return false;
}

static void
add_lane(struct lane_list *list, const char *lane)
{
    if (!has_lane(list, lane))
        list->names[list->count++] = lane;
}

static const char *
qualify(struct worker *w, const char *lane)
{
    if (strchr(lane, '/') != NULL)
        return arena_strdup(&w->arena, lane);
    return arena_printf(&w->arena, "%s/%s", w->owed->registry->app, lane);
}

/* known_lanes gathers default, what this process declares, and what the catalogue has. */
static owed_status
known_lanes(struct worker *w, struct lane_list *ret_list, owed_error *err)
{
    struct catalogue_receiver *published = NULL;
    size_t count = 0;
    owed_status status = store_catalogue_receivers(w->owed->db, &w->arena, &published, &count, err);
    if (status != OWED_OK)
        return status;
    const owed_registry *registry = w->owed->registry;
    size_t max = 1 + registry->receiver_count + count;
    struct lane_list list = {.names = arena_alloc(&w->arena, max * sizeof *list.names)};
    const char *first = qualify(w, "default");
    if (list.names == NULL || first == NULL)
        return fail_memory(err);
    add_lane(&list, first);
    for (const struct receiver *r = registry->receivers; r != NULL; r = r->next)
        if (r->declared.mode == OWED_DURABLE)
            add_lane(&list, r->lane);
    for (size_t i = 0; i < count; i++)
        if (published[i].removed_at_us == 0 && strcmp(published[i].mode, "durable") == 0)
            add_lane(&list, published[i].lane);
    *ret_list = list;
    return OWED_OK;
}

/* plain_name leaves out the app where it is our own. */
static const char *
plain_name(const struct worker *w, const char *lane)
{
    size_t len = strlen(w->owed->registry->app);
    bool is_own = strncmp(lane, w->owed->registry->app, len) == 0 && lane[len] == '/';
    return is_own ? lane + len + 1 : lane;
}

static void
join_names(const struct worker *w, const struct lane_list *list, const struct lane_list *but,
    struct buf *text)
{
    for (size_t i = 0; i < list->count; i++)
        if (but == NULL || !has_lane(but, list->names[i]))
            buf_printf(text, "%s%s", text->len == 0 ? "" : ", ", plain_name(w, list->names[i]));
}

static owed_status
refuse_lane(
    const struct worker *w, const char *lane, const struct lane_list *known, owed_error *err)
{
    struct buf names;
    buf_init(&names, 400);
    join_names(w, known, NULL, &names);
    owed_status status = fail(err, OWED_INVALID,
        "nobody declares lane \"%s\": there is %s; a side lane of a replay begins with \"+\"",
        plain_name(w, lane), buf_text(&names));
    buf_done(&names);
    return status;
}

/* check_served: a side lane is declared by nobody, and need not hold anything yet. */
static owed_status
check_served(
    const struct worker *w, const char *lane, const struct lane_list *known, owed_error *err)
{
    if (has_lane(known, lane))
        return OWED_OK;
    if (!is_side_lane(lane, NULL))
        return refuse_lane(w, lane, known, err);
    owed_error why;
    if (check_side_lane("side lane", strchr(lane, '/') + 1, &why) != OWED_OK)
        return fail(err, OWED_INVALID, "%s", why.text);
    return OWED_OK;
}

static owed_status
take_lanes(struct worker *w, const struct lane_list *known, owed_error *err)
{
    static const char *const bare[] = {"default", NULL};
    const char *const *given = w->settings.lanes == NULL ? bare : w->settings.lanes;
    size_t count = 0;
    while (given[count] != NULL)
        count++;
    if (count == 0)
        return fail(err, OWED_INVALID, "the list of lanes is empty: name one, or all_lanes");
    struct lane_list served = {.names = arena_alloc(&w->arena, (count + 1) * sizeof *served.names)};
    for (size_t i = 0; i < count; i++) {
        const char *lane = qualify(w, given[i]);
        if (served.names == NULL || lane == NULL)
            return fail_memory(err);
        owed_status status = check_served(w, lane, known, err);
        if (status != OWED_OK)
            return status;
        add_lane(&served, lane);
    }
    w->lanes = served.names;
    return OWED_OK;
}

/* tell_unserved says what a bare relay leaves to others. */
static void
tell_unserved(const struct worker *w, const struct lane_list *known)
{
    struct lane_list served = {.names = (const char **)(uintptr_t)w->lanes};
    while (w->lanes[served.count] != NULL)
        served.count++;
    struct buf names;
    buf_init(&names, 4000);
    join_names(w, known, &served, &names);
    if (names.len > 0)
        log_say(&w->owed->log, OWED_LOG_WARNING,
            "only lane default is served, not all that are declared",
            LOG_TEXT("not_served", buf_text(&names)));
    buf_done(&names);
}

owed_status
settings_lanes(struct worker *w, owed_error *err)
{
    w->lanes = NULL;
    if (w->settings.all_lanes)
        return OWED_OK;
    struct lane_list known = {0};
    owed_status status = known_lanes(w, &known, err);
    if (status == OWED_OK)
        status = take_lanes(w, &known, err);
    bool is_first = w->slot == NULL || w->seat.slot == 0;
    if (status == OWED_OK && w->settings.lanes == NULL && is_first)
        tell_unserved(w, &known);
    return status;
}

owed_status
relay_check(owed *handle, const owed_relay_settings *settings, owed_error *err)
{
    struct worker w = {.owed = handle};
    arena_init(&w.arena, 0);
    owed_status status = settings_fill(settings, &w.settings, err);
    if (status == OWED_OK)
        status = settings_lanes(&w, err);
    arena_done(&w.arena);
    return status;
}
