"""guards_table.py - which condition of which statement can be taken away, and which test programs must notice.

GUARDS: (file under sql/sqlite, the condition, [(text, what stands in its place without it)], test programs). Some texts
are put in place only so that every parameter is still used, or an index that the condition made usable is not demanded.
"""


def store(*names):
    return [f"store/test_store_{name}" for name in names]


def sqlite(*names):
    return [f"store/test_sqlite_{name}" for name in names]


CLAIM, LEASE, FENCE, MEND, LOOK, FIRE = (store(name) for name in ("claim", "lease", "fence", "mend", "look", "fire"))
SHELL = sqlite("shell")
HELD = FENCE + SHELL

_pick = [
    ("query/claim_pick_lane", [
        ("due: status", "where status in ('pending', 'failed') and lane", "where lane"),
        ("due: lane", "'failed') and lane = $1 and", "'failed') and"),
        ("due: kind", "kind = $2 and available_at <=", "available_at <="),
        ("due: available_at", " and available_at <= $3", ""),
        ("due: up to this moment", "available_at <= $3", "available_at < $3"),
        ("lapsed: status", "where status = 'claimed' and lane", "where lane"),
        ("lapsed: lane", "'claimed' and lane = $1 and", "'claimed' and"),
        ("lapsed: kind", "kind = $2 and lease_expires_at <", "lease_expires_at <"),
        ("lapsed: lease_expires_at", " and lease_expires_at < $3", ""),
        ("lapsed: before this moment", "lease_expires_at < $3", "lease_expires_at <= $3"),
        ("order by available_at", ")\norder by available_at, id", ")\norder by id"),
        ("order by id", ")\norder by available_at, id", ")\norder by available_at, -id"),
        ("limit", ")\norder by available_at, id limit $4", ")\norder by available_at, id"),
    ]),
    ("query/claim_pick", [
        ("due: status", "where d.status in ('pending', 'failed') and d.lane", "where d.lane"),
        ("due: lane", "'failed') and d.lane = lane.value and", "'failed') and"),
        ("due: kind", "d.kind = $2\n        and d.available_at <= $3", "d.available_at <= $3"),
        ("due: available_at", "        and d.available_at <= $3\n", ""),
        ("due: up to this moment", "d.available_at <= $3", "d.available_at < $3"),
        ("lapsed: status", "where d.status = 'claimed' and d.lane", "where d.lane"),
        ("lapsed: lane", "'claimed' and d.lane = lane.value and", "'claimed' and"),
        ("lapsed: kind", "d.kind = $2\n        and d.lease_expires_at < $3", "d.lease_expires_at < $3"),
        ("lapsed: lease_expires_at", "        and d.lease_expires_at < $3\n", ""),
        ("lapsed: before this moment", "d.lease_expires_at < $3", "d.lease_expires_at <= $3"),
        ("order by available_at", ")\norder by available_at, id", ")\norder by id"),
        ("order by id", ")\norder by available_at, id", ")\norder by available_at, -id"),
        ("limit", ")\norder by available_at, id limit $4", ")\norder by available_at, id"),
    ]),
    ("query/claim_pick_receivers", [
        ("due: status", "where d.status in ('pending', 'failed') and d.rec", "where d.rec"),
        ("due: receiver", "'failed') and d.receiver_key = receiver.value\n        and", "'failed') and"),
        ("due: lane", "and d.lane = lane.value and d.kind = $2 and d.avail", "and d.kind = $2 and d.avail"),
        ("due: kind", "d.kind = $2 and d.available_at", "d.available_at"),
        ("due: available_at", " and d.available_at <= $3\n", "\n"),
        ("due: up to this moment", "d.available_at <= $3", "d.available_at < $3"),
        ("lapsed: status", "where d.status = 'claimed' and d.lane", "where d.lane"),
        ("lapsed: receiver", " and d.receiver_key in (select value from json_each($5))", ""),
        ("lapsed: lane", "'claimed' and d.lane = lane.value and", "'claimed' and"),
        ("lapsed: kind", "d.kind = $2\n        and d.lease", "d.lease"),
        ("lapsed: lease_expires_at", "d.lease_expires_at < $3 and d.rec", "d.rec"),
        ("lapsed: before this moment", "d.lease_expires_at < $3", "d.lease_expires_at <= $3"),
        ("order by available_at", ")\norder by available_at, id", ")\norder by id"),
        ("limit", ")\norder by available_at, id limit $4", ")\norder by available_at, id"),
    ]),
]

