/* SPDX-License-Identifier: MIT
 *
 * conf_channels.c - the channels of owed.conf, kept as they are written: what they mean is known above.
 */
#include "base/error.h"
#include "base/ini.h"
#include "declare/check.h"
#include "declare/conf.h"
#include "declare/conf_read.h"

#define SETTINGS_MAX 64 // of one channel

static owed_status
begin_channel(struct conf_channels *channels, const struct spot *spot, owed_error *err)
{
    char shown[SHOWN_BYTES];
    for (const struct conf_channel *old = channels->first; old != NULL; old = old->next)
        if (strcmp(old->name, spot->subsection) == 0)
            return fail(err, OWED_CONFIG,
                "%s:%d: [channel \"%s\"] stands at %s already; once is right", spot->path,
                spot->line, show(spot->subsection, shown), old->where);
    struct conf_channel *channel = arena_alloc(&channels->arena, sizeof *channel);
    if (channel == NULL)
        return fail_memory(err);
    *channel = (struct conf_channel){
        .name = arena_strdup(&channels->arena, spot->subsection),
        .where = arena_printf(&channels->arena, "%s:%d", spot->path, spot->line),
        .settings = arena_alloc(&channels->arena, (SETTINGS_MAX + 1) * sizeof *channel->settings),
    };
    if (channel->name == NULL || channel->where == NULL || channel->settings == NULL)
        return fail_memory(err);
    channel->settings[0] = (owed_setting){0};
    *channels->end = channel;
    channels->end = &channel->next;
    return OWED_OK;
}

static owed_status
add_setting(struct conf_channels *channels, const struct spot *spot, const char *key,
    const char *value, owed_error *err)
{
    struct conf_channel *channel = channels->first;
    while (channel->next != NULL)
        channel = channel->next;
    if (channel->count == SETTINGS_MAX)
        return fail(err, OWED_CONFIG, "%s:%d: a channel has at most %d keys", spot->path,
            spot->line, SETTINGS_MAX);
    owed_setting *setting = &channel->settings[channel->count++];
    setting->key = arena_strdup(&channels->arena, key);
    setting->value = arena_strdup(&channels->arena, value);
    setting->where = arena_printf(&channels->arena, "%s:%d", spot->path, spot->line);
    setting[1] = (owed_setting){0};
    bool is_whole = setting->key != NULL && setting->value != NULL && setting->where != NULL;
    return is_whole ? OWED_OK : fail_memory(err);
}

static owed_status
read_channel(void *state, int line, const char *section_name, const char *subsection,
    const char *key, const char *value, owed_error *err)
{
    struct conf_channels *channels = state;
    const struct spot spot = {channels->path, line, section_name, subsection};
    const struct section *section = NULL;
    owed_status status = conf_section(&spot, &section, err);
    if (status != OWED_OK || section->keys != conf_channel_keys)
        return status;
    return key == NULL ? begin_channel(channels, &spot, err)
                       : add_setting(channels, &spot, key, value, err);
}

owed_status
conf_load_channels(const char *path, struct conf_channels *ret_channels, owed_error *err)
{
    *ret_channels = (struct conf_channels){.path = path, .end = &ret_channels->first};
    arena_init(&ret_channels->arena, 0);
    return ini_read(path, read_channel, ret_channels, err);
}

void
conf_channels_done(struct conf_channels *channels)
{
    arena_done(&channels->arena);
    channels->first = NULL;
}
