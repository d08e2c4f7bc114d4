/* SPDX-License-Identifier: MIT
 *
 * wake_socket.c - the datagram socket of a worker, where producers of its host find it.
 */
#include "deliver/wake_socket.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

#define BIND_TRIES 3

static bool
is_abandoned(const struct sockaddr_un *address)
{
    CLEANUP(close_fd) int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    return fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof *address) != 0 &&
        errno == ECONNREFUSED;
}

static bool
is_ours(const char *name, const char *prefix)
{
    const char *end = strrchr(name, '.');
    return strncmp(name, prefix, strlen(prefix)) == 0 && end != NULL &&
        (strcmp(end, ".sock") == 0 || strcmp(end, ".new") == 0);
}

static void
closedir_ptr(DIR **dir)
{
    if (*dir != NULL)
        closedir(*dir);
}

/* Where the sockets of a store's relays are: all begin with start, and who may write the store's file may
 * send to them. */
struct place {
    char start[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
    const char *store_path; // NULL: the store is no file
};

/* runtime_folder is where services of this host meet when there is no file to meet at. */
static const char *
runtime_folder(void)
{
    static const char *const variables[] = {"RUNTIME_DIRECTORY", "XDG_RUNTIME_DIR"};
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        const char *folder = getenv(variables[i]);
        if (!is_empty(folder) && access(folder, W_OK | X_OK) == 0)
            return folder;
    }
    return "/tmp";
}

/* find_place answers false where the name would be too long for a socket. */
static bool
find_place(struct db *db, struct place *ret_place)
{
    const char *path = db->driver->path == NULL ? NULL : db->driver->path(db);
    ret_place->store_path = is_empty(path) ? NULL : path;
    size_t size = sizeof ret_place->start;
    int len = is_empty(path) ? snprintf(ret_place->start, size, "%s/owed-", runtime_folder())
                             : snprintf(ret_place->start, size, "%s-owed-", path);
    return len > 0 && (size_t)len < size;
}

/* remove_abandoned unlinks the sockets there whose owners are gone. */
static void
remove_abandoned(const struct place *place)
{
    const char *slash = strrchr(place->start, '/');
    int dir_len = slash == NULL ? 0 : (int)(slash - place->start) + 1;
    const char *prefix = place->start + dir_len;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%.*s.", dir_len, place->start);
    CLEANUP(closedir_ptr) DIR *dir = opendir(address.sun_path);
    if (dir == NULL)
        return;
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        struct stat file;
        if (!is_ours(entry->d_name, prefix) ||
            fstatat(dirfd(dir), entry->d_name, &file, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISSOCK(file.st_mode))
            continue;
        int len = snprintf(address.sun_path, sizeof address.sun_path, "%.*s%s", dir_len,
            place->start, entry->d_name);
        if ((size_t)len < sizeof address.sun_path && is_abandoned(&address))
            unlink(address.sun_path);
    }
}

/* share lets those send to a socket who may write the store's file. Where there is none, whoever can reach
 * the folder: all that they can say is that it is time for a look. */
static void
share(const char *socket_path, const char *store_path)
{
    struct stat store = {.st_mode = 0666};
    if (store_path != NULL && stat(store_path, &store) != 0)
        return;
    // Who is neither the owner nor root cannot, and need not.
    if (store_path != NULL && chown(socket_path, store.st_uid, store.st_gid) != 0)
        errno = 0;
    if (chmod(socket_path, store.st_mode & 0666) != 0)
        errno = 0;
}

static bool
name_socket(const struct place *place, const char *tag, const char *ending, struct sockaddr_un *to)
{
    int len = snprintf(
        to->sun_path, sizeof to->sun_path, "%s%d-%.8s.%s", place->start, getpid(), tag, ending);
    return len > 0 && (size_t)len < sizeof to->sun_path;
}

/* bind_there binds fd to "<start><pid>-<tag>.sock", under another name until it is ready. */
static bool
bind_there(int fd, const struct place *place, const char *tag, struct sockaddr_un *ret_address)
{
    struct sockaddr_un fresh = {.sun_family = AF_UNIX};
    struct sockaddr_un final = {.sun_family = AF_UNIX};
    if (!name_socket(place, tag, "sock", &final) || !name_socket(place, tag, "new", &fresh))
        return false;
    if (bind(fd, (const struct sockaddr *)&fresh, sizeof fresh) != 0)
        return false;
    share(fresh.sun_path, place->store_path);
    if (rename(fresh.sun_path, final.sun_path) != 0) {
        unlink(fresh.sun_path);
        return false;
    }
    *ret_address = final;
    return true;
}

int
wake_socket_open(struct db *db, const char *instance, struct sockaddr_un *ret_address)
{
    struct place place;
    if (db == NULL || !find_place(db, &place))
        return -1;
    const char *dot = strrchr(instance, '.');
    const char *tag = dot == NULL ? instance : dot + 1;
    remove_abandoned(&place);
    // Another worker that cleans up may take a socket for abandoned in the instant of its birth.
    for (int i = 0; i < BIND_TRIES; i++) {
        int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd >= 0 && bind_there(fd, &place, tag, ret_address))
            return fd;
        close_fd(&fd);
    }
    return -1;
}
