#!/usr/bin/python3
"""owed fire: one event at a time."""
import subprocess

from harness import StoreCase, run


class Fire(StoreCase):
    def test_it_prints_the_id_of_an_event_that_is_recorded(self):
        event = self.fire("shop.OrderPlaced", '{"order_id": 7}')
        self.assertEqual([("shop.OrderPlaced", 1, '{"order_id": 7}')],
                         self.sql("select name, version, payload from owed_event where id = ?", event))

    def test_the_payload_is_an_empty_object_where_none_is_given(self):
        event = int(self.owed("fire", "shop.OrderPlaced", code=0).stdout)
        self.assertEqual("{}", self.value("select payload from owed_event where id = ?", event))

    def test_a_dash_reads_the_payload_from_standard_input_without_its_last_line_end(self):
        event = int(self.owed("fire", "shop.OrderPlaced", "-", stdin='{ "a":\t1e400 }\n', code=0).stdout)
        self.assertEqual('{ "a":\t1e400 }', self.value("select payload from owed_event where id = ?", event))

    def test_a_payload_of_any_shape_is_kept_as_it_stands(self):
        for payload in ("[]", "null", '"text"', "12345678901234567890", '{"a":1,"a":2}', '"\\u0000\\ud800"'):
            event = self.fire("shop.OrderPlaced", payload)
            self.assertEqual(payload, self.value("select payload from owed_event where id = ?", event))

    def test_every_option_is_recorded(self):
        self.fire("shop.Ordered")
        trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        event = self.fire("shop.OrderPlaced", "{}", "--version", "3", "--dedupe-key", "order-7",
                          "--actor", "user-9", "--actor-label", "Zoë", "--correlation-id", "c-1",
                          "--causation-id", "1", "--traceparent", trace, "--scope", '{"tenant":"a"}',
                          "--occurred-at", "2026-01-02T03:04:05.678901Z", "--due", "2130-01-01T00:00:00Z")
        self.assertEqual([(3, "order-7", "user-9", "Zoë", "c-1", 1, trace, '{"tenant":"a"}', 1767323045678901,
                           5049129600000000)],
                         self.sql("select version, dedupe_key, actor_key, actor_label, correlation_id, causation_id, "
                                  "traceparent, scope, occurred_at, due_at from owed_event where id = ?", event))

    def test_the_trace_of_the_environment_is_taken_unless_it_is_malformed(self):
        trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        told = trace.replace("b7ad", "0000")
        for value, words, kept in ((trace, [], trace), ("00-1-2-3", [], ""), (trace, ["--traceparent", told], told)):
            event = int(self.owed("fire", "shop.OrderPlaced", *words, env={"TRACEPARENT": value}, code=0).stdout)
            self.assertEqual(kept, self.value("select traceparent from owed_event where id = ?", event))
        self.owed("fire", "--lines", stdin='{"name":"shop.Lined"}\n', env={"TRACEPARENT": trace}, code=0)
        self.assertEqual(trace, self.value("select traceparent from owed_event where name = 'shop.Lined'"))

    def test_an_environment_that_names_no_event_of_this_store_names_no_cause(self):
        event = self.fire("shop.OrderPlaced")
        for number, key in ((event, "owed_00000000000000000000000000000000"), (99, "owed_1"), ("x", "owed_1")):
            env = {"OWED_EVENT_ID": str(number), "OWED_IDEMPOTENCY_KEY": key, "OWED_RECEIVER": "shop.label"}
            fired = int(self.owed("fire", "shop.Next", env=env, code=0).stdout)
            self.assertIsNone(self.value("select causation_id from owed_event where id = ?", fired))

    def test_due_may_be_told_from_now(self):
        event = self.fire("shop.OrderPlaced", "{}", "--due", "+90s")
        wait = self.value("select micros(due_at) - micros(recorded_at) from owed_event where id = ?", event)
        self.assertTrue(85_000_000 < wait <= 90_000_000, wait)

    def test_json_says_id_and_whether_it_was_one_already(self):
        self.assertEqual({"id": 1, "duplicate": False}, self.json("fire", "a.B", "--dedupe-key", "k"))
        self.assertEqual({"id": 1, "duplicate": True}, self.json("fire", "a.B", "--dedupe-key", "k"))

    def test_a_dedupe_key_that_is_taken_gives_the_event_that_has_it(self):
        first = self.fire("shop.OrderPlaced", '{"n":1}', "--dedupe-key", "order-7")
        done = self.owed("fire", "shop.OrderPlaced", '{"n":2}', "--dedupe-key", "order-7", code=0)
        self.assertEqual(f"{first}\n", done.stdout)
        self.assertEqual("duplicate\n", done.stderr)
        self.assertEqual([('{"n":1}',)], self.sql("select payload from owed_event"))

    def test_what_is_owed_comes_from_the_configuration(self):
        self.receivers("shop.billing", "shop.label")
        event = self.fire("shop.OrderPlaced")
        self.assertEqual([("shop.billing", "pending", "shop/default"), ("shop.label", "pending", "shop/default")],
                         self.sql("select receiver_key, status, lane from owed_delivery where event_id = ? "
                                  "order by receiver_key", event))

    def test_what_one_published_is_owed_by_whoever_fires(self):
        self.receivers("shop.billing")
        self.owed("publish", code=0)
        (self.folder / "owed.conf").unlink()
        event = self.fire("shop.OrderPlaced")
        self.assertEqual([("shop.billing",)],
                         self.sql("select receiver_key from owed_delivery where event_id = ?", event))

    def test_a_misspelt_name_is_recorded_with_a_warning_that_names_the_nearest(self):
        self.receivers("shop.billing")
        done = self.owed("fire", "shop.OrderPlacd", code=0)
        self.assertRegex(done.stderr, r"^owed: warning: .*shop\.OrderPlacd.*shop\.OrderPlaced\n$")
        self.assertEqual("shop.OrderPlacd", self.value("select name from owed_event"))

    def test_a_declared_name_gives_no_warning(self):
        self.receivers("shop.billing")
        self.assertEqual("", self.owed("fire", "shop.OrderPlaced", code=0).stderr)

    def test_an_event_that_the_sqlite3_shell_fired_is_seen_and_owed(self):
        self.only_on_sqlite("its shell is run")
        self.receivers("shop.billing")
        self.owed("publish", code=0)
        subprocess.run(["sqlite3", "-bail", "shop.db",
                        "insert into owed_fire (name, payload) values ('shop.OrderPlaced', '{\"order_id\": 7}')"],
                       check=True, cwd=self.folder)
        [event] = self.json_lines("events")
        self.assertEqual(("shop.OrderPlaced", 1, 1), (event["name"], event["owed"], event["deliveries"]))
        self.assertEqual({"order_id": 7}, self.json("show", str(event["id"]))["payload"])


