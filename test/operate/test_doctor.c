/* SPDX-License-Identifier: MIT
 *
 * test_doctor.c - what the doctor says, without a store: every check has its words, and every command can be
 * pasted.
 */
#include "../unit.h"

#include <string.h>

#include "operate/doctor.h"

#define NOW INT64_C(1796040000000000)

static const char *
path(struct db *db)
{
    (void)db;
    return "/srv/my shop.db";
}

struct desk {
    struct driver driver;
    struct db db;
    struct arena arena;
    struct doctor doctor;
};

static struct doctor *
desk(struct desk *desk, const char *scheme, const char *url)
{
    *desk = (struct desk){.driver = {.scheme = scheme, .path = path}};
    desk->db.driver = &desk->driver;
    arena_init(&desk->arena, 0);
    desk->doctor = (struct doctor){.db = &desk->db,
        .url = url,
        .words = "",
        .now_us = NOW,
        .host_now_us = NOW,
        .arena = &desk->arena};
    return &desk->doctor;
}

static const struct doctor_check *
check_of(const char *name)
{
    const struct doctor_check *check = doctor_checks;
    while (check->name != NULL && strcmp(check->name, name) != 0)
        check++;
    assert_non_null(check->name);
    return check;
}

static void
every_check_has_its_words_and_every_fact_in_them_is_known(void **state)
{
    (void)state;
    struct desk d;
    struct doctor *doctor = desk(&d, "sqlite", "sqlite:x");
    const struct trouble trouble = {
        .subject = "S", .detail = "D", .amount = 3, .other = NOW - 5000000};
    for (const struct doctor_check *check = doctor_checks; check->name != NULL; check++) {
        check_case(check->about != NULL && check->about[0] != '\0', check->name);
        check_case(check->look != NULL || check->stmt != 0, check->name);
        const char *sentence = doctor_sentence(doctor, check, &trouble);
        const char *command = doctor_command(doctor, check, &trouble);
        check_case(strpbrk(sentence, "{}") == NULL && sentence[0] != '\0', check->name);
        check_case(strpbrk(command, "{}") == NULL && command[0] != '\0', check->name);
        for (const struct doctor_check *other = check + 1; other->name != NULL; other++)
            check_case(strcmp(check->name, other->name) != 0, check->name);
    }
    arena_done(&d.arena);
}

static void
numbers_are_said_in_their_units(void **state)
{
    (void)state;
    static const struct {
        const char *sentence;
        int64_t amount;
        int64_t other;
        const char *said;
    } cases[] = {
        {"{most} of {amount}", 9999, 0, "9999 of 9999"},
        {"{most}", DOCTOR_MOST, 0, "at least 10000"},
        {"{bytes} {other-bytes}", 2048, INT64_C(3) * 1024 * 1024, "2 kB 3 MB"},
        {"{bytes}", INT64_C(3) * 1024 * 1024 * 1024 / 2, 0, "1.5 GB"},
        {"{for}", INT64_C(3600) * 1000000, 0, "1h"},
        {"{since}", 0, NOW - INT64_C(90) * 1000000, "1m30s"},
        {"{since}", 0, NOW + 5, "0s"}, // a relay's clock may be ahead
        {"{subject}{because} {", 0, 0, "a b: why {"},
    };
    struct desk d;
    struct doctor *doctor = desk(&d, "sqlite", "sqlite:x");
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct doctor_check check = {.sentence = cases[i].sentence};
        struct trouble trouble = {"a b", "why", cases[i].amount, cases[i].other};
        const char *said = doctor_sentence(doctor, &check, &trouble);
        check_case(strcmp(said, cases[i].said) == 0, said);
    }
    arena_done(&d.arena);
}

