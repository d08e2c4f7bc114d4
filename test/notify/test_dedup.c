/* SPDX-License-Identifier: MIT
 *
 * test_dedup.c - a key is sent once, as long as it is known.
 */
#include "desk.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "notify/dedup.h"

static const owed_send_options keyed = {.dedup_key = "order-7"};

static int
copies(struct desk *desk)
{
    return desk->sms.calls + desk->email.calls;
}

/* check_keyed sends, and it is the copy of an earlier receipt or is not. */
static void
check_keyed(struct desk *desk, const owed_send_options *options, bool is_duplicate)
{
    owed_receipt *receipt;
    assert_int_equal(desk_send(desk, &ada, options, &receipt), OWED_OK);
    assert_int_equal(receipt->duplicate, is_duplicate);
    owed_receipt_free(receipt);
}

static void
a_key_that_was_sent_gives_the_first_receipt_marked(void **state)
{
    (void)state;
    struct desk desk = {0};
    owed_receipt *first, *second, *third;
    desk_open(&desk, NULL);
    assert_int_equal(desk_send(&desk, &ada, &keyed, &first), OWED_OK);
    assert_false(first->duplicate);
    // Another recipient, and values that would not render.
    assert_int_equal(owed_send(desk.dispatcher, &(owed_recipient){.email = "bob@example.com"},
                         desk.confirmation, NULL, &keyed, &second, &desk.err),
        OWED_OK);
    assert_true(second->duplicate);
    assert_string_equal(second->address, "+49151000000");
    assert_string_equal(second->reference, first->reference);
    assert_int_equal(second->attempts, 1);
    assert_int_equal(desk_send(&desk, &ada, &keyed, &third), OWED_OK);
    assert_true(third->duplicate);
    assert_int_equal(copies(&desk), 1);
    owed_receipt_free(first);
    owed_receipt_free(second);
    owed_receipt_free(third);
    desk_close(&desk);
}

static void
a_send_that_fails_gives_its_key_back(void **state)
{
    (void)state;
    struct desk desk = {0};
    owed_receipt *receipt;
    owed_recipient asleep = ada;
    asleep.quiet_hours = (const owed_quiet_hours[]){{"22:00", "07:00", NULL, 0}, {.start = NULL}};
    desk.sms = (struct teller){
        .answers = {{.reason = "busy"}, {.verdict = OWED_ANSWER_SENT}}, .answer_count = 2};
    desk_open(&desk, NULL);
    assert_int_equal(
        owed_send(desk.dispatcher, &ada, desk.confirmation, NULL, &keyed, &receipt, NULL),
        OWED_MISSING_VARIABLE);
    assert_int_equal(desk_send(&desk, &(owed_recipient){0}, &keyed, &receipt), OWED_UNROUTABLE);
    assert_int_equal(desk_send(&desk, &asleep, &keyed, &receipt), OWED_QUIET_HOURS);
    assert_int_equal(desk_send(&desk, &ada, &keyed, &receipt), OWED_UNDELIVERED);
    assert_int_equal(owed_dedup_count(owed_dispatcher_dedup(desk.dispatcher)), 0);
    check_keyed(&desk, &keyed, false);
    desk_close(&desk);
}

static void
send_again(void *state)
{
    struct desk *desk = state;
    owed_receipt *receipt;
    assert_int_equal(desk_send(desk, &ada, &keyed, &receipt), OWED_DUPLICATE_SEND);
    assert_string_equal(desk->err.text, "dedup key \"order-7\" is being sent just now");
}

static void
a_key_that_is_being_sent_is_refused(void **state)
{
    (void)state;
    struct desk desk = {0};
    owed_receipt *receipt;
    desk.sms.during = send_again;
    desk.sms.during_state = &desk;
    desk_open(&desk, NULL);
    assert_int_equal(desk_send(&desk, &ada, &keyed, &receipt), OWED_OK);
    assert_int_equal(copies(&desk), 1);
    owed_receipt_free(receipt);
    desk_close(&desk);
}

