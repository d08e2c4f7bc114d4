/* SPDX-License-Identifier: MIT
 *
 * inline.c - receivers that may forbid the change: they run inside the firing transaction, and one
 * that is not done makes its commit impossible.
 */
#include "base/cleanup.h"
#include "base/error.h"
#include "deliver/local.h"

static owed_status
veto(owed_tx *tx, const struct local_run *run, const char *text, owed_error *err)
{
    owed_error sentence;
    fail(&sentence, OWED_VETOED, "inline receiver %s refused event %s: %s",
        run->receiver->declared.key, run->event->name, text);
    return tx_refuse(tx, OWED_VETOED, sentence.text, err);
}

static owed_status
run_one(owed_tx *tx, const struct local_run *run, owed_error *err)
{
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, 0);
    const char *text = "";
    owed_outcome outcome = local_run(run, &arena, &text);
    if (outcome.verdict != OWED_VERDICT_DONE)
        return veto(tx, run, text, err);
    // It may have ended the transaction, or passed over the refusal of something it fired.
    return tx_check(tx, err);
}

owed_status
inline_run(owed_tx *tx, const struct new_event *event, int64_t event_id, owed_error *err)
{
    struct local_run run = {.owed = tx->owed, .tx = tx, .event = event, .event_id = event_id};
    const struct receiver *receiver = tx->owed->registry->receivers;
    for (; receiver != NULL; receiver = receiver->next) {
        if (receiver->declared.mode != OWED_INLINE || !receiver_wants(receiver, event->name))
            continue;
        run.receiver = receiver;
        owed_status status = run_one(tx, &run, err);
        if (status != OWED_OK)
            return status;
    }
    return OWED_OK;
}
