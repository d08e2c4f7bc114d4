/* SPDX-License-Identifier: MIT
 *
 * text.h - what others wrote, made fit to be shown and kept.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include "base/str.h"

/*
 * text_clean writes at most size - 1 bytes and a NUL: valid UTF-8, cut between characters. Bytes
 * that are no UTF-8 become '?', control characters blanks (line ends and tabs stay where lines is
 * set). Returns the length.
 */
size_t text_clean(char *ret, size_t size, struct str bytes, bool lines);

/* text_last_line returns the last line that holds more than blanks, trimmed; empty: there is none. */
struct str text_last_line(struct str text);

/* text_tail returns the end of the bytes, at most max of them, from the start of a character. */
struct str text_tail(struct str bytes, size_t max);

#endif
