/* SPDX-License-Identifier: MIT
 *
 * act.c - what commands that act on many rows share.
 */
#include "cli/act.h"

#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <unistd.h>

#include "base/option_value.h"

#define ASK_ABOVE 1000

bool
act_is_dry(const struct cli *cli)
{
    return option_find(cli->flags, "dry-run") != NULL && options_number(cli->flags, "dry-run") != 0;
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

int
act_ids(struct cli *cli, const char *what, const int64_t **ret_ids, size_t *ret_count)
{
    if (cli->operand_count == 0)
        return EXIT_DONE;
    int64_t *ids = arena_alloc(&cli->arena, (size_t)cli->operand_count * sizeof *ids);
    if (ids == NULL)
        return cli_refuse(EXIT_AGAIN, "out of memory");
    for (int i = 0; i < cli->operand_count; i++) {
        if (!cli_id(cli->operands[i], &ids[i]))
            return cli_usage(cli, "'%s' is no id of %s", cli->operands[i], what);
    }
    *ret_ids = ids;
    *ret_count = (size_t)cli->operand_count;
    return EXIT_DONE;
}

void
act_warn_unknown(struct cli *cli, const char *key)
{
    struct catalogue_receiver *receivers = NULL;
    size_t count = 0;
    if (store_catalogue_receivers(cli->db, &cli->arena, &receivers, &count, &cli->err) != OWED_OK)
        return;
    const char **keys = arena_alloc(&cli->arena, (count + 1) * sizeof *keys);
    for (size_t i = 0; keys != NULL && i < count; i++) {
        if (strcmp(receivers[i].key, key) == 0)
            return;
        keys[i] = receivers[i].key;
    }
    const char *near = keys == NULL ? NULL : nearest(key, keys);
    if (near != NULL)
        cli_warn("the catalogue has no receiver %s; the nearest is %s", key, near);
    else
        cli_warn("the catalogue has no receiver %s", key);
}

#define WARNED_MAX 100 // ids are looked at

static bool
is_one_of(const char *word, const char *const *words)
{
    while (*words != NULL && strcmp(word, *words) != 0)
        words++;
    return *words != NULL;
}

void
act_warn_left(struct cli *cli, const int64_t *ids, size_t count, const char *const *states,
    const char *not_so)
{
    for (size_t i = 0; i < count && i < WARNED_MAX; i++) {
        struct delivery_row row;
        owed_error why;
        owed_status status = store_delivery(cli->db, ids[i], &cli->arena, &row, &why);
        if (status == OWED_NOT_FOUND)
            cli_warn("delivery %" PRId64 " is left alone: there is none of that id", ids[i]);
        else if (status == OWED_OK && !is_one_of(row.status, states))
            cli_warn(
                "delivery %" PRId64 " is left alone: it is %s, and %s", ids[i], row.status, not_so);
    }
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
    // What is made owed is due at once by the store's clock, whatever this host's says.
    int64_t now_us = cli->now_us;
    owed_error err;
    if (store_now(cli->db, &now_us, &err) != OWED_OK)
        now_us = cli->now_us;
    return (struct acting){.who = who(cli),
        .what = words(cli),
        .now_us = now_us,
        .dry_run = act_is_dry(cli),
        .step = show,
        .state = progress};
}
