/* SPDX-License-Identifier: MIT
 *
 * coprocess_jobs.c - what a coprocess was given, and what it answers.
 */
#include <stdlib.h>

#include "base/clock.h"
#include "base/moment.h"
#include "base/text.h"
#include "receive/coprocess.h"
#include "receive/pipe_line.h"
#include "receive/said.h"

#define WHAT_BYTES 512
#define UNSENT_ENOUGH ((size_t)64 * 1024) // nothing more is written down meanwhile
#define NOISE_LINES 10                    // of one program are logged

bool
jobs_add(struct coprocess *coprocess, struct flight *flight)
{
    struct job *job = calloc(1, sizeof *job);
    if (job == NULL)
        return false;
    job->flight = flight;
    job->over_us = INT64_MAX;
    flight->builtin = coprocess;
    struct job **link = &coprocess->jobs;
    while (*link != NULL)
        link = &(*link)->next;
    *link = job;
    coprocess->count++;
    return true;
}

/* take_out ends a job; what follows is the next. */
static void
take_out(struct coprocess *coprocess, struct job **link)
{
    struct job *job = *link;
    *link = job->next;
    coprocess->count--;
    free(job);
}

/* land takes a job out and ends its flight, if anybody waits for it. */
static void
land(struct coprocess *coprocess, struct job **link, owed_outcome outcome)
{
    struct flight *flight = (*link)->flight;
    take_out(coprocess, link);
    if (flight == NULL)
        return;
    flight->builtin = NULL;
    landing_add(coprocess->landing, flight, outcome);
}

void
jobs_drop(struct coprocess *coprocess, struct flight *flight)
{
    flight->builtin = NULL;
    for (struct job **link = &coprocess->jobs; *link != NULL; link = &(*link)->next) {
        if ((*link)->flight != flight)
            continue;
        if ((*link)->id == 0)
            take_out(coprocess, link);
        else
            (*link)->flight = NULL;
        return;
    }
}

struct flight *
jobs_recall(struct coprocess *coprocess)
{
    struct flight *first = NULL;
    struct flight **end = &first;
    struct job **link = &coprocess->jobs;
    while (*link != NULL) {
        struct flight *flight = (*link)->flight;
        if ((*link)->id != 0) {
            link = &(*link)->next;
            continue;
        }
        take_out(coprocess, link);
        if (flight == NULL)
            continue;
        flight->builtin = NULL;
        flight->next = NULL;
        *end = flight;
        end = &flight->next;
    }
    return first;
}

static const char *
what_of(const struct coprocess *coprocess, char what[static WHAT_BYTES])
{
    snprintf(what, WHAT_BYTES, "pipe %s", coprocess_command(coprocess));
    return what;
}

/* --- giving --- */

/* give writes a job's line down; false: it was settled instead, and is gone. */
static bool
give(struct coprocess *coprocess, struct job **link)
{
    struct job *job = *link;
    char what[WHAT_BYTES];
    owed_delivery *delivery = &job->flight->delivery;
    size_t before = coprocess->unsent.len;
    if (!pipe_line_delivery(&coprocess->unsent, delivery, coprocess->last_id + 1)) {
        land(coprocess, link,
            owed_permanent(delivery, "%s: the payload is not JSON", what_of(coprocess, what)));
        return false;
    }
    if (coprocess->unsent.failed) {
        // A piece of a line would spoil the next one.
        coprocess->unsent.failed = false;
        coprocess->unsent.len = before;
        land(coprocess, link, owed_failed(delivery, "%s: out of memory", what_of(coprocess, what)));
        return false;
    }
    job->id = ++coprocess->last_id;
    return true;
}

/* compact drops what was sent: what is left is short. */
static void
compact(struct coprocess *coprocess)
{
    struct buf *unsent = &coprocess->unsent;
    if (coprocess->sent == 0)
        return;
    unsent->len -= coprocess->sent;
    memmove(unsent->p, unsent->p + coprocess->sent, unsent->len);
    coprocess->sent = 0;
}

void
jobs_give(struct coprocess *coprocess)
{
    struct job **link = &coprocess->jobs;
    // More may wait than the program wants: they came before its hello.
    int32_t given = 0;
    while (*link != NULL && given < coprocess->limit && coprocess->stage == COPROCESS_READY) {
        if ((*link)->id == 0) {
            if (coprocess->unsent.len - coprocess->sent > UNSENT_ENOUGH)
                break;
            compact(coprocess);
            if (!give(coprocess, link))
                continue;
        }
        given++;
        link = &(*link)->next;
    }
    coprocess_send(coprocess);
}

/* --- what it says --- */

static void
note_noise(struct coprocess *coprocess, const char *what, struct str line)
{
    char text[201];
    text_clean(text, sizeof text, line, false);
    if (++coprocess->noise <= NOISE_LINES)
        log_say(coprocess->log, OWED_LOG_WARNING, "a coprocess said what means nothing",
            LOG_TEXT("receiver", coprocess->receiver->declared.key),
            LOG_INT("pid", coprocess->child.pid), LOG_TEXT("why", what), LOG_TEXT("line", text));
}

static void
take_hello(struct coprocess *coprocess, const struct pipe_said *said, struct str line)
{
    if (coprocess->said_hello || coprocess->stage != COPROCESS_GREETED) {
        note_noise(coprocess, "it has said hello already", line);
        return;
    }
    if (said->version != PIPE_VERSION) {
        char why[128];
        snprintf(why, sizeof why, "it speaks version %lld of the protocol, and version %d is right",
            (long long)said->version, PIPE_VERSION);
        coprocess_end(coprocess, clock_monotonic_us(&clock_system), why);
        return;
    }
    coprocess->said_hello = true;
    coprocess->stage = COPROCESS_READY;
    coprocess->next_step_us = INT64_MAX;
    if (said->in_flight > 0 && said->in_flight < coprocess->limit)
        coprocess->limit = (int32_t)said->in_flight;
}

