/* SPDX-License-Identifier: MIT
 *
 * test_act.c - what operators do to deliveries: withdraw them, and have their events replayed.
 */
#include "world.h"

#include <pthread.h>
#include <string.h>

#include "raw.h"

static struct requeue
of(const int64_t *id)
{
    return (struct requeue){.ids = id, .id_count = 1, .limit = -1, .now_us = NOW + SECOND};
}

/* --- cancel --- */

static int64_t
cancel(struct world *world, const struct requeue *which, int64_t *ret_running)
{
    int64_t count = -1;
    assert_ok(store_cancel(world->db, which, &count, ret_running, &world->err));
    return count;
}

static void
what_is_owed_is_withdrawn_and_nothing_else(void **state)
{
    struct world *world = *state;
    static const char *const owed[] = {"pending", "failed"};
    static const char *const ended[] = {"succeeded", "dead", "orphaned"};
    for (size_t i = 0; i < COUNT(ended); i++) {
        int64_t id = bring_to(world, ended[i]);
        struct requeue which = of(&id);
        assert_int_equal(cancel(world, &which, NULL), 0);
        assert_string_equal(status_of(world, id), ended[i]);
        which.dry_run = true;
        assert_int_equal(cancel(world, &which, NULL), 0);
        which.id_count = 0;
        which.ids = NULL;
        assert_int_equal(cancel(world, &which, NULL), 0);
    }
    for (size_t i = 0; i < COUNT(owed); i++) {
        int64_t id = bring_to(world, owed[i]);
        const struct requeue which = of(&id);
        // Nobody runs it, whatever is left of a lease.
        raw_runf(plain(world),
            "update owed_delivery set lease_expires_at = moment(%lld) where id = %lld",
            (long long)(NOW + LEASE), (long long)id);
        int64_t running = -1;
        assert_int_equal(cancel(world, &which, &running), 1);
        assert_int_equal(running, 0);
        struct delivery_row row = delivery(world, id);
        assert_string_equal(row.status, "cancelled");
        assert_int_equal(row.completed_at_us, NOW + SECOND);
        assert_int_equal(claim_as(world, "second", NOW + 100 * LEASE, 10), 0);
        // It is not requeued.
        assert_ok(store_requeue(world->db, &which, NULL, &world->err));
        assert_string_equal(status_of(world, id), "cancelled");
    }
}

static void
of_a_cancel_and_an_outcome_one_wins(void **state)
{
    struct world *world = *state;
    int64_t id = bring_to(world, "claimed");
    struct settlement done = a_settlement(&world->rows[0].fence, "succeeded");
    const struct requeue which = of(&id);
    int64_t running = 0;
    assert_int_equal(cancel(world, &which, &running), 1);
    assert_int_equal(running, 1);
    assert_int_equal(store_settle(world->db, &done, 1, NULL, &world->err), OWED_LOST);
    assert_int_equal(store_renew(world->db, &done.fence, NOW + 2 * LEASE, &world->err), OWED_LOST);
    assert_string_equal(status_of(world, id), "cancelled");

    int64_t other = bring_to(world, "claimed");
    done = a_settlement(&world->rows[0].fence, "succeeded");
    assert_ok(store_settle(world->db, &done, 1, NULL, &world->err));
    const struct requeue late = of(&other);
    assert_int_equal(cancel(world, &late, NULL), 0);
    assert_string_equal(status_of(world, other), "succeeded");
}

/* Who acts on one delivery on the other connection, and what came of it. */
struct rival {
    struct world *world;
    owed_status (*act)(
        struct db *db, const struct requeue *which, int64_t *ret_count, owed_error *err);
    int64_t id;
    int64_t count;
};

static void *
act_too(void *state)
{
    struct rival *rival = state;
    const struct requeue which = of(&rival->id);
    owed_error err = {0};
    if (rival->act(rival->world->other, &which, &rival->count, &err) != OWED_OK)
        print_error("the other: %s\n", err.text);
    return NULL;
}

static owed_status
cancel_only(struct db *db, const struct requeue *which, int64_t *ret_count, owed_error *err)
{
    return store_cancel(db, which, ret_count, NULL, err);
}

