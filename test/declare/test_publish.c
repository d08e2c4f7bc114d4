/* SPDX-License-Identifier: MIT
 *
 * test_publish.c - declarations as others read them in the catalogue, and what is owed to nobody.
 */
#include "common.h"

#include <string.h>

#include "base/buf.h"
#include "declare/checks.h"
#include "declare/publish.h"
#include "raw.h"
#include "test_store.h"

#define NOW_US (INT64_C(1796000000) * 1000000)

typedef struct order {
    int64_t id;
} order;
static const owed_field order_fields[] = {OWED_INT64(order, id), OWED_FIELDS_END};
static const owed_event_type order_placed = {
    .name = "shop.OrderPlaced", .version = 2, .fields = order_fields, .size = sizeof(order)};

static owed_registry *registry;
static struct test_store store;
static struct db *db;
static struct arena arena;
static struct buf said;
static owed_error err;

static int
setup(void **state)
{
    (void)state;
    arena_init(&arena, 0);
    buf_init(&said, 65536);
    struct db_options options = {.busy_timeout_us = 1000000, .create = true};
    int applied = 0;
    test_store_new(&store);
    if (store_open(store.url, &options, &db, &err) != OWED_OK ||
        store_migrate(db, NOW_US, &applied, &err) != OWED_OK)
        fail_msg("%s", err.text);
    return owed_registry_new("shop", &registry, &err);
}

static int
teardown(void **state)
{
    (void)state;
    store_close(db);
    owed_registry_free(registry);
    arena_done(&arena);
    buf_done(&said);
    test_store_free(&store);
    return 0;
}

static owed_outcome
run(owed_delivery *delivery, const void *payload)
{
    (void)delivery;
    (void)payload;
    return (owed_outcome){.verdict = OWED_VERDICT_DONE};
}

static void
declare(owed_receiver receiver)
{
    if (receiver.event_name == NULL && receiver.event == NULL)
        receiver.event = &order_placed;
    if (owed_declare_receiver(registry, &receiver, &err) != OWED_OK)
        fail_msg("%s", err.text);
}

static int64_t
publish(int64_t release)
{
    int64_t changed = -1;
    if (publish_registry(db, registry, release, NOW_US, &changed, &err) != OWED_OK)
        fail_msg("%s", err.text);
    return changed;
}

static struct catalogue_receiver
published(const char *key)
{
    struct catalogue_receiver *rows = NULL;
    size_t count = 0;
    assert_status(OWED_OK, store_catalogue_receivers(db, &arena, &rows, &count, &err));
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].key, key) == 0)
            return rows[i];
    fail_msg("%s is not in the catalogue", key);
    return (struct catalogue_receiver){0};
}

static void
publishes_all_that_a_receiver_declares(void **state)
{
    (void)state;
    declare((owed_receiver){.key = "shop.stock",
        .run = run,
        .lane = "stock",
        .database_only = true,
        .max_attempts = 9,
        .backoff_base_us = 11,
        .backoff_cap_us = 12,
        .lease_us = 13,
        .timeout_us = 14,
        .due_us = 15,
        .give_up_after_us = 16});
    assert_int_equal(publish(3), 2);
    struct catalogue_receiver row = published("shop.stock");
    assert_string_equal(row.app, "shop");
    assert_string_equal(row.event_name, "shop.OrderPlaced");
    assert_string_equal(row.mode, "durable");
    assert_string_equal(row.site, "relay");
    assert_string_equal(row.kind, "inside");
    assert_string_equal(row.lane, "shop/stock");
    assert_int_equal(row.max_attempts, 9);
    assert_int_equal(row.backoff_base_us, 11);
    assert_int_equal(row.backoff_cap_us, 12);
    assert_int_equal(row.lease_us, 13);
    assert_int_equal(row.timeout_us, 14);
    assert_int_equal(row.due_us, 15);
    assert_int_equal(row.give_up_after_us, 16);
    assert_string_equal(row.pause, "lane");
    assert_true(row.database_only);
    assert_string_equal(row.options, "{}");
    assert_int_equal(row.release, 3);
    assert_int_equal(row.published_at_us, NOW_US);

    struct catalogue_event *events = NULL;
    size_t count = 0;
    assert_status(OWED_OK, store_catalogue_events(db, &arena, &events, &count, &err));
    assert_int_equal(count, 1);
    assert_string_equal(events[0].name, "shop.OrderPlaced");
    assert_int_equal(events[0].version, 2);
    assert_string_equal(events[0].fields, "[{\"name\":\"id\",\"kind\":\"int64\"}]");
}

