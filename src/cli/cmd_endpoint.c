/* SPDX-License-Identifier: MIT
 *
 * cmd_endpoint.c - owed endpoint: where webhooks go that customers asked for.
 */
#include <stdio.h>

#include "base/clock.h"
#include "cli/act.h"
#include "cli/endpoint_shown.h"
#include "cli/filter.h"
#include "cli/known.h"
#include "cli/rows.h"
#include "receive/endpoint.h"
#include "receive/parcel.h"
#include "store/look.h"

#define DAY_US (INT64_C(24) * 3600 * US_PER_SECOND)

static int run_endpoint(struct cli *cli);

static const struct option endpoint_options[] = {
    {.name = "event",
        .letter = 'e',
        .type = OPTION_LIST,
        .argument = "NAME",
        .help =
            "add: an event that it wants, \"shop.*\" for all that begin so, or \"*\"; again for more"},
    {.name = "name", .type = OPTION_TEXT, .argument = "TEXT", .help = "add: what people call it"},
    {.name = "tenant",
        .type = OPTION_TEXT,
        .argument = "TENANT",
        .help = "add: whose it is; list: those of this one alone"},
    {.name = "format",
        .type = OPTION_TEXT,
        .argument = "WORD",
        .help =
            "add: the body is an envelope around the payload (unless told), raw, or of cloudevents"},
    {.name = "signing",
        .type = OPTION_TEXT,
        .argument = "WORD",
        .help = "add: v1, by a secret that both know (unless told), or v1a, by a pair of keys"},
    {.name = "filter",
        .type = OPTION_TEXT,
        .argument = "JSON",
        .help = "add: what the payload must hold, such as {\"/type\":[\"new\",\"paid\"]}"},
    {.name = "rate",
        .type = OPTION_INT,
        .argument = "N",
        .min = 1,
        .max = 100000,
        .help = "add: so many requests a second of one relay"},
    {.name = "overlap",
        .type = OPTION_DURATION,
        .argument = "TIME",
        .help =
            "rotate: for how long the old secret signs as well; one day unless told, 0 not at all"},
    {.name = "reason", .type = OPTION_TEXT, .argument = "TEXT", .help = "disable, pause: why"},
    {.name = "until",
        .type = OPTION_TIME,
        .argument = "TIME",
        .help = "pause: a relay resumes it then, within a minute; until it is resumed unless told"},
    OPTION_JSON_LINES,
    {.name = NULL},
};

const struct command cmd_endpoint = {
    .name = "endpoint",
    .summary = "add, list and look after the endpoints of webhooks",
    .usage =
        "add URL|list|show ID|rotate ID|disable ID|enable ID|pause ID|resume ID|test ID|remove ID",
    .text =
        "An endpoint is where a customer wants to hear of events. What is fired is owed to each that has subscribed to its name, a "
        "delivery each, and sent as Standard Webhooks say, by the receiver owed.webhooks:\n\n"
        "    [receiver \"owed.webhooks\"]\n"
        "    event = *\n"
        "    endpoints = yes\n\n"
        "add prints the id and what the customer verifies with: a secret, which is not shown again, or a public key. Its URL may lead to no address that is not "
        "on the internet, unless allow names its network; that is checked when it is added and before every connection. "
        "A URL, an event or a filter that is refused ends it with 65, a host that cannot be looked up with 69. "
        "Redirects are followed where redirects says how many: 307 and 308, at the same host. "
        "rotate prints a new secret; for the overlap both sign. While an overlap lasts, another rotation is refused, but for one with --overlap 0, which ends both.\n\n"
        "disable lets nothing more be owed to it, and what is, also what a pause has kept, ends without a request; so it does when it is removed. An endpoint is disabled at once when "
        "it answers 410, and when its last deliveries are dead (disable-after); the event owed.EndpointDisabled says so once. "
        "enable ends that.\n\n"
        "pause keeps what is owed to it, and what is fired meanwhile, until resume; nothing of it is attempted, given up or dead "
        "for that. The others go on. test sends owed.Ping at once, also to one that is paused or disabled, and prints what came of it; the exit code is 1 where it was not taken. But for 410 it counts for nothing.\n\n"
        "What each attempt came to is listed by owed attempts.",
    .examples = "    owed endpoint add https://hooks.example/in --event 'shop.*'\n"
                "    owed endpoint rotate ep_0123456789abcdef01234567 --overlap 2d\n"
                "    owed endpoint list --json | jq -r 'select(.disabled_at != null) | .id'",
    .options = endpoint_options,
    .max_operands = 2,
    .run = run_endpoint,
};

