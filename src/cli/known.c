/* SPDX-License-Identifier: MIT
 *
 * known.c - a sorted list, and the few unknown names that were warned of already.
 */
#include "cli/known.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "declare/registry.h"

#define WARNINGS_MAX 20

static int
by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

owed_status
known_load(struct cli *cli, struct known *ret_known)
{
    struct catalogue_event *events = NULL;
    size_t count = 0;
    owed_status status = store_catalogue_events(cli->db, &cli->arena, &events, &count, &cli->err);
    if (status != OWED_OK)
        return status;
    // Room for those that are warned of: each is known from then on.
    size_t room = count + cli->registry->type_count + WARNINGS_MAX + 1;
    struct known known = {.names = arena_alloc(&cli->arena, room * sizeof *known.names)};
    if (known.names == NULL)
        return fail_memory(&cli->err);
    for (size_t i = 0; i < count; i++) {
        if (events[i].removed_at_us == 0)
            known.names[known.count++] = events[i].name;
    }
    for (const struct declared_type *type = cli->registry->types; type != NULL; type = type->next)
        known.names[known.count++] = type->type->name;
    qsort(known.names, known.count, sizeof *known.names, by_name);
    *ret_known = known;
    return OWED_OK;
}

static void
warn(const struct known *known, const char *name)
{
    const char *near = nearest(name, known->names);
    if (near != NULL)
        cli_warn("nobody declared the event %s; the nearest known name is %s", name, near);
    else
        cli_warn("nobody declared the event %s: it is recorded, and owed to nobody but receivers "
                 "of any event",
            name);
}

void
known_warn(struct cli *cli, struct known *known, const char *name)
{
    if (strcmp(known->last, name) == 0 || known->warned >= WARNINGS_MAX)
        return;
    snprintf(known->last, sizeof known->last, "%s", name);
    if (bsearch(&name, known->names, known->count, sizeof *known->names, by_name) != NULL)
        return;
    warn(known, name);
    const char *copy = arena_strdup(&cli->arena, name);
    known->warned++;
    if (copy == NULL)
        return;
    known->names[known->count++] = copy;
    qsort(known->names, known->count, sizeof *known->names, by_name);
}
