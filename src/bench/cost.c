/* SPDX-License-Identifier: MIT
 *
 * cost.c - what a stretch of work costs beside time: bytes of log, transactions, what is left behind.
 */
#include "bench/cost.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "store/verbs.h"

/* ask reads one number that a dialect may not have, or an account may not see. */
static int64_t
ask(struct bench *bench, enum stmt stmt)
{
    int64_t number = -1;
    owed_error err;
    if (bench->db->driver->sql->statements[stmt] == NULL ||
        query_int(bench->db, stmt, NO_ARGS, &number, NULL, &err) != OWED_OK)
        return -1;
    return number;
}

/* written is what this process has handed to write(2) and the like. */
static int64_t
written(void)
{
    CLEANUP(fclose_ptr) FILE *file = fopen("/proc/self/io", "re");
    char line[128];
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "wchar:", 6) == 0)
            return strtoll(line + 6, NULL, 10);
    return -1;
}

static int64_t
resident_bytes(void)
{
    CLEANUP(fclose_ptr) FILE *file = fopen("/proc/self/statm", "re");
    char line[128];
    if (file == NULL || fgets(line, sizeof line, file) == NULL)
        return -1;
    const char *second = strchr(line, ' ');
    return second == NULL ? -1 : strtoll(second, NULL, 10) * sysconf(_SC_PAGESIZE);
}

static int64_t
time_us(struct timeval time)
{
    return (int64_t)time.tv_sec * US_PER_SECOND + time.tv_usec;
}

void
cost_read(struct bench *bench, struct cost *ret_cost)
{
    struct rusage usage = {0};
    getrusage(RUSAGE_SELF, &usage);
    bool is_file = bench->db->driver->sql->statements[STMT_BENCH_LOG_BYTES] == NULL;
    *ret_cost = (struct cost){
        .mono_us = bench_mono_us(),
        .log_bytes = is_file ? written() : ask(bench, STMT_BENCH_LOG_BYTES),
        .transactions = ask(bench, STMT_BENCH_TRANSACTIONS),
        .wake_ups = usage.ru_nvcsw,
        .cpu_us = time_us(usage.ru_utime) + time_us(usage.ru_stime),
    };
}

void
sizes_read(struct bench *bench, struct sizes *ret_sizes)
{
    *ret_sizes = (struct sizes){-1, -1, -1};
    const struct driver *driver = bench->db->driver;
    struct rows *rows = NULL;
    owed_error err;
    if (driver->sql->statements[STMT_BENCH_SIZES] == NULL ||
        query(bench->db, STMT_BENCH_SIZES, NO_ARGS, &rows, &err) != OWED_OK)
        return;
    if (driver->next(rows))
        *ret_sizes = (struct sizes){driver->column(rows, 0).integer,
            driver->column(rows, 1).integer, driver->column(rows, 2).integer};
    (void)driver->finish(rows, NULL, &err);
}

static void
note(struct bench *bench, enum figure figure, int64_t before, int64_t now, double divisor)
{
    if (before >= 0 && now >= before && divisor > 0)
        report_set(bench->report, figure, (double)(now - before) / divisor);
}

void
cost_log(struct bench *bench, const struct cost *since, int64_t deliveries)
{
    struct cost now;
    cost_read(bench, &now);
    note(bench, FIGURE_LOG_BYTES, since->log_bytes, now.log_bytes, (double)deliveries);
}

void
cost_idle(struct bench *bench, const struct cost *since)
{
    struct cost now;
    cost_read(bench, &now);
    double seconds = (double)(now.mono_us - since->mono_us) / (double)US_PER_SECOND;
    note(bench, FIGURE_TRANSACTIONS, since->transactions, now.transactions, seconds);
    note(bench, FIGURE_WAKE_UPS, since->wake_ups, now.wake_ups, seconds);
    note(bench, FIGURE_CPU, since->cpu_us, now.cpu_us, seconds);
    note(bench, FIGURE_RESIDENT, 0, resident_bytes(), 1);
}

void
cost_sizes(struct bench *bench)
{
    struct sizes now;
    sizes_read(bench, &now);
    note(bench, FIGURE_DEAD_TUPLES, 0, now.dead_tuples, 1);
    note(bench, FIGURE_TABLE_BYTES, 0, now.table_bytes, 1);
    note(bench, FIGURE_INDEX_BYTES, 0, now.index_bytes, 1);
}
