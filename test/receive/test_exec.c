/* SPDX-License-Identifier: MIT
 *
 * test_exec.c - programs: what they are given, what they say, and how they end.
 */
#include "attempt.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "receive/exec.h"

#define TRACE "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

/* A loop, a folder, and one attempt by a script in it. */
struct scene {
    struct outside *outside;
    char *folder;
    char path[256];
    struct attempt attempt;
};

static void
scene_open(struct scene *scene, const char *script)
{
    scene->outside = outside_new();
    scene->folder = folder_new();
    setenv("FOLDER", scene->folder, 1);
    file_in(scene->folder, "program", script, scene->path);
    // Nobody ever writes there: who reads it stays until it is killed.
    char path[256];
    assert_int_equal(mkfifo(path_in(scene->folder, "never", path), 0600), 0);
    attempt_init(&scene->attempt, RUN_EXEC, scene->path, STR("{\"n\":1}"));
}

static void
scene_close(struct scene *scene)
{
    outside_builtin.close(scene->outside);
    folder_free(scene->folder);
    // Whatever ran has been reaped.
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static owed_outcome
run(struct scene *scene, const char *payload)
{
    scene->attempt.row.payload = str_of(payload);
    scene->attempt.text[0] = '\0';
    fly(scene->outside, &scene->attempt);
    return scene->attempt.flight.outcome;
}

static void
each_exit_status_has_its_verdict(void **state)
{
    (void)state;
    static const struct {
        const char *status;
        owed_verdict verdict;
        const char *said;
    } exits[] = {
        {"0", OWED_VERDICT_DONE, ""},
        {"1", OWED_VERDICT_FAILED, ": exit status 1: out of paper"},
        {"63", OWED_VERDICT_FAILED, ": exit status 63: out of paper"},
        {"64", OWED_VERDICT_PERMANENT, ": exit status 64 (EX_USAGE): out of paper"},
        {"65", OWED_VERDICT_PERMANENT, "(EX_DATAERR)"},
        {"66", OWED_VERDICT_FAILED, "(EX_NOINPUT)"},
        {"67", OWED_VERDICT_PERMANENT, "(EX_NOUSER)"},
        {"69", OWED_VERDICT_PERMANENT, "(EX_UNAVAILABLE)"},
        {"75", OWED_VERDICT_FAILED, "(EX_TEMPFAIL)"},
        {"77", OWED_VERDICT_PERMANENT, "(EX_NOPERM)"},
        {"78", OWED_VERDICT_PERMANENT, "(EX_CONFIG)"},
        {"127", OWED_VERDICT_FAILED, ": exit status 127: out of paper"},
        {"255", OWED_VERDICT_FAILED, ": exit status 255: out of paper"},
    };
    struct scene scene;
    scene_open(&scene, "#!/bin/sh\necho 'warming up\nout of paper\n' >&2\nexit $(cat)\n");
    for (size_t i = 0; i < sizeof exits / sizeof exits[0]; i++) {
        assert_int_equal(run(&scene, exits[i].status).verdict, exits[i].verdict);
        assert_int_equal(scene.attempt.flight.code, strtol(exits[i].status, NULL, 10));
        assert_has(scene.attempt.text, exits[i].said);
        assert_string_equal(scene.attempt.flight.excerpt, "warming up\nout of paper");
    }
    scene_close(&scene);
}

static void
a_signal_is_a_failure_that_names_it(void **state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene, "#!/bin/sh\nulimit -c 0\nkill -s $(cat) $$\n");
    assert_int_equal(run(&scene, "SEGV").verdict, OWED_VERDICT_FAILED);
    assert_has(scene.attempt.text, "program: killed by SIGSEGV");
    assert_int_equal(scene.attempt.flight.code, -SIGSEGV);
    assert_int_equal(run(&scene, "KILL").verdict, OWED_VERDICT_FAILED);
    assert_has(scene.attempt.text, "killed by SIGKILL");
    scene_close(&scene);
}

