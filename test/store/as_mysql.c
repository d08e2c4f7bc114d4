/* SPDX-License-Identifier: MIT
 *
 * as_mysql.c - MySQL's statements on a MariaDB server, in every test that this is linked into.
 *
 * Tests that name this file have store_open wrapped: what it opened is given the statements that were made
 * for MySQL, with the few words replaced which MariaDB has not. Other stores are left out.
 */
#include <stdlib.h>
#include <string.h>

#include <owed/error.h>

#include "store/driver.h"

extern const struct sql sql_mysql_here; // made from the one of MySQL

owed_status __real_store_open(
    const char *url, const struct db_options *options, struct db **ret_db, owed_error *err);
owed_status __wrap_store_open(
    const char *url, const struct db_options *options, struct db **ret_db, owed_error *err);

static struct driver here;

owed_status
__wrap_store_open(
    const char *url, const struct db_options *options, struct db **ret_db, owed_error *err)
{
    owed_status status = __real_store_open(url, options, ret_db, err);
    if (status == OWED_OK && (*ret_db)->driver == &driver_mariadb)
        (*ret_db)->driver = &here;
    return status;
}

/* leave_others_out keeps the URLs of MariaDB alone. */
__attribute__((constructor)) static void
leave_others_out(void)
{
    const char *said = getenv("OWED_TEST_STORES");
    char *list = strdup(said == NULL ? "" : said);
    char *rest = NULL;
    const char *kept = "";
    for (char *url = strtok_r(list, " ", &rest); url != NULL; url = strtok_r(NULL, " ", &rest))
        if (strncmp(url, "mariadb:", 8) == 0)
            kept = url;
    setenv("OWED_TEST_STORES", kept, 1);
    free(list);
    here = driver_mysql;
    here.sql = &sql_mysql_here;
}
