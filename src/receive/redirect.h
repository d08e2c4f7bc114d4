/* SPDX-License-Identifier: MIT
 *
 * redirect.h - answers that send a request to another URL of the same host.
 */
#ifndef RECEIVE_REDIRECT_H
#define RECEIVE_REDIRECT_H

#include "receive/call.h"

/* redirect_problem says why nobody is sent from one place to another; NULL: he may be, as far as his host's address is
 * right. */
const char *redirect_problem(const struct place *from, const struct place *to);

/*
 * redirect_take tells whether the answer is a redirect that is followed, and takes the call to its URL, which is to be looked
 * up and called as the first was. false: the call stays where it is, and stopped says why, if it was a redirect at all.
 */
bool redirect_take(struct call *call);

#endif
