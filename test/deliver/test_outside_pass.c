/* SPDX-License-Identifier: MIT
 *
 * test_outside_pass.c - attempts outside any transaction: as many as there is room for, each settled
 * once under its fence. The loop that flies them is the test's own.
 */
#include "desk.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/limits.h"
#include "deliver/sortie.h"

/* --- a loop in which every flight ends at the next poll, unless it is held --- */

#define FLIGHTS_MAX 512

struct sky {
    struct desk *desk;
    int32_t room_webhook, room_exec;
    struct flight *flights[FLIGHTS_MAX];
    size_t count;
    size_t most; // at once
    int starts;
    bool hold;       // nothing ends
    int hold_polls;  // so many polls more
    size_t ends;     // so many end at a poll; 0: all
    int64_t poll_us; // that one takes
    bool is_waiting; // this one is for the last to land
    owed_outcome outcome;
    const char *text;
    void (*at_poll)(struct sky *sky);
    owed_outcome (*judge)(struct sky *sky, struct flight *flight); // NULL: outcome
    bool (*stays)(struct sky *sky, struct flight *flight);         // does not end yet
    int closed;
};

static struct sky *the_sky; // the interface has no state of the opener's

static owed_status
sky_open(const struct outside_settings *settings, struct outside **ret_outside, owed_error *err)
{
    (void)settings;
    (void)err;
    *ret_outside = (struct outside *)the_sky;
    return OWED_OK;
}

static struct sky *
sky_of(struct outside *outside)
{
    return (struct sky *)outside;
}

static int32_t
sky_room(struct outside *outside, const struct receiver *receiver)
{
    const struct sky *sky = sky_of(outside);
    int32_t taken = 0;
    for (size_t i = 0; i < sky->count; i++)
        taken += sky->flights[i]->delivery.receiver->runner == receiver->runner;
    return (receiver->runner == RUN_EXEC ? sky->room_exec : sky->room_webhook) - taken;
}

static void
sky_start(struct outside *outside, struct flight *flight)
{
    struct sky *sky = sky_of(outside);
    assert_true(sky->count < FLIGHTS_MAX);
    assert_true(sky_room(outside, flight->delivery.receiver) > 0);
    assert_false(store_in_transaction(sky->desk->f->owed->db));
    assert_null(owed_delivery_tx(&flight->delivery));
    sky->flights[sky->count++] = flight;
    sky->starts++;
    if (sky->count > sky->most)
        sky->most = sky->count;
}

static struct flight *
sky_poll(struct outside *outside, const int *fds, size_t fd_count, int timeout_ms)
{
    (void)fd_count;
    struct sky *sky = sky_of(outside);
    sky->is_waiting = fds != NULL;
    sky->desk->f->now_us += timeout_ms * US_PER_MS + sky->poll_us;
    if (sky->at_poll != NULL)
        sky->at_poll(sky);
    if (sky->hold || sky->hold_polls-- > 0)
        return NULL;
    struct flight *ended = NULL;
    struct flight **link = &ended;
    size_t left = sky->ends == 0 ? sky->count : sky->ends;
    size_t stay = 0;
    for (size_t i = 0; i < sky->count; i++) {
        struct flight *flight = sky->flights[i];
        if (left == 0 || (sky->stays != NULL && sky->stays(sky, flight))) {
            sky->flights[stay++] = flight;
            continue;
        }
        left--;
        flight->outcome = sky->judge == NULL ? sky->outcome : sky->judge(sky, flight);
        flight->code = 200;
        flight->duration_us = 5;
        if (sky->text != NULL)
            delivery_say(&flight->delivery, "%s", sky->text);
        flight->next = NULL;
        *link = flight;
        link = &flight->next;
    }
    sky->count = stay;
    return ended;
}

static void
sky_abandon(struct outside *outside, struct flight *flight)
{
    (void)outside;
    (void)flight;
}

static void
sky_close(struct outside *outside)
{
    sky_of(outside)->closed++;
}

static const struct outside_ops sky_ops = {
    .open = sky_open,
    .room = sky_room,
    .start = sky_start,
    .poll = sky_poll,
    .abandon = sky_abandon,
    .close = sky_close,
};

static const owed_receiver hook = {
    .key = "shop.hook", .event = &order_placed, .webhook = "http://127.0.0.1:9/"};
static const owed_receiver label = {
    .key = "shop.label", .event = &order_placed, .exec = "/usr/bin/true"};

static void
fly(struct desk *desk, struct sky *sky)
{
    sky->desk = desk;
    if (sky->room_webhook == 0)
        sky->room_webhook = 200;
    if (sky->room_exec == 0)
        sky->room_exec = 16;
    if (sky->outcome.verdict == 0)
        sky->outcome = owed_done();
    the_sky = sky;
    desk->seat.outside = &sky_ops;
}

static void
open_hook(struct desk *desk, struct sky *sky, int64_t count)
{
    fly(desk, sky);
    fixture_receiver(desk->f, hook);
    fixture_open(desk->f);
    desk_fire_many(desk, count);
}

/* --- tests --- */

static void
each_is_started_once_and_all_are_settled(void **state)
{
    struct desk *desk = *state;
    struct sky sky = {0};
    open_hook(desk, &sky, 120);
    desk_once(desk);
    assert_int_equal(sky.starts, 120);
    assert_count(desk, "succeeded", 120);
    assert_int_equal(desk->counts.succeeded, 120);
    assert_int_equal(sky.closed, 1);
}

static void
as_many_fly_at_once_as_there_is_room_for(void **state)
{
    struct desk *desk = *state;
    struct sky sky = {.room_webhook = 130, .hold_polls = 20};
    open_hook(desk, &sky, 150);
    desk_once(desk);
    assert_int_equal(sky.most, 130);
    assert_int_equal(sky.starts, 150);
    assert_count(desk, "succeeded", 150);
}

static void
no_more_is_claimed_than_can_start(void **state)
{
    struct desk *desk = *state;
    struct sky sky = {.room_webhook = 4, .hold = true};
    open_hook(desk, &sky, 20);
    desk->settings.passes = 5;
    sky.hold_polls = 30;
    sky.hold = false;
    desk_run(desk);
    // What is in flight at the end is waited for.
    assert_int_equal(sky.starts, 4);
    assert_count(desk, "succeeded", 4);
    assert_count(desk, "claimed", 0);
}

static int64_t
leased(struct desk *desk)
{
    return desk_number(desk,
        "select count(*) from owed_delivery where status = 'claimed' "
        "and lease_expires_at > moment(0)");
}

struct flood {
    struct sky sky; // the first member
    int64_t most_leased;
};

static void
count_leased(struct sky *sky)
{
    struct flood *flood = (struct flood *)sky;
    int64_t count = leased(sky->desk);
    if (count > flood->most_leased)
        flood->most_leased = count;
}

