/* SPDX-License-Identifier: MIT
 *
 * doctor_looks.c - the checks that hold the store against something else: a clock, a disk, what is declared
 * here, who is alive.
 */
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "operate/doctor.h"
#include "operate/explain.h"
#include "operate/health.h"
#include "store/verbs.h"

#define DISK_SMALL_BYTES (INT64_C(1024) * 1024 * 1024)

/* one makes a list of one trouble. */
static owed_status
one(const struct doctor *doctor, struct trouble trouble, struct trouble **ret_troubles,
    size_t *ret_count, owed_error *err)
{
    *ret_troubles = arena_alloc(doctor->arena, sizeof trouble);
    if (*ret_troubles == NULL || trouble.subject == NULL || trouble.detail == NULL)
        return fail_memory(err);
    (*ret_troubles)[0] = trouble;
    *ret_count = 1;
    return OWED_OK;
}

static void
print_nothing(void *state, const char *name, const char *text)
{
    (void)state;
    (void)name;
    (void)text;
}

owed_status
look_schema(const struct doctor *doctor, const struct doctor_check *check,
    struct trouble **ret_troubles, size_t *ret_count, owed_error *err)
{
    (void)check;
    owed_status status = store_check(doctor->db, err);
    if (status != OWED_SCHEMA)
        return status;
    struct trouble trouble = {.subject = "", .detail = arena_strdup(doctor->arena, err->text)};
    const struct printer nobody = {print_nothing, NULL};
    owed_error why = {0};
    // A migration sets it right, unless they are of a newer program.
    trouble.amount =
        store_print_migrations(NULL, doctor->db, doctor->now_us, &nobody, &why) == OWED_OK;
    return one(doctor, trouble, ret_troubles, ret_count, err);
}

owed_status
look_drift(const struct doctor *doctor, const struct doctor_check *check,
    struct trouble **ret_troubles, size_t *ret_count, owed_error *err)
{
    (void)check;
    return store_drift(doctor->db, doctor->arena, ret_troubles, ret_count, err);
}

/* --- lanes and relays --- */

struct alive {
    const struct relay_row *relays;
    size_t count;
    int64_t since_us;
};

static bool
is_served(const struct alive *alive, const char *lane)
{
    for (size_t i = 0; i < alive->count; i++)
        if (alive->relays[i].heartbeat_at_us > alive->since_us &&
            relay_serves(&alive->relays[i], lane))
            return true;
    return false;
}

/* count_due counts what of a lane was due by then, and finds since when; rows of every kind. */
static owed_status
count_due(const struct doctor *doctor, const char *lane, int64_t by_us, struct trouble *trouble,
    owed_error *err)
{
    static const char *const kinds[] = {"inside", "outside", "task", "expand"};
    const char *const lanes[] = {lane, NULL};
    *trouble = (struct trouble){.subject = lane, .detail = "", .other = by_us};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const struct delivery_row last = {
            .lane = lane, .kind = kinds[i], .available_at_us = by_us, .id = INT64_MAX};
        int64_t count = 0, first_us = 0;
        owed_status status = store_ahead(doctor->db, &last, DOCTOR_MOST, &count, err);
        const struct claim claim = {.lanes = lanes, .kind = kinds[i]};
        if (status == OWED_OK && count > 0)
            status = store_next_due(doctor->db, &claim, &first_us, err);
        if (status != OWED_OK)
            return status;
        trouble->amount += count;
        if (count > 0 && first_us > 0 && first_us < trouble->other)
            trouble->other = first_us;
    }
    return OWED_OK;
}

