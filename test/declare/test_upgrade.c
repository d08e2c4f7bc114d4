/* SPDX-License-Identifier: MIT
 *
 * test_upgrade.c - payloads of yesterday and of tomorrow, read by the types of today.
 */
#include "common.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "declare/codec.h"

/* Version 1 had an amount as text; 2 has cents; 3 has only added a field, and 4 a list of lines. */
typedef struct order_1 {
    int64_t order_id;
    const char *amount;
} order_1;
static const owed_field fields_1[] = {
    OWED_INT64(order_1, order_id),
    OWED_TEXT(order_1, amount),
    OWED_FIELDS_END,
};
static const owed_event_type type_1 = {
    .name = "shop.Order", .version = 1, .fields = fields_1, .size = sizeof(order_1)};

typedef struct order_2 {
    int64_t order_id;
    int64_t cents;
    const char *currency; // since version 3
} order_2;
static const owed_field fields_2[] = {
    OWED_INT64(order_2, order_id),
    OWED_INT64(order_2, cents),
    OWED_TEXT_WITH(order_2, currency, .fallback = "EUR"),
    OWED_FIELDS_END,
};

static bool
to_cents(owed_upgrade *upgrade, const void *before, void *after)
{
    const order_1 *old = before;
    order_2 *new = after;
    int64_t whole = 0;
    int64_t cents = 0;
    char sign = '\0';
    if (sscanf(old->amount, "%" SCNd64 ".%" SCNd64 "%c", &whole, &cents, &sign) != 2)
        return owed_upgrade_refuse(upgrade, "amount \"%s\" is no amount", old->amount);
    new->order_id = old->order_id;
    new->cents = whole * 100 + cents;
    return true;
}
static const owed_event_type type_3 = {
    .name = "shop.Order",
    .version = 3,
    .fields = fields_2,
    .size = sizeof(order_2),
    .before = &type_1,
    .upgrade = to_cents,
};

typedef struct line {
    const char *what;
    int64_t cents;
} line;
static const owed_field line_fields[] = {
    OWED_TEXT(line, what),
    OWED_INT64(line, cents),
    OWED_FIELDS_END,
};
typedef struct order_4 {
    int64_t order_id;
    const char *label;
    owed_array lines;
} order_4;
static const owed_field fields_4[] = {
    OWED_INT64(order_4, order_id),
    OWED_TEXT(order_4, label),
    OWED_ARRAY_OF(order_4, lines, line_fields, line),
    OWED_FIELDS_END,
};

static bool
to_lines(owed_upgrade *upgrade, const void *before, void *after)
{
    const order_2 *old = before;
    order_4 *new = after;
    line *only = owed_upgrade_alloc(upgrade, sizeof *only);
    if (only == NULL)
        return owed_upgrade_refuse(upgrade, "no memory");
    only->what = old->currency;
    only->cents = old->cents;
    new->order_id = old->order_id;
    new->label = owed_upgrade_text(upgrade, "order %" PRId64 ", fired with version %d",
        old->order_id, (int)owed_upgrade_version(upgrade));
    new->lines = (owed_array){only, 1};
    return true;
}
static const owed_event_type type_4 = {
    .name = "shop.Order",
    .version = 4,
    .fields = fields_4,
    .size = sizeof(order_4),
    .before = &type_3,
    .upgrade = to_lines,
};

static struct arena arena;
static owed_error err;

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

static const void *
decode(const owed_event_type *type, int32_t version, const char *text)
{
    const void *value = NULL;
    if (codec_decode(type, version, str_of(text), &arena, &value, &err) != OWED_OK)
        fail_msg("%s: %s", text, err.text);
    return value;
}

static void
refuses(const owed_event_type *type, int32_t version, const char *text, const char *sentence)
{
    const void *value = NULL;
    assert_fails(
        OWED_INVALID, codec_decode(type, version, str_of(text), &arena, &value, &err), sentence);
    assert_null(value);
}

static void
upgrades_a_payload_of_an_older_version(void **state)
{
    (void)state;
    const order_2 *order = decode(&type_3, 1, "{\"order_id\":7,\"amount\":\"12.50\"}");
    assert_int_equal(order->order_id, 7);
    assert_int_equal(order->cents, 1250);
    // What the upgrade leaves alone has its fallback.
    assert_string_equal(order->currency, "EUR");
}

static void
upgrades_step_by_step(void **state)
{
    (void)state;
    const order_4 *order = decode(&type_4, 1, "{\"order_id\":7,\"amount\":\"12.50\"}");
    assert_string_equal(order->label, "order 7, fired with version 1");
    assert_int_equal(order->lines.count, 1);
    const line *lines = order->lines.items;
    assert_string_equal(lines[0].what, "EUR");
    assert_int_equal(lines[0].cents, 1250);
}