static void
the_last_line_of_output_counts_for_more_than_the_exit_status(void **state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene, "#!/bin/sh\necho working\ncat\necho\nexit 65\n");
    owed_outcome outcome =
        run(&scene, "{\"outcome\":\"retry_after\",\"seconds\":120,\"reason\":\"busy\"}");
    assert_int_equal(outcome.verdict, OWED_VERDICT_RETRY_AFTER);
    assert_int_equal(outcome.wait_us, 120 * US_PER_SECOND);
    assert_has(scene.attempt.text, "program: busy");
    assert_int_equal(run(&scene, "{\"outcome\":\"done\"}").verdict, OWED_VERDICT_DONE);
    assert_int_equal(run(&scene, "{\"outcome\":\"not_yet\"}").verdict, OWED_VERDICT_FAILED);
    assert_has(scene.attempt.text, "it said not_yet without \"until\"");
    assert_int_equal(
        run(&scene, "{\"outcome\":\"not_yet\",\"until\":\"2999-01-01T00:00:00Z\"}").verdict,
        OWED_VERDICT_NOT_YET);
    assert_int_equal(scene.attempt.flight.outcome.until_us, INT64_C(32472144000) * US_PER_SECOND);
    assert_int_equal(
        run(&scene, "{\"outcome\":\"defer\",\"seconds\":60}").verdict, OWED_VERDICT_DEFER);
    assert_int_equal(run(&scene, "{\"n\":1}").verdict, OWED_VERDICT_PERMANENT);
    scene_close(&scene);
}

static void
a_program_is_told_what_it_is_for(void **state)
{
    (void)state;
    static const char *const wanted[] = {"OWED_EVENT_ID=7\n", "OWED_EVENT_NAME=shop.OrderPlaced\n",
        "OWED_DELIVERY_ID=41\n", "OWED_RECEIVER=shop.billing\n", "OWED_TARGET=desk 5\n",
        "OWED_ATTEMPT=3\n", "OWED_IDEMPOTENCY_KEY=" ATTEMPT_KEY "\n", "OWED_CORRELATION_ID=c-9\n",
        "OWED_DUE_AT=2026-11-30T00:53:20", "OWED_STORE=sqlite:shop.db\n",
        "PATH=", "TRACEPARENT=" TRACE "\n"};
    struct scene scene;
    scene_open(&scene, "#!/bin/sh\nenv >\"$FOLDER/env\"\n");
    setenv("OWED_SEAT", "secret", 1);
    setenv("OWED_STORE", "sqlite:shop.db", 1);
    setenv("OWED_ATTEMPT", "99", 1);
    setenv("TRACESTATE", "relay=1", 1);
    scene.attempt.row.traceparent = TRACE;
    scene.attempt.row.target = "desk 5";
    scene.attempt.flight.delivery.attempt = 3;
    assert_int_equal(run(&scene, "1").verdict, OWED_VERDICT_DONE);
    unsetenv("OWED_SEAT");
    unsetenv("OWED_STORE");
    unsetenv("OWED_ATTEMPT");
    unsetenv("TRACESTATE");
    char path[256];
    size_t len;
    char *text = slurp(path_in(scene.folder, "env", path), &len);
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        assert_has(text, wanted[i]);
    assert_null(strstr(text, "OWED_SEAT"));
    assert_null(strstr(text, "OWED_ATTEMPT=99"));
    assert_null(strstr(text, "TRACESTATE"));
    free(text);
    scene_close(&scene);
}

static void
the_trace_of_the_relay_is_not_that_of_what_it_delivers(void **state)
{
    (void)state;
    static const char *const absent[] = {"", "00-no-trace"};
    for (size_t i = 0; i < sizeof absent / sizeof absent[0]; i++) {
        struct scene scene;
        scene_open(&scene, "#!/bin/sh\nenv >\"$FOLDER/env\"\n");
        setenv("TRACEPARENT", TRACE, 1);
        scene.attempt.row.traceparent = absent[i];
        assert_int_equal(run(&scene, "1").verdict, OWED_VERDICT_DONE);
        unsetenv("TRACEPARENT");
        char path[256];
        size_t len;
        char *text = slurp(path_in(scene.folder, "env", path), &len);
        assert_null(strstr(text, "TRACEPARENT"));
        free(text);
        scene_close(&scene);
    }
}

