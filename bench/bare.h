/* SPDX-License-Identifier: MIT
 *
 * bare.h - what the bare loops share: their words, their clock, and the one line each run prints.
 *
 *     bare_STORE URL MODE ROWS [CONNECTIONS [RECEIVERS]]
 *
 * URL is a store made by owed init for this run alone: the loop drops the triggers of its tables, since
 * it does their work itself. Modes, the same for every store:
 *
 *     fire            ROWS events in a durable transaction each, with a delivery for each receiver
 *     fire-bulk       the same, 1,000 events in a transaction
 *     drain           ROWS deliveries claimed in batches with their payloads, and acknowledged under the
 *                     fence of their claim; the rows stay as history
 *     drain-delete    the same, but the delivery and its event are deleted by the acknowledgement
 *     inside          ROWS deliveries claimed in batches; then for each a row in an application's table
 *                     and the acknowledgement, in one durable transaction
 *     inside-grouped  the same, many to a transaction with a savepoint each, acknowledged together
 *
 * What drain and inside find is written first, and not timed. CONNECTIONS is for the modes that fire.
 * Prints one line: mode, rows, seconds, rows a second.
 *
 * A loop knows no failures, retries, lapsed leases, late commits, or other relays: it is the limit, not
 * a queue.
 */
#ifndef BENCH_BARE_H
#define BENCH_BARE_H

#include <stdbool.h>
#include <stdint.h>

#define BARE_BULK 1000      // events in a transaction of fire-bulk
#define BARE_RECEIVERS 8    // at most
#define BARE_CONNECTIONS 64 // at most

struct bare {
    const char *url;
    int64_t rows;
    int connections;
    int receivers;
};

struct bare_mode {
    const char *name;
    void (*prepare)(const struct bare *bare);
    int64_t (*run)(const struct bare *bare); // the rows that were done
    bool fires;
};

/* bare_main reads the command line, runs one of the modes and prints its line; exits on any mistake. */
int bare_main(int argc, char **argv, const struct bare_mode *modes);

/* bare_fail ends the program with a sentence. */
void bare_fail(const char *what, const char *why) __attribute__((noreturn));

/* bare_share runs one thread for each connection, and shares the rows out between them; their sum. */
int64_t bare_share(
    const struct bare *bare, int64_t (*run)(const struct bare *bare, int connection, int64_t rows));

int64_t bare_now_us(void);

/* bare_uid gives 16 bytes that are not there twice. */
void bare_uid(unsigned char uid[16]);

#endif
