/* SPDX-License-Identifier: MIT
 *
 * headers.c - header lines in a fixed space.
 */
#include "receive/headers.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/limits.h"
#include "base/traceparent.h"

#define ENCODED_BYTES (3 * LIMIT_KEY_BYTES + 1)

static void add(struct headers *headers, const char *format, ...) OWED_PRINTF(2, 3);

static void
add(struct headers *headers, const char *format, ...)
{
    size_t room = sizeof headers->text - headers->used;
    char *line = headers->text + headers->used;
    va_list args;
    va_start(args, format);
    int len = vsnprintf(line, room, format, args);
    va_end(args);
    if (len < 0 || (size_t)len >= room || headers->count == HEADERS_MAX) {
        headers->failed = true;
        return;
    }
    headers->nodes[headers->count] = (struct curl_slist){.data = line};
    if (headers->count > 0)
        headers->nodes[headers->count - 1].next = &headers->nodes[headers->count];
    headers->count++;
    headers->used += (size_t)len + 1;
}

/* encode writes all but visible ASCII, and '%' itself, as %XX; cut at what a name may be long. */
static void
encode(const char *text, char ret[static ENCODED_BYTES])
{
    static const char digits[] = "0123456789ABCDEF";
    size_t used = 0;
    for (const char *p = text; *p != '\0' && used + 4 <= ENCODED_BYTES; p++) {
        unsigned char c = (unsigned char)*p;
        if (c > 0x20 && c < 0x7f && c != '%') {
            ret[used++] = (char)c;
            continue;
        }
        ret[used++] = '%';
        ret[used++] = digits[c >> 4];
        ret[used++] = digits[c & 15];
    }
    ret[used] = '\0';
}

bool
headers_fill(struct headers *headers, const owed_delivery *delivery, const char *type,
    int64_t timestamp, const char *signature)
{
    const struct claimed *row = delivery->row;
    headers->count = 0;
    headers->used = 0;
    headers->failed = false;

    char name[ENCODED_BYTES];
    encode(or_empty(row->event_name), name);
    add(headers, "content-type: %s", type);
    add(headers, "webhook-id: %s", delivery->idempotency_key);
    add(headers, "webhook-timestamp: %" PRId64, timestamp);
    if (signature[0] != '\0')
        add(headers, "webhook-signature: %s", signature);
    add(headers, "owed-event: %s", name);
    add(headers, "owed-delivery: %" PRId64, row->fence.delivery_id);
    add(headers, "owed-attempt: %" PRId32, delivery->attempt);
    if (traceparent_is_valid(or_empty(row->traceparent)))
        add(headers, "traceparent: %s", row->traceparent);
    // libcurl would wait up to a second for a "100 Continue" before a large body.
    add(headers, "expect:");
    return !headers->failed;
}
