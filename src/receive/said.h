/* SPDX-License-Identifier: MIT
 *
 * said.h - what a program said of its own outcome.
 *
 * The exit status alone is enough. A program that wants to be exact ends its output with one line of
 * JSON: {"outcome":"retry_after","seconds":120,"reason":"busy"}; it counts for more than the status.
 * The words are done, failed, permanent, retry_after and defer with "seconds", not_yet with "until"
 * (RFC 3339).
 */
#ifndef RECEIVE_SAID_H
#define RECEIVE_SAID_H

#include "deliver/delivery.h"

/* exit_verdict: 0 is done; 64, 65, 67, 68, 69, 77 and 78 are permanent; all else failed. */
owed_verdict exit_verdict(int status);

/* exit_name is the word of sysexits.h, "EX_DATAERR"; NULL for a number without one. */
const char *exit_name(int status);

/*
 * said_outcome reads the last line of a program's output; false: it says nothing about the outcome.
 * what names the program in texts. A word nobody knows, or a wait that is none, is a failure that
 * says so.
 */
bool said_outcome(
    owed_delivery *delivery, const char *what, struct str output, owed_outcome *ret_outcome);

#endif
