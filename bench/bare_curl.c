/* SPDX-License-Identifier: MIT
 *
 * bare_curl.c - the physical limit of webhooks: a bare libcurl multi loop that posts the same bodies
 * with as many header lines, and keeps nothing.
 *
 *     bare_curl URL ROWS IN_FLIGHT BODY
 *
 * BODY is a file. Every answer must be a 2xx. Prints "http ROWS SECONDS RATE".
 */
#include <curl/curl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BODY_BYTES 65536
#define LINE_BYTES 96
#define LINES 7

struct request {
    CURL *easy;
    struct curl_slist lines[LINES];
    char text[LINES][LINE_BYTES];
};

static CURLM *multi;
static const char *url;
static char body[BODY_BYTES];
static size_t body_len;
static int64_t started, ended, rows;

static void
check(int is_right, const char *what)
{
    if (is_right)
        return;
    fprintf(stderr, "bare_curl: %s\n", what);
    exit(1);
}

static double
seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static size_t
drop(char *bytes, size_t one, size_t len, void *state)
{
    (void)bytes;
    (void)one;
    (void)state;
    return len;
}

/* write_lines writes what a webhook without a secret is sent with, each request's own. */
static void
write_lines(struct request *r, int64_t n)
{
    char(*text)[LINE_BYTES] = r->text;
    snprintf(text[0], LINE_BYTES, "content-type: application/json");
    snprintf(text[1], LINE_BYTES, "webhook-id: owed_%032" PRIx64, n);
    snprintf(text[2], LINE_BYTES, "webhook-timestamp: %" PRId64, (int64_t)time(NULL));
    snprintf(text[3], LINE_BYTES, "owed-event: bench.Hook");
    snprintf(text[4], LINE_BYTES, "owed-delivery: %" PRId64, n);
    snprintf(text[5], LINE_BYTES, "owed-attempt: 1");
    snprintf(text[6], LINE_BYTES, "expect:");
    for (int i = 0; i < LINES; i++) {
        r->lines[i].data = text[i];
        r->lines[i].next = i + 1 < LINES ? &r->lines[i + 1] : NULL;
    }
}

static void
post(struct request *r)
{
    int64_t n = ++started;
    write_lines(r, n);
    curl_easy_setopt(r->easy, CURLOPT_HTTPHEADER, r->lines);
    curl_easy_setopt(r->easy, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(r->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body_len);
    check(curl_multi_add_handle(multi, r->easy) == CURLM_OK, "a request was refused");
}

static void
open_request(struct request *r)
{
    r->easy = curl_easy_init();
    check(r->easy != NULL, "out of memory");
    curl_easy_setopt(r->easy, CURLOPT_PRIVATE, r);
    curl_easy_setopt(r->easy, CURLOPT_URL, url);
    curl_easy_setopt(r->easy, CURLOPT_POST, 1L);
    curl_easy_setopt(r->easy, CURLOPT_PROXY, "");
    curl_easy_setopt(r->easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(r->easy, CURLOPT_TIMEOUT_MS, 30000L);
    curl_easy_setopt(r->easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(r->easy, CURLOPT_WRITEFUNCTION, drop);
}

static void
take_ended(void)
{
    int left = 0;
    const CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left)) != NULL) {
        CURL *easy = message->easy_handle;
        struct request *r = NULL;
        long status = 0;
        check(message->data.result == CURLE_OK, curl_easy_strerror(message->data.result));
        curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
        curl_easy_getinfo(easy, CURLINFO_PRIVATE, &r);
        check(status / 100 == 2, "an answer was no 2xx");
        curl_multi_remove_handle(multi, easy);
        ended++;
        if (started < rows)
            post(r);
    }
}

static void
read_body(const char *path)
{
    FILE *file = fopen(path, "re");
    check(file != NULL, "the file of the body cannot be opened");
    body_len = fread(body, 1, sizeof body, file);
    while (body_len > 0 && body[body_len - 1] == '\n')
        body_len--;
    check(body_len > 0 && body_len < sizeof body, "the body is empty or too long");
    fclose(file);
}

int
main(int argc, char **argv)
{
    check(argc == 5, "usage: bare_curl URL ROWS IN_FLIGHT BODY");
    url = argv[1];
    rows = strtoll(argv[2], NULL, 10);
    size_t in_flight = strtoul(argv[3], NULL, 10);
    check(rows > 0 && in_flight > 0, "ROWS and IN_FLIGHT are numbers above 0");
    read_body(argv[4]);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    multi = curl_multi_init();
    struct request *requests = calloc(in_flight, sizeof *requests);
    check(multi != NULL && requests != NULL, "out of memory");
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)in_flight);

    double from = seconds();
    for (size_t i = 0; i < in_flight && started < rows; i++) {
        open_request(&requests[i]);
        post(&requests[i]);
    }
    while (ended < rows) {
        int running = 0;
        curl_multi_perform(multi, &running);
        take_ended();
        if (ended < rows)
            curl_multi_poll(multi, NULL, 0, 1000, NULL);
    }
    double took = seconds() - from;
    printf("http %" PRId64 " %.3f %.0f\n", rows, took, (double)rows / took);
    for (size_t i = 0; i < in_flight; i++)
        curl_easy_cleanup(requests[i].easy);
    curl_multi_cleanup(multi);
    curl_global_cleanup();
    free(requests);
    return 0;
}
