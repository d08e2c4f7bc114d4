/* SPDX-License-Identifier: MIT
 *
 * attachment.c - what may go with a mail besides its text.
 */
#include "notify/attachment.h"

#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "declare/check.h"
#include "notify/recipient.h"

#define LIMIT_ATTACHMENTS 16
#define LIMIT_ATTACHED_BYTES ((size_t)16 * 1024 * 1024)
#define LIMIT_NAME_BYTES 255
#define LIMIT_TYPE_BYTES 127 // of each half, RFC 6838
#define LIMIT_URL_BYTES 2048

static bool
is_file_name(const char *name)
{
    return name[0] != '\0' && strlen(name) <= LIMIT_NAME_BYTES && strpbrk(name, "/\\") == NULL &&
        strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && !text_has_control(name) &&
        utf8_is_valid(str_of(name));
}

/* type_half is how long the half of a media type is that stands there; 0: none (RFC 6838, 4.2). */
static size_t
type_half(const char *text)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$&-^_.+";
    size_t len = strspn(text, letters);
    return len <= LIMIT_TYPE_BYTES ? len : 0;
}

static bool
is_media_type(const char *text)
{
    size_t first = text == NULL ? 0 : type_half(text);
    if (first == 0 || text[first] != '/')
        return false;
    size_t second = type_half(text + first + 1);
    return second > 0 && text[first + 1 + second] == '\0';
}

static owed_status
check_one(const owed_attachment *attachment, owed_error *err)
{
    char shown[SHOWN_BYTES];
    if (!is_file_name(attachment->name))
        return fail(err, OWED_INVALID,
            "\"%s\" is no name of an attachment: up to %d bytes of UTF-8 without a path would be right",
            show(attachment->name, shown), LIMIT_NAME_BYTES);
    if (!is_media_type(attachment->media_type))
        return fail(err, OWED_INVALID,
            "attachment \"%.100s\" has no media type such as application/pdf", attachment->name);
    if (attachment->bytes == NULL && attachment->size > 0)
        return fail(err, OWED_INVALID, "attachment \"%.100s\" has no bytes", attachment->name);
    return OWED_OK;
}

owed_status
attachments_check(const owed_attachment *attachments, owed_error *err)
{
    size_t total = 0;
    for (size_t i = 0; attachments != NULL && attachments[i].name != NULL; i++) {
        if (i == LIMIT_ATTACHMENTS)
            return fail(err, OWED_LIMIT, "a message has up to %d attachments", LIMIT_ATTACHMENTS);
        owed_status status = check_one(&attachments[i], err);
        if (status != OWED_OK)
            return status;
        if (attachments[i].size > LIMIT_ATTACHED_BYTES - total)
            return fail(err, OWED_LIMIT, "the attachments are over 16 MiB in all");
        total += attachments[i].size;
    }
    return OWED_OK;
}

owed_status
unsubscribe_check(const char *url, owed_error *err)
{
    if (url == NULL)
        return OWED_OK;
    bool is_known = strncmp(url, "https://", 8) == 0 || strncmp(url, "mailto:", 7) == 0;
    if (!is_known || strlen(url) > LIMIT_URL_BYTES || strpbrk(url, " <>\"") != NULL)
        return fail(err, OWED_INVALID, "unsubscribe is no https or mailto URL of up to %d bytes",
            LIMIT_URL_BYTES);
    for (const char *p = url; *p != '\0'; p++)
        if (*p < 0x21 || *p > 0x7e)
            return fail(err, OWED_INVALID,
                "unsubscribe is a URL, which has ASCII alone, and no blanks: percent-encoded the others would be right");
    return OWED_OK;
}
