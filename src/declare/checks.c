/* SPDX-License-Identifier: MIT
 *
 * checks.c - a look at the host through the eyes of each receiver.
 */
#include "declare/checks.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/options.h"
#include "base/plain_file.h"
#include "base/secret_file.h"
#include "declare/broker_url.h"
#include "declare/check.h"
#include "declare/secret.h"

struct checks {
    const owed_registry *registry;
    checks_print print;
    void *state;
    size_t count;
    const struct receiver *receiver; // the one in hand
};

static void find(struct checks *checks, enum finding finding, const char *format, ...)
    OWED_PRINTF(3, 4);

const char *
finding_name(enum finding finding)
{
    static const char *const names[FINDING_COUNT] = {
        [FINDING_WARNING] = "warning", [FINDING_ERROR] = "error"};
    return names[finding];
}

/* find tells one finding, after the receiver's place and key. */
static void
find(struct checks *checks, enum finding finding, const char *format, ...)
{
    char text[1024];
    char sentence[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const struct receiver *receiver = checks->receiver;
    bool in_file = receiver->where[0] != '\0';
    snprintf(sentence, sizeof sentence, "%s%sreceiver \"%s\": %s", receiver->where,
        in_file ? ": " : "", receiver->declared.key, text);
    checks->print(checks->state, finding, sentence);
    checks->count++;
}

static const struct declared_type *
find_declared(const owed_registry *registry, const char *name)
{
    for (const struct declared_type *t = registry->types; t != NULL; t = t->next)
        if (strcmp(t->type->name, name) == 0)
            return t;
    return NULL;
}

/* nearest_event returns the event with a type whose name is closest, or NULL. */
static const char *
nearest_event(const owed_registry *registry, const char *name)
{
    CLEANUP(free_ptr) const char **names = calloc(registry->type_count + 1, sizeof *names);
    size_t count = 0;
    for (const struct declared_type *t = registry->types; t != NULL && names != NULL; t = t->next)
        if (!t->by_name)
            names[count++] = t->type->name;
    return names == NULL ? NULL : nearest(name, names);
}

/* A name in owed.conf declares its event: there only what may be a slip is a finding. */
static void
check_event(struct checks *checks)
{
    const struct receiver *receiver = checks->receiver;
    if (receiver->any_event)
        return;
    const char *name = receiver->type->name;
    const struct declared_type *declared = find_declared(checks->registry, name);
    if (declared == NULL || !declared->by_name)
        return;
    const char *near = nearest_event(checks->registry, name);
    if (near != NULL)
        find(checks, FINDING_WARNING,
            "nobody here declares the event \"%s\"; the nearest that somebody does is \"%s\"", name,
            near);
    else if (receiver->where[0] == '\0')
        find(checks, FINDING_WARNING,
            "nobody here declares the event \"%s\"; that is right where another program fires it",
            name);
}

/* Without a backend what is for a task site is handed to nobody, and never run by the relay instead. */
static void
check_site(struct checks *checks)
{
    if (checks->receiver->declared.site == OWED_SITE_TASK &&
        checks->registry->task_backend.enqueue == NULL)
        find(checks, FINDING_ERROR,
            "site is task, and nothing here sets a task backend; task-queue under [relay] is right, a module "
            "that does, or site relay");
}

/* A hook is entered outside any transaction, so that each attempt needs one of its own. */
static void
check_around(struct checks *checks)
{
    if (checks->receiver->declared.database_only && checks->registry->around.enter != NULL)
        find(checks, FINDING_WARNING,
            "database_only gains nothing: with a hook around each attempt no two share a transaction; "
            "leave one of the two out");
}

static void
check_program(struct checks *checks, const char *key, const char *path)
{
    struct stat file;
    if (stat(path, &file) != 0)
        find(checks, FINDING_ERROR, "%s %s: %s", key, path, strerrordesc_np(errno));
    else if (!S_ISREG(file.st_mode))
        find(checks, FINDING_ERROR, "%s %s is no file; the path of a program is right", key, path);
    else if (access(path, X_OK) != 0)
        find(checks, FINDING_ERROR,
            "%s %s may not be run by this user; a file with the right to execute is right", key,
            path);
}

static void
check_exec(struct checks *checks)
{
    if (checks->receiver->declared.exec != NULL)
        check_program(checks, "exec", checks->receiver->declared.exec);
}

/* Of a command the first word is the program. */
static void
check_pipe(struct checks *checks)
{
    const char *command = checks->receiver->declared.pipe;
    CLEANUP(free_ptr) char *path = command == NULL ? NULL : strdup(command);
    if (path == NULL)
        return;
    path[strcspn(path, " \t")] = '\0';
    check_program(checks, "pipe", path);
}

/* check_publish asks whether the broker's library and the password are there; it calls nobody. */
static void
check_publish(struct checks *checks)
{
    const owed_receiver *declared = &checks->receiver->declared;
    if (declared->publish == NULL)
        return;
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, 0);
    struct broker_url url;
    owed_error why;
    if (broker_url_read(declared->publish, BROKER_HAS_FEEDS, &arena, &url, &why) != OWED_OK)
        return; // it was refused
    void *library = dlopen(url.scheme->soname, RTLD_LAZY | RTLD_LOCAL);
    if (library == NULL)
        find(checks, FINDING_ERROR, "publish %s needs %s, which cannot be loaded; install it",
            declared->publish, url.scheme->soname);
    else
        dlclose(library);
    char *password = NULL;
    if (declared->password_file != NULL &&
        secret_file_read(declared->password_file, &password, &why) != OWED_OK)
        find(checks, FINDING_ERROR, "password-file %s", why.text);
    secret_free(password);
    if (plain_file_check("ca-file", declared->ca_file, &why) != OWED_OK ||
        plain_file_check("credentials-file", declared->credentials_file, &why) != OWED_OK)
        find(checks, FINDING_ERROR, "%s", why.text);
}

