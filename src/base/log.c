/* SPDX-License-Identifier: MIT
 *
 * log.c - a line is built whole, then handed over in one call.
 */
#include "base/log.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/moment.h"

#define LINE_BYTES ((size_t)1024 * 1024)
#define LINE_LOST "level=error msg=\"a log line was lost: out of memory\""

static const char *const level_names[] = {
    [OWED_LOG_DEBUG] = "debug",
    [OWED_LOG_INFO] = "info",
    [OWED_LOG_WARNING] = "warning",
    [OWED_LOG_ERROR] = "error",
};
#define LEVEL_COUNT (sizeof level_names / sizeof level_names[0])

const char *
log_level_name(owed_log_level level)
{
    return (size_t)level < LEVEL_COUNT ? level_names[level] : "unknown";
}

bool
log_level_parse(const char *name, owed_log_level *ret_level)
{
    for (size_t i = 0; i < LEVEL_COUNT; i++)
        if (strcmp(name, level_names[i]) == 0) {
            *ret_level = (owed_log_level)i;
            return true;
        }
    return false;
}

/* Bare values hold what no reader of key=value lines could mistake. */
static bool
is_bare(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.p[i] <= ' ' || strchr("\"'=\\\x7f", text.p[i]) != NULL)
            return false;
    return text.len > 0 && utf8_is_valid(text);
}

static void
add_key(const struct log *log, struct buf *line, const char *key)
{
    bool is_first = line->len == 0;
    if (!log->json) {
        buf_printf(line, "%s%s=", is_first ? "" : " ", key);
        return;
    }
    buf_putc(line, is_first ? '{' : ',');
    json_write_string(line, str_of(key));
    buf_putc(line, ':');
}

static void
add_text(const struct log *log, struct buf *line, const char *key, const char *value)
{
    struct str text = str_of(value);
    add_key(log, line, key);
    if (!log->json && is_bare(text))
        buf_str(line, text);
    else
        json_write_string(line, text);
}

static void
add_field(const struct log *log, struct buf *line, const struct log_field *field)
{
    if (field->text != NULL) {
        add_text(log, line, field->key, field->text);
        return;
    }
    add_key(log, line, field->key);
    buf_int(line, field->number);
}

void
log_line(const struct log *log, owed_log_level level, const char *message,
    const struct log_field *fields, size_t count)
{
    if (log->write == NULL || level < log->level)
        return;
    struct buf line;
    char time[MOMENT_BYTES];
    owed_clock clock = clock_or_system(log->clock);
    buf_init(&line, LINE_BYTES);
    add_text(log, &line, "time", moment_write(clock_now_us(&clock), time));
    add_text(log, &line, "level", log_level_name(level));
    add_text(log, &line, "msg", message);
    for (size_t i = 0; i < count; i++)
        add_field(log, &line, &fields[i]);
    if (log->json)
        buf_putc(&line, '}');
    log->write(log->state, level, line.failed ? LINE_LOST : buf_text(&line));
    buf_done(&line);
}
