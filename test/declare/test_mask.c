/* SPDX-License-Identifier: MIT
 *
 * test_mask.c - secrets of a payload are hidden wherever they stand, and nothing else is.
 */
#include "common.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "declare/codec.h"
#include "declare/mask.h"

static struct arena arena;
static struct buf out;
static owed_error err;

static int
setup(void **state)
{
    (void)state;
    arena_init(&arena, 0);
    buf_init(&out, LIMIT_PAYLOAD_BYTES);
    return 0;
}

static int
teardown(void **state)
{
    (void)state;
    arena_done(&arena);
    buf_done(&out);
    return 0;
}

/* shows: the payload, with what the description says is secret hidden. */
static void
shows(const char *fields, const char *payload, const char *shown)
{
    struct mask mask = {0};
    mask_add(&mask, fields);
    buf_clear(&out);
    mask_payload(&mask, str_of(payload), &out);
    assert_string_equal(buf_text(&out), shown);
}

static void
says(const char *fields, const char *payload, const char *text, const char *shown)
{
    struct mask mask = {0};
    mask_add(&mask, fields);
    assert_string_equal(mask_text(&mask, str_of(payload), text, &arena), shown);
}

#define PIN \
    "[{\"name\":\"pin\",\"kind\":\"text\",\"secret\":true},{\"name\":\"id\",\"kind\":\"int64\"}]"
#define CARD \
    "[{\"name\":\"card\",\"kind\":\"struct\",\"fields\":[{\"name\":\"number\",\"kind\":\"text\"," \
    "\"secret\":true}]},{\"name\":\"lines\",\"kind\":\"array\",\"element\":\"struct\",\"fields\":[" \
    "{\"name\":\"token\",\"kind\":\"text\",\"secret\":true}]}]"

static void
hides_a_secret_and_leaves_every_other_byte(void **state)
{
    (void)state;
    shows(PIN, "{ \"id\" : 1e400,\t\"pin\":\"47\\\"11\" , \"x\":[\"pin\"]}\n",
        "{ \"id\" : 1e400,\t\"pin\":\"***\" , \"x\":[\"pin\"]}\n");
    shows(PIN, "{\"pin\":4711}", "{\"pin\":\"***\"}");
    shows(PIN, "{\"pin\":{\"a\":[1,2]},\"id\":1}", "{\"pin\":\"***\",\"id\":1}");
    shows(PIN, "{\"p\\u0069n\":\"4711\",\"pin\":null}", "{\"p\\u0069n\":\"***\",\"pin\":\"***\"}");
    shows(PIN, "{\"Pin\":1}", "{\"Pin\":1}");
    shows(PIN, "[\"4711\"]", "[\"4711\"]");
}

static void
hides_secrets_in_objects_and_lists(void **state)
{
    (void)state;
    shows(CARD,
        "{\"card\":{\"number\":\"1\",\"month\":2},\"lines\":[{\"token\":\"a\"},{\"n\":1},7,"
        "{\"token\":\"b\",\"n\":2}],\"number\":3}",
        "{\"card\":{\"number\":\"***\",\"month\":2},\"lines\":[{\"token\":\"***\"},{\"n\":1},7,"
        "{\"token\":\"***\",\"n\":2}],\"number\":3}");
    shows(CARD, "{\"card\":null,\"lines\":{}}", "{\"card\":null,\"lines\":{}}");
}

#define POINTER(text_) "[{\"name\":\"" text_ "\",\"kind\":\"pointer\",\"secret\":true}]"

