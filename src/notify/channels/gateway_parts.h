/* SPDX-License-Identifier: MIT
 *
 * gateway_parts.h - what a channel by a described provider is made of. For the files of gateways alone.
 */
#ifndef NOTIFY_CHANNELS_GATEWAY_PARTS_H
#define NOTIFY_CHANNELS_GATEWAY_PARTS_H

#include <pthread.h>

#include "base/arena.h"
#include "notify/channels/gateway.h"
#include "notify/channels/pattern.h"
#include "notify/dispatcher.h"
#include "notify/sms_text.h"

#define GATEWAY_HEADER_LINES 12
#define PROGRESS_ID_BYTES (MESSAGE_ID_MAX + 1)
#define PROGRESS_COUNT 64

/* The last messages that were left half sent. */
struct progress {
    pthread_mutex_t lock;
    size_t next; // that is overwritten
    struct {
        char id[PROGRESS_ID_BYTES]; // "": none
        size_t pieces;              // that are sent
    } kept[PROGRESS_COUNT];
};

struct gateway {
    struct arena arena; // of all texts but the secrets
    struct gateway_plan plan;
    struct gateway_manner manner;
    struct http *http;
    char *password;
    char *token;
    char *authorization;             // a header; NULL: none. Secret
    const char *content_type;        // a header; NULL: there is no body
    const char *values[PLACE_COUNT]; // of the settings alone
    struct pattern url;
    struct pattern body;
    struct pattern headers[GATEWAY_HEADER_LINES];
    size_t header_count;
    struct progress progress;
};

/* gateway_new reads a description; gateway_free frees what came of it, NULL too. CONFIG: what is wrong with which key. */
owed_status gateway_new(const struct gateway_plan *plan, const struct gateway_manner *manner,
    const struct options *values, struct gateway **ret_gateway, owed_error *err);
void gateway_free(struct gateway *gateway);

/* progress_take says how many pieces of a message are sent already, and forgets it; progress_keep remembers. */
size_t progress_take(struct progress *progress, const char *id);
void progress_keep(struct progress *progress, const char *id, size_t pieces);

#endif
