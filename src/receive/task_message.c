/* SPDX-License-Identifier: MIT
 *
 * task_message.c - a claim, written and read.
 */
#include "receive/task_message.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "base/json.h"
#include "receive/broker.h"

#define DEPTH 4
#define ID_PREFIX "owed_task_"
#define ID_DIGEST_BYTES 16

void
task_message_write(const struct task_message *message, struct buf *buf)
{
    buf_printf(buf, "{\"delivery\":%" PRId64 ",\"claimed_by\":", message->delivery_id);
    json_write_string(buf, str_of(message->claimed_by));
    buf_printf(buf, ",\"claimed_at\":%" PRId64 "}", message->claimed_at_us);
}

bool
task_message_id(const struct task_message *message, char ret_id[static TASK_MESSAGE_ID_BYTES])
{
    char numbers[64];
    int len = snprintf(numbers, sizeof numbers, "%" PRId64 " %" PRId64 " ", message->delivery_id,
        message->claimed_at_us);
    const struct str pieces[] = {{numbers, (size_t)len}, str_of(message->claimed_by)};
    uint8_t digest[SHA256_BYTES];
    if (!sha256(pieces, sizeof pieces / sizeof pieces[0], digest))
        return false;
    int at = snprintf(ret_id, TASK_MESSAGE_ID_BYTES, ID_PREFIX);
    for (int i = 0; i < ID_DIGEST_BYTES; i++)
        at += snprintf(ret_id + at, TASK_MESSAGE_ID_BYTES - (size_t)at, "%02x", digest[i]);
    return true;
}

static bool
read_number(struct json object, const char *key, int64_t *ret_number)
{
    struct json value;
    return json_member(object, key, &value) && value.type == JSON_NUMBER &&
        json_int64(value, ret_number);
}

bool
task_message_read(struct str text, struct arena *arena, struct task_message *ret_message)
{
    if (text.len > BROKER_TASK_BYTES || json_check(text, DEPTH, NULL) != OWED_OK)
        return false;
    struct json object = json_root(text);
    struct json value;
    struct str name;
    if (object.type != JSON_OBJECT || !read_number(object, "delivery", &ret_message->delivery_id) ||
        !read_number(object, "claimed_at", &ret_message->claimed_at_us) ||
        !json_member(object, "claimed_by", &value) || value.type != JSON_STRING ||
        json_read_string(value, arena, &name, NULL) != OWED_OK)
        return false;
    ret_message->claimed_by = name.p;
    return strlen(name.p) == name.len;
}
