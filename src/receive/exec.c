/* SPDX-License-Identifier: MIT
 *
 * exec.c - the life of a program, from its start until every process of its group is gone.
 *
 * A program has ended when its first process has: a grandchild that holds the pipes open holds up
 * nobody. Past its time limit the whole group gets SIGTERM, and after a grace SIGKILL. The first
 * process is reaped last, so that its number, which is the group's, cannot be anybody else's before.
 */
#include "receive/exec.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/moment.h"
#include "base/text.h"
#include "receive/said.h"
#include "receive/spawn.h"
#include "receive/stream.h"

#define EVENTS_AT_ONCE 64
#define LOOK_US INT64_C(20000) // how often a program without a pidfd is looked at

enum stage {
    STAGE_RUNNING,
    STAGE_TERMINATED, // past its limit, SIGTERM sent
    STAGE_KILLED      // SIGKILL sent
};

struct program {
    struct flight *flight; // NULL: abandoned
    struct child child;
    struct stream out;
    struct stream err;
    enum stage stage;
    bool is_over;         // the first process has ended
    int64_t timeout_us;   // its limit
    int64_t next_step_us; // monotonic: when the next signal is due
    struct program *next;
};

static int64_t
now_us(void)
{
    return clock_monotonic_us(&clock_system);
}