static void
a_megabyte_arrives_byte_for_byte(void **state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene, "#!/bin/sh\nexec cat >\"$FOLDER/kept\"\n");
    size_t len = 1024 * 1024 + 1;
    char *payload = large_payload(len);
    assert_int_equal(run(&scene, payload).verdict, OWED_VERDICT_DONE);
    char path[256];
    size_t kept_len;
    char *kept = slurp(path_in(scene.folder, "kept", path), &kept_len);
    assert_int_equal(kept_len, len);
    assert_memory_equal(kept, payload, len);
    free(kept);
    free(payload);
    scene_close(&scene);
}

static void
a_program_need_not_read_its_input_and_cannot_change_it(void **state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene, "#!/bin/sh\nif (echo x >&0) 2>/dev/null; then exit 1; fi\nexit 0\n");
    char *payload = large_payload(1024 * 1024);
    assert_int_equal(run(&scene, payload).verdict, OWED_VERDICT_DONE);
    free(payload);
    scene_close(&scene);
}

static void
a_flood_of_output_is_read_and_its_last_line_still_counts(void **state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene,
        "#!/bin/sh\nyes | head -c 20000000\nyes no | head -c 20000000 >&2\n"
        "echo '{\"outcome\":\"permanent\",\"reason\":\"enough\"}'\n");
    assert_int_equal(run(&scene, "1").verdict, OWED_VERDICT_PERMANENT);
    assert_has(scene.attempt.text, "program: enough");
    assert_true(strlen(scene.attempt.flight.excerpt) <= 255);
    scene_close(&scene);
}

/* fifo_in makes a pipe with a name and opens its reading end. */
static int
fifo_in(const char *folder)
{
    char path[256];
    assert_int_equal(mkfifo(path_in(folder, "fifo", path), 0600), 0);
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

/* wait_for_byte waits until somebody has written; wait_for_end until nobody can any more. */
static void
wait_for_byte(int fd)
{
    struct pollfd asked = {.fd = fd, .events = POLLIN};
    char byte;
    assert_int_equal(poll(&asked, 1, 10000), 1);
    assert_int_equal(read(fd, &byte, 1), 1);
}

static void
wait_for_end(int fd)
{
    struct pollfd asked = {.fd = fd, .events = POLLIN};
    char bytes[64];
    ssize_t n;
    do {
        assert_int_equal(poll(&asked, 1, 10000), 1);
        n = read(fd, bytes, sizeof bytes);
    } while (n > 0);
    assert_int_equal(n, 0);
}

static void
at_the_time_limit_every_process_of_the_group_is_gone(void **state)
{
    (void)state;
    static const struct {
        const char *script;
        const char *ended;
        int timeout_ms; // and no longer is the grace
    } scripts[] = {
        // All of them ignore SIGTERM.
        {"#!/bin/sh\ntrap '' TERM\nexec 9>\"$FOLDER/fifo\"\necho >&9\n: <\"$FOLDER/never\" & wait\n",
            "SIGKILL", 100},
        // The first process ends at SIGTERM, its child does not.
        {"#!/bin/sh\nexec 9>\"$FOLDER/fifo\"\n(trap '' TERM; echo >&9; : <\"$FOLDER/never\") & wait\n",
            "SIGKILL", 100},
        // The child has let go of the output, too.
        {"#!/bin/sh\nexec 9>\"$FOLDER/fifo\"\n"
         "(trap '' TERM; exec >&- 2>&-; echo >&9; : <\"$FOLDER/never\") & exec >&- 2>&-; wait\n",
            "SIGTERM", 1000},
        // They all do as they are told.
        {"#!/bin/sh\nexec 9>\"$FOLDER/fifo\"\necho >&9\n: <\"$FOLDER/never\" & wait\n", "SIGTERM",
            1000},
    };
    for (size_t i = 0; i < sizeof scripts / sizeof scripts[0]; i++) {
        struct scene scene;
        scene_open(&scene, scripts[i].script);
        int fifo = fifo_in(scene.folder);
        scene.attempt.flight.timeout_us = MILLISECONDS(scripts[i].timeout_ms);
        outside_builtin.start(scene.outside, &scene.attempt.flight);
        wait_for_byte(fifo);
        land_all(scene.outside, 1);
        assert_int_equal(scene.attempt.flight.outcome.verdict, OWED_VERDICT_FAILED);
        char wanted[64];
        snprintf(wanted, sizeof wanted, "still running after %s; ended with %s",
            scripts[i].timeout_ms == 100 ? "100ms" : "1s", scripts[i].ended);
        assert_has(scene.attempt.text, wanted);
        wait_for_end(fifo);
        close(fifo);
        scene_close(&scene);
    }
}

static void
output_that_a_grandchild_holds_open_holds_up_nobody(void **state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene,
        "#!/bin/sh\n: <\"$FOLDER/never\" &\necho $! >\"$FOLDER/pid\"\n"
        "echo '{\"outcome\":\"permanent\",\"reason\":\"said before\"}'\n");
    int64_t started_us = clock_monotonic_us(&clock_system);
    assert_int_equal(run(&scene, "1").verdict, OWED_VERDICT_PERMANENT);
    assert_has(scene.attempt.text, "said before");
    assert_true(clock_monotonic_us(&clock_system) - started_us < 10 * US_PER_SECOND);
    char path[256];
    size_t len;
    char *pid = slurp(path_in(scene.folder, "pid", path), &len);
    assert_int_equal(kill((pid_t)strtol(pid, NULL, 10), SIGKILL), 0);
    free(pid);
    scene_close(&scene);
}

