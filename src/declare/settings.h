/* SPDX-License-Identifier: MIT
 *
 * settings.h - the words of [store], [relay], [log] and [templates], and what they come to.
 */
#ifndef DECLARE_SETTINGS_H
#define DECLARE_SETTINGS_H

#include <owed/owed.h>

#include "base/options.h"
#include "declare/registry.h"

extern const struct option settings_store[];
extern const struct option settings_relay[];
extern const struct option settings_log[];
extern const struct option settings_templates[];

/* The four, NULL-ended. */
extern const struct option *const settings_tables[];

/* settings_fill_store sets url, release and busy_timeout_us; settings_fill_registry what holds for
 * receivers that do not declare it; settings_fill_relay all that a relay in this process knows. What
 * they do not name is left alone. Texts and lists live as long as options. */
void settings_fill_store(const struct options *options, owed_settings *settings);
void settings_fill_registry(const struct options *options, owed_registry *registry);
void settings_fill_relay(const struct options *options, owed_relay_settings *settings);

#endif
