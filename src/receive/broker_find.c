/* SPDX-License-Identifier: MIT
 *
 * broker_find.c - loading a broker's library, and what it is told of where the broker is.
 */
#include "receive/broker_find.h"

#include <dlfcn.h>

#include "base/error.h"
#include "base/secret_file.h"

owed_status
broker_find(
    const struct broker_scheme *scheme, const char *symbol, const void **ret_kind, owed_error *err)
{
    void *library = dlopen(scheme->soname, RTLD_NOW | RTLD_LOCAL);
    *ret_kind = library == NULL ? NULL : dlsym(library, symbol);
    if (*ret_kind != NULL)
        return OWED_OK;
    return fail(err, OWED_CONFIG, "%s cannot be loaded (%s): install it, or build owed with it",
        scheme->soname, or_empty(dlerror()));
}

owed_status
broker_place(const struct broker_url *url, const struct broker_files *files,
    struct broker_place *place, char **ret_password, owed_error *err)
{
    owed_status status =
        files->password == NULL ? OWED_OK : secret_file_read(files->password, ret_password, err);
    if (status != OWED_OK)
        return status;
    place->host = url->host;
    place->port = url->port;
    place->user = url->user;
    place->password = or_empty(*ret_password);
    place->path = url->path;
    place->ca_file = files->ca;
    place->credentials_file = files->credentials;
    place->is_secure = url->scheme->is_secure;
    return OWED_OK;
}

struct broker_message *
broker_silent(struct broker_message *messages)
{
    struct broker_message *first = NULL;
    struct broker_message **end = &first;
    for (struct broker_message *m = messages; m != NULL; m = m->next) {
        if (m->answer != BROKER_SILENT)
            continue;
        *end = m;
        end = &m->next;
    }
    *end = NULL;
    return first;
}
