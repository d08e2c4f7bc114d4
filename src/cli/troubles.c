/* SPDX-License-Identifier: MIT
 *
 * troubles.c - the pages of whoever is called at night: what to ask when something stands still, and what
 * owed doctor looks for.
 */
#include "cli/command.h"
#include "cli/prose.h"
#include "operate/doctor.h"

#define COMMANDS_SHOWN 4

/* What somebody sees, and what to type, in the order in which it is worth trying. */
static const struct {
    const char *seen;
    const char *means;
    const char *commands[COMMANDS_SHOWN];
} troubles[] = {
    {"Something is wrong, and nobody knows what.",
        "The first names every trouble that it finds, each with the command that sets it right: run those, and "
        "ask again until it says healthy. The second says how much is owed, since when, and who delivers.",
        {"owed doctor", "owed status"}},
    {"One delivery has not run.",
        "The first says why in a sentence, the second what its attempts came to. Its id is found with owed "
        "deliveries --event EVENT-ID.",
        {"owed explain DELIVERY-ID", "owed attempts DELIVERY-ID"}},
    {"Nothing is delivered at all.",
        "A relay that is alive says so every half minute. Without one nothing is delivered; the second command "
        "is one for every lane, for as long as it runs.",
        {"owed relays", "owed relay --all-lanes"}},
    {"A lane stands still.",
        "Either somebody has paused it, and the first command says who and why, or no relay serves it.",
        {"owed lanes", "owed resume LANE", "owed relay --lane LANE"}},
    {"Relays died and left claims behind.",
        "What they held is free once its lease is over; any relay takes it then. This one takes all that is "
        "due, and ends.",
        {"owed relay --once --all-lanes"}},
    {"Deliveries are dead.",
        "What made them fail comes first: the errors stand in the list. Then they are owed again, all of a "
        "receiver or those with one error.",
        {"owed deliveries --status dead", "owed requeue --receiver KEY",
            "owed requeue --receiver KEY --error TEXT"}},
    {"A receiver missed events that were fired before it was published.",
        "It is published, and they are owed to it once more; others are left alone.",
        {"owed publish", "owed replay --event NAME --since TIME --receiver KEY"}},
    {"A command says that the tables are of another version.",
        "Those of an older release are brought up to date; relays may run meanwhile.",
        {"owed migrate"}},
    {"The store grows and grows.",
        "Old events go once nobody is owed them; a relay does it by itself unless it was told not to.",
        {"owed prune --dry-run", "owed prune"}},
    {"Something that was declared does not happen.",
        "The configuration is read, with what it names on this machine, and held against the store.",
        {"owed check", "owed catalogue"}},
};

void
mdoc_troubles(struct buf *text)
{
    buf_puts(text, ".Sh TROUBLESHOOTING\n");
    for (size_t i = 0; i < sizeof troubles / sizeof troubles[0]; i++) {
        buf_puts(text, ".Ss ");
        struct str seen = str_of(troubles[i].seen);
        prose_roff(text, (struct str){seen.p, seen.len - 1}); // a heading has no full stop
        buf_putc(text, '\n');
        prose_mdoc(troubles[i].means, text);
        buf_puts(text, ".Bd -literal -offset indent\n");
        for (size_t k = 0; k < COMMANDS_SHOWN && troubles[i].commands[k] != NULL; k++) {
            prose_roff(text, str_of(troubles[i].commands[k]));
            buf_putc(text, '\n');
        }
        buf_puts(text, ".Ed\n");
    }
}

static const char *
store_of(const struct doctor_check *check)
{
    if (check->store == NULL)
        return "";
    return strcmp(check->store, "postgres") == 0 ? "PostgreSQL: "
        : strcmp(check->store, "mariadb") == 0   ? "MariaDB and MySQL: "
                                                 : "SQLite: ";
}

void
mdoc_checks(struct buf *text)
{
    buf_puts(text,
        ".Sh CHECKS\nEach finding begins with one of these words.\n.Bl -tag -width Ds\n"
        ".It Cm schema\n");
    prose_sentence("the tables are of another version; nothing else is looked at", text);
    for (const struct doctor_check *check = doctor_checks; check->name != NULL; check++) {
        buf_printf(text, ".It Cm %s\n", check->name);
        struct buf sentence;
        buf_init(&sentence, 4096);
        buf_printf(&sentence, "%s%s", store_of(check), check->about);
        prose_sentence(buf_text(&sentence), text);
        buf_done(&sentence);
    }
    buf_puts(text, ".El\n");
}
