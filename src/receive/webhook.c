/* SPDX-License-Identifier: MIT
 *
 * webhook.c - POST of the payload, by libcurl.
 *
 * HTTP/1.1 on purpose: when a server ends an HTTP/2 connection, every request on it has failed an
 * attempt. Proxies of the environment are not used, so that the address a receiver declares is the
 * one that is called.
 */
#include "receive/webhook.h"

#include <fcntl.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/moment.h"
#include "base/retry_after.h"
#include "base/text.h"
#include "receive/headers.h"
#include "receive/status.h"
#include "receive/target.h"

struct request {
    struct transfer transfer; // the first member: the wire hands back transfers
    struct flight *flight;
    struct target *target;
    struct request *next;
    struct request **link; // in flying: what points here
    struct headers headers;
    int64_t timeout_us;
    size_t received; // bytes of the answer's body
    bool cut;        // it was longer than is read
    char body[256];  // its first bytes
    char problem[CURL_ERROR_SIZE];
};

static size_t
on_body(char *bytes, size_t one, size_t len, void *state)
{
    (void)one;
    struct request *request = state;
    if (request->received < sizeof request->body) {
        size_t room = sizeof request->body - request->received;
        memcpy(request->body + request->received, bytes, len < room ? len : room);
    }
    request->received += len;
    if (request->received <= LIMIT_RESPONSE_BYTES)
        return len;
    request->cut = true;
    return CURL_WRITEFUNC_ERROR;
}

/* libcurl opens its sockets without SOCK_CLOEXEC, and they must not reach other programs. */
static curl_socket_t
on_socket(void *state, curlsocktype purpose, struct curl_sockaddr *address)
{
    (void)state;
    (void)purpose;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static void
free_request(struct request *request)
{
    if (request == NULL)
        return;
    curl_easy_cleanup(request->transfer.easy);
    free(request);
}

/* set_constants sets what is the same for every request. */
static bool
set_constants(struct request *request)
{
    CURL *easy = request->transfer.easy;
    CURLcode failed = CURLE_OK;
#define SET(option_, value_) (failed |= curl_easy_setopt(easy, (option_), (value_)))
    SET(CURLOPT_PRIVATE, &request->transfer);
    SET(CURLOPT_ERRORBUFFER, request->problem);
    SET(CURLOPT_WRITEFUNCTION, on_body);
    SET(CURLOPT_WRITEDATA, request);
    SET(CURLOPT_OPENSOCKETFUNCTION, on_socket);
    SET(CURLOPT_USERAGENT, "owed/" OWED_VERSION);
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
    SET(CURLOPT_PROXY, "");
    SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    SET(CURLOPT_FOLLOWLOCATION, 0L);
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_TCP_KEEPALIVE, 1L);
    SET(CURLOPT_POST, 1L);
    // A name that takes long to resolve must not hold up all the others when its request ends.
    SET(CURLOPT_QUICK_EXIT, 1L);
#undef SET
    return failed == CURLE_OK;
}

static struct request *
take_request(struct webhooks *webhooks)
{
    struct request *request = webhooks->idle;
    if (request != NULL) {
        webhooks->idle = request->next;
        request->next = NULL;
        // libcurl repeats a request whose kept connection turned out to be closed, but counts these
        // over all the requests of a handle, and gives up after five.
        curl_easy_reset(request->transfer.easy);
    } else {
        request = calloc(1, sizeof *request);
        if (request == NULL)
            return NULL;
        request->transfer.easy = curl_easy_init();
    }
    if (request->transfer.easy != NULL && set_constants(request))
        return request;
    free_request(request);
    return NULL;
}

static void
give_back(struct webhooks *webhooks, struct request *request)
{
    request->flight = NULL;
    request->next = webhooks->idle;
    webhooks->idle = request;
}

static void
link_request(struct webhooks *webhooks, struct request *request)
{
    request->next = webhooks->flying;
    if (request->next != NULL)
        request->next->link = &request->next;
    request->link = &webhooks->flying;
    webhooks->flying = request;
    webhooks->count++;
}

static void
unlink_request(struct webhooks *webhooks, struct request *request)
{
    *request->link = request->next;
    if (request->next != NULL)
        request->next->link = request->link;
    webhooks->count--;
}

static long
milliseconds(int64_t us)
{
    return us <= US_PER_MS ? 1 : (long)((us + US_PER_MS - 1) / US_PER_MS);
}

