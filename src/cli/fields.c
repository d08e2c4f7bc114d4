/* SPDX-License-Identifier: MIT
 *
 * fields.c - a table of shapes: how each is written in JSON and in a cell.
 */
#include "cli/fields.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/moment.h"

#define CELLS_MAX_BYTES ((size_t)256 * 1024 * 1024)
#define UID_BYTES 16
#define FIELDS_MAX 32

typedef void (*write_member)(struct buf *text, const void *member);

static void
cell_int(struct buf *text, const void *member)
{
    buf_int(text, *(const int64_t *)member);
}

static void
cell_int32(struct buf *text, const void *member)
{
    buf_int(text, *(const int32_t *)member);
}

static void
cell_text(struct buf *text, const void *member)
{
    buf_puts(text, or_empty(*(const char *const *)member));
}

static void
cell_words(struct buf *text, const void *member)
{
    struct str json = str_of(or_empty(*(const char *const *)member));
    bool is_list = json_check(json, 2, NULL) == OWED_OK && json_root(json).type == JSON_ARRAY;
    if (!is_list || str_is(json, "[]"))
        buf_puts(text, is_list ? "-" : json.p);
    struct json word;
    struct json_walk walk = json_walk(is_list ? json_root(json) : (struct json){0});
    for (const char *before = ""; is_list && json_next(&walk, NULL, &word); before = ", ") {
        size_t quote = word.type == JSON_STRING ? 1 : 0;
        buf_puts(text, before);
        buf_str(text, (struct str){word.text.p + quote, word.text.len - 2 * quote});
    }
}

static void
cell_time(struct buf *text, const void *member)
{
    char moment[MOMENT_BYTES];
    buf_puts(text, moment_write(*(const int64_t *)member, moment));
}

static void
cell_wait(struct buf *text, const void *member)
{
    char wait[MOMENT_BYTES];
    buf_puts(text, duration_rough(*(const int64_t *)member, wait));
}

static void
json_age(struct buf *json, const void *member)
{
    buf_int(json, *(const int64_t *)member / US_PER_SECOND);
}

static void
cell_bool(struct buf *text, const void *member)
{
    buf_puts(text, *(const bool *)member ? "yes" : "no");
}

static void
json_bool(struct buf *json, const void *member)
{
    buf_puts(json, *(const bool *)member ? "true" : "false");
}

static void
cell_uid(struct buf *text, const void *member)
{
    hex_write(text, member, UID_BYTES);
}

static void
cell_payload(struct buf *text, const void *member)
{
    buf_str(text, *(const struct str *)member);
}

static void
json_text(struct buf *json, const void *member)
{
    json_write_string(json, str_of(*(const char *const *)member));
}

static void
json_time(struct buf *json, const void *member)
{
    char moment[MOMENT_BYTES];
    json_write_string(json, str_of(moment_write(*(const int64_t *)member, moment)));
}

static void
json_uid(struct buf *json, const void *member)
{
    buf_putc(json, '"');
    hex_write(json, member, UID_BYTES);
    buf_putc(json, '"');
}

void
json_raw(struct buf *json, struct str text)
{
    if (json_check(text, LIMIT_PAYLOAD_DEPTH, NULL) == OWED_OK)
        buf_str(json, text);
    else
        json_write_string(json, text);
}

static void
json_json(struct buf *json, const void *member)
{
    json_raw(json, str_of(*(const char *const *)member));
}

static void
json_payload(struct buf *json, const void *member)
{
    json_raw(json, *(const struct str *)member);
}

static bool
none_int(const void *member)
{
    return *(const int64_t *)member == 0;
}

static bool
none_age(const void *member)
{
    return *(const int64_t *)member < 0;
}

static bool
none_int32(const void *member)
{
    return *(const int32_t *)member == 0;
}

static bool
none_text(const void *member)
{
    return is_empty(*(const char *const *)member);
}

static bool
none_payload(const void *member)
{
    return ((const struct str *)member)->len == 0;
}

static const struct {
    bool (*is_none)(const void *member); // NULL: there always is one
    write_member cell;
    write_member json;
    bool right; // aligned
} shapes[SHAPE_COUNT] = {
    [SHAPE_INT] = {NULL, cell_int, cell_int, true},
    [SHAPE_INT32] = {NULL, cell_int32, cell_int32, true},
    [SHAPE_ID] = {none_int, cell_int, cell_int, true},
    [SHAPE_CODE] = {none_int32, cell_int32, cell_int32, true},
    [SHAPE_TEXT] = {NULL, cell_text, json_text, false},
    [SHAPE_KEY] = {none_text, cell_text, json_text, false},
    [SHAPE_TIME] = {none_int, cell_time, json_time, false},
    [SHAPE_WAIT] = {NULL, cell_wait, cell_int, true},
    [SHAPE_AGE] = {none_age, cell_wait, json_age, true},
    [SHAPE_BOOL] = {NULL, cell_bool, json_bool, false},
    [SHAPE_UID] = {NULL, cell_uid, json_uid, false},
    [SHAPE_WORDS] = {none_text, cell_words, json_json, false},
    [SHAPE_JSON] = {none_text, cell_text, json_json, false},
    [SHAPE_PAYLOAD] = {none_payload, cell_payload, json_payload, false},
};

static const void *
member_of(const struct field *field, const void *row)
{
    return (const char *)row + field->offset;
}

static bool
is_none(const struct field *field, const void *row)
{
    return shapes[field->shape].is_none != NULL &&
        shapes[field->shape].is_none(member_of(field, row));
}

