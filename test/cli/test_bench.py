#!/usr/bin/python3
"""owed bench: each benchmark measures, says so in one document, and leaves the store as it was."""
import contextlib
import json
import signal
import subprocess
import time

from harness import OWED, StoreCase, run

SMALL = {
    "fire": ["--rows", "300", "--batch", "10", "--concurrency", "2", "--receivers", "2", "--history", "50"],
    "drain": ["--rows", "300", "--backlog", "100", "--history", "50", "--receivers", "2"],
    "claim": ["--rows", "200", "--backlog", "100", "--history", "50", "--batch", "30"],
    "latency": ["--rows", "5", "--history", "50"],
    "idle": ["--duration", "1s", "--history", "50"],
    "churn": ["--duration", "1s", "--history", "50", "--receivers", "2"],
}
ENDLESS = {"drain": ["--rows", "1000000"], "latency": ["--rows", "1000000"], "churn": ["--duration", "1h"]}
KEYS = ["benchmark", "store", "rows", "backlog", "history", "payload_size", "receivers", "concurrency", "batch", "inserts",
        "groups", "duration_us", "unit", "percentiles_of", "count", "seconds", "rate", "bare_rate", "ratio", "max_rate",
        "p50_us", "p90_us", "p99_us", "max_us", "log_bytes_per_delivery", "dead_tuples", "table_bytes", "index_bytes",
        "transactions_per_second", "wake_ups_per_second", "cpu_us_per_second", "resident_bytes", "slices"]
TABLES = ["owed_event", "owed_delivery", "owed_receiver", "owed_event_type", "owed_attempt", "owed_lane", "owed_relay",
          "owed_last_success", "owed_schema"]
SECONDS = 60


