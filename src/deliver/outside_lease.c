/* SPDX-License-Identifier: MIT
 *
 * outside_lease.c - the leases of what is in flight are renewed; what still waits by then goes back.
 */
#include "base/error.h"
#include "deliver/sortie.h"

static bool
renew(struct worker *w, struct sortie *sortie)
{
    owed_error err = {0};
    owed_status status = OWED_OK;
    if (!sortie->is_lost)
        status = lease_keep(w, sortie->task, sortie->known->receiver, &err);
    if (status == OWED_LOST)
        sortie->is_lost = true; // what it comes to will be discarded, and said then
    else if (status != OWED_OK)
        trouble(w, "renew a lease", &err);
    if (!sortie->is_lost)
        sortie_note_renewal(w, sortie);
    else if (sortie->errand.line != NULL)
        errand_lose(w, sortie);
    return status == OWED_OK || status == OWED_LOST;
}

/* set_late_aside takes what has waited for half of its lease: others may have room for it. A call that
 * delivers what is owed now goes on waiting. */
static void
set_late_aside(struct worker *w, struct sorties *late)
{
    struct sortie *next = NULL;
    for (struct sortie *s = w->waiting.first; s != NULL; s = next) {
        next = s->next;
        int64_t at_us = s->task->lease_expires_at_us - w->settings.lease_us / 2;
        if (worker_now_us(w) < at_us) {
            w->next_renewal_us = at_us < w->next_renewal_us ? at_us : w->next_renewal_us;
            continue;
        }
        sorties_take_out(&w->waiting, s);
        sorties_append(late, s);
    }
}

static bool
renew_all(struct worker *w, const struct sorties *list)
{
    bool ok = true;
    for (struct sortie *s = list->first, *next = NULL; s != NULL && ok; s = next) {
        next = s->next;
        ok = renew(w, s);
    }
    return ok;
}

bool
outside_renew(struct worker *w)
{
    if (worker_now_us(w) < w->next_renewal_us)
        return true;
    w->next_renewal_us = INT64_MAX;
    struct sorties late = {0};
    bool ok = renew_all(w, &w->flying);
    if (ok && w->visit != NULL)
        ok = renew_all(w, &w->waiting);
    else if (ok)
        set_late_aside(w, &late);
    ok = sorties_give_back(w, &late, false) && ok;
    // The rest is due all the same once the store is back.
    if (!ok)
        w->next_renewal_us = 0;
    return ok;
}
