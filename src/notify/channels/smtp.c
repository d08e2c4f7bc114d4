/* SPDX-License-Identifier: MIT
 *
 * smtp.c - mail, handed to a server (RFC 5321): one recipient a transaction, so that each answer is one's own.
 */
#include "notify/channels/smtp.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/plain_file.h"
#include "base/secret_file.h"
#include "declare/check.h"
#include "notify/channels/handles.h"
#include "notify/channels/kind.h"
#include "notify/channels/letter.h"
#include "notify/recipient.h"

#define KEPT 16          // connections that wait for the next mail
#define KEPT_SECONDS 30L // no longer: servers hang up
#define CONNECT_MS 10000L
#define ADDRESS_BYTES ((size_t)8 * 1024)

struct smtp {
    char *url;
    char *user; // NULL: none
    char *password;
    char *ca_file; // NULL: the system's
    struct sender sender;
    long tls;
    long timeout_ms;
    struct handles handles;
};

static const struct option smtp_keys[] = {
    {.name = "url",
        .type = OPTION_TEXT,
        .argument = "URL",
        .section = CHANNEL_SECTION,
        .help = "the server: smtp://host:587, or smtps://host where TLS comes first"},
    {.name = "tls",
        .type = OPTION_TEXT,
        .argument = "WORD",
        .section = CHANNEL_SECTION,
        .fallback = "required",
        .help = "STARTTLS: required, offered (where the server has it), or none"},
    {.name = "from",
        .type = OPTION_TEXT,
        .argument = "MAILBOX",
        .section = CHANNEL_SECTION,
        .help = "whom mails are from: Shop <orders@shop.example>"},
    {.name = "reply-to",
        .type = OPTION_TEXT,
        .argument = "MAILBOX",
        .section = CHANNEL_SECTION,
        .help = "where answers go"},
    {.name = "user",
        .type = OPTION_TEXT,
        .argument = "NAME",
        .section = CHANNEL_SECTION,
        .help = "who logs in at the server"},
    {.name = "password-file",
        .type = OPTION_TEXT,
        .argument = "PATH",
        .section = CHANNEL_SECTION,
        .help = "holds the password"},
    {.name = "ca-file",
        .type = OPTION_TEXT,
        .argument = "PATH",
        .section = CHANNEL_SECTION,
        .help = "certificates that are trusted in place of the system's"},
    {.name = "timeout",
        .type = OPTION_DURATION,
        .argument = "TIME",
        .section = CHANNEL_SECTION,
        .fallback = "30s",
        .min = US_PER_SECOND,
        .max = 3600 * US_PER_SECOND,
        .help = "past it a mail has failed"},
    {.name = NULL},
};

/* --- the server --- */

/* note_line keeps a refusal: what is said to our good-bye after it is none of its. */
static size_t
note_line(char *bytes, size_t size, size_t count, void *state)
{
    struct letter *letter = state;
    size_t len = size * count;
    bool is_bye = len >= 3 && strncmp(bytes, "221", 3) == 0;
    if (len > 0 && (bytes[0] == '4' || bytes[0] == '5'))
        snprintf(letter->said, sizeof letter->said, "%.*s", (int)len, bytes);
    else if (len > 0 && !is_bye)
        letter->said[0] = '\0';
    return len;
}

static size_t
read_plain(char *bytes, size_t size, size_t count, void *state)
{
    struct letter *letter = state;
    size_t left = letter->plain.len - letter->plain_at;
    size_t len = left < size * count ? left : size * count;
    memcpy(bytes, letter->plain.p + letter->plain_at, len);
    letter->plain_at += len;
    return len;
}

/* seek_plain goes back where a kept connection turns out to be dead. */
static int
seek_plain(void *state, curl_off_t offset, int origin)
{
    struct letter *letter = state;
    if (origin != SEEK_SET || offset < 0 || (size_t)offset > letter->plain.len)
        return CURL_SEEKFUNC_FAIL;
    letter->plain_at = (size_t)offset;
    return CURL_SEEKFUNC_OK;
}

