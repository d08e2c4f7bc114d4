/* SPDX-License-Identifier: MIT
 *
 * common.c - from words to an open store.
 */
#include "cli/common.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "cli/fields.h"
#include "declare/conf.h"
#include "declare/settings.h"
#include "deliver/handle.h"

#define CONF_DEFAULT "owed.conf"
#define CLI_ARENA_BYTES ((size_t)1024 * 1024 * 1024)

static void
say(const char *before, const char *format, va_list args)
{
    char text[2048];
    vsnprintf(text, sizeof text, format, args);
    fprintf(stderr, "owed: %s%s\n", before, text);
}

int
cli_refuse(int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say("", format, args);
    va_end(args);
    return code;
}

void
cli_warn(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say("warning: ", format, args);
    va_end(args);
}

int
cli_usage(struct cli *cli, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say("", format, args);
    va_end(args);
    fprintf(stderr, "try 'owed %s --help'\n", cli->command->name);
    return EXIT_USAGE;
}

int
cli_fail(struct cli *cli)
{
    return cli_refuse(exit_of(cli->err.status), "%s", cli->err.text);
}

static void
write_log(void *state, owed_log_level level, const char *line)
{
    (void)state;
    (void)level;
    fprintf(stderr, "%s\n", line);
}

/* --- words --- */

/* take_flags carries the flags of a shared table over to the settings, where they rule. */
static owed_status
take_flags(struct cli *cli, const struct option *table)
{
    owed_status status = OWED_OK;
    for (; table->name != NULL && status == OWED_OK; table++) {
        if (!options_is_set(cli->flags, table->name))
            continue;
        const char *text = options_text(cli->flags, table->name);
        const char *const one[] = {text, NULL};
        const char *const *texts =
            table->type == OPTION_LIST ? options_list(cli->flags, table->name) : one;
        const char *where = options_where(cli->flags, table->name);
        for (; *texts != NULL && status == OWED_OK; texts++)
            status = options_set(
                cli->settings, NULL, table->name, *texts, SOURCE_FLAG, where, &cli->err);
    }
    return status;
}

/* A copy of the words is read: operands are moved about in it, and a relay starts its workers with
 * the command line as it was. */
static owed_status
read_flags(struct cli *cli)
{
    size_t words = (size_t)cli->argc; // without the program, but with the NULL at the end
    char **copy = arena_alloc(&cli->arena, words * sizeof *copy);
    if (copy == NULL)
        return fail_memory(&cli->err);
    memcpy(copy, cli->argv + 1, words * sizeof *copy);
    return options_read_flags(cli->flags, cli->argc - 1, copy, &cli->operands, &cli->err);
}

static int
read_words(struct cli *cli)
{
    const struct option *tables[COMMAND_TABLES];
    command_tables(cli->command, tables);
    if (options_new(tables, cli->now_us, &cli->flags, &cli->err) != OWED_OK)
        return cli_fail(cli);
    if (read_flags(cli) != OWED_OK)
        return cli_usage(cli, "%s", cli->err.text);
    while (cli->operands[cli->operand_count] != NULL)
        cli->operand_count++;
    int max = cli->command->max_operands;
    if (max >= 0 && cli->operand_count > max)
        return cli_usage(cli, "%s takes no '%s'", cli->command->name, cli->operands[max]);
    return EXIT_DONE;
}

/* Every command reads every setting of the file: a wrong word there is told by whatever runs first. */
static int
begin_settings(struct cli *cli)
{
    if (options_new(settings_tables, cli->now_us, &cli->settings, &cli->err) != OWED_OK)
        return cli_fail(cli);
    owed_status status = take_flags(cli, settings_store);
    if (status == OWED_OK)
        status = take_flags(cli, settings_log);
    if (status == OWED_OK && cli->command->relays)
        status = take_flags(cli, settings_relay);
    return status == OWED_OK ? EXIT_DONE : cli_usage(cli, "%s", cli->err.text);
}

/* The environment and the file come after the flags, and never win over them. */
static int
read_settings(struct cli *cli)
{
    if (options_read_environment(cli->settings, &cli->err) != OWED_OK)
        return cli_refuse(EXIT_CONFIG, "%s", cli->err.text);
    cli->conf = options_text(cli->flags, "config");
    if (cli->conf == NULL)
        cli->conf = getenv("OWED_CONFIG");
    if (is_empty(cli->conf))
        cli->conf = access(CONF_DEFAULT, F_OK) == 0 ? CONF_DEFAULT : NULL;
    if (cli->conf == NULL)
        return EXIT_DONE;
    if (conf_load_options(cli->conf, cli->settings, &cli->err) != OWED_OK)
        return cli_refuse(EXIT_CONFIG, "%s", cli->err.text);
    return EXIT_DONE;
}

static int
set_log(struct cli *cli)
{
    cli->log = (struct log){.write = write_log, .clock = clock_system};
    const char *level = options_text(cli->settings, "log-level");
    if (!log_level_parse(level, &cli->log.level))
        return cli_usage(cli, "log-level '%s' is none of debug, info, warning, error", level);
    const char *format = options_text(cli->settings, "log-format");
    cli->log.json = strcmp(format, "json") == 0;
    if (!cli->log.json && strcmp(format, "text") != 0)
        return cli_usage(cli, "log-format '%s' is neither text nor json", format);
    return EXIT_DONE;
}

static int
run(struct cli *cli)
{
    int code = read_words(cli);
    if (code != EXIT_DONE)
        return code;
    if (options_number(cli->flags, "help") != 0) {
        help_command(cli->command, &cli->out.text);
        return EXIT_DONE;
    }
    code = begin_settings(cli);
    if (code == EXIT_DONE)
        code = read_settings(cli);
    if (code == EXIT_DONE)
        code = set_log(cli);
    return code == EXIT_DONE ? cli->command->run(cli) : code;
}

