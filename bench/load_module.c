/* SPDX-License-Identifier: MIT
 *
 * load_module.c - the receivers whose rate is measured, as a module for `owed relay`.
 */
#include "load_module.h"

static const owed_event_type event = {.name = "prove.Event"}; // the one that bench/ours fires
static const owed_event_type gone = {
    .name = "bench.Gone", .delete_when = OWED_DELETE_WHEN_SUCCEEDED};
static const owed_event_type row = {.name = "bench.Row"};

static owed_outcome
do_nothing(owed_delivery *delivery, const void *payload)
{
    (void)delivery;
    (void)payload;
    return owed_done();
}

owed_status
owed_module_init(owed_registry *registry, owed_error *err)
{
    const owed_receiver receivers[] = {
        {.key = "bench.noop", .event = &event, .run = do_nothing},
        {.key = "bench.gone", .event = &gone, .run = do_nothing},
        {.key = "bench.row", .event = &row, .run = load_write_row, .database_only = true},
    };
    owed_status status = OWED_OK;
    for (size_t i = 0; status == OWED_OK && i < sizeof receivers / sizeof receivers[0]; i++)
        status = owed_declare_receiver(registry, &receivers[i], err);
    return status;
}
