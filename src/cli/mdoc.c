/* SPDX-License-Identifier: MIT
 *
 * mdoc.c - the manual pages, from the same tables as --help.
 */
#include <stdlib.h>

#include "cli/command.h"
#include "cli/exits.h"
#include "cli/prose.h"
#include "declare/conf.h"
#include "declare/settings.h"
#include "notify/channels/kind.h"

#define COMMANDS_MAX 64

void
mdoc_head(struct buf *text, const char *title, int section, const char *name, const char *summary)
{
    buf_puts(text, ".\\\" Made from the program's own tables.\n.Dd " OWED_DATE "\n.Dt ");
    for (const char *p = title; *p != '\0'; p++)
        buf_putc(text, *p >= 'a' && *p <= 'z' ? (char)(*p - 'a' + 'A') : *p);
    buf_printf(text, " %d\n.Os\n.Sh NAME\n.Nm %s\n.Nd ", section, name);
    prose_roff(text, str_of(summary));
    buf_putc(text, '\n');
}

static void
exit_status(struct buf *text)
{
    buf_puts(text, ".Sh EXIT STATUS\n.Bl -tag -width Ds\n");
    for (const struct exit_meaning *exit = exit_meanings; exit->text != NULL; exit++)
        buf_printf(text, ".It %d\n%s\n", exit->code, exit->text);
    buf_puts(text, ".El\n");
}

static void
section(struct buf *text, const char *heading, const struct option *table)
{
    buf_printf(text, ".Sh %s\n", heading);
    options_mdoc(table, text);
}

/* An argument such as "[PAYLOAD|-]" or "ID..." as it stands in a synopsis. */
static void
operands(struct buf *text, const char *usage)
{
    if (!is_empty(usage))
        buf_printf(text, ".Ar %s\n", usage);
}

void
mdoc_command(const struct command *command, struct buf *text)
{
    struct buf name;
    buf_init(&name, 64);
    buf_printf(&name, "owed-%s", command->name);
    mdoc_head(text, buf_text(&name), 1, buf_text(&name), command->summary);
    buf_done(&name);
    buf_printf(text, ".Sh SYNOPSIS\n.Nm owed\n.Cm %s\n.Op Ar OPTION ...\n", command->name);
    operands(text, command->usage);
    buf_puts(text, ".Sh DESCRIPTION\n");
    prose_mdoc(command->text, text);
    if (command->options != NULL) {
        buf_puts(text,
            ".Pp\nIts own options are these; those that every command takes are in\n"
            ".Xr owed 1 .\n");
        options_mdoc(command->options, text);
    } else {
        buf_puts(text, ".Pp\nIt takes the options that every command takes, see\n.Xr owed 1 .\n");
    }
    if (command->relays) {
        buf_puts(text, ".Ss Settings of a relay\n");
        options_mdoc(settings_relay, text);
    }
    if (command->manual != NULL)
        command->manual(text);
    exit_status(text);
    if (command->examples != NULL) {
        buf_puts(text, ".Sh EXAMPLES\n");
        prose_mdoc(command->examples, text);
    }
    buf_puts(text, ".Sh SEE ALSO\n.Xr owed 1 ,\n.Xr owed.conf 5 ,\n.Xr owed 7\n");
}

static void
command_list(struct buf *text)
{
    buf_puts(text, ".Bl -tag -width deliveries\n");
    for (size_t i = 0; commands[i] != NULL; i++) {
        buf_printf(text, ".It Cm %s\n", commands[i]->name);
        prose_sentence(commands[i]->summary, text);
    }
    buf_puts(text, ".El\n");
}

static int
by_name(const void *a, const void *b)
{
    return strcmp(
        (*(const struct command *const *)a)->name, (*(const struct command *const *)b)->name);
}

static void
see_also(struct buf *text)
{
    const struct command *sorted[COMMANDS_MAX];
    size_t count = 0;
    for (; commands[count] != NULL && count < COMMANDS_MAX; count++)
        sorted[count] = commands[count];
    qsort(sorted, count, sizeof sorted[0], by_name);
    buf_puts(text, ".Sh SEE ALSO\n");
    for (size_t i = 0; i < count; i++)
        buf_printf(text, ".Xr owed-%s 1 ,\n", sorted[i]->name);
    buf_puts(text, ".Xr libowed 3 ,\n.Xr owed.conf 5 ,\n.Xr owed 7\n");
}