static void
begins_with_the_type_that_was_fired(void **state)
{
    (void)state;
    // Version 3 is read as it is by the type of version 3, and goes one step.
    const order_4 *order = decode(&type_4, 3, "{\"order_id\":7,\"cents\":5,\"currency\":\"CHF\"}");
    assert_string_equal(order->label, "order 7, fired with version 3");
    assert_string_equal(((const line *)order->lines.items)->what, "CHF");
    // Nobody kept version 2: it is read by the youngest type that is no younger.
    assert_int_equal(
        ((const order_2 *)decode(&type_3, 2, "{\"order_id\":7,\"amount\":\"1.05\"}"))->cents, 105);
    // Older than all of them: the oldest reads it.
    assert_int_equal(
        ((const order_2 *)decode(&type_3, 0, "{\"order_id\":7,\"amount\":\"1.06\"}"))->cents, 106);
}

static void
never_upgrades_what_is_as_new_or_newer(void **state)
{
    (void)state;
    static const char text[] = "{\"order_id\":7,\"cents\":5,\"brand_new\":[1]}";
    assert_int_equal(((const order_2 *)decode(&type_3, 3, text))->cents, 5);
    assert_int_equal(((const order_2 *)decode(&type_3, 9, text))->cents, 5);
}

static void
says_that_a_newer_version_is_not_known(void **state)
{
    (void)state;
    refuses(&type_3, 4, "{\"order_id\":7,\"lines\":[]}",
        "shop.Order version 4: field cents: expected a whole number from -9223372036854775808 to "
        "9223372036854775807, found no such key; this program knows no version above 3");
    refuses(&type_3, 3, "{\"order_id\":7,\"lines\":[]}",
        "shop.Order version 3: field cents: expected a whole number from -9223372036854775808 to "
        "9223372036854775807, found no such key");
}

static void
says_why_an_upgrade_refused(void **state)
{
    (void)state;
    refuses(&type_3, 1, "{\"order_id\":7,\"amount\":\"much\"}",
        "shop.Order version 1: its upgrade to version 3 failed: amount \"much\" is no amount");
    // The second step is not taken.
    refuses(&type_4, 1, "{\"order_id\":7,\"amount\":\"much\"}",
        "shop.Order version 1: its upgrade to version 3 failed: amount \"much\" is no amount");
}

static void
reads_the_old_payload_by_the_old_rules(void **state)
{
    (void)state;
    refuses(&type_4, 1, "{\"order_id\":7}",
        "shop.Order version 1: field amount: expected a string of UTF-8 without NUL, found no such key");
    refuses(&type_4, 1, "{\"order_id\":",
        "shop.Order version 1: payload: expected JSON, found an error at byte 13: expected a value, "
        "found the end");
}

/* --- what an upgrade may not make --- */

static bool
says_nothing(owed_upgrade *upgrade, const void *before, void *after)
{
    (void)upgrade;
    (void)before;
    (void)after;
    return false;
}

static bool
refuses_and_goes_on(owed_upgrade *upgrade, const void *before, void *after)
{
    (void)before;
    (void)after;
    owed_upgrade_refuse(upgrade, "it is %s", "Sunday");
    return true;
}

typedef struct weight {
    double kilos;
    owed_array parts;
} weight;
static const owed_field weight_fields[] = {
    OWED_DOUBLE_WITH(weight, kilos, .fallback = "1.5"),
    OWED_ARRAY(weight, parts, OWED_KIND_INT64, int64_t),
    OWED_FIELDS_END,
};

static bool
makes_no_number(owed_upgrade *upgrade, const void *before, void *after)
{
    (void)upgrade;
    (void)before;
    ((weight *)after)->kilos = NAN;
    return true;
}

static void
refuses_what_an_upgrade_should_not_have_made(void **state)
{
    (void)state;
    static const char text[] = "{\"order_id\":7,\"amount\":\"12.50\"}";
    owed_event_type type = type_3;
    type.upgrade = says_nothing;
    refuses(&type, 1, text,
        "shop.Order version 1: its upgrade to version 3 failed: it did not say why");
    type.upgrade = refuses_and_goes_on;
    refuses(&type, 1, text, "shop.Order version 1: its upgrade to version 3 failed: it is Sunday");
    type.fields = weight_fields;
    type.size = sizeof(weight);
    type.upgrade = makes_no_number;
    refuses(&type, 1, text,
        "shop.Order version 1: its upgrade made what cannot be: shop.Order version 3: field kilos: "
        "expected a finite number, found nan");
}

