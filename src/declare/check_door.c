/* SPDX-License-Identifier: MIT
 *
 * check_door.c - where a receiver leads to: URLs, paths, brokers, and the secrets that go with them.
 */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/limits.h"
#include "declare/broker_url.h"
#include "declare/check.h"
#include "declare/secret.h"
#include "declare/url.h"

owed_status
check_secret(const struct declaration *declaration, owed_error *err)
{
    const owed_receiver *receiver = declaration->receiver;
    if (receiver->secret == NULL && receiver->secret_file == NULL)
        return OWED_OK;
    if (receiver->webhook == NULL)
        return refuse(declaration, err, "a secret signs webhooks; leave it out, or add webhook");
    if (receiver->secret != NULL && receiver->secret_file != NULL)
        return refuse(
            declaration, err, "both a secret and a file that holds one; one of them is right");
    if (receiver->secret == NULL)
        return receiver->secret_file[0] != '\0'
            ? OWED_OK
            : refuse(declaration, err, "the path of the secret's file is empty");

    owed_error why;
    struct secret secret;
    owed_status status = secret_read(str_of(receiver->secret), &secret, &why);
    explicit_bzero(&secret, sizeof secret);
    return status == OWED_OK ? OWED_OK : refuse(declaration, err, "%s", why.text);
}

static bool
says_more_of_broker(const owed_receiver *receiver)
{
    return receiver->topic != NULL || receiver->exchange != NULL ||
        receiver->password_file != NULL || receiver->ca_file != NULL ||
        receiver->credentials_file != NULL;
}

/* check_broker_files looks at what proves who is who. */
static owed_status
check_broker_files(
    const struct declaration *declaration, const struct broker_scheme *scheme, owed_error *err)
{
    const owed_receiver *receiver = declaration->receiver;
    if (receiver->ca_file != NULL && !scheme->is_secure)
        return refuse(declaration, err,
            "%s goes without TLS, so ca_file has no use; amqps://, tls:// or kafka+tls:// is what it goes with",
            scheme->scheme);
    if (receiver->credentials_file != NULL && !scheme->has_credentials)
        return refuse(declaration, err,
            "%s knows no credentials_file, which is of NATS; password_file is right there",
            scheme->scheme);
    if (receiver->credentials_file != NULL && receiver->password_file != NULL)
        return refuse(declaration, err,
            "both credentials_file and password_file prove who it is; one of them is right");
    return OWED_OK;
}

/* check_broker looks at what goes with publish. */
owed_status
check_broker(const struct declaration *declaration, owed_error *err)
{
    const owed_receiver *receiver = declaration->receiver;
    if (receiver->publish == NULL)
        return !says_more_of_broker(receiver)
            ? OWED_OK
            : refuse(declaration, err,
                  "topic, exchange, password_file, ca_file and credentials_file go with publish, which is not there");
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, 0);
    owed_error why;
    struct broker_url url;
    if (broker_url_read(receiver->publish, BROKER_HAS_FEEDS, &arena, &url, &why) != OWED_OK)
        return refuse(declaration, err, "the URL of publish %s", why.text);
    if (receiver->exchange != NULL && !url.scheme->has_exchange)
        return refuse(declaration, err, "%s knows no exchange; topic alone is right there",
            url.scheme->scheme);
    const char *names[] = {receiver->topic, receiver->exchange};
    for (size_t i = 0; i < 2; i++)
        if (names[i] != NULL && (names[i][0] == '\0' || strlen(names[i]) > LIMIT_KEY_BYTES))
            return refuse(
                declaration, err, "topic and exchange are names of 1 to %d bytes", LIMIT_KEY_BYTES);
    const char *problem = receiver->topic == NULL || url.scheme->topic_problem == NULL
        ? NULL
        : url.scheme->topic_problem(receiver->topic);
    char shown[SHOWN_BYTES];
    if (problem != NULL)
        return refuse(declaration, err, "topic \"%s\" %s", show(receiver->topic, shown), problem);
    return check_broker_files(declaration, url.scheme, err);
}

owed_status
check_target(const struct declaration *declaration, owed_error *err)
{
    const owed_receiver *receiver = declaration->receiver;
    char shown[SHOWN_BYTES];
    if (receiver->webhook != NULL) {
        // What comes after the question mark may be nobody's business.
        const char *problem = url_problem(receiver->webhook);
        if (problem != NULL)
            return refuse(declaration, err, "the URL of the webhook %s", problem);
    }
    if (receiver->exec != NULL && receiver->exec[0] != '/')
        return refuse(declaration, err,
            "exec \"%s\" is not an absolute path; one such as /usr/lib/shop/print-label is right",
            show(receiver->exec, shown));
    if (receiver->pipe != NULL && receiver->pipe[0] != '/')
        return refuse(declaration, err,
            "pipe \"%s\" does not begin with an absolute path; a command such as "
            "\"/usr/bin/python3 /usr/lib/shop/label.py\" is right",
            show(receiver->pipe, shown));
    if (receiver->in_flight != 0 && receiver->pipe == NULL && receiver->publish == NULL)
        return refuse(declaration, err,
            "in_flight is for pipe and publish; leave it out, since the relay's own setting holds for all "
            "others");
    if (receiver->file != NULL && receiver->file[0] == '\0')
        return refuse(declaration, err, "the path of the file is empty");
    return OWED_OK;
}
