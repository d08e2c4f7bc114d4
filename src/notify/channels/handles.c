/* SPDX-License-Identifier: MIT
 *
 * handles.c - see handles.h.
 */
#include "notify/channels/handles.h"

#include <stdbool.h>

void
handles_init(struct handles *handles, size_t most)
{
    pthread_mutex_init(&handles->lock, NULL);
    handles->count = 0;
    handles->most = most;
}

void
handles_done(struct handles *handles)
{
    for (size_t i = 0; i < handles->count; i++)
        curl_easy_cleanup(handles->kept[i]);
    pthread_mutex_destroy(&handles->lock);
}

CURL *
handles_take(struct handles *handles)
{
    CURL *easy = NULL;
    pthread_mutex_lock(&handles->lock);
    if (handles->count > 0)
        easy = handles->kept[--handles->count];
    pthread_mutex_unlock(&handles->lock);
    return easy == NULL ? curl_easy_init() : easy;
}

void
handles_give(struct handles *handles, CURL *easy)
{
    // Its count of requests that were repeated on a new connection goes with the rest: libcurl stops at five.
    curl_easy_reset(easy);
    pthread_mutex_lock(&handles->lock);
    bool has_room = handles->count < handles->most;
    if (has_room)
        handles->kept[handles->count++] = easy;
    pthread_mutex_unlock(&handles->lock);
    if (!has_room)
        curl_easy_cleanup(easy);
}