static void
follows_json_pointers(void **state)
{
    (void)state;
    static const char payload[] =
        "{\"card\":{\"number\":1,\"a/b\":2,\"c~d\":3},\"lines\":[{\"t\":4},{\"t\":5}]}";
    shows(POINTER("/card/number"), payload,
        "{\"card\":{\"number\":\"***\",\"a/b\":2,\"c~d\":3},\"lines\":[{\"t\":4},{\"t\":5}]}");
    shows(POINTER("/card/a~1b"), payload,
        "{\"card\":{\"number\":1,\"a/b\":\"***\",\"c~d\":3},\"lines\":[{\"t\":4},{\"t\":5}]}");
    shows(POINTER("/card/c~0d"), payload,
        "{\"card\":{\"number\":1,\"a/b\":2,\"c~d\":\"***\"},\"lines\":[{\"t\":4},{\"t\":5}]}");
    shows(POINTER("/lines/1/t"), payload,
        "{\"card\":{\"number\":1,\"a/b\":2,\"c~d\":3},\"lines\":[{\"t\":4},{\"t\":\"***\"}]}");
    shows(POINTER("/lines/*/t"), payload,
        "{\"card\":{\"number\":1,\"a/b\":2,\"c~d\":3},\"lines\":[{\"t\":\"***\"},{\"t\":\"***\"}]}");
    shows(POINTER("/lines"), payload,
        "{\"card\":{\"number\":1,\"a/b\":2,\"c~d\":3},\"lines\":\"***\"}");
    shows(POINTER("/lines/1x/t"), payload, payload);
    shows(POINTER("/nothing/here"), payload, payload);
    shows(POINTER("/card/number/deeper"), payload, payload);
}

static void
hides_what_either_of_two_descriptions_says(void **state)
{
    (void)state;
    struct mask mask = {0};
    mask_add(&mask, PIN);
    mask_add(&mask, POINTER("/id"));
    mask_add(&mask, NULL);
    mask_add(&mask, "[{\"name\":\"id\",\"kind\":\"int64\"}]");
    assert_int_equal(mask.count, 2);
    mask_payload(&mask, STR("{\"pin\":1,\"id\":2,\"x\":3}"), &out);
    assert_string_equal(buf_text(&out), "{\"pin\":\"***\",\"id\":\"***\",\"x\":3}");
}

static void
shows_nothing_of_a_payload_that_is_no_json(void **state)
{
    (void)state;
    shows(PIN, "{\"pin\":\"4711", "\"***\"");
    shows("[]", "{\"pin\":\"4711", "{\"pin\":\"4711");
}

static void
hides_secrets_in_what_others_say(void **state)
{
    (void)state;
    says(PIN, "{\"pin\":\"4711\"}", "pin 4711 of 4711: refused", "pin *** of ***: refused");
    says(PIN, "{\"pin\":4711}", "4711", "***");
    says(PIN, "{\"pin\":\"4711\",\"id\":12345}", "order 12345", "order 12345");
    says(PIN, "{\"pin\":[{\"a\":\"first\"},\"second\",77777]}", "first, second and 77777",
        "***, *** and ***");
    // As it stands in JSON, and as it reads.
    says(PIN, "{\"pin\":\"a\\\"b\\\"c\"}", "got a\\\"b\\\"c, that is a\"b\"c",
        "got ***, that is ***");
    // Too short to be looked for: it would be found in every text.
    says(PIN, "{\"pin\":\"1\"}", "attempt 1", "attempt 1");
    says(PIN, "{\"pin\":true}", "true", "true");
    says("[]", "{\"pin\":\"4711\"}", "4711", "4711");
    says(PIN, "no JSON 4711", "4711", "4711");
}

static void
hides_secrets_that_are_cut_or_hold_one_another(void **state)
{
    (void)state;
    says(PIN, "{\"pin\":\"0123456789\"}", "the pin is 012345", "the pin is ***");
    says(PIN, "{\"pin\":\"0123456789\"}", "56789 was the pin", "*** was the pin");
    says(PIN, "{\"pin\":\"0123456789\"}", "the pin is 012", "the pin is 012");
    says(PIN, "{\"pin\":\"0123456789\"}", "0123", "***");
    says(PIN, "{\"pin\":[\"abcd\",\"abcdefgh\"]}", "x abcdefgh y", "x *** y");
    says(PIN, "{\"pin\":[\"abcdef\",\"defghi\"]}", "x abcdefghi y", "x *** y");
}

/* --- what descriptions say of other versions --- */

typedef struct old_login {
    const char *password;
    const char *user;
    owed_array keys;
} old_login;
typedef struct key {
    const char *text;
} key;
static const owed_field key_fields[] = {OWED_TEXT_WITH(key, text, .secret = true), OWED_FIELDS_END};
static const owed_field old_fields[] = {
    OWED_TEXT_WITH(old_login, password, .secret = true),
    OWED_TEXT_WITH(old_login, user, .key = "us/er", .secret = true),
    OWED_ARRAY_OF(old_login, keys, key_fields, key),
    OWED_FIELDS_END,
};
static const owed_field new_fields[] = {
    OWED_TEXT_WITH(old_login, password, .secret = true),
    OWED_FIELDS_END,
};

