/* SPDX-License-Identifier: MIT
 *
 * test_webhook.c - what is sent, and what comes of every kind of answer.
 */
#include "attempt.h"
#include "server.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "loopback.h"

#define SECRET "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
#define NOW_US (INT64_C(1796000000) * US_PER_SECOND + 999999) // 2026-11-30T00:53:20.999999Z

/* One server, one loop, one attempt to it. */
struct scene {
    struct server server;
    struct outside *outside;
    struct attempt attempt;
    char url[64];
};

static void
scene_open(struct scene *scene, server_answer answer)
{
    server_start(&scene->server, answer);
    scene->outside = outside_at(NOW_US);
    attempt_init(&scene->attempt, RUN_WEBHOOK, server_url(&scene->server, 200, scene->url),
        STR("{\"n\":1}"));
}

static void
scene_close(struct scene *scene)
{
    outside_builtin.close(scene->outside);
    server_stop(&scene->server);
}

/* What is known of a receiver is known of its one URL, so another path is another receiver. */
static owed_outcome
post(struct scene *scene, int path)
{
    char url[64];
    server_url(&scene->server, path, url);
    if (strcmp(url, scene->url) != 0) {
        memcpy(scene->url, url, sizeof url);
        outside_builtin.close(scene->outside);
        scene->outside = outside_at(NOW_US);
    }
    scene->attempt.text[0] = '\0';
    fly(scene->outside, &scene->attempt);
    return scene->attempt.flight.outcome;
}

static void
each_status_has_its_verdict_and_is_named(void **state)
{
    (void)state;
    static const struct {
        int status;
        owed_verdict verdict;
        const char *said;
    } answers[] = {
        {200, OWED_VERDICT_DONE, ""},
        {202, OWED_VERDICT_DONE, ""},
        {204, OWED_VERDICT_DONE, ""},
        {299, OWED_VERDICT_DONE, ""},
        {300, OWED_VERDICT_PERMANENT, ": 300"},
        {304, OWED_VERDICT_PERMANENT, ": 304"},
        {400, OWED_VERDICT_PERMANENT, ": 400 Bad Request"},
        {401, OWED_VERDICT_PERMANENT, ": 401 Unauthorized"},
        {403, OWED_VERDICT_PERMANENT, ": 403 Forbidden"},
        {404, OWED_VERDICT_PERMANENT, ": 404 Not Found"},
        {408, OWED_VERDICT_FAILED, ": 408 Request Timeout"},
        {410, OWED_VERDICT_PERMANENT, ": 410 Gone"},
        {425, OWED_VERDICT_FAILED, ": 425 Too Early"},
        {429, OWED_VERDICT_FAILED, ": 429 Too Many Requests"},
        {499, OWED_VERDICT_PERMANENT, ": 499"},
        {500, OWED_VERDICT_FAILED, ": 500 Internal Server Error"},
        {503, OWED_VERDICT_FAILED, ": 503 Service Unavailable"},
        {599, OWED_VERDICT_FAILED, ": 599"},
    };
    struct scene scene;
    scene_open(&scene, answer_by_path);
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        owed_outcome outcome = post(&scene, answers[i].status);
        assert_int_equal(outcome.verdict, answers[i].verdict);
        assert_int_equal(scene.attempt.flight.code, answers[i].status);
        char wanted[256] = "";
        if (answers[i].said[0] != '\0')
            snprintf(wanted, sizeof wanted, "POST %s%s", scene.url, answers[i].said);
        assert_string_equal(scene.attempt.text, wanted);
    }
    scene_close(&scene);
}

