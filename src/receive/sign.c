/* SPDX-License-Identifier: MIT
 *
 * sign.c - secrets, kept as long as their file is the same, and what they sign.
 */
#include "receive/sign.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/text.h"

/* take_word cuts the first word off the text. */
static struct str
take_word(struct str *text)
{
    *text = str_trim(*text);
    size_t len = 0;
    while (len < text->len && !is_space(text->p[len]))
        len++;
    struct str word = {text->p, len};
    text->p += len;
    text->len -= len;
    return word;
}

static owed_status
parse(struct secrets *secrets, struct str text, owed_error *err)
{
    struct secrets read = {0};
    for (struct str word = take_word(&text); word.len > 0; word = take_word(&text)) {
        if (read.count == SIGN_SECRETS_MAX)
            return fail(
                err, OWED_CONFIG, "more than %d secrets; the newest come first", SIGN_SECRETS_MAX);
        owed_status status = secret_read(word, &read.list[read.count], err);
        if (status != OWED_OK)
            return status;
        read.count++;
    }
    if (read.count == 0)
        return fail(err, OWED_CONFIG, "no secret; \"whsec_\" and base64 is right");
    memcpy(secrets->list, read.list, sizeof read.list);
    secrets->count = read.count;
    secrets->loaded = true;
    explicit_bzero(&read, sizeof read);
    return OWED_OK;
}

/* is_current: the file is the one that was read. One that had changed less than two seconds before
 * it was read may have changed again within one tick of its timestamps. */
static bool
is_current(const struct secrets *secrets, const struct stat *file)
{
    return secrets->loaded && secrets->size == file->st_size && secrets->inode == file->st_ino &&
        secrets->changed_at.tv_sec == file->st_mtim.tv_sec &&
        secrets->changed_at.tv_nsec == file->st_mtim.tv_nsec &&
        secrets->loaded_at.tv_sec - file->st_mtim.tv_sec >= 2;
}

static owed_status
read_file(struct secrets *secrets, const char *path, owed_error *err)
{
    CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct stat file;
    if (fd < 0 || fstat(fd, &file) != 0)
        return fail_native(
            err, OWED_NOT_FOUND, errno, "secret-file %s: %s", path, strerrordesc_np(errno));

    char text[LIMIT_SECRET_BYTES + 1];
    ssize_t len = read(fd, text, sizeof text);
    if (len < 0)
        return fail_native(
            err, OWED_NOT_FOUND, errno, "secret-file %s: %s", path, strerrordesc_np(errno));
    if ((size_t)len > LIMIT_SECRET_BYTES)
        return fail(err, OWED_CONFIG,
            "secret-file %s: over %d bytes; \"whsec_\" and base64 is right", path,
            LIMIT_SECRET_BYTES);

    owed_error wrong = {0};
    owed_status status = parse(secrets, (struct str){text, (size_t)len}, &wrong);
    explicit_bzero(text, sizeof text);
    if (status != OWED_OK)
        return fail(err, status, "secret-file %s: %s", path, wrong.text);
    secrets->changed_at = file.st_mtim;
    secrets->size = file.st_size;
    secrets->inode = file.st_ino;
    clock_gettime(CLOCK_REALTIME, &secrets->loaded_at);
    return OWED_OK;
}

owed_status
secrets_load(struct secrets *secrets, const owed_receiver *declared, owed_error *err)
{
    if (!is_empty(declared->secret))
        return secrets->loaded ? OWED_OK : parse(secrets, str_of(declared->secret), err);
    if (is_empty(declared->secret_file))
        return OWED_OK;

    struct stat file;
    if (stat(declared->secret_file, &file) == 0 && is_current(secrets, &file))
        return OWED_OK;
    return read_file(secrets, declared->secret_file, err);
}

bool
sign(const struct secrets *secrets, const char *id, int64_t timestamp, struct str body,
    char ret_signature[static SIGN_BYTES])
{
    char head[128];
    int len = snprintf(head, sizeof head, "%s.%" PRId64 ".", id, timestamp);
    if (len < 0 || (size_t)len >= sizeof head)
        return false;
    const struct str pieces[] = {{head, (size_t)len}, body};

    CLEANUP(buf_done) struct buf text;
    buf_init(&text, SIGN_BYTES - 1);
    for (size_t i = 0; i < secrets->count; i++) {
        const struct secret *secret = &secrets->list[i];
        uint8_t mac[SHA256_BYTES];
        if (!hmac_sha256((struct str){(const char *)secret->bytes, secret->len}, pieces, 2, mac))
            return false;
        buf_puts(&text, i == 0 ? "v1," : " v1,");
        base64_write(&text, mac, sizeof mac);
    }
    if (text.failed)
        return false;
    memcpy(ret_signature, buf_text(&text), text.len + 1);
    return true;
}
