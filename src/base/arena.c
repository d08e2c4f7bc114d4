/* SPDX-License-Identifier: MIT
 *
 * arena.c - blocks in a list, filled from the front.
 */
#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define BLOCK_BYTES ((size_t)16 * 1024)
#define ALIGNMENT (_Alignof(max_align_t))

struct arena_block {
    struct arena_block *next;
    size_t size;
    size_t used;
    max_align_t bytes[];
};

void
arena_init(struct arena *arena, size_t limit)
{
    *arena = (struct arena){.limit = limit};
}

static struct arena_block *
add_block(struct arena *arena, size_t size)
{
    if (size < BLOCK_BYTES)
        size = BLOCK_BYTES;
    struct arena_block *block = malloc(sizeof *block + size);
    if (block == NULL)
        return NULL;
    *block = (struct arena_block){.next = arena->blocks, .size = size};
    arena->blocks = block;
    return block;
}

void *
arena_alloc(struct arena *arena, size_t size)
{
    if (size > SIZE_MAX / 4)
        return NULL;
    size_t rounded = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (rounded == 0)
        rounded = ALIGNMENT;
    if (arena->limit != 0 && rounded > arena->limit - arena->used)
        return NULL;
    struct arena_block *block = arena->blocks;
    if (block == NULL || rounded > block->size - block->used)
        block = add_block(arena, rounded);
    if (block == NULL)
        return NULL;
    void *p = (char *)block->bytes + block->used;
    block->used += rounded;
    arena->used += rounded;
    return memset(p, 0, rounded);
}

char *
arena_copy(struct arena *arena, struct str view)
{
    char *p = arena_alloc(arena, view.len + 1);
    if (p != NULL && view.len > 0)
        memcpy(p, view.p, view.len);
    return p;
}

char *
arena_strdup(struct arena *arena, const char *text)
{
    return arena_copy(arena, str_of(text));
}

char *
arena_printf(struct arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *p = len < 0 ? NULL : arena_alloc(arena, (size_t)len + 1);
    if (p == NULL)
        return NULL;
    va_start(args, format);
    vsnprintf(p, (size_t)len + 1, format, args);
    va_end(args);
    return p;
}

static void
free_blocks(struct arena_block *block)
{
    while (block != NULL) {
        struct arena_block *next = block->next;
        free(block);
        block = next;
    }
}

void
arena_give_up(struct arena *arena, const void *piece, size_t size)
{
    if (size <= BLOCK_BYTES)
        return;
    for (struct arena_block **link = &arena->blocks; *link != NULL; link = &(*link)->next) {
        struct arena_block *block = *link;
        if ((const void *)block->bytes != piece)
            continue;
        *link = block->next;
        arena->used -= block->used;
        free(block);
        return;
    }
}

void
arena_reset(struct arena *arena)
{
    arena->used = 0;
    if (arena->blocks == NULL)
        return;
    free_blocks(arena->blocks->next);
    arena->blocks->next = NULL;
    arena->blocks->used = 0;
}

void
arena_done(struct arena *arena)
{
    free_blocks(arena->blocks);
    *arena = (struct arena){0};
}
