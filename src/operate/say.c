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

void
say_pause(struct buf *out, const struct facts *f)
{
    bool is_receiver = f->pause == NULL || f->pause->receiver_key[0] != '\0';
    buf_printf(out, "its %s %s is paused", is_receiver ? "receiver" : "lane",
        is_receiver ? f->row.receiver_key : f->pause->lane);
    if (f->pause == NULL)
        return;
    buf_puts(out, " since ");
    say_moment(out, f, f->pause->paused_at_us);
    if (f->pause->paused_until_us != 0) {
        buf_puts(out, ", until ");
        say_moment(out, f, f->pause->paused_until_us);
    }
    if (f->pause->paused_by[0] != '\0')
        buf_printf(out, ", by %s", f->pause->paused_by);
    if (f->pause->reason[0] != '\0')
        buf_printf(out, " (%s)", f->pause->reason);
    buf_puts(out, "; `owed resume ");
    buf_puts(out, is_receiver ? "--receiver " : "");
    buf_printf(out, "%s` lets it go on", is_receiver ? f->row.receiver_key : f->pause->lane);
}
