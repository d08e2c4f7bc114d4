/* SPDX-License-Identifier: MIT
 *
 * conf.c - owed.conf, read twice: for the settings, and for receivers that need no C.
 *
 * What a receiver may say in the file is one list: the option table is made from it, and the places
 * of the values in owed_receiver. Sections with a name are read by conf_named.c.
 */
#include "declare/conf.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/ini.h"
#include "base/limits.h"
#include "base/option_value.h"
#include "declare/check.h"
#include "declare/conf_read.h"
#include "declare/settings.h"

#define KEYS_MAX 64 // of one section

/* X(key, member, type, argument, least, most, help) */
#define RECEIVER_KEYS(X) \
    X("event", declared.event_name, TEXT, "NAME", 0, 0, "the event that it wants, or * for any") \
    X("webhook", declared.webhook, TEXT, "URL", 0, 0, "POST the payload there") \
    X("exec", declared.exec, TEXT, "PATH", 0, 0, \
        "run this program, the payload on its standard input") \
    X("pipe", declared.pipe, TEXT, "COMMAND", 0, 0, \
        "keep this program running, and give it deliveries as lines of JSON") \
    X("in-flight", declared.in_flight, INT, "N", 1, LIMIT_PIPE_IN_FLIGHT, \
        "of pipe and publish: so many before the first is answered; 16 and 500 unless told") \
    X("publish", declared.publish, TEXT, "URL", 0, 0, \
        "hand events to this broker: redis://host:6379, amqp://user@host/vhost, nats://host:4222, " \
        "kafka://host:9092; amqps://, tls:// or kafka+tls://") \
    X("topic", declared.topic, TEXT, "NAME", 0, 0, \
        "of publish: the stream, routing key or subject; the name of the event unless told") \
    X("exchange", declared.exchange, TEXT, "NAME", 0, 0, \
        "of publish to RabbitMQ: the exchange; unless told, topic is a queue") \
    X("password-file", declared.password_file, TEXT, "PATH", 0, 0, \
        "of publish: holds the broker's password, one line") \
    X("ca-file", declared.ca_file, TEXT, "PATH", 0, 0, \
        "of publish by TLS: trust the authorities in this file, not those that the host trusts") \
    X("credentials-file", declared.credentials_file, TEXT, "PATH", 0, 0, \
        "of publish to NATS: a .creds file, or the seed of the NKey that the URL has as its user") \
    X("file", declared.file, TEXT, "PATH", 0, 0, "append a JSON line to this file") \
    X("discard", declared.discard, BOOL, NULL, 0, 0, "take everything and do nothing") \
    X("secret-file", declared.secret_file, TEXT, "PATH", 0, 0, \
        "holds the secret that signs a webhook") \
    X("lane", declared.lane, TEXT, "LANE", 0, 0, \
        "the relay's share of the work that it belongs to") \
    X("max-attempts", declared.max_attempts, INT, "N", 1, LIMIT_MAX_ATTEMPTS, \
        "attempts until a delivery is dead") \
    X("backoff-base", declared.backoff_base_us, DURATION, "TIME", 1, LIMIT_DURATION_US, \
        "longest wait after the first failure; it doubles") \
    X("backoff-cap", declared.backoff_cap_us, DURATION, "TIME", 1, LIMIT_DURATION_US, \
        "longest wait after any failure") \
    X("lease", declared.lease_us, DURATION, "TIME", 1, LIMIT_DURATION_US, \
        "how long a claim holds a delivery") \
    X("timeout", declared.timeout_us, DURATION, "TIME", 1, LIMIT_DURATION_US, \
        "past it an attempt has failed") \
    X("due", declared.due_us, DURATION, "TIME", 1, LIMIT_DURATION_US, \
        "how long after the event it is due") \
    X("give-up-after", declared.give_up_after_us, DURATION, "TIME", 1, LIMIT_DURATION_US, \
        "a deferral of what has been due for so long ends it") \
    X("pause", declared.pause, TEXT, "WORD", 0, 0, "what a deferral pauses: lane or target") \
    X("site", declared.site, TEXT, "WORD", 0, 0, \
        "where it runs: relay, or task, where a queue brings it") \
    X("notify", notice.template_name, TEXT, "TEMPLATE", 0, 0, \
        "tell somebody, by this template and the channels of this file; what a provider has wait, waits in its lane") \
    X("recipient", notice.recipient, TEXT, "POINTER", 0, 0, \
        "of notify: where in the payload the recipient stands, such as /customer") \
    X("context", notice.context, TEXT, "POINTER", 0, 0, \
        "of notify: where the values of the template's variables stand; the whole payload unless told") \
    X("channel", notice.channel, TEXT, "NAME", 0, 0, "of notify: this channel alone") \
    X("quiet", notice.quiet, TEXT, "WORD", 0, 0, \
        "of notify: wait until the recipient's quiet hours are over (so it is unless told), or refuse") \
    X("fall-through", notice.fall_through, BOOL, NULL, 0, 0, \
        "of notify: where one channel fails, try the next one at once") \
    X("urgent", notice.urgent, BOOL, NULL, 0, 0, "of notify: whatever the hour") \
    X("endpoints", has_endpoints, BOOL, NULL, 0, 0, \
        "of owed.webhooks alone: POST to every endpoint that has subscribed to the event; see owed endpoint") \
    X("allow", endpoints.allow, TEXT, "NETWORKS", 0, 0, \
        "of endpoints: networks that are not on the internet and are called all the same, with blanks between them") \
    X("tenant-key", endpoints.tenant_key, TEXT, "KEY", 0, 0, \
        "of endpoints: the member of an event's scope that names its tenant; one without goes to nobody") \
    X("source", endpoints.source, TEXT, "URI", 0, 0, "of endpoints: the source of CloudEvents") \
    X("disable-after", endpoints.disable_after, INT, "N", -1, LIMIT_MAX_ATTEMPTS, \
        "of endpoints: so many dead deliveries in a row disable one, 10 unless told; -1: never") \
    X("per-host", endpoints.per_host, INT, "N", 1, 1000, \
        "of endpoints: requests at once to one host, 20 unless told") \
    X("redirects", endpoints.redirects, INT, "N", 0, 5, \
        "of endpoints: so many in a row, 307 and 308 at the same host, are followed; none unless told")