/* act_behind has the rival act while what was written before is not committed yet. */
static int64_t
act_behind(struct rival *rival, bool commits)
{
    struct world *world = rival->world;
    bool waits =
        world->db->driver->contention != NULL; // for the row; else a single writer has it wait
    int64_t session = waits ? raw_session(raw_of(world->other)) : 0;
    pthread_t thread;
    rival->count = -1;
    assert_int_equal(pthread_create(&thread, NULL, act_too, rival), 0);
    if (waits)
        raw_await_waiter(plain(world), session);
    if (commits)
        assert_ok(store_commit(world->db, &world->err));
    else
        store_rollback(world->db);
    assert_int_equal(pthread_join(thread, NULL), 0);
    return rival->count;
}

static void
a_cancel_that_finds_it_claimed_waits_for_the_outcome_that_is_being_written(void **state)
{
    struct world *world = *state;
    for (int commits = 0; commits < 2; commits++) {
        struct rival rival = {world, cancel_only, bring_to(world, "claimed"), 0};
        struct settlement done = a_settlement(&world->rows[0].fence, "succeeded");
        assert_ok(store_begin(world->db, true, &world->err));
        assert_ok(store_settle(world->db, &done, 1, NULL, &world->err));
        assert_int_equal(act_behind(&rival, commits == 1), commits ? 0 : 1);
        assert_string_equal(status_of(world, rival.id), commits ? "succeeded" : "cancelled");
    }
}

static void
a_requeue_that_finds_it_dead_leaves_it_to_whoever_requeued_it_before(void **state)
{
    struct world *world = *state;
    for (int commits = 0; commits < 2; commits++) {
        struct rival rival = {world, store_requeue, bring_to(world, "dead"), 0};
        const struct requeue first = of(&rival.id);
        int64_t count = 0;
        assert_ok(store_begin(world->db, true, &world->err));
        assert_ok(store_requeue(world->db, &first, &count, &world->err));
        assert_int_equal(count, 1);
        assert_int_equal(act_behind(&rival, commits == 1), commits ? 0 : 1);
        assert_string_equal(status_of(world, rival.id), "pending");
    }
}

static void
a_cancel_takes_what_it_was_asked_to(void **state)
{
    struct world *world = *state;
    publish_keys(world, (const char *const[]){"shop.billing", "shop.mail", NULL});
    for (int i = 0; i < 3; i++)
        fire(world, EVENT);
    struct requeue which = {
        .receiver_key = "shop.mail", .limit = -1, .now_us = NOW, .dry_run = true};
    assert_int_equal(cancel(world, &which, NULL), 3);
    assert_int_equal(
        raw_number(plain(world), "select count(*) from owed_delivery where status = 'cancelled'"),
        0);
    which.dry_run = false;
    which.limit = 2;
    assert_int_equal(cancel(world, &which, NULL), 2);
    assert_int_equal(raw_number(plain(world),
                         "select count(*) from owed_delivery where status = 'cancelled' and"
                         " receiver_key = 'shop.mail'"),
        2);
    which.receiver_key = NULL;
    int64_t some = raw_number(
        plain(world), "select max(id) from owed_delivery where receiver_key = 'shop.billing'");
    which.ids = &some;
    which.id_count = 1;
    which.dry_run = true;
    assert_int_equal(cancel(world, &which, NULL), 1);
    which.ids = NULL;
    which.id_count = 0;
    which.dry_run = false;
    which.limit = 0;
    assert_int_equal(cancel(world, &which, NULL), 0);
    which.limit = -1;
    assert_int_equal(cancel(world, &which, NULL), 4);
    const struct requeue none = {.ids = &(int64_t){1}, .id_count = 0, .limit = -1, .now_us = NOW};
    assert_int_equal(cancel(world, &none, NULL), 0);
}

/* --- requeue --- */