class BenchCase(StoreCase):
    def left(self):
        """How many rows each table has."""
        return {table: self.value(f"select count(*) from {table}") for table in TABLES}

    def own_tables(self):
        source = "sqlite_master" if self.store.scheme == "sqlite" else "information_schema.tables"
        name = "name" if self.store.scheme == "sqlite" else "table_name"
        where = {"sqlite": "1 = 1", "postgres": "table_schema = current_schema()",
                 "mariadb": "table_schema = database()"}[self.store.scheme]
        rows = self.sql(f"select {name} from {source} where {where}")
        return sorted(row[0] for row in rows if row[0].startswith("owed_bench"))

    def bench(self, name, *words, code=0):
        return self.owed("bench", name, *words, code=code)

    def until(self, condition, what):
        deadline = time.monotonic() + SECONDS
        while not condition():
            self.assertLess(time.monotonic(), deadline, what)

    def has_begun(self):
        return self.value("select count(*) from owed_event") > 0

    def start(self, name, *words):
        process = subprocess.Popen([OWED, "bench", name, *words], cwd=self.folder, env=self.env, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.until(self.has_begun, "nothing was fired")
        return process


class Benchmarks(BenchCase):
    def test_each_prints_one_document_and_leaves_the_store_as_it_was(self):
        before = self.left()
        for name, words in SMALL.items():
            with self.subTest(name):
                report = json.loads(self.bench(name, *words, "--json").stdout)
                self.assertEqual(KEYS, list(report))
                self.assertEqual((name, self.store.scheme), (report["benchmark"], report["store"]))
                self.assertEqual(before, self.left())
                self.assertEqual([], self.own_tables())

    def test_each_says_it_to_people(self):
        for name, words in ("fire", r"rate +\d"), ("claim", r"ratio +\d"), ("latency", r"commit to start p50 \d"):
            with self.subTest(name):
                self.assertRegex(self.bench(name, *SMALL[name]).stdout, rf"(?s)^{name} on {self.store.scheme}\n.*{words}")

    def test_what_has_a_rate_has_a_bare_loop_beside_it(self):
        for name, count in (("fire", 300), ("drain", 600), ("claim", 210)):
            report = json.loads(self.bench(name, *SMALL[name], "--json").stdout)
            self.assertEqual(count, report["count"])
            self.assertGreater(report["bare_rate"], 0)
            self.assertAlmostEqual(report["rate"] / report["bare_rate"], report["ratio"], delta=0.02)
            self.assertAlmostEqual(report["count"] / report["seconds"], report["rate"], delta=report["rate"] * 0.02)
            self.assertLessEqual(report["p50_us"], report["p99_us"])
            self.assertLessEqual(report["p99_us"], report["max_us"])
            self.assertGreater(report["log_bytes_per_delivery"], 0)
            # Where there are such things.
            told = self.store.scheme == "postgres" and name != "fire"
            self.assertEqual([told] * 3, [report[key] is not None for key in ("dead_tuples", "table_bytes", "index_bytes")])

    def test_churn_is_told_by_twelfths_and_idle_by_what_it_costs(self):
        report = json.loads(self.bench("churn", *SMALL["churn"], "--json").stdout)
        self.assertEqual(12, len(report["slices"]))
        self.assertEqual({"rate", "claim_p50_us", "dead_tuples", "table_bytes", "index_bytes"}, set(report["slices"][0]))
        self.assertGreater(report["max_rate"], 0)
        self.assertGreater(report["count"], 0)
        report = json.loads(self.bench("idle", *SMALL["idle"], "--json").stdout)
        self.assertGreater(report["resident_bytes"], 1000000)
        self.assertEqual(self.store.scheme != "sqlite", report["transactions_per_second"] is not None)
        self.assertIsNotNone(report["wake_ups_per_second"])
        self.assertIsNone(report["rate"])

    def test_a_machine_that_stands_still_spoils_no_figure(self):
        process = self.start("churn", *SMALL["churn"], "--json")
        while process.poll() is None:
            for halt_or_go_on, seconds in ((signal.SIGSTOP, 0.3), (signal.SIGCONT, 0.1)):
                process.send_signal(halt_or_go_on)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(seconds)
        printed, complaint = process.communicate()
        self.assertEqual((0, ""), (process.returncode, complaint))
        self.assertEqual(12, len(json.loads(printed)["slices"]))

    def test_receivers_that_insert_share_transactions_or_have_one_each(self):
        for words, groups in (([], 1), (["--no-groups"], 0)):
            report = json.loads(self.bench("drain", "--rows", "100", "--inserts", *words, "--json").stdout)
            self.assertEqual((1, groups, 100), (report["inserts"], report["groups"], report["count"]))


class Company(BenchCase):
    """A store that somebody else uses."""

    def setUp(self):
        super().setUp()
        self.receivers("shop.billing")
        self.owed("publish", code=0)
        self.fire("shop.OrderPlaced")
        self.fire("shop.OrderPlaced")
        self.owed("relay", "--once", "--limit", "1", code=0)
        self.sql("insert into owed_relay (id, host, pid, lanes, started_at, heartbeat_at)"
                 " values ('gone.00000000/0', 'elsewhere', 1, '[]', moment(1000000), moment(1000000))")
        # What a relay at work would move, and what it would delete.
        self.sql("update owed_delivery set lane = 'shop/elsewhere' where status = 'pending'")
        self.sql("update owed_event set recorded_at = moment(1000000)")

    def rows(self):
        return [self.sql(text) for text in (
            "select id, name, version, micros(recorded_at) from owed_event order by id",
            "select id, event_id, receiver_key, lane, status, attempts, losses, claimed_by, micros(available_at),"
            " micros(completed_at) from owed_delivery order by id",
            'select "key", app, lane, micros(published_at), micros(removed_at) from owed_receiver order by 1',
            "select id, micros(heartbeat_at) from owed_relay order by id")]

    def test_it_is_refused_and_nothing_is_written(self):
        before = self.rows()
        for name in SMALL:
            self.refused(65, "--force", "bench", name)
        self.assertEqual(before, self.rows())
        self.assertEqual([], self.own_tables())

    def test_with_force_the_rows_of_others_stay_untouched(self):
        before, counts = self.rows(), self.left()
        for name, words in SMALL.items():
            self.bench(name, *words, "--force")
            self.assertEqual(before, self.rows(), name)
        self.assertEqual(counts, self.left())

    def test_a_receiver_of_every_event_forbids_it_also_with_force(self):
        self.receivers("shop.audit", event="*")
        self.owed("publish", code=0)
        self.refused(65, "shop.audit is owed every event", "bench", "fire", "--force")


class Ends(BenchCase):
    def test_a_signal_stops_it_and_it_takes_back_what_it_wrote(self):
        before = self.left()
        for name, words in ENDLESS.items():
            for number in [signal.SIGINT, signal.SIGTERM][:1 if name != "drain" else 2]:
                with self.subTest(name, signal=number):
                    process = self.start(name, *words)
                    process.send_signal(number)
                    out, err = process.communicate(timeout=SECONDS)
                    self.assertEqual((128 + number, ""), (process.returncode, out), err)
                    self.assertEqual("owed: stopped: nothing is left of the benchmark\n", err)
                    self.assertEqual(before, self.left())
                    self.assertEqual([], self.own_tables())

    def test_what_a_killed_one_left_is_in_the_way_until_clean_takes_it_back(self):
        before = self.left()
        process = self.start("drain", "--rows", "1000000")
        process.kill()
        process.communicate()
        self.refused(65, "owed bench clean", "bench", "fire")
        self.assertRegex(self.bench("clean").stdout, r"^events taken back: \d+\n$")
        self.assertEqual(before, self.left())
        self.assertEqual({"benchmark": "clean", "events": 0}, json.loads(self.bench("clean", "--json").stdout))
        self.bench("fire", "--rows", "10")

    def test_one_that_is_cleaned_away_while_it_runs_says_so(self):
        before = self.left()
        process = self.start("idle", "--duration", "5s", "--history", "50")
        self.bench("clean")
        out, err = process.communicate(timeout=SECONDS)
        self.assertEqual((75, ""), (process.returncode, out), err)
        self.assertRegex(err, r"^owed: owed bench clean took back what this benchmark wrote while it ran: run it again")
        self.assertEqual(before, self.left())

    def test_what_cannot_be_taken_back_is_said_with_the_way_to_do_it(self):
        before = self.left()
        process = self.start("idle", "--duration", "1h", "--busy-timeout", "100ms")
        with self.busy():
            process.send_signal(signal.SIGINT)
            err = process.communicate(timeout=SECONDS)[1]
        self.assertEqual(75, process.returncode, err)
        self.assertRegex(err, r"still in the store \(.*locked.*\): owed bench clean takes it back\n$")
        self.bench("clean")
        self.assertEqual(before, self.left())

    def test_clean_touches_nothing_of_others(self):
        self.receivers("shop.billing")
        self.owed("publish", code=0)
        self.fire("shop.OrderPlaced")
        before = self.left()
        self.bench("clean")
        self.assertEqual(before, self.left())

    def test_a_store_that_is_busy_is_an_error_and_nothing_is_written(self):
        before = self.left()
        with self.busy():
            self.assertIn("locked", self.bench("fire", "--busy-timeout", "50ms", code=75).stderr)
        self.assertEqual(before, self.left())


class Words(BenchCase):
    def test_what_cannot_be_read_is_refused_with_a_sentence(self):
        self.refused(64, "wants to know what", "bench")
        self.refused(64, "did you mean 'drain'?", "bench", "drein")
        self.refused(64, "it is one of", "bench", "everything")
        self.refused(64, "takes no --backlog", "bench", "fire", "--backlog", "7")
        self.refused(64, "takes no --rows", "bench", "churn", "--rows", "7")
        self.refused(64, "takes no --duration", "bench", "latency", "--duration", "7s")
        self.refused(64, "takes no --rows", "bench", "clean", "--rows", "7")
        self.refused(64, "--inserts", "bench", "drain", "--groups")
        self.refused(64, "--rows", "bench", "drain", "--rows", "0")
        self.refused(64, "--rows", "bench", "drain", "--rows", "many")
        self.refused(64, "--duration", "bench", "idle", "--duration", "10ms")
        self.refused(64, "--concurrency", "bench", "fire", "--concurrency", "65")
        self.refused(64, "--payload-size", "bench", "fire", "--payload-size", "3")
        self.refused(64, "'extra'", "bench", "fire", "extra")


if __name__ == "__main__":
    run()