static void
retry_after_is_obeyed_on_408_425_429_and_503_alone(void **state)
{
    (void)state;
    static const struct {
        const char *extra;
        int status;
        owed_verdict verdict;
        int64_t wait_us;
    } answers[] = {
        {"Retry-After: 120\r\n", 429, OWED_VERDICT_RETRY_AFTER, 120 * US_PER_SECOND},
        {"retry-after: 0\r\n", 503, OWED_VERDICT_RETRY_AFTER, 0},
        {"Retry-After: Mon, 30 Nov 2026 00:54:21 GMT\r\n", 503, OWED_VERDICT_RETRY_AFTER,
            60 * US_PER_SECOND + 1},
        {"Retry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\n", 429, OWED_VERDICT_RETRY_AFTER, 0},
        {"Retry-After: soon\r\n", 429, OWED_VERDICT_FAILED, 0},
        {"Retry-After: -5\r\n", 503, OWED_VERDICT_FAILED, 0},
        {"Retry-After: 5\r\n", 500, OWED_VERDICT_FAILED, 0},
        {"Retry-After: 5\r\n", 502, OWED_VERDICT_FAILED, 0},
        {"Retry-After: 5\r\n", 408, OWED_VERDICT_RETRY_AFTER, 5 * US_PER_SECOND},
        {"Retry-After: 5\r\n", 425, OWED_VERDICT_RETRY_AFTER, 5 * US_PER_SECOND},
        {"Retry-After: 5\r\n", 404, OWED_VERDICT_PERMANENT, 0},
        {"Retry-After: 5\r\n", 200, OWED_VERDICT_DONE, 0},
    };
    struct scene scene;
    scene_open(&scene, answer_by_path);
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        scene.server.extra = answers[i].extra;
        owed_outcome outcome = post(&scene, answers[i].status);
        assert_int_equal(outcome.verdict, answers[i].verdict);
        assert_int_equal(outcome.wait_us, answers[i].wait_us);
    }
    scene_close(&scene);
}

static void
a_wait_asked_for_is_a_deferral_where_the_receiver_declares_give_up_after(void **state)
{
    (void)state;
    static const struct {
        const char *extra;
        int status;
        owed_verdict verdict;
        int64_t wait_us;
    } answers[] = {
        {"Retry-After: 120\r\n", 429, OWED_VERDICT_DEFER, 120 * US_PER_SECOND},
        {"Retry-After: 7\r\n", 503, OWED_VERDICT_DEFER, 7 * US_PER_SECOND},
        {"Retry-After: 7\r\n", 408, OWED_VERDICT_DEFER, 7 * US_PER_SECOND},
        {"Retry-After: 7\r\n", 425, OWED_VERDICT_DEFER, 7 * US_PER_SECOND},
        // Without a wait it would come back for ever.
        {"Retry-After: 0\r\n", 429, OWED_VERDICT_RETRY_AFTER, 0},
        {"", 429, OWED_VERDICT_FAILED, 0},
        {"Retry-After: 7\r\n", 500, OWED_VERDICT_FAILED, 0},
    };
    struct scene scene;
    scene_open(&scene, answer_by_path);
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        scene.server.extra = answers[i].extra;
        scene.attempt.receiver.declared.give_up_after_us = OWED_HOURS(1);
        owed_outcome outcome = post(&scene, answers[i].status);
        assert_int_equal(outcome.verdict, answers[i].verdict);
        assert_int_equal(outcome.wait_us, answers[i].wait_us);
    }
    scene_close(&scene);
}

static void
assert_header(const struct served *request, const char *name, const char *wanted)
{
    char value[512];
    assert_string_equal(header_of(request, name, value), wanted);
}

static void
a_request_carries_its_headers_and_no_others(void **state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene, answer_by_path);
    scene.attempt.row.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    scene.attempt.flight.delivery.attempt = 3;
    post(&scene, 200);
    const struct served *request = scene.server.served;
    assert_memory_equal(request->head, "POST /200 HTTP/1.1\r\n", 20);
    assert_header(request, "content-type", "application/json");
    assert_header(request, "content-length", "7");
    assert_header(request, "user-agent", "owed/" OWED_VERSION);
    assert_header(request, "webhook-id", ATTEMPT_KEY);
    assert_header(request, "webhook-timestamp", "1796000000");
    assert_header(request, "webhook-signature", "");
    assert_header(request, "owed-event", "shop.OrderPlaced");
    assert_header(request, "owed-delivery", "41");
    assert_header(request, "owed-attempt", "3");
    assert_header(request, "traceparent", scene.attempt.row.traceparent);
    assert_header(request, "expect", "");
    size_t lines = 0;
    for (const char *p = request->head; *p != '\0'; p++)
        lines += *p == '\n';
    assert_int_equal(lines, 1 + 11 + 1); // with host and accept; the request line, the empty one
    scene_close(&scene);
}

