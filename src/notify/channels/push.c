/* SPDX-License-Identifier: MIT
 *
 * push.c - what the ways to a device or a browser share.
 */
#include "notify/channels/push.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/json.h"

#define ELLIPSIS "\xe2\x80\xa6"
#define SHOWN_SECRET_BYTES 12 // so much of one gives it away

void
push_judge(const struct http *http, const struct http_answer *said, const char *who,
    const char *word, const char *detail, const struct push_meaning *table, owed_answer *answer)
{
    http_verdict(http, said, who, detail, answer);
    if (answer->verdict == OWED_ANSWER_SENT || said->status == 0)
        return;
    for (; table->verdict != OWED_ANSWER_SENT; table++) {
        if ((table->status != 0 && table->status != said->status) ||
            (table->word != NULL && strcmp(table->word, word) != 0))
            continue;
        int64_t asked_us = said->wait_us > 0 ? said->wait_us : table->wait_us;
        answer->verdict = table->verdict;
        answer->wait_us = table->verdict == OWED_ANSWER_WAIT ? asked_us : 0;
        return;
    }
}

bool
push_is_loopback(const char *url)
{
    static const char *const hosts[] = {"127.0.0.1", "localhost", "[::1]"};
    const char *host = strstr(url, "://");
    if (host == NULL)
        return false;
    host += 3;
    for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++) {
        size_t len = strlen(hosts[i]);
        if (strncmp(host, hosts[i], len) == 0 && strchr(":/?", host[len]) != NULL)
            return true;
    }
    return false;
}

owed_status
push_url_check(const char *key, const char *url, owed_error *err)
{
    owed_error why;
    if (http_url_check(url, &why) != OWED_OK)
        return fail(err, OWED_CONFIG, "%s: %s", key, why.text);
    if (strncmp(url, "https://", 8) != 0 && !push_is_loopback(url))
        return fail(err, OWED_CONFIG,
            "%s sends a key's word in the clear: https, or http to this machine alone, would be right",
            key);
    return OWED_OK;
}

/* digest_of gives the bytes that an id stands for: its own 16 where it is 32 hex digits. */
static bool
digest_of(const char *id, uint8_t ret_bytes[static SHA256_BYTES])
{
    const struct str piece = str_of(id);
    if (hex_read(id, ret_bytes, 16))
        return true;
    if (!sha256(&piece, 1, ret_bytes))
        memset(ret_bytes, 0, SHA256_BYTES);
    return false;
}

void
push_uuid(const char *id, char ret_uuid[static PUSH_UUID_BYTES])
{
    uint8_t bytes[SHA256_BYTES];
    CLEANUP(buf_done) struct buf hex;
    buf_init(&hex, 2 * sizeof bytes);
    if (!digest_of(id, bytes)) {
        bytes[6] = (uint8_t)((bytes[6] & 0x0f) | 0x80); // version 8: of our own making
        bytes[8] = (uint8_t)((bytes[8] & 0x3f) | 0x80);
    }
    hex_write(&hex, bytes, 16);
    const char *text = buf_text(&hex);
    snprintf(ret_uuid, PUSH_UUID_BYTES, "%.8s-%.4s-%.4s-%.4s-%.12s", text, text + 8, text + 12,
        text + 16, text + 20);
}

void
push_topic(const char *id, char ret_topic[static PUSH_TOPIC_BYTES])
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    uint8_t bytes[SHA256_BYTES];
    CLEANUP(buf_done) struct buf text;
    buf_init(&text, PUSH_TOPIC_BYTES - 1);
    if (id[0] != '\0' && strlen(id) < PUSH_TOPIC_BYTES && id[strspn(id, letters)] == '\0') {
        snprintf(ret_topic, PUSH_TOPIC_BYTES, "%s", id);
        return;
    }
    digest_of(id, bytes);
    base64url_write(&text, bytes, 24);
    snprintf(ret_topic, PUSH_TOPIC_BYTES, "%s", buf_text(&text));
}