static void
a_requeue_is_narrowed_by_error_and_by_time(void **state)
{
    struct world *world = *state;
    int64_t slow = bring_to(world, "dead");
    int64_t wrong = bring_to(world, "dead");
    raw_runf(plain(world),
        "update owed_delivery set last_error = 'it timed out: 5%% off' where id = %lld",
        (long long)slow);
    raw_runf(plain(world), "update owed_delivery set completed_at = moment(%lld) where id = %lld",
        (long long)(NOW + 9 * SECOND), (long long)wrong);
    struct requeue dry = {.limit = -1, .now_us = NOW, .dry_run = true};
    int64_t count = 0;
    const int64_t both[] = {slow, wrong};
    for (int by_id = 0; by_id < 2; by_id++) {
        dry.ids = by_id == 0 ? NULL : both;
        dry.id_count = by_id == 0 ? 0 : 2;
        dry.error_text = "timed out: 5% off";
        assert_ok(store_requeue(world->db, &dry, &count, &world->err));
        assert_int_equal(count, 1);
        dry.error_text = "timed_out";
        assert_ok(store_requeue(world->db, &dry, &count, &world->err));
        assert_int_equal(count, 0);
        dry.error_text = NULL;
        dry.since_us = NOW + 9 * SECOND;
        assert_ok(store_requeue(world->db, &dry, &count, &world->err));
        assert_int_equal(count, 1);
        dry.since_us++;
        assert_ok(store_requeue(world->db, &dry, &count, &world->err));
        assert_int_equal(count, 0);
        dry.since_us = 0;
        dry.until_us = NOW + 9 * SECOND;
        assert_ok(store_requeue(world->db, &dry, &count, &world->err));
        assert_int_equal(count, 1);
        dry.until_us = 0;
    }
}

/* --- replay --- */

static struct replayed
replay(struct world *world, int64_t event_id, const char *keys)
{
    const struct replay asked = {.event_id = event_id, .keys = keys, .now_us = NOW + 99 * SECOND};
    struct replayed replayed;
    assert_ok(store_replay(world->db, &asked, &world->arena, &replayed, &world->err));
    return replayed;
}

static int64_t
event_of(struct world *world, int64_t id)
{
    return delivery(world, id).event_id;
}

static void
a_replay_reopens_what_has_ended_as_if_it_had_just_been_fired(void **state)
{
    struct world *world = *state;
    int64_t another = bring_to(world, "succeeded");
    int64_t id = bring_to(world, "succeeded");
    int64_t succeeded_at = delivery(world, id).succeeded_at_us;
    struct catalogue_receiver moved = a_receiver("shop.billing");
    moved.lane = "shop/later";
    moved.kind = "outside";
    moved.max_attempts = 9;
    publish(world, &moved, 1);
    struct replayed replayed = replay(world, event_of(world, id), "[]");
    assert_int_equal(replayed.skip, REPLAY_DONE);
    assert_int_equal(replayed.reopened, 1);
    assert_int_equal(replayed.added, 0);
    assert_string_equal(status_of(world, another), "succeeded");
    struct delivery_row row = delivery(world, id);
    assert_string_equal(row.status, "pending");
    assert_int_equal(row.attempts, 0);
    assert_int_equal(row.max_attempts, 9);
    assert_int_equal(row.available_at_us, NOW + 99 * SECOND);
    assert_int_equal(row.due_at_us, NOW + 99 * SECOND);
    assert_string_equal(row.last_error, "");
    assert_int_equal(row.completed_at_us, 0);
    assert_int_equal(row.succeeded_at_us, succeeded_at);
    assert_string_equal(row.lane, "shop/later");
    assert_string_equal(row.kind, "outside");
    // What is owed is left as it is.
    replayed = replay(world, event_of(world, id), "[]");
    assert_int_equal(replayed.reopened + replayed.added, 0);
    assert_int_equal(replayed.left, 1);
}

