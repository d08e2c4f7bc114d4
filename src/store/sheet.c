/* SPDX-License-Identifier: MIT
 *
 * sheet.c - rows of arguments, as they are or as JSON.
 */
#include "store/sheet.h"

#include "base/cleanup.h"
#include "base/digest.h"
#include "base/json.h"

void
sheet_init(struct sheet *sheet, enum stmt rows, enum stmt json, size_t columns)
{
    *sheet = (struct sheet){.rows = rows, .json = json, .columns = columns};
    buf_init(&sheet->values, SIZE_MAX);
}

void
sheet_done(struct sheet *sheet)
{
    buf_done(&sheet->values);
}

void
sheet_add(struct sheet *sheet, const struct value *row)
{
    buf_add(&sheet->values, row, sheet->columns * sizeof *row);
    sheet->count++;
}

static void
add_value(struct buf *json, const struct value *value)
{
    switch (value->type) {
    case VALUE_INT:
    case VALUE_TIME:
        buf_int(json, value->integer);
        return;
    case VALUE_BLOB:
        buf_putc(json, '"');
        hex_write(json, (const uint8_t *)value->bytes.p, value->bytes.len);
        buf_putc(json, '"');
        return;
    case VALUE_TEXT:
        json_write_string(json, value->bytes);
        return;
    case VALUE_NULL:
    case VALUE_ARRAY:
        buf_puts(json, "null");
        return;
    }
}

static owed_status
write_json(struct sheet *sheet, struct db *db, owed_error *err)
{
    CLEANUP(buf_done) struct buf json;
    const struct value *values = (const void *)sheet->values.p;
    size_t count = sheet->count * sheet->columns;
    buf_init(&json, JSON_ARGUMENT_BYTES);
    for (size_t i = 0; i < count; i++) {
        bool is_first = i % sheet->columns == 0;
        buf_puts(&json, i == 0 ? "[[" : is_first ? "],[" : ",");
        add_value(&json, &values[i]);
    }
    buf_puts(&json, "]]");
    return json.failed ? fail_memory(err)
                       : change(db, sheet->json, ARGS(V_STR(buf_view(&json))), NULL, err);
}

static owed_status
write_rows(struct sheet *sheet, struct db *db, owed_error *err)
{
    const struct args args = {(const void *)sheet->values.p, sheet->count * sheet->columns};
    return change(db, sheet->rows, args, NULL, err);
}

owed_status
sheet_write(struct sheet *sheet, struct db *db, owed_error *err)
{
    if (sheet->values.failed)
        return fail_memory(err);
    bool as_rows = db->driver->takes_rows != NULL && db->driver->takes_rows(db);
    owed_status status = OWED_OK;
    if (sheet->count > 0)
        status = (as_rows ? write_rows : write_json)(sheet, db, err);
    buf_clear(&sheet->values);
    sheet->count = 0;
    return status;
}
