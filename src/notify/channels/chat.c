/* SPDX-License-Identifier: MIT
 *
 * chat.c - a chat's bot or webhook, as a described provider.
 */
#include "notify/channels/chat.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/secret_file.h"

static owed_status
make_bot(const struct chat *chat, const struct options *values, const char *token_file,
    owed_channel *channel, owed_error *err)
{
    struct gateway_plan plan = chat->bot;
    struct gateway_manner manner = chat->manner;
    CLEANUP(buf_done) struct buf url;
    buf_init(&url, HTTP_URL_BYTES);
    buf_printf(&url, "%s%s", options_text(values, "url"), chat->path);
    plan.says[GATEWAY_URL] = buf_text(&url);
    plan.says[GATEWAY_TOKEN_FILE] = token_file;
    owed_status status = fit_read(values, &manner.fit, err);
    if (status == OWED_OK && chat->is_token != NULL) {
        char *token = NULL;
        status = secret_file_read(token_file, &token, err);
        if (status == OWED_OK && !chat->is_token(token))
            status = fail(err, OWED_CONFIG, "%s holds no token of a bot", token_file);
        secret_free(token);
    }
    return status == OWED_OK ? gateway_make(&plan, &manner, values, channel, err) : status;
}

static owed_status
make_hook(const struct chat *chat, const struct options *values, const char *hook_file,
    owed_channel *channel, owed_error *err)
{
    struct gateway_plan plan = chat->hook;
    struct gateway_manner manner = chat->manner;
    CLEANUP(buf_done) struct buf url;
    char *secret = NULL;
    buf_init(&url, HTTP_URL_BYTES);
    owed_status status = secret_file_read(hook_file, &secret, err);
    if (status != OWED_OK)
        return status;
    const char *host = strstr(secret, "://");
    const char *path = host == NULL ? NULL : strchr(host + 3, '/');
    buf_puts(&url, secret);
    if (chat->query != NULL)
        buf_printf(&url, "%c%s", strchr(secret, '?') == NULL ? '?' : '&', chat->query);
    plan.says[GATEWAY_URL] = buf_text(&url);
    manner.takes = NULL;
    manner.hidden = path;
    status = path == NULL || strpbrk(secret, "{}") != NULL
        ? fail(err, OWED_CONFIG, "%s holds no URL of a webhook", hook_file)
        : fit_read(values, &manner.fit, err);
    if (status == OWED_OK)
        status = gateway_make(&plan, &manner, values, channel, err);
    if (url.p != NULL)
        explicit_bzero(url.p, url.len);
    secret_free(secret);
    return status;
}

owed_status
chat_make(
    const struct chat *chat, const struct options *values, owed_channel *channel, owed_error *err)
{
    bool has_hooks = chat->hook.says[GATEWAY_BODY] != NULL;
    const char *token_file = options_text(values, "token-file");
    const char *hook_file = has_hooks ? options_text(values, "webhook-file") : NULL;
    if (token_file != NULL && hook_file != NULL)
        return fail(err, OWED_CONFIG, "it has a token-file or a webhook-file, not both");
    if (hook_file != NULL)
        return make_hook(chat, values, hook_file, channel, err);
    if (token_file != NULL)
        return make_bot(chat, values, token_file, channel, err);
    return fail(err, OWED_CONFIG, "token-file%s is missing", has_hooks ? " or webhook-file" : "");
}
