/* SPDX-License-Identifier: MIT
 *
 * arena.h - memory that is given back all at once.
 *
 * One arena for each batch: what was claimed, decoded and answered lives until the batch ends.
 * Every function returns NULL when memory is out or the arena's limit is reached.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

#include <owed/export.h>

#include "base/str.h"

struct arena_block;

struct arena {
    struct arena_block *blocks; // the newest first
    size_t used;                // bytes handed out since the last reset
    size_t limit;               // of used; 0: none
};

/* arena_init makes an empty arena; it allocates nothing yet. */
void arena_init(struct arena *arena, size_t limit);

/* arena_alloc returns size zeroed bytes, aligned for any type. */
void *arena_alloc(struct arena *arena, size_t size);
char *arena_strdup(struct arena *arena, const char *text);

/* arena_copy returns a NUL-ended copy of the view's bytes. */
char *arena_copy(struct arena *arena, struct str view);
char *arena_printf(struct arena *arena, const char *format, ...) OWED_PRINTF(2, 3);

/* arena_give_up gives back a piece that is so large that it has a block of its own; a smaller one stays
 * until the end. size is what was asked for. */
void arena_give_up(struct arena *arena, const void *piece, size_t size);

/* arena_reset gives everything back but one block, to be filled again. */
void arena_reset(struct arena *arena);
void arena_done(struct arena *arena);

#endif
