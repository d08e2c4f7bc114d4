/* SPDX-License-Identifier: MIT
 *
 * file.c - appending whole lines.
 */
#include "receive/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/limits.h"
#include "receive/json_line.h"

#define LINE_BYTES (LIMIT_PAYLOAD_BYTES + (size_t)64 * 1024)
#define FILE_MODE 0640

bool
file_line(const owed_delivery *delivery, struct buf *line)
{
    const struct claimed *row = delivery->row;
    if (json_check(row->payload, LIMIT_PAYLOAD_DEPTH, NULL) != OWED_OK)
        return false;
    buf_puts(line, "{\"delivery\":");
    buf_int(line, row->fence.delivery_id);
    buf_puts(line, ",\"event_id\":");
    buf_int(line, row->event_id);
    json_line_text(line, "event", row->event_name);
    json_line_text(line, "receiver", row->receiver_key);
    buf_puts(line, ",\"attempt\":");
    buf_int(line, delivery->attempt);
    json_line_text(line, "idempotency_key", delivery->idempotency_key);
    buf_puts(line, ",\"payload\":");
    json_line_payload(line, row->payload);
    buf_puts(line, "}\n");
    return true;
}

/* mid_line returns the size of a file that does not end in a line end, or 0. */
static off_t
mid_line(int fd)
{
    char last;
    struct stat file;
    bool is_cut = fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && file.st_size > 0 &&
        pread(fd, &last, 1, file.st_size - 1) == 1 && last != '\n';
    return is_cut ? file.st_size : 0;
}

/*
 * needs_line_end: a full disk or a kill has cut the last line short; it is left as it is, and ours
 * begins below it. A line that is just being written looks the same. But whoever writes holds a lock,
 * a shared one, so that nobody ever waits: with no other lock there, and the file as long as it was
 * before that was asked, nobody will complete the line.
 */
static bool
needs_line_end(int fd)
{
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    fcntl(fd, F_OFD_SETLK, &lock);
    off_t size = mid_line(fd);
    if (size == 0)
        return false;
    lock = (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type == F_UNLCK && mid_line(fd) == size;
}

/* open_file opens for appending; reading too, where that is allowed. */
static int
open_file(const char *path)
{
    int flags = O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    int fd = open(path, flags | O_RDWR, FILE_MODE);
    if (fd < 0 && errno == EACCES)
        fd = open(path, flags | O_WRONLY, FILE_MODE);
    return fd;
}

/* write_line returns how much was written; less than all of it: errno. */
static size_t
write_line(int fd, struct str line)
{
    size_t done = 0;
    while (done < line.len) {
        ssize_t n = write(fd, line.p + done, line.len - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            errno = EIO;
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    return done;
}

owed_outcome
file_append(owed_delivery *delivery)
{
    const char *path = delivery->receiver->declared.file;
    CLEANUP(close_fd) int fd = open_file(path);
    struct stat file;
    if (fd < 0 || fstat(fd, &file) != 0)
        return owed_failed(delivery, "file %s: cannot be opened: %s", path, strerrordesc_np(errno));
    if (S_ISFIFO(file.st_mode) || S_ISSOCK(file.st_mode))
        return owed_failed(delivery, "file %s: is a pipe or socket; a file is right", path);

    CLEANUP(buf_done) struct buf line;
    buf_init(&line, LINE_BYTES);
    if (needs_line_end(fd))
        buf_putc(&line, '\n');
    if (!file_line(delivery, &line))
        return owed_permanent(delivery, "file %s: the payload is not JSON", path);
    if (line.failed)
        return owed_failed(delivery, "file %s: out of memory", path);
    size_t done = write_line(fd, buf_view(&line));
    if (done == line.len)
        return owed_done();
    return owed_failed(delivery, "file %s: %zu of %zu bytes written: %s", path, done, line.len,
        strerrordesc_np(errno));
}
