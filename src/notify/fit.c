/* SPDX-License-Identifier: MIT
 *
 * fit.c - fitting a text into a channel's limit.
 */
#include "notify/fit.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/utf8.h"
#include "notify/fit_url.h"
#include "notify/graphemes.h"
#include "notify/sms_text.h"

#define ELLIPSIS "\xe2\x80\xa6"
#define ELLIPSIS_GSM "..." // the other one is not in its alphabet

static const char *const unit_words[] = {
    [FIT_BYTES] = "bytes",
    [FIT_CHARACTERS] = "characters",
    [FIT_UTF16] = "UTF-16 units",
    [FIT_SEGMENTS] = "SMS segments",
};

/* What has been counted of a text so far. */
struct gauge {
    enum fit_unit unit;
    size_t used; // but for segments
    struct sms_count sms;
};

/* A text that is too long, and where it may be divided. */
struct work {
    const struct fit *fit;
    struct str text;
    bool *ends; // [i]: before byte i, and at its end
};

/* A part of a text, from byte to byte. */
struct span {
    size_t start, end;
};

owed_status
fit_read(const struct options *values, struct fit *fit, owed_error *err)
{
    static const char *const words[] = {
        [FIT_REFUSE] = "refuse", [FIT_CUT] = "cut", [FIT_SPLIT] = "split"};
    const char *word = options_text(values, "too-long");
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i], word) == 0) {
            fit->policy = (enum fit_policy)i;
            return OWED_OK;
        }
    return fail(err, OWED_CONFIG, "too-long is refuse, cut or split, not \"%.40s\"", word);
}

/* --- counting --- */

static void
gauge_add(struct gauge *gauge, uint32_t point, size_t bytes)
{
    const size_t sizes[] = {
        [FIT_BYTES] = bytes, [FIT_CHARACTERS] = 1, [FIT_UTF16] = point > 0xffff ? 2 : 1};
    if (gauge->unit == FIT_SEGMENTS)
        sms_count_add(&gauge->sms, point);
    else
        gauge->used += sizes[gauge->unit];
}

static void
gauge_add_text(struct gauge *gauge, struct str text)
{
    const char *end = text.p + text.len;
    for (const char *p = text.p; p < end;) {
        uint32_t point;
        size_t len = utf8_decode(p, end, &point);
        gauge_add(gauge, point, len);
        p += len;
    }
}

static size_t
gauge_units(const struct gauge *gauge)
{
    return gauge->unit == FIT_SEGMENTS ? sms_count_segments(&gauge->sms) : gauge->used;
}

static size_t
units_of(const struct work *work, struct span span)
{
    struct gauge gauge = {.unit = work->fit->unit};
    gauge_add_text(&gauge, (struct str){work->text.p + span.start, span.end - span.start});
    return gauge_units(&gauge);
}

/* has_room tells whether a mark that the text was cut still fits. */
static bool
has_room(const struct fit *fit, const struct gauge *gauge)
{
    struct gauge with = *gauge;
    bool is_gsm = gauge->unit == FIT_SEGMENTS && !gauge->sms.is_utf16;
    gauge_add_text(&with, str_of(is_gsm ? ELLIPSIS_GSM : ELLIPSIS));
    return gauge_units(&with) <= fit->most;
}

/* --- where it may be divided --- */

static owed_status
refuse_part(const struct work *work, const char *part, struct span span, owed_error *err)
{
    return fail(err, OWED_LIMIT,
        "the text has %s of %zu %s, the channel takes %zu, and no such thing is ever divided", part,
        units_of(work, span), unit_words[work->fit->unit], work->fit->most);
}

/* keep_urls clears what would divide a URL, and refuses one that fits into no piece. */
static owed_status
keep_urls(struct work *work, owed_error *err)
{
    struct span url = {0, 0};
    while (fit_url_next(work->text, url.end, &url.start, &url.end)) {
        if (units_of(work, url) > work->fit->most)
            return refuse_part(work, "a URL", url, err);
        memset(work->ends + url.start + 1, 0, url.end - url.start - 1);
    }
    return OWED_OK;
}

static bool
is_blank(const struct work *work, struct span span)
{
    for (size_t i = span.start; i < span.end; i++)
        if (!is_space(work->text.p[i]))
            return false;
    return true;
}

/* reach says where the piece that begins at start ends: after a word that ends in its last third, else as late as can
 * be; start, where not even the first character fits. */
