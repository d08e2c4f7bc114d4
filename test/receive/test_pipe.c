/* SPDX-License-Identifier: MIT
 *
 * test_pipe.c - coprocesses: what they are given, what they answer, and what becomes of it when they end.
 */
#include "attempt.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/log.h"
#include "receive/coprocess.h"

#define MOST 8

/* What most programs begin with: their hello, and a function that takes the id of a line. */
#define BEGIN \
    "#!/bin/sh\necho $$ >> $FOLDER/pids\nread -r hello\necho '{\"hello\":1}'\n" \
    "id() { id=${line#*'{\"id\":'}; id=${id%%,*}; }\n" \
    "say() { echo \"{\\\"id\\\":$id,\\\"outcome\\\":\\\"$1\\\"$2}\"; }\n"
#define EACH(what) "while read -r line; do id; " what "\ndone\n"

/* A loop with a log, a folder, and some attempts by one program. */
struct scene {
    struct outside *outside;
    struct log log;
    struct buf lines;
    char *folder;
    char path[256];
    struct receiver receiver; // of all attempts
    struct attempt attempts[MOST];
};

static void
keep_line(void *state, owed_log_level level, const char *line)
{
    (void)level;
    struct buf *lines = state;
    buf_puts(lines, line);
    buf_putc(lines, '\n');
}

static void
scene_open(struct scene *scene, const char *script)
{
    buf_init(&scene->lines, (size_t)1 << 20);
    scene->log = (struct log){
        .write = keep_line, .state = &scene->lines, .level = OWED_LOG_DEBUG, .clock = clock_system};
    scene->outside = outside_logging(&scene->log);
    scene->folder = folder_new();
    setenv("FOLDER", scene->folder, 1);
    file_in(scene->folder, "program", script, scene->path);
    for (int i = 0; i < MOST; i++) {
        attempt_init(&scene->attempts[i], RUN_PIPE, scene->path, STR("{\"n\":1}"));
        scene->attempts[i].flight.delivery.receiver = &scene->receiver;
    }
    scene->receiver = scene->attempts[0].receiver;
}

static void
scene_close(struct scene *scene)
{
    outside_builtin.close(scene->outside);
    folder_free(scene->folder);
    buf_done(&scene->lines);
    // Whatever ran has been reaped.
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static void
start(struct scene *scene, int i)
{
    struct flight *flight = &scene->attempts[i].flight;
    flight->started_mono_us = clock_monotonic_us(&clock_system);
    scene->attempts[i].text[0] = '\0';
    outside_builtin.start(scene->outside, flight);
}

/* run starts the first attempts, and waits until all of them have ended. */
static void
run(struct scene *scene, int count)
{
    for (int i = 0; i < count; i++)
        start(scene, i);
    land_all(scene->outside, (size_t)count);
}

static owed_verdict
verdict(const struct scene *scene, int i)
{
    return scene->attempts[i].flight.outcome.verdict;
}

static void
is_done(const struct scene *scene, int i)
{
    if (verdict(scene, i) != OWED_VERDICT_DONE)
        fail_msg("attempt %d: %s", i, scene->attempts[i].text);
}

static void
has_failed(const struct scene *scene, int i, const char *why)
{
    assert_int_equal(verdict(scene, i), OWED_VERDICT_FAILED);
    assert_has(scene->attempts[i].text, why);
}

/* programs counts how many were started. */
static size_t
programs(const struct scene *scene)
{
    char path[256];
    size_t len;
    size_t lines = 0;
    char *pids = slurp(path_in(scene->folder, "pids", path), &len);
    for (size_t i = 0; i < len; i++)
        lines += pids[i] == '\n';
    free(pids);
    return lines;
}

static void
one_program_takes_all_and_answers_in_any_order_in_the_words_of_an_outcome(void **state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene,
        BEGIN "for n in 1 2 3 4 5 6; do read -r line; done\n"
              "id=6; say done\n"
              "id=5; say not_yet ',\"until\":\"2999-01-01T00:00:00Z\"'\n"
              "id=4; say defer ',\"seconds\":60'\n"
              "id=3; say retry_after ',\"seconds\":120,\"reason\":\"busy\"'\n"
              "id=2; say permanent ',\"reason\":\"no such order\"'\n"
              "id=1; say failed ',\"reason\":\"out of paper\"'\n" EACH("say done"));
    run(&scene, 6);
    has_failed(&scene, 0, "program: out of paper");
    assert_int_equal(verdict(&scene, 1), OWED_VERDICT_PERMANENT);
    assert_has(scene.attempts[1].text, "program: no such order");
    assert_int_equal(verdict(&scene, 2), OWED_VERDICT_RETRY_AFTER);
    assert_int_equal(scene.attempts[2].flight.outcome.wait_us, 120 * US_PER_SECOND);
    assert_int_equal(verdict(&scene, 3), OWED_VERDICT_DEFER);
    assert_int_equal(verdict(&scene, 4), OWED_VERDICT_NOT_YET);
    is_done(&scene, 5);
    run(&scene, 3);
    for (int i = 0; i < 3; i++)
        is_done(&scene, i);
    assert_int_equal(programs(&scene), 1);
    scene_close(&scene);
}

