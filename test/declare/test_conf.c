/* SPDX-License-Identifier: MIT
 *
 * test_conf.c - owed.conf: what it can say, and what it is told where it cannot.
 */
#include "common.h"

#include <stdio.h>
#include <string.h>

#include "declare/conf.h"
#include "declare/mask.h"
#include "declare/settings.h"
#include "folder.h"

static owed_registry *registry;
static struct options *options;
static owed_error err;

static int
setup(void **state)
{
    (void)state;
    if (owed_registry_new("shop", &registry, &err) != OWED_OK)
        return -1;
    return options_new(settings_tables, 0, &options, &err);
}

static int
teardown(void **state)
{
    (void)state;
    owed_registry_free(registry);
    options_free(options);
    return 0;
}

static owed_status
load_receivers(const char *text)
{
    folder_write("owed.conf", text);
    return conf_load_receivers("owed.conf", registry, NULL, &err);
}

static owed_status
load_options(const char *text)
{
    folder_write("owed.conf", text);
    return conf_load_options("owed.conf", options, &err);
}

static void
declares_receivers_that_need_no_c(void **state)
{
    (void)state;
    static const char text[] = "# what the shop tells others\n"
                               "[store]\n"
                               "url = sqlite:shop.db\n"
                               "app = shop\n"
                               "\n"
                               "[receiver \"shop.billing\"]\n"
                               "event = shop.OrderPlaced\n"
                               "webhook = https://billing.example/hooks?a=1#b  ; no comment in it\n"
                               "secret-file = /run/credentials/billing\n"
                               "max-attempts = 10\n"
                               "backoff-base = 2m\n"
                               "backoff-cap = 30m\n"
                               "lease = 1h30m\n"
                               "timeout = 250ms\n"
                               "due = 48h\n"
                               "give-up-after = 2d\n"
                               "pause = lane\n"
                               "site = relay\n"
                               "lane = hooks\n"
                               "[receiver \"shop.label\"]\n"
                               "event = shop.OrderPlaced\n"
                               "exec = /usr/lib/shop/print-label\n"
                               "[receiver \"shop.log\"]\n"
                               "event = *\n"
                               "file = \"log of all.jsonl\"\n"
                               "[receiver \"shop.nothing\"]\n"
                               "event = shop.Other\n"
                               "discard = yes\n"
                               "site = task\n";
    if (load_receivers(text) != OWED_OK)
        fail_msg("%s", err.text);
    assert_int_equal(registry->receiver_count, 4);

    const struct receiver *billing = registry->receivers;
    assert_string_equal(billing->declared.key, "shop.billing");
    assert_string_equal(billing->where, "owed.conf:6");
    assert_string_equal(billing->type->name, "shop.OrderPlaced");
    assert_null(billing->type->fields);
    assert_string_equal(billing->declared.webhook, "https://billing.example/hooks?a=1#b");
    assert_string_equal(billing->declared.secret_file, "/run/credentials/billing");
    assert_int_equal(billing->declared.max_attempts, 10);
    assert_int_equal(billing->declared.backoff_base_us, OWED_MINUTES(2));
    assert_int_equal(billing->declared.backoff_cap_us, OWED_MINUTES(30));
    assert_int_equal(billing->declared.lease_us, OWED_MINUTES(90));
    assert_int_equal(billing->declared.timeout_us, 250000);
    assert_int_equal(billing->declared.due_us, OWED_HOURS(48));
    assert_int_equal(billing->declared.give_up_after_us, OWED_HOURS(48));
    assert_string_equal(billing->lane, "shop/hooks");
    const struct receiver *label = billing->next;
    assert_int_equal(label->runner, RUN_EXEC);
    assert_string_equal(label->lane, "shop/default");
    assert_string_equal(label->where, "owed.conf:20");
    const struct receiver *log = label->next;
    assert_string_equal(log->declared.file, "log of all.jsonl");
    assert_true(log->any_event);
    assert_int_equal(log->next->runner, RUN_DISCARD);
    assert_int_equal(billing->declared.site, OWED_SITE_RELAY);
    assert_int_equal(log->next->declared.site, OWED_SITE_TASK);
    // A name alone declares its event, opaque.
    assert_non_null(registry_type(registry, "shop.Other"));
    assert_int_equal(registry->type_count, 2);
}

