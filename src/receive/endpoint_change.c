/* SPDX-License-Identifier: MIT
 *
 * endpoint_change.c - endpoints are disabled, paused and removed, and what was kept for them comes back.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "deliver/handle.h"
#include "receive/endpoint.h"
#include "store/endpoints.h"

owed_status
endpoint_find(const owed *handle, const char *id, owed_error *err)
{
    CLEANUP(arena_done) struct arena arena;
    struct endpoint_row row;
    arena_init(&arena, 0);
    return store_endpoint(handle->db, or_empty(id), &arena, &row, err);
}

/* free_kept makes due what was kept for a pause that is over, and tells the relays. */
static owed_status
free_kept(owed *handle, int64_t now_us, owed_error *err)
{
    owed_status status = store_endpoints_free(handle->db, now_us, err);
    if (status == OWED_OK)
        wakers_send(handle->wakers, handle->db, &handle->clock);
    return status;
}

owed_status
owed_endpoint_disable(owed *handle, const char *id, const char *why, owed_error *err)
{
    bool changed = false;
    int64_t now_us = clock_now_us(&handle->clock);
    owed_status status = endpoint_find(handle, id, err);
    if (status == OWED_OK)
        status = endpoint_text_check("reason", why, LIMIT_KEY_BYTES, err);
    if (status == OWED_OK)
        status = store_now(handle->db, &now_us, err);
    if (status != OWED_OK)
        return status;
    const char *reason = is_empty(why) ? "somebody asked for it" : why;
    status = store_endpoint_disable(handle->db, id, now_us, reason, &changed, err);
    // What a pause kept ends as all else does.
    return status == OWED_OK ? free_kept(handle, now_us, err) : status;
}

owed_status
owed_endpoint_enable(owed *handle, const char *id, owed_error *err)
{
    bool changed = false;
    owed_status status = endpoint_find(handle, id, err);
    if (status != OWED_OK)
        return status;
    return store_endpoint_enable(handle->db, id, clock_now_us(&handle->clock), &changed, err);
}

owed_status
owed_endpoint_pause(
    owed *handle, const char *id, int64_t until_us, const char *why, owed_error *err)
{
    int64_t now_us = clock_now_us(&handle->clock);
    owed_status status = endpoint_find(handle, id, err);
    if (status == OWED_OK)
        status = endpoint_text_check("reason", why, LIMIT_KEY_BYTES, err);
    if (status == OWED_OK && until_us != 0 && (until_us <= now_us || until_us > LIMIT_MOMENT_US))
        status = fail(err, OWED_INVALID,
            "a pause until then is over already; a moment to come is right, or none for until it is resumed");
    if (status != OWED_OK)
        return status;
    return store_endpoint_pause(handle->db, id, now_us, until_us, or_empty(why), err);
}

owed_status
owed_endpoint_resume(owed *handle, const char *id, owed_error *err)
{
    bool changed = false;
    int64_t now_us = clock_now_us(&handle->clock);
    owed_status status = endpoint_find(handle, id, err);
    if (status == OWED_OK)
        status = store_now(handle->db, &now_us, err);
    if (status == OWED_OK)
        status = store_endpoint_resume(handle->db, id, now_us, &changed, err);
    // Also where it goes on already: an earlier call may have been cut off.
    return status == OWED_OK ? free_kept(handle, now_us, err) : status;
}

owed_status
owed_endpoint_remove(owed *handle, const char *id, owed_error *err)
{
    int64_t now_us = clock_now_us(&handle->clock);
    owed_status status = store_endpoint_remove(handle->db, or_empty(id), err);
    if (status == OWED_OK)
        status = store_now(handle->db, &now_us, err);
    if (status == OWED_OK)
        status = store_endpoint_free_of(handle->db, id, now_us, err);
    if (status == OWED_OK)
        wakers_send(handle->wakers, handle->db, &handle->clock);
    return status;
}
