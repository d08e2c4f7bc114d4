/* SPDX-License-Identifier: MIT
 *
 * notices.c - channels and receivers of owed.conf that tell somebody.
 */
#include "notify/notices.h"

#include <string.h>

#include "base/error.h"
#include "base/options.h"
#include "declare/check.h"
#include "notify/channels/kind.h"
#include "notify/notice_rule.h"
#include "notify/notifier.h"
#include "notify/templates.h"

#define CHANNELS_MAX 32

/* place puts the place before a sentence that has none. */
static owed_status
place(const char *path, const char *where, const owed_error *why, owed_error *err)
{
    owed_error copy = *why;
    if (strncmp(copy.text, path, strlen(path)) == 0)
        return fail(err, copy.status, "%s", copy.text);
    return fail(err, OWED_CONFIG, "%s: %s", where, copy.text);
}

static void
send_nothing(const owed_channel *channel, const owed_message *message, owed_answer *answer)
{
    (void)channel;
    (void)message;
    (void)answer;
}

/* name_channels has a notifier before any channel is opened: who fires has to name one. */
static owed_status
name_channels(struct notices *notices, owed_error *err)
{
    const struct conf_channel *channel = notices->channels.first;
    if (channel == NULL)
        return OWED_OK;
    owed_status status = owed_dispatcher_new(NULL, &notices->names, err);
    for (; status == OWED_OK && channel != NULL; channel = channel->next)
        status = owed_dispatcher_add(
            notices->names, &(owed_channel){.name = channel->name, .send = send_nothing}, err);
    return status == OWED_OK
        ? owed_notifier_new(NULL, notices->names, NULL, &notices->notifier, err)
        : status;
}

owed_status
notices_declare(struct notices *notices, owed_registry *registry, owed_error *err)
{
    return notices->notifier == NULL ? OWED_OK
                                     : owed_notify_declare(registry, notices->notifier, err);
}

owed_status
notices_read(struct notices *notices, const char *path, owed_error *err)
{
    *notices = (struct notices){.is_read = true};
    arena_init(&notices->arena, 0);
    owed_status status = conf_load_channels(path, &notices->channels, err);
    if (status != OWED_OK)
        return status;
    int count = 0;
    for (const struct conf_channel *channel = notices->channels.first; channel != NULL;
         channel = channel->next) {
        owed_error why;
        if (++count > CHANNELS_MAX)
            return fail(err, OWED_CONFIG, "%s: there are more than %d channels", channel->where,
                CHANNELS_MAX);
        if (channel_settings_check(channel->name, channel->settings, &why) != OWED_OK)
            return place(path, channel->where, &why, err);
    }
    return name_channels(notices, err);
}

/* lead has the notifier use what is open, or nothing. */
static void
lead(struct notices *notices, const owed_templates *templates, owed_dispatcher *dispatcher)
{
    if (notices->notifier == NULL)
        return;
    notices->notifier->templates = templates;
    notices->notifier->dispatcher = dispatcher;
}

static void
close_all(struct notices *notices)
{
    lead(notices, NULL, notices->names);
    owed_dispatcher_free(notices->dispatcher);
    owed_templates_free(notices->templates);
    notices->dispatcher = NULL;
    notices->templates = NULL;
}

void
notices_done(struct notices *notices)
{
    if (!notices->is_read)
        return;
    owed_notifier_free(notices->notifier);
    notices->notifier = NULL;
    close_all(notices);
    owed_dispatcher_free(notices->names);
    conf_channels_done(&notices->channels);
    arena_done(&notices->arena);
}

/* --- receivers --- */

static owed_status
find_channel(const struct notices *notices, const char *wanted, owed_error *err)
{
    char shown[SHOWN_BYTES];
    const char *names[CHANNELS_MAX + 1] = {NULL};
    size_t count = 0;
    for (const struct conf_channel *channel = notices->channels.first; channel != NULL;
         channel = channel->next)
        names[count++] = channel->name;
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], wanted) == 0)
            return OWED_OK;
    const char *near = nearest(wanted, names);
    return fail(err, OWED_NOT_FOUND, "no channel is called %s; %s%s", show(wanted, shown),
        near == NULL ? "there is " : "the nearest is ", near == NULL ? names[0] : near);
}

static owed_status
check_channel(const struct notices *notices, const struct conf_notice *notice, const char *key,
    const char *where, owed_error *err)
{
    owed_error why;
    if (notices->channels.first == NULL)
        return fail(err, OWED_CONFIG,
            "%s: receiver \"%s\": notify needs a channel; [channel \"email\"] would be one", where,
            key);
    if (notice->channel == NULL || find_channel(notices, notice->channel, &why) == OWED_OK)
        return OWED_OK;
    return fail(err, OWED_CONFIG, "%s: receiver \"%s\": %s", where, key, why.text);
}

static const char *
copy_of(struct notices *notices, const char *text, bool *ret_failed)
{
    const char *copy = text == NULL ? NULL : arena_strdup(&notices->arena, text);
    *ret_failed = *ret_failed || (text != NULL && copy == NULL);
    return copy;
}

