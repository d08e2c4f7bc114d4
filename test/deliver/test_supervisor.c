/* SPDX-License-Identifier: MIT
 *
 * test_supervisor.c - workers die in every way, and the relay makes the best of it.
 *
 * The supervisor runs in a child; its log lines and what its workers say come through one pipe, and a
 * test waits for a line, never for a while.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "deliver/crew.h"
#include "deliver/supervisor.h"

struct run {
    pid_t pid;
    FILE *lines;
    char *line;
    size_t size;
};

static void
write_line(void *state, owed_log_level level, const char *line)
{
    (void)state;
    (void)level;
    dprintf(STDERR_FILENO, "%s\n", line);
}

/* One at a time: the command line stays in place for the child that gets a copy. */
static struct supervisor
settings_for(const char *behaviour)
{
    static char program[] = "fake";
    static char name[64];
    static char *argv[] = {program, name, NULL};
    snprintf(name, sizeof name, "%s", behaviour);
    return (struct supervisor){.program = FAKE_WORKER,
        .argv = argv,
        .worker_id = "test-1",
        .restart_us = 1000,
        .dice = dice_system,
        .log = {.write = write_line, .level = OWED_LOG_INFO, .clock = clock_system}};
}

static _Noreturn void
supervise(const struct supervisor *settings)
{
    owed_relay_counts counts = {0};
    owed_error err;
    int status = 99;
    if (supervisor_run(settings, &counts, &status, &err) != OWED_OK)
        dprintf(STDERR_FILENO, "refused: %s\n", err.text);
    signal(SIGPIPE, SIG_IGN); // from here on it is the test that writes
    dprintf(STDERR_FILENO, "counted succeeded=%d\n", (int)counts.succeeded);
    _exit(status);
}

static struct run
start_with(struct supervisor settings)
{
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    struct run run = {.pid = fork()};
    if (run.pid == 0) {
        // A test that fails leaves nobody behind, nor anybody who keeps its output open.
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(ends[0]);
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        supervise(&settings);
    }
    close(ends[1]);
    run.lines = fdopen(ends[0], "r");
    return run;
}

static struct run
start(const char *behaviour)
{
    return start_with(settings_for(behaviour));
}

/* see reads on until a line that holds the text, and returns it; NULL at the end of all output. */
static const char *
see(struct run *run, const char *text)
{
    while (getline(&run->line, &run->size, run->lines) > 0)
        if (strstr(run->line, text) != NULL)
            return run->line;
    return NULL;
}

static int
number_in(const char *line, const char *key)
{
    const char *at = strstr(line, key);
    assert_non_null(at);
    return (int)strtol(at + strlen(key), NULL, 10);
}

