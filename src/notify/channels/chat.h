/* SPDX-License-Identifier: MIT
 *
 * chat.h - what chats have in common: a bot with a token that writes to whom the address names, or a webhook that
 * writes to one channel, whose URL is the secret.
 */
#ifndef NOTIFY_CHANNELS_CHAT_H
#define NOTIFY_CHANNELS_CHAT_H

#include "notify/channels/gateway.h"
#include "notify/channels/kind.h"

#define CHAT_URL_KEY(base_) \
    { \
        .name = "url", .type = OPTION_TEXT, .argument = "URL", .section = CHANNEL_SECTION, \
        .fallback = (base_), .help = "where its API begins" \
    }
#define CHAT_TOKEN_KEY \
    { \
        .name = "token-file", .type = OPTION_TEXT, .argument = "PATH", .section = CHANNEL_SECTION, \
        .help = "holds the bot's token" \
    }
#define CHAT_WEBHOOK_KEY \
    { \
        .name = "webhook-file", .type = OPTION_TEXT, .argument = "PATH", \
        .section = CHANNEL_SECTION, \
        .help = \
            "holds the URL of an incoming webhook, in place of a token: whoever the address names, " \
            "its channel gets it" \
    }

struct chat {
    const char *path;         // behind the API's URL
    struct gateway_plan bot;  // without its URL and its token
    struct gateway_plan hook; // body NULL: it has no webhooks
    const char *query;        // of a webhook's URL; NULL: none
    struct gateway_manner manner;
    bool (*is_token)(const char *token); // NULL: any line
};

/* chat_make makes a channel of values with a url, a token-file, and a webhook-file where it has webhooks. CONFIG. */
owed_status chat_make(
    const struct chat *chat, const struct options *values, owed_channel *channel, owed_error *err);

#endif
