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
#include "base/limits.h"
#include "store/sheet.h"

#define EVENT_COLUMNS 16
#define DELIVERY_COLUMNS 6
#define DELIVERIES_AT_ONCE 1000
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

/* add_event: the payload comes last, so that who reads JSON need not read over it for the rest. */
static void
add_event(struct sheet *sheet, const struct new_event *event, const struct kept *kept)
{
    bool has_key = !is_empty(event->dedupe_key);
    sheet_add(sheet,
        (const struct value[EVENT_COLUMNS]){V_BLOB(event->uid, sizeof event->uid),
            V_TEXT(event->name), V_INT(event->version),
            has_key ? V_TEXT(event->dedupe_key) : V_NULL, V_TIME(event->occurred_at_us),
            V_TIME(event->recorded_at_us), V_TIME(event->due_at_us), V_TEXT(event->actor_key),
            V_TEXT(event->actor_label), V_TEXT(is_empty(event->scope) ? "{}" : event->scope),
            V_TEXT(event->correlation_id),
            event->causation_id != 0 ? V_INT(event->causation_id) : V_NULL,
            V_TEXT(event->traceparent), kept->seconds >= 0 ? V_INT(kept->seconds) : V_NULL,
            V_TEXT(kept->when_done), V_STR(event->payload)});
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
    CLEANUP(sheet_done) struct sheet sheet;
    sheet_init(&sheet, STMT_EVENTS_WRITE_ROWS, STMT_EVENTS_WRITE, EVENT_COLUMNS);
    for (size_t i = 0; i < job->events->count; i++) {
        const struct new_event *event = &job->events->events[i];
        if (is_to_be_written(job, i))
            add_event(&sheet, event, kept_of(job, event->name));
    }
    *ret_any = sheet.count > 0;
    return sheet_write(&sheet, job->db, err);
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
add_delivery(struct sheet *sheet, int64_t event_id, const struct listed *to, int64_t from_us)
{
    int64_t at_us = from_us + to->due_us;
    sheet_add(sheet,
        (const struct value[DELIVERY_COLUMNS]){V_INT(event_id), V_TEXT(to->key), V_TEXT(to->lane),
            V_TEXT(to->kind), V_INT(to->max_attempts),
            V_TIME(at_us < LIMIT_MOMENT_US ? at_us : LIMIT_MOMENT_US)});
}

static void
add_owed(struct job *job, struct sheet *sheet, const struct new_event *event, int64_t id)
{
    int64_t from_us =
        event->due_at_us > event->recorded_at_us ? event->due_at_us : event->recorded_at_us;
    for (size_t i = 0; i < job->listed_count; i++)
        if (strcmp(job->listed[i].kind, "endpoints") == 0)
            job->has_endpoints = true;
        else if (receives(&job->listed[i], event))
            add_delivery(sheet, id, &job->listed[i], from_us);
    for (size_t i = 0; i < job->events->own_count; i++) {
        const struct own_receiver *own = &job->events->own[i];
        if (strcmp(own->event_name, event->name) != 0 || is_listed(job, own, event))
            continue;
        const struct listed to = {.key = own->key,
            .lane = own->lane,
            .kind = own->kind,
            .max_attempts = own->max_attempts,
            .due_us = own->due_us};
        add_delivery(sheet, id, &to, event->due_at_us);
    }
}

static owed_status
write_owed(struct job *job, owed_error *err)
{
    CLEANUP(sheet_done) struct sheet sheet;
    owed_status status = OWED_OK;
    sheet_init(&sheet, STMT_DELIVERIES_WRITE_ROWS, STMT_DELIVERIES_WRITE, DELIVERY_COLUMNS);
    for (size_t i = 0; i < job->events->count && status == OWED_OK; i++) {
        if (job->written[i].is_new)
            add_owed(job, &sheet, &job->events->events[i], job->written[i].id);
        if (sheet.count >= DELIVERIES_AT_ONCE)
            status = sheet_write(&sheet, job->db, err);
    }
    if (status == OWED_OK)
        status = sheet_write(&sheet, job->db, err);
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
