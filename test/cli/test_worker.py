#!/usr/bin/python3
"""A task site on a real broker: a relay hands on, owed worker takes, and each delivery takes effect once."""
import os
import signal
import socket

import brokers
from harness import StoreCase, run
from site_cases import Site


class Words(StoreCase):
    """What needs no broker."""

    def test_what_is_no_task_queue_is_refused(self):
        for words, sentence in (
                (["--from", "postgres://here"], 'the URL of the task queue begins with no scheme that is known here'),
                (["--from", "redis://"], "has no host"),
                (["--from", "http://here"], "redis://host:6379, amqp://user@host/vhost or nats://host:4222 is right"),
                (["--from", "redis://ada:lovelace@here"], "holds a password; task-password-file is the place of one"),
                (["--from", "redis://here/abc"], "--from: the URL of the task queue has a database that is no number"),
                (["--from", "amqp://here/?heartbeat=5"], "--from: the URL of the task queue has a query"),
                (["--from", "kafka://here"], "kafka:// is no task queue: that broker keeps a log"),
                (["--from", "redis://here", "--topic", "a b"], "--topic: the topic of a task queue has"),
                (["--from", "redis://here", "--topic", "a b"], "and no blank; owed.tasks is right"),
                (["--from", "redis://here", "--ca-file", "x"], "--ca-file: the task queue's redis:// goes without TLS"),
                (["--from", "redis://here", "--topic", ""], "and no blank; owed.tasks is right"),
                (["--from", "redis://here", "--topic", "x" * 201], "1 to 200"),
                (["--from", "nats://here", "--topic", "a.*"], 'topic "a.*" is no subject')):
            done = self.refused(78, sentence, "worker", *words)
            self.assertNotIn("lovelace", done.stderr)
        self.refused(64, "no task queue is named", "worker")

    def test_what_is_wrong_with_it_in_the_file_is_said_with_its_line(self):
        for text, sentence in (
                ("task-queue = redis://here/abc", "owed.conf:2: task-queue: the URL of the task queue has a database that is no number; redis://host:6379/0 is right"),
                ("task-queue = redis://here\ntask-topic = a b", "owed.conf:3: task-topic: the topic of a task queue has"),
                ("task-queue = redis://here\ntask-credentials-file = x", "owed.conf:3: task-credentials-file: the task queue's redis:// knows no")):
            self.conf("[relay]\n" + text + "\n")
            for command in ("check", "relay", "worker", "doctor"):
                self.refused(78, sentence, command)

    def test_a_topic_that_a_receiver_of_the_same_broker_publishes_to_is_refused(self):
        text = '[store]\napp = shop\n[receiver "shop.feed"]\nevent = shop.OrderPlaced\npublish = {}\n{}\n[relay]\ntask-queue = {}\ntask-topic = feed\n'
        for feed, topic, queue in (
                ("redis://here", "topic = feed", "redis://HERE:6379/0"),
                ("amqp://ada@here/%2F", "topic = feed", "amqp://here"),
                ("amqps://here", "topic = feed", "amqp://here:5672"),
                ("redis://localhost:6379", "topic = feed", "redis://127.0.0.1"),
                ("redis://[::1]", "topic = feed", "redis://LocalHost"),
                ("nats://127.0.0.2", "topic = feed", "tls://[0:0::1]:4222"),
                ("tls://here:4222", "topic = feed", "nats://here")):
            self.conf(text.format(feed, topic, queue))
            for command in ("check", "relay", "worker"):
                self.refused(78, f'owed.conf:{text.count(chr(10))}: task-topic: feed is also what receiver "shop.feed" of owed.conf:3 publishes to', command)
        self.conf(text.format("redis://here", "", "redis://here").replace("task-topic = feed", "task-topic = shop.OrderPlaced"))
        self.refused(78, f'owed.conf:{text.count(chr(10))}: task-topic: shop.OrderPlaced is also what receiver "shop.feed"', "check")
        for feed, topic, queue in (
                ("redis://here", "topic = other", "redis://here"),
                ("redis://here/1", "topic = feed", "redis://here"),
                ("redis://here", "topic = feed", "redis://here:6380"),
                ("redis://localhost", "topic = feed", "redis://127.0.0.1:6380"),
                ("redis://localhost", "topic = feed", "redis://128.0.0.1"),
                ("redis://localhost", "topic = feed", "redis://localhost.example"),
                ("redis://here", "topic = feed", "nats://here"),
                ("amqp://here", "topic = feed\nexchange = news", "amqp://here")):
            self.conf(text.format(feed, topic, queue))
            self.owed("check", code=0)

    def test_a_queue_in_the_file_is_a_backend_to_check(self):
        text = '[store]\napp = shop\n[receiver "shop.label"]\nevent = shop.OrderPlaced\ndiscard = yes\nsite = task\n'
        self.conf(text)
        self.assertIn("nothing here sets a task backend", self.owed("check", code=1).stdout)
        self.conf(text + "[relay]\ntask-queue = redis://127.0.0.1:1\n")
        self.owed("check", code=0)


