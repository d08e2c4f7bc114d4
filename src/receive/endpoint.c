/* SPDX-License-Identifier: MIT
 *
 * endpoint.c - adding endpoints, their secrets, and trying one out.
 */
#include "receive/endpoint.h"

#include <owed/testing.h>

#include <stdio.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/moment.h"
#include "base/utf8.h"
#include "deliver/endpoints.h"
#include "deliver/handle.h"
#include "receive/guard.h"
#include "receive/keys.h"
#include "receive/parcel.h"
#include "store/look.h"

#define ID_RANDOM_BYTES 12
#define EVENTS_MAX 1000
#define RATE_MAX 100000

static const char *const signings[] = {[OWED_SIGNING_V1] = "v1", [OWED_SIGNING_V1A] = "v1a"};
#define SIGNINGS (sizeof signings / sizeof signings[0])

bool
signing_of(const char *word, owed_signing *ret_signing)
{
    for (size_t i = 0; i < SIGNINGS; i++) {
        *ret_signing = (owed_signing)i;
        if (strcmp(word, signings[i]) == 0)
            return true;
    }
    return false;
}

const char *
signing_name(owed_signing signing)
{
    return (size_t)signing < SIGNINGS ? signings[signing] : NULL;
}

static owed_status
find_receiver(const owed *handle, const struct receiver **ret_receiver, owed_error *err)
{
    const struct receiver *receiver =
        handle->registry == NULL ? NULL : registry_receiver(handle->registry, ENDPOINTS_RECEIVER);
    if (receiver == NULL || receiver->runner != RUN_ENDPOINT)
        return fail(err, OWED_CONFIG,
            "nothing here delivers to endpoints: [receiver \"" ENDPOINTS_RECEIVER
            "\"] with event = * and endpoints = yes is right");
    *ret_receiver = receiver;
    return OWED_OK;
}

owed_status
endpoint_text_check(const char *what, const char *text, size_t most, owed_error *err)
{
    struct str view = str_of(or_empty(text));
    if (view.len > most)
        return fail(err, OWED_INVALID, "the %s is longer than %zu bytes", what, most);
    for (size_t i = 0; i < view.len; i++)
        if ((unsigned char)view.p[i] < 0x20 || view.p[i] == 0x7f)
            return fail(err, OWED_INVALID, "the %s holds a control character", what);
    if (!utf8_is_valid(view))
        return fail(err, OWED_INVALID, "the %s is not UTF-8", what);
    return OWED_OK;
}

/* may_come tells whether the receiver is owed events of that name, or of one that begins so. */
static bool
may_come(const struct receiver *receiver, const char *pattern)
{
    size_t len = strlen(pattern);
    if (receiver->any_event || strcmp(pattern, "*") == 0)
        return true;
    if (len > 2 && pattern[len - 1] == '*')
        return strncmp(receiver->type->name, pattern, len - 1) == 0;
    return strcmp(receiver->type->name, pattern) == 0;
}

static owed_status
check_event(const struct receiver *receiver, const char *pattern, owed_error *err)
{
    owed_status status = event_pattern_check(pattern, err);
    if (status != OWED_OK || may_come(receiver, pattern))
        return status;
    return fail(err, OWED_INVALID,
        "the event %.100s never comes: " ENDPOINTS_RECEIVER
        " is declared for %.100s alone; that, or \"*\" there, is right",
        pattern, receiver->type->name);
}

static owed_status
check_events(const struct receiver *receiver, const char *const *events, owed_error *err)
{
    if (events == NULL || events[0] == NULL)
        return fail(err, OWED_INVALID,
            "the endpoint wants no event; name one, \"shop.*\" for many, or \"*\" for all");
    owed_status status = OWED_OK;
    for (size_t i = 0; events[i] != NULL && status == OWED_OK; i++)
        status = i < EVENTS_MAX
            ? check_event(receiver, events[i], err)
            : fail(err, OWED_INVALID, "the endpoint wants more than %d events", EVENTS_MAX);
    return status;
}