static int
open_declared(struct cli *cli)
{
    if (cli_declare(cli) != OWED_OK || cli_open(cli, cli->registry) != OWED_OK)
        return cli_fail(cli);
    return EXIT_DONE;
}

static int
read_words(struct cli *cli, owed_endpoint *endpoint)
{
    const char *format = options_text(cli->flags, "format");
    const char *signing = options_text(cli->flags, "signing");
    if (format != NULL && !format_of(format, &endpoint->format))
        return cli_usage(cli, "format '%s' is none of envelope, raw, cloudevents", format);
    if (signing != NULL && !signing_of(signing, &endpoint->signing))
        return cli_usage(cli, "signing '%s' is neither v1 nor v1a", signing);
    return EXIT_DONE;
}

/* warn_of_unknown warns of events that nobody declared, which may be fired all the same. */
static owed_status
warn_of_unknown(struct cli *cli, const char *const *events)
{
    struct known known;
    owed_status status = known_load(cli, &known);
    for (size_t i = 0; events[i] != NULL && status == OWED_OK; i++)
        if (strchr(events[i], '*') == NULL)
            known_warn(cli, &known, events[i]);
    return status;
}

static int
add(struct cli *cli, const char *url)
{
    char id[OWED_ENDPOINT_ID_BYTES];
    char secret[OWED_ENDPOINT_SECRET_BYTES];
    owed_endpoint endpoint = {
        .url = url,
        .events = options_list(cli->flags, "event"),
        .name = options_text(cli->flags, "name"),
        .tenant = options_text(cli->flags, "tenant"),
        .filter = options_text(cli->flags, "filter"),
        .rate = (int32_t)options_number(cli->flags, "rate"),
    };
    int code = read_words(cli, &endpoint);
    if (code == EXIT_DONE)
        code = open_declared(cli);
    if (code != EXIT_DONE)
        return code;
    if (owed_endpoint_add(cli->owed, &endpoint, id, secret, &cli->err) != OWED_OK ||
        warn_of_unknown(cli, endpoint.events) != OWED_OK)
        return cli_fail(cli);
    endpoint_print_secret(cli, id, secret);
    explicit_bzero(secret, sizeof secret);
    return EXIT_DONE;
}

static int
rotate(struct cli *cli, const char *id)
{
    char secret[OWED_ENDPOINT_SECRET_BYTES];
    int64_t overlap_us =
        options_is_set(cli->flags, "overlap") ? options_number(cli->flags, "overlap") : DAY_US;
    if (owed_endpoint_rotate(cli->owed, id, NULL, overlap_us, secret, &cli->err) != OWED_OK)
        return cli_fail(cli);
    endpoint_print_secret(cli, id, secret);
    explicit_bzero(secret, sizeof secret);
    return EXIT_DONE;
}

static int
disable(struct cli *cli, const char *id)
{
    const char *why = options_text(cli->flags, "reason");
    if (owed_endpoint_disable(cli->owed, id, why, &cli->err) != OWED_OK)
        return cli_fail(cli);
    return EXIT_DONE;
}

static int
enable(struct cli *cli, const char *id)
{
    if (owed_endpoint_enable(cli->owed, id, &cli->err) != OWED_OK)
        return cli_fail(cli);
    return EXIT_DONE;
}

static int
pause_one(struct cli *cli, const char *id)
{
    const char *why = options_text(cli->flags, "reason");
    int64_t until_us = options_number(cli->flags, "until");
    if (owed_endpoint_pause(cli->owed, id, until_us, why, &cli->err) != OWED_OK)
        return cli_fail(cli);
    return EXIT_DONE;
}

static int
resume_one(struct cli *cli, const char *id)
{
    if (owed_endpoint_resume(cli->owed, id, &cli->err) != OWED_OK)
        return cli_fail(cli);
    return EXIT_DONE;
}

static int
forget(struct cli *cli, const char *id)
{
    if (owed_endpoint_remove(cli->owed, id, &cli->err) != OWED_OK)
        return cli_fail(cli);
    return EXIT_DONE;
}

