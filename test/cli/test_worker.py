#!/usr/bin/python3
"""A task site on a real broker: a relay hands on, owed worker takes, and each delivery takes effect once."""
import os
import signal
import socket
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
        self.assertEqual(0, self.left())

    def test_what_a_worker_had_that_was_killed_comes_to_another_and_runs_nothing_twice(self):
        self.write("label", '#!/bin/sh\necho "$OWED_DELIVERY_ID" >> ran\n[ -e go ] || { echo > begun; exec cat held; }\n').chmod(0o755)
        for name in ("begun", "held"):
            os.mkfifo(self.folder / name)
        self.hand_on(10)
        first = self.background("worker")
        self.assertEqual("\n", (self.folder / "begun").read_text())
        first.kill()
        first.wait(60)
        self.time_passes()
        self.write("go", "")
        os.close(os.open(self.folder / "held", os.O_RDWR))  # its receiver may have outlived it
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
        self.broker.start()
        self.lines.until(lambda: self.statuses() == {"succeeded": 10})
        for process in running:
            self.finish(process)
        self.assertEqual(list(range(1, 11)), self.ran())
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


class Redis(Site):
    kind = brokers.Redis

    def put(self, text):
        self.broker.ask("XADD", self.topic, "*", "payload", text)

    def left(self):
        return int(self.broker.ask("XLEN", self.topic))

    def delete(self):
        self.broker.ask("DEL", self.topic)

    def time_passes(self):
        for entry, *_ in self.broker.ask("XPENDING", self.topic, "owed", "-", "+", "100"):
            self.broker.ask("XCLAIM", self.topic, "owed", "worker", "0", entry, "IDLE", "60001", "JUSTID")

    def quick_and_slow(self):
        """Five that are quick and five that wait for a reader of a pipe: behind the first of these others are in hand."""
        with open(self.folder / "owed.conf", "a") as conf:
            conf.write('[receiver "shop.quick"]\nevent = shop.Viewed\ndiscard = yes\nsite = task\n')
        self.write("label", '#!/bin/sh\necho "$OWED_DELIVERY_ID" >> ran\n[ -e go ] || { echo > begun; cat held; }\n').chmod(0o755)
        for name in ("begun", "held"):
            os.mkfifo(self.folder / name)
        lines = "".join(f'{{"name": "shop.{name}", "payload": {{}}}}\n' for name in ["Viewed"] * 5 + ["OrderPlaced"] * 5)
        self.owed("fire", "--lines", stdin=lines, code=0)
        self.owed("relay", "--once", code=0)

    def test_a_stop_finishes_the_one_in_hand_and_what_was_taken_beyond_it_goes_back_at_once(self):
        self.quick_and_slow()
        first = self.background("worker")
        self.assertEqual("\n", (self.folder / "begun").read_text())
        self.assertEqual("5", str(self.broker.ask("XPENDING", self.topic, "owed")[0]))
        first.send_signal(signal.SIGTERM)
        self.write("go", "")
        os.close(os.open(self.folder / "held", os.O_RDWR))
        self.assertEqual(0, first.wait(60))
        self.assertEqual(({"succeeded": 6, "claimed": 4}, [6]), (self.statuses(), self.ran()))
        self.assertEqual("succeeded: 4\n", self.owed("worker", "--once", code=0).stdout)
        self.assertEqual(0, self.left())

    def test_a_second_signal_ends_it_at_once(self):
        self.quick_and_slow()
        first = self.background("worker")
        self.assertEqual("\n", (self.folder / "begun").read_text())
        first.send_signal(signal.SIGTERM)
        first.send_signal(signal.SIGINT)
        self.assertIn(first.wait(60), (128 + signal.SIGTERM, 128 + signal.SIGINT))
        os.close(os.open(self.folder / "held", os.O_RDWR))

    def test_what_was_taken_from_the_broker_by_one_that_died_before_it_took_the_row_is_run(self):
        self.hand_on(3)
        self.broker.ask("XREADGROUP", "GROUP", "owed", "worker", "COUNT", "2", "STREAMS", self.topic, ">")
        self.time_passes()
        self.assertEqual("succeeded: 3\n", self.owed("worker", "--once", code=0).stdout)
        self.assertEqual(0, self.left())

    def test_a_redis_that_lost_its_data_costs_a_lease(self):
        running = [self.background("worker")]
        self.lines.until_said("task worker ready")
        self.broker.stop()
        self.lines.until_said("the task queue is away")
        self.fire_many(2)
        self.owed("relay", "--once", code=0)
        self.assertIn("it could not be handed to its task site: redis://", self.owed("explain", "1", code=0).stdout)
        self.broker.start()
        self.sql("update owed_delivery set available_at = 0")
        self.finish(running[0])
        self.owed("relay", "--once", code=0)
        self.broker.ask("FLUSHALL")
        self.assertEqual("Nothing handed on.\n", self.owed("worker", "--once", code=0).stdout)
        self.assertEqual({"claimed": 2}, self.statuses())
        self.assertIn("if no task takes it, it is handed on again after", self.owed("explain", "1", code=0).stdout)
        self.sql("update owed_delivery set lease_expires_at = 1")
        self.owed("relay", "--once", code=0)
        self.assertEqual("succeeded: 2\n", self.owed("worker", "--once", code=0).stdout)

    def test_a_message_for_another_program_is_dropped_and_its_row_comes_back(self):
        self.hand_on(1)
        self.conf(f"[store]\napp = other\n[relay]\ntask-queue = {self.broker.url()}\ntask-topic = {self.topic}\n", "other.conf")
        said = self.owed("worker", "--once", "-c", "other.conf", code=0).stderr
        self.assertIn("its receiver or its event is not declared here", said)
        self.assertEqual(({"claimed": 1}, 0), (self.statuses(), self.left()))
        self.sql("update owed_delivery set lease_expires_at = 1")
        self.owed("relay", "--once", code=0)
        self.assertEqual("succeeded: 1\n", self.owed("worker", "--once", code=0).stdout)

    def test_while_the_store_is_away_the_message_goes_back_and_is_run_once_it_is_there_again(self):
        worker = self.background("worker", "--busy-timeout", "50ms")
        self.lines.until_said("task worker ready")
        worker.send_signal(signal.SIGSTOP)
        self.hand_on(1)
        with self.busy():
            worker.send_signal(signal.SIGCONT)
            self.lines.until_said("the store is away: the message goes back to its queue")
            self.assertEqual([], self.ran())
        self.lines.until(lambda: self.statuses() == {"succeeded": 1})
        self.lines.until_said("the store is back")
        self.finish(worker)
        self.assertEqual([1], self.ran())

    def test_an_attempt_goes_by_the_settings_of_the_file_and_a_failure_is_handed_on_again(self):
        self.site(relay="error-length = 10\nbackoff-base = 1us")
        self.write("label", "#!/bin/sh\n[ -e go ] && exit 0\necho a very long story >&2\nexit 1\n").chmod(0o755)
        self.hand_on(1)
        self.assertEqual("failed: 1\n", self.owed("worker", "--once", "--worker-id", "anna", code=0).stdout)
        [(status, attempts, error)] = self.sql("select status, attempts, last_error from owed_delivery")
        self.assertEqual(("failed", 1), (status, attempts))
        self.assertLessEqual(len(error), 10)
        self.write("go", "")
        self.owed("relay", "--once", code=0)
        self.assertEqual("succeeded: 1\n", self.owed("worker", "--once", "--limit", "1", code=0).stdout)

    def test_a_service_manager_hears_of_it(self):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(str(self.folder / "notify"))
            manager.settimeout(60)
            self.env.update(NOTIFY_SOCKET=str(self.folder / "notify"), WATCHDOG_USEC="200000")
            worker = self.background("worker")
            self.assertEqual(b"READY=1", manager.recv(100))
            self.assertEqual(b"WATCHDOG=1", manager.recv(100))
            self.finish(worker)
            said = [manager.recv(100)]
            while said[-1] != b"STOPPING=1":
                said.append(manager.recv(100))
            self.assertLessEqual(set(said), {b"WATCHDOG=1", b"STOPPING=1"})

    def test_a_password_comes_from_its_file_and_is_shown_nowhere(self):
        self.broker.ask("ACL", "SETUSER", "ada", "on", ">lovelace", "~*", "+@all")
        self.write("password", "lovelace\n")
        right = self.broker.url()
        url = right.replace("//", "//ada@")
        self.conf((self.folder / "owed.conf").read_text().replace(right, url) + "[relay]\ntask-password-file = password\n")
        self.hand_on(1)
        self.assertEqual("succeeded: 1\n", self.owed("worker", "--once", code=0).stdout)
        self.write("password", "byron\n")
        worker = self.background("worker")
        self.lines.until_said("its password is refused")
        self.finish(worker)
        self.assertNotIn("byron", self.lines.said)


