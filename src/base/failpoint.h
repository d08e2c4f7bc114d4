/* SPDX-License-Identifier: MIT
 *
 * failpoint.h - places where a test may kill the process, in builds made for tests.
 *
 * OWED_FAILPOINT=name:n ends the process with SIGKILL when the place is reached for the n-th time;
 * n is 1 where it is not given.
 */
#ifndef BASE_FAILPOINT_H
#define BASE_FAILPOINT_H

#ifdef OWED_FAILPOINTS
void failpoint(const char *name);
#else
static inline void
failpoint(const char *name)
{
    (void)name;
}
#endif

#endif
