/* SPDX-License-Identifier: MIT
 *
 * json_echo.c - says what the scanner makes of many texts, for json_agrees.py.
 *
 * Each input is a line with a length and that many bytes. Each answer is one line: "refused", or the
 * text built again from what was read, with strings decoded and written anew, whole numbers where
 * they are in range, and any other number as it stood. Half a surrogate pair makes it "no text".
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/limits.h"

struct echo {
    struct buf out;
    struct arena arena;
    bool no_text;
};

static void echo_value(struct echo *echo, struct json value);

static void
echo_string(struct echo *echo, struct str quoted)
{
    struct str text;
    struct json string = {JSON_STRING, quoted};
    if (json_read_string(string, &echo->arena, &text, NULL) == OWED_OK)
        json_write_string(&echo->out, text);
    else
        echo->no_text = true;
}

static void
echo_container(struct echo *echo, struct json container)
{
    struct json_walk walk = json_walk(container);
    struct str key;
    struct json value;
    bool is_object = container.type == JSON_OBJECT;
    buf_putc(&echo->out, is_object ? '{' : '[');
    for (bool is_first = true; json_next(&walk, &key, &value); is_first = false) {
        buf_puts(&echo->out, is_first ? "" : ",");
        if (is_object) {
            echo_string(echo, key);
            buf_putc(&echo->out, ':');
        }
        echo_value(echo, value);
    }
    buf_putc(&echo->out, is_object ? '}' : ']');
}

static void
echo_value(struct echo *echo, struct json value)
{
    int64_t number;
    if (value.type == JSON_OBJECT || value.type == JSON_ARRAY)
        echo_container(echo, value);
    else if (value.type == JSON_STRING)
        echo_string(echo, value.text);
    else if (value.type == JSON_NUMBER && json_int64(value, &number))
        buf_int(&echo->out, number);
    else
        buf_str(&echo->out, value.text);
}

static const char *
answer(struct echo *echo, struct str text)
{
    if (json_check(text, LIMIT_PAYLOAD_DEPTH, NULL) != OWED_OK)
        return "refused";
    buf_clear(&echo->out);
    echo->no_text = false;
    echo_value(echo, json_root(text));
    arena_reset(&echo->arena);
    return echo->no_text ? "no text" : buf_text(&echo->out);
}

int
main(void)
{
    struct echo echo;
    buf_init(&echo.out, LIMIT_PAYLOAD_BYTES);
    arena_init(&echo.arena, 0);
    size_t len;
    while (scanf("%zu", &len) == 1 && getchar() == '\n') {
        CLEANUP(free_ptr) char *text = malloc(len + 1);
        if (text == NULL || fread(text, 1, len, stdin) != len)
            return 1;
        puts(answer(&echo, (struct str){text, len}));
    }
    buf_done(&echo.out);
    arena_done(&echo.arena);
    return feof(stdin) ? 0 : 1;
}
