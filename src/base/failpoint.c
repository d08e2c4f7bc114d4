/* SPDX-License-Identifier: MIT
 *
 * failpoint.c - counts how often the named place was reached.
 */
#include "base/failpoint.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void
failpoint(const char *name)
{
    static atomic_long reached;
    const char *wanted = getenv("OWED_FAILPOINT");
    if (wanted == NULL)
        return;
    size_t len = strcspn(wanted, ":");
    if (strlen(name) != len || memcmp(wanted, name, len) != 0)
        return;
    char *rest = NULL;
    long n = wanted[len] == '\0' ? 1 : strtol(wanted + len + 1, &rest, 10);
    bool stops = rest != NULL && strcmp(rest, ":stop") == 0;
    if (atomic_fetch_add(&reached, 1) + 1 == n)
        kill(getpid(), stops ? SIGSTOP : SIGKILL);
}
