/* SPDX-License-Identifier: MIT
 *
 * ini.c - a configuration file is read to its end or refused with its line.
 */
#include "base/ini.h"

#include "base/error.h"
#include "base/utf8.h"
#include "fuzz.h"

struct seen {
    int line;
    bool in_section;
    size_t bytes;
};

static owed_status
check_entry(void *state, int line, const char *section, const char *subsection, const char *key,
    const char *value, owed_error *err)
{
    struct seen *seen = state;
    must(line > seen->line);
    must(section[0] != '\0' && utf8_is_valid(str_of(subsection)));
    seen->line = line;
    if (key == NULL) {
        must(value == NULL);
        seen->in_section = true;
        return OWED_OK;
    }
    must(seen->in_section && key[0] != '\0' && utf8_is_valid(str_of(value)));
    must(strchr(value, '\n') == NULL);
    seen->bytes += strlen(key) + strlen(value);
    return strcmp(key, "refuse") == 0 ? fail(err, OWED_LIMIT, "refused") : OWED_OK;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct seen seen = {0};
    owed_error err;
    struct str text = {(const char *)data, size};
    owed_status status = ini_parse(text, "fuzz.conf", check_entry, &seen, &err);
    must(seen.bytes <= size);
    if (status == OWED_CONFIG)
        must(memcmp(err.text, "fuzz.conf:", 10) == 0);
    else
        must(status == OWED_OK || status == OWED_LIMIT);
    return 0;
}