static void
as_many_are_claimed_ahead_as_have_landed_since_the_last_claim(void **state)
{
    struct desk *desk = *state;
    struct flood flood = {.sky = {.room_webhook = 4, .at_poll = count_leased}};
    open_hook(desk, &flood.sky, 40);
    desk_once(desk);
    assert_int_equal(flood.sky.starts, 40);
    assert_count(desk, "succeeded", 40);
    assert_int_equal(flood.sky.most, 4);
    assert_int_equal(flood.most_leased, 4 + 4); // in flight, and the next
}

/* --- rows that flow --- */

struct river {
    struct sky sky; // the first member
    int64_t written, most_written, commits;
    int64_t most_leased;
};

static void
see_written(struct sky *sky)
{
    struct river *river = (struct river *)sky;
    int64_t written = desk_count(sky->desk, "succeeded");
    int64_t held = leased(sky->desk);
    if (written > river->written)
        river->commits++;
    if (written - river->written > river->most_written)
        river->most_written = written - river->written;
    river->written = written;
    if (held > river->most_leased)
        river->most_leased = held;
}

#define RIVER_ROWS 4000

static void
while_rows_flow_they_are_written_in_hundreds_and_more_is_claimed_than_fits_in_flight(void **state)
{
    struct desk *desk = *state;
    // Twenty thousand a second.
    struct river river = {
        .sky = {.room_webhook = 100, .ends = 20, .poll_us = US_PER_MS, .at_poll = see_written}};
    desk->f->has_one_clock = true;
    open_hook(desk, &river.sky, RIVER_ROWS);
    desk->settings.batch_size = 500;
    desk_once(desk);
    assert_count(desk, "succeeded", RIVER_ROWS);
    assert_int_equal(river.sky.starts, RIVER_ROWS);
    assert_int_equal(river.sky.most, 100);
    // After ten milliseconds, though no commit's worth has landed by then; on a server while others are written, too.
    int64_t most = test_store_is("sqlite") ? 220 : 420;
    assert_in_range(river.most_written, 180, most);
    assert_in_range(river.commits, RIVER_ROWS / most, RIVER_ROWS / 220 + 40);
    assert_in_range(river.most_leased, 300, 100 + 500 + 2 * most);
}

struct freeze {
    struct sky sky; // the first member
    int64_t at_us;
    int64_t begun_us; // the first program
};

/* freeze_at has nothing end from a moment on, until a program begins. */
static void
freeze_at(struct sky *sky)
{
    struct freeze *freeze = (struct freeze *)sky;
    for (size_t i = 0; i < sky->count && freeze->begun_us == 0; i++)
        if (sky->flights[i]->delivery.receiver->runner == RUN_EXEC)
            freeze->begun_us = sky->flights[i]->started_at_us;
    sky->hold = sky->desk->f->now_us >= freeze->at_us && freeze->begun_us == 0;
}

/* open_label adds a program that is owed ten rows, due at a moment. */
static void
open_label(struct desk *desk, int64_t due_us)
{
    char sql[160];
    owed_close(desk->f->owed);
    fixture_receiver(desk->f, label);
    fixture_open(desk->f);
    desk_fire_many(desk, 10);
    snprintf(sql, sizeof sql,
        "update owed_delivery set available_at = moment(%" PRId64
        ") where receiver_key = 'shop.label'",
        due_us);
    raw_run(desk->f->raw, sql);
}

static void
when_rows_that_flowed_hang_those_of_others_wait_for_no_poll(void **state)
{
    struct desk *desk = *state;
    struct freeze freeze = {
        .sky = {.room_webhook = 100, .ends = 20, .poll_us = US_PER_MS, .at_poll = freeze_at},
        .at_us = FIXTURE_NOW_US + 100 * US_PER_MS};
    desk->f->has_one_clock = true;
    open_hook(desk, &freeze.sky, RIVER_ROWS);
    open_label(desk, freeze.at_us);
    desk_once(desk);
    assert_count(desk, "succeeded", RIVER_ROWS + 10 + 10);
    assert_in_range(freeze.begun_us, freeze.at_us, freeze.at_us + 50 * US_PER_MS);
}

struct farewell {
    struct sky sky;          // the first member
    int64_t landed, written; // when the last were waited for
};

static void
see_the_wait(struct sky *sky)
{
    struct farewell *farewell = (struct farewell *)sky;
    if (!sky->is_waiting)
        return;
    farewell->landed = sky->starts - (int64_t)sky->count;
    farewell->written = desk_count(sky->desk, "succeeded");
    sky->at_poll = NULL;
}

static void
at_the_end_what_was_gathered_is_written_before_the_rest_is_waited_for(void **state)
{
    struct desk *desk = *state;
    struct farewell farewell = {
        .sky = {.room_webhook = 100, .ends = 20, .poll_us = US_PER_MS, .at_poll = see_the_wait}};
    desk->f->has_one_clock = true;
    open_hook(desk, &farewell.sky, RIVER_ROWS);
    desk->settings.passes = 72;
    desk_run(desk);
    assert_in_range(farewell.landed, 500, RIVER_ROWS);
    assert_int_equal(farewell.written, farewell.landed);
}

struct hanging {
    struct sky sky; // the first member
    size_t most_bytes;
};

/* weigh_batches adds up what the batches of all that flies take. */
static void
weigh_batches(struct sky *sky)
{
    struct hanging *hanging = (struct hanging *)sky;
    size_t bytes = 0;
    for (size_t i = 0; i < sky->count; i++) {
        const struct batch *batch = ((struct sortie *)sky->flights[i])->batch;
        bool is_counted = false;
        for (size_t j = 0; j < i; j++)
            is_counted = is_counted || ((struct sortie *)sky->flights[j])->batch == batch;
        bytes += is_counted ? 0 : batch->arena.used;
    }
    if (bytes > hanging->most_bytes)
        hanging->most_bytes = bytes;
}

/* hangs has one of two hundred end with the last. */
static bool
hangs(struct sky *sky, struct flight *flight)
{
    return sky->starts < RIVER_ROWS && flight->delivery.row->fence.delivery_id % 200 == 0;
}

static void
a_few_that_hang_do_not_keep_the_memory_of_all_that_flowed_past(void **state)
{
    struct desk *desk = *state;
    struct hanging hanging = {.sky = {.room_webhook = 100,
                                  .ends = 20,
                                  .poll_us = US_PER_MS,
                                  .at_poll = weigh_batches,
                                  .stays = hangs}};
    desk->f->has_one_clock = true;
    open_hook(desk, &hanging.sky, RIVER_ROWS);
    desk->settings.error_length = 40000; // there is room for it from the start
    desk_once(desk);
    assert_count(desk, "succeeded", RIVER_ROWS);
    assert_in_range(hanging.most_bytes, LIMIT_IN_FLIGHT_BYTES / 2, LIMIT_IN_FLIGHT_BYTES / 2 * 3);
}

