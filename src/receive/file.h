/* SPDX-License-Identifier: MIT
 *
 * file.h - one line of JSON appended to a file for each delivery.
 */
#ifndef RECEIVE_FILE_H
#define RECEIVE_FILE_H

#include "base/buf.h"
#include "deliver/delivery.h"

/*
 * file_append writes {"delivery":1,"event_id":1,"event":"...","receiver":"...","attempt":1,
 * "idempotency_key":"...","payload":...} and a line end, in one write to a file opened for
 * appending: lines of several processes never mix. The payload's bytes are as they were fired, but
 * for line ends between its values, which become blanks. A file is opened each time, so that one
 * which was moved away is begun anew. Nothing is synced: a line is safe from the death of the
 * process, not from that of the machine.
 */
owed_outcome file_append(owed_delivery *delivery);

/* file_line appends that line to text; false: the payload is not JSON. */
bool file_line(const owed_delivery *delivery, struct buf *text);

#endif
