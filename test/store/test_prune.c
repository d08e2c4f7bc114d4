/* SPDX-License-Identifier: MIT
 *
 * test_prune.c - which events go, which never do, and in what pieces.
 */
#include "world.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "raw.h"
#include "store/forget.h"
#include "store/prune.h"

#define DAY (86400 * SECOND)
#define WINDOW (90 * DAY)
#define ASKED_MOST 1000

static const char *const none[] = {NULL};

/* an_old_one fires an event of so long ago, owed to one receiver for each status that is named. keeps is what
 * the event says of itself, as an assignment in SQL; "": nothing. */
static int64_t
an_old_one(struct world *world, int64_t age_us, const char *keeps, const char *const *statuses)
{
    int64_t id = fire(world, EVENT);
    for (int i = 0; statuses[i] != NULL; i++) {
        char key[32];
        snprintf(key, sizeof key, "shop.r%d", i);
        struct new_delivery owed = {.event_id = id,
            .receiver_key = key,
            .lane = LANE,
            .kind = "inside",
            .max_attempts = 5,
            .available_at_us = NOW};
        assert_ok(store_insert_delivery(world->db, &owed, &world->err));
        raw_runf(plain(world),
            "update owed_delivery set status = '%s', succeeded_at = moment(%lld) where event_id = %lld"
            " and receiver_key = '%s'",
            statuses[i], strcmp(statuses[i], "succeeded") == 0 ? (long long)(NOW - age_us) : 0LL,
            (long long)id, key);
    }
    raw_runf(plain(world), "update owed_event set recorded_at = moment(%lld)%s%s where id = %lld",
        (long long)(NOW - age_us), keeps[0] == '\0' ? "" : ", ", keeps, (long long)id);
    return id;
}

/* The two windows; what is older than WINDOW is over in both. */
static const char *const windows[] = {"", "retention_seconds = 60"};

static bool
is_there(struct world *world, int64_t id)
{
    return raw_numberf(
               plain(world), "select count(*) from owed_event where id = %lld", (long long)id) == 1;
}

static const struct prune usual = {.now_us = NOW,
    .retention_us = WINDOW,
    .batch_rows = PRUNE_BATCH_ROWS,
    .limit = -1,
    .most_held = -1};

/* prune goes through all arms, and answers how many events it says are gone. */
static int64_t
prune(struct world *world, const struct prune *prune)
{
    struct prune_course course = {0};
    prune_begin(&course, prune);
    while (!course.is_over)
        assert_ok(store_prune_step(world->db, &course, &world->err));
    return course.events;
}

static const char *const keepings[] = {
    "", "retention_seconds = 60", "delete_when = 'succeeded'", "delete_when = 'settled'"};

static void
what_is_owed_keeps_its_event_whatever_its_age(void **state)
{
    struct world *world = *state;
    static const char *const owed[] = {"pending", "claimed", "failed"};
    for (size_t i = 0; i < COUNT(keepings); i++)
        for (size_t k = 0; k < COUNT(owed); k++) {
            const char *const statuses[] = {"succeeded", owed[k], NULL};
            an_old_one(world, 1000 * DAY, keepings[i], statuses);
        }
    assert_int_equal(prune(world, &usual), 0);
    assert_int_equal(count_of(world, "owed_event"), 12);
    assert_int_equal(count_of(world, "owed_delivery"), 24);
}

static void
the_ordinary_window_ends_what_has_ended_and_is_older(void **state)
{
    struct world *world = *state;
    static const char *const ended[] = {"succeeded", "dead", "orphaned", "cancelled", NULL};
    static const char *const all[] = {"succeeded", NULL};
    int64_t at_the_bound = an_old_one(world, WINDOW, "", ended);
    int64_t older = an_old_one(world, WINDOW + 1, "", ended);
    int64_t consumed = an_old_one(world, DAY, "", all);
    int64_t unowed = an_old_one(world, WINDOW + 1, "", none);
    int64_t young = an_old_one(world, DAY, "", none);
    int64_t strange = an_old_one(world, WINDOW + 1, "delete_when = 'later'", all);
    assert_int_equal(prune(world, &usual), 3);
    assert_true(
        is_there(world, at_the_bound) && is_there(world, consumed) && is_there(world, young));
    assert_false(is_there(world, older) || is_there(world, unowed) || is_there(world, strange));
    assert_int_equal(count_of(world, "owed_delivery"), 5);
}