static void
count_leased_label(struct sky *sky)
{
    struct flood *flood = (struct flood *)sky;
    int64_t count = desk_number(sky->desk,
        "select count(*) from owed_delivery where status = 'claimed' "
        "and lease_expires_at > moment(0) and receiver_key = 'shop.label'");
    if (count > flood->most_leased)
        flood->most_leased = count;
}

static void
beside_rows_that_flow_no_more_of_another_are_held_than_its_batch_and_its_room(void **state)
{
    struct desk *desk = *state;
    struct flood flood = {.sky = {.room_webhook = 100,
                              .room_exec = 1,
                              .ends = 20,
                              .poll_us = US_PER_MS,
                              .at_poll = count_leased_label}};
    desk->f->has_one_clock = true;
    fly(desk, &flood.sky);
    fixture_receiver(desk->f, label);
    fixture_open(desk->f);
    desk_fire_many(desk, 450);
    owed_close(desk->f->owed);
    fixture_receiver(desk->f, hook);
    fixture_open(desk->f);
    desk_fire_many(desk, RIVER_ROWS);
    raw_run(desk->f->raw,
        "delete from owed_delivery where receiver_key = 'shop.label' and event_id >= "
        "(select min(event_id) from (select * from owed_delivery) d "
        "where receiver_key = 'shop.hook')");
    desk_once(desk);
    assert_count(desk, "succeeded", RIVER_ROWS + 450);
    assert_in_range(flood.most_leased, 50, 90);
}

struct claims {
    int count, empty;
};

static void
count_claim(void *state, int64_t took_us, size_t count)
{
    struct claims *claims = state;
    (void)took_us;
    claims->count++;
    claims->empty += count == 0;
}

static void
beside_one_that_is_owed_nothing_hardly_a_claim_comes_back_empty(void **state)
{
    NOT_ON("sqlite", "nothing is claimed ahead there");
    struct desk *desk = *state;
    struct sky sky = {.room_webhook = 100, .ends = 20, .poll_us = US_PER_MS};
    struct claims claims = {0};
    desk->f->has_one_clock = true;
    open_hook(desk, &sky, RIVER_ROWS);
    owed_close(desk->f->owed);
    fixture_receiver(desk->f, label);
    fixture_open(desk->f);
    desk->seat.claimed = count_claim;
    desk->seat.claimed_state = &claims;
    desk_once(desk);
    assert_count(desk, "succeeded", RIVER_ROWS);
    assert_in_range(claims.empty, 1, 10);
}

static void
rows_flow_however_long_the_store_takes_to_write_them(void **state)
{
    NOT_ON("sqlite", "claims stay smaller where somebody may wait for a single writer");
    struct desk *desk = *state;
    // Four thousand a second.
    struct sky sky = {.room_webhook = 200, .ends = 200, .poll_us = 50 * US_PER_MS};
    struct claims claims = {0};
    desk->f->has_one_clock = true;
    open_hook(desk, &sky, RIVER_ROWS);
    desk->seat.claimed = count_claim;
    desk->seat.claimed_state = &claims;
    desk_once(desk);
    assert_count(desk, "succeeded", RIVER_ROWS);
    assert_in_range(claims.count, RIVER_ROWS / 500, RIVER_ROWS / 100);
}

/* A row of the flow that somebody keeps locked while others are begun. */
struct dam {
    struct sky sky; // the first member
    int64_t locked_id;
    int starts; // before that
    int begun;  // of others, until it was free again
    bool cuts;  // who waits for it loses his session
};

#define DAM_ROWS 8000
#define DAM_STARTS 300 // three times what may fly
#define DAM_LANDED 700 // by then, at most, so that there is room for as many

static void
lock_row(struct dam *dam)
{
    struct raw *raw = dam->sky.desk->f->raw;
    int64_t written = desk_count(dam->sky.desk, "succeeded");
    if (written < 500 || dam->sky.starts - written > DAM_LANDED)
        return;
    dam->locked_id = dam->sky.flights[0]->delivery.row->fence.delivery_id;
    dam->starts = dam->sky.starts;
    raw_run(raw, "begin");
    raw_runf(raw, "update owed_delivery set result = result where id = %" PRId64, dam->locked_id);
}

/* cut ends the session that waits for the row; false: none does yet. */
static bool
cut(struct raw *raw)
{
    return raw_number(raw,
               "select count(*) filter (where pg_terminate_backend(pid, 5000)) from pg_stat_activity "
               "where pg_backend_pid() = any (pg_blocking_pids(pid))") > 0;
}

static void
see_dam(struct sky *sky)
{
    struct dam *dam = (struct dam *)sky;
    if (dam->locked_id == 0 && sky->count > 0) {
        lock_row(dam);
        return;
    }
    if (dam->locked_id == 0 || dam->begun > 0 || sky->starts - dam->starts < DAM_STARTS)
        return;
    if (dam->cuts && !cut(sky->desk->f->raw))
        return;
    dam->begun = sky->starts - dam->starts;
    raw_run(sky->desk->f->raw, "commit");
}

static void
flow_past(struct desk *desk, struct dam *dam)
{
    dam->sky =
        (struct sky){.room_webhook = 100, .ends = 20, .poll_us = US_PER_MS, .at_poll = see_dam};
    desk->f->has_one_clock = true;
    desk->settings.in_flight = 1000; // and twice as many may wait to be written
    open_hook(desk, &dam->sky, DAM_ROWS);
    desk_once(desk);
    assert_true(dam->begun >= DAM_STARTS);
    assert_int_equal(dam->sky.starts, DAM_ROWS);
    assert_int_equal(desk->counts.succeeded, DAM_ROWS);
    assert_count(desk, "succeeded", DAM_ROWS);
}

static void
requests_go_on_while_outcomes_of_what_flows_are_written(void **state)
{
    NOT_ON("sqlite", "all of it is written on the connection of the single writer");
    struct dam dam = {0};
    flow_past(*state, &dam);
}

static void
what_could_not_be_written_meanwhile_is_written_again_and_nothing_is_sent_twice(void **state)
{
    ONLY_ON("postgres", "who waits for a row can be named, and ended, in one statement there");
    struct dam dam = {.cuts = true};
    flow_past(*state, &dam);
}

struct jam {
    struct sky sky; // the first member
    struct raw *raw;
    int64_t most; // sent, and not written
};

/* lock_for_a_while locks a row that flies until the server ends the session that does nothing more. */
static void
lock_for_a_while(struct jam *jam)
{
    jam->raw = raw_open(jam->sky.desk->f->url);
    raw_run(jam->raw,
        test_store_is("postgres") ? "set idle_in_transaction_session_timeout = 500"
                                  : "set session idle_transaction_timeout = 1");
    raw_run(jam->raw, "begin");
    raw_runf(jam->raw, "update owed_delivery set result = result where id = %" PRId64,
        jam->sky.flights[0]->delivery.row->fence.delivery_id);
}

