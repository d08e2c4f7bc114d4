/* SPDX-License-Identifier: MIT
 *
 * coprocess.c - the life of a program that stays: started, greeted, given work, ended.
 *
 * It is asked to end by closing its input, then by SIGTERM, then it gets SIGKILL, as its whole group does
 * once its first process is gone.
 */
#include "receive/coprocess.h"

#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/moment.h"
#include "base/text.h"
#include "receive/pipe_line.h"

#define LOOK_US INT64_C(20000)          // how often a program without a pidfd is looked at
#define HEARD_BYTES ((size_t)64 * 1024) // at once: others wait meanwhile
#define HEARD_AT_LAST_BYTES ((size_t)1024 * 1024) // the most that a pipe holds
#define PROBLEM_LINES 100                         // of a second are logged
#define UNSENT_KEPT_BYTES ((size_t)256 * 1024)    // between large payloads
#define UNSENT_BYTES (LIMIT_PAYLOAD_BYTES + (size_t)1024 * 1024)

const char *
coprocess_command(const struct coprocess *coprocess)
{
    return coprocess->receiver->declared.pipe;
}

/* at_most bounds one of our own times by the receiver's. */
static int64_t
at_most(const struct coprocess *coprocess, int64_t us)
{
    int64_t timeout_us = coprocess->receiver->declared.timeout_us;
    return timeout_us > 0 && timeout_us < us ? timeout_us : us;
}

/* --- starting --- */