static owed_status
names_none(owed_delivery *delivery, const void *payload, owed_target_list *list, owed_error *error)
{
    (void)delivery;
    (void)payload;
    (void)list;
    (void)error;
    return OWED_OK;
}

static void
publishes_what_a_deferral_pauses(void **state)
{
    (void)state;
    declare((owed_receiver){
        .key = "shop.stock", .run = run, .targets = names_none, .pause = OWED_PAUSE_TARGET});
    publish(0);
    assert_string_equal(published("shop.stock").pause, "target");
}

static void
publishes_where_a_receiver_runs(void **state)
{
    (void)state;
    declare((owed_receiver){.key = "shop.stock", .run = run, .site = OWED_SITE_TASK});
    publish(0);
    assert_string_equal(published("shop.stock").site, "task");
    assert_string_equal(published("shop.stock").kind, "task");
}

static void
publishes_the_attempts_that_hold_where_none_are_declared(void **state)
{
    (void)state;
    registry->max_attempts = 8;
    declare((owed_receiver){.key = "shop.stock", .run = run});
    publish(0);
    assert_int_equal(published("shop.stock").max_attempts, 8);
}

static void
writes_nothing_where_nothing_changed(void **state)
{
    (void)state;
    declare((owed_receiver){.key = "shop.stock", .run = run});
    assert_int_equal(publish(1), 2);
    assert_int_equal(publish(1), 0);
}