static size_t
reach(const struct work *work, size_t start)
{
    const struct fit *fit = work->fit;
    struct gauge gauge = {.unit = fit->unit};
    size_t last = start, word = start, at = start;
    while (at < work->text.len) {
        uint32_t point;
        const char *p = work->text.p + at;
        size_t len = utf8_decode(p, work->text.p + work->text.len, &point);
        gauge_add(&gauge, point, len);
        if (gauge_units(&gauge) > fit->most)
            break;
        at += len;
        if (!work->ends[at] || (fit->policy == FIT_CUT && !has_room(fit, &gauge)))
            continue;
        last = at;
        if (is_space(work->text.p[at - 1]) || is_space(work->text.p[at]))
            word = at;
    }
    if (last == work->text.len)
        return last;
    return (word - start) * 3 >= (last - start) * 2 ? word : last;
}

static size_t
next_end(const struct work *work, size_t start)
{
    size_t end = start + 1;
    while (!work->ends[end])
        end++;
    return end;
}

/* --- pieces --- */

static owed_status
keep_pieces(struct fit_pieces *pieces, const struct work *work, const struct span *spans,
    size_t count, const char *mark, owed_error *err)
{
    struct buf buf;
    buf_init(&buf, SIZE_MAX);
    for (size_t i = 0; i < count; i++) {
        buf_add(&buf, work->text.p + spans[i].start, spans[i].end - spans[i].start);
        buf_puts(&buf, mark);
        buf_putc(&buf, '\0');
    }
    if (buf.failed) {
        buf_done(&buf);
        return fail_memory(err);
    }
    *pieces = (struct fit_pieces){.memory = buf.p};
    const char *p = buf.p;
    for (; pieces->count < count; p += strlen(p) + 1)
        pieces->texts[pieces->count++] = p;
    return OWED_OK;
}

static owed_status
split(const struct work *work, struct fit_pieces *pieces, owed_error *err)
{
    struct span spans[FIT_PIECES];
    size_t count = 0;
    for (struct span span = {0, 0}; span.start < work->text.len; span.start = span.end) {
        span.end = reach(work, span.start);
        if (span.end == span.start)
            return refuse_part(
                work, "a character", (struct span){span.start, next_end(work, span.start)}, err);
        if (is_blank(work, span))
            continue;
        if (count == FIT_PIECES)
            return fail(err, OWED_LIMIT,
                "the text makes more than %d messages of %zu %s: that is more than anybody reads",
                FIT_PIECES, work->fit->most, unit_words[work->fit->unit]);
        spans[count++] = span;
    }
    if (count == 0)
        return fail(err, OWED_LIMIT, "the text is too long, and of white space alone");
    return keep_pieces(pieces, work, spans, count, "", err);
}

static owed_status
cut(const struct work *work, struct fit_pieces *pieces, owed_error *err)
{
    struct span span = {0, reach(work, 0)};
    while (span.end > 0) {
        size_t start = span.end - 1;
        while (start > 0 && !work->ends[start])
            start--;
        if (!is_blank(work, (struct span){start, span.end}))
            break;
        span.end = start;
    }
    if (span.end == 0)
        return fail(err, OWED_LIMIT,
            "nothing would be left of the text if it were cut to %zu %s: it begins with what cannot be divided",
            work->fit->most, unit_words[work->fit->unit]);
    struct gauge kept = {.unit = work->fit->unit};
    gauge_add_text(&kept, (struct str){work->text.p, span.end});
    bool is_gsm = kept.unit == FIT_SEGMENTS && !kept.sms.is_utf16;
    return keep_pieces(pieces, work, &span, 1, is_gsm ? ELLIPSIS_GSM : ELLIPSIS, err);
}

static owed_status
divide(struct work *work, struct fit_pieces *pieces, owed_error *err)
{
    owed_status status = graphemes_mark(work->text, work->ends, err);
    if (status == OWED_OK)
        status = keep_urls(work, err);
    if (status != OWED_OK)
        return status;
    return work->fit->policy == FIT_CUT ? cut(work, pieces, err) : split(work, pieces, err);
}

owed_status
fit_text(const struct fit *fit, const char *text, struct fit_pieces *ret_pieces, owed_error *err)
{
    struct work work = {.fit = fit, .text = str_of(text)};
    struct span whole = {0, work.text.len};
    *ret_pieces = (struct fit_pieces){0};
    size_t units = units_of(&work, whole);
    if (units <= fit->most)
        return keep_pieces(ret_pieces, &work, &whole, 1, "", err);
    if (fit->policy == FIT_REFUSE)
        return fail(err, OWED_LIMIT,
            "the text has %zu %s, and the channel takes %zu; too-long = cut or split makes it fit",
            units, unit_words[fit->unit], fit->most);
    work.ends = calloc(work.text.len + 1, sizeof *work.ends);
    if (work.ends == NULL)
        return fail_memory(err);
    owed_status status = divide(&work, ret_pieces, err);
    free(work.ends);
    return status;
}

void
fit_pieces_done(struct fit_pieces *pieces)
{
    free(pieces->memory);
    *pieces = (struct fit_pieces){0};
}
