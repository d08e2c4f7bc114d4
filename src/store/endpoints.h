/* SPDX-License-Identifier: MIT
 *
 * endpoints.h - where webhooks go that customers asked for: endpoints and their subscriptions.
 */
#ifndef STORE_ENDPOINTS_H
#define STORE_ENDPOINTS_H

#include "store/store.h"

#define ENDPOINTS_RECEIVER "owed.webhooks" // whose targets they are

struct endpoint_row {
    const char *id;
    const char *name;
    const char *url;
    const char *tenant; // "": none
    const char *format;
    const char *signing; // "v1", "v1a"
    const char *secret;
    const char *previous_secret; // "": none
    int64_t previous_until_us;
    const char *filter; // a JSON object; "": none
    int32_t rate;       // requests a second; 0: any
    int64_t dead_in_row;
    int64_t disabled_at_us; // 0: it is not
    const char *disabled_reason;
    int64_t paused_at_us;    // 0: it is not
    int64_t paused_until_us; // 0: until it is resumed
    const char *paused_reason;
    int64_t created_at_us;
    int64_t updated_at_us;
    const char *subscriptions; // a JSON array of names
};

/* store_endpoint_add writes a new one with what it wants to hear of, names to a NULL. */
owed_status store_endpoint_add(
    struct db *db, const struct endpoint_row *endpoint, const char *const *names, owed_error *err);

/* store_endpoint finds one; NOT_FOUND. */
owed_status store_endpoint(struct db *db, const char *id, struct arena *arena,
    struct endpoint_row *ret_endpoint, owed_error *err);

/* store_endpoints_of finds those of a JSON array of ids; what is not there is left out. */
owed_status store_endpoints_of(struct db *db, const char *ids, struct arena *arena,
    struct endpoint_row **ret_endpoints, size_t *ret_count, owed_error *err);

/* store_endpoints lists a page by id; tenant NULL: of any. */
owed_status store_endpoints(struct db *db, const char *after_id, int32_t limit, const char *tenant,
    struct arena *arena, struct endpoint_row **ret_endpoints, size_t *ret_count, owed_error *err);

/* store_endpoint_rotate gives it a new secret; the one before signs as well until a moment. INVALID: the one before that
 * still does. NOT_FOUND. */
owed_status store_endpoint_rotate(struct db *db, const char *id, const char *secret,
    int64_t previous_until_us, int64_t now_us, owed_error *err);

/* These answer whether they changed it: it was not disabled before, or it was. */
owed_status store_endpoint_disable(struct db *db, const char *id, int64_t now_us, const char *why,
    bool *ret_changed, owed_error *err);
owed_status store_endpoint_enable(
    struct db *db, const char *id, int64_t now_us, bool *ret_changed, owed_error *err);

/* store_endpoint_pause: what is owed to it is kept, until until_us (0: until it is resumed).
 * store_endpoint_resume answers whether it was paused. */
owed_status store_endpoint_pause(struct db *db, const char *id, int64_t now_us, int64_t until_us,
    const char *why, owed_error *err);
owed_status store_endpoint_resume(
    struct db *db, const char *id, int64_t now_us, bool *ret_changed, owed_error *err);

/* store_endpoints_resume ends pauses whose time is over. store_endpoints_free makes due what was put off for a pause that
 * ended, or of an endpoint that was disabled, a few minutes ago at most; after that it comes by itself, within
 * ENDPOINT_PAUSED_US. store_endpoint_free_of does it for one that was removed. */
#define ENDPOINT_PAUSED_US INT64_C(3600000000) // so long a row is put off at a time
owed_status store_endpoints_resume(struct db *db, int64_t now_us, owed_error *err);
owed_status store_endpoints_free(struct db *db, int64_t now_us, owed_error *err);
/* store_endpoints_any_held tells whether that would make anything due. */
owed_status store_endpoints_any_held(struct db *db, int64_t now_us, bool *ret_any, owed_error *err);
owed_status store_endpoint_free_of(struct db *db, const char *id, int64_t now_us, owed_error *err);
/* store_endpoint_free_rows does it for a JSON array of deliveries. */
owed_status store_endpoint_free_rows(
    struct db *db, const char *ids, int64_t now_us, owed_error *err);

/* store_endpoint_dead counts deliveries that are dead; store_endpoint_give_up then disables it where most or more
 * are so in a row, and answers whether it was this call that did. */
owed_status store_endpoint_dead(struct db *db, const char *id, int64_t count, owed_error *err);
owed_status store_endpoint_give_up(struct db *db, const char *id, int64_t now_us, const char *why,
    int64_t most, bool *ret_changed, owed_error *err);

/* store_endpoint_well: one has succeeded. */
owed_status store_endpoint_well(struct db *db, const char *id, owed_error *err);

/* store_endpoint_remove forgets it. NOT_FOUND. */
owed_status store_endpoint_remove(struct db *db, const char *id, owed_error *err);

#endif
