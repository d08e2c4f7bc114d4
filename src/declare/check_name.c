/* SPDX-License-Identifier: MIT
 *
 * check_name.c - the alphabets of names, and how a text that may hold anything is shown.
 */
#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"
#include "declare/check.h"

#define NAME_ALPHABET "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"
#define LANE_ALPHABET "abcdefghijklmnopqrstuvwxyz0123456789_.-"

const char *
show(const char *text, char shown[static SHOWN_BYTES])
{
    size_t len = strlen(text);
    bool cut = len > SHOWN_BYTES - 4;
    size_t kept = cut ? SHOWN_BYTES - 4 : len;
    for (size_t i = 0; i < kept; i++)
        shown[i] = text[i];
    for (size_t i = 0; i < kept; i++)
        if (shown[i] < ' ' || shown[i] > '~')
            shown[i] = '?';
    snprintf(shown + kept, SHOWN_BYTES - kept, "%s", cut ? "..." : "");
    return shown;
}

static bool
is_word(const char *text, const char *alphabet, size_t limit)
{
    size_t len = text == NULL ? 0 : strlen(text);
    return len > 0 && len <= limit && strspn(text, alphabet) == len;
}

owed_status
check_name(const char *what, const char *name, owed_error *err)
{
    char shown[SHOWN_BYTES];
    if (is_word(name, NAME_ALPHABET, LIMIT_KEY_BYTES))
        return OWED_OK;
    return fail(err, OWED_CONFIG,
        "%s \"%s\": 1 to %d letters, digits, \"_\", \".\" and \"-\" are right, such as "
        "\"shop.OrderPlaced\"",
        what, show(or_empty(name), shown), LIMIT_KEY_BYTES);
}

owed_status
check_lane(const char *what, const char *lane, owed_error *err)
{
    char shown[SHOWN_BYTES];
    if (is_word(lane, LANE_ALPHABET, LIMIT_LANE_BYTES))
        return OWED_OK;
    return fail(err, OWED_CONFIG,
        "%s \"%s\": 1 to %d small letters, digits, \"_\", \".\" and \"-\" are right", what,
        show(or_empty(lane), shown), LIMIT_LANE_BYTES);
}

owed_status
check_side_lane(const char *what, const char *name, owed_error *err)
{
    char shown[SHOWN_BYTES];
    if (name != NULL && name[0] == '+' && is_word(name + 1, LANE_ALPHABET, LIMIT_LANE_BYTES - 1))
        return OWED_OK;
    return fail(err, OWED_CONFIG,
        "%s \"%s\": \"+\" and then 1 to %d small letters, digits, \"_\", \".\" and \"-\" are right, such "
        "as \"+catchup\"",
        what, show(or_empty(name), shown), LIMIT_LANE_BYTES - 1);
}

bool
is_side_lane(const char *lane, const char *app)
{
    const char *slash = strchr(lane, '/');
    if (slash == NULL || slash[1] != '+')
        return false;
    size_t len = (size_t)(slash - lane);
    return app == NULL || (strncmp(lane, app, len) == 0 && app[len] == '\0');
}
