/* SPDX-License-Identifier: MIT
 *
 * fire_json.c - several events where no statement may read the catalogue while it writes, since that
 * would lock it: it is read first, and what is owed by it is made here.
 *
 * Events whose dedupe key is found taken are left out. Who takes one in between has the write fail, and
 * whoever asked repeats it one by one.
 */
#include "store/fire_many.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/digest.h"
#include "base/json.h"
#include "base/limits.h"

#define GRACE_US (INT64_C(600) * 1000000) // for which a receiver that was removed gets events

struct kept {
    const char *name;
    int64_t seconds; // below 0: none
    const char *when_done;
};

/* A receiver in the catalogue that gets the events of a name. */
struct listed {
    const char *event_name;
    const char *key;
    const char *lane;
    const char *kind;
    int32_t max_attempts;
    int64_t due_us;
    int64_t removed_at_us; // 0: it was not
};

struct job {
    struct db *db;
    const struct new_events *events;
    struct written_event *written; // id 0: to be written
    size_t *same_as;               // the event before it that has its dedupe key, or itself
    struct arena arena;
    struct buf json;
    struct kept *kept;
    size_t kept_count;
    struct listed *listed;
    size_t listed_count;
    bool has_endpoints; // that may want them
};

static void
job_done(struct job *job)
{
    free(job->same_as);
    buf_done(&job->json);
    arena_done(&job->arena);
}

/* json_of ends the JSON array that was built; p is NULL where memory was out. */
static struct value
json_of(struct job *job)
{
    json_end(&job->json);
    return V_STR(buf_view(&job->json));
}

static owed_status
change_by_json(struct job *job, enum stmt stmt, owed_error *err)
{
    struct value json = json_of(job);
    return job->json.failed ? fail_memory(err) : change(job->db, stmt, ARGS(json), NULL, err);
}

/* --- dedupe keys --- */

struct keyed {
    const char *key;
    size_t place;
};

static int
compare(const void *left, const void *right)
{
    const struct keyed *a = left, *b = right;
    int order = strcmp(a->key, b->key);
    return order != 0 ? order : (a->place > b->place) - (a->place < b->place);
}

/* find_repeated finds keys that several of the events have: the first of them is the event. */
static owed_status
find_repeated(struct job *job, size_t *ret_count, owed_error *err)
{
    size_t count = job->events->count, keyed = 0;
    struct keyed *keys = arena_alloc(&job->arena, count * sizeof *keys);
    job->same_as = calloc(count, sizeof *job->same_as);
    if (keys == NULL || job->same_as == NULL)
        return fail_memory(err);
    for (size_t i = 0; i < count; i++) {
        job->same_as[i] = i;
        if (!is_empty(job->events->events[i].dedupe_key))
            keys[keyed++] = (struct keyed){job->events->events[i].dedupe_key, i};
    }
    qsort(keys, keyed, sizeof *keys, compare);
    for (size_t i = 1; i < keyed; i++)
        if (strcmp(keys[i].key, keys[i - 1].key) == 0)
            job->same_as[keys[i].place] = job->same_as[keys[i - 1].place];
    *ret_count = keyed;
    return OWED_OK;
}

/* find_taken finds the events that have the keys of these already. */
static owed_status
find_taken(struct job *job, owed_error *err)
{
    size_t keyed = 0;
    owed_status status = find_repeated(job, &keyed, err);
    if (status != OWED_OK || keyed == 0)
        return status;
    buf_clear(&job->json);
    for (size_t i = 0; i < job->events->count; i++)
        json_add_text(&job->json, or_empty(job->events->events[i].dedupe_key));
    struct value json = json_of(job);
    struct rows *rows = NULL;
    status = job->json.failed ? fail_memory(err)
                              : query(job->db, STMT_EVENTS_BY_DEDUPE, ARGS(json), &rows, err);
    if (status != OWED_OK)
        return status;
    while (job->db->driver->next(rows)) {
        int64_t place = job->db->driver->column(rows, 0).integer;
        if (place >= 1 && place <= (int64_t)job->events->count)
            job->written[place - 1].id = job->db->driver->column(rows, 1).integer;
    }
    return job->db->driver->finish(rows, NULL, err);
}

static bool
is_to_be_written(const struct job *job, size_t place)
{
    return job->same_as[place] == place &&
        !(job->written[place].id != 0 && !job->written[place].is_new);
}

/* --- what the catalogue says --- */

