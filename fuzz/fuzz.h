/* SPDX-License-Identifier: MIT
 *
 * fuzz.h - what every fuzz target offers, and how it complains.
 *
 * A target is a function over bytes. libFuzzer calls it with bytes of its own making (tools/fuzz);
 * driver.c calls it with those of fuzz/corpus, as an ordinary test.
 */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* must holds, or the target ends where it stands. */
#define must(condition_) \
    do { \
        if (!(condition_)) \
            abort(); \
    } while (0)

#endif
