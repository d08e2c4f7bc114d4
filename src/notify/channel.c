/* SPDX-License-Identifier: MIT
 *
 * channel.c - a built-in channel, made from its settings.
 */
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/str.h"
#include "declare/check.h"
#include "notify/channels/kind.h"

#define KINDS_MAX 32
#define WHERE_BYTES 512

static owed_status
refuse_type(const char *name, const char *type, owed_error *err)
{
    char shown[SHOWN_BYTES];
    const char *types[KINDS_MAX + 1] = {NULL};
    struct buf list CLEANUP(buf_done);
    buf_init(&list, 256);
    for (size_t i = 0; channel_kinds[i] != NULL && i < KINDS_MAX; i++) {
        types[i] = channel_kinds[i]->type;
        buf_printf(&list, "%s%s", i == 0 ? "" : ", ", types[i]);
    }
    if (type == NULL)
        return fail(err, OWED_CONFIG,
            "channel %s has no type, and none goes by that name; there are %s", name,
            buf_text(&list));
    const char *near = nearest(type, types);
    return fail(err, OWED_CONFIG, "channel %s: no type is called %s; %s%s", name, show(type, shown),
        near == NULL ? "there are " : "the nearest is ", near == NULL ? buf_text(&list) : near);
}

owed_status
channel_kind_of(
    const char *name, const char *type, const struct channel_kind **ret_kind, owed_error *err)
{
    for (size_t i = 0; channel_kinds[i] != NULL; i++) {
        const struct channel_kind *kind = channel_kinds[i];
        const char *word = type == NULL ? kind->name : kind->type;
        if (word != NULL && strcmp(word, type == NULL ? name : type) == 0) {
            *ret_kind = kind;
            return OWED_OK;
        }
    }
    return refuse_type(name, type, err);
}

static owed_status
take_setting(struct options *values, const char *name, const owed_setting *setting, owed_error *err)
{
    char where[WHERE_BYTES];
    if (setting->where == NULL)
        snprintf(where, sizeof where, "channel %s", name);
    else
        snprintf(where, sizeof where, "%s", setting->where);
    return options_set(
        values, CHANNEL_SECTION, setting->key, setting->value, SOURCE_FILE, where, err);
}

static owed_status
read_values(const struct channel_kind *kind, const char *name, const owed_setting *settings,
    struct options **ret_values, owed_error *err)
{
    const struct option *const tables[] = {kind->keys, NULL};
    owed_status status = options_new(tables, 0, ret_values, err);
    for (; status == OWED_OK && settings->key != NULL; settings++)
        if (strcmp(settings->key, "type") != 0)
            status = take_setting(*ret_values, name, settings, err);
    return status;
}

static owed_status
make(const struct channel_kind *kind, const owed_setting *settings, owed_channel *channel,
    owed_error *err)
{
    struct options *values = NULL;
    owed_status status = read_values(kind, channel->name, settings, &values, err);
    owed_error why;
    if (status == OWED_OK && (status = kind->make(values, channel, &why)) != OWED_OK)
        fail(err, status, "channel %s: %s", channel->name, why.text);
    options_free(values);
    return status;
}

static owed_status
find_kind(const char *name, const owed_setting *settings, const struct channel_kind **ret_kind,
    owed_error *err)
{
    const char *type = NULL;
    for (const owed_setting *setting = settings; setting->key != NULL; setting++)
        type = strcmp(setting->key, "type") == 0 ? setting->value : type;
    return channel_kind_of(name, type, ret_kind, err);
}

owed_status
channel_settings_check(const char *name, const owed_setting *settings, owed_error *err)
{
    const struct channel_kind *kind = NULL;
    struct options *values = NULL;
    owed_status status = find_kind(name, settings, &kind, err);
    if (status == OWED_OK)
        status = read_values(kind, name, settings, &values, err);
    options_free(values);
    return status;
}

owed_status
owed_channel_new(
    const char *name, const owed_setting *settings, owed_channel *ret_channel, owed_error *err)
{
    static const owed_setting none;
    const struct channel_kind *kind = NULL;
    settings = settings == NULL ? &none : settings;
    owed_status status = find_kind(name, settings, &kind, err);
    owed_channel channel = {.name = name};
    if (status == OWED_OK)
        status = make(kind, settings, &channel, err);
    if (status == OWED_OK)
        *ret_channel = channel;
    return status;
}

void
owed_channel_done(owed_channel *channel)
{
    if (channel->close != NULL)
        channel->close(channel);
    *channel = (owed_channel){0};
}
