/* SPDX-License-Identifier: MIT
 *
 * doctor_checks.c - what is looked for, from when on it is trouble, and what sets it right.
 *
 * The order is that in which they are printed: what makes others come first.
 */
#include "operate/doctor.h"

#define MINUTES(n) OWED_SECONDS(60 * (n))
#define HOURS(n) MINUTES(60 * (n))
#define MB(n) (INT64_C(1024) * 1024 * (n))

const struct doctor_check doctor_checks[] = {
    {.name = "routine-drift",
        .look = look_drift,
        .about = "a routine of the store has the text of another release",
        .sentence =
            "routine {subject} in the store has another text (checksum {detail}) than that of this program",
        .remedy = "migrate"},
    {.name = "missing-trigger",
        .stmt = STMT_DOCTOR_TRIGGERS,
        .about = "a trigger or view of the schema is not there, and without the one that fans out "
                 "events are owed to nobody",
        .sentence = "{subject} of the schema is not there: what it does is no longer done",
        .remedy = "migrate"},
    {.name = "disabled-trigger",
        .store = "postgres",
        .stmt = STMT_DOCTOR_DISABLED_TRIGGERS,
        .about = "a trigger of the schema is switched off",
        .sentence =
            "trigger {subject} on table {detail} is switched off: what it does is no longer done",
        .by = BY_SQL,
        .remedy = "alter table {detail} enable trigger {subject}"},
    {.name = "missing-index",
        .stmt = STMT_DOCTOR_INDEXES,
        .about = "an index of the schema is not there",
        .sentence = "index {subject} of the schema is not there: what it serves reads whole tables",
        .by = BY_SQL,
        .remedy = "{detail}"},
    {.name = "invalid-index",
        .store = "postgres",
        .stmt = STMT_DOCTOR_INVALID_INDEXES,
        .about = "an index was made concurrently and cut off: it is written and never read",
        .sentence = "index {subject} on table {detail} is not valid: it is written and never read",
        .by = BY_SQL,
        .remedy = "reindex index {subject}"},
    {.name = "damaged-file",
        .store = "sqlite",
        .stmt = STMT_DOCTOR_DAMAGE,
        .look = look_damage,
        .threshold = MB(256),
        .about =
            "the file is not sound, and what can still be read is copied beside it; one of more than 256 MB is not read through",
        .sentence = "the file is damaged: {subject}",
        .by = BY_SHELL,
        .remedy = "sqlite3 {file} .dump | sed 's/^ROLLBACK.*/COMMIT;/' | sqlite3 {file}.mended"},
    {.name = "clock-skew",
        .look = look_clock,
        .threshold = OWED_SECONDS(2),
        .about = "the clocks of this machine and of the database differ by more than 2 seconds",
        .sentence = "the clock of this machine is {for} {detail} that of the database",
        .by = BY_SHELL,
        .remedy = "timedatectl set-ntp true"},
    {.name = "deaf",
        .store = "postgres",
        .look = look_deaf,
        .threshold = OWED_SECONDS(3),
        .about = "notices do not come through, as behind a pooler: a relay polls, and starts late",
        .sentence = "{subject} hears of no commit, and polls: {detail}",
        .remedy = "relay --store postgres://USER@SERVER:5432/DATABASE"},
    {.name = "connections",
        .stmt = STMT_DOCTOR_CONNECTIONS,
        .takes = "t",
        .threshold = 90,
        .about = "nine in ten of the server's connections are in use",
        .sentence =
            "{amount} of the server's {other} connections are in use, and a relay that loses one of its own "
            "finds no other ({subject}; PostgreSQL obeys once it is restarted)",
        .by = BY_SQL,
        .remedy = "{detail}"},
    {.name = "long-transaction",
        .stmt = STMT_DOCTOR_TRANSACTIONS,
        .takes = "l",
        .about =
            "a transaction has been open for more than 5 minutes, or what --long says, and keeps dead rows from being cleared away",
        .sentence =
            "process {subject} ({detail}) has had a transaction open for {for}: no row that has died since "
            "can be cleared away, and claims read past them",
        .by = BY_SQL,
        .remedy = "{kill}"},
    {.name = "prepared-transaction",
        .store = "postgres",
        .stmt = STMT_DOCTOR_PREPARED,
        .takes = "l",
        .about =
            "a transaction was prepared more than 5 minutes ago, or what --long says, and never ended",
        .sentence =
            "transaction {subject} was prepared {for} ago and never ended: it keeps its locks, and dead rows "
            "from being cleared away",
        .by = BY_SQL,
        .remedy = "{detail}"},
    {.name = "idle-slot",
        .store = "postgres",
        .stmt = STMT_DOCTOR_SLOTS,
        .takes = "t",
        .threshold = MB(256),
        .about = "a replication slot that nobody reads holds more than 256 MB of the server's log",
        .sentence =
            "replication slot {subject} ({detail}) is read by nobody and holds {bytes} of the server's log",
        .by = BY_SQL,
        .remedy = "select pg_drop_replication_slot('{subject}')"},
    {.name = "autovacuum-off",
        .store = "postgres",
        .stmt = STMT_DOCTOR_AUTOVACUUM,
        .about = "the server vacuums nothing by itself",
        .sentence = "the server's setting {subject} is off: no table is vacuumed by itself",
        .by = BY_SQL,
        .remedy = "{detail}",
        .also = "select pg_reload_conf()"},
    {.name = "table-not-vacuumed",
        .store = "postgres",
        .stmt = STMT_DOCTOR_UNVACUUMED,
        .about = "autovacuum is switched off for a table of owed",
        .sentence = "autovacuum is switched off for table {subject}",
        .by = BY_SQL,
        .remedy = "{detail}"},
    {.name = "dead-rows",
        .store = "postgres",
        .stmt = STMT_DOCTOR_DEAD_ROWS,
        .takes = "t",
        .threshold = 10000,
        .about =
            "a table has more than 10,000 dead rows, and more than a fifth of its live ones, and was not "
            "vacuumed for ten minutes",
        .sentence =
            "table {subject} has {amount} dead rows beside {other} live ones; it was last vacuumed: {detail}",
        .by = BY_SQL,
        .remedy = "vacuum (analyze) {subject}"},
    {.name = "bloat",
        .store = "postgres",
        .stmt = STMT_DOCTOR_BLOAT,
        .takes = "t",
        .threshold = MB(32),
        .about =
            "a table or index of more than 32 MB takes four times the room that it needs; making a table small "
            "locks it meanwhile",
        .sentence = "{subject} takes {bytes} where about {other-bytes} would do",
        .by = BY_SQL,
        .remedy = "{detail}"},
    {.name = "notice-queue",
        .store = "postgres",
        .stmt = STMT_DOCTOR_NOTICES,
        .takes = "t",
        .threshold = 10,
        .about =
            "a tenth of the server's queue of notices is full: somebody listens and never ends his transaction",
        .sentence =
            "{amount} % of the server's queue of notices is full; process {subject} ({detail}) has idled in a "
            "transaction for longest",
        .by = BY_SQL,
        .remedy = "{kill}"},
    {.name = "history",
        .store = "mariadb",
        .stmt = STMT_DOCTOR_HISTORY,
        .takes = "t",
        .threshold = 1000000,
        .about = "the server has more than a million changes to clear away",
        .sentence =
            "the server has {amount} changes to clear away, and claims read past them; the oldest transaction is "
            "that of connection {subject}",
        .by = BY_SQL,
        .remedy = "{detail}"},
    {.name = "write-ahead-log",
        .store = "sqlite",
        .look = look_log_file,
        .threshold = MB(128),
        .about =
            "the file beside the store that is written ahead is larger than 128 MB: nothing copies it back, or "
            "a reader never ends",
        .sentence =
            "{subject} has grown to {bytes}: nothing copies it back, or somebody never ends his reading",
        .by = BY_SQL,
        .remedy = "pragma wal_checkpoint(truncate)"},
    {.name = "free-pages",
        .store = "sqlite",
        .stmt = STMT_DOCTOR_FREE_PAGES,
        .takes = "t",
        .threshold = MB(64),
        .about =
            "more than 64 MB of the file, and more than half of it, are free; making it small keeps all others "
            "waiting",
        .sentence = "{bytes} of the file's {other-bytes} are free",
        .by = BY_SQL,
        .remedy = "vacuum"},
    {.name = "disk",
        .store = "sqlite",
        .look = look_disk,
        .threshold = 5,
        .about =
            "less than a twentieth of the disk under the file is free, and less than 1 GB; what is pruned "
            "makes room in the file",
        .sentence = "the disk under {subject} has {bytes} left, {other} %",
        .remedy = "prune"},
    {.name = "never-published",
        .look = look_undeclared,
        .about = "a receiver is declared here that the catalogue does not have",
        .sentence =
            "receiver {subject} is declared here and not in the catalogue: what others fire is not owed to it",
        .remedy = "publish"},
    {.name = "unpublished",
        .look = look_unpublished,
        .about = "deliveries are owed to a receiver that nobody ever published",
        .sentence =
            "deliveries are owed to receiver {subject}, which nobody has published: they are set aside when the "
            "grace is over",
        .remedy = "publish"},
    {.name = "unserved-lane",
        .look = look_unserved,
        .threshold = MINUTES(5),
        .about = "deliveries of a lane that no relay serves have been due for more than 5 minutes",
        .sentence =
            "no relay that is alive serves lane {subject}, in which {most} {delivery has|deliveries have} been due for more "
            "than 5 minutes, the first for {since}",
        .remedy = "relay --lane {subject}"},
    {.name = "paused-lane",
        .stmt = STMT_DOCTOR_PAUSED_LANES,
        .takes = "tnm",
        .threshold = HOURS(1),
        .about = "a lane in which deliveries wait has been paused for more than an hour",
        .sentence =
            "lane {subject} has been paused for {since}, and {most} {delivery waits|deliveries wait} in it{because}",
        .remedy = "resume {subject}"},
    {.name = "paused-receiver",
        .stmt = STMT_DOCTOR_PAUSED_RECEIVERS,
        .takes = "tnm",
        .threshold = HOURS(1),
        .about = "a receiver for which deliveries wait has been paused for more than an hour",
        .sentence =
            "receiver {subject} has been paused for {since}, and {most} {delivery waits|deliveries wait} for it{because}",
        .remedy = "resume --receiver {subject}"},
    {.name = "silent-relay",
        .stmt = STMT_DOCTOR_RELAYS,
        .takes = "tn",
        .threshold = MINUTES(2),
        .about =
            "a relay that holds claims was not heard of for more than 2 minutes; a relay takes them over as "
            "their leases end",
        .sentence =
            "relay {subject}, {detail}, was last heard of {since} ago and holds {amount} {claim|claims}",
        .remedy = "relay --once --all-lanes"},
    {.name = "lapsed-claims",
        .stmt = STMT_DOCTOR_LAPSED,
        .takes = "tn",
        .threshold = MINUTES(1),
        .about = "claims ended more than a minute ago and nobody took them over",
        .sentence =
            "{amount} {claim|claims} of lane {subject} {is|are} over, the first for {since}, and nobody takes {it|them}; one who "
            "held them is {detail}",
        .remedy = "relay --once --lane {subject}"},
    {.name = "away",
        .look = look_away,
        .about =
            "a relay cannot hand on what it should, as to a broker that is away or refuses it; what is owed there "
            "waits and goes by itself once it is back",
        .sentence = "{subject} cannot hand on what it should: {detail}",
        .remedy = "check"},
    {.name = "untaken-tasks",
        .stmt = STMT_DOCTOR_UNTAKEN,
        .takes = "tn",
        .threshold = MINUTES(15),
        .about =
            "what was handed to its task site is due for more than 15 minutes and no worker has taken it",
        .sentence =
            "{amount} {delivery|deliveries} to receiver {subject} {is|are} handed to its task site, the first due "
            "for {since}, and no worker has taken {it|them}",
        .remedy = "worker"},
    {.name = "no-event",
        .stmt = STMT_DOCTOR_EVENTLESS,
        .takes = "m",
        .about = "deliveries are owed of events that somebody deleted",
        .sentence =
            "{amount} {delivery is|deliveries are} owed to receiver {subject} of events that are no more",
        .remedy = "cancel {detail}"},
    {.name = "no-delivery",
        .stmt = STMT_DOCTOR_UNFANNED,
        .takes = "mn",
        .about = "an event among the latest 10,000 is not owed to a receiver that should have it",
        .sentence =
            "{amount} {event|events}, the first recorded {since} ago, {was|were} to go to receiver {subject} and {is|are} not owed "
            "to it",
        .remedy = "replay {detail} --receiver {subject}"},
    {.name = "dead",
        .stmt = STMT_DOCTOR_DEAD,
        .takes = "m",
        .about = "deliveries are dead: what made them fail is set right first",
        .sentence =
            "{most} {delivery|deliveries} to receiver {subject} {is|are} dead, {other} of them with{because}",
        .remedy = "requeue --receiver {subject}"},
    {.name = "orphaned",
        .stmt = STMT_DOCTOR_ORPHANED,
        .takes = "m1",
        .about = "deliveries were set aside whose receiver is in the catalogue by now",
        .sentence =
            "{most} {delivery|deliveries} to receiver {subject} {was|were} set aside, and it is in the catalogue by now",
        .remedy = "requeue --orphaned --receiver {subject}"},
    {.name = "orphaned-for-good",
        .stmt = STMT_DOCTOR_ORPHANED,
        .takes = "m0",
        .about =
            "deliveries were set aside whose receiver nobody publishes; without it they go when they are old",
        .sentence =
            "{most} {delivery|deliveries} to receiver {subject}, which nobody publishes, {was|were} set aside",
        .remedy = "publish"},
    {.name = "not-pruned",
        .stmt = STMT_DOCTOR_UNPRUNED,
        .look = look_unpruned,
        .threshold = HOURS(24),
        .about = "events that nobody is owed are a day past the retention",
        .sentence =
            "of the first 1000 events {amount} should have gone by now, the oldest is from {since} ago: nobody "
            "prunes, or not fast enough",
        .remedy = "prune"},
    {.name = "rights",
        .stmt = STMT_DOCTOR_RIGHTS,
        .about =
            "this user cannot see everything that is looked for; it is said, and is no trouble",
        .sentence = "this user cannot see {subject}",
        .by = BY_SQL,
        .remedy = "{detail}",
        .is_note = true},
    {.name = NULL},
};
