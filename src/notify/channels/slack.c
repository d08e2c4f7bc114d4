/* SPDX-License-Identifier: MIT
 *
 * slack.c - Slack, by a bot (chat.postMessage) or an incoming webhook.
 */
#include <string.h>

#include "notify/channels/chat.h"

#define ADDRESS_MAX 80

static const struct option slack_keys[] = {
    CHAT_TOKEN_KEY,
    CHAT_WEBHOOK_KEY,
    CHAT_URL_KEY("https://slack.com/api"),
    FIT_OPTION(CHANNEL_SECTION),
    HTTP_KEYS,
    {.name = NULL},
};

/* escape has no text name a person or a channel, nor be a link by another name. */
static void
escape(struct buf *out, struct str text)
{
    static const char *const entities[] = {['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;"};
    for (size_t i = 0; i < text.len; i++) {
        size_t c = (unsigned char)text.p[i];
        if (c < sizeof entities / sizeof entities[0] && entities[c] != NULL)
            buf_puts(out, entities[c]);
        else
            buf_putc(out, text.p[i]);
    }
}

static bool
is_address(const char *address)
{
    const char *name = address + (address[0] == '#');
    size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
    return len > 0 && len <= ADDRESS_MAX && name[len] == '\0';
}

static const struct chat slack = {
    .path = "/chat.postMessage",
    .bot = {.says =
                {
                    [GATEWAY_BODY] = "{\"channel\": \"{to}\", \"text\": \"{text}\", "
                                     "\"mrkdwn\": false, \"parse\": \"none\"}",
                    [GATEWAY_AUTH] = "bearer",
                    [GATEWAY_REFERENCE] = "/ts",
                    [GATEWAY_CODE] = "/error", // the status of HTTP is 200, whatever it is
                    [GATEWAY_WAIT] = "ratelimited, rate_limited",
                    [GATEWAY_GONE] =
                        "channel_not_found, is_archived, user_not_found, user_disabled",
                    [GATEWAY_FAILED] = "internal_error, fatal_error, service_unavailable, "
                                       "request_timeout, team_added_to_org",
                }},
    .hook = {.says =
                 {
                     [GATEWAY_BODY] = "{\"text\": \"{text}\", \"mrkdwn\": false}",
                 }},
    .manner =
        {
            .who = "Slack",
            .fit = {.unit = FIT_UTF16, .most = 40000}, // it cuts what is longer
            .escape = escape,
            .takes = is_address,
            .right = "the id of a channel or a member, such as C024BE91L",
        },
};

static owed_status
slack_make(const struct options *values, owed_channel *channel, owed_error *err)
{
    return chat_make(&slack, values, channel, err);
}

const struct channel_kind channel_kind_slack = {
    .type = "slack",
    .name = "slack",
    .help = "Slack, by a bot or an incoming webhook; texts arrive as they are, without its markup",
    .keys = slack_keys,
    .make = slack_make,
};
