/* SPDX-License-Identifier: MIT
 *
 * desk.c - see desk.h.
 */
#include "desk.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void
pass_time(void *state, int64_t timeout_us)
{
    struct desk *desk = state;
    if (desk->wait_count < DESK_WAITS)
        desk->waits[desk->wait_count] = timeout_us;
    desk->wait_count++;
    desk->f->now_us += timeout_us;
    if (desk->at_wait != NULL)
        desk->at_wait(desk);
    // A relay that never ends would wait for ever.
    if (desk->wait_count > 10000)
        fail_msg("the relay does not end");
}

int
desk_setup(void **state)
{
    struct desk *desk = calloc(1, sizeof *desk);
    assert_non_null(desk);
    desk->f = fixture_new();
    desk->seat = (struct relay_seat){.role = ROLE_ALL, .wait = pass_time, .wait_state = desk};
    fixture_table(desk->f);
    *state = desk;
    return 0;
}

int
desk_teardown(void **state)
{
    struct desk *desk = *state;
    if (getenv("DESK_LOG") != NULL)
        fprintf(stderr, "%s", buf_text(&desk->f->log));
    fixture_free(desk->f);
    free(desk);
    return 0;
}

void
desk_receiver(struct desk *desk, struct actor *actor, owed_receiver receiver)
{
    actor->desk = desk;
    if (receiver.event == NULL && receiver.event_name == NULL)
        receiver.event = &order_placed;
    receiver.run = actor_run;
    receiver.state = actor;
    fixture_receiver(desk->f, receiver);
}

owed_outcome
actor_run(owed_delivery *delivery, const void *payload)
{
    struct actor *actor = owed_delivery_state(delivery);
    const order *order = payload;
    actor->orders[actor->calls++ % (DESK_ORDERS * 4)] = order->id;
    act act = actor->acts[order->id % DESK_ORDERS];
    return act == NULL ? writes(actor, delivery, order) : act(actor, delivery, order);
}

int64_t
desk_fire(struct desk *desk, int64_t order_id)
{
    fixture_begin(desk->f);
    int64_t id = fixture_fire(desk->f, &order_placed, order_id);
    fixture_commit(desk->f);
    return id;
}

void
desk_fire_many(struct desk *desk, int64_t count)
{
    fixture_begin(desk->f);
    for (int64_t i = 1; i <= count; i++)
        fixture_fire(desk->f, &order_placed, i);
    fixture_commit(desk->f);
}

void
desk_run(struct desk *desk)
{
    owed_status status =
        relay_work(desk->f->owed, &desk->settings, &desk->seat, &desk->counts, &desk->f->err);
    if (status != OWED_OK)
        fail_msg("relay_work: %s", desk->f->err.text);
}

void
desk_run_orders(struct desk *desk, int64_t count)
{
    fixture_begin(desk->f);
    for (int64_t i = 0; i <= count; i++)
        fixture_fire(desk->f, &order_placed, i);
    fixture_commit(desk->f);
    desk->settings.passes = 1;
    desk_run(desk);
}

void
desk_once(struct desk *desk)
{
    desk->settings.once = true;
    desk_run(desk);
}

void
desk_promise(struct desk *desk)
{
    raw_run(desk->f->raw,
        "create table parent (id integer primary key);"
        "create table child (id integer references parent (id) "
        "deferrable initially deferred)");
    if (test_store_is("sqlite"))
        fixture_run(desk->f->owed->db, "pragma foreign_keys = on");
}

int64_t
desk_number(struct desk *desk, const char *sql)
{
    return raw_number(desk->f->raw, sql);
}

void
desk_text(struct desk *desk, const char *sql, char text[static 256])
{
    raw_text(desk->f->raw, sql, text);
}

void
desk_list(struct desk *desk, const char *sql, char text[static 256])
{
    raw_list(desk->f->raw, sql, text);
}

int64_t
desk_count(struct desk *desk, const char *status)
{
    char sql[128];
    snprintf(sql, sizeof sql, "select count(*) from owed_delivery where status = '%s'", status);
    return desk_number(desk, sql);
}

int64_t
desk_written(struct desk *desk, int64_t order_id)
{
    char sql[128];
    snprintf(sql, sizeof sql, "select count(*) from app where id = %" PRId64, order_id);
    return desk_number(desk, sql);
}

bool
desk_logged(const struct desk *desk, const char *words)
{
    return strstr(buf_text(&desk->f->log), words) != NULL;
}

/* --- acts --- */

void
run_sql(owed_delivery *delivery, const char *sql)
{
    struct raw *raw = fixture_raw(owed_delivery_tx(delivery));
    if (raw == NULL)
        return; // the store is away: what is returned does not count
    raw_try(raw, sql);
}

void
write_row(owed_delivery *delivery, int64_t order_id)
{
    char sql[64];
    snprintf(sql, sizeof sql, "insert into app (id) values (%" PRId64 ")", order_id);
    run_sql(delivery, sql);
}

owed_outcome
writes(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)actor;
    write_row(delivery, order->id);
    return owed_done();
}

owed_outcome
asks_for_nothing(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)actor;
    (void)delivery;
    (void)order;
    return owed_done();
}

owed_outcome
writes_and_fails(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)actor;
    write_row(delivery, order->id);
    return owed_failed(delivery, "order %" PRId64 ": nothing on the shelf", order->id);
}

owed_outcome
defers_a_minute(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)actor;
    (void)order;
    return owed_defer(delivery, 60, "quota spent");
}

owed_outcome
fails(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)actor;
    return owed_failed(delivery, "order %" PRId64 ": no", order->id);
}

owed_outcome
refuses(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)actor;
    (void)order;
    return owed_failed(delivery, "over the limit");
}

owed_outcome
fires_what_is_refused(struct actor *actor, owed_delivery *delivery, const order *placed)
{
    (void)actor;
    write_row(delivery, placed->id);
    int64_t id = 0;
    owed_error err;
    assert_status(OWED_VETOED,
        owed_fire(owed_delivery_tx(delivery), &order_shipped, placed, NULL, &id, &err));
    return owed_done();
}

owed_outcome
writes_and_commits(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)actor;
    write_row(delivery, order->id);
    run_sql(delivery, "commit");
    return owed_done();
}

owed_outcome
writes_and_rolls_back(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)actor;
    write_row(delivery, order->id);
    run_sql(delivery, "rollback");
    return owed_done();
}

owed_outcome
begins_anew(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)actor;
    write_row(delivery, order->id);
    run_sql(delivery, "rollback");
    run_sql(delivery, "begin");
    write_row(delivery, order->id);
    return owed_done();
}

owed_outcome
stops(struct actor *actor, owed_delivery *delivery, const order *order)
{
    owed_relay_stop(actor->desk->f->owed);
    return writes(actor, delivery, order);
}

void
rob(struct desk *desk, int64_t delivery_id)
{
    raw_runf(desk->f->raw,
        "update owed_delivery set claimed_by = 'thief', claimed_at = moment(micros(claimed_at) + 1) "
        "where id = %" PRId64,
        delivery_id);
}

owed_outcome
is_robbed(struct actor *actor, owed_delivery *delivery, const order *order)
{
    rob(actor->desk, owed_delivery_id(delivery));
    return writes(actor, delivery, order);
}
