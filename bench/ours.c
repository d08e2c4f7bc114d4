/* SPDX-License-Identifier: MIT
 *
 * ours.c - owed itself, in the words of the bare loops: each event in a durable transaction of its own,
 * over one or many handles. It declares the receivers of load_module, as an application does, and runs
 * none of them.
 *
 *     ours URL fire ROWS [CONNECTIONS]
 */
#include <owed/owed.h>

#include <stddef.h>

#include "bare.h"
#include "bench_payload.h"
#include "load_module.h"

static owed *handles[BARE_CONNECTIONS];

static void
must(owed_status status, const char *what, const owed_error *err)
{
    if (status != OWED_OK)
        bare_fail(what, err->text);
}

owed_outcome
load_write_row(owed_delivery *delivery, const void *payload)
{
    (void)payload;
    return owed_failed(delivery, "this program only fires");
}

static void
open_handles(const struct bare *bare)
{
    static owed_registry *registry;
    owed_error err;
    must(owed_registry_new("bench", &registry, &err), "owed_registry_new", &err);
    must(owed_module_init(registry, &err), "owed_module_init", &err);
    const owed_settings settings = {.url = bare->url, .registry = registry};
    for (int i = 0; i < bare->connections; i++)
        must(owed_open(&settings, &handles[i], &err), "owed_open", &err);
}

static int64_t
fire_some(const struct bare *bare, int connection, int64_t rows)
{
    (void)bare;
    owed_error err;
    for (int64_t i = 0; i < rows; i++) {
        owed_tx *tx = NULL;
        must(owed_begin(handles[connection], &tx, &err), "owed_begin", &err);
        must(owed_fire_json(
                 tx, "prove.Event", 1, BENCH_PAYLOAD, sizeof BENCH_PAYLOAD - 1, NULL, NULL, &err),
            "owed_fire_json", &err);
        must(owed_commit(tx, &err), "owed_commit", &err);
    }
    return rows;
}

static int64_t
fire(const struct bare *bare)
{
    return bare_share(bare, fire_some);
}

static const struct bare_mode modes[] = {
    {"fire", open_handles, fire, true},
    {NULL, NULL, NULL, false},
};

int
main(int argc, char **argv)
{
    return bare_main(argc, argv, modes);
}