static const char overview[] =
    "If the change committed, everyone who was owed the news gets it. An event is fired in the "
    "transaction that makes the change, and what it owes to each receiver stands in the same "
    "database. A relay delivers it: at least once, with the same idempotency key each time, retried "
    "until it succeeds or is dead, whatever crashes meanwhile.\n\n"
    "Every command finds its store by --store, else OWED_STORE, else the configuration. Reading "
    "commands take --json, with the names of the tables' columns as keys.\n\n"
    "A first round, with a receiver that appends to a file:\n\n"
    "    cat >owed.conf <<end\n"
    "    [store]\n"
    "    url = sqlite:shop.db\n"
    "    [receiver \"shop.log\"]\n"
    "    event = shop.OrderPlaced\n"
    "    file = /tmp/orders.log\n"
    "    end\n"
    "    owed init\n"
    "    owed fire shop.OrderPlaced '{\"order_id\": 7}'\n"
    "    owed relay --once\n"
    "    owed status\n"
    "    cat /tmp/orders.log\n\n"
    "Any SQLite client fires in its own transaction, too: by a row with name and payload that it "
    "inserts into the view owed_fire.";

void
mdoc_overview(struct buf *text)
{
    mdoc_head(text, "owed", 1, "owed", "transactional outbox and durable event delivery");
    buf_puts(text,
        ".Sh SYNOPSIS\n.Nm\n.Ar COMMAND\n.Op Ar OPTION ...\n.Nm\n.Fl -version\n.Nm\n"
        ".Cm help\n.Op Ar COMMAND\n.Sh DESCRIPTION\n");
    prose_mdoc(overview, text);
    buf_puts(text, ".Sh COMMANDS\nEach has a page of its own, as in\n.Xr owed-fire 1 .\n");
    command_list(text);
    section(text, "COMMON OPTIONS", common_options);
    buf_puts(text, ".Ss The store\n");
    options_mdoc(settings_store, text);
    buf_puts(text, ".Ss The log\n");
    options_mdoc(settings_log, text);
    buf_puts(text,
        ".Sh ENVIRONMENT\n.Bl -tag -width OWED_CONFIG\n.It Ev OWED_CONFIG\n"
        "The configuration file.\n.It Ev OWED_STORE\nThe store.\n.El\n.Pp\n"
        "An option that may stand in the configuration may stand in the environment, "
        "in capitals behind\n.Ev OWED_ ,\nand wins over the file; a flag wins over "
        "both.\n.Sh FILES\n.Bl -tag -width owed.conf\n.It Pa owed.conf\n"
        "In the present folder, where nothing else is named.\n.El\n");
    mdoc_troubles(text);
    exit_status(text);
    see_also(text);
}

static const char conf_overview[] =
    "The file has sections in square brackets and lines of the form key = value. A # or ; at the "
    "beginning of a line, or behind a blank, begins a comment. Quotation marks around a value keep "
    "the blanks at its ends. A key, a section or a value that is not known is refused, with the "
    "file, the line and the nearest known word.\n\n"
    "    [store]\n"
    "    url = sqlite:shop.db\n"
    "    app = shop\n"
    "    \n"
    "    [receiver \"shop.billing\"]\n"
    "    event = shop.OrderPlaced\n"
    "    webhook = https://billing.example/hooks\n"
    "    secret-file = /run/credentials/billing\n"
    "    max-attempts = 10\n"
    "    \n"
    "    [receiver \"shop.label\"]\n"
    "    event = shop.OrderPlaced\n"
    "    exec = /usr/lib/shop/print-label\n\n"
    "Durations are written 250ms, 90s, 5m, 1h30m or 2d.";

/* conf_keys lists what of a table may stand in a file, by the words of the file. */
static void
conf_keys(const struct option *table, struct buf *text)
{
    buf_puts(text, ".Bl -tag -width Ds\n");
    for (; table->name != NULL; table++) {
        if (table->section == NULL)
            continue;
        buf_printf(text, ".It Ic %s No =", table->key != NULL ? table->key : table->name);
        buf_printf(text, " Ar %s\n",
            table->argument != NULL && table->type != OPTION_BOOL ? table->argument : "yes | no");
        prose_sentence(table->help, text);
        if (table->type == OPTION_LIST)
            buf_puts(text, "Several are separated by commas.\n");
        if (!is_empty(table->fallback)) {
            buf_puts(text, "The default is\n.Ql ");
            prose_roff(text, str_of(table->fallback));
            buf_puts(text, " .\n");
        }
    }
    buf_puts(text, ".El\n");
}

