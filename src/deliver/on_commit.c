/* SPDX-License-Identifier: MIT
 *
 * on_commit.c - what runs after the commit, in the firing process, each for itself.
 *
 * The caller may have rolled back to a savepoint, which nobody tells us: what was fired is looked up
 * before the commit, and only what is still there runs.
 */
#include "base/cleanup.h"
#include "base/error.h"
#include "declare/mask.h"
#include "deliver/local.h"

static bool
runs_for(const struct receiver *receiver, const char *event_name)
{
    return receiver->declared.mode == OWED_ON_COMMIT && receiver_wants(receiver, event_name);
}

bool
on_commit_wanted(const owed_registry *registry, const char *event_name)
{
    for (const struct receiver *r = registry->receivers; r != NULL; r = r->next)
        if (runs_for(r, event_name) || eager_wants(r, event_name))
            return true;
    return false;
}

static bool
copy_texts(struct arena *arena, struct new_event *event)
{
    const char **texts[] = {&event->name, &event->actor_key, &event->actor_label, &event->scope,
        &event->correlation_id, &event->traceparent};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        *texts[i] = arena_strdup(arena, *texts[i]);
        if (*texts[i] == NULL)
            return false;
    }
    event->payload.p = arena_copy(arena, event->payload);
    event->dedupe_key = NULL;
    return event->payload.p != NULL;
}

owed_status
on_commit_remember(owed_tx *tx, const owed_event_type *type, const struct new_event *event,
    int64_t event_id, owed_error *err)
{
    if (!on_commit_wanted(tx->owed->registry, event->name))
        return OWED_OK;
    struct fired *fired = arena_alloc(&tx->arena, sizeof *fired);
    if (fired == NULL)
        return fail_memory(err);
    fired->event_id = event_id;
    memcpy(fired->uid, event->uid, sizeof fired->uid);
    fired->type = type;
    fired->event = *event;
    if (!copy_texts(&tx->arena, &fired->event))
        return fail_memory(err);
    *tx->fired_end = fired;
    tx->fired_end = &fired->next;
    return OWED_OK;
}

owed_status
tx_before_commit(owed_tx *tx, owed_error *err)
{
    for (struct fired *fired = tx->fired; fired != NULL; fired = fired->next) {
        owed_status status =
            store_event_exists(tx->db, fired->event_id, fired->uid, &fired->exists, err);
        if (status != OWED_OK)
            return status;
    }
    return OWED_OK;
}

static void
warn(const struct local_run *run, const char *message, const char *text)
{
    log_say(&run->owed->log, OWED_LOG_WARNING, message,
        LOG_TEXT("receiver", run->receiver->declared.key), LOG_TEXT("event", run->event->name),
        LOG_INT("event_id", run->event_id), LOG_TEXT("error", text));
}

static void
run_one(const struct local_run *run)
{
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, 0);
    const char *text = "";
    const owed_tx *before = run->owed->tx;
    owed_outcome outcome = local_run(run, &arena, &text);
    if (outcome.verdict != OWED_VERDICT_DONE) {
        struct mask mask = {0};
        registry_mask(run->owed->registry, run->event->name, &mask);
        warn(run, "on-commit receiver failed", mask_text(&mask, run->event->payload, text, &arena));
    }
    if (run->owed->tx == before)
        return;
    warn(run, "on-commit receiver left a transaction open", "it was rolled back");
    owed_rollback(run->owed->tx);
}

static void
run_all(owed *handle, const struct fired *fired)
{
    struct local_run run = {.owed = handle, .event = &fired->event, .event_id = fired->event_id};
    const struct receiver *receiver = handle->registry->receivers;
    for (; receiver != NULL; receiver = receiver->next) {
        if (!runs_for(receiver, fired->event.name))
            continue;
        run.receiver = receiver;
        run_one(&run);
    }
}

/* hand_over leaves what comes after the commit to the transaction around this one. */
static void
hand_over(owed_tx *tx, owed_tx *outer)
{
    outer->fired_anything = outer->fired_anything || tx->fired_anything;
    owed_error why = {0};
    for (const struct fired *fired = tx->fired; fired != NULL; fired = fired->next)
        if (fired->exists &&
            on_commit_remember(outer, fired->type, &fired->event, fired->event_id, &why) != OWED_OK)
            tx_refuse(outer, OWED_ABORTED, why.text, NULL);
}

void
tx_after_commit(owed_tx *tx)
{
    if (tx->owed->outer != NULL) {
        hand_over(tx, tx->owed->outer);
        return;
    }
    eager_after_commit(tx);
    // First the relays: receivers here may take their time.
    if (tx->fired_anything)
        wakers_send(tx->owed->wakers, tx->owed->db, &tx->owed->clock);
    for (const struct fired *fired = tx->fired; fired != NULL; fired = fired->next)
        if (fired->exists)
            run_all(tx->owed, fired);
}
