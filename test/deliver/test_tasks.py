#!/usr/bin/python3
"""A receiver at a task site, end to end: a relay that hands on, workers that take, and whatever dies between them."""
import collections
import itertools
import os
import pathlib
import re
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from harness import OWED, StoreCase, run  # noqa: E402
from lines import Lines, be_patient  # noqa: E402

WORKER = os.environ["OWED_TASKS_WORKER"]


class Tasks(StoreCase):
    def setUp(self):
        super().setUp()
        be_patient(self)
        self.lines = Lines(self)
        self.env["OWED_MODULE"] = os.environ["OWED_TASKS"]
        self.sql("create table effect (delivery integer not null)")
        self.conf("[store]\napp = shop\n")
        self.owed("publish", code=0)

    def fire_many(self, count):
        lines = '{"name": "shop.Job", "payload": {}}\n' * count
        self.owed("fire", "--lines", stdin=lines, code=0)

    def messages(self):
        path = self.folder / "messages"
        return path.read_text().splitlines(keepends=True) if path.exists() else []

    def relay(self, *words):
        """In the background; it logs each delivery that it recorded or handed on."""
        return subprocess.Popen([OWED, "relay", "--log-level", "debug", *words], cwd=self.folder, env=self.env,
                                stdout=subprocess.DEVNULL, stderr=self.lines.end)

    def worker(self, messages, name):
        self.write(name, "".join(messages))
        return subprocess.Popen([WORKER, self.store.url, name], cwd=self.folder, env=self.env,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def work(self, messages):
        """What ran, of these messages, and the log."""
        done = self.worker(messages, "some")
        out, log = done.communicate()
        self.assertEqual(0, done.returncode, log)
        return int(out), log

    def counts(self, key):
        return dict(self.sql("select status, count(*) from owed_delivery where receiver_key = ? group by status", key))

    def effects(self):
        """Deliveries whose effect stands; each must stand once."""
        effects = [row[0] for row in self.sql("select delivery from effect")]
        self.assertEqual(len(set(effects)), len(effects))
        return effects

    def test_a_relay_hands_on_and_a_worker_takes_each_once(self):
        self.fire_many(20)
        done = self.owed("relay", "--once", code=0)
        self.assertEqual("succeeded: 20\nhanded on: 20\n", done.stdout)
        self.assertEqual({"claimed": 20}, self.counts("shop.far"))
        self.assertEqual(20, len(self.messages()))
        self.assertTrue(all(re.search(r"/\d+/task$", line) for line in self.messages()))
        row = self.value("select min(id) from owed_delivery where receiver_key = 'shop.far'")
        self.assertIn("its receiver runs at a task site", self.owed("explain", str(row), code=0).stdout)
        ran, log = self.work(self.messages())
        self.assertEqual(20, ran)
        self.assertEqual(20, log.count("task message dropped, nothing was run"))  # each came twice
        self.assertEqual({"succeeded": 20}, self.counts("shop.far"))
        self.assertEqual(40, len(self.effects()))
        self.assertEqual([("task", "task")], self.sql(
            "select site, kind from owed_receiver where \"key\" = 'shop.far'"))

    def test_without_a_backend_only_those_rows_fail(self):
        self.env["OWED_MODULE"] = os.environ["OWED_TASKS_WITHOUT"]
        self.fire_many(10)
        done = self.owed("relay", "--once", code=0)
        self.assertEqual("succeeded: 10\n", done.stdout)
        self.assertIn("no task backend is configured here", done.stderr)
        self.assertEqual(10, len(self.effects()))
        self.assertEqual(0, self.value("select max(attempts) from owed_delivery where receiver_key = 'shop.far'"))
        failed = self.value("select id from owed_delivery where status = 'failed'")
        self.assertIn("no task backend is configured", self.owed("show", str(self.value(
            "select event_id from owed_delivery where id = ?", failed)), "--json", code=0).stdout)
        self.assertIn("nothing here sets a task backend", self.owed("check", code=1).stdout)
        self.env["OWED_MODULE"] = os.environ["OWED_TASKS"]
        self.assertEqual("ok\n", self.owed("check", code=0).stdout)

    def test_a_queue_that_is_away_holds_up_nothing_else_and_is_found_again(self):
        self.write("no-queue", "")
        self.fire_many(10)
        relay = self.relay()
        self.addCleanup(relay.wait)
        self.addCleanup(relay.kill)
        self.lines.until_said("the queue is away")
        self.lines.until(lambda: self.counts("shop.near") == {"succeeded": 10})
        self.assertEqual([], self.messages())
        (self.folder / "no-queue").unlink()
        self.lines.until(lambda: len({line.split()[0] for line in self.messages()}) == 10)
        relay.send_signal(signal.SIGTERM)
        self.assertEqual(0, relay.wait())
        self.work(self.messages())
        self.assertEqual(0, self.value("select max(attempts) from owed_delivery where status <> 'succeeded'") or 0)

    def test_whatever_dies_each_takes_effect_once(self):
        """Relays are killed while they hand on, workers while they work; messages come twice, late and not at all."""
        self.env["TASKS_ARE_SHORT"] = "1"
        self.write("owed.conf", "[store]\napp = shop\n[relay]\nlease = 1s\n")
        self.fire_many(300)
        for round_ in range(3):
            before = len(self.messages())
            relay = self.relay("--concurrency", "2")
            self.lines.until(lambda: len(self.messages()) > before + 20)
            relay.kill()
            relay.wait()
            found = self.messages()
            workers = [self.worker(found[before::2], "odd"), self.worker(found[before + 10:], "late")]
            # Each message comes twice, and the second is dropped with a line.
            collections.deque(itertools.islice(workers[0].stderr, 30), maxlen=0)
            workers[0].kill()
            for worker in workers:
                worker.communicate()
        while self.counts("shop.far") != {"succeeded": 300} or self.counts("shop.near") != {"succeeded": 300}:
            before = len(self.messages())
            self.owed("relay", "--once", code=0)
            self.work(self.messages()[before:])
        self.work(self.messages())  # all of them once more
        self.assertEqual(600, len(self.effects()))
        self.assertEqual(1, self.value("select max(attempts) from owed_delivery"))


run()
