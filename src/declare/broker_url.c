/* SPDX-License-Identifier: MIT
 *
 * broker_url.c - the table of brokers, and their URLs.
 */
#include "declare/broker_url.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <strings.h>

#include "base/error.h"
#include "base/str.h"

#define LIMIT_PORT 65535
#define LIMIT_TOPIC_BYTES 249
#define DATABASE_DIGITS 5

/* subject_problem: a subject of NATS to publish to has no blank, no empty token and no wildcard. */
static const char *
subject_problem(const char *topic)
{
    size_t len = 0; // of the token
    for (const char *p = topic;; p++) {
        bool ends = *p == '.' || *p == '\0';
        bool is_wild = len == 1 && (p[-1] == '*' || p[-1] == '>');
        if (ends && (len == 0 || is_wild))
            return "is no subject: words with dots between them, none of them * or >, are right";
        if (*p == '\0')
            return topic[0] == '$' ? "begins with $, where NATS itself lives" : NULL;
        if ((unsigned char)*p <= ' ' || *p == 0x7f)
            return "is no subject: it holds a blank or a control character";
        len = ends ? 0 : len + 1;
    }
}

/* topic_problem: what Kafka takes as the name of a topic. */
static const char *
topic_problem(const char *topic)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
    size_t len = strlen(topic);
    bool is_good = len <= LIMIT_TOPIC_BYTES && strspn(topic, alphabet) == len &&
        strcmp(topic, ".") != 0 && strcmp(topic, "..") != 0;
    return is_good
        ? NULL
        : "is no topic of Kafka: up to 249 letters, digits, \"_\", \".\" and \"-\" are right";
}

/* database_problem: Redis numbers its databases. */
static const char *
database_problem(const char *path)
{
    return path[strspn(path, "0123456789")] == '\0' && strlen(path) <= DATABASE_DIGITS
        ? NULL
        : "has a database that is no number; redis://host:6379/0 is right";
}

/* What the schemes of one client library share. */
#define AMQP \
    .soname = "libowed-rabbitmq.so.0", .symbol = "broker_rabbitmq", \
    .taker = "broker_rabbitmq_taker", .root = "/", .has_exchange = true
#define KAFKA \
    .port = 9092, .soname = "libowed-kafka.so.0", .symbol = "broker_kafka", .has_no_path = true, \
    .topic_problem = topic_problem
#define NATS \
    .port = 4222, .soname = "libowed-nats.so.0", .symbol = "broker_nats", \
    .taker = "broker_nats_taker", .has_no_path = true, .has_credentials = true, \
    .topic_problem = subject_problem

static const struct broker_scheme schemes[] = {
    {.scheme = "amqp", AMQP, .port = 5672},
    {.scheme = "amqps", AMQP, .port = 5671, .is_secure = true},
    {.scheme = "kafka", KAFKA},
    {.scheme = "kafka+tls", KAFKA, .is_secure = true},
    {.scheme = "nats", NATS},
    {.scheme = "nats+tls", NATS, .is_secure = true},
    {.scheme = "tls", NATS, .is_secure = true}, // the same, as NATS itself calls it
    {.scheme = "redis",
        .port = 6379,
        .soname = "libowed-redis.so.0",
        .symbol = "broker_redis",
        .taker = "broker_redis_taker",
        .root = "0",
        .has_sockets = true,
        .path_problem = database_problem},
    {.scheme = "rediss",
        .refusal =
            "asks for Redis by TLS, which its client library (hiredis 0.14) does not speak; a "
            "tunnel on this host (stunnel) as redis://127.0.0.1:6379, or a Unix socket as "
            "redis://%2Frun%2Fredis%2Fredis.sock, is right"},
};
#define SCHEMES (sizeof schemes / sizeof schemes[0])

static owed_status
find_scheme(
    const char *url, enum broker_use use, const struct broker_scheme **ret_scheme, owed_error *err)
{
    for (size_t i = 0; i < SCHEMES; i++) {
        size_t len = strlen(schemes[i].scheme);
        if (strncmp(url, schemes[i].scheme, len) == 0 && strncmp(url + len, "://", 3) == 0) {
            *ret_scheme = &schemes[i];
            return schemes[i].refusal == NULL ? OWED_OK
                                              : fail(err, OWED_CONFIG, "%s", schemes[i].refusal);
        }
    }
    return fail(err, OWED_CONFIG,
        "begins with no scheme that is known here; one such as redis://host:6379, amqp://user@host/vhost%s "
        "is right",
        use == BROKER_HAS_TASKS ? " or nats://host:4222"
                                : ", nats://host:4222 or kafka://host:9092");
}

static bool
read_port(struct str text, int *ret_port)
{
    int number = 0;
    if (text.len == 0 || text.len > 5)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.p[i] < '0' || text.p[i] > '9')
            return false;
        number = number * 10 + (text.p[i] - '0');
    }
    *ret_port = number;
    return number >= 1 && number <= LIMIT_PORT;
}

static int
hex_digit(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *found = c == '\0' ? NULL : strchr(digits, c >= 'A' && c <= 'F' ? c + 32 : c);
    return found == NULL ? -1 : (int)(found - digits);
}

/* decode undoes %XX; NULL: something else, a NUL byte, or no memory. */
static const char *
decode(struct str text, struct arena *arena)
{
    char *decoded = arena_copy(arena, text);
    size_t used = 0;
    for (size_t i = 0; i < text.len && decoded != NULL; i++) {
        char c = text.p[i];
        if (c == '%') {
            int high = text.len - i > 2 ? hex_digit(text.p[i + 1]) : -1;
            int low = high < 0 ? -1 : hex_digit(text.p[i + 2]);
            if (low < 0 || high * 16 + low == 0)
                return NULL;
            c = (char)(high * 16 + low);
            i += 2;
        }
        decoded[used++] = c;
    }
    if (decoded != NULL)
        decoded[used] = '\0';
    return decoded;
}

