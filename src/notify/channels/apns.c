/* SPDX-License-Identifier: MIT
 *
 * apns.c - push to Apple's devices: one HTTP/2 request a message, under a token that our key signs.
 *
 * A repeated attempt has the same apns-id and the same collapse id, so that the device shows it once.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "notify/channels/bearer.h"
#include "notify/channels/jwt.h"
#include "notify/channels/kind.h"
#include "notify/channels/push.h"

#define PAYLOAD_BYTES ((size_t)4096)
#define COLLAPSE_BYTES 64
#define DEVICE_TOKEN_BYTES 512
#define MINUTE (60 * US_PER_SECOND)
#define HEADER_BYTES 512

struct apns {
    struct bearer bearer;
    struct jwt_key *key;
    char *key_id;
    char *team_id;
    char *topic;
    char *url;
    int64_t ttl_us; // 0: as Apple likes
    struct fit fit;
};

static const struct option apns_keys[] = {
    {.name = "key-file",
        .type = OPTION_TEXT,
        .argument = "PATH",
        .section = CHANNEL_SECTION,
        .help = "holds the key for push of your developer account (.p8)"},
    {.name = "key-id",
        .type = OPTION_TEXT,
        .argument = "ID",
        .section = CHANNEL_SECTION,
        .help = "the name of that key, ten characters"},
    {.name = "team-id",
        .type = OPTION_TEXT,
        .argument = "ID",
        .section = CHANNEL_SECTION,
        .help = "the developer team, ten characters"},
    {.name = "topic",
        .type = OPTION_TEXT,
        .argument = "BUNDLE",
        .section = CHANNEL_SECTION,
        .help = "the app's bundle id, such as example.shop.app"},
    {.name = "url",
        .type = OPTION_TEXT,
        .argument = "URL",
        .section = CHANNEL_SECTION,
        .fallback = "https://api.push.apple.com",
        .help = "the server; https://api.sandbox.push.apple.com for apps in development"},
    {.name = "ttl",
        .type = OPTION_DURATION,
        .argument = "TIME",
        .section = CHANNEL_SECTION,
        .help = "how long it is kept for a device that is off"},
    PUSH_FIT_OPTION,
    HTTP_KEYS,
    {.name = NULL},
};

/* What is nobody's fault but ours may be mended before the next attempt. */
static const struct push_meaning meanings[] = {
    {400, "BadDeviceToken", OWED_ANSWER_GONE, 0},
    {410, NULL, OWED_ANSWER_GONE, 0},
    {403, "ExpiredProviderToken", OWED_ANSWER_FAILED, 0},
    {403, "InvalidProviderToken", OWED_ANSWER_FAILED, 0},
    {403, "MissingProviderToken", OWED_ANSWER_FAILED, 0},
    {429, "TooManyProviderTokenUpdates", OWED_ANSWER_WAIT, 20 * MINUTE},
    {429, NULL, OWED_ANSWER_WAIT, MINUTE},
    PUSH_MEANINGS_END,
};

/* --- the token --- */

/* make_token signs who we are. Apple takes one for an hour, and wants no new one within 20 minutes. */
static bool
make_token(void *state, struct token_made *ret_made, owed_answer *answer)
{
    const struct apns *apns = state;
    CLEANUP(buf_done) struct buf claims;
    buf_init(&claims, JWT_BYTES);
    buf_putc(&claims, '{');
    push_member(&claims, "iss", apns->team_id);
    buf_puts(&claims, ",\"iat\":");
    buf_int(&claims, clock_now_us(&apns->bearer.token.clock) / US_PER_SECOND);
    buf_putc(&claims, '}');
    ret_made->renew_us = 40 * MINUTE;
    ret_made->end_us = 55 * MINUTE;
    if (!claims.failed && jwt_sign(apns->key, apns->key_id, buf_view(&claims), &ret_made->text))
        return true;
    snprintf(answer->reason, sizeof answer->reason, "the token for APNs could not be signed");
    return false;
}

/* --- a request --- */

/* A token goes into the path as it is. */
static bool
is_device_token(const char *address)
{
    size_t len = strspn(address, "0123456789abcdefABCDEF");
    return len > 0 && len <= DEVICE_TOKEN_BYTES && address[len] == '\0';
}

static void
write_payload(const void *state, const owed_message *message, struct buf *json)
{
    (void)state;
    buf_puts(json, "{\"aps\":{\"alert\":{");
    push_member(json, "title", message->subject);
    push_member(json, "body", message->text);
    buf_puts(json, "},\"sound\":\"default\"");
    if (message->urgency == OWED_URGENCY_URGENT)
        push_member(json, "interruption-level", "time-sensitive");
    buf_putc(json, '}');
    push_member(json, "id", message->id);
    buf_putc(json, '}');
}

struct apns_headers {
    char lines[8][HEADER_BYTES];
    const char *list[9];
};