static const char conf_receivers[] =
    "A section names one of webhook, exec, pipe, publish, file, discard and notify, and no more. A key that is absent "
    "leaves it to the settings of the relay. A delivery may come more than once, always with the "
    "same idempotency key: give that to whatever can drop duplicates.";

static const char conf_webhook[] =
    "The payload is the body of a POST, byte for byte. Beside it come the headers webhook-id (the "
    "idempotency key), webhook-timestamp, webhook-signature where there is a secret, owed-event, "
    "owed-delivery, owed-attempt, and traceparent where the event has one: as it was fired, since "
    "owed records no span of its own that a new parent id could name.\n\n"
    "An answer of 2xx is done. 408, 425, 429, 5xx, and no answer at all have failed and are tried "
    "again; the Retry-After of a 429 or 503 is obeyed. Anything else is permanent: the delivery is "
    "dead at once. Redirects are not followed. An attempt ends after 30 seconds unless timeout "
    "says otherwise.\n\n"
    "The secret file has 24 to 64 bytes in base64, with or without whsec_ before them, as Standard "
    "Webhooks has it. Up to four may stand there, a line each, the newest first: all of them sign, so that a "
    "secret can be replaced while requests are under way.";

static const char conf_exec[] =
    "The program has no arguments. The payload is its standard input, and its environment has "
    "OWED_EVENT_ID, OWED_EVENT_NAME, OWED_DELIVERY_ID, OWED_RECEIVER, OWED_TARGET, OWED_ATTEMPT, "
    "OWED_IDEMPOTENCY_KEY, OWED_CORRELATION_ID and OWED_DUE_AT, and TRACEPARENT where the event has one. What it "
    "fires with owed fire has the event as its cause.\n\n"
    "Exit status 0 is done. 64, 65, 67, 68, 69, 77 and 78 are permanent: the delivery is dead at "
    "once. Any other status, and a signal, have failed and are tried again. A last line of output "
    "says it exactly, and counts for more than the status:\n\n"
    "    {\"outcome\":\"retry_after\",\"seconds\":120,\"reason\":\"busy\"}\n\n"
    "The outcomes are done, failed, permanent and retry_after. After timeout, 5 minutes unless "
    "told, the program and its children get SIGTERM, and soon SIGKILL.";

static const char conf_pipe[] =
    "The same for a program that stays, so that a delivery costs no start: an absolute path and its arguments, with blanks "
    "between them and no shell. It is started when there is the first delivery for it, with OWED_RECEIVER in its "
    "environment, and speaks lines of JSON. First the relay greets it, and it answers within 10 seconds, in the version of the "
    "protocol that it speaks; it may ask for fewer in flight:\n\n"
    "    {\"hello\":1,\"receiver\":\"shop.label\",\"in_flight\":16}\n"
    "    {\"hello\":1,\"in_flight\":4}\n\n"
    "Then each delivery is a line: an object with id, delivery, event_id, event, version, receiver, target, attempt, "
    "idempotency_key, correlation_id, occurred_at, due_at, traceparent where the event has one, and payload. Up to in-flight of them come before the "
    "first is answered. An answer names the id and the outcome, in any order, in the words that exec has:\n\n"
    "    {\"id\":3,\"outcome\":\"done\"}\n"
    "    {\"id\":4,\"outcome\":\"retry_after\",\"seconds\":120,\"reason\":\"busy\"}\n\n"
    "The delivery in hand is the oldest that is not answered. A program that works at several at once says which it has begun, and "
    "then all of these are in hand:\n\n"
    "    {\"id\":5,\"begun\":true}\n\n"
    "When the program ends, by itself or by a signal, what was in hand has failed; all else is given to the next one, and nothing is counted for it. "
    "That one is started after a tenth of a second, and later each time, up to half a minute, until one has answered something. A program that "
    "cannot be started or says no hello has failed all that waits for it. Past timeout, 5 minutes unless told and counted while a delivery is in "
    "hand, the program and its children get SIGTERM, and soon SIGKILL, and that delivery has failed.\n\n"
    "Lines of its standard error go to the log, up to 100 a second; how many were left out is logged, too. A line that means nothing, is longer than 64 KiB, names no delivery or answers one again is logged "
    "as a warning, and changes nothing. When the relay stops, what is in flight is answered, then the input is closed: the program ends, or "
    "gets SIGTERM after a second, and SIGKILL after another.";

