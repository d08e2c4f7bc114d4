/* SPDX-License-Identifier: MIT
 *
 * test_calls.c - the parts of a request to an endpoint: keys, filters, windows of hosts, rates.
 */
#include "../unit.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "receive/hosts.h"
#include "receive/keys.h"
#include "receive/lookup.h"
#include "receive/parcel.h"
#include "receive/rate.h"

#define SECRET "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
#define OTHER_SECRET "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
// RFC 8032, 7.1, the first test.
#define PRIVATE "whsk_nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A="
#define PUBLIC "whpk_11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="
#define AT INT64_C(1614265330)
#define NOW_US (AT * US_PER_SECOND)
#define SIGNED "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="

static const owed_webhook published = {.id = "msg_p5jXN8AQM9LWM0D4loKWxJek",
    .timestamp = "1614265330",
    .signature = SIGNED,
    .body = "{\"test\": 2432232314}",
    .body_len = 20};

static owed_status
verify(const owed_webhook *webhook, const char *secret, int64_t now_us, owed_error *err)
{
    return owed_webhook_verify(webhook, (const char *const[]){secret, NULL}, 0, now_us, err);
}

static void
the_published_example_is_verified_and_nothing_else_about_it(void **state)
{
    (void)state;
    owed_error err = {0};
    assert_int_equal(verify(&published, SECRET, NOW_US, &err), OWED_OK);
    owed_webhook other = published;
    other.id = "msg_p5jXN8AQM9LWM0D4loKWxJeK";
    assert_int_equal(verify(&other, SECRET, NOW_US, &err), OWED_INVALID);
    other = published;
    other.timestamp = "1614265331";
    assert_int_equal(verify(&other, SECRET, NOW_US, &err), OWED_INVALID);
    other = published;
    other.body_len--;
    assert_int_equal(verify(&other, SECRET, NOW_US, &err), OWED_INVALID);
    assert_int_equal(verify(&published, OTHER_SECRET, NOW_US, &err), OWED_INVALID);
    static const char *const wrong[] = {"v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OA=",
        "v2,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=", "v1,", "v1", "v1,AAAA", " "};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        other = published;
        other.signature = wrong[i];
        check_case(verify(&other, SECRET, NOW_US, &err) == OWED_INVALID, wrong[i]);
    }
}

static void
a_timestamp_is_within_the_tolerance_on_both_sides(void **state)
{
    (void)state;
    owed_error err = {0};
    const int64_t edge_us = 300 * US_PER_SECOND;
    assert_int_equal(verify(&published, SECRET, NOW_US + edge_us, &err), OWED_OK);
    assert_int_equal(verify(&published, SECRET, NOW_US + edge_us + 1, &err), OWED_INVALID);
    assert_int_equal(verify(&published, SECRET, NOW_US - edge_us, &err), OWED_OK);
    assert_int_equal(verify(&published, SECRET, NOW_US - edge_us - 1, &err), OWED_INVALID);
    static const char *const bad[] = {
        "", "x", "-1", "1614265330.0", "1614265330 ", "9999999999999"};
    for (size_t i = 0; i < COUNT(bad); i++) {
        owed_webhook other = published;
        other.timestamp = bad[i];
        check_case(verify(&other, SECRET, NOW_US, &err) == OWED_INVALID, bad[i]);
    }
}

static void
any_of_several_signatures_and_secrets_is_enough(void **state)
{
    (void)state;
    owed_error err = {0};
    owed_webhook two = published;
    two.signature = "v1,AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA= v9,x " SIGNED;
    const char *const secrets[] = {OTHER_SECRET, SECRET, NULL};
    assert_int_equal(owed_webhook_verify(&two, secrets, 0, NOW_US, &err), OWED_OK);
    assert_int_equal(verify(&two, "whsec_nonsense!", NOW_US, &err), OWED_CONFIG);
    assert_int_equal(verify(&two, PRIVATE, NOW_US, &err), OWED_CONFIG);
    assert_int_equal(
        owed_webhook_verify(&two, (const char *const[]){NULL}, 0, NOW_US, &err), OWED_CONFIG);
}

static void
what_a_private_key_signs_its_public_key_verifies(void **state)
{
    (void)state;
    owed_error err = {0};
    struct key key;
    CLEANUP(buf_done) struct buf shown;
    CLEANUP(buf_done) struct buf signatures;
    buf_init(&shown, 200);
    buf_init(&signatures, 200);
    assert_true(key_for_others(PRIVATE, &shown));
    assert_string_equal(buf_text(&shown), PUBLIC);
    assert_int_equal(key_read(PRIVATE, &key, &err), OWED_OK);
    assert_true(key_sign(&key, published.id, AT, STR("{\"test\": 2432232314}"), &signatures));
    assert_int_equal(strncmp(buf_text(&signatures), "v1a,", 4), 0);
    owed_webhook other = published;
    other.signature = buf_text(&signatures);
    assert_int_equal(verify(&other, PUBLIC, NOW_US, &err), OWED_OK);
    assert_int_equal(verify(&other, SECRET, NOW_US, &err), OWED_INVALID);
    other.id = "msg";
    assert_int_equal(verify(&other, PUBLIC, NOW_US, &err), OWED_INVALID);
}

