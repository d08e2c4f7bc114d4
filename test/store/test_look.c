/* SPDX-License-Identifier: MIT
 *
 * test_look.c - counting, listing, and making ended rows owed again.
 */
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct status_line *
line_of(const struct status *status, const char *key)
{
    for (size_t i = 0; i < status->count; i++)
        if (strcmp(status->lines[i].receiver_key, key) == 0)
            return &status->lines[i];
    return NULL;
}

static void
settle(struct world *world, size_t i, const char *status)
{
    struct settlement settlement = a_settlement(&world->rows[i].fence, status);
    assert_ok(store_settle(world->db, &settlement, 1, NULL, &world->err));
}

static void
status_counts_what_is_owed_and_what_ended_badly(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {"shop.a", NULL};
    publish_keys(world, keys);
    for (int i = 0; i < 9; i++)
        fire_due(world, NOW + i); // recorded at NOW
    fire_due(world, NOW + 1000 * SECOND);
    assert_int_equal(claim_as(world, "w", NOW + 10, 7), 7);
    settle(world, 0, "succeeded");
    settle(world, 1, "dead");
    settle(world, 2, "orphaned");
    settle(world, 3, "failed"); // again at NOW + 10 s
    assert_ok(store_hand_back(world->db, &world->rows[4].fence, 1, NULL, &world->err));
    assert_ok(store_renew(world->db, &world->rows[5].fence, NOW + LEASE * 2, &world->err));

    struct status status;
    int64_t now = NOW + 10 + LEASE + 1; // of the two that are held, one has lapsed
    assert_ok(store_status(world->other, now, &world->arena, &status, &world->err));
    assert_int_equal(status.events, 10);
    assert_int_equal(status.count, 1);
    const struct status_line *line = line_of(&status, "shop.a");
    assert_non_null(line);
    assert_string_equal(line->lane, LANE);
    assert_int_equal(line->owed, 7);
    assert_int_equal(line->due, 5); // failed, handed back, lapsed, two pending
    assert_int_equal(line->scheduled, 1);
    assert_int_equal(line->claimed, 3);
    assert_int_equal(line->lapsed, 1);
    assert_int_equal(line->handed_back, 1);
    assert_int_equal(line->failed, 1);
    assert_int_equal(line->dead, 1);
    assert_int_equal(line->orphaned, 1);
    assert_int_equal(line->oldest_due_at_us, NOW + 4);
    assert_int_equal(status.total.owed, 7);
    assert_int_equal(status.total.dead, 1);
    assert_int_equal(status.total.oldest_due_at_us, NOW + 4);
}

static void
status_has_what_a_paused_receiver_is_owed_in_its_own_lane(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {"shop.a", NULL};
    publish_keys(world, keys);
    fire(world, EVENT);
    const struct pausing pausing = {
        .receiver_key = "shop.a", .now_us = NOW, .who = "ann@host", .reason = ""};
    int64_t receivers;
    assert_ok(store_pause(world->db, &pausing, &receivers, &world->err));
    fire(world, EVENT);
    struct status status;
    assert_ok(store_status(world->db, NOW, &world->arena, &status, &world->err));
    assert_int_equal(status.count, 1);
    assert_int_equal(status.lines[0].owed, 2);
    assert_int_equal(status.total.held, 2);
    assert_int_equal(status.total.due, 0);
    assert_int_equal(status.total.oldest_due_at_us, 0);
    assert_string_equal(status.lines[0].lane, LANE);
    assert_int_equal(status.events, 2);
    assert_false(status.more_events);
}

static void
status_lists_receivers_by_most_owed_then_most_dead_then_key(void **state)
{
    struct world *world = *state;
    int64_t event_id = fire(world, EVENT);
    static const struct {
        const char *key;
        int owed;
        int dead;
    } receivers[] = {
        {"r.few", 1, 0}, {"r.b", 0, 1}, {"r.a", 0, 1}, {"r.dead", 0, 2}, {"r.many", 2, 0}};
    for (size_t i = 0; i < COUNT(receivers); i++)
        for (int n = 0; n < receivers[i].owed + receivers[i].dead; n++) {
            struct new_delivery owed = {.event_id = event_id + n,
                .receiver_key = receivers[i].key,
                .lane = receivers[i].dead > 0 ? LANE : "shop/later",
                .kind = "inside",
                .max_attempts = 5,
                .available_at_us = NOW};
            assert_ok(store_insert_delivery(world->db, &owed, &world->err));
        }
    // Rows of events that are not there are put away by the claim: make those events first.
    fire(world, EVENT);
    size_t count = claim_as(world, "w", NOW, 10);
    assert_int_equal(count, 4);
    for (size_t i = 0; i < count; i++)
        settle(world, i, "dead");
    struct status status;
    assert_ok(store_status(world->db, NOW, &world->arena, &status, &world->err));
    static const char *const order[] = {"r.many", "r.few", "r.dead", "r.a", "r.b"};
    assert_int_equal(status.count, COUNT(order));
    for (size_t i = 0; i < COUNT(order); i++)
        assert_string_equal(status.lines[i].receiver_key, order[i]);
}

