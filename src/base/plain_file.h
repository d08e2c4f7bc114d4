/* SPDX-License-Identifier: MIT
 *
 * plain_file.h - files that settings name.
 */
#ifndef BASE_PLAIN_FILE_H
#define BASE_PLAIN_FILE_H

#include <owed/error.h>

/* plain_file_open opens a file for reading, and waits for nobody: a pipe, a device or a folder of that name is none.
 * CONFIG. */
owed_status plain_file_open(const char *path, int *ret_fd, owed_error *err);

/* plain_file_check tells whether the file that a key names can be opened; NULL: it names none. CONFIG. */
owed_status plain_file_check(const char *key, const char *path, owed_error *err);

#endif
