/* SPDX-License-Identifier: MIT
 *
 * forgery.c - a module for endpoints whose hosts are looked up in a file: FORGERY_HOSTS holds a line for each, the name
 * and its addresses. It may be another one the second time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <owed/endpoint.h>

static owed_status
add_all(owed_address_list *list, char *addresses, owed_error *err)
{
    char *rest = NULL;
    owed_status status = OWED_OK;
    for (char *a = strtok_r(addresses, " \n", &rest); a != NULL && status == OWED_OK;
         a = strtok_r(NULL, " \n", &rest))
        status = owed_address_add(list, a, err);
    return status;
}

static owed_status
resolve(const char *host, void *state, owed_address_list *list, owed_error *err)
{
    (void)state;
    char line[4096];
    size_t len = strlen(host);
    owed_status status = OWED_OK;
    FILE *file = fopen(getenv("FORGERY_HOSTS"), "re");
    if (file == NULL)
        return OWED_UNAVAILABLE;
    while (status == OWED_OK && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, host, len) == 0 && line[len] == ' ')
            status = add_all(list, line + len + 1, err);
    fclose(file);
    return status;
}

__attribute__((visibility("default"))) owed_status owed_module_init(
    owed_registry *registry, owed_error *err);

owed_status
owed_module_init(owed_registry *registry, owed_error *err)
{
    const owed_endpoint_settings settings = {.allow = getenv("FORGERY_ALLOW"),
        .resolve = resolve,
        .redirects = getenv("FORGERY_REDIRECTS") != NULL};
    const owed_receiver receiver = {.key = OWED_ENDPOINTS_RECEIVER,
        .event_name = "*",
        .max_attempts = getenv("FORGERY_LIVES") != NULL ? 100 : 1,
        .give_up_after_us = OWED_HOURS(24),
        .endpoints = &settings};
    return owed_declare_receiver(registry, &receiver, err);
}
