/* SPDX-License-Identifier: MIT
 *
 * notice_rule.h - one receiver of owed.conf that tells somebody.
 */
#ifndef NOTIFY_NOTICE_RULE_H
#define NOTIFY_NOTICE_RULE_H

#include <owed/receiver.h>

#include "base/json.h"
#include "notify/notices.h"

struct notice_rule {
    const struct notices *notices;
    struct conf_notice notice;
    const char *key;
    const char *where;
    const owed_template *tmpl; // after notices_open
    struct notice_rule *next;
};

/* notice_rule_start cuts the recipient and the values out of the payload and makes one attempt. A payload that lacks
 * them is dead at once. What the template does not declare is left out: the payload is somebody else's.
 * notice_rule_targets names the channel, so that it rests alone where its provider asks for a wait. */
void notice_rule_start(owed_delivery *delivery, const void *payload);
owed_status notice_rule_targets(
    owed_delivery *delivery, const void *payload, owed_target_list *list, owed_error *err);

/* notice_context appends what of an object has the name of a variable. */
void notice_context(
    const owed_template *tmpl, struct json object, struct arena *arena, struct buf *text);

#endif
