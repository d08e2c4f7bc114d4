/* SPDX-License-Identifier: MIT
 *
 * sortie.c - rows on their way through the loop: their lists, and the end of one.
 */
#include "deliver/sortie.h"
#include "deliver/endpoints.h"

void
sortie_let_go(struct batch *batch)
{
    if (atomic_fetch_sub(&batch->flights, 1) == 1)
        batch_free(batch);
}

void
sortie_done(struct worker *w, struct sortie *sortie)
{
    struct batch *batch = sortie->batch;
    struct str payload = sortie->task->row->payload;
    w->bytes_away -= payload.len;
    w->lost_away -= sortie->task->row->losses > 0;
    delivery_is_over(&sortie->flight.delivery);
    card_drop(sortie->flight.endpoint);
    sortie->flight.endpoint = NULL;
    if (!batch->is_shared)
        arena_give_up(&batch->arena, payload.p, payload.len + 1);
    if (--batch->sorties == 0)
        w->bytes_held -= batch->weight;
    sortie_let_go(batch);
}

/* --- lists --- */

void
sorties_append(struct sorties *list, struct sortie *sortie)
{
    sortie->prev = list->last;
    sortie->next = NULL;
    if (list->last == NULL)
        list->first = sortie;
    else
        list->last->next = sortie;
    list->last = sortie;
    list->count++;
}

void
sorties_take_out(struct sorties *list, struct sortie *sortie)
{
    if (sortie->prev == NULL)
        list->first = sortie->next;
    else
        sortie->prev->next = sortie->next;
    if (sortie->next == NULL)
        list->last = sortie->prev;
    else
        sortie->next->prev = sortie->prev;
    sortie->prev = sortie->next = NULL;
    list->count--;
}