/* prepare sets what is new in this request. */
static bool
prepare(struct request *request, struct flight *flight)
{
    const struct receiver *receiver = flight->delivery.receiver;
    struct str body = flight->delivery.row->payload;
    int64_t limit_us = flight->timeout_us > 0 ? flight->timeout_us : WEBHOOK_TIMEOUT_US;
    int64_t connect_us =
        limit_us < WEBHOOK_CONNECT_TIMEOUT_US ? limit_us : WEBHOOK_CONNECT_TIMEOUT_US;
    request->flight = flight;
    request->timeout_us = limit_us;
    request->received = 0;
    request->cut = false;
    request->problem[0] = '\0';

    CURL *easy = request->transfer.easy;
    CURLcode failed = CURLE_OK;
    failed |= curl_easy_setopt(easy, CURLOPT_URL, receiver->declared.webhook);
    failed |= curl_easy_setopt(easy, CURLOPT_HTTPHEADER, request->headers.nodes);
    failed |= curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body.p == NULL ? "" : body.p);
    failed |= curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.len);
    failed |= curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, milliseconds(limit_us));
    failed |= curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, milliseconds(connect_us));
    return failed == CURLE_OK;
}

/* compose signs and writes the headers. A secret that cannot be read may be there next time. */
static bool
compose(struct webhooks *webhooks, struct request *request, struct flight *flight,
    owed_outcome *ret_outcome)
{
    owed_delivery *delivery = &flight->delivery;
    const struct receiver *receiver = delivery->receiver;
    struct secrets *secrets = &request->target->secrets;
    owed_error err = {0};
    if (secrets_load(secrets, &receiver->declared, &err) != OWED_OK) {
        *ret_outcome = owed_failed(delivery, "%s", err.text);
        return false;
    }
    int64_t timestamp = clock_now_us(&webhooks->landing->clock) / US_PER_SECOND;
    char signature[SIGN_BYTES] = "";
    bool ready = secrets->count == 0 ||
        sign(secrets, delivery->idempotency_key, timestamp, delivery->row->payload, signature);
    if (ready && headers_fill(&request->headers, delivery, timestamp, signature))
        return true;
    *ret_outcome =
        owed_failed(delivery, "POST %s: the request could not be written", request->target->shown);
    return false;
}

void
webhooks_start(struct webhooks *webhooks, struct flight *flight)
{
    owed_delivery *delivery = &flight->delivery;
    struct target *target = target_find(&webhooks->targets, delivery->receiver);
    struct request *request = target == NULL ? NULL : take_request(webhooks);
    if (request == NULL) {
        landing_add(webhooks->landing, flight, owed_failed(delivery, "out of memory"));
        return;
    }
    request->target = target;
    owed_outcome outcome;
    if (!compose(webhooks, request, flight, &outcome)) {
        give_back(webhooks, request);
        landing_add(webhooks->landing, flight, outcome);
        return;
    }
    if (!prepare(request, flight) || !wire_send(&webhooks->wire, &request->transfer)) {
        outcome = owed_failed(delivery, "POST %s: it could not be begun", target->shown);
        give_back(webhooks, request);
        landing_add(webhooks->landing, flight, outcome);
        return;
    }
    flight->builtin = request;
    link_request(webhooks, request);
}

/* header returns the first of that name in the answer, or NULL. */
static const char *
header(CURL *easy, const char *name)
{
    struct curl_header *found;
    if (curl_easy_header(easy, name, 0, CURLH_HEADER, -1, &found) != CURLHE_OK)
        return NULL;
    return found->value;
}

/* What the network did, where there is no whole answer. */
static owed_outcome
explain_transport(struct request *request, CURLcode code)
{
    owed_delivery *delivery = &request->flight->delivery;
    const struct target *target = request->target;
    char limit[MOMENT_BYTES];
    long native = 0;
    curl_easy_getinfo(request->transfer.easy, CURLINFO_OS_ERRNO, &native);
    const char *reason = native != 0 ? strerrordesc_np((int)native) : NULL;

    char problem[CURL_ERROR_SIZE];
    const char *raw = request->problem[0] != '\0' ? request->problem : curl_easy_strerror(code);
    text_clean(problem, sizeof problem, str_of(raw), false);
    switch (code) {
    case CURLE_URL_MALFORMAT:
        return owed_permanent(delivery, "POST %s: not a URL: %s", target->shown, problem);
    case CURLE_COULDNT_CONNECT:
        return owed_failed(delivery, "POST %s: could not connect to %s: %s", target->shown,
            target->host, reason != NULL ? reason : problem);
    case CURLE_OPERATION_TIMEDOUT:
        return owed_failed(delivery, "POST %s: no complete answer within %s: %s", target->shown,
            duration_rough(request->timeout_us, limit), problem);
    default:
        return owed_failed(delivery, "POST %s: %s", target->shown, problem);
    }
}

