/* SPDX-License-Identifier: MIT
 *
 * test_codec_dice.c - thousands of made-up types and values: each comes back from JSON as it was, and
 * no damaged text does harm.
 */
#include "common.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "declare/codec.h"

#define ROUNDS 5000
#define FIELDS_MAX 7
#define DEPTH_MAX 4
#define ITEMS_MAX 4
#define ALIGN 8

static struct arena arena;
static owed_dice dice;
static owed_error err;

static uint64_t
roll(uint64_t sides)
{
    return dice.next(dice.state) % sides;
}

static const owed_enum_value words[] = {
    {"new", 0}, {"two words", -1}, {"\342\202\254", INT32_MAX}, {NULL, 0}};

/* --- types --- */

static const size_t plain_sizes[] = {
    [OWED_KIND_BOOL] = sizeof(bool),
    [OWED_KIND_INT32] = sizeof(int32_t),
    [OWED_KIND_INT64] = sizeof(int64_t),
    [OWED_KIND_DOUBLE] = sizeof(double),
    [OWED_KIND_TEXT] = sizeof(const char *),
    [OWED_KIND_DECIMAL] = sizeof(const char *),
    [OWED_KIND_TIMESTAMP] = sizeof(int64_t),
    [OWED_KIND_UUID] = sizeof(owed_uuid),
    [OWED_KIND_BYTES] = sizeof(owed_bytes),
    [OWED_KIND_ENUM] = sizeof(int32_t),
};

static const owed_field *make_fields(int depth, size_t *ret_size);

/* make_inner gives a field what its kind needs, and returns the size of what it holds. */
static size_t
make_inner(owed_field *field, owed_kind kind, int depth)
{
    field->words = kind == OWED_KIND_ENUM ? words : NULL;
    if (kind != OWED_KIND_STRUCT)
        return plain_sizes[kind];
    field->fields = make_fields(depth + 1, &field->size);
    return field->size;
}

static owed_kind
roll_kind(int depth, bool array)
{
    int last = depth >= DEPTH_MAX ? OWED_KIND_ENUM : array ? OWED_KIND_ARRAY : OWED_KIND_STRUCT;
    return (owed_kind)(1 + roll((uint64_t)last));
}

static const owed_field *
make_fields(int depth, size_t *ret_size)
{
    size_t count = roll(FIELDS_MAX) + 1;
    owed_field *fields = arena_alloc(&arena, (count + 1) * sizeof *fields);
    size_t offset = 0;
    for (size_t i = 0; i < count; i++) {
        owed_field *field = &fields[i];
        size_t size = sizeof(owed_array);
        field->name = arena_printf(&arena, "f%zu%s", i, roll(4) == 0 ? "\"\303\244\\" : "");
        field->kind = roll_kind(depth, true);
        field->offset = offset;
        if (field->kind == OWED_KIND_ARRAY) {
            field->element = roll_kind(depth, false);
            field->size = make_inner(field, field->element, depth);
        } else {
            size = make_inner(field, field->kind, depth);
        }
        offset += (size + ALIGN - 1) / ALIGN * ALIGN;
    }
    *ret_size = offset;
    return fields;
}

/* --- values --- */

static const char *
make_text(void)
{
    static const char *const pieces[] = {"a", "\"", "\\", "/", "\n", "\001", "\177", "\303\244",
        "\342\202\254", "\360\237\230\200", " ", "{}", "\357\277\277"};
    char text[100] = "";
    size_t len = 0;
    if (roll(8) == 0)
        return NULL;
    for (uint64_t n = roll(12); n > 0; n--) {
        const char *piece = pieces[roll(sizeof pieces / sizeof pieces[0])];
        len += (size_t)snprintf(text + len, sizeof text - len, "%s", piece);
    }
    return arena_strdup(&arena, text);
}