static void
events_come_in_pages_newest_first(void **state)
{
    struct world *world = *state;
    int64_t ids[5];
    for (int i = 0; i < 5; i++)
        ids[i] = fire(world, i % 2 == 0 ? EVENT : "shop.Other");
    struct filter filter = {.limit = 2};
    struct event_row *events;
    size_t count;
    assert_ok(store_events(world->db, &filter, &world->arena, &events, &count, &world->err));
    assert_int_equal(count, 2);
    assert_int_equal(events[0].id, ids[4]);
    assert_int_equal(events[1].id, ids[3]);
    filter.before_id = ids[3];
    filter.limit = 10;
    assert_ok(store_events(world->db, &filter, &world->arena, &events, &count, &world->err));
    assert_int_equal(count, 3);
    assert_int_equal(events[0].id, ids[2]);
    assert_int_equal(events[0].payload.len, 0);
    filter.event_name = "shop.Other";
    filter.before_id = 0;
    assert_ok(store_events(world->db, &filter, &world->arena, &events, &count, &world->err));
    assert_int_equal(count, 2);
    assert_int_equal(events[0].id, ids[3]);
}

static void
events_are_found_by_correlation_id(void **state)
{
    struct world *world = *state;
    struct new_event event = an_event(EVENT);
    int64_t id, last = 0;
    bool fresh;
    for (int i = 0; i < 4; i++) {
        event.correlation_id = i % 2 == 0 ? "c-1" : "c-2";
        event.name = i < 2 ? EVENT : "shop.Other";
        assert_ok(store_insert_event(world->db, &event, &id, &fresh, &world->err));
        last = i == 2 ? id : last;
    }
    struct filter filter = {.limit = 10, .correlation_id = "c-1"};
    struct event_row *events;
    size_t count;
    assert_ok(store_events(world->db, &filter, &world->arena, &events, &count, &world->err));
    assert_int_equal(count, 2);
    assert_int_equal(events[0].id, last);
    filter.event_name = "shop.Other";
    assert_ok(store_events(world->db, &filter, &world->arena, &events, &count, &world->err));
    assert_int_equal(count, 1);
}

static void
an_event_tells_how_much_of_it_is_still_owed(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {"shop.a", "shop.b", "shop.c", NULL};
    publish_keys(world, keys);
    int64_t id = fire(world, EVENT);
    claim_as(world, "w", NOW, 2);
    settle(world, 0, "succeeded");
    struct event_row event;
    assert_ok(store_event(world->db, id, &world->arena, &event, &world->err));
    assert_int_equal(event.owed, 2);
    assert_int_equal(event.deliveries, 3);
    assert_int_equal(
        store_event(world->db, id + 1, &world->arena, &event, &world->err), OWED_NOT_FOUND);
}

static void
deliveries_are_filtered_by_everything_that_is_said(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {"shop.a", "shop.b", NULL};
    publish_keys(world, keys);
    struct new_event event = an_event(EVENT);
    event.correlation_id = "c-7";
    int64_t first;
    bool fresh;
    assert_ok(store_insert_event(world->db, &event, &first, &fresh, &world->err));
    fire(world, EVENT);
    claim_as(world, "w", NOW, 2);
    settle(world, 0, "dead");
    settle(world, 1, "succeeded");
    const struct {
        struct filter filter;
        size_t count;
    } cases[] = {
        {{.limit = 100}, 4},
        {{.limit = 3}, 3},
        {{.limit = 100, .receiver_key = "shop.a"}, 2},
        {{.limit = 100, .receiver_key = "shop.x"}, 0},
        {{.limit = 100, .status = "pending"}, 2},
        {{.limit = 100, .status = "dead"}, 1},
        {{.limit = 100, .status = "dead", .receiver_key = "shop.x"}, 0},
        {{.limit = 100, .status = "orphaned"}, 0},
        {{.limit = 100, .lane = LANE}, 4},
        {{.limit = 100, .lane = "shop/x"}, 0},
        {{.limit = 100, .event_name = EVENT}, 4},
        {{.limit = 100, .event_name = "x"}, 0},
        {{.limit = 100, .event_id = first}, 2},
        {{.limit = 1, .event_id = first}, 1},
        {{.limit = 100, .event_id = first, .status = "dead"}, 1},
        {{.limit = 100, .correlation_id = "c-7"}, 2},
        {{.limit = 100, .correlation_id = "c-7", .status = "succeeded"}, 1},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct delivery_row *rows;
        size_t count;
        assert_ok(store_deliveries(
            world->db, &cases[i].filter, &world->arena, &rows, &count, &world->err));
        if (count != cases[i].count)
            print_error("case %zu: %zu rows\n", i, count);
        assert_int_equal(count, cases[i].count);
        for (size_t k = 1; k < count; k++)
            assert_true(rows[k].id < rows[k - 1].id);
        if (count > 0)
            assert_string_equal(rows[0].event_name, EVENT);
    }
}

