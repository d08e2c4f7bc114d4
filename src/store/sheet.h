/* SPDX-License-Identifier: MIT
 *
 * sheet.h - rows of arguments that a statement is run for, all of them or none.
 *
 * A driver that takes rows is given them as they are. For others there is the same statement over a JSON array of
 * arrays: bytes are written as hex there, and times as numbers.
 */
#ifndef STORE_SHEET_H
#define STORE_SHEET_H

#include "store/verbs.h"

struct sheet {
    enum stmt rows; // takes a row
    enum stmt json; // takes all of them
    size_t columns;
    size_t count;
    struct buf values; // those of one row after another; what they point to is the caller's
};

void sheet_init(struct sheet *sheet, enum stmt rows, enum stmt json, size_t columns);
void sheet_done(struct sheet *sheet);

void sheet_add(struct sheet *sheet, const struct value *row);

/* sheet_write runs the statement, and empties the sheet. */
owed_status sheet_write(struct sheet *sheet, struct db *db, owed_error *err);

#endif