static owed_status
check_said(const owed_endpoint *said, const struct receiver *receiver, owed_error *err)
{
    bool has_tenants = receiver->endpoints->said.tenant_key[0] != '\0';
    owed_status status = endpoint_text_check("name", said->name, LIMIT_KEY_BYTES, err);
    if (status == OWED_OK)
        status = endpoint_text_check("tenant", said->tenant, LIMIT_KEY_BYTES, err);
    if (status == OWED_OK)
        status = check_events(receiver, said->events, err);
    if (status == OWED_OK && !is_empty(said->filter))
        status = filter_check(said->filter, err);
    if (status != OWED_OK)
        return status;
    if (has_tenants && is_empty(said->tenant))
        return fail(err, OWED_INVALID, "the endpoint needs a tenant: there is a tenant-key");
    if (!has_tenants && !is_empty(said->tenant))
        return fail(err, OWED_INVALID,
            "the endpoint is of a tenant, and no tenant-key says where an event names its own");
    if (said->rate < 0 || said->rate > RATE_MAX)
        return fail(err, OWED_INVALID, "the rate is %d a second; 1 to %d is right, or 0 for any",
            (int)said->rate, RATE_MAX);
    if (format_name(said->format) == NULL || signing_name(said->signing) == NULL)
        return fail(err, OWED_INVALID, "there is no such format, or no such way to sign");
    return OWED_OK;
}

/* choose_secret takes the given one, or makes one; it fits the way to sign. */
static owed_status
choose_secret(const owed *handle, const char *given, owed_signing signing, struct buf *secret,
    owed_error *err)
{
    struct key key;
    owed_error why = {0};
    if (is_empty(given))
        return key_make(signing, &handle->dice, secret) ? OWED_OK : fail_memory(err);
    if (key_read(given, &key, &why) != OWED_OK)
        return fail(err, OWED_INVALID, "%s", why.text);
    enum key_kind wanted = signing == OWED_SIGNING_V1A ? KEY_PRIVATE : KEY_SHARED;
    bool fits = key.kind == wanted;
    explicit_bzero(&key, sizeof key);
    if (!fits)
        return fail(err, OWED_INVALID, "the secret is of another kind; \"%s\" and base64 is right",
            signing == OWED_SIGNING_V1A ? "whsk_" : "whsec_");
    buf_puts(secret, given);
    return secret->failed ? fail_memory(err) : OWED_OK;
}

/* show_secret writes what the other side is told. */
static owed_status
show_secret(const struct buf *secret, char ret_secret[OWED_ENDPOINT_SECRET_BYTES], owed_error *err)
{
    CLEANUP(buf_done) struct buf shown;
    buf_init(&shown, OWED_ENDPOINT_SECRET_BYTES - 1);
    if (!key_for_others(buf_text(secret), &shown))
        return fail(err, OWED_STORE, "the public key could not be made");
    if (ret_secret != NULL)
        memcpy(ret_secret, buf_text(&shown), shown.len + 1);
    return OWED_OK;
}

static void
make_id(const owed *handle, struct buf *id)
{
    uint8_t bytes[ID_RANDOM_BYTES];
    dice_fill(&handle->dice, bytes, sizeof bytes);
    buf_puts(id, "ep_");
    hex_write(id, bytes, sizeof bytes);
}

static owed_status
check_place(
    const struct receiver *receiver, const char *url, struct place *ret_place, owed_error *err)
{
    const struct endpoints *endpoints = receiver->endpoints;
    const struct guard guard = {
        endpoints->allowed, endpoints->said.resolve, endpoints->said.resolve_state};
    owed_address_list addresses;
    owed_status status = guard_read(url, ret_place, err);
    if (status == OWED_OK && strchr(url, '#') != NULL)
        return fail(err, OWED_INVALID,
            "the URL of the endpoint has a fragment, which no request carries; what stands before the # is right");
    return status == OWED_OK ? guard_resolve(&guard, ret_place, &addresses, err) : status;
}

owed_status
owed_endpoint_add(owed *handle, const owed_endpoint *said, char ret_id[OWED_ENDPOINT_ID_BYTES],
    char ret_secret[OWED_ENDPOINT_SECRET_BYTES], owed_error *err)
{
    const struct receiver *receiver = NULL;
    struct place place;
    CLEANUP(buf_done) struct buf secret;
    CLEANUP(buf_done) struct buf id;
    buf_init(&secret, OWED_ENDPOINT_SECRET_BYTES);
    buf_init(&id, OWED_ENDPOINT_ID_BYTES - 1);
    owed_status status = find_receiver(handle, &receiver, err);
    if (status == OWED_OK)
        status = check_said(said, receiver, err);
    if (status == OWED_OK)
        status = check_place(receiver, said->url, &place, err);
    if (status == OWED_OK)
        status = choose_secret(handle, said->secret, said->signing, &secret, err);
    if (status == OWED_OK)
        status = show_secret(&secret, ret_secret, err);
    make_id(handle, &id);
    if (status != OWED_OK)
        return status;
    const struct endpoint_row row = {.id = buf_text(&id),
        .name = or_empty(said->name),
        .url = place.url,
        .tenant = or_empty(said->tenant),
        .format = format_name(said->format),
        .signing = signing_name(said->signing),
        .secret = buf_text(&secret),
        .filter = or_empty(said->filter),
        .rate = said->rate,
        .created_at_us = clock_now_us(&handle->clock)};
    status = store_endpoint_add(handle->db, &row, said->events, err);
    if (status == OWED_OK && ret_id != NULL)
        memcpy(ret_id, buf_text(&id), id.len + 1);
    return status;
}

