/* SPDX-License-Identifier: MIT
 *
 * cmd_send.c - owed send: one notification, kept in the store or sent at once.
 */
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/limits.h"
#include "cli/common.h"
#include "cli/fields.h"
#include "cli/filter.h"
#include "notify/dedup.h"
#include "notify/dispatcher.h"
#include "notify/keep.h"
#include "notify/locale.h"
#include "notify/post.h"
#include "notify/recipient_json.h"

static int run_send(struct cli *cli);

static const struct option send_options[] = {
    {.name = "to",
        .type = OPTION_TEXT,
        .argument = "FILE",
        .help = "the recipient, a JSON object; - reads standard input"},
    {.name = "context",
        .type = OPTION_TEXT,
        .argument = "FILE",
        .help = "the variables' values, a JSON object; - reads standard input"},
    {.name = "now", .type = OPTION_BOOL, .help = "send it here and now, one attempt"},
    {.name = "durable", .type = OPTION_BOOL, .help = "have the store keep it (so it is anyway)"},
    {.name = "channel", .type = OPTION_TEXT, .argument = "NAME", .help = "by this channel alone"},
    {.name = "subject",
        .type = OPTION_TEXT,
        .argument = "TEXT",
        .help = "in place of the template's"},
    {.name = "locale",
        .type = OPTION_TEXT,
        .argument = "TAG",
        .help = "in place of the recipient's language"},
    {.name = "urgent", .type = OPTION_BOOL, .help = "whatever the hour"},
    {.name = "quiet-wait",
        .type = OPTION_BOOL,
        .help = "wait for the end of quiet hours, and do not refuse, unless with --now"},
    {.name = "fall-through",
        .type = OPTION_BOOL,
        .help = "where one channel fails, try the next one"},
    {.name = "dedup-key",
        .type = OPTION_TEXT,
        .argument = "KEY",
        .help = "what was sent under this key is not sent again, unless with --now"},
    OPTION_JSON_DOCUMENT,
    {.name = NULL},
};

const struct command cmd_send = {
    .name = "send",
    .summary = "notify somebody, by the channels of owed.conf",
    .usage = "TEMPLATE --to FILE",
    .text =
        "Writes a ticket into the store and prints its id: the next relay whose owed.conf has channels renders the "
        "template and sends it, and tries again where that fails; owed ticket says what became of it. "
        "A template or a channel that owed.conf, where it says any, does not have is refused. "
        "Nothing is rendered before, so a value that is missing is told by the ticket.\n\n"
        "With --now it is sent by this process, in one attempt and with no store: the channel and what "
        "the provider calls it are printed. Where that may succeed another time the exit code is 75, "
        "where it never will 65.\n\n"
        "The recipient is an object with any of phone, email, device_token, others, preferred, locale, time_zone and "
        "quiet_hours; a key that is none of these is refused.",
    .examples = "    owed send receipt --to ada.json --context order.json\n"
                "    echo '{\"email\": \"ada@example.com\"}' | owed send hello --to - --now",
    .options = send_options,
    .max_operands = 1,
    .run = run_send,
};

static int
read_object(const char *what, const char *path, struct buf *text, struct json *ret_object)
{
    owed_error why;
    int code = path == NULL ? EXIT_DONE : cli_read_file(what, path, text);
    if (path == NULL)
        buf_puts(text, "{}");
    if (code != EXIT_DONE)
        return code;
    if (json_check(buf_view(text), LIMIT_PAYLOAD_DEPTH, &why) != OWED_OK)
        return cli_refuse(EXIT_INPUT, "the %s is no JSON: %s", what, why.text);
    *ret_object = json_root(buf_view(text));
    return ret_object->type == JSON_OBJECT
        ? EXIT_DONE
        : cli_refuse(EXIT_INPUT, "the %s is %s, where an object would be right", what,
              json_type_name(ret_object->type));
}

/* read_ticket reads what is asked for; all of it lives in the arena. */
static int
read_ticket(struct cli *cli, struct ticket_text *ticket)
{
    CLEANUP(buf_done) struct buf to;
    CLEANUP(buf_done) struct buf values;
    struct json object;
    buf_init(&to, LIMIT_PAYLOAD_BYTES);
    buf_init(&values, LIMIT_PAYLOAD_BYTES);
    int code = read_object("recipient", options_text(cli->flags, "to"), &to, &object);
    if (code == EXIT_DONE &&
        recipient_read(object, UNKNOWN_REFUSED, &cli->arena, &ticket->recipient, &cli->err) !=
            OWED_OK)
        code = cli_fail(cli);
    if (code == EXIT_DONE)
        code = read_object("context", options_text(cli->flags, "context"), &values, &object);
    if (code != EXIT_DONE)
        return code;
    bool is_urgent = options_number(cli->flags, "urgent") != 0;
    ticket->template_name = cli->operands[0];
    ticket->context = arena_copy(&cli->arena, object.text);
    ticket->options = (owed_send_options){
        .channel = options_text(cli->flags, "channel"),
        .subject = options_text(cli->flags, "subject"),
        .locale = options_text(cli->flags, "locale"),
        .urgency = is_urgent ? OWED_URGENCY_URGENT : OWED_URGENCY_NORMAL,
        .dedup_key = options_text(cli->flags, "dedup-key"),
        .quiet_wait = options_number(cli->flags, "quiet-wait") != 0,
        .fall_through = options_number(cli->flags, "fall-through") != 0,
    };
    return ticket->context == NULL ? cli_refuse(EXIT_AGAIN, "out of memory") : EXIT_DONE;
}