static void
a_window_of_its_own_goes_before_the_ordinary_one(void **state)
{
    struct world *world = *state;
    static const char *const dead[] = {"dead", NULL};
    int64_t longer = an_old_one(world, 1000 * DAY, "retention_seconds = 172800000", dead);
    int64_t shorter = an_old_one(world, 61 * SECOND, "retention_seconds = 60", dead);
    int64_t at_the_bound = an_old_one(world, 60 * SECOND, "retention_seconds = 60", dead);
    int64_t another = an_old_one(world, 61 * SECOND, "retention_seconds = 3600", dead);
    static const char *const owed[] = {"pending", NULL};
    an_old_one(world, 61 * SECOND, "retention_seconds = 60", owed);
    assert_int_equal(prune(world, &usual), 1);
    assert_false(is_there(world, shorter));
    assert_true(
        is_there(world, longer) && is_there(world, at_the_bound) && is_there(world, another));
    // Nor is what only plain SQL can say besides.
    int64_t also =
        an_old_one(world, 61 * SECOND, "retention_seconds = 60, delete_when = 'succeeded'", dead);
    int64_t younger =
        an_old_one(world, 60 * SECOND, "retention_seconds = 60, delete_when = 'succeeded'", dead);
    assert_int_equal(prune(world, &usual), 1);
    assert_false(is_there(world, also));
    assert_true(is_there(world, younger));
    // Another ordinary window is no matter to them.
    struct prune all = usual;
    all.retention_us = 0;
    assert_int_equal(prune(world, &all), 0);
}

static void
what_goes_when_it_has_succeeded_is_held_by_whatever_did_not(void **state)
{
    struct world *world = *state;
    static const char *const good[] = {"succeeded", "succeeded", NULL};
    static const char *const kept[] = {"dead", "orphaned", "cancelled"};
    int64_t gone = an_old_one(world, SECOND, "delete_when = 'succeeded'", good);
    int64_t unowed = an_old_one(world, SECOND, "delete_when = 'succeeded'", none);
    int64_t held[COUNT(kept)];
    for (size_t i = 0; i < COUNT(kept); i++) {
        const char *const statuses[] = {"succeeded", kept[i], NULL};
        held[i] = an_old_one(world, SECOND, "delete_when = 'succeeded'", statuses);
    }
    assert_int_equal(prune(world, &usual), 2);
    assert_false(is_there(world, gone) || is_there(world, unowed));
    for (size_t i = 0; i < COUNT(kept); i++)
        assert_true(is_there(world, held[i]));
    struct prune later = usual;
    later.now_us = NOW + WINDOW;
    assert_int_equal(prune(world, &later), 3);
}

static void
what_goes_when_it_has_settled_goes_however_it_ended(void **state)
{
    struct world *world = *state;
    static const char *const ended[] = {"succeeded", "dead", "orphaned", "cancelled", NULL};
    int64_t gone = an_old_one(world, SECOND, "delete_when = 'settled'", ended);
    int64_t ordinary = an_old_one(world, SECOND, "", ended);
    assert_int_equal(prune(world, &usual), 1);
    assert_false(is_there(world, gone));
    assert_true(is_there(world, ordinary));
}

/* --- in what pieces --- */

/* steps writes how many rows each transaction deleted that deleted any. */
static size_t
steps(struct world *world, const struct prune *prune, int64_t *rows, size_t max)
{
    struct prune_course course = {0};
    size_t count = 0;
    prune_begin(&course, prune);
    while (!course.is_over) {
        int64_t before = course.rows;
        assert_ok(store_prune_step(world->db, &course, &world->err));
        if (course.rows > before) {
            assert_true(count < max);
            rows[count++] = course.rows - before;
        }
    }
    return count;
}

