/* SPDX-License-Identifier: MIT
 *
 * reasons.h - the facts of one delivery, and the table of reasons that speaks of them.
 */
#ifndef OPERATE_REASONS_H
#define OPERATE_REASONS_H

#include "engine/states.h"
#include "operate/explain.h"

#define MOST_AHEAD 100000 // counted no further

struct facts {
    struct delivery_row row;
    enum state state;
    const struct catalogue_receiver *receiver; // NULL: the catalogue does not have it
    bool served;                               // by a relay that is alive
    int64_t relays;                            // alive
    int64_t ahead;
    const struct paused_row *pause; // an operator's, of its receiver or its lane; NULL: none
    const struct paused_row *endpoint_pause;
    const char *unsent;       // why it ended without a request; NULL: it did not
    const char *endpoint_end; // why its endpoint gets nothing any more; NULL: it does
    struct put_off put_off;   // delivery_id 0: nothing keeps its lane waiting
    int64_t now_us;
};

/* is_in_its_lane: a side lane of its receiver's app is as right as the receiver's own. */
bool is_in_its_lane(const struct facts *facts);

/* reason_find returns the first reason that holds; reason_say appends its words. */
enum reason reason_find(const struct facts *facts);
void reason_say(enum reason reason, struct buf *out, const struct facts *facts);

#endif
