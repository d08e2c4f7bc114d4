/* SPDX-License-Identifier: MIT
 *
 * relays.c - who is alive.
 */
#include "store/verbs.h"

owed_status
store_relay_heartbeat(struct db *db, const struct relay_row *relay, owed_error *err)
{
    return change(db, STMT_RELAY_UPSERT,
        ARGS(V_TEXT(relay->id), V_TEXT(relay->host), V_INT(relay->pid), V_TEXT(relay->boot_id),
            V_TEXT(relay->lanes), V_TEXT(relay->wake_path), V_TIME(relay->started_at_us),
            V_TIME(relay->heartbeat_at_us)),
        NULL, err);
}

static owed_status
leave(struct db *db, const char *id, int64_t silent_since_us, owed_error *err)
{
    owed_status status = change(db, STMT_RELAY_DELETE, ARGS(V_TEXT(id)), NULL, err);
    if (status != OWED_OK)
        return status;
    return change(db, STMT_RELAYS_FORGET, ARGS(V_TIME(silent_since_us)), NULL, err);
}

owed_status
store_relay_leave(struct db *db, const char *id, int64_t silent_since_us, owed_error *err)
{
    struct scope scope = {0};
    owed_status status = OWED_OK;
    do {
        status = scope_begin(db, &scope, err);
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
