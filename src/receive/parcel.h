/* SPDX-License-Identifier: MIT
 *
 * parcel.h - what an endpoint is sent: whether it wants it at all, and the body.
 *
 * A body is made of what stands in the rows, so that it is the same on every attempt.
 */
#ifndef RECEIVE_PARCEL_H
#define RECEIVE_PARCEL_H

#include <owed/endpoint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "store/store.h"

/* format_of finds a format by its word; format_name is the word. false: there is none. */
bool format_of(const char *word, owed_format *ret_format);
const char *format_name(owed_format format);

/* parcel_write appends the body: id is the webhook-id, source that of CloudEvents. */
void parcel_write(owed_format format, const struct claimed *row, const char *id, const char *source,
    struct buf *body);
const char *parcel_type(owed_format format); // its Content-Type

/* filter_check refuses what is no filter: INVALID. filter_wants tells whether a payload is one for it; *ret_pointer
 * is where it is not. A filter that cannot be read wants nothing. */
owed_status filter_check(const char *filter, owed_error *err);
bool filter_wants(
    const char *filter, struct str payload, struct arena *arena, const char **ret_pointer);

/* event_pattern_check refuses what is neither a name nor the front of names. INVALID. */
owed_status event_pattern_check(const char *name, owed_error *err);

#endif