class Redis(Site):
    kind = brokers.Redis
    kept = 4

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
        self.hold()
        lines = "".join(f'{{"name": "shop.{name}", "payload": {{}}}}\n' for name in ["Viewed"] * 5 + ["OrderPlaced"] * 5)
        self.owed("fire", "--lines", stdin=lines, code=0)
        self.owed("relay", "--once", code=0)

    def test_a_stop_finishes_the_one_in_hand_and_what_was_taken_beyond_it_goes_back_at_once(self):
        self.quick_and_slow()
        first = self.background("worker")
        self.until_begun()
        self.assertEqual("5", str(self.broker.ask("XPENDING", self.topic, "owed")[0]))
        first.send_signal(signal.SIGTERM)
        self.write("go", "")
        self.let_go()
        self.assertEqual(0, first.wait(60))
        self.assertEqual(({"succeeded": 6, "claimed": 4}, [6]), (self.statuses(), self.ran()))
        self.assertEqual("succeeded: 4\n", self.owed("worker", "--once", code=0).stdout)
        self.assertEqual(0, self.left())

    def test_what_waits_behind_a_slow_one_goes_back_and_is_taken_one_by_one(self):
        self.quick_and_slow()
        first = self.background("worker", "--once")
        self.until_begun()
        while int(self.broker.ask("XPENDING", self.topic, "owed", "-", "+", "1")[0][2]) < 1000:
            pass
        self.write("go", "")
        self.let_go()
        self.assertEqual(0, first.wait(60))
        self.lines.until_said("task worker stopped")
        self.assertEqual(4, self.lines.said.count("task message comes again"))
        self.assertEqual(({"succeeded": 10}, [6, 7, 8, 9, 10], 0), (self.statuses(), self.ran(), self.left()))

    def test_a_second_signal_ends_it_at_once(self):
        self.quick_and_slow()
        first = self.background("worker")
        self.until_begun()
        first.send_signal(signal.SIGTERM)
        first.send_signal(signal.SIGINT)
        self.assertIn(first.wait(60), (128 + signal.SIGTERM, 128 + signal.SIGINT))
        self.let_go()

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

    def test_what_was_given_back_is_found_behind_what_others_have_in_hand(self):
        self.hand_on(40)
        self.broker.ask("XREADGROUP", "GROUP", "owed", "worker", "COUNT", "40", "STREAMS", self.topic, ">")
        *_, (last, *_) = self.broker.ask("XPENDING", self.topic, "owed", "-", "+", "100")
        self.broker.ask("XCLAIM", self.topic, "owed", "worker", "0", last, "IDLE", "86400000", "JUSTID")
        self.assertEqual("succeeded: 1\n", self.owed("worker", "--once", code=0).stdout)
        self.assertEqual([40], self.ran())

    def test_a_redis_that_is_full_is_emptied(self):
        self.hand_on(3)
        self.addCleanup(self.broker.ask, "CONFIG", "SET", "maxmemory", "0")
        self.broker.ask("CONFIG", "SET", "maxmemory", "1")
        self.assertEqual("succeeded: 3\n", self.owed("worker", "--once", code=0).stdout)
        self.assertEqual(0, self.left())

    def test_a_stop_ends_it_though_the_store_went_with_a_delivery_in_hand(self):
        self.write("label", '#!/bin/sh\nkill -TERM $PPID\nmv "${OWED_STORE#sqlite:}" away\n').chmod(0o755)
        self.hand_on(1)
        self.assertIn(self.background("worker").wait(60), (0, 69))
        self.assertTrue((self.folder / "away").exists())

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
        self.lines.until_said("the task queue refuses this worker")
        self.finish(worker)
        self.assertIn(f"{url}, topic {self.topic}: user ada or its password is refused: WRONGPASS", self.lines.said)
        self.assertNotIn("is away", self.lines.said)
        self.assertNotIn("byron", self.lines.said)
        self.fire_many(1)
        self.owed("relay", "--once", code=0)
        error = self.value("select last_error from owed_delivery where id = 2")
        self.assertIn(f"it could not be handed to its task site: {url}, topic {self.topic}: user ada or its password is refused: WRONGPASS", error)

    def test_who_gives_up_says_which_queue_was_away(self):
        nobody = f"redis://127.0.0.1:{brokers.free_port()}"
        said = self.owed("worker", "--once", "--from", nobody, "--topic", "tasks", code=69).stderr
        self.assertIn(f"owed: {nobody}, topic tasks: it cannot be reached: ", said.splitlines()[-1])


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

    def test_where_there_are_no_streams_it_is_owed_and_says_why(self):
        bare = brokers.NatsBare()
        self.addCleanup(bare.remove)
        bare.start()
        self.write("token", bare.token)
        self.site(relay="task-password-file = token\n")
        self.conf((self.folder / "owed.conf").read_text().replace(self.broker.url(), bare.url()))
        self.hand_on(1)
        [(status, attempts, error)] = self.sql("select status, attempts, last_error from owed_delivery")
        self.assertEqual(("failed", 0), (status, attempts))
        self.assertIn("JetStream is not enabled there, or not ready", error)

    def test_a_stream_that_takes_the_topic_is_used_whatever_its_name(self):
        self.topic = "elsewhere.tasks"
        self.broker.ask([("$JS.API.STREAM.CREATE.all", '{"name":"all","subjects":["elsewhere.>"]}')])
        self.site()
        self.hand_on(2)
        self.owed("worker", "--once", code=0)
        self.assertEqual(({"succeeded": 2}, [1, 2]), (self.statuses(), self.ran()))
        [answer] = self.broker.ask([("$JS.API.CONSUMER.INFO.all.owed", "")])
        self.assertEqual((0, 0), (answer["num_pending"], answer["num_ack_pending"]))


del Site
run("sqlite")
