/* SPDX-License-Identifier: MIT
 *
 * say.c - moments and steps, in the words of a reason.
 */
#include "operate/say.h"

#include "base/moment.h"

void
say_age(struct buf *out, const struct facts *f, int64_t at_us)
{
    char text[MOMENT_BYTES];
    int64_t age = f->now_us - at_us;
    buf_puts(out, duration_rough(age < 0 ? -age : age, text));
    buf_puts(out, age < 0 ? " from now" : " ago");
}

void
say_moment(struct buf *out, const struct facts *f, int64_t at_us)
{
    char text[MOMENT_BYTES];
    buf_puts(out, moment_write(at_us, text));
    buf_puts(out, " (");
    say_age(out, f, at_us);
    buf_putc(out, ')');
}

void
say_edge(struct buf *out, enum state from, enum happening happening)
{
    const struct edge *edge = edge_find(from, happening);
    buf_puts(out, edge == NULL ? "" : edge->sentence);
}