static void
a_batch_has_at_most_so_many_rows(void **state)
{
    struct world *world = *state;
    static const char *const two[] = {"dead", "dead", NULL};
    struct prune small = usual;
    int64_t rows[8];
    for (size_t w = 0; w < COUNT(windows); w++) {
        for (int i = 0; i < 5; i++)
            an_old_one(world, WINDOW + DAY, windows[w], two);
        small.batch_rows = 6;
        assert_int_equal(steps(world, &small, rows, 8), 3);
        assert_int_equal(rows[0], 6);
        assert_int_equal(rows[1], 6);
        assert_int_equal(rows[2], 3);
        for (int i = 0; i < 2; i++)
            an_old_one(world, WINDOW + DAY, windows[w], two);
        small.batch_rows = 5;
        assert_int_equal(steps(world, &small, rows, 8), 2);
        assert_int_equal(rows[0], 3);
    }
}

static void
the_oldest_go_first_in_each_arm(void **state)
{
    struct world *world = *state;
    static const char *const good[] = {"succeeded", NULL};
    struct prune one = usual;
    one.limit = 1;
    for (size_t i = 0; i < COUNT(keepings); i++) {
        int64_t first = an_old_one(world, WINDOW + DAY, keepings[i], good);
        int64_t second = an_old_one(world, WINDOW + DAY, keepings[i], good);
        assert_int_equal(prune(world, &one), 1);
        assert_false(is_there(world, first));
        assert_int_equal(prune(world, &one), 1);
        assert_false(is_there(world, second));
    }
}

static void
an_event_of_more_than_a_batch_goes_in_pieces(void **state)
{
    struct world *world = *state;
    static const char *const twelve[] = {"dead", "succeeded", "dead", "succeeded", "dead", "dead",
        "dead", "dead", "dead", "dead", "dead", "dead", NULL};
    struct prune small = usual;
    small.batch_rows = 5;
    int64_t rows[8];
    // Twelve deliveries: 5, 5, and 2 with the event.
    an_old_one(world, WINDOW + DAY, "", twelve);
    assert_int_equal(steps(world, &small, rows, 8), 3);
    assert_int_equal(rows[0], 5);
    assert_int_equal(rows[1], 5);
    assert_int_equal(rows[2], 3);
    // Four and itself are a batch; five are not.
    an_old_one(world, WINDOW + DAY, "", twelve + 8);
    assert_int_equal(steps(world, &small, rows, 8), 1);
    assert_int_equal(rows[0], 5);
    an_old_one(world, WINDOW + DAY, "", twelve + 7);
    assert_int_equal(steps(world, &small, rows, 8), 2);
    assert_int_equal(rows[0], 5);
    assert_int_equal(rows[1], 1);
    assert_int_equal(count_of(world, "owed_event"), 0);
    assert_int_equal(count_of(world, "owed_delivery"), 0);
}

static void
an_event_in_pieces_goes_whatever_stays_behind_it(void **state)
{
    struct world *world = *state;
    static const char *const six[] = {"dead", "dead", "dead", "dead", "dead", "dead", NULL};
    static const char *const owed[] = {"pending", NULL};
    struct prune small = usual;
    small.batch_rows = 4;
    for (size_t w = 0; w < COUNT(windows); w++) {
        int64_t wide = an_old_one(world, WINDOW + DAY, windows[w], six);
        int64_t young = an_old_one(world, 0, windows[w], six);
        int64_t held = an_old_one(world, WINDOW + DAY, windows[w], owed);
        int64_t rows[8];
        assert_int_equal(steps(world, &small, rows, 8), 2);
        assert_int_equal(rows[0], 4);
        assert_int_equal(rows[1], 3);
        assert_false(is_there(world, wide));
        assert_true(is_there(world, young));
        assert_true(is_there(world, held));
    }
}

static void
a_piece_is_found_due_once_more(void **state)
{
    struct world *world = *state;
    static const char *const six[] = {"dead", "dead", "dead", "dead", "dead", "dead", NULL};
    an_old_one(world, WINDOW + DAY, "", six);
    struct prune small = usual;
    small.batch_rows = 4;
    small.limit = 1;
    struct prune_course course = {0};
    prune_begin(&course, &small);
    while (course.rows == 0)
        assert_ok(store_prune_step(world->db, &course, &world->err));
    assert_int_equal(count_of(world, "owed_delivery"), 2);
    raw_run(plain(world), "update owed_delivery set status = 'pending'");
    while (!course.is_over)
        assert_ok(store_prune_step(world->db, &course, &world->err));
    assert_int_equal(course.events, 0);
    assert_int_equal(count_of(world, "owed_event"), 1);
    assert_int_equal(count_of(world, "owed_delivery"), 2);
}

