/* SPDX-License-Identifier: MIT
 *
 * zone_rule.c - the rule for years to come, as POSIX writes TZ, with the hours from -167 to 167 that
 * RFC 8536 allows.
 */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "notify/zone.h"

static bool
read_name(const char **p)
{
    bool is_quoted = **p == '<';
    *p += is_quoted;
    const char *start = *p;
    while (**p != '\0' &&
        (is_quoted ? **p != '>' : (**p >= 'A' && **p <= 'Z') || (**p >= 'a' && **p <= 'z')))
        (*p)++;
    if (*p - start < 3 || (is_quoted && **p != '>'))
        return false;
    *p += is_quoted;
    return true;
}

static bool
read_number(const char **p, int least, int most, int *ret_number)
{
    int number = 0;
    if (!is_digit(**p))
        return false;
    for (; is_digit(**p) && number <= most; (*p)++)
        number = number * 10 + (**p - '0');
    *ret_number = number;
    return number >= least && number <= most;
}

/* read_seconds reads [+-]hh[:mm[:ss]]. */
static bool
read_seconds(const char **p, int64_t *ret_seconds)
{
    int sign = **p == '-' ? -1 : 1;
    int hours, minutes = 0, seconds = 0;
    *p += **p == '-' || **p == '+';
    if (!read_number(p, 0, 167, &hours))
        return false;
    if (**p == ':' && ((*p)++, !read_number(p, 0, 59, &minutes)))
        return false;
    if (**p == ':' && ((*p)++, !read_number(p, 0, 59, &seconds)))
        return false;
    *ret_seconds = sign * (hours * INT64_C(3600) + minutes * 60 + seconds);
    return true;
}

static bool
read_week_day(const char **p, struct zone_turn *turn)
{
    turn->form = ZONE_WEEK_DAY;
    (*p)++;
    return read_number(p, 1, 12, &turn->month) && *(*p)++ == '.' &&
        read_number(p, 1, 5, &turn->week) && *(*p)++ == '.' && read_number(p, 0, 6, &turn->day);
}

static bool
read_turn(const char **p, struct zone_turn *turn)
{
    turn->second = 2 * 3600;
    if (*(*p)++ != ',')
        return false;
    bool is_read;
    if (**p == 'M') {
        is_read = read_week_day(p, turn);
    } else if (**p == 'J') {
        turn->form = ZONE_JULIAN_DAY;
        (*p)++;
        is_read = read_number(p, 1, 365, &turn->day);
    } else {
        turn->form = ZONE_YEAR_DAY;
        is_read = read_number(p, 0, 365, &turn->day);
    }
    if (!is_read)
        return false;
    if (**p != '/')
        return true;
    (*p)++;
    return read_seconds(p, &turn->second);
}

bool
rule_read(const char *text, struct zone *zone)
{
    int64_t west;
    const char *p = text;
    if (!read_name(&p) || !read_seconds(&p, &west))
        return false;
    zone->standard = (int32_t)-west;
    zone->to_summer.form = zone->to_standard.form = ZONE_NO_DAY;
    if (*p == '\0')
        return true;
    if (!read_name(&p))
        return false;
    west -= 3600;
    if (*p != ',' && *p != '\0' && !read_seconds(&p, &west))
        return false;
    zone->summer = (int32_t)-west;
    return read_turn(&p, &zone->to_summer) && read_turn(&p, &zone->to_standard) && *p == '\0';
}
