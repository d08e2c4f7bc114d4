/* SPDX-License-Identifier: MIT
 *
 * task_message.h - what is handed to a task site, as a text:
 * {"delivery":12,"claimed_by":"host-7.1f.../1/task","claimed_at":1767225600000000}
 */
#ifndef RECEIVE_TASK_MESSAGE_H
#define RECEIVE_TASK_MESSAGE_H

#include "base/arena.h"
#include "base/buf.h"

struct task_message {
    int64_t delivery_id;
    const char *claimed_by;
    int64_t claimed_at_us;
};

void task_message_write(const struct task_message *message, struct buf *buf);

/* task_message_id: the same for the same claim, and for no other; false: the crypto library failed. */
#define TASK_MESSAGE_ID_BYTES 48
bool task_message_id(const struct task_message *message, char ret_id[static TASK_MESSAGE_ID_BYTES]);

/* task_message_read: false, it is none of ours. claimed_by stands in the arena. */
bool task_message_read(struct str text, struct arena *arena, struct task_message *ret_message);

#endif