void
push_member(struct buf *json, const char *key, const char *text)
{
    if (text == NULL)
        return;
    if (json->len > 0 && json->p[json->len - 1] != '{')
        buf_putc(json, ',');
    json_write_string(json, str_of(key));
    buf_putc(json, ':');
    json_write_string(json, str_of(text));
}

bool
push_shows(const char *text, const char *secret)
{
    char start[SHOWN_SECRET_BYTES + 1];
    snprintf(start, sizeof start, "%s", secret);
    return start[0] != '\0' && strstr(text, start) != NULL;
}

/* --- what goes into one push --- */

owed_status
push_fit_read(const struct options *values, size_t most, struct fit *ret_fit, owed_error *err)
{
    *ret_fit = (struct fit){.unit = FIT_BYTES, .most = most};
    owed_status status = fit_read(values, ret_fit, err);
    if (status == OWED_OK && ret_fit->policy == FIT_SPLIT)
        return fail(err, OWED_CONFIG, "too-long is refuse or cut: a push is one message");
    return status;
}

static bool
refuse_long(const struct fit *fit, owed_answer *answer)
{
    answer->verdict = OWED_ANSWER_REFUSED;
    snprintf(answer->reason, sizeof answer->reason,
        "the message does not go into one push of up to %zu bytes with all that belongs to it",
        fit->most);
    return false;
}

/* room_for tells how many bytes a text that is cut may have, with its ellipsis: its escapes take more room in JSON
 * than what they stand for. */
static size_t
room_for(const char *text, size_t json_room)
{
    CLEANUP(buf_done) struct buf one;
    buf_init(&one, 16);
    size_t used = sizeof ELLIPSIS - 1, count = 0;
    for (; text[count] != '\0'; count++) {
        buf_clear(&one);
        if ((unsigned char)text[count] < 0x80)
            json_write_string(&one, (struct str){text + count, 1});
        used += one.len == 0 ? 1 : one.len - 2;
        if (used > json_room)
            break;
    }
    return count == 0 ? 0 : count + sizeof ELLIPSIS - 1;
}

/* cut writes the message with a text of at most room bytes, which has an ellipsis then. */
static bool
cut(size_t room, push_writer *write, const void *state, const owed_message *message,
    struct buf *json, owed_answer *answer)
{
    CLEANUP(fit_pieces_done) struct fit_pieces pieces = {0};
    const struct fit part = {.unit = FIT_BYTES, .most = room, .policy = FIT_CUT};
    owed_error why;
    owed_status status = fit_text(&part, message->text, &pieces, &why);
    if (status != OWED_OK) {
        answer->verdict = status == OWED_LIMIT ? OWED_ANSWER_REFUSED : OWED_ANSWER_FAILED;
        snprintf(answer->reason, sizeof answer->reason, "%s", why.text);
        return false;
    }
    owed_message shorter = *message;
    shorter.text = pieces.texts[0];
    buf_clear(json);
    write(state, &shorter, json);
    return true;
}

bool
push_write(const struct fit *fit, push_writer *write, const void *state,
    const owed_message *message, struct buf *json, owed_answer *answer)
{
    owed_message bare = *message;
    bare.text = "";
    write(state, &bare, json);
    size_t around = json->len;
    if (json->failed || around >= fit->most)
        return refuse_long(fit, answer);
    buf_clear(json);
    write(state, message, json);
    if (!json->failed && json->len <= fit->most)
        return true;
    if (fit->policy != FIT_CUT)
        return refuse_long(fit, answer);
    size_t room = room_for(message->text, fit->most - around);
    if (room == 0)
        return refuse_long(fit, answer);
    return cut(room, write, state, message, json, answer);
}

owed_status
push_need(const struct options *values, const char *key, const char *right, char **ret_text,
    owed_error *err)
{
    const char *text = options_text(values, key);
    if (is_empty(text))
        return fail(err, OWED_CONFIG, "%s is missing: %s would be right", key, right);
    *ret_text = strdup(text);
    return *ret_text == NULL ? fail_memory(err) : OWED_OK;
}
