/* SPDX-License-Identifier: MIT
 *
 * outside_claim.c - rows for the loop: as many as there is room for, of the kinds that have room.
 */
#include "base/error.h"
#include "deliver/sortie.h"

/* receivers_with_room lists whose rows could start now. *ret_room is the most of them. */
static const char *const *
receivers_with_room(struct worker *w, int32_t *ret_room, bool *ret_all)
{
    struct claim_filter *filter = &w->filters[SHARE_LOOP];
    size_t count = 0;
    *ret_room = 0;
    *ret_all = true;
    for (size_t i = 0; filter->members[i] != NULL; i++) {
        int32_t room = sortie_room(w, filter->members[i]);
        if (room > *ret_room)
            *ret_room = room;
        if (room > 0)
            filter->some[count++] = filter->keys[i];
        else
            *ret_all = false;
    }
    filter->some[count] = NULL;
    return filter->some;
}

static bool
enlist(struct worker *w, struct batch *batch, struct task *task, struct known *known,
    const void *payload)
{
    struct sortie *sortie = arena_alloc(&batch->arena, sizeof *sortie);
    owed_error err = {0};
    owed_status status = sortie == NULL
        ? fail_memory(&err)
        : delivery_init(&sortie->flight.delivery, w->owed, known->receiver, task->row,
              (size_t)w->settings.error_length, &batch->arena, &err);
    if (status != OWED_OK) {
        trouble(w, "prepare an attempt", &err);
        return false;
    }
    sortie->batch = batch;
    sortie->task = task;
    sortie->known = known;
    sortie->payload = payload;
    task->state = TASK_AWAY;
    batch->flights++;
    sortie_note_renewal(w, sortie);
    sorties_append(&w->waiting, sortie);
    return true;
}

static bool
leave_stranger(struct worker *w, struct task *task)
{
    struct claim_filter *filter = &w->filters[SHARE_LOOP];
    task->state = TASK_LEFT;
    if (!filter->met_stranger)
        report_left(w, task->row, "receiver not declared here: left for a relay that knows it");
    filter->met_stranger = true;
    filter->on = true;
    return true;
}

static bool
sort_out(struct worker *w, struct batch *batch, struct task *task)
{
    struct known *known = known_find(w, task->row->receiver_key);
    if (known == NULL || !known_is_of(w, known, SHARE_LOOP))
        return leave_stranger(w, task);
    const void *payload = NULL;
    enum readiness readiness = row_check(w, task, known);
    // The others take the payload as it is.
    if (readiness == READY && known->receiver->runner == RUN_START)
        readiness = attempt_decode(w, task, known, &batch->arena, &payload);
    switch (readiness) {
    case READY:
        return enlist(w, batch, task, known, payload);
    case NOT_OURS:
        report_left(w, task->row, "event not declared here: left for a relay that knows it");
        task->state = TASK_LEFT;
        visit_leave(w, task->row->fence.delivery_id);
        return true;
    case NOT_TO_RUN:
        task->state = TASK_DONE;
        return record_now(w);
    case NOT_HELD:
        task->state = TASK_DONE;
        return true;
    case NO_STORE:
        break;
    }
    return false;
}

static bool
sort_out_batch(struct worker *w, struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        if (!sort_out(w, batch, &batch->tasks[i]))
            return false;
    return batch_hand_back(w, batch);
}

bool
outside_claim(struct worker *w)
{
    bool has_room_for_all = false;
    int32_t room = 0;
    const char *const *some = receivers_with_room(w, &room, &has_room_for_all);
    if (room <= 0 || worker_is_stopping(w))
        return false;
    int32_t limit = room < w->settings.batch_size ? room : w->settings.batch_size;
    struct batch *batch = NULL;
    if (!worker_claim(w, SHARE_LOOP, has_room_for_all ? NULL : some, limit, &batch) ||
        batch == NULL)
        return false;
    bool was_filtered = w->filters[SHARE_LOOP].on;
    batch->flights = 1; // ours, until all is sorted out
    if (!sort_out_batch(w, batch))
        batch_drop(w, batch);
    bool any = w->filters[SHARE_LOOP].on != was_filtered;
    for (size_t i = 0; i < batch->count; i++)
        any = any || batch->tasks[i].state != TASK_LEFT;
    sortie_let_go(batch);
    return any;
}
