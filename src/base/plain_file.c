/* SPDX-License-Identifier: MIT
 *
 * plain_file.c - files that settings name.
 */
#include "base/plain_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/error.h"

owed_status
plain_file_open(const char *path, int *ret_fd, owed_error *err)
{
    // A pipe or a terminal of this name would have us wait for ever.
    CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct stat what;
    if (fd < 0 || fstat(fd, &what) != 0)
        return fail_native(
            err, OWED_CONFIG, errno, "%s cannot be read: %s", path, strerrordesc_np(errno));
    if (!S_ISREG(what.st_mode))
        return fail(err, OWED_CONFIG, "%s is no plain file, which would be right", path);
    *ret_fd = fd;
    fd = -1; // the caller's now
    return OWED_OK;
}

owed_status
plain_file_check(const char *key, const char *path, owed_error *err)
{
    CLEANUP(close_fd) int fd = -1;
    owed_error why;
    if (path == NULL || plain_file_open(path, &fd, &why) == OWED_OK)
        return OWED_OK;
    return fail(err, why.status, "%s: %s", key, why.text);
}
