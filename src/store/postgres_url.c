/* SPDX-License-Identifier: MIT
 *
 * postgres_url.c - postgres://user@host:port/database, as libpq reads it.
 *
 * What is not in the URL comes from where libpq takes it: the environment, a service, .pgpass. Nothing
 * of a URL is ever shown: what stands in the wrong place of one may be the password.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "store/postgres.h"

static owed_status
bad_url(const char *what, owed_error *err)
{
    return fail(err, OWED_CONFIG,
        "the store URL %s; write postgres://user@host:5432/database, or postgres:///?service=shop, "
        "and keep the password in .pgpass or PGPASSWORD",
        what);
}

static bool
is_port_list(const char *text)
{
    return text[strspn(text, "0123456789,")] == '\0';
}

/* check_options finds what libpq would refuse only later, in words that show it. */
static owed_status
check_options(const PQconninfoOption *options, owed_error *err)
{
    for (; options->keyword != NULL; options++)
        if (strcmp(options->keyword, "port") == 0 && !is_port_list(or_empty(options->val)))
            return bad_url("has a port that is no number", err);
    return OWED_OK;
}

static void
free_options(PQconninfoOption **options)
{
    PQconninfoFree(*options);
}

static void
free_text(char **text)
{
    PQfreemem(*text);
}

owed_status
postgres_check_url(const char *url, owed_error *err)
{
    const char *colon = strchr(url, ':');
    if (colon == NULL || strncmp(colon, "://", 3) != 0)
        return bad_url("has no // after its scheme", err);
    CLEANUP(free_text) char *said = NULL;
    CLEANUP(free_options) PQconninfoOption *options = PQconninfoParse(url, &said);
    if (options == NULL && said == NULL)
        return fail_memory(err);
    if (options == NULL)
        return bad_url(
            "is none that libpq can read: a %, an option or a bracket in it is wrong", err);
    return check_options(options, err);
}
