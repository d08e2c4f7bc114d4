/* SPDX-License-Identifier: MIT
 *
 * webhook.c - POST of the payload, by libcurl.
 *
 * HTTP/1.1 on purpose: when a server ends an HTTP/2 connection, every request on it has failed an
 * attempt. Proxies of the environment are not used, so that the address a receiver declares is the
 * one that is called.
 */
#include "receive/webhook.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "receive/answer.h"
#include "receive/headers.h"
#include "receive/target.h"

#define HANDLE_USES 1000

struct request {
    struct transfer transfer; // the first member: the wire hands back transfers
    struct flight *flight;
    struct target *target;
    struct request *next;
    struct request **link; // in flying: what points here
    struct headers headers;
    int64_t timeout_us;
    struct answer answer;
    int uses;        // since its handle was set up
    bool is_used_up; // it is to be set up anew
};

static void
free_request(struct request *request)
{
    if (request == NULL)
        return;
    curl_easy_cleanup(request->transfer.easy);
    free(request);
}

/* set_up makes a handle ready for a target, whatever it was used for before. */
static bool
set_up(struct request *request, struct target *target)
{
    CURL *easy = request->transfer.easy;
    if (easy == NULL)
        easy = request->transfer.easy = curl_easy_init();
    else
        curl_easy_reset(easy);
    request->target = target;
    request->uses = 0;
    request->is_used_up = false;
    return easy != NULL && answer_listen(&request->answer, &request->transfer) &&
        curl_easy_setopt(easy, CURLOPT_URL, target->receiver->declared.webhook) == CURLE_OK;
}

static struct request *
take_request(struct webhooks *webhooks, struct target *target)
{
    struct request *request = webhooks->idle;
    if (request != NULL)
        webhooks->idle = request->next;
    else
        request = calloc(1, sizeof *request);
    if (request == NULL)
        return NULL;
    request->next = NULL;
    if (request->target == target && !request->is_used_up)
        return request;
    if (set_up(request, target))
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

/* prepare sets what is new in this request. */
static bool
prepare(struct request *request, struct flight *flight)
{
    struct str body = flight->delivery.row->payload;
    int64_t limit_us = flight->timeout_us > 0 ? flight->timeout_us : WEBHOOK_TIMEOUT_US;
    int64_t connect_us =
        limit_us < WEBHOOK_CONNECT_TIMEOUT_US ? limit_us : WEBHOOK_CONNECT_TIMEOUT_US;
    request->flight = flight;
    request->timeout_us = limit_us;
    answer_clear(&request->answer);

    CURL *easy = request->transfer.easy;
    CURLcode failed = CURLE_OK;
    failed |= curl_easy_setopt(easy, CURLOPT_HTTPHEADER, request->headers.nodes);
    failed |= curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body.p == NULL ? "" : body.p);
    failed |= curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.len);
    failed |= answer_limit(easy, limit_us, connect_us);
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
    if (ready &&
        headers_fill(&request->headers, delivery, "application/json", timestamp, signature))
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
    struct request *request = target == NULL ? NULL : take_request(webhooks, target);
    if (request == NULL) {
        landing_add(webhooks->landing, flight, owed_failed(delivery, "out of memory"));
        return;
    }
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

/* is_used_up: libcurl repeats a request whose kept connection turned out to be closed, but counts these over
 * all the requests of a handle, and gives up after five. Who has repeated one has nearly always had to connect;
 * where another kept connection took it, that is not seen, so no handle is used for ever. */
static bool
is_used_up(const struct request *request)
{
    const struct transfer *transfer = &request->transfer;
    long connects = 1;
    curl_easy_getinfo(transfer->easy, CURLINFO_NUM_CONNECTS, &connects);
    return transfer->code != CURLE_OK || connects > 0 || request->uses >= HANDLE_USES;
}

static void
finish(struct webhooks *webhooks, struct request *request)
{
    struct flight *flight = request->flight;
    CURL *easy = request->transfer.easy;
    curl_off_t took_us = 0;
    curl_easy_getinfo(easy, CURLINFO_TOTAL_TIME_T, &took_us);
    const struct called called = {&flight->delivery, request->target->shown, request->target->host,
        request->timeout_us, clock_now_us(&webhooks->landing->clock), NULL};
    owed_outcome outcome = answer_outcome(&request->answer, &request->transfer, &called);
    flight->code = answer_keep(&request->answer, &request->transfer, flight->excerpt);
    flight->builtin = NULL;
    request->uses++;
    request->is_used_up = is_used_up(request);

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
    request->is_used_up = true;
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
