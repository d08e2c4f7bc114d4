/* SPDX-License-Identifier: MIT
 *
 * say.c - moments and steps, in the words of a reason.
 */
#include "operate/say.h"

#include <inttypes.h>

#include "base/moment.h"
#include "deliver/endpoints.h"

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

/* say_since says since when and until when, by whom, why. */
static void
say_since(struct buf *out, const struct facts *f, const struct paused_row *pause)
{
    buf_puts(out, " since ");
    say_moment(out, f, pause->paused_at_us);
    if (pause->paused_until_us != 0) {
        buf_puts(out, ", until ");
        say_moment(out, f, pause->paused_until_us);
    }
    if (pause->paused_by[0] != '\0')
        buf_printf(out, ", by %s", pause->paused_by);
    if (pause->reason[0] != '\0')
        buf_printf(out, " (%s)", pause->reason);
}

void
say_pause(struct buf *out, const struct facts *f)
{
    bool is_receiver = f->pause == NULL || f->pause->receiver_key[0] != '\0';
    buf_printf(out, "its %s %s is paused", is_receiver ? "receiver" : "lane",
        is_receiver ? f->row.receiver_key : f->pause->lane);
    if (f->pause == NULL)
        return;
    say_since(out, f, f->pause);
    buf_puts(out, "; `owed resume ");
    buf_puts(out, is_receiver ? "--receiver " : "");
    buf_printf(out, "%s` lets it go on", is_receiver ? f->row.receiver_key : f->pause->lane);
}

void
say_endpoint_pause(struct buf *out, const struct facts *f)
{
    buf_printf(out, "its endpoint %s is paused", f->row.target);
    say_since(out, f, f->endpoint_pause);
    buf_printf(out, "; `owed endpoint resume %s` lets it go on", f->row.target);
}

void
say_endpoint_end(struct buf *out, const struct facts *f)
{
    buf_printf(out, "its endpoint %s %s: it ends without a request when its turn comes, ",
        f->row.target, f->endpoint_end);
    bool is_due = f->row.available_at_us <= f->now_us;
    buf_puts(out, is_due ? "and it is due since " : "at ");
    say_moment(out, f, f->row.available_at_us);
    if (!f->served)
        buf_printf(out, ", and no relay that is alive serves lane %s", f->row.lane);
}

void
say_unsent(struct buf *out, const struct facts *f)
{
    buf_printf(out, "it " UNSENT "%s, at ", f->unsent);
    say_moment(out, f, f->row.succeeded_at_us);
}

void
say_put_off(struct buf *out, const struct facts *f)
{
    if (strcmp(f->receiver->pause, "target") != 0)
        buf_printf(out, "its lane %s", f->row.lane);
    else if (f->row.target[0] != '\0')
        buf_printf(out, "its target %s", f->row.target);
    else
        buf_printf(out, "its receiver %s", f->row.receiver_key);
    buf_printf(out, " is paused: delivery %" PRId64 " to %s was put off ", f->put_off.delivery_id,
        f->put_off.receiver_key);
    say_age(out, f, f->put_off.at_us);
    buf_printf(out,
        ", as its destination asked (%s), and a relay that heard of it starts nothing more "
        "there until ",
        f->put_off.error);
    say_moment(out, f, f->put_off.until_us);
    buf_puts(out, " at the latest");
}
