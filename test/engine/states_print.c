/* SPDX-License-Identifier: MIT
 *
 * states_print.c - prints the table of states, or checks that a document holds it.
 *
 * usage: states_print            the diagram and the list, for ARCHITECTURE.md
 *        states_print DOCUMENT   exit 1 when the document does not hold exactly these
 */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "engine/states.h"

#define DOCUMENT_BYTES ((size_t)1024 * 1024)

static int
check(const char *path, const char *table)
{
    CLEANUP(fclose_ptr) FILE *file = fopen(path, "re");
    if (file == NULL) {
        fprintf(stderr, "%s cannot be opened\n", path);
        return 1;
    }
    CLEANUP(buf_done) struct buf text;
    buf_init(&text, DOCUMENT_BYTES);
    bool holds = buf_add_file(&text, file) && strstr(buf_text(&text), table) != NULL;
    if (!holds)
        fprintf(stderr, "%s does not hold the table of states as it is; it should say:\n%s", path,
            table);
    printf("[  %s  ] 1 test(s).\n", holds ? "PASSED" : "FAILED");
    return !holds;
}

int
main(int argc, char **argv)
{
    CLEANUP(buf_done) struct buf table;
    buf_init(&table, DOCUMENT_BYTES);
    states_print(&table);
    if (argc > 1)
        return check(argv[1], buf_text(&table));
    fputs(buf_text(&table), stdout);
    return 0;
}
