/* SPDX-License-Identifier: MIT
 *
 * rows.h - how the rows of the store are shown, whichever command shows them.
 */
#ifndef CLI_ROWS_H
#define CLI_ROWS_H

#include "cli/fields.h"
#include "store/look.h"

extern const struct field event_fields[];       // of struct event_row, in a list
extern const struct field event_whole_fields[]; // the same with its payload
extern const struct field event_link_fields[];  // of a struct event_row that has only id and name
extern const struct field delivery_fields[];    // of struct delivery_row
extern const struct field attempt_fields[];     // of struct attempt_row
extern const struct field relay_fields[];       // of struct shown_relay

/* A worker of a relay, and whether it lives. */
struct shown_relay {
    struct relay_row row;
    bool alive;
    int64_t age_us; // since it last said so
};
struct cli;
/* attempts_in_words puts into the column of errors of those that ended without a request why they did, for people. */
void attempts_in_words(struct attempt_row *rows, size_t count);
struct shown_relay *show_relays(struct cli *cli, const struct relay_row *rows, size_t count);

#endif
