/* SPDX-License-Identifier: MIT
 *
 * site.h - a desk with a receiver at a task site, and the queue that it is handed on by.
 */
#ifndef TEST_DELIVER_SITE_H
#define TEST_DELIVER_SITE_H

#include "desk.h"

#include <owed/testing.h>

#define SITE_KEY "shop.receipt"

struct site {
    struct desk *desk;
    struct actor actor;
    owed_test_queue *queue;
    void (*at_enqueue)(struct site *site); // called first, in each
    int enqueued;                          // calls
    int64_t enqueued_at_us[64];            // the clock in each
    int64_t lease_left_us[64];             // of the row that is handed on, in each
};

int site_setup(void **state);
int site_teardown(void **state);

/* site_open declares the receiver as given but for key, site and run, and opens the handle with the
 * queue for a backend. */
void site_open(struct site *site, owed_receiver receiver);

/* site_once fires nothing: it runs the relay until nothing is due. */
void site_once(struct site *site);
/* site_take takes a message of the queue, which keeps it; it returns what was recorded. */
const char *site_take(struct site *site, size_t place);
/* site_run runs what is in the queue. */
owed_relay_counts site_run(struct site *site);
size_t site_handed_on(const struct site *site);

#define assert_row(site, expected) \
    assert_text((site)->desk, \
        "select status || ' ' || attempts || ' ' || losses from owed_delivery order by id desc", \
        expected)

#endif
