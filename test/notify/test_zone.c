/* SPDX-License-Identifier: MIT
 *
 * test_zone.c - zone files that are none, and the rules for years to come.
 */
#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/moment.h"
#include "notify/zone.h"

static int64_t
second_of(const char *text)
{
    int64_t at_us = 0;
    check_case(moment_read(text, &at_us), text);
    return at_us / 1000000;
}

static void
a_zone_shows_the_time_of_its_place(void **state)
{
    (void)state;
    struct zone zone;
    int64_t next;
    assert_int_equal(zone_load(ZONE_FOLDER, "Europe/Berlin", &zone, NULL), OWED_OK);
    assert_int_equal(zone_offset(&zone, second_of("2026-03-29T00:59:59Z"), &next), 3600);
    assert_int_equal(next, second_of("2026-03-29T01:00:00Z"));
    assert_int_equal(zone_offset(&zone, next, &next), 7200);
    assert_int_equal(next, second_of("2026-10-25T01:00:00Z"));
    assert_int_equal(zone_offset(&zone, second_of("2199-07-01T00:00:00Z"), NULL), 7200);
    zone_done(&zone);
    assert_int_equal(zone_load(ZONE_FOLDER, "UTC", &zone, NULL), OWED_OK);
    assert_int_equal(zone_offset(&zone, 0, &next), 0);
    assert_int_equal(next, INT64_MAX);
    zone_done(&zone);
}

static void
a_name_that_is_no_zone_is_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"", "/etc/passwd", "../zoneinfo/UTC", "Europe/", "Europe",
        "Europe/Atlantis", "Europe/Berlin ", "zone1970.tab", "UTC\n", "CET-1CEST,M3.5.0"};
    for (size_t i = 0; i < COUNT(names); i++) {
        struct zone zone;
        owed_error err = {0};
        check_case(zone_load(ZONE_FOLDER, names[i], &zone, &err) == OWED_INVALID, names[i]);
        check_case(strncmp(err.text, "time zone \"", 11) == 0, err.text);
    }
}

static void
a_file_cut_anywhere_or_with_any_byte_changed_does_no_harm(void **state)
{
    (void)state;
    char whole[8192], path[] = "/tmp/owed-zone-XXXXXX";
    FILE *from = fopen(ZONE_FOLDER "/America/New_York", "rb");
    assert_non_null(from);
    size_t len = fread(whole, 1, sizeof whole, from);
    fclose(from);
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    const char *name = strrchr(path, '/') + 1;
    size_t refused = 0;
    for (size_t i = 0; i < len; i++) {
        struct zone zone;
        whole[i] = (char)~whole[i];
        assert_int_equal(pwrite(fd, whole, len, 0), (ssize_t)len);
        if (zone_load("/tmp", name, &zone, NULL) == OWED_OK) {
            zone_offset(&zone, INT64_C(1796000000), NULL);
            zone_done(&zone);
        } else {
            refused++;
        }
        whole[i] = (char)~whole[i];
    }
    assert_true(refused > 44);
    assert_int_equal(pwrite(fd, whole, len, 0), (ssize_t)len);
    for (size_t cut = len; cut-- > 0;) {
        struct zone zone;
        assert_int_equal(ftruncate(fd, (off_t)cut), 0);
        assert_int_equal(zone_load("/tmp", name, &zone, NULL), OWED_INVALID);
    }
    close(fd);
    unlink(path);
}

static void
rules_are_read_as_posix_writes_them(void **state)
{
    (void)state;
    static const struct {
        const char *rule;
        const char *at;
        int32_t offset;
    } cases[] = {
        {"CET-1CEST,M3.5.0,M10.5.0/3", "2050-03-27T00:59:59Z", 3600},
        {"CET-1CEST,M3.5.0,M10.5.0/3", "2050-03-27T01:00:00Z", 7200},
        {"CET-1CEST,M3.5.0,M10.5.0/3", "2050-10-30T00:59:59Z", 7200},
        {"CET-1CEST,M3.5.0,M10.5.0/3", "2050-10-30T01:00:00Z", 3600},
        {"NZST-12NZDT,M9.5.0,M4.1.0/3", "2050-01-01T00:00:00Z", 46800},
        {"<-03>3", "2050-01-01T00:00:00Z", -10800},
        {"<+0545>-5:45", "2050-01-01T00:00:00Z", 20700},
        {"<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2050-03-27T01:00:00Z", -3600},
        {"<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2050-03-27T00:59:59Z", -7200},
        {"IST-2IDT,M3.4.4/26,M10.5.0", "2050-03-25T00:00:00Z", 10800},
        {"XXX0YYY,J60/0,J300/0", "2048-02-29T23:59:59Z", 0},
        {"XXX0YYY,J60/0,J300/0", "2048-03-01T00:00:00Z", 3600},
        {"XXX0YYY,59/0,300/0", "2048-02-29T00:00:00Z", 3600},
        {"EST5EDT,0/0,J365/25", "2049-07-01T00:00:00Z", -14400},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct zone zone = {0};
        check_case(rule_read(cases[i].rule, &zone), cases[i].rule);
        check_case(
            zone_offset(&zone, second_of(cases[i].at), NULL) == cases[i].offset, cases[i].rule);
    }
}

static void
what_is_no_rule_is_not_read(void **state)
{
    (void)state;
    static const char *const cases[] = {"", "C", "CET", "CET-", "CET-1CEST", "CET-168", "CET-1:60",
        "<+01-1", "<>-1", "CET-1CEST,M3.5.0", "CET-1CEST,M13.5.0,M10.5.0",
        "CET-1CEST,M3.6.0,M10.5.0", "CET-1CEST,M3.5.7,M10.5.0", "CET-1CEST,M3.5,M10.5.0",
        "CET-1CEST,J0,J365", "CET-1CEST,J366,J1", "CET-1CEST,366,1", "CET-1CEST,M3.5.0/,M10.5.0",
        "CET-1CEST,M3.5.0,M10.5.0 ", "CET-1CEST;M3.5.0;M10.5.0", "CET-1CEST,,"};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct zone zone = {0};
        check_case(!rule_read(cases[i], &zone), cases[i]);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_zone_shows_the_time_of_its_place),
        cmocka_unit_test(a_name_that_is_no_zone_is_refused),
        cmocka_unit_test(a_file_cut_anywhere_or_with_any_byte_changed_does_no_harm),
        cmocka_unit_test(rules_are_read_as_posix_writes_them),
        cmocka_unit_test(what_is_no_rule_is_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