static void
a_key_expires_when_its_time_is_over_and_not_before(void **state)
{
    (void)state;
    struct desk desk = {0};
    owed_dedup *dedup;
    assert_int_equal(owed_dedup_new(10 * SECOND, &dedup, NULL), OWED_OK);
    desk_open(&desk, &(owed_dispatcher_options){.dedup = dedup});
    static const struct {
        int64_t at_us;
        bool is_sent;
    } cases[] = {{0, true}, {10 * SECOND - 1, false}, {10 * SECOND, true}, {19 * SECOND, false}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        desk.now_us = DESK_NOW + cases[i].at_us;
        check_keyed(&desk, &keyed, !cases[i].is_sent);
    }
    assert_int_equal(owed_dedup_purge(dedup, DESK_NOW + 19 * SECOND), 0);
    assert_int_equal(owed_dedup_purge(dedup, DESK_NOW + 20 * SECOND), 1);
    assert_int_equal(owed_dedup_count(dedup), 0);
    desk_close(&desk);
    owed_dedup_free(dedup);
}

static void
a_key_may_be_known_for_ever(void **state)
{
    (void)state;
    struct desk desk = {0};
    owed_dedup *dedup;
    assert_int_equal(owed_dedup_new(-2, &dedup, &desk.err), OWED_INVALID);
    assert_int_equal(owed_dedup_new(OWED_FOREVER, &dedup, NULL), OWED_OK);
    desk_open(&desk, &(owed_dispatcher_options){.dedup = dedup});
    check_keyed(&desk, &keyed, false);
    desk.now_us = INT64_MAX;
    check_keyed(&desk, &keyed, true);
    assert_int_equal(owed_dedup_purge(dedup, INT64_MAX), 0);
    desk_close(&desk);
    owed_dedup_free(dedup);
}

static void
pass_time(void *state)
{
    ((struct desk *)state)->now_us += 5 * SECOND;
}

static void
a_key_is_known_from_when_its_send_began(void **state)
{
    (void)state;
    struct desk desk = {0};
    owed_dedup *dedup;
    assert_int_equal(owed_dedup_new(10 * SECOND, &dedup, NULL), OWED_OK);
    desk_open(&desk, &(owed_dispatcher_options){.dedup = dedup});
    desk.sms.during = pass_time;
    desk.sms.during_state = &desk;
    check_keyed(&desk, &keyed, false);
    assert_int_equal(desk.now_us, DESK_NOW + 5 * SECOND);
    desk.now_us = DESK_NOW + 10 * SECOND - 1;
    check_keyed(&desk, &keyed, true);
    desk.now_us = DESK_NOW + 10 * SECOND;
    check_keyed(&desk, &keyed, false);
    desk_close(&desk);
    owed_dedup_free(dedup);
}

static void
the_moment_that_a_send_says_counts_for_its_key(void **state)
{
    (void)state;
    struct desk desk = {0};
    owed_dedup *dedup;
    assert_int_equal(owed_dedup_new(10 * SECOND, &dedup, NULL), OWED_OK);
    desk_open(&desk, &(owed_dispatcher_options){.dedup = dedup});
    owed_send_options said = keyed;
    said.now_us = DESK_NOW + 100 * SECOND;
    check_keyed(&desk, &said, false);
    said.now_us += 10 * SECOND - 1;
    check_keyed(&desk, &said, true);
    said.now_us += 1;
    check_keyed(&desk, &said, false);
    desk_close(&desk);
    owed_dedup_free(dedup);
}

static void
dispatchers_may_share_their_keys_and_without_a_key_nothing_is_kept(void **state)
{
    (void)state;
    struct desk desk = {0}, other = {0};
    owed_dedup *dedup;
    owed_receipt *receipt;
    assert_int_equal(owed_dedup_new(0, &dedup, NULL), OWED_OK);
    desk_open(&desk, &(owed_dispatcher_options){.dedup = dedup});
    desk_open(&other, &(owed_dispatcher_options){.dedup = dedup});
    assert_ptr_equal(owed_dispatcher_dedup(desk.dispatcher), dedup);
    assert_int_equal(desk_send(&desk, &ada, NULL, &receipt), OWED_OK);
    owed_receipt_free(receipt);
    assert_int_equal(owed_dedup_count(dedup), 0);
    assert_int_equal(desk_send(&desk, &ada, &keyed, &receipt), OWED_OK);
    owed_receipt_free(receipt);
    assert_int_equal(desk_send(&other, &ada, &keyed, &receipt), OWED_OK);
    assert_true(receipt->duplicate);
    owed_receipt_free(receipt);
    assert_int_equal(copies(&other), 0);
    desk_close(&desk);
    desk_close(&other);
    owed_dedup_free(dedup);
}

