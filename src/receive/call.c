/* SPDX-License-Identifier: MIT
 *
 * call.c - body, signatures and headers, and a connection that goes only where it was allowed to.
 */
#include "receive/call.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/limits.h"
#include "deliver/endpoints.h"
#include "receive/keys.h"
#include "receive/parcel.h"
#include "receive/target.h"
#include "receive/webhook.h"

#define BODY_BYTES (LIMIT_PAYLOAD_BYTES + 4096)
#define SIGNATURES_BYTES 512

static bool
leave(struct flight *flight, const char *why, const char *word)
{
    snprintf(flight->excerpt, sizeof flight->excerpt, UNSENT "%s%s", why, word);
    return false;
}

bool
call_is_ping(const struct flight *flight)
{
    return strcmp(flight->delivery.row->event_name, PING_EVENT) == 0;
}

bool
call_is_wanted(struct flight *flight)
{
    const struct card *card = flight->endpoint;
    const char *pointer = "";
    if (card == NULL || card->is_gone)
        return leave(flight, "the endpoint is not there any more", "");
    if (call_is_ping(flight))
        return true;
    if (card->row.disabled_at_us != 0)
        return leave(flight, "the endpoint is disabled: ", card->row.disabled_reason);
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, 0);
    return filter_wants(card->row.filter, flight->delivery.row->payload, &arena, &pointer) ||
        leave(flight, "its filter wants something else at ", pointer);
}

void
call_join_line(struct call *call)
{
    struct host *host = call->host;
    call->before = host->last_in_line;
    call->behind = NULL;
    *(call->before == NULL ? &host->first_in_line : &call->before->behind) = call;
    host->last_in_line = call;
    host->in_line++;
    call->waits_in_line = true;
}

void
call_leave_line(struct call *call)
{
    struct host *host = call->host;
    if (!call->waits_in_line)
        return;
    *(call->before == NULL ? &host->first_in_line : &call->before->behind) = call->behind;
    *(call->behind == NULL ? &host->last_in_line : &call->behind->before) = call->before;
    host->in_line--;
    call->waits_in_line = false;
}

void
call_free(struct call *call)
{
    if (call == NULL)
        return;
    curl_easy_cleanup(call->transfer.easy);
    buf_done(&call->body);
    buf_done(&call->pin);
    free(call->shown);
    free(call);
}

/* on_socket has the last word: the address that libcurl is about to call. */
static curl_socket_t
on_socket(void *state, curlsocktype purpose, struct curl_sockaddr *to)
{
    (void)purpose;
    struct call *call = state;
    struct address address;
    char text[NETWORK_TEXT_BYTES];
    const char *problem =
        address_of(&to->addr, &address) ? address_problem(&address, call->allowed) : "no address";
    if (problem == NULL)
        return socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
    address_write(&address, text);
    snprintf(call->refused, sizeof call->refused, "%s is %s", text, problem);
    return CURL_SOCKET_BAD;
}

static bool
sign_call(const struct flight *flight, struct str body, int64_t now_us, struct buf *signatures)
{
    const struct endpoint_row *row = &flight->endpoint->row;
    const char *id = flight->delivery.idempotency_key;
    bool overlaps = row->previous_secret[0] != '\0' && row->previous_until_us > now_us;
    const char *secrets[] = {row->secret, overlaps ? row->previous_secret : NULL};
    for (size_t i = 0; i < 2 && secrets[i] != NULL; i++) {
        struct key key;
        bool is_signed = key_read(secrets[i], &key, NULL) == OWED_OK &&
            key_sign(&key, id, now_us / US_PER_SECOND, body, signatures);
        explicit_bzero(&key, sizeof key);
        if (!is_signed)
            return false;
    }
    return true;
}

bool
call_compose(struct call *call, int64_t now_us)
{
    const struct flight *flight = call->flight;
    const owed_delivery *delivery = &flight->delivery;
    owed_format format = OWED_FORMAT_ENVELOPE;
    if (!format_of(flight->endpoint->row.format, &format))
        return false;
    buf_clear(&call->body);
    parcel_write(format, delivery->row, delivery->idempotency_key,
        delivery->receiver->endpoints->said.source, &call->body);
    CLEANUP(buf_done) struct buf signatures;
    buf_init(&signatures, SIGNATURES_BYTES);
    return !call->body.failed && sign_call(flight, buf_view(&call->body), now_us, &signatures) &&
        headers_fill(&call->headers, delivery, parcel_type(format), now_us / US_PER_SECOND,
            buf_text(&signatures));
}

bool
call_prepare(struct call *call)
{
    CURL *easy = call->transfer.easy;
    int64_t limit_us = call->flight->timeout_us > 0 ? call->flight->timeout_us : WEBHOOK_TIMEOUT_US;
    int64_t connect_us =
        limit_us < WEBHOOK_CONNECT_TIMEOUT_US ? limit_us : WEBHOOK_CONNECT_TIMEOUT_US;
    call->timeout_us = limit_us;
    limit_us = limit_us > call->spent_us ? limit_us - call->spent_us : 1;
    answer_clear(&call->answer);
    call->refused[0] = '\0';
    buf_clear(&call->pin);
    // "+": it is looked up again by whoever comes later.
    buf_putc(&call->pin, '+');
    guard_write_pin(&call->place, &call->host->addresses, &call->pin);
    if (call->pin.failed)
        return false;
    call->pin_node = (struct curl_slist){.data = call->pin.p};
    CURLcode failed = CURLE_OK;
    failed |= curl_easy_setopt(easy, CURLOPT_URL, call->place.url);
    failed |= curl_easy_setopt(easy, CURLOPT_RESOLVE, &call->pin_node);
    failed |= curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_socket);
    failed |= curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, call);
    failed |= curl_easy_setopt(easy, CURLOPT_HTTPHEADER, call->headers.nodes);
    failed |= curl_easy_setopt(easy, CURLOPT_POSTFIELDS, buf_text(&call->body));
    failed |= curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->body.len);
    failed |= answer_limit(easy, limit_us, connect_us);
    return failed == CURLE_OK;
}

struct call *
call_new(struct flight *flight)
{
    struct call *call = calloc(1, sizeof *call);
    if (call == NULL)
        return NULL;
    call->flight = flight;
    call->allowed = flight->delivery.receiver->endpoints->allowed;
    buf_init(&call->body, BODY_BYTES);
    buf_init(&call->pin, (size_t)GUARD_ADDRESSES * (NETWORK_TEXT_BYTES + 3) + GUARD_HOST_BYTES + 8);
    call->transfer.easy = curl_easy_init();
    call->shown = url_shown(flight->endpoint->row.url);
    if (call->transfer.easy != NULL && call->shown != NULL &&
        answer_listen(&call->answer, &call->transfer))
        return call;
    call_free(call);
    return NULL;
}
