/* SPDX-License-Identifier: MIT
 *
 * discord.c - Discord, by a bot or a webhook.
 */
#include <string.h>

#include "base/str.h"
#include "notify/channels/chat.h"
#include "notify/fit_url.h"

static const struct option discord_keys[] = {
    CHAT_TOKEN_KEY,
    CHAT_WEBHOOK_KEY,
    CHAT_URL_KEY("https://discord.com/api/v10"),
    FIT_OPTION(CHANNEL_SECTION),
    HTTP_KEYS,
    {.name = NULL},
};

static bool
begins_line(const char *text, size_t i)
{
    while (i > 0 && (text[i - 1] == ' ' || text[i - 1] == '>'))
        i--;
    return i == 0 || text[i - 1] == '\n';
}

/* escape_part puts a backslash before what is markup. */
static void
escape_part(struct buf *out, struct str text, size_t start, size_t end)
{
    for (size_t i = start; i < end; i++) {
        char c = text.p[i];
        bool is_markup =
            strchr("\\*_~`|<>[]", c) != NULL || (strchr("#-", c) != NULL && begins_line(text.p, i));
        if (is_markup && c != '\0')
            buf_putc(out, '\\');
        buf_putc(out, c);
    }
}

/* escape leaves URLs as they are: a backslash would become part of them. */
static void
escape(struct buf *out, struct str text)
{
    size_t at = 0, start, end;
    while (fit_url_next(text, at, &start, &end)) {
        escape_part(out, text, at, start);
        buf_add(out, text.p + start, end - start);
        at = end;
    }
    escape_part(out, text, at, text.len);
}

static bool
is_address(const char *address)
{
    size_t len = strspn(address, "0123456789");
    return len > 0 && len <= 20 && address[len] == '\0';
}

#define NOBODY "\"allowed_mentions\": {\"parse\": []}"

#define SAYS \
    [GATEWAY_REFERENCE] = "/id", [GATEWAY_CODE] = "/code", [GATEWAY_REASON] = "/message", \
    [GATEWAY_WAIT_SECONDS] = "/retry_after", [GATEWAY_WAIT] = "429, 20028"

static const struct chat discord = {
    .path = "/channels/{to}/messages",
    .bot = {.says =
                {
                    SAYS, [GATEWAY_HEADERS] = "authorization: Bot {token}",
                    [GATEWAY_BODY] = "{\"content\": \"{text}\", \"nonce\": \"{nonce}\", "
                                     "\"enforce_nonce\": true, " NOBODY "}",
                    [GATEWAY_GONE] = "10003, 50007", // no such channel; takes none from us
                }},
    .hook = {.says =
                 {
                     SAYS,
                     [GATEWAY_BODY] = "{\"content\": \"{text}\", " NOBODY "}",
                 }},
    .query = "wait=true", // or it answers before it has tried, and has no name for the message
    .manner =
        {
            .who = "Discord",
            .fit = {.unit = FIT_UTF16, .most = 2000},
            .escape = escape,
            .takes = is_address,
            .right = "the number of a channel, such as 1039178386623557754",
        },
};

static owed_status
discord_make(const struct options *values, owed_channel *channel, owed_error *err)
{
    return chat_make(&discord, values, channel, err);
}

const struct channel_kind channel_kind_discord = {
    .type = "discord",
    .name = "discord",
    .help =
        "Discord, by a bot or a webhook; texts arrive as they are, without its markup, and nobody is mentioned",
    .keys = discord_keys,
    .make = discord_make,
};
