/* SPDX-License-Identifier: MIT
 *
 * target.h - what is known of a receiver's destination from one request to the next.
 */
#ifndef RECEIVE_TARGET_H
#define RECEIVE_TARGET_H

#include "receive/sign.h"

struct target {
    const struct receiver *receiver;
    char *shown; // the URL without user and query
    char *host;  // and its port
    struct secrets secrets;
};

/* target_find looks in the tree at *root, and makes what is not there; NULL: out of memory. */
struct target *target_find(void **root, const struct receiver *receiver);
void targets_free(void *root);

/* url_shown writes a URL as anybody may see it: no user, no password, no query, no fragment. One
 * that cannot be read is cut at its "?". Free it. NULL: out of memory. */
char *url_shown(const char *url);

#endif
