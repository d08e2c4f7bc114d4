/* SPDX-License-Identifier: MIT
 *
 * module.c - a shared object that declares receivers in C.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>

#include "base/error.h"
#include "cli/common.h"

/* A bare file name is one in the present folder, never one of the linker's folders. */
static const char *
module_path(const char *path, char text[static PATH_MAX])
{
    if (strchr(path, '/') != NULL)
        return path;
    snprintf(text, PATH_MAX, "./%s", path);
    return text;
}

static owed_status
find_init(const char *path, owed_module_init_function *ret_init, owed_error *err)
{
    char text[PATH_MAX];
    void *module = dlopen(module_path(path, text), RTLD_NOW | RTLD_LOCAL);
    if (module == NULL)
        return fail(err, OWED_CONFIG, "module %s cannot be loaded: %s", path, dlerror());
    void *symbol = dlsym(module, OWED_MODULE_INIT);
    if (symbol == NULL) {
        dlclose(module);
        return fail(err, OWED_CONFIG, "module %s has no function " OWED_MODULE_INIT, path);
    }
    // It stays loaded: the registry points into it until the process ends.
    memcpy(ret_init, &symbol, sizeof symbol);
    return OWED_OK;
}

owed_status
module_load(const char *path, owed_registry *registry, owed_error *err)
{
    owed_module_init_function init = NULL;
    owed_status status = find_init(path, &init, err);
    if (status != OWED_OK)
        return status;
    owed_error said = {0};
    status = init(registry, &said);
    if (status == OWED_OK)
        return OWED_OK;
    const char *text = is_empty(said.text) ? owed_status_text(status) : said.text;
    return fail(err, status, "module %s: %s", path, text);
}
