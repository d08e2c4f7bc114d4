/* SPDX-License-Identifier: MIT
 *
 * main.c - the program: a table of commands.
 */
#include <errno.h>
#include <fcntl.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/cmds.h"
#include "cli/common.h"

#define KEPT_BYTES (4 * 1024 * 1024)

const struct command *const commands[] = {
    &cmd_init,
    &cmd_migrate,
    &cmd_publish,
    &cmd_check,
    &cmd_doctor,
    &cmd_fire,
    &cmd_relay,
    &cmd_worker,
    &cmd_status,
    &cmd_events,
    &cmd_deliveries,
    &cmd_show,
    &cmd_explain,
    &cmd_attempts,
    &cmd_relays,
    &cmd_quiet,
    &cmd_catalogue,
    &cmd_requeue,
    &cmd_lanes,
    &cmd_pause,
    &cmd_resume,
    &cmd_replay,
    &cmd_cancel,
    &cmd_prune,
    &cmd_templates,
    &cmd_send,
    &cmd_ticket,
    &cmd_endpoint,
    &cmd_bench,
    &cmd_help,
    NULL,
};

const struct command *
command_find(const char *name)
{
    for (size_t i = 0; commands[i] != NULL; i++) {
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    }
    return NULL;
}

const char *
command_nearest(const char *word)
{
    const char *names[sizeof commands / sizeof commands[0]] = {NULL};
    for (size_t i = 0; commands[i] != NULL; i++)
        names[i] = commands[i]->name;
    return nearest(word, names);
}

static int
print_commands(FILE *file, int code)
{
    struct buf text;
    buf_init(&text, SIZE_MAX / 2);
    help_commands(&text);
    fputs(buf_text(&text), file);
    buf_done(&text);
    return code;
}

static int
refuse_word(const char *word)
{
    const char *known = command_nearest(word);
    if (word[0] == '-')
        cli_refuse(0, "there is no option %s before a command but --help and --version", word);
    else if (known != NULL)
        cli_refuse(0, "there is no command '%s'; did you mean '%s'?", word, known);
    else
        cli_refuse(0, "there is no command '%s'", word);
    fprintf(stderr, "try 'owed --help'\n");
    return EXIT_USAGE;
}

/* fill_standard opens what the caller has closed of 0, 1 and 2: whatever was opened next would get that
 * number, and what is said on standard error would be written into it. Input and output stay unusable,
 * so that their use is an error as before. */
static void
fill_standard(void)
{
    static const int modes[] = {O_WRONLY, O_RDONLY, O_WRONLY};
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", modes[fd]) != fd)
            _exit(EXIT_BUG);
}

/* keep_memory has what a batch needed stay for the next one, and not go back to the system each time. */
static void
keep_memory(void)
{
#ifdef __GLIBC__
    mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
    mallopt(M_MMAP_THRESHOLD, KEPT_BYTES);
#endif
}

int
main(int argc, char **argv)
{
    fill_standard();
    keep_memory();
    signal(SIGPIPE, SIG_IGN);
    if (argc < 2)
        return print_commands(stderr, EXIT_USAGE);
    const char *word = argv[1];
    if (strcmp(word, "--version") == 0)
        return printf("owed " OWED_VERSION "\n") < 0 ? EXIT_FOUND : EXIT_DONE;
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return print_commands(stdout, EXIT_DONE);
    const struct command *command = command_find(word);
    if (command == NULL)
        return refuse_word(word);
    return cli_main(command, argc, argv);
}
