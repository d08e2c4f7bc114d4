/* SPDX-License-Identifier: MIT
 *
 * act.c - what commands that act on many rows share.
 */
#include "cli/act.h"

#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <unistd.h>

#define ASK_ABOVE 1000

bool
act_is_dry(const struct cli *cli)
{
    return options_number(cli->flags, "dry-run") != 0;
}

bool
act_asks(const struct cli *cli)
{
    return !act_is_dry(cli) && options_number(cli->flags, "yes") == 0 && isatty(STDIN_FILENO);
}

bool
act_confirm(int64_t count, const char *question)
{
    if (count <= ASK_ABOVE)
        return true;
    fprintf(stderr, question, count);
    fputs(" [y/N] ", stderr);
    fflush(stderr);
    char answer[16] = "";
    if (fgets(answer, sizeof answer, stdin) == NULL)
        return false;
    return answer[0] == 'y' || answer[0] == 'Y';
}

/* who is the account and the host. */
static const char *
who(struct cli *cli)
{
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    const struct passwd *account = getpwuid(geteuid());
    const char *text = account == NULL ? arena_printf(&cli->arena, "%ld@%s", (long)geteuid(), host)
                                       : arena_printf(&cli->arena, "%s@%s", account->pw_name, host);
    return or_empty(text);
}

/* words are those of the command line, but for what may hold a password. */
static const char *
words(struct cli *cli)
{
    struct buf text;
    buf_init(&text, 4096);
    for (int i = 0; i < cli->operand_count; i++)
        buf_printf(&text, "%s%s", i == 0 ? "" : " ", cli->operands[i]);
    for (const struct option *o = cli->command->options; o != NULL && o->name != NULL; o++)
        if (options_is_set(cli->flags, o->name))
            buf_printf(&text, "%s--%s%s%s", text.len == 0 ? "" : " ", o->name,
                o->type == OPTION_BOOL ? "" : "=",
                o->type == OPTION_BOOL ? "" : or_empty(options_text(cli->flags, o->name)));
    const char *copy = arena_copy(&cli->arena, buf_view(&text));
    buf_done(&text);
    return or_empty(copy);
}

static void
show(void *state, int64_t so_far)
{
    progress_step(state, 0, so_far);
}

struct acting
act_fill(struct cli *cli, struct progress *progress)
{
    progress_begin(progress, -1);
    return (struct acting){.who = who(cli),
        .what = words(cli),
        .now_us = cli->now_us,
        .dry_run = act_is_dry(cli),
        .step = show,
        .state = progress};
}
