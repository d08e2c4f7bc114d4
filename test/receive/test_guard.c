/* SPDX-License-Identifier: MIT
 *
 * test_guard.c - where a stranger's URL may not lead.
 */
#include "../unit.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "receive/guard.h"
#include "receive/redirect.h"

static const struct networks nothing;

static const char *
problem_of(const char *text, struct networks allowed)
{
    struct address address;
    check_case(address_read(text, &address), text);
    return address_problem(&address, allowed);
}

static void
every_special_range_is_refused_at_both_of_its_ends(void **state)
{
    (void)state;
    static const char *const cases[][2] = {{"0.0.0.0", "unspecified"},
        {"0.255.255.255", "reserved"}, {"10.0.0.0", "private"}, {"10.255.255.255", "private"},
        {"100.64.0.0", "share"}, {"100.127.255.255", "share"}, {"127.0.0.0", "loopback"},
        {"127.255.255.255", "loopback"}, {"169.254.0.0", "link-local"},
        {"169.254.255.255", "link-local"}, {"169.254.169.254", "metadata"},
        {"169.254.170.2", "metadata"}, {"168.63.129.16", "metadata"},
        {"100.100.100.200", "metadata"}, {"192.0.0.192", "metadata"}, {"172.16.0.0", "private"},
        {"172.31.255.255", "private"}, {"192.0.0.0", "reserved"}, {"192.0.2.255", "reserved"},
        {"192.88.99.1", "reserved"}, {"192.168.0.0", "private"}, {"192.168.255.255", "private"},
        {"198.18.0.0", "reserved"}, {"198.19.255.255", "reserved"}, {"198.51.100.1", "reserved"},
        {"203.0.113.9", "reserved"}, {"224.0.0.0", "multicast"}, {"239.255.255.255", "multicast"},
        {"240.0.0.0", "reserved"}, {"255.255.255.254", "reserved"},
        {"255.255.255.255", "broadcast"}, {"::", "unspecified"}, {"::1", "loopback"},
        {"fd00:ec2::254", "metadata"}, {"fd20:ce::254", "metadata"}, {"fc00::", "private"},
        {"fdff::1", "private"}, {"fe80::1", "link-local"}, {"febf::1", "link-local"},
        {"fec0::1", "private"}, {"ff02::1", "multicast"}, {"2001:2::1", "reserved"},
        {"2001:1ff:ffff::1", "reserved"}, {"2001:db8::1", "reserved"}, {"3fff:fff::1", "reserved"},
        {"100::1", "reserved"}, {"5f00::1", "reserved"}, {"4000::1", "reserved"},
        {"1fff::1", "reserved"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *problem = problem_of(cases[i][0], nothing);
        check_case(problem != NULL && strstr(problem, cases[i][1]) != NULL, cases[i][0]);
    }
}

static void
an_address_just_outside_of_a_range_is_fine(void **state)
{
    (void)state;
    static const char *const cases[] = {"1.0.0.0", "9.255.255.255", "11.0.0.0", "100.63.255.255",
        "100.128.0.0", "126.255.255.255", "128.0.0.0", "169.253.255.255", "169.255.0.0",
        "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.0.3.0", "192.167.255.255", "192.169.0.0",
        "198.17.255.255", "198.20.0.0", "223.255.255.255", "8.8.8.8", "168.63.129.15",
        "2001:200::1", "2001:db9::1", "2606:4700::1111", "3ffe::1", "3fff:1000::1", "2000::1"};
    for (size_t i = 0; i < COUNT(cases); i++)
        check_case(problem_of(cases[i], nothing) == NULL, cases[i]);
}

static void
ipv4_wrapped_in_ipv6_is_judged_by_what_is_inside(void **state)
{
    (void)state;
    static const char *const cases[][2] = {{"::ffff:127.0.0.1", "loopback"},
        {"::ffff:a9fe:a9fe", "metadata"}, {"::127.0.0.1", "loopback"}, {"::10.0.0.1", "private"},
        {"::ffff:0:127.0.0.1", "loopback"}, {"64:ff9b::169.254.169.254", "metadata"},
        {"64:ff9b::10.1.2.3", "private"}, {"64:ff9b:1::192.168.0.1", "private"},
        {"64:ff9b:1::8.8.8.8", "reserved"}, {"2002:7f00:1::1", "loopback"},
        {"2002:c0a8:101::", "private"}, {"2001:0:7f00:1::", "loopback"},
        // Teredo keeps its client with all bits turned: 10.0.0.1 here.
        {"2001:0:808:808:0:0:f5ff:fffe", "private"}, {"2606:4700::5efe:127.0.0.1", "loopback"},
        {"2606:4700::200:5efe:10.0.0.1", "private"}, {"::8.8.8.8", "reserved"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *problem = problem_of(cases[i][0], nothing);
        check_case(problem != NULL && strstr(problem, cases[i][1]) != NULL, cases[i][0]);
    }
    static const char *const fine[] = {"::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1",
        "2001:0:808:808:0:0:f7f7:f7f7", "2606:4700::5efe:8.8.8.8"};
    for (size_t i = 0; i < COUNT(fine); i++)
        check_case(problem_of(fine[i], nothing) == NULL, fine[i]);
}

static struct networks
allowing(const char *text, struct network *space)
{
    assert_int_equal(network_read(text, space, NULL), OWED_OK);
    return (struct networks){space, 1};
}

static void
a_network_that_is_allowed_is_allowed_and_no_other(void **state)
{
    (void)state;
    struct network space;
    assert_null(problem_of("127.0.0.1", allowing("127.0.0.0/8", &space)));
    assert_null(problem_of("::ffff:127.0.0.1", allowing("127.0.0.0/8", &space)));
    assert_null(problem_of("64:ff9b::10.0.0.1", allowing("10.0.0.0/8", &space)));
    assert_null(problem_of("fd00::1", allowing("fd00::/8", &space)));
    assert_null(problem_of("fd00::1", allowing("fd00::1", &space)));
    assert_non_null(problem_of("128.0.0.1", (struct networks){0}) == NULL
            ? problem_of("10.0.0.1", allowing("127.0.0.0/8", &space))
            : NULL);
    assert_non_null(problem_of("10.64.0.0", allowing("10.0.0.0/10", &space)));
    assert_null(problem_of("10.63.255.255", allowing("10.0.0.0/10", &space)));
    assert_non_null(problem_of("127.0.0.1", allowing("::/0", &space)));
}

static void
a_metadata_service_is_allowed_only_by_its_very_address(void **state)
{
    (void)state;
    struct network space;
    assert_non_null(problem_of("169.254.169.254", allowing("0.0.0.0/0", &space)));
    assert_non_null(problem_of("169.254.169.254", allowing("169.254.0.0/16", &space)));
    assert_null(problem_of("169.254.169.254", allowing("169.254.169.254/32", &space)));
    assert_null(problem_of("169.254.1.1", allowing("169.254.0.0/16", &space)));
}

static void
what_is_no_network_is_refused(void **state)
{
    (void)state;
    static const char *const cases[] = {"", "10", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/8x",
        "10.0.0.0/-1", "10.0.0.0/+8", "fd00::/129", "fd00::/8/8", "localhost", "10.0.0.0 /8",
        "010.0.0.0/8", "1111111111111111111111111111111111111111111111111111111111"};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct network network;
        owed_error err = {0};
        check_case(network_read(cases[i], &network, &err) == OWED_CONFIG, cases[i]);
        check_case(strlen(err.text) > 20, cases[i]);
    }
}

static void
a_url_that_hides_something_is_refused_and_says_what(void **state)
{
    (void)state;
    char *tail = malloc(GUARD_URL_BYTES + 1);
    assert_non_null(tail);
    memset(tail, 'a', GUARD_URL_BYTES);
    tail[GUARD_URL_BYTES] = '\0';
    char longer[GUARD_URL_BYTES + 40];
    snprintf(longer, sizeof longer, "https://h.example/%s", tail);
    free(tail);
    const char *const cases[][2] = {{"", "no URL"}, {"ftp://h.example/", "neither http"},
        {"file:///etc/passwd", "neither http"}, {"gopher://h.example/", "neither http"},
        {"//h.example/", "neither http"}, {"h.example", "neither http"},
        {"https://user@h.example/", "user"}, {"https://u:p@h.example/", "user"},
        {"https://h.example@10.0.0.1/", "user"}, {"https:///path", "no host"},
        {"https://h.example:0/", "port"}, {"https://h.example:65536/", "port"},
        {"https://h.example:22/", "another service"}, {"https://h.example:25/", "another service"},
        {"http://h.example/a b", "byte"}, {"http://h.example/\r\nx: y", "byte"},
        {"http://h.example/\t", "byte"}, {"http://h.example\\@10.0.0.1/", "byte"},
        {"http://[fe80::1%25eth0]/", "host"}, {"http://[::1/", "host"},
        {longer, "longer than 2000"}, {"http://\xff\xfe/", "byte"},
        {"http://a b.example/", "byte"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct place place;
        owed_error err = {0};
        check_case(guard_read(cases[i][0], &place, &err) == OWED_INVALID, cases[i][0]);
        check_case(strstr(err.text, cases[i][1]) != NULL, err.text);
    }
}

static void
a_url_is_read_as_libcurl_reads_it(void **state)
{
    (void)state;
    static const struct {
        const char *url, *host;
        int port;
        bool is_tls;
    } cases[] = {{"https://Hooks.example/x?y=1", "hooks.example", 443, true},
        {"http://hooks.example.", "hooks.example", 80, false},
        {"HTTPS://hooks.example:8443/", "hooks.example", 8443, true},
        {"http://[2001:DB8::1]:8080/", "2001:db8::1", 8080, false},
        {"http://2130706433/", "127.0.0.1", 80, false}, {"http://0x7f.1/", "127.0.0.1", 80, false},
        {"http://0177.0.0.1/", "127.0.0.1", 80, false},
        {"http://h%2eexample/", "h.example", 80, false},
        {"https://b\xc3\xbc"
         "cher.example/",
            "xn--bcher-kva.example", 443, true},
        // Full-width digits are digits to who maps a name.
        {"http://\xef\xbc\x91\xef\xbc\x92\xef\xbc\x97.0.0.1/", "127.0.0.1", 80, false}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct place place;
        owed_error err = {0};
        check_case(guard_read(cases[i].url, &place, &err) == OWED_OK, err.text);
        check_case(strcasecmp(place.host, cases[i].host) == 0, place.host);
        check_case(place.port == cases[i].port, cases[i].url);
        check_case(place.is_tls == cases[i].is_tls, cases[i].url);
    }
}

struct answers {
    const char *const *addresses; // NULL-ended
    int asked;
};

static owed_status
answer(const char *host, void *state, owed_address_list *list, owed_error *err)
{
    (void)host;
    struct answers *answers = state;
    answers->asked++;
    for (const char *const *a = answers->addresses; *a != NULL; a++)
        if (owed_address_add(list, *a, err) != OWED_OK)
            return OWED_INVALID;
    return OWED_OK;
}

static owed_status
resolve(const char *url, const char *const *addresses, owed_address_list *list, owed_error *err)
{
    struct answers answers = {addresses, 0};
    struct guard guard = {.resolve = answer, .resolve_state = &answers};
    struct place place;
    assert_int_equal(guard_read(url, &place, err), OWED_OK);
    return guard_resolve(&guard, &place, list, err);
}

static void
one_bad_address_among_good_ones_refuses_the_host(void **state)
{
    (void)state;
    owed_address_list list;
    owed_error err = {0};
    assert_int_equal(resolve("https://h.example/",
                         (const char *const[]){"8.8.8.8", "2606:4700::1", NULL}, &list, &err),
        OWED_OK);
    assert_int_equal(list.count, 2);
    assert_int_equal(resolve("https://h.example/",
                         (const char *const[]){"8.8.8.8", "10.0.0.7", NULL}, &list, &err),
        OWED_INVALID);
    assert_non_null(strstr(err.text, "h.example is at 10.0.0.7, a private address"));
    assert_int_equal(
        resolve("https://h.example/", (const char *const[]){NULL}, &list, &err), OWED_UNAVAILABLE);
    assert_int_equal(
        resolve("https://h.example/", (const char *const[]){"nonsense", NULL}, &list, &err),
        OWED_UNAVAILABLE);
    assert_non_null(strstr(err.text, "nonsense"));
}

static void
an_address_in_the_url_is_asked_of_nobody_and_checked_all_the_same(void **state)
{
    (void)state;
    static const char *const urls[] = {"http://127.0.0.1/", "http://[::1]/", "http://2130706433/",
        "http://[::ffff:127.0.0.1]:8080/", "http://0x7f000001/", "http://127.1/"};
    for (size_t i = 0; i < COUNT(urls); i++) {
        owed_address_list list;
        owed_error err = {0};
        struct answers answers = {(const char *const[]){"8.8.8.8", NULL}, 0};
        struct guard guard = {.resolve = answer, .resolve_state = &answers};
        struct place place;
        check_case(guard_read(urls[i], &place, &err) == OWED_OK, err.text);
        check_case(guard_resolve(&guard, &place, &list, &err) == OWED_INVALID, urls[i]);
        check_case(strstr(err.text, "loopback") != NULL, err.text);
        check_case(answers.asked == 0, urls[i]);
    }
}

static void
the_pin_holds_what_was_checked(void **state)
{
    (void)state;
    owed_address_list list;
    owed_error err = {0};
    struct place place;
    CLEANUP(buf_done) struct buf text;
    buf_init(&text, 1000);
    assert_int_equal(guard_read("https://h.example:8443/", &place, &err), OWED_OK);
    assert_int_equal(resolve("https://h.example/",
                         (const char *const[]){"8.8.8.8", "2606:4700::1", NULL}, &list, &err),
        OWED_OK);
    guard_write_pin(&place, &list, &text);
    assert_string_equal(buf_text(&text), "h.example:8443:8.8.8.8,[2606:4700::1]");
}

static void
more_addresses_than_there_is_room_for_are_refused(void **state)
{
    (void)state;
    owed_address_list list = {.count = 0};
    owed_error err = {0};
    for (int i = 0; i < GUARD_ADDRESSES; i++)
        assert_int_equal(owed_address_add(&list, "8.8.8.8", &err), OWED_OK);
    assert_int_equal(owed_address_add(&list, "8.8.8.8", &err), OWED_LIMIT);
}

static void
a_redirect_keeps_its_host_and_never_loses_tls(void **state)
{
    (void)state;
    const struct place plain = {.host = "h.example", .port = 80};
    const struct place tls = {.host = "H.example", .port = 8443, .is_tls = true};
    const struct place other = {.host = "h.example.org", .port = 8443, .is_tls = true};
    assert_null(redirect_problem(&plain, &plain));
    assert_null(redirect_problem(&plain, &tls));
    assert_null(redirect_problem(&tls, &tls));
    assert_non_null(strstr(redirect_problem(&tls, &plain), "http after https"));
    assert_non_null(strstr(redirect_problem(&tls, &other), "another host"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_special_range_is_refused_at_both_of_its_ends),
        cmocka_unit_test(an_address_just_outside_of_a_range_is_fine),
        cmocka_unit_test(ipv4_wrapped_in_ipv6_is_judged_by_what_is_inside),
        cmocka_unit_test(a_network_that_is_allowed_is_allowed_and_no_other),
        cmocka_unit_test(a_metadata_service_is_allowed_only_by_its_very_address),
        cmocka_unit_test(what_is_no_network_is_refused),
        cmocka_unit_test(a_url_that_hides_something_is_refused_and_says_what),
        cmocka_unit_test(a_url_is_read_as_libcurl_reads_it),
        cmocka_unit_test(one_bad_address_among_good_ones_refuses_the_host),
        cmocka_unit_test(an_address_in_the_url_is_asked_of_nobody_and_checked_all_the_same),
        cmocka_unit_test(the_pin_holds_what_was_checked),
        cmocka_unit_test(more_addresses_than_there_is_room_for_are_refused),
        cmocka_unit_test(a_redirect_keeps_its_host_and_never_loses_tls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
