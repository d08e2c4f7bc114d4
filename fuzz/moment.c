/* SPDX-License-Identifier: MIT
 *
 * moment.c - every time and duration that is read is written so that it reads the same.
 */
#include "base/moment.h"

#include <string.h>

#include "base/limits.h"
#include "fuzz.h"

static void
check_text(const char *text)
{
    int64_t us, back;
    char written[MOMENT_BYTES];
    if (moment_read(text, &us))
        must(moment_read(moment_write(us, written), &back) && back == us);
    if (duration_read(text, &us)) {
        must(us >= 0 && us <= LIMIT_DURATION_US);
        must(duration_read(duration_write(us, written), &back) && back == us);
        must(duration_read(duration_rough(us, written), &back) && back <= us);
    }
}

static void
check_number(int64_t us)
{
    char written[MOMENT_BYTES];
    must(strlen(moment_write(us, written)) < MOMENT_BYTES);
    must(strlen(duration_write(us, written)) < MOMENT_BYTES);
    must(strlen(duration_rough(us, written)) < MOMENT_BYTES);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int64_t us = 0;
    memcpy(&us, data, size < sizeof us ? size : sizeof us);
    check_number(us);
    char *text = malloc(size + 1);
    must(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    check_text(text);
    free(text);
    return 0;
}