static const char conf_publish[] =
    "The payload, byte for byte, is handed to a broker, whose client library is loaded then. The message has the idempotency key as its id, so that "
    "whoever drops duplicates can, and beside it owed-event, owed-event-id, owed-version, owed-receiver, owed-delivery, owed-attempt, "
    "owed-target and owed-correlation-id where there is one, and traceparent. It is done once the broker has acknowledged it; what comes due while one "
    "batch is under way makes the next. A password stands in password-file, never in the URL.\n\n"
    "A broker that cannot be reached, or has not answered within timeout (30 seconds unless told), is left alone for 1, 2, 4, 8, then 15 seconds: "
    "this receiver rests, and others of its lane go on. Where very many wait for one broker, claims of that lane read past them: give such a receiver a "
    "lane of its own. This spends no attempt. What the broker may have got all the same comes again, "
    "with the same id. One that refuses the user, the password, the database or the vhost is left alone likewise; the log says what it "
    "refuses, as it says once that a broker is away, and that it is back. After seven days unless give-up-after says otherwise, what is still put off is dead. What a broker refuses is a failed "
    "attempt.\n\n"
    "nats://user@host:4222 publishes to NATS JetStream, with topic as the subject, Nats-Msg-Id and the facts as headers, and it is done once the stream "
    "that takes it has acknowledged it. Within its duplicate window, two minutes unless told, a stream drops what comes again. Without a user "
    "the password is a token. credentials-file is a .creds file of NATS, or, where the URL has a public NKey as its user, a file with the seed of it. "
    "tls://, or nats+tls://, is the same by TLS. A subject that no stream takes is a failed attempt; where JetStream is not enabled, or its stream has no leader, the "
    "broker is away; what is more than its max_payload is dead at once.\n\n"
    "amqp://user@host:5672/vhost publishes to RabbitMQ, with topic as the routing key, to exchange where there is one: persistent, with message_id, type, "
    "correlation_id, timestamp and the facts as headers, and done once it is confirmed. What no queue takes has failed; while RabbitMQ is low on memory or disk, or a queue that rejects what is too much is full, it is away. amqps:// is the same by TLS, at port 5671 unless told.\n\n"
    "By TLS the server has to have a certificate for the name in the URL, by an authority that the host trusts (SSL_CERT_FILE in the environment of the "
    "relay names others), or one of those in ca-file; nothing goes without.\n\n"
    "redis://user@host:6379/0 adds an entry to the stream topic, with the fields id, those above and payload. Redis acknowledges what it has in "
    "memory, unless its appendfsync is always, and drops no duplicates itself. A Unix socket is a host that is a path: redis://%2Frun%2Fredis%2Fredis.sock/0. "
    "There is no Redis by TLS: put a tunnel such as stunnel on this host.\n\n"
    "kafka://user@host:9092 publishes to Kafka, by an idempotent producer: a record with the id as its key, the facts and id as headers, and done once all "
    "replicas in sync have it. The topic has to be there, or the broker has to make it when it is asked for. With a user it is SASL PLAIN; kafka+tls:// is the same by TLS. "
    "What is larger than the topic takes is dead at once. What comes again on a new connection is not dropped. This was tried against the mock cluster of the client library "
    "(librdkafka) alone, never against a real broker.";

static const char conf_file[] =
    "One line is appended for each delivery: an object with delivery, event_id, event, receiver, "
    "attempt, idempotency_key and payload. The file is made where there is none; its folder is "
    "not.";

