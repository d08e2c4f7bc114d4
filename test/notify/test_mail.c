/* SPDX-License-Identifier: MIT
 *
 * test_mail.c - the head of a mail, and what a mail server's answers mean.
 */
#include "../unit.h"

#include <owed/channels.h>

#include <string.h>

#include "base/cleanup.h"
#include "base/utf8.h"
#include "notify/channels/mail.h"
#include "notify/channels/smtp.h"

static const char *
words(struct buf *out, const char *text, size_t already)
{
    buf_clear(out);
    mail_words(out, text, already);
    assert_false(out->failed);
    return buf_text(out);
}

static void
short_ascii_stays_as_it_is(void **state)
{
    (void)state;
    CLEANUP(buf_done) struct buf out;
    buf_init(&out, 65536);
    assert_string_equal(words(&out, "Order 7 is on its way", 9), "Order 7 is on its way");
    // What looks like an encoded word would be read as one.
    assert_string_equal(words(&out, "=?UTF-8?B?YQ==?=", 9), "=?UTF-8?B?PT9VVEYtOD9CP1lRPT0/PQ==?=");
}

static void
other_letters_become_encoded_words(void **state)
{
    (void)state;
    CLEANUP(buf_done) struct buf out;
    buf_init(&out, 65536);
    assert_string_equal(words(&out,
                            "Gr\xc3\xbc\xc3\x9f"
                            "e",
                            9),
        "=?UTF-8?B?R3LDvMOfZQ==?=");
}

static void
no_line_is_over_76_characters_and_no_character_is_torn(void **state)
{
    (void)state;
    CLEANUP(buf_done) struct buf out;
    CLEANUP(buf_done) struct buf text;
    buf_init(&out, 65536);
    buf_init(&text, 65536);
    for (int i = 0; i < 300; i++)
        buf_puts(&text, i % 3 == 0 ? "\xf0\x9f\x93\xa6" : i % 3 == 1 ? "\xe6\xb3\xa8" : "a");
    const char *line = words(&out, buf_text(&text), 9);
    size_t already = 9;
    for (; *line != '\0'; already = 0) {
        size_t len = strcspn(line, "\r");
        assert_true(already + len <= 76);
        const char *word = line + strspn(line, " ");
        assert_int_equal(strncmp(word, "=?UTF-8?B?", 10), 0);
        assert_int_equal(strncmp(line + len - 2, "?=", 2), 0);
        line += line[len] == '\0' ? len : len + 2;
    }
}

static void
a_mailbox_has_a_name_or_none(void **state)
{
    (void)state;
    struct mailbox mailbox;
    owed_error err;
    CLEANUP(buf_done) struct buf out;
    buf_init(&out, 65536);
    assert_int_equal(mailbox_read("Shop, Berlin <orders@shop.example>", &mailbox, &err), OWED_OK);
    assert_string_equal(mailbox.name, "Shop, Berlin");
    assert_string_equal(mailbox.address, "orders@shop.example");
    mail_mailbox(&out, &mailbox, 6);
    assert_string_equal(buf_text(&out), "\"Shop, Berlin\"\r\n <orders@shop.example>");
    mailbox_done(&mailbox);
    assert_int_equal(mailbox_read("orders@b\xc3\xbc"
                                  "cher.example",
                         &mailbox, &err),
        OWED_OK);
    buf_clear(&out);
    mail_mailbox(&out, &mailbox, 6);
    assert_string_equal(buf_text(&out), "orders@xn--bcher-kva.example");
    mailbox_done(&mailbox);
    static const char *const wrong[] = {"", "shop", "Shop <orders@shop.example", "Shop <>",
        "a@b.example\r\nBcc: c@d.example", "Shop\nBcc: x <a@b.example>", "Shop <a@b.example> x"};
    for (size_t i = 0; i < COUNT(wrong); i++)
        check_case(mailbox_read(wrong[i], &mailbox, &err) == OWED_INVALID, wrong[i]);
}

static void
every_line_ends_in_crlf(void **state)
{
    (void)state;
    CLEANUP(buf_done) struct buf out;
    buf_init(&out, 65536);
    mail_lines(&out, "a\nb\r\nc\rd\n\ne");
    assert_string_equal(buf_text(&out), "a\r\nb\r\nc\r\nd\r\n\r\ne");
}

static void
a_date_is_in_utc(void **state)
{
    (void)state;
    CLEANUP(buf_done) struct buf out;
    buf_init(&out, 65536);
    mail_date(&out, INT64_C(951782400000000));
    assert_string_equal(buf_text(&out), "Tue, 29 Feb 2000 00:00:00 +0000");
}