static owed_outcome
explain_redirect(struct request *request, long status, const char *location)
{
    owed_delivery *delivery = &request->flight->delivery;
    const char *shown = request->target->shown;
    char *to = url_shown(location);
    char cleaned[256];
    text_clean(cleaned, sizeof cleaned, str_of(to), false);
    free(to);
    return owed_permanent(delivery, "POST %s: %ld %s, to %s; redirects are not followed", shown,
        status, status_reason(status), cleaned);
}

/* What the answer says. */
static owed_outcome
judge(struct webhooks *webhooks, struct request *request, long status)
{
    owed_delivery *delivery = &request->flight->delivery;
    const char *shown = request->target->shown;
    const char *reason = status_reason(status);
    const char *blank = reason[0] == '\0' ? "" : " ";
    owed_verdict verdict = status_verdict(status);
    if (verdict == OWED_VERDICT_DONE)
        return owed_done();
    const char *location = status / 100 == 3 ? header(request->transfer.easy, "location") : NULL;
    if (location != NULL)
        return explain_redirect(request, status, location);
    if (verdict == OWED_VERDICT_PERMANENT)
        return owed_permanent(delivery, "POST %s: %ld%s%s", shown, status, blank, reason);

    const char *value =
        status_may_wait(status) ? header(request->transfer.easy, "retry-after") : NULL;
    int64_t wait_us;
    int64_t now_us = clock_now_us(&webhooks->landing->clock);
    if (value == NULL || !retry_after_read(value, now_us, &wait_us))
        return owed_failed(delivery, "POST %s: %ld%s%s", shown, status, blank, reason);
    double seconds = (double)wait_us / (double)US_PER_SECOND;
    // No wait at all is no quota that is spent: it counts, or the row would come back for ever.
    bool defers = delivery->receiver->declared.give_up_after_us > 0 && wait_us > 0;
    return (defers ? owed_defer : owed_retry_after)(delivery, seconds,
        "POST %s: %ld%s%s; it asked to wait for %.0f s", shown, status, blank, reason, seconds);
}

static void
finish(struct webhooks *webhooks, struct request *request)
{
    struct flight *flight = request->flight;
    CURL *easy = request->transfer.easy;
    CURLcode code = request->transfer.code;
    long status = 0;
    curl_off_t took_us = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(easy, CURLINFO_TOTAL_TIME_T, &took_us);
    bool answered = code == CURLE_OK || (code == CURLE_WRITE_ERROR && request->cut);
    owed_outcome outcome =
        answered ? judge(webhooks, request, status) : explain_transport(request, code);

    size_t len = request->received;
    struct str body = {request->body, len < sizeof request->body ? len : sizeof request->body};
    text_clean(flight->excerpt, sizeof flight->excerpt, body, true);
    flight->code = answered ? (int32_t)status : 0;
    flight->builtin = NULL;

    unlink_request(webhooks, request);
    give_back(webhooks, request);
    landing_add(webhooks->landing, flight, outcome);
    flight->duration_us = took_us; // not until somebody looked
}

void
webhooks_step(struct webhooks *webhooks)
{
    if (webhooks->count == 0)
        return;
    struct transfer *next = NULL;
    for (struct transfer *t = wire_take(&webhooks->wire); t != NULL; t = next) {
        next = t->next;
        finish(webhooks, (struct request *)t);
    }
}

void
webhooks_abandon(struct webhooks *webhooks, struct flight *flight)
{
    struct request *request = flight->builtin;
    wire_drop(&webhooks->wire, &request->transfer);
    unlink_request(webhooks, request);
    give_back(webhooks, request);
    flight->builtin = NULL;
}

owed_status
webhooks_open(struct webhooks *webhooks, struct landing *landing, int32_t at_once, owed_error *err)
{
    *webhooks = (struct webhooks){.landing = landing};
    return wire_open(&webhooks->wire, at_once, err);
}

void
webhooks_close(struct webhooks *webhooks)
{
    while (webhooks->flying != NULL)
        webhooks_abandon(webhooks, webhooks->flying->flight);
    while (webhooks->idle != NULL) {
        struct request *next = webhooks->idle->next;
        free_request(webhooks->idle);
        webhooks->idle = next;
    }
    wire_close(&webhooks->wire);
    targets_free(webhooks->targets);
    webhooks->targets = NULL;
}
