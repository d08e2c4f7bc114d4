/* SPDX-License-Identifier: MIT
 *
 * notify.h - telling the service manager how we are: sd_notify's protocol (NOTIFY_SOCKET).
 */
#ifndef BASE_NOTIFY_H
#define BASE_NOTIFY_H

#include <stdint.h>

/* notify_send sends "READY=1" and the like; without a service manager it does nothing. */
void notify_send(const char *state);

/* notify_watchdog_us is how often the manager wants to hear "WATCHDOG=1" at the least; 0: never. */
int64_t notify_watchdog_us(void);

/* notify_forget takes the manager's words out of the environment, before another program is run. */
void notify_forget(void);

#endif
