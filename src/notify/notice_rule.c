/* SPDX-License-Identifier: MIT
 *
 * notice_rule.c - from an event's payload to one attempt of a notification.
 */
#include "notify/notice_rule.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/limits.h"
#include "notify/notifier.h"
#include "notify/recipient_json.h"
#include "notify/template.h"

void
notice_context(const owed_template *tmpl, struct json object, struct arena *arena, struct buf *text)
{
    struct json_walk walk = json_walk(object);
    struct str key;
    struct json value;
    bool is_first = true;
    buf_putc(text, '{');
    while (json_next(&walk, &key, &value)) {
        struct str name;
        if (json_read_string((struct json){JSON_STRING, key}, arena, &name, NULL) != OWED_OK ||
            variable_find(&tmpl->variants[0], name) < 0)
            continue;
        if (!is_first)
            buf_putc(text, ',');
        is_first = false;
        buf_str(text, key);
        buf_putc(text, ':');
        buf_str(text, value.text);
    }
    buf_putc(text, '}');
}

/* cut finds an object in the payload; else NULL says what is wrong. */
static const char *
cut(struct json root, const char *pointer, struct arena *arena, struct json *ret_object)
{
    if (!json_pointer_find(root, pointer == NULL ? "" : pointer, arena, ret_object))
        return "there is nothing";
    return ret_object->type == JSON_OBJECT ? NULL : "there is no object";
}

/* read_root reads the payload; of an event with a type the struct is not looked at: what was fired is what counts. */
static owed_status
read_root(owed_delivery *delivery, struct json *ret_root, owed_error *err)
{
    owed_bytes bytes = owed_delivery_payload(delivery);
    struct str text = {bytes.data, bytes.len};
    if (json_check(text, LIMIT_PAYLOAD_DEPTH, NULL) != OWED_OK)
        return fail(err, OWED_INVALID, "the payload is not JSON");
    *ret_root = json_root(text);
    return OWED_OK;
}

static owed_status
read_recipient(const struct notice_rule *rule, struct json root, struct arena *arena,
    owed_recipient *ret_recipient, owed_error *err)
{
    struct json customer;
    owed_error why;
    const char *wrong = cut(root, rule->notice.recipient, arena, &customer);
    if (wrong != NULL)
        return fail(
            err, OWED_INVALID, "recipient %s of the payload: %s", rule->notice.recipient, wrong);
    owed_status status = recipient_read(customer, UNKNOWN_IGNORED, arena, ret_recipient, &why);
    return status == OWED_OK
        ? OWED_OK
        : fail(err, status, "recipient %s of the payload: %s", rule->notice.recipient, why.text);
}

static owed_status
read_values(const struct notice_rule *rule, struct json root, struct arena *arena,
    const char **ret_context, owed_error *err)
{
    struct json values;
    const char *wrong = cut(root, rule->notice.context, arena, &values);
    if (wrong != NULL)
        return fail(err, OWED_INVALID, "context %s of the payload: %s",
            rule->notice.context == NULL ? "" : rule->notice.context, wrong);
    CLEANUP(buf_done) struct buf context;
    buf_init(&context, LIMIT_PAYLOAD_BYTES);
    notice_context(rule->tmpl, values, arena, &context);
    *ret_context = context.failed ? NULL : arena_copy(arena, buf_view(&context));
    return *ret_context == NULL ? fail_memory(err) : OWED_OK;
}

static owed_status
read_notice(owed_delivery *delivery, struct arena *arena, struct told *ret_told, owed_error *err)
{
    const struct notice_rule *rule = owed_delivery_state(delivery);
    const char *quiet = rule->notice.quiet;
    struct ticket_text *ticket = &ret_told->ticket;
    struct json root;
    ret_told->tmpl = rule->tmpl;
    ticket->options = (owed_send_options){
        .channel = rule->notice.channel,
        .urgency = rule->notice.urgent ? OWED_URGENCY_URGENT : OWED_URGENCY_NORMAL,
        .quiet_wait = quiet == NULL || strcmp(quiet, "wait") == 0,
        .fall_through = rule->notice.fall_through,
    };
    owed_status status = read_root(delivery, &root, err);
    if (status == OWED_OK)
        status = read_recipient(rule, root, arena, &ticket->recipient, err);
    return status == OWED_OK ? read_values(rule, root, arena, &ticket->context, err) : status;
}

void
notice_rule_start(owed_delivery *delivery, const void *payload)
{
    (void)payload;
    const struct notice_rule *rule = owed_delivery_state(delivery);
    if (rule->tmpl != NULL)
        notifier_start(rule->notices->notifier, delivery, read_notice);
    else
        notifier_turn_away(delivery);
}

owed_status
notice_rule_targets(
    owed_delivery *delivery, const void *payload, owed_target_list *list, owed_error *err)
{
    (void)payload;
    const struct notice_rule *rule = owed_delivery_state(delivery);
    struct json root;
    owed_recipient recipient;
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, 0);
    // What is wrong with a payload is said when it is delivered.
    bool is_read = read_root(delivery, &root, NULL) == OWED_OK &&
        read_recipient(rule, root, &arena, &recipient, NULL) == OWED_OK;
    return notifier_target(
        rule->notices->notifier, is_read ? &recipient : NULL, rule->notice.channel, list, err);
}