static bool
forget(owed_upgrade *upgrade, const void *before, void *after)
{
    (void)upgrade;
    (void)before;
    (void)after;
    return true;
}

static void
a_description_knows_what_older_versions_hid(void **state)
{
    (void)state;
    static const owed_event_type old = {
        .name = "shop.In", .version = 1, .fields = old_fields, .size = sizeof(old_login)};
    static const owed_event_type new = {.name = "shop.In",
        .version = 2,
        .fields = new_fields,
        .size = sizeof(old_login),
        .before = &old,
        .upgrade = forget};
    assert_status(OWED_OK, codec_check(&new, &err));
    codec_describe(&new, "/more  /much/*", &out);
    assert_string_equal(buf_text(&out),
        "[{\"name\":\"password\",\"kind\":\"text\",\"secret\":true},"
        "{\"name\":\"/us~1er\",\"kind\":\"pointer\",\"secret\":true},"
        "{\"name\":\"/keys/*/text\",\"kind\":\"pointer\",\"secret\":true},"
        "{\"name\":\"/more\",\"kind\":\"pointer\",\"secret\":true},"
        "{\"name\":\"/much/*\",\"kind\":\"pointer\",\"secret\":true}]");
    const char *fields = arena_copy(&arena, buf_view(&out));
    shows(fields, "{\"us/er\":1,\"keys\":[{\"text\":2}],\"more\":3,\"much\":[4,5],\"x\":6}",
        "{\"us/er\":\"***\",\"keys\":[{\"text\":\"***\"}],\"more\":\"***\",\"much\":[\"***\",\"***\"],\"x\":6}");
}

/* --- more than can be looked for --- */

static void
shows_nothing_of_an_event_that_too_many_describe(void **state)
{
    (void)state;
    struct mask mask = {0};
    char fields[MASK_SOURCES + 1][80];
    for (size_t i = 0; i < MASK_SOURCES + 1; i++) {
        snprintf(fields[i], sizeof fields[i],
            "[{\"name\":\"pin%zu\",\"kind\":\"text\",\"secret\":true}]", i);
        mask_add(&mask, fields[i]);
        mask_add(&mask, fields[i]); // the same is no other
        buf_clear(&out);
        mask_payload(&mask, STR("{\"id\":1}"), &out);
        assert_string_equal(buf_text(&out), i < MASK_SOURCES ? "{\"id\":1}" : "\"***\"");
    }
    assert_string_equal(mask_text(&mask, STR("{\"id\":1}"), "plain words", &arena), "***");
}

static void
says_nothing_where_too_many_values_are_secret(void **state)
{
    (void)state;
    struct mask mask = {0};
    struct buf payload;
    mask_add(&mask, PIN);
    buf_init(&payload, LIMIT_PAYLOAD_BYTES);
    buf_puts(&payload, "{\"pin\":[");
    for (int i = 0; i < 10000; i++)
        buf_printf(&payload, "\"value-%d\",", i);
    buf_puts(&payload, "\"the-last-one\"]}");
    assert_string_equal(mask_text(&mask, buf_view(&payload), "it was the-last-one", &arena), "***");
    buf_done(&payload);
}

int
main(void)
{
#define TEST(name_) cmocka_unit_test_setup_teardown(name_, setup, teardown)
    const struct CMUnitTest tests[] = {TEST(hides_a_secret_and_leaves_every_other_byte),
        TEST(hides_secrets_in_objects_and_lists), TEST(follows_json_pointers),
        TEST(hides_what_either_of_two_descriptions_says),
        TEST(shows_nothing_of_a_payload_that_is_no_json), TEST(hides_secrets_in_what_others_say),
        TEST(hides_secrets_that_are_cut_or_hold_one_another),
        TEST(a_description_knows_what_older_versions_hid),
        TEST(shows_nothing_of_an_event_that_too_many_describe),
        TEST(says_nothing_where_too_many_values_are_secret)};
    return cmocka_run_group_tests_name("mask", tests, NULL, NULL);
}
