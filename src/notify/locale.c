/* SPDX-License-Identifier: MIT
 *
 * locale.c - language tags.
 */
#include "notify/locale.h"

#include <owed/template.h>

#include <string.h>

#include "base/error.h"
#include "base/str.h"

static bool
is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static char
lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static char
upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - ('a' - 'A')) : c;
}

static bool
is_subtag(struct str tag, bool is_language)
{
    size_t longest = is_language ? 3 : 8, shortest = is_language ? 2 : 1;
    if (tag.len < shortest || tag.len > longest)
        return false;
    for (size_t i = 0; i < tag.len; i++)
        if (!is_letter(tag.p[i]) && (is_language || !is_digit(tag.p[i])))
            return false;
    return true;
}

/* write_subtag gives each kind of subtag its own letters: zh, Hant, TW, valencia. */
static void
write_subtag(struct str tag, bool is_language, char *out)
{
    for (size_t i = 0; i < tag.len; i++) {
        bool is_upper = !is_language && (tag.len == 2 || (tag.len == 4 && i == 0));
        out[i] = is_upper ? upper(tag.p[i]) : lower(tag.p[i]);
    }
}

static struct str
cut_subtag(struct str *rest)
{
    size_t len = 0;
    while (len < rest->len && rest->p[len] != '-' && rest->p[len] != '_')
        len++;
    struct str tag = {rest->p, len};
    *rest = str_skip(*rest, len);
    return tag;
}

static bool
normalize(struct str rest, char *out)
{
    if (rest.len >= LOCALE_BYTES)
        return false;
    for (bool is_language = true;; is_language = false) {
        struct str tag = cut_subtag(&rest);
        if (!is_subtag(tag, is_language))
            return false;
        write_subtag(tag, is_language, out);
        out += tag.len;
        if (rest.len == 0)
            break;
        rest = str_skip(rest, 1);
        *out++ = '-';
    }
    *out = '\0';
    return true;
}

owed_status
owed_locale_normalize(const char *locale, char *ret_tag, owed_error *err)
{
    char tag[LOCALE_BYTES];
    if (locale == NULL || !normalize(str_trim(str_of(locale)), tag))
        return fail(err, OWED_MALFORMED_LOCALE,
            "locale \"%s\" is no language tag: a language of 2 or 3 letters, then subtags of 1 to 8 letters and digits, such as de, pt-BR or zh-Hant-TW",
            or_empty(locale));
    memcpy(ret_tag, tag, strlen(tag) + 1);
    return OWED_OK;
}

bool
locale_shorten(char *tag)
{
    char *last = strrchr(tag, '-');
    if (last == NULL)
        return false;
    *last = '\0';
    return true;
}
