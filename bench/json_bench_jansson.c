/* SPDX-License-Identifier: MIT
 *
 * json_bench_jansson.c - what json_bench measures itself against.
 */
#include "json_bench.h"

#include <jansson.h>

bool
json_bench_jansson(struct str text)
{
    json_t *root = json_loadb(text.p, text.len, 0, NULL);
    bool is_read = root != NULL;
    json_decref(root);
    return is_read;
}

/* read_lines reads the lines of an order one by one, as an application has to. */
static bool
read_lines(json_t *lines)
{
    size_t i;
    json_t *line;
    json_array_foreach(lines, i, line)
    {
        const char *sku = NULL;
        json_int_t count = 0;
        if (json_unpack(line, "{s:s, s:I}", "sku", &sku, "count", &count) != 0)
            return false;
    }
    return true;
}

bool
json_bench_jansson_order(struct str text)
{
    json_int_t id = 0, total = 0;
    const char *customer = NULL;
    json_t *note = NULL; // a text, or null
    int paid = 0;
    json_t *lines = NULL;
    json_t *root = json_loadb(text.p, text.len, 0, NULL);
    bool is_read = root != NULL &&
        json_unpack(root, "{s:I, s:s, s:I, s:o, s:b, s:o}", "order_id", &id, "customer", &customer,
            "total_cents", &total, "lines", &lines, "paid", &paid, "note", &note) == 0 &&
        read_lines(lines);
    json_decref(root);
    return is_read;
}
