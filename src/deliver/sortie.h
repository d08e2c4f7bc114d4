/* SPDX-License-Identifier: MIT
 *
 * sortie.h - a row on its way through the loop of outside attempts.
 */
#ifndef DELIVER_SORTIE_H
#define DELIVER_SORTIE_H

#include "deliver/worker.h"

struct sortie {
    struct flight flight; // the first member: the loop hands back flights
    struct batch *batch;
    struct task *task;
    const struct known *known;
    bool is_lost; // its lease could not be renewed
    struct sortie *prev, *next;
};

void sorties_append(struct sorties *list, struct sortie *sortie);
void sorties_take_out(struct sorties *list, struct sortie *sortie);

/* sortie_let_go ends the batch with its last sortie. */
void sortie_let_go(struct batch *batch);
int32_t sortie_room(const struct worker *worker, const struct known *known);
/* sortie_note_renewal sees to it that its lease is renewed when it is half spent. */
void sortie_note_renewal(struct worker *worker, const struct sortie *sortie);

/* outside_claim takes rows for the room there is; true: some were ours. */
bool outside_claim(struct worker *worker);

#endif
