/* SPDX-License-Identifier: MIT
 *
 * test_codec.c - structs as JSON and back, and what is said where that cannot be.
 */
#include "common.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "declare/codec.h"

enum color { RED = 1, GREEN = -7 };
static const owed_enum_value colors[] = {{"red", RED}, {"deep \"green\"", GREEN}, {NULL, 0}};

typedef struct line {
    const char *sku;
    int32_t quantity;
} line;
static const owed_field line_fields[] = {
    OWED_TEXT(line, sku),
    OWED_INT32_WITH(line, quantity, .fallback = "1"),
    OWED_FIELDS_END,
};

typedef struct address {
    const char *city;
    int64_t zip;
} address;
static const owed_field address_fields[] = {
    OWED_TEXT(address, city),
    OWED_INT64_WITH(address, zip, .optional = true),
    OWED_FIELDS_END,
};

typedef struct everything {
    bool paid;
    int32_t small;
    int64_t large;
    double weight;
    const char *note;
    const char *total;
    int64_t placed_at;
    owed_uuid id;
    owed_bytes blob;
    int32_t color;
    address home;
    owed_array tags;
    owed_array lines;
} everything;
static const owed_field everything_fields[] = {
    OWED_BOOL(everything, paid),
    OWED_INT32(everything, small),
    OWED_INT64(everything, large),
    OWED_DOUBLE(everything, weight),
    OWED_TEXT(everything, note),
    OWED_DECIMAL(everything, total),
    OWED_TIMESTAMP(everything, placed_at),
    OWED_UUID(everything, id),
    OWED_BYTES(everything, blob),
    OWED_ENUM(everything, color, colors),
    OWED_STRUCT(everything, home, address_fields, address),
    OWED_ARRAY(everything, tags, OWED_KIND_TEXT, const char *),
    OWED_ARRAY_OF(everything, lines, line_fields, line),
    OWED_FIELDS_END,
};
static const owed_event_type everything_type = {
    .name = "shop.Everything",
    .version = 3,
    .fields = everything_fields,
    .size = sizeof(everything),
};

static const char *const some_tags[] = {"new", NULL, "\303\244"};
static const line some_lines[] = {{"A-1", 2}, {"B\n\"2\"", -5}};
static const everything something = {
    .paid = true,
    .small = -2147483647 - 1,
    .large = INT64_MIN,
    .weight = 0.1,
    .note = "tab\tquote\" slash/ \342\202\254 \360\237\230\200 \001",
    .total = "-12.50",
    .placed_at = 1796000000123456,
    .id = {{0x12, 0x3e, 0x45, 0x67, 0xe8, 0x9b, 0x12, 0xd3, 0xa4, 0x56, 0x42, 0x66, 0x14, 0x17,
        0x40, 0x00}},
    .blob = {"\0\1\377", 3},
    .color = GREEN,
    .home = {"Ulm", 89073},
    .tags = {some_tags, 3},
    .lines = {some_lines, 2},
};

static struct arena arena;
static struct buf json;
static owed_error err;

static int
setup(void **state)
{
    (void)state;
    arena_init(&arena, 0);
    buf_init(&json, LIMIT_PAYLOAD_BYTES);
    return 0;
}

static int
teardown(void **state)
{
    (void)state;
    arena_done(&arena);
    buf_done(&json);
    return 0;
}

static const char *
encode(const owed_event_type *type, const void *value)
{
    buf_clear(&json);
    assert_status(OWED_OK, codec_encode(type, value, &json, &err));
    return buf_text(&json);
}

static owed_status
try_decode(const owed_event_type *type, const char *text, const void **ret_value)
{
    return codec_decode(type, type->version, str_of(text), &arena, ret_value, &err);
}

static const void *
decode(const owed_event_type *type, const char *text)
{
    const void *value = NULL;
    if (try_decode(type, text, &value) != OWED_OK)
        fail_msg("%s: %s", text, err.text);
    return value;
}

static void
writes_every_kind(void **state)
{
    (void)state;
    assert_string_equal(encode(&everything_type, &something),
        "{\"paid\":true,\"small\":-2147483648,\"large\":-9223372036854775808,\"weight\":0.1,"
        "\"note\":\"tab\\tquote\\\" slash/ \342\202\254 \360\237\230\200 \\u0001\","
        "\"total\":\"-12.50\",\"placed_at\":\"2026-11-30T00:53:20.123456Z\","
        "\"id\":\"123e4567-e89b-12d3-a456-426614174000\",\"blob\":\"AAH/\","
        "\"color\":\"deep \\\"green\\\"\",\"home\":{\"city\":\"Ulm\",\"zip\":89073},"
        "\"tags\":[\"new\",null,\"\303\244\"],"
        "\"lines\":[{\"sku\":\"A-1\",\"quantity\":2},{\"sku\":\"B\\n\\\"2\\\"\",\"quantity\":-5}]}");
}

static void
reads_every_kind_back(void **state)
{
    (void)state;
    const everything *got = decode(&everything_type, encode(&everything_type, &something));
    assert_true(got->paid);
    assert_int_equal(got->small, something.small);
    assert_true(got->large == INT64_MIN);
    assert_true(got->weight == 0.1);
    assert_string_equal(got->note, something.note);
    assert_string_equal(got->total, "-12.50");
    assert_true(got->placed_at == something.placed_at);
    assert_memory_equal(got->id.bytes, something.id.bytes, 16);
    assert_int_equal(got->blob.len, 3);
    assert_memory_equal(got->blob.data, "\0\1\377", 3);
    assert_int_equal(got->color, GREEN);
    assert_string_equal(got->home.city, "Ulm");
    assert_int_equal(got->home.zip, 89073);
    assert_int_equal(got->tags.count, 3);
    const char *const *tags = got->tags.items;
    assert_string_equal(tags[0], "new");
    assert_null(tags[1]);
    assert_string_equal(tags[2], "\303\244");
    assert_int_equal(got->lines.count, 2);
    const line *lines = got->lines.items;
    assert_string_equal(lines[1].sku, "B\n\"2\"");
    assert_int_equal(lines[1].quantity, -5);
}

/* --- one field alone --- */

/* A type whose only field is called v, for tables of values. */
static owed_field one_fields[2];
static owed_event_type one_type = {.name = "shop.One", .version = 2, .fields = one_fields};

static void
be_one(owed_field field, size_t size)
{
    field.name = "v";
    field.offset = 0;
    one_fields[0] = field;
    one_fields[1] = (owed_field)OWED_FIELDS_END;
    one_type.size = size;
    if (codec_check(&one_type, &err) != OWED_OK)
        fail_msg("%s", err.text);
}
#define ONE(kind_, type_, ...) be_one((owed_field){.kind = (kind_), __VA_ARGS__}, sizeof(type_))

