/* SPDX-License-Identifier: MIT
 *
 * endpoints.c - a tree of cards, and what deliveries tell of their endpoints.
 */
#include "deliver/endpoints.h"

#include <inttypes.h>
#include <search.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "declare/url.h"
#include "deliver/sortie.h"

#define CARD_FRESH_US US_PER_SECOND
#define CARDS_MAX 20000 // above it all are read anew
#define HTTP_GONE 410

/* --- cards --- */

static int
by_id(const void *a, const void *b)
{
    return strcmp(((const struct card *)a)->row.id, ((const struct card *)b)->row.id);
}

void
card_drop(const struct card *given)
{
    struct card *card = (struct card *)(uintptr_t)given;
    if (card == NULL || --card->users > 0)
        return;
    arena_done(&card->arena);
    free(card);
}

static void
drop_node(void *node)
{
    card_drop(node);
}

void
cards_done(struct worker *w)
{
    tdestroy(w->cards, drop_node);
    w->cards = NULL;
    w->card_count = 0;
}

static struct card *
card_find(const struct worker *w, const char *id)
{
    const struct card wanted = {.row = {.id = id}};
    struct card *const *found = tfind(&wanted, &w->cards, by_id);
    return found == NULL ? NULL : *found;
}

const struct card *
card_take(struct worker *w, const char *target)
{
    struct card *card = card_find(w, target);
    if (card != NULL)
        card->users++;
    return card;
}

void
card_forget(struct worker *w, const char *id)
{
    struct card *card = card_find(w, id);
    if (card == NULL)
        return;
    tdelete(card, &w->cards, by_id);
    card_drop(card);
    w->card_count--;
}

bool
endpoint_keeps(const struct endpoint_row *row, int64_t now_us)
{
    return row->disabled_at_us == 0 && row->paused_at_us != 0 &&
        (row->paused_until_us == 0 || row->paused_until_us > now_us);
}

/* copy_row copies what a flight needs to know. */
static bool
copy_row(struct card *card, const struct endpoint_row *row)
{
    struct arena *arena = &card->arena;
    card->row = *row;
    const char **texts[] = {&card->row.id, &card->row.name, &card->row.url, &card->row.tenant,
        &card->row.format, &card->row.signing, &card->row.secret, &card->row.previous_secret,
        &card->row.filter, &card->row.disabled_reason, &card->row.paused_reason,
        &card->row.subscriptions};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        *texts[i] = arena_strdup(arena, or_empty(*texts[i]));
        if (*texts[i] == NULL)
            return false;
    }
    return true;
}

/* card_put keeps a row in the place of the one that was read before. */
static bool
card_put(struct worker *w, const struct endpoint_row *row, bool is_gone)
{
    struct card *card = calloc(1, sizeof *card);
    if (card == NULL)
        return false;
    arena_init(&card->arena, 0);
    card->users = 1;
    card->is_gone = is_gone;
    card->read_mono_us = worker_mono_us(w);
    if (!copy_row(card, row)) {
        card_drop(card);
        return false;
    }
    card_forget(w, row->id);
    if (tsearch(card, &w->cards, by_id) == NULL) {
        card_drop(card);
        return false;
    }
    w->card_count++;
    return true;
}

static bool
is_stale(const struct worker *w, const struct card *card)
{
    return card == NULL || card->read_mono_us < worker_mono_us(w) - CARD_FRESH_US;
}

/* list_stale writes the ids of those that are to be looked up, as a JSON array, and notes them as gone
 * until they are found. */
static owed_status
list_stale(struct worker *w, struct buf *ids, owed_error *err)
{
    size_t count = 0;
    for (const struct sortie *s = w->waiting.first; s != NULL; s = s->next) {
        const char *target = s->task->row->target;
        if (s->known->receiver->runner != RUN_ENDPOINT || !is_stale(w, card_find(w, target)))
            continue;
        buf_putc(ids, count++ == 0 ? '[' : ',');
        json_write_string(ids, str_of(target));
        if (!card_put(w, &(struct endpoint_row){.id = target}, true))
            return fail_memory(err);
    }
    if (count > 0)
        buf_putc(ids, ']');
    return ids->failed ? fail_memory(err) : OWED_OK;
}