/* verify asks Python whether the signature of a request is right. */
static int
verify(const struct served *request)
{
    char *folder = folder_new();
    char path[256], id[512], timestamp[512], signature[512];
    FILE *file = fopen(path_in(folder, "body", path), "we");
    fwrite(request->body, 1, request->body_len, file);
    fclose(file);
    header_of(request, "webhook-id", id);
    header_of(request, "webhook-timestamp", timestamp);
    header_of(request, "webhook-signature", signature);
    char python[] = "python3", script[] = HERE "/verify.py", secret[] = SECRET;
    char *arguments[] = {python, script, secret, id, timestamp, signature, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, path, O_RDONLY, 0);
    pid_t pid;
    assert_int_equal(posix_spawn(&pid, "/usr/bin/python3", &actions, NULL, arguments, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    int status;
    waitpid(pid, &status, 0);
    folder_free(folder);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void
python_verifies_the_signature_of_what_arrived(void **state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene, answer_by_path);
    scene.attempt.receiver.declared.secret = SECRET;
    scene.attempt.row.payload = str_of("{ \"b\": 1.0,\t\"a\":\"\xc3\xa9\\u0000\", \"a\":2 }\n");
    post(&scene, 200);
    assert_int_equal(verify(scene.server.served), 0);
    scene.server.served->body[0] = '[';
    assert_int_equal(verify(scene.server.served), 1);
    scene_close(&scene);
}

static void
a_new_secret_in_the_file_signs_the_next_request(void **state)
{
    (void)state;
    char *folder = folder_new();
    char path[256], value[512];
    struct scene scene;
    scene_open(&scene, answer_by_path);
    scene.attempt.receiver.declared.secret_file =
        file_in(folder, "secret", "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n", path);
    post(&scene, 200);
    assert_int_equal(verify(scene.server.served), 1);
    file_in(
        folder, "secret", SECRET "\nwhsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n", path);
    post(&scene, 200);
    assert_int_equal(verify(scene.server.served), 0);
    assert_int_equal(strlen(header_of(scene.server.served, "webhook-signature", value)), 95);

    unlink(path);
    assert_int_equal(post(&scene, 200).verdict, OWED_VERDICT_FAILED);
    assert_has(scene.attempt.text, path);
    assert_int_equal(scene.server.count, 2);
    scene_close(&scene);
    folder_free(folder);
}

static void
a_megabyte_arrives_byte_for_byte(void **state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene, answer_by_path);
    size_t len = 1024 * 1024 + 1;
    char *payload = large_payload(len);
    scene.attempt.row.payload = (struct str){payload, len};
    assert_int_equal(post(&scene, 200).verdict, OWED_VERDICT_DONE);
    assert_int_equal(scene.server.served->body_len, len);
    assert_memory_equal(scene.server.served->body, payload, len);
    assert_header(scene.server.served, "expect", ""); // no second of waiting for a "100 Continue"
    scene_close(&scene);
    free(payload);
}

static void
two_hundred_are_in_flight_at_once(void **state)
{
    (void)state;
    struct server server;
    server_start(&server, answer_together);
    server.wanted = 200;
    struct outside *outside = outside_new();
    struct attempt *attempts = calloc(200, sizeof *attempts);
    char url[64];
    server_url(&server, 1, url);
    for (size_t i = 0; i < 200; i++) {
        attempt_init(&attempts[i], RUN_WEBHOOK, url, STR("1"));
        attempts[i].flight.delivery.receiver = &attempts[0].receiver;
        assert_int_equal(outside_builtin.room(outside, &attempts[0].receiver), 200 - i);
        outside_builtin.start(outside, &attempts[i].flight);
    }
    assert_int_equal(outside_builtin.room(outside, &attempts[0].receiver), 0);
    land_all(outside, 200);
    for (size_t i = 0; i < 200; i++)
        assert_int_equal(attempts[i].flight.outcome.verdict, OWED_VERDICT_DONE);
    assert_int_equal(server.most, 200);
    assert_int_equal(outside_builtin.room(outside, &attempts[0].receiver), 200);
    outside_builtin.close(outside);
    server_stop(&server);
    free(attempts);
}

static bool
drip(struct server *server, int fd, const struct served *request)
{
    (void)server;
    (void)request;
    send_text(fd, "HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n");
    while (!is_gone(fd, 10) && send_text(fd, "."))
        continue;
    return false;
}

static bool
drip_head(struct server *server, int fd, const struct served *request)
{
    (void)server;
    (void)request;
    send_text(fd, "HTTP/1.1 200 OK\r\nx-long: ");
    while (!is_gone(fd, 10) && send_text(fd, "."))
        continue;
    return false;
}

/* flood never ends the header of its answer. */
static bool
flood(struct server *server, int fd, const struct served *request)
{
    (void)server;
    (void)request;
    send_text(fd, "HTTP/1.1 200 OK\r\n");
    for (int i = 0; !is_gone(fd, 0); i++) {
        char line[1100];
        snprintf(line, sizeof line, "x-%d: %01000d\r\n", i, i);
        if (!send_text(fd, line))
            break;
    }
    return false;
}

/* flood_line never ends a line of it. */
static bool
flood_line(struct server *server, int fd, const struct served *request)
{
    (void)server;
    (void)request;
    char line[4096];
    memset(line, 'a', sizeof line - 1);
    line[sizeof line - 1] = '\0';
    send_text(fd, "HTTP/1.1 200 OK\r\nx-long: ");
    while (!is_gone(fd, 0) && send_text(fd, line))
        continue;
    return false;
}

static void
an_answer_whose_header_never_ends_is_cut_off(void **state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene, flood);
    assert_int_equal(post(&scene, 200).verdict, OWED_VERDICT_FAILED);
    assert_int_equal(scene.attempt.flight.code, 0);
    assert_has(scene.attempt.text, "the header of its answer is longer than 64 KiB");
    scene_close(&scene);
    scene_open(&scene, flood_line);
    assert_int_equal(post(&scene, 200).verdict, OWED_VERDICT_FAILED);
    assert_has(scene.attempt.text, "the header of its answer is longer than 64 KiB");
    scene_close(&scene);
}

