/* SPDX-License-Identifier: MIT
 *
 * said.c - exit statuses and the outcome line.
 */
#include "receive/said.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/moment.h"
#include "base/text.h"

#define LINE_DEPTH 32
#define REASON_BYTES 1024
#define ARENA_BYTES ((size_t)256 * 1024)

struct exit_meaning {
    int status;
    const char *name;
    owed_verdict verdict;
};

static const struct exit_meaning meanings[] = {
    {64, "EX_USAGE", OWED_VERDICT_PERMANENT},
    {65, "EX_DATAERR", OWED_VERDICT_PERMANENT},
    {66, "EX_NOINPUT", OWED_VERDICT_FAILED},
    {67, "EX_NOUSER", OWED_VERDICT_PERMANENT},
    {68, "EX_NOHOST", OWED_VERDICT_PERMANENT},
    {69, "EX_UNAVAILABLE", OWED_VERDICT_PERMANENT},
    {70, "EX_SOFTWARE", OWED_VERDICT_FAILED},
    {71, "EX_OSERR", OWED_VERDICT_FAILED},
    {72, "EX_OSFILE", OWED_VERDICT_FAILED},
    {73, "EX_CANTCREAT", OWED_VERDICT_FAILED},
    {74, "EX_IOERR", OWED_VERDICT_FAILED},
    {75, "EX_TEMPFAIL", OWED_VERDICT_FAILED},
    {76, "EX_PROTOCOL", OWED_VERDICT_FAILED},
    {77, "EX_NOPERM", OWED_VERDICT_PERMANENT},
    {78, "EX_CONFIG", OWED_VERDICT_PERMANENT},
};

static const struct exit_meaning *
find(int status)
{
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++) {
        if (meanings[i].status == status)
            return &meanings[i];
    }
    return NULL;
}

owed_verdict
exit_verdict(int status)
{
    if (status == 0)
        return OWED_VERDICT_DONE;
    const struct exit_meaning *meaning = find(status);
    return meaning == NULL ? OWED_VERDICT_FAILED : meaning->verdict;
}

const char *
exit_name(int status)
{
    const struct exit_meaning *meaning = find(status);
    return meaning == NULL ? NULL : meaning->name;
}

/* What a line says, read. */
struct line {
    const char *what;
    char reason[REASON_BYTES];
    struct json object;
};

/* read_text decodes a string member into ret, cleaned; false: no such string. */
static bool
read_text(struct json object, const char *key, char *ret, size_t size)
{
    struct json value;
    if (!json_member(object, key, &value) || value.type != JSON_STRING)
        return false;
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, ARENA_BYTES);
    struct str text;
    // A lone surrogate has no UTF-8: then the text is shown as it was written.
    if (json_read_string(value, &arena, &text, NULL) != OWED_OK)
        text = (struct str){value.text.p + 1, value.text.len - 2};
    text_clean(ret, size, text, false);
    return true;
}

static owed_outcome
say_done(owed_delivery *delivery, const struct line *line)
{
    (void)delivery;
    (void)line;
    return owed_done();
}

static owed_outcome
say_failed(owed_delivery *delivery, const struct line *line)
{
    return owed_failed(delivery, "%s: %s", line->what, line->reason);
}

static owed_outcome
say_permanent(owed_delivery *delivery, const struct line *line)
{
    return owed_permanent(delivery, "%s: %s", line->what, line->reason);
}

/* read_seconds reads the member of a word that waits; false: *ret_refusal says why not. */
static bool
read_seconds(owed_delivery *delivery, const struct line *line, const char *word, const char *right,
    double *ret_seconds, owed_outcome *ret_refusal)
{
    struct json number;
    if (!json_member(line->object, "seconds", &number)) {
        *ret_refusal = owed_failed(delivery, "%s: it said %s without \"seconds\", %s: %s",
            line->what, word, right, line->reason);
        return false;
    }
    bool is_number = number.type == JSON_NUMBER && json_double(number, ret_seconds);
    if (is_number && *ret_seconds >= 0)
        return true;
    *ret_refusal = owed_failed(delivery, "%s: it said %s with \"seconds\" of %.*s; %s is right: %s",
        line->what, word, number.text.len < 40 ? (int)number.text.len : 40, number.text.p, right,
        line->reason);
    return false;
}

static owed_outcome
say_retry_after(owed_delivery *delivery, const struct line *line)
{
    double seconds;
    owed_outcome refusal;
    if (!read_seconds(delivery, line, "retry_after", "a number from 0", &seconds, &refusal))
        return refusal;
    return owed_retry_after(delivery, seconds, "%s: %s", line->what, line->reason);
}

static owed_outcome
say_defer(owed_delivery *delivery, const struct line *line)
{
    double seconds;
    owed_outcome refusal;
    if (!read_seconds(delivery, line, "defer", "a number above 0", &seconds, &refusal))
        return refusal;
    if (seconds == 0)
        return owed_failed(delivery,
            "%s: it said defer with \"seconds\" of 0; a number above 0 is right: %s", line->what,
            line->reason);
    return owed_defer(delivery, seconds, "%s: %s", line->what, line->reason);
}

static owed_outcome
say_not_yet(owed_delivery *delivery, const struct line *line)
{
    char until[64];
    int64_t until_us;
    if (!read_text(line->object, "until", until, sizeof until))
        return owed_failed(delivery,
            "%s: it said not_yet without \"until\", a moment such as 2026-11-29T15:04:05Z: %s",
            line->what, line->reason);
    if (!moment_read(until, &until_us))
        return owed_failed(delivery,
            "%s: it said not_yet with \"until\" of \"%s\"; a moment such as "
            "2026-11-29T15:04:05Z is right: %s",
            line->what, until, line->reason);
    return owed_not_yet(delivery, until_us, "%s: %s", line->what, line->reason);
}

static const struct word {
    const char *word;
    owed_outcome (*say)(owed_delivery *delivery, const struct line *line);
} words[] = {
    {"done", say_done},
    {"failed", say_failed},
    {"permanent", say_permanent},
    {"retry_after", say_retry_after},
    {"defer", say_defer},
    {"not_yet", say_not_yet},
};

bool
said_outcome(
    owed_delivery *delivery, const char *what, struct str output, owed_outcome *ret_outcome)
{
    struct str text = text_last_line(output);
    struct line line = {.what = what};
    struct json outcome;
    if (text.len == 0 || text.p[0] != '{' || json_check(text, LINE_DEPTH, NULL) != OWED_OK)
        return false;
    line.object = json_root(text);
    if (!json_member(line.object, "outcome", &outcome))
        return false;
    if (!read_text(line.object, "reason", line.reason, sizeof line.reason))
        snprintf(line.reason, sizeof line.reason, "it gave no reason");

    char said[64];
    bool is_text = read_text(line.object, "outcome", said, sizeof said);
    for (size_t i = 0; is_text && i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(said, words[i].word) == 0) {
            *ret_outcome = words[i].say(delivery, &line);
            return true;
        }
    }
    if (!is_text)
        text_clean(said, sizeof said, outcome.text, false);
    *ret_outcome = owed_failed(delivery,
        "%s: unknown outcome %s; the known words are done, failed, permanent, retry_after, defer "
        "and not_yet",
        what, said);
    return true;
}
