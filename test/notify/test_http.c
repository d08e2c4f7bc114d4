/* SPDX-License-Identifier: MIT
 *
 * test_http.c - requests to a provider, and what its answers mean.
 */
#include "../receive/server.h"
#include "../unit.h"

#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "notify/channels/http.h"

static const struct option keys[] = {HTTP_KEYS, {.name = NULL}};

static struct http *
new_http(const char *key, const char *value)
{
    const struct option *const tables[] = {keys, NULL};
    struct options *values = NULL;
    struct http *http = NULL;
    owed_error err;
    assert_int_equal(options_new(tables, 0, &values, &err), OWED_OK);
    if (key != NULL)
        assert_int_equal(
            options_set(values, "channel", key, value, SOURCE_FILE, "test", &err), OWED_OK);
    assert_int_equal(http_new(values, &http, &err), OWED_OK);
    options_free(values);
    return http;
}

/* ask sends one request and says what it came to. */
static void
ask(struct http *http, struct http_request request, owed_answer *ret_answer)
{
    CLEANUP(http_answer_done) struct http_answer said;
    *ret_answer = (owed_answer){0};
    request.method = request.method == NULL ? "POST" : request.method;
    http_send(http, &request, &said);
    http_verdict(http, &said, "the provider", NULL, ret_answer);
}

static void
a_request_arrives_as_it_was_meant(void **state)
{
    (void)state;
    struct server server;
    char url[64];
    char value[512];
    server_start(&server, answer_by_path);
    server.extra = "x-id: 7\r\nretry-after: 3\r\n";
    struct http *http = new_http(NULL, NULL);
    const char *const headers[] = {"x-one: 1", "content-type: application/json", NULL};
    const struct http_request request = {.method = "PUT",
        .url = server_url(&server, 201, url),
        .headers = headers,
        .body = STR("{\"a\":\0}"),
        .wanted = "X-ID"};
    CLEANUP(http_answer_done) struct http_answer said;
    http_send(http, &request, &said);
    assert_int_equal(said.status, 201);
    assert_int_equal(said.wait_us, 3 * US_PER_SECOND);
    assert_string_equal(said.wanted, "7");
    assert_int_equal(server.served->body_len, 7);
    assert_memory_equal(server.served->body, "{\"a\":\0}", 7);
    assert_int_equal(strncmp(server.served->head, "PUT /201 HTTP/1.1\r\n", 19), 0);
    assert_string_equal(header_of(server.served, "x-one", value), "1");
    assert_string_equal(header_of(server.served, "content-type", value), "application/json");
    http_free(http);
    server_stop(&server);
}

static void
a_connection_is_kept_for_the_next_request(void **state)
{
    (void)state;
    struct server server;
    char url[64];
    owed_answer answer;
    server_start(&server, answer_by_path);
    struct http *http = new_http(NULL, NULL);
    for (int i = 0; i < 5; i++)
        ask(http, (struct http_request){.url = server_url(&server, 200, url)}, &answer);
    assert_int_equal(server.count, 5);
    assert_int_equal(server.accepted, 1);
    http_free(http);
    server_stop(&server);
}

static void
a_status_means_what_it_says(void **state)
{
    (void)state;
    static const struct {
        int status;
        const char *extra;
        owed_answer_verdict verdict;
        int64_t wait_us;
    } cases[] = {
        {200, "", OWED_ANSWER_SENT, 0},
        {202, "retry-after: 9\r\n", OWED_ANSWER_SENT, 0},
        {302, "location: /200\r\n", OWED_ANSWER_REFUSED, 0},
        {400, "retry-after: 9\r\n", OWED_ANSWER_REFUSED, 0},
        {404, "", OWED_ANSWER_REFUSED, 0},
        {408, "", OWED_ANSWER_FAILED, 0},
        {408, "retry-after: 9\r\n", OWED_ANSWER_WAIT, 9 * US_PER_SECOND},
        {425, "retry-after: 9\r\n", OWED_ANSWER_WAIT, 9 * US_PER_SECOND},
        {429, "", OWED_ANSWER_WAIT, 0},
        {429, "retry-after: 9\r\n", OWED_ANSWER_WAIT, 9 * US_PER_SECOND},
        {429, "retry-after: soon\r\n", OWED_ANSWER_WAIT, 0},
        {500, "retry-after: 9\r\n", OWED_ANSWER_FAILED, 0},
        {503, "", OWED_ANSWER_FAILED, 0},
        {503, "retry-after: 0\r\n", OWED_ANSWER_FAILED, 0},
        {503, "retry-after: 9\r\n", OWED_ANSWER_WAIT, 9 * US_PER_SECOND},
        {503, "retry-after: Fri, 31 Dec 9999 23:59:59 GMT\r\n", OWED_ANSWER_WAIT,
            LIMIT_DURATION_US},
        {599, "", OWED_ANSWER_FAILED, 0},
    };
    struct server server;
    char url[64];
    server_start(&server, answer_by_path);
    struct http *http = new_http(NULL, NULL);
    for (size_t i = 0; i < COUNT(cases); i++) {
        owed_answer answer;
        server.extra = cases[i].extra;
        ask(http, (struct http_request){.url = server_url(&server, cases[i].status, url)}, &answer);
        if (answer.verdict != cases[i].verdict || answer.wait_us != cases[i].wait_us)
            fail_msg("%d with %s: %d, %lld", cases[i].status, cases[i].extra, answer.verdict,
                (long long)answer.wait_us);
        assert_int_equal(answer.reason[0] == '\0', answer.verdict == OWED_ANSWER_SENT);
    }
    http_free(http);
    server_stop(&server);
}

