/* SPDX-License-Identifier: MIT
 *
 * mail.h - the head of a mail, as RFC 5322 and its kin want it written.
 */
#ifndef NOTIFY_CHANNELS_MAIL_H
#define NOTIFY_CHANNELS_MAIL_H

#include <owed/notify.h>

#include "base/buf.h"

/* An address with the name that stands before it: "Shop <orders@shop.example>". */
struct mailbox {
    char *name; // NULL: none
    char *address;
};

/* mailbox_read takes a mailbox apart; mailbox_done frees it. INVALID: what is wrong with it. NOMEM. */
owed_status mailbox_read(const char *text, struct mailbox *ret_mailbox, owed_error *err);
void mailbox_done(struct mailbox *mailbox);

/* mail_ascii writes an address with its domain in ASCII (RFC 5891); one whose domain cannot be is left as it is. */
void mail_ascii(struct buf *out, const char *address);

/* mail_words appends text for a line of the head that has so many characters already: as it is, or as encoded words of
 * at most 75 characters (RFC 2047), folded. */
void mail_words(struct buf *out, const char *text, size_t already);

void mail_mailbox(struct buf *out, const struct mailbox *mailbox, size_t already);

/* mail_date appends a moment as RFC 5322 writes it, in UTC. */
void mail_date(struct buf *out, int64_t at_us);

/* mail_lines appends a text with CRLF at the end of each line, however it was written. */
void mail_lines(struct buf *out, const char *text);

/* mail_quoted appends such lines as quoted-printable (RFC 2045, 6.7), mail_base64 bytes in lines of 76 characters. */
void mail_quoted(struct buf *out, struct str lines);
void mail_base64(struct buf *out, struct str bytes);

#endif
