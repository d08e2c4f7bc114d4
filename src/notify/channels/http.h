/* SPDX-License-Identifier: MIT
 *
 * http.h - requests to a provider, one at a time on each thread, and what its answers mean.
 *
 * A channel has one struct http: the handles of its threads with their connections, and what is the same for all of its
 * requests. What it was told of as a secret stands in no reason.
 */
#ifndef NOTIFY_CHANNELS_HTTP_H
#define NOTIFY_CHANNELS_HTTP_H

#include <owed/notify.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/options.h"

#define HTTP_URL_BYTES ((size_t)16 * 1024)
#define HTTP_HEADERS_MAX 16
#define HTTP_HEADER_BYTES ((size_t)8 * 1024)
#define HTTP_WANTED_BYTES 1024
#define HTTP_REASON_BYTES 384

/* The keys that http_new reads, for the table of a kind's keys. */
#define HTTP_KEYS \
    {.name = "timeout", \
        .type = OPTION_DURATION, \
        .argument = "TIME", \
        .section = "channel", \
        .fallback = "30s", \
        .min = US_PER_SECOND, \
        .max = 3600 * US_PER_SECOND, \
        .help = "past it a request has failed"}, \
        {.name = "connect-timeout", \
            .type = OPTION_DURATION, \
            .argument = "TIME", \
            .section = "channel", \
            .fallback = "10s", \
            .min = US_PER_MS, \
            .max = 3600 * US_PER_SECOND, \
            .help = "past it the provider cannot be reached"}, \
        {.name = "ca-file", \
            .type = OPTION_TEXT, \
            .argument = "PATH", \
            .section = "channel", \
            .help = "certificates that are trusted in place of the system's"}, \
    { \
        .name = "proxy", .type = OPTION_TEXT, .argument = "URL", .section = "channel", \
        .help = \
            "goes between, such as http://proxy.example:3128; none is taken from the environment" \
    }

struct http;

/* http_new reads HTTP_KEYS. It may be used from any number of threads. CONFIG. NOMEM. */
owed_status http_new(const struct options *values, struct http **ret_http, owed_error *err);
void http_free(struct http *http);

/* http_hide has no reason show a secret from now on: what the provider sends back of it is blotted out. Before the
 * first request; copied. NULL and what is shorter than 4 bytes are ignored. */
owed_status http_hide(struct http *http, const char *secret, owed_error *err);

/* Borrowed for the call. */
struct http_request {
    const char *method;         // "POST"
    const char *url;            // as http_url_check accepts them
    const char *const *headers; // "name: value", to a NULL; NULL: none
    struct str body;
    const char *wanted; // a header of the answer's that is of interest; NULL: none
    bool http2; // over https where the server has it, over http without asking; else HTTP/1.1
    bool
        is_strangers; // the URL is somebody's who may mean us harm: it is asked at public addresses alone; a proxy sees to it itself
};

/* http_answer_done frees it; fit for CLEANUP. */
struct http_answer {
    long status;                    // 0: there is none, and reason says why
    bool impossible;                // 0: for the request could not be sent to anybody
    int64_t wait_us;                // Retry-After beside any status; -1: none
    char wanted[HTTP_WANTED_BYTES]; // "": not there, or longer
    struct buf body;                // up to LIMIT_RESPONSE_BYTES; the rest is not read
    char reason[HTTP_REASON_BYTES]; // where there is no status
};

/* http_send makes one request and waits for its answer. Redirects are not followed. A URL or a header that could end
 * its line is sent to nobody. */
void http_send(
    struct http *http, const struct http_request *request, struct http_answer *ret_answer);
void http_answer_done(struct http_answer *answer);

/* http_url_check tells whether it is http or https, with a host, without a user, a fragment, blanks and control
 * characters. INVALID: the sentence shows no more of it than its host. */
owed_status http_url_check(const char *url, owed_error *err);

/* http_encode appends a text with all but letters, digits, "-", ".", "_" and "~" percent-encoded. */
void http_encode(struct buf *out, struct str text);

/* http_basic appends "authorization: Basic ..." (RFC 7617). */
void http_basic(struct buf *out, const char *user, const char *password);

/* http_verdict fills in what the status says alone: 2xx SENT; 408, 425, 429 and 503 WAIT where Retry-After says so, and
 * 429 in any case; these, other 5xx, and no answer FAILED; what else there is REFUSED. who: "the gateway". detail: the
 * provider's own words, or NULL for the start of the body. GONE is for the kind to say. */
void http_verdict(const struct http *http, const struct http_answer *said, const char *who,
    const char *detail, owed_answer *ret_answer);

/* http_reason writes the reason alone, as "the gateway said 400: no such number". */
void http_reason(const struct http *http, const struct http_answer *said, const char *who,
    const char *detail, owed_answer *answer);

/* http_text finds a string, a number or a bool in a JSON answer by its pointer, without control characters, cut at size;
 * false: there is none. http_number finds a number. */
bool http_text(const struct http_answer *said, const char *pointer, char *ret_text, size_t size);
bool http_number(const struct http_answer *said, const char *pointer, double *ret_number);

/* http_blot has a text show no secret of the channel's. */
void http_blot(const struct http *http, char *text);

#endif