static const char conf_notify[] =
    "The recipient is cut out of the payload, and so are the values of the template's variables; what else "
    "stands there is left alone. recipient and context are JSON pointers (RFC 6901). A recipient is an object with any of phone, "
    "device_token, email, others, preferred, locale, time_zone and quiet_hours:\n\n"
    "    {\"email\": \"ada@example.com\", \"locale\": \"de\",\n"
    "     \"time_zone\": \"Europe/Berlin\",\n"
    "     \"quiet_hours\": [{\"start\": \"22:00\", \"end\": \"07:00\"}]}\n\n"
    "A provider that says not now has failed, and it is tried again: 16 times, the first within 30 seconds, unless max-attempts and backoff-base say otherwise. One that asks for a wait is not asked before, and quiet hours are "
    "waited for unless quiet is refuse: neither spends an attempt. An address that is refused, a payload without a recipient and a "
    "template that lacks a value are permanent. After two days unless give-up-after says otherwise, what is still put off is dead.";

static const char conf_channel[] =
    "A way to reach people, for receivers with notify. A recipient is reached by his preferred channels, then by push, sms, email and all "
    "others as they stand in the file: the first on which he has an address. Secrets stand in files, never here.\n\n"
    "Gateways of text messages, and any other service that takes HTTP, are described by the request that they want. In it each message fills in "
    "{to} (the address), {digits} (that without a + before it), {text}, {subject}, {html}, {locale}, {template}, {id} (the same over all attempts), "
    "{nonce} (made of that, of at most 25 characters), {alphabet} (of an SMS: text or unicode), {from}, {user}, {password} and {token}; "
    "all other braces stand for themselves, and each value is escaped for where it stands:\n\n"
    "    [channel \"sms\"]\n"
    "    url = https://sms.example/v1/{user}/send\n"
    "    body = {\"to\": \"{to}\", \"text\": \"{text}\"}\n"
    "    auth = bearer\n"
    "    user = shop\n"
    "    token-file = /run/credentials/sms\n"
    "    reference = /messages/0/id";

/* What a receiver that needs no C is given, and how it answers. */
static const struct {
    const char *heading;
    const char *prose;
} conf_chapters[] = {
    {".Sh RECEIVERS\n", conf_receivers},
    {".Ss webhook\n", conf_webhook},
    {".Ss exec\n", conf_exec},
    {".Ss pipe\n", conf_pipe},
    {".Ss publish\n", conf_publish},
    {".Ss file\n", conf_file},
    {".Ss notify\n", conf_notify},
};

/* mdoc_channels lists the kinds of channels with their keys. */
static void
mdoc_channels(struct buf *text)
{
    buf_puts(text, ".Sh [channel \\(dqname\\(dq]\n");
    prose_mdoc(conf_channel, text);
    for (const struct channel_kind *const *kind = channel_kinds; *kind != NULL; kind++) {
        buf_printf(text, ".Ss type = %s\n", (*kind)->type);
        prose_sentence((*kind)->help, text);
        if ((*kind)->name != NULL)
            buf_printf(text, "A channel called\n.Ql %s\nis of this kind.\n", (*kind)->name);
        conf_keys((*kind)->keys, text);
    }
}

void
mdoc_conf(struct buf *text)
{
    mdoc_head(text, "owed.conf", 5, "owed.conf", "configuration of owed");
    buf_puts(text, ".Sh DESCRIPTION\n");
    prose_mdoc(conf_overview, text);
    buf_puts(text, ".Sh [store]\n");
    conf_keys(settings_store, text);
    buf_puts(text, ".Sh [relay]\n");
    conf_keys(settings_relay, text);
    buf_puts(text, ".Sh [log]\n");
    conf_keys(settings_log, text);
    buf_puts(text, ".Sh [templates]\nWhat the files look like is in\n.Xr owed-templates 1 .\n");
    conf_keys(settings_templates, text);
    buf_puts(text,
        ".Sh [event \\(dqname\\(dq]\nWhat is secret of events of that name, and how long they "
        "are kept, of what is fired from then on: retention or delete-when, not both.\n");
    conf_keys(conf_event_keys, text);
    buf_puts(text,
        ".Sh [receiver \\(dqkey\\(dq]\nOne section for each receiver, "
        "called by its key.\n");
    conf_keys(conf_receiver_keys, text);
    mdoc_channels(text);
    for (size_t i = 0; i < sizeof conf_chapters / sizeof conf_chapters[0]; i++) {
        buf_puts(text, conf_chapters[i].heading);
        prose_mdoc(conf_chapters[i].prose, text);
    }
    buf_puts(text, ".Sh SEE ALSO\n.Xr owed 1 ,\n.Xr owed-check 1\n");
}
