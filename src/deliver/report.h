/* SPDX-License-Identifier: MIT
 *
 * report.h - what the log and on_failure are told of single deliveries, once it is recorded.
 */
#ifndef DELIVER_REPORT_H
#define DELIVER_REPORT_H

#include "deliver/ledger.h"

/* report.c: log lines. */
void report_failure(
    struct worker *worker, const struct settlement *settlement, const struct note *note);
void report_success(
    struct worker *worker, const struct settlement *settlement, const struct note *note);
void report_cut(
    struct worker *worker, const struct settlement *settlement, const struct note *note);
void report_unbounded(struct worker *worker, const struct note *note);
void report_not_yet(
    struct worker *worker, const struct settlement *settlement, const struct note *note);
void report_not_sent(
    struct worker *worker, const struct settlement *settlement, const struct note *note);
void report_stale(struct worker *worker, const struct fence *fence, const char *why);
void report_expanded(
    struct worker *worker, const struct settlement *settlement, const struct note *note);
void report_discarded(
    struct worker *worker, const struct settlement *settlement, const struct note *note);
void report_lost(struct worker *worker, const struct claimed *row);
void report_left(struct worker *worker, const struct claimed *row, const char *why);

/* failure.c: failure_note keeps what on_failure is going to be told, if it is; failure_tell calls it. */
void failure_note(struct ledger *ledger, const struct ended *ended, struct note *note);
void failure_tell(
    struct worker *worker, const struct settlement *settlement, const struct note *note);

#endif
