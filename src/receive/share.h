/* SPDX-License-Identifier: MIT
 *
 * share.h - how much of the room for one kind each receiver may take.
 *
 * A receiver whose destination is slow or dead keeps what it has started for a long time. So where
 * there are several, an eighth of the room is kept free for whoever comes next, and the rest is
 * divided evenly among those that have something in flight.
 */
#ifndef RECEIVE_SHARE_H
#define RECEIVE_SHARE_H

#include "declare/registry.h"

struct share {
    int32_t limit;  // of all in flight
    int32_t flying; // all that are
    int32_t active; // receivers with something in flight
    int32_t known;  // receivers ever asked about
    void *tree;     // of their counts, by receiver
};

/* share_room says how many more of that receiver may start now. */
int32_t share_room(struct share *share, const struct receiver *receiver);

/* share_take counts one that starts, share_give one that has ended. */
void share_take(struct share *share, const struct receiver *receiver);
void share_give(struct share *share, const struct receiver *receiver);
void share_done(struct share *share);

#endif