/* check_file asks whether the file, or one in its folder, can be written. */
static void
check_file(struct checks *checks)
{
    const char *path = checks->receiver->declared.file;
    if (path == NULL || access(path, W_OK) == 0)
        return;
    if (errno != ENOENT) {
        find(checks, FINDING_ERROR, "file %s: %s", path, strerrordesc_np(errno));
        return;
    }
    CLEANUP(free_ptr) char *folder = strdup(path);
    char *slash = folder == NULL ? NULL : strrchr(folder, '/');
    if (slash != NULL)
        slash[slash == folder ? 1 : 0] = '\0';
    const char *where = slash == NULL ? "." : folder;
    if (access(where, W_OK | X_OK) != 0)
        find(checks, FINDING_ERROR, "file %s cannot be made: %s: %s", path, where,
            strerrordesc_np(errno));
}

/* Blanks part the secrets of a file, the newest first, while an old one is being replaced. */
static owed_status
read_secrets(char *text, owed_error *err)
{
    static const char blanks[] = " \t\r\n";
    owed_status status = OWED_OK;
    char *rest = text + strspn(text, blanks);
    if (*rest == '\0')
        return fail(err, OWED_CONFIG, "the file holds no secret; \"whsec_\" and base64 is right");
    while (*rest != '\0' && status == OWED_OK) {
        struct secret secret;
        size_t len = strcspn(rest, blanks);
        status = secret_read((struct str){rest, len}, &secret, err);
        explicit_bzero(&secret, sizeof secret);
        rest += len + strspn(rest + len, blanks);
    }
    return status;
}

static void
check_secret_file(struct checks *checks)
{
    const char *path = checks->receiver->declared.secret_file;
    char text[LIMIT_SECRET_BYTES + 1] = "";
    owed_error why;
    if (path == NULL)
        return;
    CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof text);
    if (len < 0)
        find(checks, FINDING_ERROR, "secret-file %s: %s", path, strerrordesc_np(errno));
    else if (len > LIMIT_SECRET_BYTES)
        find(checks, FINDING_ERROR, "secret-file %s is longer than %d bytes", path,
            LIMIT_SECRET_BYTES);
    else if (read_secrets(text, &why) != OWED_OK)
        find(checks, FINDING_ERROR, "secret-file %s: %s", path, why.text);
    explicit_bzero(text, sizeof text);
}

size_t
checks_run(const owed_registry *registry, checks_print print, void *state)
{
    static void (*const each[])(struct checks *) = {check_event, check_site, check_around,
        check_exec, check_pipe, check_publish, check_file, check_secret_file};
    struct checks checks = {.registry = registry, .print = print, .state = state};
    for (const struct receiver *r = registry->receivers; r != NULL; r = r->next) {
        checks.receiver = r;
        for (size_t i = 0; i < sizeof each / sizeof each[0]; i++)
            each[i](&checks);
    }
    return checks.count;
}