static owed_status
look_up(struct worker *w, owed_error *err)
{
    CLEANUP(buf_done) struct buf ids;
    buf_init(&ids, LIMIT_IN_FLIGHT_BYTES);
    owed_status status = list_stale(w, &ids, err);
    if (status != OWED_OK || ids.len == 0)
        return status;
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, 0);
    struct endpoint_row *rows = NULL;
    size_t count = 0;
    status = store_endpoints_of(w->owed->db, buf_text(&ids), &arena, &rows, &count, err);
    for (size_t i = 0; i < count && status == OWED_OK; i++)
        if (!card_put(w, &rows[i], false))
            status = fail_memory(err);
    return status;
}

bool
cards_ready(struct worker *w)
{
    owed_error err = {0};
    if (w->card_count > CARDS_MAX)
        cards_done(w);
    owed_status status = look_up(w, &err);
    if (status == OWED_OK)
        return true;
    // What was noted as gone was not looked up.
    cards_done(w);
    trouble(w, "look up endpoints", &err);
    return false;
}

/* --- what deliveries tell --- */

/* One endpoint, in all that landed together. */
struct told {
    const char *id;
    const struct card *card;
    int64_t dead;
    bool is_gone; // it answered 410
    bool is_well;
    bool is_disabled; // by us, now
    const char *why;
    char text[100];
};

static int
by_told_id(const void *a, const void *b)
{
    return strcmp(((const struct told *)a)->id, ((const struct told *)b)->id);
}

/* tell_one notes what one settlement says of its endpoint; false: nothing. */
static bool
tell_one(const struct settlement *settlement, const struct sortie *s, struct told *told)
{
    const struct card *card = s->flight.endpoint;
    if (card == NULL || card->is_gone)
        return false;
    // Somebody who tries an endpoint out is not to disable it.
    bool is_ping = strcmp(or_empty(s->flight.delivery.row->event_name), PING_EVENT) == 0;
    bool is_dead = strcmp(settlement->status, state_name(STATE_DEAD)) == 0;
    bool is_done = strcmp(settlement->status, state_name(STATE_SUCCEEDED)) == 0;
    *told = (struct told){.id = card->row.id,
        .card = card,
        .dead = is_dead,
        .is_gone = is_dead && settlement->code == HTTP_GONE,
        .is_well = is_done && settlement->code != 0 && card->row.dead_in_row > 0};
    return is_ping ? told->is_gone : is_dead || told->is_well;
}

/* tell writes what the settlements that landed tell, by endpoint, each once. */
static size_t
tell(const struct ledger *ledger, const struct sortie *first, bool is_written, struct told *told)
{
    size_t count = 0;
    const struct sortie *s = first;
    for (size_t i = 0; i < ledger->count && s != NULL; i++, s = s->next)
        if ((!is_written || ledger->landed[i]) &&
            tell_one(&ledger->settlements[i], s, &told[count]))
            count++;
    qsort(told, count, sizeof *told, by_told_id);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || strcmp(told[kept - 1].id, told[i].id) != 0) {
            told[kept++] = told[i];
            continue;
        }
        told[kept - 1].dead += told[i].dead;
        told[kept - 1].is_gone = told[kept - 1].is_gone || told[i].is_gone;
        told[kept - 1].is_well = told[kept - 1].is_well || told[i].is_well;
    }
    return kept;
}

static owed_status
fire_disabled(owed_tx *tx, const struct told *told, owed_error *err)
{
    CLEANUP(buf_done) struct buf json;
    const struct endpoint_row *row = &told->card->row;
    buf_init(&json, LIMIT_PAYLOAD_BYTES);
    buf_puts(&json, "{\"endpoint\":");
    json_write_string(&json, str_of(told->id));
    buf_puts(&json, ",\"name\":");
    json_write_string(&json, str_of(row->name));
    buf_puts(&json, ",\"tenant\":");
    json_write_string(&json, str_of(row->tenant));
    buf_puts(&json, ",\"url\":");
    json_write_string(&json, url_without_query(row->url));
    buf_puts(&json, ",\"reason\":");
    json_write_string(&json, str_of(told->why));
    buf_putc(&json, '}');
    if (json.failed)
        return fail_memory(err);
    return owed_fire_json(tx, "owed.EndpointDisabled", 1, json.p, json.len, NULL, NULL, err);
}

