/* SPDX-License-Identifier: MIT
 *
 * crew.c - starting a worker, and what comes of its end.
 *
 * A receiver that crashes costs a restart at once: its attempts bound how often. A worker that dies
 * of anything else is started after 0, 1, 2, 4 ... seconds; one that cannot even get ready ends the
 * relay, when it says that nothing will help or when it crashes again and again.
 */
#include "deliver/crew.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/notify.h"

#define RESTART_US US_PER_SECOND
#define RESTART_MAX_US (15 * US_PER_SECOND)
#define ROW_OF_CRASHES 5
#define ROW_US (10 * US_PER_SECOND)
#define CANNOT_RUN 127 // as shells have it

static const char *const role_names[ROLE_COUNT] = {
    [ROLE_ALL] = "all",
    [ROLE_INSIDE] = "inside",
    [ROLE_LOOP] = "loop",
    [ROLE_FUNCTION] = "function",
};

static int
post_slot(const struct crew *crew, const struct post *post)
{
    return (int)(post - crew->posts);
}

void
crew_add(struct crew *crew, enum role role)
{
    int slot = crew->shared->slot_count;
    crew->posts[slot] = (struct post){.state = POST_VACANT};
    crew->shared->slots[slot].role = role;
    // Workers check their seat against the count.
    crew->shared->slot_count = slot + 1;
}

/* --- starting --- */

/* become_worker is the child's way to exec; the process has one thread, so all of this may be done. */
static _Noreturn void
become_worker(const struct crew *crew, int slot)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    // A supervisor that died before that call sends no signal any more.
    if (getppid() != crew->shared->supervisor_pid)
        _exit(EX_SOFTWARE);
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &crew->signals, NULL);
    char seat[32];
    snprintf(seat, sizeof seat, "%d:%d", crew->shared_fd, slot);
    setenv(SEAT_VARIABLE, seat, 1);
    if (crew->settings->store != NULL)
        setenv(SEAT_STORE_VARIABLE, crew->settings->store, 1);
    notify_forget();
    close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
    fcntl(crew->shared_fd, F_SETFD, 0);
    const char *program = crew->settings->program;
    execv(program == NULL ? "/proc/self/exe" : program, crew->settings->argv);
    _exit(CANNOT_RUN);
}

static int64_t
pause_us(const struct crew *crew, int crashes)
{
    int64_t us = crew->settings->restart_us > 0 ? crew->settings->restart_us : RESTART_US;
    if (crashes <= 1)
        return 0;
    for (int i = 2; i < crashes && us < RESTART_MAX_US; i++)
        us *= 2;
    return us < RESTART_MAX_US ? us : RESTART_MAX_US;
}

static void
start(struct crew *crew, struct post *post, int64_t now_us)
{
    int slot = post_slot(crew, post);
    pid_t pid = fork();
    if (pid == 0)
        become_worker(crew, slot);
    if (pid < 0) {
        post->start_at_us = now_us + pause_us(crew, ++post->crashes + 1);
        log_say(&crew->settings->log, OWED_LOG_ERROR, "no worker could be started",
            LOG_INT("slot", slot), LOG_INT("errno", errno));
        return;
    }
    post->state = POST_MANNED;
    post->pid = pid;
    post->started_at_us = now_us;
    post->killing = DEATH_NONE;
    atomic_store(&crew->shared->slots[slot].pid, pid);
    log_say(&crew->settings->log, OWED_LOG_DEBUG, "worker started", LOG_INT("slot", slot),
        LOG_TEXT("role", role_names[crew->shared->slots[slot].role]), LOG_INT("pid", pid));
}

void
crew_start(struct crew *crew, int64_t now_us)
{
    for (int i = 0; i < crew->shared->slot_count; i++)
        if (crew->posts[i].state == POST_VACANT && crew->posts[i].start_at_us <= now_us)
            start(crew, &crew->posts[i], now_us);
}

/* --- the end of a worker --- */

static void
close_post(struct crew *crew, struct post *post)
{
    post->state = POST_CLOSED;
    atomic_store(&crew->shared->slots[post_slot(crew, post)].closed, true);
}

struct end {
    int status; // as waitpid has it
    bool was_ready;
    enum phase phase;
};

static bool
is_clean(const struct end *end)
{
    return end->status == 0 && end->phase == PHASE_IDLE;
}

