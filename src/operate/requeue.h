/* SPDX-License-Identifier: MIT
 *
 * requeue.h - dead deliveries made owed again, and the relays told.
 */
#ifndef OPERATE_REQUEUE_H
#define OPERATE_REQUEUE_H

#include "deliver/handle.h"
#include "store/look.h"

owed_status requeue_dead(
    owed *handle, const struct requeue *requeue, int64_t *ret_count, owed_error *err);

#endif
