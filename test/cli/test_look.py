#!/usr/bin/python3
"""owed status, events, deliveries, show, attempts, relays: for people, and for programs."""
import json
import os
import re
import subprocess
import time

from harness import OWED, StoreCase, run

MOMENT = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$")


class Secrets(StoreCase):
    def test_no_command_shows_what_is_secret(self):
        program = self.write("print", "#!/bin/sh\ncat\necho \"card 4111-2222 of order 7\" >&2\nexit 1\n")
        program.chmod(0o755)
        self.conf(f'''[store]
app = shop
[event "shop.Paid"]
secret = /card/number /lines/*/token
[receiver "shop.print"]
event = shop.Paid
exec = {program}
''')
        self.owed("publish", code=0)
        payload = '{"order": 7, "card": {"number": "4111-2222", "month": 5}, "lines": [{"token": "tok-9999"}]}'
        event = self.fire("shop.Paid", payload)
        done = self.owed("relay", "--once", "--limit", "1", code=0)
        self.assertNotIn("4111-2222", done.stdout + done.stderr)
        (self.folder / "owed.conf").unlink()  # who looks need not know what is secret
        delivery = self.value("select id from owed_delivery")
        shown = '{"order": 7, "card": {"number": "***", "month": 5}, "lines": [{"token": "***"}]}'
        self.assertIn(shown, self.owed("show", str(event), code=0).stdout)
        self.assertIn(shown, self.owed("show", str(event), "--json", code=0).stdout)
        for words in (("show", event), ("show", event, "--json"), ("show", "--delivery", delivery),
                      ("show", "--delivery", delivery, "--json"), ("attempts", delivery), ("attempts", delivery, "--json"),
                      ("deliveries", "--json"), ("explain", delivery), ("events", "--json"), ("status", "--json")):
            said = self.owed(*map(str, words), code=0).stdout
            self.assertNotIn("4111", said, words)
            self.assertNotIn("9999", said, words)
        self.assertIn("card *** of order 7", self.owed("show", str(event), code=0).stdout)
        self.assertEqual(payload, self.value("select payload from owed_event"))

    def test_show_hides_what_was_kept_before_it_was_a_secret(self):
        self.receivers("shop.billing", event="shop.Paid")
        event = self.fire("shop.Paid", '{"pin": "4711-0815"}')
        self.sql("update owed_delivery set last_error = 'no pin 4711-0815'")
        self.assertIn("4711-0815", self.owed("show", str(event), code=0).stdout)
        self.receivers("shop.billing", event="shop.Paid", extra='[event "shop.Paid"]\nsecret = /pin')
        self.owed("publish", code=0)
        delivery = self.value("select id from owed_delivery")
        for words in (("show", str(event)), ("show", "--delivery", str(delivery))):
            said = self.owed(*words, code=0).stdout
            self.assertNotIn("4711-0815", said)
            self.assertIn("no pin ***", said)


