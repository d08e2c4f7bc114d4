/* SPDX-License-Identifier: MIT
 *
 * around.c - entering and leaving the hook around an attempt, and the notes on its log lines.
 */
#include "deliver/around.h"

#include "base/error.h"
#include "deliver/errand.h"

#define NOTE_KEY_BYTES 64
#define NOTE_VALUE_BYTES 200

static const owed_outcome failed_outcome = {.verdict = OWED_VERDICT_FAILED};

/* --- setting it --- */

static owed_status
check(const owed_around *around, owed_error *err)
{
    if (around == NULL || around->enter != NULL)
        return OWED_OK;
    return fail(err, OWED_INVALID,
        "the around hook has no function to enter: give it one, or NULL for no hook at all");
}

owed_status
owed_set_around(owed *handle, const owed_around *around, owed_error *err)
{
    owed_status status = check(around, err);
    if (status == OWED_OK)
        handle->around = around == NULL ? (owed_around){0} : *around;
    return status;
}

owed_status
owed_registry_set_around(owed_registry *registry, const owed_around *around, owed_error *err)
{
    owed_status status = check(around, err);
    if (status == OWED_OK)
        registry->around = around == NULL ? (owed_around){0} : *around;
    return status;
}

const owed_around *
around_of(const owed *handle)
{
    if (handle->around.enter != NULL)
        return &handle->around;
    return handle->registry->around.enter != NULL ? &handle->registry->around : NULL;
}

/* --- entering --- */

/* call_enter calls it as what it is: outside the transaction, which cannot be begun in it. */
static owed_outcome
call_enter(owed_delivery *delivery, const owed_around *around, void **ret_state)
{
    owed_status (*begin)(owed_delivery *, owed_error *) = delivery->begin;
    delivery->begin = NULL;
    owed_outcome outcome = around->enter(delivery, around->state, ret_state);
    delivery->begin = begin;
    return delivery_make_sense(delivery, outcome, "the around hook");
}

bool
around_enter(owed_delivery *delivery, owed_outcome *ret_outcome)
{
    const owed_around *now = around_of(delivery->owed);
    if (now == NULL)
        return true;
    const owed_around around = *now;
    void *state = NULL;
    delivery_forget_text(delivery);
    owed_outcome outcome = call_enter(delivery, &around, &state);
    if (outcome.verdict == OWED_VERDICT_DONE) {
        delivery->around = around;
        delivery->around_state = state;
    }
    if (handle_end_stray(delivery->owed)) {
        delivery_say(delivery,
            "the around hook left a transaction open: it was rolled back, and the receiver did not "
            "run");
        outcome = failed_outcome;
    }
    if (outcome.verdict == OWED_VERDICT_DONE) {
        delivery_forget_text(delivery);
        return true;
    }
    delivery->hook_failed = outcome.verdict == OWED_VERDICT_FAILED;
    *ret_outcome = outcome;
    return false;
}

bool
around_is_entered(const owed_delivery *delivery)
{
    return delivery->around.enter != NULL;
}

/* --- leaving --- */

static void
complain(const owed_delivery *delivery, const char *message, const char *text)
{
    log_say(&delivery->owed->log, OWED_LOG_ERROR, message,
        LOG_TEXT("receiver", delivery->row->receiver_key),
        LOG_INT("delivery", delivery->row->fence.delivery_id), LOG_TEXT("error", text));
}

void
around_leave(owed_delivery *delivery, owed_outcome outcome, const char *text)
{
    const owed_around around = delivery->around;
    delivery->around.enter = NULL;
    if (around.enter == NULL || around.leave == NULL)
        return;
    // The transaction of the acknowledgement is over.
    delivery->tx = NULL;
    delivery->begin = NULL;
    owed_error err = {0};
    owed_status status =
        around.leave(delivery, outcome, or_empty(text), delivery->around_state, around.state, &err);
    if (status != OWED_OK)
        complain(delivery, "leaving the around hook failed",
            is_empty(err.text) ? owed_status_text(status) : err.text);
    if (handle_end_stray(delivery->owed))
        complain(delivery, "the around hook left a transaction open", "it was rolled back");
}

void
around_leave_unrecorded(owed_delivery *delivery)
{
    if (around_is_entered(delivery))
        around_leave(delivery, failed_outcome,
            "the outcome was not recorded: the row was lost, or the store was away");
}

/* --- notes --- */

/* clean_key makes a word of a key that is none: it stands bare in a line of key=value. */
static const char *
clean_key(struct arena *arena, const char *key)
{
    char word[NOTE_KEY_BYTES + 1];
    size_t len = 0;
    for (; key[len] != '\0' && len < sizeof word - 1; len++) {
        unsigned char c = (unsigned char)key[len];
        bool is_word = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        word[len] = is_word || c == '_' || c == '.' || c == '-' ? key[len] : '_';
    }
    return arena_copy(arena, (struct str){word, len});
}

static const char *
clean_value(struct arena *arena, const char *value)
{
    struct str view = str_of(value);
    if (view.len > NOTE_VALUE_BYTES) {
        view.len = NOTE_VALUE_BYTES;
        while (view.len > 0 && ((unsigned char)value[view.len] & 0xc0) == 0x80)
            view.len--;
    }
    return arena_copy(arena, view);
}

/* place_for finds the note of that key, or room for one; NULL: neither. */
static struct log_field *
place_for(owed_delivery *delivery, const char *key)
{
    for (size_t i = 0; i < delivery->note_count; i++)
        if (strcmp(delivery->notes[i].key, key) == 0)
            return &delivery->notes[i];
    if (delivery->notes == NULL)
        delivery->notes = arena_alloc(delivery->arena, DELIVERY_NOTES * sizeof *delivery->notes);
    if (delivery->notes == NULL || delivery->note_count == DELIVERY_NOTES)
        return NULL;
    return &delivery->notes[delivery->note_count++];
}

static void
add_note(owed_delivery *delivery, const char *key, const char *value)
{
    const char *word = clean_key(delivery->arena, key);
    const char *text = clean_value(delivery->arena, value);
    if (word == NULL || text == NULL)
        return;
    struct log_field *note = place_for(delivery, word);
    if (note != NULL)
        *note = LOG_TEXT(word, text);
}

void
owed_delivery_note(owed_delivery *delivery, const char *key, const char *value)
{
    if (is_empty(key))
        return;
    if (errand_hold(delivery))
        add_note(delivery, key, value);
    errand_unhold(delivery);
}
