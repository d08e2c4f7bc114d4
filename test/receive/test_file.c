/* SPDX-License-Identifier: MIT
 *
 * test_file.c - lines appended to files, whole or not at all.
 */
#include "attempt.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"
#include "base/limits.h"

static owed_outcome
append(struct attempt *attempt)
{
    struct outside *outside = outside_new();
    fly(outside, attempt);
    outside_builtin.close(outside);
    return attempt->flight.outcome;
}

static void
a_delivery_is_one_line_of_json(void **state)
{
    (void)state;
    char *folder = folder_new();
    char path[256];
    struct attempt attempt;
    attempt_init(&attempt, RUN_FILE, path_in(folder, "log", path),
        STR("{\"big\": 12345678901234567890,\n\t\"a\":\"\\n\",\r\n \"a\":1e400}"));
    assert_int_equal(append(&attempt).verdict, OWED_VERDICT_DONE);
    attempt.flight.delivery.attempt = 2;
    attempt.row.event_name = "odd\"\xff\nname";
    assert_int_equal(append(&attempt).verdict, OWED_VERDICT_DONE);
    size_t len;
    char *text = slurp(path, &len);
    assert_string_equal(text,
        "{\"delivery\":41,\"event_id\":7,\"event\":\"shop.OrderPlaced\",\"receiver\":\"shop.billing\","
        "\"attempt\":1,\"idempotency_key\":\"" ATTEMPT_KEY "\","
        "\"payload\":{\"big\": 12345678901234567890, \t\"a\":\"\\n\",   \"a\":1e400}}\n"
        "{\"delivery\":41,\"event_id\":7,\"event\":\"odd\\\"? name\",\"receiver\":\"shop.billing\","
        "\"attempt\":2,\"idempotency_key\":\"" ATTEMPT_KEY "\","
        "\"payload\":{\"big\": 12345678901234567890, \t\"a\":\"\\n\",   \"a\":1e400}}\n");
    free(text);
    folder_free(folder);
}

#define LINES 300

/* Another process, with its own loop. */
static pid_t
append_in_child(const char *path, struct str payload)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    struct attempt attempt;
    attempt_init(&attempt, RUN_FILE, path, payload);
    struct outside *outside = outside_new();
    int bad = 0;
    for (int i = 0; i < LINES; i++) {
        fly(outside, &attempt);
        bad |= attempt.flight.outcome.verdict != OWED_VERDICT_DONE;
    }
    outside_builtin.close(outside);
    _exit(bad);
}

static void
lines_of_several_processes_never_mix(void **state)
{
    (void)state;
    char *folder = folder_new();
    char path[256];
    path_in(folder, "log", path);
    char *payload = large_payload(20000);
    pid_t pids[3];
    for (int i = 0; i < 3; i++)
        pids[i] = append_in_child(path, (struct str){payload, 20000});
    for (int i = 0; i < 3; i++) {
        int status;
        waitpid(pids[i], &status, 0);
        assert_int_equal(status, 0);
    }
    size_t len, lines = 0;
    char *text = slurp(path, &len);
    for (char *line = text; line < text + len; lines++) {
        char *end = memchr(line, '\n', (size_t)(text + len - line));
        assert_non_null(end);
        struct str view = {line, (size_t)(end - line)};
        owed_error err;
        if (json_check(view, LIMIT_PAYLOAD_DEPTH, &err) != OWED_OK)
            fail_msg("line %zu of %zu bytes: %s", lines, view.len, err.text);
        line = end + 1;
    }
    assert_int_equal(lines, 3 * LINES);
    free(text);
    free(payload);
    folder_free(folder);
}

static void
a_full_disk_is_a_failure_that_says_so(void **state)
{
    (void)state;
    struct attempt attempt;
    attempt_init(&attempt, RUN_FILE, "/dev/full", STR("1"));
    assert_int_equal(append(&attempt).verdict, OWED_VERDICT_FAILED);
    assert_has(attempt.text, "file /dev/full: 0 of ");
    assert_has(attempt.text, "No space left on device");
}

