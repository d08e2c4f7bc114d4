/* SPDX-License-Identifier: MIT
 *
 * test_sql.c - firing in plain SQL: what is true of every store.
 */
#include "world.h"

/* fire_in_sql answers the event's id as the door of the store tells its caller. SQLite's tells none. */
static int64_t
fire_in_sql(struct world *world)
{
    if (test_store_is("postgres"))
        return raw_number(plain(world), "select owed_fire('" EVENT "', '{}')");
    raw_fire(plain(world), EVENT, "{}");
    return raw_number(plain(world),
        test_store_is("mariadb") ? "select @owed_event_id" : "select max(id) from owed_event");
}

static void
sql_fans_out_as_the_library_does(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver receivers[] = {a_receiver("shop.billing"), a_receiver("shop.audit"),
        a_receiver("shop.inline"), a_receiver("shop.hooks"), a_receiver("shop.other"),
        a_receiver("shop.late")};
    receivers[1].event_name = "*";
    receivers[1].kind = "outside";
    receivers[1].lane = "shop/slow";
    receivers[2].mode = "inline";
    receivers[3].targets = "callback";
    receivers[4].event_name = "shop.OrderShipped";
    receivers[5].due_us = 3600 * SECOND;
    publish(world, receivers, COUNT(receivers));
    int64_t event_id = fire(world, EVENT);
    int64_t other_id = fire_in_sql(world);
    assert_int_equal(other_id, event_id + 1);
    // The same rows, but for their times.
    assert_int_equal(raw_numberf(plain(world),
                         "select count(*) from owed_delivery as a join owed_delivery as b"
                         " using (receiver_key, target_digest, lane, kind, status, max_attempts)"
                         " where a.event_id = %lld and b.event_id = %lld",
                         (long long)event_id, (long long)other_id),
        4);
    assert_int_equal(count_of(world, "owed_delivery"), 8);
    assert_int_equal(
        raw_numberf(plain(world),
            "select micros(d.available_at) - micros(e.recorded_at) from owed_delivery as d"
            " join owed_event as e on e.id = d.event_id"
            " where e.id = %lld and d.receiver_key = 'shop.late'",
            (long long)other_id),
        3600 * SECOND);
}

/* with_key is a statement that fires with a dedupe key. */
static const char *
with_key(void)
{
    if (test_store_is("postgres"))
        return "select owed_fire('" EVENT "', '{}', dedupe_key => 'k')";
    if (test_store_is("mariadb"))
        return "call owed_fire_with('" EVENT "', '{}', '{\"dedupe_key\": \"k\"}')";
    return "insert into owed_fire (name, payload, dedupe_key) values ('" EVENT "', '{}', 'k')";
}

static void
a_key_is_refused_for_what_goes_when_it_is_done(void **state)
{
    struct world *world = *state;
    // A removed type says nothing, another name's nothing of this one, and who has a retention keeps its events.
    raw_run(plain(world),
        "insert into owed_event_type (name, app, version, fields, published_at, removed_at, delete_when)"
        " values ('" EVENT "', 'gone', 1, '[]', moment(1), moment(1), 'settled'),"
        " ('shop.Other', 'shop', 1, '[]', moment(1), moment(0), 'settled'),"
        " ('" EVENT "', 'shop', 1, '[]', moment(1), moment(0), 'succeeded')");
    raw_refused(plain(world), with_key(), "dedupe_key protects only as long as the event is kept");
    raw_fire(plain(world), EVENT, "{}");
    assert_int_equal(count_of(world, "owed_event"), 1);
    raw_run(plain(world),
        "update owed_event_type set delete_when = '' where app = 'shop' and name = '" EVENT "'");
    raw_run(plain(world), with_key());
    raw_run(plain(world),
        "delete from owed_event; update owed_event_type set removed_at = moment(0) where app = 'gone';"
        "update owed_event_type set retention_seconds = 60 where app = 'shop' and name = '" EVENT
        "'");
    raw_run(plain(world), with_key());
    assert_int_equal(count_of(world, "owed_event"), 1);
}

static void
a_type_goes_by_a_window_or_when_it_is_done_and_never_by_both(void **state)
{
    struct world *world = *state;
    raw_run(plain(world),
        "insert into owed_event_type (name, app, version, fields, published_at, retention_seconds)"
        " values ('" EVENT "', 'shop', 1, '[]', moment(1), 60)");
    raw_refused(plain(world), "update owed_event_type set delete_when = 'settled'",
        "owed_event_type_goes_by_one");
    raw_run(plain(world),
        "update owed_event_type set delete_when = 'settled', retention_seconds = null");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(sql_fans_out_as_the_library_does),
        TEST(a_key_is_refused_for_what_goes_when_it_is_done),
        TEST(a_type_goes_by_a_window_or_when_it_is_done_and_never_by_both),
    };
    return RUN_ON_ALL_STORES("store sql", tests);
}
