/* SPDX-License-Identifier: MIT
 *
 * http_pool.h - the handles of a channel. For the files of HTTP alone.
 */
#ifndef NOTIFY_CHANNELS_HTTP_POOL_H
#define NOTIFY_CHANNELS_HTTP_POOL_H

#include <curl/curl.h>
#include <pthread.h>

#include "notify/channels/http.h"

#define HTTP_KEPT 32
#define HTTP_SECRETS 8

struct http {
    long timeout_ms;
    long connect_timeout_ms;
    char *ca_file; // NULL: the system's
    char *proxy;   // NULL: none
    char *secrets[HTTP_SECRETS];
    size_t secret_count;
    pthread_mutex_t lock; // of what follows
    CURL *kept[HTTP_KEPT];
    size_t kept_count;
};

/* http_take takes a handle that has sent before, with its connection, or a new one; NULL: no memory. */
CURL *http_take(struct http *http);
void http_give(struct http *http, CURL *easy);

#endif
