/* SPDX-License-Identifier: MIT
 *
 * test_blocks.c - blocks of a thread: what they say, how they nest, and that they end on every way out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "deliver/facts.h"
#include "deliver/scope.h"

#define TRACE "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

static owed_scope *
begin(owed_attribution says)
{
    owed_scope *scope = NULL;
    owed_error err = {0};
    if (owed_scope_begin(&says, &scope, &err) != OWED_OK)
        fail_msg("refused: %s", err.text);
    return scope;
}

static void
end(owed_scope *scope)
{
    owed_error err = {0};
    if (owed_scope_end(scope, &err) != OWED_OK)
        fail_msg("refused: %s", err.text);
}

static owed_attribution
now(void)
{
    owed_attribution says;
    owed_scope_current(&says);
    return says;
}

static void
nothing_holds_outside_of_blocks(void **state)
{
    (void)state;
    assert_string_equal(now().actor_key, "");
    assert_string_equal(now().actor_label, "");
    assert_string_equal(now().correlation_id, "");
    assert_string_equal(now().facts, "{}");
    assert_string_equal(now().traceparent, "");
    assert_int_equal(owed_scope_cause(), 0);
    assert_int_equal(owed_scope_end(NULL, NULL), OWED_OK);
}

static void
an_inner_block_overrides_what_it_says_and_inherits_the_rest(void **state)
{
    (void)state;
    owed_scope *outer = begin((owed_attribution){.actor_key = "user:1",
        .actor_label = "Zoe",
        .correlation_id = "req-1",
        .facts = "{\"tenant\": 1, \"shop\":\"a\"}",
        .traceparent = TRACE});
    owed_scope *inner = begin((owed_attribution){.facts = "{\"tenant\":2}"});
    assert_string_equal(now().actor_label, "Zoe");
    assert_string_equal(now().correlation_id, "req-1");
    assert_string_equal(now().facts, "{\"shop\":\"a\",\"tenant\":2}");
    assert_string_equal(now().traceparent, TRACE);
    end(inner);
    assert_string_equal(now().facts, "{\"tenant\": 1, \"shop\":\"a\"}");
    inner = begin((owed_attribution){.correlation_id = "req-2"});
    assert_string_equal(now().correlation_id, "req-2");
    end(inner);
    assert_string_equal(now().correlation_id, "req-1");
    end(outer);
    assert_string_equal(now().actor_key, "");
}

static void
key_and_label_of_an_actor_are_one(void **state)
{
    (void)state;
    owed_scope *outer = begin((owed_attribution){.actor_key = "user:1", .actor_label = "Zoe"});
    owed_scope *inner = begin((owed_attribution){.actor_key = "user:2"});
    assert_string_equal(now().actor_key, "user:2");
    assert_string_equal(now().actor_label, "user:2");
    end(inner);
    inner = begin((owed_attribution){.actor_label = "a guest"});
    assert_string_equal(now().actor_key, "");
    assert_string_equal(now().actor_label, "a guest");
    end(inner);
    end(outer);
}

static void
the_outermost_block_makes_a_correlation_id_where_there_is_none(void **state)
{
    (void)state;
    char first[64];
    owed_scope *outer = begin((owed_attribution){0});
    snprintf(first, sizeof first, "%s", now().correlation_id);
    assert_int_equal(strlen(first), 36);
    assert_int_equal(first[14], '4');
    owed_scope *inner = begin((owed_attribution){0});
    assert_string_equal(now().correlation_id, first);
    end(inner);
    end(outer);
    outer = begin((owed_attribution){0});
    assert_string_not_equal(now().correlation_id, first);
    end(outer);
    outer = NULL;
    owed_error err = {0};
    assert_int_equal(owed_scope_begin_cause(7, "req-7", NULL, &outer, &err), OWED_OK);
    inner = begin((owed_attribution){0});
    assert_string_equal(now().correlation_id, "req-7");
    end(inner);
    end(outer);
}

static void
is_refused(owed_attribution says, const char *words)
{
    owed_scope *scope = NULL;
    owed_error err = {0};
    assert_int_equal(owed_scope_begin(&says, &scope, &err), OWED_INVALID);
    if (strstr(err.text, words) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", err.text, words);
    assert_null(scope);
    assert_string_equal(now().correlation_id, "");
}

static void
what_cannot_be_kept_is_refused_where_it_is_said(void **state)
{
    (void)state;
    char text[300];
    memset(text, 'x', 256);
    text[256] = '\0';
    is_refused((owed_attribution){.actor_key = text}, "actor_key is 256 bytes long");
    is_refused((owed_attribution){.correlation_id = "\xff"}, "correlation_id is not UTF-8");
    is_refused((owed_attribution){.facts = "[1]"}, "facts is an array");
    is_refused((owed_attribution){.facts = "{"}, "facts is not JSON");
    is_refused((owed_attribution){.traceparent = "00-1-2-3"}, "traceparent \"00-1-2-3\"");
    owed_scope *scope = NULL;
    owed_error err = {0};
    assert_int_equal(owed_scope_begin_cause(0, NULL, NULL, &scope, &err), OWED_INVALID);
    assert_non_null(strstr(err.text, "0 is no event's id"));
    assert_int_equal(owed_scope_begin_cause(1, text, NULL, &scope, &err), OWED_INVALID);
    assert_null(scope);
}

static void
blocks_end_in_reverse_order_and_once(void **state)
{
    (void)state;
    owed_error err = {0};
    owed_scope *outer = begin((owed_attribution){.correlation_id = "outer"});
    owed_scope *inner = begin((owed_attribution){.correlation_id = "inner"});
    assert_int_equal(owed_scope_end(outer, &err), OWED_INVALID);
    assert_non_null(strstr(err.text, "a scope inside this one is still open"));
    assert_string_equal(now().correlation_id, "inner");
    end(inner);
    assert_int_equal(owed_scope_end(inner, &err), OWED_INVALID);
    assert_non_null(strstr(err.text, "not open on this thread"));
    assert_string_equal(now().correlation_id, "outer");
    end(outer);
}

static owed_status
leaves_blocks_open(void *state, owed_error *err)
{
    (void)err;
    snprintf(state, 64, "%s", now().correlation_id);
    begin((owed_attribution){.correlation_id = "left"});
    begin((owed_attribution){.correlation_id = "open"});
    return OWED_NOT_FOUND;
}

static void
leave_early(int when)
{
    OWED_SCOPED owed_scope *scope = NULL;
    scope = begin((owed_attribution){.correlation_id = "early"});
    if (when == 0)
        return;
    assert_string_equal(now().correlation_id, "early");
}

static void
what_a_function_leaves_open_is_ended(void **state)
{
    (void)state;
    char seen[64] = "";
    owed_error err = {0};
    const owed_attribution says = {.correlation_id = "with"};
    assert_int_equal(owed_with_scope(&says, leaves_blocks_open, seen, &err), OWED_NOT_FOUND);
    assert_string_equal(seen, "with");
    assert_string_equal(now().correlation_id, "");
    leave_early(0);
    leave_early(1);
    assert_string_equal(now().correlation_id, "");
    const owed_attribution bad = {.facts = "1"};
    seen[0] = '\0';
    assert_int_equal(owed_with_scope(&bad, leaves_blocks_open, seen, &err), OWED_INVALID);
    assert_string_equal(seen, "");
}

static void
a_receiver_sees_its_event_as_the_cause_and_leaves_nothing_open(void **state)
{
    (void)state;
    owed_scope *outer = begin((owed_attribution){.correlation_id = "req-1", .actor_key = "user:1"});
    const struct cause cause = {7, "req-7", TRACE, "sqlite:a"};
    struct owed_scope block;
    scope_enter(&block, &cause, false);
    assert_int_equal(owed_scope_cause(), 7);
    assert_string_equal(now().actor_key, "user:1");
    begin((owed_attribution){.correlation_id = "left open"});
    scope_leave(&block);
    assert_string_equal(now().correlation_id, "req-1");
    assert_int_equal(owed_scope_cause(), 0);
    scope_enter(&block, &cause, true);
    assert_string_equal(now().actor_key, "");
    owed_error err = {0};
    assert_int_equal(owed_scope_end(outer, &err), OWED_INVALID);
    owed_scope *inner = begin((owed_attribution){0});
    assert_string_equal(now().correlation_id, "req-7");
    end(inner);
    scope_leave(&block);
    end(outer);
}

/* --- suppressing --- */

