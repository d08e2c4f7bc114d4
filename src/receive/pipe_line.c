/* SPDX-License-Identifier: MIT
 *
 * pipe_line.c - writing and reading the lines of a coprocess.
 */
#include "receive/pipe_line.h"

#include "base/json.h"
#include "base/limits.h"
#include "base/moment.h"
#include "base/traceparent.h"
#include "receive/json_line.h"

#define LINE_DEPTH 32

static bool
read_number(struct json object, const char *key, int64_t *ret_number)
{
    struct json value;
    return json_member(object, key, &value) && value.type == JSON_NUMBER &&
        json_int64(value, ret_number);
}

struct pipe_said
pipe_line_read(struct str line)
{
    struct pipe_said said = {.word = PIPE_NOISE};
    struct json value;
    line = str_trim(line);
    if (line.len == 0 || line.p[0] != '{' || json_check(line, LINE_DEPTH, NULL) != OWED_OK)
        return said;
    struct json object = json_root(line);
    if (read_number(object, "id", &said.id)) {
        bool has_begun = json_member(object, "begun", &value) && value.type == JSON_TRUE;
        said.word = has_begun ? PIPE_BEGUN : PIPE_ANSWER;
    } else if (read_number(object, "hello", &said.version)) {
        said.word = PIPE_HELLO;
        read_number(object, "in_flight", &said.in_flight);
    }
    return said;
}

void
pipe_line_hello(struct buf *line, const char *receiver_key, int32_t in_flight)
{
    buf_puts(line, "{\"hello\":");
    buf_int(line, PIPE_VERSION);
    json_line_text(line, "receiver", receiver_key);
    buf_puts(line, ",\"in_flight\":");
    buf_int(line, in_flight);
    buf_puts(line, "}\n");
}

static void
add_moment(struct buf *line, const char *key, int64_t at_us)
{
    char text[MOMENT_BYTES];
    json_line_text(line, key, moment_write(at_us, text));
}

static void
add_number(struct buf *line, const char *key, int64_t number)
{
    buf_printf(line, ",\"%s\":", key);
    buf_int(line, number);
}

bool
pipe_line_delivery(struct buf *line, const owed_delivery *delivery, int64_t id)
{
    const struct claimed *row = delivery->row;
    if (json_check(row->payload, LIMIT_PAYLOAD_DEPTH, NULL) != OWED_OK)
        return false;
    buf_puts(line, "{\"id\":");
    buf_int(line, id);
    add_number(line, "delivery", row->fence.delivery_id);
    add_number(line, "event_id", row->event_id);
    json_line_text(line, "event", row->event_name);
    add_number(line, "version", row->event_version);
    json_line_text(line, "receiver", row->receiver_key);
    buf_puts(line, ",\"target\":");
    json_write_string(line, str_of(row->target)); // long ones, too
    add_number(line, "attempt", delivery->attempt);
    json_line_text(line, "idempotency_key", delivery->idempotency_key);
    json_line_text(line, "correlation_id", row->correlation_id);
    add_moment(line, "occurred_at", row->occurred_at_us);
    add_moment(line, "due_at", row->due_at_us);
    if (traceparent_is_valid(or_empty(row->traceparent)))
        json_line_text(line, "traceparent", row->traceparent);
    buf_puts(line, ",\"payload\":");
    json_line_payload(line, row->payload);
    buf_puts(line, "}\n");
    return true;
}