static void
a_replay_adds_who_was_not_there_yet(void **state)
{
    struct world *world = *state;
    int64_t id = bring_to(world, "dead");
    int64_t event = event_of(world, id);
    struct catalogue_receiver any = a_receiver("shop.audit");
    any.event_name = "*";
    publish(world, &any, 1);
    struct catalogue_receiver other = a_receiver("shop.other");
    other.event_name = "shop.Other";
    publish(world, &other, 1);
    struct catalogue_receiver at_once = a_receiver("shop.inline");
    at_once.mode = "inline";
    publish(world, &at_once, 1);
    publish_keys(world, (const char *const[]){"shop.second", NULL});
    struct replayed replayed = replay(world, event, "[\"shop.audit\"]");
    assert_int_equal(replayed.reopened, 0);
    assert_int_equal(replayed.added, 1);
    assert_string_equal(status_of(world, id), "dead");
    int64_t ids[8];
    assert_int_equal(ids_of_event(world, event, ids, 8), 2);
    replayed = replay(world, event, "[]");
    assert_int_equal(replayed.reopened, 1);
    assert_int_equal(replayed.added, 1);
    assert_int_equal(replayed.left, 1);
    assert_int_equal(ids_of_event(world, event, ids, 8), 3);
}

static void
owe(struct world *world, int64_t event, const char *receiver_key, const char *target)
{
    const struct new_delivery owed = {.event_id = event,
        .receiver_key = receiver_key,
        .lane = LANE,
        .kind = "inside",
        .target = target,
        .max_attempts = 5,
        .available_at_us = NOW};
    assert_ok(store_insert_delivery(world->db, &owed, &world->err));
}

static void
a_replay_reopens_neither_who_is_gone_nor_a_target_that_nobody_names_any_more(void **state)
{
    struct world *world = *state;
    int64_t id = bring_to(world, "dead");
    int64_t event = event_of(world, id);
    publish_keys(world, (const char *const[]){"shop.gone", NULL});
    owe(world, event, "shop.gone", "");
    owe(world, event, "shop.billing", "a");
    raw_runf(plain(world),
        "update owed_delivery set status = 'dead';"
        "update owed_receiver set removed_at = moment(%lld) where \"key\" = 'shop.gone'",
        (long long)NOW);
    assert_int_equal(replay(world, event, "[]").reopened, 1);
    assert_string_equal(status_of(world, id), "pending");
}

static void
a_replay_leaves_a_row_alone_that_somebody_holds(void **state)
{
    struct world *world = *state;
    int64_t id = bring_to(world, "claimed");
    struct delivery_row before = delivery(world, id);
    struct replayed replayed = replay(world, before.event_id, "[]");
    assert_int_equal(replayed.reopened + replayed.added, 0);
    assert_int_equal(replayed.left, 1);
    struct delivery_row after = delivery(world, id);
    assert_string_equal(after.status, "claimed");
    assert_int_equal(after.claimed_at_us, before.claimed_at_us);
    assert_int_equal(after.lease_expires_at_us, before.lease_expires_at_us);
}

static void
a_replay_says_why_it_leaves_an_event_alone(void **state)
{
    struct world *world = *state;
    int64_t id = bring_to(world, "dead");
    int64_t event = event_of(world, id);
    assert_int_equal(replay(world, 12345, "[]").skip, REPLAY_UNKNOWN);
    assert_int_equal(replay(world, event, "[\"shop.none\"]").skip, REPLAY_UNWANTED);
    raw_run(plain(world), "update owed_event set suppressed_reason = 'a test'");
    assert_int_equal(replay(world, event, "[]").skip, REPLAY_SUPPRESSED);
    raw_run(plain(world), "update owed_event set suppressed_reason = ''");
    assert_ok(store_retire(world->db, "shop", NOW, NULL, &world->err));
    struct replayed replayed = replay(world, event, "[]");
    assert_int_equal(replayed.skip, REPLAY_UNWANTED);
    assert_string_equal(replayed.event_name, EVENT);
    assert_string_equal(status_of(world, id), "dead");
}

