/* SPDX-License-Identifier: MIT
 *
 * vapid.c - who pushes, told to the push service (RFC 8292).
 */
#include "notify/channels/vapid.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/secret_file.h"
#include "notify/channels/push.h"

#define HOUR (3600 * US_PER_SECOND)
#define LIFE_US (12 * HOUR) // a day at most
#define KEPT_US (11 * HOUR)

bool
vapid_init(struct vapid *vapid, const struct jwt_key *key, const char *subject)
{
    uint8_t point[EC_POINT_BYTES];
    *vapid = (struct vapid){.key = key, .subject = subject};
    pthread_mutex_init(&vapid->lock, NULL);
    CLEANUP(buf_done) struct buf text;
    buf_init(&text, sizeof vapid->public_key - 1);
    if (!jwt_key_point(key, point))
        return false;
    base64url_write(&text, point, sizeof point);
    snprintf(vapid->public_key, sizeof vapid->public_key, "%s", buf_text(&text));
    return !text.failed;
}

void
vapid_done(struct vapid *vapid)
{
    for (size_t i = 0; i < VAPID_ORIGINS; i++)
        secret_free(vapid->tokens[i].text);
    pthread_mutex_destroy(&vapid->lock);
}

static char *
make(const struct vapid *vapid, const char *origin, int64_t now_us)
{
    CLEANUP(buf_done) struct buf claims;
    CLEANUP(secret_buf_done) struct buf text;
    buf_init(&claims, JWT_BYTES);
    buf_init(&text, JWT_BYTES);
    buf_putc(&claims, '{');
    push_member(&claims, "aud", origin);
    buf_puts(&claims, ",\"exp\":");
    buf_int(&claims, (now_us + LIFE_US) / US_PER_SECOND);
    push_member(&claims, "sub", vapid->subject);
    buf_putc(&claims, '}');
    if (claims.failed || !jwt_sign(vapid->key, NULL, buf_view(&claims), &text) || text.failed)
        return NULL;
    return strdup(buf_text(&text));
}

/* find gives the place of an origin, or one that is free or the longest known. */
static struct vapid_token *
find(struct vapid *vapid, const char *origin)
{
    for (size_t i = 0; i < VAPID_ORIGINS; i++)
        if (vapid->tokens[i].text != NULL && strcmp(vapid->tokens[i].origin, origin) == 0)
            return &vapid->tokens[i];
    struct vapid_token *token = &vapid->tokens[vapid->next++ % VAPID_ORIGINS];
    secret_free(token->text);
    *token = (struct vapid_token){0};
    snprintf(token->origin, sizeof token->origin, "%s", origin);
    return token;
}

bool
vapid_write(struct vapid *vapid, const char *origin, int64_t now_us, struct buf *out)
{
    pthread_mutex_lock(&vapid->lock);
    struct vapid_token *token = find(vapid, origin);
    // A clock that was set back must not leave us with one that ends too late: none is longer than a day.
    bool is_good =
        token->text != NULL && now_us < token->renew_at_us && now_us >= token->made_at_us;
    if (!is_good) {
        secret_free(token->text);
        token->text = make(vapid, origin, now_us);
        token->made_at_us = now_us;
        token->renew_at_us = now_us + KEPT_US;
    }
    bool is_written = token->text != NULL;
    if (is_written)
        buf_printf(out, "authorization: vapid t=%s, k=%s", token->text, vapid->public_key);
    pthread_mutex_unlock(&vapid->lock);
    return is_written && !out->failed;
}
