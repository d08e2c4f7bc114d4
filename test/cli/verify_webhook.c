/* SPDX-License-Identifier: MIT
 *
 * verify_webhook.c - a receiver of webhooks: ID TIMESTAMP SIGNATURES SECRET... < body; 1 where it would refuse it.
 */
#include <stdio.h>

#include <owed/endpoint.h>

int
main(int argc, char **argv)
{
    static char body[1 << 20];
    owed_error err = {0};
    if (argc < 5)
        return 64;
    const owed_webhook webhook = {.id = argv[1],
        .timestamp = argv[2],
        .signature = argv[3],
        .body = body,
        .body_len = fread(body, 1, sizeof body, stdin)};
    // Of all arguments those that are left are the secrets, to a NULL.
    owed_status status = owed_webhook_verify(&webhook, (const char *const *)(argv + 4), 0, 0, &err);
    if (status != OWED_OK)
        fprintf(stderr, "%s\n", err.text);
    return status == OWED_OK ? 0 : 1;
}