_held = [
    ("query/settle", HELD, [
        ("id", "id = $1 and status", "$1 is not null and status"),
        ("status", "status = 'claimed' and ", ""),
        ("claimed_by", "claimed_by = $2 and", "$2 is not null and"),
        ("claimed_at", " and claimed_at = $3", " and $3 is not null"),
    ]),
    ("query/settle", FENCE + LEASE + ["deliver/test_deliver_outcomes"], [
        ("losses begin anew", "losses = 0, ", ""),
        ("last_error stays where it is due later",
         "last_error = case $4 when 'pending' then last_error else $7 end", "last_error = $7"),
        ("available_at where it failed", "$4 = 'failed' or ", ""),
        ("available_at where it is due later", " or $4 = 'pending'", ""),
        ("available_at stays where it has ended",
         "case when $4 = 'failed' or $4 = 'pending' then $6 else available_at end", "$6"),
        ("due_at where it is due later", "case $4 when 'pending' then $6 else due_at end", "due_at"),
        ("due_at stays where it is not", "case $4 when 'pending' then $6 else due_at end", "$6"),
        ("the lease ends", ", lease_expires_at = 0", ""),
    ]),
    ("query/hand_back", HELD, [
        ("id", "id = $1 and status", "$1 is not null and status"),
        ("status", "status = 'claimed' and ", ""),
        ("claimed_by", "claimed_by = $2 and", "$2 is not null and"),
        ("claimed_at", "claimed_at = $3", "$3 is not null"),
        ("not handed back before", "\nand lease_expires_at > 0", ""),
    ]),
    ("query/renew", HELD, [
        ("id", "id = $1 and status", "$1 is not null and status"),
        ("status", "status = 'claimed' and ", ""),
        ("claimed_by", "claimed_by = $2 and", "$2 is not null and"),
        ("claimed_at", "claimed_at = $3", "$3 is not null"),
        ("not handed back", "\nand lease_expires_at > 0", ""),
    ]),
    ("query/count_loss", HELD, [
        ("id", "id = $1 and status", "$1 is not null and status"),
        ("status", "status = 'claimed' and ", ""),
        ("claimed_by", "claimed_by = $2 and", "$2 is not null and"),
        ("claimed_at", "claimed_at = $3", "$3 is not null"),
        ("not handed back", "\nand lease_expires_at > 0", ""),
    ]),
]

_INDEXED = (" indexed by owed_delivery_claimed", "")
_BADLY = (" indexed by owed_delivery_ended_badly", "")