static void
a_delivery_is_one_line_with_its_facts_and_the_payload_as_it_was_fired(void **state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene,
        "#!/bin/sh\nread -r hello; echo \"$hello\" > $FOLDER/hello; echo '{\"hello\":1}'\n"
        "env | grep '^OWED_[ER]' > $FOLDER/environment\n"
        "echo \"$1 $2\" > $FOLDER/arguments\n"
        "read -r line; printf '%s\\n' \"$line\" > $FOLDER/line; echo '{\"id\":1,\"outcome\":\"done\"}'\nread -r line\n");
    char command[300];
    char path[256];
    size_t len;
    snprintf(command, sizeof command, "%s  --of shop ", scene.path);
    scene.receiver.declared.pipe = command;
    setenv("OWED_EVENT_ID", "9", 1);
    scene.attempts[0].row.target = "desk \"5\"";
    scene.attempts[0].row.payload = STR("{\"n\":\n 1e400,\r\n\"s\":\"a\\nb\"}");
    run(&scene, 1);
    unsetenv("OWED_EVENT_ID");
    is_done(&scene, 0);
    char *text = slurp(path_in(scene.folder, "line", path), &len);
    assert_has(text,
        "{\"id\":1,\"delivery\":41,\"event_id\":7,\"event\":\"shop.OrderPlaced\",\"version\":1,"
        "\"receiver\":\"shop.billing\",\"target\":\"desk \\\"5\\\"\",\"attempt\":1,"
        "\"idempotency_key\":\"" ATTEMPT_KEY "\",\"correlation_id\":\"c-9\",");
    assert_has(text, "\"due_at\":\"2026-11-30T00:53:20.000000Z\"");
    assert_has(text, ",\"payload\":{\"n\":  1e400,  \"s\":\"a\\nb\"}}\n");
    free(text);
    text = slurp(path_in(scene.folder, "hello", path), &len);
    assert_string_equal(text, "{\"hello\":1,\"receiver\":\"shop.billing\",\"in_flight\":16}\n");
    free(text);
    text = slurp(path_in(scene.folder, "environment", path), &len);
    assert_string_equal(text, "OWED_RECEIVER=shop.billing\n");
    free(text);
    text = slurp(path_in(scene.folder, "arguments", path), &len);
    assert_string_equal(text, "--of shop\n");
    free(text);
    scene_close(&scene);
}

static void
a_crash_fails_the_one_in_hand_alone_and_names_the_signal_or_the_exit_status(void **state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene,
        BEGIN
        "[ $(wc -l < $FOLDER/pids) = 1 ] && ulimit -c 0 && echo 'out of ink' >&2 && read -r line && id && say done && kill -s SEGV $$\n"
        "[ $(wc -l < $FOLDER/pids) = 2 ] && read -r line && exit 3\n" EACH("say done"));
    run(&scene, 5);
    is_done(&scene, 0);
    has_failed(&scene, 1, "program: killed by SIGSEGV with this delivery in hand: out of ink");
    assert_int_equal(scene.attempts[1].flight.code, -SIGSEGV);
    assert_string_equal(scene.attempts[1].flight.excerpt, "out of ink");
    has_failed(&scene, 2, "program: ended with exit status 3 with this delivery in hand");
    assert_int_equal(scene.attempts[2].flight.code, 3);
    is_done(&scene, 3);
    is_done(&scene, 4);
    assert_int_equal(programs(&scene), 3);
    scene_close(&scene);
}

