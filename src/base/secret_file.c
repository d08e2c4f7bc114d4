/* SPDX-License-Identifier: MIT
 *
 * secret_file.c - passwords and tokens come from files, and are shown to nobody.
 */
#include "base/secret_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define SECRET_BYTES 4096

owed_status
secret_file_read(const char *path, char **ret_secret, owed_error *err)
{
    char text[SECRET_BYTES + 2];
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return fail_native(
            err, OWED_CONFIG, errno, "%s cannot be read: %s", path, strerrordesc_np(errno));
    size_t len = fread(text, 1, sizeof text - 1, file);
    int failure = ferror(file) ? errno : 0;
    fclose(file);
    text[len] = '\0';
    while (len > 0 && strchr(" \t\r\n", text[len - 1]) != NULL)
        text[--len] = '\0';
    bool is_line =
        len > 0 && len <= SECRET_BYTES && strlen(text) == len && strpbrk(text, "\r\n") == NULL;
    char *secret = failure == 0 && is_line ? strdup(text) : NULL;
    explicit_bzero(text, sizeof text);
    if (failure != 0)
        return fail_native(
            err, OWED_CONFIG, failure, "%s cannot be read: %s", path, strerrordesc_np(failure));
    if (!is_line)
        return fail(err, OWED_CONFIG,
            "%s holds no secret: one line of up to %d bytes would be right", path, SECRET_BYTES);
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
