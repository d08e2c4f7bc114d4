/* SPDX-License-Identifier: MIT
 *
 * kept.c - an outbox that a store keeps, put together and taken apart.
 */
#include "kept.h"

#include <stdio.h>
#include <stdlib.h>

#define BULK 1000

void
kept_must(owed_status status, const owed_error *err)
{
    if (status == OWED_OK)
        return;
    fprintf(stderr, "%s\n", err->text);
    exit(1);
}

void
kept_open(struct kept *kept, const char *url, kept_send send, owed_clock clock)
{
    static const owed_variable variables[] = {{"n", OWED_KIND_INT64}, {NULL, OWED_KIND_END}};
    static const owed_template_source source = {
        .name = "number", .variables = variables, .text = "{n}"};
    const owed_channel sms = {.name = "sms", .send = send};
    const owed_notifier_options options = {.threads = 1};
    owed_error err;
    *kept = (struct kept){0};
    kept_must(owed_init(url, &err), &err);
    kept_must(owed_template_new(&source, &kept->tmpl, &err), &err);
    kept_must(owed_templates_new(&kept->templates, &err), &err);
    kept_must(owed_templates_add(kept->templates, kept->tmpl, &err), &err);
    kept_must(
        owed_dispatcher_new(&(owed_dispatcher_options){.clock = clock}, &kept->dispatcher, &err),
        &err);
    kept_must(owed_dispatcher_add(kept->dispatcher, &sms, &err), &err);
    kept_must(owed_notifier_new(kept->templates, kept->dispatcher, &options, &kept->notifier, &err),
        &err);
    kept_must(owed_registry_new("shop", &kept->registry, &err), &err);
    kept_must(owed_notify_declare(kept->registry, kept->notifier, &err), &err);
    const owed_settings settings = {.url = url, .registry = kept->registry, .clock = clock};
    kept_must(owed_open(&settings, &kept->handle, &err), &err);
    kept_must(owed_outbox_open(kept->handle, kept->notifier, NULL, &kept->outbox, &err), &err);
}

void
kept_close(struct kept *kept)
{
    owed_outbox_free(kept->outbox);
    owed_close(kept->handle);
    owed_registry_free(kept->registry);
    owed_notifier_free(kept->notifier);
    owed_dispatcher_free(kept->dispatcher);
    owed_templates_free(kept->templates);
}

void
kept_enqueue(const struct kept *kept, int64_t tickets)
{
    static const owed_recipient ada = {.phone = "+49151000000"};
    owed_error err;
    owed_tx *tx = NULL;
    for (int64_t i = 0; i < tickets; i++) {
        if (i % BULK == 0)
            kept_must(owed_begin(kept->handle, &tx, &err), &err);
        const owed_value context[] = {OWED_VALUE_INT64("n", i), OWED_VALUES_END};
        const owed_send_options options = {.tx = tx};
        kept_must(
            owed_outbox_enqueue(kept->outbox, &ada, kept->tmpl, context, &options, NULL, &err),
            &err);
        if (i % BULK == BULK - 1 || i == tickets - 1)
            kept_must(owed_commit(tx, &err), &err);
    }
}
