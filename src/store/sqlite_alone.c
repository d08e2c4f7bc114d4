/* SPDX-License-Identifier: MIT
 *
 * sqlite_alone.c - whether any other process has the database open.
 *
 * One that waits for SQLite's writer leaves no trace: it asks, sleeps and asks again. But whoever has
 * a database in WAL mode open holds a shared lock on a range of its file all the while, and the kernel
 * lists who holds what. A process of another pid namespace is not in the list.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "store/sqlite.h"

#define LOCKS_PATH "/proc/locks"
#define SHARED_FIRST 1073741826 // where SQLite's shared locks begin, in every version

/* holder reads a line such as "3: POSIX  ADVISORY  READ 5789 fe:00:11068173 1073741826 1073742335":
 * whose lock it is, if it is one on that file; 0: not. */
static int
holder(const char *line, ino_t inode)
{
    int pid = 0;
    uintmax_t number = 0;
    uintmax_t first = 0;
    int count = sscanf(
        line, "%*d: POSIX %*s READ %d %*x:%*x:%" SCNuMAX " %" SCNuMAX, &pid, &number, &first);
    return count == 3 && number == inode && first == SHARED_FIRST ? pid : 0;
}

bool
sqlite_alone(struct db *db, bool (*is_ours)(void *state, int pid), void *state)
{
    struct stat file;
    CLEANUP(fclose_ptr) FILE *locks = fopen(LOCKS_PATH, "re");
    if (locks == NULL || stat(sqlite_of(db)->path, &file) != 0)
        return false;
    CLEANUP(free_ptr) char *line = NULL;
    size_t size = 0;
    while (getline(&line, &size, locks) > 0) {
        int pid = holder(line, file.st_ino);
        if (pid != 0 && !is_ours(state, pid))
            return false;
    }
    return true;
}
