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