owed_status
look_unserved(const struct doctor *doctor, const struct doctor_check *check,
    struct trouble **ret_troubles, size_t *ret_count, owed_error *err)
{
    struct relay_row *relays = NULL;
    const char *const *lanes = NULL;
    struct alive alive = {.since_us = doctor->now_us - RELAY_SILENCE_US};
    size_t count = 0;
    owed_status status = store_relays(doctor->db, doctor->arena, &relays, &alive.count, err);
    alive.relays = relays;
    if (status == OWED_OK)
        status = store_lanes_in_use(doctor->db, doctor->arena, &lanes, &count, err);
    if (status != OWED_OK)
        return status;
    struct trouble *troubles = arena_alloc(doctor->arena, (count + 1) * sizeof *troubles);
    if (troubles == NULL)
        return fail_memory(err);
    for (size_t i = 0; i < count && status == OWED_OK; i++) {
        if (is_served(&alive, lanes[i]))
            continue;
        struct trouble *trouble = &troubles[*ret_count];
        status = count_due(doctor, lanes[i], doctor->now_us - check->threshold, trouble, err);
        *ret_count += trouble->amount > 0;
    }
    *ret_troubles = troubles;
    return status;
}

/* --- the catalogue, and what is declared here --- */

owed_status
look_unpublished(const struct doctor *doctor, const struct doctor_check *check,
    struct trouble **ret_troubles, size_t *ret_count, owed_error *err)
{
    (void)check;
    return store_unpublished(doctor->db, doctor->arena, ret_troubles, ret_count, err);
}

static bool
is_published(const struct catalogue_receiver *receivers, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(receivers[i].key, key) == 0)
            return receivers[i].removed_at_us == 0;
    return false;
}

owed_status
look_undeclared(const struct doctor *doctor, const struct doctor_check *check,
    struct trouble **ret_troubles, size_t *ret_count, owed_error *err)
{
    (void)check;
    if (doctor->registry == NULL || doctor->registry->receiver_count == 0)
        return OWED_OK;
    struct catalogue_receiver *receivers = NULL;
    size_t count = 0;
    owed_status status =
        store_catalogue_receivers(doctor->db, doctor->arena, &receivers, &count, err);
    if (status != OWED_OK)
        return status;
    struct trouble *troubles =
        arena_alloc(doctor->arena, doctor->registry->receiver_count * sizeof *troubles);
    if (troubles == NULL)
        return fail_memory(err);
    for (const struct receiver *r = doctor->registry->receivers; r != NULL; r = r->next)
        if (!is_published(receivers, count, r->declared.key))
            troubles[(*ret_count)++] = (struct trouble){.subject = r->declared.key, .detail = ""};
    *ret_troubles = troubles;
    return OWED_OK;
}

owed_status
look_unpruned(const struct doctor *doctor, const struct doctor_check *check,
    struct trouble **ret_troubles, size_t *ret_count, owed_error *err)
{
    const struct value args[] = {
        V_INT(doctor->retention_us + check->threshold), V_TIME(doctor->now_us)};
    return store_troubles(
        doctor->db, check->stmt, args, 2, doctor->arena, ret_troubles, ret_count, err);
}

/* --- this machine --- */

owed_status
look_clock(const struct doctor *doctor, const struct doctor_check *check,
    struct trouble **ret_troubles, size_t *ret_count, owed_error *err)
{
    int64_t ahead_us = doctor->host_now_us - doctor->now_us;
    int64_t skew_us = ahead_us < 0 ? -ahead_us : ahead_us;
    if (skew_us <= check->threshold)
        return OWED_OK;
    struct trouble trouble = {
        .subject = "", .detail = ahead_us < 0 ? "behind" : "ahead of", .amount = skew_us};
    return one(doctor, trouble, ret_troubles, ret_count, err);
}

static const char *
why_deaf(const struct relay_row *relay)
{
    return relay->deaf;
}

static const char *
who_is_away(const struct relay_row *relay)
{
    return relay->away;
}

/* relays_that_say are those that live and have such a trouble in their rows, wherever they run. */
static owed_status
relays_that_say(const struct doctor *doctor,
    const char *(*trouble_of)(const struct relay_row *relay), struct trouble **ret_troubles,
    size_t *ret_count, owed_error *err)
{
    struct relay_row *relays = NULL;
    size_t count = 0;
    owed_status status = store_relays(doctor->db, doctor->arena, &relays, &count, err);
    if (status != OWED_OK || count == 0)
        return status;
    *ret_troubles = arena_alloc(doctor->arena, count * sizeof **ret_troubles);
    for (size_t i = 0; i < count && *ret_troubles != NULL; i++) {
        const struct relay_row *relay = &relays[i];
        const char *subject =
            arena_printf(doctor->arena, "the relay %s on %s", relay->id, relay->host);
        if (subject == NULL)
            return fail_memory(err);
        if (trouble_of(relay)[0] != '\0' && relay_is_alive(relay, doctor->now_us))
            (*ret_troubles)[(*ret_count)++] =
                (struct trouble){.subject = subject, .detail = trouble_of(relay)};
    }
    return *ret_troubles == NULL ? fail_memory(err) : OWED_OK;
}

