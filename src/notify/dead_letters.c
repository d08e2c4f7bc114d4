/* SPDX-License-Identifier: MIT
 *
 * dead_letters.c - a queue of what no attempt could send.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "base/error.h"
#include "notify/receipt.h"

struct entry {
    owed_dead_letter *letter;
    STAILQ_ENTRY(entry) next;
};

struct owed_dead_letters {
    pthread_mutex_t lock;
    STAILQ_HEAD(, entry) entries; // the oldest first
    size_t count;
    size_t limit; // SIZE_MAX: none
};

owed_status
owed_dead_letters_new(int64_t limit, owed_dead_letters **ret_letters, owed_error *err)
{
    if (limit < 0)
        return fail(err, OWED_INVALID,
            "a queue of dead letters keeps 1 or more of them, or 0 for all, not %lld",
            (long long)limit);
    owed_dead_letters *letters = calloc(1, sizeof *letters);
    if (letters == NULL)
        return fail_memory(err);
    pthread_mutex_init(&letters->lock, NULL);
    STAILQ_INIT(&letters->entries);
    letters->limit = limit == 0 ? SIZE_MAX : (size_t)limit;
    *ret_letters = letters;
    return OWED_OK;
}

void
owed_dead_letter_free(owed_dead_letter *letter)
{
    if (letter == NULL)
        return;
    owed_receipt_free(letter->message);
    struct attempts attempts = {letter->attempts, letter->attempt_count};
    attempts_done(&attempts);
    free(letter);
}

/* pop takes the oldest out; the lock is held. */
static owed_dead_letter *
pop(owed_dead_letters *letters)
{
    struct entry *entry = STAILQ_FIRST(&letters->entries);
    if (entry == NULL)
        return NULL;
    STAILQ_REMOVE_HEAD(&letters->entries, next);
    letters->count--;
    owed_dead_letter *letter = entry->letter;
    free(entry);
    return letter;
}

owed_dead_letter *
owed_dead_letters_take(owed_dead_letters *letters)
{
    pthread_mutex_lock(&letters->lock);
    owed_dead_letter *letter = pop(letters);
    pthread_mutex_unlock(&letters->lock);
    return letter;
}

void
owed_dead_letters_free(owed_dead_letters *letters)
{
    if (letters == NULL)
        return;
    for (owed_dead_letter *letter = pop(letters); letter != NULL; letter = pop(letters))
        owed_dead_letter_free(letter);
    pthread_mutex_destroy(&letters->lock);
    free(letters);
}

size_t
owed_dead_letters_count(owed_dead_letters *letters)
{
    pthread_mutex_lock(&letters->lock);
    size_t count = letters->count;
    pthread_mutex_unlock(&letters->lock);
    return count;
}

bool
letters_add(owed_dead_letters *letters, const owed_message *message, struct attempts *attempts,
    int64_t at_us)
{
    struct entry *entry = calloc(1, sizeof *entry);
    owed_dead_letter *letter = calloc(1, sizeof *letter);
    owed_receipt *copy = receipt_of(message);
    if (entry == NULL || letter == NULL || copy == NULL) {
        free(entry);
        free(letter);
        owed_receipt_free(copy);
        return false;
    }
    copy->attempts = (int)attempts->count;
    *letter = (owed_dead_letter){copy, attempts->list, attempts->count, at_us};
    *attempts = (struct attempts){0};
    entry->letter = letter;
    owed_dead_letter *dropped = NULL;
    pthread_mutex_lock(&letters->lock);
    STAILQ_INSERT_TAIL(&letters->entries, entry, next);
    letters->count++;
    if (letters->count > letters->limit)
        dropped = pop(letters);
    pthread_mutex_unlock(&letters->lock);
    owed_dead_letter_free(dropped);
    return true;
}
