/* SPDX-License-Identifier: MIT
 *
 * conf.h - owed.conf: the store, the relay's settings, how long events are kept, and receivers that need
 * no C.
 *
 * [store] [relay] [log] [templates] [event "name"] [receiver "key"] [channel "name"]; keys of the first four are those of the option
 * table (base/options.h), so a word is spelt the same in the file, as a flag and in the environment.
 */
#ifndef DECLARE_CONF_H
#define DECLARE_CONF_H

#include "base/options.h"
#include "declare/registry.h"

#include <owed/channels.h>

/*
 * conf_load reads a file in steps, since the registry needs the app's name first:
 * conf_load_options takes [store] [relay] [log] [templates] into options (those that a flag or the environment
 * set already stay as they are; a key of declare/settings.h that options does not hold is checked
 * only); conf_load_receivers takes every [event "name"] and declares
 * every [receiver "key"].
 * CONFIG: "owed.conf:12: ..." with the nearest known word for an unknown one. NOT_FOUND: no file.
 */
/* What a [receiver "key"] may say: a table for the manual page, NULL-ended. */
extern const struct option conf_receiver_keys[];
extern const struct option conf_event_keys[]; // of an [event "name"]

owed_status conf_load_options(const char *path, struct options *options, owed_error *err);

/* What a receiver says that notifies somebody. */
struct conf_notice {
    const char *template_name;
    const char *recipient; // a JSON pointer into the payload
    const char *context;   // likewise; NULL: the whole payload
    const char *channel;   // NULL: as the recipient likes it
    const char *quiet;     // wait or refuse; NULL: wait
    bool fall_through;
    bool urgent;
};

/* conf_maker makes what runs such a receiver, which is not known in this room: it fills in run and state. */
struct conf_maker {
    owed_status (*make)(void *state, const struct conf_notice *notice, owed_receiver *receiver,
        const char *where, owed_error *err);
    void *state;
};

/* maker NULL: nothing here can notify, and a receiver that wants to is refused. */
owed_status conf_load_receivers(
    const char *path, owed_registry *registry, const struct conf_maker *maker, owed_error *err);

/* The channels that a file says, with their settings as they stand there. */
struct conf_channel {
    const char *name;
    const char *where;      // owed.conf:7, of its head
    owed_setting *settings; // to a NULL key
    size_t count;
    struct conf_channel *next; // in their order
};

struct conf_channels {
    struct arena arena;
    struct conf_channel *first;
    struct conf_channel **end;
    const char *path;
};

/* conf_load_channels reads every [channel "name"]; which keys there are is known to whoever makes the channels.
 * CONFIG: the same name twice. NOT_FOUND. conf_channels_done frees them, whatever came of it. */
owed_status conf_load_channels(
    const char *path, struct conf_channels *ret_channels, owed_error *err);
void conf_channels_done(struct conf_channels *channels);

#endif
