/* SPDX-License-Identifier: MIT
 *
 * json_line.c - nothing in it ends the line.
 */
#include "receive/json_line.h"

#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"

void
json_line_text(struct buf *line, const char *key, const char *value)
{
    char cleaned[4 * LIMIT_KEY_BYTES];
    size_t len = text_clean(cleaned, sizeof cleaned, str_of(value), false);
    buf_printf(line, ",\"%s\":", key);
    json_write_string(line, (struct str){cleaned, len});
}

void
json_line_payload(struct buf *line, struct str payload)
{
    size_t start = line->len;
    buf_str(line, payload);
    // In valid JSON a raw line end stands between values, never in a string.
    for (size_t i = start; i < line->len; i++) {
        if (line->p[i] == '\n' || line->p[i] == '\r')
            line->p[i] = ' ';
    }
}
