/* SPDX-License-Identifier: MIT
 *
 * targets.h - what a receiver's targets function names, and rows made of it.
 */
#ifndef DELIVER_TARGETS_H
#define DELIVER_TARGETS_H

#include "deliver/delivery.h"

struct target_entry {
    const char *target;
    struct target_entry *next;
};

struct owed_target_list {
    const char *receiver_key;
    struct arena *arena;
    struct target_entry *first;
    struct target_entry **end;
    size_t count;       // as named: the same one again counts
    owed_error refusal; // of the first that was refused: it stands, whatever the function returns
};

/* target_list_init makes an empty list, kept in the arena. */
void target_list_init(struct owed_target_list *list, const char *receiver_key, struct arena *arena);

/* targets_ask calls the receiver's function. A refusal names the receiver. */
owed_status targets_ask(
    owed_delivery *delivery, const void *payload, struct owed_target_list *list, owed_error *err);

/* targets_owe writes a row like delivery for each target; one that is owed already stays as it is. */
owed_status targets_owe(struct db *db, const struct owed_target_list *list,
    struct new_delivery *delivery, owed_error *err);

#endif