static void
read_kept(struct reader *reader, void *item)
{
    struct kept *kept = item;
    kept->name = read_text(reader);
    kept->seconds = read_int(reader);
    kept->when_done = read_text(reader);
}

static void
read_listed(struct reader *reader, void *item)
{
    struct listed *listed = item;
    listed->event_name = read_text(reader);
    listed->key = read_text(reader);
    listed->lane = read_text(reader);
    listed->kind = read_text(reader);
    listed->max_attempts = read_int32(reader);
    listed->due_us = read_int(reader);
    listed->removed_at_us = read_int(reader);
}

/* add_names writes the names of the events, those that follow their like left out. */
static void
add_names(struct job *job)
{
    const char *last = "";
    buf_clear(&job->json);
    for (size_t i = 0; i < job->events->count; i++) {
        const char *name = job->events->events[i].name;
        if (strcmp(name, last) != 0)
            json_add_text(&job->json, name);
        last = name;
    }
}

static owed_status
read_catalogue(struct job *job, owed_error *err)
{
    const struct list kept = {sizeof *job->kept, read_kept, &job->arena};
    const struct list listed = {sizeof *job->listed, read_listed, &job->arena};
    void *items = NULL;
    add_names(job);
    struct value names = json_of(job);
    if (job->json.failed)
        return fail_memory(err);
    owed_status status =
        read_all(job->db, STMT_EVENTS_KEPT, ARGS(names), &kept, &items, &job->kept_count, err);
    job->kept = items;
    if (status != OWED_OK)
        return status;
    items = NULL;
    status = read_all(
        job->db, STMT_EVENTS_RECEIVERS, ARGS(names), &listed, &items, &job->listed_count, err);
    job->listed = items;
    return status;
}

static const struct kept *
kept_of(const struct job *job, const char *name)
{
    static const struct kept none = {.seconds = -1, .when_done = ""};
    for (size_t i = 0; i < job->kept_count; i++)
        if (strcmp(job->kept[i].name, name) == 0)
            return &job->kept[i];
    return &none;
}

/* --- the events --- */

static void
add_text(struct buf *json, const char *text)
{
    json_write_string(json, str_of(text));
    buf_putc(json, ',');
}

static void
add_number(struct buf *json, int64_t number, bool is_null)
{
    if (is_null)
        buf_puts(json, "null");
    else
        buf_int(json, number);
    buf_putc(json, ',');
}

/* add_event: the payload comes last, so that nobody has to read over it for the rest. */
static void
add_event(struct buf *json, const struct new_event *event, const struct kept *kept)
{
    buf_puts(json, json->len == 0 ? "[[\"" : ",[\"");
    hex_write(json, event->uid, sizeof event->uid);
    buf_puts(json, "\",");
    add_text(json, event->name);
    add_number(json, event->version, false);
    if (is_empty(event->dedupe_key))
        buf_puts(json, "null,");
    else
        add_text(json, event->dedupe_key);
    add_number(json, event->occurred_at_us, false);
    add_number(json, event->recorded_at_us, false);
    add_number(json, event->due_at_us, false);
    add_text(json, event->actor_key);
    add_text(json, event->actor_label);
    add_text(json, is_empty(event->scope) ? "{}" : event->scope);
    add_text(json, event->correlation_id);
    add_number(json, event->causation_id, event->causation_id == 0);
    add_text(json, event->traceparent);
    add_number(json, kept->seconds, kept->seconds < 0);
    add_text(json, kept->when_done);
    json_write_string(json, event->payload);
    buf_putc(json, ']');
}

/* read_ids: rows come in the order in which they were written; others' may be among them. */
static owed_status
read_ids(struct job *job, owed_error *err)
{
    const struct driver *driver = job->db->driver;
    size_t count = job->events->count, place = 0;
    struct rows *rows = NULL;
    owed_status status = query(job->db, STMT_EVENTS_WRITTEN, NO_ARGS, &rows, err);
    if (status != OWED_OK)
        return status;
    while (driver->next(rows)) {
        while (place < count && !is_to_be_written(job, place))
            place++;
        struct str uid = driver->column(rows, 1).bytes;
        if (place == count || uid.len != sizeof job->events->events[0].uid ||
            memcmp(uid.p, job->events->events[place].uid, uid.len) != 0)
            continue;
        job->written[place++] = (struct written_event){driver->column(rows, 0).integer, true};
    }
    status = driver->finish(rows, NULL, err);
    while (place < count && !is_to_be_written(job, place))
        place++;
    if (status == OWED_OK && place < count)
        return fail(err, OWED_BUG, "an event that was just written is not there");
    return status;
}