static void
see_jam(struct sky *sky)
{
    struct jam *jam = (struct jam *)sky;
    int64_t written = desk_count(sky->desk, "succeeded");
    if (sky->starts - written > jam->most)
        jam->most = sky->starts - written;
    if (jam->raw == NULL && sky->count > 0 && written >= 500)
        lock_for_a_while(jam);
}

static void
while_none_can_be_written_no_more_are_sent_than_three_times_what_may_fly(void **state)
{
    NOT_ON("sqlite", "nothing is sent there while outcomes are written");
    struct desk *desk = *state;
    struct jam jam = {
        .sky = {.room_webhook = 100, .ends = 20, .poll_us = US_PER_MS, .at_poll = see_jam}};
    desk->f->has_one_clock = true;
    desk->settings.in_flight = 100;
    open_hook(desk, &jam.sky, RIVER_ROWS);
    desk_once(desk);
    raw_close(jam.raw);
    // What lands before the pace is seen, and once more while the first of it is handed over, is on top.
    assert_in_range(jam.most, 250, 300 + 2 * jam.sky.ends);
    assert_int_equal(jam.sky.starts, RIVER_ROWS);
    assert_count(desk, "succeeded", RIVER_ROWS);
}

/* write_and_see_claimed counts in most_written what was claimed since it last looked. */
static void
write_and_see_claimed(struct sky *sky)
{
    struct river *river = (struct river *)sky;
    raw_run(sky->desk->f->raw, "insert into app (id) values (1)");
    int64_t claimed = desk_count(sky->desk, "succeeded") + leased(sky->desk);
    if (claimed - river->written > river->most_written)
        river->most_written = claimed - river->written;
    river->written = claimed;
}

static void
while_the_application_writes_claims_stay_small_however_fast_rows_flow(void **state)
{
    ONLY_ON("sqlite", "elsewhere a writer keeps nobody else waiting");
    struct desk *desk = *state;
    struct river river = {.sky = {.room_webhook = 100,
                              .ends = 40,
                              .poll_us = US_PER_MS,
                              .at_poll = write_and_see_claimed}};
    desk->f->has_one_clock = true;
    open_hook(desk, &river.sky, RIVER_ROWS);
    desk_once(desk);
    assert_count(desk, "succeeded", RIVER_ROWS);
    assert_in_range(river.most_written, 1, 100);
}

static void
where_few_land_each_is_written_at_once(void **state)
{
    struct desk *desk = *state;
    // A thousand a second, beside many that take long.
    struct river river = {
        .sky = {.room_webhook = 100, .ends = 1, .poll_us = US_PER_MS, .at_poll = see_written}};
    desk->f->has_one_clock = true;
    open_hook(desk, &river.sky, 300);
    desk_once(desk);
    assert_count(desk, "succeeded", 300);
    assert_int_equal(river.most_written, 1);
}

/* The application writes, too: so each claim leaves it a while, in which what flies lands. */
static void
write_and_count_leased(struct sky *sky)
{
    raw_run(sky->desk->f->raw, "delete from app");
    count_leased(sky);
}

static void
what_has_landed_is_written_before_much_more_is_claimed(void **state)
{
    ONLY_ON("sqlite", "elsewhere a writer keeps nobody else waiting");
    struct desk *desk = *state;
    struct flood flood = {.sky = {.room_webhook = 20, .at_poll = write_and_count_leased}};
    desk->f->has_one_clock = true;
    open_hook(desk, &flood.sky, 500);
    desk->settings.batch_size = 10;
    desk_once(desk);
    assert_count(desk, "succeeded", 500);
    assert_in_range(flood.most_leased, 100, 100 + 2 * 20);
}

static void
open_both(struct desk *desk, struct sky *sky)
{
    fly(desk, sky);
    fixture_receiver(desk->f, label);
    fixture_open(desk->f);
    desk_fire_many(desk, 10);
    owed_close(desk->f->owed);
    fixture_receiver(desk->f, hook);
    fixture_open(desk->f);
}

/* A poll takes up to two seconds of the test's own clock. */
static void
see_them_go_back(struct sky *sky)
{
    struct flood *flood = (struct flood *)sky;
    int64_t count = leased(sky->desk);
    if (flood->most_leased < 10)
        flood->most_leased = count;
    if (flood->most_leased < 10 || count > 2)
        return;
    assert_int_equal(sky->count, 2); // the programs that run, and no row that waits
    sky->hold = false;
    sky->at_poll = NULL;
}

static void
what_waits_for_room_goes_back_when_its_lease_is_half_spent(void **state)
{
    struct desk *desk = *state;
    struct flood flood = {.sky = {.room_exec = 2, .hold = true, .at_poll = see_them_go_back}};
    open_both(desk, &flood.sky);
    desk->settings.lease_us = OWED_SECONDS(10);
    desk->settings.poll_us = OWED_SECONDS(2);
    desk_once(desk);
    assert_int_equal(flood.most_leased, 10);
    assert_int_equal(flood.sky.starts, 10);
    assert_count(desk, "succeeded", 10);
    assert_int_equal(desk_number(desk, "select max(losses) from owed_delivery"), 0);
}

#define LARGE_COUNT 7

/* Sixteen megabytes for each event. */
static void
make_large(struct desk *desk)
{
    static const char head[] = "update owed_event set payload = '{\"order_id\":1,\"note\":\"";
    static const char tail[] = "\"}'";
    size_t len = LIMIT_PAYLOAD_BYTES - 1024;
    char *sql = malloc(sizeof head + len + sizeof tail);
    assert_non_null(sql);
    memcpy(sql, head, sizeof head);
    memset(sql + sizeof head - 1, 'x', len);
    memcpy(sql + sizeof head - 1 + len, tail, sizeof tail);
    raw_run(desk->f->raw, sql);
    free(sql);
}

static void
weigh(struct sky *sky)
{
    size_t bytes = 0;
    for (size_t i = 0; i < sky->count; i++)
        bytes += sky->flights[i]->delivery.row->payload.len;
    assert_true(bytes <= LIMIT_IN_FLIGHT_BYTES + LIMIT_PAYLOAD_BYTES);
    // All that was claimed is in memory, begun or not.
    assert_true(leased(sky->desk) <= 5);
}

static void
no_more_payload_is_in_hand_than_may_be_however_many_may_fly(void **state)
{
    struct desk *desk = *state;
    struct sky sky = {.hold_polls = 3, .at_poll = weigh};
    open_hook(desk, &sky, LARGE_COUNT);
    make_large(desk);
    desk_once(desk);
    assert_int_equal(sky.most, 5);
    assert_int_equal(sky.starts, LARGE_COUNT);
    assert_count(desk, "succeeded", LARGE_COUNT);
}