static void
aim(struct letter *letter, const struct smtp *smtp, const owed_message *message)
{
    struct buf line CLEANUP(buf_done);
    buf_init(&line, ADDRESS_BYTES);
    mail_ascii(&line, message->address);
    letter_append(letter, &letter->to, &line);
    buf_clear(&line);
    mail_ascii(&line, smtp->sender.from.address);
    CURLcode failed = CURLE_OK;
#define SET(option_, value_) (failed |= curl_easy_setopt(letter->easy, (option_), (value_)))
    SET(CURLOPT_URL, smtp->url);
    SET(CURLOPT_PROTOCOLS_STR, "smtp,smtps");
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_USE_SSL, smtp->tls);
    SET(CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
    SET(CURLOPT_TIMEOUT_MS, smtp->timeout_ms);
    SET(CURLOPT_MAXAGE_CONN, KEPT_SECONDS);
    SET(CURLOPT_MAIL_FROM, buf_text(&line));
    SET(CURLOPT_MAIL_RCPT, letter->to);
    if (letter->mime != NULL) {
        SET(CURLOPT_HTTPHEADER, letter->head);
        SET(CURLOPT_MIMEPOST, letter->mime);
    } else {
        SET(CURLOPT_UPLOAD, 1L);
        SET(CURLOPT_INFILESIZE_LARGE, (curl_off_t)letter->plain.len);
        SET(CURLOPT_READFUNCTION, read_plain);
        SET(CURLOPT_READDATA, letter);
        SET(CURLOPT_SEEKFUNCTION, seek_plain);
        SET(CURLOPT_SEEKDATA, letter);
    }
    SET(CURLOPT_HEADERFUNCTION, note_line);
    SET(CURLOPT_HEADERDATA, letter);
    if (smtp->ca_file != NULL)
        SET(CURLOPT_CAINFO, smtp->ca_file);
    if (smtp->user != NULL) {
        SET(CURLOPT_USERNAME, smtp->user);
        SET(CURLOPT_PASSWORD, smtp->password);
    }
#undef SET
    letter->failed |= failed != CURLE_OK || line.failed;
}

/* is_about_us: the server said it to us, before it heard of a mail: at its greeting, our name, TLS or our password. */
static bool
is_about_us(CURLcode code)
{
    return code == CURLE_WEIRD_SERVER_REPLY || code == CURLE_REMOTE_ACCESS_DENIED ||
        code == CURLE_USE_SSL_FAILED || code == CURLE_LOGIN_DENIED;
}

/* judge tells a refusal in words of the server's from a connection that came to nothing. */
static void
judge(const struct letter *letter, CURLcode code, const char *message_id, owed_answer *answer)
{
    if (code == CURLE_OK) {
        answer->verdict = OWED_ANSWER_SENT;
        snprintf(answer->reference, sizeof answer->reference, "%s", message_id);
        return;
    }
    if (letter->said[0] != '\0') {
        smtp_judge(letter->said, answer);
        if (answer->verdict != OWED_ANSWER_WAIT && is_about_us(code))
            answer->verdict = OWED_ANSWER_FAILED; // which is not the recipient's fault
        return;
    }
    answer->verdict = OWED_ANSWER_FAILED;
    snprintf(answer->reason, sizeof answer->reason, "the mail server could not be asked: %s",
        curl_easy_strerror(code));
}

static void
smtp_send(const owed_channel *channel, const owed_message *message, owed_answer *answer)
{
    struct smtp *smtp = channel->state;
    owed_error why;
    // A channel by another name takes other addresses, of which no bracket or comma may get into a mail.
    if (address_check("email", message->address, &why) != OWED_OK) {
        answer->verdict = OWED_ANSWER_REFUSED;
        snprintf(answer->reason, sizeof answer->reason, "%s", why.text);
        return;
    }
    struct letter letter = {.easy = handles_take(&smtp->handles)};
    char message_id[OWED_REFERENCE_BYTES];
    const char *domain = strrchr(smtp->sender.from.address, '@');
    struct buf id CLEANUP(buf_done);
    buf_init(&id, sizeof message_id - 1);
    buf_puts(&id, message->id);
    mail_ascii(&id, domain);
    snprintf(message_id, sizeof message_id, "%s", buf_text(&id));
    if (letter.easy == NULL) {
        snprintf(answer->reason, sizeof answer->reason, "out of memory");
        return;
    }
    letter_write(&letter, &smtp->sender, message, message_id);
    aim(&letter, smtp, message);
    if (letter.failed)
        snprintf(answer->reason, sizeof answer->reason, "out of memory");
    else
        judge(&letter, curl_easy_perform(letter.easy), message_id, answer);
    handles_give(&smtp->handles, letter.easy);
    letter_done(&letter);
}

/* --- making one --- */

