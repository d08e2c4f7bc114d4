/* SPDX-License-Identifier: MIT
 *
 * mail.c - the head of a mail, as RFC 5322 and its kin want it written.
 */
#include "notify/channels/mail.h"

#include <idn2.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/utf8.h"
#include "declare/check.h"
#include "notify/recipient.h"

#define LINE 76       // characters of a line, without its end (RFC 2047, 2)
#define WORD_BYTES 45 // of text in one encoded word: 60 of base64, and 12 around them

/* --- mailboxes --- */

static struct str
trimmed(struct str text)
{
    while (text.len > 0 && strchr(" \t\"", text.p[0]) != NULL) {
        text.p++;
        text.len--;
    }
    while (text.len > 0 && strchr(" \t\"", text.p[text.len - 1]) != NULL)
        text.len--;
    return text;
}

static owed_status
refuse_mailbox(const char *text, owed_error *err)
{
    char shown[SHOWN_BYTES];
    return fail(err, OWED_INVALID,
        "\"%s\" is no mailbox: Shop <orders@shop.example> would be right", show(text, shown));
}

owed_status
mailbox_read(const char *text, struct mailbox *ret_mailbox, owed_error *err)
{
    const char *open = strchr(text, '<');
    struct str name = {text, open == NULL ? 0 : (size_t)(open - text)};
    struct str address = open == NULL ? str_of(text) : str_of(open + 1);
    if (strpbrk(text, "\r\n") != NULL || !utf8_is_valid(str_of(text)))
        return refuse_mailbox(text, err);
    if (open != NULL) {
        if (address.len == 0 || address.p[address.len - 1] != '>')
            return refuse_mailbox(text, err);
        address.len--;
    }
    name = trimmed(name);
    struct mailbox mailbox = {.name = name.len == 0 ? NULL : strndup(name.p, name.len),
        .address = strndup(address.p, address.len)};
    if (mailbox.address == NULL || (name.len > 0 && mailbox.name == NULL)) {
        mailbox_done(&mailbox);
        return fail_memory(err);
    }
    if (address_check("email", mailbox.address, NULL) != OWED_OK) {
        mailbox_done(&mailbox);
        return refuse_mailbox(text, err);
    }
    *ret_mailbox = mailbox;
    return OWED_OK;
}

void
mailbox_done(struct mailbox *mailbox)
{
    free(mailbox->name);
    free(mailbox->address);
    *mailbox = (struct mailbox){0};
}

static bool
is_plain(const char *text)
{
    for (; *text != '\0'; text++)
        if (*text < ' ' || *text > '~')
            return false;
    return true;
}

void
mail_ascii(struct buf *out, const char *address)
{
    const char *at = strrchr(address, '@');
    uint8_t *host = NULL;
    if (at == NULL || is_plain(at) ||
        idn2_lookup_u8((const uint8_t *)at + 1, &host, IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL) !=
            IDN2_OK)
        buf_puts(out, address);
    else
        buf_printf(out, "%.*s@%s", (int)(at - address), address, (const char *)host);
    idn2_free(host);
}

/* --- words --- */

/* word_of is how many bytes, in whole characters, go into the next encoded word. */
static size_t
word_of(const char *text, size_t room)
{
    const char *end = text + strlen(text);
    const char *p = text;
    size_t step;
    while (p < end && (step = utf8_length(p, end)) > 0 && (size_t)(p - text) + step <= room)
        p += step;
    return (size_t)(p - text);
}

static void
encode(struct buf *out, const char *text, size_t already)
{
    // The first word has to share its line with the field's name.
    size_t room = already >= LINE - 20 ? 1 : (LINE - 12 - already) / 4 * 3;
    while (*text != '\0') {
        size_t len = word_of(text, room < WORD_BYTES ? room : WORD_BYTES);
        if (len == 0 && room >= WORD_BYTES)
            return; // no UTF-8, which was refused before
        if (len > 0) {
            buf_puts(out, "=?UTF-8?B?");
            base64_write(out, (const uint8_t *)text, len);
            buf_puts(out, "?=");
        }
        text += len;
        buf_puts(out, *text == '\0' ? "" : "\r\n ");
        room = WORD_BYTES;
    }
}

void
mail_words(struct buf *out, const char *text, size_t already)
{
    bool is_short = already + strlen(text) <= LINE;
    if (is_plain(text) && is_short && strstr(text, "=?") == NULL)
        buf_puts(out, text);
    else
        encode(out, text, already);
}

void
mail_mailbox(struct buf *out, const struct mailbox *mailbox, size_t already)
{
    if (mailbox->name == NULL) {
        mail_ascii(out, mailbox->address);
        return;
    }
    bool is_quoted = is_plain(mailbox->name) && strpbrk(mailbox->name, "\\\"") == NULL &&
        strlen(mailbox->name) + already + 2 <= LINE;
    if (is_quoted)
        buf_printf(out, "\"%s\"", mailbox->name);
    else
        encode(out, mailbox->name, already);
    buf_puts(out, "\r\n <");
    mail_ascii(out, mailbox->address);
    buf_puts(out, ">");
}

/* --- the rest --- */

void
mail_date(struct buf *out, int64_t at_us)
{
    static const char days[] = "SunMonTueWedThuFriSat";
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    time_t seconds = (time_t)(at_us / US_PER_SECOND);
    struct tm tm;
    if (gmtime_r(&seconds, &tm) == NULL)
        return;
    buf_printf(out, "%.3s, %d %.3s %d %02d:%02d:%02d +0000", days + (size_t)tm.tm_wday * 3,
        tm.tm_mday, months + (size_t)tm.tm_mon * 3, tm.tm_year + 1900, tm.tm_hour, tm.tm_min,
        tm.tm_sec);
}

void
mail_lines(struct buf *out, const char *text)
{
    while (*text != '\0') {
        size_t len = strcspn(text, "\r\n");
        buf_add(out, text, len);
        text += len;
        if (*text == '\0')
            return;
        text += text[0] == '\r' && text[1] == '\n' ? 2 : 1;
        buf_puts(out, "\r\n");
    }
}

#define QUOTED_WIDTH 75 // and the mark that a line goes on
#define BASE64_LINE 57  // bytes that make 76 characters

static bool
is_line_end(struct str text, size_t at)
{
    return at == text.len || (at + 1 < text.len && text.p[at] == '\r' && text.p[at + 1] == '\n');
}

void
mail_quoted(struct buf *out, struct str lines)
{
    size_t width = 0;
    for (size_t i = 0; i < lines.len; i++) {
        unsigned char c = (unsigned char)lines.p[i];
        if (is_line_end(lines, i)) {
            buf_puts(out, "\r\n");
            width = 0;
            i++;
            continue;
        }
        bool is_blank = (c == ' ' || c == '\t') && !is_line_end(lines, i + 1);
        bool is_plain = is_blank || (c > ' ' && c <= '~' && c != '=');
        size_t wanted = is_plain ? 1 : 3;
        if (width + wanted > QUOTED_WIDTH) {
            buf_puts(out, "=\r\n");
            width = 0;
        }
        width += wanted;
        if (is_plain)
            buf_putc(out, (char)c);
        else
            buf_printf(out, "=%02X", c);
    }
}

void
mail_base64(struct buf *out, struct str bytes)
{
    for (size_t at = 0; at < bytes.len; at += BASE64_LINE) {
        size_t left = bytes.len - at;
        base64_write(out, (const uint8_t *)bytes.p + at, left < BASE64_LINE ? left : BASE64_LINE);
        buf_puts(out, "\r\n");
    }
}
