/* SPDX-License-Identifier: MIT
 *
 * json_bench.h - the other library, in a file of its own: its header and ours share names.
 */
#ifndef BENCH_JSON_BENCH_H
#define BENCH_JSON_BENCH_H

#include "base/str.h"

/* json_bench_jansson reads a document with jansson and frees it again. */
bool json_bench_jansson(struct str text);

/* json_bench_jansson_order reads an order into members of C, and frees it again. */
bool json_bench_jansson_order(struct str text);

#endif
