/* SPDX-License-Identifier: MIT
 *
 * server.c - a thread for each connection, blocking.
 */
#include "server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "loopback.h"

#define HEAD_BYTES 16384

struct connection {
    struct server *server;
    int fd;
    size_t place; // in server->fds
};

bool
send_text(int fd, const char *text)
{
    return loopback_send(fd, text, strlen(text));
}

bool
is_gone(int fd, int timeout_ms)
{
    struct pollfd asked = {.fd = fd, .events = POLLRDHUP};
    return poll(&asked, 1, timeout_ms) > 0;
}

const char *
header_of(const struct served *request, const char *name, char value[static 512])
{
    size_t len = strlen(name);
    value[0] = '\0';
    for (const char *line = strchr(request->head, '\n'); line != NULL; line = strchr(line, '\n')) {
        line++;
        if (strncasecmp(line, name, len) != 0 || line[len] != ':')
            continue;
        const char *start = line + len + 1 + strspn(line + len + 1, " ");
        snprintf(value, 512, "%.*s", (int)strcspn(start, "\r\n"), start);
        return value;
    }
    return value;
}

static bool
read_exactly(int fd, char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = recv(fd, bytes, len, 0);
        if (n <= 0)
            return false;
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}

static bool
read_head(int fd, char *head)
{
    for (size_t used = 0; used < HEAD_BYTES - 1; used++) {
        if (recv(fd, head + used, 1, 0) != 1)
            return false;
        head[used + 1] = '\0';
        if (used >= 3 && memcmp(head + used - 3, "\r\n\r\n", 4) == 0)
            return true;
    }
    return false;
}

static void
free_served(struct served *request)
{
    if (request == NULL)
        return;
    free(request->head);
    free(request->body);
    free(request);
}

static struct served *
read_request(int fd)
{
    struct served *request = calloc(1, sizeof *request);
    request->head = calloc(1, HEAD_BYTES);
    char value[512];
    if (!read_head(fd, request->head)) {
        free_served(request);
        return NULL;
    }
    request->body_len = strtoul(header_of(request, "content-length", value), NULL, 10);
    request->body = calloc(1, request->body_len + 1);
    if (!read_exactly(fd, request->body, request->body_len)) {
        free_served(request);
        return NULL;
    }
    const char *path = strchr(request->head, '/');
    request->path = (int)strtol(path + 1, NULL, 10);
    return request;
}

static void
keep(struct server *server, struct served *request)
{
    pthread_mutex_lock(&server->lock);
    request->next = server->served;
    server->served = request;
    server->count++;
    server->held++;
    if (server->held > server->most)
        server->most = server->held;
    pthread_cond_broadcast(&server->changed);
    pthread_mutex_unlock(&server->lock);
}

static void
let_go(struct server *server)
{
    pthread_mutex_lock(&server->lock);
    server->held--;
    pthread_mutex_unlock(&server->lock);
}

static void *
serve(void *state)
{
    struct connection *connection = state;
    struct server *server = connection->server;
    bool goes_on = true;
    while (goes_on) {
        struct served *request = read_request(connection->fd);
        if (request == NULL)
            break;
        keep(server, request);
        goes_on = server->answer(server, connection->fd, request);
        let_go(server);
    }
    pthread_mutex_lock(&server->lock);
    close(connection->fd);
    server->fds[connection->place] = -1;
    server->connections--;
    pthread_cond_broadcast(&server->changed);
    pthread_mutex_unlock(&server->lock);
    free(connection);
    return NULL;
}

static void
start_connection(struct server *server, int fd)
{
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    struct connection *connection = calloc(1, sizeof *connection);
    *connection = (struct connection){server, fd, 0};
    pthread_mutex_lock(&server->lock);
    while (server->fds[connection->place] >= 0)
        connection->place++;
    server->fds[connection->place] = fd;
    server->connections++;
    server->accepted++;
    pthread_mutex_unlock(&server->lock);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, (size_t)256 * 1024);
    pthread_t thread;
    pthread_create(&thread, &attributes, serve, connection);
    pthread_attr_destroy(&attributes);
}

static void *
accept_all(void *state)
{
    struct server *server = state;
    int fd;
    while ((fd = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0)
        start_connection(server, fd);
    return NULL;
}

void
server_start(struct server *server, server_answer answer)
{
    *server = (struct server){.answer = answer, .extra = ""};
    for (size_t i = 0; i < sizeof server->fds / sizeof server->fds[0]; i++)
        server->fds[i] = -1;
    pthread_mutex_init(&server->lock, NULL);
    pthread_cond_init(&server->changed, NULL);
    server->listener = loopback_listen(512, &server->port);
    pthread_create(&server->thread, NULL, accept_all, server);
}

void
server_stop(struct server *server)
{
    shutdown(server->listener, SHUT_RDWR);
    pthread_join(server->thread, NULL);
    close(server->listener);
    pthread_mutex_lock(&server->lock);
    server->wanted = 0;
    for (size_t i = 0; i < sizeof server->fds / sizeof server->fds[0]; i++) {
        if (server->fds[i] >= 0)
            shutdown(server->fds[i], SHUT_RDWR);
    }
    pthread_cond_broadcast(&server->changed);
    while (server->connections > 0)
        pthread_cond_wait(&server->changed, &server->lock);
    pthread_mutex_unlock(&server->lock);
    while (server->served != NULL) {
        struct served *next = server->served->next;
        free_served(server->served);
        server->served = next;
    }
    pthread_mutex_destroy(&server->lock);
    pthread_cond_destroy(&server->changed);
}

const char *
server_url(const struct server *server, int number, char url[static 64])
{
    snprintf(url, 64, "http://127.0.0.1:%d/%d", server->port, number);
    return url;
}

bool
answer_by_path(struct server *server, int fd, const struct served *request)
{
    bool has_body = request->path != 204 && request->path != 304;
    char text[1024];
    snprintf(text, sizeof text, "HTTP/1.1 %d whatever\r\n%s%s\r\n%s", request->path, server->extra,
        has_body ? "content-length: 7\r\n" : "", has_body ? "as told" : "");
    return send_text(fd, text);
}

bool
answer_together(struct server *server, int fd, const struct served *request)
{
    (void)request;
    pthread_mutex_lock(&server->lock);
    while (server->most < server->wanted)
        pthread_cond_wait(&server->changed, &server->lock);
    pthread_mutex_unlock(&server->lock);
    return send_text(fd, "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
}

bool
answer_never(struct server *server, int fd, const struct served *request)
{
    (void)server;
    (void)request;
    is_gone(fd, -1);
    return false;
}

bool
hang_up(struct server *server, int fd, const struct served *request)
{
    (void)server;
    (void)fd;
    (void)request;
    return false;
}

bool
answer_in_no_http(struct server *server, int fd, const struct served *request)
{
    (void)server;
    (void)request;
    send_text(fd, "220 mail.example ESMTP\r\n");
    return false;
}
