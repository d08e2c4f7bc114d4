/* SPDX-License-Identifier: MIT
 *
 * template_render.c - pieces and values become texts.
 */
#include "notify/template.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "notify/locale.h"
#include "notify/receipt.h"

/* --- how a value is written into a part --- */

static void
add_plain(struct str text, struct buf *out)
{
    buf_str(out, text);
}

/* A subject is one line: what a value brings of line ends and other controls becomes a space. */
static void
add_to_line(struct str text, struct buf *out)
{
    for (size_t i = 0; i < text.len; i++) {
        bool is_control = (unsigned char)text.p[i] < 0x20 || text.p[i] == 0x7f;
        buf_putc(out, is_control ? ' ' : text.p[i]);
    }
}

static void
add_html(struct str text, struct buf *out)
{
    static const char *const escapes[] = {
        ['&'] = "&amp;",
        ['<'] = "&lt;",
        ['>'] = "&gt;",
        ['"'] = "&quot;",
        ['\''] = "&#39;",
    };
    for (size_t i = 0; i < text.len; i++) {
        size_t c = (unsigned char)text.p[i];
        const char *escape = c < sizeof escapes / sizeof escapes[0] ? escapes[c] : NULL;
        if (escape != NULL)
            buf_puts(out, escape);
        else
            buf_putc(out, text.p[i]);
    }
}

static void (*const writers[PART_COUNT])(struct str text, struct buf *out) = {
    [PART_SUBJECT] = add_to_line,
    [PART_TEXT] = add_plain,
    [PART_HTML] = add_html,
};

/* --- a part, and all of them --- */

static owed_status
render_part(const struct variant *variant, enum part_kind kind, const owed_value **values,
    char **ret_text, owed_error *err)
{
    const struct part *part = &variant->parts[kind];
    struct buf out CLEANUP(buf_done), value CLEANUP(buf_done);
    buf_init(&out, LIMIT_RENDERED_BYTES);
    buf_init(&value, LIMIT_RENDERED_BYTES);
    for (size_t i = 0; i < part->count && !out.failed; i++) {
        const struct piece *piece = &part->pieces[i];
        if (piece->variable < 0) {
            buf_str(&out, piece->text);
            continue;
        }
        buf_clear(&value);
        format_write(&piece->format, values[piece->variable], &value);
        writers[kind](buf_view(&value), &out);
        out.failed |= value.failed;
    }
    if (out.failed)
        return fail(err, OWED_LIMIT, "%s, %s: over %zu bytes once rendered, or memory is out",
            variant->name, part_names[kind], LIMIT_RENDERED_BYTES);
    *ret_text = strdup(buf_text(&out));
    return *ret_text == NULL ? fail_memory(err) : OWED_OK;
}

static owed_status
render_variant(const struct variant *variant, const owed_value *values, struct arena *arena,
    owed_rendered *ret_rendered, owed_error *err)
{
    owed_rendered rendered CLEANUP(owed_rendered_done) = {0};
    char **texts[PART_COUNT] = {&rendered.subject, &rendered.text, &rendered.html};
    const owed_value **found;
    owed_status status = values_match(variant, values, arena, &found, err);
    for (int kind = 0; kind < PART_COUNT && status == OWED_OK; kind++)
        if (variant->parts[kind].is_there)
            status = render_part(variant, (enum part_kind)kind, found, texts[kind], err);
    if (status != OWED_OK)
        return status;
    if (!copy_text(variant->name, &rendered.name) || !copy_text(variant->locale, &rendered.locale))
        return fail_memory(err);
    *ret_rendered = rendered;
    rendered = (owed_rendered){0};
    return OWED_OK;
}

/* --- which variant --- */

static owed_status
find_variant(const owed_template *tmpl, const char *locale, const struct variant **ret_variant,
    owed_error *err)
{
    char tag[LOCALE_BYTES];
    *ret_variant = &tmpl->variants[tmpl->fallback];
    if (locale == NULL || tmpl->variants[0].locale == NULL)
        return OWED_OK;
    owed_status status = owed_locale_normalize(locale, tag, err);
    if (status != OWED_OK)
        return status;
    do {
        for (size_t i = 0; i < tmpl->count; i++) {
            if (strcmp(tmpl->variants[i].locale, tag) == 0) {
                *ret_variant = &tmpl->variants[i];
                return OWED_OK;
            }
        }
    } while (locale_shorten(tag));
    return OWED_OK;
}

owed_status
owed_template_render(const owed_template *tmpl, const char *locale, const owed_value *values,
    owed_rendered *ret_rendered, owed_error *err)
{
    const struct variant *variant;
    owed_status status = find_variant(tmpl, locale, &variant, err);
    if (status != OWED_OK)
        return status;
    struct arena arena CLEANUP(arena_done);
    arena_init(&arena, 0);
    return render_variant(variant, values, &arena, ret_rendered, err);
}

owed_status
owed_template_render_json(const owed_template *tmpl, const char *locale, const char *context,
    owed_rendered *ret_rendered, owed_error *err)
{
    const struct variant *variant;
    owed_status status = find_variant(tmpl, locale, &variant, err);
    if (status != OWED_OK)
        return status;
    struct arena arena CLEANUP(arena_done);
    arena_init(&arena, 0);
    owed_value *values;
    status = values_from_json(variant, context, &arena, &values, err);
    if (status != OWED_OK)
        return status;
    return render_variant(variant, values, &arena, ret_rendered, err);
}

void
owed_rendered_done(owed_rendered *rendered)
{
    if (rendered == NULL)
        return;
    free(rendered->name);
    free(rendered->locale);
    free(rendered->subject);
    free(rendered->text);
    free(rendered->html);
    *rendered = (owed_rendered){0};
}