static owed_status
write_events(struct job *job, bool *ret_any, owed_error *err)
{
    buf_clear(&job->json);
    for (size_t i = 0; i < job->events->count; i++) {
        const struct new_event *event = &job->events->events[i];
        if (is_to_be_written(job, i))
            add_event(&job->json, event, kept_of(job, event->name));
    }
    *ret_any = job->json.len > 0;
    return *ret_any ? change_by_json(job, STMT_EVENTS_WRITE, err) : OWED_OK;
}

/* --- what is owed --- */

static bool
receives(const struct listed *listed, const struct new_event *event)
{
    return strcmp(listed->event_name, event->name) == 0 &&
        (listed->removed_at_us == 0 || listed->removed_at_us > event->recorded_at_us - GRACE_US);
}

static bool
is_listed(const struct job *job, const struct own_receiver *own, const struct new_event *event)
{
    for (size_t i = 0; i < job->listed_count; i++)
        if (receives(&job->listed[i], event) && strcmp(job->listed[i].key, own->key) == 0)
            return true;
    return false;
}

static void
add_delivery(struct buf *json, int64_t event_id, const struct listed *to, int64_t from_us)
{
    int64_t at_us = from_us + to->due_us;
    buf_puts(json, json->len == 0 ? "[[" : ",[");
    add_number(json, event_id, false);
    add_text(json, to->key);
    add_text(json, to->lane);
    add_text(json, to->kind);
    add_number(json, to->max_attempts, false);
    buf_int(json, at_us < LIMIT_MOMENT_US ? at_us : LIMIT_MOMENT_US);
    buf_putc(json, ']');
}

static void
add_owed(struct job *job, const struct new_event *event, int64_t id)
{
    int64_t from_us =
        event->due_at_us > event->recorded_at_us ? event->due_at_us : event->recorded_at_us;
    for (size_t i = 0; i < job->listed_count; i++)
        if (strcmp(job->listed[i].kind, "endpoints") == 0)
            job->has_endpoints = true;
        else if (receives(&job->listed[i], event))
            add_delivery(&job->json, id, &job->listed[i], from_us);
    for (size_t i = 0; i < job->events->own_count; i++) {
        const struct own_receiver *own = &job->events->own[i];
        if (strcmp(own->event_name, event->name) != 0 || is_listed(job, own, event))
            continue;
        const struct listed to = {.key = own->key,
            .lane = own->lane,
            .kind = own->kind,
            .max_attempts = own->max_attempts,
            .due_us = own->due_us};
        add_delivery(&job->json, id, &to, event->due_at_us);
    }
}

static owed_status
write_owed(struct job *job, owed_error *err)
{
    buf_clear(&job->json);
    for (size_t i = 0; i < job->events->count; i++)
        if (job->written[i].is_new)
            add_owed(job, &job->events->events[i], job->written[i].id);
    owed_status status = OWED_OK;
    if (job->json.len > 0)
        status = change_by_json(job, STMT_DELIVERIES_WRITE, err);
    for (size_t i = 0; job->has_endpoints && i < job->events->count && status == OWED_OK; i++)
        if (job->written[i].is_new)
            status = change(
                job->db, STMT_EVENT_TO_ENDPOINTS, ARGS(V_INT(job->written[i].id)), NULL, err);
    return status;
}

owed_status
insert_json(struct db *db, const struct new_events *events, struct written_event *ret_written,
    bool *ret_is_torn, owed_error *err)
{
    CLEANUP(job_done)
    struct job job = {.db = db, .events = events, .written = ret_written};
    bool any = false;
    arena_init(&job.arena, 0);
    buf_init(&job.json, JSON_ARGUMENT_BYTES);
    memset(ret_written, 0, events->count * sizeof *ret_written);
    owed_status status = find_taken(&job, err);
    if (status == OWED_OK)
        status = read_catalogue(&job, err);
    if (status == OWED_OK)
        status = write_events(&job, &any, err);
    if (status != OWED_OK)
        return status;
    if (any)
        status = read_ids(&job, err);
    if (status == OWED_OK)
        status = write_owed(&job, err);
    *ret_is_torn = status != OWED_OK;
    for (size_t i = 0; i < events->count; i++)
        ret_written[i].id = ret_written[job.same_as[i]].id;
    return status;
}
