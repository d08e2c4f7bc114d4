/* SPDX-License-Identifier: MIT
 *
 * own_server.h - a database server of a test program's own, for what nobody may do to the one that all share.
 *
 * It is started by tools/servers, in a folder that any user can reach, and is gone when the program ends.
 */
#ifndef TEST_SUPPORT_OWN_SERVER_H
#define TEST_SUPPORT_OWN_SERVER_H

/* own_server_needed leaves a test out, with a sentence, where no server can be started. */
void own_server_needed(void);

/* The folder, without an ending '/'. */
const char *own_server_folder(void);

/* own_server_start starts one of a kind ("postgres", "mariadb"), with variables that it has at each of its
 * starts and words of tools/servers, and writes its URL. A program has one of each. */
void own_server_start(
    const char *kind, const char *environment, const char *settings, char ret_url[static 256]);

/* own_server_do does to it what tools/servers has a word for. */
void own_server_do(const char *kind, const char *word, const char *how);

#endif
