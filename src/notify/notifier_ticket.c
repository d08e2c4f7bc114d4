/* SPDX-License-Identifier: MIT
 *
 * notifier_ticket.c - the receiver of tickets: what it reads, and the channel that it names.
 */
#include "base/cleanup.h"
#include "base/error.h"
#include "declare/registry.h"
#include "deliver/delivery.h"
#include "notify/dispatcher.h"
#include "notify/notifier.h"

static owed_status
read_ticket(owed_delivery *delivery, struct arena *arena, struct told *ret_told, owed_error *err)
{
    const owed_notifier *notifier = owed_delivery_state(delivery);
    owed_bytes payload = owed_delivery_payload(delivery);
    owed_status status =
        ticket_read((struct str){payload.data, payload.len}, arena, &ret_told->ticket, err);
    return status != OWED_OK ? status
                             : owed_templates_find(notifier->templates,
                                   ret_told->ticket.template_name, &ret_told->tmpl, err);
}

static void
start(owed_delivery *delivery, const void *payload)
{
    (void)payload;
    owed_notifier *notifier = owed_delivery_state(delivery);
    if (notifier->templates != NULL)
        notifier_start(notifier, delivery, read_ticket);
    else
        notifier_turn_away(delivery);
}

/* --- targets: a delivery knows the channel that it is most likely to go by, so that it rests alone --- */

owed_status
notifier_target(const owed_notifier *notifier, const owed_recipient *recipient, const char *channel,
    owed_target_list *list, owed_error *err)
{
    const char *route[ROUTE_MAX];
    size_t count =
        recipient == NULL ? 0 : route_of(notifier->dispatcher, recipient, channel, route);
    for (size_t i = 0; i < count; i++)
        if (owed_recipient_address(recipient, route[i]) != NULL &&
            channel_find(notifier->dispatcher, route[i]) != NULL)
            return owed_target_add(list, route[i], err);
    return owed_target_add(list, "none", err);
}

static owed_status
name_channel(owed_delivery *delivery, const void *payload, owed_target_list *list, owed_error *err)
{
    (void)payload;
    owed_bytes text = owed_delivery_payload(delivery);
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, 0);
    struct ticket_text ticket;
    // What is wrong with a ticket is said when it is delivered.
    bool is_read = ticket_read((struct str){text.data, text.len}, &arena, &ticket, NULL) == OWED_OK;
    return notifier_target(owed_delivery_state(delivery), is_read ? &ticket.recipient : NULL,
        ticket.options.channel, list, err);
}

/* --- declaring it --- */

owed_status
owed_notify_declare(owed_registry *registry, owed_notifier *notifier, owed_error *err)
{
    static const owed_event_type ticket = {.name = TICKET_EVENT, .version = 1};
    static const owed_event_type gone = {.name = GONE_EVENT, .version = 1};
    const owed_notifier_options *options = &notifier->options;
    const owed_receiver receiver = {
        .key = NOTIFY_RECEIVER,
        .event = &ticket,
        .start = start,
        .state = notifier,
        .lane = options->lane,
        .max_attempts = options->max_attempts,
        .backoff_base_us = options->backoff_base_us,
        .backoff_cap_us = options->backoff_cap_us,
        .give_up_after_us = options->give_up_after_us,
        .targets = name_channel,
        .pause = OWED_PAUSE_TARGET,
    };
    owed_status status = owed_declare_event(registry, &ticket, err);
    if (status == OWED_OK)
        status = owed_declare_event(registry, &gone, err);
    if (status == OWED_OK)
        status = registry_hide(registry, TICKET_EVENT, "/context", err);
    return status == OWED_OK ? owed_declare_receiver(registry, &receiver, err) : status;
}
