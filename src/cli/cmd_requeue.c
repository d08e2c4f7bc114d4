/* SPDX-License-Identifier: MIT
 *
 * cmd_requeue.c - owed requeue: dead deliveries get another life.
 */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/common.h"
#include "operate/requeue.h"

#define ASK_ABOVE 1000

static int run_requeue(struct cli *cli);

static const struct option requeue_options[] = {
    {.name = "receiver", .type = OPTION_TEXT, .argument = "KEY", .help = "those of this receiver"},
    {.name = "all", .type = OPTION_BOOL, .help = "those of every receiver"},
    {.name = "orphaned",
        .type = OPTION_BOOL,
        .help = "orphaned ones too, where their receiver is in the catalogue by now"},
    {.name = "limit",
        .type = OPTION_INT,
        .argument = "N",
        .help = "at most so many, lowest ids first"},
    {.name = "dry-run", .type = OPTION_BOOL, .help = "count them, and change nothing"},
    {.name = "yes",
        .letter = 'y',
        .type = OPTION_BOOL,
        .help = "do not ask, however many there are"},
    {.name = NULL},
};

const struct command cmd_requeue = {
    .name = "requeue",
    .summary = "make dead deliveries owed again",
    .usage = "[DELIVERY-ID...]",
    .text = "Dead deliveries become pending again: no attempts, no error, due now, as though they "
            "had just been fired. Ids and --receiver narrow each other; at least one of ids, "
            "--receiver and --all must be given. What is not dead is left alone.\n\n"
            "On a terminal it asks before it touches more than 1,000.",
    .examples = "    owed requeue 42 43\n"
                "    owed requeue --receiver shop.billing --dry-run",
    .options = requeue_options,
    .max_operands = -1,
    .run = run_requeue,
};

static int
read_ids(struct cli *cli, struct requeue *requeue)
{
    if (cli->operand_count == 0)
        return EXIT_DONE;
    int64_t *ids = arena_alloc(&cli->arena, (size_t)cli->operand_count * sizeof *ids);
    if (ids == NULL)
        return cli_refuse(EXIT_AGAIN, "out of memory");
    for (int i = 0; i < cli->operand_count; i++) {
        if (!cli_id(cli->operands[i], &ids[i]))
            return cli_usage(cli, "'%s' is no id of a delivery", cli->operands[i]);
    }
    requeue->ids = ids;
    requeue->id_count = (size_t)cli->operand_count;
    return EXIT_DONE;
}

static int
read_selection(struct cli *cli, struct requeue *requeue)
{
    *requeue = (struct requeue){
        .receiver_key = options_text(cli->flags, "receiver"),
        .orphaned = options_number(cli->flags, "orphaned") != 0,
        .limit = options_is_set(cli->flags, "limit") ? options_number(cli->flags, "limit") : -1,
        .now_us = cli->now_us,
        .dry_run = options_number(cli->flags, "dry-run") != 0,
    };
    bool all = options_number(cli->flags, "all") != 0;
    if (!all && cli->operand_count == 0 && requeue->receiver_key == NULL)
        return cli_usage(cli, "requeue wants to know which: ids, --receiver KEY, or --all");
    if (all && (cli->operand_count > 0 || requeue->receiver_key != NULL))
        return cli_usage(cli, "--all goes with neither ids nor --receiver");
    return read_ids(cli, requeue);
}

static bool
says_yes(int64_t count)
{
    fprintf(stderr, "make %" PRId64 " deliveries owed again? [y/N] ", count);
    fflush(stderr);
    char answer[16] = "";
    if (fgets(answer, sizeof answer, stdin) == NULL)
        return false;
    return answer[0] == 'y' || answer[0] == 'Y';
}

/* A person is asked first; a script has said what it wants. */
static int
confirm(struct cli *cli, const struct requeue *requeue, bool *ret_go)
{
    *ret_go = true;
    if (requeue->dry_run || options_number(cli->flags, "yes") != 0 || !isatty(STDIN_FILENO))
        return EXIT_DONE;
    struct requeue look = *requeue;
    look.dry_run = true;
    int64_t count = 0;
    if (requeue_dead(cli->owed, &look, &count, &cli->err) != OWED_OK)
        return cli_fail(cli);
    *ret_go = count <= ASK_ABOVE || says_yes(count);
    return EXIT_DONE;
}

/* warn_unknown: of a misspelt key nothing is dead, which looks as though all were well. */
static void
warn_unknown(struct cli *cli, const char *key)
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

static int
run_requeue(struct cli *cli)
{
    struct requeue requeue;
    int code = read_selection(cli, &requeue);
    if (code != EXIT_DONE)
        return code;
    if (cli_open(cli, NULL) != OWED_OK)
        return cli_fail(cli);
    bool go = false;
    code = confirm(cli, &requeue, &go);
    if (code != EXIT_DONE)
        return code;
    if (!go)
        return cli_refuse(EXIT_FOUND, "nothing was changed");
    int64_t count = 0;
    if (requeue_dead(cli->owed, &requeue, &count, &cli->err) != OWED_OK)
        return cli_fail(cli);
    out_printf(&cli->out,
        requeue.dry_run ? "would requeue: %" PRId64 "\n" : "requeued: %" PRId64 "\n", count);
    if (count == 0 && requeue.receiver_key != NULL)
        warn_unknown(cli, requeue.receiver_key);
    return EXIT_DONE;
}