static owed_scope *
suppress(const char *reason, const char *const *events, bool discard)
{
    const owed_suppression suppression = {.reason = reason, .events = events, .discard = discard};
    owed_scope *scope = NULL;
    owed_error err = {0};
    if (owed_scope_begin_suppressed(&suppression, &scope, &err) != OWED_OK)
        fail_msg("refused: %s", err.text);
    return scope;
}

static void
is_suppressed(const char *name, const char *reason, bool discard)
{
    bool is_discarded = !discard;
    const char *found = scope_suppresses(name, &is_discarded);
    assert_int_equal(is_discarded, discard);
    assert_string_equal(found == NULL ? "not" : found, reason);
}

static void
the_innermost_suppression_that_means_an_event_gives_the_reason(void **state)
{
    (void)state;
    const char *const orders[] = {"shop.OrderPlaced", "shop.OrderShipped", NULL};
    is_suppressed("shop.OrderPlaced", "not", false);
    owed_scope *all = suppress("import", NULL, false);
    owed_scope *some = suppress("orders", orders, true);
    owed_scope *says = begin((owed_attribution){.actor_key = "user:1"});
    is_suppressed("shop.OrderShipped", "orders", true);
    is_suppressed("shop.Other", "import", false);
    owed_scope *inner = suppress("inner", NULL, false);
    is_suppressed("shop.OrderPlaced", "inner", true);
    is_suppressed("shop.Other", "inner", false);
    end(inner);
    const struct cause cause = {.event_id = 1};
    struct owed_scope block;
    scope_enter(&block, &cause, true);
    is_suppressed("shop.OrderPlaced", "not", false);
    scope_leave(&block);
    scope_enter(&block, &cause, false);
    is_suppressed("shop.OrderPlaced", "orders", true);
    scope_leave(&block);
    owed_captured_scope *captured = NULL;
    owed_error err = {0};
    assert_int_equal(owed_scope_capture(&captured, &err), OWED_OK);
    end(says);
    end(some);
    is_suppressed("shop.OrderPlaced", "import", false);
    end(all);
    is_suppressed("shop.OrderPlaced", "not", false);
    assert_int_equal(owed_scope_resume(captured, &inner, &err), OWED_OK);
    owed_captured_scope_free(captured);
    is_suppressed("shop.OrderPlaced", "orders", true);
    is_suppressed("shop.Other", "import", false);
    end(inner);
}

