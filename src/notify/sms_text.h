/* SPDX-License-Identifier: MIT
 *
 * sms_text.h - how many segments a text takes as an SMS (3GPP TS 23.038, TS 23.040).
 *
 * A text of the GSM alphabet is sent in septets, 160 to a message; any other in UTF-16, 70 units. What is longer
 * goes in segments of 153 or 67, each with a header by which the phone joins them again.
 */
#ifndef NOTIFY_SMS_TEXT_H
#define NOTIFY_SMS_TEXT_H

#include <stdint.h>

#include "base/str.h"

/* Zeroed: of no text. */
struct sms_count {
    size_t septets;      // of all so far, were it in GSM's alphabet
    size_t units;        // in UTF-16
    size_t gsm_segments; // that have been filled
    size_t gsm_used;     // septets of the one that has not
    size_t utf16_segments;
    size_t utf16_used;
    bool is_utf16; // something in it is not in GSM's alphabet
};

/* sms_count_add takes one more character. No segment ends within it. */
void sms_count_add(struct sms_count *count, uint32_t point);

/* sms_count_segments says how many segments that makes; 0: of nothing. */
size_t sms_count_segments(const struct sms_count *count);

/* sms_count_of counts a whole text, which is UTF-8. */
struct sms_count sms_count_of(struct str text);

#endif
