/* SPDX-License-Identifier: MIT
 *
 * letter.c - one mail, put together.
 */
#include "notify/channels/letter.h"

#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"

#define HEAD_BYTES ((size_t)64 * 1024)
#define BODY_BYTES ((size_t)16 * 1024 * 1024)
#define ALTERNATIVE "multipart/alternative"
#define PLAIN "text/plain; charset=utf-8"
#define NAME_AT 45 // where the name of a file stands in its line, about

void
letter_done(struct letter *letter)
{
    curl_mime_free(letter->mime);
    curl_slist_free_all(letter->head);
    curl_slist_free_all(letter->to);
    buf_done(&letter->plain);
}

void
letter_append(struct letter *letter, struct curl_slist **list, const struct buf *line)
{
    struct curl_slist *longer = line->failed ? NULL : curl_slist_append(*list, buf_text(line));
    letter->failed |= longer == NULL;
    if (longer != NULL)
        *list = longer;
}

/* put_line writes one field of the head. */
static void
put_line(struct letter *letter, struct buf *line, const char *name, const char *value)
{
    buf_clear(line);
    buf_printf(line, "%s: %s", name, value);
    letter_append(letter, &letter->head, line);
}

static void
put_from(struct letter *letter, struct buf *line, const char *name, const struct mailbox *mailbox)
{
    buf_clear(line);
    buf_printf(line, "%s: ", name);
    mail_mailbox(line, mailbox, line->len);
    letter_append(letter, &letter->head, line);
}

static void
put_unsubscribe(struct letter *letter, struct buf *line, const char *url)
{
    if (url == NULL)
        return;
    buf_clear(line);
    buf_printf(line, "List-Unsubscribe: <%s>", url);
    letter_append(letter, &letter->head, line);
    if (strncmp(url, "https:", 6) == 0)
        put_line(letter, line, "List-Unsubscribe-Post", "List-Unsubscribe=One-Click");
}

static void
write_head(struct letter *letter, const struct sender *sender, const owed_message *message,
    const char *message_id)
{
    struct buf line CLEANUP(buf_done);
    buf_init(&line, HEAD_BYTES);
    buf_puts(&line, "Date: ");
    mail_date(&line, clock_now_us(&clock_system));
    letter_append(letter, &letter->head, &line);
    put_from(letter, &line, "From", &sender->from);
    buf_clear(&line);
    buf_puts(&line, "To: ");
    mail_ascii(&line, message->address);
    letter_append(letter, &letter->head, &line);
    if (sender->reply_to.address != NULL)
        put_from(letter, &line, "Reply-To", &sender->reply_to);
    buf_clear(&line);
    buf_puts(&line, "Subject: ");
    mail_words(&line, message->subject == NULL ? "" : message->subject, line.len);
    letter_append(letter, &letter->head, &line);
    buf_clear(&line);
    buf_printf(&line, "Message-ID: <%s>", message_id);
    letter_append(letter, &letter->head, &line);
    // Nobody's holiday note is wanted as an answer (RFC 3834).
    put_line(letter, &line, "Auto-Submitted", "auto-generated");
    put_unsubscribe(letter, &line, message->unsubscribe);
}

/* encoding_of keeps a text readable where most of it is ASCII. */
static const char *
encoding_of(struct str text)
{
    size_t others = 0;
    for (size_t i = 0; i < text.len; i++)
        others += (unsigned char)text.p[i] > '~';
    return others > text.len / 4 ? "base64" : "quoted-printable";
}

static void
add_text(struct letter *letter, curl_mime *mime, const char *type, const char *text)
{
    struct buf body CLEANUP(buf_done);
    buf_init(&body, BODY_BYTES);
    mail_lines(&body, text);
    curl_mimepart *part = curl_mime_addpart(mime);
    letter->failed |= body.failed || part == NULL ||
        curl_mime_data(part, buf_text(&body), body.len) != CURLE_OK ||
        curl_mime_type(part, type) != CURLE_OK ||
        curl_mime_encoder(part, encoding_of(buf_view(&body))) != CURLE_OK;
}