/* check_ticket refuses here and now what no relay could send. */
static owed_status
check_ticket(struct cli *cli, const struct ticket_text *ticket)
{
    const owed_send_options *options = &ticket->options;
    char tag[LOCALE_BYTES];
    if (owed_recipient_channel(&ticket->recipient, 0) == NULL)
        return fail(&cli->err, OWED_INVALID, "the recipient has no address: an email would be one");
    owed_status status = send_options_check(options, &cli->err);
    if (status == OWED_OK && options->dedup_key != NULL)
        status = dedup_key_check(options->dedup_key, &cli->err);
    if (status == OWED_OK && options->locale != NULL)
        status = owed_locale_normalize(options->locale, tag, &cli->err);
    return status;
}

/* --- kept --- */

static int
keep_it(struct cli *cli, const struct ticket_text *text)
{
    owed_ticket *ticket = NULL;
    if (cli_declare(cli) != OWED_OK ||
        notices_know(&cli->notices, cli_templates(cli), text->template_name, text->options.channel,
            &cli->err) != OWED_OK ||
        cli_open(cli, cli->registry) != OWED_OK)
        return cli_fail(cli);
    struct keep *keep = keep_new(cli->owed, cli->notices.notifier, NULL);
    if (keep == NULL)
        return cli_refuse(EXIT_AGAIN, "out of memory");
    int code =
        keep_enqueue(keep, text, NULL, &ticket, &cli->err) == OWED_OK ? EXIT_DONE : cli_fail(cli);
    if (code == EXIT_DONE)
        out_printf(&cli->out, cli_json(cli) ? "{\"id\":\"%s\"}\n" : "%s\n", owed_ticket_id(ticket));
    owed_ticket_release(ticket);
    keep_close(keep);
    return code;
}

/* --- at once --- */

static int
say_posted(struct cli *cli, const struct posted *posted)
{
    bool is_sent = posted->end == POSTED_SENT;
    bool may_yet =
        posted->end == POSTED_FAILED || posted->end == POSTED_WAIT || posted->end == POSTED_NOT_YET;
    if (cli_json(cli)) {
        posted_write(posted, &cli->out.text);
        out_puts(&cli->out, "\n");
    } else if (is_sent) {
        const owed_receipt *receipt = posted->receipt;
        out_printf(&cli->out, "sent by %s to %s%s%s\n", receipt->channel, receipt->address,
            receipt->reference == NULL ? "" : ", reference ",
            receipt->reference == NULL ? "" : receipt->reference);
    }
    if (is_sent)
        return EXIT_DONE;
    return cli_refuse(may_yet ? EXIT_AGAIN : EXIT_INPUT, "%s", posted->error.text);
}

static int
send_it(struct cli *cli, const struct ticket_text *ticket)
{
    const owed_template *tmpl = NULL;
    if (cli_declare(cli) != OWED_OK || cli_open_notices(cli) != OWED_OK)
        return cli_fail(cli);
    if (cli->notices.dispatcher == NULL || cli->notices.channels.first == NULL)
        return cli_refuse(
            EXIT_CONFIG, "there are no channels: [channel \"email\"] in owed.conf would be one");
    if (owed_templates_find(cli->notices.templates, ticket->template_name, &tmpl, &cli->err) !=
        OWED_OK)
        return cli_fail(cli);
    const struct post post = {.dispatcher = cli->notices.dispatcher,
        .tmpl = tmpl,
        .recipient = &ticket->recipient,
        .context = ticket->context,
        .options = &ticket->options};
    CLEANUP(posted_done) struct posted posted;
    post_once(&post, &posted);
    return say_posted(cli, &posted);
}

static bool
reads_twice(const struct cli *cli)
{
    const char *context = options_text(cli->flags, "context");
    return strcmp(options_text(cli->flags, "to"), "-") == 0 && context != NULL &&
        strcmp(context, "-") == 0;
}

static int
run_send(struct cli *cli)
{
    bool is_now = options_number(cli->flags, "now") != 0;
    struct ticket_text ticket = {0};
    if (cli->operand_count == 0)
        return cli_usage(cli, "send wants the name of a template");
    if (options_text(cli->flags, "to") == NULL)
        return cli_usage(cli, "send wants a recipient: --to FILE");
    if (is_now && options_number(cli->flags, "durable") != 0)
        return cli_usage(cli, "--now and --durable exclude each other");
    if (is_now && options_text(cli->flags, "dedup-key") != NULL)
        return cli_usage(cli, "--dedup-key is known to the store, which --now does not use");
    if (reads_twice(cli))
        return cli_usage(cli, "--to - and --context - exclude each other: one of them may be -");
    int code = read_ticket(cli, &ticket);
    if (code != EXIT_DONE)
        return code;
    if (check_ticket(cli, &ticket) != OWED_OK)
        return cli_fail(cli);
    return is_now ? send_it(cli, &ticket) : keep_it(cli, &ticket);
}
