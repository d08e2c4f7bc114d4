/* SPDX-License-Identifier: MIT
 *
 * endpoint_shown.h - endpoints as owed endpoint shows them.
 */
#ifndef CLI_ENDPOINT_SHOWN_H
#define CLI_ENDPOINT_SHOWN_H

#include "cli/common.h"

/* endpoint_print_secret prints what the customer verifies with: the secret, or the public key. */
void endpoint_print_secret(struct cli *cli, const char *id, const char *secret);
int endpoint_list(struct cli *cli, const char *none);
int endpoint_show(struct cli *cli, const char *id);

#endif