static void
a_server_that_never_ends_its_answer_fails_at_the_deadline(void **state)
{
    (void)state;
    const server_answer slow[] = {drip, drip_head, answer_never};
    for (size_t i = 0; i < sizeof slow / sizeof slow[0]; i++) {
        struct scene scene;
        scene_open(&scene, slow[i]);
        scene.attempt.flight.timeout_us = MILLISECONDS(200);
        int64_t started_us = clock_monotonic_us(&clock_system);
        assert_int_equal(post(&scene, 200).verdict, OWED_VERDICT_FAILED);
        int64_t took_us = clock_monotonic_us(&clock_system) - started_us;
        assert_true(took_us >= MILLISECONDS(199) && took_us < MILLISECONDS(15000));
        assert_true(scene.attempt.flight.duration_us >= MILLISECONDS(199));
        assert_int_equal(scene.attempt.flight.code, 0);
        assert_has(scene.attempt.text, "no complete answer within 200ms");
        scene_close(&scene);
    }
}

static bool
answer_without_end(struct server *server, int fd, const struct served *request)
{
    (void)server;
    static const char block[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde\n";
    char head[128];
    snprintf(
        head, sizeof head, "HTTP/1.1 %d x\r\ncontent-length: 100000000000\r\n\r\n", request->path);
    send_text(fd, head);
    while (send_text(fd, block))
        continue;
    return false;
}

static void
a_body_without_end_is_not_read_and_the_status_counts(void **state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene, answer_without_end);
    assert_int_equal(post(&scene, 201).verdict, OWED_VERDICT_DONE);
    assert_int_equal(scene.attempt.flight.code, 201);
    assert_int_equal(post(&scene, 410).verdict, OWED_VERDICT_PERMANENT);
    assert_int_equal(post(&scene, 502).verdict, OWED_VERDICT_FAILED);
    assert_int_equal(strlen(scene.attempt.flight.excerpt), 255);
    assert_int_equal(scene.server.count, 3);
    scene_close(&scene);
}

