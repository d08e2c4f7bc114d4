/* SPDX-License-Identifier: MIT
 *
 * relays.c - who is alive, and when receivers last succeeded.
 */
#include "store/verbs.h"

#include <inttypes.h>

#include "base/cleanup.h"
#include "base/json.h"

owed_status
store_relay_heartbeat(struct db *db, const struct relay_row *relay, owed_error *err)
{
    return change(db, STMT_RELAY_UPSERT,
        ARGS(V_TEXT(relay->id), V_TEXT(relay->host), V_INT(relay->pid), V_TEXT(relay->boot_id),
            V_TEXT(relay->lanes), V_TEXT(relay->wake_path), V_TIME(relay->started_at_us),
            V_TIME(relay->heartbeat_at_us), V_TEXT(or_empty(relay->deaf)),
            V_TEXT(or_empty(relay->away))),
        NULL, err);
}

owed_status
store_note_successes(struct db *db, const struct success *successes, size_t count, owed_error *err)
{
    CLEANUP(buf_done) struct buf pairs;
    buf_init(&pairs, JSON_ARGUMENT_BYTES);
    buf_putc(&pairs, '[');
    for (size_t i = 0; i < count; i++) {
        buf_puts(&pairs, i == 0 ? "[" : ",[");
        json_write_string(&pairs, str_of(successes[i].receiver_key));
        buf_printf(&pairs, ",%" PRId64 "]", successes[i].at_us);
    }
    buf_putc(&pairs, ']');
    if (pairs.failed)
        return fail_memory(err);
    struct scope scope = {0};
    owed_status status = OWED_OK;
    do {
        status = scope_begin_light(db, &scope, err);
        if (status == OWED_OK)
            status = scope_end(&scope,
                change(db, STMT_SUCCESS_NOTE, ARGS(V_STR(buf_view(&pairs))), NULL, err), err);
    } while (scope_repeats(&scope, status));
    return status;
}

static owed_status
leave(struct db *db, const char *id, int64_t silent_since_us, owed_error *err)
{
    // The silent ones first: who has its own row already and looks through all of them deadlocks with another one.
    owed_status status = change(db, STMT_RELAYS_FORGET, ARGS(V_TIME(silent_since_us)), NULL, err);
    if (status != OWED_OK)
        return status;
    return change(db, STMT_RELAY_DELETE, ARGS(V_TEXT(id)), NULL, err);
}

owed_status
store_relay_leave(struct db *db, const char *id, int64_t silent_since_us, owed_error *err)
{
    struct scope scope = {0};
    owed_status status = OWED_OK;
    do {
        status = scope_begin_light(db, &scope, err);
        if (status == OWED_OK)
            status = scope_end(&scope, leave(db, id, silent_since_us, err), err);
    } while (scope_repeats(&scope, status));
    return status;
}

static void
read_relay(struct reader *r, void *item)
{
    struct relay_row *relay = item;
    relay->id = read_text(r);
    relay->host = read_text(r);
    relay->pid = read_int(r);
    relay->boot_id = read_text(r);
    relay->lanes = read_text(r);
    relay->wake_path = read_text(r);
    relay->deaf = read_text(r);
    relay->away = read_text(r);
    relay->started_at_us = read_int(r);
    relay->heartbeat_at_us = read_int(r);
}

owed_status
store_relays(struct db *db, struct arena *arena, struct relay_row **ret_relays, size_t *ret_count,
    owed_error *err)
{
    struct list list = {sizeof(struct relay_row), read_relay, arena};
    void *items = NULL;
    owed_status status = read_all(db, STMT_RELAYS, NO_ARGS, &list, &items, ret_count, err);
    if (status == OWED_OK)
        *ret_relays = items;
    return status;
}
