/* SPDX-License-Identifier: MIT
 *
 * codec.c - a payload fills a struct of every kind, and comes back the same, or is refused by name.
 *
 * The bytes are tried as a webhook's URL and as a secret, too.
 */
#include "declare/codec.h"

#include "base/limits.h"
#include "declare/secret.h"
#include "declare/url.h"
#include "fuzz.h"

static const owed_enum_value colors[] = {{"red", 1}, {"\342\202\254", -7}, {NULL, 0}};

typedef struct line {
    const char *sku;
    int32_t quantity;
} line;

static const owed_field line_fields[] = {
    OWED_TEXT(line, sku),
    OWED_INT32_WITH(line, quantity, .fallback = "1"),
    OWED_FIELDS_END,
};

typedef struct all {
    bool a;
    int32_t b;
    int64_t c;
    double d;
    const char *e;
    const char *f;
    int64_t g;
    owed_uuid h;
    owed_bytes i;
    int32_t j;
    line k;
    owed_array l;
    owed_array m;
} all;

static const owed_field all_fields[] = {
    OWED_BOOL_WITH(all, a, .fallback = "true"),
    OWED_INT32_WITH(all, b, .optional = true),
    OWED_INT64_WITH(all, c, .optional = true),
    OWED_DOUBLE_WITH(all, d, .optional = true),
    OWED_TEXT_WITH(all, e, .fallback = "none"),
    OWED_DECIMAL_WITH(all, f, .fallback = "0.00"),
    OWED_TIMESTAMP_WITH(all, g, .optional = true),
    OWED_UUID_WITH(all, h, .optional = true),
    OWED_BYTES_WITH(all, i, .optional = true),
    OWED_ENUM_WITH(all, j, colors, .fallback = "red"),
    OWED_STRUCT_WITH(all, k, line_fields, line, .optional = true),
    OWED_ARRAY_WITH(all, l, OWED_KIND_DECIMAL, const char *, .fallback = "[\"1\", 2]"),
    OWED_ARRAY_OF_WITH(all, m, line_fields, line, .key = "lines", .optional = true),
    OWED_FIELDS_END,
};

static const owed_event_type all_type = {
    .name = "fuzz.All", .fields = all_fields, .size = sizeof(all)};

/* What was decoded can be written, reads back, and is then written the same. */
static void
try_round_trip(const void *value, struct arena *arena)
{
    struct buf first;
    struct buf second;
    const void *again = NULL;
    buf_init(&first, LIMIT_PAYLOAD_BYTES);
    buf_init(&second, LIMIT_PAYLOAD_BYTES);
    must(codec_encode(&all_type, value, &first, NULL) == OWED_OK);
    must(codec_decode(&all_type, 1, buf_view(&first), arena, &again, NULL) == OWED_OK);
    must(codec_encode(&all_type, again, &second, NULL) == OWED_OK);
    must(str_eq(buf_view(&first), buf_view(&second)));
    buf_done(&first);
    buf_done(&second);
}

static void
try_payload(struct str text)
{
    static const char start[] = "fuzz.All version 1: ";
    struct arena arena;
    owed_error err;
    const void *value = NULL;
    arena_init(&arena, 0);
    owed_status status = codec_decode(&all_type, 1, text, &arena, &value, &err);
    if (status == OWED_OK)
        try_round_trip(value, &arena);
    else
        must(status == OWED_INVALID && memcmp(err.text, start, sizeof start - 1) == 0);
    arena_done(&arena);
}

static void
try_words(struct str text)
{
    struct arena arena;
    struct secret secret = {.len = SECRET_MIN_BYTES};
    arena_init(&arena, 0);
    const char *url = arena_copy(&arena, text);
    must(url != NULL);
    const char *problem = url_problem(url);
    must(problem == NULL || problem[0] != '\0');
    must(url_without_query(url).len <= strlen(url));
    must(secret_read(text, &secret, NULL) == OWED_CONFIG || secret.len <= text.len);
    must(secret.len >= SECRET_MIN_BYTES && secret.len <= SECRET_MAX_BYTES);
    arena_done(&arena);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = {(const char *)data, size};
    must(codec_check(&all_type, NULL) == OWED_OK);
    try_payload(text);
    try_words(text);
    return 0;
}
