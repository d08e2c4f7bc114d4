/* SPDX-License-Identifier: MIT
 *
 * give_back.c - rows that were claimed and not run: free for others at once.
 */
#include <stdlib.h>

#include "base/error.h"
#include "deliver/worker.h"

static bool
is_undone(const struct task *task)
{
    return task->state != TASK_DONE && task->state != TASK_AWAY && task->state != TASK_BACK;
}

/* undone_fences lists what was not done. */
static size_t
undone_fences(const struct batch *batch, struct fence *ret_fences)
{
    size_t count = 0;
    for (size_t i = 0; i < batch->count; i++)
        if (is_undone(&batch->tasks[i]))
            ret_fences[count++] = batch->tasks[i].row->fence;
    return count;
}

void
batch_drop(struct worker *w, const struct batch *batch)
{
    size_t wanted = w->dropped_count + batch->count;
    if (wanted > w->dropped_size) {
        struct fence *more = realloc(w->dropped, wanted * sizeof *more);
        // Without the note their leases bring them back, only later.
        if (more == NULL)
            return;
        w->dropped = more;
        w->dropped_size = wanted;
    }
    size_t count = undone_fences(batch, w->dropped + w->dropped_count);
    // The batch's memory ends; the name is ours.
    for (size_t i = 0; i < count; i++)
        w->dropped[w->dropped_count + i].claimed_by = batch->claimed_by;
    w->dropped_count += count;
    claim_unspend(w, (int64_t)count);
}

bool
hand_back(struct worker *w, const struct fence *fences, size_t count, size_t unstarted)
{
    if (count == 0)
        return true;
    int64_t given = 0;
    owed_error err = {0};
    if (store_hand_back(w->owed->db, fences, count, &given, &err) != OWED_OK) {
        trouble(w, "hand back", &err);
        return false;
    }
    if (given > 0)
        worker_wrote(w);
    claim_unspend(w, (int64_t)count);
    if (unstarted == 0)
        return true;
    w->counts.handed_back += (int64_t)unstarted;
    log_say(&w->owed->log, OWED_LOG_INFO, "stopping: what had not begun is free for others",
        LOG_INT("handed_back", (int64_t)unstarted));
    return true;
}

bool
batch_hand_back(struct worker *w, const struct batch *batch)
{
    struct fence *fences = calloc(batch->count, sizeof *fences);
    if (fences == NULL) {
        owed_error err = {0};
        fail_memory(&err);
        trouble(w, "hand back", &err);
        return false;
    }
    size_t unstarted = 0;
    for (size_t i = 0; i < batch->count; i++)
        unstarted += is_undone(&batch->tasks[i]) && batch->tasks[i].state != TASK_LEFT;
    bool ok = hand_back(w, fences, undone_fences(batch, fences), unstarted);
    free(fences);
    return ok;
}

/* is_held tells whether a row that was not begun may not start now. */
static bool
is_held(struct worker *w, const struct task *task)
{
    if (task->state != TASK_TODO && task->state != TASK_ALONE)
        return false;
    if (claim_name(w, task->row) == w->hand_off.claimed_by && hand_off_waits(w))
        return true;
    const struct known *known = known_find(w, task->row->receiver_key);
    return known != NULL && hold_holds(w, task->row, known->receiver);
}

bool
hold_back(struct worker *w, struct batch *batch)
{
    struct fence *fences = calloc(batch->count, sizeof *fences);
    if (fences == NULL) {
        owed_error err = {0};
        fail_memory(&err);
        trouble(w, "hand back", &err);
        return false;
    }
    size_t count = 0;
    for (size_t i = 0; i < batch->count; i++)
        if (is_held(w, &batch->tasks[i])) {
            fences[count++] = batch->tasks[i].row->fence;
            batch->tasks[i].state = TASK_BACK;
        }
    bool ok = hand_back(w, fences, count, 0);
    for (size_t i = 0; i < count; i++)
        visit_leave(w, fences[i].delivery_id);
    // What the store did not take is given back with all else.
    for (size_t i = 0; i < batch->count && !ok; i++)
        if (batch->tasks[i].state == TASK_BACK)
            batch->tasks[i].state = TASK_TODO;
    free(fences);
    return ok;
}