static void
fills_the_settings_but_leaves_what_a_flag_said(void **state)
{
    (void)state;
    assert_status(
        OWED_OK, options_set(options, NULL, "batch-size", "7", SOURCE_FLAG, "--batch-size", &err));
    static const char text[] = "[store]\n"
                               "url = sqlite:shop.db\n"
                               "app = shop\n"
                               "release = 42\n"
                               "busy-timeout = 250ms\n"
                               "[relay]\n"
                               "batch-size = 100\n"
                               "lane = mail, hooks\n"
                               "orphan-grace = 0\n"
                               "max-losses = 0\n"
                               "lease = 90s\n"
                               "[log]\n"
                               "log-format = json\n"
                               "[receiver \"x\"]\n"
                               "colour = none of our business here\n";
    if (load_options(text) != OWED_OK)
        fail_msg("%s", err.text);
    owed_settings settings = {0};
    settings_fill_store(options, &settings);
    assert_string_equal(settings.url, "sqlite:shop.db");
    assert_int_equal(settings.release, 42);
    assert_int_equal(settings.busy_timeout_us, 250000);
    assert_string_equal(options_text(options, "app"), "shop");
    assert_string_equal(options_text(options, "log-format"), "json");

    owed_relay_settings relay = {0};
    settings_fill_relay(options, &relay);
    assert_int_equal(relay.batch_size, 7);
    assert_int_equal(relay.lease_us, OWED_SECONDS(90));
    assert_string_equal(relay.lanes[0], "mail");
    assert_string_equal(relay.lanes[1], "hooks");
    assert_null(relay.lanes[2]);
    // In the file 0 is no grace and no limit; in C those are -1.
    assert_int_equal(relay.orphan_grace_us, -1);
    assert_int_equal(relay.max_losses, -1);
}

static void
sets_the_attempts_of_receivers_that_do_not_say(void **state)
{
    (void)state;
    static const owed_receiver plain = {.key = "shop.x", .event_name = "shop.X", .discard = true};
    static const owed_receiver says = {
        .key = "shop.y", .event_name = "shop.X", .discard = true, .max_attempts = 3};
    assert_status(OWED_OK, owed_declare_receiver(registry, &plain, &err));
    assert_status(OWED_OK, owed_declare_receiver(registry, &says, &err));
    assert_int_equal(receiver_max_attempts(registry, registry->receivers), 5);
    assert_status(OWED_OK, load_options("[relay]\nmax-attempts = 8\n"));
    settings_fill_registry(options, registry);
    assert_int_equal(receiver_max_attempts(registry, registry->receivers), 8);
    assert_int_equal(receiver_max_attempts(registry, registry->receivers->next), 3);
}

static void
has_the_defaults_that_are_documented(void **state)
{
    (void)state;
    owed_relay_settings relay = {0};
    settings_fill_relay(options, &relay);
    assert_null(relay.worker_id);
    assert_null(relay.lanes);
    assert_false(relay.all_lanes);
    assert_false(relay.once);
    assert_int_equal(relay.limit, 0);
    assert_int_equal(relay.passes, 0);
    assert_int_equal(relay.batch_size, 0); // nobody said: it may grow from 50
    assert_int_equal(relay.lease_us, OWED_MINUTES(5));
    assert_int_equal(relay.poll_us, OWED_SECONDS(1));
    assert_int_equal(relay.backoff_base_us, OWED_SECONDS(2));
    assert_int_equal(relay.backoff_cap_us, OWED_HOURS(1));
    assert_int_equal(relay.max_retry_delay_us, OWED_HOURS(24));
    assert_int_equal(relay.max_attempts, 5);
    assert_int_equal(relay.orphan_grace_us, OWED_MINUTES(10));
    assert_int_equal(relay.max_losses, 10);
    assert_int_equal(relay.error_length, 2000);
    assert_int_equal(relay.in_flight, 200);
    assert_int_equal(relay.exec_in_flight, 16);
    assert_int_equal(options_number(options, "outside-workers"), 4);
    assert_int_equal(options_number(options, "concurrency"), 1);
    owed_settings settings = {0};
    settings_fill_store(options, &settings);
    assert_null(settings.url);
    assert_int_equal(settings.busy_timeout_us, OWED_SECONDS(5));
}