static void
a_secret_that_is_made_can_be_read_and_is_never_the_same(void **state)
{
    (void)state;
    for (int signing = OWED_SIGNING_V1; signing <= OWED_SIGNING_V1A; signing++) {
        struct key key;
        CLEANUP(buf_done) struct buf one;
        CLEANUP(buf_done) struct buf two;
        buf_init(&one, 200);
        buf_init(&two, 200);
        assert_true(key_make((owed_signing)signing, &dice_system, &one));
        assert_true(key_make((owed_signing)signing, &dice_system, &two));
        assert_string_not_equal(buf_text(&one), buf_text(&two));
        assert_int_equal(key_read(buf_text(&one), &key, NULL), OWED_OK);
    }
}

static void
a_filter_compares_what_is_said_and_not_how(void **state)
{
    (void)state;
    static const struct {
        const char *filter, *payload;
        bool wants;
    } cases[] = {{"", "{}", true}, {"{}", "7", true}, {"{\"/a\":1}", "{\"a\":1.0}", true},
        {"{\"/a\":\"\\u0078\"}", "{\"a\":\"x\"}", true},
        {"{\"/a/0\":true}", "{\"a\":[true]}", true}, {"{\"/a\":[1,2]}", "{\"a\":2}", true},
        {"{\"/a\":[1,2]}", "{\"a\":3}", false}, {"{\"/a\":[]}", "{\"a\":3}", false},
        {"{\"/a\":null}", "{}", false}, {"{\"/a\":null}", "{\"a\":null}", true},
        {"{\"/a\":1,\"/b\":1}", "{\"a\":1,\"b\":2}", false}, {"{\"/a\":\"1\"}", "{\"a\":1}", false},
        {"nonsense", "{}", false}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        CLEANUP(arena_done) struct arena arena;
        const char *pointer = "";
        arena_init(&arena, 0);
        check_case(filter_wants(cases[i].filter, str_of(cases[i].payload), &arena, &pointer) ==
                cases[i].wants,
            cases[i].filter);
    }
}

static void
names_and_fronts_of_names_can_be_subscribed_to(void **state)
{
    (void)state;
    static const char *const good[] = {"*", "shop.Paid", "shop.*", "a.b.*"};
    static const char *const bad[] = {
        "", "shop*", ".*", "*.Paid", "shop.*.Paid", "owed.Ping", "owed.*", "shop Paid", "**"};
    for (size_t i = 0; i < COUNT(good); i++)
        check_case(event_pattern_check(good[i], NULL) == OWED_OK, good[i]);
    for (size_t i = 0; i < COUNT(bad); i++)
        check_case(event_pattern_check(bad[i], NULL) == OWED_INVALID, bad[i]);
}

static void
a_window_grows_with_answers_and_shrinks_with_failures(void **state)
{
    (void)state;
    struct hosts hosts = {0};
    struct host *host = hosts_find(&hosts, "h.example:443", 0);
    assert_non_null(host);
    assert_ptr_equal(hosts_find(&hosts, "h.example:443", 0), host);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(host_ask(host, 0), 0);
        host_begin(host);
    }
    assert_int_equal(host_ask(host, 0), HOSTS_FULL);
    host_end(host, HOST_WELL, 4, 0);
    host_end(host, HOST_WELL, 4, 0);
    assert_int_equal(host->window, 4);
    host_begin(host);
    host_end(host, HOST_WELL, 4, 0);
    assert_int_equal(host->window, 4);
    host_begin(host);
    host_end(host, HOST_ILL, 4, 0);
    assert_int_equal(host->window, 2);
    host_begin(host);
    host_end(host, HOST_SILENT, 4, 0);
    assert_int_equal(host->window, 2);
    assert_int_equal(host->in_flight, 0);
    hosts_done(&hosts);
}

