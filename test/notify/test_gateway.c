/* SPDX-License-Identifier: MIT
 *
 * test_gateway.c - descriptions of providers: what stands in them, and what cannot.
 */
#include "../unit.h"

#include <owed/channels.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "notify/channels/pattern.h"

/* --- patterns --- */

static void
each_value_is_escaped_for_where_it_stands(void **state)
{
    (void)state;
    static const struct {
        enum pattern_form form;
        const char *pattern;
        const char *value; // of {to}
        const char *text;  // NULL: it cannot stand there
    } cases[] = {
        {PATTERN_JSON, "{\"a\": \"<{to}>\"}", "\"\\\n\xc3\xa9",
            "{\"a\": \"<\\\"\\\\\\n\xc3\xa9>\"}"},
        {PATTERN_JSON, "{\"a\": {to}}", "x\"", "{\"a\": \"x\\\"\"}"},
        {PATTERN_JSON, "{\"a\\\"\": [{to}, \"{to}\"]}", "", "{\"a\\\"\": [\"\", \"\"]}"},
        {PATTERN_JSON, "{\"a\": {}, \"b\": \"{ to} {to }{}\"}", "x",
            "{\"a\": {}, \"b\": \"{ to} {to }{}\"}"},
        {PATTERN_FORM, "a={to}&b={to}", "1&c=\r\n+", "a=1%26c%3D%0D%0A%2B&b=1%26c%3D%0D%0A%2B"},
        {PATTERN_URL, "https://h/{to}/x", "a b?c#d%", "https://h/a%20b%3Fc%23d%25/x"},
        {PATTERN_URL, "https://h/{to}", "1:a", "https://h/1:a"},
        {PATTERN_URL, "https://h/{to}", "..", NULL},
        {PATTERN_URL, "https://h/{to}", ".", NULL},
        {PATTERN_URL, "https://h/x{to}", "/../y", NULL},
        {PATTERN_URL, "https://h/{to}", "a\\b", NULL},
        {PATTERN_URL, "https://h/{to}", "", NULL},
        {PATTERN_URL, "https://h?a={to}", "../&b", "https://h?a=..%2F%26b"},
        {PATTERN_URL, "https://h/?a={to}", "", "https://h/?a="},
        {PATTERN_LINE, "x: {to}", "a b", "x: a b"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct pattern pattern;
        owed_error err;
        CLEANUP(buf_done) struct buf out;
        const char *values[PLACE_COUNT] = {[PLACE_TO] = cases[i].value};
        buf_init(&out, 65536);
        if (pattern_read(cases[i].form, cases[i].pattern, &pattern, &err) != OWED_OK)
            fail_msg("%s: %s", cases[i].pattern, err.text);
        owed_status status = pattern_write(&pattern, values, &out, &err);
        check_case(status == (cases[i].text == NULL ? OWED_INVALID : OWED_OK), cases[i].value);
        if (cases[i].text != NULL)
            assert_string_equal(buf_text(&out), cases[i].text);
    }
}

static void
a_pattern_that_cannot_be_is_refused(void **state)
{
    (void)state;
    static const struct {
        enum pattern_form form;
        const char *pattern;
        const char *says;
    } cases[] = {
        {PATTERN_FORM, "a={txt}", "{txt} is no place; the nearest is {text}"},
        {PATTERN_FORM, "a={xyzzy}", "{xyzzy} is no place; there are"},
        {PATTERN_JSON, "{\"a\": \"{to}}", "no JSON once it is filled in"},
        {PATTERN_JSON, "{\"a\": x{to}}", "no JSON once it is filled in"},
        {PATTERN_URL, "https://{to}/", "before the path"},
        {PATTERN_URL, "{to}", "before the path"},
        {PATTERN_URL, "https://me:{password}@h/", "before the path"},
        {PATTERN_URL, "ftp://h/{to}", "http or https"},
        {PATTERN_URL, "https://h/a b", "blank"},
        {PATTERN_URL, "https://u:p@h/", "names a user"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct pattern pattern;
        owed_error err = {0};
        check_case(pattern_read(cases[i].form, cases[i].pattern, &pattern, &err) == OWED_INVALID,
            cases[i].pattern);
        if (strstr(err.text, cases[i].says) == NULL)
            fail_msg("\"%s\", not \"%s\"", err.text, cases[i].says);
    }
}

static void
a_pattern_has_a_bound(void **state)
{
    (void)state;
    CLEANUP(buf_done) struct buf text;
    struct pattern pattern;
    owed_error err;
    buf_init(&text, 65536);
    for (int i = 0; i < PATTERN_PARTS - 1; i++)
        buf_puts(&text, "{to}");
    assert_int_equal(pattern_read(PATTERN_FORM, buf_text(&text), &pattern, &err), OWED_OK);
    buf_puts(&text, "{to}");
    assert_int_equal(pattern_read(PATTERN_FORM, buf_text(&text), &pattern, &err), OWED_INVALID);
}

/* --- settings --- */

#define SET(key_, value_) \
    { \
        key_, value_, NULL \
    }
#define URL SET("url", "https://sms.example/send")
#define BODY SET("body", "{\"to\": {to}, \"text\": {text}}")

static char secret_path[] = "/tmp/owed-secret-XXXXXX";
static char odd_path[] = "/tmp/owed-odd-XXXXXX";

static bool
write_secret(char *path, const char *text)
{
    int fd = mkstemp(path);
    bool written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    close(fd);
    return written;
}

static int
write_secrets(void **state)
{
    (void)state;
    bool written =
        write_secret(secret_path, "../not a bot's\n") && write_secret(odd_path, "a\tb\n");
    return written ? 0 : -1;
}

static int
remove_secrets(void **state)
{
    (void)state;
    return unlink(secret_path) | unlink(odd_path);
}

static void
settings_that_cannot_be_are_refused_with_their_key(void **state)
{
    (void)state;
    static const struct {
        const char *type;
        owed_setting settings[6];
        const char *says;
    } cases[] = {
        {"sms", {BODY}, "channel x: url is missing"},
        {"sms", {URL}, "channel x: body is missing"},
        {"sms", {BODY, SET("url", "sms.example")}, "channel x: url: the URL"},
        {"sms", {URL, SET("body", "{\"to\": {to}}")}, "body has no {text}"},
        {"sms", {URL, SET("method", "GET")}, "url has no {text}"},
        {"sms", {URL, BODY, SET("method", "get")}, "method is POST, PUT or GET, not \"get\""},
        {"sms", {URL, BODY, SET("format", "xml")}, "format is json or form, not \"xml\""},
        {"sms", {URL, BODY, SET("auth", "digest")}, "auth is basic, bearer or none"},
        {"sms", {URL, BODY, SET("auth", "basic")}, "user is missing"},
        {"sms", {URL, BODY, SET("auth", "basic"), SET("user", "u")}, "password-file is missing"},
        {"sms",
            {URL, BODY, SET("auth", "basic"), SET("user", "u:v"),
                SET("password-file", secret_path)},
            "user holds a colon"},
        {"sms", {URL, BODY, SET("auth", "bearer")}, "token-file is missing"},
        {"sms", {URL, BODY, SET("token-file", odd_path)}, "without control characters"},
        {"sms", {BODY, SET("url", "https://h/{token}/x"), SET("token-file", secret_path)},
            "url: {token} cannot stand in a URL"},
        {"sms", {BODY, SET("url", "https://h/{user}/x"), SET("user", "a/b")},
            "url: {user} cannot stand in a URL"},
        {"sms", {URL, BODY, SET("token-file", "/nowhere")}, "/nowhere cannot be read"},
        {"sms", {URL, SET("body", "{\"a\": {text}, \"b\": {from}}")}, "from is missing: {from}"},
        {"sms", {URL, BODY, SET("headers", "x-key: {token}")}, "token-file is missing: {token}"},
        {"sms", {URL, BODY, SET("headers", "x-key")}, "headers are such as"},
        {"sms", {URL, BODY, SET("headers", "x-{to}: 1")}, "headers are such as"},
        {"sms", {URL, BODY, SET("headers", "x: {tokn}")}, "headers: {tokn} is no place"},
        {"sms", {URL, BODY, SET("reference", "id")}, "reference is a JSON pointer"},
        {"sms", {URL, BODY, SET("reference", "/a~2b")}, "reference is a JSON pointer"},
        {"sms", {URL, BODY, SET("reference", "/a~")}, "reference is a JSON pointer"},
        {"sms", {URL, BODY, SET("too-long", "truncate")}, "too-long is refuse, cut or split"},
        {"sms", {URL, BODY, SET("max-segments", "0")}, "max-segments"},
        {"sms", {SET("preset", "twillio")}, "preset is one of twilio, vonage"},
        {"sms", {SET("preset", "twilio")}, "from is missing"},
        {"http", {URL, SET("body", "{\"a\": \"{text}}")}, "body: it is no JSON"},
        {"http", {URL, BODY, SET("proxy", "socks")}, "proxy: the URL"},
        {"slack", {SET("url", "https://slack.com/api")}, "token-file or webhook-file is missing"},
        {"slack", {SET("token-file", "a"), SET("webhook-file", "b")}, "not both"},
        {"slack", {SET("webhook-file", secret_path)}, "holds no URL of a webhook"},
        {"discord", {SET("webhook-file", "/nowhere")}, "/nowhere cannot be read"},
        {"telegram", {SET("url", "https://t.example")}, "token-file is missing"},
        {"telegram", {SET("token-file", secret_path)}, "holds no token of a bot"},
        {"telegram", {SET("webhook-file", "x")}, "webhook-file"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        owed_setting settings[8] = {SET("type", cases[i].type)};
        for (size_t j = 0; cases[i].settings[j].key != NULL; j++)
            settings[j + 1] = cases[i].settings[j];
        owed_channel channel;
        owed_error err = {0};
        check_case(owed_channel_new("x", settings, &channel, &err) == OWED_CONFIG, cases[i].says);
        if (strstr(err.text, cases[i].says) == NULL || strstr(err.text, "bot's") != NULL)
            fail_msg("\"%s\", not \"%s\"", err.text, cases[i].says);
    }
}

static void
a_channel_goes_by_its_name(void **state)
{
    (void)state;
    static const owed_setting sms[] = {URL, BODY, {NULL, NULL, NULL}};
    owed_channel channel;
    owed_error err;
    assert_int_equal(owed_channel_new("sms", sms, &channel, &err), OWED_OK);
    owed_channel_done(&channel);
    static const owed_setting slack[] = {SET("token-file", secret_path), {NULL, NULL, NULL}};
    assert_int_equal(owed_channel_new("slack", slack, &channel, &err), OWED_OK);
    owed_channel_done(&channel);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_value_is_escaped_for_where_it_stands),
        cmocka_unit_test(a_pattern_that_cannot_be_is_refused),
        cmocka_unit_test(a_pattern_has_a_bound),
        cmocka_unit_test(settings_that_cannot_be_are_refused_with_their_key),
        cmocka_unit_test(a_channel_goes_by_its_name),
    };
    return cmocka_run_group_tests(tests, write_secrets, remove_secrets);
}