int
cli_main(const struct command *command, int argc, char **argv)
{
    struct cli cli = {.command = command, .argc = argc, .argv = argv};
    cli.now_us = clock_now_us(&clock_system);
    arena_init(&cli.arena, CLI_ARENA_BYTES);
    out_init(&cli.out);
    int code = run(&cli);
    if (cli.owed != NULL)
        owed_close(cli.owed);
    else
        store_close(cli.db);
    owed_task_queue_close(cli.tasks);
    owed_registry_free(cli.registry);
    notices_done(&cli.notices);
    options_free(cli.flags);
    options_free(cli.settings);
    arena_done(&cli.arena);
    return out_close(&cli.out, code);
}

/* --- the store and the declarations --- */

owed_status
cli_url(struct cli *cli, const char **ret_url)
{
    const char *url = options_text(cli->settings, "store");
    if (is_empty(url))
        return fail(&cli->err, OWED_CONFIG,
            "no store is named: give --store URL, set OWED_STORE, or write url = URL under [store] "
            "in owed.conf");
    *ret_url = url;
    return OWED_OK;
}

owed_status
cli_open_store(struct cli *cli, bool writes)
{
    const char *url = NULL;
    owed_status status = cli_url(cli, &url);
    if (status != OWED_OK)
        return status;
    struct db_options options = {
        .busy_timeout_us = options_number(cli->settings, "busy-timeout"),
        .read_only = !writes,
    };
    status = store_open(url, &options, &cli->db, &cli->err);
    if (status == OWED_OK)
        status = store_check(cli->db, &cli->err);
    return status != OWED_OK ? status : store_now(cli->db, &cli->now_us, &cli->err);
}

/* declare_conf takes what owed.conf declares; channels first, which receivers may name. */
static owed_status
declare_conf(struct cli *cli)
{
    owed_status status = notices_read(&cli->notices, cli->conf, &cli->err);
    const struct conf_maker maker = notices_maker(&cli->notices);
    if (status == OWED_OK)
        status = conf_load_receivers(cli->conf, cli->registry, &maker, &cli->err);
    return status == OWED_OK ? notices_declare(&cli->notices, cli->registry, &cli->err) : status;
}

const char *
cli_templates(const struct cli *cli)
{
    const char *folder = options_text(cli->settings, "templates");
    return is_empty(folder) ? NULL : folder;
}

owed_status
cli_open_notices(struct cli *cli)
{
    if (!cli->notices.is_read)
        return OWED_OK;
    return notices_open(&cli->notices, cli_templates(cli), &cli->err);
}

owed_status
cli_declare(struct cli *cli)
{
    owed_status status =
        owed_registry_new(options_text(cli->settings, "app"), &cli->registry, &cli->err);
    if (status == OWED_OK)
        settings_fill_registry(cli->settings, cli->registry);
    if (status == OWED_OK && cli->conf != NULL)
        status = declare_conf(cli);
    const char *const *modules = options_list(cli->settings, "module");
    for (size_t i = 0; status == OWED_OK && modules != NULL && modules[i] != NULL; i++)
        status = module_load(modules[i], cli->registry, &cli->err);
    return status == OWED_OK ? cli_hand_on_tasks(cli) : status;
}

owed_status
cli_open(struct cli *cli, const owed_registry *registry)
{
    owed_settings settings = {
        .registry = registry,
        .log = write_log,
    };
    settings_fill_store(cli->settings, &settings);
    owed_status status = cli_url(cli, &settings.url);
    if (status == OWED_OK)
        status = owed_open(&settings, &cli->owed, &cli->err);
    if (status != OWED_OK)
        return status;
    cli->owed->log.level = cli->log.level;
    cli->owed->log.json = cli->log.json;
    cli->db = cli->owed->db;
    cli->now_us = clock_now_us(&cli->owed->clock);
    return OWED_OK;
}

/* --- small things of several commands --- */

bool
cli_id(const char *text, int64_t *ret_id)
{
    char *end = NULL;
    errno = 0;
    long long id = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || id <= 0)
        return false;
    *ret_id = id;
    return true;
}

const char *
cli_lane(struct cli *cli, const char *lane)
{
    if (lane == NULL || strchr(lane, '/') != NULL)
        return lane;
    return arena_printf(&cli->arena, "%s/%s", options_text(cli->settings, "app"), lane);
}

bool
cli_json(const struct cli *cli)
{
    return options_number(cli->flags, "json") != 0;
}

void
cli_list(struct cli *cli, const struct field *fields, const void *rows, size_t count, size_t size)
{
    if (cli_json(cli))
        fields_lines(fields, rows, count, size, &cli->out);
    else
        fields_table(fields, rows, count, size, &cli->out);
}

int
cli_read_file(const char *what, const char *path, struct buf *text)
{
    bool is_input = strcmp(path, "-") == 0;
    CLEANUP(fclose_ptr) FILE *opened = is_input ? NULL : fopen(path, "re");
    FILE *file = is_input ? stdin : opened;
    if (file == NULL || !buf_add_file(text, file))
        return cli_refuse(EXIT_INPUT, "the %s %s cannot be read: %m", what, path);
    if (text->failed)
        return cli_refuse(EXIT_INPUT, "the %s %s is over the limit of %zu MiB", what, path,
            LIMIT_PAYLOAD_BYTES / 1024 / 1024);
    if (strlen(buf_text(text)) != text->len)
        return cli_refuse(EXIT_INPUT, "the %s %s holds a NUL, which no JSON does", what, path);
    return EXIT_DONE;
}
