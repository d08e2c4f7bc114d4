/* SPDX-License-Identifier: MIT
 *
 * site.c - see site.h.
 */
#include "site.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

int
site_setup(void **state)
{
    struct site *site = calloc(1, sizeof *site);
    assert_non_null(site);
    void *desk = NULL;
    if (desk_setup(&desk) != 0)
        return -1;
    site->desk = desk;
    site->desk->f->has_one_clock = true;
    assert_ok(owed_test_queue_new(&site->queue, &site->desk->f->err));
    *state = site;
    return 0;
}

int
site_teardown(void **state)
{
    struct site *site = *state;
    void *desk = site->desk;
    int ended = desk_teardown(&desk);
    owed_test_queue_free(site->queue);
    free(site);
    return ended;
}

static int64_t
lease_end(struct site *site, int64_t delivery_id)
{
    char sql[100];
    snprintf(sql, sizeof sql,
        "select micros(lease_expires_at) from owed_delivery where id = %" PRId64, delivery_id);
    return desk_number(site->desk, sql);
}

static owed_status
enqueue(void *state, int64_t delivery_id, const char *claimed_by, int64_t claimed_at_us,
    owed_error *err)
{
    struct site *site = state;
    assert_false(store_in_transaction(site->desk->f->owed->db));
    int64_t now_us = site->desk->f->now_us;
    site->lease_left_us[site->enqueued % 64] = lease_end(site, delivery_id) - now_us;
    site->enqueued_at_us[site->enqueued++ % 64] = now_us;
    if (site->at_enqueue != NULL)
        site->at_enqueue(site);
    owed_task_backend queue = owed_test_queue_backend(site->queue);
    return queue.enqueue(queue.state, delivery_id, claimed_by, claimed_at_us, err);
}

void
site_open(struct site *site, owed_receiver receiver)
{
    receiver.key = SITE_KEY;
    receiver.site = OWED_SITE_TASK;
    desk_receiver(site->desk, &site->actor, receiver);
    fixture_open(site->desk->f);
    const owed_task_backend backend = {.enqueue = enqueue, .state = site};
    assert_ok(owed_set_task_backend(site->desk->f->owed, &backend, &site->desk->f->err));
}

void
site_once(struct site *site)
{
    desk_once(site->desk);
}

const char *
site_take(struct site *site, size_t place)
{
    const owed_test_message *said = owed_test_queue_message(site->queue, place);
    assert_non_null(said);
    const char *recorded = "untouched";
    owed_status status = owed_take_and_deliver(site->desk->f->owed, said->delivery_id,
        said->claimed_by, said->claimed_at_us, &recorded, &site->desk->f->err);
    if (status != OWED_OK)
        fail_msg("owed_take_and_deliver: %s", site->desk->f->err.text);
    return recorded;
}

owed_relay_counts
site_run(struct site *site)
{
    owed_relay_counts counts = {0};
    owed_status status =
        owed_test_queue_run(site->queue, site->desk->f->owed, &counts, &site->desk->f->err);
    if (status != OWED_OK)
        fail_msg("owed_test_queue_run: %s", site->desk->f->err.text);
    return counts;
}

size_t
site_handed_on(const struct site *site)
{
    return owed_test_queue_count(site->queue);
}
