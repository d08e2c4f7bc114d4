/* SPDX-License-Identifier: MIT
 *
 * conf_read.h - what the two readers of owed.conf share: its sections, and how a word is refused.
 */
#ifndef DECLARE_CONF_READ_H
#define DECLARE_CONF_READ_H

#include "base/options.h"
#include "declare/conf.h"

#define WHERE_BYTES 512

struct section {
    const char *name;
    const struct option *keys;
    const char *example; // of its name; NULL: it takes none
};

/* Where the reader is, for messages. */
struct spot {
    const char *path;
    int line;
    const char *section;
    const char *subsection;
};

/* conf_section finds a section by its head; one with an example needs a name, the others take none. */
owed_status conf_section(
    const struct spot *spot, const struct section **ret_section, owed_error *err);

/* conf_key finds a key of a section's table, or NULL; conf_refuse_key then says what would be right. */
const struct option *conf_key(const struct option *keys, const char *key);
owed_status conf_refuse_key(
    const struct spot *spot, const struct option *keys, const char *key, owed_error *err);

extern const struct option conf_channel_keys[]; // those that every kind has

/* A receiver as it is read. */
struct conf_receiver {
    owed_receiver declared;
    struct conf_notice notice; // template_name NULL: it notifies nobody
    bool has_endpoints;
    owed_endpoint_settings endpoints;
};

/* conf_receiver_place is where the value of one of conf_receiver_keys stands. */
void *conf_receiver_place(struct conf_receiver *receiver, const struct option *option);

#endif