static void
a_program_that_cannot_be_run_is_a_failure_that_says_why(void **state)
{
    (void)state;
    // valgrind makes a fork of the vfork through which the reason comes.
    const char *preloaded = getenv("LD_PRELOAD");
    if (preloaded != NULL && strstr(preloaded, "vgpreload") != NULL)
        skip();
    struct scene scene;
    scene_open(&scene, "no interpreter\n");
    assert_int_equal(run(&scene, "1").verdict, OWED_VERDICT_FAILED);
    assert_has(scene.attempt.text, "program: cannot be run: Permission denied");
    chmod(scene.path, 0755);
    assert_int_equal(run(&scene, "1").verdict, OWED_VERDICT_FAILED);
    assert_has(scene.attempt.text, "Exec format error; a script starts with #!");
    scene.attempt.receiver.declared.exec = "/nonexistent/program";
    assert_int_equal(run(&scene, "1").verdict, OWED_VERDICT_FAILED);
    assert_has(
        scene.attempt.text, "exec /nonexistent/program: cannot be run: No such file or directory");
    scene_close(&scene);
}

static void
a_program_inherits_three_descriptors(void **state)
{
    (void)state;
    // Before those of the loop, so that its number is low.
    int leaky = open("/dev/null", O_RDONLY);
    assert_int_equal(fcntl(leaky, F_GETFD), 0);
    assert_in_range(leaky, 3, 9);
    struct scene scene;
    scene_open(&scene,
        "#!/bin/sh\nfor n in 0 1 2 3 4 5 6 7 8 9; do [ -e /proc/$$/fd/$n ] && "
        "echo $n; done >\"$FOLDER/fds\"\nexit 0\n");
    assert_int_equal(run(&scene, "1").verdict, OWED_VERDICT_DONE);
    close(leaky);
    char path[256];
    size_t len;
    char *fds = slurp(path_in(scene.folder, "fds", path), &len);
    // Above nine the shell keeps its script open.
    assert_string_equal(fds, "0\n1\n2\n");
    free(fds);
    scene_close(&scene);
}

static void
a_program_inherits_no_blocked_and_no_ignored_signal(void **state)
{
    (void)state;
    struct scene scene;
    // Not a shell: those unblock everything themselves.
    scene_open(&scene,
        "#!/usr/bin/awk -f\nBEGIN { while ((getline < \"/proc/self/status\") > 0)\n"
        "if (/^Sig(Blk|Ign)/) print > (ENVIRON[\"FOLDER\"] \"/signals\") }\n");
    sigset_t blocked, before;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    sigprocmask(SIG_BLOCK, &blocked, &before);
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(run(&scene, "1").verdict, OWED_VERDICT_DONE);
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &before, NULL);
    char path[256];
    size_t len;
    char *signals = slurp(path_in(scene.folder, "signals", path), &len);
    assert_has(signals, "SigBlk:\t0000000000000000");
    // 32 and 33 are the C library's own.
    unsigned long ignored = strtoul(strstr(signals, "SigIgn:\t") + 8, NULL, 16);
    assert_int_equal(ignored & 0x7fffffff, 0);
    free(signals);
    scene_close(&scene);
}

