/* SPDX-License-Identifier: MIT
 *
 * http.c - requests to a provider, by libcurl, and handles that keep their connections.
 *
 * A handle is one thread's while it sends, and waits with its connection for the next one: as many are made as threads
 * send at once.
 */
#include "notify/channels/http.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/network.h"
#include "base/retry_after.h"
#include "base/text.h"
#include "notify/channels/http_pool.h"

#define KEPT_SECONDS 60L // providers hang up after a minute or more

/* One request on its way. */
struct flight {
    CURL *easy;
    struct curl_slist *headers;
    struct http_answer *answer;
    bool is_cut;        // the answer was longer than is read
    const char *inside; // what an address is that was not called; NULL: all were
    char problem[CURL_ERROR_SIZE];
};

/* --- what is sent --- */

/* is_line tells whether a text stays in its line of a request. */
static bool
is_line(const char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return false;
    return true;
}

static bool
add_header(struct flight *flight, const char *line)
{
    struct curl_slist *longer = curl_slist_append(flight->headers, line);
    if (longer != NULL)
        flight->headers = longer;
    return longer != NULL;
}

static bool
add_headers(struct flight *flight, const char *const *headers)
{
    // Two that libcurl would add where none is given.
    bool added = add_header(flight, "expect:") && add_header(flight, "accept: application/json");
    for (; added && headers != NULL && *headers != NULL; headers++)
        added = add_header(flight, *headers);
    return added;
}

static size_t
on_body(char *bytes, size_t size, size_t count, void *state)
{
    struct flight *flight = state;
    struct buf *body = &flight->answer->body;
    size_t len = size * count;
    size_t room = body->max - body->len;
    buf_add(body, bytes, len < room ? len : room);
    flight->is_cut = len > room;
    return flight->is_cut ? 0 : len;
}

/* open_public opens a connection's socket unless it leads inside: the name was looked up by now, and is not again. */
static curl_socket_t
open_public(void *state, curlsocktype purpose, struct curl_sockaddr *to)
{
    (void)purpose;
    struct flight *flight = state;
    struct address address;
    const char *problem = address_of(&to->addr, &address)
        ? address_problem(&address, (struct networks){0})
        : "an address of another protocol";
    if (problem == NULL)
        return socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
    flight->inside = problem;
    return CURL_SOCKET_BAD;
}

static long
version_of(const struct http_request *request)
{
    if (!request->http2)
        return CURL_HTTP_VERSION_1_1;
    return strncmp(request->url, "https:", 6) == 0 ? CURL_HTTP_VERSION_2TLS
                                                   : CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE;
}

static bool
aim(struct flight *flight, const struct http *http, const struct http_request *request)
{
    CURLcode failed = CURLE_OK;
#define SET(option_, value_) (failed |= curl_easy_setopt(flight->easy, (option_), (value_)))
    SET(CURLOPT_URL, request->url);
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
    SET(CURLOPT_FOLLOWLOCATION, 0L);
    SET(CURLOPT_PATH_AS_IS, 1L);
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_PROXY, http->proxy == NULL ? "" : http->proxy);
    SET(CURLOPT_HTTP_VERSION, version_of(request));
    SET(CURLOPT_TIMEOUT_MS, http->timeout_ms);
    SET(CURLOPT_CONNECTTIMEOUT_MS, http->connect_timeout_ms);
    SET(CURLOPT_MAXAGE_CONN, KEPT_SECONDS);
    SET(CURLOPT_USERAGENT, "owed/" OWED_VERSION);
    SET(CURLOPT_ERRORBUFFER, flight->problem);
    SET(CURLOPT_WRITEFUNCTION, on_body);
    SET(CURLOPT_WRITEDATA, flight);
    SET(CURLOPT_HTTPHEADER, flight->headers);
    if (request->is_strangers && http->proxy == NULL) {
        SET(CURLOPT_OPENSOCKETFUNCTION, open_public);
        SET(CURLOPT_OPENSOCKETDATA, flight);
    }
    if (http->ca_file != NULL)
        SET(CURLOPT_CAINFO, http->ca_file);
    if (strcmp(request->method, "GET") != 0) {
        SET(CURLOPT_POSTFIELDS, request->body.p == NULL ? "" : request->body.p);
        SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.len);
        SET(CURLOPT_CUSTOMREQUEST, request->method);
    }
