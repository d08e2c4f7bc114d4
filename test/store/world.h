/* SPDX-License-Identifier: MIT
 *
 * world.h - a fresh store for each test, on every store that is at hand, and short words to act on it.
 *
 * The tests speak to store.h alone; test_store.h says which stores there are.
 */
#ifndef TEST_STORE_WORLD_H
#define TEST_STORE_WORLD_H

#include "../unit.h"

#include "store/look.h"
#include "test_store.h"

#define NOW INT64_C(4102444800000000)
#define SECOND INT64_C(1000000)
#define LEASE (60 * SECOND)
#define GRACE (600 * SECOND)
#define EVENT "shop.OrderPlaced"
#define LANE "shop/default"

struct world {
    struct test_store store;
    const char *url;    // the store's
    const char *folder; // of the test's own; on SQLite the store is in it
    struct db *db;
    struct db *other; // a second connection
    struct raw *raw;  // a third one, that is not ours; made by the first word to it
    struct arena arena;
    owed_error err;
    struct claimed *rows; // of the latest claim
    size_t count;
};

#define assert_ok(call_) \
    do { \
        owed_status status_ = (call_); \
        if (status_ != OWED_OK) { \
            print_error("%s: %d %s\n", #call_, (int)status_, world->err.text); \
            _fail(__FILE__, __LINE__); \
        } \
    } while (0)

/* Setup and teardown of each test: *state is a struct world with tables and nothing in them. */
int world_new(void **state);
int world_free(void **state);
#define TEST(name_) cmocka_unit_test_setup_teardown(name_, world_new, world_free)

/* plain is the third connection, as an application has one. */
struct raw *plain(struct world *world);
int64_t count_of(struct world *world, const char *table); // rows, seen by plain

/* check_refused makes each call in plain SQL, and expects it to fail with those words. No event is left. */
struct refusal {
    const char *arguments;
    const char *words;
};
void check_refused(
    struct world *world, const char *call, const struct refusal *cases, size_t count);

struct catalogue_receiver a_receiver(const char *key); // of EVENT, inside, in LANE
void publish(struct world *world, const struct catalogue_receiver *receivers, size_t count);
void publish_keys(struct world *world, const char *const *keys); // NULL-ended

struct new_event an_event(const char *name);
int64_t fire(struct world *world, const char *name);
int64_t fire_due(struct world *world, int64_t due_at_us);
owed_status try_fire_on(struct world *world, struct db *db); // EVENT, through that connection

struct claim a_claim(const char *claimed_by, int64_t now_us, int32_t limit); // of LANE, inside
/* claim fills in world->rows and answers how many they are. */
size_t claim(struct world *world, const struct claim *claim);
size_t claim_as(struct world *world, const char *claimed_by, int64_t now_us, int32_t limit);

/* fire_many fires EVENT so often, for one receiver, and writes the ids of what is owed for it.
 * check_order holds the latest claim to ids, in that order. */
void fire_many(struct world *world, size_t count, int64_t *ids);
void check_order(const struct world *world, const int64_t *ids, size_t count);

struct settlement a_settlement(const struct fence *fence, const char *status);
struct delivery_row delivery(struct world *world, int64_t id);
/* ids_of_event writes the delivery ids of an event, lowest first; answers how many. */
size_t ids_of_event(struct world *world, int64_t event_id, int64_t *ids, size_t max);
int64_t only_delivery(struct world *world, int64_t event_id);
const char *status_of(struct world *world, int64_t id);

/* bring_to makes one row of receiver "shop.billing" and brings it to a state by what really happens
 * ("pending", "claimed" by "first" at NOW, and so on). */
int64_t bring_to(struct world *world, const char *state);

#endif
