/* SPDX-License-Identifier: MIT
 *
 * attempt.c - flights without a relay.
 */
#include "attempt.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"

#define PATIENCE_MS 20000

static struct owed handle; // its clock is all that is asked for

void
attempt_init(struct attempt *attempt, enum runner runner, const char *to, struct str payload)
{
    *attempt = (struct attempt){
        .receiver = {.runner = runner, .kind = "outside", .declared.key = "shop.billing"},
        .row = {.fence = {.delivery_id = ATTEMPT_DELIVERY_ID},
            .event_id = ATTEMPT_EVENT_ID,
            .receiver_key = "shop.billing",
            .target = "",
            .event_name = "shop.OrderPlaced",
            .event_version = 1,
            .payload = payload,
            .due_at_us = INT64_C(1796000000) * US_PER_SECOND,
            .correlation_id = "c-9",
            .traceparent = ""},
    };
    if (runner == RUN_WEBHOOK)
        attempt->receiver.declared.webhook = to;
    if (runner == RUN_EXEC)
        attempt->receiver.declared.exec = to;
    if (runner == RUN_PIPE)
        attempt->receiver.declared.pipe = to;
    if (runner == RUN_PUBLISH)
        attempt->receiver.declared.publish = to;
    if (runner == RUN_FILE)
        attempt->receiver.declared.file = to;
    owed_delivery *delivery = &attempt->flight.delivery;
    handle.clock = clock_system;
    delivery->owed = &handle;
    delivery->receiver = &attempt->receiver;
    delivery->row = &attempt->row;
    delivery->attempt = 1;
    delivery->text = attempt->text;
    memcpy(attempt->key, ATTEMPT_KEY, sizeof ATTEMPT_KEY);
    delivery->text_size = sizeof attempt->text;
    delivery->idempotency_key = attempt->key;
}

static int64_t
fixed_now(void *state)
{
    return *(const int64_t *)state;
}

static int64_t
real_monotonic(void *state)
{
    (void)state;
    return clock_monotonic_us(&clock_system);
}

static struct outside *
open_with(owed_clock clock, const struct log *log)
{
    const struct outside_settings settings = {
        .in_flight = 200, .exec_in_flight = 16, .clock = clock, .log = log};
    struct outside *outside;
    assert_int_equal(outside_builtin.open(&settings, &outside, NULL), OWED_OK);
    return outside;
}

struct outside *
outside_new(void)
{
    return open_with((owed_clock){0}, NULL);
}

struct outside *
outside_logging(const struct log *log)
{
    return open_with((owed_clock){0}, log);
}

struct outside *
outside_at(int64_t now_us)
{
    static int64_t at_us;
    at_us = now_us;
    return open_with((owed_clock){fixed_now, real_monotonic, &at_us}, NULL);
}

void
land_all(struct outside *outside, size_t count)
{
    int64_t until = clock_monotonic_us(&clock_system) + PATIENCE_MS * US_PER_MS;
    for (size_t landed = 0; landed < count;) {
        assert_true(clock_monotonic_us(&clock_system) < until);
        const struct flight *flight = outside_builtin.poll(outside, NULL, 0, 1000);
        for (; flight != NULL; flight = flight->next)
            landed++;
    }
}

void
fly(struct outside *outside, struct attempt *attempt)
{
    attempt->flight.started_at_us = clock_now_us(&clock_system);
    attempt->flight.started_mono_us = clock_monotonic_us(&clock_system);
    outside_builtin.start(outside, &attempt->flight);
    land_all(outside, 1);
}

char *
folder_new(void)
{
    char *folder = strdup("/tmp/owed-receive-XXXXXX");
    assert_non_null(folder);
    assert_non_null(mkdtemp(folder));
    return folder;
}

void
folder_free(char *folder)
{
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    const struct dirent *entry;
    while ((entry = readdir(dir)) != NULL)
        unlinkat(dirfd(dir), entry->d_name, 0);
    closedir(dir);
    assert_int_equal(rmdir(folder), 0);
    free(folder);
}

const char *
path_in(const char *folder, const char *name, char path[static 256])
{
    snprintf(path, 256, "%s/%s", folder, name);
    return path;
}

const char *
file_in(const char *folder, const char *name, const char *text, char path[static 256])
{
    path_in(folder, name, path);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    if (strncmp(text, "#!", 2) == 0)
        chmod(path, 0755);
    return path;
}

char *
slurp(const char *path, size_t *ret_len)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat file;
    assert_true(fd >= 0 && fstat(fd, &file) == 0);
    char *text = calloc(1, (size_t)file.st_size + 1);
    assert_non_null(text);
    assert_int_equal(read(fd, text, (size_t)file.st_size), file.st_size);
    close(fd);
    *ret_len = (size_t)file.st_size;
    return text;
}

char *
large_payload(size_t len)
{
    static const char piece[] = "\\u0000 \\ud83d\\ude00 \xc3\xa9 \\\\ \\\" ";
    char *text = malloc(len + 1);
    assert_non_null(text);
    memset(text, 'x', len);
    text[0] = '"';
    for (size_t i = 1; i + sizeof piece < len; i += sizeof piece)
        memcpy(text + i, piece, sizeof piece - 1);
    text[len - 1] = '"';
    text[len] = '\0';
    return text;
}