static struct job **
find(struct coprocess *coprocess, int64_t id)
{
    struct job **link = &coprocess->jobs;
    while (*link != NULL && (*link)->id != id)
        link = &(*link)->next;
    return *link == NULL ? NULL : link;
}

static void
take_answer(struct coprocess *coprocess, struct job **link, struct str line)
{
    char what[WHAT_BYTES];
    struct job *job = *link;
    if (job->is_late)
        return; // it has failed already
    coprocess->has_answered = true;
    owed_outcome outcome = {0};
    if (job->flight != NULL &&
        !said_outcome(&job->flight->delivery, what_of(coprocess, what), line, &outcome))
        outcome = owed_failed(&job->flight->delivery,
            "%s: it answered without an outcome; {\"id\":%lld,\"outcome\":\"done\"} would be one",
            what_of(coprocess, what), (long long)job->id);
    if (job->flight != NULL && outcome.verdict != OWED_VERDICT_DONE)
        snprintf(job->flight->excerpt, sizeof job->flight->excerpt, "%s", coprocess->problem);
    land(coprocess, link, outcome);
}

void
jobs_take(void *state, struct str line, enum line_end end)
{
    struct coprocess *coprocess = state;
    if (end != LINE_WHOLE) {
        note_noise(coprocess,
            end == LINE_LONG ? "the line is longer than 64 KiB" : "the line has no end", line);
        return;
    }
    struct pipe_said said = pipe_line_read(line);
    if (said.word == PIPE_HELLO) {
        take_hello(coprocess, &said, line);
        return;
    }
    struct job **link = said.word == PIPE_NOISE || said.id <= 0 ? NULL : find(coprocess, said.id);
    if (said.word == PIPE_NOISE)
        note_noise(coprocess, "it is neither a hello nor an answer", line);
    else if (link == NULL && said.id > 0 && said.id <= coprocess->last_id)
        note_noise(coprocess, "that delivery is answered already", line);
    else if (link == NULL)
        note_noise(coprocess, "no delivery has that id", line);
    else if (said.word == PIPE_BEGUN)
        (*link)->has_begun = true;
    else
        take_answer(coprocess, link, line);
}

/* --- what is in hand --- */

static int64_t
timeout_us(const struct coprocess *coprocess)
{
    int64_t declared = coprocess->receiver->declared.timeout_us;
    return declared > 0 ? declared : PIPE_TIMEOUT_US;
}

bool
jobs_watch(struct coprocess *coprocess, int64_t now_us, int64_t *ret_next_us)
{
    bool is_over = false;
    *ret_next_us = INT64_MAX;
    for (struct job *job = coprocess->jobs; job != NULL; job = job->next) {
        bool is_in_hand = job->has_begun || (job == coprocess->jobs && job->id != 0);
        if (is_in_hand && job->over_us == INT64_MAX)
            job->over_us = now_us + timeout_us(coprocess);
        if (job->over_us <= now_us)
            is_over = job->is_late = true;
        if (job->over_us < *ret_next_us)
            *ret_next_us = job->over_us;
    }
    return is_over;
}

/* --- when it has ended --- */

static void
fail(struct coprocess *coprocess, struct job **link, const char *how, int32_t code)
{
    char what[WHAT_BYTES];
    struct flight *flight = (*link)->flight;
    owed_outcome outcome = {0};
    if (flight != NULL) {
        outcome = owed_failed(&flight->delivery, "%s: %s", what_of(coprocess, what), how);
        flight->code = code;
        snprintf(flight->excerpt, sizeof flight->excerpt, "%s", coprocess->problem);
    }
    land(coprocess, link, outcome);
}

void
jobs_fail_all(struct coprocess *coprocess, const char *how, int32_t code)
{
    while (coprocess->jobs != NULL)
        fail(coprocess, &coprocess->jobs, how, code);
}

/* is_to_blame: among the jobs of a program that has ended, this one has failed. */
static bool
is_to_blame(
    const struct coprocess *coprocess, const struct job *job, bool some_late, bool some_begun)
{
    if (some_late)
        return job->is_late;
    return some_begun ? job->has_begun : job == coprocess->jobs;
}

void
jobs_settle(struct coprocess *coprocess, const char *how, int32_t code)
{
    bool some_late = false;
    bool some_begun = false;
    for (const struct job *job = coprocess->jobs; job != NULL; job = job->next) {
        some_late = some_late || job->is_late;
        some_begun = some_begun || job->has_begun;
    }
    bool is_done = false; // of those that did not begin only the first is to blame
    for (struct job **link = &coprocess->jobs; *link != NULL;) {
        struct job *job = *link;
        if (!is_done && is_to_blame(coprocess, job, some_late, some_begun)) {
            is_done = !some_late && !some_begun;
            fail(coprocess, link, how, code);
        } else if (job->flight == NULL) {
            take_out(coprocess, link);
        } else {
            job->id = 0;
            job->has_begun = false;
            job->over_us = INT64_MAX;
            link = &job->next;
        }
    }
}

void
jobs_free(struct coprocess *coprocess)
{
    while (coprocess->jobs != NULL)
        take_out(coprocess, &coprocess->jobs);
}