/* A command that knows only some of the words still reads a file that has them all. */
static void
checks_the_words_that_a_command_does_not_use(void **state)
{
    (void)state;
    static const struct option *const some[] = {settings_store, NULL};
    options_free(options);
    assert_status(OWED_OK, options_new(some, 0, &options, &err));
    assert_status(OWED_OK, load_options("[relay]\nbatch-size = 100\n[log]\nlog-level = debug\n"));
    assert_refused(load_options("[relay]\nbatch-size = many\n"),
        "owed.conf:2: batch-size: expected a whole number, found \"many\"");
    assert_refused(load_options("[relay]\nbatchsize = 5\n"),
        "owed.conf:2: [relay] has no key batchsize; the nearest is batch-size");
}

struct refusal {
    const char *text;
    const char *sentence;
};

static void
refuses_wrong_words_with_place_and_nearest_word(void **state)
{
    (void)state;
#define HEAD "[receiver \"shop.x\"]\nevent = shop.OrderPlaced\n"
#define PLACE "owed.conf:3: [receiver \"shop.x\"]"
    static const struct refusal refusals[] = {
        {HEAD "max-atempts = 3\n", PLACE " has no key max-atempts; the nearest is max-attempts"},
        {HEAD "web-hook = x\n", PLACE " has no key web-hook; the nearest is webhook"},
        {HEAD "MAX-ATTEMPTS = 3\n", PLACE " has no key MAX-ATTEMPTS"},
        {HEAD "backoff-base = 5\n",
            PLACE
            " backoff-base: expected a duration such as 90s, 5m, 1h30m or 250ms, 3660d at most, found \"5\""},
        {HEAD "lease = -1s\n",
            PLACE
            " lease: expected a duration such as 90s, 5m, 1h30m or 250ms, 3660d at most, found \"-1s\""},
        {HEAD "lease = 0\n", PLACE " lease: expected 1us to 3660d, found \"0\""},
        {HEAD "lease = 99999d\n",
            PLACE
            " lease: expected a duration such as 90s, 5m, 1h30m or 250ms, 3660d at most, found \"99999d\""},
        {HEAD "max-attempts = 0\n", PLACE " max-attempts: expected 1 to 1000000, found \"0\""},
        {HEAD "max-attempts = ten\n",
            PLACE " max-attempts: expected a whole number, found \"ten\""},
        {HEAD "discard = maybe\n", PLACE " discard: expected true or false, found \"maybe\""},
        {HEAD "discard = yes\ndiscard = yes\n", "owed.conf:4: discard is already set in line 3"},
        {"[receivr \"shop.x\"]\n",
            "owed.conf:1: no section is called [receivr]; the nearest is receiver"},
        {"[postbox \"mail\"]\n",
            "owed.conf:1: no section is called [postbox]; there are [store], "
            "[relay], [log], [templates], [event \"name\"], [receiver \"key\"] and [channel "
            "\"name\"]"},
        {"[channel]\n", "owed.conf:1: [channel] needs a name: [channel \"email\"]"},
        {"[event]\n", "owed.conf:1: [event] needs a name: [event \"shop.OrderPlaced\"]"},
        {"[event \"shop.A\"]\nretentions = 5s\n",
            "owed.conf:2: [event \"shop.A\"] has no key retentions; the nearest is retention"},
        {"[event \"shop.A\"]\nretention = 1500ms\n",
            "owed.conf:1: event \"shop.A\": a retention is a whole number of seconds, from 1 to "
            "2147483647; 0 for none of its own"},
        {"[event \"shop.A\"]\ndelete-when = done\n",
            "owed.conf:2: [event \"shop.A\"] delete-when: expected succeeded or settled, found "
            "\"done\""},
        {"[event \"shop.A\"]\ndelete-when = settled\nretention = 5s\n",
            "owed.conf:1: event \"shop.A\": it has a retention of its own and goes when it has "
            "settled; one of the two is right"},
        {"[event \"shop.A\"]\nsecret = card\n",
            "owed.conf:1: event \"shop.A\": secret is a list of JSON pointers, such as /card/number or "
            "/lines/*/token, with blanks between them"},
        {"[event \"shop.A\"]\nsecret =\n",
            "owed.conf:1: event \"shop.A\": secret is a list of JSON pointers, such as /card/number or "
            "/lines/*/token, with blanks between them"},
        {"[event \"shop.A\"]\n[event \"shop.A\"]\n",
            "owed.conf:2: [event \"shop.A\"] stands in line 1 already; once is right"},
        {"[receiver]\nevent = x\n",
            "owed.conf:1: [receiver] needs a key: [receiver \"shop.billing\"]"},
        {"[store \"main\"]\n", "owed.conf:1: [store \"main\"] takes no name; [store] is right"},
        {"event = x\n", "owed.conf:1: event stands before the first [section]"},
    };
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++)
        assert_refused(load_receivers(refusals[i].text), refusals[i].sentence);
    assert_null(registry->receivers);
    assert_refused(load_options("[store]\nbatch-size = 5\n"),
        "owed.conf:2: [store] has no key batch-size; there is batch-size in [relay]");
    assert_refused(load_options("[store]\nstore = sqlite:x\n"),
        "owed.conf:2: [store] has no key store; there is url in [store]");
    assert_refused(load_options("[relay]\nonce = yes\n"), "owed.conf:2: [relay] has no key once");
    assert_refused(load_options("[relay]\nbatch-size = 10001\n"),
        "owed.conf:2: batch-size: expected 1 to 10000, found \"10001\"");
}

