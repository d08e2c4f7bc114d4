/* SPDX-License-Identifier: MIT
 *
 * wire.h - libcurl's transfers, on a thread of their own.
 *
 * Requests go on while the relay's thread waits for its store. The handles are prepared, and what they
 * came to is read, by the thread that calls here; only between wire_send and wire_take they belong to
 * the other one. That starts with the first transfer.
 *
 * Few at a time cost libcurl less than many do, so where answers come at once the next wait for them. For
 * those that take longer nobody waits: they do not count any more.
 */
#ifndef RECEIVE_WIRE_H
#define RECEIVE_WIRE_H

#include <curl/curl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <owed/error.h>

enum transfer_state {
    TRANSFER_OURS,   // of whoever calls here
    TRANSFER_QUEUED, // not begun
    TRANSFER_FLYING, // the thread's
    TRANSFER_ENDED   // not taken yet
};

struct transfer {
    CURL *easy; // its CURLOPT_PRIVATE is the transfer
    CURLcode code;
    enum transfer_state state; // behind the lock
    uint64_t turn;             // the thread's: when it was begun
    struct transfer *next;
};

struct transfers {
    struct transfer *first, *last;
};

struct wire {
    CURLM *multi; // of the thread, while there is one
    pthread_t thread;
    bool is_started;
    int ended_fd; // readable when something has ended
    pthread_mutex_t lock;
    pthread_cond_t let_go;
    // Behind the lock:
    struct transfers queued;
    struct transfers ended;
    struct transfer *unwanted; // to be let go
    bool is_over;
    // The thread's:
    uint64_t turn;
    int64_t turn_mono_us; // when it began
    int young;            // begun in this turn, and not ended
};

/* wire_open expects at_once transfers at a time, and keeps connections for them. */
owed_status wire_open(struct wire *wire, long at_once, owed_error *err);

/* wire_send begins a transfer; false: it cannot be. */
bool wire_send(struct wire *wire, struct transfer *transfer);

/* wire_take returns what has ended since, as a list in that order, and makes ended_fd unreadable. */
struct transfer *wire_take(struct wire *wire);

/* wire_drop ends a transfer that was sent and not taken; its connection is closed if it was begun. */
void wire_drop(struct wire *wire, struct transfer *transfer);

/* wire_close: all that was sent has been taken or dropped. */
void wire_close(struct wire *wire);

#endif
