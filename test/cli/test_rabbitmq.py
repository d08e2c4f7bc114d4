#!/usr/bin/python3
"""RabbitMQ, which takes seconds to start, and so is started once: what is published there, and its task queues."""
import datetime
import subprocess
import unittest

import brokers
from harness import OWED, run
from publish_cases import Published
from site_cases import Site


class Broker(brokers.RabbitMQ):
    settings = "heartbeat = 1\n"


def setUpModule():
    Broker.started = Broker()
    unittest.addModuleCleanup(Broker.started.remove)
    Broker.started.start()


class Publishing(Published):
    @classmethod
    def setUpClass(cls):
        cls.broker = Broker.started

    def prepare(self, topic):
        with brokers.Amqp(self.broker.port) as amqp:
            amqp.declare(topic)

    def test_a_message_is_persistent_and_has_its_properties(self):
        self.feed()
        self.fire("shop.OrderPlaced", "{}", "--correlation-id", "c-9")
        self.relay()
        [message] = self.broker.messages(self.topic)
        self.assertEqual((2, "application/json", "shop.OrderPlaced", "c-9"),
                         tuple(message[name] for name in ("delivery_mode", "content_type", "type", "correlation_id")))
        self.assertLess(abs(message["timestamp"] - datetime.datetime.now().timestamp()), 3600)

    def test_what_no_queue_takes_has_failed_and_the_others_go_on(self):
        self.feed()
        with open(self.folder / "owed.conf", "a") as conf:
            conf.write('[receiver "shop.all"]\nevent = *\n' f"publish = {self.broker.url()}\n")  # each to its own name
        with brokers.Amqp(self.broker.port) as amqp:
            amqp.declare("shop.Known")
        lines = "".join(f'{{"name":"shop.{name}","payload":{{}}}}\n' for name in ("Known", "Unknown") * 3)
        self.owed("fire", "--lines", stdin=lines, code=0)
        self.relay()
        self.assertEqual(["succeeded", "failed"] * 3, [row[0] for row in self.rows()])
        self.assertIn("no queue takes it: 312 NO_ROUTE", self.rows()[1][2])
        self.assertEqual(3, len(self.broker.messages("shop.Known")))

    def test_an_exchange_that_is_not_there_is_a_failed_attempt_that_names_it(self):
        self.feed("exchange = shop.nowhere")
        self.fire("shop.OrderPlaced")
        self.relay_each_once()
        [(status, attempts, error)] = self.rows()
        self.assertEqual(("failed", 1), (status, attempts))
        self.assertIn("NOT_FOUND - no exchange 'shop.nowhere'", error)

    def test_over_tls_only_a_certificate_that_is_trusted_and_that_names_the_server_is_good(self):
        right = f"amqps://localhost:{self.broker.tls_port}"
        trusted, ca = {"SSL_CERT_FILE": str(self.broker.certificate)}, f"ca-file = {self.broker.certificate}\n"
        for url, more, env, sentence in ((right, "", {}, "SSL peer cert verification failed"),
                                         (right, "ca-file = owed.conf\n", {}, "ca-file owed.conf holds no certificates"),
                                         (right.replace("localhost", "127.0.0.1"), ca, {}, "SSL hostname verification failed"),
                                         (right.replace(str(self.broker.tls_port), str(self.broker.port)), ca, {}, "it cannot be reached"),
                                         (right, "", trusted, ""), (right, ca, {}, "")):
            self.feed(more)
            self.conf((self.folder / "owed.conf").read_text().replace(self.broker.url(), url))
            self.sql("delete from owed_delivery")
            self.fire("shop.OrderPlaced", '{"n":1}')
            self.owed("relay", "--once", env=env, code=0)
            [(status, attempts, error)] = self.rows()
            self.assertEqual(("failed", 0) if sentence else ("succeeded", 1), (status, attempts), error)
            self.assertIn(sentence, error)
        self.assertEqual(2, len(self.broker.messages(self.topic)))

    def test_while_its_queue_is_full_it_is_owed_and_no_attempt_is_spent(self):
        with brokers.Amqp(self.broker.port) as amqp:
            amqp.declare("shop.full", limit=1, overflow="reject-publish")
        self.feed(topic="shop.full")
        self.fire("shop.OrderPlaced")
        self.relay()
        self.fire("shop.OrderPlaced")
        self.fire("shop.OrderPlaced")
        self.relay()
        self.assertEqual([("succeeded", 1), ("failed", 0), ("failed", 0)], [row[:2] for row in self.rows()])
        self.assertIn("it cannot take it now (nack): its queue may be full", self.rows()[1][2])

    def test_while_it_is_low_on_memory_or_disk_it_says_so_and_no_attempt_is_spent(self):
        self.feed()
        self.fire("shop.OrderPlaced")
        self.broker.control("set_vm_memory_high_watermark", "absolute", "1")
        try:
            self.relay()
        finally:
            self.broker.control("set_vm_memory_high_watermark", "0.4")
        self.assertEqual(("failed", 0), self.rows()[0][:2])
        self.assertIn("it takes nothing at the moment: low on memory", self.rows()[0][2])
        self.sql("update owed_delivery set available_at = 0")
        self.relay()
        self.assertEqual([("succeeded", 1, "")], self.rows())

    def test_what_is_larger_than_it_takes_has_failed_and_the_others_go_on(self):
        self.feed()
        for n in (1, self.broker.most_bytes, 1, self.broker.most_bytes, 1):
            self.owed("fire", "shop.OrderPlaced", "-", stdin=f'"{"x" * n}"', code=0)
        self.relay()
        self.assertEqual(["succeeded", "failed"] * 2 + ["succeeded"], [row[0] for row in self.rows()])
        self.assertEqual({1}, {row[1] for row in self.rows()})
        self.assertIn(f"message size {self.broker.most_bytes + 2} is larger than", self.rows()[1][2])

    def test_a_wrong_password_is_told_and_shown_nowhere(self):
        self.write("password", "lovelace\n")
        self.feed("password-file = password")
        self.conf((self.folder / "owed.conf").read_text().replace("amqp://", "amqp://ada@"))
        self.fire("shop.OrderPlaced")
        said = self.relay("--log-level", "debug").stderr
        self.assertEqual(("failed", 0), self.rows()[0][:2])
        self.assertIn("user ada or its password is refused: ACCESS_REFUSED", self.rows()[0][2])
        self.assertNotIn("lovelace", said + self.rows()[0][2])

    def test_a_vhost_that_there_is_not_is_told(self):
        self.feed()
        self.conf((self.folder / "owed.conf").read_text().replace(self.broker.url(), self.broker.url() + "/nowhere"))
        self.fire("shop.OrderPlaced")
        self.relay()
        self.assertEqual(("failed", 0), self.rows()[0][:2])
        self.assertIn("its vhost nowhere is refused: NOT_ALLOWED - vhost nowhere not found", self.rows()[0][2])

    def test_a_large_payload_comes_whole_and_an_exchange_routes(self):
        self.feed("exchange = amq.fanout")
        with brokers.Amqp(self.broker.port) as amqp:
            amqp.bind(self.topic, "amq.fanout")
        payload = '"' + "x" * 3_000_000 + '"'
        self.owed("fire", "shop.OrderPlaced", "-", stdin=payload, code=0)
        self.relay()
        self.assertEqual([payload], [m["payload"] for m in self.broker.messages(self.topic)])


