/* SPDX-License-Identifier: MIT
 *
 * join_desk.h - an application's own connection to a fixture's store, and receivers that see what it fires.
 *
 * shop.credit is inline and refuses order 13, shop.counter runs on commit, and one row is owed, to
 * shop.stock. The public functions of each store are reached by its scheme.
 */
#ifndef TEST_DELIVER_JOIN_DESK_H
#define TEST_DELIVER_JOIN_DESK_H

#include "fixture.h"

struct join_desk {
    struct fixture *f;
    struct raw *app; // the application's connection
    int on_commit_runs;
    void *seen; // the client library's handle that the inline receiver was lent last
};

int join_desk_setup(void **state);
int join_desk_teardown(void **state);

/* join_desk_begin begins on the application's connection, writes a row of its own and joins. */
void join_desk_begin(struct join_desk *desk);
owed_status join_desk_fire(struct join_desk *desk, int64_t order_id);
/* join_desk_lent is what the store's owed_tx_... function answers. */
void *join_desk_lent(owed_tx *tx);

#endif