static bool
answer_garbage(struct server *server, int fd, const struct served *request)
{
    (void)server;
    (void)request;
    static const char answer[] =
        "HTTP/1.1 500 x\r\ncontent-length: 12\r\n\r\na\0b\x1b\xff\xc3\xa9 end\n";
    return send(fd, answer, sizeof answer - 1, MSG_NOSIGNAL) > 0;
}

static void
the_excerpt_is_valid_utf8_whatever_came(void **state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene, answer_garbage);
    assert_int_equal(post(&scene, 500).verdict, OWED_VERDICT_FAILED);
    assert_string_equal(scene.attempt.flight.excerpt, "a b ?\xc3\xa9 end\n");
    scene_close(&scene);
}

static void
a_redirect_is_not_followed_and_says_where_it_pointed(void **state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene, answer_by_path);
    char location[256];
    snprintf(location, sizeof location, "Location: http://u:p@127.0.0.1:%d/200?token=secret\r\n",
        scene.server.port);
    scene.server.extra = location;
    const int redirects[] = {301, 302, 303, 307, 308};
    for (size_t i = 0; i < sizeof redirects / sizeof redirects[0]; i++) {
        assert_int_equal(post(&scene, redirects[i]).verdict, OWED_VERDICT_PERMANENT);
        assert_has(scene.attempt.text, "/200; redirects are not followed");
        assert_null(strstr(scene.attempt.text, "secret"));
        assert_null(strstr(scene.attempt.text, "u:p"));
        assert_int_equal(scene.attempt.flight.code, redirects[i]);
    }
    assert_int_equal(scene.server.count, 5);
    scene.server.extra = "Location:\r\n";
    assert_int_equal(post(&scene, 302).verdict, OWED_VERDICT_PERMANENT);
    assert_has(scene.attempt.text, "302 Found, to an empty Location");
    scene_close(&scene);
}

static void
a_refused_connection_is_a_failure_that_names_the_host(void **state)
{
    (void)state;
    char url[128], wanted[256];
    int port = loopback_closed_port();
    snprintf(url, sizeof url, "http://127.0.0.1:%d/hooks?token=secret", port);
    snprintf(wanted, sizeof wanted,
        "POST http://127.0.0.1:%d/hooks: could not connect to 127.0.0.1:%d: Connection refused",
        port, port);
    struct outside *outside = outside_new();
    struct attempt attempt;
    attempt_init(&attempt, RUN_WEBHOOK, url, STR("1"));
    fly(outside, &attempt);
    assert_int_equal(attempt.flight.outcome.verdict, OWED_VERDICT_FAILED);
    assert_int_equal(attempt.flight.code, 0);
    assert_string_equal(attempt.text, wanted);
    outside_builtin.close(outside);
}

static bool
cut_short(struct server *server, int fd, const struct served *request)
{
    (void)server;
    (void)request;
    send_text(fd, "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nonly this");
    return false;
}

static void
half_an_answer_or_none_is_a_failure(void **state)
{
    (void)state;
    const server_answer bad[] = {cut_short, hang_up, answer_in_no_http};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct scene scene;
        scene_open(&scene, bad[i]);
        assert_int_equal(post(&scene, 200).verdict, OWED_VERDICT_FAILED);
        assert_has(scene.attempt.text, scene.url);
        assert_int_equal(scene.attempt.flight.code, 0);
        scene_close(&scene);
    }
}