static void
several_events_are_replayed_at_once_and_each_is_told_apart(void **state)
{
    struct world *world = *state;
    int64_t id = bring_to(world, "succeeded");
    int64_t unwanted = fire(world, "shop.Other");
    const int64_t events[] = {event_of(world, id), 12345, unwanted};
    const struct replay asked = {
        .event_ids = events, .event_count = 3, .keys = "[]", .now_us = NOW + 99 * SECOND};
    struct replayed replayed[3];
    assert_ok(store_replay(world->db, &asked, &world->arena, replayed, &world->err));
    assert_int_equal(replayed[0].skip, REPLAY_DONE);
    assert_int_equal(replayed[0].reopened, 1);
    assert_int_equal(replayed[1].skip, REPLAY_UNKNOWN);
    assert_int_equal(replayed[2].skip, REPLAY_UNWANTED);
    assert_string_equal(replayed[2].event_name, "shop.Other");
    assert_string_equal(status_of(world, id), "pending");
}

static void
events_of_one_name_are_counted_with_the_first_of_them(void **state)
{
    struct world *world = *state;
    int64_t ended = bring_to(world, "succeeded");
    int64_t other = bring_to(world, "dead");
    int64_t left_alone = event_of(world, bring_to(world, "succeeded"));
    int64_t owed = event_of(world, bring_to(world, "pending"));
    int64_t never = fire(world, EVENT);
    raw_runf(plain(world), "delete from owed_delivery where event_id = %lld", (long long)never);
    const int64_t events[] = {event_of(world, ended), owed, event_of(world, other), never};
    const struct replay asked = {.event_ids = events,
        .event_count = COUNT(events),
        .keys = "[]",
        .now_us = NOW + 99 * SECOND};
    struct replayed replayed[COUNT(events)];
    assert_ok(store_replay(world->db, &asked, &world->arena, replayed, &world->err));
    assert_int_equal(replayed[0].reopened, 2);
    assert_int_equal(replayed[0].added, 1);
    assert_int_equal(replayed[0].left, 1);
    for (size_t i = 1; i < COUNT(events); i++)
        assert_int_equal(
            replayed[i].reopened + replayed[i].added + replayed[i].left + replayed[i].skip, 0);
    assert_int_equal(
        raw_numberf(plain(world),
            "select count(*) from owed_delivery where event_id = %lld and status = 'succeeded'",
            (long long)left_alone),
        1);
}

static void
a_replay_that_is_dry_changes_nothing(void **state)
{
    struct world *world = *state;
    int64_t id = bring_to(world, "dead");
    const struct replay asked = {
        .event_id = event_of(world, id), .keys = "[]", .now_us = NOW, .dry_run = true};
    struct replayed replayed;
    assert_ok(store_replay(world->db, &asked, &world->arena, &replayed, &world->err));
    assert_int_equal(replayed.reopened, 1);
    assert_string_equal(status_of(world, id), "dead");
}

