/* SPDX-License-Identifier: MIT
 *
 * str.h - a view of bytes that somebody else owns. Not NUL-ended unless said so.
 */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct str {
    const char *p;
    size_t len;
};

#define STR(literal) ((struct str){(literal), sizeof(literal) - 1})

/* str_of views a NUL-ended string; NULL reads as the empty one. */
static inline struct str
str_of(const char *text)
{
    return text == NULL ? (struct str){"", 0} : (struct str){text, strlen(text)};
}

static inline bool
str_eq(struct str a, struct str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.p, b.p, a.len) == 0);
}

static inline bool
str_is(struct str a, const char *text)
{
    return str_eq(a, str_of(text));
}

/* or_empty reads NULL as "". */
static inline const char *
or_empty(const char *text)
{
    return text == NULL ? "" : text;
}

static inline bool
is_empty(const char *text)
{
    return text == NULL || text[0] == '\0';
}

#endif
