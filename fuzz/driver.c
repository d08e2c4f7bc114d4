/* SPDX-License-Identifier: MIT
 *
 * driver.c - runs a fuzz target over the files of a folder.
 *
 * usage: fuzz_json FOLDER
 */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "fuzz.h"

#define INPUT_BYTES ((size_t)1024 * 1024)

static void
closedir_ptr(DIR **folder)
{
    if (*folder != NULL)
        closedir(*folder);
}

static int
run_file(const char *path)
{
    CLEANUP(fclose_ptr) FILE *file = fopen(path, "re");
    if (file == NULL) {
        fprintf(stderr, "%s cannot be opened\n", path);
        return 1;
    }
    CLEANUP(buf_done) struct buf bytes;
    buf_init(&bytes, INPUT_BYTES);
    if (!buf_add_file(&bytes, file) || bytes.failed) {
        fprintf(stderr, "%s cannot be read, or is longer than %zu bytes\n", path, INPUT_BYTES);
        return 1;
    }
    // So that a target that aborts has named its input.
    printf("%s\n", path);
    fflush(stdout);
    return LLVMFuzzerTestOneInput((const uint8_t *)buf_text(&bytes), bytes.len);
}

int
main(int argc, char **argv)
{
    CLEANUP(closedir_ptr) DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
    if (folder == NULL) {
        fputs("usage: a fuzz target and the folder of its corpus\n", stderr);
        return 64;
    }
    int passed = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/%s", argv[1], entry->d_name);
        if (run_file(path) != 0)
            return 1;
        passed++;
    }
    printf("[  PASSED  ] %d test(s).\n", passed);
    return passed > 0 ? 0 : 1;
}
