/* SPDX-License-Identifier: MIT
 *
 * service_account.c - who we are at Google: a file with a key, and the tokens that it gets us.
 */
#include "notify/channels/service_account.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "notify/channels/push.h"

#define ACCOUNT_DEPTH 8
#define LIFE_SECONDS 3600    // of what we claim; no longer is taken
#define UNSAID_SECONDS 300.0 // where the answer does not say how long its token is good
#define EARLY_SECONDS 300.0  // before its end it is made anew
#define MARGIN_SECONDS 60.0  // before its end it is no longer used
#define LONGEST_SECONDS 86400.0

/* --- the file --- */

static owed_status
copy_member(struct json object, const char *path, const char *key, char **ret_text, owed_error *err)
{
    CLEANUP(arena_done) struct arena arena = {0};
    struct json value;
    struct str text;
    if (!json_member(object, key, &value) || value.type != JSON_STRING ||
        json_read_string(value, &arena, &text, NULL) != OWED_OK || text.len == 0 ||
        strlen(text.p) != text.len)
        return fail(err, OWED_CONFIG,
            "%s has no %s: the JSON file of a service account would be right", path, key);
    *ret_text = strdup(text.p);
    explicit_bzero((void *)(uintptr_t)text.p, text.len); // it may be the key
    return *ret_text == NULL ? fail_memory(err) : OWED_OK;
}

static void
free_pem(char **pem)
{
    if (*pem != NULL)
        explicit_bzero(*pem, strlen(*pem));
    free(*pem);
}

static owed_status
read_members(struct json object, const char *path, struct service_account *account, owed_error *err)
{
    CLEANUP(free_pem) char *pem = NULL;
    owed_status status = copy_member(object, path, "client_email", &account->email, err);
    if (status == OWED_OK)
        status = copy_member(object, path, "token_uri", &account->token_url, err);
    if (status == OWED_OK)
        status = copy_member(object, path, "private_key_id", &account->key_id, err);
    if (status == OWED_OK)
        status = copy_member(object, path, "project_id", &account->project, err);
    if (status == OWED_OK)
        status = copy_member(object, path, "private_key", &pem, err);
    if (status == OWED_OK)
        status = jwt_key_parse(str_of(pem), path, JWT_RS256, &account->key, err);
    owed_error why;
    if (status == OWED_OK && push_url_check("token_uri", account->token_url, &why) != OWED_OK)
        status = fail(err, OWED_CONFIG, "%s: %s", path, why.text);
    return status;
}

owed_status
service_account_read(const char *path, struct service_account *ret_account, owed_error *err)
{
    CLEANUP(secret_buf_done) struct buf text;
    struct service_account account = {0};
    buf_init(&text, JWT_KEY_FILE_BYTES);
    owed_status status = key_file_read(path, &text, err);
    if (status != OWED_OK)
        return status;
    struct str view = buf_view(&text);
    if (json_check(view, ACCOUNT_DEPTH, NULL) != OWED_OK || json_root(view).type != JSON_OBJECT)
        return fail(err, OWED_CONFIG,
            "%s is no JSON object: the file of a service account would be right", path);
    status = read_members(json_root(view), path, &account, err);
    if (status == OWED_OK)
        *ret_account = account;
    else
        service_account_done(&account);
    return status;
}

void
service_account_done(struct service_account *account)
{
    jwt_key_free(account->key);
    free(account->key_id);
    free(account->email);
    free(account->token_url);
    free(account->project);
    *account = (struct service_account){0};
}

/* --- a token --- */

static bool
write_assertion(
    const struct service_account *account, const char *scope, int64_t now_us, struct buf *out)
{
    CLEANUP(buf_done) struct buf claims;
    int64_t now_s = now_us / US_PER_SECOND;
    buf_init(&claims, JWT_BYTES);
    buf_putc(&claims, '{');
    push_member(&claims, "iss", account->email);
    push_member(&claims, "scope", scope);
    push_member(&claims, "aud", account->token_url);
    buf_puts(&claims, ",\"iat\":");
    buf_int(&claims, now_s);
    buf_puts(&claims, ",\"exp\":");
    buf_int(&claims, now_s + LIFE_SECONDS);
    buf_putc(&claims, '}');
    return !claims.failed && jwt_sign(account->key, account->key_id, buf_view(&claims), out);
}

/* refuse says why there is no token. Who we are is not the recipient's fault: another attempt may find it mended. */
static void
refuse(const struct http *http, const struct http_answer *said, const char *assertion,
    owed_answer *answer)
{
    char word[PUSH_WORD_BYTES] = "", text[OWED_REASON_BYTES] = "", detail[OWED_REASON_BYTES];
    http_text(said, "/error", word, sizeof word);
    http_text(said, "/error_description", text, sizeof text);
    const char *signature = strrchr(assertion, '.') + 1;
    bool is_shown = text[0] != '\0' && !push_shows(text, signature) && !push_shows(text, assertion);
    snprintf(
        detail, sizeof detail, "%.63s%s%.200s", word, is_shown ? ": " : "", is_shown ? text : "");
    http_verdict(http, said, "the token server", detail, answer);
    if (answer->verdict != OWED_ANSWER_WAIT)
        answer->verdict = OWED_ANSWER_FAILED;
    if (said->status >= 200 && said->status < 300)
        snprintf(answer->reason, sizeof answer->reason, "the token server gave no token");
}

/* read_token takes the token and its life out of an answer. */
static bool
read_token(const struct http_answer *said, struct token_made *made)
{
    char text[TOKEN_BYTES];
    double seconds = UNSAID_SECONDS;
    if (said->status != 200 || !http_text(said, "/access_token", text, sizeof text) ||
        text[0] == '\0' || text[strcspn(text, " \t")] != '\0')
        return false;
    buf_puts(&made->text, text);
    explicit_bzero(text, sizeof text);
    http_number(said, "/expires_in", &seconds);
    seconds = seconds < 1 ? 1 : seconds > LONGEST_SECONDS ? LONGEST_SECONDS : seconds;
    double end = seconds > 2 * MARGIN_SECONDS ? seconds - MARGIN_SECONDS : seconds / 2;
    double renew = end > 2 * EARLY_SECONDS ? seconds - EARLY_SECONDS : end;
    made->end_us = (int64_t)(end * 1e6);
    made->renew_us = (int64_t)(renew * 1e6);
    return !made->text.failed;
}

bool
service_account_token(const struct service_account *account, struct http *http, const char *scope,
    int64_t now_us, struct token_made *ret_made, owed_answer *answer)
{
    CLEANUP(secret_buf_done) struct buf assertion;
    CLEANUP(secret_buf_done) struct buf form;
    CLEANUP(http_answer_done) struct http_answer said = {0};
    buf_init(&assertion, JWT_BYTES);
    buf_init(&form, 2 * JWT_BYTES);
    if (!write_assertion(account, scope, now_us, &assertion)) {
        snprintf(
            answer->reason, sizeof answer->reason, "the claims for a token could not be signed");
        return false;
    }
    buf_puts(&form, "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=");
    buf_str(&form, buf_view(&assertion)); // of letters that stand for themselves
    const struct http_request request = {.method = "POST",
        .url = account->token_url,
        .headers = (const char *const[]){"content-type: application/x-www-form-urlencoded", NULL},
        .body = buf_view(&form),
        .http2 = true};
    http_send(http, &request, &said);
    if (read_token(&said, ret_made))
        return true;
    refuse(http, &said, buf_text(&assertion), answer);
    return false;
}