static bool
watch(const struct coprocess *coprocess, int fd, uint32_t events)
{
    struct epoll_event event = {.events = events};
    event.data.ptr = (void *)(uintptr_t)coprocess;
    return epoll_ctl(coprocess->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

/* rest plans the next start. */
static void
rest(struct coprocess *coprocess, int64_t now_us)
{
    if (coprocess->has_answered || coprocess->pause_us == 0)
        coprocess->pause_us = PIPE_PAUSE_US;
    else if (coprocess->pause_us < PIPE_PAUSE_MAX_US / 2)
        coprocess->pause_us *= 2;
    else
        coprocess->pause_us = PIPE_PAUSE_MAX_US;
    coprocess->stage = COPROCESS_AT_REST;
    coprocess->start_us = now_us + coprocess->pause_us;
    coprocess->next_step_us = INT64_MAX;
}

static void
start(struct coprocess *coprocess, int64_t now_us)
{
    owed_error err = {0};
    coprocess->said_hello = coprocess->has_answered = coprocess->is_blocked = false;
    coprocess->why[0] = coprocess->problem[0] = '\0';
    coprocess->noise = 0;
    const char *key = coprocess->receiver->declared.key;
    int32_t declared = coprocess->receiver->declared.in_flight;
    if (spawn_coprocess(coprocess_command(coprocess), key, &coprocess->child, &coprocess->in,
            &err) != OWED_OK) {
        rest(coprocess, now_us);
        jobs_fail_all(coprocess, err.text, 0);
        return;
    }
    line_reader_open(&coprocess->out, coprocess->child.out);
    line_reader_open(&coprocess->err, coprocess->child.err);
    buf_init(&coprocess->unsent, UNSENT_BYTES);
    coprocess->sent = 0;
    coprocess->limit = declared > 0 ? declared : PIPE_IN_FLIGHT;
    coprocess->stage = COPROCESS_GREETED;
    coprocess->next_step_us = now_us + at_most(coprocess, PIPE_HELLO_US);
    bool is_watched = watch(coprocess, coprocess->child.out, EPOLLIN) &&
        watch(coprocess, coprocess->child.err, EPOLLIN) &&
        (coprocess->child.pidfd < 0 || watch(coprocess, coprocess->child.pidfd, EPOLLIN));
    if (!is_watched)
        coprocess_end(coprocess, now_us, "it could not be watched");
    pipe_line_hello(&coprocess->unsent, key, coprocess->limit);
    coprocess_send(coprocess);
}

/* --- talking --- */

static void
close_input(struct coprocess *coprocess)
{
    if (coprocess->in >= 0)
        close(coprocess->in);
    coprocess->in = -1;
    coprocess->is_blocked = false;
}

static void
set_blocked(struct coprocess *coprocess, bool is_blocked)
{
    if (coprocess->in < 0 || is_blocked == coprocess->is_blocked)
        return;
    coprocess->is_blocked = is_blocked;
    if (is_blocked)
        watch(coprocess, coprocess->in, EPOLLOUT);
    else
        epoll_ctl(coprocess->epoll, EPOLL_CTL_DEL, coprocess->in, NULL);
}

void
coprocess_send(struct coprocess *coprocess)
{
    struct buf *unsent = &coprocess->unsent;
    while (coprocess->in >= 0 && coprocess->sent < unsent->len) {
        ssize_t n =
            write(coprocess->in, unsent->p + coprocess->sent, unsent->len - coprocess->sent);
        if (n > 0)
            coprocess->sent += (size_t)n;
        else if (errno == EAGAIN)
            break;
        else if (errno != EINTR)
            close_input(coprocess); // it reads no more
    }
    set_blocked(coprocess, coprocess->sent < unsent->len);
    if (coprocess->sent < unsent->len)
        return;
    coprocess->sent = 0;
    buf_clear(unsent);
    if (unsent->capacity > UNSENT_KEPT_BYTES) {
        buf_done(unsent);
        buf_init(unsent, UNSENT_BYTES);
    }
}

static void
say_unsaid(struct coprocess *coprocess)
{
    if (coprocess->unsaid_lines == 0)
        return;
    log_say(coprocess->log, OWED_LOG_WARNING,
        "a coprocess wrote more to its standard error than is logged",
        LOG_TEXT("receiver", coprocess->receiver->declared.key),
        LOG_INT("pid", coprocess->child.pid), LOG_INT("lines_left_out", coprocess->unsaid_lines));
    coprocess->unsaid_lines = 0;
}

/* may_say counts a line among those of its second. */
static bool
may_say(struct coprocess *coprocess)
{
    int64_t second = coprocess->looked_us / US_PER_SECOND;
    if (second != coprocess->problem_second) {
        say_unsaid(coprocess);
        coprocess->problem_second = second;
        coprocess->problem_lines = 0;
    }
    if (coprocess->problem_lines < PROBLEM_LINES) {
        coprocess->problem_lines++;
        return true;
    }
    coprocess->unsaid_lines++;
    return false;
}

static void
take_problem(void *state, struct str line, enum line_end end)
{
    (void)end;
    struct coprocess *coprocess = state;
    text_clean(coprocess->problem, sizeof coprocess->problem, line, false);
    if (!may_say(coprocess))
        return;
    char text[1024];
    text_clean(text, sizeof text, line, false);
    log_say(coprocess->log, OWED_LOG_INFO, "a coprocess wrote to its standard error",
        LOG_TEXT("receiver", coprocess->receiver->declared.key),
        LOG_INT("pid", coprocess->child.pid), LOG_TEXT("line", text));
}

static void
hear(struct coprocess *coprocess, size_t most)
{
    line_reader_read(&coprocess->err, most, take_problem, coprocess);
    line_reader_read(&coprocess->out, most, jobs_take, coprocess);
}

/* --- ending --- */

void
coprocess_leave(struct coprocess *coprocess, int64_t now_us)
{
    if (coprocess->stage != COPROCESS_GREETED && coprocess->stage != COPROCESS_READY)
        return;
    close_input(coprocess);
    coprocess->stage = COPROCESS_LEAVING;
    coprocess->next_step_us = now_us + at_most(coprocess, PIPE_GRACE_US);
}

void
coprocess_end(struct coprocess *coprocess, int64_t now_us, const char *why)
{
    if (coprocess->stage == COPROCESS_TERMINATED || coprocess->stage == COPROCESS_KILLED)
        return;
    snprintf(coprocess->why, sizeof coprocess->why, "%s", why);
    close_input(coprocess);
    child_kill(&coprocess->child, SIGTERM);
    coprocess->stage = COPROCESS_TERMINATED;
    coprocess->next_step_us = now_us + at_most(coprocess, PIPE_GRACE_US);
}

/* advance takes the step that is due. */
static void
advance(struct coprocess *coprocess, int64_t now_us)
{
    if (now_us < coprocess->next_step_us)
        return;
    char why[96];
    char limit[MOMENT_BYTES];
    if (coprocess->stage == COPROCESS_GREETED) {
        snprintf(why, sizeof why, "it has not said hello within %s",
            duration_rough(at_most(coprocess, PIPE_HELLO_US), limit));
        coprocess_end(coprocess, now_us, why);
    } else if (coprocess->stage == COPROCESS_LEAVING) {
        coprocess_end(coprocess, now_us, "it did not end when its input was closed");
    } else if (coprocess->stage == COPROCESS_TERMINATED) {
        child_kill(&coprocess->child, SIGKILL);
        coprocess->stage = COPROCESS_KILLED;
        coprocess->next_step_us = INT64_MAX;
    }
}

static bool
look(const struct coprocess *coprocess, siginfo_t *ret_info)
{
    *ret_info = (siginfo_t){0};
    return waitid(P_PID, (id_t)coprocess->child.pid, ret_info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        ret_info->si_pid != 0;
}

/* describe writes how it ended: "killed by SIGSEGV with this delivery in hand: the last line it wrote". */
static void
describe(const struct coprocess *coprocess, const siginfo_t *info, char *text, size_t size)
{
    char by[64];
    const char *name = sigabbrev_np(info->si_status);
    if (info->si_code == CLD_EXITED)
        snprintf(by, sizeof by, "ended with exit status %d", info->si_status);
    else if (name != NULL)
        snprintf(by, sizeof by, "killed by SIG%s", name);
    else
        snprintf(by, sizeof by, "killed by signal %d", info->si_status);
    const char *colon = coprocess->problem[0] == '\0' ? "" : ": ";
    const char *when = coprocess->count > 0 ? " with this delivery in hand" : "";
    if (!coprocess->said_hello)
        when = " before it said hello";
    if (coprocess->why[0] != '\0')
        snprintf(text, size, "%s; ended with %s%s%s", coprocess->why,
            coprocess->stage == COPROCESS_KILLED ? "SIGKILL" : "SIGTERM", colon,
            coprocess->problem);
    else
        snprintf(text, size, "%s%s%s%s", by, when, colon, coprocess->problem);
}

static void
close_all(struct coprocess *coprocess)
{
    child_kill(&coprocess->child, SIGKILL);
    siginfo_t info;
    while (waitid(P_PID, (id_t)coprocess->child.pid, &info, WEXITED) != 0 && errno == EINTR)
        continue;
    close_input(coprocess);
    line_reader_close(&coprocess->out);
    line_reader_close(&coprocess->err);
    buf_done(&coprocess->unsent);
    if (coprocess->child.pidfd >= 0)
        close(coprocess->child.pidfd);
}

static void
end(struct coprocess *coprocess, const siginfo_t *info, int64_t now_us)
{
    hear(coprocess, HEARD_AT_LAST_BYTES); // what was written before the end is in the pipes by now
    char how[600];
    int32_t code = info->si_code == CLD_EXITED ? info->si_status : -info->si_status;
    describe(coprocess, info, how, sizeof how);
    bool is_wanted = coprocess->count == 0 && coprocess->why[0] == '\0' && code == 0;
    if (coprocess->said_hello)
        jobs_settle(coprocess, how, code);
    else
        jobs_fail_all(coprocess, how, code);
    say_unsaid(coprocess);
    close_all(coprocess);
    rest(coprocess, now_us);
    char pause[MOMENT_BYTES];
    log_say(coprocess->log, is_wanted ? OWED_LOG_DEBUG : OWED_LOG_WARNING, "a coprocess ended",
        LOG_TEXT("receiver", coprocess->receiver->declared.key),
        LOG_INT("pid", coprocess->child.pid), LOG_INT("code", code), LOG_TEXT("why", how),
        LOG_INT("lines_without_meaning", coprocess->noise),
        LOG_INT("given_again", coprocess->count),
        LOG_TEXT("next_start_after", duration_rough(coprocess->pause_us, pause)));
}

/* --- a step --- */

/* keep_time ends it where a delivery's time is over. */
static int64_t
keep_time(struct coprocess *coprocess, int64_t now_us)
{
    int64_t next_us;
    char why[96];
    char limit[MOMENT_BYTES];
    if (jobs_watch(coprocess, now_us, &next_us) && coprocess->stage <= COPROCESS_LEAVING) {
        snprintf(why, sizeof why, "still running after %s",
            duration_rough(at_most(coprocess, PIPE_TIMEOUT_US), limit));
        coprocess_end(coprocess, now_us, why);
    }
    return next_us;
}

static void
step_running(struct coprocess *coprocess, int64_t now_us)
{
    siginfo_t info;
    bool is_over = look(coprocess, &info);
    hear(coprocess, HEARD_BYTES);
    if (is_over) {
        end(coprocess, &info, now_us);
        return;
    }
    if (coprocess->stage == COPROCESS_READY)
        jobs_give(coprocess);
    // One that cannot hear, or cannot speak, is of no use.
    if (coprocess->in < 0 || coprocess->out.fd < 0)
        coprocess_leave(coprocess, now_us);
    advance(coprocess, now_us);
}

void
coprocess_step(struct coprocess *coprocess, int64_t now_us)
{
    coprocess->looked_us = now_us;
    coprocess->over_us = INT64_MAX;
    if (coprocess->stage != COPROCESS_AT_REST)
        step_running(coprocess, now_us);
    else if (coprocess->count > 0 && now_us >= coprocess->start_us)
        start(coprocess, now_us);
    if (coprocess->stage != COPROCESS_AT_REST)
        coprocess->over_us = keep_time(coprocess, now_us);
}

int64_t
coprocess_next_us(const struct coprocess *coprocess)
{
    if (coprocess->stage == COPROCESS_AT_REST)
        return coprocess->count > 0 ? coprocess->start_us : INT64_MAX;
    int64_t next_us = coprocess->next_step_us;
    bool has_time = coprocess->stage <= COPROCESS_LEAVING;
    if (has_time && coprocess->over_us < next_us)
        next_us = coprocess->over_us;
    int64_t look_us = coprocess->child.pidfd < 0 ? coprocess->looked_us + LOOK_US : INT64_MAX;
    return look_us < next_us ? look_us : next_us;
}
