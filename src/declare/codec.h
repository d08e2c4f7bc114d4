/* SPDX-License-Identifier: MIT
 *
 * codec.h - a C struct as JSON, and back, by its descriptor.
 */
#ifndef DECLARE_CODEC_H
#define DECLARE_CODEC_H

#include <owed/event.h>

#include "base/arena.h"
#include "base/buf.h"

/* codec_check refuses a descriptor that could not be written or read: CONFIG, by name and path. */
owed_status codec_check(const owed_event_type *type, owed_error *err);

/* codec_same tells whether two descriptors say the same: the same one seen from two files, say. */
bool codec_same(const owed_event_type *a, const owed_event_type *b);

/* codec_encode appends the JSON object. CONFIG names event, path, and why the value has no JSON;
 * LIMIT where the buffer's maximum was reached. */
owed_status codec_encode(
    const owed_event_type *type, const void *value, struct buf *json, owed_error *err);

/*
 * codec_decode checks the text and fills a struct in the arena; fallbacks are pointed at where they
 * stand. A text of an older version is read by the type of its time, and upgraded. INVALID names event, version, path, what was expected and what came. LIMIT: arrays that
 * would take more than LIMIT_DECODED_BYTES. For an opaque type *ret_value is a const owed_bytes *
 * over the text itself.
 */
owed_status codec_decode(const owed_event_type *type, int32_t version, struct str json,
    struct arena *arena, const void **ret_value, owed_error *err);

/* codec_describe appends the fields as a JSON array, for the catalogue. pointers (NULL: none) lists, by
 * blanks, what is secret besides: it stands there as a field of kind "pointer", as does what was
 * secret in an older version and is no more. */
void codec_describe(const owed_event_type *type, const char *pointers, struct buf *json);

#endif