static void
a_command_is_ready_for_a_shell(void **state)
{
    (void)state;
    static const struct {
        const char *scheme;
        const char *url;
        const char *check;
        struct trouble trouble;
        const char *command;
    } cases[] = {
        {"sqlite", "sqlite:x", "dead", {"shop.a", "", 1, 1}, "owed requeue --receiver shop.a"},
        {"sqlite", "sqlite:x", "dead", {"a $b's", "", 1, 1},
            "owed requeue --receiver 'a $b'\\''s'"},
        {"sqlite", "sqlite:x", "dead", {"a b's", "", 1, 1}, "owed requeue --receiver \"a b's\""},
        {"sqlite", "sqlite:x", "dead", {"", "", 1, 1}, "owed requeue --receiver \"\""},
        {"sqlite", "sqlite:x", "no-event", {"r", "1 2 3", 3, 0}, "owed cancel 1 2 3"},
        {"sqlite", "sqlite:x", "write-ahead-log", {"f", "", 1, 0},
            "sqlite3 \"/srv/my shop.db\" \"pragma wal_checkpoint(truncate)\""},
        {"sqlite", "sqlite:x", "damaged-file", {"f", "", 1, 0},
            "sqlite3 \"/srv/my shop.db\" .dump | sed 's/^ROLLBACK.*/COMMIT;/' | sqlite3 \"/srv/my shop.db\".mended"},
        {"postgres",
            "postgres://u:p%40ss@h:5/d?sslmode=require&password=x&sslpassword=y&connect_timeout=3",
            "long-transaction", {"4711", "", 1, 0},
            "psql \"postgres://u@h:5/d?sslmode=require&connect_timeout=3\" -c \"select pg_terminate_backend(4711)\""},
        {"postgres", "postgres:///?password=x&service=shop", "autovacuum-off",
            {"autovacuum", "alter system set autovacuum = on", 0, 0},
            "psql \"postgres:///?service=shop\" -c \"alter system set autovacuum = on\" -c \"select pg_reload_conf()\""},
        {"postgres", "postgres://h/d", "missing-index",
            {"i", "create index i on t (x) where y <> ''", 0, 0},
            "psql postgres://h/d -c \"create index i on t (x) where y <> ''\""},
        {"mariadb", "mariadb://u:secret@h:3306/d", "long-transaction", {"12", "", 1, 0},
            "mariadb -u u -p -h h -P 3306 d -e \"kill 12\""},
        {"mariadb", "mariadb://u@/d?socket=%2Frun%2Fmy.sock&ssl-mode=off", "long-transaction",
            {"12", "", 1, 0}, "mariadb -u u -S /run/my.sock d -e \"kill 12\""},
        {"mysql", "mysql://h", "long-transaction", {"12", "", 1, 0}, "mysql -h h -e \"kill 12\""},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct desk d;
        struct doctor *doctor = desk(&d, cases[i].scheme, cases[i].url);
        const char *said = doctor_command(doctor, check_of(cases[i].check), &cases[i].trouble);
        if (strcmp(said, cases[i].command) != 0)
            print_error("%s\n%s\n", said, cases[i].command);
        assert_string_equal(said, cases[i].command);
        arena_done(&d.arena);
    }
}

static void
a_command_of_ours_is_followed_by_what_names_the_store_unless_it_names_one(void **state)
{
    (void)state;
    struct desk d;
    struct doctor *doctor = desk(&d, "postgres", "postgres://h/d");
    doctor->words = " -c my.conf";
    const struct trouble trouble = {"mail", "", 1, 1};
    assert_string_equal(doctor_command(doctor, check_of("unserved-lane"), &trouble),
        "owed relay --lane mail -c my.conf");
    assert_null(strstr(doctor_command(doctor, check_of("deaf"), &trouble), "my.conf"));
    arena_done(&d.arena);
}

static void
clocks_that_differ_are_told_with_which_is_ahead(void **state)
{
    (void)state;
    struct desk d;
    struct doctor *doctor = desk(&d, "postgres", "postgres://h/d");
    const struct doctor_check *check = check_of("clock-skew");
    static const struct {
        int64_t ahead_us;
        const char *said;
    } cases[] = {
        {0, NULL},
        {2000000, NULL},
        {-2000000, NULL},
        {2000001, "the clock of this machine is 2s ahead of that of the database"},
        {-60000000, "the clock of this machine is 1m behind that of the database"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct trouble *troubles = NULL;
        size_t count = 0;
        owed_error err;
        doctor->host_now_us = NOW + cases[i].ahead_us;
        assert_int_equal(look_clock(doctor, check, &troubles, &count, &err), OWED_OK);
        assert_int_equal(count, cases[i].said != NULL);
        if (count > 0)
            assert_string_equal(doctor_sentence(doctor, check, troubles), cases[i].said);
    }
    arena_done(&d.arena);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_check_has_its_words_and_every_fact_in_them_is_known),
        cmocka_unit_test(numbers_are_said_in_their_units),
        cmocka_unit_test(a_command_is_ready_for_a_shell),
        cmocka_unit_test(a_command_of_ours_is_followed_by_what_names_the_store_unless_it_names_one),
        cmocka_unit_test(clocks_that_differ_are_told_with_which_is_ahead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
