/* SPDX-License-Identifier: MIT
 *
 * mariadb_options.c - what a connection is opened with, and what it needs once it is open.
 *
 * No wait of ours is without an end: connecting, reading and writing have their times, and a peer that
 * is gone without a word is noticed by the kernel.
 */
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/moment.h"
#include "store/mariadb.h"

#define CONNECT_US (10 * US_PER_SECOND)
#define READ_US (600 * US_PER_SECOND) // one answer: a migration may build an index
#define WRITE_US (60 * US_PER_SECOND)
#define ANSWER_US (10 * US_PER_SECOND) // beyond the limit of a statement
#define DEFAULTS_GROUP "owed"
#define CHARSET "utf8mb4"

static unsigned
whole_seconds(int64_t us)
{
    int64_t seconds = (us + US_PER_SECOND - 1) / US_PER_SECOND;
    return seconds < 1 ? 1 : seconds > INT_MAX / 1000 ? INT_MAX / 1000 : (unsigned)seconds;
}

/* read_timeout takes "10s" and, as option files do, a bare number of seconds. */
static owed_status
read_timeout(const char *text, const char *name, int64_t *ret_us, owed_error *err)
{
    if (text == NULL || (duration_read(text, ret_us) && *ret_us > 0))
        return OWED_OK;
    char *end;
    long seconds = strtol(text, &end, 10);
    if (!is_digit(text[0]) || *end != '\0' || seconds < 1 || seconds > INT_MAX / 1000)
        return fail(
            err, OWED_CONFIG, "the store URL has a %s of '%.40s'; write 10s, or 10", name, text);
    *ret_us = seconds * US_PER_SECOND;
    return OWED_OK;
}

static owed_status
set_timeouts(
    MYSQL *handle, const struct mariadb_url *url, const struct db_options *options, owed_error *err)
{
    int64_t connect_us = options->connect_timeout_us > 0 ? options->connect_timeout_us : CONNECT_US;
    int64_t read_us =
        options->statement_timeout_us > 0 ? options->statement_timeout_us + ANSWER_US : READ_US;
    int64_t write_us = WRITE_US;
    owed_status status =
        read_timeout(url->options[MARIADB_CONNECT_TIMEOUT], "connect-timeout", &connect_us, err);
    if (status == OWED_OK)
        status = read_timeout(url->options[MARIADB_READ_TIMEOUT], "read-timeout", &read_us, err);
    if (status == OWED_OK)
        status = read_timeout(url->options[MARIADB_WRITE_TIMEOUT], "write-timeout", &write_us, err);
    if (status != OWED_OK)
        return status;
    unsigned seconds[] = {
        whole_seconds(connect_us), whole_seconds(read_us), whole_seconds(write_us)};
    mysql_options(handle, MYSQL_OPT_CONNECT_TIMEOUT, &seconds[0]);
    mysql_options(handle, MYSQL_OPT_READ_TIMEOUT, &seconds[1]);
    mysql_options(handle, MYSQL_OPT_WRITE_TIMEOUT, &seconds[2]);
    return OWED_OK;
}

/* ssl-mode's words. One that names an authority or a certificate's print means to check it. */
static const struct tls_mode {
    const char *name;
    my_bool is_required;
    my_bool is_verified; // whether the certificate is that of the host
} tls_modes[] = {
    {"disabled", 0, 0},
    {"required", 1, 0},
    {"verify-ca", 1, 0},
    {"verify-identity", 1, 1},
};

static bool
names_authority(const struct mariadb_url *url)
{
    return url->options[MARIADB_SSL_CA] != NULL || url->options[MARIADB_SSL_CAPATH] != NULL;
}

/* find_tls_mode: NULL is none, or a word that is none of these. */
static const struct tls_mode *
find_tls_mode(const struct mariadb_url *url)
{
    const char *said = url->options[MARIADB_SSL_MODE];
    if (said == NULL && names_authority(url))
        said = "verify-identity";
    if (said == NULL && url->options[MARIADB_SSL_FINGERPRINT] != NULL)
        said = "required";
    for (size_t i = 0; said != NULL && i < sizeof tls_modes / sizeof tls_modes[0]; i++)
        if (strcasecmp(tls_modes[i].name, said) == 0)
            return &tls_modes[i];
    return NULL;
}

