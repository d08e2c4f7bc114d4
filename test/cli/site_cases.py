"""A task site on any broker: what its cases share, and those that hold of each."""
import os
import signal
import subprocess

from harness import OWED, StoreCase
from lines import Lines, be_patient


class Site(StoreCase):
    """The same for every broker."""

    kind = None
    kept = 0  # of the four messages below that are not owed's

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
        self.assertEqual("handed on: 20\n", self.owed("relay", "--once", code=0).stdout)
        self.assertEqual(({"claimed": 20}, []), (self.statuses(), self.ran()), self.sql("select last_error from owed_delivery where last_error <> ''"))
        self.assertEqual("succeeded: 20\n", self.owed("worker", "--once", code=0).stdout)
        self.assertEqual(({"succeeded": 20}, list(range(1, 21))), (self.statuses(), self.ran()))
        self.assertEqual("Nothing handed on.\n", self.owed("worker", "--once", code=0).stdout)

    def put(self, text):
        """Somebody else's message."""

    def left(self):
        """How many messages the queue holds that are not done with."""

    def delete(self):
        """The queue is gone."""

    def time_passes(self):
        """The broker gives up waiting for whoever had a message."""

    def hand_on(self, count):
        self.fire_many(count)
        self.owed("relay", "--once", code=0)

    def handed(self):
        """The messages of what was handed on and not taken."""
        return ['{"delivery":%d,"claimed_by":"%s","claimed_at":%d}' % row for row in
                self.sql("select id, claimed_by, claimed_at from owed_delivery where status = 'claimed' order by id")]

    def finish(self, process):
        process.send_signal(signal.SIGTERM)
        self.assertEqual(0, process.wait(60))

    def hold(self):
        """From now on its receiver says that it has begun, and waits until it is let go, unless there is a file go."""
        self.write("label", '#!/bin/sh\necho "$OWED_DELIVERY_ID" >> ran\n[ -e go ] || { echo > begun; read -r line < held; }\n').chmod(0o755)
        for name in ("begun", "held"):
            os.mkfifo(self.folder / name)

    def until_begun(self):
        self.assertEqual("\n", (self.folder / "begun").read_text())

    def let_go(self):
        """Whoever waits for a line of the pipe goes on, also who comes to it only now; nobody may."""
        pipe = os.open(self.folder / "held", os.O_RDWR)
        self.addCleanup(os.close, pipe)
        os.write(pipe, b"\n" * 10)

    def background(self, command, *words):
        process = subprocess.Popen([OWED, command, "--log-level", "debug", *words], cwd=self.folder, env=self.env, stdout=subprocess.DEVNULL, stderr=self.lines.end)
        self.addCleanup(process.wait, 60)
        self.addCleanup(process.kill)
        return process

    def test_what_is_nobodys_comes_twice_or_comes_late_runs_nothing_and_is_gone(self):
        self.hand_on(3)
        messages = self.handed()
        for text in ("", "{}", "[1", '{"delivery":1,"claimed_by":"nobody","claimed_at":1}', "x" * 70000, *messages):
            self.put(text)
        said = self.owed("worker", "--once", code=0).stderr
        self.assertEqual(8, said.count("task message dropped, nothing was run"), said)
        for text in messages:
            self.put(text)
        self.assertEqual("Nothing handed on.\n", self.owed("worker", "--once", code=0).stdout)
        self.assertEqual(({"succeeded": 3}, [1, 2, 3]), (self.statuses(), self.ran()))
        self.assertEqual(self.kept, self.left())

    def test_what_a_worker_had_that_was_killed_comes_to_another_and_runs_nothing_twice(self):
        self.hold()
        self.hand_on(10)
        first = self.background("worker")
        self.until_begun()
        first.kill()
        first.wait(60)
        self.time_passes()
        self.write("go", "")
        self.let_go()  # its receiver may have outlived it
        said = self.owed("worker", "--once", "--log-level", "debug", code=0).stderr
        self.assertEqual(1, said.count("task message dropped, nothing was run"), said)
        self.assertIn("task message comes again", said)
        self.assertEqual(({"claimed": 1, "succeeded": 9}, list(range(1, 11))), (self.statuses(), self.ran()))
        self.sql("update owed_delivery set lease_expires_at = 1 where status = 'claimed'")
        self.owed("relay", "--once", code=0)
        self.owed("worker", "--once", code=0)
        self.assertEqual({"succeeded": 10}, self.statuses())
        self.assertEqual(0, self.left())

    def test_a_broker_that_was_restarted_has_what_was_handed_on_and_all_go_on_by_themselves(self):
        self.hand_on(5)
        self.broker.stop()
        running = [self.background("relay"), self.background("worker")]
        self.lines.until_said("the task queue is away")
        self.fire_many(5)
        away = "select count(*) from owed_relay where away <> ''"
        self.lines.until(lambda: self.value(away) > 0)
        self.assertRegex(self.owed("doctor", code=1).stdout,
                         f"cannot hand on what it should: the task site since 20[^ ]+Z: {self.broker.url()}, topic ")
        self.broker.start()
        self.lines.until(lambda: self.statuses() == {"succeeded": 10})
        self.fire_many(1)  # what is handed on next goes after its row was written
        self.lines.until(lambda: self.statuses() == {"succeeded": 11})
        self.assertEqual(0, self.value(away))
        for process in running:
            self.finish(process)
        self.assertEqual(list(range(1, 12)), self.ran())
        self.assertEqual(0, self.left())

    def test_a_queue_that_was_deleted_is_made_again(self):
        running = [self.background("worker"), self.background("relay")]
        self.fire_many(1)
        self.lines.until(lambda: self.statuses() == {"succeeded": 1})
        while self.left() > 0:
            pass
        self.delete()
        self.fire_many(1)
        self.lines.until(lambda: self.statuses() == {"succeeded": 2})
        for process in running:
            self.finish(process)
        self.assertEqual([1, 2], self.ran())