#undef SET
    return failed == CURLE_OK;
}

/* --- what comes back --- */

static const char *
header_of(CURL *easy, const char *name)
{
    struct curl_header *found;
    if (curl_easy_header(easy, name, 0, CURLH_HEADER, -1, &found) != CURLHE_OK)
        return NULL;
    return found->value;
}

static void
read_head(struct flight *flight, const char *wanted, struct http_answer *answer)
{
    const char *wait = header_of(flight->easy, "retry-after");
    if (wait == NULL || !retry_after_read(wait, clock_now_us(&clock_system), &answer->wait_us))
        answer->wait_us = -1;
    const char *value = wanted == NULL ? NULL : header_of(flight->easy, wanted);
    if (value != NULL && strlen(value) < sizeof answer->wanted)
        text_clean(answer->wanted, sizeof answer->wanted, str_of(value), false);
}

/* explain says what the network did, without the URL: it may hold a token. */
static void
explain(const struct http *http, struct flight *flight, CURLcode code, struct http_answer *answer)
{
    long native = 0;
    curl_easy_getinfo(flight->easy, CURLINFO_OS_ERRNO, &native);
    const char *said = flight->problem[0] == '\0' ? curl_easy_strerror(code) : flight->problem;
    if (code == CURLE_COULDNT_CONNECT && native != 0)
        said = strerrordesc_np((int)native);
    else if (code == CURLE_OPERATION_TIMEDOUT)
        said = "no whole answer in time";
    else if (code == CURLE_URL_MALFORMAT)
        said = curl_easy_strerror(code);
    // Who answers in no HTTP, which is another unsupported protocol, may do so for a while.
    answer->impossible = code == CURLE_URL_MALFORMAT || flight->inside != NULL;
    char clean[CURL_ERROR_SIZE];
    text_clean(clean, sizeof clean, str_of(said), false);
    if (flight->inside != NULL)
        snprintf(
            answer->reason, sizeof answer->reason, "is not asked: it is at %s", flight->inside);
    else
        snprintf(answer->reason, sizeof answer->reason, "could not be asked: %s", clean);
    http_blot(http, answer->reason);
}

static void
perform(struct http *http, const struct http_request *request, struct flight *flight)
{
    struct http_answer *answer = flight->answer;
    if (!add_headers(flight, request->headers) || !aim(flight, http, request)) {
        snprintf(answer->reason, sizeof answer->reason, "could not be asked: out of memory");
        return;
    }
    CURLcode code = curl_easy_perform(flight->easy);
    if (code != CURLE_OK && !(code == CURLE_WRITE_ERROR && flight->is_cut)) {
        explain(http, flight, code, answer);
        return;
    }
    curl_easy_getinfo(flight->easy, CURLINFO_RESPONSE_CODE, &answer->status);
    read_head(flight, request->wanted, answer);
}

/* is_possible refuses what would be another request than was meant. */
static bool
is_possible(const struct http_request *request, struct http_answer *answer)
{
    owed_error why;
    if (http_url_check(request->url, &why) != OWED_OK) {
        snprintf(answer->reason, sizeof answer->reason, "could not be asked: %.300s", why.text);
        return false;
    }
    for (const char *const *header = request->headers; header != NULL && *header != NULL; header++)
        if (!is_line(*header)) {
            snprintf(answer->reason, sizeof answer->reason,
                "could not be asked: a header holds a control character");
            return false;
        }
    return true;
}

void
http_send(struct http *http, const struct http_request *request, struct http_answer *ret_answer)
{
    *ret_answer = (struct http_answer){.wait_us = -1};
    buf_init(&ret_answer->body, LIMIT_RESPONSE_BYTES);
    if (!is_possible(request, ret_answer)) {
        ret_answer->impossible = true;
        return;
    }
    struct flight flight = {.easy = handles_take(&http->handles), .answer = ret_answer};
    if (flight.easy == NULL) {
        snprintf(
            ret_answer->reason, sizeof ret_answer->reason, "could not be asked: out of memory");
        return;
    }
    perform(http, request, &flight);
    handles_give(&http->handles, flight.easy);
    curl_slist_free_all(flight.headers);
}

void
http_answer_done(struct http_answer *answer)
{
    buf_done(&answer->body);
}
