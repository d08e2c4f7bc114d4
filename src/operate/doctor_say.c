/* SPDX-License-Identifier: MIT
 *
 * doctor_say.c - what was found as a sentence, and the command that sets it right, ready to be pasted.
 *
 * In a template {word} stands for a fact, and {delivery is|deliveries are} for what goes with its amount. In a command it is one word of the shell, but for a list of ids.
 */
#include <inttypes.h>

#include "base/cleanup.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/moment.h"
#include "operate/doctor.h"
#include "store/driver.h"

#define TEXT_BYTES ((size_t)16 * 1024)
#define KB INT64_C(1024)

struct facts_of {
    const struct doctor *doctor;
    const struct trouble *trouble;
    bool quotes; // each value is one word of a shell
};

static void
put(struct buf *out, const struct facts_of *f, const char *text)
{
    if (f->quotes)
        shell_quote(out, text);
    else
        buf_puts(out, text);
}

static void
put_bytes(struct buf *out, int64_t bytes)
{
    if (bytes >= KB * KB * KB)
        buf_printf(out, "%.1f GB", (double)bytes / (double)(KB * KB * KB));
    else if (bytes >= KB * KB)
        buf_printf(out, "%" PRId64 " MB", bytes / (KB * KB));
    else
        buf_printf(out, "%" PRId64 " kB", bytes / KB);
}

static void
put_duration(struct buf *out, int64_t us)
{
    char text[MOMENT_BYTES];
    buf_puts(out, duration_rough(us < 0 ? 0 : us, text));
}

static void
put_subject(struct buf *out, const struct facts_of *f)
{
    put(out, f, f->trouble->subject);
}

static void
put_detail(struct buf *out, const struct facts_of *f)
{
    buf_puts(out, f->trouble->detail);
}

static void
put_because(struct buf *out, const struct facts_of *f)
{
    if (f->trouble->detail[0] != '\0')
        buf_printf(out, ": %s", f->trouble->detail);
}

static void
put_amount(struct buf *out, const struct facts_of *f)
{
    buf_int(out, f->trouble->amount);
}

static void
put_other(struct buf *out, const struct facts_of *f)
{
    buf_int(out, f->trouble->other);
}

static void
put_most(struct buf *out, const struct facts_of *f)
{
    buf_puts(out, f->trouble->amount >= DOCTOR_MOST ? "at least " : "");
    buf_int(out, f->trouble->amount);
}

static void
put_amount_bytes(struct buf *out, const struct facts_of *f)
{
    put_bytes(out, f->trouble->amount);
}

static void
put_other_bytes(struct buf *out, const struct facts_of *f)
{
    put_bytes(out, f->trouble->other);
}

static void
put_for(struct buf *out, const struct facts_of *f)
{
    put_duration(out, f->trouble->amount);
}

static void
put_since(struct buf *out, const struct facts_of *f)
{
    put_duration(out, f->doctor->now_us - f->trouble->other);
}

static void
put_file(struct buf *out, const struct facts_of *f)
{
    put(out, f, or_empty(f->doctor->db->driver->path(f->doctor->db)));
}

static void
put_kill(struct buf *out, const struct facts_of *f)
{
    bool is_postgres = strcmp(f->doctor->db->driver->scheme, "postgres") == 0;
    buf_printf(
        out, is_postgres ? "select pg_terminate_backend(%s)" : "kill %s", f->trouble->subject);
}

static const struct {
    const char *word;
    void (*put)(struct buf *out, const struct facts_of *facts);
} facts_known[] = {
    {"subject", put_subject},
    {"detail", put_detail},
    {"because", put_because},
    {"amount", put_amount},
    {"other", put_other},
    {"most", put_most},
    {"bytes", put_amount_bytes},
    {"other-bytes", put_other_bytes},
    {"for", put_for},
    {"since", put_since},
    {"file", put_file},
    {"kill", put_kill},
};