/* look_first lets a course begin with a look, and answers how many events are gone at its end. */
static int64_t
look_first(struct world *world, bool *ret_is_over)
{
    struct prune_course course = {0};
    prune_begin(&course, &usual);
    assert_ok(store_prune_peek(world->db, &course, &world->err));
    assert_false(store_in_transaction(world->db));
    assert_int_equal(course.events, 0);
    *ret_is_over = course.is_over;
    while (!course.is_over)
        assert_ok(store_prune_step(world->db, &course, &world->err));
    return course.events;
}

static void
a_first_look_passes_over_what_stays_and_leaves_what_goes_to_the_next_step(void **state)
{
    struct world *world = *state;
    static const char *const owed[] = {"pending", NULL};
    static const char *const all[] = {"succeeded", NULL};
    bool is_over = false;
    for (size_t i = 0; i < COUNT(keepings); i++) {
        an_old_one(world, WINDOW + DAY, keepings[i], owed);
        assert_int_equal(look_first(world, &is_over), 0);
        assert_true(is_over);
    }
    for (size_t i = 0; i < COUNT(keepings); i++) {
        int64_t id = an_old_one(world, WINDOW + DAY, keepings[i], all);
        assert_int_equal(look_first(world, &is_over), 1);
        assert_false(is_over || is_there(world, id));
    }
    assert_int_equal(count_of(world, "owed_event"), COUNT(keepings));
}

static void
a_limit_counts_events_in_all_arms_together(void **state)
{
    struct world *world = *state;
    static const char *const two[] = {"succeeded", "succeeded", NULL};
    for (size_t i = 0; i < COUNT(keepings); i++)
        for (int k = 0; k < 2; k++)
            an_old_one(world, WINDOW + DAY, keepings[i], two);
    struct prune some = usual;
    some.limit = 0;
    assert_int_equal(prune(world, &some), 0);
    some.limit = 3;
    assert_int_equal(prune(world, &some), 3);
    assert_int_equal(count_of(world, "owed_event"), 5);
    some.limit = 100;
    assert_int_equal(prune(world, &some), 5);
}

static void
a_dry_run_counts_each_once_and_changes_nothing(void **state)
{
    struct world *world = *state;
    static const char *const two[] = {"succeeded", "succeeded", NULL};
    static const char *const dead[] = {"dead", NULL};
    for (size_t i = 0; i < COUNT(keepings); i++)
        an_old_one(world, WINDOW + DAY, keepings[i], two);
    an_old_one(world, WINDOW + DAY, "delete_when = 'succeeded'", dead);
    static const char *const owed[] = {"pending", NULL};
    for (size_t i = 0; i < COUNT(keepings); i++)
        an_old_one(world, WINDOW + DAY, keepings[i], owed);
    struct prune dry = usual;
    dry.dry_run = true;
    assert_int_equal(prune(world, &dry), 5);
    assert_int_equal(count_of(world, "owed_event"), 9);
    assert_int_equal(count_of(world, "owed_last_success"), 0);
    assert_int_equal(prune(world, &usual), 5);
}

/* --- beside others --- */

static void
what_was_made_owed_since_it_was_found_stays(void **state)
{
    struct world *world = *state;
    static const char *const dead[] = {"dead", NULL};
    int64_t id = an_old_one(world, WINDOW + DAY, "", dead);
    raw_run(plain(world), "update owed_delivery set status = 'pending'");
    an_old_one(world, WINDOW + DAY, "", dead); // which nobody found
    char ids[32];
    snprintf(ids, sizeof ids, "[%lld]", (long long)id);
    const struct forgetting forgetting = {
        .event_ids = str_of(ids), .once = "settled", .most_rows = 100};
    struct forgotten forgotten;
    assert_ok(store_begin(world->db, true, &world->err));
    assert_ok(forget(world->db, &forgetting, &forgotten, &world->err));
    assert_ok(store_commit(world->db, &world->err));
    assert_int_equal(forgotten.rows, 0);
    assert_true(is_there(world, id));
}

