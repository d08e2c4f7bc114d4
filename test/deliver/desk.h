/* SPDX-License-Identifier: MIT
 *
 * desk.h - a relay on a fixture's store, and receivers that do as each order tells them.
 *
 * An actor is the state of a receiver: order N has it do acts[N]. What an actor writes is a row in the
 * application's table with the order's id. Waits move the clock and are noted; nothing sleeps.
 */
#ifndef TEST_DELIVER_DESK_H
#define TEST_DELIVER_DESK_H

#include "fixture.h"

#include "deliver/relay.h"

#define DESK_ORDERS 64
#define DESK_WAITS 64

struct desk;
struct actor;
typedef owed_outcome (*act)(struct actor *actor, owed_delivery *delivery, const order *order);

struct actor {
    struct desk *desk;
    act acts[DESK_ORDERS]; // NULL: writes
    int calls;
    int64_t orders[DESK_ORDERS * 4]; // in the order of the calls
    void *state;
};

struct desk {
    struct fixture *f;
    owed_relay_settings settings;
    struct relay_seat seat;
    owed_relay_counts counts;
    int64_t waits[DESK_WAITS];
    size_t wait_count;
    void (*at_wait)(struct desk *desk); // called in each wait, after the clock has moved
};

int desk_setup(void **state);
int desk_teardown(void **state);

/* desk_receiver declares a receiver of orders that runs the actor. */
void desk_receiver(struct desk *desk, struct actor *actor, owed_receiver receiver);
owed_outcome actor_run(owed_delivery *delivery, const void *payload);

/* desk_fire fires one order; desk_fire_many orders 1 to count, in one transaction. */
int64_t desk_fire(struct desk *desk, int64_t order_id);
void desk_fire_many(struct desk *desk, int64_t count);

/* desk_run runs the relay as the settings have it, and expects it to end well. desk_run_orders fires orders 1 to
 * count behind order 0, whose receiver is timed by it, and runs one pass. desk_once runs it until there is nothing
 * left that is due. */
void desk_run(struct desk *desk);
void desk_run_orders(struct desk *desk, int64_t count);
void desk_once(struct desk *desk);

/* desk_promise makes a table `child` whose rows must have a parent by the time they are committed. */
void desk_promise(struct desk *desk);

/* What stands in the store, asked on the other connection. */
int64_t desk_number(struct desk *desk, const char *sql);
void desk_text(struct desk *desk, const char *sql, char text[static 256]);
void desk_list(struct desk *desk, const char *sql, char text[static 256]); // all rows, by commas
int64_t desk_count(struct desk *desk, const char *status);                 // deliveries
int64_t desk_written(struct desk *desk, int64_t order_id); // rows of the application
bool desk_logged(const struct desk *desk, const char *words);

#define assert_count(desk, status, expected) \
    assert_int_equal(desk_count((desk), (status)), (expected))
#define assert_text(desk, sql, expected) \
    do { \
        char text_[256]; \
        desk_text((desk), (sql), text_); \
        assert_string_equal(text_, (expected)); \
    } while (0)
#define assert_list(desk, sql, expected) \
    do { \
        char text_[256]; \
        desk_list((desk), (sql), text_); \
        assert_string_equal(text_, (expected)); \
    } while (0)

/* --- acts --- */

owed_outcome writes(struct actor *actor, owed_delivery *delivery, const order *order);
owed_outcome asks_for_nothing(struct actor *actor, owed_delivery *delivery, const order *order);
owed_outcome writes_and_fails(struct actor *actor, owed_delivery *delivery, const order *order);
owed_outcome defers_a_minute(struct actor *actor, owed_delivery *delivery, const order *order);
owed_outcome fails(struct actor *actor, owed_delivery *delivery, const order *order);
/* refuses is for an inline receiver of order_shipped; fires_what_is_refused expects its veto and is done. */
owed_outcome refuses(struct actor *actor, owed_delivery *delivery, const order *order);
owed_outcome fires_what_is_refused(
    struct actor *actor, owed_delivery *delivery, const order *placed);
owed_outcome writes_and_commits(struct actor *actor, owed_delivery *delivery, const order *order);
owed_outcome writes_and_rolls_back(
    struct actor *actor, owed_delivery *delivery, const order *order);
owed_outcome begins_anew(struct actor *actor, owed_delivery *delivery, const order *order);
owed_outcome stops(struct actor *actor, owed_delivery *delivery, const order *order);
/* is_robbed has another worker take its row, then writes all the same. */
owed_outcome is_robbed(struct actor *actor, owed_delivery *delivery, const order *order);

/* run_sql runs a statement on the connection of the acknowledgement, and passes over its failure. */
void run_sql(owed_delivery *delivery, const char *sql);
/* write_row writes the order's row in the transaction of the acknowledgement. */
void write_row(owed_delivery *delivery, int64_t order_id);
/* rob makes a thief of the other connection the holder of a delivery. */
void rob(struct desk *desk, int64_t delivery_id);

#endif