class Tasks(Site):
    @classmethod
    def setUpClass(cls):
        cls.broker = Broker.started

    # A restart takes seconds: prove/task-sites has some.
    test_a_broker_that_was_restarted_has_what_was_handed_on_and_all_go_on_by_themselves = None

    def put(self, text):
        with brokers.Amqp(self.broker.port) as amqp:
            amqp.put(self.topic, text)

    def left(self):
        with brokers.Amqp(self.broker.port) as amqp:
            return amqp.declare(self.topic)

    def delete(self):
        with brokers.Amqp(self.broker.port) as amqp:
            amqp.delete(self.topic)

    def slow(self):
        """What a worker says that has one in hand for longer than its broker waits for a sign of life; it is let go then."""
        with brokers.Beats(self.broker.port) as beats, open(self.folder / "said", "w") as said:
            url = self.broker.url().replace(str(self.broker.port), str(beats.port))
            worker = subprocess.Popen([OWED, "worker", "--once", "--from", url, "--log-level", "debug"], cwd=self.folder, env=self.env, stderr=said)
            self.addCleanup(worker.kill)
            self.until_begun()
            self.assertTrue(beats.wait(4), "the broker has given it up")
            self.write("go", "")
            self.let_go()
            self.assertEqual(0, worker.wait(60))
        return (self.folder / "said").read_text()

    def test_a_receiver_that_takes_longer_than_the_heartbeat_keeps_its_connection(self):
        self.hold()
        self.hand_on(1)
        self.assertNotIn("away", self.slow())
        self.assertEqual(({"succeeded": 1}, [1], 0), (self.statuses(), self.ran(), self.left()))

    def test_some_are_taken_together_while_they_are_quick_and_what_waits_behind_a_slow_one_goes_back(self):
        with open(self.folder / "owed.conf", "a") as conf:
            conf.write('[receiver "shop.quick"]\nevent = shop.Viewed\ndiscard = yes\nsite = task\n')
        self.hold()
        lines = "".join(f'{{"name": "shop.{name}", "payload": {{}}}}\n' for name in ["Viewed"] * 200 + ["OrderPlaced"] * 4)
        self.owed("fire", "--lines", stdin=lines, code=0)
        self.owed("relay", "--once", code=0)
        said = self.slow()
        self.assertEqual(({"succeeded": 204}, [201, 202, 203, 204]), (self.statuses(), self.ran()))
        self.assertGreaterEqual(said.count("task message comes again"), 3)  # they went back, and came here
        self.assertNotIn("dropped", said)
        self.assertNotIn("away", said)

    def test_over_tls_with_the_authorities_of_a_file_it_is_the_same(self):
        self.site(relay=f"task-ca-file = {self.broker.certificate}\n")
        conf = self.folder / "owed.conf"
        conf.write_text(conf.read_text().replace(self.broker.url(), f"amqps://localhost:{self.broker.tls_port}"))
        self.hand_on(3)
        self.owed("worker", "--once", code=0)
        self.assertEqual(({"succeeded": 3}, [1, 2, 3]), (self.statuses(), self.ran()))

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


del Published, Site
run("sqlite")