static int
end(struct run *run)
{
    int status = 0;
    assert_int_equal(waitpid(run->pid, &status, 0), run->pid);
    while (see(run, "anything at all, to the end") != NULL)
        ;
    fclose(run->lines);
    free(run->line);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static int
stop(struct run *run)
{
    kill(run->pid, SIGTERM);
    return end(run);
}

static void
a_stop_ends_all_workers_and_the_relay_well(void **state)
{
    (void)state;
    struct run run = start("serve");
    assert_non_null(see(&run, "relay ready"));
    kill(run.pid, SIGTERM);
    assert_non_null(see(&run, "stopping"));
    assert_int_equal(end(&run), 0);
}

static void
a_crash_in_a_receiver_is_told_to_the_next_worker(void **state)
{
    (void)state;
    struct run run = start("crash-in-receiver");
    const char *line = see(&run, "worker died");
    assert_non_null(strstr(line, "how=SIGSEGV"));
    assert_non_null(strstr(line, "receiver=shop.label"));
    assert_non_null(strstr(line, "delivery=42"));
    line = see(&run, "worker slot=0");
    assert_int_equal(number_in(line, "cause="), DEATH_ITSELF);
    assert_int_equal(number_in(line, "signal="), SIGSEGV);
    assert_int_equal(number_in(line, "delivery="), 42);
    assert_int_equal(stop(&run), 0);
}

static void
an_exit_in_a_receiver_is_told_to_the_next_worker(void **state)
{
    (void)state;
    struct run run = start("exit-in-receiver");
    assert_non_null(see(&run, "how=\"exited with status 3\""));
    const char *line = see(&run, "worker slot=0");
    assert_int_equal(number_in(line, "cause="), DEATH_ITSELF);
    assert_int_equal(number_in(line, "signal="), 0);
    assert_int_equal(number_in(line, "status="), 3);
    assert_int_equal(stop(&run), 0);
}

static void
a_receiver_past_its_timeout_is_killed_and_told_as_ours(void **state)
{
    (void)state;
    struct run run = start("hang-in-receiver");
    assert_non_null(see(&run, "how=SIGKILL"));
    const char *line = see(&run, "worker slot=0");
    assert_int_equal(number_in(line, "cause="), DEATH_TIMEOUT);
    assert_int_equal(number_in(line, "delivery="), 42);
    assert_int_equal(stop(&run), 0);
}

static void
a_kill_from_outside_is_told_as_not_ours(void **state)
{
    (void)state;
    struct run run = start("serve");
    int pid = number_in(see(&run, "worker slot=0"), "pid=");
    assert_non_null(see(&run, "relay ready"));
    kill(pid, SIGKILL);
    const char *line = see(&run, "worker slot=0");
    assert_int_equal(number_in(line, "cause="), DEATH_ITSELF);
    assert_int_equal(number_in(line, "signal="), SIGKILL);
    assert_int_equal(stop(&run), 0);
}

static void
a_worker_that_cannot_be_helped_ends_the_relay_with_its_status(void **state)
{
    (void)state;
    struct run run = start("refuse");
    assert_int_equal(end(&run), 78);
}

static void
five_crashes_before_being_ready_end_the_relay(void **state)
{
    (void)state;
    struct run run = start("crash-early");
    int deaths = 0;
    const char *line;
    while ((line = see(&run, "rel")) == NULL || strstr(line, "the relay ends") == NULL)
        assert_non_null(line);
    deaths = number_in(line, "deaths=");
    assert_int_equal(deaths, 5);
    assert_int_equal(end(&run), 70);
}

static void
a_store_that_goes_away_later_does_not_end_the_relay(void **state)
{
    (void)state;
    struct run run = start("lose-store");
    for (int i = 0; i < 3; i++)
        assert_non_null(see(&run, "how=\"exited with status 69\""));
    assert_non_null(see(&run, "worker slot=0"));
    assert_int_equal(stop(&run), 0);
}

static void
a_store_that_goes_away_ends_a_relay_that_was_to_run_once(void **state)
{
    (void)state;
    struct supervisor settings = settings_for("lose-store");
    settings.once = true;
    struct run run = start_with(settings);
    assert_int_equal(end(&run), 69);
}

static void
a_worker_that_leaves_unasked_is_followed_by_another(void **state)
{
    (void)state;
    struct run run = start("leave-unasked");
    assert_non_null(see(&run, "worker slot=0"));
    const char *line = see(&run, "worker slot=0");
    assert_int_equal(number_in(line, "cause="), DEATH_NONE);
    assert_int_equal(stop(&run), 0);
}

static void
a_second_signal_kills_at_once(void **state)
{
    (void)state;
    struct run run = start("ignore-stop");
    assert_non_null(see(&run, "relay ready"));
    kill(run.pid, SIGTERM);
    assert_non_null(see(&run, "stopping"));
    kill(run.pid, SIGINT);
    assert_int_equal(end(&run), 128 + SIGINT);
}

static void
a_grace_that_is_over_cuts_off_and_counts_nothing(void **state)
{
    (void)state;
    struct supervisor settings = settings_for("run-long");
    settings.stop_grace_us = 20000;
    struct run run = start_with(settings);
    assert_non_null(see(&run, "relay ready"));
    kill(run.pid, SIGTERM);
    const char *line = see(&run, "worker slot=0");
    assert_int_equal(number_in(line, "cause="), DEATH_CALLED_OFF);
    assert_int_equal(number_in(line, "delivery="), 42);
    assert_non_null(see(&run, "made good"));
    assert_int_equal(end(&run), 0);
}

static void
workers_die_with_their_supervisor(void **state)
{
    (void)state;
    struct run run = start("ignore-stop");
    assert_non_null(see(&run, "relay ready"));
    kill(run.pid, SIGKILL);
    // The pipe ends only when nobody is left that could write to it.
    assert_int_equal(end(&run), 1000 + SIGKILL);
}

static void
once_ends_when_all_have_seen_the_last_commit(void **state)
{
    (void)state;
    struct supervisor settings = settings_for("work-once");
    settings.once = true;
    struct run run = start_with(settings);
    assert_non_null(see(&run, "worked"));
    assert_non_null(see(&run, "why=\"all is done\""));
    assert_int_equal(end(&run), 0);
}

static void
a_limit_that_is_used_up_ends_the_relay(void **state)
{
    (void)state;
    struct supervisor settings = settings_for("spend-limit");
    settings.limit = 5;
    struct run run = start_with(settings);
    assert_non_null(see(&run, "why=\"all is done\""));
    assert_int_equal(end(&run), 0);
}

static void
workers_that_have_done_their_passes_end_the_relay(void **state)
{
    (void)state;
    struct supervisor settings = settings_for("end-by-itself");
    settings.passes = 1;
    struct run run = start_with(settings);
    assert_non_null(see(&run, "counted succeeded=6"));
    assert_int_equal(end(&run), 0);
}

static void
outside_functions_get_workers_of_their_own(void **state)
{
    (void)state;
    struct run run = start("need-functions");
    int slots = 0;
    for (int i = 0; i < 4; i++)
        slots += 1 << number_in(see(&run, "role=3"), "slot=");
    assert_int_equal(slots, 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5);
    assert_int_equal(stop(&run), 0);
}

static void
workers_get_standard_descriptors_and_nothing_of_the_relay(void **state)
{
    (void)state;
    int stray = open("/dev/null", O_RDONLY); // as an inherited descriptor without CLOEXEC is
    setenv("NOTIFY_SOCKET", "/nowhere", 1);
    struct run run = start("list-descriptors");
    assert_string_equal(see(&run, "descriptors"), "descriptors 0 1 2 manager=0 seat=0 blocked=0\n");
    assert_int_equal(stop(&run), 0);
    unsetenv("NOTIFY_SOCKET");
    close(stray);
}

static void
a_reader_of_the_log_that_goes_away_ends_nothing(void **state)
{
    (void)state;
    struct run run = start("crash-in-receiver");
    int pid = number_in(see(&run, "worker slot=0"), "pid=");
    assert_true(pid > 0);
    fclose(run.lines);
    run.lines = fopen("/dev/null", "r");
    assert_int_equal(stop(&run), 0);
}

static void
the_service_manager_hears_ready_the_beat_and_stopping(void **state)
{
    (void)state;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "/tmp/owed-notify-%d", getpid());
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
    setenv("NOTIFY_SOCKET", address.sun_path, 1);
    setenv("WATCHDOG_USEC", "20000", 1);
    struct run run = start("serve");
    bool heard[3] = {false};
    static const char *const words[3] = {"READY=1", "WATCHDOG=1", "STOPPING=1"};
    while (!heard[0] || !heard[1] || !heard[2]) {
        char text[64] = "";
        assert_true(recv(fd, text, sizeof text - 1, 0) > 0);
        for (int i = 0; i < 3; i++)
            heard[i] = heard[i] || strcmp(text, words[i]) == 0;
        if (heard[0] && heard[1] && !heard[2])
            kill(run.pid, SIGTERM);
        if (heard[2])
            assert_true(heard[0]);
    }
    end(&run);
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    close(fd);
    unlink(address.sun_path);
}

