/* SPDX-License-Identifier: MIT
 *
 * common.h - one run of a command: its words, its store, what it declares, how it ends.
 */
#ifndef CLI_COMMON_H
#define CLI_COMMON_H

#include <owed/owed.h>
#include <owed/task.h>

#include "base/arena.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/exits.h"
#include "cli/out.h"
#include "notify/notices.h"
#include "store/store.h"

struct cli {
    const struct command *command;
    int argc;
    char **argv;              // the whole command line
    struct options *flags;    // the words of this command line alone
    struct options *settings; // of the store, the log and a relay: file, environment, flags
    const char *conf;         // the owed.conf in force; NULL: none
    char **operands;          // NULL-ended
    int operand_count;
    int64_t now_us; // when the command began
    struct arena arena;
    struct log log;
    owed_registry *registry; // after cli_declare
    struct notices notices;  // likewise: what owed.conf says of notifications
    owed_task_queue *tasks;  // likewise: where what is for a task site is handed on; NULL: nowhere
    struct db *db;           // after cli_open_store, or the handle's own
    owed *owed;              // after cli_open
    struct out out;
    owed_error err; // of the last call that failed
};

/* cli_main runs the command of a command line and returns the exit code. */
int cli_main(const struct command *command, int argc, char **argv);

/* cli_fail says what stands in err on standard error and returns the exit code of its status. */
int cli_fail(struct cli *cli);

/* cli_refuse says a sentence on standard error and returns the code. */
int cli_refuse(int code, const char *format, ...) OWED_PRINTF(2, 3);

/* cli_usage says a sentence and where to read on, and returns EXIT_USAGE. */
int cli_usage(struct cli *cli, const char *format, ...) OWED_PRINTF(2, 3);

void cli_warn(const char *format, ...) OWED_PRINTF(1, 2);

/* cli_url finds the store's URL; CONFIG: nobody named one. */
owed_status cli_url(struct cli *cli, const char **ret_url);

/* cli_open_store connects without declaring anything; writes: the command changes something.
 * SCHEMA where the tables are not this program's. */
owed_status cli_open_store(struct cli *cli, bool writes);

/* cli_declare builds the registry: receivers of owed.conf, then what the modules declare. */
owed_status cli_declare(struct cli *cli);

/* cli_hand_on_tasks sets the task queue of owed.conf, whatever a module has set. */
owed_status cli_hand_on_tasks(struct cli *cli);

/* cli_templates is the folder of templates; NULL: there is none. */
const char *cli_templates(const struct cli *cli);

/* cli_open_notices opens the channels and templates of owed.conf, after cli_declare. */
owed_status cli_open_notices(struct cli *cli);

/* cli_open opens a handle on the store that declares what stands in registry, and publishes it; NULL:
 * nothing. */
owed_status cli_open(struct cli *cli, const owed_registry *registry);

/* cli_open_patiently opens a handle as a service does: a server that is away is waited for, which is said
 * once where says; patient false: it is not. */
owed_status cli_open_patiently(struct cli *cli, bool patient, bool says);
/* cli_may_come tells whether a store that could not be opened may come by itself: a server is away for a
 * while, a file that is not there stays away. */
bool cli_may_come(struct cli *cli);

/* cli_read_file appends a file, or standard input for "-", and returns an exit code; what names it in sentences. The
 * buffer's maximum is the limit; a NUL is refused. */
int cli_read_file(const char *what, const char *path, struct buf *text);

/* cli_id reads an operand or value as the id of a row, above 0. */
bool cli_id(const char *text, int64_t *ret_id);

/* cli_lane gives a lane its full form, "app/lane"; NULL stays NULL. */
const char *cli_lane(struct cli *cli, const char *lane);

bool cli_json(const struct cli *cli); // --json

/* cli_list writes rows as columns, or as JSON lines under --json. */
struct field;
void cli_list(
    struct cli *cli, const struct field *fields, const void *rows, size_t count, size_t size);

/* module_load runs a module's declarations; registry.c and publishing know nothing of files. */
owed_status module_load(const char *path, owed_registry *registry, owed_error *err);

#endif