static void
what_could_end_its_line_is_sent_to_nobody(void **state)
{
    (void)state;
    struct server server;
    char url[64];
    owed_answer answer;
    server_start(&server, answer_by_path);
    struct http *http = new_http(NULL, NULL);
    const char *const headers[] = {"x-one: 1\r\nx-two: 2", NULL};
    const struct http_request requests[] = {
        {.url = server_url(&server, 200, url), .headers = headers},
        {.url = "http://127.0.0.1/a b"},
        {.url = "http://127.0.0.1/a\r\nx: y"},
        {.url = "http://me:hunter2@127.0.0.1/"},
        {.url = "http://127.0.0.1/#hunter2"},
        {.url = "http:///hunter2"},
        {.url = "http://127.0.0.1:hunter2/"},
        {.url = "ftp://127.0.0.1/"},
        {.url = "file:///etc/passwd"},
        {.url = "127.0.0.1/"},
        {.url = ""},
    };
    for (size_t i = 0; i < COUNT(requests); i++) {
        ask(http, requests[i], &answer);
        check_case(answer.verdict == OWED_ANSWER_REFUSED, requests[i].url);
        check_case(strstr(answer.reason, "hunter2") == NULL, answer.reason);
        check_case(strstr(answer.reason, "the provider could not be asked: ") == answer.reason,
            answer.reason);
    }
    assert_int_equal(server.accepted, 0);
    http_free(http);
    server_stop(&server);
}

static bool
answer_with_the_request(struct server *server, int fd, const struct served *request)
{
    (void)server;
    char text[4096];
    snprintf(text, sizeof text, "HTTP/1.1 400 x\r\ncontent-length: %zu\r\n\r\n%s",
        strlen(request->head), request->head);
    return send_text(fd, text);
}