static void
a_kind_without_room_does_not_hold_up_another(void **state)
{
    struct desk *desk = *state;
    struct sky sky = {.room_exec = 2, .hold_polls = 25};
    fly(desk, &sky);
    fixture_receiver(desk->f, label);
    fixture_open(desk->f);
    desk_fire_many(desk, 30);
    owed_close(desk->f->owed);
    fixture_receiver(desk->f, hook);
    fixture_open(desk->f);
    fixture_begin(desk->f);
    for (int64_t i = 0; i < 10; i++)
        fixture_fire(desk->f, &order_placed, 99);
    fixture_commit(desk->f);
    desk->settings.batch_size = 50;
    desk_once(desk);
    assert_int_equal(sky.starts, 50);
    assert_count(desk, "succeeded", 50);
    assert_true(sky.most >= 12); // two programs, and the webhooks that came behind thirty
}

static void
a_webhook_keeps_a_row_for_every_attempt(void **state)
{
    struct desk *desk = *state;
    struct sky sky = {0};
    open_hook(desk, &sky, 1);
    desk_once(desk);
    assert_text(desk, "select verdict from owed_attempt", "succeeded");
    assert_int_equal(desk_number(desk, "select code from owed_attempt"), 200);
    assert_int_equal(desk_number(desk, "select duration from owed_attempt"), 5);
}

static void
a_program_keeps_one_for_a_failure_alone(void **state)
{
    struct desk *desk = *state;
    struct sky sky = {0};
    fly(desk, &sky);
    fixture_receiver(desk->f, label);
    fixture_open(desk->f);
    desk_fire(desk, 1);
    desk_once(desk);
    assert_count(desk, "succeeded", 1);
    assert_int_equal(desk_number(desk, "select count(*) from owed_attempt"), 0);
}

static void
a_failure_is_recorded_with_its_text(void **state)
{
    struct desk *desk = *state;
    struct sky sky = {.outcome = {.verdict = OWED_VERDICT_FAILED}, .text = "HTTP 503"};
    open_hook(desk, &sky, 2);
    desk->settings.passes = 2;
    desk_run(desk);
    assert_count(desk, "failed", 2);
    assert_text(desk, "select last_error from owed_delivery", "HTTP 503");
    assert_int_equal(desk->counts.failed, 2);
    assert_true(desk_logged(desk, "receiver=shop.hook"));
}

static void
rob_at_poll(struct sky *sky)
{
    if (sky->count == 0)
        return;
    rob(sky->desk, sky->flights[0]->delivery.row->fence.delivery_id);
    sky->at_poll = NULL;
}

static void
a_flight_whose_row_was_taken_is_discarded_alone(void **state)
{
    struct desk *desk = *state;
    struct sky sky = {.at_poll = rob_at_poll, .hold_polls = 1};
    open_hook(desk, &sky, 3);
    desk_once(desk);
    assert_count(desk, "succeeded", 2);
    assert_text(desk, "select claimed_by from owed_delivery where status = 'claimed'", "thief");
    assert_int_equal(desk->counts.succeeded, 2);
    assert_true(desk_logged(desk, "result discarded"));
}

static void
leases_of_what_flies_are_renewed_when_they_are_half_spent(void **state)
{
    struct desk *desk = *state;
    struct sky sky = {.hold_polls = 200};
    open_hook(desk, &sky, 3);
    desk->settings.lease_us = OWED_SECONDS(10);
    desk->settings.poll_us = OWED_SECONDS(2);
    desk_once(desk);
    // Two hundred polls were minutes, and nobody could have taken a row.
    assert_true(desk->f->now_us - FIXTURE_NOW_US > OWED_SECONDS(60));
    assert_count(desk, "succeeded", 3);
    assert_int_equal(sky.starts, 3);
    assert_false(desk_logged(desk, "discarded"));
    assert_int_equal(desk_number(desk, "select max(losses) from owed_delivery"), 0);
}

static void
stop_at_poll(struct sky *sky)
{
    if (sky->count == 0)
        return;
    owed_relay_stop(sky->desk->f->owed);
    sky->at_poll = NULL;
}

static void
a_stop_lets_what_flies_land_and_starts_nothing_more(void **state)
{
    struct desk *desk = *state;
    struct sky sky = {.room_webhook = 4, .hold_polls = 8, .at_poll = stop_at_poll};
    open_hook(desk, &sky, 10);
    desk_run(desk);
    assert_int_equal(sky.starts, 4);
    assert_count(desk, "succeeded", 4);
    assert_int_equal(desk_number(desk, "select sum(attempts) from owed_delivery"), 4);
    assert_int_equal(desk_number(desk,
                         "select count(*) from owed_delivery where status = 'claimed' "
                         "and lease_expires_at > moment(0)"),
        0);
}

static owed_outcome
enter(owed_delivery *delivery, void *state, void **ret_attempt_state)
{
    (void)delivery;
    (void)state;
    (void)ret_attempt_state;
    return owed_done();
}

/* leave_and_stop comes while outcomes are written, and more is claimed meanwhile. */
static owed_status
leave_and_stop(owed_delivery *delivery, owed_outcome outcome, const char *text, void *attempt_state,
    void *state, owed_error *err)
{
    (void)delivery;
    (void)outcome;
    (void)text;
    (void)attempt_state;
    (void)err;
    struct sky *sky = state;
    if (sky->starts >= 12)
        owed_relay_stop(sky->desk->f->owed);
    return OWED_OK;
}

static void
what_is_claimed_while_outcomes_are_written_goes_back_at_a_stop(void **state)
{
    struct desk *desk = *state;
    struct sky sky = {.room_webhook = 4};
    open_hook(desk, &sky, 40);
    const owed_around around = {enter, leave_and_stop, &sky};
    assert_ok(owed_set_around(desk->f->owed, &around, &desk->f->err));
    desk_run(desk);
    assert_in_range(sky.starts, 12, 20);
    assert_count(desk, "succeeded", sky.starts);
    assert_int_equal(desk_number(desk,
                         "select count(*) from owed_delivery where status = 'claimed' "
                         "and lease_expires_at > moment(0)"),
        0);
    assert_ok(owed_set_around(desk->f->owed, NULL, &desk->f->err));
    desk_once(desk);
    assert_int_equal(sky.starts, 40);
    assert_int_equal(desk_number(desk, "select sum(losses) from owed_delivery"), 0);
}

static void
rows_of_unknown_receivers_are_left_in_the_loop_too(void **state)
{
    struct desk *desk = *state;
    struct sky sky = {0};
    open_hook(desk, &sky, 5);
    raw_run(
        desk->f->raw, "update owed_delivery set receiver_key = 'other.thing' where event_id <= 3");
    desk->settings.batch_size = 2;
    desk_once(desk);
    assert_int_equal(sky.starts, 2);
    assert_count(desk, "succeeded", 2);
    assert_int_equal(
        desk_number(desk, "select sum(attempts) from owed_delivery where event_id <= 3"), 0);
}

