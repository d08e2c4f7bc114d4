#!/usr/bin/python3
"""owed relay, as a person meets it: what it prints, how it ends, what it refuses."""
import os
import signal
import stat
import subprocess

from harness import OWED, StoreCase, run


class Relay(StoreCase):
    def program(self, text):
        path = self.write("program", f"#!/bin/sh\n{text}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    def start(self, *words):
        relay = subprocess.Popen([OWED, "relay", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                 cwd=self.folder, env=self.env)
        self.addCleanup(relay.stdout.close)
        self.addCleanup(relay.stderr.close)
        self.addCleanup(relay.wait)
        self.addCleanup(relay.kill)
        return relay

    def test_a_worker_that_has_nothing_to_run_listens_for_no_commit(self):
        self.receivers("shop.label")
        self.env["RUNTIME_DIRECTORY"] = str(self.folder)
        relay = self.start()
        self.assertIn("workers=2", next(line for line in relay.stderr if "relay ready" in line))
        self.assertEqual(1, len(list(self.folder.glob("*owed-*.sock"))))

    def test_once_says_when_nothing_is_owed(self):
        self.receivers("shop.billing")
        self.assertEqual("Nothing owed.\n", self.owed("relay", "--once", code=0).stdout)

    def test_once_delivers_everything_and_says_how_it_ended(self):
        self.receivers("shop.billing", "shop.label")
        for _ in range(3):
            self.fire("shop.OrderPlaced")
        self.assertEqual("succeeded: 6\n", self.owed("relay", "--once", code=0).stdout)
        self.assertEqual("succeeded", self.value("select distinct status from owed_delivery"))
        self.assertIn("Nothing is owed", self.owed("status", code=0).stdout)

    def test_the_counts_are_sorted_by_word(self):
        program = self.program('grep -q good && exit 0; exit 64')
        self.conf(f'[receiver "shop.label"]\nevent = shop.OrderPlaced\nexec = {program}\n')
        self.fire("shop.OrderPlaced", '"good"')
        self.fire("shop.OrderPlaced", '"bad"')
        self.assertEqual("dead: 1\nsucceeded: 1\n", self.owed("relay", "--once", code=0).stdout)

    def test_a_program_is_told_what_it_delivers(self):
        program = self.program('cat > payload; env | grep ^OWED_ | sort > facts')
        self.conf(f'[receiver "shop.label"]\nevent = shop.OrderPlaced\nexec = {program}\n')
        event = self.fire("shop.OrderPlaced", '{ "order_id":7 }', "--correlation-id", "c-1")
        self.owed("relay", "--once", code=0)
        self.assertEqual('{ "order_id":7 }', (self.folder / "payload").read_text())
        facts = dict(line.split("=", 1) for line in (self.folder / "facts").read_text().splitlines())
        self.assertEqual((str(event), "shop.OrderPlaced", "shop.label", "1", "c-1"),
                         tuple(facts[f"OWED_{key}"] for key in ("EVENT_ID", "EVENT_NAME", "RECEIVER", "ATTEMPT",
                                                                "CORRELATION_ID")))

    def test_what_a_program_fires_has_the_event_that_it_delivers_as_its_cause(self):
        trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        other = "sqlite:other.db"
        self.owed("init", "--store", other, code=0)
        self.owed("fire", "shop.First", "--store", other, code=0)  # it has the id of the cause, and another uid
        program = self.program("set -e\n"
                               f"{OWED} fire shop.LabelPrinted\n"
                               f"""echo '{{"name":"shop.Lined"}}' | {OWED} fire --lines\n"""
                               f"{OWED} fire shop.Own --causation-id 99 --correlation-id own\n"
                               f"{OWED} fire shop.Elsewhere --store {other}")
        self.conf(f'[receiver "shop.label"]\nevent = shop.OrderPlaced\nexec = {program}\n')
        event = self.fire("shop.OrderPlaced", "{}", "--correlation-id", "c-1", "--traceparent", trace, "--actor", "zoe")
        self.assertEqual("succeeded: 1\n", self.owed("relay", "--once", code=0).stdout)
        self.assertEqual([("shop.LabelPrinted", event, "c-1", trace, ""), ("shop.Lined", event, "c-1", trace, ""),
                          ("shop.Own", 99, "own", trace, "")],
                         self.sql("select name, causation_id, correlation_id, traceparent, actor_key from owed_event "
                                  "where id > ? order by id", event))
        elsewhere = self.json_lines("events", "--store", other)[0]
        self.assertEqual(("shop.Elsewhere", None, "c-1", trace),
                         tuple(elsewhere[key] for key in ("name", "causation_id", "correlation_id", "traceparent")))

    def test_the_log_names_the_trace_of_what_it_delivers(self):
        trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        program = self.program("grep -q good && exit 0; exit 64")
        self.conf(f'[receiver "shop.label"]\nevent = shop.OrderPlaced\nexec = {program}\n')
        for payload in ('"good"', '"bad"'):
            self.fire("shop.OrderPlaced", payload, "--traceparent", trace)
        log = self.owed("relay", "--once", "--log-level", "debug", code=0).stderr
        for words in ("msg=delivered ", 'msg="delivery failed" '):
            line = next(line for line in log.splitlines() if words in line)
            self.assertIn(" trace_id=0af7651916cd43dd8448eb211c80319c", line)
        self.fire("shop.OrderPlaced", '"good"')
        self.assertNotIn("trace_id", self.owed("relay", "--once", "--log-level", "debug", code=0).stderr)

    def test_limit_attempts_so_many_and_ends(self):
        self.receivers("shop.billing")
        for _ in range(5):
            self.fire("shop.OrderPlaced")
        self.assertEqual("succeeded: 2\n", self.owed("relay", "--limit", "2", code=0).stdout)
        self.assertEqual(3, self.value("select count(*) from owed_delivery where status = 'pending'"))

    def test_a_dead_delivery_that_is_requeued_is_delivered(self):
        program = self.program("exit 64")
        self.conf(f'[receiver "shop.label"]\nevent = shop.OrderPlaced\nexec = {program}\n')
        self.fire("shop.OrderPlaced")
        self.assertEqual("dead: 1\n", self.owed("relay", "--once", code=0).stdout)
        self.program("exit 0")
        self.owed("requeue", "--all", code=0)
        self.assertEqual("succeeded: 1\n", self.owed("relay", "--once", code=0).stdout)

    def test_workers_do_not_show_the_url_of_the_store_that_a_flag_names(self):
        url = self.env.pop("OWED_STORE")
        program = self.program("env > facts; tr '\\0' '\\n' < /proc/$PPID/cmdline > words; "
                               "kill -TERM $(cat relay.pid)")
        self.conf(f'[receiver "shop.label"]\nevent = shop.OrderPlaced\nexec = {program}\n')
        for words in (["--store", url], [f"--store={url}"]):
            relay = self.start("--lane", "default", *words, "--poll", "50ms")
            self.write("relay.pid", str(relay.pid))
            self.owed("fire", "shop.OrderPlaced", "--store", url, code=0)
            self.assertEqual(0, relay.wait(30))
            self.assertEqual(["relay", "--lane", "default", "--poll", "50ms"],
                             (self.folder / "words").read_text().split("\n")[1:-1])
            self.assertNotIn(url, (self.folder / "facts").read_text())

    def test_a_stop_ends_it_with_success(self):
        self.receivers("shop.billing")
        for number in (signal.SIGTERM, signal.SIGINT):
            relay = self.start("--log-level", "info")
            self.fire("shop.OrderPlaced")
            line = relay.stderr.readline()  # it lives
            self.assertTrue(line)
            relay.send_signal(number)
            self.assertEqual(0, relay.wait(30))

    def test_a_relay_in_the_background_is_woken_by_a_fire(self):
        program = self.program("cat > arrived.new; mv arrived.new arrived; kill -TERM $(cat relay.pid)")
        self.conf(f'[receiver "shop.label"]\nevent = shop.OrderPlaced\nexec = {program}\n')
        relay = self.start("--poll", "60s")
        self.write("relay.pid", str(relay.pid))
        self.fire("shop.OrderPlaced", '"here"')
        self.assertEqual(0, relay.wait(30))
        self.assertEqual('"here"', (self.folder / "arrived").read_text())

    def test_the_log_may_be_json(self):
        import json
        self.receivers("shop.billing")
        self.fire("shop.OrderPlaced")
        done = self.owed("relay", "--once", "--log-format", "json", "--log-level", "debug", code=0)
        lines = [json.loads(line) for line in done.stderr.splitlines()]
        self.assertTrue(lines and all("level" in line for line in lines), done.stderr)

    def test_a_store_without_tables_ends_it_with_the_reason(self):
        (self.folder / "empty.db").touch()
        self.refused(78, "owed init", "relay", "--once", "--store", "sqlite:empty.db")

    def test_a_wrong_receiver_is_told_once(self):
        self.conf('[receiver "shop.label"]\nevent = shop.OrderPlaced\n')
        self.refused(78, "owed.conf:1", "relay", "--once")

    def test_a_module_that_cannot_be_loaded_ends_it_with_the_reason(self):
        self.refused(78, "none.so", "relay", "--once", "--module", "./none.so")

    def test_an_unknown_lane_is_refused_with_the_known_ones(self):
        self.receivers("shop.billing", extra="lane = hooks")
        self.owed("publish", code=0)
        self.refused(64, "hooks", "relay", "--once", "--lane", "hoks")

    def test_a_lane_of_the_configuration_that_nobody_declares_is_told_alike(self):
        self.conf("[relay]\nlane = hoks\n")
        self.refused(64, "hoks", "relay", "--once")


run()
