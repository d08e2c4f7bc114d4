/* SPDX-License-Identifier: MIT
 *
 * failure.c - a receiver's on_failure, told what was recorded.
 */
#include "deliver/scope.h"
#include "deliver/worker.h"

/* is_told tells whether it concerns the receiver: a payload that cannot be decoded never reached it. */
static bool
is_told(const struct receiver *receiver, enum ending ending)
{
    return receiver != NULL && receiver->declared.on_failure != NULL &&
        ending != ENDING_UNDECODABLE;
}

void
failure_note(struct ledger *ledger, const struct ended *ended, struct note *note)
{
    if (!is_told(ended->receiver, ended->ending))
        return;
    const struct claimed *row = ended->row;
    note->to_tell = ended->receiver;
    note->event_id = row->event_id;
    note->event_name = arena_strdup(&ledger->arena, or_empty(row->event_name));
    note->target = arena_strdup(&ledger->arena, or_empty(row->target));
    note->correlation_id = arena_strdup(&ledger->arena, or_empty(row->correlation_id));
    note->traceparent = arena_strdup(&ledger->arena, or_empty(row->traceparent));
}

void
failure_tell(struct worker *w, const struct settlement *settlement, const struct note *note)
{
    const struct receiver *receiver = note->to_tell;
    if (receiver == NULL)
        return;
    const owed_failure failure = {
        .delivery_id = settlement->fence.delivery_id,
        .event_id = note->event_id,
        .event_name = or_empty(note->event_name),
        .receiver_key = note->receiver_key,
        .target = or_empty(note->target),
        .attempt = settlement->attempt,
        .status = settlement->status,
        .kind = ending_verdict(note->ending),
        .error = settlement->last_error,
    };
    // What it fires is the consequence of the same event.
    struct owed_scope block;
    const struct cause cause = {
        note->event_id, note->correlation_id, note->traceparent, w->owed->url};
    scope_enter(&block, &cause, true);
    receiver->declared.on_failure(w->owed, &failure, receiver->declared.state);
    scope_leave(&block);
    if (handle_end_stray(w->owed))
        log_say(&w->owed->log, OWED_LOG_ERROR,
            "on_failure left a transaction open: it was rolled back",
            LOG_TEXT("receiver", note->receiver_key));
    // It may have fired: the other workers are to look once more.
    worker_wrote(w);
}
