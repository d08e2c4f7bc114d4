/* SPDX-License-Identifier: MIT
 *
 * ticket_copy.c - what a ticket keeps of the recipient, the context and the options that it was given.
 */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "notify/ticket.h"

/* Where memory is out, it is noted, and the rest goes on. */
struct copying {
    struct arena *arena;
    bool failed;
};

static void *
bytes(struct copying *copying, size_t size)
{
    void *piece = arena_alloc(copying->arena, size);
    copying->failed |= piece == NULL;
    return piece;
}

static const char *
text(struct copying *copying, const char *from)
{
    if (from == NULL)
        return NULL;
    char *copy = arena_strdup(copying->arena, from);
    copying->failed |= copy == NULL;
    return copy;
}

static const char *const *
texts(struct copying *copying, const char *const *from)
{
    size_t count = 0;
    if (from == NULL)
        return NULL;
    while (from[count] != NULL)
        count++;
    const char **to = bytes(copying, (count + 1) * sizeof *to);
    for (size_t i = 0; i < count && !copying->failed; i++)
        to[i] = text(copying, from[i]);
    return to;
}

static const owed_address *
addresses(struct copying *copying, const owed_address *from)
{
    size_t count = 0;
    if (from == NULL)
        return NULL;
    while (from[count].channel != NULL)
        count++;
    owed_address *to = bytes(copying, (count + 1) * sizeof *to);
    for (size_t i = 0; i < count && !copying->failed; i++)
        to[i] = (owed_address){text(copying, from[i].channel), text(copying, from[i].address)};
    return to;
}

static const owed_quiet_hours *
windows(struct copying *copying, const owed_quiet_hours *from)
{
    size_t count = 0;
    if (from == NULL)
        return NULL;
    while (from[count].start != NULL)
        count++;
    owed_quiet_hours *to = bytes(copying, (count + 1) * sizeof *to);
    for (size_t i = 0; i < count && !copying->failed; i++)
        to[i] = (owed_quiet_hours){.start = text(copying, from[i].start),
            .end = text(copying, from[i].end),
            .channels = texts(copying, from[i].channels),
            .weekdays = from[i].weekdays};
    return to;
}

static const owed_attachment *
attachments(struct copying *copying, const owed_attachment *from)
{
    size_t count = 0;
    if (from == NULL)
        return NULL;
    while (from[count].name != NULL)
        count++;
    owed_attachment *to = bytes(copying, (count + 1) * sizeof *to);
    for (size_t i = 0; i < count && !copying->failed; i++) {
        void *copy = bytes(copying, from[i].size + 1);
        to[i] = (owed_attachment){.name = text(copying, from[i].name),
            .media_type = text(copying, from[i].media_type),
            .bytes = copy,
            .size = from[i].size};
        if (copy != NULL && from[i].size > 0)
            memcpy(copy, from[i].bytes, from[i].size);
    }
    return to;
}

static owed_recipient
recipient_copy(struct copying *copying, const owed_recipient *from)
{
    return (owed_recipient){
        .phone = text(copying, from->phone),
        .device_token = text(copying, from->device_token),
        .email = text(copying, from->email),
        .others = addresses(copying, from->others),
        .preferred = texts(copying, from->preferred),
        .locale = text(copying, from->locale),
        .time_zone = text(copying, from->time_zone),
        .quiet_hours = windows(copying, from->quiet_hours),
    };
}

static owed_value *
values_copy(struct copying *copying, const owed_value *from)
{
    size_t count = 0;
    if (from == NULL)
        return NULL;
    while (from[count].name != NULL)
        count++;
    owed_value *to = bytes(copying, (count + 1) * sizeof *to);
    for (size_t i = 0; i < count && !copying->failed; i++) {
        to[i] = from[i];
        to[i].name = text(copying, from[i].name);
        if (from[i].kind == OWED_KIND_TEXT || from[i].kind == OWED_KIND_DECIMAL)
            to[i].is.text = text(copying, from[i].is.text);
    }
    return to;
}

static void
options_copy(struct copying *copying, const owed_send_options *from, owed_ticket *ticket)
{
    owed_send_options *to = &ticket->options;
    *to = *from;
    to->channel = text(copying, from->channel);
    to->subject = text(copying, from->subject);
    to->locale = text(copying, from->locale);
    to->dedup_key = text(copying, from->dedup_key);
    to->attachments = attachments(copying, from->attachments);
    to->unsubscribe = text(copying, from->unsubscribe);
    if (from->retry != NULL) {
        ticket->retry = *from->retry;
        to->retry = &ticket->retry;
    }
}

owed_ticket *
ticket_blank(void)
{
    owed_ticket *ticket = calloc(1, sizeof *ticket);
    if (ticket == NULL)
        return NULL;
    atomic_init(&ticket->holds, 1);
    arena_init(&ticket->arena, 0);
    pthread_mutex_init(&ticket->lock, NULL);
    pthread_cond_init(&ticket->settled, NULL);
    return ticket;
}

owed_ticket *
ticket_new(const owed_recipient *recipient, const owed_template *tmpl, const owed_value *context,
    const owed_send_options *options)
{
    owed_ticket *ticket = ticket_blank();
    if (ticket == NULL)
        return NULL;
    struct copying copying = {.arena = &ticket->arena};
    ticket->tmpl = tmpl;
    ticket->recipient = recipient_copy(&copying, recipient);
    ticket->context = values_copy(&copying, context);
    if (options != NULL)
        options_copy(&copying, options, ticket);
    ticket->options.id = ticket->id;
    if (!copying.failed)
        return ticket;
    owed_ticket_release(ticket);
    return NULL;
}