static void
a_suppression_wants_a_reason_and_names_that_events_can_have(void **state)
{
    (void)state;
    char text[300];
    memset(text, 'x', 256);
    text[256] = '\0';
    const char *const names[] = {"shop.OrderPlaced", "no name", NULL};
    const struct {
        owed_suppression suppression;
        const char *words;
    } cases[] = {
        {{.reason = NULL}, "has no reason"},
        {{.reason = ""}, "has no reason"},
        {{.reason = text}, "is 256 bytes long"},
        {{.reason = "\xff"}, "is not UTF-8"},
        {{.reason = "import", .events = names}, "no name"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        owed_scope *scope = NULL;
        owed_error err = {0};
        assert_int_equal(
            owed_scope_begin_suppressed(&cases[i].suppression, &scope, &err), OWED_INVALID);
        if (strstr(err.text, cases[i].words) == NULL)
            fail_msg("\"%s\" does not say \"%s\"", err.text, cases[i].words);
        assert_null(scope);
    }
    is_suppressed("shop.OrderPlaced", "not", false);
    const owed_suppression import = {.reason = "import"};
    char seen[64] = "";
    owed_error err = {0};
    assert_int_equal(
        owed_with_suppression(&import, leaves_blocks_open, seen, &err), OWED_NOT_FOUND);
    is_suppressed("shop.OrderPlaced", "not", false);
}

/* --- other threads --- */

struct carried {
    const owed_captured_scope *captured;
    owed_scope *foreign;
    bool ok;
};

static bool
holds(const char *correlation_id, int64_t cause)
{
    return strcmp(now().correlation_id, correlation_id) == 0 && owed_scope_cause() == cause;
}

static void *
on_another_thread(void *state)
{
    struct carried *carried = state;
    owed_scope *scope = NULL;
    owed_error err = {0};
    bool ok = holds("", 0) && owed_scope_end(carried->foreign, &err) == OWED_INVALID;
    for (int i = 0; i < 2; i++) {
        ok = ok && owed_scope_resume(carried->captured, &scope, &err) == OWED_OK;
        ok = ok && holds("req-1", 7) && strcmp(now().facts, "{\"tenant\":1}") == 0;
        ok = ok && owed_scope_end(scope, &err) == OWED_OK && holds("", 0);
    }
    carried->ok = ok;
    return NULL;
}

static void
a_block_is_its_threads_and_is_carried_to_another_by_hand(void **state)
{
    (void)state;
    owed_error err = {0};
    owed_scope *cause = NULL;
    assert_int_equal(owed_scope_begin_cause(7, "req-7", NULL, &cause, &err), OWED_OK);
    owed_scope *scope =
        begin((owed_attribution){.correlation_id = "req-1", .facts = "{\"tenant\":1}"});
    owed_captured_scope *captured = NULL;
    assert_int_equal(owed_scope_capture(&captured, &err), OWED_OK);
    struct carried carried[2] = {
        {.captured = captured, .foreign = scope}, {.captured = captured, .foreign = scope}};
    pthread_t threads[2];
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, on_another_thread, &carried[i]), 0);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_true(carried[0].ok);
    assert_true(carried[1].ok);
    end(scope);
    end(cause);
    scope = NULL;
    assert_int_equal(owed_scope_resume(captured, &scope, &err), OWED_OK);
    owed_captured_scope_free(captured);
    assert_true(holds("req-1", 7));
    end(scope);
    assert_int_equal(owed_scope_resume(NULL, &scope, &err), OWED_INVALID);
    owed_captured_scope_free(NULL);
}

