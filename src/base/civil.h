/* SPDX-License-Identifier: MIT
 *
 * civil.h - days since 1970-01-01 and the proleptic Gregorian calendar.
 */
#ifndef BASE_CIVIL_H
#define BASE_CIVIL_H

#include <stdbool.h>
#include <stdint.h>

#define SECONDS_PER_DAY INT64_C(86400)

struct civil {
    int64_t year;
    int64_t month; // 1 to 12
    int64_t day;   // 1 to 31
};

int64_t days_of(struct civil date);
struct civil civil_of(int64_t days);
bool is_leap_year(int64_t year);

/* weekday_of is 0 on Sundays. */
int weekday_of(int64_t days);

/* floor_divide rounds towards the past, also before 1970. */
static inline int64_t
floor_divide(int64_t number, int64_t by)
{
    return number / by - (number % by < 0);
}

#endif
