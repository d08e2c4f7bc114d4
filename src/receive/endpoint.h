/* SPDX-License-Identifier: MIT
 *
 * endpoint.h - words and checks of endpoints, for whoever shows them.
 */
#ifndef RECEIVE_ENDPOINT_H
#define RECEIVE_ENDPOINT_H

#include <owed/endpoint.h>

/* signing_of finds a way to sign by its word; false: there is none. signing_name is the word. */
bool signing_of(const char *word, owed_signing *ret_signing);
const char *signing_name(owed_signing signing);

/* endpoint_public_key writes the public one of a pair of keys; false: it signs by a secret. */
struct endpoint_row;
bool endpoint_public_key(
    const struct endpoint_row *row, char ret_key[static OWED_ENDPOINT_SECRET_BYTES]);

/* endpoint_find answers NOT_FOUND for what is not there; endpoint_text_check INVALID for what is no text for people. */
owed_status endpoint_find(const owed *owed, const char *id, owed_error *err);
owed_status endpoint_text_check(const char *what, const char *text, size_t most, owed_error *err);

#endif
