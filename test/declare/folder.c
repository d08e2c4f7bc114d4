/* SPDX-License-Identifier: MIT
 *
 * folder.c - see folder.h.
 */
#include "folder.h"

#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "common.h"

#include "base/cleanup.h"
#include "base/str.h"

static char folder[] = "/tmp/owed-declare-XXXXXX";

int
folder_setup(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL ? -1 : chdir(folder);
}

static int
remove_one(const char *path, const struct stat *file, int type, struct FTW *place)
{
    (void)file;
    (void)type;
    (void)place;
    return remove(path);
}

void
folder_clear(void)
{
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(chdir(folder), 0);
}

int
folder_teardown(void **state)
{
    (void)state;
    return chdir("/") == 0 ? nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS) : -1;
}

void
folder_write(const char *name, const char *text)
{
    CLEANUP(fclose_ptr) FILE *file = fopen(name, "we");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
}
