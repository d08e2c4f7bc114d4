/* SPDX-License-Identifier: MIT
 *
 * attempt.h - one attempt made by hand, and the loop that runs it.
 */
#ifndef TEST_RECEIVE_ATTEMPT_H
#define TEST_RECEIVE_ATTEMPT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "deliver/outside.h"

#define ATTEMPT_KEY "owed_00112233445566778899aabbccddeeff"
#define ATTEMPT_DELIVERY_ID 41
#define ATTEMPT_EVENT_ID 7
#define MILLISECONDS(n) ((int64_t)(n)*1000)

struct attempt {
    struct receiver receiver;
    struct claimed row;
    struct flight flight;
    char text[2001];
    char key[IDEMPOTENCY_KEY_BYTES];
};

/* attempt_init makes one for a webhook's URL, a program's or a file's path. */
void attempt_init(struct attempt *attempt, enum runner runner, const char *to, struct str payload);

/* outside_new opens the loop, 200 requests and 16 programs at once. */
struct outside *outside_new(void);
struct outside *outside_logging(const struct log *log);
struct outside *outside_at(int64_t now_us); // with a wall clock that stands still

/* fly starts the attempt and waits until it has ended. */
void fly(struct outside *outside, struct attempt *attempt);

/* land_all waits until count flights have ended. */
void land_all(struct outside *outside, size_t count);

/* A folder for a test; folder_free removes it with its files. */
char *folder_new(void);
void folder_free(char *folder);

/* path_in writes folder/name; file_in also writes the file, executable when it starts with "#!". */
const char *path_in(const char *folder, const char *name, char path[static 256]);
const char *file_in(const char *folder, const char *name, const char *text, char path[static 256]);

/* slurp reads a whole file; free it. */
char *slurp(const char *path, size_t *ret_len);

/* A payload of len bytes: a JSON string with escapes of all kinds. Free it. */
char *large_payload(size_t len);

#define assert_has(text_, part_) \
    do { \
        if (strstr((text_), (part_)) == NULL) \
            fail_msg("\"%s\" is not in \"%s\"", (part_), (text_)); \
    } while (0)

#endif
