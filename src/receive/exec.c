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

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/moment.h"
#include "receive/said.h"
#include "receive/spawn.h"
#include "receive/text.h"

#define CHUNK_BYTES ((size_t)16 * 1024)
#define CHUNKS_AT_ONCE 64 // of one pipe, before the others have their turn
#define EVENTS_AT_ONCE 64

enum stage {
    STAGE_RUNNING,
    STAGE_TERMINATED, // past its limit, SIGTERM sent
    STAGE_KILLED      // SIGKILL sent
};

/* One of our ends of a pipe, and the end of what came through it. */
struct stream {
    int fd; // -1: the other side is closed
    struct buf tail;
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

/* keep_tail appends, and drops from the front what is over the limit. */
static void
keep_tail(struct buf *tail, const char *bytes, size_t len)
{
    if (tail->len + len > LIMIT_EXEC_OUTPUT_BYTES) {
        size_t kept = LIMIT_EXEC_OUTPUT_BYTES - len;
        if (kept > tail->len)
            kept = tail->len;
        if (kept > 0)
            memmove(tail->p, tail->p + (tail->len - kept), kept);
        tail->len = kept;
    }
    buf_add(tail, bytes, len);
}

static void
close_stream(struct stream *stream)
{
    if (stream->fd >= 0)
        close(stream->fd);
    stream->fd = -1;
}

static void
read_stream(struct stream *stream)
{
    char chunk[CHUNK_BYTES];
    for (int i = 0; i < CHUNKS_AT_ONCE && stream->fd >= 0; i++) {
        ssize_t n = read(stream->fd, chunk, sizeof chunk);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n <= 0)
            close_stream(stream);
        else
            keep_tail(&stream->tail, chunk, (size_t)n);
    }
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
    close_stream(&program->out);
    close_stream(&program->err);
    if (program->child.pidfd >= 0)
        close(program->child.pidfd);
    buf_done(&program->out.tail);
    buf_done(&program->err.tail);
    free(program);
}

static void
kill_group(const struct program *program, int signal_number)
{
    kill(-program->child.pid, signal_number);
}

/* look asks whether the first process has ended, and leaves it unreaped. */
static bool
look(const struct program *program, siginfo_t *ret_info)
{
    *ret_info = (siginfo_t){0};
    return waitid(P_PIDFD, (id_t)program->child.pidfd, ret_info, WEXITED | WNOHANG | WNOWAIT) ==
        0 &&
        ret_info->si_pid != 0;
}

static void
reap(const struct program *program)
{
    siginfo_t info;
    while (waitid(P_PIDFD, (id_t)program->child.pidfd, &info, WEXITED) != 0 && errno == EINTR)
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
    program->out.fd = child->out;
    program->err.fd = child->err;
    buf_init(&program->out.tail, LIMIT_EXEC_OUTPUT_BYTES);
    buf_init(&program->err.tail, LIMIT_EXEC_OUTPUT_BYTES);
    if (!watch(programs, child->pidfd, program) || !watch(programs, child->out, program) ||
        !watch(programs, child->err, program)) {
        kill_group(program, SIGKILL);
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
    struct str text = text_trim(buf_view(&program->err.tail));
    if (text.len == 0)
        text = text_trim(buf_view(&program->out.tail));
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
    kill_group(program, kills ? SIGKILL : SIGTERM);
    program->stage = kills ? STAGE_KILLED : STAGE_TERMINATED;
    int64_t grace_us = program->timeout_us < EXEC_GRACE_US ? program->timeout_us : EXEC_GRACE_US;
    program->next_step_us = kills ? INT64_MAX : now + grace_us;
}

/* settle ends a program whose time has come; false: it goes on. */
static bool
settle(struct programs *programs, struct program *program, int64_t now)
{
    read_stream(&program->out);
    read_stream(&program->err);
    siginfo_t info;
    bool is_over = look(program, &info);
    if (!is_over || program->stage == STAGE_TERMINATED)
        advance(program, now);
    if (!is_over)
        return false;
    if (program->stage == STAGE_TERMINATED && !is_quiet(program)) {
        // The rest of the group has its grace too. The pidfd would wake us all the while.
        if (!program->is_over)
            epoll_ctl(programs->epoll, EPOLL_CTL_DEL, program->child.pidfd, NULL);
        program->is_over = true;
        return false;
    }
    // What was written before the end is in the pipes by now.
    read_stream(&program->out);
    read_stream(&program->err);
    if (program->stage != STAGE_RUNNING)
        kill_group(program, SIGKILL);
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
    if (ready <= 0 && programs_next_us(programs) > now)
        return;
    struct program **link = &programs->running;
    while (*link != NULL) {
        struct program *program = *link;
        if (!settle(programs, program, now)) {
            link = &program->next;
            continue;
        }
        *link = program->next;
        free_program(program);
        programs->count--;
    }
}

void
programs_abandon(struct programs *programs, struct flight *flight)
{
    (void)programs;
    struct program *program = flight->builtin;
    kill_group(program, SIGKILL);
    program->stage = STAGE_KILLED;
    program->next_step_us = INT64_MAX;
    program->flight = NULL;
    flight->builtin = NULL;
}

int64_t
programs_next_us(const struct programs *programs)
{
    int64_t next = INT64_MAX;
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
        kill_group(program, SIGKILL);
        reap(program);
        free_program(program);
    }
    if (programs->epoll >= 0)
        close(programs->epoll);
    programs->epoll = -1;
}
