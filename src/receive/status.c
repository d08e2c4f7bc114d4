/* SPDX-License-Identifier: MIT
 *
 * status.c - one table of statuses.
 */
#include "receive/status.h"

#include <stddef.h>

struct status {
    long number;
    const char *reason;
    bool may_pass; // a failure, not the end
    bool may_wait; // Retry-After is obeyed
};

static const struct status statuses[] = {
    {200, "OK", false, false},
    {201, "Created", false, false},
    {202, "Accepted", false, false},
    {204, "No Content", false, false},
    {301, "Moved Permanently", false, false},
    {302, "Found", false, false},
    {303, "See Other", false, false},
    {307, "Temporary Redirect", false, false},
    {308, "Permanent Redirect", false, false},
    {400, "Bad Request", false, false},
    {401, "Unauthorized", false, false},
    {403, "Forbidden", false, false},
    {404, "Not Found", false, false},
    {405, "Method Not Allowed", false, false},
    {406, "Not Acceptable", false, false},
    {408, "Request Timeout", true, true},
    {409, "Conflict", false, false},
    {410, "Gone", false, false},
    {411, "Length Required", false, false},
    {413, "Content Too Large", false, false},
    {414, "URI Too Long", false, false},
    {415, "Unsupported Media Type", false, false},
    {421, "Misdirected Request", false, false},
    {422, "Unprocessable Content", false, false},
    {425, "Too Early", true, true},
    {429, "Too Many Requests", true, true},
    {431, "Request Header Fields Too Large", false, false},
    {451, "Unavailable For Legal Reasons", false, false},
    {500, "Internal Server Error", true, false},
    {501, "Not Implemented", true, false},
    {502, "Bad Gateway", true, false},
    {503, "Service Unavailable", true, true},
    {504, "Gateway Timeout", true, false},
    {507, "Insufficient Storage", true, false},
};

static const struct status *
find(long number)
{
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        if (statuses[i].number == number)
            return &statuses[i];
    }
    return NULL;
}

owed_verdict
status_verdict(long status)
{
    if (status >= 200 && status < 300)
        return OWED_VERDICT_DONE;
    const struct status *known = find(status);
    bool may_pass = known != NULL ? known->may_pass : status >= 500 && status < 600;
    return may_pass ? OWED_VERDICT_FAILED : OWED_VERDICT_PERMANENT;
}

const char *
status_reason(long status)
{
    const struct status *known = find(status);
    return known == NULL ? "" : known->reason;
}

bool
status_may_wait(long status)
{
    const struct status *known = find(status);
    return known != NULL && known->may_wait;
}
