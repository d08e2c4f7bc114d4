/* SPDX-License-Identifier: MIT
 *
 * folder.h - a folder of their own for tests that write files; they run inside it.
 */
#ifndef TEST_DECLARE_FOLDER_H
#define TEST_DECLARE_FOLDER_H

/* For cmocka_run_group_tests: makes the folder and goes there; leaves it and removes it. */
int folder_setup(void **state);
int folder_teardown(void **state);

/* folder_clear removes what a test left in it. */
void folder_clear(void);

/* folder_write makes or replaces a file. */
void folder_write(const char *name, const char *text);

#endif
