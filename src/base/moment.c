/* SPDX-License-Identifier: MIT
 *
 * moment.c - RFC 3339 over the proleptic Gregorian calendar.
 */
#include "base/moment.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/civil.h"
#include "base/clock.h"
#include "base/str.h"

#define FIRST_SECOND INT64_C(-62135596800) // 0001-01-01T00:00:00Z
#define LAST_SECOND INT64_C(253402300799)  // 9999-12-31T23:59:59Z

const char *
moment_write(int64_t at_us, char text[static MOMENT_BYTES])
{
    int64_t seconds = floor_divide(at_us, US_PER_SECOND);
    int64_t days = floor_divide(seconds, SECONDS_PER_DAY);
    int64_t second = seconds - days * SECONDS_PER_DAY;
    int64_t us = at_us % US_PER_SECOND;
    us += us < 0 ? US_PER_SECOND : 0;
    struct civil date = civil_of(days);
    snprintf(text, MOMENT_BYTES, "%04d-%02d-%02dT%02d:%02d:%02d.%06" PRIu32 "Z", (int)date.year,
        (uint8_t)date.month, (uint8_t)date.day, (uint8_t)(second / 3600),
        (uint8_t)(second / 60 % 60), (uint8_t)(second % 60), (uint32_t)us);
    return text;
}

/* read_digits reads exactly n digits; -1: something else is there. */
static int64_t
read_digits(const char **p, int n)
{
    int64_t number = 0;
    for (int i = 0; i < n; i++) {
        char c = **p;
        if (!is_digit(c))
            return -1;
        number = number * 10 + (c - '0');
        (*p)++;
    }
    return number;
}

static bool
read_mark(const char **p, const char *allowed)
{
    if (**p == '\0' || strchr(allowed, **p) == NULL)
        return false;
    (*p)++;
    return true;
}

static bool
read_date(const char **p, struct civil *date)
{
    static const int8_t month_days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    date->year = read_digits(p, 4);
    if (date->year < 1 || !read_mark(p, "-"))
        return false;
    date->month = read_digits(p, 2);
    if (date->month < 1 || date->month > 12 || !read_mark(p, "-"))
        return false;
    date->day = read_digits(p, 2);
    int64_t last = month_days[date->month - 1] + (date->month == 2 && is_leap_year(date->year));
    return date->day >= 1 && date->day <= last;
}

/* read_time gives the second of the day; whether :60 was a leap second is moment_read's to judge. */
static bool
read_time(const char **p, int64_t *seconds, bool *is_sixtieth)
{
    int64_t hour = read_digits(p, 2);
    if (hour < 0 || hour > 23 || !read_mark(p, ":"))
        return false;
    int64_t minute = read_digits(p, 2);
    if (minute < 0 || minute > 59 || !read_mark(p, ":"))
        return false;
    int64_t second = read_digits(p, 2);
    *seconds = hour * 3600 + minute * 60 + second;
    *is_sixtieth = second == 60;
    return second >= 0 && second <= 60;
}

static bool
read_fraction(const char **p, int64_t *us)
{
    *us = 0;
    if (**p != '.')
        return true;
    (*p)++;
    int digits = 0;
    for (; is_digit(**p); (*p)++, digits++)
        if (digits < 6)
            *us = *us * 10 + (**p - '0');
    for (int i = digits; i < 6; i++)
        *us *= 10;
    return digits >= 1 && digits <= 9;
}

static bool
read_offset(const char **p, int64_t *seconds)
{
    *seconds = 0;
    if (read_mark(p, "Zz"))
        return true;
    int64_t sign = **p == '-' ? -1 : 1;
    if (!read_mark(p, "+-"))
        return false;
    int64_t hour = read_digits(p, 2);
    if (hour < 0 || hour > 23 || !read_mark(p, ":"))
        return false;
    int64_t minute = read_digits(p, 2);
    *seconds = sign * (hour * 3600 + minute * 60);
    return minute >= 0 && minute <= 59;
}

bool
moment_read(const char *text, int64_t *ret_us)
{
    struct civil date;
    int64_t second_of_day, us, offset;
    bool is_sixtieth;
    if (!read_date(&text, &date) || !read_mark(&text, "Tt ") ||
        !read_time(&text, &second_of_day, &is_sixtieth) || !read_fraction(&text, &us) ||
        !read_offset(&text, &offset) || *text != '\0')
        return false;
    int64_t seconds = days_of(date) * SECONDS_PER_DAY + second_of_day - offset;
    // Leap seconds stand at the end of a day in UTC; as everywhere, they read as the next second.
    if (is_sixtieth && seconds % SECONDS_PER_DAY != 0)
        return false;
    if (seconds < FIRST_SECOND || seconds > LAST_SECOND)
        return false;
    *ret_us = seconds * US_PER_SECOND + us;
    return true;
}