static void
smtp_close(owed_channel *channel)
{
    struct smtp *smtp = channel->state;
    if (smtp == NULL)
        return;
    secret_free(smtp->password);
    free(smtp->url);
    free(smtp->user);
    free(smtp->ca_file);
    mailbox_done(&smtp->sender.from);
    mailbox_done(&smtp->sender.reply_to);
    handles_done(&smtp->handles);
    free(smtp);
    channel->state = NULL;
}

/* copy_text has a text of the settings outlive them; where there is none it stays NULL. */
static void
copy_text(const struct options *values, const char *key, char **ret_text, bool *failed)
{
    const char *text = options_text(values, key);
    *ret_text = text == NULL ? NULL : strdup(text);
    *failed |= text != NULL && *ret_text == NULL;
}

static owed_status
read_tls(const struct options *values, struct smtp *smtp, owed_error *err)
{
    static const struct {
        const char *word;
        long tls;
    } words[] = {
        {"required", CURLUSESSL_ALL}, {"offered", CURLUSESSL_TRY}, {"none", CURLUSESSL_NONE}};
    char shown[SHOWN_BYTES];
    const char *word = options_text(values, "tls");
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i].word, word) == 0) {
            smtp->tls = words[i].tls;
            return OWED_OK;
        }
    return fail(
        err, OWED_CONFIG, "tls is required, offered or none, not \"%s\"", show(word, shown));
}

static owed_status
read_mailboxes(const struct options *values, struct smtp *smtp, owed_error *err)
{
    const char *from = options_text(values, "from");
    const char *reply_to = options_text(values, "reply-to");
    if (from == NULL)
        return fail(err, OWED_CONFIG, "from is missing: Shop <orders@shop.example> would be right");
    owed_error why;
    owed_status status = mailbox_read(from, &smtp->sender.from, &why);
    if (status != OWED_OK)
        return fail(err, OWED_CONFIG, "from: %s", why.text);
    if (reply_to != NULL && mailbox_read(reply_to, &smtp->sender.reply_to, &why) != OWED_OK)
        return fail(err, OWED_CONFIG, "reply-to: %s", why.text);
    return OWED_OK;
}

static owed_status
read_url(const struct options *values, struct smtp *smtp, owed_error *err)
{
    char shown[SHOWN_BYTES];
    const char *url = smtp->url;
    if (url == NULL)
        return fail(err, OWED_CONFIG, "url is missing: smtp://mail.example:587 would be right");
    bool is_known = strncmp(url, "smtp://", 7) == 0 || strncmp(url, "smtps://", 8) == 0;
    if (!is_known || strchr(url, '@') != NULL)
        return fail(err, OWED_CONFIG,
            "url is smtp://host:port or smtps://host:port, and the user stands apart, not \"%s\"",
            strchr(url, '@') != NULL ? "..." : show(url, shown));
    if (smtp->user != NULL && options_text(values, "password-file") == NULL)
        return fail(err, OWED_CONFIG, "user needs a password-file");
    return OWED_OK;
}

static owed_status
read_settings(const struct options *values, struct smtp *smtp, owed_error *err)
{
    bool failed = false;
    const char *password_file = options_text(values, "password-file");
    copy_text(values, "url", &smtp->url, &failed);
    copy_text(values, "user", &smtp->user, &failed);
    copy_text(values, "ca-file", &smtp->ca_file, &failed);
    smtp->timeout_ms = (long)(options_number(values, "timeout") / 1000);
    if (failed)
        return fail_memory(err);
    owed_status status = read_url(values, smtp, err);
    if (status == OWED_OK)
        status = read_tls(values, smtp, err);
    if (status == OWED_OK)
        status = read_mailboxes(values, smtp, err);
    if (status == OWED_OK)
        status = plain_file_check("ca-file", smtp->ca_file, err);
    if (status == OWED_OK && password_file != NULL)
        status = secret_file_read(password_file, &smtp->password, err);
    return status;
}

static owed_status
smtp_make(const struct options *values, owed_channel *channel, owed_error *err)
{
    struct smtp *smtp = calloc(1, sizeof *smtp);
    if (smtp == NULL)
        return fail_memory(err);
    handles_init(&smtp->handles, KEPT);
    channel->state = smtp;
    channel->send = smtp_send;
    channel->close = smtp_close;
    owed_status status = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK
        ? read_settings(values, smtp, err)
        : fail_memory(err);
    if (status != OWED_OK)
        smtp_close(channel);
    return status;
}

const struct channel_kind channel_kind_smtp = {
    .type = "smtp",
    .name = "email",
    .help = "mail by a server of yours (RFC 5321)",
    .keys = smtp_keys,
    .make = smtp_make,
};
