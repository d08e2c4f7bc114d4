/* SPDX-License-Identifier: MIT
 *
 * json_line.h - members of an object that is one line.
 */
#ifndef RECEIVE_JSON_LINE_H
#define RECEIVE_JSON_LINE_H

#include "base/buf.h"

/* json_line_text appends ,"key":"value"; the value may be of unknown origin. */
void json_line_text(struct buf *line, const char *key, const char *value);

/* json_line_payload appends checked JSON as it is, but for line ends between its values. */
void json_line_payload(struct buf *line, struct str payload);

#endif