/* --- text to text --- */

static bool
wrap(owed_upgrade *upgrade, const void *before, void *after)
{
    const owed_bytes *old = before;
    const char *text =
        owed_upgrade_text(upgrade, "{\"old\":%.*s}", (int)old->len, (const char *)old->data);
    if (text == NULL)
        return false;
    *(owed_bytes *)after = (owed_bytes){text, strlen(text)};
    return true;
}

static bool
breaks(owed_upgrade *upgrade, const void *before, void *after)
{
    (void)upgrade;
    (void)before;
    *(owed_bytes *)after = (owed_bytes){"{", 1};
    return true;
}

static void
upgrades_opaque_payloads_as_text(void **state)
{
    (void)state;
    static const owed_event_type old = {.name = "shop.Note", .version = 1};
    owed_event_type type = {.name = "shop.Note", .version = 2, .before = &old, .upgrade = wrap};
    const owed_bytes *bytes = decode(&type, 1, "{\"a\": 1e400}");
    assert_int_equal(bytes->len, 20);
    assert_memory_equal(bytes->data, "{\"old\":{\"a\": 1e400}}", 20);
    type.upgrade = breaks;
    refuses(&type, 1, "{}",
        "shop.Note version 1: its upgrade made what cannot be: shop.Note: the payload is not JSON: "
        "byte 2: expected a key in quotes, found the end");
}

/* --- declaring --- */

static void
refuses_steps_that_lead_nowhere(void **state)
{
    (void)state;
    owed_event_type type = type_3;
    assert_status(OWED_OK, codec_check(&type_4, &err));
    type.upgrade = NULL;
    assert_refused(codec_check(&type, &err),
        "event \"shop.Order\": version 3 has a type before it, but no upgrade; both are right, or "
        "neither");
    type = type_3;
    type.before = NULL;
    assert_refused(codec_check(&type, &err),
        "event \"shop.Order\": version 3 has an upgrade, but no type before it; both are right, or "
        "neither");
    type = type_3;
    type.version = 1;
    assert_refused(codec_check(&type, &err),
        "event \"shop.Order\": the type before version 1 has version 1; a lower one is right");
    owed_event_type other = type_1;
    other.name = "shop.Other";
    type = type_3;
    type.before = &other;
    assert_refused(codec_check(&type, &err),
        "event \"shop.Order\": the type before version 3 has another name; the same one is right");
    // What is wrong further back is found too.
    owed_event_type far = type_4;
    far.before = &type;
    assert_refused(codec_check(&far, &err),
        "event \"shop.Order\": the type before version 3 has another name; the same one is right");
}

static void
refuses_too_many_steps(void **state)
{
    (void)state;
    static owed_event_type types[LIMIT_OLDER_TYPES + 2];
    for (int i = 0; i < LIMIT_OLDER_TYPES + 2; i++)
        types[i] = (owed_event_type){.name = "shop.Note",
            .version = i + 1,
            .before = i == 0 ? NULL : &types[i - 1],
            .upgrade = i == 0 ? NULL : wrap};
    assert_status(OWED_OK, codec_check(&types[LIMIT_OLDER_TYPES], &err));
    assert_refused(codec_check(&types[LIMIT_OLDER_TYPES + 1], &err),
        "event \"shop.Note\": is upgraded from more than 64 older types; fewer are right");
}

static void
tells_types_apart_by_what_is_before_them(void **state)
{
    (void)state;
    owed_event_type type = type_3;
    assert_true(codec_same(&type, &type_3));
    type.before = NULL;
    assert_false(codec_same(&type, &type_3));
    assert_false(codec_same(&type_3, &type));
    owed_event_type old = type_1;
    old.fields = fields_2;
    type.before = &old;
    assert_false(codec_same(&type, &type_3));
}

int
main(void)
{
#define TEST(name_) cmocka_unit_test_setup_teardown(name_, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(upgrades_a_payload_of_an_older_version),
        TEST(upgrades_step_by_step),
        TEST(begins_with_the_type_that_was_fired),
        TEST(never_upgrades_what_is_as_new_or_newer),
        TEST(says_that_a_newer_version_is_not_known),
        TEST(says_why_an_upgrade_refused),
        TEST(reads_the_old_payload_by_the_old_rules),
        TEST(refuses_what_an_upgrade_should_not_have_made),
        TEST(upgrades_opaque_payloads_as_text),
        TEST(refuses_steps_that_lead_nowhere),
        TEST(refuses_too_many_steps),
        TEST(tells_types_apart_by_what_is_before_them),
    };
    return cmocka_run_group_tests_name("upgrade", tests, NULL, NULL);
}
