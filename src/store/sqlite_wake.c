/* SPDX-License-Identifier: MIT
 *
 * sqlite_wake.c - noticing that another process wrote: inotify on the write-ahead log.
 *
 * The log comes and goes with the connections to its database: while there is none, its directory is
 * watched for its coming, and only then, since other files there are no news. The event of a write
 * may be read before the commit can be seen: it is a reason to look closely for a while, not the news
 * itself.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "store/sqlite.h"

#define PATH_BYTES 4200

static void
watch_wal(struct sqlite_db *conn)
{
    const char *wal = sqlite3_filename_wal(sqlite3_db_filename(conn->handle, NULL));
    if (wal == NULL || wal[0] == '\0')
        return;
    conn->wal_watch = inotify_add_watch(conn->inotify, wal, IN_MODIFY);
}

static void
watch_directory(struct sqlite_db *conn)
{
    char directory[PATH_BYTES];
    const char *slash = strrchr(conn->path, '/');
    int len = slash == NULL ? 0 : (int)(slash - conn->path);
    int n = snprintf(directory, sizeof directory, "%.*s/", len, conn->path);
    if (n > 0 && (size_t)n < sizeof directory)
        conn->directory_watch =
            inotify_add_watch(conn->inotify, directory, IN_CREATE | IN_MOVED_TO | IN_ONLYDIR);
}

/* watch follows the log, or its directory while there is no log. */
static void
watch(struct sqlite_db *conn)
{
    watch_wal(conn);
    if (conn->wal_watch < 0 && conn->directory_watch < 0) {
        watch_directory(conn);
        watch_wal(conn); // it may have come between the two
    }
    if (conn->wal_watch >= 0 && conn->directory_watch >= 0) {
        inotify_rm_watch(conn->inotify, conn->directory_watch);
        conn->directory_watch = -1;
    }
}

int
sqlite_wake_fd(struct db *db)
{
    struct sqlite_db *conn = sqlite_of(db);
    if (conn->inotify >= 0 || conn->path[0] == '\0')
        return conn->inotify;
    conn->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (conn->inotify < 0)
        return -1;
    conn->wal_watch = conn->directory_watch = -1;
    watch(conn);
    return conn->inotify;
}

/* drain reads all events; true: the log may be another file than the one that is watched. */
static bool
drain(struct sqlite_db *conn)
{
    _Alignas(struct inotify_event) char bytes[4096];
    bool moved = false;
    ssize_t n;
    while ((n = read(conn->inotify, bytes, sizeof bytes)) > 0) {
        for (char *p = bytes; p < bytes + n;) {
            struct inotify_event event;
            memcpy(&event, p, sizeof event);
            moved = moved || event.wd == conn->directory_watch ||
                (event.mask & (IN_IGNORED | IN_Q_OVERFLOW)) != 0;
            p += sizeof event + event.len;
        }
    }
    return moved || conn->wal_watch < 0;
}

static int64_t
data_version(struct sqlite_db *conn)
{
    struct rows *rows;
    if (sqlite_run(&conn->base, STMT_CHANGED, NULL, 0, &rows, NULL) != OWED_OK)
        return -1;
    int64_t version = sqlite_next(rows) ? sqlite_column(rows, 0).integer : -1;
    return sqlite_finish(rows, NULL, NULL) == OWED_OK ? version : -1;
}

bool
sqlite_changed(struct db *db)
{
    struct sqlite_db *conn = sqlite_of(db);
    if (conn->inotify >= 0 && drain(conn))
        watch(conn);
    int64_t version = data_version(conn);
    bool changed = version != conn->data_version;
    conn->data_version = version;
    return changed;
}

void
sqlite_wake_close(struct sqlite_db *conn)
{
    if (conn->inotify >= 0)
        close(conn->inotify);
    conn->inotify = -1;
}