static owed_status
write_told(struct worker *w, owed_tx *tx, struct told *told, owed_error *err)
{
    const struct receiver *receiver = registry_receiver(w->owed->registry, ENDPOINTS_RECEIVER);
    int64_t most = receiver->endpoints->said.disable_after;
    struct db *db = w->owed->db;
    owed_status status = OWED_OK;
    if (told->is_well)
        status = store_endpoint_well(db, told->id, err);
    if (status == OWED_OK && told->dead > 0)
        status = store_endpoint_dead(db, told->id, told->dead, err);
    if (status == OWED_OK && told->is_gone) {
        told->why = "it answered 410 Gone";
        status = store_endpoint_disable(
            db, told->id, worker_now_us(w), told->why, &told->is_disabled, err);
    } else if (status == OWED_OK && told->dead > 0 && most > 0) {
        snprintf(
            told->text, sizeof told->text, "%" PRId64 " deliveries to it in a row are dead", most);
        told->why = told->text;
        status = store_endpoint_give_up(
            db, told->id, worker_now_us(w), told->why, most, &told->is_disabled, err);
    }
    return status == OWED_OK && told->is_disabled ? fire_disabled(tx, told, err) : status;
}

static owed_status
write_all(struct worker *w, struct ledger *ledger, const struct sortie *first, struct told *told,
    size_t *ret_count, owed_error *err)
{
    owed_tx *tx = NULL;
    owed_status status = owed_begin(w->owed, &tx, err);
    if (status != OWED_OK)
        return status;
    status = ledger_write(w, ledger, err);
    *ret_count = status == OWED_OK ? tell(ledger, first, true, told) : 0;
    for (size_t i = 0; i < *ret_count && status == OWED_OK; i++)
        status = write_told(w, tx, &told[i], err);
    if (status == OWED_OK)
        return owed_commit(tx, err);
    owed_rollback(tx);
    return status;
}

/* remember brings the cards up to date with what was written. */
static void
remember(struct worker *w, const struct told *told)
{
    struct card *card = card_find(w, told->id);
    if (told->is_disabled)
        log_say(&w->owed->log, OWED_LOG_WARNING, "endpoint disabled",
            LOG_TEXT("endpoint", told->id), LOG_TEXT("reason", told->why));
    if (card == NULL)
        return;
    card->row.dead_in_row = told->is_well ? told->dead : card->row.dead_in_row + told->dead;
    if (told->is_disabled)
        card->row.disabled_at_us = worker_now_us(w);
}

/* is_of_endpoints: one of what landed may have something to tell. */
static bool
is_of_endpoints(const struct ledger *ledger, const struct sortie *first)
{
    const struct sortie *s = first;
    for (size_t i = 0; i < ledger->count && s != NULL; i++, s = s->next)
        if (s->flight.endpoint != NULL)
            return true;
    return false;
}

owed_status
endpoints_flush(
    struct worker *w, struct ledger *ledger, const struct sortie *first, owed_error *err)
{
    if (!is_of_endpoints(ledger, first))
        return ledger_flush(w, ledger, err);
    CLEANUP(free_ptr) struct told *told = calloc(LEDGER_ROWS, sizeof *told);
    if (told == NULL)
        return fail_memory(err);
    size_t count = tell(ledger, first, false, told);
    if (count == 0)
        return ledger_flush(w, ledger, err);
    int64_t begun_us = worker_mono_us(w);
    owed_status status = write_all(w, ledger, first, told, &count, err);
    w->kept_us += worker_mono_us(w) - begun_us;
    if (status == OWED_UNSURE)
        ledger->is_unsure = true;
    if (status != OWED_OK)
        return status;
    for (size_t i = 0; i < count; i++)
        remember(w, &told[i]);
    ledger_written(w, ledger);
    worker_yield(w);
    return OWED_OK;
}
