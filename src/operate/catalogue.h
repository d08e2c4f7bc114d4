/* SPDX-License-Identifier: MIT
 *
 * catalogue.h - who declares what and who wants what, as a document.
 *
 * The same declarations give the same bytes, so that it can be compared: nothing in it tells when or by
 * which release it was published. What was removed is not in it.
 */
#ifndef OPERATE_CATALOGUE_H
#define OPERATE_CATALOGUE_H

#include "base/buf.h"
#include "engine/decide.h"
#include "store/store.h"

struct catalogue {
    struct curve curve;             // of receivers that declare none
    struct catalogue_event *events; // by name, then app
    size_t event_count;
    struct catalogue_receiver *receivers; // by key
    size_t receiver_count;
    const char **names; // of every event that is declared or wanted, in order; without "*"
    size_t name_count;
};

/* catalogue_arrange drops what was removed, sorts the rest and finds the names. */
owed_status catalogue_arrange(struct catalogue *catalogue, struct arena *arena, owed_error *err);

/* Both end with one line end. */
void catalogue_json(const struct catalogue *catalogue, struct buf *json);
void catalogue_markdown(const struct catalogue *catalogue, struct buf *text);

/* The curve of a receiver, and how long its attempts can be apart in all: the waits are drawn evenly from nothing to
 * each ceiling, so that the mean is half of the longest. */
struct waits {
    struct curve curve;
    int64_t longest_us; // the sum of all ceilings
    int64_t mean_us;
};
struct waits waits_of(const struct catalogue *catalogue, const struct catalogue_receiver *receiver);

bool is_durable(const struct catalogue_receiver *receiver);

#endif
