/* SPDX-License-Identifier: MIT
 *
 * civil.c - days and dates.
 */
#include "base/civil.h"

#define DAYS_PER_ERA INT64_C(146097) // 400 years
#define DAYS_TO_1970 INT64_C(719468) // from 0000-03-01

// Years are counted from March, so that the leap day is the last one of its year.
int64_t
days_of(struct civil date)
{
    int64_t year = date.month <= 2 ? date.year - 1 : date.year;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t year_of_era = year - era * 400;
    int64_t month = (date.month + 9) % 12;
    int64_t day_of_year = (153 * month + 2) / 5 + date.day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * DAYS_PER_ERA + day_of_era - DAYS_TO_1970;
}

struct civil
civil_of(int64_t days)
{
    days += DAYS_TO_1970;
    int64_t era = (days >= 0 ? days : days - (DAYS_PER_ERA - 1)) / DAYS_PER_ERA;
    int64_t day_of_era = days - era * DAYS_PER_ERA;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month = (5 * day_of_year + 2) / 153;
    struct civil date = {
        .year = year_of_era + era * 400,
        .month = month < 10 ? month + 3 : month - 9,
        .day = day_of_year - (153 * month + 2) / 5 + 1,
    };
    date.year += date.month <= 2;
    return date;
}

bool
is_leap_year(int64_t year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

int
weekday_of(int64_t days)
{
    int64_t thursday_on = days + 4; // 1970-01-01 was one
    return (int)(thursday_on - floor_divide(thursday_on, 7) * 7);
}
