/* SPDX-License-Identifier: MIT
 *
 * zone.h - what the clocks of a place show: a reader of the system's zone files (TZif, RFC 8536).
 *
 * No setenv("TZ"), no global state: a zone belongs to who loaded it, and any number of threads may ask
 * it at once.
 */
#ifndef NOTIFY_ZONE_H
#define NOTIFY_ZONE_H

#include <owed/error.h>

#include <stdbool.h>
#include <stdint.h>

#define ZONE_FOLDER "/usr/share/zoneinfo"
#define LIMIT_ZONE_BYTES 65536

/* A time without a year's date, as the rules for years to come say it. */
enum zone_day_form {
    ZONE_NO_DAY,
    ZONE_WEEK_DAY,   // M3.5.0: the last Sunday of March
    ZONE_JULIAN_DAY, // J60: 1 March in every year
    ZONE_YEAR_DAY    // 59: day of the year from 0, 29 February counted
};

struct zone_turn {
    enum zone_day_form form;
    int month, week, day;
    int64_t second; // of that day's clock; may be negative, or beyond the day
};

struct zone {
    int64_t *turns;   // moments (seconds since 1970) at which the offset changes
    int32_t *offsets; // from each of them on, in seconds east
    int32_t first;    // the offset before the first
    uint32_t count;
    int32_t standard; // after the last: by the rules below
    int32_t summer;
    struct zone_turn to_summer, to_standard; // ZONE_NO_DAY: there is no summer time
};

/* zone_load reads the zone of a name such as Europe/Berlin from a folder. INVALID: there is none, with
 * the name in the sentence; NOMEM. zone_done gives it back, and is fit for CLEANUP. */
owed_status zone_load(const char *folder, const char *name, struct zone *ret_zone, owed_error *err);
void zone_done(struct zone *zone);

/* zone_offset is how far the clocks are ahead of UTC at a moment, in seconds; ret_next (may be NULL)
 * gets the first moment after it at which that may change, INT64_MAX where it never does. */
int32_t zone_offset(const struct zone *zone, int64_t at_s, int64_t *ret_next);

/* rule_read reads the rule for years to come at the end of a zone file: "CET-1CEST,M3.5.0,M10.5.0/3". */
bool rule_read(const char *text, struct zone *zone);

#endif