/* add_file names the file in UTF-8, which every mail reader of today takes, in an encoded word. */
static void
add_file(struct letter *letter, const owed_attachment *attachment)
{
    struct buf name CLEANUP(buf_done);
    buf_init(&name, HEAD_BYTES);
    mail_words(&name, attachment->name, NAME_AT);
    curl_mimepart *part = curl_mime_addpart(letter->mime);
    letter->failed |= name.failed || part == NULL ||
        curl_mime_data(part, attachment->bytes == NULL ? "" : attachment->bytes,
            attachment->size) != CURLE_OK ||
        curl_mime_type(part, attachment->media_type) != CURLE_OK ||
        curl_mime_filename(part, buf_text(&name)) != CURLE_OK ||
        curl_mime_encoder(part, "base64") != CURLE_OK;
}

/* add_both offers a text and the same in HTML, the better one last (RFC 2046, 5.1.4). */
static void
add_both(struct letter *letter, curl_mime *mime, const owed_message *message)
{
    add_text(letter, mime, PLAIN, message->text);
    add_text(letter, mime, "text/html; charset=utf-8", message->html);
}

static void
add_both_beside_files(struct letter *letter, const owed_message *message)
{
    curl_mime *both = curl_mime_init(letter->easy);
    curl_mimepart *part = curl_mime_addpart(letter->mime);
    if (both == NULL || part == NULL || curl_mime_subparts(part, both) != CURLE_OK) {
        curl_mime_free(both);
        letter->failed = true;
        return;
    }
    letter->failed |= curl_mime_type(part, ALTERNATIVE) != CURLE_OK;
    add_both(letter, both, message);
}

static void
add_texts(struct letter *letter, const owed_message *message, bool has_files)
{
    struct buf line CLEANUP(buf_done);
    buf_init(&line, HEAD_BYTES);
    if (message->html == NULL) {
        add_text(letter, letter->mime, PLAIN, message->text);
    } else if (has_files) {
        add_both_beside_files(letter, message);
    } else {
        put_line(letter, &line, "Content-Type", ALTERNATIVE); // of the whole mail
        add_both(letter, letter->mime, message);
    }
}

/* write_plain writes what libcurl would make a part of a multipart. */
static void
write_plain(struct letter *letter, const char *text)
{
    struct buf lines CLEANUP(buf_done);
    struct buf *plain = &letter->plain;
    buf_init(&lines, BODY_BYTES);
    buf_init(plain, 4 * BODY_BYTES);
    mail_lines(&lines, text);
    const char *encoding = encoding_of(buf_view(&lines));
    for (const struct curl_slist *line = letter->head; line != NULL; line = line->next)
        buf_printf(plain, "%s\r\n", line->data);
    buf_printf(plain,
        "MIME-Version: 1.0\r\nContent-Type: " PLAIN "\r\nContent-Transfer-Encoding: %s\r\n\r\n",
        encoding);
    if (strcmp(encoding, "base64") == 0)
        mail_base64(plain, buf_view(&lines));
    else
        mail_quoted(plain, buf_view(&lines));
    letter->failed |= lines.failed || plain->failed;
}

static void
write_body(struct letter *letter, const owed_message *message)
{
    const owed_attachment *file = message->attachments;
    bool has_files = file != NULL && file->name != NULL;
    if (message->html == NULL && !has_files) {
        write_plain(letter, message->text);
        return;
    }
    letter->mime = curl_mime_init(letter->easy);
    if (letter->mime == NULL) {
        letter->failed = true;
        return;
    }
    add_texts(letter, message, has_files);
    for (; file != NULL && file->name != NULL; file++)
        add_file(letter, file);
}

void
letter_write(struct letter *letter, const struct sender *sender, const owed_message *message,
    const char *message_id)
{
    write_head(letter, sender, message, message_id);
    write_body(letter, message);
}
