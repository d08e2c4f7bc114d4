/* SPDX-License-Identifier: MIT
 *
 * delivery.h - one attempt, as a receiver sees it.
 */
#ifndef DELIVER_DELIVERY_H
#define DELIVER_DELIVERY_H

#include "deliver/handle.h"

#define DELIVERY_NOTES 16

/* What an attempt leaves beside its outcome. */
struct delivery_left {
    const char *result;     // goes to the row, whatever came of it; NULL: nothing
    const char *heard_from; // the target that it heard from; NULL: the row's
    void (*over)(
        void *state); // called once all of it is recorded, or will never be; NULL: nothing is
    void *state;
};

struct owed_delivery {
    owed *owed;
    const struct receiver *receiver;
    const struct claimed *row; // for INLINE and ON_COMMIT one made up of the event's facts, id 0
    int32_t attempt;           // from 1
    char *idempotency_key;     // "": not asked for yet

    const struct slot *slot; // where its worker is told that the row was taken; NULL: nowhere

    struct errand *errand; // it was handed to a start function; NULL: it was not

    owed_tx *tx; // what owed_delivery_tx hands out, once begun
    /* begin is called by the first owed_delivery_tx; NULL: this delivery has no transaction. */
    owed_status (*begin)(owed_delivery *delivery, owed_error *err);
    void *begin_state;
    owed_error begin_error; // of a begin that failed: then the outcome does not count

    owed_around around; // as it was when it was entered; enter NULL: it was not, or was left again
    void *around_state; // of this attempt
    bool hook_failed;   // it could not be entered: the receiver did not run

    struct arena *arena; // of what goes with the delivery
    struct log_field *notes;
    size_t note_count;

    struct delivery_left left; // what a start function left with it
    bool keeps;                // what its function wrote and fired is kept, whatever it returns

    char *text; // last text of an outcome function; error_length bytes and a NUL; NULL: none yet
    size_t text_size;
    bool text_set;
};

/* delivery_init fills in the facts; text_size bytes for the outcome's text come from the arena. What a receiver
 * in C may never ask for, that text and the key, comes when it does: such a one runs on the thread that has
 * the arena. */
owed_status delivery_init(owed_delivery *delivery, owed *owed, const struct receiver *receiver,
    const struct claimed *row, size_t text_size, struct arena *arena, owed_error *err);

/* delivery_call decodes nothing: it calls run and makes sense of what came back (a made-up verdict
 * is a failure that says so). */
owed_outcome delivery_call(owed_delivery *delivery, const void *payload);

/* delivery_make_sense turns what who returned into an outcome that can be recorded. */
owed_outcome delivery_make_sense(owed_delivery *delivery, owed_outcome outcome, const char *who);

/* delivery_leave leaves something with what start was handed, before it is finished; false: nobody waits for it any
 * more, and what was to be left is still the caller's. delivery_keep is for a function to finish with: what it
 * writes and fires stands also where it is not done. */
bool delivery_leave(owed_delivery *delivery, const struct delivery_left *left);
void delivery_keep(owed_delivery *delivery);

/* delivery_is_over calls what was left for the end. */
void delivery_is_over(const owed_delivery *delivery);

/* delivery_text is what was said last, "" if nothing was; delivery_forget_text is for another try. */
const char *delivery_text(const owed_delivery *delivery);
void delivery_forget_text(owed_delivery *delivery);

/* delivery_say sets the outcome's text. */
void delivery_say(owed_delivery *delivery, const char *format, ...) OWED_PRINTF(2, 3);

#endif
