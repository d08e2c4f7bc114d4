/* SPDX-License-Identifier: MIT
 *
 * json_pointer.c - JSON pointers (RFC 6901), a step at a time and all the way.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/utf8.h"

char *
json_pointer_step(struct arena *arena, const char **pointer)
{
    const char *start = *pointer + 1;
    size_t len = strcspn(start, "/");
    char *step = arena_copy(arena, (struct str){start, len});
    *pointer = start + len;
    if (step == NULL)
        return NULL;
    char *to = step;
    for (const char *from = step; *from != '\0'; from++) {
        bool is_escape = *from == '~' && (from[1] == '0' || from[1] == '1');
        *to++ = is_escape ? (from[1] == '0' ? '~' : '/') : *from;
        from += is_escape;
    }
    *to = '\0';
    return step;
}

bool
json_pointer_leads(const char *step, bool in_object, struct str key, size_t index)
{
    char *end;
    if (in_object)
        return json_key_is(key, step);
    return is_digit(step[0]) && strtoul(step, &end, 10) == index && *end == '\0';
}

bool
json_pointer_is_good(const char *pointer)
{
    for (const char *p = pointer; (p = strchr(p, '~')) != NULL; p++)
        if (p[1] != '0' && p[1] != '1')
            return false;
    return (*pointer == '\0' || *pointer == '/') && utf8_is_valid(str_of(pointer));
}

bool
json_pointer_find(
    struct json root, const char *pointer, struct arena *arena, struct json *ret_value)
{
    while (*pointer == '/') {
        bool in_object = root.type == JSON_OBJECT;
        const char *step = json_pointer_step(arena, &pointer);
        if (step == NULL || (!in_object && root.type != JSON_ARRAY))
            return false;
        struct json_walk walk = json_walk(root);
        struct str key = {"", 0};
        struct json member;
        bool is_found = false;
        for (size_t i = 0; json_next(&walk, &key, &member); i++)
            if (json_pointer_leads(step, in_object, key, i)) {
                root = member;
                is_found = true;
            }
        if (!is_found)
            return false;
    }
    *ret_value = root;
    return true;
}