static bool
watch(const struct programs *programs, int fd, struct program *program)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = program};
    return epoll_ctl(programs->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

static void
free_program(struct program *program)
{
    stream_close(&program->out);
    stream_close(&program->err);
    if (program->child.pidfd >= 0)
        close(program->child.pidfd);
    free(program);
}

/* look asks whether the first process has ended, and leaves it unreaped. */
static bool
look(const struct program *program, siginfo_t *ret_info)
{
    *ret_info = (siginfo_t){0};
    return waitid(P_PID, (id_t)program->child.pid, ret_info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        ret_info->si_pid != 0;
}

static void
reap(const struct program *program)
{
    siginfo_t info;
    while (waitid(P_PID, (id_t)program->child.pid, &info, WEXITED) != 0 && errno == EINTR)
        continue;
}

/* begin puts a started child on watch. */
static struct program *
begin(struct programs *programs, struct flight *flight, const struct child *child)
{
    struct program *program = calloc(1, sizeof *program);
    if (program == NULL)
        return NULL;
    program->child = *child;
    stream_open(&program->out, child->out);
    stream_open(&program->err, child->err);
    if (!watch(programs, child->out, program) || !watch(programs, child->err, program) ||
        (child->pidfd >= 0 && !watch(programs, child->pidfd, program))) {
        child_kill(&program->child, SIGKILL);
        reap(program);
        free_program(program);
        return NULL;
    }
    program->flight = flight;
    program->timeout_us = flight->timeout_us > 0 ? flight->timeout_us : EXEC_TIMEOUT_US;
    program->next_step_us = now_us() + program->timeout_us;
    return program;
}

void
programs_start(struct programs *programs, struct flight *flight)
{
    owed_delivery *delivery = &flight->delivery;
    const char *path = delivery->receiver->declared.exec;
    owed_error err = {0};
    struct child child;
    if (spawn(delivery, &child, &err) != OWED_OK) {
        landing_add(
            programs->landing, flight, owed_failed(delivery, "exec %s: %s", path, err.text));
        return;
    }
    struct program *program = begin(programs, flight, &child);
    if (program == NULL) {
        landing_add(programs->landing, flight,
            owed_failed(delivery, "exec %s: it could not be watched", path));
        return;
    }
    flight->builtin = program;
    program->next = programs->running;
    programs->running = program;
    programs->count++;
    programs->blind += child.pidfd < 0;
}

/* signal_name writes "SIGSEGV", or "signal 42" for one without a name. */
static const char *
signal_name(int number, char text[static 32])
{
    const char *name = sigabbrev_np(number);
    if (name != NULL)
        snprintf(text, 32, "SIG%s", name);
    else
        snprintf(text, 32, "signal %d", number);
    return text;
}

/* explain_exit: nothing was said, so the exit status decides. */
static owed_outcome
explain_exit(struct program *program, const char *what, int status)
{
    owed_delivery *delivery = &program->flight->delivery;
    owed_verdict verdict = exit_verdict(status);
    if (verdict == OWED_VERDICT_DONE)
        return owed_done();
    char line[1024];
    char name[32] = "";
    text_clean(line, sizeof line, text_last_line(buf_view(&program->err.tail)), false);
    if (exit_name(status) != NULL)
        snprintf(name, sizeof name, " (%s)", exit_name(status));
    const char *colon = line[0] == '\0' ? "" : ": ";
    if (verdict == OWED_VERDICT_PERMANENT)
        return owed_permanent(
            delivery, "%s: exit status %d%s%s%s", what, status, name, colon, line);
    return owed_failed(delivery, "%s: exit status %d%s%s%s", what, status, name, colon, line);
}

static owed_outcome
explain_signal(struct program *program, const char *what, int number)
{
    char name[32];
    char line[1024];
    text_clean(line, sizeof line, text_last_line(buf_view(&program->err.tail)), false);
    return owed_failed(&program->flight->delivery, "%s: killed by %s%s%s", what,
        signal_name(number, name), line[0] == '\0' ? "" : ": ", line);
}

static owed_outcome
explain_timeout(struct program *program, const char *what)
{
    char limit[MOMENT_BYTES];
    return owed_failed(&program->flight->delivery, "%s: still running after %s; ended with %s",
        what, duration_rough(program->timeout_us, limit),
        program->stage == STAGE_KILLED ? "SIGKILL" : "SIGTERM");
}

static void
write_excerpt(const struct program *program, struct flight *flight)
{
    struct str text = str_trim(buf_view(&program->err.tail));
    if (text.len == 0)
        text = str_trim(buf_view(&program->out.tail));
    text_clean(
        flight->excerpt, sizeof flight->excerpt, text_tail(text, sizeof flight->excerpt - 1), true);
}

static void
land(struct programs *programs, struct program *program, const siginfo_t *info)
{
    struct flight *flight = program->flight;
    bool exited = info->si_code == CLD_EXITED;
    char what[512];
    snprintf(what, sizeof what, "exec %s", flight->delivery.receiver->declared.exec);
    flight->builtin = NULL;
    flight->code = exited ? info->si_status : -info->si_status;
    write_excerpt(program, flight);

    owed_outcome outcome;
    if (program->stage != STAGE_RUNNING)
        outcome = explain_timeout(program, what);
    else if (!exited)
        outcome = explain_signal(program, what, info->si_status);
    else if (!said_outcome(&flight->delivery, what, buf_view(&program->out.tail), &outcome))
        outcome = explain_exit(program, what, info->si_status);
    landing_add(programs->landing, flight, outcome);
}

/* is_quiet: nobody of the group can be left but one that closed its output. */
static bool
is_quiet(const struct program *program)
{
    return program->out.fd < 0 && program->err.fd < 0;
}

/* advance sends the signal that is due. */
static void
advance(struct program *program, int64_t now)
{
    if (now < program->next_step_us || program->stage == STAGE_KILLED)
        return;
    bool kills = program->stage == STAGE_TERMINATED;
    child_kill(&program->child, kills ? SIGKILL : SIGTERM);
    program->stage = kills ? STAGE_KILLED : STAGE_TERMINATED;
    int64_t grace_us = program->timeout_us < EXEC_GRACE_US ? program->timeout_us : EXEC_GRACE_US;
    program->next_step_us = kills ? INT64_MAX : now + grace_us;
}

/* settle ends a program whose time has come; false: it goes on. */
static bool
settle(struct programs *programs, struct program *program, int64_t now)
{
    stream_read(&program->out);
    stream_read(&program->err);
    siginfo_t info;
    bool is_over = look(program, &info);
    if (!is_over || program->stage == STAGE_TERMINATED)
        advance(program, now);
    if (!is_over)
        return false;
    if (program->stage == STAGE_TERMINATED && !is_quiet(program)) {
        // The rest of the group has its grace too. The pidfd would wake us all the while.
        if (!program->is_over && program->child.pidfd >= 0)
            epoll_ctl(programs->epoll, EPOLL_CTL_DEL, program->child.pidfd, NULL);
        program->is_over = true;
        return false;
    }
    // What was written before the end is in the pipes by now.
    stream_read(&program->out);
    stream_read(&program->err);
    if (program->stage != STAGE_RUNNING)
        child_kill(&program->child, SIGKILL);
    if (program->flight != NULL)
        land(programs, program, &info);
    reap(program);
    return true;
}

void
programs_step(struct programs *programs)
{
    if (programs->count == 0)
        return;
    // Level-triggered and few: whoever has nothing to say answers at once.
    struct epoll_event events[EVENTS_AT_ONCE];
    int ready = epoll_wait(programs->epoll, events, EVENTS_AT_ONCE, 0);
    int64_t now = now_us();
    if (ready <= 0 && programs->blind == 0 && programs_next_us(programs) > now)
        return;
    struct program **link = &programs->running;
    while (*link != NULL) {
        struct program *program = *link;
        if (!settle(programs, program, now)) {
            link = &program->next;
            continue;
        }
        *link = program->next;
        programs->count--;
        programs->blind -= program->child.pidfd < 0;
        free_program(program);
    }
}

void
programs_abandon(struct programs *programs, struct flight *flight)
{
    (void)programs;
    struct program *program = flight->builtin;
    child_kill(&program->child, SIGKILL);
    program->stage = STAGE_KILLED;
    program->next_step_us = INT64_MAX;
    program->flight = NULL;
    flight->builtin = NULL;
}

int64_t
programs_next_us(const struct programs *programs)
{
    int64_t next = programs->blind > 0 ? now_us() + LOOK_US : INT64_MAX;
    for (const struct program *program = programs->running; program != NULL;
         program = program->next) {
        if (program->next_step_us < next)
            next = program->next_step_us;
    }
    return next;
}

owed_status
programs_open(struct programs *programs, struct landing *landing, owed_error *err)
{
    *programs = (struct programs){.landing = landing};
    programs->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (programs->epoll < 0)
        return fail_native(err, OWED_UNAVAILABLE, errno,
            "programs cannot be watched: epoll_create1: %s", strerrordesc_np(errno));
    return OWED_OK;
}

void
programs_close(struct programs *programs)
{
    while (programs->running != NULL) {
        struct program *program = programs->running;
        programs->running = program->next;
        child_kill(&program->child, SIGKILL);
        reap(program);
        free_program(program);
    }
    if (programs->epoll >= 0)
        close(programs->epoll);
    programs->epoll = -1;
}
