/* SPDX-License-Identifier: MIT
 *
 * full_disk.c - a disk that is full, for a server that has this preloaded (LD_PRELOAD).
 *
 * While there is a file of the name in OWED_TEST_FULL_DISK no file grows: whoever asks is told that no space
 * is left. What is written over, as the blocks that a file has already, is written.
 */
#undef _FILE_OFFSET_BITS // else both names of each function would be the same one
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define SHOWN __attribute__((visibility("default")))

static bool
is_full(int fd, off_t end)
{
    const char *sign = getenv("OWED_TEST_FULL_DISK");
    struct stat now;
    if (sign == NULL || fstat(fd, &now) != 0 || !S_ISREG(now.st_mode) || end <= now.st_size)
        return false;
    return access(sign, F_OK) == 0;
}

/* refused sets errno where the write would make the file longer. */
static bool
refused(int fd, off_t end)
{
    int before = errno;
    bool full = is_full(fd, end);
    errno = full ? ENOSPC : before;
    return full;
}

static off_t
length_of(const struct iovec *pieces, int count)
{
    off_t sum = 0;
    for (int i = 0; i < count; i++)
        sum += (off_t)pieces[i].iov_len;
    return sum;
}

/* Each function calls the one of its name that would have been called. */
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define PWRITE(name) \
    SHOWN ssize_t name(int fd, const void *bytes, size_t count, off_t at) \
    { \
        return refused(fd, at + (off_t)count) ? -1 : REAL(name)(fd, bytes, count, at); \
    }
#define PWRITEV(name) \
    SHOWN ssize_t name(int fd, const struct iovec *pieces, int count, off_t at) \
    { \
        return refused(fd, at + length_of(pieces, count)) ? -1 \
                                                          : REAL(name)(fd, pieces, count, at); \
    }
#define POSIX_FALLOCATE(name) \
    SHOWN int name(int fd, off_t at, off_t count) \
    { \
        return is_full(fd, at + count) ? ENOSPC : REAL(name)(fd, at, count); \
    }
#define FALLOCATE(name) \
    SHOWN int name(int fd, int mode, off_t at, off_t count) \
    { \
        return refused(fd, at + count) ? -1 : REAL(name)(fd, mode, at, count); \
    }

PWRITE(pwrite)
PWRITE(pwrite64)
PWRITEV(pwritev)
PWRITEV(pwritev64)
POSIX_FALLOCATE(posix_fallocate)
POSIX_FALLOCATE(posix_fallocate64)
FALLOCATE(fallocate)
FALLOCATE(fallocate64)