static void
a_crash_fails_all_that_the_program_said_it_had_begun_and_no_other(void **state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene,
        BEGIN
        "if [ $(wc -l < $FOLDER/pids) = 1 ]; then\n"
        "for n in 1 2 3 4; do read -r line; done\n"
        "echo '{\"id\":2,\"begun\":true}'; echo '{\"id\":4,\"begun\":true}'; exit 1\nfi\n" EACH(
            "say done"));
    run(&scene, 4);
    is_done(&scene, 0);
    has_failed(&scene, 1, "exit status 1");
    is_done(&scene, 2);
    has_failed(&scene, 3, "exit status 1");
    scene_close(&scene);
}

static void
past_its_time_a_delivery_has_failed_and_its_program_and_children_are_gone(void **state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene,
        BEGIN
        "if [ $(wc -l < $FOLDER/pids) = 1 ]; then\n"
        "read -r line; id; say done\n"
        "mkfifo $FOLDER/never; trap '' TERM; (cat $FOLDER/never) & echo $! > $FOLDER/child; cat $FOLDER/never\nfi\n" EACH(
            "say done"));
    scene.receiver.declared.timeout_us = MILLISECONDS(300);
    run(&scene, 3);
    is_done(&scene, 0);
    has_failed(&scene, 1, "program: still running after");
    assert_has(scene.attempts[1].text, "ended with SIGKILL");
    is_done(&scene, 2);
    char path[256];
    size_t len;
    char *child = slurp(path_in(scene.folder, "child", path), &len);
    pid_t pid = (pid_t)strtol(child, NULL, 10);
    free(child);
    // Gone, or a zombie that init has not reaped yet.
    int64_t until = clock_monotonic_us(&clock_system) + 10 * US_PER_SECOND;
    while (kill(pid, 0) == 0 && clock_monotonic_us(&clock_system) < until) {
        char stat[64];
        snprintf(stat, sizeof stat, "/proc/%d/stat", pid);
        FILE *file = fopen(stat, "re");
        char letter = 'Z';
        if (file != NULL && fscanf(file, "%*d %*s %c", &letter) == 1 && letter != 'Z')
            fail_msg("the child is still there");
        if (file != NULL)
            fclose(file);
        break;
    }
    scene_close(&scene);
}

static void
an_answer_after_its_time_is_too_late(void **state)
{
    (void)state;
    struct scene scene;
    // What is sent to its group ends the cat, and the program answers then.
    scene_open(&scene,
        BEGIN
        "mkfifo $FOLDER/never; trap : TERM; read -r line; cat $FOLDER/never; id; say done; exit 0\n");
    scene.receiver.declared.timeout_us = MILLISECONDS(300);
    run(&scene, 1);
    has_failed(&scene, 0, "program: still running after");
    scene_close(&scene);
}

static void
what_is_given_again_is_as_if_it_had_never_been_in_hand(void **state)
{
    (void)state;
    struct scene scene;
    struct landing landing = {.clock = clock_system};
    scene_open(&scene, BEGIN);
    scene.receiver.declared.timeout_us = MILLISECONDS(300);
    struct coprocess coprocess = {.receiver = &scene.receiver, .landing = &landing};
    for (int i = 0; i < 3; i++)
        assert_true(jobs_add(&coprocess, &scene.attempts[i].flight));
    int64_t next_us;
    coprocess.jobs->id = 1;
    assert_false(jobs_watch(&coprocess, 1000, &next_us));
    assert_int_equal(next_us, 1000 + MILLISECONDS(300));
    coprocess.jobs->next->id = 2;
    coprocess.jobs->next->has_begun = true;
    assert_false(jobs_watch(&coprocess, 2000, &next_us));
    assert_true(jobs_watch(&coprocess, 1000 + MILLISECONDS(300), &next_us));
    jobs_settle(&coprocess, "killed", -SIGKILL);
    assert_ptr_equal(landing_take(&landing), &scene.attempts[0].flight);
    has_failed(&scene, 0, "killed");
    for (const struct job *job = coprocess.jobs; job != NULL; job = job->next) {
        assert_int_equal(job->id, 0);
        assert_false(job->has_begun);
        assert_int_equal(job->over_us, INT64_MAX);
    }
    assert_int_equal(coprocess.count, 2);
    jobs_free(&coprocess);
    share_done(&landing.shares[RUN_PIPE]);
    scene_close(&scene);
}

