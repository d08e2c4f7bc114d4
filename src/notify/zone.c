/* SPDX-License-Identifier: MIT
 *
 * zone.c - zone files, and the offset at a moment.
 */
#include "notify/zone.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/civil.h"
#include "base/cleanup.h"
#include "base/error.h"

#define HEADER_BYTES 44

/* --- the file --- */

struct counts {
    uint32_t utc, standard, leap, turns, types, letters;
};

static uint64_t
read_big(const char *p, size_t bytes)
{
    uint64_t number = 0;
    for (size_t i = 0; i < bytes; i++)
        number = number << 8 | (unsigned char)p[i];
    return number;
}

static bool
read_header(struct str *rest, struct counts *counts)
{
    if (rest->len < HEADER_BYTES || memcmp(rest->p, "TZif", 4) != 0 || rest->p[4] < '2')
        return false;
    uint32_t *const all[] = {&counts->utc, &counts->standard, &counts->leap, &counts->turns,
        &counts->types, &counts->letters};
    for (size_t i = 0; i < 6; i++) {
        *all[i] = (uint32_t)read_big(rest->p + 20 + 4 * i, 4);
        if (*all[i] > LIMIT_ZONE_BYTES)
            return false;
    }
    *rest = str_skip(*rest, HEADER_BYTES);
    return true;
}

static size_t
body_bytes(const struct counts *counts, size_t time_bytes)
{
    return counts->turns * (time_bytes + 1) + counts->types * (size_t)6 + counts->letters +
        counts->leap * (time_bytes + 4) + counts->standard + counts->utc;
}

static int32_t
type_offset(const char *types, size_t index)
{
    return (int32_t)(uint32_t)read_big(types + 6 * index, 4);
}

static bool
read_turns(const char *p, const struct counts *counts, struct zone *zone)
{
    const char *indices = p + counts->turns * (size_t)8;
    const char *types = indices + counts->turns;
    zone->first = type_offset(types, 0);
    for (uint32_t i = 0; i < counts->turns; i++) {
        size_t type = (unsigned char)indices[i];
        if (type >= counts->types)
            return false;
        zone->turns[i] = (int64_t)read_big(p + (size_t)8 * i, 8);
        zone->offsets[i] = type_offset(types, type);
        if (i > 0 && zone->turns[i] <= zone->turns[i - 1])
            return false;
    }
    zone->count = counts->turns;
    return true;
}

static bool
read_footer(struct str rest, struct zone *zone)
{
    char rule[128];
    if (rest.len < 2 || rest.p[0] != '\n' || rest.len - 2 >= sizeof rule ||
        rest.p[rest.len - 1] != '\n')
        return false;
    memcpy(rule, rest.p + 1, rest.len - 2);
    rule[rest.len - 2] = '\0';
    if (rule[0] != '\0')
        return rule_read(rule, zone);
    // No rule: as it was at the last turn.
    zone->standard = zone->count == 0 ? zone->first : zone->offsets[zone->count - 1];
    return true;
}

/* read_zone skips the first half of the file, which is for readers of 32 bits; false: no zone file. */
static owed_status
read_zone(struct str file, struct zone *zone)
{
    struct counts counts;
    if (!read_header(&file, &counts) || file.len < body_bytes(&counts, 4))
        return OWED_INVALID;
    file = str_skip(file, body_bytes(&counts, 4));
    if (!read_header(&file, &counts) || file.len < body_bytes(&counts, 8) || counts.types == 0 ||
        counts.leap != 0)
        return OWED_INVALID;
    zone->turns = calloc(counts.turns + (size_t)1, sizeof *zone->turns);
    zone->offsets = calloc(counts.turns + (size_t)1, sizeof *zone->offsets);
    if (zone->turns == NULL || zone->offsets == NULL)
        return OWED_NOMEM;
    if (!read_turns(file.p, &counts, zone))
        return OWED_INVALID;
    return read_footer(str_skip(file, body_bytes(&counts, 8)), zone) ? OWED_OK : OWED_INVALID;
}

/* is_name: no way out of the folder. */
static bool
is_name(const char *name)
{
    size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-/");
    return len > 0 && name[len] == '\0' && len < 64 && name[0] != '/' && name[len - 1] != '/';
}