static void
a_delivery_that_is_not_there_is_not_found(void **state)
{
    struct world *world = *state;
    struct delivery_row row;
    assert_int_equal(
        store_delivery(world->db, 5, &world->arena, &row, &world->err), OWED_NOT_FOUND);
    assert_non_null(strstr(world->err.text, "delivery 5"));
}

static int64_t
requeue(struct world *world, const struct requeue *asked)
{
    int64_t count = -1;
    assert_ok(store_requeue(world->db, asked, &count, &world->err));
    return count;
}

static void
a_requeued_row_is_as_good_as_new(void **state)
{
    struct world *world = *state;
    int64_t id = bring_to(world, "dead");
    struct catalogue_receiver moved = a_receiver("shop.billing");
    moved.lane = "shop/later";
    moved.kind = "outside";
    publish(world, &moved, 1);
    struct requeue all = {.limit = -1, .now_us = NOW + 99 * SECOND};
    assert_int_equal(requeue(world, &all), 1);
    struct delivery_row row = delivery(world, id);
    assert_string_equal(row.status, "pending");
    assert_int_equal(row.attempts, 0);
    assert_int_equal(row.available_at_us, NOW + 99 * SECOND);
    assert_int_equal(row.due_at_us, NOW + 99 * SECOND);
    assert_string_equal(row.last_error, "");
    assert_int_equal(row.completed_at_us, 0);
    assert_string_equal(row.lane, "shop/later");
    assert_string_equal(row.kind, "outside");
    assert_int_equal(requeue(world, &all), 0);
}

static void
requeue_takes_what_it_was_asked_to(void **state)
{
    struct world *world = *state;
    int64_t ids[4];
    for (int i = 0; i < 4; i++)
        ids[i] = bring_to(world, i == 3 ? "orphaned" : "dead");
    struct requeue none = {.ids = ids, .id_count = 0, .limit = -1, .now_us = NOW};
    assert_int_equal(requeue(world, &none), 0);
    struct requeue zero = {.limit = 0, .now_us = NOW};
    assert_int_equal(requeue(world, &zero), 0);
    struct requeue other = {.receiver_key = "shop.other", .limit = -1, .now_us = NOW};
    assert_int_equal(requeue(world, &other), 0);
    int64_t owed = only_delivery(world, fire(world, EVENT));
    struct requeue dry = {.limit = -1, .now_us = NOW, .dry_run = true, .orphaned = true};
    assert_int_equal(requeue(world, &dry), 4);
    dry.orphaned = false;
    assert_int_equal(requeue(world, &dry), 3);
    dry.limit = 2;
    assert_int_equal(requeue(world, &dry), 2);
    dry.limit = -1;
    dry.orphaned = true;
    dry.ids = (int64_t[]){owed, ids[0], ids[3]};
    dry.id_count = 3;
    assert_int_equal(requeue(world, &dry), 2);
    assert_string_equal(status_of(world, ids[0]), "dead");

    // In id order, whatever order they are named in, and each once.
    int64_t named[] = {ids[2], ids[1], ids[2], ids[3], 12345};
    struct requeue one = {.ids = named, .id_count = COUNT(named), .limit = 1, .now_us = NOW};
    assert_int_equal(requeue(world, &one), 1);
    assert_string_equal(status_of(world, ids[1]), "pending");
    assert_string_equal(status_of(world, ids[2]), "dead");
    one.limit = -1;
    assert_int_equal(requeue(world, &one), 1);
    assert_string_equal(status_of(world, ids[3]), "orphaned");
    one.orphaned = true;
    assert_int_equal(requeue(world, &one), 1);
    assert_string_equal(status_of(world, ids[3]), "pending");
    assert_string_equal(status_of(world, ids[0]), "dead");
}

