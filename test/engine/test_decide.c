/* SPDX-License-Identifier: MIT
 *
 * test_decide.c - what becomes of a row after an attempt.
 */
#include "../unit.h"

#include <string.h>

#include "base/clock.h"
#include "engine/decide.h"

#define SECOND US_PER_SECOND
#define NOW INT64_C(4102444800000000)

static uint64_t
highest_roll(void *state)
{
    (void)state;
    return UINT64_MAX;
}

static uint64_t
lowest_roll(void *state)
{
    (void)state;
    return 0;
}

static const owed_dice highest = {.next = highest_roll};
static const owed_dice lowest = {.next = lowest_roll};
static const struct curve two_to_an_hour = {2 * SECOND, 3600 * SECOND};

static struct attempt_facts
facts_of(enum ending ending, int32_t attempts)
{
    return (struct attempt_facts){
        .ending = ending,
        .attempts = attempts,
        .max_attempts = 5,
        .curve = two_to_an_hour,
        .max_retry_delay_us = 86400 * SECOND,
        .due_at_us = NOW,
        .give_up_after_us = 3600 * SECOND,
        .until_us = NOW + SECOND,
        .now_us = NOW,
    };
}

static void
every_ending_moves_the_row_as_the_rules_say(void **state)
{
    (void)state;
    static const struct {
        enum ending ending;
        int32_t attempts; // before, of 5
        enum happening happening;
        enum state to;
        int32_t attempts_after;
        const char *verdict;
    } cases[] = {
        {ENDING_SUCCEEDED, 0, HAPPENS_SUCCEED, STATE_SUCCEEDED, 1, "succeeded"},
        {ENDING_SUCCEEDED, 4, HAPPENS_SUCCEED, STATE_SUCCEEDED, 5, "succeeded"},
        {ENDING_FAILED, 0, HAPPENS_FAIL, STATE_FAILED, 1, "failed"},
        {ENDING_FAILED, 3, HAPPENS_FAIL, STATE_FAILED, 4, "failed"},
        {ENDING_FAILED, 4, HAPPENS_EXHAUST, STATE_DEAD, 5, "failed"},
        {ENDING_FAILED, 9, HAPPENS_EXHAUST, STATE_DEAD, 10, "failed"},
        {ENDING_PERMANENT, 0, HAPPENS_EXHAUST, STATE_DEAD, 1, "permanent"},
        {ENDING_RETRY_AFTER, 3, HAPPENS_FAIL, STATE_FAILED, 4, "retry_after"},
        {ENDING_RETRY_AFTER, 4, HAPPENS_EXHAUST, STATE_DEAD, 5, "retry_after"},
        {ENDING_DEFERRED, 0, HAPPENS_DEFER, STATE_FAILED, 0, "deferred"},
        {ENDING_DEFERRED, 4, HAPPENS_DEFER, STATE_FAILED, 4, "deferred"},
        {ENDING_NOT_YET, 0, HAPPENS_NOT_YET, STATE_PENDING, 0, "not_yet"},
        {ENDING_NOT_YET, 4, HAPPENS_NOT_YET, STATE_PENDING, 4, "not_yet"},
        {ENDING_PUT_OFF, 0, HAPPENS_DEFER, STATE_FAILED, 0, "put_off"},
        {ENDING_PUT_OFF, 4, HAPPENS_DEFER, STATE_FAILED, 4, "put_off"},
        {ENDING_UNDECODABLE, 0, HAPPENS_EXHAUST, STATE_DEAD, 1, "undecodable"},
        {ENDING_DIED, 3, HAPPENS_FAIL, STATE_FAILED, 4, "died"},
        {ENDING_DIED, 4, HAPPENS_EXHAUST, STATE_DEAD, 5, "died"},
        {ENDING_NOT_SENT, 0, HAPPENS_NOT_SENT, STATE_FAILED, 0, "not_sent"},
        {ENDING_NOT_SENT, 4, HAPPENS_NOT_SENT, STATE_FAILED, 4, "not_sent"},
        {ENDING_LOST, 0, HAPPENS_LOSE, STATE_DEAD, 0, "died"},
        {ENDING_LOST, 4, HAPPENS_LOSE, STATE_DEAD, 4, "died"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct attempt_facts facts = facts_of(cases[i].ending, cases[i].attempts);
        struct decision decision = decide(&facts, &lowest);
        assert_int_equal(decision.happening, cases[i].happening);
        assert_int_equal(decision.state, cases[i].to);
        assert_int_equal(decision.attempts, cases[i].attempts_after);
        assert_string_equal(ending_verdict(cases[i].ending), cases[i].verdict);
        assert_int_equal(decision.ending, cases[i].ending);
        bool waits_on = cases[i].to == STATE_PENDING || cases[i].happening == HAPPENS_NOT_SENT ||
            cases[i].ending == ENDING_PUT_OFF;
        assert_int_equal(ending_is_attempt(cases[i].ending), !waits_on);
    }
}

static void
the_longest_wait_doubles_up_to_the_cap(void **state)
{
    (void)state;
    static const int64_t seconds[] = {2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3600, 3600};
    for (int32_t i = 0; i < (int32_t)COUNT(seconds); i++)
        assert_int_equal(backoff_ceiling_us(two_to_an_hour, i + 1), seconds[i] * SECOND);
}

/* all_waits sums the waits of one delivery that fails every attempt. */
static int64_t
all_waits(struct curve curve, int32_t max_attempts, const owed_dice *dice)
{
    int64_t sum = 0;
    for (int32_t attempt = 1; attempt < max_attempts; attempt++)
        sum += backoff_us(curve, attempt, dice);
    return sum;
}

static void
ten_attempts_of_a_mailer_last_three_hours_at_most_and_half_of_it_on_average(void **state)
{
    (void)state;
    static const struct curve mailer = {120 * SECOND, 1800 * SECOND};
    static const int64_t seconds[] = {120, 240, 480, 960, 1800, 1800, 1800, 1800, 1800};
    int64_t most = 0;
    for (int32_t i = 0; i < (int32_t)COUNT(seconds); i++) {
        assert_int_equal(backoff_ceiling_us(mailer, i + 1), seconds[i] * SECOND);
        most += backoff_ceiling_us(mailer, i + 1);
    }
    assert_int_equal(most, 3 * 3600 * SECOND);
    assert_true(all_waits(mailer, 10, &highest) <= most);
    assert_true(all_waits(mailer, 10, &highest) > most - SECOND);
    assert_int_equal(all_waits(mailer, 10, &lowest), 0);
    uint64_t seed = 8;
    owed_dice dice = dice_seeded(&seed);
    int64_t sum = 0;
    for (int i = 0; i < 10000; i++)
        sum += all_waits(mailer, 10, &dice);
    assert_in_range(sum / 10000 / SECOND, 5400 - 60, 5400 + 60);
}

static void
eight_attempts_on_the_default_curve_outlast_no_outage_of_five_minutes(void **state)
{
    (void)state;
    int64_t most = 0;
    for (int32_t attempt = 1; attempt < 8; attempt++)
        most += backoff_ceiling_us(two_to_an_hour, attempt);
    assert_int_equal(most, 254 * SECOND);
}

static void
no_attempt_and_no_curve_overflows(void **state)
{
    (void)state;
    assert_int_equal(backoff_ceiling_us(two_to_an_hour, INT32_MAX), 3600 * SECOND);
    assert_int_equal(backoff_ceiling_us((struct curve){1, INT64_MAX}, 63), INT64_C(1) << 62);
    assert_int_equal(backoff_ceiling_us((struct curve){1, INT64_MAX}, 64), INT64_MAX);
    assert_int_equal(backoff_ceiling_us((struct curve){1, INT64_MAX}, INT32_MAX), INT64_MAX);
    assert_int_equal(
        backoff_ceiling_us((struct curve){INT64_MAX, INT64_MAX}, INT32_MAX), INT64_MAX);
    assert_true(backoff_us((struct curve){1, INT64_MAX}, 64, &highest) > 0);
    // A cap below the base is the wait; no base is no wait, however often.
    assert_int_equal(backoff_ceiling_us((struct curve){9 * SECOND, SECOND}, 1), SECOND);
    assert_int_equal(backoff_ceiling_us((struct curve){9 * SECOND, SECOND}, 7), SECOND);
    assert_int_equal(backoff_ceiling_us((struct curve){0, SECOND}, INT32_MAX), 0);
    struct attempt_facts facts = facts_of(ENDING_FAILED, INT32_MAX);
    assert_int_equal(decide(&facts, &highest).attempts, INT32_MAX);
    facts = facts_of(ENDING_FAILED, 0);
    facts.now_us = INT64_MAX - 1;
    facts.curve = (struct curve){SECOND, SECOND};
    assert_int_equal(decide(&facts, &highest).available_at_us, INT64_MAX);
}

static void
the_wait_is_drawn_from_the_whole_window(void **state)
{
    (void)state;
    assert_int_equal(backoff_us(two_to_an_hour, 5, &lowest), 0);
    int64_t most = backoff_us(two_to_an_hour, 5, &highest);
    assert_true(most < 32 * SECOND && most > 32 * SECOND - 10);
    uint64_t seed = 21;
    owed_dice dice = dice_seeded(&seed);
    int quarters[4] = {0};
    for (int i = 0; i < 40000; i++) {
        int64_t wait = backoff_us(two_to_an_hour, 3, &dice);
        assert_true(wait >= 0 && wait < 8 * SECOND);
        quarters[wait / (2 * SECOND)]++;
    }
    for (int i = 0; i < 4; i++)
        assert_in_range(quarters[i], 9600, 10400);
}

static void
a_failed_row_waits_on_the_curve_of_the_attempt_that_failed(void **state)
{
    (void)state;
    for (int32_t attempts = 0; attempts < 4; attempts++) {
        struct attempt_facts facts = facts_of(ENDING_FAILED, attempts);
        struct decision decision = decide(&facts, &highest);
        int64_t wait = decision.available_at_us - NOW;
        int64_t ceiling = backoff_ceiling_us(two_to_an_hour, attempts + 1);
        assert_true(wait < ceiling && wait > ceiling - 10);
        assert_false(decision.wait_was_cut);
        facts.ending = ENDING_DIED;
        assert_int_equal(decide(&facts, &highest).available_at_us, decision.available_at_us);
    }
}

static void
a_destinations_own_word_is_obeyed_without_jitter_up_to_the_longest_delay(void **state)
{
    (void)state;
    static const struct {
        int64_t asked, waited;
        bool cut;
    } cases[] = {
        {0, 0, false},
        {120 * SECOND, 120 * SECOND, false},
        {86400 * SECOND, 86400 * SECOND, false},
        {86400 * SECOND + 1, 86400 * SECOND, true},
        {INT64_MAX, 86400 * SECOND, true},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct attempt_facts facts = facts_of(ENDING_RETRY_AFTER, 0);
        facts.wait_us = cases[i].asked;
        struct decision low = decide(&facts, &lowest);
        struct decision high = decide(&facts, &highest);
        assert_int_equal(low.available_at_us, NOW + cases[i].waited);
        assert_int_equal(high.available_at_us, NOW + cases[i].waited);
        assert_int_equal(low.wait_was_cut, cases[i].cut);
    }
    struct attempt_facts last = facts_of(ENDING_RETRY_AFTER, 4);
    last.wait_us = INT64_MAX;
    assert_false(decide(&last, &lowest).wait_was_cut);
}

static void
a_deferral_waits_from_what_was_asked_to_twice_that_up_to_the_longest_delay(void **state)
{
    (void)state;
    static const int64_t day = 86400 * SECOND;
    static const struct {
        int64_t asked, least, most;
        bool cut;
    } cases[] = {
        {1, 1, 1, false},
        {120 * SECOND, 120 * SECOND, 240 * SECOND, false},
        {day / 2, day / 2, day, false},
        {day - 1, day - 1, day, false},
        {day, day, day, false},
        {day + 1, day, day, true},
        {INT64_MAX, day, day, true},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct attempt_facts facts = facts_of(ENDING_DEFERRED, 2);
        facts.wait_us = cases[i].asked;
        struct decision low = decide(&facts, &lowest);
        struct decision high = decide(&facts, &highest);
        assert_int_equal(low.available_at_us - NOW, cases[i].least);
        int64_t most = high.available_at_us - NOW;
        assert_true(most <= cases[i].most && most > cases[i].most - 10);
        assert_int_equal(low.wait_was_cut, cases[i].cut);
        // The destination is left alone for what it asked, neither longer nor shorter.
        assert_int_equal(low.pause_us, cases[i].least);
        assert_int_equal(high.pause_us, cases[i].least);
    }
}

static void
a_deferral_ends_once_the_row_has_been_owed_for_the_bound(void **state)
{
    (void)state;
    static const int64_t bound = 3600 * SECOND;
    struct attempt_facts facts = facts_of(ENDING_DEFERRED, 2);
    facts.wait_us = 60 * SECOND;
    facts.due_at_us = NOW - bound + 1;
    assert_int_equal(decide(&facts, &lowest).state, STATE_FAILED);
    facts.due_at_us = NOW - bound;
    struct decision decision = decide(&facts, &lowest);
    assert_int_equal(decision.ending, ENDING_GAVE_UP);
    assert_int_equal(decision.happening, HAPPENS_GIVE_UP);
    assert_int_equal(decision.state, STATE_DEAD);
    assert_int_equal(decision.attempts, 2);
    assert_false(decision.wait_was_cut);
    // The next expired row would hear the same.
    assert_int_equal(decision.pause_us, 60 * SECOND);
    facts.due_at_us = INT64_MIN;
    assert_int_equal(decide(&facts, &lowest).ending, ENDING_GAVE_UP);
    // Nothing but a deferral has that bound, and what is put off.
    facts.ending = ENDING_FAILED;
    assert_int_equal(decide(&facts, &lowest).state, STATE_FAILED);
    facts.ending = ENDING_RETRY_AFTER;
    assert_int_equal(decide(&facts, &lowest).state, STATE_FAILED);
    assert_int_equal(decide(&facts, &lowest).pause_us, 0);
}

static void
what_is_put_off_waits_until_its_moment_and_ends_at_that_bound_if_there_is_one(void **state)
{
    (void)state;
    static const int64_t bound = 3600 * SECOND;
    struct attempt_facts facts = facts_of(ENDING_PUT_OFF, 2);
    facts.until_us = NOW + 60 * SECOND;
    facts.due_at_us = NOW - bound + 1;
    struct decision decision = decide(&facts, &highest);
    assert_int_equal(decision.ending, ENDING_PUT_OFF);
    assert_int_equal(decision.available_at_us, facts.until_us);
    assert_int_equal(decision.attempts, 2);
    // We know of it, and have heard nothing of the destination.
    assert_int_equal(decision.pause_us, 0);
    facts.due_at_us = NOW - bound;
    decision = decide(&facts, &highest);
    assert_int_equal(decision.ending, ENDING_GAVE_UP);
    assert_int_equal(decision.state, STATE_DEAD);
    assert_int_equal(decision.pause_us, 0);
    facts.give_up_after_us = 0;
    decision = decide(&facts, &highest);
    assert_int_equal(decision.ending, ENDING_NOT_YET);
    assert_int_equal(decision.state, STATE_PENDING);
    assert_int_equal(decision.attempts, 2);
}

static void
a_deferral_without_a_bound_counts(void **state)
{
    (void)state;
    struct attempt_facts facts = facts_of(ENDING_DEFERRED, 3);
    facts.wait_us = 60 * SECOND;
    facts.give_up_after_us = 0;
    facts.due_at_us = 0;
    struct decision decision = decide(&facts, &highest);
    assert_int_equal(decision.ending, ENDING_RETRY_AFTER);
    assert_int_equal(decision.attempts, 4);
    assert_int_equal(decision.available_at_us, NOW + 60 * SECOND);
    assert_int_equal(decision.pause_us, 0);
    facts.attempts = 4;
    assert_int_equal(decide(&facts, &highest).state, STATE_DEAD);
}

static void
what_is_not_due_yet_waits_until_its_moment_and_nothing_is_cut(void **state)
{
    (void)state;
    struct attempt_facts facts = facts_of(ENDING_NOT_YET, 2);
    facts.until_us = NOW + 400 * 86400 * SECOND;
    facts.due_at_us = NOW - 400 * 86400 * SECOND;
    struct decision decision = decide(&facts, &highest);
    assert_int_equal(decision.available_at_us, facts.until_us);
    assert_false(decision.wait_was_cut);
    assert_int_equal(decision.pause_us, 0);
}

static bool
rule_counts(enum ending ending)
{
    return ending != ENDING_DEFERRED && ending_is_attempt(ending);
}

static void
whatever_happens_attempts_never_shrink_and_a_row_ends_in_its_budget(void **state)
{
    (void)state;
    uint64_t seed = 22;
    owed_dice dice = dice_seeded(&seed);
    for (int i = 0; i < 5000; i++) {
        struct attempt_facts facts = facts_of(ENDING_FAILED, 0);
        facts.max_attempts = (int32_t)(1 + dice.next(dice.state) % 20);
        int32_t runs = 0;
        struct decision decision;
        do {
            facts.ending = (enum ending)(dice.next(dice.state) % ENDING_COUNT);
            facts.wait_us = (int64_t)(dice.next(dice.state) >> 2);
            facts.due_at_us = NOW - (int64_t)(dice.next(dice.state) % (2 * 3600 * SECOND));
            decision = decide(&facts, &dice);
            assert_true(decision.attempts >= facts.attempts);
            assert_true(decision.attempts <= facts.attempts + 1);
            assert_true(decision.available_at_us >= facts.now_us);
            assert_int_equal(edge_find(STATE_CLAIMED, decision.happening)->to, decision.state);
            facts.attempts = decision.attempts;
            runs += rule_counts(decision.ending);
        } while (!state_is_terminal(decision.state));
        assert_true(runs <= facts.max_attempts);
        assert_int_equal(decision.available_at_us, facts.now_us);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_ending_moves_the_row_as_the_rules_say),
        cmocka_unit_test(the_longest_wait_doubles_up_to_the_cap),
        cmocka_unit_test(
            ten_attempts_of_a_mailer_last_three_hours_at_most_and_half_of_it_on_average),
        cmocka_unit_test(eight_attempts_on_the_default_curve_outlast_no_outage_of_five_minutes),
        cmocka_unit_test(no_attempt_and_no_curve_overflows),
        cmocka_unit_test(the_wait_is_drawn_from_the_whole_window),
        cmocka_unit_test(a_failed_row_waits_on_the_curve_of_the_attempt_that_failed),
        cmocka_unit_test(a_destinations_own_word_is_obeyed_without_jitter_up_to_the_longest_delay),
        cmocka_unit_test(
            a_deferral_waits_from_what_was_asked_to_twice_that_up_to_the_longest_delay),
        cmocka_unit_test(a_deferral_ends_once_the_row_has_been_owed_for_the_bound),
        cmocka_unit_test(
            what_is_put_off_waits_until_its_moment_and_ends_at_that_bound_if_there_is_one),
        cmocka_unit_test(a_deferral_without_a_bound_counts),
        cmocka_unit_test(what_is_not_due_yet_waits_until_its_moment_and_nothing_is_cut),
        cmocka_unit_test(whatever_happens_attempts_never_shrink_and_a_row_ends_in_its_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
