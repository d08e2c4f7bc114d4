/* SPDX-License-Identifier: MIT
 *
 * receipt.c - receipts and attempts: memory of their own.
 */
#include "notify/receipt.h"

#include <stdlib.h>
#include <string.h>

bool
copy_text(const char *from, char **ret_copy)
{
    *ret_copy = from == NULL ? NULL : strdup(from);
    return from == NULL || *ret_copy != NULL;
}

void
owed_receipt_free(owed_receipt *receipt)
{
    if (receipt == NULL)
        return;
    free(receipt->template_name);
    free(receipt->channel);
    free(receipt->address);
    free(receipt->subject);
    free(receipt->text);
    free(receipt->html);
    free(receipt->locale);
    free(receipt->reference);
    free(receipt);
}

owed_receipt *
receipt_of(const owed_message *message)
{
    owed_receipt *receipt = calloc(1, sizeof *receipt);
    if (receipt == NULL)
        return NULL;
    receipt->urgency = message->urgency;
    bool is_whole = copy_text(message->template_name, &receipt->template_name);
    is_whole = copy_text(message->channel, &receipt->channel) && is_whole;
    is_whole = copy_text(message->address, &receipt->address) && is_whole;
    is_whole = copy_text(message->subject, &receipt->subject) && is_whole;
    is_whole = copy_text(message->text, &receipt->text) && is_whole;
    is_whole = copy_text(message->html, &receipt->html) && is_whole;
    is_whole = copy_text(message->locale, &receipt->locale) && is_whole;
    if (is_whole)
        return receipt;
    owed_receipt_free(receipt);
    return NULL;
}

owed_receipt *
receipt_copy(const owed_receipt *receipt)
{
    const owed_message message = {
        .template_name = receipt->template_name,
        .channel = receipt->channel,
        .address = receipt->address,
        .subject = receipt->subject,
        .text = receipt->text,
        .html = receipt->html,
        .locale = receipt->locale,
        .urgency = receipt->urgency,
    };
    owed_receipt *copy = receipt_of(&message);
    if (copy == NULL)
        return NULL;
    copy->attempts = receipt->attempts;
    copy->duplicate = receipt->duplicate;
    if (copy_text(receipt->reference, &copy->reference))
        return copy;
    owed_receipt_free(copy);
    return NULL;
}

/* --- attempts --- */

static void
attempt_done(owed_send_attempt *attempt)
{
    free(attempt->channel);
    free(attempt->address);
    free(attempt->reason);
}

void
attempts_done(struct attempts *attempts)
{
    for (size_t i = 0; i < attempts->count; i++)
        attempt_done(&attempts->list[i]);
    free(attempts->list);
    *attempts = (struct attempts){0};
}

bool
attempts_add(struct attempts *attempts, const owed_message *message, const owed_answer *answer,
    int64_t at_us)
{
    owed_send_attempt *list =
        reallocarray(attempts->list, attempts->count + 1, sizeof *attempts->list);
    if (list == NULL)
        return false;
    attempts->list = list;
    owed_send_attempt attempt = {
        .number = (int)attempts->count + 1, .verdict = answer->verdict, .at_us = at_us};
    bool is_whole = copy_text(message->channel, &attempt.channel);
    is_whole = copy_text(message->address, &attempt.address) && is_whole;
    is_whole = copy_text(answer->reason, &attempt.reason) && is_whole;
    if (!is_whole) {
        attempt_done(&attempt);
        return false;
    }
    list[attempts->count++] = attempt;
    return true;
}