class Nats(Site):
    kind = brokers.Nats

    def stream_name(self):
        return self.topic.replace(".", "-")

    def site(self, more="", relay=""):
        super().site(more, relay)
        if "killed" in self._testMethodName:
            self.broker.stream(self.topic, retention="workqueue")
            self.broker.consumer(self.topic, ack_wait=300_000_000)

    def put(self, text):
        self.broker.ask([(self.topic, text)])

    def left(self):
        [answer] = self.broker.ask([(f"$JS.API.STREAM.INFO.{self.stream_name()}", "")])
        return answer["state"]["messages"]

    def delete(self):
        self.broker.ask([(f"$JS.API.STREAM.DELETE.{self.stream_name()}", "")])


class RabbitMQ(Site):
    class kind(brokers.RabbitMQ):
        settings = "heartbeat = 1\n"

    def put(self, text):
        with brokers.Amqp(self.broker.port) as amqp:
            amqp.put(self.topic, text)

    def left(self):
        with brokers.Amqp(self.broker.port) as amqp:
            return amqp.declare(self.topic)

    def delete(self):
        with brokers.Amqp(self.broker.port) as amqp:
            amqp.delete(self.topic)

    def test_a_receiver_that_takes_longer_than_the_heartbeat_keeps_its_connection(self):
        self.write("label", '#!/bin/sh\necho "$OWED_DELIVERY_ID" >> ran\nexec sleep 3.5\n').chmod(0o755)
        self.hand_on(1)
        said = self.owed("worker", "--once", code=0).stderr
        self.assertEqual(({"succeeded": 1}, [1], 0), (self.statuses(), self.ran(), self.left()))
        self.assertNotIn("away", said)

    def test_a_queue_that_is_not_durable_is_refused_and_one_with_settings_of_its_own_is_used(self):
        with brokers.Amqp(self.broker.port) as amqp:
            amqp.declare(self.topic, durable=False)
            self.hand_on(1)
            self.assertIn(f"queue {self.topic} is not durable, so what is in it is lost with the broker", self.value("select last_error from owed_delivery"))
            amqp.delete(self.topic)
            amqp.declare(self.topic, limit=1000)
        self.sql("update owed_delivery set available_at = 0")
        self.owed("relay", "--once", code=0)
        self.owed("worker", "--once", code=0)
        self.assertEqual(({"succeeded": 1}, [1]), (self.statuses(), self.ran()))


del Site
run("sqlite")
