/* SPDX-License-Identifier: MIT
 *
 * server.h - an HTTP server inside a test: it does what the test's function says, good or bad.
 */
#ifndef TEST_RECEIVE_SERVER_H
#define TEST_RECEIVE_SERVER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct server;

struct served {
    char *head; // request line and header lines
    char *body;
    size_t body_len;
    int path; // the number that the path ends with
    struct served *next;
};

/* Answers one request; false: the connection is closed. Runs on the connection's own thread. */
typedef bool (*server_answer)(struct server *server, int fd, const struct served *request);

struct server {
    int port;
    server_answer answer;
    const char *extra; // header lines for answer_by_path, each with its line end
    size_t wanted;     // by answer_together
    // Behind the lock:
    struct served *served; // the newest first
    size_t count;          // of served
    size_t accepted;       // connections
    size_t held, most;
    int listener;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t connections;
    int fds[512];
};

void server_start(struct server *server, server_answer answer);
void server_stop(struct server *server);

/* server_url writes "http://127.0.0.1:PORT/NUMBER". */
const char *server_url(const struct server *server, int number, char url[static 64]);

/* answer_by_path: the status is the path's number. answer_together: 200, when wanted requests are
 * held at once. */
bool answer_by_path(struct server *server, int fd, const struct served *request);
bool answer_together(struct server *server, int fd, const struct served *request);

/* Bad ones: answer_never waits until the client is gone, hang_up closes, answer_in_no_http speaks another protocol. */
bool answer_never(struct server *server, int fd, const struct served *request);
bool hang_up(struct server *server, int fd, const struct served *request);
bool answer_in_no_http(struct server *server, int fd, const struct served *request);

/* send_text writes it all; false: the client is gone. */
bool send_text(int fd, const char *text);

/* is_gone waits up to timeout_ms for the client to close. */
bool is_gone(int fd, int timeout_ms);

/* header_of finds a header line's value in the head; "" when absent. Names are in lower case. */
const char *header_of(const struct served *request, const char *name, char value[static 512]);

#endif