/* why_killed: a kill is ours only where it ended the worker, and only for the hand it was meant for. */
static enum death_cause
why_killed(const struct crew *crew, const struct post *post, const struct end *end)
{
    bool by_kill = WIFSIGNALED(end->status) && WTERMSIG(end->status) == SIGKILL;
    if (post->killing == DEATH_NONE || !by_kill)
        return DEATH_ITSELF;
    const struct slot *slot = &crew->shared->slots[post_slot(crew, post)];
    bool is_same_hand =
        end->phase == PHASE_RUNNING && atomic_load(&slot->turn) == post->killed_turn;
    return post->killing == DEATH_TIMEOUT && is_same_hand ? DEATH_TIMEOUT : DEATH_CALLED_OFF;
}

static void
note_death(struct crew *crew, struct post *post, const struct end *end)
{
    struct slot *slot = &crew->shared->slots[post_slot(crew, post)];
    // One that died before it had made good the death before it had nothing in hand itself.
    if (atomic_load(&slot->death.cause) != DEATH_NONE)
        return;
    slot->death.signal = WIFSIGNALED(end->status) ? WTERMSIG(end->status) : 0;
    slot->death.exit_status = WIFEXITED(end->status) ? WEXITSTATUS(end->status) : 0;
    atomic_store(&slot->death.cause, (int)why_killed(crew, post, end));
}

static void
tell_death(const struct crew *crew, const struct post *post, const struct end *end)
{
    const struct slot *slot = &crew->shared->slots[post_slot(crew, post)];
    char how[64];
    if (WIFSIGNALED(end->status))
        snprintf(how, sizeof how, "SIG%s", or_empty(sigabbrev_np(WTERMSIG(end->status))));
    else
        snprintf(how, sizeof how, "exited with status %d", WEXITSTATUS(end->status));
    bool in_receiver = end->was_ready && end->phase == PHASE_RUNNING;
    log_say(&crew->settings->log, OWED_LOG_WARNING, "worker died",
        LOG_INT("slot", post_slot(crew, post)), LOG_TEXT("role", role_names[slot->role]),
        LOG_INT("pid", post->pid), LOG_TEXT("how", how),
        LOG_TEXT("receiver", in_receiver ? slot->hand.receiver_key : ""),
        LOG_INT("delivery", in_receiver ? slot->hand.delivery_id : 0));
}

/* is_finite tells whether the relay ends by itself: with its work, its attempts or its passes. */
static bool
is_finite(const struct crew *crew)
{
    const struct supervisor *s = crew->settings;
    return s->once || s->limit > 0 || s->passes > 0;
}

/* gives_up tells whether a worker has said that another try is useless. */
static bool
gives_up(const struct crew *crew, const struct post *post, const struct end *end)
{
    static const int statuses[] = {EX_USAGE, EX_DATAERR, EX_UNAVAILABLE, EX_TEMPFAIL, EX_CONFIG};
    // A relay that goes on for ever and has worked before waits for its store to come back, and for its
    // files to be mended.
    if ((post->was_ready && !is_finite(crew)) || !WIFEXITED(end->status))
        return false;
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++)
        if (WEXITSTATUS(end->status) == statuses[i])
            return true;
    return false;
}

/* count_crash tells whether the row of crashes is too long and too quick. */
static bool
count_crash(struct post *post, const struct end *end, int64_t now_us)
{
    if (post->crashes == 0 || now_us - post->started_at_us > ROW_US) {
        post->crashes = 0;
        post->first_of_row_us = now_us;
    }
    post->crashes++;
    return !end->was_ready && !post->was_ready && post->crashes >= ROW_OF_CRASHES &&
        now_us - post->first_of_row_us <= ROW_US;
}

static void
replace(struct crew *crew, struct post *post, const struct end *end, int64_t now_us)
{
    post->state = POST_VACANT;
    post->start_at_us = now_us;
    if (end->phase == PHASE_RUNNING && end->was_ready) {
        post->crashes = 0;
        return;
    }
    if (gives_up(crew, post, end)) {
        crew->failure = WEXITSTATUS(end->status);
        return;
    }
    if (count_crash(post, end, now_us)) {
        crew->failure = EX_SOFTWARE;
        log_say(&crew->settings->log, OWED_LOG_ERROR,
            "workers keep dying before they are ready: the relay ends",
            LOG_INT("deaths", post->crashes));
        return;
    }
    post->start_at_us = now_us + pause_us(crew, post->crashes);
}