static void
targets_are_named_anew_and_only_those_are_reopened(void **state)
{
    struct world *world = *state;
    int64_t blank = bring_to(world, "succeeded"); // from before it had targets
    int64_t event = event_of(world, blank);
    struct catalogue_receiver wide = a_receiver("shop.billing");
    wide.targets = "callback";
    publish(world, &wide, 1);
    struct new_delivery to = {.event_id = event,
        .receiver_key = "shop.billing",
        .lane = LANE,
        .kind = "inside",
        .target = "a",
        .max_attempts = 5,
        .available_at_us = NOW};
    assert_ok(store_insert_delivery(world->db, &to, &world->err));
    to.target = "b";
    assert_ok(store_insert_delivery(world->db, &to, &world->err));
    raw_run(plain(world), "update owed_delivery set status = 'succeeded'");

    struct replayed replayed = replay(world, event, "[]");
    assert_int_equal(replayed.reopened, 0);
    assert_int_equal(replayed.added, 1);
    assert_int_equal(replay(world, event, "[]").added, 0);
    assert_string_equal(status_of(world, blank), "succeeded");
    int64_t stands_for =
        raw_number(plain(world), "select id from owed_delivery where kind = 'expand'");
    bool is_again = false;
    assert_ok(store_is_replay(world->db, stands_for, &is_again, &world->err));
    assert_true(is_again);
    assert_ok(store_is_replay(world->db, blank, &is_again, &world->err));
    assert_false(is_again);

    // A relay expands it: of the two only b is named now, and c for the first time.
    to.again = true;
    to.available_at_us = NOW + 99 * SECOND;
    assert_ok(store_insert_delivery(world->db, &to, &world->err));
    to.target = "c";
    assert_ok(store_insert_delivery(world->db, &to, &world->err));
    char text[256];
    raw_list(plain(world),
        "select target || ' ' || status from owed_delivery where target <> '' order by target",
        text);
    assert_string_equal(text, "a succeeded,b pending,c pending");
    // The same target of another event is none of this one's business.
    int64_t elsewhere = fire(world, EVENT);
    owe(world, elsewhere, "shop.billing", "b");
    raw_run(plain(world), "update owed_delivery set status = 'succeeded' where target = 'b'");
    to.target = "b";
    assert_ok(store_insert_delivery(world->db, &to, &world->err));
    raw_runf(plain(world),
        "delete from owed_delivery where event_id = %lld and status = 'succeeded'",
        (long long)elsewhere);
    assert_int_equal(
        raw_number(plain(world), "select count(*) from owed_delivery where target = 'b'"), 1);
    // One that is owed, or held, is left as it is.
    raw_run(plain(world),
        "update owed_delivery set status = 'claimed', attempts = 3 where target = 'b'");
    assert_ok(store_insert_delivery(world->db, &to, &world->err));
    assert_int_equal(
        raw_number(plain(world), "select attempts from owed_delivery where target = 'b'"), 3);
}

static void
events_to_replay_are_found_by_name_and_time(void **state)
{
    struct world *world = *state;
    int64_t ids[5];
    for (int i = 0; i < 5; i++) {
        ids[i] = fire(world, i == 2 ? "shop.Other" : EVENT);
        raw_runf(plain(world), "update owed_event set recorded_at = moment(%lld) where id = %lld",
            (long long)(NOW + i * SECOND), (long long)ids[i]);
    }
    const struct replay_range range = {
        .event_name = EVENT, .since_us = NOW + SECOND, .until_us = NOW + 4 * SECOND};
    int64_t *found = NULL;
    size_t count = 0;
    assert_ok(
        store_replay_pick(world->db, &range, 0, 10, &world->arena, &found, &count, &world->err));
    assert_int_equal(count, 2);
    assert_int_equal(found[0], ids[1]);
    assert_int_equal(found[1], ids[3]);
    assert_ok(store_replay_pick(
        world->db, &range, ids[1], 10, &world->arena, &found, &count, &world->err));
    assert_int_equal(count, 1);
    const struct replay_range all = {.event_name = EVENT};
    assert_ok(store_replay_pick(world->db, &all, 0, 3, &world->arena, &found, &count, &world->err));
    assert_int_equal(count, 3);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_owed_is_withdrawn_and_nothing_else),
        TEST(of_a_cancel_and_an_outcome_one_wins),
        TEST(a_cancel_that_finds_it_claimed_waits_for_the_outcome_that_is_being_written),
        TEST(a_requeue_that_finds_it_dead_leaves_it_to_whoever_requeued_it_before),
        TEST(a_cancel_takes_what_it_was_asked_to),
        TEST(a_requeue_is_narrowed_by_error_and_by_time),
        TEST(a_replay_reopens_what_has_ended_as_if_it_had_just_been_fired),
        TEST(a_replay_adds_who_was_not_there_yet),
        TEST(a_replay_reopens_neither_who_is_gone_nor_a_target_that_nobody_names_any_more),
        TEST(a_replay_leaves_a_row_alone_that_somebody_holds),
        TEST(a_replay_says_why_it_leaves_an_event_alone),
        TEST(several_events_are_replayed_at_once_and_each_is_told_apart),
        TEST(events_of_one_name_are_counted_with_the_first_of_them),
        TEST(a_replay_that_is_dry_changes_nothing),
        TEST(targets_are_named_anew_and_only_those_are_reopened),
        TEST(events_to_replay_are_found_by_name_and_time),
    };
    return run_on_all_stores("store act", tests, COUNT(tests));
}