/* Words that belong to C, or to what there is not. */
static void
an_event_is_kept_as_its_section_says(void **state)
{
    (void)state;
    assert_status(OWED_OK,
        load_receivers("[event \"shop.OrderPlaced\"]\ndelete-when = succeeded\n"
                       "[receiver \"shop.x\"]\nevent = shop.OrderPlaced\ndiscard = yes\n"
                       "[event \"shop.OrderShipped\"]\nretention = 2d\n"));
    assert_int_equal(
        registry_keeping(registry, "shop.OrderPlaced").delete_when, OWED_DELETE_WHEN_SUCCEEDED);
    assert_int_equal(registry_keeping(registry, "shop.OrderShipped").retention_us,
        INT64_C(2) * 24 * 3600 * 1000000);
    assert_int_equal(registry_keeping(registry, "shop.Other").retention_us, 0);
    // Whoever declares it afterwards, what the file says goes first.
    static const owed_event_type placed = {
        .name = "shop.OrderPlaced", .retention_us = INT64_C(5) * 1000000};
    assert_status(OWED_OK, owed_declare_event(registry, &placed, &err));
    assert_int_equal(registry_keeping(registry, "shop.OrderPlaced").retention_us, 0);
    assert_non_null(registry_receiver(registry, "shop.x"));
}

static void
hides_what_an_event_section_says_is_secret(void **state)
{
    (void)state;
    assert_status(OWED_OK,
        load_receivers("[event \"shop.OrderPlaced\"]\nsecret = /card/number /lines/*/token\n"
                       "[event \"shop.OrderShipped\"]\nretention = 2d\n"));
    static const owed_event_type placed = {
        .name = "shop.OrderPlaced", .retention_us = INT64_C(5) * 1000000};
    for (int i = 0; i < 2; i++) { // by name alone, and once it is declared
        struct mask mask = {0};
        struct buf shown;
        buf_init(&shown, 1000);
        registry_mask(registry, "shop.OrderPlaced", &mask);
        mask_payload(
            &mask, STR("{\"card\":{\"number\":1},\"lines\":[{\"token\":2}],\"id\":3}"), &shown);
        assert_string_equal(buf_text(&shown),
            "{\"card\":{\"number\":\"***\"},\"lines\":[{\"token\":\"***\"}],\"id\":3}");
        buf_done(&shown);
        assert_status(OWED_OK, owed_declare_event(registry, &placed, &err));
    }
    struct mask mask = {0};
    registry_mask(registry, "shop.OrderShipped", &mask);
    registry_mask(registry, "shop.Other", &mask);
    assert_int_equal(mask.count, 0);
    // How long it is kept stays as it was declared.
    assert_int_equal(
        registry_keeping(registry, "shop.OrderPlaced").retention_us, INT64_C(5) * 1000000);
}

static void
refuses_what_a_file_cannot_say(void **state)
{
    (void)state;
    static const char *const words[] = {
        "mode", "outside", "database-only", "state", "run", "secret", "targets", "eager", "key"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        char text[200];
        char start[200];
        snprintf(text, sizeof text, HEAD "%s = x\n", words[i]);
        snprintf(start, sizeof start, PLACE " has no key %s", words[i]);
        assert_status(OWED_CONFIG, load_receivers(text));
        if (strncmp(err.text, start, strlen(start)) != 0)
            fail_msg("%s", err.text);
    }
}

