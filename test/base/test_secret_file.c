/* SPDX-License-Identifier: MIT
 *
 * test_secret_file.c - what a file that holds a secret may be, and may hold.
 */
#include "../unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/secret_file.h"

static void
is_refused(const char *path, const char *why)
{
    char *secret = NULL;
    owed_error err = {0};
    assert_int_equal(secret_file_read(path, &secret, &err), OWED_CONFIG);
    assert_null(secret);
    check_case(strstr(err.text, why) != NULL, err.text);
    check_case(strstr(err.text, "hunter2") == NULL, err.text);
}

static void
a_secret_is_one_line_without_control_characters(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t len;
        const char *secret; // NULL: refused
    } cases[] = {
#define CASE(text_, secret_) {text_, sizeof(text_) - 1, secret_}
        CASE("hunter2", "hunter2"),
        CASE("hunter2\n", "hunter2"),
        CASE("hunter2 \t\r\n\n", "hunter2"),
        CASE(" hunt er2\n", " hunt er2"),
        CASE("hunter\xe9\n", "hunter\xe9"),
        CASE("", NULL),
        CASE("\r\n", NULL),
        CASE("hunter2\nhunter2\n", NULL),
        CASE("hunter2\rhunter2\n", NULL),
        CASE("hunter2\0\n", NULL),
        CASE("hunter2\thunter2\n", NULL),
        CASE("hunter2\x1b[31m\n", NULL),
        CASE("hunter2\x7f", NULL),
    };
    char path[] = "/tmp/owed-secret-XXXXXX";
    int fd = mkstemp(path);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *secret = NULL;
        assert_int_equal(ftruncate(fd, 0), 0);
        assert_int_equal(pwrite(fd, cases[i].text, cases[i].len, 0), cases[i].len);
        if (cases[i].secret == NULL) {
            is_refused(path, "holds no secret: one line");
            continue;
        }
        assert_int_equal(secret_file_read(path, &secret, NULL), OWED_OK);
        assert_string_equal(secret, cases[i].secret);
        secret_free(secret);
    }
    assert_int_equal(ftruncate(fd, 1 << 20), 0);
    is_refused(path, "holds no secret: one line of up to 4096 bytes");
    close(fd);
    unlink(path);
}

static void
what_is_no_plain_file_is_refused_and_not_waited_for(void **state)
{
    (void)state;
    char folder[] = "/tmp/owed-secret-XXXXXX";
    char pipe[64];
    char loop[64];
    assert_non_null(mkdtemp(folder));
    snprintf(pipe, sizeof pipe, "%s/pipe", folder);
    snprintf(loop, sizeof loop, "%s/loop", folder);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_int_equal(symlink("loop", loop), 0);
    alarm(10);
    is_refused(pipe, "is no plain file");
    alarm(0);
    is_refused(folder, "is no plain file");
    is_refused("/dev/null", "is no plain file");
    is_refused(loop, "cannot be read: Too many levels of symbolic links");
    unlink(pipe);
    is_refused(pipe, "cannot be read: No such file or directory");
    unlink(loop);
    rmdir(folder);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_secret_is_one_line_without_control_characters),
        cmocka_unit_test(what_is_no_plain_file_is_refused_and_not_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
