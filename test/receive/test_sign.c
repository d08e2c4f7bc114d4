/* SPDX-License-Identifier: MIT
 *
 * test_sign.c - signatures, the secrets they are made with, and headers that hold one line each.
 */
#include "attempt.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/traceparent.h"
#include "receive/headers.h"
#include "receive/sign.h"

#define SECRET "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
#define OTHER_SECRET "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

static void
the_published_example_is_signed_alike(void **state)
{
    (void)state;
    struct secrets secrets = {0};
    const owed_receiver declared = {.secret = SECRET};
    assert_int_equal(secrets_load(&secrets, &declared, NULL), OWED_OK);
    char signature[SIGN_BYTES];
    assert_true(sign(&secrets, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330,
        STR("{\"test\": 2432232314}"), signature));
    assert_string_equal(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

static void
every_secret_of_a_file_signs_the_first_one_first(void **state)
{
    (void)state;
    char *folder = folder_new();
    char path[256];
    struct secrets one = {0}, both = {0};
    owed_receiver declared = {.secret_file = file_in(folder, "secret", SECRET "\n", path)};
    assert_int_equal(secrets_load(&one, &declared, NULL), OWED_OK);
    file_in(folder, "secret", "\n " OTHER_SECRET "\r\n" SECRET, path);
    assert_int_equal(secrets_load(&both, &declared, NULL), OWED_OK);
    assert_int_equal(both.count, 2);

    char old[SIGN_BYTES], rotated[SIGN_BYTES];
    assert_true(sign(&one, "id", 1, STR("{}"), old));
    assert_true(sign(&both, "id", 1, STR("{}"), rotated));
    assert_int_equal(strlen(rotated), 2 * SIGN_ENTRY_BYTES + 1);
    assert_memory_not_equal(rotated, old, SIGN_ENTRY_BYTES);
    assert_string_equal(rotated + SIGN_ENTRY_BYTES + 1, old);
    folder_free(folder);
}

static void
four_secrets_fit_and_a_fifth_is_refused(void **state)
{
    (void)state;
    char *folder = folder_new();
    char path[256];
    struct secrets secrets = {0};
    owed_receiver declared = {
        .secret_file = file_in(folder, "secret", SECRET "\n" SECRET "\n" SECRET "\n" SECRET, path)};
    assert_int_equal(secrets_load(&secrets, &declared, NULL), OWED_OK);
    char signature[SIGN_BYTES];
    assert_true(sign(&secrets, ATTEMPT_KEY, INT64_MAX, STR(""), signature));
    assert_int_equal(strlen(signature), 4 * SIGN_ENTRY_BYTES + 3);

    owed_error err;
    file_in(folder, "secret", SECRET " " SECRET " " SECRET " " SECRET " " SECRET, path);
    assert_int_equal(secrets_load(&secrets, &declared, &err), OWED_CONFIG);
    assert_has(err.text, path);
    assert_has(err.text, "more than 4 secrets");
    folder_free(folder);
}

static void
a_secret_file_that_was_replaced_is_read_again(void **state)
{
    (void)state;
    char *folder = folder_new();
    char path[256];
    struct secrets secrets = {0};
    owed_receiver declared = {.secret_file = file_in(folder, "secret", SECRET, path)};
    assert_int_equal(secrets_load(&secrets, &declared, NULL), OWED_OK);
    size_t len = secrets.list[0].len;

    file_in(folder, "secret", OTHER_SECRET, path);
    assert_int_equal(secrets_load(&secrets, &declared, NULL), OWED_OK);
    assert_int_not_equal(secrets.list[0].len, len);
    folder_free(folder);
}

static void
a_secret_written_over_another_in_the_same_instant_is_noticed(void **state)
{
    (void)state;
    char *folder = folder_new();
    char path[256];
    struct secrets secrets = {0};
    owed_receiver declared = {.secret_file = file_in(folder, "secret", SECRET, path)};
    struct timespec now[2];
    clock_gettime(CLOCK_REALTIME, &now[0]);
    now[1] = now[0];
    assert_int_equal(utimensat(AT_FDCWD, path, now, 0), 0);
    assert_int_equal(secrets_load(&secrets, &declared, NULL), OWED_OK);
    struct secret first = secrets.list[0];

    file_in(folder, "secret", "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX", path);
    assert_int_equal(utimensat(AT_FDCWD, path, now, 0), 0);
    assert_int_equal(secrets_load(&secrets, &declared, NULL), OWED_OK);
    assert_int_equal(secrets.list[0].len, first.len);
    assert_memory_not_equal(secrets.list[0].bytes, first.bytes, first.len);
    folder_free(folder);
}

static void
a_secret_file_that_stands_still_is_read_once(void **state)
{
    (void)state;
    char *folder = folder_new();
    char path[256];
    struct secrets secrets = {0};
    owed_receiver declared = {.secret_file = file_in(folder, "secret", SECRET, path)};
    const struct timespec old[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
    assert_int_equal(secrets_load(&secrets, &declared, NULL), OWED_OK);
    struct timespec read_at = secrets.loaded_at;
    assert_int_equal(secrets_load(&secrets, &declared, NULL), OWED_OK);
    assert_memory_equal(&read_at, &secrets.loaded_at, sizeof read_at);
    folder_free(folder);
}

static void
what_is_no_secret_is_refused_by_the_name_of_its_file(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "", "\n", "whsec_", "whsec_tooshort", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa!!"};
    char *folder = folder_new();
    char path[256];
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct secrets secrets = {0};
        owed_error err = {0};
        owed_receiver declared = {.secret_file = file_in(folder, "secret", bad[i], path)};
        assert_int_equal(secrets_load(&secrets, &declared, &err), OWED_CONFIG);
        assert_has(err.text, path);
        assert_null(strstr(err.text, "MfKQ9r8"));
    }
    struct secrets secrets = {0};
    owed_error err = {0};
    owed_receiver declared = {.secret_file = path_in(folder, "absent", path)};
    assert_int_equal(secrets_load(&secrets, &declared, &err), OWED_NOT_FOUND);
    assert_has(err.text, "No such file");
    folder_free(folder);
}

/* lines counts the header lines that start with a name. */
static size_t
lines(const struct headers *headers, const char *name)
{
    size_t count = 0;
    for (const struct curl_slist *node = headers->nodes; node != NULL; node = node->next)
        count += strncmp(node->data, name, strlen(name)) == 0;
    return count;
}

static void
no_byte_of_a_row_can_end_a_header_line(void **state)
{
    (void)state;
    struct attempt attempt;
    attempt_init(&attempt, RUN_WEBHOOK, "http://localhost/", STR("1"));
    attempt.row.event_name = "a\r\nx-evil: 1\t%\xc3\xa9";
    attempt.row.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0\n";
    struct headers headers;
    assert_true(headers_fill(&headers, &attempt.flight.delivery, "application/json", 1, ""));
    for (const struct curl_slist *node = headers.nodes; node != NULL; node = node->next) {
        for (const char *p = node->data; *p != '\0'; p++)
            assert_true(*p >= 0x20 && *p < 0x7f);
    }
    assert_int_equal(lines(&headers, "owed-event: a%0D%0Ax-evil:%201%09%25%C3%A9"), 1);
    assert_int_equal(lines(&headers, "traceparent"), 0);
    assert_int_equal(lines(&headers, "webhook-signature"), 0);
}

static void
the_longest_values_fit(void **state)
{
    (void)state;
    struct attempt attempt;
    attempt_init(&attempt, RUN_WEBHOOK, "http://localhost/", STR("1"));
    char name[4096];
    char signature[SIGN_BYTES];
    memset(name, '\n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    memset(signature, 'v', sizeof signature - 1);
    signature[sizeof signature - 1] = '\0';
    attempt.row.event_name = name;
    attempt.row.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    attempt.row.fence.delivery_id = INT64_MIN;
    attempt.flight.delivery.attempt = INT32_MAX;
    struct headers headers;
    assert_true(
        headers_fill(&headers, &attempt.flight.delivery, "application/json", INT64_MAX, signature));
    assert_int_equal(lines(&headers, "traceparent: 00-0af7651916cd43dd8448eb211c80319c-"), 1);
    assert_int_equal(lines(&headers, "webhook-signature: vvvv"), 1);
}

static void
only_a_well_formed_traceparent_is_passed_on(void **state)
{
    (void)state;
    assert_true(traceparent_is_valid("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"));
    static const char *const bad[] = {"", "00",
        "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01x",
        "00-0af7651916cd43dd8448eb211c80319c_b7ad6b7169203331-01"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(traceparent_is_valid(bad[i]));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_published_example_is_signed_alike),
        cmocka_unit_test(every_secret_of_a_file_signs_the_first_one_first),
        cmocka_unit_test(four_secrets_fit_and_a_fifth_is_refused),
        cmocka_unit_test(a_secret_file_that_was_replaced_is_read_again),
        cmocka_unit_test(a_secret_written_over_another_in_the_same_instant_is_noticed),
        cmocka_unit_test(a_secret_file_that_stands_still_is_read_once),
        cmocka_unit_test(what_is_no_secret_is_refused_by_the_name_of_its_file),
        cmocka_unit_test(no_byte_of_a_row_can_end_a_header_line),
        cmocka_unit_test(the_longest_values_fit),
        cmocka_unit_test(only_a_well_formed_traceparent_is_passed_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
