/* SPDX-License-Identifier: MIT
 *
 * act.h - commands that act on many rows: they count first, ask a person, show how far they are, and say
 * who it was.
 */
#ifndef CLI_ACT_H
#define CLI_ACT_H

#include "cli/common.h"
#include "cli/progress.h"
#include "operate/act.h"

#define ACT_DRY_RUN \
    { \
        .name = "dry-run", .type = OPTION_BOOL, .help = "count them, and change nothing" \
    }
#define ACT_YES \
    { \
        .name = "yes", .letter = 'y', .type = OPTION_BOOL, \
        .help = "do not ask, however many there are" \
    }

/* act_ids reads the operands as ids; what names the kind of thing. Returns an exit code. */
int act_ids(struct cli *cli, const char *what, const int64_t **ret_ids, size_t *ret_count);

/* act_warn_unknown: of a misspelt key nothing is found, which looks as though all were well. */
void act_warn_unknown(struct cli *cli, const char *key);

/* act_warn_left names each of the ids that is in none of these states (NULL-ended) and so is left alone; to be
 * called before anything is done. */
void act_warn_left(struct cli *cli, const int64_t *ids, size_t count, const char *const *states,
    const char *not_so);

/* act_is_dry and act_asks read these two: a person at a terminal is asked, a script has said what it wants. */
bool act_is_dry(const struct cli *cli);
bool act_asks(const struct cli *cli);

/* act_confirm asks, above 1,000, "QUESTION [y/N] "; the question holds one PRId64. false: no. */
bool act_confirm(int64_t count, const char *question);

/* act_fill says who acts and by which words, and shows how far it is while progress is there. */
struct acting act_fill(struct cli *cli, struct progress *progress);

#endif
