/* SPDX-License-Identifier: MIT
 *
 * say.h - what the sentences of reasons have in common.
 */
#ifndef OPERATE_SAY_H
#define OPERATE_SAY_H

#include "base/buf.h"
#include "operate/reasons.h"

/* say_age appends "2m ago", say_moment the moment and its age, say_edge the sentence of a step. */
void say_age(struct buf *out, const struct facts *f, int64_t at_us);
void say_moment(struct buf *out, const struct facts *f, int64_t at_us);
void say_edge(struct buf *out, enum state from, enum happening happening);

/* say_pause appends what of an operator's keeps it: since and until when, by whom, why, and what ends it. */
void say_pause(struct buf *out, const struct facts *f);
void say_endpoint_pause(struct buf *out, const struct facts *f);
/* say_endpoint_end appends what becomes of it, now that its endpoint gets nothing any more. */
void say_endpoint_end(struct buf *out, const struct facts *f);
/* say_unsent appends why nothing was sent, and when that was. */
void say_unsent(struct buf *out, const struct facts *f);
/* say_put_off appends what keeps it for the sake of a destination that asked: its lane, its target or its receiver. */
void say_put_off(struct buf *out, const struct facts *f);

#endif
