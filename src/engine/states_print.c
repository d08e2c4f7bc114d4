/* SPDX-License-Identifier: MIT
 *
 * states_print.c - the table for ARCHITECTURE.md.
 */
#include "base/buf.h"
#include "engine/states.h"

static void
add_arrow(struct buf *text, const char *from, const char *to, const char *happening)
{
    buf_printf(text, "    %s --> %s%s%s\n", from, to, happening == NULL ? "" : ": ",
        happening == NULL ? "" : happening);
}

static void
add_diagram(struct buf *text)
{
    buf_puts(text, "```mermaid\nstateDiagram-v2\n");
    for (size_t i = 0; i < edge_count; i++)
        add_arrow(text, edges[i].from == STATE_NONE ? "[*]" : state_name(edges[i].from),
            state_name(edges[i].to), happening_name(edges[i].happening));
    for (int state = STATE_PENDING; state < STATE_COUNT; state++)
        if (state_is_terminal((enum state)state))
            add_arrow(text, state_name((enum state)state), "[*]", NULL);
    buf_puts(text, "```\n");
}

static void
add_list(struct buf *text)
{
    buf_puts(text, "| from | what happens | to | because |\n| --- | --- | --- | --- |\n");
    for (size_t i = 0; i < edge_count; i++)
        buf_printf(text, "| %s | %s | %s | %s |\n",
            edges[i].from == STATE_NONE ? "" : state_name(edges[i].from),
            happening_name(edges[i].happening), state_name(edges[i].to), edges[i].sentence);
}

void
states_print(struct buf *text)
{
    add_diagram(text);
    buf_putc(text, '\n');
    add_list(text);
}