static void
a_program_that_does_not_come_as_far_as_hello_has_failed_all_that_wait(void **state)
{
    (void)state;
    static const struct {
        const char *script;
        const char *why;
    } cases[] = {
        {"#!/bin/sh\nread -r hello; read -r more\n", "it has not said hello within"},
        {"#!/bin/sh\nread -r hello; echo '{\"hello\":2}'; read -r more\n",
            "it speaks version 2 of the protocol, and version 1 is right"},
        {"#!/bin/sh\necho 'no printer' >&2; exit 4\n",
            "ended with exit status 4 before it said hello: no printer"},
        {"#!/no/such/interpreter\n", "cannot be run: No such file"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct scene scene;
        scene_open(&scene, cases[i].script);
        scene.receiver.declared.timeout_us = MILLISECONDS(500);
        int64_t began = clock_monotonic_us(&clock_system);
        run(&scene, 2);
        assert_true(clock_monotonic_us(&clock_system) - began < PIPE_HELLO_US / 2);
        has_failed(&scene, 0, cases[i].why);
        has_failed(&scene, 1, cases[i].why);
        scene_close(&scene);
    }
}

static void
what_means_nothing_is_named_in_the_log_and_changes_nothing(void **state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene,
        BEGIN "echo 'warming up'; echo '[1]'; echo '{\"id\":\"1\"}'; echo '{\"hello\":1}'\n"
              "echo '{\"id\":99,\"outcome\":\"done\"}'; echo '{\"id\":-1}'\n"
              "head -c 70000 /dev/zero | tr '\\0' x; echo\n"
              "read -r line; id; say done; say failed\n"
              "read -r line; printf '{\"id\":2,\"outc'\nexit 0\n");
    run(&scene, 2);
    is_done(&scene, 0);
    has_failed(&scene, 1, "exit status 0 with this delivery in hand");
    const char *log = buf_text(&scene.lines);
    assert_has(log, "why=\"it is neither a hello nor an answer\" line=\"warming up\"");
    assert_has(log, "line=[1]");
    assert_has(log, "why=\"it has said hello already\"");
    assert_has(log, "why=\"no delivery has that id\" line=\"{\\\"id\\\":99,");
    assert_has(log, "why=\"no delivery has that id\" line=\"{\\\"id\\\":-1}");
    assert_has(log, "why=\"the line is longer than 64 KiB\"");
    assert_has(log, "why=\"that delivery is answered already\"");
    assert_has(log, "why=\"the line has no end\"");
    scene_close(&scene);
}

static void
an_answer_without_an_outcome_is_a_failure_that_says_so(void **state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene, BEGIN EACH("[ $id = 1 ] && echo '{\"id\":1}' || say perhaps"));
    run(&scene, 2);
    has_failed(&scene, 0, "it answered without an outcome");
    has_failed(&scene, 1, "unknown outcome perhaps");
    scene_close(&scene);
}

static void
what_it_writes_to_its_standard_error_goes_to_the_log(void **state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene, BEGIN EACH("echo \"printing $id\" >&2; say done"));
    run(&scene, 1);
    run(&scene, 1);
    assert_has(buf_text(&scene.lines), "receiver=shop.billing");
    assert_has(buf_text(&scene.lines), "line=\"printing 1\"");
    scene_close(&scene);
}

static void
a_program_that_floods_its_standard_error_neither_fills_the_log_nor_holds_others_up(void **state)
{
    (void)state;
    struct scene scene;
    // 40,000 lines before each answer.
    scene_open(&scene,
        BEGIN "i=0; while [ $i -lt 1000 ]; do i=$((i+1)); echo oops; done > $FOLDER/oops\n" EACH(
            "for n in 1 2 3 4 5 6 7 8 9 10; do cat $FOLDER/oops $FOLDER/oops $FOLDER/oops "
            "$FOLDER/oops; done >&2; say failed"));
    run(&scene, 2);
    outside_builtin.close(scene.outside);
    has_failed(&scene, 1, "program: it gave no reason");
    assert_string_equal(scene.attempts[1].flight.excerpt, "oops");
    assert_in_range(scene.lines.len, 1000, 200 * 1000);
    assert_has(buf_text(&scene.lines), "wrote more to its standard error than is logged");
    assert_has(buf_text(&scene.lines), "lines_left_out=");
    scene.outside = outside_new();
    scene_close(&scene);
}

static void
one_that_leaves_its_group_is_ended_all_the_same(void **state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene,
        "#!/usr/bin/python3\n"
        "import os, signal, sys\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "os.setpgid(0, os.getpgid(os.getppid()))\n"
        "print('{\"hello\":1}', flush=True)\n"
        "while True: signal.pause()\n");
    scene.receiver.declared.timeout_us = MILLISECONDS(400);
    run(&scene, 1);
    has_failed(&scene, 0, "ended with SIGKILL");
    scene_close(&scene);
}

