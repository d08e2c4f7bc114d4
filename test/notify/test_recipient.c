/* SPDX-License-Identifier: MIT
 *
 * test_recipient.c - who can be reached where, and when not.
 */
#include "../unit.h"

#include <owed/recipient.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/moment.h"
#include "notify/recipient.h"

static void
check_refused(const owed_recipient *recipient, const char *sentence)
{
    owed_error err = {0};
    owed_status status = owed_recipient_check(recipient, &err);
    if (status != OWED_INVALID || strstr(err.text, sentence) == NULL)
        fail_msg("%d \"%s\", not \"%s\"", status, err.text, sentence);
}

static void
check_fine(const owed_recipient *recipient)
{
    owed_error err = {0};
    if (owed_recipient_check(recipient, &err) != OWED_OK)
        fail_msg("%s", err.text);
}

/* --- addresses --- */

static void
addresses_of_each_channel_are_told_apart_from_what_is_none(void **state)
{
    (void)state;
    static const char *const phones[] = {
        "+49151000000", "+4915112345678", "+123456789012345", NULL};
    static const char *const no_phones[] = {"", "+", "49151000000", "+049151000000", "+123456",
        "+1234567890123456", "+49 151 000000", "+49151000000\n", NULL};
    static const char *const emails[] = {"ada@example.com", "a@localhost", "a.b+c@x-y.example",
        "\xc3\xa4@b\xc3\xbc"
        "cher.example",
        NULL};
    static const char *const no_emails[] = {"", "ada", "@example.com", "ada@", "ada@-x.com",
        "a b@example.com", "ada@example..com", ".ada@example.com", "a..b@example.com",
        "ada@example.com\r\nBcc: eve@example.com", "ada@exam ple.com", "<ada@example.com>",
        "ada@[127.0.0.1]", "a,b@example.com", "\"a\"@example.com", "ada@example.com.", "\xff@x.com",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa@example.com", NULL};
    static const char *const no_tokens[] = {"", "a b", "a\x7f", "\xc3\xa4", NULL};
    for (size_t i = 0; phones[i] != NULL; i++)
        check_fine(&(owed_recipient){.phone = phones[i]});
    for (size_t i = 0; no_phones[i] != NULL; i++)
        check_refused(&(owed_recipient){.phone = no_phones[i]},
            "cannot be one of channel sms: + and 7 to 15 digits");
    for (size_t i = 0; emails[i] != NULL; i++)
        check_fine(&(owed_recipient){.email = emails[i]});
    for (size_t i = 0; no_emails[i] != NULL; i++)
        check_refused(&(owed_recipient){.email = no_emails[i]},
            "cannot be one of channel email: local@domain");
    for (size_t i = 0; no_tokens[i] != NULL; i++)
        check_refused(
            &(owed_recipient){.device_token = no_tokens[i]}, "cannot be one of channel push");
    check_fine(&(owed_recipient){.device_token = "fcm:APA91b-x_y"});
}

static void
further_channels_have_names_and_addresses_of_their_own(void **state)
{
    (void)state;
    check_fine(&(owed_recipient){.others = (const owed_address[]){
                                     {"slack", "#orders"}, {"telegram.v2", "@ada"}, {NULL, NULL}}});
    check_refused(
        &(owed_recipient){.others = (const owed_address[]){{"Slack", "#x"}, {NULL, NULL}}},
        "\"Slack\" is no channel");
    check_refused(&(owed_recipient){.others = (const owed_address[]){{"", "#x"}, {NULL, NULL}}},
        "\"\" is no channel");
    check_refused(
        &(owed_recipient){.others = (const owed_address[]){{"slack", NULL}, {NULL, NULL}}},
        "channel slack has no address");
    check_refused(&(owed_recipient){.others = (const owed_address[]){{"slack", ""}, {NULL, NULL}}},
        "cannot be one of channel slack");
    check_refused(
        &(owed_recipient){.others = (const owed_address[]){{"email", "a@b.c"}, {NULL, NULL}}},
        "channel email has a field of its own");
    check_refused(&(owed_recipient){.others = (const owed_address[]){{"slack", "#x"},
                                        {"slack", "#y"}, {NULL, NULL}}},
        "channel slack has two addresses");
    owed_address many[34] = {{NULL, NULL}};
    char names[33][8];
    for (size_t i = 0; i < COUNT(names); i++) {
        snprintf(names[i], sizeof names[i], "c%zu", i);
        many[i] = (owed_address){names[i], "x"};
    }
    check_refused(&(owed_recipient){.others = many}, "up to 32 further addresses");
    many[32].channel = NULL;
    check_fine(&(owed_recipient){.others = many});
}

static void
channels_are_listed_in_one_order(void **state)
{
    (void)state;
    const owed_recipient recipient = {.email = "ada@example.com",
        .phone = "+49151000000",
        .others = (const owed_address[]){{"slack", "#x"}, {NULL, NULL}},
        .preferred = (const char *const[]){"slack", "email", NULL}};
    static const char *const wanted[] = {"sms", "email", "slack"};
    for (size_t i = 0; i < COUNT(wanted); i++)
        assert_string_equal(owed_recipient_channel(&recipient, i), wanted[i]);
    assert_null(owed_recipient_channel(&recipient, COUNT(wanted)));
    assert_string_equal(owed_recipient_address(&recipient, "email"), "ada@example.com");
    assert_string_equal(owed_recipient_address(&recipient, "slack"), "#x");
    assert_null(owed_recipient_address(&recipient, "push"));
    assert_null(owed_recipient_address(&recipient, "fax"));
    assert_null(owed_recipient_channel(&(owed_recipient){0}, 0));
}

static void
a_wrong_word_is_refused_when_it_is_declared(void **state)
{
    (void)state;
    owed_error err;
    check_refused(&(owed_recipient){.time_zone = "Europe/Atlantis"},
        "time zone \"Europe/Atlantis\" is not in");
    check_refused(&(owed_recipient){.preferred = (const char *const[]){"sms", "FAX", NULL}},
        "\"FAX\" is no channel");
    assert_int_equal(
        owed_recipient_check(&(owed_recipient){.locale = "german"}, &err), OWED_MALFORMED_LOCALE);
    check_fine(&(owed_recipient){.locale = "pt_br", .time_zone = "Asia/Kolkata"});
}

/* --- quiet hours --- */

static const char *const sms_alone[] = {"sms", NULL};

static void
windows_that_cannot_be_are_refused(void **state)
{
    (void)state;
    static const char *const none[] = {NULL};
    static const struct {
        owed_quiet_hours windows[4];
        const char *sentence;
    } cases[] = {
        {{{"22:00", "22:00", NULL, 0}}, "start and end are the same"},
        {{{"24:00", "07:00", NULL, 0}}, "times of day such as 22:00"},
        {{{"22:60", "07:00", NULL, 0}}, "times of day such as 22:00"},
        {{{"22", "07:00", NULL, 0}}, "times of day such as 22:00"},
        {{{"22:00", NULL, NULL, 0}}, "times of day such as 22:00"},
        {{{"22:00", "7:00", NULL, 0}}, "times of day such as 22:00"},
        {{{"22:00", "07:00", none, 0}}, "are for no channel"},
        {{{"22:00", "07:00", NULL, 128}}, "weekdays 128"},
        {{{"00:00", "12:00", NULL, 0}, {"12:00", "00:00", NULL, 0}},
            "leave a channel that is not named no minute of the week"},
        {{{"00:00", "12:00", NULL, 0}, {"12:00", "00:00", sms_alone, 0}},
            "leave channel sms no minute of the week"},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        check_refused(&(owed_recipient){.quiet_hours = cases[i].windows}, cases[i].sentence);
    owed_quiet_hours many[34] = {{.start = NULL}};
    for (size_t i = 0; i < 33; i++)
        many[i] = (owed_quiet_hours){"22:00", "07:00", NULL, 0};
    check_refused(&(owed_recipient){.quiet_hours = many}, "up to 32 windows");
}

static void
check_until(const owed_recipient *recipient, const char *channel, const char *at, const char *until)
{
    int64_t at_us = 0, until_us = -1, wanted_us = 0;
    assert_true(moment_read(at, &at_us));
    assert_true(until == NULL || moment_read(until, &wanted_us));
    check_fine(recipient);
    assert_int_equal(owed_recipient_quiet(recipient, channel, at_us, &until_us, NULL), OWED_OK);
    check_case(until_us == wanted_us, at);
}

static void
a_window_holds_its_start_and_not_its_end(void **state)
{
    (void)state;
    const owed_quiet_hours windows[] = {{"22:00", "07:00", NULL, 0}, {.start = NULL}};
    const owed_recipient recipient = {.quiet_hours = windows};
    check_until(&recipient, "sms", "2026-11-30T21:59:59.999999Z", NULL);
    check_until(&recipient, "sms", "2026-11-30T22:00:00Z", "2026-12-01T07:00:00Z");
    check_until(&recipient, "sms", "2026-12-01T00:00:00Z", "2026-12-01T07:00:00Z");
    check_until(&recipient, "sms", "2026-12-01T06:59:59.999999Z", "2026-12-01T07:00:00Z");
    check_until(&recipient, "sms", "2026-12-01T07:00:00Z", NULL);
    check_until(&(owed_recipient){.email = "a@b.c"}, "sms", "2026-12-01T00:00:00Z", NULL);
}

static void
a_window_concerns_its_channels_and_weekdays(void **state)
{
    (void)state;
    // 2026-11-27 is a Friday.
    const owed_quiet_hours windows[] = {{"23:00", "09:00", sms_alone, OWED_FRIDAY | OWED_SATURDAY},
        {"09:00", "10:00", NULL, OWED_SATURDAY}, {.start = NULL}};
    const owed_recipient recipient = {.quiet_hours = windows, .time_zone = "Europe/Berlin"};
    check_until(&recipient, "email", "2026-11-27T23:00:00Z", NULL);
    check_until(&recipient, "sms", "2026-11-26T23:00:00Z", NULL);
    check_until(
        &recipient, "sms", "2026-11-27T22:00:00Z", "2026-11-28T09:00:00Z"); // one after the other
    check_until(&recipient, "email", "2026-11-28T08:30:00Z", "2026-11-28T09:00:00Z");
    check_until(&recipient, "sms", "2026-11-29T07:00:00Z", "2026-11-29T08:00:00Z");
    check_until(&recipient, "sms", "2026-11-29T22:30:00Z", NULL);
}

static void
clocks_that_are_changed_move_the_end(void **state)
{
    (void)state;
    const owed_quiet_hours night[] = {{"22:00", "02:30", NULL, 0}, {.start = NULL}};
    const owed_recipient recipient = {.quiet_hours = night, .time_zone = "Europe/Berlin"};
    // 02:00 to 03:00 is left out: the window ends where the gap does.
    check_until(&recipient, "sms", "2026-03-29T00:30:00Z", "2026-03-29T01:00:00Z");
    // 02:00 to 03:00 comes twice, and so does the silence of its first half.
    check_until(&recipient, "sms", "2026-10-24T23:30:00Z", "2026-10-25T00:30:00Z");
    check_until(&recipient, "sms", "2026-10-25T00:45:00Z", NULL);
    check_until(&recipient, "sms", "2026-10-25T01:15:00Z", "2026-10-25T01:30:00Z");
}

static void
an_address_that_is_a_secret_is_shown_to_its_host_alone(void **state)
{
    (void)state;
    static const struct {
        const char *address;
        const char *shown;
    } cases[] = {
        {"ada@example.com", "ada@example.com"},
        {"+49151000000", "+49151000000"},
        {"#orders\t\xff", "#orders ?"},
        {"https://chat.example/services/T0/hush", "https://chat.example/..."},
        {"https://chat.example?hush", "https://chat.example/..."},
        {"https://me:hush@chat.example/", "https:///..."},
        {"{\"endpoint\": \"https://push.example:8443/hush\", \"keys\": {\"auth\": \"hush\"}}",
            "https://push.example:8443/..."},
        {"{\"endpoint\": \"https:\\/\\/push.example\\/hush\"}", "{...}"},
    };
    char shown[ADDRESS_SHOWN_BYTES];
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_string_equal(address_show(cases[i].address, shown), cases[i].shown);
    char host[300] = "https://";
    memset(host + 8, 'a', sizeof host - 9);
    assert_int_equal(strlen(address_show(host, shown)), ADDRESS_SHOWN_BYTES - 1);
    memset(host, 'a', sizeof host - 1);
    assert_int_equal(strlen(address_show(host, shown)), ADDRESS_SHOWN_BYTES - 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_of_each_channel_are_told_apart_from_what_is_none),
        cmocka_unit_test(further_channels_have_names_and_addresses_of_their_own),
        cmocka_unit_test(channels_are_listed_in_one_order),
        cmocka_unit_test(a_wrong_word_is_refused_when_it_is_declared),
        cmocka_unit_test(windows_that_cannot_be_are_refused),
        cmocka_unit_test(a_window_holds_its_start_and_not_its_end),
        cmocka_unit_test(a_window_concerns_its_channels_and_weekdays),
        cmocka_unit_test(clocks_that_are_changed_move_the_end),
        cmocka_unit_test(an_address_that_is_a_secret_is_shown_to_its_host_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
