/* SPDX-License-Identifier: MIT
 *
 * endpoints.h - endpoints as a relay meets them: looked up before a request, and what it came to beside its outcome.
 */
#ifndef DELIVER_ENDPOINTS_H
#define DELIVER_ENDPOINTS_H

#include "deliver/outside.h"
#include "store/endpoints.h"

struct worker;
struct ledger;
struct sortie;

#define PING_EVENT "owed.Ping"             // of owed_endpoint_test
#define UNSENT "ended without a request: " // before why, in what is kept of such an attempt

/* What was read of an endpoint. It stays for as long as a flight needs it. */
struct card {
    struct arena arena;
    struct endpoint_row row; // id alone where it is gone
    bool is_gone;
    int64_t read_mono_us;
    int32_t users; // flights, and the worker's tree
};

/* endpoint_keeps tells whether an operator has it wait, so that what is owed to it is to be kept. */
bool endpoint_keeps(const struct endpoint_row *row, int64_t now_us);

/* cards_ready looks up those of what waits that were not looked up for a second; false is trouble. */
bool cards_ready(struct worker *worker);
/* card_take hands out the card of a target, NULL where none was looked up. card_drop takes NULL. */
const struct card *card_take(struct worker *worker, const char *target);
void card_drop(const struct card *card);
/* card_forget has one looked up anew. */
void card_forget(struct worker *worker, const char *id);
void cards_done(struct worker *worker);

/*
 * endpoints_flush is ledger_flush for a ledger of what landed first, in that order: where a delivery to an
 * endpoint is dead, was answered with 410, or succeeded after others were dead, that is written in the same
 * transaction, and whoever disables an endpoint fires owed.EndpointDisabled in it.
 */
owed_status endpoints_flush(
    struct worker *worker, struct ledger *ledger, const struct sortie *first, owed_error *err);

/* endpoints_see_to_kept makes due what was just written as kept for a pause that is over by now: of the so many that
 * landed first. endpoints_kept.c */
owed_status endpoints_see_to_kept(
    struct worker *worker, const struct sortie *first, size_t count, owed_error *err);

#endif
