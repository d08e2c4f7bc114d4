/* SPDX-License-Identifier: MIT
 *
 * test_fire_options.c - what may be said of an event, and what is refused with its name.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

#include "deliver/handle.h"

#define TRACE "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

static void
passes(owed_fire_options options)
{
    owed_error err = {0};
    if (fire_options_check(&options, &err) != OWED_OK)
        fail_msg("refused: %s", err.text);
}

static void
is_refused(owed_fire_options options, const char *words)
{
    owed_error err = {0};
    assert_int_equal(fire_options_check(&options, &err), OWED_INVALID);
    if (strstr(err.text, words) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", err.text, words);
}

static char long_text[300];

static const char *
text_of(size_t len)
{
    memset(long_text, 'x', len);
    long_text[len] = '\0';
    return long_text;
}

static void
nothing_said_is_fine(void **state)
{
    (void)state;
    passes((owed_fire_options){0});
    passes((owed_fire_options){.actor_key = "", .scope = "", .traceparent = ""});
}

static void
texts_have_at_most_255_bytes(void **state)
{
    (void)state;
    passes((owed_fire_options){.dedupe_key = text_of(255)});
    passes((owed_fire_options){.correlation_id = text_of(255)});
    is_refused((owed_fire_options){.dedupe_key = text_of(256)}, "dedupe_key is 256 bytes long");
    is_refused((owed_fire_options){.actor_key = text_of(256)}, "actor_key is 256 bytes long");
    is_refused((owed_fire_options){.actor_label = text_of(256)}, "actor_label is 256");
    is_refused((owed_fire_options){.correlation_id = text_of(256)}, "correlation_id is 256");
}

static void
texts_are_utf8(void **state)
{
    (void)state;
    passes((owed_fire_options){.actor_label = "Zo\xc3\xab"});
    is_refused((owed_fire_options){.actor_label = "Zo\xeb"}, "actor_label is not UTF-8");
    is_refused((owed_fire_options){.dedupe_key = "\xff"}, "dedupe_key is not UTF-8");
}

static void
an_empty_dedupe_key_is_a_mistake(void **state)
{
    (void)state;
    is_refused((owed_fire_options){.dedupe_key = ""}, "dedupe_key is empty");
}

static void
times_and_causes_are_not_negative(void **state)
{
    (void)state;
    passes((owed_fire_options){.due_at_us = 1, .occurred_at_us = 1, .causation_id = 1});
    passes((owed_fire_options){.due_at_us = INT64_C(253402300799999999)});
    is_refused((owed_fire_options){.due_at_us = -1}, "due_at is negative");
    is_refused((owed_fire_options){.occurred_at_us = -1}, "occurred_at is negative");
    is_refused((owed_fire_options){.causation_id = -1}, "causation_id -1");
    is_refused(
        (owed_fire_options){.due_at_us = INT64_C(253402300800000000)}, "after the year 9999");
    is_refused((owed_fire_options){.occurred_at_us = INT64_MAX}, "after the year 9999");
}

static void
a_scope_is_a_json_object(void **state)
{
    (void)state;
    passes((owed_fire_options){.scope = "{}"});
    passes((owed_fire_options){.scope = " {\"tenant\": 4} "});
    is_refused((owed_fire_options){.scope = "[]"}, "scope is an array");
    is_refused((owed_fire_options){.scope = "4"}, "has to be a JSON object");
    is_refused((owed_fire_options){.scope = "{"}, "scope is not JSON: byte ");
}

static void
a_scope_has_a_limit(void **state)
{
    (void)state;
    static char scope[65600];
    memset(scope, ' ', sizeof scope - 1);
    scope[0] = '{';
    scope[1] = '}';
    is_refused((owed_fire_options){.scope = scope}, "scope is 65599 bytes long: at most 65536");
    scope[65536] = '\0';
    passes((owed_fire_options){.scope = scope});
}

static void
a_traceparent_is_as_w3c_has_it(void **state)
{
    (void)state;
    passes((owed_fire_options){.traceparent = TRACE});
    passes((owed_fire_options){
        .traceparent = "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more"});
    const char *const bad[] = {
        "x",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        TRACE "-more",
        TRACE "0",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",
        "00 4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        is_refused((owed_fire_options){.traceparent = bad[i]}, "W3C Trace Context");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_said_is_fine),
        cmocka_unit_test(texts_have_at_most_255_bytes),
        cmocka_unit_test(texts_are_utf8),
        cmocka_unit_test(an_empty_dedupe_key_is_a_mistake),
        cmocka_unit_test(times_and_causes_are_not_negative),
        cmocka_unit_test(a_scope_is_a_json_object),
        cmocka_unit_test(a_scope_has_a_limit),
        cmocka_unit_test(a_traceparent_is_as_w3c_has_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
