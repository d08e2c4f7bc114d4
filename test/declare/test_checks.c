/* SPDX-License-Identifier: MIT
 *
 * test_checks.c - what is well declared and cannot work on this host.
 */
#include "common.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "declare/checks.h"
#include "folder.h"

#define SECRET "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz"

static owed_registry *registry;
static struct buf said;
static owed_error err;

static int
setup(void **state)
{
    (void)state;
    buf_init(&said, 65536);
    return owed_registry_new("shop", &registry, &err);
}

static int
teardown(void **state)
{
    (void)state;
    buf_done(&said);
    owed_registry_free(registry);
    return 0;
}

static void
say(void *state, enum finding finding, const char *sentence)
{
    buf_printf(state, "%s: %s\n", finding_name(finding), sentence);
}

static void
declare(owed_receiver receiver)
{
    receiver.key = "shop.x";
    receiver.event = receiver.event_name == NULL ? &owed_any_event : NULL;
    if (registry_declare(registry, &receiver, "owed.conf:3", &err) != OWED_OK)
        fail_msg("%s", err.text);
}

/* finds: this and nothing else. */
static void
finds(const char *sentence)
{
    size_t count = checks_run(registry, say, &said);
    assert_string_equal(buf_text(&said), sentence);
    assert_int_equal(count, sentence[0] == '\0' ? 0 : 1);
}

#define ERROR "error: owed.conf:3: receiver \"shop.x\": "
#define WARNING "warning: owed.conf:3: receiver \"shop.x\": "

