/* SPDX-License-Identifier: MIT
 *
 * token.h - a token that is kept until shortly before it ends, and made anew by one thread alone.
 */
#ifndef NOTIFY_CHANNELS_TOKEN_H
#define NOTIFY_CHANNELS_TOKEN_H

#include <owed/notify.h>

#include <pthread.h>

#include "base/buf.h"

#define TOKEN_BYTES ((size_t)8 * 1024)

/* A token, as it was made. */
struct token_made {
    struct buf text;  // empty, up to TOKEN_BYTES
    int64_t renew_us; // of monotonic time from now: then it is made anew
    int64_t end_us;   // no longer good, likewise
};

/* token_make fills in what it made; false: it could not, and answer says why. */
typedef bool token_make(void *state, struct token_made *ret_made, owed_answer *answer);

struct token {
    owed_clock clock;
    token_make *make;
    void *state;          // of make
    pthread_mutex_t lock; // of what follows
    pthread_cond_t changed;
    char *text; // NULL: none
    int64_t renew_at_us;
    int64_t end_at_us;
    uint64_t round; // of making; grows with each end of one
    bool is_being_made;
    owed_answer failure; // of the last round, where nothing was made
};

void token_init(struct token *token, owed_clock clock, token_make *make, void *state);
void token_done(struct token *token);

/* token_take appends the token, and tells its round. Of many threads that need a new one, one makes it, and the others wait
 * for it, or go on with the one that is still good; where it fails, it fails for all that waited. False: answer says
 * why. */
bool token_take(
    struct token *token, struct buf *ret_text, uint64_t *ret_round, owed_answer *answer);

/* token_drop throws away the token of a round, unless it is another one already. */
void token_drop(struct token *token, uint64_t round);

#endif
