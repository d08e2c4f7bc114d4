/* SPDX-License-Identifier: MIT
 *
 * format.c - what a format says, and whether it fits the kind of its values.
 */
#include "notify/format.h"

#include <string.h>

#include "base/utf8.h"

/* What may stand in a format of a kind. */
struct rule {
    const char *types;
    bool is_number;
    const char *unfit_type; // the sentence
};

static const struct rule *
rule_of(owed_kind kind)
{
    static const struct rule rules[] = {
        [OWED_KIND_END] = {"s", false, "a text takes no type but s"},
        [OWED_KIND_TEXT] = {"s", false, "a text takes no type but s"},
        [OWED_KIND_BOOL] = {"s", false, "a bool takes no type but s"},
        [OWED_KIND_INT64] = {"dxXobfFeEgG%", true,
            "a whole number takes d, x, X, o, b, f, F, e, E, g, G or %"},
        [OWED_KIND_DOUBLE] = {"fFeEgG%", true, "a double takes f, F, e, E, g, G or %"},
        [OWED_KIND_DECIMAL] = {"f", true, "a decimal takes no type but f"},
    };
    return &rules[kind];
}

static bool
take(struct str *rest, const char *allowed, char *ret_found)
{
    if (rest->len == 0 || rest->p[0] == '\0' || strchr(allowed, rest->p[0]) == NULL)
        return false;
    *ret_found = rest->p[0];
    *rest = str_skip(*rest, 1);
    return true;
}

static bool
is_align(struct str rest, size_t at)
{
    return rest.len > at && rest.p[at] != '\0' && strchr("<>^=", rest.p[at]) != NULL;
}

static void
take_align(struct str *rest, struct format *format)
{
    size_t fill = rest->len == 0 ? 0 : utf8_length(rest->p, rest->p + rest->len);
    if (fill > 0 && is_align(*rest, fill)) {
        format->fill = (struct str){rest->p, fill};
        *rest = str_skip(*rest, fill);
    }
    take(rest, "<>^=", &format->align);
}

/* take_number reads digits; -1: there are none; a number above max stays above it. */
static int
take_number(struct str *rest, int max)
{
    int number = -1;
    while (rest->len > 0 && is_digit(rest->p[0])) {
        if (number <= max)
            number = (number < 0 ? 0 : number) * 10 + (rest->p[0] - '0');
        *rest = str_skip(*rest, 1);
    }
    return number;
}

static const char *
take_widths(struct str *rest, struct format *format)
{
    char zero = 0, point;
    if (take(rest, "0", &zero)) {
        if (format->align != 0)
            return "0 stands for an alignment, and there is one already";
        format->fill = STR("0");
        format->align = '=';
    }
    int width = take_number(rest, FORMAT_WIDTH_MAX);
    if (width > FORMAT_WIDTH_MAX || width == 0)
        return "a width is 1 to 1000";
    if (zero != 0 && width < 0)
        return "0 needs a width after it";
    format->width = width < 0 ? 0 : width;
    take(rest, ",_", &format->group);
    if (zero != 0 && format->group != 0)
        return "0 and a grouping do not go together";
    if (!take(rest, ".", &point))
        return NULL;
    format->precision = take_number(rest, FORMAT_PRECISION_MAX);
    if (format->precision < 0)
        return "a precision has digits after its point";
    return format->precision > FORMAT_PRECISION_MAX ? "a precision is 0 to 100" : NULL;
}

static const char *
unfit(const struct format *format, owed_kind kind)
{
    const struct rule *rule = rule_of(kind);
    if (format->type != 0 && strchr(rule->types, format->type) == NULL)
        return rule->unfit_type;
    if (!rule->is_number && (format->sign != 0 || format->group != 0 || format->align == '='))
        return "a sign, a grouping, = and 0 are for numbers";
    if (kind == OWED_KIND_BOOL && format->precision >= 0)
        return "a bool has no precision";
    bool is_whole =
        kind == OWED_KIND_INT64 && (format->type == 0 || strchr("dxXob", format->type) != NULL);
    if (is_whole && format->precision >= 0)
        return "a whole number has no precision, but with f, e, g or %";
    if (kind == OWED_KIND_DOUBLE && format->type == 0 && format->precision >= 0)
        return "a precision needs a type after it, as in .2f";
    if (kind == OWED_KIND_DECIMAL && (format->precision >= 0) != (format->type == 'f'))
        return "a decimal takes a precision and f together, as in .2f";
    if (format->group == ',' && format->type != 0 && strchr("xXob", format->type) != NULL)
        return "thousands are grouped by _ alone where digits are not decimal";
    return NULL;
}

const char *
format_read(struct str text, owed_kind kind, struct format *ret_format)
{
    struct format format = {.precision = -1};
    struct str rest = text;
    take_align(&rest, &format);
    take(&rest, "+- ", &format.sign);
    const char *why = take_widths(&rest, &format);
    if (why != NULL)
        return why;
    if (rest.len == 1)
        take(&rest, "sdxXobfFeEgG%", &format.type);
    if (rest.len > 0)
        return "a format is [[fill]align][sign][0][width][grouping][.precision][type]";
    *ret_format = format;
    return unfit(&format, kind);
}

bool
format_is_decimal(const char *text)
{
    if (text == NULL)
        return false;
    text += *text == '-';
    size_t whole = strspn(text, "0123456789");
    if (whole == 0 || text[whole] == '\0')
        return whole > 0;
    size_t part = strspn(text + whole + 1, "0123456789");
    return text[whole] == '.' && part > 0 && text[whole + 1 + part] == '\0';
}
