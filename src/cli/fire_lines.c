/* SPDX-License-Identifier: MIT
 *
 * fire_lines.c - gather lines, read them all, then hold the store for as short as can be.
 */
#include "cli/fire_lines.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "cli/fire_line.h"
#include "cli/known.h"
#include "cli/lines.h"
#include "cli/origin.h"
#include "cli/progress.h"
#include "deliver/fire.h"
#include "store/events.h"
#include "store/verbs.h"

#define BATCH_ARENA_BYTES ((size_t)1024 * 1024 * 1024)

struct firing {
    struct cli *cli;
    struct lines input;
    struct line *lines; // of the bunch in hand
    struct fire_line *events;
    struct fire_json *items; // the same, as they are fired
    bool *is_duplicate;
    size_t count;
    struct arena arena; // texts of the bunch
    struct known known;
    struct origin origin;
    struct progress progress;
    int64_t fired; // committed
    int64_t duplicates;
    int64_t through; // number of the last line that was committed
    int64_t at;      // line of the failure; 0: none in particular
    bool unsure;     // whether the bunch in hand was committed
};

static void
firing_done(struct firing *firing)
{
    lines_done(&firing->input);
    free(firing->lines);
    free(firing->events);
    free(firing->items);
    free(firing->is_duplicate);
    arena_done(&firing->arena);
}

static owed_status
read_bunch(struct firing *firing)
{
    owed_status status = OWED_OK;
    for (size_t i = 0; i < firing->count && status == OWED_OK; i++) {
        firing->at = firing->lines[i].number;
        status = fire_line_read(firing->lines[i].text, firing->cli->now_us, &firing->arena,
            &firing->events[i], &firing->cli->err);
    }
    return status;
}

static owed_status
fire_bunch(struct firing *firing, owed_tx *tx, int64_t *ret_duplicates)
{
    size_t fired = 0;
    for (size_t i = 0; i < firing->count; i++) {
        struct fire_line *event = &firing->events[i];
        origin_complete(&firing->origin, &event->options);
        firing->items[i] = (struct fire_json){
            event->name, (int32_t)event->version, event->payload, &event->options};
    }
    owed_status status = fire_json_many(
        tx, firing->items, firing->count, NULL, firing->is_duplicate, &fired, &firing->cli->err);
    firing->at = fired < firing->count ? firing->lines[fired].number : 0;
    for (size_t i = 0; i < fired; i++) {
        *ret_duplicates += firing->is_duplicate[i];
        known_warn(firing->cli, &firing->known, firing->events[i].name);
    }
    return status;
}

/* find_line finds out, one by one, which line of a bunch it is that the store does not take; where a statement
 * that fails takes the whole transaction along, the bunch does not say. Nothing of it stays. */
static void
find_line(struct firing *firing)
{
    owed_tx *tx = NULL;
    owed_error err;
    int64_t at = firing->at;
    if (store_outlives_failure(firing->cli->db) || firing->cli->err.status == OWED_UNAVAILABLE ||
        owed_begin(firing->cli->owed, &tx, &err) != OWED_OK)
        return;
    owed_status status = OWED_OK;
    int64_t id; // asked for, so that each is answered before the next
    for (size_t i = 0; i < firing->count && (status == OWED_OK || status == OWED_DUPLICATE); i++) {
        const struct fire_line *event = &firing->events[i];
        at = firing->lines[i].number;
        status = owed_fire_json(tx, event->name, (int32_t)event->version, event->payload.p,
            event->payload.len, &event->options, &id, &err);
    }
    owed_rollback(tx);
    if (status == OWED_OK || status == OWED_DUPLICATE || status == OWED_UNAVAILABLE)
        return;
    firing->at = at;
    firing->cli->err = err;
}

static owed_status
try_bunch(struct firing *firing, int64_t *ret_duplicates)
{
    owed_tx *tx = NULL;
    *ret_duplicates = firing->at = 0;
    owed_status status = owed_begin(firing->cli->owed, &tx, &firing->cli->err);
    if (status != OWED_OK)
        return status;
    status = fire_bunch(firing, tx, ret_duplicates);
    if (status == OWED_OK)
        return owed_commit(tx, &firing->cli->err);
    owed_rollback(tx);
    // Others' locks are no line's fault, nor is a server that ends the transaction for a deadlock.
    if (status == OWED_BUSY || status == OWED_ABORTED) {
        firing->at = 0;
        return OWED_BUSY;
    }
    find_line(firing);
    return status;
}

