/* SPDX-License-Identifier: MIT
 *
 * http_pool.h - the handles of a channel. For the files of HTTP alone.
 */
#ifndef NOTIFY_CHANNELS_HTTP_POOL_H
#define NOTIFY_CHANNELS_HTTP_POOL_H

#include "notify/channels/handles.h"
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
    struct handles handles;
};

#endif