static void
more_workers_than_seats_are_refused(void **state)
{
    (void)state;
    struct supervisor settings = settings_for("serve");
    settings.inside_workers = 60;
    int status = 0;
    owed_error err;
    assert_int_equal(supervisor_run(&settings, NULL, &status, &err), OWED_LIMIT);
    assert_string_equal(err.text,
        "a relay has at most 63 workers, and 60 for inside and 4 for outside "
        "receivers were asked for");
}

static void
the_signals_are_given_back_as_they_were(void **state)
{
    (void)state;
    sigset_t before;
    sigset_t after;
    sigprocmask(SIG_SETMASK, NULL, &before);
    struct supervisor settings = settings_for("refuse");
    settings.log.write = NULL;
    int status = 0;
    assert_int_equal(supervisor_run(&settings, NULL, &status, NULL), OWED_OK);
    assert_int_equal(status, 78);
    sigprocmask(SIG_SETMASK, NULL, &after);
    assert_int_equal(sigismember(&after, SIGTERM), sigismember(&before, SIGTERM));
    struct sigaction pipe_action;
    sigaction(SIGPIPE, NULL, &pipe_action);
    assert_ptr_equal(pipe_action.sa_handler, SIG_DFL);
}

/* A crew with one worker that only waits, in reach of a test's hands. */
static void
crew_of_one(struct crew *crew, struct supervisor *settings)
{
    owed_error err;
    assert_int_equal(shared_new("test-1", &dice_system, &crew->shared, &crew->shared_fd, &err), 0);
    crew->settings = settings;
    crew_add(crew, ROLE_INSIDE);
    pid_t child = fork();
    if (child == 0)
        for (;;)
            pause();
    crew->posts[0].state = POST_MANNED;
    crew->posts[0].pid = child;
    atomic_store(&crew->shared->slots[0].ready, true);
}

