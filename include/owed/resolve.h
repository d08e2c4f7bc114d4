/* SPDX-License-Identifier: MIT
 *
 * resolve.h - how the host of an endpoint becomes addresses.
 */
#ifndef OWED_RESOLVE_H
#define OWED_RESOLVE_H

#include <owed/error.h>

OWED_BEGIN_DECLS

/*
 * A function in the place of getaddrinfo: it adds the addresses of host, at least one. What it answers is checked
 * like any other answer. It may be called from several threads at once, and may take its time there.
 */
typedef struct owed_address_list owed_address_list;
typedef owed_status (*owed_resolve)(
    const char *host, void *state, owed_address_list *list, owed_error *err);

/* owed_address_add takes "192.0.2.1" or "2001:db8::1". INVALID: no such text. LIMIT: more than 16. */
OWED_API owed_status owed_address_add(
    owed_address_list *list, const char *address, owed_error *err);

OWED_END_DECLS

#endif
