/* SPDX-License-Identifier: MIT
 *
 * own_server.c - a database server of a test program's own.
 */
#include "own_server.h"

#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define COMMAND_BYTES 1024

static char folder[64];
static struct {
    const char *kind;
    char environment[COMMAND_BYTES / 2]; // that each of its starts has
} started[2];

/* run runs a command and answers the first line that it prints. */
static int
run(const char *command, char line[static 256])
{
    FILE *out = popen(command, "re");
    if (out == NULL)
        return -1;
    if (fgets(line, 256, out) == NULL)
        line[0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    return pclose(out);
}

static int
tool(size_t i, const char *words, char line[static 256])
{
    char command[2 * COMMAND_BYTES];
    const char *path = getenv("OWED_TEST_SERVERS");
    assert_non_null(path);
    snprintf(command, sizeof command, "exec env %s %s %s --dir %s/%s", started[i].environment, path,
        words, folder, started[i].kind);
    return run(command, line);
}

static void
remove_all(void)
{
    char command[COMMAND_BYTES];
    char line[256];
    for (size_t i = 0; i < COUNT(started) && started[i].kind != NULL; i++)
        tool(i, "stop immediate", line);
    snprintf(command, sizeof command, "exec rm -rf %s", folder);
    run(command, line);
}

void
own_server_needed(void)
{
    if (getenv("OWED_TEST_SERVERS") != NULL)
        return;
    print_message("OWED_TEST_SERVERS is not set: no server of its own can be started\n");
    skip();
}

const char *
own_server_folder(void)
{
    if (folder[0] != '\0')
        return folder;
    snprintf(folder, sizeof folder, "/tmp/owed-own-XXXXXX");
    assert_non_null(mkdtemp(folder));
    // Its server may be another user's.
    assert_int_equal(chmod(folder, 0755), 0);
    atexit(remove_all);
    return folder;
}

void
own_server_start(
    const char *kind, const char *environment, const char *settings, char ret_url[static 256])
{
    char words[COMMAND_BYTES];
    own_server_folder();
    size_t i = 0;
    while (i < COUNT(started) && started[i].kind != NULL)
        i++;
    assert_true(i < COUNT(started));
    started[i].kind = kind;
    snprintf(started[i].environment, sizeof started[i].environment, "%s", environment);
    snprintf(words, sizeof words, "start %s %s", kind, settings);
    assert_int_equal(tool(i, words, ret_url), 0);
}

void
own_server_do(const char *kind, const char *word, const char *how)
{
    char words[COMMAND_BYTES];
    char line[256];
    size_t i = 0;
    while (i < COUNT(started) && started[i].kind != NULL && strcmp(started[i].kind, kind) != 0)
        i++;
    assert_true(i < COUNT(started) && started[i].kind != NULL);
    snprintf(words, sizeof words, "%s %s", word, how);
    assert_int_equal(tool(i, words, line), 0);
}
