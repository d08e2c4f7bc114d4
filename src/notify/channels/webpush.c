/* SPDX-License-Identifier: MIT
 *
 * webpush.c - push to browsers (RFC 8030): a message that its push service cannot read, at an address of the browser's.
 *
 * What arrives is JSON in the words of the Notification API: showNotification(data.title, data) shows it. A repeated
 * attempt has the same topic and tag: the push service keeps one of them, and the browser shows one.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "notify/channels/kind.h"
#include "notify/channels/push.h"
#include "notify/channels/subscription.h"
#include "notify/channels/vapid.h"

#define HEADER_BYTES 128
#define HOSTS_MAX 64
#define MINUTE (60 * US_PER_SECOND)

struct webpush {
    struct http *http;
    struct jwt_key *key;
    struct vapid vapid;
    bool has_vapid;
    char *subject;
    char *hosts[HOSTS_MAX + 1]; // none: any
    int64_t ttl_us;
    struct fit fit;
    bool loopback; // plain HTTP on this machine, for tests
};

static const struct option webpush_keys[] = {
    {.name = "key-file",
        .type = OPTION_TEXT,
        .argument = "PATH",
        .section = CHANNEL_SECTION,
        .help = "a private key on P-256 in PEM; its public half is what browsers subscribe with"},
    {.name = "subject",
        .type = OPTION_TEXT,
        .argument = "URL",
        .section = CHANNEL_SECTION,
        .help = "whom a push service turns to: mailto:ops@shop.example, or https"},
    {.name = "hosts",
        .type = OPTION_LIST,
        .argument = "NAME,...",
        .section = CHANNEL_SECTION,
        .help =
            "the push services that subscriptions may name, such as *.push.apple.com; all at public "
            "addresses where it is not set"},
    {.name = "ttl",
        .type = OPTION_DURATION,
        .argument = "TIME",
        .section = CHANNEL_SECTION,
        .fallback = "28d",
        .help = "how long it is kept for a browser that is closed"},
    {.name = "loopback",
        .type = OPTION_BOOL,
        .section = CHANNEL_SECTION,
        .help = "plain HTTP to this machine is taken, too, for tests"},
    PUSH_FIT_OPTION,
    HTTP_KEYS,
    {.name = NULL},
};

static const struct push_meaning meanings[] = {
    {404, NULL, OWED_ANSWER_GONE, 0},
    {410, NULL, OWED_ANSWER_GONE, 0},
    {429, NULL, OWED_ANSWER_WAIT, MINUTE},
    // It did not take our token, which the next attempt may find mended: a clock, most often.
    {401, NULL, OWED_ANSWER_FAILED, 0},
    PUSH_MEANINGS_END,
};

/* --- a request --- */

static void
write_text(const void *state, const owed_message *message, struct buf *json)
{
    (void)state;
    buf_putc(json, '{');
    push_member(json, "title", message->subject == NULL ? "" : message->subject);
    push_member(json, "body", message->text);
    push_member(json, "tag", message->id);
    push_member(json, "lang", message->locale);
    buf_putc(json, '}');
}

/* refuse says why nobody is asked. */
static void
refuse(owed_answer *answer, const char *why)
{
    answer->verdict = OWED_ANSWER_REFUSED;
    snprintf(answer->reason, sizeof answer->reason, "%s", why);
}

static bool
read_address(const struct webpush *webpush, const owed_message *message, struct arena *arena,
    struct subscription *ret_subscription, owed_answer *answer)
{
    owed_error why;
    owed_status status = subscription_read(message->address, arena, ret_subscription, &why);
    if (status == OWED_NOMEM) {
        snprintf(answer->reason, sizeof answer->reason, "out of memory");
        return false;
    }
    if (status != OWED_OK) {
        refuse(answer, why.text);
        return false;
    }
    bool is_secure = strncmp(ret_subscription->origin, "https://", 8) == 0;
    if (!is_secure && !(webpush->loopback && push_is_loopback(ret_subscription->endpoint))) {
        refuse(answer, "the endpoint of the subscription is not https");
        return false;
    }
    if (webpush->hosts[0] != NULL &&
        !subscription_host_is(ret_subscription, (const char *const *)webpush->hosts)) {
        refuse(answer, "the subscription is at a push service that hosts does not name");
        return false;
    }
    return true;
}

static bool
encrypt(const struct webpush *webpush, const struct subscription *subscription,
    const owed_message *message, struct buf *body, owed_answer *answer)
{
    CLEANUP(buf_done) struct buf text;
    buf_init(&text, PUSH_JSON_BYTES);
    if (!push_write(&webpush->fit, write_text, webpush, message, &text, answer))
        return false;
    bool is_encrypted = webpush_encrypt(&subscription->keys, buf_view(&text), body);
    if (!is_encrypted)
        snprintf(answer->reason, sizeof answer->reason, "the message could not be encrypted");
    return is_encrypted;
}