static owed_outcome
has_no_transaction(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)order;
    assert_null(owed_delivery_tx(delivery));
    assert_false(store_in_transaction(actor->desk->f->owed->db));
    return owed_done();
}

static void
an_outside_receiver_in_c_runs_without_a_transaction_beside_the_loop(void **state)
{
    struct desk *desk = *state;
    struct sky sky = {0};
    struct actor actor = {0};
    for (size_t i = 0; i < DESK_ORDERS; i++)
        actor.acts[i] = has_no_transaction;
    fly(desk, &sky);
    fixture_receiver(desk->f, hook);
    desk_receiver(desk, &actor, (owed_receiver){.key = "shop.call", .outside = true});
    fixture_open(desk->f);
    desk_fire_many(desk, 6);
    desk_once(desk);
    assert_int_equal(actor.calls, 6);
    assert_int_equal(sky.starts, 6);
    assert_count(desk, "succeeded", 12);
    assert_false(desk_logged(desk, "not declared"));
}

static void
a_limit_counts_what_flies(void **state)
{
    struct desk *desk = *state;
    struct sky sky = {0};
    open_hook(desk, &sky, 9);
    desk->settings.limit = 4;
    desk_run(desk);
    assert_int_equal(sky.starts, 4);
    assert_count(desk, "succeeded", 4);
}

/* --- a store that fails --- */

/* fly_with_fault runs five rows on a connection that fails at a call; false: there was no such call. */
static bool
fly_with_fault(struct desk *desk, int64_t call, bool after)
{
    owed *handle = desk->f->owed;
    desk_fire_many(desk, 5);
    struct fault fault = {.fail_at = call, .status = OWED_UNAVAILABLE, .after = after};
    struct db *broken = driver_fault_wrap(handle->db, &fault);
    handle->db = broken;
    desk->settings.once = true;
    desk->wait_count = 0;
    (void)relay_work(handle, &desk->settings, &desk->seat, NULL, &desk->f->err);
    if (handle->db == broken) {
        store_close(broken);
        const struct db_options options = {.busy_timeout_us = US_PER_MS};
        assert_ok(store_open(desk->f->url, &options, &handle->db, &desk->f->err));
    }
    desk->f->now_us += OWED_HOURS(2);
    desk_once(desk);
    return fault.calls >= call;
}

static void
fail_at_every_call(struct desk *desk, bool after)
{
    struct sky sky = {.room_webhook = 3};
    open_hook(desk, &sky, 0);
    int64_t call = 1;
    int expected = 0;
    for (bool was_reached = true; was_reached; call++) {
        sky.hold_polls = 2;
        was_reached = fly_with_fault(desk, call, after);
        expected += 5;
        // Whatever the store does, a flight that has begun is not begun again.
        if (sky.starts != expected || desk_count(desk, "succeeded") != expected)
            fail_msg("failing at call %" PRId64 ": %d starts, %" PRId64 " succeeded, not %d", call,
                sky.starts, desk_count(desk, "succeeded"), expected);
    }
    assert_in_range(call, 20, 300);
    assert_false(desk_logged(desk, "result discarded"));
}

static void
nothing_flies_twice_when_the_store_goes_away_at_any_call(void **state)
{
    fail_at_every_call(*state, false);
}

static void
nothing_flies_twice_when_an_answer_is_lost_at_any_call(void **state)
{
    fail_at_every_call(*state, true);
}

/* --- a broker that is away --- */

static const owed_receiver feed = {
    .key = "shop.feed", .event = &order_placed, .publish = "redis://127.0.0.1:9"};

static owed_outcome
nobody_publishes(struct sky *sky, struct flight *flight)
{
    (void)sky;
    if (flight->delivery.receiver->runner != RUN_PUBLISH)
        return owed_done();
    return owed_defer(&flight->delivery, 60, "it is away");
}

static owed_status
names_three(owed_delivery *delivery, const void *payload, owed_target_list *list, owed_error *err)
{
    (void)delivery;
    (void)payload;
    owed_status status = owed_target_add(list, "a", err);
    if (status == OWED_OK)
        status = owed_target_add(list, "b", err);
    return status == OWED_OK ? owed_target_add(list, "c", err) : status;
}

/* open_feed fires orders for a receiver whose broker is away, and for another in its lane. */
static void
open_feed(struct desk *desk, struct sky *sky, owed_receiver receiver, int64_t count)
{
    sky->judge = nobody_publishes;
    sky->room_webhook = 2;
    desk->f->has_one_clock = true;
    fly(desk, sky);
    fixture_receiver(desk->f, receiver);
    fixture_receiver(desk->f, hook);
    fixture_open(desk->f);
    desk_fire_many(desk, count);
}

static void
a_broker_that_is_away_rests_alone_and_its_lane_goes_on(void **state)
{
    struct desk *desk = *state;
    struct sky sky = {0};
    open_feed(desk, &sky, feed, 20);
    desk_once(desk);
    assert_count(desk, "succeeded", 20);
    assert_count(desk, "failed", 1); // what had started
    assert_int_equal(sky.starts, 20 + 1);
    assert_int_equal(desk_number(desk, "select sum(attempts) from owed_delivery"), 20);
    assert_int_equal(desk_number(desk, "select max(losses) from owed_delivery"), 0);
    assert_true(desk_logged(desk, "receiver=shop.feed publish=redis://127.0.0.1:9 pause=1m"));
}

static void
what_is_put_off_together_is_said_to_be_so_once(void **state)
{
    struct desk *desk = *state;
    struct sky sky = {0};
    desk->settings.limit = 9;
    open_feed(desk, &sky, feed, 20);
    sky.room_webhook = 200;
    desk_run(desk);
    assert_in_range(
        desk_number(desk, "select count(*) from owed_delivery where status = 'failed'"), 2, 9);
    const char *said =
        strstr(buf_text(&desk->f->log), "paused, since its broker takes nothing just now");
    assert_non_null(said);
    assert_null(strstr(said + 1, "paused, since its broker takes nothing just now"));
}

static void
after_its_rest_one_is_tried_and_then_all_go(void **state)
{
    struct desk *desk = *state;
    struct sky sky = {0};
    open_feed(desk, &sky, feed, 6);
    desk->settings.poll_us = OWED_HOURS(1);
    desk->settings.passes = 40;
    desk_run(desk);
    assert_count(desk, "succeeded", 6);
    // Each rest is a minute: one row was tried after each, and the hour of a poll is never waited for.
    int64_t minutes = (desk->f->now_us - FIXTURE_NOW_US) / OWED_MINUTES(1);
    assert_in_range(minutes, 10, 59);
    assert_int_equal(sky.starts, 6 + 1 + minutes);
    assert_int_equal(desk_number(desk, "select sum(attempts) from owed_delivery"), 6);
    sky.judge = NULL;
    desk_run(desk);
    assert_count(desk, "succeeded", 12);
    assert_int_equal(desk_number(desk, "select max(losses) from owed_delivery"), 0);
}

