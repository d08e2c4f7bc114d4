/* SPDX-License-Identifier: MIT
 *
 * check.c - what is refused when it is declared, so that it cannot fail when it runs.
 */
#include "declare/check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/moment.h"

/* as_in_conf writes the names of members as the keys of owed.conf that they are there. */
static void
as_in_conf(char *text)
{
    static const char *const names[] = {"backoff_base", "backoff_cap", "ca_file",
        "credentials_file", "give_up_after", "in_flight", "max_attempts", "password_file",
        "secret_file"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        for (char *found = text; (found = strstr(found, names[i])) != NULL;)
            for (const char *end = found + strlen(names[i]); found < end; found++)
                *found = *found == '_' ? '-' : *found;
}

owed_status
refuse(const struct declaration *declaration, owed_error *err, const char *format, ...)
{
    char text[sizeof err->text];
    char shown[SHOWN_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const char *where = declaration->where;
    if (where[0] != '\0')
        as_in_conf(text);
    return fail(err, OWED_CONFIG, "%s%sreceiver \"%s\": %s", where, where[0] == '\0' ? "" : ": ",
        show(or_empty(declaration->receiver->key), shown), text);
}

const char *
receiver_event_name(const owed_receiver *receiver)
{
    if (receiver->event != NULL)
        return or_empty(receiver->event->name);
    return or_empty(receiver->event_name);
}

/* Which of these it has, as a bit for each. */
static unsigned
runners_given(const owed_receiver *receiver)
{
    return (unsigned)(receiver->run != NULL) << RUN_FUNCTION |
        (unsigned)(receiver->webhook != NULL) << RUN_WEBHOOK |
        (unsigned)(receiver->exec != NULL) << RUN_EXEC |
        (unsigned)(receiver->file != NULL) << RUN_FILE |
        (unsigned)receiver->discard << RUN_DISCARD |
        (unsigned)(receiver->pipe != NULL) << RUN_PIPE |
        (unsigned)(receiver->publish != NULL) << RUN_PUBLISH |
        (unsigned)(receiver->start != NULL) << RUN_START |
        (unsigned)(receiver->endpoints != NULL) << RUN_ENDPOINT;
}

enum runner
receiver_runner(const owed_receiver *receiver)
{
    return (enum runner)__builtin_ctz(runners_given(receiver));
}

static owed_status
check_key(const struct declaration *declaration, owed_error *err)
{
    owed_error why;
    if (check_name("a key", declaration->receiver->key, &why) == OWED_OK)
        return OWED_OK;
    return refuse(declaration, err,
        "a key is 1 to %d letters, digits, \"_\", \".\" and \"-\", such as \"shop.billing\"",
        LIMIT_KEY_BYTES);
}

static owed_status
check_event(const struct declaration *declaration, owed_error *err)
{
    const owed_receiver *receiver = declaration->receiver;
    char shown[SHOWN_BYTES];
    char other[SHOWN_BYTES];
    const char *name = receiver_event_name(receiver);
    if (receiver->event == NULL && receiver->event_name == NULL)
        return refuse(declaration, err, "no event; name the one that it wants, or \"*\" for any");
    if (receiver->event != NULL && receiver->event_name != NULL &&
        strcmp(name, receiver->event_name) != 0)
        return refuse(declaration, err,
            "event says \"%s\" and event_name says \"%s\"; one of them alone is right",
            show(name, shown), show(receiver->event_name, other));

    owed_error why;
    if (strcmp(name, owed_any_event.name) == 0 || check_name("event", name, &why) == OWED_OK)
        return OWED_OK;
    return refuse(declaration, err, "%s", why.text);
}

static owed_status
check_runner(const struct declaration *declaration, owed_error *err)
{
    int count = __builtin_popcount(runners_given(declaration->receiver));
    if (count == 1)
        return OWED_OK;
    return refuse(declaration, err,
        "%s; exactly one of run or start (in C), webhook, exec, pipe, publish, file, discard, endpoints and (in owed.conf) notify is right",
        count == 0 ? "nothing says what it does" : "several things say what it does");
}

/* The numbers of a receiver: what they are called, where they stand, and up to where they go. */
struct number {
    const char *name;
    size_t offset;
    bool is_duration; // int64_t microseconds; else int32_t
    bool may_be_none; // where 0 is no relay's setting
    int64_t max;
    const char *zero; // what 0 means; NULL: the relay's setting
};
#define DURATION(name_, member_) \
    { \
        .name = (name_), .offset = offsetof(owed_receiver, member_), .is_duration = true, \
        .max = LIMIT_DURATION_US \
    }
#define BOUND(name_, member_) \
    { \
        .name = (name_), .offset = offsetof(owed_receiver, member_), .is_duration = true, \
        .may_be_none = true, .max = LIMIT_DURATION_US \
    }
static const struct number numbers[] = {
    {.name = "max_attempts",
        .offset = offsetof(owed_receiver, max_attempts),
        .max = LIMIT_MAX_ATTEMPTS},
    DURATION("backoff_base", backoff_base_us),
    DURATION("backoff_cap", backoff_cap_us),
    DURATION("lease", lease_us),
    DURATION("timeout", timeout_us),
    {.name = "in_flight",
        .offset = offsetof(owed_receiver, in_flight),
        .max = LIMIT_PIPE_IN_FLIGHT,
        .zero = "16, and 500 of publish"},
    BOUND("due", due_us),
    BOUND("give_up_after", give_up_after_us),
};
#define NUMBERS (sizeof numbers / sizeof numbers[0])

static int64_t
number_of(const owed_receiver *receiver, const struct number *number)
{
    const char *p = (const char *)receiver + number->offset;
    return number->is_duration ? *(const int64_t *)(const void *)p
                               : *(const int32_t *)(const void *)p;
}

static owed_status
check_numbers(const struct declaration *declaration, owed_error *err)
{
    for (size_t i = 0; i < NUMBERS; i++) {
        const struct number *number = &numbers[i];
        int64_t value = number_of(declaration->receiver, number);
        char longest[MOMENT_BYTES];
        if (value >= 0 && value <= number->max)
            continue;
        if (!number->is_duration)
            return refuse(declaration, err,
                "%s is %" PRId64 "; 1 to %" PRId64 " is right, or 0 for %s", number->name, value,
                number->max, number->zero != NULL ? number->zero : "the relay's setting");
        return refuse(declaration, err,
            "%s is %" PRId64 " microseconds; up to %s is right, or 0 for %s", number->name, value,
            duration_write(number->max, longest),
            number->may_be_none ? "none" : "the relay's setting");
    }
    return OWED_OK;
}

static owed_status
check_curve(const struct declaration *declaration, owed_error *err)
{
    const owed_receiver *receiver = declaration->receiver;
    char base[MOMENT_BYTES];
    char cap[MOMENT_BYTES];
    if (receiver->backoff_base_us == 0 || receiver->backoff_cap_us == 0 ||
        receiver->backoff_cap_us >= receiver->backoff_base_us)
        return OWED_OK;
    return refuse(declaration, err,
        "the backoff cap of %s is below the base of %s; a cap at or above the base is right",
        duration_write(receiver->backoff_cap_us, cap),
        duration_write(receiver->backoff_base_us, base));
}

/* durable_only returns the name of something that only a durable receiver may declare; NULL: none. */
static const char *
durable_only(const owed_receiver *receiver)
{
    const struct {
        bool given;
        const char *name;
    } rows[] = {
        {receiver->start != NULL, "start"},
        {receiver->webhook != NULL, "webhook"},
        {receiver->exec != NULL, "exec"},
        {receiver->pipe != NULL, "pipe"},
        {receiver->publish != NULL, "publish"},
        {receiver->file != NULL, "file"},
        {receiver->discard, "discard"},
        {receiver->endpoints != NULL, "endpoints"},
        {receiver->lane != NULL, "lane"},
        {receiver->outside, "outside"},
        {receiver->database_only, "database_only"},
        {receiver->on_failure != NULL, "on_failure"},
        {receiver->eager, "eager"},
        {receiver->targets != NULL, "targets"},
        {receiver->pause != OWED_PAUSE_LANE, "pause"},
        {receiver->site != OWED_SITE_RELAY, "site"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].given)
            return rows[i].name;
    for (size_t i = 0; i < NUMBERS; i++)
        if (number_of(receiver, &numbers[i]) != 0)
            return numbers[i].name;
    return NULL;
}

static owed_status
check_mode(const struct declaration *declaration, owed_error *err)
{
    const owed_receiver *receiver = declaration->receiver;
    if (receiver->mode == OWED_DURABLE)
        return OWED_OK;
    if (receiver->mode != OWED_ON_COMMIT && receiver->mode != OWED_INLINE)
        return refuse(declaration, err,
            "mode is %d; OWED_DURABLE, OWED_ON_COMMIT or OWED_INLINE is right",
            (int)receiver->mode);
    const char *name = durable_only(receiver);
    if (name == NULL)
        return OWED_OK;
    return refuse(
        declaration, err, "%s is for durable receivers only; leave it out, or the mode", name);
}

static owed_status
check_pause(const struct declaration *declaration, owed_error *err)
{
    const owed_receiver *receiver = declaration->receiver;
    if (receiver->pause == OWED_PAUSE_LANE)
        return OWED_OK;
    if (receiver->pause != OWED_PAUSE_TARGET)
        return refuse(declaration, err,
            "pause is %d; OWED_PAUSE_LANE or OWED_PAUSE_TARGET is right", (int)receiver->pause);
    if (receiver->targets == NULL && receiver->endpoints == NULL)
        return refuse(
            declaration, err, "pause is by target, and it has none; leave it out, or add targets");
    return OWED_OK;
}

static owed_status
check_function(const struct declaration *declaration, owed_error *err)
{
    const owed_receiver *receiver = declaration->receiver;
    if (!receiver->database_only)
        return OWED_OK;
    if (receiver->run == NULL)
        return refuse(declaration, err,
            "database_only is for run alone; leave it out, since nothing else stays in this "
            "database");
    if (receiver->outside)
        return refuse(declaration, err,
            "outside and database_only contradict each other; one of them alone is right");
    return OWED_OK;
}

static owed_status
check_site(const struct declaration *declaration, owed_error *err)
{
    const owed_receiver *receiver = declaration->receiver;
    if (receiver->site == OWED_SITE_RELAY)
        return OWED_OK;
    if (receiver->site != OWED_SITE_TASK)
        return refuse(declaration, err, "site is %d; OWED_SITE_RELAY or OWED_SITE_TASK is right",
            (int)receiver->site);
    if (receiver->start != NULL)
        return refuse(declaration, err,
            "start is for a relay, which has many attempts out at once, and the site is a task; run "
            "is right there");
    if (receiver->run != NULL && receiver->timeout_us != 0)
        return refuse(declaration, err,
            "site task and timeout contradict each other, since nobody could end a function where a "
            "task runs it; one of them alone is right");
    return OWED_OK;
}

static owed_status
check_eager(const struct declaration *declaration, owed_error *err)
{
    const owed_receiver *receiver = declaration->receiver;
    // For a task site the firing process calls nothing: it hands on.
    if (!receiver->eager || receiver->site == OWED_SITE_TASK)
        return OWED_OK;
    if (receiver->run == NULL)
        return refuse(declaration, err,
            "eager is for run alone, which the firing process can call; leave it out");
    if (receiver->timeout_us != 0)
        return refuse(declaration, err,
            "eager and timeout contradict each other, since nobody could end an attempt in the "
            "firing process; one of them alone is right");
    return OWED_OK;
}

/* check_receiver_lane takes the bare lane, or the full form where it names the registry's own app. */
static owed_status
check_receiver_lane(const struct declaration *declaration, owed_error *err)
{
    const char *lane = declaration->receiver->lane;
    if (lane == NULL)
        return OWED_OK;
    char shown[SHOWN_BYTES];
    const char *slash = strchr(lane, '/');
    if (slash != NULL) {
        struct str app = {lane, (size_t)(slash - lane)};
        if (!str_is(app, declaration->app))
            return refuse(declaration, err,
                "lane \"%s\" is of another app; a lane of \"%s\" is right", show(lane, shown),
                declaration->app);
        lane = slash + 1;
    }
    owed_error why;
    if (check_lane("lane", lane, &why) == OWED_OK)
        return OWED_OK;
    return refuse(declaration, err, "%s", why.text);
}

owed_status
check_receiver(const struct declaration *declaration, owed_error *err)
{
    static owed_status (*const checks[])(const struct declaration *, owed_error *) = {
        check_key,
        check_event,
        check_runner,
        check_mode,
        check_numbers,
        check_curve,
        check_pause,
        check_function,
        check_site,
        check_eager,
        check_secret,
        check_target,
        check_broker,
        check_endpoints,
        check_receiver_lane,
    };
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        owed_status status = checks[i](declaration, err);
        if (status != OWED_OK)
            return status;
    }
    return OWED_OK;
}