static void
no_reason_shows_a_secret(void **state)
{
    (void)state;
    struct server server;
    char url[64];
    owed_answer answer;
    owed_error err;
    CLEANUP(buf_done) struct buf header;
    buf_init(&header, HTTP_HEADER_BYTES);
    http_basic(&header, "Aladdin", "open sesame");
    assert_string_equal(buf_text(&header), "authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
    server_start(&server, answer_with_the_request);
    struct http *http = new_http(NULL, NULL);
    assert_int_equal(http_hide(http, "QWxhZGRpbjpvcGVuIHNlc2FtZQ==", &err), OWED_OK);
    const char *const headers[] = {buf_text(&header), NULL};
    ask(http, (struct http_request){.url = server_url(&server, 1, url), .headers = headers},
        &answer);
    assert_int_equal(answer.verdict, OWED_ANSWER_REFUSED);
    assert_null(strstr(answer.reason, "QWxh"));
    assert_non_null(strstr(answer.reason, "Basic ****"));
    http_free(http);
    server_stop(&server);
}

static bool
answer_at_length(struct server *server, int fd, const struct served *request)
{
    (void)server;
    (void)request;
    bool goes_on = send_text(fd, "HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n");
    for (int i = 0; goes_on && i < 100000; i++)
        goes_on = send_text(fd, "0123456789");
    return false;
}

static void
of_a_long_answer_the_start_is_read(void **state)
{
    (void)state;
    struct server server;
    char url[64];
    server_start(&server, answer_at_length);
    struct http *http = new_http(NULL, NULL);
    const struct http_request request = {.method = "GET", .url = server_url(&server, 1, url)};
    CLEANUP(http_answer_done) struct http_answer said;
    http_send(http, &request, &said);
    assert_int_equal(said.status, 200);
    assert_int_equal(said.body.len, LIMIT_RESPONSE_BYTES);
    http_free(http);
    server_stop(&server);
}

static void
no_answer_is_a_failure(void **state)
{
    (void)state;
    static const server_answer faults[] = {answer_never, hang_up, answer_in_no_http};
    owed_answer answer;
    char url[64];
    struct http *http = new_http("timeout", "1s");
    struct server server;
    for (size_t i = 0; i < COUNT(faults); i++) {
        server_start(&server, faults[i]);
        ask(http, (struct http_request){.url = server_url(&server, 1, url)}, &answer);
        server_stop(&server);
        assert_int_equal(answer.verdict, OWED_ANSWER_FAILED);
    }
    // Nobody listens there any more.
    ask(http, (struct http_request){.url = url}, &answer);
    assert_int_equal(answer.verdict, OWED_ANSWER_FAILED);
    assert_string_equal(answer.reason, "the provider could not be asked: Connection refused");
    http_free(http);
}

static void
a_proxy_or_a_file_of_certificates_that_cannot_be_is_refused(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"proxy", "ftp://x", "proxy: the URL"},
        {"ca-file", "/nowhere/ca.pem", "ca-file: /nowhere/ca.pem cannot be read: No such file"},
        {"ca-file", "/", "ca-file: / is no plain file"},
    };
    const struct option *const tables[] = {keys, NULL};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct options *values = NULL;
        struct http *http = NULL;
        owed_error err;
        assert_int_equal(options_new(tables, 0, &values, &err), OWED_OK);
        assert_int_equal(
            options_set(values, "channel", cases[i][0], cases[i][1], SOURCE_FILE, "test", &err),
            OWED_OK);
        assert_int_equal(http_new(values, &http, &err), OWED_CONFIG);
        check_case(strstr(err.text, cases[i][2]) != NULL, err.text);
        options_free(values);
    }
}

static void
a_json_answer_is_read_by_pointers(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        const char *pointer;
        const char *text; // NULL: there is none
    } cases[] = {
        {"{\"sid\":\"SM7\"}", "/sid", "SM7"},
        {"{\"a\":[{\"id\":12345678901234567890}]}", "/a/0/id", "12345678901234567890"},
        {"{\"sid\":\"a\\nb\\u001b\"}", "/sid", "a b "},
        {"{\"sid\":null}", "/sid", NULL},
        {"{\"sid\":{}}", "/sid", NULL},
        {"{}", "/sid", NULL},
        {"{\"sid\":\"x\"", "/sid", NULL},
        {"<html>", "/sid", NULL},
        {"", "/sid", NULL},
        {"\"ok\"", "", "ok"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        CLEANUP(http_answer_done) struct http_answer said = {.status = 200};
        char text[64];
        buf_init(&said.body, 4096);
        buf_puts(&said.body, cases[i].body);
        bool found = http_text(&said, cases[i].pointer, text, sizeof text);
        check_case(found == (cases[i].text != NULL), cases[i].body);
        if (found)
            assert_string_equal(text, cases[i].text);
    }
    CLEANUP(http_answer_done) struct http_answer said = {.status = 200};
    double number = 0;
    buf_init(&said.body, 4096);
    buf_puts(&said.body, "{\"retry_after\": 0.5, \"text\": \"1\"}");
    assert_true(http_number(&said, "/retry_after", &number));
    assert_true(number > 0.49 && number < 0.51);
    assert_false(http_number(&said, "/text", &number));
}

static void
a_text_is_encoded_for_a_url(void **state)
{
    (void)state;
    CLEANUP(buf_done) struct buf out;
    buf_init(&out, 4096);
    http_encode(&out, STR("aZ9-._~ /?&=%+\xc3\xa9\r\n\0"));
    assert_string_equal(buf_text(&out), "aZ9-._~%20%2F%3F%26%3D%25%2B%C3%A9%0D%0A%00");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_arrives_as_it_was_meant),
        cmocka_unit_test(a_connection_is_kept_for_the_next_request),
        cmocka_unit_test(a_status_means_what_it_says),
        cmocka_unit_test(what_could_end_its_line_is_sent_to_nobody),
        cmocka_unit_test(no_reason_shows_a_secret),
        cmocka_unit_test(of_a_long_answer_the_start_is_read),
        cmocka_unit_test(no_answer_is_a_failure),
        cmocka_unit_test(a_proxy_or_a_file_of_certificates_that_cannot_be_is_refused),
        cmocka_unit_test(a_json_answer_is_read_by_pointers),
        cmocka_unit_test(a_text_is_encoded_for_a_url),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
