/* SPDX-License-Identifier: MIT
 *
 * gateway_parts.c - a description of a provider, read and checked.
 */
#include "notify/channels/gateway_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/secret_file.h"
#include "declare/check.h"
#include "notify/recipient.h"

#define JSON_HEADER "content-type: application/json; charset=utf-8"
#define FORM_HEADER "content-type: application/x-www-form-urlencoded"
#define AUTHORIZATION "authorization: "

static const char *const key_names[] = {
#define X(name_, key_, argument_, help_) [GATEWAY_##name_] = (key_),
    GATEWAY_MAP(X)
#undef X
};

/* --- what is half sent --- */

size_t
progress_take(struct progress *progress, const char *id)
{
    size_t pieces = 0;
    pthread_mutex_lock(&progress->lock);
    for (size_t i = 0; i < PROGRESS_COUNT && id[0] != '\0'; i++)
        if (strcmp(progress->kept[i].id, id) == 0) {
            pieces = progress->kept[i].pieces;
            progress->kept[i].id[0] = '\0';
        }
    pthread_mutex_unlock(&progress->lock);
    return pieces;
}

void
progress_keep(struct progress *progress, const char *id, size_t pieces)
{
    if (strlen(id) >= PROGRESS_ID_BYTES)
        return;
    pthread_mutex_lock(&progress->lock);
    size_t i = progress->next++ % PROGRESS_COUNT;
    snprintf(progress->kept[i].id, PROGRESS_ID_BYTES, "%s", id);
    progress->kept[i].pieces = pieces;
    pthread_mutex_unlock(&progress->lock);
}

/* --- reading --- */

static owed_status
read_pattern(struct gateway *gateway, enum gateway_key key, enum pattern_form form,
    struct pattern *ret_pattern, owed_error *err)
{
    owed_error why;
    owed_status status = pattern_read(form, gateway->plan.says[key], ret_pattern, &why);
    return status == OWED_OK ? OWED_OK : fail(err, OWED_CONFIG, "%s: %s", key_names[key], why.text);
}

static owed_status
need(const struct gateway *gateway, enum gateway_key key, const char *why, owed_error *err)
{
    if (gateway->plan.says[key] != NULL)
        return OWED_OK;
    return fail(err, OWED_CONFIG, "%s is missing%s", key_names[key], why);
}

static owed_status
add_header(struct gateway *gateway, struct str line, owed_error *err)
{
    owed_error why;
    const char *text = arena_copy(&gateway->arena, line);
    if (text == NULL)
        return fail_memory(err);
    size_t name = strcspn(text, ":");
    if (name == 0 || text[name] == '\0' || strcspn(text, " \t{") < name || text_has_control(text))
        return fail(err, OWED_CONFIG,
            "headers are such as \"x-account: 7, x-key: {token}\", separated by commas");
    if (gateway->header_count == GATEWAY_HEADER_LINES)
        return fail(err, OWED_CONFIG, "headers are more than %d", GATEWAY_HEADER_LINES);
    struct pattern *pattern = &gateway->headers[gateway->header_count++];
    if (pattern_read(PATTERN_LINE, text, pattern, &why) != OWED_OK)
        return fail(err, OWED_CONFIG, "headers: %s", why.text);
    return OWED_OK;
}

static owed_status
read_headers(struct gateway *gateway, owed_error *err)
{
    const char *list = gateway->plan.says[GATEWAY_HEADERS];
    owed_status status = OWED_OK;
    while (list != NULL && status == OWED_OK) {
        size_t len = strcspn(list, ",");
        status = add_header(gateway, str_trim((struct str){list, len}), err);
        list = list[len] == '\0' ? NULL : list + len + 1;
    }
    return status;
}

static owed_status
read_body(struct gateway *gateway, owed_error *err)
{
    char shown[SHOWN_BYTES];
    const char **says = gateway->plan.says;
    if (says[GATEWAY_METHOD] == NULL)
        says[GATEWAY_METHOD] = "POST";
    const char *method = says[GATEWAY_METHOD];
    bool is_get = strcmp(method, "GET") == 0;
    if (!is_get && strcmp(method, "POST") != 0 && strcmp(method, "PUT") != 0)
        return fail(
            err, OWED_CONFIG, "method is POST, PUT or GET, not \"%s\"", show(method, shown));
    if (is_get)
        return OWED_OK;
    const char *format = says[GATEWAY_FORMAT] == NULL ? "json" : says[GATEWAY_FORMAT];
    bool is_json = strcmp(format, "json") == 0;
    if (!is_json && strcmp(format, "form") != 0)
        return fail(err, OWED_CONFIG, "format is json or form, not \"%s\"", show(format, shown));
    gateway->content_type = is_json ? JSON_HEADER : FORM_HEADER;
    owed_status status = need(gateway, GATEWAY_BODY,
        ": {\"to\": \"{to}\", \"text\": \"{text}\"} would be right where they are called so", err);
    if (status != OWED_OK)
        return status;
    return read_pattern(
        gateway, GATEWAY_BODY, is_json ? PATTERN_JSON : PATTERN_FORM, &gateway->body, err);
}