/* write_bunch fires a bunch, and once more where others' locks undid it. */
static owed_status
write_bunch(struct firing *firing)
{
    struct scope scope = {.db = firing->cli->db, .was_own = true};
    int64_t duplicates = 0;
    owed_status status = OWED_OK;
    do {
        status = try_bunch(firing, &duplicates);
    } while (scope_repeats(&scope, status));
    firing->unsure = status == OWED_UNSURE;
    if (status != OWED_OK)
        return status;
    firing->duplicates += duplicates;
    firing->fired += (int64_t)firing->count - duplicates;
    firing->through = firing->input.number;
    return OWED_OK;
}

static owed_status
gather(struct firing *firing, size_t batch)
{
    arena_reset(&firing->arena);
    owed_status status =
        lines_gather(&firing->input, firing->lines, batch, &firing->count, &firing->cli->err);
    firing->at = status == OWED_LIMIT ? firing->input.number + 1 : 0;
    return status;
}

static owed_status
fire_all(struct firing *firing, size_t batch)
{
    owed_status status = gather(firing, batch);
    while (status == OWED_OK && firing->count > 0) {
        status = read_bunch(firing);
        if (status == OWED_OK)
            status = write_bunch(firing);
        if (status != OWED_OK)
            return status;
        progress_step(&firing->progress, firing->input.consumed, firing->through);
        status = gather(firing, batch);
    }
    return status;
}

/* refuse says where it ended, and how far was committed: what to mend, and where to go on. */
static int
refuse(struct firing *firing)
{
    int code = exit_of(firing->cli->err.status);
    char where[64] = "";
    int64_t last = firing->input.number;
    if (firing->at > 0) {
        snprintf(where, sizeof where, "line %" PRId64 ": ", firing->at);
        last = firing->at;
    }
    const char *what = firing->cli->err.text;
    if (firing->unsure)
        return cli_refuse(code,
            "%s; it is not known whether lines %" PRId64 " to %" PRId64
            " were committed (everything through line %" PRId64 " was)",
            what, firing->through + 1, last, firing->through);
    if (firing->through == 0)
        return cli_refuse(code, "%s%s; nothing was committed", where, what);
    return cli_refuse(code,
        "%s%s; %" PRId64 " events of the lines before were committed (through line %" PRId64
        "), nothing of lines %" PRId64 " to %" PRId64,
        where, what, firing->fired, firing->through, firing->through + 1, last);
}

static owed_status
prepare(struct firing *firing, size_t batch)
{
    lines_init(&firing->input, STDIN_FILENO);
    arena_init(&firing->arena, BATCH_ARENA_BYTES);
    firing->lines = calloc(batch, sizeof *firing->lines);
    firing->events = calloc(batch, sizeof *firing->events);
    firing->items = calloc(batch, sizeof *firing->items);
    firing->is_duplicate = calloc(batch, sizeof *firing->is_duplicate);
    if (firing->lines == NULL || firing->events == NULL || firing->items == NULL ||
        firing->is_duplicate == NULL)
        return fail_memory(&firing->cli->err);
    owed_status status = known_load(firing->cli, &firing->known);
    return status == OWED_OK ? origin_read(firing->cli, &firing->origin) : status;
}

int
fire_lines(struct cli *cli, size_t batch)
{
    CLEANUP(firing_done) struct firing firing = {.cli = cli};
    if (prepare(&firing, batch) != OWED_OK)
        return cli_fail(cli);
    progress_begin(&firing.progress, STDIN_FILENO);
    owed_status status = fire_all(&firing, batch);
    progress_end(&firing.progress, firing.fired + firing.duplicates);
    out_printf(&cli->out,
        cli_json(cli) ? "{\"fired\":%" PRId64 ",\"duplicates\":%" PRId64 "}\n"
                      : "fired: %" PRId64 ", duplicates: %" PRId64 "\n",
        firing.fired, firing.duplicates);
    return status == OWED_OK ? EXIT_DONE : refuse(&firing);
}