static owed_status
make_rule(void *state, const struct conf_notice *notice, owed_receiver *receiver, const char *where,
    owed_error *err)
{
    struct notices *notices = state;
    owed_status status = check_channel(notices, notice, receiver->key, where, err);
    if (status != OWED_OK)
        return status;
    struct notice_rule *rule = arena_alloc(&notices->arena, sizeof *rule);
    if (rule == NULL)
        return fail_memory(err);
    bool failed = false;
    *rule = (struct notice_rule){
        .notices = notices,
        .notice = *notice,
        .key = copy_of(notices, receiver->key, &failed),
        .where = copy_of(notices, where, &failed),
        .next = notices->rules,
    };
    rule->notice.template_name = copy_of(notices, notice->template_name, &failed);
    rule->notice.recipient = copy_of(notices, notice->recipient, &failed);
    rule->notice.context = copy_of(notices, notice->context, &failed);
    rule->notice.channel = copy_of(notices, notice->channel, &failed);
    if (failed)
        return fail_memory(err);
    notices->rules = rule;
    receiver->start = notice_rule_start;
    receiver->targets = notice_rule_targets;
    receiver->pause = OWED_PAUSE_TARGET;
    receiver->state = rule;
    if (receiver->max_attempts == 0)
        receiver->max_attempts = NOTIFY_MAX_ATTEMPTS;
    if (receiver->backoff_base_us == 0)
        receiver->backoff_base_us = NOTIFY_BACKOFF_BASE_US;
    // Quiet hours and a busy provider put it off: without an end that would count as failures.
    if (receiver->give_up_after_us == 0)
        receiver->give_up_after_us = NOTIFY_GIVE_UP_AFTER_US;
    return OWED_OK;
}

struct conf_maker
notices_maker(struct notices *notices)
{
    return (struct conf_maker){.make = make_rule, .state = notices};
}

/* --- all of it --- */

static owed_status
add_channel(struct notices *notices, const struct conf_channel *channel, owed_error *err)
{
    owed_channel made = {0};
    owed_error why;
    owed_status status = owed_channel_new(channel->name, channel->settings, &made, &why);
    if (status == OWED_OK) {
        status = owed_dispatcher_add(notices->dispatcher, &made, &why);
        if (status != OWED_OK)
            owed_channel_done(&made);
    }
    return status == OWED_OK ? OWED_OK : place(notices->channels.path, channel->where, &why, err);
}

static owed_status
find_template(
    struct notices *notices, struct notice_rule *rule, const char *folder, owed_error *err)
{
    owed_error why;
    if (folder == NULL)
        return fail(err, OWED_CONFIG,
            "%s: receiver \"%s\": notify needs templates; folder = FOLDER under [templates] says "
            "where they are",
            rule->where, rule->key);
    if (owed_templates_find(notices->templates, rule->notice.template_name, &rule->tmpl, &why) ==
        OWED_OK)
        return OWED_OK;
    return fail(err, OWED_CONFIG, "%s: receiver \"%s\": %s", rule->where, rule->key, why.text);
}

static owed_status
begin(struct notices *notices, owed_error *err)
{
    owed_status status = owed_dispatcher_new(NULL, &notices->dispatcher, err);
    return status != OWED_OK ? status : owed_templates_new(&notices->templates, err);
}

owed_status
notices_open(struct notices *notices, const char *folder, owed_error *err)
{
    owed_status status = begin(notices, err);
    for (const struct conf_channel *channel = notices->channels.first;
         status == OWED_OK && channel != NULL; channel = channel->next)
        status = add_channel(notices, channel, err);
    if (status == OWED_OK && folder != NULL)
        status = owed_templates_load(notices->templates, folder, err);
    for (struct notice_rule *rule = notices->rules; status == OWED_OK && rule != NULL;
         rule = rule->next)
        status = find_template(notices, rule, folder, err);
    if (status == OWED_OK)
        lead(notices, notices->templates, notices->dispatcher);
    return status;
}

owed_status
notices_know(const struct notices *notices, const char *folder, const char *template_name,
    const char *channel, owed_error *err)
{
    owed_templates *templates = NULL;
    const owed_template *tmpl;
    if (channel != NULL && notices->channels.first != NULL) {
        owed_status status = find_channel(notices, channel, err);
        if (status != OWED_OK)
            return status;
    }
    if (folder == NULL)
        return OWED_OK;
    owed_status status = owed_templates_new(&templates, err);
    if (status == OWED_OK)
        status = owed_templates_load(templates, folder, err);
    if (status == OWED_OK)
        status = owed_templates_find(templates, template_name, &tmpl, err);
    owed_templates_free(templates);
    return status;
}

/* What a sentence about a template goes to where others have said it. */
static void
say_nothing(void *state, const char *sentence)
{
    (void)state;
    (void)sentence;
}

owed_status
notices_check(struct notices *notices, const char *folder,
    void (*say)(void *state, const char *sentence), void *state, owed_error *err)
{
    const struct templates_visitor visitor = {say_nothing, NULL};
    owed_error why;
    owed_status status = begin(notices, err);
    if (status == OWED_OK && folder != NULL)
        status = templates_scan(notices->templates, folder, &visitor, err);
    for (const struct conf_channel *channel = notices->channels.first;
         status == OWED_OK && channel != NULL; channel = channel->next)
        if (add_channel(notices, channel, &why) != OWED_OK)
            say(state, why.text);
    for (struct notice_rule *rule = notices->rules; status == OWED_OK && rule != NULL;
         rule = rule->next)
        if (find_template(notices, rule, folder, &why) != OWED_OK)
            say(state, why.text);
    close_all(notices);
    return status;
}