static owed_status
read_secret(struct gateway *gateway, enum gateway_key key, char **ret_secret, owed_error *err)
{
    const char *path = gateway->plan.says[key];
    CLEANUP(buf_done) struct buf encoded;
    buf_init(&encoded, 3 * HTTP_HEADER_BYTES);
    owed_status status = path == NULL ? OWED_OK : secret_file_read(path, ret_secret, err);
    if (status != OWED_OK || path == NULL)
        return status;
    http_encode(&encoded, str_of(*ret_secret));
    status = http_hide(gateway->http, *ret_secret, err);
    if (status == OWED_OK && strcmp(buf_text(&encoded), *ret_secret) != 0)
        status = http_hide(gateway->http, buf_text(&encoded), err);
    explicit_bzero(encoded.p, encoded.len);
    return status;
}

static owed_status
authorize_basic(struct gateway *gateway, struct buf *line, owed_error *err)
{
    owed_status status = need(gateway, GATEWAY_USER, ": auth = basic needs it", err);
    if (status == OWED_OK)
        status = need(gateway, GATEWAY_PASSWORD_FILE, ": auth = basic needs it", err);
    if (status != OWED_OK)
        return status;
    if (strchr(gateway->plan.says[GATEWAY_USER], ':') != NULL)
        return fail(err, OWED_CONFIG, "user holds a colon, which auth = basic cannot send");
    http_basic(line, gateway->plan.says[GATEWAY_USER], gateway->password);
    return line->failed ? fail_memory(err)
                        : http_hide(gateway->http, strrchr(buf_text(line), ' ') + 1, err);
}

static owed_status
authorize_bearer(struct gateway *gateway, struct buf *line, owed_error *err)
{
    owed_status status = need(gateway, GATEWAY_TOKEN_FILE, ": auth = bearer needs it", err);
    if (status == OWED_OK)
        buf_printf(line, AUTHORIZATION "Bearer %s", gateway->token);
    return status;
}

static owed_status
authorize_nobody(struct gateway *gateway, struct buf *line, owed_error *err)
{
    (void)gateway;
    (void)line;
    (void)err;
    return OWED_OK;
}

static owed_status
read_auth(struct gateway *gateway, owed_error *err)
{
    static const struct {
        const char *word;
        owed_status (*authorize)(struct gateway *gateway, struct buf *line, owed_error *err);
    } ways[] = {
        {"none", authorize_nobody}, {"basic", authorize_basic}, {"bearer", authorize_bearer}};
    char shown[SHOWN_BYTES];
    const char *said = gateway->plan.says[GATEWAY_AUTH];
    struct buf line;
    buf_init(&line, HTTP_HEADER_BYTES);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        if (strcmp(ways[i].word, said == NULL ? "none" : said) != 0)
            continue;
        owed_status status = ways[i].authorize(gateway, &line, err);
        gateway->authorization = line.p; // NULL while it is empty
        return status == OWED_OK && line.failed ? fail_memory(err) : status;
    }
    return fail(err, OWED_CONFIG, "auth is basic, bearer or none, not \"%s\"", show(said, shown));
}

static owed_status
check_pointers(const struct gateway *gateway, owed_error *err)
{
    static const enum gateway_key pointers[] = {
        GATEWAY_REFERENCE, GATEWAY_CODE, GATEWAY_REASON, GATEWAY_WAIT_SECONDS};
    char shown[SHOWN_BYTES];
    for (size_t i = 0; i < sizeof pointers / sizeof pointers[0]; i++) {
        const char *pointer = gateway->plan.says[pointers[i]];
        if (pointer != NULL && !json_pointer_is_good(pointer))
            return fail(err, OWED_CONFIG, "%s is a JSON pointer such as /messages/0/id, not \"%s\"",
                key_names[pointers[i]], show(pointer, shown));
    }
    return OWED_OK;
}