/* ask makes the request and says what came of it; nothing of the answer is shown that holds the endpoint. */
static void
ask(struct webpush *webpush, const struct subscription *subscription, const owed_message *message,
    struct str body, const char *authorization, owed_answer *answer)
{
    CLEANUP(http_answer_done) struct http_answer said = {0};
    char topic[PUSH_TOPIC_BYTES], topic_line[HEADER_BYTES], ttl_line[HEADER_BYTES];
    push_topic(message->id, topic);
    snprintf(topic_line, sizeof topic_line, "topic: %s", topic);
    snprintf(ttl_line, sizeof ttl_line, "ttl: %lld", (long long)(webpush->ttl_us / US_PER_SECOND));
    const char *const headers[] = {"content-type: application/octet-stream",
        "content-encoding: aes128gcm", ttl_line, topic_line,
        message->urgency == OWED_URGENCY_URGENT ? "urgency: high" : "urgency: normal",
        authorization, NULL};
    const struct http_request request = {.method = "POST",
        .url = subscription->endpoint,
        .headers = headers,
        .body = body,
        .wanted = "location",
        .http2 = strncmp(subscription->endpoint, "https:", 6) == 0,
        // Who subscribes says where: to an address of ours, perhaps.
        .is_strangers = webpush->hosts[0] == NULL && !webpush->loopback};
    http_send(webpush->http, &request, &said);
    const char *path = subscription->endpoint + strlen(subscription->origin);
    bool is_told = strlen(path) > 1 && strstr(buf_text(&said.body), path) != NULL;
    push_judge(webpush->http, &said, "the push service", "", is_told ? "" : NULL, meanings, answer);
    if (answer->verdict == OWED_ANSWER_SENT && strlen(said.wanted) < sizeof answer->reference)
        snprintf(answer->reference, sizeof answer->reference, "%s", said.wanted);
}

static void
webpush_send(const owed_channel *channel, const owed_message *message, owed_answer *answer)
{
    struct webpush *webpush = channel->state;
    struct subscription subscription;
    CLEANUP(arena_done) struct arena arena;
    CLEANUP(buf_done) struct buf body;
    CLEANUP(secret_buf_done) struct buf authorization;
    arena_init(&arena, 0);
    buf_init(&body, WEBPUSH_BODY_BYTES);
    buf_init(&authorization, 2 * JWT_BYTES);
    if (!read_address(webpush, message, &arena, &subscription, answer) ||
        !encrypt(webpush, &subscription, message, &body, answer))
        return;
    if (vapid_write(
            &webpush->vapid, subscription.origin, clock_now_us(&clock_system), &authorization))
        ask(webpush, &subscription, message, buf_view(&body), buf_text(&authorization), answer);
    else
        snprintf(answer->reason, sizeof answer->reason, "who we are could not be signed");
}

/* --- making one --- */

static void
webpush_close(owed_channel *channel)
{
    struct webpush *webpush = channel->state;
    if (webpush == NULL)
        return;
    if (webpush->has_vapid)
        vapid_done(&webpush->vapid);
    http_free(webpush->http);
    jwt_key_free(webpush->key);
    free(webpush->subject);
    for (size_t i = 0; webpush->hosts[i] != NULL; i++)
        free(webpush->hosts[i]);
    free(webpush);
    channel->state = NULL;
}

static owed_status
read_hosts(const struct options *values, struct webpush *webpush, owed_error *err)
{
    const char *const *hosts = options_list(values, "hosts");
    for (size_t i = 0; hosts != NULL && hosts[i] != NULL; i++) {
        if (i == HOSTS_MAX)
            return fail(err, OWED_CONFIG, "hosts has more than %d names", HOSTS_MAX);
        if (hosts[i][strspn(hosts[i],
                "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-*:[]")] != '\0')
            return fail(err, OWED_CONFIG,
                "hosts has what is no name: push.example and *.push.example would be right");
        webpush->hosts[i] = strdup(hosts[i]);
        if (webpush->hosts[i] == NULL)
            return fail_memory(err);
    }
    return OWED_OK;
}

static owed_status
read_settings(const struct options *values, struct webpush *webpush, owed_error *err)
{
    CLEANUP(free_ptr) char *key_file = NULL;
    owed_status status = push_need(values, "key-file", "vapid.pem", &key_file, err);
    if (status == OWED_OK)
        status = push_need(values, "subject", "mailto:ops@shop.example", &webpush->subject, err);
    if (status != OWED_OK)
        return status;
    if (strncmp(webpush->subject, "mailto:", 7) != 0 &&
        strncmp(webpush->subject, "https://", 8) != 0)
        return fail(err, OWED_CONFIG,
            "subject is no way to reach you: mailto:ops@shop.example, or an https URL, would be right");
    webpush->ttl_us = options_number(values, "ttl");
    webpush->loopback = options_number(values, "loopback") != 0;
    status = push_fit_read(values, WEBPUSH_TEXT_BYTES, &webpush->fit, err);
    if (status == OWED_OK)
        status = read_hosts(values, webpush, err);
    if (status == OWED_OK)
        status = jwt_key_read(key_file, JWT_ES256, &webpush->key, err);
    return status;
}

static owed_status
webpush_make(const struct options *values, owed_channel *channel, owed_error *err)
{
    struct webpush *webpush = calloc(1, sizeof *webpush);
    if (webpush == NULL)
        return fail_memory(err);
    channel->state = webpush;
    channel->send = webpush_send;
    channel->close = webpush_close;
    owed_status status = read_settings(values, webpush, err);
    if (status == OWED_OK)
        status = http_new(values, &webpush->http, err);
    if (status == OWED_OK) {
        webpush->has_vapid = true;
        if (!vapid_init(&webpush->vapid, webpush->key, webpush->subject))
            status = fail_memory(err);
    }
    if (status != OWED_OK)
        webpush_close(channel);
    return status;
}

const struct channel_kind channel_kind_webpush = {
    .type = "webpush",
    .name = "webpush",
    .help = "push to browsers (RFC 8030), encrypted for each (RFC 8291)",
    .keys = webpush_keys,
    .make = webpush_make,
};
