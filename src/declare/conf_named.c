/* SPDX-License-Identifier: MIT
 *
 * conf_named.c - the sections of owed.conf that have a name: receivers, and how long events are kept.
 */
#include "base/clock.h"
#include "base/error.h"
#include "base/ini.h"
#include "base/json.h"
#include "base/option_value.h"
#include "declare/check.h"
#include "declare/conf.h"
#include "declare/conf_read.h"

/* A section with a name that has begun. */
struct head {
    const char *key;
    int line;
    bool is_event;
    struct head *next;
};

struct receivers_reader {
    const char *path;
    owed_registry *registry;
    struct arena arena;
    struct head *heads;             // the newest first
    const struct conf_maker *maker; // NULL: none
    struct conf_receiver receiver;  // key NULL: none has begun
    const char *event_name;         // NULL: none has begun
    struct keeping keeping;
    const char *secret; // NULL: nothing is
};

/* keep_one ends the section of an event. */
static owed_status
keep_one(struct receivers_reader *reader, owed_error *err)
{
    const char *name = reader->event_name;
    reader->event_name = NULL;
    if (name == NULL)
        return OWED_OK;
    owed_error why;
    owed_status status = OWED_OK;
    // What only hides something leaves to others how long it is kept.
    bool says = reader->keeping.retention_us != 0 || reader->keeping.delete_when != 0;
    if (says || reader->secret == NULL)
        status = registry_keep(reader->registry, name, &reader->keeping, &why);
    if (status == OWED_OK && reader->secret != NULL)
        status = registry_hide(reader->registry, name, reader->secret, &why);
    if (status != OWED_OK)
        return fail(err, status, "%s:%d: %s", reader->path, reader->heads->line, why.text);
    return OWED_OK;
}

