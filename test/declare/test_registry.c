/* SPDX-License-Identifier: MIT
 *
 * test_registry.c - what can be declared, what is refused, and in which words.
 */
#include "common.h"

#include <string.h>

#include "base/limits.h"
#include "declare/registry.h"

typedef struct order {
    int64_t id;
    const char *currency;
} order;

static const owed_field order_fields[] = {
    OWED_INT64(order, id),
    OWED_TEXT_WITH(order, currency, .fallback = "EUR"),
    OWED_FIELDS_END,
};
static const owed_event_type order_placed = {
    .name = "shop.OrderPlaced",
    .version = 2,
    .fields = order_fields,
    .size = sizeof(order),
};

static owed_outcome
bill(owed_delivery *delivery, const void *payload)
{
    (void)delivery;
    (void)payload;
    return (owed_outcome){.verdict = OWED_VERDICT_DONE};
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

static owed_outcome
ship(owed_delivery *delivery, const void *payload)
{
    (void)delivery;
    (void)payload;
    return (owed_outcome){.verdict = OWED_VERDICT_FAILED};
}

/* A receiver with nothing wrong; cases change one thing. */
#define RECEIVER(...) \
    (&(owed_receiver){.key = "shop.billing", .event = &order_placed, .run = bill, __VA_ARGS__})
/* And one with a way of its own to run. */
#define BUILTIN(...) (&(owed_receiver){.key = "shop.billing", .event = &order_placed, __VA_ARGS__})

static owed_registry *registry;
static owed_error err;

static int
setup(void **state)
{
    (void)state;
    return owed_registry_new("shop", &registry, &err);
}

static int
teardown(void **state)
{
    (void)state;
    owed_registry_free(registry);
    registry = NULL;
    return 0;
}

static void
keeps_what_was_declared_in_its_order(void **state)
{
    (void)state;
    assert_string_equal(owed_registry_app(registry), "shop");
    assert_status(OWED_OK, owed_declare_receiver(registry, RECEIVER(.lane = "mail"), &err));
    assert_status(OWED_OK,
        owed_declare_receiver(
            registry, BUILTIN(.key = "shop.log", .file = "log", .outside = false), &err));

    const struct receiver *first = registry->receivers;
    assert_string_equal(first->declared.key, "shop.billing");
    assert_string_equal(first->lane, "shop/mail");
    assert_string_equal(first->kind, "inside");
    assert_int_equal(first->runner, RUN_FUNCTION);
    assert_ptr_equal(first->type, &order_placed);
    const struct receiver *second = first->next;
    assert_string_equal(second->declared.key, "shop.log");
    assert_string_equal(second->lane, "shop/default");
    assert_string_equal(second->kind, "outside");
    assert_int_equal(second->runner, RUN_FILE);
    assert_int_equal(registry->receiver_count, 2);
    assert_int_equal(registry->type_count, 1);
    assert_ptr_equal(registry_type(registry, "shop.OrderPlaced"), &order_placed);
    assert_null(registry_type(registry, "shop.OrderShipped"));
    assert_ptr_equal(registry_receiver(registry, "shop.log"), second);
    assert_null(registry_receiver(registry, "shop.lo"));
}

static void
copies_texts_so_that_the_caller_may_forget_them(void **state)
{
    (void)state;
    char key[] = "shop.billing";
    char url[] = "https://billing.example/hooks";
    assert_status(
        OWED_OK, owed_declare_receiver(registry, BUILTIN(.key = key, .webhook = url), &err));
    memset(key, 'x', sizeof key - 1);
    memset(url, 'x', sizeof url - 1);
    const struct receiver *receiver = registry_receiver(registry, "shop.billing");
    assert_non_null(receiver);
    assert_string_equal(receiver->declared.webhook, "https://billing.example/hooks");
}

static void
runs_a_function_outside_where_it_says_so(void **state)
{
    (void)state;
    assert_status(OWED_OK, owed_declare_receiver(registry, RECEIVER(.outside = true), &err));
    assert_string_equal(registry->receivers->kind, "outside");
}

static void
accepts_the_same_declaration_again(void **state)
{
    (void)state;
    const owed_receiver *receiver = RECEIVER(.max_attempts = 3, .backoff_base_us = 10);
    for (int i = 0; i < 3; i++) {
        assert_status(OWED_OK, owed_declare_event(registry, &order_placed, &err));
        assert_status(OWED_OK, owed_declare_receiver(registry, receiver, &err));
    }
    assert_int_equal(registry->receiver_count, 1);
    assert_int_equal(registry->type_count, 1);
}

static void
takes_the_lane_and_its_full_form_for_the_same(void **state)
{
    (void)state;
    assert_status(OWED_OK, owed_declare_receiver(registry, RECEIVER(.lane = "mail"), &err));
    assert_status(OWED_OK, owed_declare_receiver(registry, RECEIVER(.lane = "shop/mail"), &err));
    assert_refused(owed_declare_receiver(registry, RECEIVER(.lane = "other/mail"), &err),
        "receiver \"shop.billing\": lane \"other/mail\" is of another app; a lane of \"shop\" is "
        "right");
}

static void
takes_a_descriptor_of_the_same_content_for_the_same_type(void **state)
{
    (void)state;
    const owed_field copied_fields[] = {
        OWED_INT64(order, id),
        OWED_TEXT_WITH(order, currency, .fallback = "EUR"),
        OWED_FIELDS_END,
    };
    owed_event_type copy = order_placed;
    copy.fields = copied_fields;
    assert_status(OWED_OK, owed_declare_event(registry, &order_placed, &err));
    assert_status(OWED_OK, owed_declare_event(registry, &copy, &err));
    assert_int_equal(registry->type_count, 1);
}

static void
refuses_another_type_of_one_name(void **state)
{
    (void)state;
    owed_event_type newer = order_placed;
    newer.version = 3;
    assert_status(OWED_OK, owed_declare_event(registry, &order_placed, &err));
    assert_refused(owed_declare_event(registry, &newer, &err),
        "event \"shop.OrderPlaced\" is declared already, with another version or other fields; one "
        "type for each name is right");
    assert_refused(owed_declare_receiver(registry, RECEIVER(.event = &newer), &err),
        "receiver \"shop.billing\": event \"shop.OrderPlaced\" is declared already, with another "
        "version or other fields; one type for each name is right");
    assert_null(registry->receivers);

    static const owed_field fewer[] = {OWED_INT64(order, id), OWED_FIELDS_END};
    owed_event_type other = order_placed;
    other.fields = fewer;
    assert_status(OWED_CONFIG, owed_declare_event(registry, &other, &err));
}

/* Whatever differs makes it another receiver. */
static void
refuses_another_receiver_under_one_key(void **state)
{
    (void)state;
    int other_state;
    static const owed_event_type shipped = {.name = "shop.OrderShipped"};
    const owed_receiver *others[] = {
        RECEIVER(.event = &shipped),
        RECEIVER(.event = NULL, .event_name = "shop.OrderPlaced"),
        RECEIVER(.run = ship),
        RECEIVER(.mode = OWED_INLINE),
        RECEIVER(.lane = "mail"),
        RECEIVER(.outside = true),
        RECEIVER(.database_only = true),
        RECEIVER(.max_attempts = 1),
        RECEIVER(.backoff_base_us = 1),
        RECEIVER(.backoff_cap_us = 1),
        RECEIVER(.lease_us = 1),
        RECEIVER(.timeout_us = 1),
        RECEIVER(.due_us = 1),
        RECEIVER(.give_up_after_us = 1),
        RECEIVER(.targets = names_none, .pause = OWED_PAUSE_TARGET),
        RECEIVER(.site = OWED_SITE_TASK),
        RECEIVER(.state = &other_state),
        BUILTIN(.webhook = "https://a.example"),
        BUILTIN(.exec = "/bin/true"),
        BUILTIN(.pipe = "/bin/cat"),
        BUILTIN(.file = "log"),
        BUILTIN(.discard = true),
    };
    assert_status(OWED_OK, owed_declare_receiver(registry, RECEIVER(), &err));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_refused(owed_declare_receiver(registry, others[i], &err),
            "receiver \"shop.billing\": another receiver has this key already (declared in C); a "
            "key of its own is right");
    assert_int_equal(registry->receiver_count, 1);
}

static void
gives_a_name_without_a_type_an_opaque_one(void **state)
{
    (void)state;
    const owed_receiver *by_name = BUILTIN(.event = NULL, .event_name = "shop.Paid", .run = bill);
    assert_status(OWED_OK, owed_declare_receiver(registry, by_name, &err));
    const owed_event_type *type = registry->receivers->type;
    assert_string_equal(type->name, "shop.Paid");
    assert_null(type->fields);
    assert_ptr_equal(registry_type(registry, "shop.Paid"), type);
    assert_true(registry->types->by_name);
    const owed_receiver *again =
        BUILTIN(.key = "shop.other", .event = NULL, .event_name = "shop.Paid", .discard = true);
    assert_status(OWED_OK, owed_declare_receiver(registry, again, &err));
    assert_ptr_equal(registry_type(registry, "shop.Paid"), type);
    assert_true(registry->types->by_name);
    assert_int_equal(registry->type_count, 1);
}

static void
lets_a_real_type_take_the_place_of_a_name(void **state)
{
    (void)state;
    const owed_receiver *by_name =
        BUILTIN(.event = NULL, .event_name = "shop.OrderPlaced", .discard = true);
    assert_status(OWED_OK, owed_declare_receiver(registry, by_name, &err));
    assert_status(OWED_OK, owed_declare_event(registry, &order_placed, &err));
    assert_ptr_equal(registry_type(registry, "shop.OrderPlaced"), &order_placed);
    assert_false(registry->types->by_name);
    assert_int_equal(registry->type_count, 1);
    // The receiver asked for the name alone, so its payload stays opaque.
    assert_null(registry->receivers->type->fields);
}

#define SECONDS \
    "event \"shop.A\": a retention is a whole number of seconds, from 1 to 2147483647; 0 for none of " \
    "its own"
static void
refuses_a_retention_that_makes_no_sense(void **state)
{
    (void)state;
    static const owed_event_type both = {
        .name = "shop.A", .retention_us = 5000000, .delete_when = OWED_DELETE_WHEN_SETTLED};
    static const owed_event_type negative = {.name = "shop.A", .retention_us = -1};
    static const owed_event_type part = {.name = "shop.A", .retention_us = 1500000};
    static const owed_event_type ages = {
        .name = "shop.A", .retention_us = INT64_C(2147483648000000)};
    static const owed_event_type word = {.name = "shop.A", .delete_when = (owed_delete_when)3};
    assert_refused(owed_declare_event(registry, &both, &err),
        "event \"shop.A\": it has a retention of its own and goes when it has settled; one of the two "
        "is right");
    assert_refused(owed_declare_event(registry, &negative, &err), SECONDS);
    assert_refused(owed_declare_event(registry, &part, &err), SECONDS);
    assert_refused(owed_declare_event(registry, &ages, &err), SECONDS);
    assert_refused(owed_declare_event(registry, &word, &err),
        "event \"shop.A\": delete_when is none of its words");
}

static void
wants_its_own_event_or_any(void **state)
{
    (void)state;
    const owed_receiver *any = RECEIVER(.key = "shop.any", .event = &owed_any_event);
    const owed_receiver *star =
        BUILTIN(.key = "shop.star", .event = NULL, .event_name = "*", .discard = true);
    const owed_receiver *any_inline =
        RECEIVER(.key = "shop.inline", .event = &owed_any_event, .mode = OWED_INLINE);
    assert_status(OWED_OK, owed_declare_receiver(registry, RECEIVER(), &err));
    assert_status(OWED_OK, owed_declare_receiver(registry, any, &err));
    assert_status(OWED_OK, owed_declare_receiver(registry, star, &err));
    assert_status(OWED_OK, owed_declare_receiver(registry, any_inline, &err));
    const struct receiver *own = registry_receiver(registry, "shop.billing");
    assert_true(receiver_wants(own, "shop.OrderPlaced"));
    assert_false(receiver_wants(own, "shop.OrderPlace"));
    assert_true(receiver_wants(registry_receiver(registry, "shop.any"), "any.Thing"));
    assert_true(receiver_wants(registry_receiver(registry, "shop.star"), "any.Thing"));
    // It is a mark, not an event that somebody could fire.
    assert_null(registry_type(registry, "*"));
    assert_refused(owed_declare_event(registry, &owed_any_event, &err),
        "event \"*\" stands for any event and cannot be declared; a receiver may name it");
}

static void
takes_an_event_and_its_name_where_they_agree(void **state)
{
    (void)state;
    assert_status(
        OWED_OK, owed_declare_receiver(registry, RECEIVER(.event_name = "shop.OrderPlaced"), &err));
    assert_ptr_equal(registry->receivers->type, &order_placed);
}

static void
leaves_no_trace_of_what_it_refuses(void **state)
{
    (void)state;
    assert_status(OWED_CONFIG, owed_declare_receiver(registry, RECEIVER(.lease_us = -1), &err));
    assert_null(registry->receivers);
    assert_null(registry->types);
    assert_int_equal(registry->receiver_count + registry->type_count, 0);
}

static void
names_the_place_in_the_file(void **state)
{
    (void)state;
    assert_refused(registry_declare(registry, RECEIVER(.max_attempts = -1), "owed.conf:12", &err),
        "owed.conf:12: receiver \"shop.billing\": max-attempts is -1; 1 to 1000000 is right, or 0 "
        "for the relay's setting");
    assert_status(OWED_OK, registry_declare(registry, RECEIVER(), "owed.conf:12", &err));
    assert_refused(registry_declare(registry, RECEIVER(.lane = "x"), "owed.conf:30", &err),
        "owed.conf:30: receiver \"shop.billing\": another receiver has this key already, at "
        "owed.conf:12; a key of its own is right");
}

/* One refusal each: what is declared, and the sentence after the receiver's key. */
struct refusal {
    const owed_receiver *receiver;
    const char *sentence;
};

static void
check_refusals(const struct refusal *refusals, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_refused(
            owed_declare_receiver(registry, refusals[i].receiver, &err), refusals[i].sentence);
    assert_null(registry->receivers);
    assert_null(registry->types);
}
#define CHECK_REFUSALS(refusals) check_refusals(refusals, sizeof refusals / sizeof refusals[0])

#define TEXT_32 "abcdefghijklmnopqrstuvwxyzabcdef"
#define TEXT_64 TEXT_32 TEXT_32
#define TEXT_256 TEXT_32 TEXT_32 TEXT_32 TEXT_32 TEXT_32 TEXT_32 TEXT_32 TEXT_32
#define SHOWN_96 TEXT_32 TEXT_32 TEXT_32 "..."

static void
refuses_bad_keys_and_lanes(void **state)
{
    (void)state;
#define KEY_RIGHT \
    "a key is 1 to 255 letters, digits, \"_\", \".\" and \"-\", such as \"shop.billing\""
#define LANE_RIGHT "1 to 64 small letters, digits, \"_\", \".\" and \"-\" are right"
    const struct refusal refusals[] = {
        {RECEIVER(.key = NULL), "receiver \"\": " KEY_RIGHT},
        {RECEIVER(.key = ""), "receiver \"\": " KEY_RIGHT},
        {RECEIVER(.key = "shop billing"), "receiver \"shop billing\": " KEY_RIGHT},
        {RECEIVER(.key = "shop.\033[2Jx\n"), "receiver \"shop.?[2Jx?\": " KEY_RIGHT},
        {RECEIVER(.key = "shop.b\303\274cher"), "receiver \"shop.b??cher\": " KEY_RIGHT},
        {RECEIVER(.key = TEXT_64 "abcdefghijklmnopqrstuvwxyzabcd ~"),
            "receiver \"" TEXT_64 "abcdefghijklmnopqrstuvwxyzabcd ~\": " KEY_RIGHT},
        {RECEIVER(.key = TEXT_256), "receiver \"" SHOWN_96 "\": " KEY_RIGHT},
        {RECEIVER(.lane = ""), "receiver \"shop.billing\": lane \"\": " LANE_RIGHT},
        {RECEIVER(.lane = "Mail"), "receiver \"shop.billing\": lane \"Mail\": " LANE_RIGHT},
        {RECEIVER(.lane = "+catchup"), "receiver \"shop.billing\": lane \"+catchup\": " LANE_RIGHT},
        {RECEIVER(.lane = "shop/"), "receiver \"shop.billing\": lane \"\": " LANE_RIGHT},
        {RECEIVER(.lane = "shop/a/b"), "receiver \"shop.billing\": lane \"a/b\": " LANE_RIGHT},
        {RECEIVER(.lane = TEXT_32 TEXT_32 "x"),
            "receiver \"shop.billing\": lane \"" TEXT_32 TEXT_32 "x\": " LANE_RIGHT},
    };
    CHECK_REFUSALS(refusals);
    const char *longest_key = TEXT_256;
    assert_status(OWED_OK,
        owed_declare_receiver(
            registry, RECEIVER(.key = longest_key + 1, .lane = TEXT_32 TEXT_32), &err));
}

static void
refuses_a_receiver_without_one_clear_event(void **state)
{
    (void)state;
#define NAME_RIGHT \
    "1 to 255 letters, digits, \"_\", \".\" and \"-\" are right, such as \"shop.OrderPlaced\""
    const struct refusal refusals[] = {
        {RECEIVER(.event = NULL),
            "receiver \"shop.billing\": no event; name the one that it wants, or \"*\" for any"},
        {RECEIVER(.event_name = "shop.Paid"),
            "receiver \"shop.billing\": event says \"shop.OrderPlaced\" and event_name says "
            "\"shop.Paid\"; one of them alone is right"},
        {RECEIVER(.event = NULL, .event_name = ""),
            "receiver \"shop.billing\": event \"\": " NAME_RIGHT},
        {RECEIVER(.event = NULL, .event_name = "shop.*"),
            "receiver \"shop.billing\": event \"shop.*\": " NAME_RIGHT},
        {RECEIVER(.event = &(owed_event_type){.version = 1}),
            "receiver \"shop.billing\": event \"\": " NAME_RIGHT},
        {RECEIVER(.event = &(owed_event_type){.name = "shop.X", .version = -1}),
            "receiver \"shop.billing\": event \"shop.X\": version is -1; 1 to 32767 is right"},
    };
    CHECK_REFUSALS(refusals);
}

static void
refuses_all_but_one_way_to_run(void **state)
{
    (void)state;
#define ONE_RIGHT \
    "exactly one of run or start (in C), webhook, exec, pipe, publish, file, discard, endpoints and (in owed.conf) notify is right"
#define SEVERAL "receiver \"shop.billing\": several things say what it does; " ONE_RIGHT
    const struct refusal refusals[] = {
        {BUILTIN(), "receiver \"shop.billing\": nothing says what it does; " ONE_RIGHT},
        {RECEIVER(.webhook = "https://a.example"), SEVERAL},
        {RECEIVER(.exec = "/bin/true"), SEVERAL},
        {RECEIVER(.file = "log"), SEVERAL},
        {RECEIVER(.pipe = "/bin/cat"), SEVERAL},
        {RECEIVER(.discard = true), SEVERAL},
        {BUILTIN(.webhook = "https://a.example", .file = "log"), SEVERAL},
    };
    CHECK_REFUSALS(refusals);
}

static void
refuses_numbers_out_of_range(void **state)
{
    (void)state;
#define NUMBER(member, value) \
    { \
        RECEIVER(.member##_us = (value)), \
            "receiver \"shop.billing\": " #member " is " #value \
            " microseconds; up to 3660d is right, or 0 for the relay's setting" \
    }
#define BOUND(member, value) \
    { \
        RECEIVER(.member##_us = (value)), \
            "receiver \"shop.billing\": " #member " is " #value \
            " microseconds; up to 3660d is right, or 0 for none" \
    }
    const struct refusal refusals[] = {
        {RECEIVER(.pause = OWED_PAUSE_TARGET),
            "receiver \"shop.billing\": pause is by target, and it has none; leave it out, or add "
            "targets"},
        {RECEIVER(.pause = (owed_pause)2),
            "receiver \"shop.billing\": pause is 2; OWED_PAUSE_LANE or OWED_PAUSE_TARGET is right"},
        BOUND(due, -1),
        BOUND(due, 316224000000001),
        BOUND(give_up_after, -1),
        BOUND(give_up_after, 316224000000001),
        {RECEIVER(.max_attempts = -1),
            "receiver \"shop.billing\": max_attempts is -1; 1 to "
            "1000000 is right, or 0 for the relay's setting"},
        {RECEIVER(.max_attempts = LIMIT_MAX_ATTEMPTS + 1),
            "receiver \"shop.billing\": max_attempts is 1000001; 1 to 1000000 is right, or 0 for "
            "the relay's setting"},
        NUMBER(backoff_base, -1),
        NUMBER(backoff_cap, -1),
        NUMBER(lease, -1),
        NUMBER(timeout, -1),
        NUMBER(backoff_base, 316224000000001),
        NUMBER(backoff_cap, 316224000000001),
        NUMBER(lease, 316224000000001),
        NUMBER(timeout, 9223372036854775807),
        {RECEIVER(.backoff_base_us = OWED_MINUTES(2), .backoff_cap_us = OWED_SECONDS(30)),
            "receiver \"shop.billing\": the backoff cap of 30s is below the base of 2m; a cap at or "
            "above the base is right"},
    };
    CHECK_REFUSALS(refusals);
    // At the limits, and each half of a curve alone.
    const owed_receiver *fine[] = {
        RECEIVER(.key = "a", .max_attempts = LIMIT_MAX_ATTEMPTS),
        RECEIVER(.key = "b", .lease_us = LIMIT_DURATION_US),
        RECEIVER(.key = "c", .backoff_cap_us = 1),
        RECEIVER(.key = "d", .backoff_base_us = LIMIT_DURATION_US),
        RECEIVER(.key = "e", .backoff_base_us = 5, .backoff_cap_us = 5),
        RECEIVER(.key = "f", .timeout_us = 1),
        RECEIVER(.key = "g", .due_us = LIMIT_DURATION_US, .give_up_after_us = 1),
    };
    for (size_t i = 0; i < sizeof fine / sizeof fine[0]; i++)
        assert_status(OWED_OK, owed_declare_receiver(registry, fine[i], &err));
}

static void
only_starts(owed_delivery *delivery, const void *payload)
{
    (void)delivery;
    (void)payload;
}

static void
hears_of_failures(owed *handle, const owed_failure *failure, void *state)
{
    (void)handle;
    (void)failure;
    (void)state;
}

static void
keeps_what_needs_a_row_to_durable_receivers(void **state)
{
    (void)state;
#define DURABLE(word) \
    "receiver \"shop.billing\": " word " is for durable receivers only; leave it out, or the mode"
#define BOTH_MODES(word, receiver, ...) \
    {receiver(.mode = OWED_INLINE, __VA_ARGS__), DURABLE(word)}, \
    { \
        receiver(.mode = OWED_ON_COMMIT, __VA_ARGS__), DURABLE(word) \
    }
    const struct refusal refusals[] = {
        BOTH_MODES("lane", RECEIVER, .lane = "default"),
        BOTH_MODES("outside", RECEIVER, .outside = true),
        BOTH_MODES("database_only", RECEIVER, .database_only = true),
        BOTH_MODES("max_attempts", RECEIVER, .max_attempts = 5),
        BOTH_MODES("backoff_base", RECEIVER, .backoff_base_us = 1),
        BOTH_MODES("backoff_cap", RECEIVER, .backoff_cap_us = 1),
        BOTH_MODES("lease", RECEIVER, .lease_us = 1),
        BOTH_MODES("timeout", RECEIVER, .timeout_us = 1),
        BOTH_MODES("due", RECEIVER, .due_us = 1),
        BOTH_MODES("give_up_after", RECEIVER, .give_up_after_us = 1),
        BOTH_MODES("pause", RECEIVER, .pause = OWED_PAUSE_TARGET),
        BOTH_MODES("site", RECEIVER, .site = OWED_SITE_TASK),
        BOTH_MODES("site", RECEIVER, .site = (owed_site)2),
        BOTH_MODES("start", BUILTIN, .start = only_starts),
        BOTH_MODES("eager", RECEIVER, .eager = true),
        BOTH_MODES("targets", RECEIVER, .targets = names_none),
        BOTH_MODES("on_failure", RECEIVER, .on_failure = hears_of_failures),
        BOTH_MODES("webhook", BUILTIN, .webhook = "https://a.example"),
        BOTH_MODES("exec", BUILTIN, .exec = "/bin/true"),
        BOTH_MODES("file", BUILTIN, .file = "log"),
        BOTH_MODES("pipe", BUILTIN, .pipe = "/bin/cat"),
        BOTH_MODES("discard", BUILTIN, .discard = true),
        {RECEIVER(.mode = (owed_mode)3),
            "receiver \"shop.billing\": mode is 3; OWED_DURABLE, "
            "OWED_ON_COMMIT or OWED_INLINE is right"},
    };
    CHECK_REFUSALS(refusals);
    assert_status(OWED_OK,
        owed_declare_receiver(registry, RECEIVER(.mode = OWED_ON_COMMIT, .state = &err), &err));
}

static void
refuses_at_a_task_site_what_needs_a_relay(void **state)
{
    (void)state;
    const struct refusal refusals[] = {
        {RECEIVER(.site = (owed_site)2),
            "receiver \"shop.billing\": site is 2; OWED_SITE_RELAY or OWED_SITE_TASK is right"},
        {RECEIVER(.site = (owed_site)-1),
            "receiver \"shop.billing\": site is -1; OWED_SITE_RELAY or OWED_SITE_TASK is right"},
        {BUILTIN(.start = only_starts, .site = OWED_SITE_TASK),
            "receiver \"shop.billing\": start is for a relay, which has many attempts out at once, "
            "and the site is a task; run is right there"},
        {RECEIVER(.site = OWED_SITE_TASK, .timeout_us = 1),
            "receiver \"shop.billing\": site task and timeout contradict each other, since nobody "
            "could end a function where a task runs it; one of them alone is right"},
    };
    CHECK_REFUSALS(refusals);
}

static void
a_task_site_takes_receivers_that_need_no_c_and_eager_ones(void **state)
{
    (void)state;
    const owed_receiver *fine[] = {
        RECEIVER(.key = "a", .site = OWED_SITE_TASK),
        RECEIVER(.key = "b", .site = OWED_SITE_TASK, .outside = true, .eager = true),
        RECEIVER(.key = "c", .site = OWED_SITE_TASK, .database_only = true, .targets = names_none),
        BUILTIN(.key = "d", .site = OWED_SITE_TASK, .exec = "/bin/true", .timeout_us = 1),
        BUILTIN(.key = "e", .site = OWED_SITE_TASK, .webhook = "https://a.example", .eager = true),
        RECEIVER(.key = "f"),
    };
    static const char *const kinds[] = {"task", "task", "task", "task", "task", "inside"};
    static const char *const runs[] = {
        "inside", "outside", "inside", "outside", "outside", "inside"};
    for (size_t i = 0; i < sizeof fine / sizeof fine[0]; i++) {
        assert_status(OWED_OK, owed_declare_receiver(registry, fine[i], &err));
        const struct receiver *made = registry_receiver(registry, fine[i]->key);
        assert_string_equal(made->kind, kinds[i]);
        assert_string_equal(made->runs, runs[i]);
    }
}

static void
refuses_contradictions_about_the_database(void **state)
{
    (void)state;
    const struct refusal refusals[] = {
        {RECEIVER(.outside = true, .database_only = true),
            "receiver \"shop.billing\": outside and database_only contradict each other; one of "
            "them alone is right"},
        {BUILTIN(.discard = true, .database_only = true),
            "receiver \"shop.billing\": database_only is for run alone; leave it out, since nothing "
            "else stays in this database"},
    };
    CHECK_REFUSALS(refusals);
}

static void
refuses_bad_urls(void **state)
{
    (void)state;
#define URL(url, problem) \
    { \
        BUILTIN(.webhook = (url)), "receiver \"shop.billing\": the URL of the webhook " problem \
    }
#define ODD \
    "holds a byte that no URL can hold; blanks and the like are written as %20, a name beyond " \
    "ASCII as xn--..."
    const struct refusal refusals[] = {
        URL("", "is neither http:// nor https://"),
        URL("billing.example/hooks", "is neither http:// nor https://"),
        URL("ftp://billing.example/", "is neither http:// nor https://"),
        URL("file:///etc/passwd", "is neither http:// nor https://"),
        URL("https:/billing.example", "is neither http:// nor https://"),
        URL("https://user:word@billing.example/",
            "holds a user or password; sign with a secret instead"),
        URL("https://user@billing.example", "holds a user or password; sign with a secret instead"),
        URL("https:///hooks", "has no host; https://host/path is right"),
        URL("https://", "has no host; https://host/path is right"),
        URL("https://:80/", "has no host; https://host/path is right"),
        URL("https://?x=1", "has no host; https://host/path is right"),
        URL("https://[]/", "has no host; https://host/path is right"),
        URL("https://[::1/", "has no host; https://host/path is right"),
        URL("https://a.example:0/", "has a bad port; 1 to 65535 is right"),
        URL("https://a.example:65536", "has a bad port; 1 to 65535 is right"),
        URL("https://a.example:/", "has a bad port; 1 to 65535 is right"),
        URL("https://a.example:8o", "has a bad port; 1 to 65535 is right"),
        URL("https://[::1]x/", "has a bad port; 1 to 65535 is right"),
        URL("https://a.example/a b", ODD),
        URL("https://a.example/\r\nX-Evil: 1", ODD),
        URL("https://a.example\\@b.example/", ODD),
        URL("https://b\303\274cher.example/", ODD),
    };
    CHECK_REFUSALS(refusals);
    const char *fine[] = {"http://127.0.0.1:8080/hook?x=1#y", "HTTPS://A.EXAMPLE",
        "http://[::1]:9/", "https://a.example/~user/@", "https://a.example:65535?at=a@b"};
    for (size_t i = 0; i < sizeof fine / sizeof fine[0]; i++) {
        char key[] = "shop.0";
        key[5] = (char)('0' + i);
        assert_status(OWED_OK,
            owed_declare_receiver(registry, BUILTIN(.key = key, .webhook = fine[i]), &err));
    }
}

#define BYTES_24 "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz"
#define BYTES_64 \
    "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDEyMw=="

static void
refuses_bad_secrets_without_showing_them(void **state)
{
    (void)state;
#define HOOK .webhook = "https://a.example"
#define SECRET(text, problem) \
    { \
        BUILTIN(HOOK, .secret = (text)), "receiver \"shop.billing\": the secret " problem \
    }
    const struct refusal refusals[] = {
        {RECEIVER(.secret = "whsec_" BYTES_24),
            "receiver \"shop.billing\": a secret signs webhooks; leave it out, or add webhook"},
        {BUILTIN(.discard = true, .secret_file = "/run/x"),
            "receiver \"shop.billing\": a secret signs webhooks; leave it out, or add webhook"},
        {BUILTIN(HOOK, .secret = BYTES_24, .secret_file = "/run/x"),
            "receiver \"shop.billing\": both a secret and a file that holds one; one of them is "
            "right"},
        {BUILTIN(HOOK, .secret_file = ""),
            "receiver \"shop.billing\": the path of the secret's file is empty"},
        SECRET("", "is empty; \"whsec_\" and base64 is right"),
        SECRET("whsec_", "is empty; \"whsec_\" and base64 is right"),
        SECRET("whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI=", "has 23 bytes; 24 to 64 are right"),
        SECRET(
            "whsec_hunter2!", "is not base64 of at most 64 bytes; \"whsec_\" and base64 is right"),
        SECRET(
            BYTES_24 BYTES_64, "is not base64 of at most 64 bytes; \"whsec_\" and base64 is right"),
    };
    CHECK_REFUSALS(refusals);
    const char *fine[] = {"whsec_" BYTES_24, BYTES_24, BYTES_64, "whsec_" BYTES_24 "NDU"};
    for (size_t i = 0; i < sizeof fine / sizeof fine[0]; i++) {
        char key[] = "shop.0";
        key[5] = (char)('0' + i);
        assert_status(OWED_OK,
            owed_declare_receiver(registry, BUILTIN(.key = key, HOOK, .secret = fine[i]), &err));
    }
}

static void
refuses_bad_paths(void **state)
{
    (void)state;
    const struct refusal refusals[] = {
        {BUILTIN(.exec = "print-label"),
            "receiver \"shop.billing\": exec \"print-label\" is not an "
            "absolute path; one such as /usr/lib/shop/print-label is "
            "right"},
        {BUILTIN(.exec = ""),
            "receiver \"shop.billing\": exec \"\" is not an absolute path; one "
            "such as /usr/lib/shop/print-label is right"},
        {BUILTIN(.pipe = "label.py"),
            "receiver \"shop.billing\": pipe \"label.py\" does not begin with an absolute path; a "
            "command such as \"/usr/bin/python3 /usr/lib/shop/label.py\" is right"},
        {BUILTIN(.pipe = "/bin/cat", .in_flight = 1001),
            "receiver \"shop.billing\": in_flight is 1001; 1 to 1000 is right, or 0 for 16, and 500 of publish"},
        {BUILTIN(.exec = "/bin/cat", .in_flight = 1),
            "receiver \"shop.billing\": in_flight is for pipe and publish; leave it out, since the relay's "
            "own setting holds for all others"},
        {BUILTIN(.file = ""), "receiver \"shop.billing\": the path of the file is empty"},
    };
    CHECK_REFUSALS(refusals);
}

static void
refuses_bad_names_of_apps(void **state)
{
    (void)state;
    owed_registry *none = NULL;
    assert_refused(owed_registry_new("Shop", &none, &err),
        "app \"Shop\": 1 to 64 small letters, digits, \"_\", \".\" and \"-\" are right");
    assert_status(OWED_CONFIG, owed_registry_new("", &none, NULL));
    assert_status(OWED_CONFIG, owed_registry_new(NULL, &none, NULL));
    assert_status(OWED_CONFIG, owed_registry_new("a/b", &none, NULL));
    assert_null(none);
    owed_registry_free(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static void
a_module_of_an_older_release_has_not_declared_what_came_later(void **state)
{
    (void)state;
    owed_receiver receiver = *RECEIVER(.outside = true, .timeout_us = -1);
    assert_int_equal(OWED_OK,
        owed_declare_receiver_sized(registry, &receiver, offsetof(owed_receiver, outside), &err));
    assert_false(registry_receiver(registry, "shop.billing")->declared.outside);
}

static void
a_module_of_a_newer_release_is_refused(void **state)
{
    (void)state;
    struct {
        owed_receiver known;
        int64_t more;
    } receiver = {.known = *RECEIVER(.outside = true)};
    assert_int_equal(
        OWED_CONFIG, owed_declare_receiver_sized(registry, &receiver.known, sizeof receiver, &err));
    assert_non_null(strstr(err.text, "run a newer owed"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(keeps_what_was_declared_in_its_order),
        TEST(copies_texts_so_that_the_caller_may_forget_them),
        TEST(runs_a_function_outside_where_it_says_so),
        TEST(accepts_the_same_declaration_again),
        TEST(takes_the_lane_and_its_full_form_for_the_same),
        TEST(takes_a_descriptor_of_the_same_content_for_the_same_type),
        TEST(refuses_another_type_of_one_name),
        TEST(refuses_another_receiver_under_one_key),
        TEST(gives_a_name_without_a_type_an_opaque_one),
        TEST(lets_a_real_type_take_the_place_of_a_name),
        TEST(refuses_a_retention_that_makes_no_sense),
        TEST(wants_its_own_event_or_any),
        TEST(takes_an_event_and_its_name_where_they_agree),
        TEST(leaves_no_trace_of_what_it_refuses),
        TEST(names_the_place_in_the_file),
        TEST(refuses_bad_keys_and_lanes),
        TEST(refuses_a_receiver_without_one_clear_event),
        TEST(refuses_all_but_one_way_to_run),
        TEST(refuses_numbers_out_of_range),
        TEST(keeps_what_needs_a_row_to_durable_receivers),
        TEST(refuses_at_a_task_site_what_needs_a_relay),
        TEST(a_task_site_takes_receivers_that_need_no_c_and_eager_ones),
        TEST(refuses_contradictions_about_the_database),
        TEST(refuses_bad_urls),
        TEST(refuses_bad_secrets_without_showing_them),
        TEST(refuses_bad_paths),
        TEST(refuses_bad_names_of_apps),
        TEST(a_module_of_an_older_release_has_not_declared_what_came_later),
        TEST(a_module_of_a_newer_release_is_refused),
    };
    return cmocka_run_group_tests_name("registry", tests, NULL, NULL);
}
