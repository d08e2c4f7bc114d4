/* SPDX-License-Identifier: MIT
 *
 * template.h - texts with declared, typed variables, in several languages.
 *
 * A template is checked whole when it is made: each placeholder names a declared variable, each
 * variable is used, each format fits its variable's kind. What is left to go wrong when it is rendered
 * is the values: one that is missing, one that nobody declared, one of the wrong kind.
 *
 *   {name}         the value
 *   {total:.2f}    the value, formatted
 *   {{ and }}      braces
 *
 * A format is [[fill]align][sign][0][width][grouping][.precision][type], as in Python's "Format
 * Specification Mini-Language", of which it is this part:
 *
 *   fill, align    any character, and < left, > right, ^ centred, = after the sign (numbers alone)
 *   sign           + always, - for negative numbers (so it is anyway), or a space in place of +
 *   0              numbers filled up with zeros after the sign
 *   width          in characters, 1 to 1000
 *   grouping       , or _ between thousands
 *   precision      0 to 100: digits after the point; of a text, the most characters that are kept
 *   type           text, bool: s. Whole numbers: d, x, X, o, b, and those of doubles. Doubles: f, F, e,
 *                  E, g, G, %. Decimals: f (rounded half to even, digit by digit)
 *
 * A bool reads true or false; a double without a type is the shortest text that reads back the same,
 * and has a point or an exponent; a decimal is as it came.
 */
#ifndef OWED_TEMPLATE_H
#define OWED_TEMPLATE_H

#include <owed/event.h>

OWED_BEGIN_DECLS

/* One declared variable; a list ends with a NULL name. Names are ASCII letters, digits and _, no digit
 * first, up to 64 characters. */
typedef struct owed_variable {
    const char *name;
    owed_kind kind; /* TEXT (0 says so too), BOOL, INT64, DOUBLE or DECIMAL */
} owed_variable;

/* One value of a context; a list ends with a NULL name. */
typedef struct owed_value {
    const char *name;
    owed_kind kind; /* as above */
    union {
        bool flag;
        int64_t integer;
        double real;
        const char *text; /* TEXT and DECIMAL */
    } is;
} owed_value;

#define OWED_VALUE_TEXT(name_, text_) \
    { \
        .name = (name_), .kind = OWED_KIND_TEXT, .is = {.text = (text_) } \
    }
#define OWED_VALUE_BOOL(name_, flag_) \
    { \
        .name = (name_), .kind = OWED_KIND_BOOL, .is = {.flag = (flag_) } \
    }
#define OWED_VALUE_INT64(name_, integer_) \
    { \
        .name = (name_), .kind = OWED_KIND_INT64, .is = {.integer = (integer_) } \
    }
#define OWED_VALUE_DOUBLE(name_, real_) \
    { \
        .name = (name_), .kind = OWED_KIND_DOUBLE, .is = {.real = (real_) } \
    }
#define OWED_VALUE_DECIMAL(name_, text_) \
    { \
        .name = (name_), .kind = OWED_KIND_DECIMAL, .is = {.text = (text_) } \
    }
#define OWED_VALUES_END \
    { \
        .name = NULL \
    }

/* What a template is made of. Variables are shared by its parts: each must be used in one of them. */
typedef struct owed_template_source {
    const char *name;               /* up to 255 bytes */
    const owed_variable *variables; /* NULL: none */
    const char *subject;            /* of a mail, one line; NULL: none */
    const char *text;               /* required */
    const char *html; /* NULL: none; values are escaped as HTML 5 wants it in text and in
                                       quoted attributes, what the template itself says is not */
} owed_template_source;

/* The same in one language; a list ends with a NULL locale. */
typedef struct owed_template_variant {
    const char *locale; /* a language tag such as de, pt-BR or zh-Hant-TW (RFC 5646) */
    owed_template_source source;
} owed_template_variant;

/* A template, plain or localised. Unchanging once made: any number of threads may render it. */
typedef struct owed_template owed_template;

/* What came of rendering: memory of its own, given back by owed_rendered_done. */
typedef struct owed_rendered {
    char *name;    /* of the variant's source */
    char *locale;  /* the variant's, normalised; NULL for a plain template */
    char *subject; /* NULL where the template has none, as html */
    char *text;
    char *html;
} owed_rendered;

/* owed_template_new makes a template. The source is copied; the caller frees the template.
 * TEMPLATE: "order_confirmed, text, line 2: ..." says what cannot be: a placeholder that is not
 * declared, a variable that is not used or declared twice, {} or {0}, {a.b} or {a[0]}, a format in a
 * format, a conversion, an unfit format, a brace alone, a name that is none, a kind that is none.
 * LIMIT: over 1 MiB a part or 256 variables. NOMEM. */
OWED_API owed_status owed_template_new(
    const owed_template_source *source, owed_template **ret_template, owed_error *err) OWED_MUSTUSE;

/* owed_template_localized_new makes one of several languages. default_locale NULL: the first one.
 * MALFORMED_LOCALE; LOCALE: no variants, or two for one language; MISSING_LOCALE: the default is not among
 * them; LOCALE_MISMATCH: they declare different variables or kinds (in any order); and as above. */
OWED_API owed_status owed_template_localized_new(const char *name,
    const owed_template_variant *variants, const char *default_locale, owed_template **ret_template,
    owed_error *err) OWED_MUSTUSE;

OWED_API void owed_template_free(owed_template *tmpl);

/* owed_template_name gives the name it was made with; it lives as long as the template. */
OWED_API const char *owed_template_name(const owed_template *tmpl);

/* owed_template_render renders all parts. locale (NULL: none wished) is looked at only where the
 * template is localised: the longest variant of which it is a refinement (zh-Hant-TW takes zh-Hant,
 * then zh), then the default; pt never takes pt-BR.
 * In this order: MALFORMED_LOCALE; MISSING_VARIABLE and UNKNOWN_VARIABLE, which name all of them, sorted; VARIABLE_TYPE
 * (a whole number is no double, a bool no number); LIMIT: over 4 MiB; NOMEM. */
OWED_API owed_status owed_template_render(const owed_template *tmpl, const char *locale,
    const owed_value *values, owed_rendered *ret_rendered, owed_error *err) OWED_MUSTUSE;

/* owed_template_render_json takes the values from a JSON object (RFC 8259), which knows one kind of
 * number: a double may be written 59, a whole number not 59.5; a decimal is a string or a number, taken
 * digit by digit. Besides: INVALID: no JSON, or no object. */
OWED_API owed_status owed_template_render_json(const owed_template *tmpl, const char *locale,
    const char *context, owed_rendered *ret_rendered, owed_error *err) OWED_MUSTUSE;

OWED_API void owed_rendered_done(owed_rendered *rendered);

/* owed_locale_normalize writes a language tag as RFC 5646 wants it (pt_br: pt-BR) into ret_tag, which
 * holds 64 bytes. MALFORMED_LOCALE: a language of 2 or 3 letters, then subtags of 1 to 8 letters and
 * digits, is what would be right. */
OWED_API owed_status owed_locale_normalize(const char *locale, char *ret_tag, owed_error *err)
    OWED_MUSTUSE;

OWED_END_DECLS

#endif
