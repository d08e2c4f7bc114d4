/* SPDX-License-Identifier: MIT
 *
 * attachment.h - what may go with a mail besides its text.
 */
#ifndef NOTIFY_ATTACHMENT_H
#define NOTIFY_ATTACHMENT_H

#include <owed/notify.h>

/* INVALID: the sentence names the file; LIMIT: too many, too much. A list of NULL is fine. */
owed_status attachments_check(const owed_attachment *attachments, owed_error *err);

/* INVALID: no URL with https or mailto, or one that would not stay in its line. NULL is fine. */
owed_status unsubscribe_check(const char *url, owed_error *err);

#endif