static void
says_what_runs_without_giving_secrets_away(void **state)
{
    (void)state;
    declare((owed_receiver){.key = "shop.signed",
        .webhook = "https://a.example:8/hooks?token=hunter2#x",
        .secret = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz"});
    declare((owed_receiver){.key = "shop.plain", .webhook = "https://a.example"});
    declare((owed_receiver){.key = "shop.pipe", .pipe = "/bin/say \"x\" -y"});
    declare((owed_receiver){.key = "shop.exec", .exec = "/bin/say \"x\""});
    declare((owed_receiver){.key = "shop.file", .file = "log"});
    declare((owed_receiver){.key = "shop.null", .discard = true});
    declare((owed_receiver){.key = "shop.any", .event_name = "*", .discard = true});
    publish(0);
    assert_string_equal(published("shop.signed").options,
        "{\"webhook\":\"https://a.example:8/hooks\",\"signed\":true}");
    assert_string_equal(
        published("shop.plain").options, "{\"webhook\":\"https://a.example\",\"signed\":false}");
    assert_string_equal(published("shop.pipe").options, "{\"pipe\":\"/bin/say \\\"x\\\" -y\"}");
    assert_string_equal(published("shop.exec").options, "{\"exec\":\"/bin/say \\\"x\\\"\"}");
    assert_string_equal(published("shop.file").options, "{\"file\":\"log\"}");
    assert_string_equal(published("shop.null").options, "{\"discard\":true}");
    assert_string_equal(published("shop.null").kind, "outside");
    assert_int_equal(published("shop.null").max_attempts, DEFAULT_MAX_ATTEMPTS);
    assert_string_equal(published("shop.any").event_name, "*");
}

static void
publishes_the_other_modes_for_readers(void **state)
{
    (void)state;
    declare((owed_receiver){.key = "shop.veto", .run = run, .mode = OWED_INLINE});
    declare((owed_receiver){.key = "shop.mail", .run = run, .mode = OWED_ON_COMMIT});
    publish(0);
    assert_string_equal(published("shop.veto").mode, "inline");
    assert_string_equal(published("shop.mail").mode, "on_commit");
    assert_int_equal(published("shop.mail").max_attempts, 0);
}

static void
removes_what_a_later_release_no_longer_declares(void **state)
{
    (void)state;
    declare((owed_receiver){.key = "shop.old", .run = run});
    publish(1);
    owed_registry_free(registry);
    assert_status(OWED_OK, owed_registry_new("shop", &registry, &err));
    declare((owed_receiver){.key = "shop.new", .run = run});
    publish(0);
    assert_int_equal(published("shop.old").removed_at_us, 0);
    publish(2);
    assert_int_equal(published("shop.old").removed_at_us, NOW_US);
    assert_int_equal(published("shop.new").removed_at_us, 0);
}

static void
say(void *state, enum finding finding, const char *sentence)
{
    buf_printf(state, "%s: %s\n", finding_name(finding), sentence);
}

static void
owe(const char *key)
{
    const struct new_delivery delivery = {.event_id = 1,
        .receiver_key = key,
        .lane = "shop/default",
        .kind = "inside",
        .max_attempts = 5,
        .available_at_us = NOW_US};
    assert_status(OWED_OK, store_begin(db, true, &err));
    assert_status(OWED_OK, store_insert_delivery(db, &delivery, &err));
    assert_status(OWED_OK, store_commit(db, &err));
}

static void
finds(const char *sentences, size_t expected)
{
    size_t count = 0;
    buf_clear(&said);
    assert_status(OWED_OK, checks_store(db, registry, NOW_US, say, &said, &count, &err));
    assert_int_equal(count, expected);
    assert_string_equal(buf_text(&said), sentences);
}

/* --- payloads --- */

/* fire_named owes an event to all who are published for it. */
static void
fire_named(const char *name, int32_t version, const char *payload)
{
    static uint8_t number;
    struct new_event event = {.name = name,
        .version = version,
        .payload = str_of(payload),
        .occurred_at_us = NOW_US,
        .recorded_at_us = NOW_US,
        .due_at_us = NOW_US};
    int64_t id = 0;
    bool fresh = false;
    event.uid[0] = ++number;
    if (store_begin(db, true, &err) != OWED_OK ||
        store_insert_event(db, &event, &id, &fresh, &err) != OWED_OK ||
        store_commit(db, &err) != OWED_OK)
        fail_msg("%s", err.text);
}

static void
fire(int32_t version, const char *payload)
{
    fire_named(order_placed.name, version, payload);
}

static void
finds_payloads(const char *sentences, size_t expected)
{
    size_t count = 0;
    buf_clear(&said);
    assert_status(OWED_OK, checks_payloads(db, registry, say, &said, &count, &err));
    assert_string_equal(buf_text(&said), sentences);
    assert_int_equal(count, expected);
}

#define NUMBER "a whole number from -9223372036854775808 to 9223372036854775807"

#define UNWANTED(key_, owed_) \
    "error: receiver \"" key_ \
    "\": it wants the event \"shop.Refunded\" by now, and cannot be given what it is still owed of " \
    "\"shop.OrderPlaced\" (" owed_ \
    "); a new key for what it has become is right, or cancel these\n"

static void
set_status(int64_t nth, const char *key, const char *status)
{
    struct raw *raw = raw_open(store.url);
    raw_runf(raw,
        "update owed_delivery set status = '%s' where receiver_key = '%s'"
        " and event_id = (select min(id) + %lld from owed_event)",
        status, key, (long long)nth);
    raw_close(raw);
}

static void
finds_what_is_owed_of_an_event_that_its_receiver_no_longer_wants(void **state)
{
    (void)state;
    declare((owed_receiver){.key = "shop.any", .run = run, .event_name = "*"});
    declare((owed_receiver){.key = "shop.a", .run = run, .event = &order_placed});
    declare((owed_receiver){.key = "shop.b", .run = run, .event = &order_placed});
    publish(0);
    for (int i = 0; i < 4; i++)
        fire(2, "{\"id\":7}");
    finds("", 0);
    // Another process has published a move, and here somebody is about to.
    owed_registry_free(registry);
    assert_status(OWED_OK, owed_registry_new("shop", &registry, &err));
    declare((owed_receiver){.key = "shop.b", .run = run, .event_name = "shop.Refunded"});
    finds(UNWANTED("shop.b", "4"), 1);
    declare((owed_receiver){.key = "shop.a", .run = run, .event_name = "shop.Refunded"});
    publish(0);
    owed_registry_free(registry);
    assert_status(OWED_OK, owed_registry_new("shop", &registry, &err));
    finds(UNWANTED("shop.a", "4") UNWANTED("shop.b", "4"), 2);
    // What is claimed or failed is owed, too; what has ended is not.
    set_status(0, "shop.a", "claimed");
    set_status(1, "shop.a", "failed");
    set_status(2, "shop.a", "succeeded");
    set_status(3, "shop.a", "dead");
    for (int i = 0; i < 4; i++)
        set_status(i, "shop.b", "cancelled");
    finds(UNWANTED("shop.a", "2"), 1);
}

static void
finds_what_is_owed_and_cannot_be_read(void **state)
{
    (void)state;
    declare((owed_receiver){.key = "shop.typed", .run = run, .event = &order_placed});
    publish(0);
    finds_payloads("", 0);
    fire(2, "{\"id\":7}");
    finds_payloads("", 0);
    fire(2, "{\"id\":\"seven\"}");
    finds_payloads("error: 1 delivery that is owed cannot be read (2): shop.OrderPlaced version 2: "
                   "field id: expected " NUMBER ", found \"seven\"\n",
        1);
}

typedef struct pin {
    const char *text;
} pin;

static bool
quotes_the_pin(owed_upgrade *upgrade, const void *before, void *after)
{
    (void)after;
    return owed_upgrade_refuse(upgrade, "pin %s cannot be", ((const pin *)before)->text);
}

static void
quotes_no_secret_of_what_cannot_be_read(void **state)
{
    (void)state;
    static const owed_field fields[] = {OWED_TEXT_WITH(pin, text, .secret = true), OWED_FIELDS_END};
    static const owed_event_type old = {
        .name = "shop.PinSet", .version = 1, .fields = fields, .size = sizeof(pin)};
    static const owed_event_type new = {.name = "shop.PinSet",
        .version = 2,
        .fields = fields,
        .size = sizeof(pin),
        .before = &old,
        .upgrade = quotes_the_pin};
    declare((owed_receiver){.key = "shop.pins", .run = run, .event = &new});
    publish(0);
    fire_named("shop.PinSet", 1, "{\"text\":\"hunter2222\"}");
    finds_payloads("error: 1 delivery that is owed cannot be read (1): shop.PinSet version 1: "
                   "its upgrade to version 2 failed: pin *** cannot be\n",
        1);
}

static void
tells_one_reason_once(void **state)
{
    (void)state;
    declare((owed_receiver){.key = "shop.typed", .run = run, .event = &order_placed});
    publish(0);
    for (int i = 0; i < 205; i++)
        fire(1, i % 2 == 0 ? "{\"id\":\"seven\"}" : "{\"id\":[]}");
    fire(3, "{}");
    fire(3, "{}");
    finds_payloads(
        "error: 205 deliveries that are owed cannot be read (1, 2, 3, ...): shop.OrderPlaced version "
        "1: field id: expected " NUMBER ", found \"seven\"\n"
        "error: 2 deliveries that are owed cannot be read (206, 207): shop.OrderPlaced version 3: "
        "field id: expected " NUMBER ", found no such key; this program knows no version above 2\n",
        2);
}

#define NOBODY \
    ": nobody declares it; what it is owed (1) is orphaned after the grace unless somebody publishes it\n"

static void
warns_of_what_is_owed_to_nobody(void **state)
{
    (void)state;
    declare((owed_receiver){.key = "shop.here", .run = run});
    owe("shop.gone");
    owe("shop.gone2");
    owe("shop.here");
    finds("warning: receiver \"shop.gone\"" NOBODY "warning: receiver \"shop.gone2\"" NOBODY, 2);
}

static void
knows_what_others_published_until_they_remove_it(void **state)
{
    (void)state;
    declare((owed_receiver){.key = "shop.other", .run = run});
    publish(1);
    owed_registry_free(registry);
    assert_status(OWED_OK, owed_registry_new("shop", &registry, &err));
    declare((owed_receiver){.key = "shop.here", .run = run});
    publish(0);
    owe("shop.other");
    finds("", 0);
    publish(2);
    finds("warning: receiver \"shop.other\"" NOBODY, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(publishes_all_that_a_receiver_declares),
        TEST(publishes_what_a_deferral_pauses),
        TEST(publishes_where_a_receiver_runs),
        TEST(publishes_the_attempts_that_hold_where_none_are_declared),
        TEST(writes_nothing_where_nothing_changed),
        TEST(says_what_runs_without_giving_secrets_away),
        TEST(publishes_the_other_modes_for_readers),
        TEST(removes_what_a_later_release_no_longer_declares),
        TEST(finds_what_is_owed_and_cannot_be_read),
        TEST(quotes_no_secret_of_what_cannot_be_read),
        TEST(tells_one_reason_once),
        TEST(finds_what_is_owed_of_an_event_that_its_receiver_no_longer_wants),
        TEST(warns_of_what_is_owed_to_nobody),
        TEST(knows_what_others_published_until_they_remove_it),
    };
    return RUN_ON_ALL_STORES("publish", tests);
}