static void
an_abandoned_program_is_killed_and_never_lands(void **state)
{
    (void)state;
    struct scene scene;
    scene_open(
        &scene, "#!/bin/sh\nexec 9>\"$FOLDER/fifo\"\necho >&9\n: <\"$FOLDER/never\" & wait\n");
    int fifo = fifo_in(scene.folder);
    outside_builtin.start(scene.outside, &scene.attempt.flight);
    wait_for_byte(fifo);
    outside_builtin.abandon(scene.outside, &scene.attempt.flight);
    wait_for_end(fifo);
    while (outside_builtin.room(scene.outside, &scene.attempt.receiver) < 16)
        assert_null(outside_builtin.poll(scene.outside, NULL, 0, 10));
    close(fifo);
    scene_close(&scene);
}

static void
closing_the_loop_ends_what_still_runs(void **state)
{
    (void)state;
    struct scene scene;
    scene_open(
        &scene, "#!/bin/sh\nexec 9>\"$FOLDER/fifo\"\necho >&9\n: <\"$FOLDER/never\" & wait\n");
    int fifo = fifo_in(scene.folder);
    outside_builtin.start(scene.outside, &scene.attempt.flight);
    wait_for_byte(fifo);
    scene_close(&scene);
    wait_for_end(fifo);
    close(fifo);
}

static void
sixteen_run_at_once(void **state)
{
    (void)state;
    struct scene scene;
    // Each says that it runs, and ends when all have said so.
    scene_open(&scene, "#!/bin/sh\necho >\"$FOLDER/fifo\"\nread all <\"$FOLDER/all\"\n");
    int fifo = fifo_in(scene.folder);
    char path[256];
    assert_int_equal(mkfifo(path_in(scene.folder, "all", path), 0600), 0);
    struct attempt attempts[16];
    for (int i = 0; i < 16; i++) {
        attempt_init(&attempts[i], RUN_EXEC, scene.path, STR("1"));
        attempts[i].flight.delivery.receiver = &attempts[0].receiver;
        assert_int_equal(outside_builtin.room(scene.outside, &attempts[0].receiver), 16 - i);
        outside_builtin.start(scene.outside, &attempts[i].flight);
    }
    assert_int_equal(outside_builtin.room(scene.outside, &attempts[0].receiver), 0);
    for (int said = 0; said < 16;) {
        struct pollfd asked = {.fd = fifo, .events = POLLIN};
        char bytes[16];
        assert_true(poll(&asked, 1, 10000) >= 0);
        ssize_t n = read(fifo, bytes, sizeof bytes);
        said += n > 0 ? (int)n : 0;
    }
    int all = open(path, O_RDWR | O_CLOEXEC);
    assert_int_equal(write(all, "\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n", 16), 16);
    land_all(scene.outside, 16);
    for (int i = 0; i < 16; i++)
        assert_int_equal(attempts[i].flight.outcome.verdict, OWED_VERDICT_DONE);
    close(all);
    close(fifo);
    scene_close(&scene);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_exit_status_has_its_verdict),
        cmocka_unit_test(a_signal_is_a_failure_that_names_it),
        cmocka_unit_test(the_last_line_of_output_counts_for_more_than_the_exit_status),
        cmocka_unit_test(a_program_is_told_what_it_is_for),
        cmocka_unit_test(the_trace_of_the_relay_is_not_that_of_what_it_delivers),
        cmocka_unit_test(a_megabyte_arrives_byte_for_byte),
        cmocka_unit_test(a_program_need_not_read_its_input_and_cannot_change_it),
        cmocka_unit_test(a_flood_of_output_is_read_and_its_last_line_still_counts),
        cmocka_unit_test(at_the_time_limit_every_process_of_the_group_is_gone),
        cmocka_unit_test(output_that_a_grandchild_holds_open_holds_up_nobody),
        cmocka_unit_test(a_program_that_cannot_be_run_is_a_failure_that_says_why),
        cmocka_unit_test(a_program_inherits_three_descriptors),
        cmocka_unit_test(a_program_inherits_no_blocked_and_no_ignored_signal),
        cmocka_unit_test(an_abandoned_program_is_killed_and_never_lands),
        cmocka_unit_test(closing_the_loop_ends_what_still_runs),
        cmocka_unit_test(sixteen_run_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
