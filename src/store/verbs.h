/* SPDX-License-Identifier: MIT
 *
 * verbs.h - what the files of the domain's verbs share: arguments, rows, and transactions of one verb.
 */
#ifndef STORE_VERBS_H
#define STORE_VERBS_H

#include "base/buf.h"
#include "base/error.h"
#include "store/store.h"

#define V_INT(number) ((struct value){.type = VALUE_INT, .integer = (number)})
#define V_TIME(us) ((struct value){.type = VALUE_TIME, .integer = (us)})
#define V_STR(view) ((struct value){.type = VALUE_TEXT, .bytes = (view)})
#define V_TEXT(text) V_STR(str_of(text)) // NULL reads as ""
#define V_BLOB(bytes_, len_) \
    ((struct value){.type = VALUE_BLOB, .bytes = {(const char *)(bytes_), (len_)}})
#define V_NULL ((struct value){.type = VALUE_NULL})

/* ARGS(V_INT(1), V_TEXT(key)) is a statement's arguments. */
struct args {
    const struct value *values;
    size_t count;
};
#define ARGS(...) \
    ((struct args){(const struct value[]){__VA_ARGS__}, \
        sizeof((const struct value[]){__VA_ARGS__}) / sizeof(struct value)})
#define NO_ARGS ((struct args){NULL, 0})

/* query starts a statement whose rows are then read. */
owed_status query(
    struct db *db, enum stmt stmt, struct args args, struct rows **ret_rows, owed_error *err);

/* change runs a statement that writes; ret_changed may be NULL. */
owed_status change(
    struct db *db, enum stmt stmt, struct args args, int64_t *ret_changed, owed_error *err);

/* query_int reads the first column of the first row; *ret_found (may be NULL) is false, and
 * *ret_number untouched, where there is no row or a null in it. */
owed_status query_int(struct db *db, enum stmt stmt, struct args args, int64_t *ret_number,
    bool *ret_found, owed_error *err);

/* A row being read: columns are taken in turn, texts are copied to the arena. */
struct reader {
    const struct driver *driver;
    const struct rows *rows;
    struct arena *arena;
    unsigned place;
    bool no_memory;
};
struct reader reader(struct db *db, const struct rows *rows, struct arena *arena);
int64_t read_int(struct reader *reader); // null: 0
int32_t read_int32(struct reader *reader);
const char *read_text(struct reader *reader); // null: ""; never NULL but when memory is out
struct str read_bytes(struct reader *reader); // a copy; null: p is NULL

/* read_all collects every row of a query into an array of size-byte items in the arena. read fills in
 * one (zeroed) item. */
typedef void (*read_item)(struct reader *reader, void *item);
struct list {
    size_t size;
    read_item read;
    struct arena *arena;
};
owed_status read_all(struct db *db, enum stmt stmt, struct args args, const struct list *list,
    void **ret_items, size_t *ret_count, owed_error *err);

/* claimed_fetch reads a row with its event as it will be once it is claimed: claim.c.
 * LOST: one of them is gone. */
owed_status claimed_fetch(struct db *db, const struct claim *claim, struct arena *arena,
    struct claimed *ret_row, owed_error *err);

/* What a settlement writes to the row. */
struct written {
    const char *last_error;
    int64_t completed_at_us;
    int64_t succeeded_at_us;
};
struct written written_of(const struct settlement *settlement);

/* settle_at_once.c: settle_fits_once tells whether settle_at_once can write these. */
bool settle_fits_once(struct db *db, const struct settlement *settlements, size_t count);
owed_status settle_at_once(struct db *db, const struct settlement *settlements, size_t count,
    bool *landed, owed_error *err);

/* settle_done.c: settle_count_done counts with how many of the first settlements settle_done can begin. */
size_t settle_count_done(struct db *db, const struct settlement *settlements, size_t count);
owed_status settle_done(struct db *db, const struct settlement *settlements, size_t count,
    bool *landed, owed_error *err);

/* settle_along writes what goes along with a claim, in its transaction: settle.c. */
owed_status settle_along(struct db *db, const struct along *along, owed_error *err);

/* A verb's own transaction, where none is open. scope_end commits it, or undoes it when status says
 * that the verb failed, and returns the verb's status or the commit's. */
struct scope {
    struct db *db;
    bool own;
    bool was_own;
    int tries;
};
owed_status scope_begin(struct db *db, struct scope *scope, owed_error *err);
/* scope_begin_light is for what a power cut may undo. */
owed_status scope_begin_light(struct db *db, struct scope *scope, owed_error *err);
owed_status scope_end(struct scope *scope, owed_status status, owed_error *err);

/* scope_repeats tells, after a scope's end, whether to do all of it once more: what others' locks undid
 * (a deadlock, a serialization failure) is tried a few times, after a short wait. Never in a transaction
 * that is not the verb's own. Begin with {0}:
 *     do { status = scope_begin(...); ...; status = scope_end(...); } while (scope_repeats(...)); */
bool scope_repeats(struct scope *scope, owed_status status);

/* JSON arrays as arguments, element by element; json_end closes one, also an empty one. */
void json_add_text(struct buf *buf, const char *text);
void json_add_id(struct buf *buf, int64_t id);
void json_end(struct buf *buf);
void json_texts(struct buf *buf, const char *const *texts); // a NULL-ended list, whole

#define JSON_ARGUMENT_BYTES ((size_t)64 * 1024 * 1024)

/* collect_ids runs a statement that picks ids and writes them as a JSON array into ids. */
owed_status collect_ids(struct db *db, enum stmt stmt, struct args args, struct buf *ids,
    int64_t *ret_count, owed_error *err);

/* ask_published asks whether the catalogue has all that is declared, and nothing that is to be removed. */
owed_status ask_published(
    struct db *db, const struct publication *publication, bool *ret_is, owed_error *err);

/* move_rows lets the rows that a statement picks follow the catalogue, adding to *moved. */
owed_status move_rows(
    struct db *db, enum stmt pick, struct args args, int64_t *moved, owed_error *err);

#endif
