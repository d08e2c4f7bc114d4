/* SPDX-License-Identifier: MIT
 *
 * smtp_answer.c - what a mail server's answer means: one table.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "notify/channels/smtp.h"

#define MINUTE (60 * US_PER_SECOND)

/* The first line whose words an answer begins with holds. "5.1.1" stands for that code behind any 5yz. */
static const struct {
    const char *code;     // how the reply begins
    const char *enhanced; // how what follows begins; NULL: whatever it is
    owed_answer_verdict verdict;
    int64_t wait_us;
} meanings[] = {
    // Who we are is not the recipient's fault: another attempt may find it mended.
    {"421", NULL, OWED_ANSWER_WAIT, MINUTE},
    {"454", "4.7.", OWED_ANSWER_FAILED, 0},
    {"450", NULL, OWED_ANSWER_WAIT, 5 * MINUTE}, // greylisting, most often
    {"451", NULL, OWED_ANSWER_WAIT, 5 * MINUTE},
    {"452", NULL, OWED_ANSWER_WAIT, 15 * MINUTE},
    {"4", NULL, OWED_ANSWER_FAILED, 0},
    {"530", NULL, OWED_ANSWER_FAILED, 0},
    {"534", NULL, OWED_ANSWER_FAILED, 0},
    {"535", NULL, OWED_ANSWER_FAILED, 0},
    {"538", NULL, OWED_ANSWER_FAILED, 0},
    {"5", "5.1.1", OWED_ANSWER_GONE, 0},  // no such mailbox
    {"5", "5.1.2", OWED_ANSWER_GONE, 0},  // no such domain
    {"5", "5.1.6", OWED_ANSWER_GONE, 0},  // moved, and nobody says where to
    {"5", "5.1.10", OWED_ANSWER_GONE, 0}, // a domain that takes no mail (RFC 7505)
    {"5", "5.2.1", OWED_ANSWER_GONE, 0},  // disabled
    {"5", NULL, OWED_ANSWER_REFUSED, 0},
};

/* begins tells whether a text begins with a code, and the code ends there. */
static bool
begins(const char *text, const char *code)
{
    size_t len = strlen(code);
    bool is_open = code[len - 1] == '.';
    return strncmp(text, code, len) == 0 &&
        (is_open || strchr("0123456789.", text[len]) == NULL || text[len] == '\0');
}

/* write_reason copies the line without what would spoil a log. */
static void
write_reason(const char *line, owed_answer *answer)
{
    size_t used = (size_t)snprintf(answer->reason, sizeof answer->reason, "the mail server said: ");
    for (; *line != '\0' && used + 1 < sizeof answer->reason; line++)
        answer->reason[used++] = *line >= ' ' && *line <= '~' ? *line : ' ';
    while (used > 0 && answer->reason[used - 1] == ' ')
        used--;
    answer->reason[used] = '\0';
}

void
smtp_judge(const char *line, owed_answer *answer)
{
    const char *rest = strlen(line) > 4 ? line + 4 : "";
    write_reason(line, answer);
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++) {
        if (strncmp(line, meanings[i].code, strlen(meanings[i].code)) != 0 ||
            (meanings[i].enhanced != NULL && !begins(rest, meanings[i].enhanced)))
            continue;
        answer->verdict = meanings[i].verdict;
        answer->wait_us = meanings[i].wait_us;
        return;
    }
    answer->verdict = OWED_ANSWER_FAILED;
}