owed_status
zone_load(const char *folder, const char *name, struct zone *ret_zone, owed_error *err)
{
    struct zone zone CLEANUP(zone_done) = {0};
    struct buf bytes CLEANUP(buf_done);
    char path[256];
    buf_init(&bytes, LIMIT_ZONE_BYTES);
    if (!is_name(name))
        return fail(err, OWED_INVALID,
            "time zone \"%s\" is no name of one, such as Europe/Berlin or UTC", name);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file CLEANUP(fclose_ptr) = fopen(path, "re");
    if (file == NULL || !buf_add_file(&bytes, file))
        return fail_native(err, OWED_INVALID, errno,
            "time zone \"%s\" is not in %s: one such as Europe/Berlin or UTC would be right", name,
            folder);
    owed_status status = bytes.failed ? OWED_INVALID : read_zone(buf_view(&bytes), &zone);
    if (status == OWED_NOMEM)
        return fail_memory(err);
    if (status != OWED_OK)
        return fail(err, OWED_INVALID,
            "time zone \"%s\": %s is no zone file (TZif 2 or later, without leap seconds)", name,
            path);
    *ret_zone = zone;
    zone = (struct zone){0};
    return OWED_OK;
}

void
zone_done(struct zone *zone)
{
    free(zone->turns);
    free(zone->offsets);
    *zone = (struct zone){0};
}

/* --- by the rule --- */

static int64_t
turn_day(const struct zone_turn *turn, int64_t year)
{
    int64_t new_year = days_of((struct civil){year, 1, 1});
    if (turn->form == ZONE_YEAR_DAY)
        return new_year + turn->day;
    if (turn->form == ZONE_JULIAN_DAY)
        return new_year + turn->day - 1 + (turn->day >= 60 && is_leap_year(year));
    int64_t first = days_of((struct civil){year, turn->month, 1});
    int64_t next_month = turn->month == 12 ? days_of((struct civil){year + 1, 1, 1})
                                           : days_of((struct civil){year, turn->month + 1, 1});
    int64_t day = first + (turn->day - weekday_of(first) + 7) % 7 + 7 * (int64_t)(turn->week - 1);
    return day >= next_month ? day - 7 : day;
}

static int64_t
turn_at(const struct zone_turn *turn, int64_t year, int32_t offset_before)
{
    return turn_day(turn, year) * SECONDS_PER_DAY + turn->second - offset_before;
}

/* offset_by_rule looks at the turns of three years, since a turn may fall into a neighbour's. */
static int32_t
offset_by_rule(const struct zone *zone, int64_t at_s, int64_t *ret_next)
{
    *ret_next = INT64_MAX;
    if (zone->to_summer.form == ZONE_NO_DAY)
        return zone->standard;
    int64_t year = civil_of(floor_divide(at_s, SECONDS_PER_DAY)).year;
    int64_t latest = INT64_MIN;
    int32_t offset = zone->standard;
    for (int64_t y = year - 1; y <= year + 1; y++) {
        const int64_t turns[] = {turn_at(&zone->to_summer, y, zone->standard),
            turn_at(&zone->to_standard, y, zone->summer)};
        for (int i = 0; i < 2; i++) {
            if (turns[i] <= at_s && turns[i] >= latest) {
                latest = turns[i];
                offset = i == 0 ? zone->summer : zone->standard;
            }
            if (turns[i] > at_s && turns[i] < *ret_next)
                *ret_next = turns[i];
        }
    }
    return offset;
}

int32_t
zone_offset(const struct zone *zone, int64_t at_s, int64_t *ret_next)
{
    int64_t next;
    if (ret_next == NULL)
        ret_next = &next;
    if (zone->count == 0 || at_s >= zone->turns[zone->count - 1])
        return offset_by_rule(zone, at_s, ret_next);
    uint32_t low = 0, high = zone->count - 1; // the first turn after at_s
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (zone->turns[middle] > at_s)
            high = middle;
        else
            low = middle + 1;
    }
    *ret_next = zone->turns[low];
    return low == 0 ? zone->first : zone->offsets[low - 1];
}
