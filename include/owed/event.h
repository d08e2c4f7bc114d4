/* SPDX-License-Identifier: MIT
 *
 * event.h - event types: the fields of a C struct and their names in JSON (RFC 8259).
 *
 * A type is a static descriptor. The codec writes a struct of the application as a JSON object and
 * reads it back: keys nobody declared are ignored, an absent key takes the field's fallback, and
 * every refusal names the event, the path of the field, what was expected and what came.
 */
#ifndef OWED_EVENT_H
#define OWED_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <owed/error.h>

OWED_BEGIN_DECLS

/* C type of the member, and what stands in the JSON. */
typedef enum owed_kind {
    OWED_KIND_END = 0,
    OWED_KIND_BOOL,      /* bool             true or false */
    OWED_KIND_INT32,     /* int32_t          a whole number in range */
    OWED_KIND_INT64,     /* int64_t          a whole number in range */
    OWED_KIND_DOUBLE,    /* double           a number; infinities and NaN are refused */
    OWED_KIND_TEXT,      /* const char *     a string; NULL is null; a NUL inside is refused */
    OWED_KIND_DECIMAL,   /* const char *     a string such as "12.50", so that no digit is lost */
    OWED_KIND_TIMESTAMP, /* int64_t          RFC 3339 in UTC; microseconds since 1970 in C */
    OWED_KIND_UUID,      /* owed_uuid        "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx" (RFC 9562) */
    OWED_KIND_BYTES,     /* owed_bytes       a string in base64 (RFC 4648 section 4, padded) */
    OWED_KIND_ENUM,      /* int32_t          one of the declared words */
    OWED_KIND_STRUCT,    /* a nested struct  an object */
    OWED_KIND_ARRAY      /* owed_array       an array of one of the other kinds, not of arrays */
} owed_kind;

typedef struct owed_uuid {
    uint8_t bytes[16];
} owed_uuid;

typedef struct owed_bytes {
    const void *data;
    size_t len;
} owed_bytes;

/* items points at count members of the element's C type, side by side. */
typedef struct owed_array {
    const void *items;
    size_t count;
} owed_array;

/* One word of an enum; a list ends with a NULL name. Of several words for one value all are read and
 * the first is written. */
typedef struct owed_enum_value {
    const char *name;
    int32_t value;
} owed_enum_value;

typedef struct owed_field {
    owed_kind kind;
    const char *name;     /* of the member; NULL only in the end mark */
    const char *key;      /* in JSON, where it is not the name: .key = "orderId" */
    size_t offset;        /* of the member in the struct */
    bool optional;        /* an absent key is fine, and leaves zero or the fallback */
    const char *fallback; /* the value, as it would stand in JSON (strings without quotes);
                             declaring one makes the field optional */
    bool secret; /* never shown: not in messages, logs, owed show nor what was kept of an attempt.
                    Whoever receives the event gets it as it was fired */
    const owed_enum_value *words;    /* ENUM, or ARRAY of ENUM */
    const struct owed_field *fields; /* STRUCT, or ARRAY of STRUCT: its members */
    size_t size;                     /* STRUCT: of the nested struct; ARRAY: of one element */
    owed_kind element;               /* ARRAY: kind of the elements */
} owed_field;

#define OWED_FIELD_(kind_, type_, member_) \
    .kind = (kind_), .name = #member_, .offset = offsetof(type_, member_)

/* Two fixed forms each: OWED_X(type, member) and OWED_X_WITH(type, member, .fallback = "..."). */
#define OWED_BOOL(type, member) \
    { \
        OWED_FIELD_(OWED_KIND_BOOL, type, member) \
    }
#define OWED_BOOL_WITH(type, member, ...) \
    { \
        OWED_FIELD_(OWED_KIND_BOOL, type, member), __VA_ARGS__ \
    }
#define OWED_INT32(type, member) \
    { \
        OWED_FIELD_(OWED_KIND_INT32, type, member) \
    }
