/* SPDX-License-Identifier: MIT
 *
 * ticket_look.c - what became of a ticket that a store keeps, as its row says it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "notify/json_fields.h"
#include "notify/keep.h"
#include "notify/notifier.h"
#include "notify/receipt.h"

owed_status
ticket_event(struct db *db, const char *id, int64_t *ret_event_id, owed_error *err)
{
    char key[sizeof TICKET_KEY_PREFIX + MESSAGE_ID_MAX];
    bool can_be = strlen(id) <= MESSAGE_ID_MAX;
    snprintf(key, sizeof key, TICKET_KEY_PREFIX "%s", id);
    owed_status status = can_be ? store_event_of_key(db, key, ret_event_id, err) : OWED_NOT_FOUND;
    if (status == OWED_NOT_FOUND)
        return fail(err, OWED_NOT_FOUND,
            "there is no ticket %.*s: its transaction is open or was rolled back, or its event was "
            "pruned",
            MESSAGE_ID_MAX, id);
    return status;
}

owed_status
ticket_delivery(struct db *db, const char *id, int64_t event_id, struct arena *arena,
    struct delivery_row **ret_row, owed_error *err)
{
    size_t count = 0;
    const struct filter filter = {
        .event_id = event_id, .receiver_key = NOTIFY_RECEIVER, .limit = 1};
    owed_status status = store_deliveries(db, &filter, arena, ret_row, &count, err);
    if (status == OWED_OK && count == 0)
        return fail(err, OWED_NOT_FOUND,
            "ticket %.*s is owed to nobody: its event was pruned, or nobody had published %s",
            MESSAGE_ID_MAX, id, NOTIFY_RECEIVER);
    return status;
}

/* What posted_write wrote; all that is absent stays as it is. */
struct result {
    int64_t status;
    const char *template_name, *channel, *address, *locale, *reference;
    bool is_urgent, is_duplicate;
};

static void
read_result(const char *text, struct arena *arena, struct result *ret_result)
{
    struct fields fields = {.what = "a result", .arena = arena};
    struct result *result = ret_result;
    *result = (struct result){0};
    if (json_check(str_of(text), LIMIT_PAYLOAD_DEPTH, NULL) != OWED_OK)
        return; // of an attempt that left none
    struct json object = json_root(str_of(text));
    const struct {
        const char *key;
        const char **to;
    } texts[] = {{"template", &result->template_name}, {"channel", &result->channel},
        {"address", &result->address}, {"locale", &result->locale},
        {"reference", &result->reference}};
    if (object.type != JSON_OBJECT)
        return;
    owed_status status = fields_int(&fields, object, "status", &result->status);
    for (size_t i = 0; status == OWED_OK && i < sizeof texts / sizeof texts[0]; i++)
        status = fields_text(&fields, object, texts[i].key, texts[i].to);
    if (status == OWED_OK)
        status = fields_bool(&fields, object, "urgent", &result->is_urgent);
    if (status == OWED_OK)
        status = fields_bool(&fields, object, "duplicate", &result->is_duplicate);
}

static owed_receipt *
receipt_from(const struct result *result, int attempts)
{
    owed_receipt *receipt = calloc(1, sizeof *receipt);
    if (receipt == NULL)
        return NULL;
    receipt->attempts = attempts;
    receipt->urgency = result->is_urgent ? OWED_URGENCY_URGENT : OWED_URGENCY_NORMAL;
    receipt->duplicate = result->is_duplicate;
    if (copy_text(result->template_name, &receipt->template_name) &&
        copy_text(result->channel, &receipt->channel) &&
        copy_text(result->address, &receipt->address) &&
        copy_text(result->locale, &receipt->locale) &&
        copy_text(result->reference, &receipt->reference))
        return receipt;
    owed_receipt_free(receipt);
    return NULL;
}

static void
learn_failure(owed_ticket *ticket, const struct delivery_row *row, const struct result *result)
{
    owed_error *error = &ticket->error;
    if (strcmp(row->status, "cancelled") == 0)
        fail(error, OWED_CLOSED, "ticket %s was withdrawn before it was sent", ticket->id);
    else if (strcmp(row->status, "orphaned") == 0)
        fail(error, OWED_UNDELIVERED, "ticket %s was not sent: nobody declares its receiver %s",
            ticket->id, row->receiver_key);
    else
        fail(error, result->status < 0 ? (owed_status)result->status : OWED_UNDELIVERED, "%s",
            row->last_error);
}

owed_status
ticket_learn(owed_ticket *ticket, const struct delivery_row *row, owed_error *err)
{
    struct result result;
    read_result(row->result, &ticket->arena, &result);
    ticket->error = (owed_error){0};
    if (strcmp(row->status, "succeeded") == 0) {
        ticket->receipt = receipt_from(&result, row->attempts);
        if (ticket->receipt == NULL)
            return fail_memory(err);
        ticket->state = OWED_TICKET_SENT;
        return OWED_OK;
    }
    bool has_failed = strcmp(row->status, "dead") == 0 || strcmp(row->status, "orphaned") == 0 ||
        strcmp(row->status, "cancelled") == 0;
    ticket->state = has_failed ? OWED_TICKET_FAILED : OWED_TICKET_PENDING;
    if (has_failed)
        learn_failure(ticket, row, &result);
    else if (row->last_error[0] != '\0')
        fail(&ticket->error, OWED_UNDELIVERED, "%s", row->last_error);
    return OWED_OK;
}
