/* SPDX-License-Identifier: MIT
 *
 * trouble.h - a store that fails: noted, waited for, opened anew.
 */
#ifndef DELIVER_TROUBLE_H
#define DELIVER_TROUBLE_H

#include <owed/error.h>

#include <stdbool.h>

struct worker;

struct trouble {
    bool now;
    int failures; // in a row
    owed_error error;
    owed_error logged; // the last one that was logged
};

void trouble(struct worker *worker, const char *doing, const owed_error *err);
/* trouble_mend waits, then retries; trouble_retry opens the store anew and makes good. */
void trouble_mend(struct worker *worker);
owed_status trouble_retry(struct worker *worker, owed_error *err);
void trouble_over(struct worker *worker);

#endif