/* got returns what {"v": text} decodes to. */
static const void *
got(const char *text)
{
    return decode(&one_type, arena_printf(&arena, "{\"v\": %s }", text));
}

/* refuses_value: {"v": text} is refused, with what is expected and what was found. */
static void
refuses_value(const char *text, const char *expected_and_found)
{
    const void *value = NULL;
    const char *sentence =
        arena_printf(&arena, "shop.One version 2: field v: expected %s", expected_and_found);
    assert_fails(OWED_INVALID,
        try_decode(&one_type, arena_printf(&arena, "{\"v\": %s }", text), &value), sentence);
    assert_null(value);
}

static void
refuses_to_write(const void *value, const char *expected_and_found)
{
    buf_clear(&json);
    assert_refused(codec_encode(&one_type, value, &json, &err),
        arena_printf(&arena, "shop.One version 2: field v: expected %s", expected_and_found));
}

static void
reads_whole_numbers_exactly(void **state)
{
    (void)state;
    ONE(OWED_KIND_INT64, int64_t);
    static const struct {
        const char *text;
        int64_t number;
    } cases[] = {
        {"0", 0},
        {"-0", 0},
        {"9223372036854775807", INT64_MAX},
        {"-9223372036854775808", INT64_MIN},
        {"9007199254740993", INT64_C(9007199254740993)},
        {"7.0", 7},
        {"7e0", 7},
        {"70e-1", 7},
        {"1.5e1", 15},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_true(*(const int64_t *)got(cases[i].text) == cases[i].number);

    static const char expected[] =
        "a whole number from -9223372036854775808 to 9223372036854775807, found ";
    static const char *const bad[] = {
        "9223372036854775808", "-9223372036854775809", "1e400", "0.5", "\"7\"", "true", "null"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        refuses_value(bad[i], arena_printf(&arena, "%s%s", expected, bad[i]));
    refuses_value("[7]", arena_printf(&arena, "%san array", expected));
    refuses_value("{}", arena_printf(&arena, "%san object", expected));
}

static void
keeps_small_numbers_in_their_range(void **state)
{
    (void)state;
    ONE(OWED_KIND_INT32, int32_t);
    assert_int_equal(*(const int32_t *)got("2147483647"), INT32_MAX);
    assert_int_equal(*(const int32_t *)got("-2147483648"), INT32_MIN);
    refuses_value("2147483648", "a whole number from -2147483648 to 2147483647, found 2147483648");
    refuses_value("\"abc\"", "a whole number from -2147483648 to 2147483647, found \"abc\"");
}

static void
reads_doubles_back_as_they_were(void **state)
{
    (void)state;
    ONE(OWED_KIND_DOUBLE, double);
    static const double numbers[] = {0, -0.0, 0.1, 1.0 / 3, DBL_MAX, DBL_MIN, 5e-324, -1e22, 1e23,
        123456789012345680, 2.2250738585072011e-308};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        const double *back = decode(&one_type, encode(&one_type, &numbers[i]));
        assert_memory_equal(back, &numbers[i], sizeof *back);
    }
    assert_true(*(const double *)got("7") == 7);
    refuses_value("1e400", "a finite number, found 1e400");
    refuses_to_write(&(double){NAN}, "a finite number, found nan");
    refuses_to_write(&(double){-INFINITY}, "a finite number, found -inf");
}

static void
takes_true_and_false_alone_for_bool(void **state)
{
    (void)state;
    ONE(OWED_KIND_BOOL, bool);
    assert_true(*(const bool *)got("true"));
    assert_false(*(const bool *)got("false"));
    refuses_value("1", "true or false, found 1");
    refuses_value("null", "true or false, found null");
    refuses_value("\"true\"", "true or false, found \"true\"");
}

static void
takes_only_text_that_c_can_hold(void **state)
{
    (void)state;
#define TEXT "a string of UTF-8 without NUL, found "
    ONE(OWED_KIND_TEXT, const char *);
    assert_string_equal(*(const char *const *)got("\"\""), "");
    assert_string_equal(
        *(const char *const *)got("\"\\ud83d\\ude00\\u00e4\""), "\360\237\230\200\303\244");
    assert_null(*(const char *const *)got("null"));
    assert_string_equal(encode(&one_type, &(const char *){NULL}), "{\"v\":null}");
    refuses_value("\"a\\u0000b\"", TEXT "\"a\\u0000b\"");
    refuses_value("\"\\ud83d\"", TEXT "\"\\ud83d\"");
    refuses_value("7", TEXT "7");
    refuses_to_write(&(const char *){"\377"}, TEXT "bytes that are not UTF-8");
    refuses_to_write(&(const char *){"\355\240\200"}, TEXT "bytes that are not UTF-8");
}

static void
cuts_what_it_shows_between_two_characters(void **state)
{
    (void)state;
    ONE(OWED_KIND_BOOL, bool);
    // The 60th byte would be the first of an umlaut's two.
    refuses_value("\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\303\244\303\244\"",
        "true or false, found \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...");
}

static void
keeps_every_digit_of_a_decimal(void **state)
{
    (void)state;
#define DECIMAL "a decimal number such as \"12.50\", found "
    ONE(OWED_KIND_DECIMAL, const char *);
    static const char *const good[] = {
        "12.50", "-0.00", "0", "007", "123456789012345678901234567890.1"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        const char *const *back = decode(&one_type, encode(&one_type, &good[i]));
        assert_string_equal(*back, good[i]);
    }
    // Other writers may put a number there: its digits are taken as they stand.
    assert_string_equal(*(const char *const *)got("12.50"), "12.50");
    assert_string_equal(*(const char *const *)got("-90071992547409931"), "-90071992547409931");
    assert_null(*(const char *const *)got("null"));
    static const char *const bad[] = {
        "", "-", ".5", "5.", "1.2.3", "+1", "1e3", " 1", "1 ", "0x1", "1,5", "\342\202\2545"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        refuses_to_write(&bad[i], arena_printf(&arena, DECIMAL "\"%s\"", bad[i]));
        refuses_value(
            arena_printf(&arena, "\"%s\"", bad[i]), arena_printf(&arena, DECIMAL "\"%s\"", bad[i]));
    }
    refuses_value("1e3", DECIMAL "1e3");
    refuses_value("\"1\\u0000\"", DECIMAL "\"1\\u0000\"");
    refuses_value("true", DECIMAL "true");
}

static void
keeps_times_to_the_microsecond(void **state)
{
    (void)state;
#define TIME "a time in RFC 3339, years 1 to 9999, such as \"2026-11-29T15:04:05Z\", found "
    ONE(OWED_KIND_TIMESTAMP, int64_t);
    static const int64_t times[] = {
        0, 1, -1, 1796000000123456, INT64_C(-62135596800000000), INT64_C(253402300799999999)};
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
        assert_true(*(const int64_t *)decode(&one_type, encode(&one_type, &times[i])) == times[i]);
    assert_true(*(const int64_t *)got("\"1970-01-01T01:00:00.5+01:00\"") == 500000);
    refuses_value("\"2026-11-29\"", TIME "\"2026-11-29\"");
    refuses_value("\"2026-02-30T00:00:00Z\"", TIME "\"2026-02-30T00:00:00Z\"");
    refuses_value("\"2026-11-29T15:04:05\"", TIME "\"2026-11-29T15:04:05\"");
    refuses_value("\"2026-11-29T15:04:05Z\\u0000\"", TIME "\"2026-11-29T15:04:05Z\\u0000\"");
    refuses_value("0", TIME "0");
    refuses_to_write(&(int64_t){INT64_MAX}, TIME "9223372036854775807 microseconds since 1970");
    refuses_to_write(
        &(int64_t){INT64_C(253402300800000000)}, TIME "253402300800000000 microseconds since 1970");
}

static void
reads_uuids_in_any_case(void **state)
{
    (void)state;
#define UUID "a UUID such as \"123e4567-e89b-12d3-a456-426614174000\", found "
    ONE(OWED_KIND_UUID, owed_uuid);
    const owed_uuid *uuid = got("\"123E4567-e89B-12d3-a456-42661417400f\"");
    assert_string_equal(
        encode(&one_type, uuid), "{\"v\":\"123e4567-e89b-12d3-a456-42661417400f\"}");
    static const char *const bad[] = {"\"\"", "\"123e4567e89b12d3a456426614174000\"",
        "\"123e4567-e89b-12d3-a456-42661417400g\"", "\"123e4567-e89b-12d3-a456-4266141740001\"",
        "\"123e4567-e89b-12d3-a4564-26614174000\"", "\"{23e4567-e89b-12d3-a456-42661417400}\"",
        "null"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        refuses_value(bad[i], arena_printf(&arena, UUID "%s", bad[i]));
}

static void
reads_base64_strictly(void **state)
{
    (void)state;
#define BASE64 "a string in padded base64, found "
    ONE(OWED_KIND_BYTES, owed_bytes);
    const owed_bytes *bytes = got("\"\"");
    assert_int_equal(bytes->len, 0);
    assert_string_equal(encode(&one_type, &(owed_bytes){NULL, 0}), "{\"v\":\"\"}");
    bytes = got("\"AAH\\/\""); // an escaped slash is a slash
    assert_int_equal(bytes->len, 3);
    static const char *const bad[] = {
        "\"AAH\"", "\"AAH/ \"", "\"AA-_\"", "\"A===\"", "\"AB==\"", "7", "null"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        refuses_value(bad[i], arena_printf(&arena, BASE64 "%s", bad[i]));
    refuses_to_write(&(owed_bytes){NULL, 5}, BASE64 "NULL with a length of 5");
}

static void
reads_and_writes_the_words_of_an_enum(void **state)
{
    (void)state;
#define WORDS "one of \"red\", \"deep \"green\"\", found "
    ONE(OWED_KIND_ENUM, int32_t, .words = colors);
    assert_int_equal(*(const int32_t *)got("\"red\""), RED);
    assert_int_equal(*(const int32_t *)got("\"r\\u0065d\""), RED);
    refuses_value("\"Red\"", WORDS "\"Red\"");
    refuses_value("\"red\\u0000\"", WORDS "\"red\\u0000\"");
    refuses_value("1", WORDS "1");
    refuses_to_write(&(int32_t){2}, WORDS "2");
}

static void
reads_all_words_for_one_value_and_writes_the_first(void **state)
{
    (void)state;
    static const owed_enum_value words[] = {{"grey", 3}, {"gray", 3}, {NULL, 0}};
    ONE(OWED_KIND_ENUM, int32_t, .words = words);
    assert_int_equal(*(const int32_t *)got("\"gray\""), 3);
    assert_string_equal(encode(&one_type, got("\"gray\"")), "{\"v\":\"grey\"}");
}

static void
reads_arrays_of_every_plain_kind(void **state)
{
    (void)state;
    static const struct {
        owed_kind kind;
        size_t size;
        const char *text;
    } cases[] = {
        {OWED_KIND_BOOL, sizeof(bool), "[true,false]"},
        {OWED_KIND_INT32, sizeof(int32_t), "[1,-2,3]"},
        {OWED_KIND_INT64, sizeof(int64_t), "[1,-9223372036854775808]"},
        {OWED_KIND_DOUBLE, sizeof(double), "[0.5,-1e+300]"},
        {OWED_KIND_TEXT, sizeof(const char *), "[\"a\",null]"},
        {OWED_KIND_DECIMAL, sizeof(const char *), "[\"1.0\",null]"},
        {OWED_KIND_TIMESTAMP, sizeof(int64_t), "[\"1970-01-01T00:00:00.000000Z\"]"},
        {OWED_KIND_UUID, sizeof(owed_uuid), "[\"123e4567-e89b-12d3-a456-426614174000\"]"},
        {OWED_KIND_BYTES, sizeof(owed_bytes), "[\"AAH/\",\"\"]"},
        {OWED_KIND_ENUM, sizeof(int32_t), "[\"red\"]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ONE(OWED_KIND_ARRAY, owed_array, .element = cases[i].kind, .size = cases[i].size,
            .words = colors);
        assert_string_equal(encode(&one_type, got(cases[i].text)),
            arena_printf(&arena, "{\"v\":%s}", cases[i].text));
        assert_string_equal(encode(&one_type, got("[]")), "{\"v\":[]}");
        refuses_value("null", "an array, found null");
        refuses_value("{}", "an array, found an object");
    }
    refuses_to_write(&(owed_array){NULL, 2}, "an array, found NULL with a count above 0");
}

/* --- keys --- */

static const char full[] =
    "\"paid\":true,\"small\":1,\"large\":2,\"weight\":3,\"note\":null,\"total\":\"1\","
    "\"placed_at\":\"1970-01-01T00:00:00Z\",\"id\":\"123e4567-e89b-12d3-a456-426614174000\","
    "\"blob\":\"\",\"color\":\"red\"";

static const everything *
decode_rest(const char *rest)
{
    return decode(&everything_type, arena_printf(&arena, "{%s,%s}", full, rest));
}

static void
ignores_keys_that_nobody_declared(void **state)
{
    (void)state;
    const everything *value = decode_rest(
        "\"home\":{\"city\":\"Ulm\",\"x\":[1e400,{\"\\ud800\":\"\\u0000\"}]},\"tags\":[],"
        "\"lines\":[],\"Paid\":9,\"\":{},\"tags2\":[[[]]]");
    assert_string_equal(value->home.city, "Ulm");
}

static void
reads_keys_in_any_order_and_spelling(void **state)
{
    (void)state;
    const everything *value = decode(&everything_type,
        arena_printf(&arena,
            " {\"lines\" : [ ] , \"t\\u0061gs\":[\"x\"],\n\"home\":{\"zip\":5,\"city\":\"U\"},%s}\t",
            full));
    assert_int_equal(value->tags.count, 1);
    assert_int_equal(value->home.zip, 5);
    assert_int_equal(value->color, RED);
}

static void
lets_the_last_of_a_double_key_win(void **state)
{
    (void)state;
    const everything *value = decode_rest(
        "\"home\":{\"city\":\"A\",\"zip\":1},\"tags\":[\"x\",\"y\"],\"lines\":[],"
        "\"small\":\"not a number\",\"small\":9,\"tags\":[],\"home\":{\"city\":\"B\"},\"note\":\"n\"");
    assert_int_equal(value->small, 9);
    assert_int_equal(value->tags.count, 0);
    assert_string_equal(value->home.city, "B");
    assert_int_equal(value->home.zip, 0);
    assert_string_equal(value->note, "n");

    const void *none = NULL;
    ONE(OWED_KIND_INT32, int32_t);
    assert_fails(OWED_INVALID, try_decode(&one_type, "{\"v\":1,\"v\":\"x\"}", &none),
        "shop.One version 2: field v: expected a whole number from -2147483648 to 2147483647, found "
        "\"x\"");
}

static void
leaves_no_error_behind_where_it_succeeds(void **state)
{
    (void)state;
    ONE(OWED_KIND_INT32, int32_t);
    err = (owed_error){.text = "untouched"};
    decode(&one_type, "{\"v\":\"x\",\"v\":1}");
    assert_string_equal(err.text, "untouched");
}

static void
names_the_path_of_what_does_not_fit(void **state)
{
    (void)state;
    static const struct {
        const char *rest;
        const char *sentence;
    } cases[] = {
        {"\"home\":{\"city\":\"U\"},\"tags\":[],\"lines\":[{\"sku\":\"a\"},{\"sku\":\"b\"},"
         "{\"sku\":\"c\",\"quantity\":\"abc\"}]",
            "field lines[2].quantity: expected a whole number from -2147483648 to 2147483647, found "
            "\"abc\""},
        {"\"home\":{\"city\":\"U\"},\"tags\":[],\"lines\":[{\"sku\":\"a\"},{}]",
            "field lines[1].sku: expected a string of UTF-8 without NUL, found no such key"},
        {"\"home\":{\"city\":\"U\"},\"tags\":[],\"lines\":[7]",
            "field lines[0]: expected an object, found 7"},
        {"\"home\":{\"city\":\"U\"},\"tags\":[\"a\",\"b\",{}],\"lines\":[]",
            "field tags[2]: expected a string of UTF-8 without NUL, found an object"},
        {"\"home\":{},\"tags\":[],\"lines\":[]",
            "field home.city: expected a string of UTF-8 without NUL, found no such key"},
        {"\"home\":null,\"tags\":[],\"lines\":[]", "field home: expected an object, found null"},
        {"\"tags\":[],\"lines\":[]", "field home: expected an object, found no such key"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const void *value = NULL;
        const char *text = arena_printf(&arena, "{%s,%s}", full, cases[i].rest);
        assert_fails(OWED_INVALID, try_decode(&everything_type, text, &value),
            arena_printf(&arena, "shop.Everything version 3: %s", cases[i].sentence));
    }
    line broken = {"\377", 1};
    everything value = something;
    value.lines = (owed_array){&broken, 1};
    buf_clear(&json);
    assert_refused(codec_encode(&everything_type, &value, &json, &err),
        "shop.Everything version 3: field lines[0].sku: expected a string of UTF-8 without NUL, "
        "found bytes that are not UTF-8");
}

/* --- secrets --- */

typedef struct card {
    const char *number;
    int32_t month;
} card;
static const owed_field card_fields[] = {
    OWED_TEXT(card, number),
    OWED_INT32(card, month),
    OWED_FIELDS_END,
};
typedef struct payment {
    int64_t pin;
    double amount;
    card card;
    owed_array tokens;
} payment;
static const owed_field payment_fields[] = {
    OWED_INT64_WITH(payment, pin, .secret = true),
    OWED_DOUBLE_WITH(payment, amount, .secret = true),
    OWED_STRUCT_WITH(payment, card, card_fields, card, .secret = true),
    OWED_ARRAY_WITH(payment, tokens, OWED_KIND_TEXT, const char *, .secret = true),
    OWED_FIELDS_END,
};
static const owed_event_type payment_type = {
    .name = "shop.Paid", .fields = payment_fields, .size = sizeof(payment)};

static void
never_quotes_what_is_secret(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{\"pin\":\"4711\"}",
        "{\"pin\":1,\"amount\":2,\"card\":{\"number\":4711}}",
        "{\"pin\":1,\"amount\":2,\"card\":{\"number\":\"1\",\"month\":\"4711\"}}",
        "{\"pin\":1,\"amount\":2,\"card\":{\"number\":\"1\",\"month\":2},\"tokens\":[4711]}",
    };
    static const char *const sentences[] = {
        "field pin: expected a whole number from -9223372036854775808 to 9223372036854775807, found "
        "something else, which is secret",
        "field card.number: expected a string of UTF-8 without NUL, found something else, which is "
        "secret",
        "field card.month: expected a whole number from -2147483648 to 2147483647, found something "
        "else, which is secret",
        "field tokens[0]: expected a string of UTF-8 without NUL, found something else, which is "
        "secret",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const void *value = NULL;
        assert_fails(OWED_INVALID, try_decode(&payment_type, texts[i], &value),
            arena_printf(&arena, "shop.Paid version 1: %s", sentences[i]));
    }
    buf_clear(&json);
    assert_refused(codec_encode(&payment_type, &(payment){.amount = INFINITY}, &json, &err),
        "shop.Paid version 1: field amount: expected a finite number, found something else, which is "
        "secret");
}

static void
says_in_the_catalogue_what_is_secret(void **state)
{
    (void)state;
    buf_clear(&json);
    codec_describe(&payment_type, NULL, &json);
    assert_string_equal(buf_text(&json),
        "[{\"name\":\"pin\",\"kind\":\"int64\",\"secret\":true},"
        "{\"name\":\"amount\",\"kind\":\"double\",\"secret\":true},"
        "{\"name\":\"card\",\"kind\":\"struct\",\"secret\":true,\"fields\":["
        "{\"name\":\"number\",\"kind\":\"text\"},{\"name\":\"month\",\"kind\":\"int32\"}]},"
        "{\"name\":\"tokens\",\"kind\":\"array\",\"element\":\"text\",\"secret\":true}]");
}

static void
names_the_version_of_the_row_that_does_not_fit(void **state)
{
    (void)state;
    const void *value = NULL;
    assert_fails(OWED_INVALID,
        codec_decode(&everything_type, 1, str_of("[]"), &arena, &value, &err),
        "shop.Everything version 1: payload: expected an object, found an array");
}

static void
refuses_what_is_no_json(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "", "{", "{\"v\":1}x", "{\"v\":01}", "{'v':1}", "{\"v\":\"\377\"}"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const void *value = NULL;
        err = (owed_error){.status = OWED_OK};
        assert_status(OWED_INVALID, try_decode(&everything_type, bad[i], &value));
        static const char start[] = "shop.Everything version 3: payload: expected JSON, found an "
                                    "error at byte ";
        if (strncmp(err.text, start, sizeof start - 1) != 0)
            fail_msg("%s", err.text);
    }
}

static void
refuses_a_text_that_would_take_too_much_memory(void **state)
{
    (void)state;
    typedef struct page {
        char room[8000];
        int32_t v;
    } page;
    static const owed_field page_fields[] = {
        OWED_INT32_WITH(page, v, .optional = true), OWED_FIELDS_END};
    ONE(OWED_KIND_ARRAY, owed_array, .element = OWED_KIND_STRUCT, .fields = page_fields,
        .size = sizeof(page));
    buf_clear(&json);
    buf_puts(&json, "{\"v\":[{}");
    for (int i = 0; i < 40000; i++)
        buf_puts(&json, ",{}");
    buf_puts(&json, "]}");
    const void *value = NULL;
    assert_fails(OWED_LIMIT, try_decode(&one_type, buf_text(&json), &value),
        "shop.One: its arrays take more than 268435456 bytes in memory");
}

static void
says_when_a_payload_is_longer_than_the_buffer(void **state)
{
    (void)state;
    struct buf small;
    buf_init(&small, 20);
    assert_fails(OWED_LIMIT, codec_encode(&everything_type, &something, &small, &err),
        "shop.Everything: the payload is longer than 20 bytes");
    buf_done(&small);
}

static void
says_when_there_is_no_payload(void **state)
{
    (void)state;
    assert_refused(codec_encode(&everything_type, NULL, &json, &err),
        "shop.Everything: the payload is NULL; a pointer to its struct is right");
}

static void
writes_and_reads_another_key_where_one_is_declared(void **state)
{
    (void)state;
    static const owed_field fields[] = {
        OWED_TEXT_WITH(line, sku, .key = "item \"number\""),
        OWED_INT32_WITH(line, quantity, .key = "sku"),
        OWED_FIELDS_END,
    };
    static const owed_event_type type = {
        .name = "shop.Keys", .fields = fields, .size = sizeof(line)};
    assert_status(OWED_OK, codec_check(&type, &err));
    const line value = {"A", 2};
    assert_string_equal(encode(&type, &value), "{\"item \\\"number\\\"\":\"A\",\"sku\":2}");
    const line *back = decode(&type, buf_text(&json));
    assert_string_equal(back->sku, "A");
    assert_int_equal(back->quantity, 2);
}

/* --- fallbacks --- */

typedef struct fallen {
    bool paid;
    int32_t small;
    int64_t large;
    double weight;
    const char *note;
    const char *total;
    int64_t at;
    owed_uuid id;
    owed_bytes blob;
    int32_t color;
    address home;
    owed_array tags;
    owed_array lines;
    const char *nothing;
} fallen;

static const owed_field fallen_fields[] = {
    OWED_BOOL_WITH(fallen, paid, .fallback = "true"),
    OWED_INT32_WITH(fallen, small, .fallback = "-3"),
    OWED_INT64_WITH(fallen, large, .fallback = "9223372036854775807"),
    OWED_DOUBLE_WITH(fallen, weight, .fallback = "1.5e3"),
    OWED_TEXT_WITH(fallen, note, .fallback = "say \"EUR\""),
    OWED_DECIMAL_WITH(fallen, total, .fallback = "0.00"),
    OWED_TIMESTAMP_WITH(fallen, at, .fallback = "1970-01-01T00:00:01Z"),
    OWED_UUID_WITH(fallen, id, .fallback = "ffffffff-ffff-ffff-ffff-ffffffffffff"),
    OWED_BYTES_WITH(fallen, blob, .fallback = "AAH/"),
    OWED_ENUM_WITH(fallen, color, colors, .fallback = "red"),
    OWED_STRUCT_WITH(fallen, home, address_fields, address, .fallback = "{\"city\": \"Bonn\"}"),
    OWED_ARRAY_WITH(fallen, tags, OWED_KIND_TEXT, const char *, .fallback = "[\"a\", \"b\"]"),
    OWED_ARRAY_OF_WITH(fallen, lines, line_fields, line, .optional = true),
    OWED_TEXT_WITH(fallen, nothing, .optional = true),
    OWED_FIELDS_END,
};
static const owed_event_type fallen_type = {
    .name = "shop.Fallen", .fields = fallen_fields, .size = sizeof(fallen)};

static void
gives_absent_keys_their_fallbacks(void **state)
{
    (void)state;
    assert_status(OWED_OK, codec_check(&fallen_type, &err));
    const fallen *value = decode(&fallen_type, "{}");
    assert_true(value->paid);
    assert_int_equal(value->small, -3);
    assert_true(value->large == INT64_MAX);
    assert_true(value->weight == 1500);
    assert_string_equal(value->note, "say \"EUR\"");
    assert_string_equal(value->total, "0.00");
    assert_int_equal(value->at, 1000000);
    assert_int_equal(value->id.bytes[15], 0xff);
    assert_int_equal(value->blob.len, 3);
    assert_int_equal(value->color, RED);
    assert_string_equal(value->home.city, "Bonn");
    assert_int_equal(value->tags.count, 2);
    assert_string_equal(((const char *const *)value->tags.items)[1], "b");
    assert_int_equal(value->lines.count, 0);
    assert_null(value->nothing);
    // What is there wins, null included.
    value = decode(&fallen_type, "{\"note\":null,\"small\":0}");
    assert_null(value->note);
    assert_int_equal(value->small, 0);
}

static void
refuses_fallbacks_that_do_not_fit(void **state)
{
    (void)state;
    static const struct {
        owed_field field;
        size_t size;
        const char *sentence;
    } cases[] = {
        {{.kind = OWED_KIND_BOOL, .fallback = "yes"}, sizeof(bool), "true or false, found yes"},
        {{.kind = OWED_KIND_BOOL, .fallback = "1"}, sizeof(bool), "true or false, found 1"},
        {{.kind = OWED_KIND_INT32, .fallback = ""}, sizeof(int32_t),
            "a whole number from -2147483648 to 2147483647, found "},
        {{.kind = OWED_KIND_INT32, .fallback = "2147483648"}, sizeof(int32_t),
            "a whole number from -2147483648 to 2147483647, found 2147483648"},
        {{.kind = OWED_KIND_INT32, .fallback = "null"}, sizeof(int32_t),
            "a whole number from -2147483648 to 2147483647, found null"},
        {{.kind = OWED_KIND_TEXT, .fallback = "\377"}, sizeof(const char *),
            "a string of UTF-8 without NUL, found \377"},
        {{.kind = OWED_KIND_TIMESTAMP, .fallback = "today"}, sizeof(int64_t),
            "a time in RFC 3339, years 1 to 9999, such as \"2026-11-29T15:04:05Z\", found today"},
        {{.kind = OWED_KIND_ENUM, .words = colors, .fallback = "blue"}, sizeof(int32_t),
            "one of \"red\", \"deep \"green\"\", found blue"},
        {{.kind = OWED_KIND_ARRAY,
             .element = OWED_KIND_TEXT,
             .size = sizeof(const char *),
             .fallback = "a, b"},
            sizeof(owed_array), "an array, found a, b"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        owed_field fields[] = {cases[i].field, OWED_FIELDS_END};
        fields[0].name = "v";
        const owed_event_type type = {.name = "shop.X", .fields = fields, .size = cases[i].size};
        assert_refused(codec_check(&type, &err),
            arena_printf(&arena, "shop.X version 1: field v: expected %s as its fallback",
                cases[i].sentence));
    }
}

/* --- descriptors --- */

struct bad_type {
    owed_event_type type;
    const char *sentence;
};
#define FIELDS(...) \
    .fields = (const owed_field[]) \
    { \
        __VA_ARGS__, OWED_FIELDS_END \
    }

static const owed_field *endless_fields(void);

static void
refuses_descriptors_that_cannot_be(void **state)
{
    (void)state;
    static const owed_enum_value no_words[] = {{NULL, 0}};
    static const owed_enum_value twice[] = {{"a", 1}, {"a", 2}, {NULL, 0}};
    static const owed_enum_value empty_word[] = {{"", 1}, {NULL, 0}};
#define X "event \"shop.X\": field "
    const struct bad_type cases[] = {
        {{.name = "shop X"},
            "event \"shop X\": 1 to 255 letters, digits, \"_\", \".\" and \"-\" are "
            "right, such as \"shop.OrderPlaced\""},
        {{.name = "shop.X", .version = 32768},
            "event \"shop.X\": version is 32768; 1 to 32767 is right"},
        {{.name = "shop.X", .version = -1}, "event \"shop.X\": version is -1; 1 to 32767 is right"},
        {{.name = "shop.X", .size = 8},
            "event \"shop.X\": a size without fields; an opaque type has neither"},
        {{.name = "shop.X", .size = sizeof(line), FIELDS(OWED_TEXT(line, sku), {.name = "lost"})},
            X "lost has no kind that there is; one of owed_kind is right"},
        {{.name = "shop.X",
             .size = sizeof(line),
             FIELDS({.kind = (owed_kind)(OWED_KIND_ARRAY + 1), .name = "odd"})},
            X "odd has no kind that there is; one of owed_kind is right"},
        {{.name = "shop.X", .size = sizeof(line), FIELDS({.kind = OWED_KIND_TEXT})},
            X "? (number 1) has no proper name; 1 to 255 bytes of UTF-8 are right"},
        {{.name = "shop.X", .size = sizeof(line), FIELDS({.kind = OWED_KIND_TEXT, .name = ""})},
            X "? (number 1) has no proper name; 1 to 255 bytes of UTF-8 are right"},
        {{.name = "shop.X",
             .size = sizeof(line),
             FIELDS(OWED_TEXT(line, sku), OWED_INT32_WITH(line, quantity, .key = "sku"))},
            X "sku is there twice; once is right"},
        {{.name = "shop.X",
             .size = sizeof(line),
             FIELDS(OWED_TEXT(line, sku), OWED_TEXT_WITH(line, sku, .key = "other"))},
            X "other stands in the same place as sku; a member for each field is right"},
        {{.name = "shop.X", .size = 8, FIELDS(OWED_TEXT(line, sku), OWED_INT32(line, quantity))},
            X "quantity ends after the 8 bytes of its struct; the size must be sizeof the struct"},
        {{.name = "shop.X", FIELDS(OWED_TEXT(line, sku))},
            X "sku ends after the 0 bytes of its struct; the size must be sizeof the struct"},
        {{.name = "shop.X", .size = 8, FIELDS({.kind = OWED_KIND_ENUM, .name = "e"})},
            X "e has no words; an enum needs one at least"},
        {{.name = "shop.X",
             .size = 8,
             FIELDS({.kind = OWED_KIND_ENUM, .name = "e", .words = no_words})},
            X "e has no words; an enum needs one at least"},
        {{.name = "shop.X",
             .size = 8,
             FIELDS({.kind = OWED_KIND_ENUM, .name = "e", .words = twice})},
            X "e has the word \"a\" twice; once is right"},
        {{.name = "shop.X",
             .size = 8,
             FIELDS({.kind = OWED_KIND_ENUM, .name = "e", .words = empty_word})},
            X "e has a bad word; 1 to 255 bytes of UTF-8 are right"},
        {{.name = "shop.X", .size = 16, FIELDS({.kind = OWED_KIND_ARRAY, .name = "a", .size = 8})},
            X
            "a is an array of nothing that an array can hold; any kind but END and ARRAY is right"},
        {{.name = "shop.X",
             .size = 16,
             FIELDS(
                 {.kind = OWED_KIND_ARRAY, .element = OWED_KIND_ARRAY, .name = "a", .size = 16})},
            X
            "a is an array of nothing that an array can hold; any kind but END and ARRAY is right"},
        {{.name = "shop.X",
             .size = 16,
             FIELDS({.kind = OWED_KIND_ARRAY, .element = OWED_KIND_INT32, .name = "a", .size = 8})},
            X "a has elements of 8 bytes; 4 are right for an array of int32"},
        {{.name = "shop.X", .size = 16, FIELDS({.kind = OWED_KIND_STRUCT, .name = "s", .size = 8})},
            X "s has no fields or no size; both are needed for a struct"},
        {{.name = "shop.X",
             .size = sizeof(everything),
             FIELDS({.kind = OWED_KIND_ARRAY,
                 .element = OWED_KIND_STRUCT,
                 .name = "lines",
                 .size = 8,
                 .fields = line_fields})},
            X "lines.quantity ends after the 8 bytes of its struct; the size must be sizeof the "
              "struct"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_refused(codec_check(&cases[i].type, &err), cases[i].sentence);
}

/* A type of one field of each sort, in which a case changes one word. */
static owed_event_type
line_type(const owed_field *fields)
{
    return (owed_event_type){.name = "shop.Line", .version = 1, .fields = fields, .size = 64};
}
#define LINE(...) line_type((const owed_field[]){__VA_ARGS__, OWED_FIELDS_END})

static void
tells_types_apart_by_every_word(void **state)
{
    (void)state;
    static const owed_enum_value copied[] = {{"red", RED}, {"deep \"green\"", GREEN}, {NULL, 0}};
    static const owed_enum_value longer[] = {
        {"red", RED}, {"deep \"green\"", GREEN}, {"x", 9}, {NULL, 0}};
    static const owed_enum_value other_word[] = {{"red", RED}, {"green", GREEN}, {NULL, 0}};
    static const owed_enum_value other_value[] = {{"red", RED}, {"deep \"green\"", 8}, {NULL, 0}};
    static const owed_field inner[] = {OWED_TEXT(line, sku), OWED_FIELDS_END};
#define ENUM_FIELD(words_) \
    { \
        .kind = OWED_KIND_ENUM, .name = "e", .offset = 32, .words = (words_) \
    }
#define TEXT_FIELD(...) \
    { \
        .kind = OWED_KIND_TEXT, .name = "t", .offset = 8, __VA_ARGS__ \
    }
#define STRUCT_FIELD(fields_, size_) \
    { \
        .kind = OWED_KIND_STRUCT, .name = "s", .offset = 16, .fields = (fields_), .size = (size_) \
    }
#define ARRAY_FIELD(element_) \
    { \
        .kind = OWED_KIND_ARRAY, .name = "a", .offset = 40, .element = (element_), .size = 4 \
    }
    const owed_event_type first = LINE(TEXT_FIELD(.fallback = "x"), STRUCT_FIELD(line_fields, 16),
        ENUM_FIELD(colors), ARRAY_FIELD(OWED_KIND_INT32));
    owed_event_type same = LINE(TEXT_FIELD(.fallback = arena_strdup(&arena, "x"), .key = "t"),
        STRUCT_FIELD(line_fields, 16), ENUM_FIELD(copied), ARRAY_FIELD(OWED_KIND_INT32));
    assert_true(codec_same(&first, &first));
    assert_true(codec_same(&first, &same));
    same.version = 0; // reads as 1
    assert_true(codec_same(&first, &same));

    const owed_event_type others[] = {
        LINE(TEXT_FIELD(.fallback = "y"), STRUCT_FIELD(line_fields, 16), ENUM_FIELD(colors),
            ARRAY_FIELD(OWED_KIND_INT32)),
        LINE(TEXT_FIELD(.optional = true), STRUCT_FIELD(line_fields, 16), ENUM_FIELD(colors),
            ARRAY_FIELD(OWED_KIND_INT32)),
        LINE(TEXT_FIELD(.fallback = "x", .optional = true), STRUCT_FIELD(line_fields, 16),
            ENUM_FIELD(colors), ARRAY_FIELD(OWED_KIND_INT32)),
        LINE(TEXT_FIELD(.fallback = "x", .key = "u"), STRUCT_FIELD(line_fields, 16),
            ENUM_FIELD(colors), ARRAY_FIELD(OWED_KIND_INT32)),
        LINE(TEXT_FIELD(.fallback = "x"), STRUCT_FIELD(inner, 16), ENUM_FIELD(colors),
            ARRAY_FIELD(OWED_KIND_INT32)),
        LINE(TEXT_FIELD(.fallback = "x"), STRUCT_FIELD(line_fields, 24), ENUM_FIELD(colors),
            ARRAY_FIELD(OWED_KIND_INT32)),
        LINE(TEXT_FIELD(.fallback = "x"), STRUCT_FIELD(line_fields, 16), ENUM_FIELD(longer),
            ARRAY_FIELD(OWED_KIND_INT32)),
        LINE(TEXT_FIELD(.fallback = "x"), STRUCT_FIELD(line_fields, 16), ENUM_FIELD(other_word),
            ARRAY_FIELD(OWED_KIND_INT32)),
        LINE(TEXT_FIELD(.fallback = "x"), STRUCT_FIELD(line_fields, 16), ENUM_FIELD(other_value),
            ARRAY_FIELD(OWED_KIND_INT32)),
        LINE(TEXT_FIELD(.fallback = "x"), STRUCT_FIELD(line_fields, 16), ENUM_FIELD(colors),
            ARRAY_FIELD(OWED_KIND_ENUM)),
        LINE(TEXT_FIELD(.fallback = "x"), STRUCT_FIELD(line_fields, 16), ENUM_FIELD(colors)),
        LINE(TEXT_FIELD(.fallback = "x"), STRUCT_FIELD(line_fields, 16), ENUM_FIELD(colors),
            ARRAY_FIELD(OWED_KIND_INT32), {.kind = OWED_KIND_BOOL, .name = "more"}),
        {.name = "shop.Line", .version = 1},
        {.name = "shop.Line", .version = 2, .fields = first.fields, .size = 64},
        {.name = "shop.Lime", .version = 1, .fields = first.fields, .size = 64},
        {.name = "shop.Line", .version = 1, .fields = first.fields, .size = 72},
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (codec_same(&first, &others[i]) || codec_same(&others[i], &first))
            fail_msg("case %zu counts as the same", i);
    }
}

static void
refuses_a_struct_that_holds_itself(void **state)
{
    (void)state;
    const owed_event_type type = {
        .name = "shop.X", .fields = endless_fields(), .size = sizeof(owed_array)};
    err = (owed_error){.status = OWED_OK};
    assert_status(OWED_CONFIG, codec_check(&type, &err));
    static const char end[] = "is more than 32 structs deep; fewer are right (a struct cannot hold "
                              "itself)";
    assert_non_null(strstr(err.text, end));
}

static const owed_field *
endless_fields(void)
{
    static owed_field fields[2];
    fields[0] = (owed_field){.kind = OWED_KIND_ARRAY,
        .element = OWED_KIND_STRUCT,
        .name = "c",
        .fields = fields,
        .size = sizeof(owed_array)};
    fields[1] = (owed_field)OWED_FIELDS_END;
    return fields;
}

static void
takes_structs_up_to_thirty_two_deep(void **state)
{
    (void)state;
    static owed_field fields[32][2];
    for (int i = 0; i < 32; i++) {
        fields[i][0] = (owed_field){.kind = i == 31 ? OWED_KIND_INT32 : OWED_KIND_STRUCT,
            .name = "d",
            .fields = i == 31 ? NULL : fields[i + 1],
            .size = 4};
        fields[i][1] = (owed_field)OWED_FIELDS_END;
    }
    const owed_event_type type = {.name = "shop.Deep", .fields = fields[0], .size = 4};
    assert_status(OWED_OK, codec_check(&type, &err));
    const int32_t *back = decode(&type, encode(&type, &(int32_t){7}));
    assert_int_equal(*back, 7);
}

static void
takes_fields_in_another_order_than_the_struct_has_them(void **state)
{
    (void)state;
    static const owed_field fields[] = {
        OWED_INT32(line, quantity), OWED_TEXT(line, sku), OWED_FIELDS_END};
    const owed_event_type type = {.name = "shop.Line", .fields = fields, .size = sizeof(line)};
    assert_status(OWED_OK, codec_check(&type, &err));
    assert_string_equal(encode(&type, &(line){"A", 2}), "{\"quantity\":2,\"sku\":\"A\"}");
}

static void
takes_512_fields_and_no_more(void **state)
{
    (void)state;
    static owed_field fields[514];
    static char names[513][8];
    static int32_t values[513];
    for (int i = 0; i < 513; i++) {
        snprintf(names[i], sizeof names[i], "f%d", i);
        values[i] = i;
        fields[i] = (owed_field){
            .kind = OWED_KIND_INT32, .name = names[i], .offset = (size_t)i * sizeof(int32_t)};
    }
    fields[512].kind = OWED_KIND_END;
    fields[512].name = NULL;
    const owed_event_type type = {.name = "shop.Wide", .fields = fields, .size = sizeof values};
    assert_status(OWED_OK, codec_check(&type, &err));
    const int32_t *back = decode(&type, encode(&type, values));
    assert_memory_equal(back, values, 512 * sizeof(int32_t));
    fields[512] =
        (owed_field){.kind = OWED_KIND_INT32, .name = names[512], .offset = 512 * sizeof(int32_t)};
    assert_refused(codec_check(&type, &err),
        "event \"shop.Wide\": field f512 is one too many; at "
        "most 512 and OWED_FIELDS_END are right");
}

/* --- opaque types, and the catalogue's description --- */

static void
passes_opaque_payloads_on_as_they_stand(void **state)
{
    (void)state;
    static const owed_event_type opaque = {.name = "shop.Raw"};
    static const char text[] = " {\"b\":1,\"a\":1e400, \"a\":\"\\u0000\\ud800\"} ";
    assert_string_equal(encode(&opaque, &(owed_bytes){text, sizeof text - 1}), text);
    const owed_bytes *bytes = decode(&opaque, text);
    assert_ptr_equal(bytes->data, text);
    assert_int_equal(bytes->len, sizeof text - 1);
    buf_clear(&json);
    assert_status(OWED_CONFIG, codec_encode(&opaque, &(owed_bytes){"{", 1}, &json, &err));
    assert_status(OWED_CONFIG, codec_encode(&opaque, &(owed_bytes){NULL, 0}, &json, &err));
    assert_int_equal(json.len, 0);
    const void *value = NULL;
    assert_status(OWED_INVALID, try_decode(&opaque, "{\"a\":", &value));
}

static void
describes_fields_for_the_catalogue(void **state)
{
    (void)state;
    buf_clear(&json);
    codec_describe(&(owed_event_type){.name = "shop.X",
                       FIELDS(OWED_TEXT_WITH(line, sku, .fallback = "\"x\""),
                           OWED_INT32_WITH(line, quantity, .optional = true),
                           OWED_ENUM(everything, color, colors),
                           OWED_ARRAY_OF(everything, lines, line_fields, line))},
        NULL, &json);
    assert_string_equal(buf_text(&json),
        "[{\"name\":\"sku\",\"kind\":\"text\",\"optional\":true,\"fallback\":\"\\\"x\\\"\"},"
        "{\"name\":\"quantity\",\"kind\":\"int32\",\"optional\":true},"
        "{\"name\":\"color\",\"kind\":\"enum\",\"words\":[\"red\",\"deep \\\"green\\\"\"]},"
        "{\"name\":\"lines\",\"kind\":\"array\",\"element\":\"struct\",\"fields\":["
        "{\"name\":\"sku\",\"kind\":\"text\"},"
        "{\"name\":\"quantity\",\"kind\":\"int32\",\"optional\":true,\"fallback\":\"1\"}]}]");
    buf_clear(&json);
    codec_describe(&owed_any_event, NULL, &json);
    assert_string_equal(buf_text(&json), "[]");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(writes_every_kind),
        TEST(reads_every_kind_back),
        TEST(reads_whole_numbers_exactly),
        TEST(keeps_small_numbers_in_their_range),
        TEST(reads_doubles_back_as_they_were),
        TEST(takes_true_and_false_alone_for_bool),
        TEST(takes_only_text_that_c_can_hold),
        TEST(cuts_what_it_shows_between_two_characters),
        TEST(keeps_every_digit_of_a_decimal),
        TEST(keeps_times_to_the_microsecond),
        TEST(reads_uuids_in_any_case),
        TEST(reads_base64_strictly),
        TEST(reads_and_writes_the_words_of_an_enum),
        TEST(reads_all_words_for_one_value_and_writes_the_first),
        TEST(reads_arrays_of_every_plain_kind),
        TEST(ignores_keys_that_nobody_declared),
        TEST(reads_keys_in_any_order_and_spelling),
        TEST(lets_the_last_of_a_double_key_win),
        TEST(leaves_no_error_behind_where_it_succeeds),
        TEST(names_the_path_of_what_does_not_fit),
        TEST(never_quotes_what_is_secret),
        TEST(says_in_the_catalogue_what_is_secret),
        TEST(names_the_version_of_the_row_that_does_not_fit),
        TEST(refuses_what_is_no_json),
        TEST(refuses_a_text_that_would_take_too_much_memory),
        TEST(says_when_a_payload_is_longer_than_the_buffer),
        TEST(says_when_there_is_no_payload),
        TEST(writes_and_reads_another_key_where_one_is_declared),
        TEST(gives_absent_keys_their_fallbacks),
        TEST(refuses_fallbacks_that_do_not_fit),
        TEST(refuses_descriptors_that_cannot_be),
        TEST(tells_types_apart_by_every_word),
        TEST(refuses_a_struct_that_holds_itself),
        TEST(takes_structs_up_to_thirty_two_deep),
        TEST(takes_fields_in_another_order_than_the_struct_has_them),
        TEST(takes_512_fields_and_no_more),
        TEST(passes_opaque_payloads_on_as_they_stand),
        TEST(describes_fields_for_the_catalogue),
    };
    return cmocka_run_group_tests_name("codec", tests, NULL, NULL);
}