static void
write_headers(const struct apns *apns, const owed_message *message, struct apns_headers *headers)
{
    char uuid[PUSH_UUID_BYTES];
    size_t count = 0;
    push_uuid(message->id, uuid);
#define LINE(...) snprintf(headers->lines[count++], HEADER_BYTES, __VA_ARGS__)
    LINE("apns-topic: %s", apns->topic);
    LINE("apns-push-type: alert");
    LINE("apns-id: %s", uuid);
    LINE("apns-priority: %s", message->urgency == OWED_URGENCY_URGENT ? "10" : "5");
    LINE("content-type: application/json");
    if (strlen(message->id) <= COLLAPSE_BYTES)
        LINE("apns-collapse-id: %s", message->id);
    if (apns->ttl_us > 0)
        LINE("apns-expiration: %lld",
            (long long)((clock_now_us(&apns->bearer.token.clock) + apns->ttl_us) / US_PER_SECOND));
#undef LINE
    for (size_t i = 0; i < count; i++)
        headers->list[i] = headers->lines[i];
}

static bool
judge(const struct bearer *bearer, const struct http_answer *said, const owed_message *message,
    const char *token, owed_answer *answer)
{
    (void)message;
    (void)token;
    char word[PUSH_WORD_BYTES] = "";
    http_text(said, "/reason", word, sizeof word);
    push_judge(bearer->http, said, "APNs", word, word, meanings, answer);
    if (answer->verdict == OWED_ANSWER_SENT)
        snprintf(answer->reference, sizeof answer->reference, "%.*s",
            (int)sizeof answer->reference - 1, said->wanted);
    return said->status == 403 && strcmp(word, "ExpiredProviderToken") == 0;
}

static void
apns_send(const owed_channel *channel, const owed_message *message, owed_answer *answer)
{
    struct apns *apns = channel->state;
    struct apns_headers headers = {0};
    CLEANUP(buf_done) struct buf payload;
    CLEANUP(buf_done) struct buf url;
    buf_init(&payload, PUSH_JSON_BYTES);
    buf_init(&url, HTTP_URL_BYTES);
    if (!is_device_token(message->address)) {
        answer->verdict = OWED_ANSWER_REFUSED;
        snprintf(
            answer->reason, sizeof answer->reason, "a token of an Apple device is of hex digits");
        return;
    }
    if (!push_write(&apns->fit, write_payload, apns, message, &payload, answer))
        return;
    buf_printf(&url, "%s/3/device/%s", apns->url, message->address);
    if (url.failed) {
        snprintf(answer->reason, sizeof answer->reason, "out of memory");
        return;
    }
    write_headers(apns, message, &headers);
    const struct http_request request = {.method = "POST",
        .url = buf_text(&url),
        .headers = headers.list,
        .body = buf_view(&payload),
        .wanted = "apns-id",
        .http2 = true};
    bearer_send(&apns->bearer, &request, message, answer);
}

/* --- making one --- */

static void
apns_close(owed_channel *channel)
{
    struct apns *apns = channel->state;
    if (apns == NULL)
        return;
    bearer_close(&apns->bearer);
    jwt_key_free(apns->key);
    free(apns->key_id);
    free(apns->team_id);
    free(apns->topic);
    free(apns->url);
    free(apns);
    channel->state = NULL;
}

static owed_status
check_topic(const char *topic, owed_error *err)
{
    if (strlen(topic) > 255 ||
        topic[strspn(topic, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_")] !=
            '\0')
        return fail(err, OWED_CONFIG,
            "topic is no bundle id: letters, digits, \".\" and \"-\" would be right, as in "
            "example.shop.app");
    return OWED_OK;
}

static owed_status
read_settings(const struct options *values, struct apns *apns, owed_error *err)
{
    CLEANUP(free_ptr) char *key_file = NULL;
    owed_status status = push_need(values, "key-file", "AuthKey_ABC123DEFG.p8", &key_file, err);
    if (status == OWED_OK)
        status = push_need(values, "key-id", "ABC123DEFG", &apns->key_id, err);
    if (status == OWED_OK)
        status = push_need(values, "team-id", "DEF123GHIJ", &apns->team_id, err);
    if (status == OWED_OK)
        status = push_need(values, "topic", "example.shop.app", &apns->topic, err);
    if (status == OWED_OK)
        status = push_need(values, "url", "https://api.push.apple.com", &apns->url, err);
    if (status == OWED_OK)
        status = check_topic(apns->topic, err);
    if (status == OWED_OK)
        status = push_url_check("url", apns->url, err);
    if (status == OWED_OK)
        status = push_fit_read(values, PAYLOAD_BYTES, &apns->fit, err);
    if (status == OWED_OK)
        status = jwt_key_read(key_file, JWT_ES256, &apns->key, err);
    apns->ttl_us = options_number(values, "ttl");
    return status;
}

static owed_status
apns_make(const struct options *values, owed_channel *channel, owed_error *err)
{
    struct apns *apns = calloc(1, sizeof *apns);
    if (apns == NULL)
        return fail_memory(err);
    channel->state = apns;
    channel->send = apns_send;
    channel->close = apns_close;
    apns->bearer = (struct bearer){.prefix = "authorization: bearer ", .judge = judge};
    owed_status status = read_settings(values, apns, err);
    if (status == OWED_OK)
        status = bearer_open(&apns->bearer, values, make_token, apns, err);
    if (status != OWED_OK)
        apns_close(channel);
    return status;
}

const struct channel_kind channel_kind_apns = {
    .type = "apns",
    .help = "push to Apple's devices (HTTP/2, by a key of your developer account)",
    .keys = apns_keys,
    .make = apns_make,
};
