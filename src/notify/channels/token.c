/* SPDX-License-Identifier: MIT
 *
 * token.c - a token that is kept until shortly before it ends.
 */
#include "notify/channels/token.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/secret_file.h"

#define AGAIN_US (30 * US_PER_SECOND) // after a failure, while the old one is good

void
token_init(struct token *token, owed_clock clock, token_make *make, void *state)
{
    *token = (struct token){.clock = clock_or_system(clock), .make = make, .state = state};
    pthread_mutex_init(&token->lock, NULL);
    pthread_cond_init(&token->changed, NULL);
}

void
token_done(struct token *token)
{
    secret_free(token->text);
    token->text = NULL;
    pthread_mutex_destroy(&token->lock);
    pthread_cond_destroy(&token->changed);
}

static bool
is_good(const struct token *token, int64_t now_us)
{
    return token->text != NULL && now_us < token->end_at_us;
}

/* keep puts what was made in the place of what was there. */
static void
keep(struct token *token, struct token_made *made, int64_t now_us)
{
    char *text = made->text.failed ? NULL : strdup(buf_text(&made->text));
    if (text == NULL) {
        token->failure = (owed_answer){.reason = "out of memory"};
        return;
    }
    secret_free(token->text);
    token->text = text;
    token->renew_at_us = now_us + made->renew_us;
    token->end_at_us = now_us + made->end_us;
}

/* put_off has those who go on with the old one not ask each time. */
static void
put_off(struct token *token, const owed_answer *answer, int64_t now_us)
{
    token->failure = *answer;
    token->renew_at_us = now_us + AGAIN_US;
}

/* make_one is called with the lock, and gives it up meanwhile. */
static void
make_one(struct token *token)
{
    struct token_made made = {0};
    owed_answer answer = {0};
    buf_init(&made.text, TOKEN_BYTES);
    token->is_being_made = true;
    // Its time counts from before it was asked for: an answer may take long.
    int64_t now_us = clock_monotonic_us(&token->clock);
    pthread_mutex_unlock(&token->lock);
    bool is_made = token->make(token->state, &made, &answer);
    pthread_mutex_lock(&token->lock);
    if (is_made)
        keep(token, &made, now_us);
    else
        put_off(token, &answer, now_us);
    if (made.text.p != NULL)
        explicit_bzero(made.text.p, made.text.len);
    buf_done(&made.text);
    token->is_being_made = false;
    token->round++;
    pthread_cond_broadcast(&token->changed);
}

bool
token_take(struct token *token, struct buf *ret_text, uint64_t *ret_round, owed_answer *answer)
{
    pthread_mutex_lock(&token->lock);
    int64_t now_us = clock_monotonic_us(&token->clock);
    uint64_t round = token->round;
    bool is_due = !is_good(token, now_us) || now_us >= token->renew_at_us;
    if (is_due && !token->is_being_made)
        make_one(token);
    else
        while (token->is_being_made && token->round == round && !is_good(token, now_us))
            pthread_cond_wait(&token->changed, &token->lock);
    bool is_taken = is_good(token, now_us);
    if (is_taken)
        buf_puts(ret_text, token->text);
    else
        *answer = token->failure;
    *ret_round = token->round;
    pthread_mutex_unlock(&token->lock);
    return is_taken;
}

void
token_drop(struct token *token, uint64_t round)
{
    pthread_mutex_lock(&token->lock);
    if (token->round == round && !token->is_being_made) {
        secret_free(token->text);
        token->text = NULL;
        token->failure = (owed_answer){.reason = "the provider took the token for none"};
    }
    pthread_mutex_unlock(&token->lock);
}
