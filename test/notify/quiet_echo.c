/* SPDX-License-Identifier: MIT
 *
 * quiet_echo.c - for quiet_agrees.py: each line "ZONE SECONDS START END WEEKDAYS [START END WEEKDAYS]..."
 * becomes the second until which a channel is silent, 0 where it is not, or what is wrong.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "notify/recipient.h"

static void
answer(char *rest)
{
    owed_quiet_hours windows[LIMIT_QUIET_WINDOWS + 1] = {{.start = NULL}};
    owed_recipient recipient = {.email = "ada@example.com", .quiet_hours = windows};
    owed_error err;
    int64_t until_us;
    recipient.time_zone = strsep(&rest, " ");
    int64_t at_s = strtoll(strsep(&rest, " "), NULL, 10);
    for (size_t i = 0; rest != NULL && i < LIMIT_QUIET_WINDOWS; i++) {
        windows[i].start = strsep(&rest, " ");
        windows[i].end = strsep(&rest, " ");
        windows[i].weekdays = (unsigned)strtoul(strsep(&rest, " "), NULL, 10);
    }
    if (owed_recipient_check(&recipient, &err) != OWED_OK ||
        owed_recipient_quiet(&recipient, "email", at_s * US_PER_SECOND, &until_us, &err) != OWED_OK)
        puts(err.text);
    else
        printf("%" PRId64 "\n", until_us / US_PER_SECOND);
}

int
main(void)
{
    char *line CLEANUP(free_ptr) = NULL;
    size_t size = 0;
    while (getline(&line, &size, stdin) > 0) {
        line[strcspn(line, "\n")] = '\0';
        answer(line);
    }
    return 0;
}
