/* SPDX-License-Identifier: MIT
 *
 * conf.h - owed.conf: the store, the relay's settings, how long events are kept, and receivers that need
 * no C.
 *
 * [store] [relay] [log] [templates] [event "name"] [receiver "key"]; keys of the first four are those of the option
 * table (base/options.h), so a word is spelt the same in the file, as a flag and in the environment.
 */
#ifndef DECLARE_CONF_H
#define DECLARE_CONF_H

#include "base/options.h"
#include "declare/registry.h"

/*
 * conf_load reads a file in two steps, since the registry needs the app's name first:
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
owed_status conf_load_receivers(const char *path, owed_registry *registry, owed_error *err);

#endif