/* --- facts --- */

static void
merges_to(const char *under, const char *over, const char *expected)
{
    struct arena arena;
    arena_init(&arena, 0);
    const char *merged = NULL;
    owed_error err = {0};
    if (facts_merge(under, over, &arena, &merged, &err) != OWED_OK)
        fail_msg("refused: %s", err.text);
    assert_string_equal(merged, expected);
    arena_done(&arena);
}

static void
facts_are_laid_over_one_another_byte_for_byte(void **state)
{
    (void)state;
    merges_to("", "", "");
    merges_to("{\"a\": 1}", NULL, "{\"a\": 1}");
    merges_to(NULL, "{\"a\": 1}", "{\"a\": 1}");
    merges_to("{}", "{}", "{}");
    merges_to("{\"a\":1e400,\"b\":{\"c\": [ 1 ]}}", "{\"d\":\"\\u0000\"}",
        "{\"a\":1e400,\"b\":{\"c\": [ 1 ]},\"d\":\"\\u0000\"}");
    merges_to("{\"a\":1,\"b\":2}", "{\"\\u0061\":3}", "{\"b\":2,\"\\u0061\":3}");
    merges_to("{\"\\ud800\":1,\"a\":1}", "{\"\\ud800\":2}", "{\"a\":1,\"\\ud800\":2}");
}

static const char *
keys(char *text, int first, int count)
{
    char *p = text;
    for (int i = 0; i < count; i++)
        p += snprintf(p, 16, "%c\"k%d\":1", i == 0 ? '{' : ',', first + i);
    snprintf(p, 2, "}");
    return text;
}

static void
facts_have_an_end(void **state)
{
    (void)state;
    static char one[20000];
    static char other[20000];
    struct arena arena;
    arena_init(&arena, 0);
    const char *merged = NULL;
    owed_error err = {0};
    assert_int_equal(
        facts_merge(keys(one, 0, 600), keys(other, 500, 500), &arena, &merged, &err), OWED_OK);
    assert_int_equal(
        facts_merge(keys(one, 0, 600), keys(other, 600, 401), &arena, &merged, &err), OWED_INVALID);
    assert_non_null(strstr(err.text, "more than 1000 keys"));
    assert_int_equal(
        facts_merge(keys(one, 0, 1001), "{\"k0\":1}", &arena, &merged, &err), OWED_INVALID);
    static char long_one[40000];
    static char long_other[40000];
    snprintf(long_one, sizeof long_one, "{\"a\":\"%039000d\"}", 0);
    snprintf(long_other, sizeof long_other, "{\"b\":\"%039000d\"}", 0);
    assert_int_equal(facts_merge(long_one, long_other, &arena, &merged, &err), OWED_INVALID);
    assert_non_null(strstr(err.text, "with those of the blocks around"));
    arena_done(&arena);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_holds_outside_of_blocks),
        cmocka_unit_test(an_inner_block_overrides_what_it_says_and_inherits_the_rest),
        cmocka_unit_test(key_and_label_of_an_actor_are_one),
        cmocka_unit_test(the_outermost_block_makes_a_correlation_id_where_there_is_none),
        cmocka_unit_test(what_cannot_be_kept_is_refused_where_it_is_said),
        cmocka_unit_test(blocks_end_in_reverse_order_and_once),
        cmocka_unit_test(what_a_function_leaves_open_is_ended),
        cmocka_unit_test(a_receiver_sees_its_event_as_the_cause_and_leaves_nothing_open),
        cmocka_unit_test(the_innermost_suppression_that_means_an_event_gives_the_reason),
        cmocka_unit_test(a_suppression_wants_a_reason_and_names_that_events_can_have),
        cmocka_unit_test(a_block_is_its_threads_and_is_carried_to_another_by_hand),
        cmocka_unit_test(facts_are_laid_over_one_another_byte_for_byte),
        cmocka_unit_test(facts_have_an_end),
    };
    return cmocka_run_group_tests_name("blocks", tests, NULL, NULL);
}
