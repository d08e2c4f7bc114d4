/* SPDX-License-Identifier: MIT
 *
 * dedup.c - a tree of keys under one lock.
 */
#include "notify/dedup.h"

#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "notify/receipt.h"

#define DAY_US (24 * 3600 * US_PER_SECOND)

struct record {
    char *key;
    uint64_t token;
    int64_t touched_us;    // when it was sent, else claimed
    owed_receipt *receipt; // NULL: it is being sent
    pthread_t sender;      // while there is no receipt
};

struct owed_dedup {
    pthread_mutex_t lock;
    pthread_cond_t settled;
    void *records; // tsearch(3)
    size_t count;
    uint64_t last_token;
    int64_t ttl_us;
};

static int
compare(const void *a, const void *b)
{
    return strcmp(((const struct record *)a)->key, ((const struct record *)b)->key);
}

static void
record_free(void *record_)
{
    struct record *record = record_;
    free(record->key);
    owed_receipt_free(record->receipt);
    free(record);
}

owed_status
owed_dedup_new(int64_t ttl_us, owed_dedup **ret_dedup, owed_error *err)
{
    if (ttl_us < 0 && ttl_us != OWED_FOREVER)
        return fail(err, OWED_INVALID,
            "a key is known for a time above 0, for a day (0) or for ever (OWED_FOREVER), not for %lld us",
            (long long)ttl_us);
    owed_dedup *dedup = calloc(1, sizeof *dedup);
    if (dedup == NULL)
        return fail_memory(err);
    pthread_mutex_init(&dedup->lock, NULL);
    pthread_cond_init(&dedup->settled, NULL);
    dedup->ttl_us = ttl_us == 0 ? DAY_US : ttl_us;
    *ret_dedup = dedup;
    return OWED_OK;
}

void
owed_dedup_free(owed_dedup *dedup)
{
    if (dedup == NULL)
        return;
    tdestroy(dedup->records, record_free);
    pthread_cond_destroy(&dedup->settled);
    pthread_mutex_destroy(&dedup->lock);
    free(dedup);
}

static struct record *
find(owed_dedup *dedup, const char *key)
{
    const struct record *const *found =
        tfind(&(struct record){.key = (char *)(uintptr_t)key}, &dedup->records, compare);
    return found == NULL ? NULL : (struct record *)(uintptr_t)*found;
}

static bool
is_expired(const owed_dedup *dedup, const struct record *record, int64_t at_us)
{
    return dedup->ttl_us != OWED_FOREVER && at_us - record->touched_us >= dedup->ttl_us;
}

static void
forget(owed_dedup *dedup, struct record *record)
{
    tdelete(record, &dedup->records, compare);
    dedup->count--;
    record_free(record);
    pthread_cond_broadcast(&dedup->settled);
}

static struct record *
add(owed_dedup *dedup, const char *key)
{
    struct record *record = calloc(1, sizeof *record);
    if (record == NULL || !copy_text(key, &record->key) ||
        tsearch(record, &dedup->records, compare) == NULL) {
        if (record != NULL)
            record_free(record);
        return NULL;
    }
    dedup->count++;
    return record;
}

/* claim does the work of dedup_claim under the lock. */
static owed_status
claim(owed_dedup *dedup, const char *key, int64_t at_us, uint64_t *ret_token,
    owed_receipt **ret_receipt, owed_error *err)
{
    struct record *record = find(dedup, key);
    if (record != NULL && is_expired(dedup, record, at_us)) {
        forget(dedup, record);
        record = NULL;
    }
    if (record != NULL && record->receipt == NULL)
        return fail(err, OWED_DUPLICATE_SEND, "dedup key \"%.100s\" is being sent just now", key);
    if (record != NULL) {
        *ret_token = 0;
        *ret_receipt = receipt_copy(record->receipt);
        if (*ret_receipt == NULL)
            return fail_memory(err);
        (*ret_receipt)->duplicate = true;
        return OWED_OK;
    }
    record = add(dedup, key);
    if (record == NULL)
        return fail_memory(err);
    record->touched_us = at_us;
    *ret_token = record->token = ++dedup->last_token;
    record->sender = pthread_self();
    return OWED_OK;
}