GUARDS = [
    *((file, name, [(old, new)], CLAIM + LEASE) for file, rows in _pick for name, old, new in rows),

    ("query/claim_mark", "id", [("id in (select value from json_each($1))", "$1 is not null")], CLAIM),
    ("query/claim_mark", "a loss where it was claimed", [("status = 'claimed' and lease", "lease")], CLAIM + SHELL),
    ("query/claim_mark", "no loss where it was handed back", [(" and lease_expires_at > 0", "")], LEASE),
    ("query/claim_mark", "claimed_at always grows", [("max($3, claimed_at + 1)", "$3")], LEASE),

    *((file, name, [(old, new)], tests) for file, tests, rows in _held for name, old, new in rows),

    ("query/hand_back_all", "status", [("status = 'claimed' and ", ""), _INDEXED], HELD),
    ("query/hand_back_all", "claimed_by", [("claimed_by = $1", "$1 is not null")], HELD),
    ("query/hand_back_all", "but one", [(" and id <> $2", " and $2 is not null")], HELD),
    ("query/hand_back_all", "not handed back before", [(" and lease_expires_at > 0", "")], HELD),
    ("query/count_loss_all", "status", [("status = 'claimed' and ", ""), _INDEXED], HELD),
    ("query/count_loss_all", "claimed_by", [("claimed_by = $1", "$1 is not null")], HELD),
    ("query/count_loss_all", "not handed back", [(" and lease_expires_at > 0", "")], HELD),
    ("query/forgive_losses", "status", [("status = 'claimed' and ", ""), _INDEXED], LEASE + SHELL),
    ("query/forgive_losses", "claimed_by", [("claimed_by = $1", "$1 is not null")], LEASE),
    ("query/forgive_losses", "not handed back", [(" and lease_expires_at > 0", "")], LEASE),
    ("query/forgive_losses", "one below zero at most", [("max(losses - 1, -1)", "losses - 1")], LEASE),

    *(("query/expanded", name, [(old, new)], HELD) for name, old, new in [
        ("id", "id = $1 and status", "$1 is not null and status"),
        ("status", "status = 'claimed' and ", ""),
        ("claimed_by", "claimed_by = $2 and", "$2 is not null and"),
        ("claimed_at", "claimed_at = $3", "$3 is not null"),
    ]),
    *(("query/delivery_delete_blank", name, [(old, new)], FIRE) for name, old, new in [
        ("event", "event_id = $1 and", "$1 is not null and"),
        ("receiver", "receiver_key = $2\n", "$2 is not null\n"),
        ("without a target", "\n    and target_digest = x'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'", ""),
    ]),

    ("query/requeue", "id", [("id in (select value from json_each($1))", "$1 is not null")], LOOK),
    ("query/requeue", "status", [(" and status in ('dead', 'orphaned')", "")], LOOK),
    ("query/requeue_pick", "status", [("d.status in ('dead', 'orphaned') and ", ""), _BADLY], LOOK + MEND),
    ("query/requeue_pick", "ids above this", [("d.id > $1", "$1 is not null")], LOOK),
    ("query/requeue_pick", "receiver", [("d.receiver_key = $3", "1")], LOOK),
    ("query/requeue_pick", "any receiver", [("$3 = '' or ", "")], LOOK),
    ("query/requeue_pick", "dead ones", [("d.status = 'dead' or (", "("), ], LOOK),
    ("query/requeue_pick", "orphaned ones only when asked for", [("$4 = 1 and", "$4 is not null and")], LOOK),
    ("query/requeue_pick", "with their own receiver", [("r.key = d.receiver_key and ", "")], LOOK),
    ("query/requeue_pick", "with a receiver that is back", [(" and r.removed_at = 0", "")], LOOK),
    ("query/requeue_pick", "order", [("order by d.id ", "order by -d.id ")], LOOK),
    ("query/requeue_pick", "limit", [("limit $2", "limit $2 + 1")], LOOK),
    ("query/requeue_pick_ids", "id", [("d.id in (select value from json_each($1))", "$1 is not null")], LOOK),
    ("query/requeue_pick_ids", "receiver", [("d.receiver_key = $2", "1")], LOOK),
    ("query/requeue_pick_ids", "any receiver", [("$2 = '' or ", "")], LOOK),
    ("query/requeue_pick_ids", "dead ones", [("d.status = 'dead' or (", "("), ], LOOK),
    ("query/requeue_pick_ids", "orphaned ones", [("d.status = 'orphaned' and ", "")], LOOK),
    ("query/requeue_pick_ids", "orphaned ones only when asked for", [("$3 = 1 and", "$3 is not null and")], LOOK),
    ("query/requeue_pick_ids", "with their own receiver", [("r.key = d.receiver_key and ", "")], LOOK),
    ("query/requeue_pick_ids", "with a receiver that is back", [(" and r.removed_at = 0", "")], LOOK),
    ("query/requeue_pick_ids", "order", [("order by d.id", "order by -d.id")], LOOK),

    ("query/orphan", "id", [("id in (select value from json_each($1))", "$1 is not null")], MEND),
    ("query/orphan", "owed", [("status in ('pending', 'failed') or ", "")], MEND),
    ("query/orphan", "or given back", [(" or (status = 'claimed' and lease_expires_at < $2)", "")], MEND),
    ("query/orphan", "still claimed", [("status = 'claimed' and ", "")], MEND),
    ("query/orphan", "held by nobody", [(" and lease_expires_at < $2", "")], MEND),
    ("query/orphans", "owed: receiver", [("d.receiver_key = $1 and d.status in", "d.status in")], MEND),
    ("query/orphans", "owed: status", [(" and d.status in ('pending', 'failed')", "")], MEND),
    ("query/orphans", "owed: age",
     [("'failed')\n    and coalesce(e.recorded_at, 0) <= $3", "'failed')")], MEND),
    ("query/orphans", "held: receiver", [("d.receiver_key = $1 and d.status =", "d.status =")], MEND),
    ("query/orphans", "held: status", [(" and d.status = 'claimed'", ""), _INDEXED], MEND),
    ("query/orphans", "held: lease", [(" and d.lease_expires_at < $2\n    and", " and $2 is not null and")], MEND),
    ("query/orphans", "held: age", [("< $2\n    and coalesce(e.recorded_at, 0) <= $3", "< $2")], MEND),
    ("query/move", "id", [("id in (select value from json_each($1))", "$1 is not null")], MEND),
    ("query/move", "status", [(" and status in ('pending', 'failed', 'claimed')", "")], MEND),
    ("query/move", "its own receiver", [("where r.key = owed_delivery.receiver_key)", "where 1)")], MEND),
    ("query/move", "still to be expanded", [("owed_delivery.kind = 'expand' and ", "")], MEND + SHELL),

    ("routine/owed_event_fan_out", "nobody is owed a suppressed event", [("when new.suppressed_reason = ''\n", "")], SHELL),
    ("routine/owed_event_fan_out", "receivers of its name", [("select new.name as name union all select", "select"),
                                                              ("select '*') as wanted", "select '*' as name) as wanted")], FIRE),
    ("routine/owed_event_fan_out", "receivers of any", [(" union all select '*'", "")], FIRE),
    ("routine/owed_event_fan_out", "and of no other", [("r.event_name = wanted.name and ", "wanted.name = '*' and ")], FIRE),
    ("routine/owed_event_fan_out", "durable ones", [("r.mode = 'durable' and ", "")], FIRE),
    ("routine/owed_event_fan_out", "removed: not at once", [("r.removed_at = 0 or ", "")], FIRE),
    ("routine/owed_event_fan_out", "removed: during the grace", [(" or r.removed_at > new.recorded_at - 600000000", "")], FIRE),
    ("routine/owed_event_fan_out", "removed: no longer",
     [("and (r.removed_at = 0 or r.removed_at > new.recorded_at - 600000000)", "")], FIRE),
    ("routine/owed_event_fan_out", "targets are expanded",
     [("case r.targets when 'callback' then 'expand' else r.kind end", "r.kind")], SHELL),
    ("routine/owed_event_fan_out", "not due before it is recorded",
     [("max(new.due_at, new.recorded_at) + r.due, max", "new.due_at + r.due, max")], FIRE),
    ("routine/owed_event_fan_out", "due_at no earlier either",
     [("r.due, max(new.due_at, new.recorded_at) + r.due", "r.due, new.due_at + r.due")], FIRE),
    ("routine/owed_event_fan_out", "available after the receiver's own delay", [("+ r.due, max", ", max")], SHELL),
    ("routine/owed_event_fan_out", "due after the receiver's own delay", [("+ r.due\n", "\n")], SHELL),

    *(("routine/owed_fire", name, [(old, new)], SHELL) for name, old, new in [
        ("name: text", "where typeof(new.name) <> 'text' or length(cast(new.name", "where length(cast(new.name"),
        ("name: 1 to 255", "length(cast(new.name as blob)) not between 1 and 255\n        or ", ""),
        ("name: its letters", "new.name glob '*[^A-Za-z0-9_.-]*' or ", ""),
        ("name: no NUL", " or instr(cast(new.name as blob), x'00') > 0", ""),
        ("payload: text", "where typeof(new.payload) <> 'text';", "where 0;"),
        ("payload: 16 MiB", "where length(cast(new.payload as blob)) > 16777216;", "where 0;"),
        ("payload: no NUL", "where instr(cast(new.payload as blob), x'00') > 0;", "where 0;"),
        ("payload: JSON", "where not json_valid(new.payload);", "where 0;"),
        ("version: may be left out", "new.version is not null\n        and ", ""),
        ("version: whole", "typeof(new.version) <> 'integer' or ", ""),
        ("version: 1 to 32767", " or new.version not between 1 and 32767", ""),
        ("dedupe_key: no blob", "typeof(new.dedupe_key) = 'blob' or ", ""),
        ("dedupe_key: 255", " or length(cast(new.dedupe_key as blob)) > 255", ""),
        ("actor_key: no blob", "typeof(new.actor_key) = 'blob' or ", ""),
        ("actor_key: 255", "length(cast(new.actor_key as blob)) > 255\n        or ", ""),
        ("actor_label: no blob", "typeof(new.actor_label) = 'blob' or ", ""),
        ("actor_label: 255", " or length(cast(new.actor_label as blob)) > 255", ""),
        ("correlation_id: no blob", "typeof(new.correlation_id) = 'blob' or ", ""),
        ("correlation_id: 255", "length(cast(new.correlation_id as blob)) > 255\n        or ", ""),
        ("traceparent: no blob", "typeof(new.traceparent) = 'blob' or ", ""),
        ("traceparent: 255", " or length(cast(new.traceparent as blob)) > 255", ""),
        ("due_at: whole", "(typeof(new.due_at) <> 'integer' or new.due_at < 0)", "new.due_at < 0"),
        ("due_at: not negative", "'integer' or new.due_at < 0)", "'integer')"),
        ("occurred_at: whole", "(typeof(new.occurred_at) <> 'integer' or new.occurred_at < 0)", "new.occurred_at < 0"),
        ("occurred_at: not negative", "'integer' or new.occurred_at < 0)", "'integer')"),
        ("causation_id: an id", " and typeof(new.causation_id) <> 'integer'", " and 0"),
        ("scope: text", "typeof(new.scope) <> 'text' or ", ""),
        ("scope: no NUL", " or instr(cast(new.scope as blob), x'00') > 0", ""),
        ("scope: JSON", "when not json_valid(new.scope) then 1\n        ", ""),
        ("scope: an object", "else json_type(new.scope) <> 'object' end", "else 0 end"),
        ("a used dedupe_key fires nothing",
         "    where not exists (\n        select 1 from owed_event where dedupe_key = nullif(cast(new.dedupe_key as text), ''));",
         "    ;"),
        ("an empty dedupe_key is none", "nullif(cast(new.dedupe_key as text), ''), coalesce", "new.dedupe_key, coalesce"),
    ]),
]
