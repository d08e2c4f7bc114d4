/* SPDX-License-Identifier: MIT
 *
 * log.h - one line for each thing decided: key=value, or a JSON object.
 *
 * The library writes nowhere itself: a line goes to the function that the handle was given.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <owed/owed.h>

#include "base/str.h"

struct log {
    owed_log_function write; // NULL: nothing is logged
    void *state;
    owed_log_level level; // lines below it are dropped
    bool json;
    owed_clock clock; // of the field "time", RFC 3339 in UTC
};

struct log_field {
    const char *key;
    const char *text; // NULL: number
    int64_t number;
};
#define LOG_TEXT(key_, text_) ((struct log_field){.key = (key_), .text = or_empty(text_)})
#define LOG_INT(key_, number_) ((struct log_field){.key = (key_), .number = (number_)})

/* log_line writes time, level, msg and the fields, in that order. Values that need it are quoted in
 * key=value form (spaces, quotes, control characters, nothing at all). */
void log_line(const struct log *log, owed_log_level level, const char *message,
    const struct log_field *fields, size_t count);

/* log_say(log, OWED_LOG_INFO, "stopping", LOG_INT("handed_back", n)) */
#define log_say(log_, level_, message_, ...) \
    log_line((log_), (level_), (message_), (const struct log_field[]){__VA_ARGS__}, \
        sizeof((const struct log_field[]){__VA_ARGS__}) / sizeof(struct log_field))

const char *log_level_name(owed_log_level level);
bool log_level_parse(const char *name, owed_log_level *ret_level);

#endif