class Look(StoreCase):
    def setUp(self):
        super().setUp()
        self.receivers("shop.billing", "shop.label")
        for n in range(3):
            self.fire("shop.OrderPlaced", '{"n":%d}' % n, "--correlation-id", f"c-{n}")
        # Ids grow, but not by one: d[1] to d[6] are those of the six deliveries, two for each event.
        self.d = [0] + [row[0] for row in self.sql("select id from owed_delivery order by id")]

    def settle(self, delivery, status, error="", **columns):
        columns = {"status": status, "last_error": error, **columns}
        names = ", ".join(f"{name} = moment(?)" if name.endswith("_at") else f"{name} = ?" for name in columns)
        self.sql(f"update owed_delivery set {names} where id = ?", *columns.values(), self.d[delivery])

    def columns(self, table):
        if self.store.scheme == "sqlite":
            return {column[1] for column in self.sql(f"pragma table_info({table})")}
        return {row[0] for row in self.sql("select column_name from information_schema.columns where table_name = ?", table)}

    def attempt(self, delivery, number, verdict="failed", error="", code=0):
        self.sql("insert into owed_attempt (delivery_id, attempt, started_at, duration, verdict, code, error) "
                 "values (?, ?, moment(1767323045678901), 1500, ?, ?, ?)", self.d[delivery], number, verdict, code, error)

    # status

    def test_status_counts_what_is_owed_per_receiver(self):
        found = self.json("status")
        self.assertEqual((3, 6, 6, 0, 0, 0), tuple(found[key] for key in (
            "events", "owed", "due", "claimed", "dead", "relays")))
        self.assertEqual([("shop.billing", 3), ("shop.label", 3)],
                         sorted((line["key"], line["owed"]) for line in found["receivers"]))
        self.assertIsInstance(found["oldest_due_age_seconds"], int)

    def test_status_tells_dead_orphaned_scheduled_lapsed_and_handed_back_apart(self):
        far = 4_000_000_000_000_000
        self.settle(1, "dead", "boom")
        self.settle(2, "orphaned")
        self.settle(3, "claimed", claimed_by="a/1", claimed_at=1, lease_expires_at=far)
        self.settle(4, "claimed", claimed_by="a/1", claimed_at=1, lease_expires_at=1000)
        self.settle(5, "claimed", claimed_by="a/1", claimed_at=1, lease_expires_at=0)
        self.settle(6, "failed", "later", available_at=far)
        found = self.json("status")
        self.assertEqual({"owed": 4, "scheduled": 1, "claimed": 3, "lapsed_leases": 1, "handed_back": 1, "failed": 1,
                          "dead": 1, "orphaned": 1},
                         {key: found[key] for key in ("owed", "scheduled", "claimed", "lapsed_leases", "handed_back",
                                                      "failed", "dead", "orphaned")})

    def test_the_age_is_that_of_the_oldest_due_delivery(self):
        self.sql("update owed_delivery set available_at = moment(micros(available_at) - 7200000000) where id = ?", self.d[1])
        self.assertTrue(7200 <= self.json("status")["oldest_due_age_seconds"] < 7300)
        self.assertRegex(self.owed("status", code=0).stdout, r"(?m)^oldest due +2h")

    def test_status_in_text_has_totals_and_a_line_for_each_receiver(self):
        text = self.owed("status", code=0).stdout
        self.assertRegex(text, r"(?m)^owed +6 ")
        self.assertRegex(text, r"(?m)^RECEIVER +LANE +OWED +DUE ")
        self.assertRegex(text, r"(?m)^shop\.billing +shop/default +3 +3 ")
        self.assertNotIn("Nothing is owed", text)

    def test_status_says_so_when_nothing_is_owed_and_nothing_dead(self):
        self.sql("update owed_delivery set status = 'succeeded'")
        text = self.owed("status", code=0).stdout
        self.assertIn("Nothing is owed and nothing is dead.", text)
        self.assertRegex(text, r"(?m)^oldest due +-$")
        self.assertIsNone(self.json("status")["oldest_due_age_seconds"])
        self.settle(1, "dead")
        self.assertNotIn("Nothing is owed", self.owed("status", code=0).stdout)

    def test_status_has_the_same_counts_for_each_lane(self):
        self.sql("update owed_delivery set lane = 'shop/mail' where id = ?", self.d[2])
        self.sql("update owed_delivery set lane = 'shop/default!shop.billing' where id = ?", self.d[3])
        self.settle(1, "dead")
        self.sql("update owed_delivery set receiver_key = 'mail.x' where id = ?", self.d[2])
        found = self.json("status")
        self.assertEqual([("shop/default", 4, 1), ("shop/mail", 1, 0)],
                         [(line["lane"], line["owed"], line["dead"]) for line in found["lanes"]])
        keys = {"owed", "due", "held", "scheduled", "claimed", "lapsed_leases", "handed_back", "failed", "dead", "orphaned",
                "oldest_due_age_seconds"}
        self.assertEqual(keys | {"lane"}, set(found["lanes"][0]))
        self.assertEqual(keys | {"lane", "key"}, set(found["receivers"][0]))
        self.assertLessEqual(keys, set(found))
        self.assertEqual({"shop/default", "shop/mail"}, {line["lane"] for line in found["receivers"]})
        self.assertRegex(self.owed("status", code=0).stdout, r"(?m)^LANE +OWED +DUE ")

    def test_status_says_what_is_paused(self):
        self.assertEqual([], self.json("status")["paused"])
        self.assertNotIn("PAUSED", self.owed("status", code=0).stdout)
        self.owed("pause", "--receiver", "shop.label", "--reason", "moving", code=0)
        self.owed("pause", "default", "--until", "2100-01-01T00:00:00Z", code=0)
        lane, receiver = self.json("status")["paused"]
        self.assertEqual(("shop/default", None, "2100-01-01T00:00:00.000000Z"),
                         (lane["lane"], lane["receiver"], lane["paused_until"]))
        self.assertEqual(("shop/default", "shop.label", None, "moving"),
                         (receiver["lane"], receiver["receiver"], receiver["paused_until"], receiver["reason"]))
        text = self.owed("status", code=0).stdout
        self.assertRegex(text, r"(?m)^shop/default +shop\.label .*moving")
        self.assertNotIn("!", text)

    def test_status_tells_which_workers_are_alive_and_since_when_the_others_are_silent(self):
        for name, age in (("new", 0), ("old", 3_600_000_000)):
            self.sql("insert into owed_relay (id, host, pid, lanes, started_at, heartbeat_at) values "
                     "(?, 'h', 1, '[\"shop/default\"]', moment(1), moment(?))", name, time.time_ns() // 1000 - age)
        workers = self.json("status")["workers"]
        self.assertEqual([("new", True), ("old", False)], [(worker["id"], worker["alive"]) for worker in workers])
        self.assertTrue(3600 <= workers[1]["heartbeat_age_seconds"] < 3700)
        self.assertEqual([worker["id"] for worker in workers], [row["id"] for row in self.json_lines("relays")])
        self.assertEqual([True, False], [row["alive"] for row in self.json_lines("relays")])
        self.assertRegex(self.owed("status", code=0).stdout, r"(?m)^old .* 1h\w* +no +- +-$")

    def tree(self, *words):
        """The tree without moments: prefix, id, name, and what comes after."""
        text = self.owed("events", "--correlation", "c-9", *words, code=0).stdout
        return [re.sub(r"  \S+Z  owed \d+ of \d+", "", line) for line in text.splitlines()]

    def caused(self, name, cause=None, correlation="c-9"):
        words = ["--causation-id", str(cause)] if cause else []
        return self.fire(name, "{}", "--correlation-id", correlation, *words)

    def test_a_correlation_is_drawn_as_the_tree_of_its_causes(self):
        far = self.fire("shop.Far", "{}", "--correlation-id", "other")
        a = self.caused("shop.A", far)
        b = self.caused("shop.B", a)
        self.caused("shop.Elsewhere", a, "other")
        c = self.caused("shop.C", a)
        d = self.caused("shop.D", b)
        e = self.caused("shop.E", b)
        f = self.caused("shop.F")
        self.assertEqual([f"{a} shop.A  caused by {far}", f"|- {b} shop.B", f"|  |- {d} shop.D", f"|  `- {e} shop.E",
                          f"`- {c} shop.C", f"{f} shop.F"], self.tree())
        lines = self.json_lines("events", "--correlation", "c-9")
        self.assertEqual([(a, 0), (b, 1), (d, 2), (e, 2), (c, 1), (f, 0)], [(row["id"], row["depth"]) for row in lines])
        self.assertEqual([f"{e} shop.E  caused by {b}", f"{f} shop.F"], self.tree("--limit", "2"))
        self.assertIn("the newest 2 events", self.owed("events", "--correlation", "c-9", "--limit", "2").stderr)
        self.assertEqual([], self.json_lines("events", "--correlation", "nobody's"))
        self.assertIn("no event has the correlation nobody's", self.owed("events", "--correlation", "nobody's", code=0).stderr)

    def test_a_circle_of_causes_is_cut_and_shown_once(self):
        names = [self.caused(f"shop.E{n}") for n in range(5)]
        for event, cause in zip(names, (names[2], names[0], names[1], names[1], names[4])):
            self.sql("update owed_event set causation_id = ? where id = ?", cause, event)
        a, b, c, d, e = names
        self.assertEqual([f"{a} shop.E0  caused by {c}, which it led to itself", f"`- {b} shop.E1", f"   |- {c} shop.E2",
                          f"   `- {d} shop.E3", f"{e} shop.E4  caused by {e}, which it led to itself"], self.tree())

    def test_what_hangs_from_a_circle_is_drawn_under_it(self):
        low = self.caused("shop.Low")
        a = self.caused("shop.A")
        b = self.caused("shop.B", a)
        self.sql("update owed_event set causation_id = ? where id = ?", b, a)
        self.sql("update owed_event set causation_id = ? where id = ?", b, low)
        self.assertEqual([f"{a} shop.A  caused by {b}, which it led to itself", f"`- {b} shop.B",
                          f"   `- {low} shop.Low"], self.tree())

    def test_a_long_chain_says_how_deep_it_is(self):
        first = self.caused("shop.E")
        lines = [json.dumps({"name": "shop.E", "correlation_id": "c-9", "causation_id": first + n}) for n in range(39)]
        self.owed("fire", "--lines", stdin="\n".join(lines), code=0)
        last = self.tree()[-1]
        self.assertIn(f"`- (39 deep) {first + 39} shop.E", last)
        self.assertLess(len(last), 150)
        self.assertEqual(39, self.json_lines("events", "--correlation", "c-9")[-1]["depth"])

    def test_the_tree_takes_no_other_filter(self):
        for words in (["--name", "shop.A"], ["--before", "3"], ["--correlation-id", "c"]):
            self.refused(64, "does not go with --correlation", "events", "--correlation", "c-9", *words)
        self.refused(64, "--correlation wants an id", "events", "--correlation", "")

    def test_show_names_the_cause_and_the_effects(self):
        a = self.caused("shop.A")
        b = self.caused("shop.B", a)
        c = self.caused("shop.C", b)
        d = self.caused("shop.D", b, "other")
        found = self.json("show", str(b))
        self.assertEqual({"id": a, "name": "shop.A"}, found["cause"])
        self.assertEqual([{"id": c, "name": "shop.C"}, {"id": d, "name": "shop.D"}], found["effects"])
        self.assertIsNone(self.json("show", str(a))["cause"])
        self.assertEqual([], self.json("show", str(c))["effects"])
        text = self.owed("show", str(b), code=0).stdout
        self.assertIn(f"caused by {a} shop.A\n", text)
        self.assertIn(f"led to\n  {c} shop.C\n  {d} shop.D\n", text)
        self.sql("delete from owed_event where id = ?", a)
        self.assertEqual({"id": a, "name": None}, self.json("show", str(b))["cause"])
        self.assertIn(f"caused by {a} (it is gone)", self.owed("show", str(b), code=0).stdout)

    def test_a_suppressed_event_says_why(self):
        self.sql("update owed_event set suppressed_reason = 'import of 2019' where id = ?", self.caused("shop.A"))
        self.assertEqual("import of 2019", self.json_lines("events", "--correlation-id", "c-9")[0]["suppressed_reason"])
        self.assertEqual(1, self.owed("events", code=0).stdout.count("import of 2019"))
        self.assertEqual(["1 shop.A  suppressed"], [re.sub(r"^\d+", "1", line) for line in self.tree()])

    def test_every_key_of_the_json_is_in_the_manual_page(self):
        self.owed("pause", "--receiver", "shop.label", code=0)
        self.sql("insert into owed_relay (id, host, pid, lanes, started_at, heartbeat_at) values "
                 "('w', 'h', 1, '[]', moment(1), moment(1))")
        found = self.json("status")
        said = " ".join(self.owed("help", word, code=0).stdout for word in ("status", "relays"))
        for part in (found, *(found[name][0] for name in ("receivers", "lanes", "paused", "workers"))):
            for key in part:
                self.assertRegex(said, rf"\b{key}\b")

    def test_what_status_finds_does_not_change_its_exit(self):
        self.settle(1, "dead")
        self.owed("status", code=0)

    def test_only_a_relay_that_spoke_lately_is_alive(self):
        for name, age in (("new", 0), ("old", 3_600_000_000)):
            self.sql("insert into owed_relay (id, host, pid, lanes, started_at, heartbeat_at) values "
                     "(?, 'h', 1, '[\"shop/default\"]', moment(1), moment(?))", name, time.time_ns() // 1000 - age)
        self.assertEqual(1, self.json("status")["relays"])
        rows = {row["id"]: row for row in self.json_lines("relays")}
        self.assertEqual({"new", "old"}, set(rows))
        self.assertEqual(["shop/default"], rows["new"]["lanes"])
        self.assertRegex(self.owed("relays", code=0).stdout, r"(?m)^new +h +1 +shop/default ")
        for stored, shown in (('["a",7]', "a, 7"), ("[]", "-"), ("none", "none")):
            self.sql("update owed_relay set lanes = ?", stored)
            self.assertRegex(self.owed("relays", code=0).stdout, rf"(?m)^new +h +1 +{shown} ")

    def test_a_relay_of_several_workers_is_counted_once(self):
        for name in ("box-1.0a/0", "box-1.0a/1", "box-10.0a/0", "box-1.0b/2"):
            self.sql("insert into owed_relay (id, host, pid, lanes, started_at, heartbeat_at) values "
                     "(?, 'h', 1, '[]', moment(1), moment(?))", name, time.time_ns() // 1000)
        self.assertEqual(3, self.json("status")["relays"])
        self.assertEqual(4, len(self.json_lines("relays")))

    # quiet

    def test_a_receiver_that_has_not_succeeded_lately_is_quiet(self):
        rows = {row["key"]: row for row in self.json_lines("quiet")}
        self.assertEqual({"shop.billing", "shop.label"}, set(rows))
        self.assertEqual(("shop", "shop.OrderPlaced", "shop/default", None, None, 3),
                         tuple(rows["shop.label"][key] for key in (
                             "app", "event_name", "lane", "last_success_at", "last_success_age_seconds", "events")))
        self.assertRegex(rows["shop.label"]["last_event_at"], MOMENT)
        self.settle(1, "succeeded", succeeded_at=time.time_ns() // 1000 - 3_600_000_000)
        self.assertEqual(1, len(self.json_lines("quiet")))
        rows = [row for row in self.json_lines("quiet", "--within", "30m") if row["last_success_at"] is not None]
        self.assertTrue(3600 <= rows[0]["last_success_age_seconds"] < 3700)
        self.assertRegex(self.owed("quiet", "--within", "30m", code=0).stdout, r"(?m)^RECEIVER +EVENT +LANE +LAST SUCCESS ")

    def test_the_retention_of_the_configuration_is_how_long_it_may_be_quiet(self):
        self.sql("update owed_delivery set status = 'succeeded', succeeded_at = moment(?)",
                 time.time_ns() // 1000 - 3_600_000_000)
        self.assertEqual([], self.json_lines("quiet"))
        self.conf("[relay]\nretention = 30m\n")
        self.assertEqual(2, len(self.json_lines("quiet")))

    # events and deliveries

    def test_events_come_newest_first_with_what_is_owed(self):
        self.settle(1, "succeeded")
        self.assertEqual([(3, 2, 2), (2, 2, 2), (1, 1, 2)],
                         [(row["id"], row["owed"], row["deliveries"]) for row in self.json_lines("events")])

    def test_the_next_page_begins_before_the_last_id(self):
        self.assertEqual([3, 2], [row["id"] for row in self.json_lines("events", "--limit", "2")])
        self.assertEqual([1], [row["id"] for row in self.json_lines("events", "--limit", "2", "--before", "2")])
        self.assertEqual(self.d[6:], [row["id"] for row in self.json_lines("deliveries", "--limit", "1")])
        self.assertEqual(self.d[2:0:-1],
                         [row["id"] for row in self.json_lines("deliveries", "--before", str(self.d[3]))])

    def test_events_are_filtered(self):
        other = self.fire("shop.Other", "{}")
        self.assertEqual([other], [row["id"] for row in self.json_lines("events", "--name", "shop.Other")])
        self.assertEqual([2], [row["id"] for row in self.json_lines("events", "--correlation-id", "c-1")])
        self.assertEqual([], self.json_lines("events", "--name", "shop.Other", "--correlation-id", "c-1"))

    def test_deliveries_are_filtered(self):
        self.settle(1, "dead", "boom")
        mine = {row[0] for row in self.sql("select id from owed_delivery where receiver_key = 'shop.label'")}
        ids = lambda *words: {row["id"] for row in self.json_lines("deliveries", *words)}
        self.assertEqual({self.d[1]}, ids("--status", "dead"))
        self.assertEqual(mine, ids("--receiver", "shop.label"))
        self.assertEqual(set(self.d[3:5]), ids("--event", "2"))
        self.assertEqual(set(self.d[1:]), ids("--lane", "default"))
        self.assertEqual(set(self.d[1:]), ids("--lane", "shop/default", "--name", "shop.OrderPlaced"))
        self.assertEqual(set(), ids("--lane", "mail"))
        self.assertEqual(set(), ids("--name", "shop.Other"))
        self.assertEqual(set(self.d[3:5]), ids("--event", "2", "--status", "pending"))

    def test_json_has_the_columns_names_and_times_that_programs_read(self):
        row = self.json_lines("events", "--limit", "1")[0]
        columns = self.columns("owed_event")
        self.assertLessEqual(set(row) - {"owed", "deliveries"}, columns)
        self.assertRegex(row["occurred_at"], MOMENT)
        self.assertRegex(row["uid"], r"^[0-9a-f]{32}$")
        self.assertIsNone(row["dedupe_key"])
        row = self.json_lines("deliveries", "--limit", "1")[0]
        columns = self.columns("owed_delivery")
        self.assertLessEqual(set(row) - {"event_name"}, columns)
        self.assertRegex(row["available_at"], MOMENT)
        self.assertIsNone(row["completed_at"])

    def test_columns_are_aligned_and_nothing_of_a_row_breaks_its_line(self):
        self.settle(1, "dead", "first\nsecond\x1b[31m " + "x" * 200)
        lines = self.owed("deliveries", code=0).stdout.splitlines()
        self.assertEqual(7, len(lines))
        place = lines[0].index("STATUS")
        self.assertEqual({"pending", "dead"}, {line[place:].split()[0] for line in lines[1:]})
        self.assertNotIn("\x1b", "".join(lines))
        self.assertTrue(lines[-1].endswith("..."), lines[-1])

    def test_a_list_of_nothing_is_its_head_alone_and_no_json(self):
        self.assertEqual(1, len(self.owed("events", "--name", "no.Such", code=0).stdout.splitlines()))
        self.assertEqual("", self.owed("events", "--name", "no.Such", "--json", code=0).stdout)

    # show and attempts

    def test_show_has_the_event_its_deliveries_and_their_attempts(self):
        self.settle(1, "failed", "boom", attempts=2)
        self.attempt(1, 1, error="bang", code=503)
        self.attempt(1, 2, "permanent", error="boom")
        event = self.json("show", "1")
        self.assertEqual({"n": 0}, event["payload"])
        self.assertEqual(self.d[1:3], [row["id"] for row in event["deliveries"]])
        self.assertEqual([("failed", 503, "bang"), ("permanent", None, "boom")],
                         [(row["verdict"], row["code"], row["error"]) for row in event["deliveries"][0]["history"]])
        text = self.owed("show", "1", code=0).stdout
        for word in ("event 1", 'payload', '{"n":0}', f"delivery {self.d[1]}", f"delivery {self.d[2]}", "bang", "boom", "503"):
            self.assertIn(word, text)

    def test_show_gives_the_payload_byte_for_byte(self):
        payload = '{ "b":12345678901234567890, "b":1e400,"a":"\\u0000"}'
        event = self.fire("shop.OrderPlaced", payload)
        self.assertIn(payload, self.owed("show", str(event), code=0).stdout)
        self.assertIn(payload, self.owed("show", str(event), "--json", code=0).stdout)

    def test_show_of_a_delivery(self):
        self.attempt(2, 1, error="bang")
        row = self.json("show", "--delivery", str(self.d[2]))
        self.assertEqual((self.d[2], 1, 1), (row["id"], row["event_id"], len(row["history"])))
        self.assertIn("bang", self.owed("show", "--delivery", str(self.d[2]), code=0).stdout)

    def test_attempts_of_a_delivery(self):
        self.attempt(1, 1, error="bang", code=503)
        [row] = self.json_lines("attempts", str(self.d[1]))
        self.assertEqual((1, "failed", 503, "bang", 1500, "2026-01-02T03:04:05.678901Z"),
                         tuple(row[key] for key in ("attempt", "verdict", "code", "error", "duration", "started_at")))
        self.assertIn("bang", self.owed("attempts", str(self.d[1]), code=0).stdout)
        self.assertEqual([], self.json_lines("attempts", str(self.d[2])))

    def test_what_does_not_exist_is_refused(self):
        self.refused(65, "999999", "show", "999999")
        self.refused(65, "999999", "show", "--delivery", "999999")
        self.refused(65, "999999", "attempts", "999999")

    def test_what_is_no_id_is_refused(self):
        for words in (("show", "abc"), ("show", "0"), ("attempts", "-- -1".split()[1]), ("show", "1x")):
            self.refused(64, words[1].lstrip("-"), *words)
        self.refused(64, "the id of an event", "show")
        self.refused(64, "the id of a delivery", "attempts")

    def test_a_misspelt_status_is_refused_with_the_nearest(self):
        self.refused(64, "the nearest is succeeded", "deliveries", "--status", "succeded")

    def test_a_limit_of_nothing_is_refused(self):
        self.refused(64, "--limit", "events", "--limit", "0")

    # where output cannot go

    def test_a_full_disk_is_noticed(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([OWED, "events"], stdout=full, stderr=subprocess.PIPE, text=True, cwd=self.folder,
                                  env=self.env)
        self.assertEqual(1, done.returncode)
        self.assertIn("standard output", done.stderr)

    def test_a_closed_output_is_noticed(self):
        done = subprocess.run(["/bin/sh", "-c", '"$0" events >&-', OWED], stderr=subprocess.PIPE, text=True,
                              cwd=self.folder, env=self.env)
        self.assertEqual(1, done.returncode)
        self.assertIn("standard output", done.stderr)

    def test_a_relay_without_standard_descriptors_ends_as_any_other(self):
        for closed in ("2>&-", "<&- 2>&-", "<&- >&- 2>&-"):
            done = subprocess.run(["/bin/sh", "-c", f'"$0" relay --once {closed}', OWED], cwd=self.folder,
                                  env=self.env, timeout=20)
            self.assertIn(done.returncode, (0, 1), closed)

    def test_a_reader_that_goes_away_ends_a_list_in_silence(self):
        self.owed("fire", "--lines", stdin='{"name":"shop.OrderPlaced"}\n' * 5000, code=0)
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run([OWED, "events", "--limit", "5000"], stdout=writer, stderr=subprocess.PIPE, text=True,
                              cwd=self.folder, env=self.env)
        os.close(writer)
        self.assertEqual((0, ""), (done.returncode, done.stderr))

    def test_looking_writes_nothing(self):
        self.only_on_sqlite("its file is compared")
        self.sql("pragma wal_checkpoint(truncate)")
        before = (self.folder / "shop.db").read_bytes()
        for words in (["status"], ["events"], ["deliveries"], ["show", "1"], ["attempts", str(self.d[1])], ["relays"]):
            self.owed(*words, code=0)
        self.sql("pragma wal_checkpoint(truncate)")
        self.assertEqual(before, (self.folder / "shop.db").read_bytes())


run()