/* check_notice refuses keys that go with another one, or not with it. */
static owed_status
check_notice(const struct conf_receiver *receiver, const char **ret_wrong)
{
    const struct conf_notice *notice = &receiver->notice;
    const owed_receiver *declared = &receiver->declared;
    const struct {
        bool is_wrong;
        const char *sentence;
    } rules[] = {
        {notice->template_name == NULL,
            "recipient, context, channel, quiet, fall-through and urgent go with notify, which is not there"},
        {declared->webhook != NULL || declared->exec != NULL || declared->pipe != NULL ||
                declared->publish != NULL || declared->file != NULL || declared->discard,
            "several things say what it does; notify alone is right, or another one alone"},
        {notice->recipient == NULL,
            "notify needs recipient, the place of the recipient in the payload, such as /customer"},
        {notice->recipient != NULL && !json_pointer_is_good(notice->recipient),
            "recipient is no JSON pointer; /customer would be one"},
        {notice->context != NULL && !json_pointer_is_good(notice->context),
            "context is no JSON pointer; /order would be one"},
        {declared->site == OWED_SITE_TASK, "notify runs in the relay; site relay is right"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (rules[i].is_wrong) {
            *ret_wrong = rules[i].sentence;
            return OWED_CONFIG;
        }
    return OWED_OK;
}

static owed_status
make_notice(struct receivers_reader *reader, struct conf_receiver *receiver, const char *where,
    owed_error *err)
{
    const struct conf_notice *notice = &receiver->notice;
    char shown[SHOWN_BYTES];
    const char *wrong = "nothing here can notify";
    if (notice->template_name == NULL && notice->recipient == NULL && notice->context == NULL &&
        notice->channel == NULL && notice->quiet == NULL && !notice->fall_through &&
        !notice->urgent)
        return OWED_OK;
    if (check_notice(receiver, &wrong) != OWED_OK || reader->maker == NULL)
        return fail(err, OWED_CONFIG, "%s: receiver \"%s\": %s", where,
            show(receiver->declared.key, shown), wrong);
    return reader->maker->make(reader->maker->state, notice, &receiver->declared, where, err);
}

/* make_endpoints refuses keys that go with endpoints alone. */
static owed_status
make_endpoints(struct conf_receiver *receiver, const char *where, owed_error *err)
{
    const owed_endpoint_settings none = {0};
    char shown[SHOWN_BYTES];
    if (receiver->has_endpoints)
        receiver->declared.endpoints = &receiver->endpoints;
    else if (!endpoints_same(&receiver->endpoints, &none))
        return fail(err, OWED_CONFIG,
            "%s: receiver \"%s\": allow, tenant-key, source, disable-after, per-host and redirects go with endpoints, which is not there",
            where, show(receiver->declared.key, shown));
    return OWED_OK;
}

/* declare_one ends the section before: what it said is declared. */
static owed_status
declare_one(struct receivers_reader *reader, owed_error *err)
{
    char where[WHERE_BYTES];
    struct conf_receiver receiver = reader->receiver;
    reader->receiver = (struct conf_receiver){0};
    if (receiver.declared.key == NULL)
        return keep_one(reader, err);
    snprintf(where, sizeof where, "%s:%d", reader->path, reader->heads->line);
    owed_status status = make_notice(reader, &receiver, where, err);
    if (status == OWED_OK)
        status = make_endpoints(&receiver, where, err);
    return status != OWED_OK ? status
                             : registry_declare(reader->registry, &receiver.declared, where, err);
}

static owed_status
begin_section(
    struct receivers_reader *reader, const struct spot *spot, bool is_event, owed_error *err)
{
    owed_status status = declare_one(reader, err);
    if (status != OWED_OK)
        return status;
    char shown[SHOWN_BYTES];
    for (const struct head *head = reader->heads; head != NULL; head = head->next)
        if (head->is_event == is_event && strcmp(head->key, spot->subsection) == 0)
            return fail(err, OWED_CONFIG,
                "%s:%d: [%s \"%s\"] stands in line %d already; once is right", spot->path,
                spot->line, spot->section, show(spot->subsection, shown), head->line);
    struct head *head = arena_alloc(&reader->arena, sizeof *head);
    const char *key = arena_strdup(&reader->arena, spot->subsection);
    if (head == NULL || key == NULL)
        return fail_memory(err);
    *head =
        (struct head){.key = key, .line = spot->line, .is_event = is_event, .next = reader->heads};
    reader->heads = head;
    reader->keeping = (struct keeping){0};
    reader->secret = NULL;
    reader->event_name = is_event ? key : NULL;
    reader->receiver.declared.key = is_event ? NULL : key;
    return OWED_OK;
}

/* put_word takes the place of an enum's word: the first is 0, the second 1. */
static owed_status
put_word(
    const char *const words[2], const struct option_text *text, int *ret_place, owed_error *err)
{
    char shown[SHOWN_BYTES];
    for (int i = 0; i < 2; i++) {
        *ret_place = i;
        if (strcmp(text->text, words[i]) == 0)
            return OWED_OK;
    }
    return fail(err, OWED_CONFIG, "%s: expected %s or %s, found \"%s\"", text->where, words[0],
        words[1], show(text->text, shown));
}

static owed_status
put_pause(struct receivers_reader *reader, const struct option_text *text, owed_error *err)
{
    static const char *const words[] = {[OWED_PAUSE_LANE] = "lane", [OWED_PAUSE_TARGET] = "target"};
    int place = 0;
    owed_status status = put_word(words, text, &place, err);
    reader->receiver.declared.pause = (owed_pause)place;
    return status;
}

static owed_status
put_site(struct receivers_reader *reader, const struct option_text *text, owed_error *err)
{
    static const char *const words[] = {[OWED_SITE_RELAY] = "relay", [OWED_SITE_TASK] = "task"};
    int place = 0;
    owed_status status = put_word(words, text, &place, err);
    reader->receiver.declared.site = (owed_site)place;
    return status;
}

static owed_status
put_quiet(struct receivers_reader *reader, const struct option_text *text, owed_error *err)
{
    static const char *const words[] = {"wait", "refuse"};
    int place = 0;
    owed_status status = put_word(words, text, &place, err);
    reader->receiver.notice.quiet = words[place];
    return status;
}

static owed_status
put_delete_when(struct receivers_reader *reader, const struct option_text *text, owed_error *err)
{
    static const char *const words[] = {"succeeded", "settled"};
    int place = 0;
    owed_status status = put_word(words, text, &place, err);
    reader->keeping.delete_when =
        place == 0 ? OWED_DELETE_WHEN_SUCCEEDED : OWED_DELETE_WHEN_SETTLED;
    return status;
}

/* put stores a value at its place in the receiver. */
static owed_status
put(struct receivers_reader *reader, const struct option *option, const char *value, int64_t number,
    owed_error *err)
{
    void *member = conf_receiver_place(&reader->receiver, option);
    switch (option->type) {
    case OPTION_INT:
        *(int32_t *)member = (int32_t)number;
        break;
    case OPTION_DURATION:
        *(int64_t *)member = number;
        break;
    case OPTION_BOOL:
        *(bool *)member = number != 0;
        break;
    default:
        *(const char **)member = arena_strdup(&reader->arena, value);
        return *(const char **)member == NULL ? fail_memory(err) : OWED_OK;
    }
    return OWED_OK;
}

/* A key of a section with a name, and what stands behind it. */
struct word {
    const struct option *keys;
    const char *key;
    const char *value;
};

static owed_status
take_word(struct receivers_reader *reader, const struct word *word, const struct option *option,
    const struct option_text *text, owed_error *err)
{
    int64_t number = 0;
    owed_status status = option_read(option, text, &number, err);
    if (status != OWED_OK)
        return status;
    if (strcmp(word->key, "delete-when") == 0)
        return put_delete_when(reader, text, err);
    if (word->keys == conf_event_keys && strcmp(word->key, "secret") == 0) {
        reader->secret = arena_strdup(&reader->arena, word->value);
        return reader->secret == NULL ? fail_memory(err) : OWED_OK;
    }
    if (word->keys == conf_event_keys) {
        reader->keeping.retention_us = number;
        return OWED_OK;
    }
    if (strcmp(word->key, "pause") == 0)
        return put_pause(reader, text, err);
    if (strcmp(word->key, "site") == 0)
        return put_site(reader, text, err);
    if (strcmp(word->key, "quiet") == 0)
        return put_quiet(reader, text, err);
    return put(reader, option, word->value, number, err);
}

static owed_status
take_key(struct receivers_reader *reader, const struct spot *spot, const struct word *word,
    owed_error *err)
{
    char where[WHERE_BYTES];
    char shown[SHOWN_BYTES];
    const struct option *option = conf_key(word->keys, word->key);
    if (option == NULL)
        return conf_refuse_key(spot, word->keys, word->key, err);
    snprintf(where, sizeof where, "%s:%d: [%s \"%s\"] %s", spot->path, spot->line, spot->section,
        show(spot->subsection, shown), word->key);
    const struct option_text text = {.text = word->value, .where = where, .refusal = OWED_CONFIG};
    return take_word(reader, word, option, &text, err);
}

static owed_status
read_named(void *state, int line, const char *section_name, const char *subsection, const char *key,
    const char *value, owed_error *err)
{
    struct receivers_reader *reader = state;
    const struct spot spot = {reader->path, line, section_name, subsection};
    const struct section *section = NULL;
    owed_status status = conf_section(&spot, &section, err);
    if (status != OWED_OK || section->example == NULL || section->keys == conf_channel_keys)
        return status;
    if (key == NULL)
        return begin_section(reader, &spot, section->keys == conf_event_keys, err);
    const struct word word = {section->keys, key, value};
    return take_key(reader, &spot, &word, err);
}

owed_status
conf_load_receivers(
    const char *path, owed_registry *registry, const struct conf_maker *maker, owed_error *err)
{
    struct receivers_reader reader = {.path = path, .registry = registry, .maker = maker};
    arena_init(&reader.arena, 0);
    owed_status status = ini_read(path, read_named, &reader, err);
    if (status == OWED_OK)
        status = declare_one(&reader, err);
    arena_done(&reader.arena);
    return status;
}
