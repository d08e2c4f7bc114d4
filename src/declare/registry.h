/* SPDX-License-Identifier: MIT
 *
 * registry.h - what an application declared, checked and in order.
 */
#ifndef DECLARE_REGISTRY_H
#define DECLARE_REGISTRY_H

#include <stdatomic.h>

#include <owed/endpoint.h>
#include <owed/owed.h>
#include <owed/task.h>

#include "base/arena.h"
#include "base/network.h"

/* How a receiver is run. */
enum runner {
    RUN_FUNCTION, // C
    RUN_WEBHOOK,
    RUN_EXEC,
    RUN_FILE,
    RUN_DISCARD,
    RUN_PIPE,
    RUN_PUBLISH,
    RUN_START, // C, finished later
    RUN_ENDPOINT
};

/* What owed_endpoint_settings says, read. */
struct endpoints {
    owed_endpoint_settings said; // its texts are the registry's own; defaults filled in
    struct networks allowed;
};

struct receiver {
    owed_receiver declared;      // strings are the registry's own
    const owed_event_type *type; // never NULL: names without a type get an opaque one
    enum runner runner;
    bool any_event;
    const struct endpoints *endpoints; // RUN_ENDPOINT; else NULL
    const char *lane;                  // qualified: "app/lane"; for every mode
    const char *kind;                  // of its rows: "inside", "outside", "task"
    const char *runs;                  // how, wherever that is: "inside", "outside"
    const char *where;                 // "owed.conf:12", or "" when declared in C
    atomic_flag *was_told;             // that its deferrals count: once a process
    atomic_llong *succeeded_at_us; // last, as far as that is not noted in the store yet; 0: it is
    struct receiver *next;         // in order of declaration
};

/* How long an event is kept; its type says so, or owed.conf, which goes first. */
struct keeping {
    int64_t retention_us; // 0: none of its own
    owed_delete_when delete_when;
};

struct declared_type {
    const owed_event_type *type;
    bool is_kept; // owed.conf says how long
    struct keeping kept;
    bool by_name;       // opaque: only a receiver's event name spoke of it so far
    const char *secret; // of owed.conf: JSON pointers, parted by blanks; NULL: none
    const char *hides;  // its fields as the catalogue has them, if any of them is secret; else NULL
    struct declared_type *next;
};

/* Deferrals of what is published end so long after it became due, where nothing else is declared: a broker that is away is
 * no failure of what waits for it. */
#define PUBLISH_GIVE_UP_US OWED_HOURS(7 * 24)
#define DEFAULT_MAX_ATTEMPTS 5

struct owed_registry {
    const char *app;
    int32_t max_attempts;           // of receivers that declare none; a program may set it
    owed_around around;             // enter NULL: none
    owed_task_backend task_backend; // enqueue NULL: none
    struct arena arena;
    struct receiver *receivers;
    struct receiver **receivers_end;
    struct declared_type *types; // in order of declaration; never owed_any_event
    struct declared_type **types_end;
    size_t receiver_count;
    size_t type_count;
};

/* registry_receiver finds by key, registry_type by event name; NULL: not declared here. */
const struct receiver *registry_receiver(const owed_registry *registry, const char *key);
const owed_event_type *registry_type(const owed_registry *registry, const char *event_name);

/* registry_declare is owed_declare_receiver with the place it came from, for conf.c. */
owed_status registry_declare(
    owed_registry *registry, const owed_receiver *receiver, const char *where, owed_error *err);

/* registry_keep is what owed.conf says of an event, whoever declares it. CONFIG. */
owed_status registry_keep(owed_registry *registry, const char *event_name,
    const struct keeping *keeping, owed_error *err);
/* registry_keeping is how long an event of that name is kept, as far as is known here. */
struct keeping registry_keeping(const owed_registry *registry, const char *event_name);
struct keeping declared_keeping(const struct declared_type *declared);
/* delete_when_name is the word for it in the store; "" for what is deleted when it is old. */
const char *delete_when_name(owed_delete_when delete_when);
/* check_keeping refuses a window that is out of range, or both at once. */
owed_status check_keeping(const char *event_name, const struct keeping *keeping, owed_error *err);

/* registry_hide is what owed.conf says of an event's secrets: JSON pointers, parted by blanks. CONFIG. */
owed_status registry_hide(
    owed_registry *registry, const char *event_name, const char *pointers, owed_error *err);
/* registry_mask adds what is secret of events of that name, as far as is known here. */
struct mask;
void registry_mask(const owed_registry *registry, const char *event_name, struct mask *mask);

/* receiver_wants tells whether events of that name are owed to it. */
bool receiver_wants(const struct receiver *receiver, const char *event_name);

/* receiver_max_attempts is what a delivery is owed with: the number is copied to its row, so that a
 * lower one later ends nothing that is owed already. */
int32_t receiver_max_attempts(const owed_registry *registry, const struct receiver *receiver);

/* check_name and check_lane hold the alphabets of names in one place; what says what it is. */
owed_status check_name(const char *what, const char *name, owed_error *err);
owed_status check_lane(const char *what, const char *lane, owed_error *err);

/* A side lane stands beside those of the receivers: only a replay fills it, with what is owed to any of its
 * app's. Its name begins with "+", which no other lane's may. is_side_lane takes the full form, and tells whether it is
 * one of an app (NULL: of any). */
owed_status check_side_lane(const char *what, const char *name, owed_error *err);
bool is_side_lane(const char *lane, const char *app);

#endif
