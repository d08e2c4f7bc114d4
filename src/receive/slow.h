/* SPDX-License-Identifier: MIT
 *
 * slow.h - calls that take long: they leave places and lines to others.
 */
#ifndef RECEIVE_SLOW_H
#define RECEIVE_SLOW_H

#include "receive/calls.h"

/* slow_leave_places looks now and then for those that fly, or are looked up, for longer than a second; true: others have
 * more room than before. Who has waited in line for so long is put off. */
bool slow_leave_places(struct calls *calls);

#endif