static void
a_large_payload_comes_whole_and_others_behind_it(void **state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene, BEGIN EACH("say failed \",\\\"reason\\\":\\\"${#line}\\\"\""));
    char *payload = large_payload((size_t)3 * 1024 * 1024);
    for (int i = 0; i < 2; i++)
        scene.attempts[i].row.payload = (struct str){payload, strlen(payload)};
    setenv("LC_ALL", "C", 1);
    run(&scene, 3);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(verdict(&scene, i), OWED_VERDICT_FAILED);
        const char *size = strrchr(scene.attempts[i].text, ' ');
        assert_in_range(strtol(size + 1, NULL, 10), 3 * 1024 * 1024, 3 * 1024 * 1024 + 600);
    }
    assert_int_equal(verdict(&scene, 2), OWED_VERDICT_FAILED);
    free(payload);
    scene_close(&scene);
}

static void
there_is_room_for_so_many_as_the_receiver_or_the_program_says(void **state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene,
        "#!/bin/sh\nread -r hello; echo '{\"hello\":1,\"in_flight\":3}'\n"
        "while read -r line; do id=${line#*'{\"id\":'}; id=${id%%,*}; echo \"{\\\"id\\\":$id,\\\"outcome\\\":\\\"done\\\"}\"; done\n");
    assert_int_equal(outside_builtin.room(scene.outside, &scene.receiver), 16);
    run(&scene, 1);
    assert_int_equal(outside_builtin.room(scene.outside, &scene.receiver), 3);
    start(&scene, 0);
    assert_int_equal(outside_builtin.room(scene.outside, &scene.receiver), 2);
    land_all(scene.outside, 1);
    struct receiver other = scene.receiver;
    other.declared.in_flight = 2;
    assert_int_equal(outside_builtin.room(scene.outside, &other), 2);
    scene.attempts[0].flight.delivery.receiver = &other;
    run(&scene, 1);
    assert_int_equal(outside_builtin.room(scene.outside, &other), 2); // and no more than it says
    scene_close(&scene);
}

static void
of_what_came_before_its_hello_a_program_is_given_no_more_than_it_asks_for(void **state)
{
    (void)state;
    struct scene scene;
    // What it is given at once is read at once.
    scene_open(&scene,
        "#!/usr/bin/python3\n"
        "import json, os\n"
        "os.read(0, 65536)\n"
        "print('{\"hello\":1,\"in_flight\":2}', flush=True)\n"
        "while lines := os.read(0, 65536).splitlines():\n"
        "    ids = [json.loads(line)['id'] for line in lines]\n"
        "    print(*('{\"id\":%d,\"outcome\":\"failed\",\"reason\":\"one of %d\"}' % (id, len(ids)) for id in ids), sep='\\n', flush=True)\n");
    run(&scene, 6);
    has_failed(&scene, 0, "one of 2");
    has_failed(&scene, 1, "one of 2");
    for (int i = 2; i < 6; i++)
        assert_true(strstr(scene.attempts[i].text, "one of 1") ||
            strstr(scene.attempts[i].text, "one of 2"));
    scene_close(&scene);
}

static void
after_one_that_has_answered_the_next_is_started_as_soon_as_after_the_first(void **state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene,
        BEGIN
        "[ $(wc -l < $FOLDER/pids) = 3 ] && read -r line && id && say done\nread -r line; exit 1\n");
    run(&scene, 4);
    has_failed(&scene, 0, "exit status 1");
    has_failed(&scene, 1, "exit status 1");
    is_done(&scene, 2);
    has_failed(&scene, 3, "exit status 1");
    const char *log = buf_text(&scene.lines);
    static const char *const pauses[] = {"100ms", "200ms", "100ms"};
    for (size_t i = 0; i < sizeof pauses / sizeof pauses[0]; i++) {
        log = strstr(log, "next_start_after=");
        assert_non_null(log);
        log += strlen("next_start_after=");
        assert_memory_equal(log, pauses[i], 5);
    }
    scene_close(&scene);
}

static void
a_program_that_keeps_crashing_is_started_later_each_time(void **state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene, BEGIN "read -r line; exit 1\n");
    int64_t began = clock_monotonic_us(&clock_system);
    run(&scene, 4);
    int64_t took = clock_monotonic_us(&clock_system) - began;
    for (int i = 0; i < 4; i++)
        has_failed(&scene, i, "exit status 1");
    assert_int_equal(programs(&scene), 4);
    assert_true(took >= MILLISECONDS(100 + 200 + 400));
    scene_close(&scene);
}