static void
an_event_that_somebody_holds_is_passed_over(void **state)
{
    struct world *world = *state;
    if (world->db->driver->contention == NULL)
        return; // a single writer waits for the other one
    static const char *const dead[] = {"dead", NULL};
    int64_t held = an_old_one(world, WINDOW + DAY, "", dead);
    int64_t free_one = an_old_one(world, WINDOW + DAY, "", dead);
    raw_run(plain(world), "begin");
    raw_runf(plain(world), "select id from owed_event where id = %lld for update", (long long)held);
    assert_int_equal(prune(world, &usual), 1);
    raw_run(plain(world), "commit");
    assert_true(is_there(world, held));
    assert_false(is_there(world, free_one));
    assert_int_equal(prune(world, &usual), 1);
}

static void
too_many_that_are_held_are_gone_around_next_time(void **state)
{
    struct world *world = *state;
    static const char *const dead[] = {"dead", NULL};
    publish_keys(world, (const char *const[]){"shop.billing", NULL});
    for (int i = 0; i < 501; i++)
        fire(world, EVENT);
    raw_runf(plain(world), "update owed_event set recorded_at = moment(%lld)",
        (long long)(NOW - WINDOW - DAY));
    int64_t behind = an_old_one(world, WINDOW + DAY, "", dead);
    raw_runf(plain(world), "update owed_delivery set status = 'dead' where event_id = %lld",
        (long long)behind);
    struct prune wary = usual;
    wary.most_held = 100;
    struct prune_course course = {0};
    for (int i = 0; i < 2; i++) {
        assert_true(is_there(world, behind));
        prune_begin(&course, &wary);
        while (!course.is_over)
            assert_ok(store_prune_step(world->db, &course, &world->err));
    }
    assert_false(is_there(world, behind));
}

static void
more_held_ones_than_a_page_has_stop_nobody(void **state)
{
    struct world *world = *state;
    static const char *const dead[] = {"dead", NULL};
    static const char *const ways[] = {"retention_seconds = 60", "delete_when = 'settled'"};
    publish_keys(world, (const char *const[]){"shop.billing", NULL});
    for (int i = 0; i < 501; i++)
        fire(world, EVENT);
    for (size_t i = 0; i < COUNT(ways); i++) {
        raw_run(plain(world), "update owed_event set retention_seconds = null, delete_when = ''");
        raw_runf(plain(world), "update owed_event set recorded_at = moment(%lld), %s",
            (long long)(NOW - WINDOW - DAY), ways[i]);
        int64_t behind = an_old_one(world, WINDOW + DAY, ways[i], dead);
        raw_runf(plain(world), "update owed_delivery set status = 'dead' where event_id = %lld",
            (long long)behind);
        assert_int_equal(prune(world, &usual), 1);
        assert_false(is_there(world, behind));
    }
}

/* --- what is kept of them --- */

static int64_t
last_success(struct world *world, const char *key)
{
    return raw_numberf(plain(world),
        "select micros(last_succeeded_at) from owed_last_success where receiver_key = '%s'", key);
}

static void
the_last_success_of_each_receiver_is_kept_and_never_moves_back(void **state)
{
    struct world *world = *state;
    static const char *const both[] = {"succeeded", "dead", NULL};
    an_old_one(world, DAY, "", both); // which stays, and with it its moment
    an_old_one(world, WINDOW + 3 * DAY, "", both);
    an_old_one(world, WINDOW + 2 * DAY, "", both);
    assert_int_equal(prune(world, &usual), 2);
    assert_int_equal(count_of(world, "owed_last_success"), 1);
    assert_int_equal(last_success(world, "shop.r0"), NOW - WINDOW - 2 * DAY);
    an_old_one(world, WINDOW + DAY, "", both);
    an_old_one(world, WINDOW + 5 * DAY, "", both);
    assert_int_equal(prune(world, &usual), 2);
    assert_int_equal(last_success(world, "shop.r0"), NOW - WINDOW - DAY);
    an_old_one(world, WINDOW + 4 * DAY, "", both);
    assert_int_equal(prune(world, &usual), 1);
    assert_int_equal(last_success(world, "shop.r0"), NOW - WINDOW - DAY);
    // What another receiver has is nothing to this one.
    an_old_one(world, WINDOW + 3 * DAY, "", both + 1);
    an_old_one(world, WINDOW + 3 * DAY, "", (const char *const[]){"dead", "succeeded", NULL});
    assert_int_equal(prune(world, &usual), 2);
    assert_int_equal(last_success(world, "shop.r1"), NOW - WINDOW - 3 * DAY);
}