/* look_deaf listens as a relay does, and waits for what it sends itself; who hears asks whether the relays do. */
owed_status
look_deaf(const struct doctor *doctor, const struct doctor_check *check,
    struct trouble **ret_troubles, size_t *ret_count, owed_error *err)
{
    const struct driver *driver = doctor->db->driver;
    struct pollfd fd = {.fd = driver->wake_fd(doctor->db), .events = POLLIN};
    if (fd.fd >= 0 && poll(&fd, 1, (int)(check->threshold / 1000)) > 0)
        return relays_that_say(doctor, why_deaf, ret_troubles, ret_count, err);
    const char *why = driver->deaf == NULL ? NULL : driver->deaf(doctor->db);
    if (fd.fd < 0 && why == NULL)
        return relays_that_say(doctor, why_deaf, ret_troubles, ret_count,
            err); // no more than a second connection that was not to be had
    struct trouble trouble = {.subject = "a relay with this URL",
        .detail = why == NULL ? "what is sent to it does not arrive within 3 seconds" : why};
    return one(doctor, trouble, ret_troubles, ret_count, err);
}

owed_status
look_away(const struct doctor *doctor, const struct doctor_check *check,
    struct trouble **ret_troubles, size_t *ret_count, owed_error *err)
{
    (void)check;
    return relays_that_say(doctor, who_is_away, ret_troubles, ret_count, err);
}

/* look_damage: a file that cannot even be read through is none that is sound. */
owed_status
look_damage(const struct doctor *doctor, const struct doctor_check *check,
    struct trouble **ret_troubles, size_t *ret_count, owed_error *err)
{
    const struct value args[] = {V_INT(check->threshold)};
    owed_status status = store_troubles(
        doctor->db, check->stmt, args, 1, doctor->arena, ret_troubles, ret_count, err);
    if (status != OWED_UNAVAILABLE)
        return status;
    struct trouble trouble = {.subject = arena_strdup(doctor->arena, err->text), .detail = ""};
    return one(doctor, trouble, ret_troubles, ret_count, err);
}

owed_status
look_log_file(const struct doctor *doctor, const struct doctor_check *check,
    struct trouble **ret_troubles, size_t *ret_count, owed_error *err)
{
    const char *path = doctor->db->driver->path(doctor->db);
    const char *name = arena_printf(doctor->arena, "%s-wal", or_empty(path));
    struct stat file;
    if (name == NULL)
        return fail_memory(err);
    if (stat(name, &file) != 0 || file.st_size <= check->threshold)
        return OWED_OK;
    struct trouble trouble = {.subject = name, .detail = "", .amount = file.st_size};
    return one(doctor, trouble, ret_troubles, ret_count, err);
}

owed_status
look_disk(const struct doctor *doctor, const struct doctor_check *check,
    struct trouble **ret_troubles, size_t *ret_count, owed_error *err)
{
    const char *path = doctor->db->driver->path(doctor->db);
    struct statvfs disk;
    if (statvfs(or_empty(path), &disk) != 0 || disk.f_blocks == 0)
        return OWED_OK;
    int64_t free_bytes = (int64_t)(disk.f_bavail * disk.f_frsize);
    int64_t percent = (int64_t)(disk.f_bavail * 100 / disk.f_blocks);
    if (percent >= check->threshold || free_bytes >= DISK_SMALL_BYTES)
        return OWED_OK;
    struct trouble trouble = {
        .subject = path, .detail = "", .amount = free_bytes, .other = percent};
    return one(doctor, trouble, ret_troubles, ret_count, err);
}