static void
put_fact(struct buf *out, struct str word, const struct facts_of *facts)
{
    const char *bar = memchr(word.p, '|', word.len);
    if (bar != NULL) {
        struct str one = {word.p, (size_t)(bar - word.p)};
        struct str many = {bar + 1, word.len - one.len - 1};
        buf_str(out, facts->trouble->amount == 1 ? one : many);
        return;
    }
    for (size_t i = 0; i < sizeof facts_known / sizeof facts_known[0]; i++)
        if (str_is(word, facts_known[i].word))
            facts_known[i].put(out, facts);
}

static void
fill(struct buf *out, const char *template, const struct facts_of *facts)
{
    for (const char *p = template; *p != '\0';) {
        const char *end = *p == '{' ? strchr(p, '}') : NULL;
        if (end == NULL) {
            buf_putc(out, *p++);
            continue;
        }
        put_fact(out, (struct str){p + 1, (size_t)(end - p - 1)}, facts);
        p = end + 1;
    }
}

/* --- commands --- */

void
shell_quote(struct buf *out, const char *text)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=@,+%";
    size_t len = strlen(text);
    if (len > 0 && strspn(text, plain) == len) {
        buf_puts(out, text);
        return;
    }
    bool doubled = strpbrk(text, "\"$`\\!") == NULL;
    buf_putc(out, doubled ? '"' : '\'');
    for (const char *p = text; *p != '\0'; p++) {
        if (!doubled && *p == '\'')
            buf_puts(out, "'\\'");
        buf_putc(out, *p);
    }
    buf_putc(out, doubled ? '"' : '\'');
}

void
url_without_password(struct buf *out, const char *url)
{
    const char *start = strstr(url, "://");
    start = start == NULL ? url : start + 3;
    const char *end = start + strcspn(start, "/?");
    const char *at = memrchr(start, '@', (size_t)(end - start));
    const char *colon = at == NULL ? NULL : memchr(start, ':', (size_t)(at - start));
    buf_str(out, (struct str){url, (size_t)((colon == NULL ? end : colon) - url)});
    if (colon != NULL)
        buf_str(out, (struct str){at, (size_t)(end - at)});
    const char *query = end + strcspn(end, "?");
    buf_str(out, (struct str){end, (size_t)(query - end)});
    char before = '?';
    while (*query != '\0') {
        struct str pair = {query + 1, strcspn(query + 1, "&")};
        struct str name = {pair.p, strcspn(pair.p, "=&")};
        if (!str_is(name, "password") && !str_is(name, "sslpassword")) {
            buf_putc(out, before);
            buf_str(out, pair);
            before = '&';
        }
        query = pair.p + pair.len;
    }
}

static void
say_psql(struct buf *out, const char *url)
{
    CLEANUP(buf_done) struct buf shown;
    buf_init(&shown, TEXT_BYTES);
    url_without_password(&shown, url);
    buf_puts(out, "psql ");
    shell_quote(out, buf_text(&shown));
    buf_puts(out, " -c ");
}

/* say_option appends an option of a client with a part of a URL, %41 read as A; nothing without one. */
static void
say_option(struct buf *out, const char *option, struct str part)
{
    CLEANUP(buf_done) struct buf text;
    buf_init(&text, TEXT_BYTES);
    for (size_t i = 0; i < part.len; i++) {
        uint8_t byte = (uint8_t)part.p[i];
        char digits[3] = {0};
        if (byte == '%' && part.len - i > 2) {
            memcpy(digits, part.p + i + 1, 2);
            i += hex_read(digits, &byte, 1) ? 2 : 0;
        }
        buf_putc(&text, (char)byte);
    }
    if (text.len == 0)
        return;
    buf_puts(out, option);
    shell_quote(out, buf_text(&text));
}

