/* SPDX-License-Identifier: MIT
 *
 * rate.h - how many requests a second an endpoint allows.
 */
#ifndef RECEIVE_RATE_H
#define RECEIVE_RATE_H

#include <stdint.h>

/*
 * A bucket of one endpoint: so many a second, a second's worth at once. rate_take tells how long to wait; 0: it
 * may go. Those that wait are told to come one after the other, and take their turn only when they come.
 */
struct rate {
    int64_t next_us; // when the next one is due, were they evenly spread
    int64_t line_us; // when the last of those that wait is to come
};
int64_t rate_take(struct rate *rate, int32_t per_second, int64_t now_us);

/* rates_find finds an endpoint's bucket in a tree, or makes one; NULL: out of memory. */
struct rate *rates_find(void **root, const char *id);
void rates_done(void **root);

#endif