static void
connections_are_kept(void **state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene, answer_by_path);
    for (int i = 0; i < 20; i++)
        assert_int_equal(post(&scene, 503).verdict, OWED_VERDICT_FAILED);
    assert_int_equal(scene.server.accepted, 1);
    scene_close(&scene);
}

/* The next request on this connection is not read: closing answers it with a reset. */
static bool
answer_once(struct server *server, int fd, const struct served *request)
{
    answer_by_path(server, fd, request);
    struct pollfd asked = {.fd = fd, .events = POLLIN};
    poll(&asked, 1, -1);
    return false;
}

static void
a_kept_connection_that_the_server_closed_costs_no_attempt(void **state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene, answer_once);
    for (int i = 0; i < 20; i++)
        assert_int_equal(post(&scene, 200).verdict, OWED_VERDICT_DONE);
    assert_int_equal(scene.server.count, 20);
    scene_close(&scene);
}

static void
a_proxy_of_the_environment_is_not_used(void **state)
{
    (void)state;
    char proxy[64];
    snprintf(proxy, sizeof proxy, "http://127.0.0.1:%d", loopback_closed_port());
    setenv("http_proxy", proxy, 1);
    setenv("all_proxy", proxy, 1);
    struct scene scene;
    scene_open(&scene, answer_by_path);
    assert_int_equal(post(&scene, 200).verdict, OWED_VERDICT_DONE);
    scene_close(&scene);
    unsetenv("http_proxy");
    unsetenv("all_proxy");
}

static void
no_other_scheme_is_spoken(void **state)
{
    (void)state;
    static const char *const urls[] = {
        "file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1/", "smtp://127.0.0.1/"};
    struct outside *outside = outside_new();
    for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
        struct attempt attempt;
        attempt_init(&attempt, RUN_WEBHOOK, urls[i], STR("1"));
        fly(outside, &attempt);
        assert_int_not_equal(attempt.flight.outcome.verdict, OWED_VERDICT_DONE);
        assert_has(attempt.text, "not supported");
        // Its address may come again in the next round.
        outside_builtin.close(outside);
        outside = outside_new();
    }
    outside_builtin.close(outside);
}

static size_t
served_count(struct server *server)
{
    pthread_mutex_lock(&server->lock);
    size_t count = server->count;
    pthread_mutex_unlock(&server->lock);
    return count;
}

static void
an_abandoned_request_is_closed_and_never_lands(void **state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene, answer_never);
    outside_builtin.start(scene.outside, &scene.attempt.flight);
    while (served_count(&scene.server) == 0)
        assert_null(outside_builtin.poll(scene.outside, NULL, 0, 10));
    outside_builtin.abandon(scene.outside, &scene.attempt.flight);
    assert_int_equal(outside_builtin.room(scene.outside, &scene.attempt.receiver), 200);
    assert_null(outside_builtin.poll(scene.outside, NULL, 0, 0));
    pthread_mutex_lock(&scene.server.lock);
    while (scene.server.connections > 0)
        pthread_cond_wait(&scene.server.changed, &scene.server.lock);
    pthread_mutex_unlock(&scene.server.lock);
    scene_close(&scene);
}

/* wait_until_served waits until the server has read count requests, and nobody polls. */
static void
wait_until_served(struct server *server, size_t count)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 20;
    pthread_mutex_lock(&server->lock);
    while (server->count < count)
        assert_int_equal(pthread_cond_timedwait(&server->changed, &server->lock, &until), 0);
    pthread_mutex_unlock(&server->lock);
}

static void
requests_go_on_while_nobody_polls(void **state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene, answer_by_path);
    outside_builtin.start(scene.outside, &scene.attempt.flight);
    wait_until_served(&scene.server, 1);
    land_all(scene.outside, 1);
    assert_int_equal(scene.attempt.flight.outcome.verdict, OWED_VERDICT_DONE);
    scene_close(&scene);
}

