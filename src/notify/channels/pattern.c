/* SPDX-License-Identifier: MIT
 *
 * pattern.c - pieces of requests with places for values.
 */
#include "notify/channels/pattern.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/options.h"
#include "notify/channels/http.h"

#define PATTERN_BYTES ((size_t)64 * 1024)
#define PATTERN_DEPTH 32
#define WORD_BYTES 32

static const char *const words[PLACE_COUNT + 1] = {
    [PLACE_TO] = "to",
    [PLACE_DIGITS] = "digits",
    [PLACE_TEXT] = "text",
    [PLACE_SUBJECT] = "subject",
    [PLACE_HTML] = "html",
    [PLACE_ID] = "id",
    [PLACE_NONCE] = "nonce",
    [PLACE_LOCALE] = "locale",
    [PLACE_TEMPLATE] = "template",
    [PLACE_ALPHABET] = "alphabet",
    [PLACE_FROM] = "from",
    [PLACE_USER] = "user",
    [PLACE_PASSWORD] = "password",
    [PLACE_TOKEN] = "token",
};

/* --- reading --- */

/* place_at finds the word in braces that begins at p; its length with them, 0: there is none. */
static size_t
place_at(const char *p, char word[static WORD_BYTES])
{
    size_t len = strspn(p + 1, "abcdefghijklmnopqrstuvwxyz_");
    if (*p != '{' || len == 0 || len >= WORD_BYTES || p[len + 1] != '}')
        return 0;
    memcpy(word, p + 1, len);
    word[len] = '\0';
    return len + 2;
}

static int
place_of(const char *word)
{
    for (int i = 0; i < PLACE_COUNT; i++)
        if (strcmp(words[i], word) == 0)
            return i;
    return -1;
}

/* is_in_string tells whether a string is open in JSON after so many bytes of it. */
static bool
is_in_string(const char *text, size_t len)
{
    bool is_open = false;
    for (size_t i = 0; i < len; i++) {
        if (is_open && text[i] == '\\')
            i++;
        else if (text[i] == '"')
            is_open = !is_open;
    }
    return is_open;
}

/* path_of says where the path of a URL begins: behind the host. */
static size_t
path_of(const char *url)
{
    const char *host = strstr(url, "://");
    host = host == NULL ? url : host + 3;
    return (size_t)(host - url) + strcspn(host, "/?");
}

static owed_status
add_place(struct pattern *pattern, const char *text, size_t at, const char *word, owed_error *err)
{
    struct pattern_part *part = &pattern->parts[pattern->count];
    part->place = place_of(word);
    if (part->place < 0) {
        const char *near = nearest(word, words);
        return fail(err, OWED_INVALID, "{%s} is no place; %s%s%s", word,
            near == NULL ? "there are to, text, subject, id and others" : "the nearest is {",
            near == NULL ? "" : near, near == NULL ? "" : "}");
    }
    if (pattern->form == PATTERN_URL && at < path_of(text))
        return fail(err, OWED_INVALID, "{%s} stands before the path of the URL", word);
    part->is_inside =
        pattern->form == PATTERN_JSON ? is_in_string(text, at) : at < strcspn(text, "?");
    pattern->count++;
    return OWED_OK;
}

static owed_status
read_places(struct pattern *pattern, const char *text, owed_error *err)
{
    char word[WORD_BYTES];
    size_t start = 0, at = 0;
    while (text[at] != '\0') {
        size_t len = place_at(text + at, word);
        if (len == 0) {
            at++;
            continue;
        }
        if (pattern->count == PATTERN_PARTS - 1)
            return fail(err, OWED_INVALID, "it has more than %d places", PATTERN_PARTS - 1);
        pattern->parts[pattern->count].literal = (struct str){text + start, at - start};
        owed_status status = add_place(pattern, text, at, word, err);
        if (status != OWED_OK)
            return status;
        start = at += len;
    }
    pattern->parts[pattern->count++] =
        (struct pattern_part){.literal = {text + start, at - start}, .place = -1};
    return OWED_OK;
}

