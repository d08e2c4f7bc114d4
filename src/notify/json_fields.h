/* SPDX-License-Identifier: MIT
 *
 * json_fields.h - the members of a JSON object, read and written one by one.
 */
#ifndef NOTIFY_JSON_FIELDS_H
#define NOTIFY_JSON_FIELDS_H

#include "base/json.h"

struct fields {
    const char *what; // such as "the recipient", for errors
    struct arena *arena;
    owed_error *err;
};

/* fields_check refuses what is no object, and keys that are not in the list, to a NULL. */
owed_status fields_check(struct fields *fields, struct json object, const char *const *keys);

/* fields_find is json_member, but null is absent. */
bool fields_find(struct json object, const char *key, struct json *ret_value);

/* What is absent leaves the place as it is. INVALID: of another type, with a NUL in it, or out of range. */
owed_status fields_text(
    struct fields *fields, struct json object, const char *key, const char **ret_text);
owed_status fields_texts(
    struct fields *fields, struct json object, const char *key, const char *const **ret_texts);
owed_status fields_int(
    struct fields *fields, struct json object, const char *key, int64_t *ret_number);
owed_status fields_bool(struct fields *fields, struct json object, const char *key, bool *ret_flag);
owed_status fields_read_text(
    struct fields *fields, const char *key, struct json value, const char **ret_text);

/* A comma where it is not the first member, and the key. */
void field_key(struct buf *buf, const char *key);
/* NULL, 0 and false are left out. */
void field_write_text(struct buf *buf, const char *key, const char *text);
void field_write_texts(struct buf *buf, const char *key, const char *const *texts);
void field_write_int(struct buf *buf, const char *key, int64_t number);
void field_write_bool(struct buf *buf, const char *key, bool flag);

#endif