#define OWED_INT32_WITH(type, member, ...) \
    { \
        OWED_FIELD_(OWED_KIND_INT32, type, member), __VA_ARGS__ \
    }
#define OWED_INT64(type, member) \
    { \
        OWED_FIELD_(OWED_KIND_INT64, type, member) \
    }
#define OWED_INT64_WITH(type, member, ...) \
    { \
        OWED_FIELD_(OWED_KIND_INT64, type, member), __VA_ARGS__ \
    }
#define OWED_DOUBLE(type, member) \
    { \
        OWED_FIELD_(OWED_KIND_DOUBLE, type, member) \
    }
#define OWED_DOUBLE_WITH(type, member, ...) \
    { \
        OWED_FIELD_(OWED_KIND_DOUBLE, type, member), __VA_ARGS__ \
    }
#define OWED_TEXT(type, member) \
    { \
        OWED_FIELD_(OWED_KIND_TEXT, type, member) \
    }
#define OWED_TEXT_WITH(type, member, ...) \
    { \
        OWED_FIELD_(OWED_KIND_TEXT, type, member), __VA_ARGS__ \
    }
#define OWED_DECIMAL(type, member) \
    { \
        OWED_FIELD_(OWED_KIND_DECIMAL, type, member) \
    }
#define OWED_DECIMAL_WITH(type, member, ...) \
    { \
        OWED_FIELD_(OWED_KIND_DECIMAL, type, member), __VA_ARGS__ \
    }
#define OWED_TIMESTAMP(type, member) \
    { \
        OWED_FIELD_(OWED_KIND_TIMESTAMP, type, member) \
    }
#define OWED_TIMESTAMP_WITH(type, member, ...) \
    { \
        OWED_FIELD_(OWED_KIND_TIMESTAMP, type, member), __VA_ARGS__ \
    }
#define OWED_UUID(type, member) \
    { \
        OWED_FIELD_(OWED_KIND_UUID, type, member) \
    }
#define OWED_UUID_WITH(type, member, ...) \
    { \
        OWED_FIELD_(OWED_KIND_UUID, type, member), __VA_ARGS__ \
    }
#define OWED_BYTES(type, member) \
    { \
        OWED_FIELD_(OWED_KIND_BYTES, type, member) \
    }
#define OWED_BYTES_WITH(type, member, ...) \
    { \
        OWED_FIELD_(OWED_KIND_BYTES, type, member), __VA_ARGS__ \
    }
#define OWED_ENUM(type, member, words_) \
    { \
        OWED_FIELD_(OWED_KIND_ENUM, type, member), .words = (words_) \
    }
#define OWED_ENUM_WITH(type, member, words_, ...) \
    { \
        OWED_FIELD_(OWED_KIND_ENUM, type, member), __VA_ARGS__, .words = (words_) \
    }
#define OWED_STRUCT(type, member, fields_, nested) \
    { \
        OWED_FIELD_(OWED_KIND_STRUCT, type, member), .fields = (fields_), .size = sizeof(nested) \
    }
#define OWED_STRUCT_WITH(type, member, fields_, nested, ...) \
    { \
        OWED_FIELD_(OWED_KIND_STRUCT, type, member), .fields = (fields_), .size = sizeof(nested), \
                                                     __VA_ARGS__ \
    }
/* An array of plain values: OWED_ARRAY(order, tags, OWED_KIND_TEXT, const char *). */
#define OWED_ARRAY(type, member, element_, element_type) \
    { \
        OWED_FIELD_(OWED_KIND_ARRAY, type, member), .size = sizeof(element_type), \
                                                    .element = (element_) \
    }
#define OWED_ARRAY_WITH(type, member, element_, element_type, ...) \
    { \
        OWED_FIELD_(OWED_KIND_ARRAY, type, member), .size = sizeof(element_type), \
                                                    .element = (element_), __VA_ARGS__ \
    }
