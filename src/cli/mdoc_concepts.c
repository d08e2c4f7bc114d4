/* SPDX-License-Identifier: MIT
 *
 * mdoc_concepts.c - owed(7): what the words mean, and what is promised.
 */
#include "cli/command.h"
#include "cli/prose.h"
#include "engine/states.h"

/* A word, and what it means. */
struct meaning {
    const char *word;
    const char *text;
};

static const struct meaning words[] = {
    {"event",
        "a fact that committed: a row of owed_event, with a name, a version and a payload in JSON"},
    {"receiver", "code or a channel that wants an event, declared once and known by its key"},
    {"delivery",
        "what is owed to one receiver, for one target, for one event: a row of owed_delivery, with attempts, waits and an end of its own"},
    {"target",
        "one of several that a receiver owes an event to, a delivery each; most receivers have none"},
    {"catalogue",
        "owed_event_type and owed_receiver: what every app has published; an event is owed to whom it names, whoever fires it"},
    {"relay",
        "the process that claims deliveries and runs receivers; there may be many, on any host"},
    {"lane",
        "a share of the relays' work; a receiver is in one, and what must not wait behind other work belongs in a lane of its own"},
    {"claim, lease",
        "how a relay holds deliveries, and until when; the lease is renewed while a receiver runs, and whoever lost it writes nothing"},
    {"attempt",
        "one run of a receiver for a delivery; its outcome is done, failed, permanent, retry_after, defer or not_yet"},
    {"idempotency key",
        "owed_ and 32 hex digits, the same for every attempt of a delivery: for whatever can drop duplicates"},
    {"durable, on_commit, inline",
        "the modes of a receiver: with a row, at least once, run by a relay; after the commit, in the firing process, best effort; inside the "
        "firing transaction, whose commit it can refuse"},
    {NULL, NULL},
};

/* What a status in the column of that name means. */
static const struct meaning statuses[STATE_COUNT] = {
    [STATE_PENDING] = {"pending", "owed; it waits until it is due"},
    [STATE_CLAIMED] = {"claimed", "owed; a relay holds it under a lease, or has handed it back"},
    [STATE_SUCCEEDED] = {"succeeded", "the receiver did its work, and that is recorded"},
    [STATE_FAILED] = {"failed", "owed again, after an attempt that failed or a deferral"},
    [STATE_DEAD] = {"dead",
        "out of attempts, permanently failed, unreadable, or put off for too long; requeue or replay owes it once more"},
    [STATE_ORPHANED] = {"orphaned", "its receiver was declared nowhere when the grace was over"},
    [STATE_CANCELLED] = {"cancelled", "an operator withdrew it"},
};

static const struct meaning promises[] = {
    {"Exactly when it committed",
        "An event exists if and only if the transaction that fired it committed."},
    {"Each for itself",
        "One delivery for each event and receiver; one that fails never blocks or repeats another."},
    {"It ends", "Every delivery ends, whatever dies: relay, worker, receiver, store."},
    {"Held once", "No two workers hold one row; who lost its lease writes nothing."},
    {"Once, in this database",
        "A receiver that touches only this database takes effect once. Any other is called at least once, always with the same idempotency key."},
    {"Spread", "Retries spread over the whole window; a destination's own word is obeyed."},
    {"Quick to stop",
        "Stopping is quick and clean; the rest of the batch is free at once, in order."},
    {"The cost of a claim", "A claim costs the same behind any history and before any backlog."},
    {"The same bytes", "Payloads arrive as they were fired, byte for byte."},
    {"Refused in one sentence", "Bad input is refused with one sentence, and loses nothing."},
    {"Explained", "owed explain ID says in one sentence why a delivery has not run."},
    {NULL, NULL},
};

static const char intro[] =
    "An application changes its own tables and fires an event in the same transaction. Whoever is owed the news "
    "stands in the catalogue, so that the fire also writes a delivery for each of them. After the commit a relay claims "
    "deliveries under a lease, runs their receivers, and records what each attempt came to. Nothing of that lives "
    "outside the database.";

static const char retries[] =
    "After failed attempt n the next one is due within backoff-base doubled n-1 times, at most backoff-cap. The wait is drawn "
    "evenly from nothing to that ceiling, so that what failed together does not come back together. The longest that "
    "max-attempts can last is the sum of the ceilings, on average it is half; owed catalogue has both for each receiver.\n\n"
    "A destination's own word counts for more: retry_after says when, and permanent says never. A deferral (defer) spends no attempt where the "
    "receiver declares give-up-after, and pauses its lane, or its target, for as long as was asked. not_yet is the application's own word "
    "that the work is due later.\n\n"
    "Order is that in which deliveries came due, within a lane and kind. A retry waits behind whatever came due before it.";

static const char limits[] =
    "A receiver that touches more than this database is called at least once. Order by key is not promised. A status of an event that "
    "was pruned is gone with it. Inline and on_commit receivers run in the firing process alone, and not for what is fired in plain SQL.";

static void
list(const char *heading, const struct meaning *meanings, struct buf *text)
{
    buf_printf(text, ".Sh %s\n.Bl -tag -width Ds\n", heading);
    for (; meanings->word != NULL; meanings++) {
        buf_puts(text, ".It Sy \"");
        prose_roff(text, str_of(meanings->word));
        buf_puts(text, "\"\n");
        prose_mdoc(meanings->text, text);
    }
    buf_puts(text, ".El\n");
}

/* life prints what leads from each status to the next, from the table that the engine runs on. */
static void
life(struct buf *text)
{
    buf_puts(text, ".Sh THE LIFE OF A DELIVERY\n.Bl -tag -width Ds\n");
    for (int state = STATE_PENDING; state < STATE_COUNT; state++) {
        buf_printf(text, ".It Sy %s\n", statuses[state].word);
        prose_sentence(statuses[state].text, text);
        for (size_t i = 0; i < edge_count; i++) {
            if (edges[i].from != (enum state)state)
                continue;
            buf_printf(text, ".br\n%s: then it is\n.Sy %s ;\n", happening_name(edges[i].happening),
                state_name(edges[i].to));
            prose_roff(text, str_of(edges[i].sentence));
            buf_puts(text, ".\n");
        }
    }
    buf_puts(text, ".El\n");
}

void
mdoc_concepts(struct buf *text)
{
    mdoc_head(text, "owed", 7, "owed", "concepts and guarantees of a transactional outbox");
    buf_puts(text, ".Sh DESCRIPTION\n");
    prose_mdoc(intro, text);
    list("WORDS", words, text);
    life(text);
    list("GUARANTEES", promises, text);
    buf_puts(text, ".Sh RETRIES AND ORDER\n");
    prose_mdoc(retries, text);
    buf_puts(text, ".Sh LIMITS\n");
    prose_mdoc(limits, text);
    buf_puts(text,
        ".Sh TROUBLESHOOTING\nWhat to type when something stands still is in\n.Xr owed 1 .\n");
    buf_puts(text, ".Sh SEE ALSO\n.Xr owed 1 ,\n.Xr libowed 3 ,\n.Xr owed.conf 5\n");
}