static void
what_cannot_be_opened_is_a_failure_that_says_why(void **state)
{
    (void)state;
    char *folder = folder_new();
    char path[256];
    struct attempt attempt;
    attempt_init(&attempt, RUN_FILE, "/nonexistent/log", STR("1"));
    assert_int_equal(append(&attempt).verdict, OWED_VERDICT_FAILED);
    assert_has(attempt.text, "file /nonexistent/log: cannot be opened: No such file or directory");
    attempt_init(&attempt, RUN_FILE, folder, STR("1"));
    assert_int_equal(append(&attempt).verdict, OWED_VERDICT_FAILED);
    assert_has(attempt.text, "Is a directory");
    assert_int_equal(mkfifo(path_in(folder, "fifo", path), 0600), 0);
    attempt_init(&attempt, RUN_FILE, path, STR("1"));
    assert_int_equal(append(&attempt).verdict, OWED_VERDICT_FAILED);
    assert_has(attempt.text, "is a pipe");
    folder_free(folder);
}

static void
a_line_that_was_cut_short_spoils_only_itself(void **state)
{
    (void)state;
    char *folder = folder_new();
    char path[256];
    struct attempt attempt;
    attempt_init(
        &attempt, RUN_FILE, file_in(folder, "log", "{\"delivery\":40,\"ev", path), STR("1"));
    assert_int_equal(append(&attempt).verdict, OWED_VERDICT_DONE);
    size_t len;
    char *text = slurp(path, &len);
    assert_has(text, "{\"delivery\":40,\"ev\n{\"delivery\":41,");
    free(text);
    folder_free(folder);
}

static void
a_lock_of_a_stranger_is_not_waited_for(void **state)
{
    (void)state;
    char *folder = folder_new();
    char path[256];
    int fd = open(path_in(folder, "log", path), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    assert_int_equal(flock(fd, LOCK_EX), 0);
    assert_int_equal(fcntl(fd, F_OFD_SETLK, &lock), 0);
    struct attempt attempt;
    attempt_init(&attempt, RUN_FILE, path, STR("1"));
    assert_int_equal(append(&attempt).verdict, OWED_VERDICT_DONE);
    close(fd);
    assert_int_equal(append(&attempt).verdict, OWED_VERDICT_DONE);
    folder_free(folder);
}

static void
a_payload_that_is_not_json_is_permanent(void **state)
{
    (void)state;
    char *folder = folder_new();
    char path[256];
    struct attempt attempt;
    attempt_init(&attempt, RUN_FILE, path_in(folder, "log", path), STR("{\"a\":1}\n{\"b\":2}"));
    assert_int_equal(append(&attempt).verdict, OWED_VERDICT_PERMANENT);
    assert_has(attempt.text, "the payload is not JSON");
    folder_free(folder);
}

static void
a_file_that_was_moved_away_is_begun_anew(void **state)
{
    (void)state;
    char *folder = folder_new();
    char path[256], moved[256];
    struct attempt attempt;
    attempt_init(&attempt, RUN_FILE, path_in(folder, "log", path), STR("1"));
    struct outside *outside = outside_new();
    fly(outside, &attempt);
    assert_int_equal(rename(path, path_in(folder, "log.1", moved)), 0);
    fly(outside, &attempt);
    struct stat old, new;
    assert_int_equal(stat(moved, &old), 0);
    assert_int_equal(stat(path, &new), 0);
    assert_int_equal(old.st_size, new.st_size);
    outside_builtin.close(outside);
    folder_free(folder);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_delivery_is_one_line_of_json),
        cmocka_unit_test(lines_of_several_processes_never_mix),
        cmocka_unit_test(a_full_disk_is_a_failure_that_says_so),
        cmocka_unit_test(what_cannot_be_opened_is_a_failure_that_says_why),
        cmocka_unit_test(a_line_that_was_cut_short_spoils_only_itself),
        cmocka_unit_test(a_lock_of_a_stranger_is_not_waited_for),
        cmocka_unit_test(a_payload_that_is_not_json_is_permanent),
        cmocka_unit_test(a_file_that_was_moved_away_is_begun_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