/* check_values finds places that would stay empty. */
static owed_status
check_values(const struct gateway *gateway, owed_error *err)
{
    static const struct {
        enum place place;
        enum gateway_key key;
        const char *word;
    } settings[] = {
        {PLACE_FROM, GATEWAY_FROM, "{from}"},
        {PLACE_USER, GATEWAY_USER, "{user}"},
        {PLACE_PASSWORD, GATEWAY_PASSWORD_FILE, "{password}"},
        {PLACE_TOKEN, GATEWAY_TOKEN_FILE, "{token}"},
    };
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        enum place place = settings[i].place;
        bool is_used = pattern_has(&gateway->url, place) || pattern_has(&gateway->body, place);
        for (size_t j = 0; j < gateway->header_count; j++)
            is_used |= pattern_has(&gateway->headers[j], place);
        if (is_used && gateway->plan.says[settings[i].key] == NULL)
            return fail(err, OWED_CONFIG, "%s is missing: %s stands in the request",
                key_names[settings[i].key], settings[i].word);
    }
    if (pattern_has(&gateway->url, PLACE_TEXT) || pattern_has(&gateway->body, PLACE_TEXT))
        return OWED_OK;
    return fail(err, OWED_CONFIG, "%s has no {text}",
        key_names[gateway->content_type == NULL ? GATEWAY_URL : GATEWAY_BODY]);
}

static owed_status
read_request(struct gateway *gateway, owed_error *err)
{
    owed_status status = need(gateway, GATEWAY_URL, ": https://host/path would be right", err);
    if (status == OWED_OK)
        status = read_pattern(gateway, GATEWAY_URL, PATTERN_URL, &gateway->url, err);
    if (status == OWED_OK)
        status = read_body(gateway, err);
    if (status == OWED_OK)
        status = read_headers(gateway, err);
    if (status == OWED_OK)
        status = check_pointers(gateway, err);
    return status == OWED_OK ? check_values(gateway, err) : status;
}

/* try_url finds what of the settings could never stand in the URL. */
static owed_status
try_url(const struct gateway *gateway, owed_error *err)
{
    const char *values[PLACE_COUNT];
    owed_error why;
    CLEANUP(buf_done) struct buf url;
    buf_init(&url, HTTP_URL_BYTES);
    for (int i = 0; i < PLACE_COUNT; i++)
        values[i] = gateway->values[i] == NULL ? "x" : gateway->values[i];
    owed_status status = pattern_write(&gateway->url, values, &url, &why);
    if (url.p != NULL)
        explicit_bzero(url.p, url.len);
    return status == OWED_OK ? OWED_OK : fail(err, OWED_CONFIG, "url: %s", why.text);
}

static owed_status
read_all(struct gateway *gateway, const struct gateway_plan *plan, const struct options *values,
    owed_error *err)
{
    for (size_t i = 0; i < GATEWAY_KEYS; i++) {
        const char *said = plan->says[i];
        gateway->plan.says[i] = said == NULL ? NULL : arena_strdup(&gateway->arena, said);
        if (said != NULL && gateway->plan.says[i] == NULL)
            return fail_memory(err);
    }
    owed_status status = http_new(values, &gateway->http, err);
    if (status == OWED_OK)
        status = http_hide(gateway->http, gateway->manner.hidden, err);
    gateway->manner.hidden = NULL;
    if (status == OWED_OK)
        status = read_request(gateway, err);
    if (status == OWED_OK)
        status = read_secret(gateway, GATEWAY_PASSWORD_FILE, &gateway->password, err);
    if (status == OWED_OK)
        status = read_secret(gateway, GATEWAY_TOKEN_FILE, &gateway->token, err);
    gateway->values[PLACE_FROM] = gateway->plan.says[GATEWAY_FROM];
    gateway->values[PLACE_USER] = gateway->plan.says[GATEWAY_USER];
    gateway->values[PLACE_PASSWORD] = gateway->password;
    gateway->values[PLACE_TOKEN] = gateway->token;
    if (status == OWED_OK)
        status = try_url(gateway, err);
    return status == OWED_OK ? read_auth(gateway, err) : status;
}

owed_status
gateway_new(const struct gateway_plan *plan, const struct gateway_manner *manner,
    const struct options *values, struct gateway **ret_gateway, owed_error *err)
{
    struct gateway *gateway = calloc(1, sizeof *gateway);
    if (gateway == NULL)
        return fail_memory(err);
    arena_init(&gateway->arena, 0);
    pthread_mutex_init(&gateway->progress.lock, NULL);
    gateway->manner = *manner;
    owed_status status = read_all(gateway, plan, values, err);
    if (status == OWED_OK)
        *ret_gateway = gateway;
    else
        gateway_free(gateway);
    return status;
}

void
gateway_free(struct gateway *gateway)
{
    if (gateway == NULL)
        return;
    http_free(gateway->http);
    secret_free(gateway->password);
    secret_free(gateway->token);
    secret_free(gateway->authorization);
    pthread_mutex_destroy(&gateway->progress.lock);
    arena_done(&gateway->arena);
    free(gateway);
}
