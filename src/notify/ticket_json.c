/* SPDX-License-Identifier: MIT
 *
 * ticket_json.c - see ticket_json.h.
 */
#include "notify/ticket_json.h"

#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/limits.h"
#include "notify/attachment.h"
#include "notify/dedup.h"
#include "notify/json_fields.h"
#include "notify/recipient_json.h"

static owed_status
read_attachment(struct fields *fields, struct json object, owed_attachment *attachment)
{
    const char *data = NULL;
    CLEANUP(buf_done) struct buf bytes;
    buf_init(&bytes, TICKET_JSON_BYTES);
    owed_status status = fields_text(fields, object, "name", &attachment->name);
    if (status == OWED_OK)
        status = fields_text(fields, object, "media_type", &attachment->media_type);
    if (status == OWED_OK)
        status = fields_text(fields, object, "data", &data);
    if (status != OWED_OK)
        return status;
    if (attachment->name == NULL || data == NULL || !base64_read(str_of(data), &bytes))
        return fail(fields->err, OWED_INVALID,
            "%s: an attachment has a name, and data in base64 (RFC 4648, padded)", fields->what);
    attachment->size = bytes.len;
    attachment->bytes = arena_copy(fields->arena, buf_view(&bytes));
    return attachment->bytes == NULL ? fail_memory(fields->err) : OWED_OK;
}

static owed_status
read_attachments(struct fields *fields, struct json object, const owed_attachment **ret_list)
{
    struct json list, item;
    size_t count = 0;
    if (!fields_find(object, "attachments", &list))
        return OWED_OK;
    if (list.type != JSON_ARRAY)
        return fail(fields->err, OWED_INVALID, "%s: attachments is %s, where a list is wanted",
            fields->what, json_type_name(list.type));
    for (struct json_walk walk = json_walk(list); json_next(&walk, NULL, &item);)
        count++;
    owed_attachment *attachments = arena_alloc(fields->arena, (count + 1) * sizeof *attachments);
    if (attachments == NULL)
        return fail_memory(fields->err);
    *ret_list = attachments;
    for (struct json_walk walk = json_walk(list); json_next(&walk, NULL, &item); attachments++) {
        owed_status status = read_attachment(fields, item, attachments);
        if (status != OWED_OK)
            return status;
    }
    return OWED_OK;
}

static owed_status
read_options(struct fields *fields, struct json object, owed_send_options *options)
{
    const struct {
        const char *key;
        const char **to;
    } texts[] = {{"channel", &options->channel}, {"subject", &options->subject},
        {"locale", &options->locale}, {"dedup_key", &options->dedup_key},
        {"unsubscribe", &options->unsubscribe}};
    bool is_urgent = false;
    owed_status status = fields_bool(fields, object, "urgent", &is_urgent);
    for (size_t i = 0; status == OWED_OK && i < sizeof texts / sizeof texts[0]; i++)
        status = fields_text(fields, object, texts[i].key, texts[i].to);
    if (status == OWED_OK)
        status = fields_int(fields, object, "now", &options->now_us);
    if (status == OWED_OK)
        status = fields_bool(fields, object, "quiet_wait", &options->quiet_wait);
    if (status == OWED_OK)
        status = fields_bool(fields, object, "fall_through", &options->fall_through);
    if (status == OWED_OK)
        status = read_attachments(fields, object, &options->attachments);
    options->urgency = is_urgent ? OWED_URGENCY_URGENT : OWED_URGENCY_NORMAL;
    if (status == OWED_OK && options->dedup_key != NULL)
        status = dedup_key_check(options->dedup_key, fields->err);
    return status;
}

static owed_status
read_context(struct fields *fields, struct json object, const char **ret_context)
{
    struct json context;
    *ret_context = "{}";
    if (!fields_find(object, "context", &context))
        return OWED_OK;
    if (context.type != JSON_OBJECT)
        return fail(fields->err, OWED_INVALID, "%s: context is %s, where an object is wanted",
            fields->what, json_type_name(context.type));
    *ret_context = arena_copy(fields->arena, context.text);
    return *ret_context == NULL ? fail_memory(fields->err) : OWED_OK;
}