static void
what_was_not_given_is_taken_back_and_the_rest_is_answered(void **state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene, BEGIN EACH("say done"));
    start(&scene, 0);
    start(&scene, 1);
    const struct flight *recalled = outside_builtin.recall(scene.outside);
    assert_ptr_equal(recalled, &scene.attempts[0].flight);
    assert_ptr_equal(recalled->next, &scene.attempts[1].flight);
    assert_null(recalled->next->next);
    assert_int_equal(outside_builtin.room(scene.outside, &scene.receiver), 16);
    run(&scene, 1);
    is_done(&scene, 0);
    start(&scene, 0);
    assert_null(outside_builtin.recall(scene.outside));
    land_all(scene.outside, 1);
    scene_close(&scene);
}

static void
the_answer_to_an_abandoned_delivery_is_nobodys(void **state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene, BEGIN EACH("say done"));
    run(&scene, 1);
    start(&scene, 0);
    outside_builtin.abandon(scene.outside, &scene.attempts[0].flight);
    start(&scene, 1);
    land_all(scene.outside, 1);
    is_done(&scene, 1);
    assert_null(strstr(buf_text(&scene.lines), "means nothing"));
    scene_close(&scene);
}

static void
a_program_ends_when_its_input_is_closed_or_is_made_to(void **state)
{
    (void)state;
    static const struct {
        const char *last;
        const char *said;
    } cases[] = {
        {"echo bye >> $FOLDER/bye\n", "code=0"},
        {"mkfifo $FOLDER/never; cat $FOLDER/never\n", "ended with SIGTERM"},
        {"mkfifo $FOLDER/never; trap '' TERM; cat $FOLDER/never\n", "ended with SIGKILL"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct scene scene;
        char script[2048];
        snprintf(script, sizeof script, "%s%s%s", BEGIN, EACH("say done"), cases[i].last);
        scene_open(&scene, script);
        scene.receiver.declared.timeout_us = i == 0 ? 0 : MILLISECONDS(400);
        run(&scene, 1);
        is_done(&scene, 0);
        outside_builtin.close(scene.outside);
        assert_has(buf_text(&scene.lines), cases[i].said);
        scene.outside = outside_new();
        scene_close(&scene);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_program_takes_all_and_answers_in_any_order_in_the_words_of_an_outcome),
        cmocka_unit_test(a_delivery_is_one_line_with_its_facts_and_the_payload_as_it_was_fired),
        cmocka_unit_test(
            a_crash_fails_the_one_in_hand_alone_and_names_the_signal_or_the_exit_status),
        cmocka_unit_test(a_crash_fails_all_that_the_program_said_it_had_begun_and_no_other),
        cmocka_unit_test(past_its_time_a_delivery_has_failed_and_its_program_and_children_are_gone),
        cmocka_unit_test(an_answer_after_its_time_is_too_late),
        cmocka_unit_test(what_is_given_again_is_as_if_it_had_never_been_in_hand),
        cmocka_unit_test(a_program_that_does_not_come_as_far_as_hello_has_failed_all_that_wait),
        cmocka_unit_test(what_means_nothing_is_named_in_the_log_and_changes_nothing),
        cmocka_unit_test(an_answer_without_an_outcome_is_a_failure_that_says_so),
        cmocka_unit_test(what_it_writes_to_its_standard_error_goes_to_the_log),
        cmocka_unit_test(
            a_program_that_floods_its_standard_error_neither_fills_the_log_nor_holds_others_up),
        cmocka_unit_test(one_that_leaves_its_group_is_ended_all_the_same),
        cmocka_unit_test(a_large_payload_comes_whole_and_others_behind_it),
        cmocka_unit_test(there_is_room_for_so_many_as_the_receiver_or_the_program_says),
        cmocka_unit_test(of_what_came_before_its_hello_a_program_is_given_no_more_than_it_asks_for),
        cmocka_unit_test(
            after_one_that_has_answered_the_next_is_started_as_soon_as_after_the_first),
        cmocka_unit_test(a_program_that_keeps_crashing_is_started_later_each_time),
        cmocka_unit_test(what_was_not_given_is_taken_back_and_the_rest_is_answered),
        cmocka_unit_test(the_answer_to_an_abandoned_delivery_is_nobodys),
        cmocka_unit_test(a_program_ends_when_its_input_is_closed_or_is_made_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
