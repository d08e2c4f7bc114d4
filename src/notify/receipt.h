/* SPDX-License-Identifier: MIT
 *
 * receipt.h - making receipts and dead letters.
 */
#ifndef NOTIFY_RECEIPT_H
#define NOTIFY_RECEIPT_H

#include <owed/notify.h>

/* receipt_of copies a message; NULL where memory is out. */
owed_receipt *receipt_of(const owed_message *message);

/* receipt_copy copies all of one, its mark too; NULL where memory is out. */
owed_receipt *receipt_copy(const owed_receipt *receipt);

/* copy_text copies a text or NULL; false where memory is out. */
bool copy_text(const char *from, char **ret_copy);

/* The attempts of one send, as they are made. */
struct attempts {
    owed_send_attempt *list;
    size_t count;
};

/* attempts_add notes one; false where memory is out. attempts_done gives them back, fit for CLEANUP. */
bool attempts_add(struct attempts *attempts, const owed_message *message, const owed_answer *answer,
    int64_t at_us);
void attempts_done(struct attempts *attempts);

/* letters_add keeps a dead letter and takes the attempts over; it drops the oldest above the limit. false
 * where memory is out. */
bool letters_add(owed_dead_letters *letters, const owed_message *message, struct attempts *attempts,
    int64_t at_us);

#endif