static void
one_is_abandoned_in_whatever_state_it_is(void **state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene, answer_by_path);
    for (size_t i = 0; i < 20; i++) {
        outside_builtin.start(scene.outside, &scene.attempt.flight);
        if (i % 2 == 1)
            wait_until_served(&scene.server, i / 2 + 1);
        outside_builtin.abandon(scene.outside, &scene.attempt.flight);
        assert_int_equal(outside_builtin.room(scene.outside, &scene.attempt.receiver), 200);
        assert_null(outside_builtin.poll(scene.outside, NULL, 0, 0));
    }
    fly(scene.outside, &scene.attempt);
    assert_int_equal(scene.attempt.flight.outcome.verdict, OWED_VERDICT_DONE);
    scene_close(&scene);
}

#define STALLED 20

/* Path 1 gets no answer. */
static bool
answer_but_one(struct server *server, int fd, const struct served *request)
{
    return request->path == 1 ? answer_never(server, fd, request)
                              : answer_by_path(server, fd, request);
}

static void
a_fast_endpoint_is_not_held_back_by_a_stalled_one_in_flight(void **state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene, answer_but_one);
    char url[64];
    struct attempt *stalled = calloc(STALLED, sizeof *stalled);
    assert_non_null(stalled);
    for (size_t i = 0; i < STALLED; i++) {
        attempt_init(&stalled[i], RUN_WEBHOOK, server_url(&scene.server, 1, url), STR("1"));
        outside_builtin.start(scene.outside, &stalled[i].flight);
    }
    wait_until_served(&scene.server, STALLED);
    for (size_t i = 0; i < 100; i++) {
        fly(scene.outside, &scene.attempt);
        assert_int_equal(scene.attempt.flight.outcome.verdict, OWED_VERDICT_DONE);
        assert_true(scene.attempt.flight.duration_us < 5 * US_PER_SECOND);
    }
    for (size_t i = 0; i < STALLED; i++) {
        assert_non_null(stalled[i].flight.builtin); // still there
        outside_builtin.abandon(scene.outside, &stalled[i].flight);
    }
    scene_close(&scene);
    free(stalled);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_status_has_its_verdict_and_is_named),
        cmocka_unit_test(retry_after_is_obeyed_on_408_425_429_and_503_alone),
        cmocka_unit_test(a_wait_asked_for_is_a_deferral_where_the_receiver_declares_give_up_after),
        cmocka_unit_test(a_request_carries_its_headers_and_no_others),
        cmocka_unit_test(python_verifies_the_signature_of_what_arrived),
        cmocka_unit_test(a_new_secret_in_the_file_signs_the_next_request),
        cmocka_unit_test(a_megabyte_arrives_byte_for_byte),
        cmocka_unit_test(two_hundred_are_in_flight_at_once),
        cmocka_unit_test(an_answer_whose_header_never_ends_is_cut_off),
        cmocka_unit_test(a_server_that_never_ends_its_answer_fails_at_the_deadline),
        cmocka_unit_test(a_body_without_end_is_not_read_and_the_status_counts),
        cmocka_unit_test(the_excerpt_is_valid_utf8_whatever_came),
        cmocka_unit_test(a_redirect_is_not_followed_and_says_where_it_pointed),
        cmocka_unit_test(a_refused_connection_is_a_failure_that_names_the_host),
        cmocka_unit_test(half_an_answer_or_none_is_a_failure),
        cmocka_unit_test(connections_are_kept),
        cmocka_unit_test(a_kept_connection_that_the_server_closed_costs_no_attempt),
        cmocka_unit_test(a_proxy_of_the_environment_is_not_used),
        cmocka_unit_test(no_other_scheme_is_spoken),
        cmocka_unit_test(an_abandoned_request_is_closed_and_never_lands),
        cmocka_unit_test(requests_go_on_while_nobody_polls),
        cmocka_unit_test(one_is_abandoned_in_whatever_state_it_is),
        cmocka_unit_test(a_fast_endpoint_is_not_held_back_by_a_stalled_one_in_flight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