const struct option conf_receiver_keys[] = {
#define X(key_, member_, type_, argument_, least_, most_, help_) \
    {.name = (key_), \
        .type = OPTION_##type_, \
        .argument = (argument_), \
        .section = "receiver", \
        .min = (least_), \
        .max = (most_), \
        .help = (help_)},
    RECEIVER_KEYS(X)
#undef X
        {.name = NULL},
};

const struct option conf_event_keys[] = {
    {.name = "retention",
        .type = OPTION_DURATION,
        .argument = "TIME",
        .section = "event",
        .min = US_PER_SECOND,
        .max = LIMIT_DURATION_US,
        .help = "how long it is kept once all that was owed for it has ended; in whole seconds"},
    {.name = "delete-when",
        .type = OPTION_TEXT,
        .argument = "WORD",
        .section = "event",
        .help = "deleted as soon as all that was owed for it has succeeded, or has settled"},
    {.name = "secret",
        .type = OPTION_TEXT,
        .argument = "POINTERS",
        .section = "event",
        .help =
            "what of its payload is never shown: JSON pointers with blanks between them, such as "
            "/card/number /lines/*/token"},
    {.name = NULL},
};

const struct option conf_channel_keys[] = {
    {.name = "type",
        .type = OPTION_TEXT,
        .argument = "WORD",
        .section = "channel",
        .help = "its kind; a channel that has the name of one needs none"},
    {.name = NULL},
};

static const size_t places[] = {
#define X(key_, member_, type_, argument_, least_, most_, help_) \
    offsetof(struct conf_receiver, member_),
    RECEIVER_KEYS(X)
#undef X
};

void *
conf_receiver_place(struct conf_receiver *receiver, const struct option *option)
{
    return (char *)receiver + places[option - conf_receiver_keys];
}

/* --- sections --- */

static const struct section sections[] = {
    {"store", settings_store, NULL},
    {"relay", settings_relay, NULL},
    {"log", settings_log, NULL},
    {"templates", settings_templates, NULL},
    {"event", conf_event_keys, "[event \"shop.OrderPlaced\"]"},
    {"receiver", conf_receiver_keys, "[receiver \"shop.billing\"]"},
    {"channel", conf_channel_keys, "[channel \"email\"]"},
};
#define SECTIONS (sizeof sections / sizeof sections[0])

static owed_status
refuse_section(const struct spot *spot, owed_error *err)
{
    const char *names[SECTIONS + 1] = {NULL};
    char shown[SHOWN_BYTES];
    for (size_t i = 0; i < SECTIONS; i++)
        names[i] = sections[i].name;
    const char *near = nearest(spot->section, names);
    return fail(err, OWED_CONFIG, "%s:%d: no section is called [%s]; %s%s", spot->path, spot->line,
        show(spot->section, shown), near == NULL ? "" : "the nearest is ",
        near == NULL ? "there are [store], [relay], [log], [templates], [event \"name\"], "
                       "[receiver \"key\"] and [channel \"name\"]"
                     : near);
}