static void
bury_when_dead(struct crew *crew)
{
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)crew->posts[0].pid, &info, WEXITED | WNOWAIT), 0);
    crew_bury(crew, 0);
    assert_int_equal(crew->posts[0].state, POST_VACANT);
    close(crew->shared_fd);
}

static void
a_kill_that_came_too_late_does_not_count_against_the_next_hand(void **state)
{
    (void)state;
    struct supervisor settings = {0};
    struct crew crew = {0};
    crew_of_one(&crew, &settings);
    struct in_hand hand = {.delivery_id = 42, .started_mono_us = 1000, .timeout_us = 500};
    slot_begin(crew.shared, 0, &hand);
    crew_kill_overdue(&crew, 2000);
    hand.delivery_id = 43;
    slot_begin(crew.shared, 0, &hand);
    bury_when_dead(&crew);
    assert_int_equal(atomic_load(&crew.shared->slots[0].death.cause), DEATH_CALLED_OFF);
    shared_free(crew.shared);
}

static void
a_crash_just_before_our_kill_is_a_crash(void **state)
{
    (void)state;
    struct supervisor settings = {0};
    struct crew crew = {0};
    crew_of_one(&crew, &settings);
    slot_begin(crew.shared, 0, &(struct in_hand){.delivery_id = 42, .timeout_us = 500});
    crew.posts[0].killing = DEATH_TIMEOUT;
    crew.posts[0].killed_turn = atomic_load(&crew.shared->slots[0].turn);
    kill(crew.posts[0].pid, SIGTERM);
    bury_when_dead(&crew);
    assert_int_equal(atomic_load(&crew.shared->slots[0].death.cause), DEATH_ITSELF);
    shared_free(crew.shared);
}

static void
one_that_was_called_off_does_not_run_out_of_time_as_well(void **state)
{
    (void)state;
    struct supervisor settings = {0};
    struct crew crew = {0};
    crew_of_one(&crew, &settings);
    slot_begin(crew.shared, 0, &(struct in_hand){.delivery_id = 42, .timeout_us = 500});
    crew_kill(&crew, false);
    crew_kill_overdue(&crew, INT64_MAX - 1);
    bury_when_dead(&crew);
    assert_int_equal(atomic_load(&crew.shared->slots[0].death.cause), DEATH_CALLED_OFF);
    shared_free(crew.shared);
}