/* An array of structs: OWED_ARRAY_OF(order, lines, line_fields, line). */
#define OWED_ARRAY_OF(type, member, fields_, nested) \
    { \
        OWED_FIELD_(OWED_KIND_ARRAY, type, member), .fields = (fields_), .size = sizeof(nested), \
                                                    .element = OWED_KIND_STRUCT \
    }
#define OWED_ARRAY_OF_WITH(type, member, fields_, nested, ...) \
    { \
        OWED_FIELD_(OWED_KIND_ARRAY, type, member), .fields = (fields_), .size = sizeof(nested), \
                                                    .element = OWED_KIND_STRUCT, __VA_ARGS__ \
    }
#define OWED_FIELDS_END \
    { \
        .kind = OWED_KIND_END, .name = NULL \
    }

/* When an event is deleted, with all that was owed for it. What is still owed keeps it, always. */
typedef enum owed_delete_when {
    OWED_DELETE_WHEN_OLD = 0,   /* past its retention, when all of it has ended */
    OWED_DELETE_WHEN_SUCCEEDED, /* as soon as all of it has succeeded; else when it is old */
    OWED_DELETE_WHEN_SETTLED    /* as soon as all of it has ended, however */
} owed_delete_when;

/* One payload of an older version, while it is made one of a newer. */
typedef struct owed_upgrade owed_upgrade;

/*
 * An event type. Static storage: the registry keeps the pointer.
 *
 * A change that only adds optional fields, or drops some, needs a new version at most: absent keys
 * take their fallbacks, unknown ones are passed over. For any other change the old descriptor stays,
 * as before of the new one, and upgrade says how one becomes the other. A payload is read by the
 * youngest of these descriptors that is no younger than it (else by the oldest), and upgraded step by
 * step. One of a version that nobody here knows yet is read as it stands.
 *
 * A type without fields (fields NULL, size 0) is opaque: owed_fire takes, and a receiver is given,
 * a const owed_bytes * that holds the JSON text itself.
 */
typedef struct owed_event_type {
    const char *name; /* "app.Name", at most 255 bytes of [A-Za-z0-9_.-] */
    int32_t version;  /* 1 to 32767; 0 reads as 1 */
    const owed_field *fields;
    size_t size; /* sizeof the struct */
    /* What is fired from now on keeps to one of these; a dedupe key is refused with delete_when, since it
     * protects only for as long as the event is there. */
    int64_t retention_us; /* a window of its own, in whole seconds; 0: what prune is told */
    owed_delete_when delete_when;
    /* The last version that was read otherwise, and what makes one of this type out of it; both or
     * neither. before is its struct (of an opaque type an owed_bytes); after has its fallbacks, and
     * zero elsewhere. It answers true, or owed_upgrade_refuse: then the payload cannot be read. */
    const struct owed_event_type *before;
    bool (*upgrade)(owed_upgrade *upgrade, const void *before, void *after);
} owed_event_type;

/* owed_upgrade_alloc gives zeroed memory for what after points to; NULL: there is no more. */
OWED_API void *owed_upgrade_alloc(owed_upgrade *upgrade, size_t size);
/* owed_upgrade_text formats a text in such memory. */
OWED_API const char *owed_upgrade_text(owed_upgrade *upgrade, const char *format, ...)
    OWED_PRINTF(2, 3);
/* owed_upgrade_version is the version that the payload was fired with. */
OWED_API int32_t owed_upgrade_version(const owed_upgrade *upgrade);
/* owed_upgrade_refuse says why there can be no newer one, and answers false. */
OWED_API bool owed_upgrade_refuse(owed_upgrade *upgrade, const char *format, ...) OWED_PRINTF(2, 3);

/* A receiver declared for this is owed every event. Never fired. Opaque. */
OWED_API extern const owed_event_type owed_any_event;

OWED_END_DECLS

#endif