owed_status
owed_endpoint_rotate(owed *handle, const char *id, const char *given, int64_t overlap_us,
    char ret_secret[OWED_ENDPOINT_SECRET_BYTES], owed_error *err)
{
    CLEANUP(arena_done) struct arena arena;
    CLEANUP(buf_done) struct buf secret;
    struct endpoint_row row;
    char shown[OWED_ENDPOINT_SECRET_BYTES] = "";
    char longest[MOMENT_BYTES];
    owed_signing signing = OWED_SIGNING_V1;
    arena_init(&arena, 0);
    buf_init(&secret, OWED_ENDPOINT_SECRET_BYTES);
    if (overlap_us < 0 || overlap_us > LIMIT_DURATION_US)
        return fail(err, OWED_INVALID, "the overlap is out of range; 0 to %s is right",
            duration_write(LIMIT_DURATION_US, longest));
    owed_status status = store_endpoint(handle->db, or_empty(id), &arena, &row, err);
    if (status == OWED_OK && !signing_of(row.signing, &signing))
        status = fail(err, OWED_STORE, "endpoint %s signs in a way that is not known here", id);
    if (status == OWED_OK)
        status = choose_secret(handle, given, signing, &secret, err);
    if (status == OWED_OK)
        status = show_secret(&secret, shown, err);
    if (status != OWED_OK)
        return status;
    int64_t now_us = clock_now_us(&handle->clock);
    status =
        store_endpoint_rotate(handle->db, id, buf_text(&secret), now_us + overlap_us, now_us, err);
    if (status == OWED_OK && ret_secret != NULL)
        memcpy(ret_secret, shown, sizeof shown);
    explicit_bzero(shown, sizeof shown);
    return status;
}

/* --- a ping --- */

static owed_status
owe_ping(owed *handle, const struct receiver *receiver, const char *id, int64_t event_id,
    owed_error *err)
{
    int64_t now_us = clock_now_us(&handle->clock);
    const struct new_delivery delivery = {.event_id = event_id,
        .receiver_key = ENDPOINTS_RECEIVER,
        .lane = receiver->lane,
        .kind = receiver->kind,
        .target = id,
        .max_attempts = 1,
        .available_at_us = now_us};
    return store_insert_delivery(handle->db, &delivery, err);
}

static owed_status
fire_ping(owed *handle, const struct receiver *receiver, const char *id, int64_t *ret_event_id,
    owed_error *err)
{
    char payload[OWED_ENDPOINT_ID_BYTES + 64];
    owed_tx *tx = NULL;
    CLEANUP(buf_done) struct buf json;
    buf_init(&json, sizeof payload + LIMIT_KEY_BYTES);
    buf_puts(&json, "{\"endpoint\":");
    json_write_string(&json, str_of(id));
    buf_putc(&json, '}');
    if (json.failed)
        return fail_memory(err);
    owed_status status = owed_begin(handle, &tx, err);
    if (status != OWED_OK)
        return status;
    status = owed_fire_json(tx, PING_EVENT, 1, json.p, json.len, NULL, ret_event_id, err);
    if (status == OWED_OK)
        status = owe_ping(handle, receiver, id, *ret_event_id, err);
    if (status == OWED_OK)
        return owed_commit(tx, err);
    owed_rollback(tx);
    return status;
}

owed_status
owed_endpoint_test(owed *handle, const char *id, int64_t *ret_delivery_id, const char **ret_status,
    owed_error *err)
{
    const struct receiver *receiver = NULL;
    int64_t event_id = 0;
    owed_status status = find_receiver(handle, &receiver, err);
    if (status == OWED_OK)
        status = endpoint_find(handle, id, err);
    if (status == OWED_OK)
        status = fire_ping(handle, receiver, id, &event_id, err);
    if (status != OWED_OK)
        return status;
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, 0);
    struct delivery_row *rows = NULL;
    size_t count = 0;
    const struct filter filter = {.event_id = event_id, .limit = LIMIT_BATCH_SIZE};
    status = store_deliveries(handle->db, &filter, &arena, &rows, &count, err);
    for (size_t i = 0; i < count && status == OWED_OK; i++) {
        if (strcmp(rows[i].target, id) != 0)
            continue;
        if (ret_delivery_id != NULL)
            *ret_delivery_id = rows[i].id;
        return owed_deliver_one(handle, rows[i].id, ret_status, err);
    }
    return status;
}
