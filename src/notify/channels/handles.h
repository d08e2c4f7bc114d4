/* SPDX-License-Identifier: MIT
 *
 * handles.h - handles of libcurl that keep their connections: each is one thread's while it sends, so that as many are
 * made as threads send at once.
 */
#ifndef NOTIFY_CHANNELS_HANDLES_H
#define NOTIFY_CHANNELS_HANDLES_H

#include <curl/curl.h>
#include <pthread.h>

#define HANDLES_MAX 32

struct handles {
    pthread_mutex_t lock; // of what follows
    CURL *kept[HANDLES_MAX];
    size_t count, most;
};

/* handles_init has up to so many wait for the next message, HANDLES_MAX at most. */
void handles_init(struct handles *handles, size_t most);
void handles_done(struct handles *handles);

/* handles_take takes one that has sent before, with its connection, or a new one; NULL: no memory. */
CURL *handles_take(struct handles *handles);

/* handles_give takes it back, without what was set. */
void handles_give(struct handles *handles, CURL *easy);

#endif
