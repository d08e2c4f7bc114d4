/* SPDX-License-Identifier: MIT
 *
 * postgres_wake.c - noticing that another process wrote.
 */
#include "store/postgres.h"

int
postgres_wake_fd(struct db *db)
{
    (void)db;
    return -1;
}

bool
postgres_changed(struct db *db)
{
    (void)db;
    return false;
}

void
postgres_wake_close(struct postgres_db *conn)
{
    (void)conn;
}
