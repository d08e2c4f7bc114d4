/* SPDX-License-Identifier: MIT
 *
 * tasks.c - a receiver at a task site, and a queue that is a file of lines in the working folder.
 *
 * Built as a module for owed relay, which hands on; and with WORKER as the program that runs what is
 * handed on: tasks_worker STORE MESSAGES delivers each line of a file, and again each, as queues may.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <owed/owed.h>
#include <owed/task.h>

#include "effect.h"

static const owed_event_type job_type = {.name = "shop.Job", .version = 1};

/* work has an effect in the transaction that acknowledges. */
static owed_outcome
work(owed_delivery *delivery, const void *payload)
{
    (void)payload;
    char sql[100];
    snprintf(sql, sizeof sql, "insert into effect (delivery) values (%" PRId64 ")",
        owed_delivery_id(delivery));
    if (!effect_of(delivery, sql))
        return owed_failed(delivery, "no effect");
    return owed_done();
}

/* enqueue appends a line in one write, which the kernel keeps whatever becomes of this process. */
static owed_status
enqueue(void *state, int64_t delivery_id, const char *claimed_by, int64_t claimed_at_us,
    owed_error *err)
{
    (void)state;
    FILE *file = access("no-queue", F_OK) == 0 ? NULL : fopen("messages", "ae");
    if (file == NULL) {
        snprintf(err->text, sizeof err->text, "the queue is away");
        return OWED_UNAVAILABLE;
    }
    fprintf(file, "%" PRId64 " %" PRId64 " %s\n", delivery_id, claimed_at_us, claimed_by);
    return fclose(file) == 0 ? OWED_OK : OWED_UNAVAILABLE;
}

static const owed_receiver receivers[] = {
    {.key = "shop.far", .event = &job_type, .run = work, .site = OWED_SITE_TASK},
    {.key = "shop.near", .event = &job_type, .run = work},
};

OWED_API owed_status owed_module_init(owed_registry *registry, owed_error *err);

OWED_API owed_status
owed_module_init(owed_registry *registry, owed_error *err)
{
    const owed_task_backend backend = {.enqueue = enqueue};
    for (size_t i = 0; i < sizeof receivers / sizeof receivers[0]; i++) {
        owed_receiver receiver = receivers[i];
        // What dies with its row keeps nobody waiting for long.
        if (getenv("TASKS_ARE_SHORT") != NULL)
            receiver.lease_us = OWED_SECONDS(1);
        if (owed_declare_receiver(registry, &receiver, err) != OWED_OK)
            return err->status;
    }
#ifdef WITHOUT_BACKEND
    (void)backend;
    return OWED_OK;
#else
    return owed_registry_set_task_backend(registry, &backend, err);
#endif
}

#ifdef WORKER
static void
say(void *state, owed_log_level level, const char *line)
{
    (void)state;
    if (level >= OWED_LOG_WARNING)
        fprintf(stderr, "%s\n", line);
}

/* deliver answers how many of two deliveries of a message ran something; below 0: the store failed. */
static int
deliver(owed *handle, const char *line)
{
    int64_t id = 0;
    int64_t at_us = 0;
    char by[256] = "";
    int ran = 0;
    if (sscanf(line, "%" SCNd64 " %" SCNd64 " %255s", &id, &at_us, by) != 3)
        return 0;
    for (int i = 0; i < 2; i++) {
        owed_error err = {0};
        const char *status = NULL;
        if (owed_take_and_deliver(handle, id, by, at_us, &status, &err) != OWED_OK) {
            fprintf(stderr, "%s\n", err.text);
            return -1;
        }
        ran += status != NULL;
    }
    return ran;
}

int
main(int argc, char **argv)
{
    owed_error err = {0};
    owed_registry *registry = NULL;
    owed *handle = NULL;
    owed_settings settings = {.url = argv[1], .log = say, .no_publish = true};
    FILE *file = argc == 3 ? fopen(argv[2], "re") : NULL;
    if (file == NULL || owed_registry_new("shop", &registry, &err) != OWED_OK ||
        owed_module_init(registry, &err) != OWED_OK)
        return 1;
    settings.registry = registry;
    if (owed_open(&settings, &handle, &err) != OWED_OK) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    char line[512];
    int ran = 0;
    int last = 0;
    while (last >= 0 && fgets(line, sizeof line, file) != NULL) {
        last = deliver(handle, line);
        ran += last > 0 ? last : 0;
    }
    printf("%d\n", ran);
    owed_close(handle);
    owed_registry_free(registry);
    fclose(file);
    return last < 0;
}
#endif
