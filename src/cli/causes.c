/* SPDX-License-Identifier: MIT
 *
 * causes.c - a tree out of rows that name their parents, without recursion.
 */
#include "cli/causes.h"

#include <inttypes.h>
#include <stdio.h>

/* Links are indexes into the nodes, which are in the order of the ids. */
#define NONE SIZE_MAX

struct node {
    const struct event_row *event;
    size_t parent;
    size_t first;
    size_t last;
    size_t next;
    bool is_drawn;
};

struct tree {
    struct node *nodes;
    size_t count;
    struct cause_line *lines;
    size_t drawn;
};

static size_t
find(const struct tree *tree, int64_t id)
{
    size_t low = 0;
    size_t high = tree->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (tree->nodes[middle].event->id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < tree->count && tree->nodes[low].event->id == id ? low : NONE;
}

static void
link_up(struct tree *tree, size_t i)
{
    struct node *node = &tree->nodes[i];
    node->parent = node->event->causation_id > 0 ? find(tree, node->event->causation_id) : NONE;
    if (node->parent == NONE)
        return;
    struct node *parent = &tree->nodes[node->parent];
    if (parent->last == NONE)
        parent->first = i;
    else
        tree->nodes[parent->last].next = i;
    parent->last = i;
}

/* cut takes a node from its cause. */
static void
cut(struct tree *tree, size_t i)
{
    struct node *node = &tree->nodes[i];
    struct node *parent = &tree->nodes[node->parent];
    if (parent->first == i) {
        parent->first = node->next;
    } else {
        size_t before = parent->first;
        while (tree->nodes[before].next != i)
            before = tree->nodes[before].next;
        tree->nodes[before].next = node->next;
    }
    node->parent = NONE;
    node->next = NONE;
}

/* lowest_of_circle finds the lowest id of the circle that a node hangs from: whoever is not drawn from a
 * root hangs from one. */
static size_t
lowest_of_circle(const struct tree *tree, size_t i)
{
    for (size_t step = 0; step < tree->count; step++)
        i = tree->nodes[i].parent;
    size_t lowest = i;
    for (size_t j = tree->nodes[i].parent; j != i; j = tree->nodes[j].parent)
        lowest = j < lowest ? j : lowest;
    return lowest;
}

static void
draw(struct tree *tree, size_t root, bool is_circle)
{
    size_t i = root;
    int32_t depth = 0;
    while (i != NONE) {
        struct node *node = &tree->nodes[i];
        node->is_drawn = true;
        tree->lines[tree->drawn++] = (struct cause_line){.event = node->event,
            .depth = depth,
            .has_next = i != root && node->next != NONE,
            .is_circle = is_circle && i == root};
        if (node->first != NONE) {
            i = node->first;
            depth++;
            continue;
        }
        for (; i != root && tree->nodes[i].next == NONE; depth--)
            i = tree->nodes[i].parent;
        i = i == root ? NONE : tree->nodes[i].next;
    }
}

struct cause_line *
causes_order(const struct event_row *events, size_t count, struct arena *arena)
{
    struct tree tree = {.count = count,
        .nodes = arena_alloc(arena, (count + 1) * sizeof *tree.nodes),
        .lines = arena_alloc(arena, (count + 1) * sizeof *tree.lines)};
    if (tree.nodes == NULL || tree.lines == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++)
        tree.nodes[i] = (struct node){
            .event = &events[count - 1 - i], .first = NONE, .last = NONE, .next = NONE};
    for (size_t i = 0; i < count; i++)
        link_up(&tree, i);
    for (size_t i = 0; i < count; i++)
        if (tree.nodes[i].parent == NONE)
            draw(&tree, i, false);
    for (size_t i = 0; i < count; i++) {
        if (tree.nodes[i].is_drawn)
            continue;
        size_t root = lowest_of_circle(&tree, i);
        cut(&tree, root);
        draw(&tree, root, true);
    }
    return tree.lines;
}

void
causes_prefix(const struct cause_line *line, bool rails[static CAUSES_DEEPEST + 1],
    char prefix[static CAUSES_PREFIX_BYTES])
{
    char *p = prefix;
    *p = '\0';
    int32_t depth = line->depth < CAUSES_DEEPEST ? line->depth : CAUSES_DEEPEST;
    if (depth == 0)
        return;
    for (int32_t i = 1; i < depth; i++)
        p = stpcpy(p, rails[i] ? "|  " : "   ");
    rails[depth] = line->has_next;
    p = stpcpy(p, line->has_next ? "|- " : "`- ");
    if (line->depth > CAUSES_DEEPEST)
        snprintf(p, 32, "(%" PRId32 " deep) ", line->depth);
}
