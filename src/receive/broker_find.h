/* SPDX-License-Identifier: MIT
 *
 * broker_find.h - a broker's library, and the way to a broker by its URL.
 */
#ifndef RECEIVE_BROKER_FIND_H
#define RECEIVE_BROKER_FIND_H

#include "declare/broker_url.h"
#include "receive/broker.h"

/* broker_find loads the library of a kind of broker, and finds what it has under that symbol. CONFIG: it
 * is not to be had. */
owed_status broker_find(
    const struct broker_scheme *scheme, const char *symbol, const void **ret_kind, owed_error *err);

/* What is told of a broker in files of its own; NULL: nothing. */
struct broker_files {
    const char *password;
    const char *ca;
    const char *credentials;
};

/* broker_place fills in all but the timeout; *ret_password belongs to the place, and to the caller
 * (secret_free). */
owed_status broker_place(const struct broker_url *url, const struct broker_files *files,
    struct broker_place *place, char **ret_password, owed_error *err);

/* broker_silent relinks the messages that have no answer, as a list. */
struct broker_message *broker_silent(struct broker_message *messages);

#endif
