/* SPDX-License-Identifier: MIT
 *
 * secret_file.c - passwords and tokens come from files, and are shown to nobody.
 */
#include "base/secret_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/plain_file.h"

#define SECRET_BYTES 4096

/* read_all reads up to size bytes; returns 0 or errno. */
static int
read_all(int fd, char *text, size_t size, size_t *ret_len)
{
    ssize_t n = 1;
    *ret_len = 0;
    while (*ret_len < size && n != 0) {
        n = read(fd, text + *ret_len, size - *ret_len);
        if (n < 0 && errno != EINTR)
            return errno;
        *ret_len += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

/* is_line: what ends a line would end one of a request, too. */
static bool
is_line(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
            return false;
    return len > 0 && len <= SECRET_BYTES;
}

owed_status
secret_file_read(const char *path, char **ret_secret, owed_error *err)
{
    CLEANUP(close_fd) int fd = -1;
    char text[SECRET_BYTES + 2];
    size_t len;
    owed_status status = plain_file_open(path, &fd, err);
    if (status != OWED_OK)
        return status;
    int failure = read_all(fd, text, sizeof text - 1, &len);
    text[len] = '\0';
    while (len > 0 && text[len - 1] != '\0' && strchr(" \t\r\n", text[len - 1]) != NULL)
        text[--len] = '\0';
    bool is_right = is_line(text, len);
    char *secret = failure == 0 && is_right ? strdup(text) : NULL;
    explicit_bzero(text, sizeof text);
    if (failure != 0)
        return fail_native(
            err, OWED_CONFIG, failure, "%s cannot be read: %s", path, strerrordesc_np(failure));
    if (!is_right)
        return fail(err, OWED_CONFIG,
            "%s holds no secret: one line of up to %d bytes, without control characters, would be right",
            path, SECRET_BYTES);
    *ret_secret = secret;
    return secret == NULL ? fail_memory(err) : OWED_OK;
}

void
secret_free(char *secret)
{
    if (secret != NULL)
        explicit_bzero(secret, strlen(secret));
    free(secret);
}