static const char *
make_decimal(void)
{
    if (roll(8) == 0)
        return NULL;
    const char *minus = roll(2) == 0 ? "-" : "";
    return roll(2) == 0
        ? arena_printf(&arena, "%s%" PRIu64, minus, dice.next(dice.state))
        : arena_printf(&arena, "%s%" PRIu64 ".%" PRIu64, minus, roll(1000), roll(100000));
}

static int64_t
make_int64(void)
{
    static const int64_t edges[] = {0, 1, -1, INT64_MAX, INT64_MIN, INT64_C(9007199254740993)};
    return roll(3) == 0 ? edges[roll(6)] : (int64_t)dice.next(dice.state);
}

static double
make_double(void)
{
    double number;
    do {
        uint64_t bits = dice.next(dice.state);
        memcpy(&number, &bits, sizeof number);
    } while (!__builtin_isfinite(number));
    return number;
}

static owed_bytes
make_bytes(void)
{
    size_t len = roll(10);
    uint8_t *bytes = arena_alloc(&arena, len + 1);
    dice_fill(&dice, bytes, len);
    return (owed_bytes){bytes, len};
}

static int64_t
make_time(void)
{
    static const uint64_t span = UINT64_C(315537897600000000); // years 1 to 9999
    return INT64_C(-62135596800000000) + (int64_t)roll(span);
}

static void fill_fields(const owed_field *fields, char *base);

static void
fill_item(const owed_field *field, owed_kind kind, void *member)
{
    switch (kind) {
    case OWED_KIND_BOOL:
        *(bool *)member = roll(2) == 0;
        break;
    case OWED_KIND_INT32:
        *(int32_t *)member = (int32_t)dice.next(dice.state);
        break;
    case OWED_KIND_INT64:
        *(int64_t *)member = make_int64();
        break;
    case OWED_KIND_DOUBLE:
        *(double *)member = make_double();
        break;
    case OWED_KIND_TEXT:
        *(const char **)member = make_text();
        break;
    case OWED_KIND_DECIMAL:
        *(const char **)member = make_decimal();
        break;
    case OWED_KIND_TIMESTAMP:
        *(int64_t *)member = make_time();
        break;
    case OWED_KIND_UUID:
        dice_fill(&dice, member, sizeof(owed_uuid));
        break;
    case OWED_KIND_BYTES:
        *(owed_bytes *)member = make_bytes();
        break;
    case OWED_KIND_ENUM:
        *(int32_t *)member = words[roll(3)].value;
        break;
    default:
        fill_fields(field->fields, member);
    }
}

static void
fill_array(const owed_field *field, owed_array *array)
{
    array->count = roll(ITEMS_MAX);
    char *items = arena_alloc(&arena, array->count * field->size);
    for (size_t i = 0; i < array->count; i++)
        fill_item(field, field->element, items + i * field->size);
    array->items = items;
}

static void
fill_fields(const owed_field *fields, char *base)
{
    for (const owed_field *field = fields; field->kind != OWED_KIND_END; field++) {
        void *member = base + field->offset;
        if (field->kind == OWED_KIND_ARRAY)
            fill_array(field, member);
        else
            fill_item(field, field->kind, member);
    }
}

/* --- comparing --- */

static bool same_fields(const owed_field *fields, const char *a, const char *b);

static bool
same_text(const char *a, const char *b)
{
    return (a == NULL) == (b == NULL) && (a == NULL || strcmp(a, b) == 0);
}

static bool
same_item(const owed_field *field, owed_kind kind, const void *a, const void *b)
{
    if (kind == OWED_KIND_STRUCT)
        return same_fields(field->fields, a, b);
    if (kind == OWED_KIND_TEXT || kind == OWED_KIND_DECIMAL)
        return same_text(*(const char *const *)a, *(const char *const *)b);
    if (kind == OWED_KIND_BYTES) {
        const owed_bytes *x = a;
        const owed_bytes *y = b;
        return x->len == y->len && memcmp(x->data, y->data, x->len) == 0;
    }
    return memcmp(a, b, plain_sizes[kind]) == 0;
}