owed_status
ticket_read(
    struct str payload, struct arena *arena, struct ticket_text *ret_ticket, owed_error *err)
{
    static const char *const keys[] = {"id", "template", "recipient", "context", "channel",
        "subject", "locale", "urgent", "now", "dedup_key", "quiet_wait", "fall_through",
        "unsubscribe", "attachments", NULL};
    struct fields fields = {.what = "the ticket", .arena = arena, .err = err};
    struct json recipient;
    *ret_ticket = (struct ticket_text){0};
    owed_status status = json_check(payload, 512, err);
    if (status != OWED_OK)
        return status;
    struct json object = json_root(payload);
    status = fields_check(&fields, object, keys);
    if (status == OWED_OK)
        status = fields_text(&fields, object, "id", &ret_ticket->id);
    if (status == OWED_OK)
        status = fields_text(&fields, object, "template", &ret_ticket->template_name);
    if (status == OWED_OK)
        status = read_context(&fields, object, &ret_ticket->context);
    if (status == OWED_OK)
        status = read_options(&fields, object, &ret_ticket->options);
    if (status != OWED_OK)
        return status;
    if (ret_ticket->template_name == NULL || !fields_find(object, "recipient", &recipient))
        return fail(err, OWED_INVALID, "the ticket has no template, or no recipient");
    return recipient_read(recipient, UNKNOWN_REFUSED, arena, &ret_ticket->recipient, err);
}

/* --- writing --- */

static owed_status
write_value(struct buf *buf, const owed_value *value, owed_error *err)
{
    if (value->kind == OWED_KIND_DOUBLE && !isfinite(value->is.real))
        return fail(err, OWED_INVALID, "the value of \"%.64s\" is no number", value->name);
    field_key(buf, value->name);
    switch (value->kind) {
    case OWED_KIND_BOOL:
        buf_puts(buf, value->is.flag ? "true" : "false");
        break;
    case OWED_KIND_INT64:
        buf_int(buf, value->is.integer);
        break;
    case OWED_KIND_DOUBLE:
        json_write_double(buf, value->is.real);
        break;
    default: // a decimal, too: digit by digit
        json_write_string(buf, str_of(value->is.text));
        break;
    }
    return OWED_OK;
}

static owed_status
write_values(struct buf *buf, const owed_value *context, owed_error *err)
{
    owed_status status = OWED_OK;
    buf_putc(buf, '{');
    for (; status == OWED_OK && context->name != NULL; context++)
        status = write_value(buf, context, err);
    buf_putc(buf, '}');
    return status;
}

static void
write_attachments(struct buf *buf, const owed_attachment *attachments)
{
    field_key(buf, "attachments");
    buf_putc(buf, '[');
    for (const owed_attachment *file = attachments; file->name != NULL; file++) {
        buf_puts(buf, file == attachments ? "{" : ",{");
        field_write_text(buf, "name", file->name);
        field_write_text(buf, "media_type", file->media_type);
        field_key(buf, "data");
        buf_putc(buf, '"');
        base64_write(buf, file->bytes, file->size);
        buf_puts(buf, "\"}");
    }
    buf_putc(buf, ']');
}

static void
write_options(struct buf *buf, const owed_send_options *options)
{
    field_write_text(buf, "channel", options->channel);
    field_write_text(buf, "subject", options->subject);
    field_write_text(buf, "locale", options->locale);
    field_write_bool(buf, "urgent", options->urgency == OWED_URGENCY_URGENT);
    field_write_int(buf, "now", options->now_us);
    field_write_text(buf, "dedup_key", options->dedup_key);
    field_write_bool(buf, "quiet_wait", options->quiet_wait);
    field_write_bool(buf, "fall_through", options->fall_through);
    field_write_text(buf, "unsubscribe", options->unsubscribe);
    if (options->attachments != NULL)
        write_attachments(buf, options->attachments);
}

owed_status
ticket_write(
    struct buf *buf, const struct ticket_text *ticket, const owed_value *context, owed_error *err)
{
    owed_status status = OWED_OK;
    buf_putc(buf, '{');
    field_write_text(buf, "id", ticket->id);
    field_write_text(buf, "template", ticket->template_name);
    field_key(buf, "recipient");
    recipient_write(buf, &ticket->recipient);
    field_key(buf, "context");
    if (context == NULL)
        buf_puts(buf, ticket->context == NULL ? "{}" : ticket->context);
    else
        status = write_values(buf, context, err);
    write_options(buf, &ticket->options);
    buf_putc(buf, '}');
    if (status == OWED_OK && buf->failed)
        status = fail(err, OWED_LIMIT, "a ticket of more than %zu bytes", TICKET_JSON_BYTES);
    return status;
}
