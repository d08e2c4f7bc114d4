/* SPDX-License-Identifier: MIT
 *
 * duration.c - durations as sums of units, the largest first.
 */
#include "base/moment.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/str.h"

struct unit {
    const char *name;
    int64_t us;
};

static const struct unit units[] = {
    {"d", 86400 * US_PER_SECOND},
    {"h", 3600 * US_PER_SECOND},
    {"m", 60 * US_PER_SECOND},
    {"s", US_PER_SECOND},
    {"ms", US_PER_MS},
    {"us", 1},
};
#define UNIT_COUNT (sizeof units / sizeof units[0])
#define UNIT_SECOND 3

/* read_unit finds the unit that the letters at *p spell, from units[first] on; UNIT_COUNT: none. */
static size_t
read_unit(const char **p, size_t first)
{
    size_t len = strspn(*p, "abcdefghijklmnopqrstuvwxyz");
    for (size_t i = first; i < UNIT_COUNT; i++)
        if (strlen(units[i].name) == len && memcmp(units[i].name, *p, len) == 0) {
            *p += len;
            return i;
        }
    return UNIT_COUNT;
}

/* A decimal number, kept as digits / scale. */
struct decimal {
    int64_t digits;
    int64_t scale;
};

static bool
read_decimal(const char **p, struct decimal *number)
{
    *number = (struct decimal){.scale = 1};
    if (!is_digit(**p))
        return false;
    bool in_fraction = false;
    for (;; (*p)++) {
        if (**p == '.' && !in_fraction && is_digit((*p)[1])) {
            in_fraction = true;
            continue;
        }
        if (!is_digit(**p))
            return true;
        if (number->digits > LIMIT_DURATION_US || number->scale > US_PER_SECOND)
            return false;
        number->digits = number->digits * 10 + (**p - '0');
        number->scale *= in_fraction ? 10 : 1;
    }
}

/* add_part adds number units to the sum, where that is a whole number of microseconds in range. */
static bool
add_part(struct decimal number, const struct unit *unit, int64_t *sum)
{
    int64_t product;
    if (__builtin_mul_overflow(number.digits, unit->us, &product) || product % number.scale != 0)
        return false;
    return !__builtin_add_overflow(*sum, product / number.scale, sum) && *sum <= LIMIT_DURATION_US;
}

bool
duration_read(const char *text, int64_t *ret_us)
{
    int64_t sum = 0;
    if (strcmp(text, "0") == 0) {
        *ret_us = 0;
        return true;
    }
    size_t next = 0;
    do {
        struct decimal number;
        if (!read_decimal(&text, &number))
            return false;
        size_t unit = read_unit(&text, next);
        if (unit == UNIT_COUNT || !add_part(number, &units[unit], &sum))
            return false;
        next = unit + 1;
    } while (*text != '\0');
    *ret_us = sum;
    return true;
}

struct line {
    char *text;
    size_t len;
};

static void
add_count(struct line *line, uint64_t count, const char *unit)
{
    int len =
        snprintf(line->text + line->len, MOMENT_BYTES - line->len, "%" PRIu64 "%s", count, unit);
    line->len += (size_t)len;
}

/* start writes the sign and returns the size; INT64_MIN has one too. */
static uint64_t
start(struct line *line, int64_t us)
{
    if (us < 0)
        line->text[line->len++] = '-';
    line->text[line->len] = '\0';
    return us < 0 ? -(uint64_t)us : (uint64_t)us;
}

const char *
duration_write(int64_t us, char text[static MOMENT_BYTES])
{
    struct line line = {.text = text};
    uint64_t left = start(&line, us);
    for (size_t i = 0; i < UNIT_COUNT && left > 0; i++) {
        uint64_t size = (uint64_t)units[i].us;
        if (left >= size)
            add_count(&line, left / size, units[i].name);
        left %= size;
    }
    if (us == 0)
        add_count(&line, 0, "");
    return text;
}

const char *
duration_rough(int64_t us, char text[static MOMENT_BYTES])
{
    struct line line = {.text = text};
    uint64_t left = start(&line, us);
    size_t i = 0;
    while (i < UNIT_COUNT - 1 && left < (uint64_t)units[i].us)
        i++;
    uint64_t size = (uint64_t)units[i].us;
    add_count(&line, left / size, us == 0 ? "s" : units[i].name);
    // Below seconds and beside them a second unit would say more than anybody reads.
    if (i >= UNIT_SECOND)
        return text;
    uint64_t rest = left % size / (uint64_t)units[i + 1].us;
    if (rest > 0)
        add_count(&line, rest, units[i + 1].name);
    return text;
}