static void
finds_nothing_where_all_is_well(void **state)
{
    (void)state;
    folder_write("secret", SECRET "\n");
    declare((owed_receiver){.webhook = "https://a.example", .secret_file = "secret"});
    static const owed_receiver others[] = {
        {.key = "shop.exec", .event_name = "*", .exec = "/bin/sh"},
        {.key = "shop.file", .event_name = "*", .file = "out.jsonl"},
        {.key = "shop.file2", .event_name = "*", .file = "./out.jsonl"},
        {.key = "shop.null", .event_name = "*", .discard = true},
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_status(OWED_OK, owed_declare_receiver(registry, &others[i], &err));
    finds("");
}

static owed_status
enqueue(void *state, int64_t id, const char *by, int64_t at_us, owed_error *why)
{
    (void)state;
    (void)id;
    (void)by;
    (void)at_us;
    (void)why;
    return OWED_OK;
}

static void
finds_task_sites_without_a_backend(void **state)
{
    (void)state;
    declare((owed_receiver){.discard = true, .site = OWED_SITE_TASK});
    finds(ERROR "site is task, and nothing here sets a task backend; task-queue under [relay] is "
                "right, a module that does, or site relay\n");
    const owed_task_backend backend = {.enqueue = enqueue};
    assert_status(OWED_OK, owed_registry_set_task_backend(registry, &backend, &err));
    buf_clear(&said);
    finds("");
}

static owed_outcome
run(owed_delivery *delivery, const void *payload)
{
    (void)delivery;
    (void)payload;
    return owed_done();
}

static owed_outcome
enter(owed_delivery *delivery, void *state, void **ret_attempt_state)
{
    (void)delivery;
    (void)state;
    (void)ret_attempt_state;
    return owed_done();
}

static void
finds_a_hook_that_keeps_receivers_from_sharing_a_transaction(void **state)
{
    (void)state;
    const owed_around around = {.enter = enter};
    declare((owed_receiver){.run = run, .database_only = true});
    finds("");
    assert_status(OWED_OK, owed_registry_set_around(registry, &around, &err));
    finds(WARNING
        "database_only gains nothing: with a hook around each attempt no two share a transaction; "
        "leave one of the two out\n");
}

static void
a_hook_without_an_enter_is_refused(void **state)
{
    (void)state;
    const owed_around around = {.state = registry};
    assert_status(OWED_INVALID, owed_registry_set_around(registry, &around, &err));
}

static void
finds_programs_that_cannot_run(void **state)
{
    (void)state;
    declare((owed_receiver){.exec = "/no/such/program"});
    finds(ERROR "exec /no/such/program: No such file or directory\n");
}

static void
finds_the_program_of_a_command(void **state)
{
    (void)state;
    declare((owed_receiver){.pipe = "/no/such/program --of shop"});
    finds(ERROR "pipe /no/such/program: No such file or directory\n");
}

static void
finds_programs_that_are_folders(void **state)
{
    (void)state;
    declare((owed_receiver){.exec = "/bin/"});
    finds(ERROR "exec /bin/ is no file; the path of a program is right\n");
}

static void
finds_programs_without_the_right_to_run(void **state)
{
    (void)state;
    declare((owed_receiver){.exec = "/etc/passwd"});
    finds(ERROR "exec /etc/passwd may not be run by this user; a file with the right to execute is "
                "right\n");
}

static void
finds_files_that_cannot_be_made(void **state)
{
    (void)state;
    declare((owed_receiver){.file = "no/such/out.jsonl"});
    finds(ERROR "file no/such/out.jsonl cannot be made: no/such: No such file or directory\n");
}

static void
finds_secrets_that_cannot_be_read(void **state)
{
    (void)state;
    declare((owed_receiver){.webhook = "https://a.example", .secret_file = "none"});
    finds(ERROR "secret-file none: No such file or directory\n");
}

static void
finds_files_that_hold_no_secret(void **state)
{
    (void)state;
    declare((owed_receiver){.webhook = "https://a.example", .secret_file = "bad"});
    static const struct {
        const char *text;
        const char *sentence;
    } cases[] = {
        {"\n", ERROR "secret-file bad: the file holds no secret; \"whsec_\" and base64 is right\n"},
        {SECRET "\nhunter2!\n",
            ERROR "secret-file bad: the secret is not base64 of at most 64 bytes; "
                  "\"whsec_\" and base64 is right\n"},
        {"whsec_MDEy", ERROR "secret-file bad: the secret has 3 bytes; 24 to 64 are right\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        folder_write("bad", cases[i].text);
        buf_clear(&said);
        finds(cases[i].sentence);
    }
    // Two in one file are a secret that is being replaced.
    folder_write("bad", SECRET " " SECRET "\n");
    buf_clear(&said);
    finds("");
}

static void
finds_files_too_long_for_a_secret(void **state)
{
    (void)state;
    struct buf text;
    buf_init(&text, LIMIT_SECRET_BYTES + 1);
    while (text.len <= LIMIT_SECRET_BYTES)
        buf_putc(&text, ' ');
    folder_write("long", buf_text(&text));
    buf_done(&text);
    declare((owed_receiver){.webhook = "https://a.example", .secret_file = "long"});
    finds(ERROR "secret-file long is longer than 4096 bytes\n");
}

static void
warns_of_names_in_c_that_nobody_declares(void **state)
{
    (void)state;
    static const owed_receiver in_c = {
        .key = "shop.x", .event_name = "billing.Paid", .discard = true};
    assert_status(OWED_OK, owed_declare_receiver(registry, &in_c, &err));
    finds("warning: receiver \"shop.x\": nobody here declares the event \"billing.Paid\"; that is "
          "right where another program fires it\n");
}

/* A name in the file declares its event, so it is worth a word only where it may be a slip. */
static void
warns_of_names_in_the_file_that_are_nearly_another(void **state)
{
    (void)state;
    declare((owed_receiver){.event_name = "shop.OrderPlacd", .discard = true});
    finds("");
    static const owed_event_type type = {.name = "shop.OrderPlaced"};
    assert_status(OWED_OK, owed_declare_event(registry, &type, &err));
    finds(WARNING
        "nobody here declares the event \"shop.OrderPlacd\"; the nearest that somebody does "
        "is \"shop.OrderPlaced\"\n");
    static const owed_event_type meant = {.name = "shop.OrderPlacd"};
    assert_status(OWED_OK, owed_declare_event(registry, &meant, &err));
    buf_clear(&said);
    finds("");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(finds_nothing_where_all_is_well),
        TEST(finds_task_sites_without_a_backend),
        TEST(finds_a_hook_that_keeps_receivers_from_sharing_a_transaction),
        TEST(a_hook_without_an_enter_is_refused),
        TEST(finds_programs_that_cannot_run),
        TEST(finds_the_program_of_a_command),
        TEST(finds_programs_that_are_folders),
        TEST(finds_programs_without_the_right_to_run),
        TEST(finds_files_that_cannot_be_made),
        TEST(finds_secrets_that_cannot_be_read),
        TEST(finds_files_that_hold_no_secret),
        TEST(finds_files_too_long_for_a_secret),
        TEST(warns_of_names_in_c_that_nobody_declares),
        TEST(warns_of_names_in_the_file_that_are_nearly_another),
    };
    return cmocka_run_group_tests_name("checks", tests, folder_setup, folder_teardown);
}