static void
a_death_that_nobody_made_good_is_not_forgotten(void **state)
{
    (void)state;
    struct supervisor settings = {0};
    struct crew crew = {0};
    crew_of_one(&crew, &settings);
    atomic_store(&crew.shared->slots[0].death.cause, DEATH_ITSELF);
    crew.shared->slots[0].death.signal = SIGSEGV;
    slot_waits(crew.shared, 0, slot_works(crew.shared, 0));
    kill(crew.posts[0].pid, SIGKILL);
    bury_when_dead(&crew);
    assert_int_equal(crew.shared->slots[0].death.signal, SIGSEGV);
    assert_false(atomic_load(&crew.shared->slots[0].idle));
    shared_free(crew.shared);
}

static void
a_worker_on_time_is_left_alone(void **state)
{
    (void)state;
    struct supervisor settings = {0};
    struct crew crew = {0};
    crew_of_one(&crew, &settings);
    struct in_hand hand = {.delivery_id = 42, .started_mono_us = 1000, .timeout_us = 500};
    slot_begin(crew.shared, 0, &hand);
    crew_kill_overdue(&crew, 1499);
    assert_int_equal(crew.posts[0].killing, DEATH_NONE);
    assert_int_equal(crew_next_us(&crew), 1500);
    slot_phase(crew.shared, 0, PHASE_ACKNOWLEDGING);
    crew_kill_overdue(&crew, 99999);
    assert_int_equal(crew.posts[0].killing, DEATH_NONE);
    crew_kill(&crew, true);
    assert_int_equal(waitpid(crew.posts[0].pid, NULL, 0), crew.posts[0].pid);
    close(crew.shared_fd);
    shared_free(crew.shared);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stop_ends_all_workers_and_the_relay_well),
        cmocka_unit_test(a_crash_in_a_receiver_is_told_to_the_next_worker),
        cmocka_unit_test(an_exit_in_a_receiver_is_told_to_the_next_worker),
        cmocka_unit_test(a_receiver_past_its_timeout_is_killed_and_told_as_ours),
        cmocka_unit_test(a_kill_from_outside_is_told_as_not_ours),
        cmocka_unit_test(a_worker_that_cannot_be_helped_ends_the_relay_with_its_status),
        cmocka_unit_test(five_crashes_before_being_ready_end_the_relay),
        cmocka_unit_test(a_store_that_goes_away_later_does_not_end_the_relay),
        cmocka_unit_test(a_store_that_goes_away_ends_a_relay_that_was_to_run_once),
        cmocka_unit_test(a_worker_that_leaves_unasked_is_followed_by_another),
        cmocka_unit_test(a_second_signal_kills_at_once),
        cmocka_unit_test(a_grace_that_is_over_cuts_off_and_counts_nothing),
        cmocka_unit_test(workers_die_with_their_supervisor),
        cmocka_unit_test(once_ends_when_all_have_seen_the_last_commit),
        cmocka_unit_test(a_limit_that_is_used_up_ends_the_relay),
        cmocka_unit_test(workers_that_have_done_their_passes_end_the_relay),
        cmocka_unit_test(outside_functions_get_workers_of_their_own),
        cmocka_unit_test(workers_get_standard_descriptors_and_nothing_of_the_relay),
        cmocka_unit_test(a_reader_of_the_log_that_goes_away_ends_nothing),
        cmocka_unit_test(the_service_manager_hears_ready_the_beat_and_stopping),
        cmocka_unit_test(more_workers_than_seats_are_refused),
        cmocka_unit_test(the_signals_are_given_back_as_they_were),
        cmocka_unit_test(a_kill_that_came_too_late_does_not_count_against_the_next_hand),
        cmocka_unit_test(a_crash_just_before_our_kill_is_a_crash),
        cmocka_unit_test(one_that_was_called_off_does_not_run_out_of_time_as_well),
        cmocka_unit_test(a_death_that_nobody_made_good_is_not_forgotten),
        cmocka_unit_test(a_worker_on_time_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