/* try_out writes it with a value in each place, to see whether that can be. */
static owed_status
try_out(const struct pattern *pattern, owed_error *err)
{
    const char *values[PLACE_COUNT];
    CLEANUP(buf_done) struct buf out;
    owed_error why;
    buf_init(&out, PATTERN_BYTES);
    for (int i = 0; i < PLACE_COUNT; i++)
        values[i] = "x";
    owed_status status = pattern_write(pattern, values, &out, err);
    if (status != OWED_OK)
        return status;
    if (out.failed)
        return fail(err, OWED_INVALID, "it is longer than %zu bytes", PATTERN_BYTES);
    if (pattern->form == PATTERN_URL)
        return http_url_check(buf_text(&out), err);
    if (pattern->form == PATTERN_JSON && json_check(buf_view(&out), PATTERN_DEPTH, &why) != OWED_OK)
        return fail(err, OWED_INVALID, "it is no JSON once it is filled in: %s", why.text);
    return OWED_OK;
}

owed_status
pattern_read(enum pattern_form form, const char *text, struct pattern *ret_pattern, owed_error *err)
{
    *ret_pattern = (struct pattern){.form = form};
    owed_status status = read_places(ret_pattern, text, err);
    return status == OWED_OK ? try_out(ret_pattern, err) : status;
}

bool
pattern_has(const struct pattern *pattern, enum place place)
{
    for (size_t i = 0; i < pattern->count; i++)
        if (pattern->parts[i].place == (int)place)
            return true;
    return false;
}

/* --- writing --- */

/* write_json writes a string, or what stands between its quotes. */
static void
write_json(struct buf *out, const char *value, bool is_inside)
{
    CLEANUP(buf_done) struct buf quoted;
    buf_init(&quoted, out->max);
    json_write_string(&quoted, str_of(value));
    out->failed |= quoted.failed;
    if (quoted.len >= 2)
        buf_add(out, quoted.p + is_inside, quoted.len - 2 * (size_t)is_inside);
}

/* leaves_segment tells whether a value, though it is encoded, could be read as a way to somewhere else. */
static bool
leaves_segment(const char *value)
{
    return value[0] == '\0' || strcmp(value, ".") == 0 || strstr(value, "..") != NULL ||
        strpbrk(value, "/\\") != NULL;
}

/* write_segment leaves colons as they are: tokens have them, and not every server decodes a path. */
static void
write_segment(struct buf *out, const char *value)
{
    for (;;) {
        size_t len = strcspn(value, ":");
        http_encode(out, (struct str){value, len});
        if (value[len] == '\0')
            return;
        buf_putc(out, ':');
        value += len + 1;
    }
}

static void
write_value(const struct pattern *pattern, const struct pattern_part *part, const char *value,
    struct buf *out)
{
    if (pattern->form == PATTERN_JSON)
        write_json(out, value, part->is_inside);
    else if (pattern->form == PATTERN_LINE)
        buf_puts(out, value);
    else if (pattern->form == PATTERN_URL && part->is_inside)
        write_segment(out, value);
    else
        http_encode(out, str_of(value));
}

owed_status
pattern_write(const struct pattern *pattern, const char *const values[PLACE_COUNT], struct buf *out,
    owed_error *err)
{
    for (size_t i = 0; i < pattern->count; i++) {
        const struct pattern_part *part = &pattern->parts[i];
        buf_str(out, part->literal);
        if (part->place < 0)
            continue;
        const char *value = or_empty(values[part->place]);
        if (pattern->form == PATTERN_URL && part->is_inside && leaves_segment(value))
            return fail(err, OWED_INVALID,
                "{%s} cannot stand in a URL: it is empty, or holds a / or two dots",
                words[part->place]);
        write_value(pattern, part, value, out);
    }
    return OWED_OK;
}