void
fields_members(const struct field *fields, const void *row, struct buf *json)
{
    for (const struct field *field = fields; field->name != NULL; field++) {
        if (field != fields)
            buf_putc(json, ',');
        json_write_string(json, str_of(field->name));
        buf_putc(json, ':');
        if (is_none(field, row))
            buf_puts(json, "null");
        else
            shapes[field->shape].json(json, member_of(field, row));
    }
}

void
fields_json(const struct field *fields, const void *row, struct buf *json)
{
    buf_putc(json, '{');
    fields_members(fields, row, json);
    buf_putc(json, '}');
}

void
fields_lines(
    const struct field *fields, const void *rows, size_t count, size_t size, struct out *out)
{
    for (size_t i = 0; i < count && !out_gone(out); i++) {
        fields_json(fields, (const char *)rows + i * size, &out->text);
        out_puts(out, "\n");
    }
}

/* --- aligned columns --- */

static bool
continues(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80; // a UTF-8 byte that begins no character
}

static size_t
characters(struct str text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.len; i++)
        count += !continues(text.p[i]);
    return count;
}

/* tame makes control characters blank and cuts at width characters, from the byte start on. */
static void
tame(struct buf *text, size_t start, size_t width)
{
    size_t count = 0;
    for (size_t i = start; i < text->len; i++) {
        unsigned char c = (unsigned char)text->p[i];
        if (c < 0x20 || c == 0x7f)
            text->p[i] = ' ';
        count += !continues(text->p[i]);
        if (width == 0 || count <= width)
            continue;
        text->len = i;
        buf_puts(text, "...");
        return;
    }
}

static void
write_cell(const struct field *field, const void *row, struct buf *text)
{
    size_t start = text->len;
    if (is_none(field, row)) {
        buf_putc(text, '-');
        return;
    }
    shapes[field->shape].cell(text, member_of(field, row));
    tame(text, start, field->width);
}

static void
pad(struct buf *text, size_t count)
{
    while (count-- > 0)
        buf_putc(text, ' ');
}

static void
put_cell(struct buf *line, const struct field *field, struct str cell, size_t width, bool last)
{
    size_t blanks = width - characters(cell);
    if (shapes[field->shape].right)
        pad(line, blanks);
    buf_str(line, cell);
    if (!last && !shapes[field->shape].right)
        pad(line, blanks);
    buf_puts(line, last ? "\n" : "  ");
}

static size_t
pick_columns(const struct field *fields, const struct field *columns[FIELDS_MAX])
{
    size_t count = 0;
    for (const struct field *field = fields; field->name != NULL && count < FIELDS_MAX; field++) {
        if (field->head != NULL)
            columns[count++] = field;
    }
    return count;
}

struct sheet {
    const struct field *columns[FIELDS_MAX];
    size_t widths[FIELDS_MAX];
    size_t column_count;
    struct buf cells; // each ended by a NUL
};

static void
sheet_done(struct sheet *sheet)
{
    buf_done(&sheet->cells);
}

static void
measure(struct sheet *sheet, size_t column, size_t start)
{
    size_t width = characters((struct str){sheet->cells.p + start, sheet->cells.len - start});
    if (width > sheet->widths[column])
        sheet->widths[column] = width;
    buf_putc(&sheet->cells, '\0');
}

static void
fill(struct sheet *sheet, const void *rows, size_t count, size_t size)
{
    for (size_t c = 0; c < sheet->column_count; c++) {
        size_t start = sheet->cells.len;
        buf_puts(&sheet->cells, sheet->columns[c]->head);
        measure(sheet, c, start);
    }
    for (size_t i = 0; i < count * sheet->column_count; i++) {
        size_t column = i % sheet->column_count;
        size_t start = sheet->cells.len;
        const void *row = (const char *)rows + i / sheet->column_count * size;
        write_cell(sheet->columns[column], row, &sheet->cells);
        measure(sheet, column, start);
    }
}

void
fields_table(
    const struct field *fields, const void *rows, size_t count, size_t size, struct out *out)
{
    CLEANUP(sheet_done) struct sheet sheet = {0};
    sheet.column_count = pick_columns(fields, sheet.columns);
    buf_init(&sheet.cells, CELLS_MAX_BYTES);
    fill(&sheet, rows, count, size);
    if (sheet.cells.failed) {
        out->text.failed = true;
        return;
    }
    const char *p = buf_text(&sheet.cells);
    for (size_t i = 0; i < (count + 1) * sheet.column_count && !out_gone(out); i++) {
        size_t column = i % sheet.column_count;
        struct str cell = str_of(p);
        put_cell(&out->text, sheet.columns[column], cell, sheet.widths[column],
            column + 1 == sheet.column_count);
        out_step(out);
        p += cell.len + 1;
    }
}

void
fields_page(const struct field *fields, const void *row, struct out *out)
{
    size_t width = 0;
    for (const struct field *field = fields; field->name != NULL; field++) {
        if (strlen(field->name) > width)
            width = strlen(field->name);
    }
    for (const struct field *field = fields; field->name != NULL; field++) {
        if (is_none(field, row))
            continue;
        buf_puts(&out->text, field->name);
        pad(&out->text, width + 2 - strlen(field->name));
        size_t start = out->text.len;
        shapes[field->shape].cell(&out->text, member_of(field, row));
        tame(&out->text, start, 0);
        buf_putc(&out->text, '\n');
    }
    out_step(out);
}
