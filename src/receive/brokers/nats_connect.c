/* SPDX-License-Identifier: MIT
 *
 * nats_connect.c - connections to NATS, by TLS where that is asked for, and who it is that comes.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/secret_file.h"
#include "receive/brokers/nats.h"

#define URL_BYTES 512

/* without_place cuts off where in the library it was: "(conn.c:1905): Authorization Violation". */
static const char *
without_place(const char *text)
{
    const char *end = text[0] == '(' ? strstr(text, "): ") : NULL;
    return end == NULL ? text : end + 3;
}

const char *
nats_reason(natsStatus status, natsConnection *connection)
{
    const char *text = NULL;
    if (connection != NULL && natsConnection_GetLastError(connection, &text) == NATS_OK)
        text = NULL;
    if (text == NULL || text[0] == '\0')
        text = nats_GetLastError(NULL);
    return text == NULL || text[0] == '\0' ? natsStatus_GetText(status) : without_place(text);
}

/* --- who comes --- */

static natsStatus
sign(char **ret_text, unsigned char **ret_signature, int *ret_len, const char *nonce, void *seed)
{
    (void)ret_text;
    return nats_Sign(seed, nonce, ret_signature, ret_len);
}

/* set_identity; seed is that of the NKey whose public part is the user, and NULL where there is none. */
static natsStatus
set_identity(natsOptions *options, const struct broker_place *place, char *seed)
{
    if (seed != NULL)
        return natsOptions_SetNKey(options, place->user, sign, seed);
    if (place->credentials_file != NULL)
        return natsOptions_SetUserCredentialsFromFiles(options, place->credentials_file, NULL);
    if (place->user[0] != '\0')
        return natsOptions_SetUserInfo(options, place->user, place->password);
    return place->password[0] == '\0' ? NATS_OK : natsOptions_SetToken(options, place->password);
}

/* --- connecting --- */

/* Without one the library would write to the standard error. */
static void
ignore_error(
    natsConnection *connection, natsSubscription *subscription, natsStatus status, void *state)
{
    (void)connection;
    (void)subscription;
    (void)status;
    (void)state;
}

static natsStatus
set_options(natsOptions *options, const struct broker_place *place, const char *url)
{
    int64_t timeout_ms = place->timeout_us < 1000 ? 1 : place->timeout_us / 1000;
    natsStatus status = natsOptions_SetURL(options, url);
    if (status == NATS_OK)
        status = natsOptions_SetName(options, "owed");
    if (status == NATS_OK)
        status = natsOptions_SetTimeout(options, timeout_ms);
    if (status == NATS_OK)
        status = natsOptions_SetWriteDeadline(options, timeout_ms);
    if (status == NATS_OK)
        status = natsOptions_SetAllowReconnect(options, false);
    if (status == NATS_OK)
        status = natsOptions_SetErrorHandler(options, ignore_error, NULL);
    if (status == NATS_OK && place->is_secure)
        status = natsOptions_SetSecure(options, true);
    if (status == NATS_OK && place->is_secure && place->ca_file != NULL)
        status = natsOptions_LoadCATrustedCertificates(options, place->ca_file);
    return status;
}

static natsStatus
connect_as(
    const struct broker_place *place, const char *url, char *seed, natsConnection **ret_connection)
{
    natsOptions *options = NULL;
    natsStatus status = natsOptions_Create(&options);
    if (status == NATS_OK)
        status = set_options(options, place, url);
    if (status == NATS_OK)
        status = set_identity(options, place, seed);
    if (status == NATS_OK)
        status = natsConnection_Connect(ret_connection, options);
    natsOptions_Destroy(options);
    return status;
}

owed_status
nats_connect(const struct broker_place *place, natsConnection **ret_connection, owed_error *err)
{
    char url[URL_BYTES];
    bool is_ipv6 = strchr(place->host, ':') != NULL;
    int len = snprintf(
        url, sizeof url, is_ipv6 ? "nats://[%s]:%d" : "nats://%s:%d", place->host, place->port);
    if (len < 0 || (size_t)len >= sizeof url)
        return fail(err, OWED_CONFIG, "the name of its host is too long");
    char *seed = NULL;
    if (place->credentials_file != NULL && place->user[0] != '\0') {
        owed_error why;
        if (secret_file_read(place->credentials_file, &seed, &why) != OWED_OK)
            return fail(err, why.status, "credentials-file %s", why.text);
    }
    natsStatus status = connect_as(place, url, seed, ret_connection);
    secret_free(seed);
    if (status == NATS_OK)
        return OWED_OK;
    if (status != NATS_CONNECTION_AUTH_FAILED && status != NATS_NOT_PERMITTED)
        return fail(err, OWED_UNAVAILABLE, "it cannot be reached: %s", nats_reason(status, NULL));
    if (place->user[0] == '\0')
        return fail(err, OWED_STORE, "what it is shown of who comes is refused: %s",
            nats_reason(status, NULL));
    return fail(err, OWED_STORE, "user %s or its password is refused: %s", place->user,
        nats_reason(status, NULL));
}
