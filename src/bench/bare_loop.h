/* SPDX-License-Identifier: MIT
 *
 * bare_loop.h - the bare loop that a benchmark is held against.
 *
 * What it is: the same durable work in the plainest way, on one connection through the same client
 * library: tables of three to seven columns with the one index that is needed, prepared statements of one
 * row each, one after the other, as many rows in a transaction as the benchmark has. To fire is a row for
 * the event and one for each receiver; to drain is to read a batch with its payloads and mark each row,
 * commit, and mark each row again as done, commit. A power cut may undo the commit of a claim, as it may
 * undo owed's: the row is then owed again.
 *
 * What it is not: the limit of the machine. It asks the server once for each row, where owed asks once for
 * many, so that a ratio above 1 is possible on a server. It has no backlog, no history, no lease and no
 * fence, knows neither receivers nor retries, runs nothing and loses what its process had in hand.
 */
#ifndef BENCH_BARE_LOOP_H
#define BENCH_BARE_LOOP_H

#include "bench/session.h"

/* How much a loop did, over several runs of it. Begin with {0}. */
struct pace {
    int64_t count; // events or deliveries
    int64_t us;
};
double pace_rate(const struct pace *pace); // a second; 0: nothing was done

/* Each adds to the pace; NULL: it is not to be measured. BARE_EVENTS is how much of it is enough. */
#define BARE_EVENTS 2000
int64_t bare_events(const struct bench *bench); // of the benchmark's rows, so many
owed_status bare_fire(struct bench *bench, int64_t events, struct pace *pace, owed_error *err);
owed_status bare_claim(struct bench *bench, struct pace *pace, owed_error *err);
owed_status bare_drain(struct bench *bench, struct pace *pace, owed_error *err);

#endif