static void
a_requeue_keeps_to_its_limit_and_its_receiver(void **state)
{
    struct world *world = *state;
    int64_t ids[3];
    for (int i = 0; i < 3; i++)
        ids[i] = bring_to(world, "dead");
    struct requeue other = {
        .ids = ids, .id_count = 3, .receiver_key = "shop.other", .limit = -1, .now_us = NOW};
    assert_int_equal(requeue(world, &other), 0);
    struct requeue one = {.limit = 1, .now_us = NOW};
    assert_int_equal(requeue(world, &one), 1);
    assert_string_equal(status_of(world, ids[0]), "pending");
    assert_string_equal(status_of(world, ids[1]), "dead");
    assert_string_equal(status_of(world, ids[2]), "dead");
}

static void
a_row_that_is_held_again_is_not_reset_by_a_requeue_that_saw_it_dead(void **state)
{
    struct world *world = *state;
    int64_t id = bring_to(world, "claimed");
    char ids[40];
    snprintf(ids, sizeof ids, "[%lld]", (long long)id);
    const struct value values[] = {
        {.type = VALUE_TEXT, .bytes = str_of(ids)}, {.type = VALUE_TIME, .integer = NOW}};
    struct rows *rows;
    int64_t changed = -1;
    assert_ok(
        world->db->driver->run(world->db, STMT_REQUEUE, values, COUNT(values), &rows, &world->err));
    assert_ok(world->db->driver->finish(rows, &changed, &world->err));
    assert_int_equal(changed, 0);
    assert_string_equal(status_of(world, id), "claimed");
}

static void
orphans_come_back_only_with_their_receiver(void **state)
{
    struct world *world = *state;
    int64_t id = bring_to(world, "orphaned");
    assert_ok(store_retire(world->db, "shop", NOW, NULL, &world->err));
    struct requeue all = {.limit = -1, .now_us = NOW, .orphaned = true};
    struct requeue named = all;
    named.ids = &id;
    named.id_count = 1;
    assert_int_equal(requeue(world, &all), 0);
    assert_int_equal(requeue(world, &named), 0);
    // Another one is there, and theirs is not.
    static const char *const other[] = {"shop.other", NULL};
    publish_keys(world, other);
    assert_int_equal(requeue(world, &all), 0);
    assert_int_equal(requeue(world, &named), 0);
    static const char *const keys[] = {"shop.billing", NULL};
    publish_keys(world, keys);
    assert_int_equal(requeue(world, &all), 1);
    assert_string_equal(status_of(world, id), "pending");
}

static void
requeue_takes_more_ids_than_a_statement_has_room_for(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {"shop.a", NULL};
    publish_keys(world, keys);
    enum { ROWS = 1200, NAMED = 40000 };
    assert_ok(store_begin(world->db, true, &world->err));
    for (int i = 0; i < ROWS; i++)
        fire(world, EVENT);
    assert_ok(store_commit(world->db, &world->err));
    assert_int_equal(claim_as(world, "w", NOW, ROWS), ROWS);
    struct settlement *dead = calloc(ROWS, sizeof *dead);
    for (size_t i = 0; i < ROWS; i++)
        dead[i] = a_settlement(&world->rows[i].fence, "dead");
    assert_ok(store_settle(world->db, dead, ROWS, NULL, &world->err));
    free(dead);
    int64_t *ids = calloc(NAMED, sizeof *ids);
    for (int i = 0; i < NAMED; i++)
        ids[i] = i;
    struct requeue named = {.ids = ids, .id_count = NAMED, .limit = 1100, .now_us = NOW};
    assert_int_equal(requeue(world, &named), 1100);
    free(ids);
    struct requeue rest = {.limit = -1, .now_us = NOW};
    assert_int_equal(requeue(world, &rest), 100);
}

static void
a_delivery_whose_event_was_deleted_ends_and_blocks_nobody(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {"shop.a", NULL};
    publish_keys(world, keys);
    struct new_delivery lonely = {.event_id = 4711,
        .receiver_key = "shop.a",
        .lane = LANE,
        .kind = "inside",
        .max_attempts = 5,
        .available_at_us = NOW - SECOND};
    assert_ok(store_insert_delivery(world->db, &lonely, &world->err));
    int64_t good = only_delivery(world, fire(world, EVENT));
    assert_int_equal(claim_as(world, "w", NOW, 1), 1);
    assert_int_equal(world->rows[0].fence.delivery_id, good);
    struct delivery_row row = delivery(world, only_delivery(world, 4711));
    assert_string_equal(row.status, "orphaned");
    assert_non_null(strstr(row.last_error, "event"));
}