static void
a_refusal_means_what_its_code_says(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        owed_answer_verdict verdict;
        bool waits;
    } cases[] = {
        {"421 4.3.2 shutting down", OWED_ANSWER_WAIT, true},
        {"450 4.2.0 greylisted", OWED_ANSWER_WAIT, true},
        {"451 try later", OWED_ANSWER_WAIT, true},
        {"452 4.2.2 full", OWED_ANSWER_WAIT, true},
        {"454 4.7.0 TLS not available", OWED_ANSWER_FAILED, false},
        {"432 4.7.12 password transition", OWED_ANSWER_FAILED, false},
        {"535 5.7.8 bad credentials", OWED_ANSWER_FAILED, false},
        {"530 5.7.0 must issue STARTTLS", OWED_ANSWER_FAILED, false},
        {"550 5.1.1 no such user", OWED_ANSWER_GONE, false},
        {"550 5.1.10 no mail here", OWED_ANSWER_GONE, false},
        {"550 5.1.15 something else", OWED_ANSWER_REFUSED, false},
        {"550 5.7.1 spam", OWED_ANSWER_REFUSED, false},
        {"550 no", OWED_ANSWER_REFUSED, false},
        {"552 5.2.2 mailbox full", OWED_ANSWER_REFUSED, false},
        {"554", OWED_ANSWER_REFUSED, false},
        {"", OWED_ANSWER_FAILED, false},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        owed_answer answer = {0};
        smtp_judge(cases[i].line, &answer);
        check_case(answer.verdict == cases[i].verdict, cases[i].line);
        check_case((answer.wait_us > 0) == cases[i].waits, cases[i].line);
    }
    owed_answer answer = {0};
    smtp_judge("550 bad\r\n\x1b[31mred", &answer);
    assert_string_equal(answer.reason, "the mail server said: 550 bad   [31mred");
}

/* --- settings --- */

static void
settings_that_cannot_be_are_refused_with_their_key(void **state)
{
    (void)state;
#define URL \
    { \
        "url", "smtp://127.0.0.1:25", NULL \
    }
#define FROM \
    { \
        "from", "a@b.example", NULL \
    }
    static const struct {
        owed_setting settings[5];
        const char *says;
    } cases[] = {
        {{FROM}, "channel email: url is missing"},
        {{URL}, "channel email: from is missing"},
        {{URL, {"from", "nobody", NULL}}, "channel email: from: \"nobody\" is no mailbox"},
        {{URL, FROM, {"reply-to", "x", NULL}}, "reply-to: \"x\" is no mailbox"},
        {{FROM, {"url", "http://x", NULL}}, "url is smtp://host:port"},
        {{FROM, {"url", "smtp://me:pw@x", NULL}}, "not \"...\""},
        {{URL, FROM, {"tls", "maybe", NULL}}, "tls is required, offered or none, not \"maybe\""},
        {{URL, FROM, {"user", "u", NULL}}, "user needs a password-file"},
        {{URL, FROM, {"user", "u", NULL}, {"password-file", "/nowhere", NULL}},
            "/nowhere cannot be read: No such file"},
        {{URL, FROM, {"timeout", "soon", "owed.conf:7"}}, "owed.conf:7: timeout"},
        {{URL, FROM, {"urll", "x", "owed.conf:8"}}, "owed.conf:8"},
        {{URL, {"type", "smtpp", NULL}},
            "channel email: no type is called smtpp; the nearest is smtp"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        owed_channel channel;
        owed_error err = {0};
        check_case(owed_channel_new("email", cases[i].settings, &channel, &err) == OWED_CONFIG,
            cases[i].says);
        if (strstr(err.text, cases[i].says) == NULL)
            fail_msg("\"%s\", not \"%s\"", err.text, cases[i].says);
    }
    owed_channel channel;
    owed_error err;
    assert_int_equal(owed_channel_new("telex", NULL, &channel, &err), OWED_CONFIG);
    static const owed_setting fine[] = {URL, FROM, {NULL, NULL, NULL}};
    assert_int_equal(owed_channel_new("email", fine, &channel, &err), OWED_OK);
    owed_channel_done(&channel);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_ascii_stays_as_it_is),
        cmocka_unit_test(other_letters_become_encoded_words),
        cmocka_unit_test(no_line_is_over_76_characters_and_no_character_is_torn),
        cmocka_unit_test(a_mailbox_has_a_name_or_none),
        cmocka_unit_test(every_line_ends_in_crlf),
        cmocka_unit_test(a_date_is_in_utc),
        cmocka_unit_test(a_refusal_means_what_its_code_says),
        cmocka_unit_test(settings_that_cannot_be_are_refused_with_their_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
