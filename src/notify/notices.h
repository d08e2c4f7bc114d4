/* SPDX-License-Identifier: MIT
 *
 * notices.h - what owed.conf says of notifications: channels, and receivers that tell somebody.
 */
#ifndef NOTIFY_NOTICES_H
#define NOTIFY_NOTICES_H

#include <owed/notifier.h>
#include <owed/notify.h>
#include <owed/templates.h>

#include "declare/conf.h"

struct notice_rule;

struct notices {
    struct conf_channels channels;
    struct arena arena;
    struct notice_rule *rules; // the newest first
    owed_templates *templates; // after notices_open; NULL: not yet
    owed_dispatcher *dispatcher;
    owed_dispatcher *names;  // knows the names of the channels, and sends nothing
    owed_notifier *notifier; // NULL: there are no channels
    bool is_read;
};

/* notices_read takes the channels of a file; their keys are checked, and nothing is opened. CONFIG: with file and
 * line. notices_done frees all, after the registry that its receivers stand in. */
owed_status notices_read(struct notices *notices, const char *path, owed_error *err);
void notices_done(struct notices *notices);

/* notices_maker is what makes receivers with notify; notices outlives the registry. */
struct conf_maker notices_maker(struct notices *notices);

/* notices_declare declares that tickets are delivered, where there are channels. */
owed_status notices_declare(struct notices *notices, owed_registry *registry, owed_error *err);

/* notices_open makes the channels, loads the folder of templates (NULL: there is none) and finds each
 * receiver's: from then on they can be run. CONFIG and what owed_templates_load says. */
owed_status notices_open(struct notices *notices, const char *folder, owed_error *err);

/* notices_know tells whether what a ticket names is there: a template in the folder, where there is one (not NULL), and a
 * channel (NULL: none is named) among those of the file, where it has any. NOT_FOUND, and what owed_templates_load says. */
owed_status notices_know(const struct notices *notices, const char *folder,
    const char *template_name, const char *channel, owed_error *err);

/* notices_check tries all that, and says a sentence for each thing that is wrong but what is wrong in the folder
 * itself. Nothing stays open. */
owed_status notices_check(struct notices *notices, const char *folder,
    void (*say)(void *state, const char *sentence), void *state, owed_error *err);

#endif
