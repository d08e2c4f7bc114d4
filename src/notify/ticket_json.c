/* SPDX-License-Identifier: MIT
 *
 * ticket_json.c - see ticket_json.h.
 */
#include "notify/ticket_json.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/limits.h"
#include "notify/attachment.h"
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
    const char *key = options->dedup_key;
    if (status == OWED_OK && key != NULL && (key[0] == '\0' || strlen(key) > LIMIT_KEY_BYTES))
        return fail(fields->err, OWED_INVALID, "a dedup key has 1 to %d bytes", LIMIT_KEY_BYTES);
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
