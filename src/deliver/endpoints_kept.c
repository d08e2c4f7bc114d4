/* SPDX-License-Identifier: MIT
 *
 * endpoints_kept.c - what was kept for a pause that somebody ended meanwhile.
 *
 * Who removes an endpoint, or resumes it, makes due what was kept for it until then. A worker that had read of the pause
 * before keeps some after that. So it asks once more when that is written: one of the two sees what the other did.
 */
#include "deliver/endpoints.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "deliver/sortie.h"
#include "store/verbs.h"

/* is_kept: what has no room just now comes back by itself, and soon. */
static bool
is_kept(const struct sortie *s)
{
    const struct flight *flight = &s->flight;
    return flight->endpoint != NULL && flight->outcome.verdict == OWED_VERDICT_NOT_YET &&
        !flight->is_put_off;
}

/* list_targets writes the endpoints of what was kept, each once where they follow each other; false: none. */
static bool
list_targets(const struct sortie *first, size_t count, struct buf *targets)
{
    const char *before = NULL;
    for (const struct sortie *s = first; s != NULL && count > 0; s = s->next, count--) {
        const char *target = s->task->row->target;
        if (!is_kept(s) || (before != NULL && strcmp(before, target) == 0))
            continue;
        json_add_text(targets, target);
        before = target;
    }
    json_end(targets);
    return before != NULL;
}

struct found {
    struct endpoint_row *rows;
    size_t count;
    int64_t now_us;
};

static bool
still_waits(const struct found *found, const char *target)
{
    for (size_t i = 0; i < found->count; i++)
        if (strcmp(found->rows[i].id, target) == 0)
            return endpoint_keeps(&found->rows[i], found->now_us);
    return false;
}

/* free_others makes due what waits for a pause that is no more. */
static owed_status
free_others(struct worker *w, const struct sortie *first, size_t count, const struct found *found,
    owed_error *err)
{
    CLEANUP(buf_done) struct buf ids;
    buf_init(&ids, LIMIT_IN_FLIGHT_BYTES);
    for (const struct sortie *s = first; s != NULL && count > 0; s = s->next, count--) {
        const char *target = s->task->row->target;
        if (!is_kept(s) || still_waits(found, target))
            continue;
        json_add_id(&ids, s->task->row->fence.delivery_id);
        card_forget(w, target);
    }
    if (ids.len == 0)
        return OWED_OK;
    json_end(&ids);
    if (ids.failed)
        return fail_memory(err);
    w->due_at_us = 0; // they are for this worker as well
    return store_endpoint_free_rows(w->owed->db, buf_text(&ids), found->now_us, err);
}

owed_status
endpoints_see_to_kept(struct worker *w, const struct sortie *first, size_t count, owed_error *err)
{
    CLEANUP(buf_done) struct buf targets;
    CLEANUP(arena_done) struct arena arena;
    struct found found = {.now_us = worker_now_us(w)};
    buf_init(&targets, LIMIT_IN_FLIGHT_BYTES);
    arena_init(&arena, 0);
    if (!list_targets(first, count, &targets))
        return OWED_OK;
    if (targets.failed)
        return fail_memory(err);
    owed_status status =
        store_endpoints_of(w->owed->db, buf_text(&targets), &arena, &found.rows, &found.count, err);
    return status == OWED_OK ? free_others(w, first, count, &found, err) : status;
}
