/* SPDX-License-Identifier: MIT
 *
 * service_account.h - who we are at Google: a file with a key, and the tokens that it gets us.
 */
#ifndef NOTIFY_CHANNELS_SERVICE_ACCOUNT_H
#define NOTIFY_CHANNELS_SERVICE_ACCOUNT_H

#include "notify/channels/http.h"
#include "notify/channels/jwt.h"
#include "notify/channels/token.h"

struct service_account {
    struct jwt_key *key;
    char *key_id;
    char *email;
    char *token_url;
    char *project;
};

/* service_account_read takes one out of the JSON file that Google's console hands out. CONFIG: the sentence names the file and
 * the key. NOMEM. */
owed_status service_account_read(
    const char *path, struct service_account *ret_account, owed_error *err);
void service_account_done(struct service_account *account);

/* service_account_token asks for a token with a scope (RFC 7523, 2.1). False: answer says why. */
bool service_account_token(const struct service_account *account, struct http *http,
    const char *scope, int64_t now_us, struct token_made *ret_made, owed_answer *answer);

#endif