static void
refuses_what_the_registry_refuses_with_the_line_of_its_section(void **state)
{
    (void)state;
    static const struct refusal refusals[] = {
        {"\n[receiver \"shop.x\"]\ndiscard = yes\n",
            "owed.conf:2: receiver \"shop.x\": no event; name the one that it wants, or \"*\" for "
            "any"},
        {HEAD,
            "owed.conf:1: receiver \"shop.x\": nothing says what it does; exactly one of run or start (in "
            "C), webhook, exec, pipe, publish, file, discard, endpoints and (in owed.conf) notify is right"},
        {HEAD "webhook =\n",
            "owed.conf:1: receiver \"shop.x\": the URL of the webhook is neither "
            "http:// nor https://"},
        {HEAD "exec = ls\n",
            "owed.conf:1: receiver \"shop.x\": exec \"ls\" is not an absolute path; "
            "one such as /usr/lib/shop/print-label is right"},
        {HEAD "discard = yes\nsecret-file = x\n",
            "owed.conf:1: receiver \"shop.x\": a secret signs webhooks; leave it out, or add webhook"},
        {"[receiver \"shop x\"]\nevent = a\ndiscard = 1\n",
            "owed.conf:1: receiver \"shop x\": a key is 1 to 255 letters, digits, \"_\", \".\" and "
            "\"-\", such as \"shop.billing\""},
        {HEAD "discard = yes\npause = target\n",
            "owed.conf:1: receiver \"shop.x\": pause is by target, and it has none; leave it out, or "
            "add targets"},
        {HEAD "discard = yes\nsite = here\n",
            "owed.conf:4: [receiver \"shop.x\"] site: expected relay or task, found \"here\""},
        {HEAD "discard = yes\npause = all\n",
            "owed.conf:4: [receiver \"shop.x\"] pause: expected lane or target, found \"all\""},
        {HEAD "discard = yes\nbackoff-base = 2m\nbackoff-cap = 1m\n",
            "owed.conf:1: receiver \"shop.x\": the backoff cap of 1m is below the base of 2m; a cap "
            "at or above the base is right"},
    };
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++)
        assert_refused(load_receivers(refusals[i].text), refusals[i].sentence);
    assert_null(registry->receivers);
}

static void
refuses_a_section_that_stands_twice(void **state)
{
    (void)state;
    assert_refused(load_receivers(HEAD "discard = yes\n\n" HEAD),
        "owed.conf:5: [receiver \"shop.x\"] stands in line 1 already; once is right");
}

static void
refuses_a_key_that_c_declared(void **state)
{
    (void)state;
    static const owed_receiver in_c = {
        .key = "shop.x", .event_name = "shop.OrderPlaced", .file = "log"};
    assert_status(OWED_OK, owed_declare_receiver(registry, &in_c, &err));
    assert_refused(load_receivers(HEAD "discard = yes\n"),
        "owed.conf:1: receiver \"shop.x\": another receiver has this key already (declared in C); a "
        "key of its own is right");
}

static void
tells_a_missing_file_from_a_bad_one(void **state)
{
    (void)state;
    assert_status(OWED_NOT_FOUND, conf_load_receivers("none.conf", registry, NULL, &err));
    assert_status(OWED_NOT_FOUND, conf_load_options("none.conf", options, &err));
    assert_status(OWED_OK, load_receivers(""));
    assert_status(OWED_OK, load_options("# nothing\n"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(declares_receivers_that_need_no_c),
        TEST(fills_the_settings_but_leaves_what_a_flag_said),
        TEST(sets_the_attempts_of_receivers_that_do_not_say),
        TEST(has_the_defaults_that_are_documented),
        TEST(checks_the_words_that_a_command_does_not_use),
        TEST(refuses_wrong_words_with_place_and_nearest_word),
        TEST(an_event_is_kept_as_its_section_says),
        TEST(hides_what_an_event_section_says_is_secret),
        TEST(refuses_what_a_file_cannot_say),
        TEST(refuses_what_the_registry_refuses_with_the_line_of_its_section),
        TEST(refuses_a_section_that_stands_twice),
        TEST(refuses_a_key_that_c_declared),
        TEST(tells_a_missing_file_from_a_bad_one),
    };
    return cmocka_run_group_tests_name("conf", tests, folder_setup, folder_teardown);
}
