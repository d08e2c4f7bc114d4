/* SPDX-License-Identifier: MIT
 *
 * test_mariadb_tls.c - what a URL asks of TLS holds: a server without it, of another authority or of
 * another name is not spoken to.
 */
#include "world.h"

#include <mysql.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char folder[64];

/* tell runs a program and answers the first line that it prints; false: it failed. */
static bool __attribute__((format(printf, 2, 3)))
tell(char line[static 256], const char *format, ...)
{
    char command[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    FILE *out = popen(command, "re");
    assert_non_null(out);
    if (fgets(line, 256, out) == NULL)
        line[0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    return pclose(out) == 0;
}

static bool
has_openssl(void)
{
    char line[256];
    return tell(line, "openssl version 2>/dev/null");
}

/* Two authorities, and a certificate for 127.0.0.1 that the first one signed. */
static bool
make_certificates(void)
{
    char line[256];
    return tell(line,
        "cd %s && exec 2>/dev/null && for ca in ca other; do openssl req -x509 -newkey rsa:2048 -nodes "
        "-keyout $ca.key -out $ca.pem -days 3 -subj /CN=$ca || exit 1; done; "
        "openssl req -newkey rsa:2048 -nodes -keyout server.key -out server.csr -subj /CN=shop.example "
        "&& printf 'subjectAltName=IP:127.0.0.1\n' > names && openssl x509 -req -in server.csr -CA "
        "ca.pem -CAkey ca.key -CAcreateserial -out server.pem -days 3 -extfile names && chmod 644 *",
        folder);
}

static void
remove_server(void)
{
    char line[256];
    tell(line, "%s stop --dir %s/server immediate 2>/dev/null; rm -rf %s",
        getenv("OWED_TEST_SERVERS"), folder, folder);
}

static bool
start_server(char url[static 256])
{
    char line[256];
    snprintf(folder, sizeof folder, "/tmp/owed-tls-XXXXXX");
    assert_non_null(mkdtemp(folder));
    tell(line, "chmod 755 %s", folder);
    atexit(remove_server);
    return make_certificates() &&
        tell(url,
            "exec %s start mariadb --dir %s/server --set ssl-ca=%s/ca.pem --set ssl-cert=%s/server.pem "
            "--set ssl-key=%s/server.key",
            getenv("OWED_TEST_SERVERS"), folder, folder, folder, folder);
}

static owed_status
open_with(struct world *world, const char *url, const char *options, bool *ret_is_secret)
{
    char whole[1024];
    struct db_options none = {0};
    struct db *db;
    snprintf(whole, sizeof whole, "%s?%s", url, options);
    owed_status status = store_open(whole, &none, &db, &world->err);
    if (status != OWED_OK)
        return status;
    *ret_is_secret = mysql_get_ssl_cipher(db->driver->native(db)) != NULL;
    store_close(db);
    return OWED_OK;
}

static void
what_a_url_asks_of_tls_holds(void **state)
{
    struct world *world = *state;
    char url[256];
    if (getenv("OWED_TEST_SERVERS") == NULL || !has_openssl()) {
        print_message("no server with certificates can be started here\n");
        skip();
    }
    assert_true(start_server(url));
    static const struct {
        const char *options; // %s: the folder
        owed_status status;
        bool is_local_name; // shop.example is not where it is
    } cases[] = {
        {"ssl-mode=required", OWED_OK, false},
        {"ssl-ca=%s/ca.pem", OWED_OK, false},
        {"ssl-ca=%s/ca.pem", OWED_UNAVAILABLE, true},
        {"ssl-mode=verify-ca&ssl-ca=%s/ca.pem", OWED_OK, true},
        {"ssl-mode=verify-identity&ssl-ca=%s/ca.pem", OWED_OK, false},
        {"ssl-mode=verify-identity", OWED_UNAVAILABLE, false},
        {"ssl-mode=verify-ca&ssl-ca=%s/other.pem", OWED_UNAVAILABLE, false},
        {"ssl-ca=%s/other.pem", OWED_UNAVAILABLE, false},
        {"ssl-fingerprint=00:11:22:33:44:55:66:77:88:99:00:11:22:33:44:55:66:77:88:99",
            OWED_UNAVAILABLE, false},
    };
    char local[256];
    const char *at = strchr(url, '@');
    assert_non_null(at);
    snprintf(local, sizeof local, "%.*slocalhost%s", (int)(at + 1 - url), url, strchr(at, ':'));
    for (size_t i = 0; i < COUNT(cases); i++) {
        char options[256];
        bool is_secret = false;
        snprintf(options, sizeof options, cases[i].options, folder);
        owed_status status =
            open_with(world, cases[i].is_local_name ? local : url, options, &is_secret);
        check_case(status == cases[i].status, cases[i].options);
        check_case(is_secret == (status == OWED_OK), cases[i].options);
    }
    bool is_secret = true;
    assert_ok(open_with(world, url, "ssl-mode=disabled", &is_secret));
    assert_false(is_secret);
}

static void
a_server_without_tls_is_not_spoken_to_where_it_is_wanted(void **state)
{
    struct world *world = *state;
    bool is_secret;
    if (raw_number(plain(world), "select @@have_ssl = 'YES'") == 1)
        skip();
    static const char *const wanted[] = {"ssl-mode=required", "ssl-mode=verify-identity"};
    for (size_t i = 0; i < COUNT(wanted); i++) {
        check_case(
            open_with(world, world->url, wanted[i], &is_secret) == OWED_UNAVAILABLE, wanted[i]);
        check_case(strstr(world->err.text, "TLS") != NULL || strstr(world->err.text, "SSL") != NULL,
            world->err.text);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_a_url_asks_of_tls_holds),
        TEST(a_server_without_tls_is_not_spoken_to_where_it_is_wanted),
    };
    return run_on_stores("mariadb", "mariadb tls", tests, COUNT(tests));
}