/* ends_here: its work is done, or there is nobody left to work for. */
static bool
ends_here(const struct crew *crew, const struct post *post, const struct end *end)
{
    if (crew->abandoned)
        return true;
    if (is_clean(end))
        return crew->stopping || is_finite(crew);
    // During a stop one more is started: it hands back what the dead one held, and ends.
    return crew->stopping && (post->has_last_rites || (!end->was_ready && !post->was_ready));
}

static void
bury(struct crew *crew, struct post *post, int status, int64_t now_us)
{
    struct slot *slot = &crew->shared->slots[post_slot(crew, post)];
    struct end end = {.status = status,
        .was_ready = atomic_exchange(&slot->ready, false),
        .phase = (enum phase)atomic_load(&slot->phase)};
    atomic_store(&slot->pid, 0);
    atomic_store(&slot->idle, false);
    if (!is_clean(&end)) {
        tell_death(crew, post, &end);
        note_death(crew, post, &end);
    }
    post->was_ready = post->was_ready || end.was_ready;
    if (ends_here(crew, post, &end))
        close_post(crew, post);
    else
        replace(crew, post, &end, now_us);
    if (crew->stopping && post->state == POST_VACANT) {
        post->has_last_rites = true;
        post->start_at_us = now_us;
    }
}

void
crew_bury(struct crew *crew, int64_t now_us)
{
    for (int i = 0; i < crew->shared->slot_count; i++) {
        struct post *post = &crew->posts[i];
        int status;
        // By name: other children of this process are none of ours.
        if (post->state == POST_MANNED && waitpid(post->pid, &status, WNOHANG) == post->pid)
            bury(crew, post, status, now_us);
    }
}

/* --- ending them --- */

void
crew_kill_overdue(struct crew *crew, int64_t now_us)
{
    for (int i = 0; i < crew->shared->slot_count; i++) {
        struct post *post = &crew->posts[i];
        unsigned turn = 0;
        if (post->state != POST_MANNED || post->killing != DEATH_NONE ||
            slot_overdue_at(crew->shared, i, &turn) > now_us)
            continue;
        post->killing = DEATH_TIMEOUT;
        post->killed_turn = turn;
        kill(post->pid, SIGKILL);
    }
}

void
crew_kill(struct crew *crew, bool for_good)
{
    crew->abandoned = crew->abandoned || for_good;
    for (int i = 0; i < crew->shared->slot_count; i++) {
        struct post *post = &crew->posts[i];
        if (post->state != POST_MANNED || post->killing != DEATH_NONE)
            continue;
        post->killing = DEATH_CALLED_OFF;
        kill(post->pid, SIGKILL);
    }
}

void
crew_stop(struct crew *crew, int64_t now_us)
{
    crew->stopping = true;
    atomic_store(&crew->shared->stop, 1);
    for (int i = 0; i < crew->shared->slot_count; i++) {
        struct post *post = &crew->posts[i];
        if (post->state == POST_MANNED)
            kill(post->pid, SIGTERM);
        if (post->state != POST_VACANT)
            continue;
        post->has_last_rites =
            post->was_ready && atomic_load(&crew->shared->slots[i].death.cause) != DEATH_NONE;
        post->start_at_us = now_us;
        if (!post->has_last_rites)
            close_post(crew, post);
    }
}

/* --- looking --- */

bool
crew_is_ready(const struct crew *crew)
{
    for (int i = 0; i < crew->shared->slot_count; i++)
        if (crew->posts[i].state != POST_CLOSED && !atomic_load(&crew->shared->slots[i].ready))
            return false;
    return true;
}

bool
crew_is_gone(const struct crew *crew)
{
    for (int i = 0; i < crew->shared->slot_count; i++)
        if (crew->posts[i].state != POST_CLOSED)
            return false;
    return true;
}

static int64_t
post_next_us(const struct crew *crew, int slot)
{
    const struct post *post = &crew->posts[slot];
    unsigned turn;
    if (post->state == POST_VACANT)
        return post->start_at_us;
    if (post->state == POST_MANNED && post->killing == DEATH_NONE)
        return slot_overdue_at(crew->shared, slot, &turn);
    return INT64_MAX;
}

int64_t
crew_next_us(const struct crew *crew)
{
    int64_t next_us = INT64_MAX;
    for (int i = 0; i < crew->shared->slot_count; i++) {
        int64_t us = post_next_us(crew, i);
        if (us < next_us)
            next_us = us;
    }
    return next_us;
}
