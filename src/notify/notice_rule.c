/* SPDX-License-Identifier: MIT
 *
 * notice_rule.c - from an event's payload to one attempt of a notification.
 */
#include "notify/notice_rule.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "notify/post.h"
#include "notify/recipient_json.h"
#include "notify/template.h"

#define ID_PREFIX "owed_" // of an idempotency key; the rest is the message's id

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

static owed_outcome
post(owed_delivery *delivery, const struct notice_rule *rule, const owed_recipient *recipient,
    const char *context)
{
    const char *quiet = rule->notice.quiet;
    const owed_send_options options = {
        .id = owed_delivery_idempotency_key(delivery) + strlen(ID_PREFIX),
        .channel = rule->notice.channel,
        .urgency = rule->notice.urgent ? OWED_URGENCY_URGENT : OWED_URGENCY_NORMAL,
        .quiet_wait = quiet == NULL || strcmp(quiet, "wait") == 0,
        .fall_through = rule->notice.fall_through,
    };
    const struct post one = {.dispatcher = rule->notices->dispatcher,
        .tmpl = rule->tmpl,
        .recipient = recipient,
        .context = context,
        .options = &options};
    CLEANUP(posted_done) struct posted posted;
    post_once(&one, &posted);
    if (posted.receipt != NULL && posted.receipt->reference != NULL)
        owed_delivery_note(delivery, "reference", posted.receipt->reference);
    return posted_outcome(&posted, delivery);
}

static owed_outcome
tell(owed_delivery *delivery, const struct notice_rule *rule, struct json root, struct arena *arena)
{
    struct json customer;
    struct json values;
    owed_recipient recipient;
    owed_error why;
    const char *wrong = cut(root, rule->notice.recipient, arena, &customer);
    if (wrong != NULL)
        return owed_permanent(
            delivery, "recipient %s of the payload: %s", rule->notice.recipient, wrong);
    wrong = cut(root, rule->notice.context, arena, &values);
    if (wrong != NULL)
        return owed_permanent(delivery, "context %s of the payload: %s",
            rule->notice.context == NULL ? "" : rule->notice.context, wrong);
    owed_status status = recipient_read(customer, UNKNOWN_IGNORED, arena, &recipient, &why);
    if (status == OWED_NOMEM)
        return owed_failed(delivery, "%s", why.text);
    if (status != OWED_OK)
        return owed_permanent(
            delivery, "recipient %s of the payload: %s", rule->notice.recipient, why.text);
    CLEANUP(buf_done) struct buf context;
    buf_init(&context, LIMIT_PAYLOAD_BYTES);
    notice_context(rule->tmpl, values, arena, &context);
    if (context.failed)
        return owed_failed(delivery, "out of memory");
    return post(delivery, rule, &recipient, buf_text(&context));
}

owed_outcome
notice_rule_run(owed_delivery *delivery, const void *payload)
{
    (void)payload; // of an event with a type it is a struct; what was fired is what counts
    const struct notice_rule *rule = owed_delivery_state(delivery);
    owed_bytes bytes = owed_delivery_payload(delivery);
    struct str text = {bytes.data, bytes.len};
    if (rule->notices->dispatcher == NULL)
        return owed_failed(delivery, "only a relay can notify");
    if (json_check(text, LIMIT_PAYLOAD_DEPTH, NULL) != OWED_OK)
        return owed_permanent(delivery, "the payload is not JSON");
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, 0);
    return tell(delivery, rule, json_root(text), &arena);
}