static void
all_targets_of_a_receiver_rest_with_its_broker(void **state)
{
    struct desk *desk = *state;
    struct sky sky = {0};
    owed_receiver receiver = feed;
    receiver.targets = names_three;
    open_feed(desk, &sky, receiver, 5);
    desk_once(desk);
    assert_count(desk, "succeeded", 5);
    assert_count(desk, "failed", 1);
    assert_int_equal(sky.starts, 5 + 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, desk_setup, desk_teardown)

/* --- pauses --- */

static void
open_mail(struct desk *desk, struct sky *sky, int64_t count)
{
    owed_receiver mail = hook;
    mail.give_up_after_us = OWED_HOURS(10);
    desk->f->has_one_clock = true;
    fly(desk, sky);
    fixture_receiver(desk->f, mail);
    fixture_open(desk->f);
    desk_fire_many(desk, count);
}

/* The quota is spent for three minutes. */
static owed_outcome
judges_by_quota(struct sky *sky, struct flight *flight)
{
    if (sky->desk->f->now_us >= FIXTURE_NOW_US + OWED_MINUTES(3))
        return owed_done();
    return owed_defer(&flight->delivery, 60, "quota spent");
}

static void
after_a_deferral_nothing_more_starts_in_the_lane_and_what_waited_goes_back(void **state)
{
    struct desk *desk = *state;
    struct sky sky = {.room_webhook = 3, .judge = judges_by_quota};
    open_mail(desk, &sky, 20);
    desk_once(desk);
    assert_int_equal(sky.starts, 3);
    assert_count(desk, "failed", 3);
    assert_count(desk, "pending", 17);
    assert_int_equal(desk_number(desk, "select max(attempts) from owed_delivery"), 0);
}

static owed_outcome
judges_without_asking(struct sky *sky, struct flight *flight)
{
    flight->is_put_off = true;
    int64_t until_us = sky->desk->f->now_us + OWED_HOURS(6);
    return owed_not_yet(&flight->delivery, until_us, "its host has enough");
}

static void
what_is_put_off_holds_up_nobody_and_is_not_owed_for_ever(void **state)
{
    struct desk *desk = *state;
    struct sky sky = {.room_webhook = 3, .judge = judges_without_asking};
    open_mail(desk, &sky, 5);
    desk_once(desk);
    assert_int_equal(sky.starts, 5);
    assert_count(desk, "failed", 5);
    assert_int_equal(desk_number(desk, "select count(*) from owed_attempt"), 0);
    desk->f->now_us += OWED_HOURS(6);
    desk_once(desk);
    assert_count(desk, "failed", 5);
    desk->f->now_us += OWED_HOURS(6);
    desk_once(desk);
    assert_count(desk, "dead", 5);
    assert_int_equal(desk_number(desk, "select max(attempts) from owed_delivery"), 0);
    assert_int_equal(
        desk_number(desk, "select count(*) from owed_attempt where verdict = 'gave_up'"), 5);
}

static void
note_first_flights(struct sky *sky)
{
    int64_t since_us = sky->desk->f->now_us - FIXTURE_NOW_US;
    if (since_us >= OWED_MINUTES(1) && sky->starts <= 3 + 3)
        assert_in_range(sky->count, 0, 1);
}

static void
after_the_pause_one_flight_at_a_time_until_one_lands_otherwise(void **state)
{
    struct desk *desk = *state;
    struct sky sky = {.room_webhook = 3, .judge = judges_by_quota, .at_poll = note_first_flights};
    open_mail(desk, &sky, 20);
    desk->settings.passes = 1000;
    desk_run(desk);
    assert_count(desk, "succeeded", 20);
    assert_int_equal(sky.starts, 3 + 2 + 20);
    assert_int_equal(sky.most, 3);
}

static void
see_one_flight(struct sky *sky)
{
    if (sky->desk->f->now_us >= FIXTURE_NOW_US + OWED_MINUTES(1))
        assert_in_range(sky->count, 0, 1);
}

/* The first after the pause is not due, which says nothing of the destination. */
static owed_outcome
judges_by_turn(struct sky *sky, struct flight *flight)
{
    int64_t now_us = sky->desk->f->now_us;
    if (sky->starts == 3 + 1)
        return owed_not_yet(&flight->delivery, now_us + OWED_HOURS(5), "later");
    return owed_defer(&flight->delivery, 60, "quota spent");
}

static void
what_is_not_due_yet_leaves_the_next_one_on_trial(void **state)
{
    struct desk *desk = *state;
    struct sky sky = {.room_webhook = 3, .judge = judges_by_turn, .at_poll = see_one_flight};
    open_mail(desk, &sky, 20);
    desk->settings.poll_us = OWED_HOURS(1);
    desk->settings.passes = 8;
    desk_run(desk);
    assert_true(sky.starts > 3 + 1);
    assert_true(sky.starts < 3 + 8);
    assert_int_equal(desk_number(desk, "select max(attempts) from owed_delivery"), 0);
}

/* --- after a relay that died --- */

#define LOST_COUNT 40

/* lose_all leaves every row as a relay that was killed leaves what it had in hand. */
static void
lose_all(struct desk *desk)
{
    raw_run(desk->f->raw,
        "update owed_delivery set status = 'claimed', claimed_by = 'gone', "
        "lease_expires_at = moment(1)");
}

struct recovery {
    struct sky sky; // the first member
    size_t at_once[LOST_COUNT];
    size_t polls;   // with any in flight
    int64_t bad_id; // ends its worker
    int ends;
};

static void
note_flights(struct sky *sky)
{
    struct recovery *recovery = (struct recovery *)sky;
    if (sky->count > 0 && recovery->polls < LOST_COUNT)
        recovery->at_once[recovery->polls++] = sky->count;
}

static void
what_a_dead_relay_had_in_hand_flies_together_the_more_of_it_has_landed(void **state)
{
    struct desk *desk = *state;
    struct recovery recovery = {.sky = {.at_poll = note_flights}};
    open_hook(desk, &recovery.sky, LOST_COUNT);
    lose_all(desk);
    desk_once(desk);
    assert_count(desk, "succeeded", LOST_COUNT);
    assert_int_equal(recovery.sky.starts, LOST_COUNT);
    size_t landed = 0;
    for (size_t i = 0; i < recovery.polls; i++) {
        assert_true(recovery.at_once[i] <= landed + 1);
        landed += recovery.at_once[i];
    }
    assert_in_range(recovery.polls, 5, 7); // 1, 2, 4, 8, 16 and the rest
}

/* end_worker_with_the_bad_one has the worker leave as if it had died with all that it had claimed. */
static void
end_worker_with_the_bad_one(struct sky *sky)
{
    struct recovery *recovery = (struct recovery *)sky;
    for (size_t i = 0; i < sky->count; i++) {
        if (sky->flights[i]->delivery.row->fence.delivery_id != recovery->bad_id)
            continue;
        raw_run(sky->desk->f->raw,
            "update owed_delivery set claimed_by = 'gone', lease_expires_at = moment(1) "
            "where status = 'claimed'");
        recovery->ends++;
        owed_relay_stop(sky->desk->f->owed);
        return;
    }
}

static void
one_that_ends_its_worker_each_time_is_dead_in_the_end_and_takes_no_other_along(void **state)
{
    struct desk *desk = *state;
    struct recovery recovery = {.sky = {.at_poll = end_worker_with_the_bad_one}};
    open_hook(desk, &recovery.sky, LOST_COUNT);
    lose_all(desk);
    recovery.bad_id = desk_number(desk, "select max(id) from owed_delivery") - 3;
    int64_t most_losses = 0;
    for (int runs = 0; desk_count(desk, "dead") == 0 && runs < 20; runs++) {
        desk_once(desk);
        int64_t losses = desk_number(desk,
            "select coalesce(max(losses), 0) from owed_delivery where status = 'claimed' "
            "and id <> (select max(id) - 3 from owed_delivery)");
        most_losses = losses > most_losses ? losses : most_losses;
    }
    assert_count(desk, "dead", 1);
    assert_count(desk, "succeeded", LOST_COUNT - 1);
    assert_int_equal(
        desk_number(desk, "select id from owed_delivery where status = 'dead'"), recovery.bad_id);
    assert_in_range(recovery.ends, 8, 10);
    assert_true(most_losses <= 6);
}

static void
where_few_losses_are_allowed_each_of_them_goes_alone(void **state)
{
    struct desk *desk = *state;
    struct recovery recovery = {.sky = {.at_poll = note_flights}};
    open_hook(desk, &recovery.sky, LOST_COUNT / 4);
    lose_all(desk);
    desk->settings.max_losses = 3;
    desk_once(desk);
    assert_count(desk, "succeeded", LOST_COUNT / 4);
    assert_int_equal(recovery.sky.most, 1);
}

static void
start(owed_delivery *delivery, const void *payload)
{
    (void)payload;
    owed_delivery_release(delivery);
}

static void
beside_a_receiver_that_only_starts_its_work_each_of_them_goes_alone(void **state)
{
    struct desk *desk = *state;
    struct recovery recovery = {.sky = {.at_poll = note_flights}};
    fly(desk, &recovery.sky);
    fixture_receiver(desk->f, hook);
    fixture_receiver(
        desk->f, (owed_receiver){.key = "shop.async", .event = &order_shipped, .start = start});
    fixture_open(desk->f);
    desk_fire_many(desk, LOST_COUNT / 4);
    lose_all(desk);
    desk_once(desk);
    assert_count(desk, "succeeded", LOST_COUNT / 4);
    assert_int_equal(recovery.sky.most, 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_is_started_once_and_all_are_settled),
        TEST(as_many_fly_at_once_as_there_is_room_for),
        TEST(no_more_is_claimed_than_can_start),
        TEST(as_many_are_claimed_ahead_as_have_landed_since_the_last_claim),
        TEST(while_rows_flow_they_are_written_in_hundreds_and_more_is_claimed_than_fits_in_flight),
        TEST(while_the_application_writes_claims_stay_small_however_fast_rows_flow),
        TEST(where_few_land_each_is_written_at_once),
        TEST(a_few_that_hang_do_not_keep_the_memory_of_all_that_flowed_past),
        TEST(beside_rows_that_flow_no_more_of_another_are_held_than_its_batch_and_its_room),
        TEST(beside_one_that_is_owed_nothing_hardly_a_claim_comes_back_empty),
        TEST(rows_flow_however_long_the_store_takes_to_write_them),
        TEST(when_rows_that_flowed_hang_those_of_others_wait_for_no_poll),
        TEST(requests_go_on_while_outcomes_of_what_flows_are_written),
        TEST(what_could_not_be_written_meanwhile_is_written_again_and_nothing_is_sent_twice),
        TEST(while_none_can_be_written_no_more_are_sent_than_three_times_what_may_fly),
        TEST(at_the_end_what_was_gathered_is_written_before_the_rest_is_waited_for),
        TEST(what_has_landed_is_written_before_much_more_is_claimed),
        TEST(what_waits_for_room_goes_back_when_its_lease_is_half_spent),
        TEST(no_more_payload_is_in_hand_than_may_be_however_many_may_fly),
        TEST(a_kind_without_room_does_not_hold_up_another),
        TEST(a_webhook_keeps_a_row_for_every_attempt),
        TEST(a_program_keeps_one_for_a_failure_alone),
        TEST(a_failure_is_recorded_with_its_text),
        TEST(a_flight_whose_row_was_taken_is_discarded_alone),
        TEST(leases_of_what_flies_are_renewed_when_they_are_half_spent),
        TEST(a_stop_lets_what_flies_land_and_starts_nothing_more),
        TEST(what_is_claimed_while_outcomes_are_written_goes_back_at_a_stop),
        TEST(rows_of_unknown_receivers_are_left_in_the_loop_too),
        TEST(an_outside_receiver_in_c_runs_without_a_transaction_beside_the_loop),
        TEST(a_limit_counts_what_flies),
        TEST(nothing_flies_twice_when_the_store_goes_away_at_any_call),
        TEST(nothing_flies_twice_when_an_answer_is_lost_at_any_call),
        TEST(after_a_deferral_nothing_more_starts_in_the_lane_and_what_waited_goes_back),
        TEST(a_broker_that_is_away_rests_alone_and_its_lane_goes_on),
        TEST(what_is_put_off_together_is_said_to_be_so_once),
        TEST(after_its_rest_one_is_tried_and_then_all_go),
        TEST(all_targets_of_a_receiver_rest_with_its_broker),
        TEST(what_is_put_off_holds_up_nobody_and_is_not_owed_for_ever),
        TEST(after_the_pause_one_flight_at_a_time_until_one_lands_otherwise),
        TEST(what_is_not_due_yet_leaves_the_next_one_on_trial),
        TEST(what_a_dead_relay_had_in_hand_flies_together_the_more_of_it_has_landed),
        TEST(one_that_ends_its_worker_each_time_is_dead_in_the_end_and_takes_no_other_along),
        TEST(where_few_losses_are_allowed_each_of_them_goes_alone),
        TEST(beside_a_receiver_that_only_starts_its_work_each_of_them_goes_alone),
    };
    return RUN_ON_ALL_STORES("outside", tests);
}