static void
a_host_that_fails_again_and_again_rests_for_longer_each_time(void **state)
{
    (void)state;
    struct hosts hosts = {0};
    struct host *host = hosts_find(&hosts, "h.example:443", 0);
    int64_t now_us = 0;
    for (int i = 0; i < HOSTS_BREAK_AFTER; i++) {
        assert_int_equal(host_ask(host, now_us), 0);
        host_begin(host);
        host_end(host, HOST_ILL, 20, now_us);
    }
    assert_int_equal(host_ask(host, now_us), HOSTS_REST_US);
    for (int64_t rest_us = HOSTS_REST_US * 2; rest_us < HOSTS_LONGEST_REST_US; rest_us *= 2) {
        now_us = host->not_before_us;
        assert_int_equal(host_ask(host, now_us - 1), 1);
        assert_int_equal(host_ask(host, now_us), 0);
        host_begin(host);
        // One alone is tried.
        assert_int_equal(host_ask(host, now_us), HOSTS_FULL);
        host_end(host, HOST_ILL, 20, now_us);
        assert_int_equal(host_ask(host, now_us), rest_us);
    }
    host_begin(host);
    host_end(host, HOST_WELL, 20, now_us);
    host->not_before_us = 0;
    assert_int_equal(host->failures, 0);
    host_wait_until(host, now_us + 7);
    host_wait_until(host, now_us + 3);
    assert_int_equal(host_ask(host, now_us), 7);
    host_wait_asked(host, 9, now_us);
    assert_int_equal(host_ask(host, now_us), 9);
    host_wait_asked(host, HOSTS_LONGEST_WAIT_US * 400, now_us);
    assert_int_equal(host_ask(host, now_us), HOSTS_LONGEST_WAIT_US);
    hosts_done(&hosts);
}

static void
an_error_behind_one_url_is_nothing_against_its_host(void **state)
{
    (void)state;
    static const struct {
        int32_t code;
        enum host_word word;
    } cases[] = {{200, HOST_WELL}, {404, HOST_WELL}, {410, HOST_WELL}, {429, HOST_ILL},
        {500, HOST_SILENT}, {501, HOST_SILENT}, {502, HOST_ILL}, {503, HOST_ILL}, {504, HOST_ILL},
        {507, HOST_SILENT}};
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(host_word_of(true, cases[i].code), cases[i].word);
    assert_int_equal(host_word_of(false, 0), HOST_ILL);
}

static void
a_host_that_cannot_be_looked_up_rests_as_one_that_does_not_answer(void **state)
{
    (void)state;
    struct hosts hosts = {0};
    struct host *host = hosts_find(&hosts, "h.example:443", 0);
    for (int i = 1; i < HOSTS_BREAK_AFTER; i++) {
        host_miss(host, 0);
        assert_int_equal(host_ask(host, 0), 0);
    }
    host_miss(host, 0);
    assert_int_equal(host_ask(host, 0), HOSTS_REST_US);
    hosts_done(&hosts);
}

/* A name server that answers for one name alone until it is let go. */
struct silence {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int asked; // for others
    bool is_over;
};

static owed_status
silent(const char *host, void *state, owed_address_list *list, owed_error *err)
{
    struct silence *silence = state;
    pthread_mutex_lock(&silence->lock);
    bool is_known = strcmp(host, "known.example") == 0;
    silence->asked += !is_known;
    pthread_cond_broadcast(&silence->changed);
    while (!silence->is_over && !is_known)
        pthread_cond_wait(&silence->changed, &silence->lock);
    pthread_mutex_unlock(&silence->lock);
    return owed_address_add(list, "192.0.2.1", err);
}

static void
look_up(struct lookups *lookups, struct silence *silence, const char *host, bool is_doubtful)
{
    struct lookup *lookup = calloc(1, sizeof *lookup);
    lookup->guard = (struct guard){.resolve = silent, .resolve_state = silence};
    snprintf(lookup->place.host, sizeof lookup->place.host, "%s", host);
    lookup->is_doubtful = is_doubtful;
    assert_true(lookups_start(lookups, lookup));
}

/* take_some frees what has ended, waiting for something that does, and writes the first one's host. */
static size_t
take_some(struct lookups *lookups, char host[static GUARD_HOST_BYTES])
{
    struct pollfd ended = {.fd = lookups->ended_fd, .events = POLLIN};
    size_t count = 0;
    assert_int_equal(poll(&ended, 1, 20000), 1);
    for (struct lookup *l = lookups_take(lookups), *next = NULL; l != NULL; l = next) {
        next = l->next;
        if (count++ == 0)
            snprintf(host, GUARD_HOST_BYTES, "%s", l->place.host);
        free(l);
    }
    return count;
}