static void
say_mariadb(struct buf *out, const char *url)
{
    const char *start = strstr(url, "://");
    buf_puts(out, strncmp(url, "mysql:", 6) == 0 ? "mysql" : "mariadb");
    if (start != NULL) {
        start += 3;
        const char *end = start + strcspn(start, "/?");
        const char *at = memrchr(start, '@', (size_t)(end - start));
        const char *host = at == NULL ? start : at + 1;
        const char *colon = memchr(host, ':', (size_t)(end - host));
        if (at != NULL)
            say_option(out, " -u ", (struct str){start, strcspn(start, ":@")});
        if (at != NULL && memchr(start, ':', (size_t)(at - start)) != NULL)
            buf_puts(out, " -p");
        say_option(out, " -h ", (struct str){host, (size_t)((colon == NULL ? end : colon) - host)});
        if (colon != NULL)
            say_option(out, " -P ", (struct str){colon + 1, (size_t)(end - colon - 1)});
        const char *socket = strstr(end, "socket=");
        if (socket != NULL)
            say_option(out, " -S ", (struct str){socket + 7, strcspn(socket + 7, "&")});
        if (*end == '/')
            say_option(out, " ", (struct str){end + 1, strcspn(end + 1, "?")});
    }
    buf_puts(out, " -e ");
}

static void
say_client(struct buf *out, const struct doctor *doctor)
{
    const char *scheme = doctor->db->driver->scheme;
    if (strcmp(scheme, "postgres") == 0) {
        say_psql(out, doctor->url);
    } else if (strcmp(scheme, "sqlite") == 0) {
        buf_puts(out, "sqlite3 ");
        shell_quote(out, or_empty(doctor->db->driver->path(doctor->db)));
        buf_putc(out, ' ');
    } else {
        say_mariadb(out, doctor->url);
    }
}

/* say_statement is one statement for the client, as one word. */
static void
say_statement(struct buf *out, const char *template, const struct facts_of *facts)
{
    CLEANUP(buf_done) struct buf sql;
    buf_init(&sql, TEXT_BYTES);
    fill(&sql, template, facts);
    shell_quote(out, buf_text(&sql));
}

static void
say_by_owed(struct buf *out, const struct doctor_check *check, const struct facts_of *facts)
{
    const struct facts_of quoted = {facts->doctor, facts->trouble, true};
    buf_puts(out, "owed ");
    fill(out, check->remedy, &quoted);
    // A remedy that names a store of its own is not to have another.
    if (strstr(check->remedy, "--store") == NULL)
        buf_puts(out, facts->doctor->words);
}

static void
say_by_sql(struct buf *out, const struct doctor_check *check, const struct facts_of *facts)
{
    say_client(out, facts->doctor);
    say_statement(out, check->remedy, facts);
    if (check->also == NULL)
        return;
    buf_puts(out, " -c ");
    say_statement(out, check->also, facts);
}

static void
say_by_shell(struct buf *out, const struct doctor_check *check, const struct facts_of *facts)
{
    const struct facts_of quoted = {facts->doctor, facts->trouble, true};
    fill(out, check->remedy, &quoted);
}

static void (*const ways[])(
    struct buf *out, const struct doctor_check *check, const struct facts_of *facts) = {
    [BY_OWED] = say_by_owed,
    [BY_SQL] = say_by_sql,
    [BY_SHELL] = say_by_shell,
};

const char *
doctor_sentence(
    const struct doctor *doctor, const struct doctor_check *check, const struct trouble *trouble)
{
    CLEANUP(buf_done) struct buf out;
    buf_init(&out, TEXT_BYTES);
    const struct facts_of facts = {doctor, trouble, false};
    fill(&out, check->sentence, &facts);
    return out.failed ? NULL : arena_strdup(doctor->arena, buf_text(&out));
}

const char *
doctor_command(
    const struct doctor *doctor, const struct doctor_check *check, const struct trouble *trouble)
{
    CLEANUP(buf_done) struct buf out;
    buf_init(&out, TEXT_BYTES);
    const struct facts_of facts = {doctor, trouble, false};
    ways[check->by](&out, check, &facts);
    return out.failed ? NULL : arena_strdup(doctor->arena, buf_text(&out));
}
