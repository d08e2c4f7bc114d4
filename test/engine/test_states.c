/* SPDX-License-Identifier: MIT
 *
 * test_states.c - the life of a delivery holds together.
 */
#include "../unit.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "engine/states.h"

static void
names_read_back_and_none_is_no_status(void **state)
{
    (void)state;
    for (int i = STATE_PENDING; i < STATE_COUNT; i++) {
        enum state back;
        assert_true(state_parse(state_name((enum state)i), &back));
        assert_int_equal(back, i);
    }
    enum state untouched = STATE_DEAD;
    assert_false(state_parse("none", &untouched));
    assert_false(state_parse("Pending", &untouched));
    assert_false(state_parse("", &untouched));
    assert_int_equal(untouched, STATE_DEAD);
}

static void
every_state_is_either_owed_or_settled(void **state)
{
    (void)state;
    static const enum state settled[] = {
        STATE_SUCCEEDED, STATE_DEAD, STATE_ORPHANED, STATE_CANCELLED};
    static const enum state owed[] = {STATE_PENDING, STATE_CLAIMED, STATE_FAILED};
    for (size_t i = 0; i < COUNT(settled); i++)
        assert_true(state_is_terminal(settled[i]));
    for (size_t i = 0; i < COUNT(owed); i++)
        assert_false(state_is_terminal(owed[i]));
    assert_int_equal(COUNT(settled) + COUNT(owed), STATE_COUNT - 1);
}

static void
exactly_these_steps_exist(void **state)
{
    (void)state;
    static const struct {
        enum state from;
        enum happening happening;
        enum state to;
    } steps[] = {
        {STATE_NONE, HAPPENS_FIRE, STATE_PENDING},
        {STATE_PENDING, HAPPENS_CLAIM, STATE_CLAIMED},
        {STATE_FAILED, HAPPENS_CLAIM, STATE_CLAIMED},
        {STATE_CLAIMED, HAPPENS_LAPSE, STATE_CLAIMED},
        {STATE_CLAIMED, HAPPENS_HAND_BACK, STATE_CLAIMED},
        {STATE_CLAIMED, HAPPENS_SUCCEED, STATE_SUCCEEDED},
        {STATE_CLAIMED, HAPPENS_FAIL, STATE_FAILED},
        {STATE_CLAIMED, HAPPENS_EXHAUST, STATE_DEAD},
        {STATE_CLAIMED, HAPPENS_DEFER, STATE_FAILED},
        {STATE_CLAIMED, HAPPENS_GIVE_UP, STATE_DEAD},
        {STATE_CLAIMED, HAPPENS_NOT_YET, STATE_PENDING},
        {STATE_CLAIMED, HAPPENS_HAND_OFF, STATE_CLAIMED},
        {STATE_CLAIMED, HAPPENS_TAKE, STATE_CLAIMED},
        {STATE_CLAIMED, HAPPENS_NOT_SENT, STATE_FAILED},
        {STATE_CLAIMED, HAPPENS_LOSE, STATE_DEAD},
        {STATE_CLAIMED, HAPPENS_ORPHAN, STATE_ORPHANED},
        {STATE_PENDING, HAPPENS_ORPHAN, STATE_ORPHANED},
        {STATE_FAILED, HAPPENS_ORPHAN, STATE_ORPHANED},
        {STATE_DEAD, HAPPENS_REQUEUE, STATE_PENDING},
        {STATE_ORPHANED, HAPPENS_REQUEUE, STATE_PENDING},
        {STATE_PENDING, HAPPENS_CANCEL, STATE_CANCELLED},
        {STATE_CLAIMED, HAPPENS_CANCEL, STATE_CANCELLED},
        {STATE_FAILED, HAPPENS_CANCEL, STATE_CANCELLED},
        {STATE_SUCCEEDED, HAPPENS_REPLAY, STATE_PENDING},
        {STATE_DEAD, HAPPENS_REPLAY, STATE_PENDING},
        {STATE_ORPHANED, HAPPENS_REPLAY, STATE_PENDING},
        {STATE_CANCELLED, HAPPENS_REPLAY, STATE_PENDING},
    };
    size_t found = 0;
    for (int from = 0; from < STATE_COUNT; from++)
        for (int happening = 0; happening < HAPPENS_COUNT; happening++)
            found += edge_find((enum state)from, (enum happening)happening) != NULL;
    assert_int_equal(found, COUNT(steps));
    // No two edges for one pair, or edge_find would hide one.
    assert_int_equal(edge_count, COUNT(steps));
    for (size_t i = 0; i < COUNT(steps); i++) {
        const struct edge *edge = edge_find(steps[i].from, steps[i].happening);
        assert_non_null(edge);
        assert_int_equal(edge->to, steps[i].to);
    }
}

static void
a_settled_row_moves_only_when_it_is_requeued_or_replayed(void **state)
{
    (void)state;
    for (size_t i = 0; i < edge_count; i++)
        if (state_is_terminal(edges[i].from))
            assert_true(
                edges[i].happening == HAPPENS_REQUEUE || edges[i].happening == HAPPENS_REPLAY);
}

/* mark_reachable marks every state that some chain of steps leads to; it returns whether any is new. */
static bool
mark_reachable(bool reached[STATE_COUNT])
{
    bool found = false;
    for (size_t i = 0; i < edge_count; i++)
        if (reached[edges[i].from] && !reached[edges[i].to])
            found = reached[edges[i].to] = true;
    return found;
}

static void
every_state_can_be_reached_and_left_for_an_end(void **state)
{
    (void)state;
    for (int from = 0; from < STATE_COUNT; from++) {
        bool reached[STATE_COUNT] = {false};
        reached[from] = true;
        while (mark_reachable(reached))
            ;
        for (int to = STATE_PENDING; from == STATE_NONE && to < STATE_COUNT; to++)
            assert_true(reached[to]);
        bool ends = false;
        for (int to = 0; to < STATE_COUNT; to++)
            ends |= reached[to] && state_is_terminal((enum state)to);
        assert_true(ends);
    }
}

static void
every_step_has_a_sentence_and_is_printed_twice(void **state)
{
    (void)state;
    struct buf text;
    buf_init(&text, 1 << 16);
    states_print(&text);
    assert_non_null(strstr(buf_text(&text), "    [*] --> pending: fire\n"));
    assert_non_null(strstr(buf_text(&text), "    succeeded --> [*]\n"));
    assert_null(strstr(buf_text(&text), "    claimed --> [*]\n"));
    for (size_t i = 0; i < edge_count; i++) {
        char row[256];
        assert_true(strlen(edges[i].sentence) > 10);
        snprintf(row, sizeof row, "| %s | %s | %s | %s |\n",
            edges[i].from == STATE_NONE ? "" : state_name(edges[i].from),
            happening_name(edges[i].happening), state_name(edges[i].to), edges[i].sentence);
        assert_non_null(strstr(buf_text(&text), row));
        snprintf(row, sizeof row, "%s: %s\n", state_name(edges[i].to),
            happening_name(edges[i].happening));
        assert_non_null(strstr(buf_text(&text), row));
    }
    buf_done(&text);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_read_back_and_none_is_no_status),
        cmocka_unit_test(every_state_is_either_owed_or_settled),
        cmocka_unit_test(exactly_these_steps_exist),
        cmocka_unit_test(a_settled_row_moves_only_when_it_is_requeued_or_replayed),
        cmocka_unit_test(every_state_can_be_reached_and_left_for_an_end),
        cmocka_unit_test(every_step_has_a_sentence_and_is_printed_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
