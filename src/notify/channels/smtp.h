/* SPDX-License-Identifier: MIT
 *
 * smtp.h - what a mail server's answer means.
 */
#ifndef NOTIFY_CHANNELS_SMTP_H
#define NOTIFY_CHANNELS_SMTP_H

#include <owed/notify.h>

/* smtp_judge reads the last line that a server said ("550 5.1.1 no such user"; RFC 5321, 4.2, and RFC 3463) after
 * it took no mail, and fills in verdict, wait_us and reason. */
void smtp_judge(const char *line, owed_answer *answer);

#endif