owed_status
dedup_key_check(const char *key, owed_error *err)
{
    if (key[0] == '\0' || strlen(key) > LIMIT_KEY_BYTES)
        return fail(err, OWED_INVALID, "a dedup key has 1 to %d bytes", LIMIT_KEY_BYTES);
    return OWED_OK;
}

owed_status
dedup_claim(owed_dedup *dedup, const char *key, int64_t at_us, uint64_t *ret_token,
    owed_receipt **ret_receipt, owed_error *err)
{
    owed_status status = dedup_key_check(key, err);
    if (status != OWED_OK)
        return status;
    pthread_mutex_lock(&dedup->lock);
    status = claim(dedup, key, at_us, ret_token, ret_receipt, err);
    pthread_mutex_unlock(&dedup->lock);
    return status;
}

void
dedup_complete(
    owed_dedup *dedup, const char *key, uint64_t token, int64_t at_us, const owed_receipt *receipt)
{
    owed_receipt *copy = receipt_copy(receipt);
    pthread_mutex_lock(&dedup->lock);
    struct record *record = find(dedup, key);
    if (record != NULL && record->token == token && copy != NULL) {
        record->receipt = steal(&copy);
        record->touched_us = at_us;
        pthread_cond_broadcast(&dedup->settled);
    } else if (record != NULL && record->token == token) {
        forget(dedup, record);
    }
    pthread_mutex_unlock(&dedup->lock);
    owed_receipt_free(copy);
}

void
dedup_release(owed_dedup *dedup, const char *key, uint64_t token)
{
    pthread_mutex_lock(&dedup->lock);
    struct record *record = find(dedup, key);
    if (record != NULL && record->token == token)
        forget(dedup, record);
    pthread_mutex_unlock(&dedup->lock);
}

owed_status
dedup_await(owed_dedup *dedup, const char *key, owed_error *err)
{
    owed_status status = OWED_OK;
    pthread_mutex_lock(&dedup->lock);
    for (struct record *record = find(dedup, key);
         record != NULL && record->receipt == NULL && status == OWED_OK; record = find(dedup, key))
        if (pthread_equal(record->sender, pthread_self()))
            status = fail(err, OWED_DUPLICATE_SEND,
                "dedup key \"%.100s\" is being sent just now by the thread that would wait for it: a "
                "channel cannot send the key again that it is sending",
                key);
        else
            pthread_cond_wait(&dedup->settled, &dedup->lock);
    pthread_mutex_unlock(&dedup->lock);
    return status;
}

/* --- purge --- */

struct purge {
    const owed_dedup *dedup;
    int64_t at_us;
    struct record **expired;
    size_t count;
};

static void
note_expired(const void *node, VISIT order, void *purge_)
{
    struct purge *purge = purge_;
    struct record *record = *(struct record *const *)node;
    if ((order == postorder || order == leaf) && is_expired(purge->dedup, record, purge->at_us))
        purge->expired[purge->count++] = record;
}

size_t
owed_dedup_purge(owed_dedup *dedup, int64_t at_us)
{
    pthread_mutex_lock(&dedup->lock);
    struct purge purge = {.dedup = dedup, .at_us = at_us};
    purge.expired = calloc(dedup->count + 1, sizeof *purge.expired);
    if (purge.expired != NULL)
        twalk_r(dedup->records, note_expired, &purge);
    for (size_t i = 0; i < purge.count; i++)
        forget(dedup, purge.expired[i]);
    pthread_mutex_unlock(&dedup->lock);
    free(purge.expired);
    return purge.count;
}

size_t
owed_dedup_count(owed_dedup *dedup)
{
    pthread_mutex_lock(&dedup->lock);
    size_t count = dedup->count;
    pthread_mutex_unlock(&dedup->lock);
    return count;
}
