/* SPDX-License-Identifier: MIT
 *
 * secret_file.h - passwords and tokens come from files, and are shown to nobody.
 */
#ifndef BASE_SECRET_FILE_H
#define BASE_SECRET_FILE_H

#include <owed/error.h>

/* secret_file_read takes the one line that a file holds; secret_free wipes and frees it. CONFIG: it cannot be read,
 * it is empty, it holds more than a line, or a control character. NOMEM. */
owed_status secret_file_read(const char *path, char **ret_secret, owed_error *err);
void secret_free(char *secret);

#endif
