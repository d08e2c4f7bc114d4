/* SPDX-License-Identifier: MIT
 *
 * fcm.c - push by Firebase Cloud Messaging (HTTP v1), under a token that a service account gets us.
 *
 * A repeated attempt has the same tag and the same collapse id, so that the device shows it once.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "notify/channels/bearer.h"
#include "notify/channels/kind.h"
#include "notify/channels/push.h"
#include "notify/channels/service_account.h"

#define SCOPE "https://www.googleapis.com/auth/firebase.messaging"
#define PAYLOAD_BYTES ((size_t)4096)
#define COLLAPSE_BYTES 64
#define MINUTE (60 * US_PER_SECOND)
#define ANSWER_DEPTH 32

struct fcm {
    struct bearer bearer;
    struct service_account account;
    char *send_url;
    int64_t ttl_us; // 0: as FCM likes
    struct fit fit;
};

static const struct option fcm_keys[] = {
    {.name = "key-file",
        .type = OPTION_TEXT,
        .argument = "PATH",
        .section = CHANNEL_SECTION,
        .help = "the JSON file of a service account that may send"},
    {.name = "project",
        .type = OPTION_TEXT,
        .argument = "ID",
        .section = CHANNEL_SECTION,
        .help = "the Firebase project, where it is not the service account's"},
    {.name = "url",
        .type = OPTION_TEXT,
        .argument = "URL",
        .section = CHANNEL_SECTION,
        .fallback = "https://fcm.googleapis.com",
        .help = "the server"},
    {.name = "ttl",
        .type = OPTION_DURATION,
        .argument = "TIME",
        .section = CHANNEL_SECTION,
        .help = "how long it is kept for a device that is off"},
    PUSH_FIT_OPTION,
    HTTP_KEYS,
    {.name = NULL},
};

static const struct push_meaning meanings[] = {
    {0, "UNREGISTERED", OWED_ANSWER_GONE, 0},
    {404, "NOT_FOUND", OWED_ANSWER_GONE, 0}, // no page of another server's
    {0, "QUOTA_EXCEEDED", OWED_ANSWER_WAIT, MINUTE},
    {429, NULL, OWED_ANSWER_WAIT, MINUTE},
    // What has to do with who we are may be mended before the next attempt.
    {401, NULL, OWED_ANSWER_FAILED, 0},
    PUSH_MEANINGS_END,
};

static bool
make_token(void *state, struct token_made *ret_made, owed_answer *answer)
{
    const struct fcm *fcm = state;
    return service_account_token(&fcm->account, fcm->bearer.http, SCOPE,
        clock_now_us(&fcm->bearer.token.clock), ret_made, answer);
}

/* --- a request --- */

/* write_android says how it is shown, and that it takes the place of another attempt of the same message. */
static void
write_android(struct buf *json, const struct fcm *fcm, const owed_message *message)
{
    buf_puts(json, ",\"android\":{");
    push_member(json, "priority", message->urgency == OWED_URGENCY_URGENT ? "HIGH" : "NORMAL");
    if (fcm->ttl_us > 0)
        buf_printf(json, ",\"ttl\":\"%llds\"", (long long)(fcm->ttl_us / US_PER_SECOND));
    buf_puts(json, ",\"notification\":{");
    push_member(json, "tag", message->id);
    buf_puts(json, "}}");
}

static void
write_apns(struct buf *json, const struct fcm *fcm, const owed_message *message)
{
    buf_puts(json, ",\"apns\":{\"headers\":{");
    push_member(json, "apns-priority", message->urgency == OWED_URGENCY_URGENT ? "10" : "5");
    if (strlen(message->id) <= COLLAPSE_BYTES)
        push_member(json, "apns-collapse-id", message->id);
    if (fcm->ttl_us > 0)
        buf_printf(json, ",\"apns-expiration\":\"%lld\"",
            (long long)((clock_now_us(&fcm->bearer.token.clock) + fcm->ttl_us) / US_PER_SECOND));
    buf_puts(json, "}}");
}

static void
write_payload(const void *state, const owed_message *message, struct buf *json)
{
    const struct fcm *fcm = state;
    buf_puts(json, "{\"message\":{");
    push_member(json, "token", message->address);
    buf_puts(json, ",\"notification\":{");
    push_member(json, "title", message->subject);
    push_member(json, "body", message->text);
    buf_puts(json, "},\"data\":{");
    push_member(json, "id", message->id);
    buf_putc(json, '}');
    write_android(json, fcm, message);
    write_apns(json, fcm, message);
    buf_puts(json, "}}");
}

/* --- its answer --- */

