/* SPDX-License-Identifier: MIT
 *
 * report.c - the log lines about single deliveries. The text of an error stays in its row.
 */
#include "base/moment.h"
#include "deliver/worker.h"

#define FACTS_MAX 6

/* say adds the trace, and what the attempt has noted, to the facts. */
static void
say(const struct worker *w, owed_log_level level, const char *message, const struct note *note,
    const struct log_field *facts, size_t count)
{
    struct log_field fields[FACTS_MAX + 1 + DELIVERY_NOTES];
    for (size_t i = 0; i < count; i++)
        fields[i] = facts[i];
    if (!is_empty(note->trace_id))
        fields[count++] = LOG_TEXT("trace_id", note->trace_id);
    for (size_t i = 0; i < note->field_count; i++)
        fields[count++] = note->fields[i];
    log_line(&w->owed->log, level, message, fields, count);
}

void
report_failure(struct worker *w, const struct settlement *settlement, const struct note *note)
{
    const struct log_field facts[FACTS_MAX] = {
        LOG_TEXT("receiver", note->receiver_key),
        LOG_INT("delivery", settlement->fence.delivery_id),
        LOG_INT("attempt", settlement->attempt),
        LOG_TEXT("kind", ending_verdict(note->ending)),
        LOG_TEXT("now", settlement->status),
        // No receiver ran, so these are the decoder's own words.
        LOG_TEXT("error", settlement->last_error),
    };
    bool is_undecodable = note->ending == ENDING_UNDECODABLE;
    say(w, OWED_LOG_WARNING, "delivery failed", note, facts,
        is_undecodable ? FACTS_MAX : FACTS_MAX - 1);
}

/* report_success is at debug: a relay that is busy has thousands of them in a second. */
void
report_success(struct worker *w, const struct settlement *settlement, const struct note *note)
{
    if (w->owed->log.level > OWED_LOG_DEBUG)
        return;
    const struct log_field facts[] = {
        LOG_TEXT("receiver", note->receiver_key),
        LOG_INT("delivery", settlement->fence.delivery_id),
        LOG_INT("attempt", settlement->attempt),
    };
    say(w, OWED_LOG_DEBUG, "delivered", note, facts, sizeof facts / sizeof facts[0]);
}

void
report_cut(struct worker *w, const struct settlement *settlement, const struct note *note)
{
    char asked[MOMENT_BYTES];
    char ceiling[MOMENT_BYTES];
    const struct log_field facts[] = {
        LOG_TEXT("receiver", note->receiver_key),
        LOG_INT("delivery", settlement->fence.delivery_id),
        LOG_TEXT("asked", duration_write(note->asked_wait_us, asked)),
        LOG_TEXT("waits", duration_write(w->settings.max_retry_delay_us, ceiling)),
    };
    say(w, OWED_LOG_WARNING, "the receiver asked for a longer wait than max-retry-delay", note,
        facts, sizeof facts / sizeof facts[0]);
}

/* report_unbounded says so once: its rows might be deferred for ever, so they are not. */
void
report_unbounded(struct worker *w, const struct note *note)
{
    if (atomic_flag_test_and_set(note->was_told))
        return;
    log_say(&w->owed->log, OWED_LOG_WARNING,
        "a deferral counts as an attempt, since its receiver declares no give-up-after",
        LOG_TEXT("receiver", note->receiver_key));
}

void
report_not_yet(struct worker *w, const struct settlement *settlement, const struct note *note)
{
    char until[MOMENT_BYTES];
    log_say(&w->owed->log, note->wants_room ? OWED_LOG_DEBUG : OWED_LOG_INFO,
        note->wants_room ? "delivery is due later, nothing was sent"
                         : "delivery is due later, says its receiver",
        LOG_TEXT("receiver", note->receiver_key),
        LOG_INT("delivery", settlement->fence.delivery_id),
        LOG_TEXT("until", moment_write(settlement->available_at_us, until)),
        LOG_TEXT("reason", note->later));
}

/* report_not_sent is of no receiver's failure: what is wrong stands there in full. */
void
report_not_sent(struct worker *w, const struct settlement *settlement, const struct note *note)
{
    char until[MOMENT_BYTES];
    log_say(&w->owed->log, OWED_LOG_ERROR, "delivery not handed to its task site",
        LOG_TEXT("receiver", note->receiver_key),
        LOG_INT("delivery", settlement->fence.delivery_id), LOG_TEXT("now", settlement->status),
        LOG_TEXT("next_try", moment_write(settlement->available_at_us, until)),
        LOG_TEXT("error", settlement->last_error));
}

void
report_stale(struct worker *w, const struct fence *fence, const char *why)
{
    log_say(&w->owed->log, OWED_LOG_WARNING, "task message dropped, nothing was run",
        LOG_INT("delivery", fence->delivery_id),
        LOG_TEXT("claimed_by", or_empty(fence->claimed_by)),
        LOG_INT("claimed_at", fence->claimed_at_us), LOG_TEXT("why", why));
}

/* report_expanded is at debug, as each of its targets' success is. */
void
report_expanded(struct worker *w, const struct settlement *settlement, const struct note *note)
{
    log_say(&w->owed->log, OWED_LOG_DEBUG, "delivery became one for each of its targets",
        LOG_TEXT("receiver", note->receiver_key),
        LOG_INT("delivery", settlement->fence.delivery_id),
        LOG_INT("targets", (int64_t)note->target_count));
}

void
report_discarded(struct worker *w, const struct settlement *settlement, const struct note *note)
{
    const struct log_field facts[] = {
        LOG_TEXT("receiver", note->receiver_key),
        LOG_INT("delivery", settlement->fence.delivery_id),
        LOG_INT("attempt", settlement->attempt),
    };
    say(w, OWED_LOG_WARNING,
        "result discarded: the lease was over and the row taken (declare a longer lease), or it was cancelled",
        note, facts, sizeof facts / sizeof facts[0]);
}

void
report_lost(struct worker *w, const struct claimed *row)
{
    log_say(&w->owed->log, OWED_LOG_WARNING, "row lost before it ran",
        LOG_TEXT("receiver", row->receiver_key), LOG_INT("delivery", row->fence.delivery_id));
}

void
report_left(struct worker *w, const struct claimed *row, const char *why)
{
    log_say(&w->owed->log, OWED_LOG_INFO, why, LOG_TEXT("receiver", row->receiver_key),
        LOG_TEXT("event", row->event_name), LOG_INT("delivery", row->fence.delivery_id));
}
