/* SPDX-License-Identifier: MIT
 *
 * json_bench.c - how fast the scanner checks a document, and how fast the codec reads a payload into a
 * struct, beside jansson doing the same.
 *
 * usage: json_bench [SECONDS]    about one second for each figure
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "declare/codec.h"
#include "json_bench.h"

#define DOCUMENT_BYTES ((size_t)1024 * 1024)

/* A document is an array of records, as many as fit. */
struct shape {
    const char *name;
    void (*add)(struct buf *text, int number);
};

static void
add_order(struct buf *text, int number)
{
    buf_printf(text,
        "{\"order_id\":%d,\"customer\":\"customer-%d@example.com\",\"total_cents\":%d,"
        "\"lines\":[{\"sku\":\"A-%d\",\"count\":%d},{\"sku\":\"B-1\",\"count\":2}],"
        "\"paid\":true,\"note\":null}",
        number, number, number * 37, number, number % 9);
}

static void
add_article(struct buf *text, int number)
{
    buf_printf(text, "{\"id\":%d,\"body\":\"", number);
    for (int i = 0; i < 40; i++)
        buf_puts(text, "What was promised is kept, and what is kept is told. ");
    buf_puts(text, "\"}");
}

static void
add_greeting(struct buf *text, int number)
{
    buf_printf(text, "{\"id\":%d,\"body\":\"", number);
    for (int i = 0; i < 20; i++)
        buf_puts(text,
            "Gr\xc3\xbc\xc3\x9f"
            "e aus K\xc3\xb6ln, \xe6\x9d\xb1\xe4\xba\xac\\n");
    buf_puts(text, "\"}");
}

static void
add_reading(struct buf *text, int number)
{
    buf_printf(text, "[%d,%d.%06d,-%d.5e-7,%" PRId64 "]", number, number % 360, number, number,
        INT64_C(1796040000000000) + number);
}

static const struct shape shapes[] = {
    {"orders", add_order},
    {"long strings", add_article},
    {"not ASCII", add_greeting},
    {"numbers", add_reading},
};

static void
build(const struct shape *shape, struct buf *text)
{
    buf_clear(text);
    buf_putc(text, '[');
    for (int i = 0; text->len < DOCUMENT_BYTES; i++) {
        buf_puts(text, i == 0 ? "" : ",");
        shape->add(text, i);
    }
    buf_putc(text, ']');
}

static bool
check_ours(struct str text)
{
    return json_check(text, LIMIT_PAYLOAD_DEPTH, NULL) == OWED_OK;
}

/* rate gives MB/s over about the given time. */
static double
rate(bool (*read)(struct str text), struct str text, double seconds)
{
    int64_t start = clock_monotonic_us(&clock_system);
    int64_t spent = 0;
    double bytes = 0;
    while ((double)spent < seconds * (double)US_PER_SECOND) {
        if (!read(text)) {
            fputs("json_bench: a document was refused\n", stderr);
            exit(1);
        }
        bytes += (double)text.len;
        spent = clock_monotonic_us(&clock_system) - start;
    }
    return bytes / (double)spent;
}

/* --- one payload into a struct --- */

typedef struct line {
    const char *sku;
    int64_t count;
} line;
static const owed_field line_fields[] = {
    OWED_TEXT(line, sku),
    OWED_INT64(line, count),
    OWED_FIELDS_END,
};
typedef struct order {
    int64_t order_id;
    const char *customer;
    int64_t total_cents;
    owed_array lines;
    bool paid;
    const char *note;
} order;
static const owed_field order_fields[] = {
    OWED_INT64(order, order_id),
    OWED_TEXT(order, customer),
    OWED_INT64(order, total_cents),
    OWED_ARRAY_OF(order, lines, line_fields, line),
    OWED_BOOL(order, paid),
    OWED_TEXT(order, note),
    OWED_FIELDS_END,
};
static const owed_event_type order_type = {
    .name = "bench.Order", .version = 1, .fields = order_fields, .size = sizeof(order)};

static bool
decode_ours(struct str text)
{
    static struct arena arena; // as a relay has one for a batch
    const void *value = NULL;
    bool is_read = codec_decode(&order_type, 1, text, &arena, &value, NULL) == OWED_OK;
    arena_reset(&arena);
    return is_read;
}

/* copy_bytes is what no reader can beat. */
static bool
copy_bytes(struct str text)
{
    static char copy[2 * DOCUMENT_BYTES];
    memcpy(copy, text.p, text.len);
    __asm__ volatile("" : : "r"(copy) : "memory");
    return true;
}

static void
compare_codecs(struct buf *text, double seconds)
{
    buf_clear(text);
    add_order(text, 4711);
    double size = (double)text->len;
    double ours = rate(decode_ours, buf_view(text), seconds) / size;
    double theirs = rate(json_bench_jansson_order, buf_view(text), seconds) / size;
    printf("\n%-14s %14s %14s %7s\n", "payload", "codec_decode", "jansson", "ratio");
    printf("%-14s %10.2f M/s %10.2f M/s %6.1fx\n", "one order", ours, theirs, ours / theirs);
}

int
main(int argc, char **argv)
{
    double seconds = argc > 1 ? strtod(argv[1], NULL) : 1;
    struct buf text;
    buf_init(&text, 2 * DOCUMENT_BYTES);
    printf("%-14s %14s %14s %7s %14s\n", "document", "json_check", "jansson", "ratio", "memcpy");
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        build(&shapes[i], &text);
        double ours = rate(check_ours, buf_view(&text), seconds);
        double theirs = rate(json_bench_jansson, buf_view(&text), seconds);
        double memory = rate(copy_bytes, buf_view(&text), seconds / 4);
        printf("%-14s %9.0f MB/s %9.0f MB/s %6.1fx %9.0f MB/s\n", shapes[i].name, ours, theirs,
            ours / theirs, memory);
    }
    compare_codecs(&text, seconds);
    buf_done(&text);
    return 0;
}
