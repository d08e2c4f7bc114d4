/* SPDX-License-Identifier: MIT
 *
 * zone_echo.c - for zone_agrees.py: each line "ZONE SECONDS..." becomes one with the offset at each of
 * these moments.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "notify/zone.h"

static void
answer(char *rest)
{
    struct zone zone CLEANUP(zone_done) = {0};
    const char *name = strsep(&rest, " ");
    owed_error err;
    if (zone_load(ZONE_FOLDER, name, &zone, &err) != OWED_OK) {
        puts(err.text);
        return;
    }
    for (const char *word = strsep(&rest, " "); word != NULL; word = strsep(&rest, " "))
        printf("%" PRId32 " ", zone_offset(&zone, strtoll(word, NULL, 10), NULL));
    puts("");
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
