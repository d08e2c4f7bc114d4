#!/usr/bin/python3
"""A task site on a real broker: a relay hands on, owed worker takes, and each delivery takes effect once."""
import subprocess

import brokers
from harness import OWED, StoreCase, run
from lines import Lines, be_patient


class Words(StoreCase):
    """What needs no broker."""

    def test_what_is_no_task_queue_is_refused(self):
        for words, sentence in (
                (["--from", "postgres://here"], 'the URL of the task queue begins with no scheme that is known here'),
                (["--from", "redis://"], "has no host"),
                (["--from", "redis://ada:lovelace@here"], "holds a password; password-file"),
                (["--from", "kafka://here"], "kafka:// is no task queue: that broker keeps a log"),
                (["--from", "redis://here", "--topic", "a b"], "and no blank; owed.tasks is right"),
                (["--from", "redis://here", "--topic", ""], "and no blank; owed.tasks is right"),
                (["--from", "redis://here", "--topic", "x" * 201], "1 to 200"),
                (["--from", "nats://here", "--topic", "a.*"], 'topic "a.*" is no subject')):
            done = self.refused(78, sentence, "worker", *words)
            self.assertNotIn("lovelace", done.stderr)
        self.refused(64, "no task queue is named", "worker")

    def test_a_queue_in_the_file_is_a_backend_to_check(self):
        text = '[store]\napp = shop\n[receiver "shop.label"]\nevent = shop.OrderPlaced\ndiscard = yes\nsite = task\n'
        self.conf(text)
        self.assertIn("nothing here sets a task backend", self.owed("check", code=1).stdout)
        self.conf(text + "[relay]\ntask-queue = redis://127.0.0.1:1\n")
        self.owed("check", code=0)


class Site(StoreCase):
    """The same for every broker."""

    kind = None

    @classmethod
    def setUpClass(cls):
        cls.broker = cls.kind()
        cls.addClassCleanup(cls.broker.remove)
        cls.broker.start()

    def setUp(self):
        super().setUp()
        be_patient(self)
        self.lines = Lines(self)
        # One broker serves all cases: each has a queue of its own.
        self.topic = f"tasks.{self._testMethodName[-40:]}"
        self.site()

    def site(self, more="", relay=""):
        self.conf(f"[store]\napp = shop\n[relay]\ntask-queue = {self.broker.url()}\ntask-topic = {self.topic}\n{relay}\n"
                  f'[receiver "shop.label"]\nevent = shop.OrderPlaced\nexec = {self.folder}/label\nsite = task\n{more}\n')
        label = self.write("label", '#!/bin/sh\necho "$OWED_DELIVERY_ID" >> ran\n')
        label.chmod(0o755)

    def fire_many(self, count):
        self.owed("fire", "--lines", stdin='{"name": "shop.OrderPlaced", "payload": {}}\n' * count, code=0)

    def ran(self):
        path = self.folder / "ran"
        return sorted(int(line) for line in path.read_text().split()) if path.exists() else []

    def worker(self, *words, env=None):
        """In the background; it logs what it does."""
        return subprocess.Popen([OWED, "worker", *words], cwd=self.folder, env={**self.env, **(env or {})},
                                stdout=subprocess.DEVNULL, stderr=self.lines.end)

    def statuses(self):
        return dict(self.sql("select status, count(*) from owed_delivery group by status"))

    def test_a_relay_hands_on_and_a_worker_runs_each_once(self):
        self.fire_many(20)
        self.assertEqual("Nothing owed.\n", self.owed("relay", "--once", code=0).stdout)
        self.assertEqual(({"claimed": 20}, []), (self.statuses(), self.ran()))
        self.assertEqual("succeeded: 20\n", self.owed("worker", "--once", code=0).stdout)
        self.assertEqual(({"succeeded": 20}, list(range(1, 21))), (self.statuses(), self.ran()))
        self.assertEqual("Nothing handed on.\n", self.owed("worker", "--once", code=0).stdout)


class Redis(Site):
    kind = brokers.Redis


del Site
run("sqlite")