/* --- payloads --- */

static void
payloads_of_what_is_owed_come_in_pages_by_id(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {"shop.a", "shop.b", "shop.c", NULL};
    static const char *const ends[] = {"succeeded", "dead", "orphaned", "failed"};
    publish_keys(world, keys);
    for (int i = 0; i < 6; i++)
        fire_due(world, NOW + i); // three deliveries each
    struct claim claim_all = a_claim("w", NOW + 10, 18);
    size_t count = claim(world, &claim_all);
    assert_int_equal(count, 18);
    int64_t owed[18];
    size_t owed_count = 0;
    // Of the first four events something has ended, the fifth is held, the last is handed back.
    for (size_t i = 0; i < count; i++) {
        bool is_c = strcmp(world->rows[i].receiver_key, "shop.c") == 0;
        if (i < 12)
            settle(world, i, ends[i / 3]);
        if (i >= 15)
            assert_ok(store_hand_back(world->db, &world->rows[i].fence, 1, NULL, &world->err));
        if (i >= 9 && !is_c)
            owed[owed_count++] = world->rows[i].fence.delivery_id;
    }
    assert_int_equal(owed_count, 6);

    int64_t after_id = 0;
    for (size_t at = 0; at < owed_count; at += 4) {
        struct owed_payload *rows;
        assert_ok(store_owed_payloads(world->other, "[\"shop.b\",\"shop.a\"]", after_id, 4,
            &world->arena, &rows, &count, &world->err));
        assert_int_equal(count, at == 0 ? 4 : 2);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(rows[i].id, owed[at + i]);
            assert_string_equal(rows[i].receiver_key, (at + i) % 2 == 0 ? "shop.a" : "shop.b");
            assert_string_equal(rows[i].event_name, EVENT);
            assert_int_equal(rows[i].version, an_event(EVENT).version);
            assert_int_equal(rows[i].payload.len, an_event(EVENT).payload.len);
        }
        after_id = rows[count - 1].id;
    }
}

static void
a_payload_that_is_owed_is_that_of_its_event(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {"shop.a", NULL};
    publish_keys(world, keys);
    for (int version = 1; version <= 2; version++) {
        struct new_event event = an_event(EVENT);
        int64_t id = 0;
        bool fresh = false;
        event.version = version;
        event.uid[0] = (uint8_t)version;
        event.payload = str_of(version == 1 ? "{\"n\": 1}" : "{\"n\":  2}");
        assert_ok(store_begin(world->db, true, &world->err));
        assert_ok(store_insert_event(world->db, &event, &id, &fresh, &world->err));
        assert_ok(store_commit(world->db, &world->err));
    }
    struct owed_payload *rows;
    size_t count = 0;
    assert_ok(store_owed_payloads(
        world->other, "[\"shop.a\"]", 0, 10, &world->arena, &rows, &count, &world->err));
    assert_int_equal(count, 2);
    assert_int_equal(rows[0].version, 1);
    assert_memory_equal(rows[0].payload.p, "{\"n\": 1}", 8);
    assert_int_equal(rows[1].version, 2);
    assert_memory_equal(rows[1].payload.p, "{\"n\":  2}", 9);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(status_counts_what_is_owed_and_what_ended_badly),
        TEST(status_has_what_a_paused_receiver_is_owed_in_its_own_lane),
        TEST(status_lists_receivers_by_most_owed_then_most_dead_then_key),
        TEST(events_come_in_pages_newest_first),
        TEST(events_are_found_by_correlation_id),
        TEST(an_event_tells_how_much_of_it_is_still_owed),
        TEST(deliveries_are_filtered_by_everything_that_is_said),
        TEST(a_delivery_that_is_not_there_is_not_found),
        TEST(a_requeued_row_is_as_good_as_new),
        TEST(requeue_takes_what_it_was_asked_to),
        TEST(a_requeue_keeps_to_its_limit_and_its_receiver),
        TEST(a_row_that_is_held_again_is_not_reset_by_a_requeue_that_saw_it_dead),
        TEST(orphans_come_back_only_with_their_receiver),
        TEST(requeue_takes_more_ids_than_a_statement_has_room_for),
        TEST(a_delivery_whose_event_was_deleted_ends_and_blocks_nobody),
        TEST(payloads_of_what_is_owed_come_in_pages_by_id),
        TEST(a_payload_that_is_owed_is_that_of_its_event),
    };
    return run_on_all_stores("store look", tests, COUNT(tests));
}