static void
what_was_tried_goes_along(void **state)
{
    struct world *world = *state;
    static const char *const dead[] = {"dead", NULL};
    int64_t id = only_delivery(world, an_old_one(world, WINDOW + DAY, "", dead));
    int64_t young = only_delivery(world, an_old_one(world, DAY, "", dead));
    for (int i = 0; i < 2; i++)
        raw_runf(plain(world),
            "insert into owed_attempt (delivery_id, attempt, started_at, verdict)"
            " values (%lld, 1, moment(1), 'failed')",
            (long long)(i == 0 ? id : young));
    assert_int_equal(prune(world, &usual), 1);
    assert_int_equal(raw_number(plain(world), "select delivery_id from owed_attempt"), young);
}

static bool
has_turn(struct world *world, struct db *db, int64_t stuck_seconds)
{
    bool is_ours = false;
    assert_ok(store_prune_turn(db, stuck_seconds, &is_ours, &world->err));
    return is_ours;
}

/* gets_turn asks until it has it: a server may take its time to see that a connection does nothing. */
static bool
gets_turn(struct world *world, struct db *db, int64_t stuck_seconds)
{
    bool has = false;
    for (int i = 0; i < ASKED_MOST && !has; i++)
        has = has_turn(world, db, stuck_seconds);
    return has;
}

static void
one_deletes_at_a_time_where_the_commits_of_several_would_be_waited_for(void **state)
{
    struct world *world = *state;
    bool one_at_a_time = world->db->driver->sql->statements[STMT_PRUNE_TURN] != NULL;
    assert_true(has_turn(world, world->db, 60));
    assert_true(has_turn(world, world->db, 60));
    assert_int_equal(has_turn(world, world->other, 60), !one_at_a_time);
    store_prune_leave(world->other); // it had none to leave
    assert_int_equal(has_turn(world, world->other, 60), !one_at_a_time);
    assert_true(gets_turn(world, world->other, 0)); // nobody has to be waited for that long
    store_prune_leave(world->db);                   // however often it was asked for
    assert_true(has_turn(world, world->other, 60));
    assert_int_equal(has_turn(world, world->db, 60), !one_at_a_time);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_owed_keeps_its_event_whatever_its_age),
        TEST(the_ordinary_window_ends_what_has_ended_and_is_older),
        TEST(a_window_of_its_own_goes_before_the_ordinary_one),
        TEST(what_goes_when_it_has_succeeded_is_held_by_whatever_did_not),
        TEST(what_goes_when_it_has_settled_goes_however_it_ended),
        TEST(a_batch_has_at_most_so_many_rows),
        TEST(the_oldest_go_first_in_each_arm),
        TEST(an_event_of_more_than_a_batch_goes_in_pieces),
        TEST(an_event_in_pieces_goes_whatever_stays_behind_it),
        TEST(a_piece_is_found_due_once_more),
        TEST(a_limit_counts_events_in_all_arms_together),
        TEST(a_dry_run_counts_each_once_and_changes_nothing),
        TEST(what_was_made_owed_since_it_was_found_stays),
        TEST(an_event_that_somebody_holds_is_passed_over),
        TEST(too_many_that_are_held_are_gone_around_next_time),
        TEST(more_held_ones_than_a_page_has_stop_nobody),
        TEST(the_last_success_of_each_receiver_is_kept_and_never_moves_back),
        TEST(what_was_tried_goes_along),
        TEST(a_first_look_passes_over_what_stays_and_leaves_what_goes_to_the_next_step),
        TEST(one_deletes_at_a_time_where_the_commits_of_several_would_be_waited_for),
    };
    return run_on_all_stores("store prune", tests, COUNT(tests));
}