static bool
same_array(const owed_field *field, const owed_array *a, const owed_array *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (!same_item(field, field->element, (const char *)a->items + i * field->size,
                (const char *)b->items + i * field->size))
            return false;
    return true;
}

static bool
same_fields(const owed_field *fields, const char *a, const char *b)
{
    for (const owed_field *field = fields; field->kind != OWED_KIND_END; field++) {
        const void *x = a + field->offset;
        const void *y = b + field->offset;
        if (!(field->kind == OWED_KIND_ARRAY ? same_array(field, x, y)
                                             : same_item(field, field->kind, x, y)))
            return false;
    }
    return true;
}

/* --- the tests --- */

struct made {
    owed_event_type type;
    char *value;
    struct buf json;
};

static void
make(struct made *made)
{
    made->type = (owed_event_type){.name = "dice.Made", .version = 1};
    made->type.fields = make_fields(1, &made->type.size);
    made->value = arena_alloc(&arena, made->type.size);
    fill_fields(made->type.fields, made->value);
    buf_init(&made->json, LIMIT_PAYLOAD_BYTES);
    if (codec_check(&made->type, &err) != OWED_OK ||
        codec_encode(&made->type, made->value, &made->json, &err) != OWED_OK)
        fail_msg("%s", err.text);
}

static void
every_value_comes_back_as_it_was(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        uint64_t falls = seed;
        struct made made;
        const void *back = NULL;
        dice = dice_seeded(&falls);
        arena_reset(&arena);
        make(&made);
        assert_status(OWED_OK, json_check(buf_view(&made.json), LIMIT_PAYLOAD_DEPTH, &err));
        if (codec_decode(&made.type, 1, buf_view(&made.json), &arena, &back, &err) != OWED_OK)
            fail_msg("seed %" PRIu64 ": %s", seed, err.text);
        if (!same_fields(made.type.fields, made.value, back))
            fail_msg("seed %" PRIu64 ": %s", seed, buf_text(&made.json));
        buf_done(&made.json);
    }
}

/* damage changes, drops or doubles a few bytes. */
static void
damage(struct buf *json)
{
    static const char odd[] = "\"{}[]:,0-.eE\\ntu\377\0 ";
    for (uint64_t n = roll(3) + 1; n > 0 && json->len > 0; n--) {
        size_t at = roll(json->len);
        if (roll(2) == 0) {
            json->p[at] = odd[roll(sizeof odd)];
            continue;
        }
        memmove(json->p + at, json->p + at + 1, json->len - at);
        json->len--;
    }
}

/* A damaged text is refused with a sentence, or is another good one: then it can be written. */
static void
no_damaged_text_does_harm(void **state)
{
    (void)state;
    size_t refused = 0;
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        uint64_t falls = seed;
        struct made made;
        const void *back = NULL;
        dice = dice_seeded(&falls);
        arena_reset(&arena);
        make(&made);
        damage(&made.json);
        err = (owed_error){.status = OWED_OK};
        owed_status status = codec_decode(&made.type, 1, buf_view(&made.json), &arena, &back, &err);
        if (status == OWED_OK) {
            buf_clear(&made.json);
            assert_status(OWED_OK, codec_encode(&made.type, back, &made.json, &err));
        } else {
            refused++;
            assert_int_equal(status, OWED_INVALID);
            assert_null(back);
            assert_memory_equal(err.text, "dice.Made version 1: ", 21);
        }
        buf_done(&made.json);
    }
    assert_in_range(refused, ROUNDS / 2, ROUNDS);
}

static int
setup(void **state)
{
    (void)state;
    arena_init(&arena, 0);
    return 0;
}

static int
teardown(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value_comes_back_as_it_was),
        cmocka_unit_test(no_damaged_text_does_harm),
    };
    return cmocka_run_group_tests_name("codec dice", tests, setup, teardown);
}
