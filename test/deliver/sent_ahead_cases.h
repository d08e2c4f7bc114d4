/* SPDX-License-Identifier: MIT
 *
 * sent_ahead_cases.h - receivers that send what they write and wait for no answer: it is written with the work of their
 * neighbours, and what the server refuses is a failure of the one that sent it. Each program has the way of its
 * client library; what they have in common is here.
 */
#ifndef TEST_DELIVER_SENT_AHEAD_CASES_H
#define TEST_DELIVER_SENT_AHEAD_CASES_H

#include "desk.h"

/* send_ahead is the program's own. */
void send_ahead(owed_delivery *delivery, const char *sql);

extern const owed_receiver stock;

/* open_stock declares a receiver that does others where the actor has no act for an order. */
void open_stock(struct desk *desk, struct actor *actor, act others, owed_receiver receiver);

/* assert_each tells that every order of a run but one (0: none) took effect once, and that one failed. */
void assert_each(struct desk *desk, int64_t count, int64_t but);

owed_outcome sends(struct actor *actor, owed_delivery *delivery, const order *order);
owed_outcome sends_what_is_refused(
    struct actor *actor, owed_delivery *delivery, const order *order);

/* --- cases --- */

void what_is_sent_ahead_is_written_once_and_together(void **state);
void of_what_is_refused_the_one_that_sent_it_has_failed(void **state);
void one_that_waits_for_answers_is_not_blamed_for_what_another_sent(void **state);
void those_that_wait_and_those_that_do_not_share_a_transaction(void **state);
void what_a_failed_one_sent_is_undone(void **state);
void one_alone_fails_in_the_servers_words_and_runs_once(void **state);

#define SENT_AHEAD_TEST(name_) cmocka_unit_test_setup_teardown(name_, desk_setup, desk_teardown)
#define SENT_AHEAD_TESTS \
    SENT_AHEAD_TEST(what_is_sent_ahead_is_written_once_and_together), \
        SENT_AHEAD_TEST(of_what_is_refused_the_one_that_sent_it_has_failed), \
        SENT_AHEAD_TEST(one_that_waits_for_answers_is_not_blamed_for_what_another_sent), \
        SENT_AHEAD_TEST(those_that_wait_and_those_that_do_not_share_a_transaction), \
        SENT_AHEAD_TEST(what_a_failed_one_sent_is_undone), \
        SENT_AHEAD_TEST(one_alone_fails_in_the_servers_words_and_runs_once)

#endif
