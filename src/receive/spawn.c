/* SPDX-License-Identifier: MIT
 *
 * spawn.c - posix_spawn, with a group, a memory file or a pipe for its input, and pipes for the rest.
 */
#include "receive/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/pidfd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/moment.h"
#include "base/traceparent.h"

#define ARENA_BYTES ((size_t)8 * 1024 * 1024)

static const char *const ours[] = {"OWED_EVENT_ID=", "OWED_EVENT_NAME=", "OWED_DELIVERY_ID=",
    "OWED_RECEIVER=", "OWED_TARGET=", "OWED_ATTEMPT=", "OWED_IDEMPOTENCY_KEY=",
    "OWED_CORRELATION_ID=", "OWED_DUE_AT=", "OWED_SEAT=", "TRACEPARENT=", "TRACESTATE="};
#define OURS (sizeof ours / sizeof ours[0])

static bool
is_ours(const char *entry)
{
    for (size_t i = 0; i < OURS; i++) {
        if (strncmp(entry, ours[i], strlen(ours[i])) == 0)
            return true;
    }
    return false;
}

/* inherited returns our environment without what is ours to say, and room for all of that; NULL: out of
 * memory. */
static char **
inherited(struct arena *arena, size_t *ret_used)
{
    size_t count = 0;
    while (environ[count] != NULL)
        count++;
    char **list = arena_alloc(arena, (count + OURS + 1) * sizeof *list);
    size_t used = 0;
    for (size_t i = 0; i < count && list != NULL; i++) {
        if (!is_ours(environ[i]))
            list[used++] = environ[i];
    }
    *ret_used = used;
    return list;
}

/* make_environment returns the NULL-ended list, or NULL: out of memory. */
static char **
make_environment(const owed_delivery *delivery, struct arena *arena)
{
    size_t used = 0;
    char **list = inherited(arena, &used);
    if (list == NULL)
        return NULL;
    const struct claimed *row = delivery->row;
    char due_at[MOMENT_BYTES];
    moment_write(row->due_at_us, due_at);
    size_t first = used;
#define ADD(...) (list[used++] = arena_printf(arena, __VA_ARGS__))
    ADD("OWED_EVENT_ID=%" PRId64, row->event_id);
    ADD("OWED_EVENT_NAME=%s", or_empty(row->event_name));
    ADD("OWED_DELIVERY_ID=%" PRId64, row->fence.delivery_id);
    ADD("OWED_RECEIVER=%s", or_empty(row->receiver_key));
    ADD("OWED_TARGET=%s", or_empty(row->target));
    ADD("OWED_ATTEMPT=%" PRId32, delivery->attempt);
    ADD("OWED_IDEMPOTENCY_KEY=%s", delivery->idempotency_key);
    ADD("OWED_CORRELATION_ID=%s", or_empty(row->correlation_id));
    ADD("OWED_DUE_AT=%s", due_at);
    if (traceparent_is_valid(or_empty(row->traceparent)))
        ADD("TRACEPARENT=%s", row->traceparent);
#undef ADD
    for (size_t i = first; i < used; i++) {
        if (list[i] == NULL)
            return NULL;
    }
    return list;
}

