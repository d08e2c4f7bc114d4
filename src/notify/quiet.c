/* SPDX-License-Identifier: MIT
 *
 * quiet.c - windows of the week, by the clocks of the recipient.
 */
#include <stdint.h>
#include <string.h>

#include "base/civil.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"
#include "notify/recipient.h"
#include "notify/zone.h"

#define MINUTES_PER_DAY 1440
#define MINUTES_PER_WEEK 10080
#define STEPS_MAX 4096 // far above the windows and clock changes of a year

/* --- a window --- */

/* minute_read reads "22:00"; -1: that is no time of day. */
static int
minute_read(const char *text)
{
    if (text == NULL || strlen(text) != 5 || text[2] != ':' || !is_digit(text[0]) ||
        !is_digit(text[1]) || !is_digit(text[3]) || !is_digit(text[4]))
        return -1;
    int hour = (text[0] - '0') * 10 + (text[1] - '0');
    int minute = (text[3] - '0') * 10 + (text[4] - '0');
    return hour < 24 && minute < 60 ? hour * 60 + minute : -1;
}

static bool
starts_on(const owed_quiet_hours *window, int weekday)
{
    return window->weekdays == 0 || (window->weekdays >> weekday & 1U) != 0;
}

static bool
concerns(const owed_quiet_hours *window, const char *channel)
{
    for (size_t i = 0; window->channels != NULL; i++) {
        if (window->channels[i] == NULL)
            return false;
        if (strcmp(window->channels[i], channel) == 0)
            return true;
    }
    return true;
}

static bool
covers(const owed_quiet_hours *window, int weekday, int minute)
{
    int start = minute_read(window->start), end = minute_read(window->end);
    bool since_today = starts_on(window, weekday) && minute >= start;
    if (start < end)
        return since_today && minute < end;
    return since_today || (starts_on(window, (weekday + 6) % 7) && minute < end);
}

/* --- whether they can be --- */

static owed_status
check_window(const owed_quiet_hours *window, owed_error *err)
{
    int start = minute_read(window->start), end = minute_read(window->end);
    if (start < 0 || end < 0)
        return fail(err, OWED_INVALID,
            "quiet hours from \"%.20s\" to \"%.20s\": times of day such as 22:00 would be right",
            window->start, or_empty(window->end));
    if (start == end)
        return fail(err, OWED_INVALID, "quiet hours from %s to %s: start and end are the same",
            window->start, window->end);
    if (window->weekdays > 127)
        return fail(err, OWED_INVALID,
            "quiet hours from %s: weekdays %u, where a sum of OWED_SUNDAY to OWED_SATURDAY would be right",
            window->start, window->weekdays);
    if (window->channels != NULL && window->channels[0] == NULL)
        return fail(err, OWED_INVALID, "quiet hours from %s are for no channel", window->start);
    owed_status status = OWED_OK;
    for (size_t i = 0; status == OWED_OK && window->channels != NULL && window->channels[i] != NULL;
         i++) {
        if (i == LIMIT_CHANNELS)
            return fail(err, OWED_INVALID, "quiet hours name up to %d channels", LIMIT_CHANNELS);
        status = channel_check(window->channels[i], err);
    }
    return status;
}

/* leaves_some tells whether there is a minute of the week in which a channel is not silent. */
static bool
leaves_some(const owed_quiet_hours *windows, const char *channel)
{
    for (int at = 0; at < MINUTES_PER_WEEK; at++) {
        bool is_covered = false;
        for (const owed_quiet_hours *window = windows; window->start != NULL && !is_covered;
             window++)
            is_covered = concerns(window, channel) &&
                covers(window, at / MINUTES_PER_DAY, at % MINUTES_PER_DAY);
        if (!is_covered)
            return true;
    }
    return false;
}

static owed_status
check_some_left(const owed_quiet_hours *windows, const char *channel, owed_error *err)
{
    if (leaves_some(windows, channel))
        return OWED_OK;
    return fail(err, OWED_INVALID, "quiet hours leave %s%s no minute of the week",
        channel[0] == '\0' ? "a channel that is not named" : "channel ", channel);
}

owed_status
quiet_check(const owed_quiet_hours *windows, owed_error *err)
{
    owed_status status = OWED_OK;
    size_t count = 0;
    for (; windows != NULL && windows[count].start != NULL && status == OWED_OK; count++) {
        if (count == LIMIT_QUIET_WINDOWS)
            return fail(err, OWED_INVALID, "a recipient has up to %d windows of quiet hours",
                LIMIT_QUIET_WINDOWS);
        status = check_window(&windows[count], err);
    }
    if (status == OWED_OK && count > 0)
        status = check_some_left(windows, "", err);
    for (size_t i = 0; i < count && status == OWED_OK; i++)
        for (size_t c = 0;
             windows[i].channels != NULL && windows[i].channels[c] != NULL && status == OWED_OK;
             c++)
            status = check_some_left(windows, windows[i].channels[c], err);
    return status;
}

/* --- at a moment --- */

static bool
is_quiet(const owed_quiet_hours *windows, const char *channel, int64_t local_s)
{
    int64_t day = floor_divide(local_s, SECONDS_PER_DAY);
    int minute = (int)((local_s - day * SECONDS_PER_DAY) / 60);
    for (const owed_quiet_hours *window = windows; window->start != NULL; window++)
        if (concerns(window, channel) && covers(window, weekday_of(day), minute))
            return true;
    return false;
}

/* next_edge is the first full minute after a local time at which a window could end. */
static int64_t
next_edge(const owed_quiet_hours *windows, int64_t local_s)
{
    int64_t day = floor_divide(local_s, SECONDS_PER_DAY) * SECONDS_PER_DAY;
    int64_t nearest = INT64_MAX;
    for (const owed_quiet_hours *window = windows; window->start != NULL; window++) {
        int64_t edge = day + minute_read(window->end) * INT64_C(60);
        edge += edge <= local_s ? SECONDS_PER_DAY : 0;
        nearest = edge < nearest ? edge : nearest;
    }
    return nearest;
}

/* quiet_end steps from edge to edge and from one change of the clocks to the next. */
static int64_t
quiet_end(
    const struct zone *zone, const owed_quiet_hours *windows, const char *channel, int64_t at_s)
{
    int64_t start_s = at_s;
    for (int step = 0; step < STEPS_MAX; step++) {
        int64_t change_s;
        int64_t local_s = at_s + zone_offset(zone, at_s, &change_s);
        if (!is_quiet(windows, channel, local_s))
            return at_s;
        int64_t end_s = at_s + (next_edge(windows, local_s) - local_s);
        at_s = end_s < change_s ? end_s : change_s;
    }
    return start_s + SECONDS_PER_DAY; // not reached: quiet_check has seen a minute that is free
}

owed_status
owed_recipient_quiet(const owed_recipient *recipient, const char *channel, int64_t now_us,
    int64_t *ret_until_us, owed_error *err)
{
    const owed_quiet_hours *windows = recipient->quiet_hours;
    struct zone zone CLEANUP(zone_done) = {0};
    int64_t now_s = floor_divide(now_us, US_PER_SECOND);
    if (windows != NULL && recipient->time_zone != NULL) {
        owed_status status = zone_load(ZONE_FOLDER, recipient->time_zone, &zone, err);
        if (status != OWED_OK)
            return status;
    }
    int64_t end_s = windows == NULL ? now_s : quiet_end(&zone, windows, channel, now_s);
    *ret_until_us = end_s == now_s ? 0 : end_s * US_PER_SECOND;
    return OWED_OK;
}