class Refusals(StoreCase):
    def nothing_fired(self):
        self.assertEqual(0, self.value("select count(*) from owed_event"))

    def test_no_name(self):
        self.refused(64, "the name of an event", "fire")
        self.nothing_fired()

    def test_too_many_words(self):
        self.refused(64, "'three'", "fire", "one", "{}", "three")

    def test_a_payload_that_is_no_json(self):
        self.refused(65, "not JSON", "fire", "shop.OrderPlaced", '{"a":}')
        self.nothing_fired()

    def test_a_payload_that_is_not_utf8(self):
        done = self.owed("fire", "shop.OrderPlaced", "-", stdin=b'"\xff"', code=65)
        self.assertIn(b"UTF-8", done.stderr)
        self.nothing_fired()

    def test_a_payload_that_is_too_deep(self):
        self.refused(65, "deep", "fire", "shop.OrderPlaced", "-", stdin="[" * 513 + "]" * 513)
        self.nothing_fired()

    def test_a_payload_that_is_too_large(self):
        self.refused(65, "limit", "fire", "shop.OrderPlaced", "-", stdin='"' + "x" * (16 << 20) + '"')
        self.nothing_fired()

    def test_a_name_with_a_letter_that_no_name_has(self):
        self.refused(65, "shop Order", "fire", "shop Order")
        self.nothing_fired()

    def test_a_scope_that_is_no_object(self):
        self.refused(65, "scope", "fire", "a.B", "--scope", "[1]")

    def test_a_traceparent_of_another_form(self):
        self.refused(65, "traceparent", "fire", "a.B", "--traceparent", "abc")

    def test_a_due_time_without_its_zone(self):
        self.refused(64, "--due", "fire", "a.B", "--due", "2026-11-29T15:04:05")

    def test_a_version_out_of_range(self):
        self.refused(64, "--version", "fire", "a.B", "--version", "32768")

    def test_an_option_with_a_letter_too_few(self):
        self.refused(64, "--dedupe-key", "fire", "a.B", "--dedup-key", "k")

    def test_an_option_without_its_value(self):
        self.refused(64, "--actor", "fire", "a.B", "--actor")

    def test_a_store_that_somebody_else_writes_to(self):
        with self.busy():
            self.refused(75, "locked", "fire", "a.B", "--busy-timeout", "20ms")
        self.nothing_fired()

    def test_batch_without_lines(self):
        self.refused(64, "--lines", "fire", "a.B", "--batch", "10")

    def test_a_name_beside_lines(self):
        self.refused(64, "'a.B'", "fire", "--lines", "a.B")

    def test_an_option_of_one_event_beside_lines(self):
        self.refused(64, "--dedupe-key", "fire", "--lines", "--dedupe-key", "k")


run()
