/* SPDX-License-Identifier: MIT
 *
 * telegram.c - Telegram, by a bot (sendMessage).
 */
#include <string.h>

#include "base/str.h"
#include "notify/channels/chat.h"

#define DIGITS "0123456789"
#define WORD_CHARACTERS DIGITS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"

static const struct option telegram_keys[] = {
    CHAT_TOKEN_KEY,
    CHAT_URL_KEY("https://api.telegram.org"),
    FIT_OPTION(CHANNEL_SECTION),
    HTTP_KEYS,
    {.name = NULL},
};

static bool
is_address(const char *address)
{
    bool is_name = address[0] == '@';
    const char *rest = address + (is_name || address[0] == '-');
    size_t len = strspn(rest, is_name ? WORD_CHARACTERS : DIGITS);
    return len > 0 && len <= 32 && rest[len] == '\0';
}

/* is_token: 110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw, which becomes part of a path. */
static bool
is_token(const char *token)
{
    size_t bot = strspn(token, DIGITS);
    if (bot == 0 || token[bot] != ':')
        return false;
    size_t len = strspn(token + bot + 1, WORD_CHARACTERS "-");
    return len > 0 && token[bot + 1 + len] == '\0';
}

static const struct chat telegram = {
    .path = "/bot{token}/sendMessage",
    // Without parse_mode nothing in the text is markup.
    .bot = {.says =
                {
                    [GATEWAY_BODY] = "{\"chat_id\": \"{to}\", \"text\": \"{text}\"}",
                    [GATEWAY_REFERENCE] = "/result/message_id",
                    [GATEWAY_CODE] = "/error_code",
                    [GATEWAY_REASON] = "/description",
                    [GATEWAY_WAIT_SECONDS] = "/parameters/retry_after",
                    [GATEWAY_WAIT] = "429",
                    [GATEWAY_GONE] =
                        "Forbidden: bot was blocked*, Forbidden: user is deactivated*, "
                        "Forbidden: bot was kicked*, Forbidden: the group chat was deleted*, "
                        "Bad Request: chat not found*, Bad Request: user not found*, "
                        "Bad Request: group chat was upgraded*, Bad Request: PEER_ID_INVALID*",
                    [GATEWAY_FAILED] = "5xx",
                }},
    .manner =
        {
            .who = "Telegram",
            .fit = {.unit = FIT_UTF16, .most = 4096},
            .takes = is_address,
            .right = "the number of a chat, such as 12345678 or -100123456789, or @channel",
        },
    .is_token = is_token,
};

static owed_status
telegram_make(const struct options *values, owed_channel *channel, owed_error *err)
{
    return chat_make(&telegram, values, channel, err);
}

const struct channel_kind channel_kind_telegram = {
    .type = "telegram",
    .name = "telegram",
    .help = "Telegram, by a bot; texts arrive as they are, without its markup",
    .keys = telegram_keys,
    .make = telegram_make,
};
