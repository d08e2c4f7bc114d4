/* SPDX-License-Identifier: MIT
 *
 * format_echo.c - for format_agrees.py: each line of three fields (kind, format, value, parted by tabs)
 * becomes one line, what the value reads in the format or "! why not".
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "notify/format.h"

static bool
read_value(const char *kind, char *text, owed_value *value)
{
    if (strcmp(kind, "text") == 0)
        *value = (owed_value)OWED_VALUE_TEXT("v", text);
    else if (strcmp(kind, "int64") == 0)
        *value = (owed_value)OWED_VALUE_INT64("v", strtoll(text, NULL, 10));
    else if (strcmp(kind, "double") == 0)
        *value = (owed_value)OWED_VALUE_DOUBLE("v", strtod(text, NULL));
    else if (strcmp(kind, "decimal") == 0)
        *value = (owed_value)OWED_VALUE_DECIMAL("v", text);
    else
        return false;
    return true;
}

static void
answer(const char *kind, const char *format_text, char *text)
{
    struct format format;
    owed_value value;
    struct buf out CLEANUP(buf_done);
    buf_init(&out, 1 << 20);
    if (!read_value(kind, text, &value))
        exit(1);
    const char *why = format_read(str_of(format_text), value.kind, &format);
    if (why == NULL)
        format_write(&format, &value, &out);
    else
        buf_printf(&out, "! %s", why);
    puts(buf_text(&out));
}

int
main(void)
{
    char *line CLEANUP(free_ptr) = NULL;
    size_t size = 0;
    while (getline(&line, &size, stdin) > 0) {
        line[strcspn(line, "\n")] = '\0';
        char *rest = line;
        const char *kind = strsep(&rest, "\t");
        const char *format = strsep(&rest, "\t");
        answer(kind, format, rest);
    }
    return 0;
}
