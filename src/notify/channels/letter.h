/* SPDX-License-Identifier: MIT
 *
 * letter.h - one mail, put together: its head, its texts and its files (RFC 5322, RFC 2045 and on).
 */
#ifndef NOTIFY_CHANNELS_LETTER_H
#define NOTIFY_CHANNELS_LETTER_H

#include <curl/curl.h>

#include "notify/channels/mail.h"

#define REPLY_BYTES 512

struct letter {
    CURL *easy;
    curl_mime *mime;  // NULL: a text alone, which is
    struct buf plain; // all of it, with its head, and
    size_t plain_at;  // so much of it has gone out
    struct curl_slist *head;
    struct curl_slist *to;
    char said[REPLY_BYTES]; // the server's refusal; "": none
    bool failed;
};

/* Whom all mails of a channel are from, and who gets the answers (address NULL: whom they are from). */
struct sender {
    struct mailbox from;
    struct mailbox reply_to;
};

/* letter_write fills in all but the handle, which the letter has already; failed says that memory is out. */
void letter_write(struct letter *letter, const struct sender *sender, const owed_message *message,
    const char *message_id);
/* letter_append adds a line to the head, or an address to whom it goes to. */
void letter_append(struct letter *letter, struct curl_slist **list, const struct buf *line);
void letter_done(struct letter *letter);

#endif
