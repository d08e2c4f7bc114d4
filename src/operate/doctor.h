/* SPDX-License-Identifier: MIT
 *
 * doctor.h - looking for trouble in a live store: one table of checks (doctor_checks.c), and how what they
 * find is said, with the command that sets it right.
 */
#ifndef OPERATE_DOCTOR_H
#define OPERATE_DOCTOR_H

#include "base/buf.h"
#include "declare/registry.h"
#include "store/doctor.h"

#define DOCTOR_MOST 10000 // rows of one sort are counted up to so many

struct doctor {
    struct db *db;
    const char *url;
    const char *words; // follow a command of ours, so that it finds the same store; or ""
    const owed_registry *registry; // what is declared here; NULL: nobody knows
    int64_t now_us;                // by the store's clock
    int64_t host_now_us;           // by this machine's, at the same moment
    int64_t retention_us;          // of events, as a relay here has it
    int64_t long_us;               // a transaction that is open for so long is an old one
    struct arena *arena;
};

struct doctor_check;
typedef owed_status (*doctor_look)(const struct doctor *doctor, const struct doctor_check *check,
    struct trouble **ret_troubles, size_t *ret_count, owed_error *err);

/* How the command of a remedy begins. */
enum remedy_by {
    BY_OWED,  // "owed"
    BY_SQL,   // the store's own client, with one statement
    BY_SHELL, // as it stands
};

/*
 * One thing to look for. sentence and remedy are templates (doctor_say.c). takes names the arguments of
 * the statement, a letter each: t the threshold, l doctor.long_us, n now, m DOCTOR_MOST, 0 and 1 these numbers.
 */
struct doctor_check {
    const char *name;  // a word for programs
    const char *store; // the only dialect that has it; NULL: all
    enum stmt stmt;
    const char *takes;
    doctor_look look; // NULL: the statement alone
    int64_t threshold;
    const char *about; // what is wrong and from when on, for the manual
    const char *sentence;
    enum remedy_by by;
    const char *remedy;
    const char *also; // another statement of BY_SQL; NULL: none
    bool is_note;     // what cannot be seen: it is said, and is no trouble
};
extern const struct doctor_check doctor_checks[]; // ends with a NULL name

/* One thing found. Texts are in the arena. */
struct doctor_finding {
    const char *check;
    const char *state; // "found"; "unseen": nobody knows
    const char *subject;
    const char *sentence;
    const char *command; // ""
};
typedef void (*doctor_print)(void *state, const struct doctor_finding *finding);

/*
 * doctor_run makes every check that fits the store and prints what it finds. A check that the store refuses
 * is printed as unseen. *ret_found counts those that are found, *ret_checks those that were made.
 * UNAVAILABLE: the store is lost.
 */
owed_status doctor_run(const struct doctor *doctor, doctor_print print, void *state,
    size_t *ret_found, size_t *ret_checks, owed_error *err);

/* doctor_sentence and doctor_command fill in the templates of a check; NULL: no memory. */
const char *doctor_sentence(
    const struct doctor *doctor, const struct doctor_check *check, const struct trouble *trouble);
const char *doctor_command(
    const struct doctor *doctor, const struct doctor_check *check, const struct trouble *trouble);

/* url_without_password appends the URL of a store as it may be shown. */
void url_without_password(struct buf *out, const char *url);

/* shell_quote appends a text as one word of a shell. */
void shell_quote(struct buf *out, const char *text);

/* The checks that are more than a statement: doctor_looks.c. */
owed_status look_schema(const struct doctor *doctor, const struct doctor_check *check,
    struct trouble **ret_troubles, size_t *ret_count, owed_error *err);
owed_status look_drift(const struct doctor *doctor, const struct doctor_check *check,
    struct trouble **ret_troubles, size_t *ret_count, owed_error *err);
owed_status look_unserved(const struct doctor *doctor, const struct doctor_check *check,
    struct trouble **ret_troubles, size_t *ret_count, owed_error *err);
owed_status look_unpublished(const struct doctor *doctor, const struct doctor_check *check,
    struct trouble **ret_troubles, size_t *ret_count, owed_error *err);
owed_status look_undeclared(const struct doctor *doctor, const struct doctor_check *check,
    struct trouble **ret_troubles, size_t *ret_count, owed_error *err);
owed_status look_unpruned(const struct doctor *doctor, const struct doctor_check *check,
    struct trouble **ret_troubles, size_t *ret_count, owed_error *err);
owed_status look_clock(const struct doctor *doctor, const struct doctor_check *check,
    struct trouble **ret_troubles, size_t *ret_count, owed_error *err);
owed_status look_deaf(const struct doctor *doctor, const struct doctor_check *check,
    struct trouble **ret_troubles, size_t *ret_count, owed_error *err);
owed_status look_away(const struct doctor *doctor, const struct doctor_check *check,
    struct trouble **ret_troubles, size_t *ret_count, owed_error *err);
owed_status look_damage(const struct doctor *doctor, const struct doctor_check *check,
    struct trouble **ret_troubles, size_t *ret_count, owed_error *err);
owed_status look_log_file(const struct doctor *doctor, const struct doctor_check *check,
    struct trouble **ret_troubles, size_t *ret_count, owed_error *err);
owed_status look_disk(const struct doctor *doctor, const struct doctor_check *check,
    struct trouble **ret_troubles, size_t *ret_count, owed_error *err);

#endif