/* host_of cuts the host from the front of an authority; what is left is "" or ":port". */
static struct str
host_of(struct str *authority)
{
    struct str host = *authority;
    size_t brackets = 0;
    if (host.len > 0 && host.p[0] == '[') {
        const char *end = memchr(host.p, ']', host.len);
        host.len = end == NULL ? 0 : (size_t)(end - host.p) + 1;
        brackets = 1;
    } else {
        const char *colon = memchr(host.p, ':', host.len);
        host.len = colon == NULL ? host.len : (size_t)(colon - host.p);
    }
    *authority = str_skip(*authority, host.len);
    if (host.len > 2 * brackets)
        return (struct str){host.p + brackets, host.len - 2 * brackets};
    return (struct str){host.p, 0};
}

static bool
has_odd_byte(const char *url)
{
    for (const unsigned char *p = (const unsigned char *)url; *p != '\0'; p++)
        if (*p <= ' ' || *p > '~')
            return true;
    return false;
}

/* check_places: not every scheme has a socket of Unix, a path, or any path. */
static owed_status
check_places(const struct broker_url *url, owed_error *err)
{
    const struct broker_scheme *scheme = url->scheme;
    if (url->host[0] == '/' && !scheme->has_sockets)
        return fail(err, OWED_CONFIG, "has a path where its host belongs; %s://host:%d is right",
            scheme->scheme, scheme->port);
    if (scheme->has_no_path && url->path[0] != '\0')
        return fail(
            err, OWED_CONFIG, "has a path; %s://host:%d is right", scheme->scheme, scheme->port);
    const char *problem = scheme->path_problem == NULL ? NULL : scheme->path_problem(url->path);
    return problem == NULL ? OWED_OK : fail(err, OWED_CONFIG, "%s", problem);
}

owed_status
broker_url_read(const char *url, enum broker_use use, struct arena *arena,
    struct broker_url *ret_url, owed_error *err)
{
    struct broker_url read = {0};
    owed_status status = find_scheme(url, use, &read.scheme, err);
    if (status != OWED_OK)
        return status;
    // What it asks for may be nobody's business.
    if (strchr(url, '?') != NULL)
        return fail(err, OWED_CONFIG,
            "has a query, which none of a broker has; what stands before its \"?\" alone is right");
    if (has_odd_byte(url) || strpbrk(url, "#\\\"<>") != NULL)
        return fail(err, OWED_CONFIG,
            "holds a byte that it cannot hold; blanks and the like are written as %%20");
    const char *start = url + strlen(read.scheme->scheme) + 3;
    struct str authority = {start, strcspn(start, "/")};
    const char *path = start + authority.len;
    const char *at = memchr(authority.p, '@', authority.len);
    struct str user = {authority.p, at == NULL ? 0 : (size_t)(at - authority.p)};
    if (memchr(user.p, ':', user.len) != NULL)
        return fail(err, OWED_CONFIG, "holds a password; %spassword-file is the place of one",
            use == BROKER_HAS_TASKS ? "task-" : "");
    if (at != NULL)
        authority = str_skip(authority, user.len + 1);
    struct str host = host_of(&authority);
    if (host.len == 0)
        return fail(err, OWED_CONFIG, "has no host; %s://host:%d is right", read.scheme->scheme,
            read.scheme->port);
    read.port = read.scheme->port;
    if (authority.len > 0 &&
        (authority.p[0] != ':' || !read_port(str_skip(authority, 1), &read.port)))
        return fail(err, OWED_CONFIG, "has a bad port; 1 to %d is right", LIMIT_PORT);
    read.user = decode(user, arena);
    read.host = decode(host, arena);
    read.path = decode(str_of(*path == '/' ? path + 1 : path), arena);
    if (read.user == NULL || read.host == NULL || read.path == NULL)
        return fail(err, OWED_CONFIG, "has a %% that no two hexadecimal digits follow");
    status = check_places(&read, err);
    if (status != OWED_OK)
        return status;
    *ret_url = read;
    return OWED_OK;
}

/* --- which broker it is --- */

static bool
is_this_host(const char *host)
{
    struct in_addr four;
    struct in6_addr six;
    if (inet_pton(AF_INET, host, &four) == 1)
        return ntohl(four.s_addr) >> 24 == IN_LOOPBACKNET;
    if (inet_pton(AF_INET6, host, &six) == 1)
        return IN6_IS_ADDR_LOOPBACK(&six);
    return strcasecmp(host, "localhost") == 0;
}

static bool
is_same_host(const char *a, const char *b)
{
    return strcasecmp(a, b) == 0 || (is_this_host(a) && is_this_host(b));
}

/* is_same_port: by TLS a broker's usual port may be another one. */
static bool
is_same_port(const struct broker_url *a, const struct broker_url *b)
{
    return a->port == b->port || (a->port == a->scheme->port && b->port == b->scheme->port);
}

static const char *
path_of(const struct broker_url *url)
{
    return url->path[0] == '\0' ? or_empty(url->scheme->root) : url->path;
}

bool
broker_url_is_same(const struct broker_url *a, const struct broker_url *b)
{
    return strcmp(a->scheme->soname, b->scheme->soname) == 0 && is_same_host(a->host, b->host) &&
        is_same_port(a, b) && strcmp(path_of(a), path_of(b)) == 0;
}
