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

#endif
