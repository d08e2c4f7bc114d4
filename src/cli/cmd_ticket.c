/* SPDX-License-Identifier: MIT
 *
 * cmd_ticket.c - owed ticket: what became of a notification that a store keeps.
 */
#include "cli/common.h"
#include "cli/fields.h"
#include "cli/filter.h"
#include "notify/keep.h"

static int run_ticket(struct cli *cli);

static const struct option ticket_options[] = {OPTION_JSON_DOCUMENT, {.name = NULL}};

const struct command cmd_ticket = {
    .name = "ticket",
    .summary = "say what became of a notification that the store keeps",
    .usage = "ID",
    .text =
        "A ticket is found by the id that owed send, or owed_outbox_enqueue in C, gave for it; one that is "
        "fired in SQL where its event's dedupe key is ticket: and that id.\n\n"
        "It is pending until a relay has sent it, also while it is tried again; then it is sent, and "
        "what the provider calls it is its reference; or it has failed, and the error says why. "
        "owed explain says why a pending one has not run, owed requeue has a failed one tried again: both by the id "
        "of the delivery.\n\n"
        "In JSON the keys are id, state (pending, sent, failed), status (of the delivery), event_id, delivery_id, "
        "enqueued_at, attempts, channel, address, reference and error.",
    .examples = "    owed ticket 5f0c8a1e9b7d4c2386a1f0e3d5c7b9a2",
    .options = ticket_options,
    .max_operands = 1,
    .run = run_ticket,
};

struct ticket_view {
    const char *id, *state, *status;
    int64_t event_id, delivery_id, enqueued_at_us;
    int32_t attempts;
    const char *channel, *address, *reference, *error;
};

static const struct field ticket_fields[] = {
    FIELD(struct ticket_view, id, "id", NULL, SHAPE_TEXT),
    FIELD(struct ticket_view, state, "state", "STATE", SHAPE_TEXT),
    FIELD(struct ticket_view, status, "status", NULL, SHAPE_TEXT),
    FIELD(struct ticket_view, event_id, "event_id", NULL, SHAPE_ID),
    FIELD(struct ticket_view, delivery_id, "delivery_id", "DELIVERY", SHAPE_ID),
    FIELD(struct ticket_view, enqueued_at_us, "enqueued_at", "ENQUEUED", SHAPE_TIME),
    FIELD(struct ticket_view, attempts, "attempts", "ATTEMPTS", SHAPE_INT32),
    FIELD(struct ticket_view, channel, "channel", "CHANNEL", SHAPE_KEY),
    FIELD(struct ticket_view, address, "address", "ADDRESS", SHAPE_KEY),
    FIELD(struct ticket_view, reference, "reference", "REFERENCE", SHAPE_KEY),
    FIELD(struct ticket_view, error, "error", "ERROR", SHAPE_KEY),
    FIELDS_END,
};

static void
show_ticket(struct cli *cli, const struct delivery_row *row, struct ticket_view *view)
{
    static const char *const states[] = {[OWED_TICKET_PENDING] = "pending",
        [OWED_TICKET_SENT] = "sent",
        [OWED_TICKET_FAILED] = "failed"};
    owed_ticket *ticket = ticket_blank();
    if (ticket == NULL || ticket_learn(ticket, row, &cli->err) != OWED_OK) {
        owed_ticket_release(ticket);
        return;
    }
    view->state = states[ticket->state];
    view->status = row->status;
    view->delivery_id = row->id;
    view->attempts = row->attempts;
    view->error = ticket->error.status == OWED_OK ? NULL : ticket->error.text;
    if (ticket->receipt != NULL) {
        view->channel = ticket->receipt->channel;
        view->address = ticket->receipt->address;
        view->reference = ticket->receipt->reference;
    }
    cli_list(cli, ticket_fields, view, 1, sizeof *view);
    owed_ticket_release(ticket);
}

static int
run_ticket(struct cli *cli)
{
    if (cli->operand_count == 0)
        return cli_usage(cli, "ticket wants the id of a ticket");
    struct ticket_view view = {.id = cli->operands[0]};
    struct delivery_row *row = NULL;
    struct event_row event;
    owed_status status = cli_open_store(cli, false);
    if (status == OWED_OK)
        status = ticket_event(cli->db, view.id, &view.event_id, &cli->err);
    if (status == OWED_OK)
        status = ticket_delivery(cli->db, view.id, view.event_id, &cli->arena, &row, &cli->err);
    if (status == OWED_OK)
        status = store_event(cli->db, view.event_id, &cli->arena, &event, &cli->err);
    if (status != OWED_OK)
        return cli_fail(cli);
    view.enqueued_at_us = event.occurred_at_us;
    show_ticket(cli, row, &view);
    return view.state == NULL ? cli_refuse(EXIT_AGAIN, "out of memory") : EXIT_DONE;
}