/* read_word takes what FCM itself calls the error, or what Google does where FCM does not. */
static void
read_word(const struct http_answer *said, char word[static PUSH_WORD_BYTES])
{
    char pointer[64], type[128];
    word[0] = '\0';
    for (int i = 0; i < 8; i++) {
        snprintf(pointer, sizeof pointer, "/error/details/%d/@type", i);
        if (!http_text(said, pointer, type, sizeof type))
            break;
        snprintf(pointer, sizeof pointer, "/error/details/%d/errorCode", i);
        if (strstr(type, "FcmError") != NULL && http_text(said, pointer, word, PUSH_WORD_BYTES))
            return;
    }
    http_text(said, "/error/status", word, PUSH_WORD_BYTES);
}

static bool
judge(const struct bearer *bearer, const struct http_answer *said, const owed_message *message,
    const char *token, owed_answer *answer)
{
    char word[PUSH_WORD_BYTES], text[OWED_REASON_BYTES] = "", detail[OWED_REASON_BYTES];
    read_word(said, word);
    http_text(said, "/error/message", text, sizeof text);
    bool is_shown =
        text[0] != '\0' && !push_shows(text, token) && !push_shows(text, message->address);
    snprintf(detail, sizeof detail, "%s%s%.300s", word, is_shown ? ": " : "", is_shown ? text : "");
    push_judge(bearer->http, said, "FCM", word, detail, meanings, answer);
    if (answer->verdict == OWED_ANSWER_SENT)
        http_text(said, "/name", answer->reference, sizeof answer->reference);
    return said->status == 401;
}

static void
fcm_send(const owed_channel *channel, const owed_message *message, owed_answer *answer)
{
    struct fcm *fcm = channel->state;
    CLEANUP(buf_done) struct buf payload;
    buf_init(&payload, PUSH_JSON_BYTES);
    if (!push_write(&fcm->fit, write_payload, fcm, message, &payload, answer))
        return;
    const struct http_request request = {.method = "POST",
        .url = fcm->send_url,
        .headers = (const char *const[]){"content-type: application/json", NULL},
        .body = buf_view(&payload),
        .http2 = true};
    bearer_send(&fcm->bearer, &request, message, answer);
}

/* --- making one --- */

static void
fcm_close(owed_channel *channel)
{
    struct fcm *fcm = channel->state;
    if (fcm == NULL)
        return;
    bearer_close(&fcm->bearer);
    service_account_done(&fcm->account);
    free(fcm->send_url);
    free(fcm);
    channel->state = NULL;
}

static owed_status
write_url(const struct options *values, struct fcm *fcm, owed_error *err)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.:";
    const char *base = options_text(values, "url");
    const char *project = options_text(values, "project");
    CLEANUP(buf_done) struct buf url;
    project = project == NULL ? fcm->account.project : project;
    if (project[0] == '\0' || project[strspn(project, allowed)] != '\0')
        return fail(err, OWED_CONFIG,
            "project is none: letters, digits and \"-\" would be right, as in shop-12ab3");
    owed_status status = push_url_check("url", base, err);
    if (status != OWED_OK)
        return status;
    buf_init(&url, HTTP_URL_BYTES);
    buf_printf(&url, "%s/v1/projects/%s/messages:send", base, project);
    fcm->send_url = url.failed ? NULL : strdup(buf_text(&url));
    return fcm->send_url == NULL ? fail_memory(err) : OWED_OK;
}

static owed_status
read_settings(const struct options *values, struct fcm *fcm, owed_error *err)
{
    CLEANUP(free_ptr) char *key_file = NULL;
    owed_status status = push_need(values, "key-file", "service-account.json", &key_file, err);
    if (status == OWED_OK)
        status = service_account_read(key_file, &fcm->account, err);
    if (status == OWED_OK)
        status = write_url(values, fcm, err);
    if (status == OWED_OK)
        status = push_fit_read(values, PAYLOAD_BYTES, &fcm->fit, err);
    fcm->ttl_us = options_number(values, "ttl");
    return status;
}

static owed_status
fcm_make(const struct options *values, owed_channel *channel, owed_error *err)
{
    struct fcm *fcm = calloc(1, sizeof *fcm);
    if (fcm == NULL)
        return fail_memory(err);
    channel->state = fcm;
    channel->send = fcm_send;
    channel->close = fcm_close;
    fcm->bearer = (struct bearer){.prefix = "authorization: Bearer ", .judge = judge};
    owed_status status = read_settings(values, fcm, err);
    if (status == OWED_OK)
        status = bearer_open(&fcm->bearer, values, make_token, fcm, err);
    if (status != OWED_OK)
        fcm_close(channel);
    return status;
}

const struct channel_kind channel_kind_fcm = {
    .type = "fcm",
    .help = "push by Firebase Cloud Messaging (HTTP v1), by a service account",
    .keys = fcm_keys,
    .make = fcm_make,
};
