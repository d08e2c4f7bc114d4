/* SPDX-License-Identifier: MIT
 *
 * pipe_line.h - the protocol of coprocesses, version 1: one JSON object a line.
 *
 * The relay greets: {"hello":1,"receiver":"shop.label","in_flight":16}. The coprocess answers
 * {"hello":1}, the version that it speaks, and may ask for less in flight: {"hello":1,"in_flight":4}.
 * Then come deliveries, {"id":3,"event":"shop.OrderPlaced",...,"payload":{...}}, several before the first is
 * answered. An answer names the id and the outcome, in any order:
 * {"id":3,"outcome":"retry_after","seconds":120,"reason":"busy"}. Before it, {"id":3,"begun":true} may say that
 * this one is in hand now.
 */
#ifndef RECEIVE_PIPE_LINE_H
#define RECEIVE_PIPE_LINE_H

#include "base/buf.h"
#include "deliver/delivery.h"

#define PIPE_VERSION 1

enum pipe_word {
    PIPE_NOISE, // nothing that the protocol knows
    PIPE_HELLO,
    PIPE_BEGUN,
    PIPE_ANSWER
};

struct pipe_said {
    enum pipe_word word;
    int64_t id;        // BEGUN, ANSWER
    int64_t version;   // HELLO
    int64_t in_flight; // HELLO; 0: it did not say
};

struct pipe_said pipe_line_read(struct str line);

void pipe_line_hello(struct buf *line, const char *receiver_key, int32_t in_flight);

/* pipe_line_delivery appends a delivery; false: its payload is not JSON. */
bool pipe_line_delivery(struct buf *line, const owed_delivery *delivery, int64_t id);

#endif