static void
a_late_loser_neither_completes_nor_releases_anothers_key(void **state)
{
    (void)state;
    owed_dedup *dedup;
    owed_receipt *found = NULL, first = {.text = (char *)(uintptr_t) "first"},
                 second = {.text = (char *)(uintptr_t) "second"};
    uint64_t late, new;
    assert_int_equal(owed_dedup_new(SECOND, &dedup, NULL), OWED_OK);
    assert_int_equal(dedup_claim(dedup, "k", 0, &late, &found, NULL), OWED_OK);
    assert_int_equal(dedup_claim(dedup, "k", SECOND, &new, &found, NULL), OWED_OK);
    assert_int_not_equal(late, new);
    dedup_release(dedup, "k", late);
    dedup_complete(dedup, "k", late, SECOND, &first);
    uint64_t token;
    assert_int_equal(dedup_claim(dedup, "k", SECOND, &token, &found, NULL), OWED_DUPLICATE_SEND);
    dedup_complete(dedup, "k", new, SECOND, &second);
    dedup_release(dedup, "other", new);
    assert_int_equal(dedup_claim(dedup, "k", SECOND, &token, &found, NULL), OWED_OK);
    assert_int_equal(token, 0);
    assert_string_equal(found->text, "second");
    owed_receipt_free(found);
    owed_dedup_free(dedup);
}

static void
a_key_has_bytes_and_not_too_many(void **state)
{
    (void)state;
    struct desk desk = {0};
    owed_receipt *receipt;
    char key[257];
    desk_open(&desk, NULL);
    memset(key, 'k', 256);
    key[256] = '\0';
    assert_int_equal(
        desk_send(&desk, &ada, &(owed_send_options){.dedup_key = ""}, &receipt), OWED_INVALID);
    assert_int_equal(
        desk_send(&desk, &ada, &(owed_send_options){.dedup_key = key}, &receipt), OWED_INVALID);
    assert_string_equal(desk.err.text, "a dedup key has 1 to 255 bytes");
    assert_int_equal(copies(&desk), 0);
    desk_close(&desk);
}

/* --- several threads --- */

#define THREADS 4
#define KEYS 200

struct crowd {
    owed_dedup *dedup;
    int won[KEYS];
    pthread_mutex_t lock;
};

static void *
take_all(void *state)
{
    struct crowd *crowd = state;
    owed_receipt sent = {.attempts = 1};
    for (int i = 0; i < KEYS; i++) {
        char key[16];
        uint64_t token;
        owed_receipt *found = NULL;
        snprintf(key, sizeof key, "k%d", i);
        owed_status status = dedup_claim(crowd->dedup, key, 0, &token, &found, NULL);
        if (status == OWED_DUPLICATE_SEND) {
            assert_int_equal(dedup_await(crowd->dedup, key, NULL), OWED_OK);
            status = dedup_claim(crowd->dedup, key, 0, &token, &found, NULL);
        }
        assert_int_equal(status, OWED_OK);
        owed_receipt_free(found);
        if (token == 0)
            continue;
        pthread_mutex_lock(&crowd->lock);
        crowd->won[i]++;
        pthread_mutex_unlock(&crowd->lock);
        dedup_complete(crowd->dedup, key, token, 0, &sent);
    }
    return NULL;
}

static void
of_many_threads_one_sends_each_key(void **state)
{
    (void)state;
    struct crowd crowd = {.lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_t threads[THREADS];
    assert_int_equal(owed_dedup_new(0, &crowd.dedup, NULL), OWED_OK);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, take_all, &crowd), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < KEYS; i++)
        assert_int_equal(crowd.won[i], 1);
    assert_int_equal(owed_dedup_count(crowd.dedup), KEYS);
    owed_dedup_free(crowd.dedup);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_that_was_sent_gives_the_first_receipt_marked),
        cmocka_unit_test(a_send_that_fails_gives_its_key_back),
        cmocka_unit_test(a_key_that_is_being_sent_is_refused),
        cmocka_unit_test(a_key_expires_when_its_time_is_over_and_not_before),
        cmocka_unit_test(a_key_may_be_known_for_ever),
        cmocka_unit_test(a_key_is_known_from_when_its_send_began),
        cmocka_unit_test(the_moment_that_a_send_says_counts_for_its_key),
        cmocka_unit_test(dispatchers_may_share_their_keys_and_without_a_key_nothing_is_kept),
        cmocka_unit_test(a_late_loser_neither_completes_nor_releases_anothers_key),
        cmocka_unit_test(a_key_has_bytes_and_not_too_many),
        cmocka_unit_test(of_many_threads_one_sends_each_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