/* test prints the attempt, in which all stands. */
static int
test(struct cli *cli, const char *id)
{
    int64_t delivery = 0;
    const char *status = NULL;
    struct attempt_row *rows = NULL;
    size_t count = 0;
    int code = open_declared(cli);
    if (code != EXIT_DONE)
        return code;
    if (owed_endpoint_test(cli->owed, id, &delivery, &status, &cli->err) != OWED_OK ||
        store_attempts(cli->db, delivery, &cli->arena, &rows, &count, &cli->err) != OWED_OK)
        return cli_fail(cli);
    cli_list(cli, attempt_fields, rows, count, sizeof *rows);
    bool is_taken = status != NULL && strcmp(status, "succeeded") == 0;
    return is_taken ? EXIT_DONE : EXIT_FOUND;
}

#define TAKES_MAX 8

static const struct deed {
    const char *word;
    const char *wants; // NULL: nothing follows
    int (*run)(struct cli *cli, const char *operand);
    bool is_noted;                // in owed_audit; the store is open then
    const char *takes[TAKES_MAX]; // of the options that are not everybody's
} deeds[] = {
    {"add", "the URL of an endpoint", add, false,
        {"event", "name", "tenant", "format", "signing", "filter", "rate"}},
    {"list", NULL, endpoint_list, false, {"tenant"}},
    {"show", "the id of an endpoint", endpoint_show, false, {NULL}},
    {"rotate", "the id of an endpoint", rotate, true, {"overlap"}},
    {"disable", "the id of an endpoint", disable, true, {"reason"}},
    {"enable", "the id of an endpoint", enable, true, {NULL}},
    {"pause", "the id of an endpoint", pause_one, true, {"until", "reason"}},
    {"resume", "the id of an endpoint", resume_one, true, {NULL}},
    {"test", "the id of an endpoint", test, false, {NULL}},
    {"remove", "the id of an endpoint", forget, true, {NULL}},
};
#define DEEDS (sizeof deeds / sizeof deeds[0])

static bool
takes(const struct deed *deed, const char *name)
{
    for (size_t i = 0; i < TAKES_MAX && deed->takes[i] != NULL; i++)
        if (strcmp(deed->takes[i], name) == 0)
            return true;
    return false;
}

/* run_noted says in owed_audit who did it. */
static int
run_noted(struct cli *cli, const struct deed *deed)
{
    struct progress progress;
    int64_t audit_id = 0;
    if (cli_open(cli, NULL) != OWED_OK)
        return cli_fail(cli);
    struct acting acting = act_fill(cli, &progress);
    acting.step = NULL;
    if (act_begin(cli->db, &acting, "endpoint", &audit_id, &cli->err) != OWED_OK)
        return cli_fail(cli);
    int code = deed->run(cli, cli->operands[1]);
    if (code != EXIT_DONE)
        return code;
    if (act_step(cli->db, &acting, audit_id, 1, 1, &cli->err) != OWED_OK ||
        act_end(cli->db, &acting, audit_id, &cli->err) != OWED_OK)
        return cli_fail(cli);
    return EXIT_DONE;
}

static int
run_deed(struct cli *cli, const struct deed *deed)
{
    if (deed->wants != NULL && (cli->operand_count < 2 || is_empty(cli->operands[1])))
        return cli_usage(cli, "endpoint %s wants %s", deed->word, deed->wants);
    if (deed->wants == NULL && cli->operand_count > 1)
        return cli_usage(cli, "endpoint %s takes no '%s'", deed->word, cli->operands[1]);
    for (const struct option *o = endpoint_options; o->name != NULL; o++)
        if (strcmp(o->name, "json") != 0 && options_is_set(cli->flags, o->name) &&
            !takes(deed, o->name))
            return cli_usage(cli, "endpoint %s takes no --%s", deed->word, o->name);
    return deed->is_noted ? run_noted(cli, deed) : deed->run(cli, cli->operands[1]);
}

static int
run_endpoint(struct cli *cli)
{
    const char *word = cli->operand_count > 0 ? cli->operands[0] : "";
    for (size_t i = 0; i < DEEDS; i++)
        if (strcmp(word, deeds[i].word) == 0)
            return run_deed(cli, &deeds[i]);
    return cli_usage(cli,
        "endpoint wants one of add, list, show, rotate, disable, enable, pause, resume, test, remove");
}