static owed_status
set_tls(MYSQL *handle, const struct mariadb_url *url, owed_error *err)
{
    static const struct {
        enum mariadb_option option;
        enum mysql_option native;
    } files[] = {
        {MARIADB_SSL_CA, MYSQL_OPT_SSL_CA},
        {MARIADB_SSL_CAPATH, MYSQL_OPT_SSL_CAPATH},
        {MARIADB_SSL_CERT, MYSQL_OPT_SSL_CERT},
        {MARIADB_SSL_KEY, MYSQL_OPT_SSL_KEY},
        {MARIADB_SSL_CIPHER, MYSQL_OPT_SSL_CIPHER},
        {MARIADB_SSL_FINGERPRINT, MARIADB_OPT_TLS_PEER_FP},
        {MARIADB_TLS_VERSION, MARIADB_OPT_TLS_VERSION},
    };
    const struct tls_mode *mode = find_tls_mode(url);
    if (mode == NULL && url->options[MARIADB_SSL_MODE] != NULL)
        return fail(err, OWED_CONFIG,
            "the store URL has an ssl-mode of '%.40s'; write disabled, required, verify-ca or "
            "verify-identity",
            url->options[MARIADB_SSL_MODE]);
    if (mode != NULL && strcmp(mode->name, "verify-ca") == 0 && !names_authority(url))
        return fail(err, OWED_CONFIG, "the store URL has ssl-mode=verify-ca and no ssl-ca");
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        if (url->options[files[i].option] != NULL)
            mysql_optionsv(handle, files[i].native, url->options[files[i].option]);
    if (mode != NULL) {
        mysql_optionsv(handle, MYSQL_OPT_SSL_ENFORCE, &mode->is_required);
        mysql_optionsv(handle, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &mode->is_verified);
    }
    return OWED_OK;
}

owed_status
mariadb_check_tls(const struct mariadb_db *conn, const struct mariadb_url *url, owed_error *err)
{
    const struct tls_mode *mode = find_tls_mode(url);
    if (mode == NULL || !mode->is_required || mysql_get_ssl_cipher(conn->handle) != NULL)
        return OWED_OK;
    return fail(err, OWED_UNAVAILABLE,
        "%s offers no TLS, and the store URL wants it (ssl-mode=%s): the connection was closed",
        conn->place, mode->name);
}

static owed_status
set_defaults(MYSQL *handle, const struct mariadb_url *url, owed_error *err)
{
    const char *file = url->options[MARIADB_DEFAULTS_FILE];
    const char *group = url->options[MARIADB_DEFAULTS_GROUP];
    if (file != NULL && access(file, R_OK) != 0)
        return fail(err, OWED_CONFIG,
            "the store URL names an option file %.200s, which cannot be read", file);
    if (file != NULL)
        mysql_options(handle, MYSQL_READ_DEFAULT_FILE, file);
    mysql_options(handle, MYSQL_READ_DEFAULT_GROUP, group == NULL ? DEFAULTS_GROUP : group);
    return OWED_OK;
}

/* set_protocol: with a port, "localhost" is a host as any other; without one it is the local socket. */
static void
set_protocol(MYSQL *handle, const struct mariadb_url *url)
{
    unsigned tcp = MYSQL_PROTOCOL_TCP;
    if (url->port != 0 && url->options[MARIADB_SOCKET] == NULL)
        mysql_optionsv(handle, MYSQL_OPT_PROTOCOL, &tcp);
}

owed_status
mariadb_handle(const struct mariadb_url *url, const struct db_options *options, MYSQL **ret_handle,
    owed_error *err)
{
    MYSQL *handle = mysql_init(NULL);
    if (handle == NULL)
        return fail_memory(err);
    unsigned no = 0;
    mysql_options(handle, MYSQL_OPT_LOCAL_INFILE, &no);
    mysql_options(handle, MYSQL_SET_CHARSET_NAME, CHARSET);
    mysql_options4(handle, MYSQL_OPT_CONNECT_ATTR_ADD, "program_name",
        options->application == NULL ? "owed" : options->application);
    set_protocol(handle, url);
    owed_status status = set_defaults(handle, url, err);
    if (status == OWED_OK)
        status = set_timeouts(handle, url, options, err);
    if (status == OWED_OK)
        status = set_tls(handle, url, err);
    if (status != OWED_OK) {
        mysql_close(handle);
        return status;
    }
    *ret_handle = handle;
    return OWED_OK;
}

/* watch_peer has the kernel notice a peer that vanished: after 30 s of silence it asks. */
static void
watch_peer(int fd)
{
    static const struct {
        int option;
        int value;
    } settings[] = {
        {TCP_KEEPIDLE, 30},
        {TCP_KEEPINTVL, 10},
        {TCP_KEEPCNT, 3},
        {TCP_USER_TIMEOUT, 60000},
    };
    int on = 1;
    // A Unix socket refuses all of these, and needs none.
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        setsockopt(fd, IPPROTO_TCP, settings[i].option, &settings[i].value, sizeof(int));
}

owed_status
mariadb_harden(struct mariadb_db *conn, owed_error *err)
{
    int fd = mysql_get_socket(conn->handle);
    // The library leaves its socket to every program that is started.
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    watch_peer(fd);
    // Option files may have set either.
    my_bool no = 0;
    mysql_options(conn->handle, MYSQL_OPT_RECONNECT, &no);
    bool is_right = strcmp(mysql_character_set_name(conn->handle), CHARSET) == 0;
    if (!is_right && mysql_set_character_set(conn->handle, CHARSET) != 0)
        return mariadb_fail_last(conn, "set the character set", err);
    return OWED_OK;
}
