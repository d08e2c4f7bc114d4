/* SPDX-License-Identifier: MIT
 *
 * pauses.h - what a relay leaves alone for a while, since its destination asked for it: lanes, targets of
 * receivers that say so, and whole receivers whose broker is away.
 *
 * After a pause comes the trial: one row at a time may start, until one settles otherwise than by a
 * deferral. All workers of a relay share one table, in their shared memory; times are those of the
 * monotonic clock.
 */
#ifndef DELIVER_PAUSES_H
#define DELIVER_PAUSES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/limits.h"

enum pause_kind { PAUSE_LANE, PAUSE_TARGET, PAUSE_RECEIVER };

/* What can be paused. */
struct pause_of {
    enum pause_kind kind;
    char name[LIMIT_KEY_BYTES + 1]; // the qualified lane; of all others the receiver's key
    uint8_t digest[SHA256_BYTES];   // of the target; else zeros
};

struct pause {
    struct pause_of of;
    int64_t until_mono_us;
    int trier; // the worker whose row is on trial; 0: none
};

#define PAUSES 256 // beyond it the one that ends first is forgotten

struct pauses {
    pthread_mutex_t lock; // a worker that dies with it in hand holds up nobody
    atomic_int count;
    struct pause list[PAUSES];
};

void pauses_init(struct pauses *pauses);
bool pauses_any(struct pauses *pauses);

/* pauses_add leaves something alone until then at least: a pause that ends later stays as it is. Returns
 * until when it was left alone before; 0: it was not. */
int64_t pauses_add(struct pauses *pauses, const struct pause_of *of, int64_t until_mono_us);

enum hold {
    HOLD_NONE,  // start
    HOLD_TRIAL, // start: this is the one row on trial, until pauses_release
    HOLD_HELD   // leave it
};
/* pauses_ask asks for a row before it starts. A pause that ends this moment is over. */
enum hold pauses_ask(
    struct pauses *pauses, const struct pause_of *of, int trier, int64_t now_mono_us);

/* pauses_release ends a trial, whatever came of it; pauses_release_all every trial of a worker. */
void pauses_release(struct pauses *pauses, const struct pause_of *of, int trier);
void pauses_release_all(struct pauses *pauses, int trier);

/* pauses_end: a row that started then has settled otherwise. What started before the pause was over
 * says nothing. */
void pauses_end(struct pauses *pauses, const struct pause_of *of, int64_t started_mono_us);

/* pauses_rests: rows of it would be claimed in vain. */
bool pauses_rests(struct pauses *pauses, const struct pause_of *of, int64_t now_mono_us);

/* pauses_list copies those of which a claim would bring rows in vain: paused, or a row on trial. */
size_t pauses_list(
    struct pauses *pauses, int64_t now_mono_us, struct pause_of ret_list[static PAUSES]);

/* pauses_next_us finds when the first pause ends; INT64_MAX: none is on. *ret_trial: a row of another
 * worker is on trial, which may end at any moment. */
int64_t pauses_next_us(struct pauses *pauses, int trier, int64_t now_mono_us, bool *ret_trial);

#endif
