/* SPDX-License-Identifier: MIT
 *
 * nearest.c - which of the known words was meant.
 */
#include "base/options.h"

#include <stdint.h>
#include <string.h>

#define WORD_BYTES 64

static size_t
smallest(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

/* distance counts the letters to insert, drop or change (Levenshtein); both at most WORD_BYTES. */
static size_t
distance(struct str a, struct str b)
{
    size_t row[WORD_BYTES + 1];
    for (size_t j = 0; j <= b.len; j++)
        row[j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            size_t above = row[j];
            row[j] = smallest(row[j - 1] + 1, above + 1, diagonal + (a.p[i - 1] != b.p[j - 1]));
            diagonal = above;
        }
    }
    return row[b.len];
}

/* A word cut short is near too: --batch for --batch-size. */
static bool
is_beginning(struct str word, struct str whole)
{
    return word.len >= 3 && word.len < whole.len && memcmp(word.p, whole.p, word.len) == 0;
}

const char *
nearest(const char *word, const char *const *words)
{
    struct str wanted = str_of(word);
    if (wanted.len > WORD_BYTES)
        return NULL;
    const char *found = NULL;
    size_t least = SIZE_MAX;
    for (; *words != NULL; words++) {
        struct str known = str_of(*words);
        if (known.len > WORD_BYTES)
            continue;
        size_t far = is_beginning(wanted, known) ? 0 : distance(wanted, known);
        size_t longest = wanted.len > known.len ? wanted.len : known.len;
        if (far < least && far <= longest / 3) {
            found = *words;
            least = far;
        }
    }
    return found;
}