static bool
write_all(int fd, struct str bytes)
{
    while (bytes.len > 0) {
        ssize_t n = write(fd, bytes.p, bytes.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        bytes.p += n;
        bytes.len -= (size_t)n;
    }
    return true;
}

/* payload_file returns a descriptor of a file that nobody can change, at its start; -1: errno. */
static int
payload_file(struct str payload)
{
    int fd = memfd_create("owed-payload", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return -1;
    const int seals = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;
    if (write_all(fd, payload) && fcntl(fd, F_ADD_SEALS, seals) == 0 && lseek(fd, 0, SEEK_SET) == 0)
        return fd;
    int native = errno;
    close(fd);
    errno = native;
    return -1;
}

/* lift moves a descriptor above the standard ones, which a caller may have closed: the child's would
 * overwrite each other. */
static void
lift(int *fd)
{
    if (*fd < 0 || *fd > 2)
        return;
    int low = *fd;
    *fd = fcntl(low, F_DUPFD_CLOEXEC, 3);
    close(low);
}

/* The child's side: 0, 1 and 2, and nothing above them. */
static int
add_actions(posix_spawn_file_actions_t *actions, const int fds[3])
{
    int failed = 0;
    for (int i = 0; i < 3; i++)
        failed |= posix_spawn_file_actions_adddup2(actions, fds[i], i);
    failed |= posix_spawn_file_actions_addclosefrom_np(actions, 3);
    return failed;
}

static int
set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    int failed = posix_spawnattr_setpgroup(attributes, 0);
    failed |= posix_spawnattr_setsigmask(attributes, &none);
    failed |= posix_spawnattr_setsigdefault(attributes, &all);
    failed |= posix_spawnattr_setflags(
        attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    return failed;
}

/* run starts it; returns 0 or what is wrong, as errno has it. */
static int
run(char *const *arguments, const int fds[3], char *const *environment, pid_t *ret_pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int failed = posix_spawn_file_actions_init(&actions);
    if (failed != 0)
        return failed;
    failed = posix_spawnattr_init(&attributes);
    if (failed != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return failed;
    }
    if (add_actions(&actions, fds) != 0 || set_attributes(&attributes) != 0)
        failed = ENOMEM;
    else
        failed = posix_spawn(ret_pid, arguments[0], &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

static owed_status
refuse(owed_error *err, int native)
{
    const char *hint = native == ENOEXEC ? "; a script starts with #! and its interpreter" : "";
    return fail_native(
        err, OWED_UNAVAILABLE, native, "cannot be run: %s%s", strerrordesc_np(native), hint);
}

/* start runs a program on a descriptor that it reads, which stays the caller's. */
static owed_status
start(char *const *arguments, char *const *environment, int *input, struct child *ret_child,
    owed_error *err)
{
    int out[2];
    if (pipe2(out, O_CLOEXEC) != 0)
        return refuse(err, errno);
    CLEANUP(close_fd) int out_read = out[0];
    CLEANUP(close_fd) int out_write = out[1];
    int problems[2];
    if (pipe2(problems, O_CLOEXEC) != 0)
        return refuse(err, errno);
    CLEANUP(close_fd) int err_read = problems[0];
    CLEANUP(close_fd) int err_write = problems[1];

    lift(input);
    lift(&out_write);
    lift(&err_write);
    struct child child = {.out = out_read, .err = err_read};
    int failed =
        run(arguments, (const int[]){*input, out_write, err_write}, environment, &child.pid);
    if (failed != 0)
        return refuse(err, failed);
    child.pidfd = pidfd_open(child.pid, 0);
    fcntl(out_read, F_SETFL, O_NONBLOCK);
    fcntl(err_read, F_SETFL, O_NONBLOCK);
    out_read = -1;
    err_read = -1;
    *ret_child = child;
    return OWED_OK;
}

owed_status
spawn(const owed_delivery *delivery, struct child *ret_child, owed_error *err)
{
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, ARENA_BYTES);
    char **environment = make_environment(delivery, &arena);
    char *const arguments[] = {arena_strdup(&arena, delivery->receiver->declared.exec), NULL};
    if (environment == NULL || arguments[0] == NULL)
        return fail_memory(err);
    CLEANUP(close_fd) int input = payload_file(delivery->row->payload);
    if (input < 0)
        return refuse(err, errno);
    return start(arguments, environment, &input, ret_child, err);
}

/* words_of parts a command at its blanks; NULL: out of memory. */
static char **
words_of(const char *command, struct arena *arena)
{
    static const char blanks[] = " \t";
    size_t most = strlen(command) / 2 + 2;
    char **words = arena_alloc(arena, most * sizeof *words);
    char *rest = arena_strdup(arena, command);
    size_t count = 0;
    if (words == NULL || rest == NULL)
        return NULL;
    for (rest += strspn(rest, blanks); *rest != '\0'; rest += strspn(rest, blanks)) {
        words[count++] = rest;
        rest += strcspn(rest, blanks);
        if (*rest != '\0')
            *rest++ = '\0';
    }
    return words;
}

owed_status
spawn_coprocess(const char *command, const char *receiver_key, struct child *ret_child,
    int *ret_input, owed_error *err)
{
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, ARENA_BYTES);
    size_t used = 0;
    char **words = words_of(command, &arena);
    char **environment = inherited(&arena, &used);
    if (words == NULL || environment == NULL)
        return fail_memory(err);
    environment[used] = arena_printf(&arena, "OWED_RECEIVER=%s", receiver_key);
    if (environment[used] == NULL)
        return fail_memory(err);
    int in[2];
    if (pipe2(in, O_CLOEXEC) != 0)
        return refuse(err, errno);
    CLEANUP(close_fd) int in_read = in[0];
    CLEANUP(close_fd) int in_write = in[1];
    owed_status status = start(words, environment, &in_read, ret_child, err);
    if (status != OWED_OK)
        return status;
    fcntl(in_write, F_SETFL, O_NONBLOCK);
    *ret_input = in_write;
    in_write = -1;
    return OWED_OK;
}

void
child_kill(const struct child *child, int signal_number)
{
    kill(-child->pid, signal_number);
    // It may have left its group.
    kill(child->pid, signal_number);
}
