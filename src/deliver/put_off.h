/* SPDX-License-Identifier: MIT
 *
 * put_off.h - what a relay that is to end by itself has put off: it waits for what is due again soon, and
 * says how much it leaves.
 */
#ifndef DELIVER_PUT_OFF_H
#define DELIVER_PUT_OFF_H

#include <stdbool.h>
#include <stdint.h>

struct worker;
struct settlement;
struct note;

/* put_off_hear counts a delivery that is due later without an attempt, until it is settled otherwise. */
void put_off_hear(
    struct worker *worker, const struct settlement *settlement, const struct note *note);

/* put_off_wait_us tells how long until one that had no room at its destination is due again; INT64_MAX: none is
 * soon. */
int64_t put_off_wait_us(const struct worker *worker);
void put_off_done(struct worker *worker);

#endif