owed_status
conf_section(const struct spot *spot, const struct section **ret_section, owed_error *err)
{
    char shown[SHOWN_BYTES];
    const struct section *section = NULL;
    for (size_t i = 0; i < SECTIONS; i++)
        if (strcmp(sections[i].name, spot->section) == 0)
            section = &sections[i];
    if (section == NULL)
        return refuse_section(spot, err);
    bool named = spot->subsection[0] != '\0';
    if (section->example != NULL && !named)
        return fail(err, OWED_CONFIG, "%s:%d: [%s] needs a %s: %s", spot->path, spot->line,
            section->name, section->keys == conf_receiver_keys ? "key" : "name", section->example);
    if (section->example == NULL && named)
        return fail(err, OWED_CONFIG, "%s:%d: [%s \"%s\"] takes no name; [%s] is right", spot->path,
            spot->line, spot->section, show(spot->subsection, shown), spot->section);
    *ret_section = section;
    return OWED_OK;
}

const struct option *
conf_key(const struct option *keys, const char *key)
{
    for (; keys->name != NULL; keys++)
        if (keys->section != NULL && strcmp(option_key(keys), key) == 0)
            return keys;
    return NULL;
}

/* elsewhere finds the section whose file key, or flag, a word is; NULL: none. */
static const struct section *
elsewhere(const char *word, const struct option **ret_option)
{
    for (size_t i = 0; i < SECTIONS; i++)
        for (const struct option *option = sections[i].keys; option->name != NULL; option++)
            if (option->section != NULL &&
                (strcmp(option->name, word) == 0 || strcmp(option_key(option), word) == 0)) {
                *ret_option = option;
                return &sections[i];
            }
    return NULL;
}

/* nearest_key returns the closest key of a section's table, or NULL. */
static const char *
nearest_key(const struct option *keys, const char *key)
{
    const char *names[KEYS_MAX + 1] = {NULL};
    size_t count = 0;
    for (; keys->name != NULL && count < KEYS_MAX; keys++)
        if (keys->section != NULL)
            names[count++] = option_key(keys);
    return nearest(key, names);
}

owed_status
conf_refuse_key(
    const struct spot *spot, const struct option *keys, const char *key, owed_error *err)
{
    char head[WHERE_BYTES];
    char shown[SHOWN_BYTES];
    bool named = spot->subsection[0] != '\0';
    snprintf(head, sizeof head, "%s:%d: [%s%s%s%s]", spot->path, spot->line, spot->section,
        named ? " \"" : "", show(spot->subsection, shown), named ? "\"" : "");
    const char *near = nearest_key(keys, key);
    if (near != NULL)
        return fail(err, OWED_CONFIG, "%s has no key %s; the nearest is %s", head, key, near);
    const struct option *option = NULL;
    const struct section *other = elsewhere(key, &option);
    if (other == NULL)
        return fail(err, OWED_CONFIG, "%s has no key %s", head, key);
    return fail(err, OWED_CONFIG, "%s has no key %s; there is %s in [%s]", head, key,
        option_key(option), other->name);
}

/* --- the settings --- */

struct settings_reader {
    const char *path;
    struct options *options;
};

/* take_setting hands a key on; one of a table that this command does not have is only checked. */
static owed_status
take_setting(const struct settings_reader *reader, const struct spot *spot,
    const struct section *section, const char *key, const char *value, owed_error *err)
{
    char where[WHERE_BYTES];
    const struct option *option = conf_key(section->keys, key);
    if (option == NULL)
        return conf_refuse_key(spot, section->keys, key, err);
    snprintf(where, sizeof where, "%s:%d", spot->path, spot->line);
    if (option_find(reader->options, option->name) != NULL)
        return options_set(reader->options, spot->section, key, value, SOURCE_FILE, where, err);
    snprintf(where, sizeof where, "%s:%d: %s", spot->path, spot->line, key);
    struct option_text text = {.text = value, .where = where, .refusal = OWED_CONFIG};
    int64_t number;
    return option_read(option, &text, &number, err);
}

static owed_status
read_setting(void *state, int line, const char *section_name, const char *subsection,
    const char *key, const char *value, owed_error *err)
{
    const struct settings_reader *reader = state;
    const struct spot spot = {reader->path, line, section_name, subsection};
    const struct section *section = NULL;
    owed_status status = conf_section(&spot, &section, err);
    if (status != OWED_OK || key == NULL || section->example != NULL)
        return status;
    return take_setting(reader, &spot, section, key, value, err);
}

owed_status
conf_load_options(const char *path, struct options *options, owed_error *err)
{
    struct settings_reader reader = {.path = path, .options = options};
    return ini_read(path, read_setting, &reader, err);
}
