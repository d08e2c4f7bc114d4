/* SPDX-License-Identifier: MIT
 *
 * prose.h - the texts of commands: paragraphs parted by an empty line, those that begin with four
 * blanks shown as they stand.
 */
#ifndef CLI_PROSE_H
#define CLI_PROSE_H

#include "base/buf.h"

/* prose_text wraps the paragraphs for a terminal, each line behind indent blanks. */
void prose_text(const char *prose, size_t indent, struct buf *text);

/* prose_mdoc writes them for a manual page. */
void prose_mdoc(const char *prose, struct buf *text);

/* prose_roff writes words so that no character of them is an order to roff. */
void prose_roff(struct buf *text, struct str words);

/* prose_sentence writes one line of help as a sentence for roff, and a line end. */
void prose_sentence(const char *help, struct buf *text);

#endif
