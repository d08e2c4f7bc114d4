/* SPDX-License-Identifier: MIT
 *
 * headers.h - the header lines of one request, without an allocation.
 */
#ifndef RECEIVE_HEADERS_H
#define RECEIVE_HEADERS_H

#include <curl/curl.h>

#include "deliver/delivery.h"

#define HEADERS_MAX 12
#define HEADERS_BYTES 4096

struct headers {
    struct curl_slist nodes[HEADERS_MAX];
    size_t count;
    char text[HEADERS_BYTES];
    size_t used;
    bool failed; // something did not fit
};

/*
 * headers_fill writes what a webhook is sent with: content-type, webhook-id, webhook-timestamp, webhook-signature
 * (signature "" : none), owed-event, owed-delivery, owed-attempt, and traceparent where the event has
 * a well-formed one. What comes from rows is written so that no byte of it can end a line.
 * false: they do not fit.
 */
bool headers_fill(struct headers *headers, const owed_delivery *delivery, const char *type,
    int64_t timestamp, const char *signature);

#endif
