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

/* str_skip drops the first n bytes; there are that many. */
static inline struct str
str_skip(struct str view, size_t n)
{
    return (struct str){view.p + n, view.len - n};
}

/* is_space: a space, tab, CR or LF. */
static inline bool
is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static inline bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* str_trim drops spaces, tabs and line ends at both ends. */
static inline struct str
str_trim(struct str view)
{
    while (view.len > 0 && is_space(view.p[0]))
        view = str_skip(view, 1);
    while (view.len > 0 && is_space(view.p[view.len - 1]))
        view.len--;
    return view;
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