static void
names_that_nobody_answers_for_do_not_hold_up_those_that_were_found_before(void **state)
{
    (void)state;
    enum { DEAD = 2 * LOOKUP_THREADS };
    struct silence silence = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, false};
    struct lookups lookups;
    char host[GUARD_HOST_BYTES];
    owed_error err = {0};
    assert_int_equal(lookups_open(&lookups, &err), OWED_OK);
    for (int i = 0; i < DEAD; i++)
        look_up(&lookups, &silence, "dead.example", true);
    pthread_mutex_lock(&silence.lock);
    while (silence.asked < LOOKUP_THREADS - LOOKUP_KEPT)
        pthread_cond_wait(&silence.changed, &silence.lock);
    pthread_mutex_unlock(&silence.lock);
    for (int i = 0; i < LOOKUP_THREADS; i++) {
        look_up(&lookups, &silence, "known.example", false);
        assert_int_equal(take_some(&lookups, host), 1);
        assert_string_equal(host, "known.example");
    }
    pthread_mutex_lock(&silence.lock);
    assert_int_equal(silence.asked, LOOKUP_THREADS - LOOKUP_KEPT);
    silence.is_over = true;
    pthread_cond_broadcast(&silence.changed);
    pthread_mutex_unlock(&silence.lock);
    for (size_t count = 0; count < DEAD;)
        count += take_some(&lookups, host);
    lookups_close(&lookups);
}

static void
a_rate_lets_a_seconds_worth_go_and_then_one_at_a_time(void **state)
{
    (void)state;
    struct rate rate = {0};
    int64_t now_us = 1000 * US_PER_SECOND;
    assert_int_equal(rate_take(&rate, 0, now_us), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(rate_take(&rate, 4, now_us), 0);
    assert_int_equal(rate_take(&rate, 4, now_us), US_PER_SECOND / 4);
    assert_int_equal(rate_take(&rate, 4, now_us), US_PER_SECOND / 2);
    assert_int_equal(rate_take(&rate, 4, now_us + US_PER_SECOND), 0);
    assert_int_equal(rate_take(&rate, 4, now_us + 9 * US_PER_SECOND), 0);
}

static void
those_that_wait_for_a_rate_come_when_they_were_told_to_and_all_go(void **state)
{
    (void)state;
    enum { WAITING = 40 };
    struct rate rate = {0};
    int64_t at_us[WAITING] = {0};
    int64_t now_us = 1000 * US_PER_SECOND;
    int32_t gone = 0;
    for (size_t i = 0; i < WAITING; i++)
        at_us[i] = now_us;
    for (int64_t end_us = now_us + 10 * US_PER_SECOND; now_us < end_us; now_us += US_PER_MS)
        for (size_t i = 0; i < WAITING; i++) {
            if (at_us[i] > now_us)
                continue;
            int64_t wait_us = rate_take(&rate, 4, now_us);
            at_us[i] = wait_us == 0 ? INT64_MAX : now_us + wait_us;
            gone += wait_us == 0;
        }
    assert_int_equal(gone, WAITING);
}

static void
a_host_that_is_in_use_is_not_forgotten_for_the_sake_of_others(void **state)
{
    (void)state;
    struct hosts hosts = {0};
    char name[32];
    struct host *used = hosts_find(&hosts, "a.example:443", 0);
    struct host *resting = hosts_find(&hosts, "b.example:443", 0);
    host_wait_until(resting, 7);
    host_leave(resting);
    for (int i = 0; i < HOSTS_MAX + 200; i++) {
        snprintf(name, sizeof name, "h%d.example:443", i);
        host_leave(hosts_find(&hosts, name, 0));
    }
    assert_true(hosts.count <= HOSTS_MAX);
    assert_ptr_equal(hosts_find(&hosts, "a.example:443", 0), used);
    assert_ptr_equal(hosts_find(&hosts, "b.example:443", 0), resting);
    hosts_done(&hosts);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_published_example_is_verified_and_nothing_else_about_it),
        cmocka_unit_test(a_timestamp_is_within_the_tolerance_on_both_sides),
        cmocka_unit_test(any_of_several_signatures_and_secrets_is_enough),
        cmocka_unit_test(what_a_private_key_signs_its_public_key_verifies),
        cmocka_unit_test(a_secret_that_is_made_can_be_read_and_is_never_the_same),
        cmocka_unit_test(a_filter_compares_what_is_said_and_not_how),
        cmocka_unit_test(names_and_fronts_of_names_can_be_subscribed_to),
        cmocka_unit_test(a_window_grows_with_answers_and_shrinks_with_failures),
        cmocka_unit_test(a_host_that_fails_again_and_again_rests_for_longer_each_time),
        cmocka_unit_test(an_error_behind_one_url_is_nothing_against_its_host),
        cmocka_unit_test(a_host_that_cannot_be_looked_up_rests_as_one_that_does_not_answer),
        cmocka_unit_test(names_that_nobody_answers_for_do_not_hold_up_those_that_were_found_before),
        cmocka_unit_test(a_rate_lets_a_seconds_worth_go_and_then_one_at_a_time),
        cmocka_unit_test(those_that_wait_for_a_rate_come_when_they_were_told_to_and_all_go),
        cmocka_unit_test(a_host_that_is_in_use_is_not_forgotten_for_the_sake_of_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
