#!/usr/bin/python3
"""What owed.conf has published reaches a real broker, once it has acknowledged it, and waits while it is away."""
import contextlib
import signal
import time
import types

import brokers
from harness import OWED, StoreCase, run
from publish_cases import Published



class Words(StoreCase):
    """What needs no broker."""

    def receiver(self, text):
        self.conf(f'[store]\napp = shop\n[receiver "shop.feed"]\nevent = shop.OrderPlaced\n{text}\n')

    def test_what_cannot_be_published_to_is_refused(self):
        for text, sentence in (
                ("publish = pulsar://here", "the URL of publish begins with no scheme that is known here"),
                ("publish = redis://", "the URL of publish has no host"),
                ("publish = redis://ada:lovelace@here", "the URL of publish holds a password; password-file"),
                ("publish = redis://here:0", "the URL of publish has a bad port"),
                ("publish = nats://here/stream", "the URL of publish has a path; nats://host:4222 is right"),
                ("publish = nats://here\ntopic = a.*", "topic \"a.*\" is no subject: words with dots between them"),
                ("publish = nats://here\ntopic = a b", "it holds a blank"),
                ("publish = nats://here\ntopic = a..b", "is no subject"),
                ("publish = nats://here\ntopic = $JS.API", "begins with $"),
                ("publish = kafka://here\ntopic = a b", "topic \"a b\" is no topic of Kafka"),
                ("publish = redis://here/%zz", "two hexadecimal digits"),
                ("publish = redis://here/?db=1", 'the URL of publish has a query, which none of a broker has'),
                ("publish = amqp://here?heartbeat=7", 'what stands before its "?" alone is right'),
                ("publish = redis://here/abc", "the URL of publish has a database that is no number; redis://host:6379/0 is right"),
                ("publish = redis://here/0/1", "a database that is no number"),
                ("publish = redis://here#1", "a byte that it cannot hold"),
                ("discard = yes\ntopic = x", "topic, exchange, password-file, ca-file and credentials-file go with publish"),
                ("discard = yes\nca-file = x", "ca-file and credentials-file go with publish"),
                ("discard = yes\ncredentials-file = x", "ca-file and credentials-file go with publish"),
                ("publish = rediss://here", "its client library (hiredis 0.14) does not speak; a tunnel on this host (stunnel)"),
                ("publish = amqp://%2Frun%2Frabbit", "has a path where its host belongs; amqp://host:5672 is right"),
                ("publish = amqp://here\nca-file = x", "amqp goes without TLS, so ca-file has no use"),
                ("publish = amqps://here\ncredentials-file = x", "amqps knows no credentials-file, which is of NATS"),
                ("publish = tls://here\ncredentials-file = x\npassword-file = y", "one of them is right"),
                ("publish = redis://here\nexec = /bin/true", "several things say what it does"),
                (f"publish = redis://here\ntopic = {'x' * 256}", "names of 1 to 255 bytes"),
                ("discard = yes\nin-flight = 5", "in-flight is for pipe and publish")):
            self.receiver(text)
            done = self.owed("check", code=78)
            self.assertIn(sentence, done.stderr)
            self.assertRegex(done.stderr, "^owed: owed.conf:[0-9]+: ")
            self.assertNotIn("lovelace", done.stderr)

    def test_check_looks_for_the_password(self):
        self.receiver("publish = redis://[::1]:6379/2\ntopic = feed\npassword-file = nowhere")
        self.assertIn("password-file nowhere cannot be read", self.owed("check", code=1).stdout)

    def test_check_looks_for_what_proves_who_is_who(self):
        for key in ("ca-file", "credentials-file"):
            self.receiver(f"publish = tls://here\n{key} = nowhere")
            self.assertIn(f"{key}: nowhere cannot be read", self.owed("check", code=1).stdout)

    def test_who_never_answers_or_talks_nonsense_is_away(self):
        for said, drips in ((None, False), (b"", False), (b"HTTP/1.1 400 Bad Request\r\n\r\n", False), (b"$1000000\r\n", True)):
            with brokers.Deaf(said, drips) as deaf:
                self.conf("[store]\napp = shop\n" + "".join(
                    f'[receiver "shop.{scheme}"]\nevent = shop.OrderPlaced\npublish = {scheme}://127.0.0.1:{deaf.port}\ntimeout = 300ms\n'
                    for scheme in ("amqp", "kafka", "nats", "redis")))
                self.sql("delete from owed_delivery")
                self.fire("shop.OrderPlaced")
                self.owed("relay", "--once", code=0)
            rows = self.sql("select status, attempts, losses, last_error from owed_delivery order by receiver_key")
            self.assertEqual([("failed", 0, 0)] * 4, [row[:3] for row in rows], rows)
            for scheme, row in zip(("amqp", "kafka", "nats", "redis"), rows):
                self.assertIn(f"publish {scheme}://127.0.0.1:{deaf.port}: it ", row[3])
            if said in (None, b"$1000000\r\n"):
                self.assertIn("it has not answered within 300ms", rows[3][3])

    def test_the_catalogue_says_where_it_goes(self):
        self.receiver("publish = redis://here\ntopic = feed")
        self.owed("publish", code=0)
        self.assertIn("publishes to redis://here", self.owed("catalogue", code=0).stdout)


class Redis(Published):
    kind = brokers.Redis

    def test_a_connection_that_was_closed_meanwhile_is_made_again_at_once(self):
        self.feed()
        relay = self.relay_that_stays()
        self.fire("shop.OrderPlaced", '{"n":0}')
        self.until("select count(*) from owed_delivery where status = 'succeeded'", 1)
        self.assertGreater(int(self.broker.ask("CLIENT", "KILL", "TYPE", "normal")), 0)
        self.fire("shop.OrderPlaced", '{"n":1}')
        self.until("select count(*) from owed_delivery where status = 'succeeded' or last_error <> ''", 2)
        relay.send_signal(signal.SIGTERM)
        self.assertEqual(0, relay.wait(60))
        self.assertEqual([("succeeded", 1, "")] * 2, self.rows())

    def test_while_redis_has_no_room_or_may_not_write_it_is_owed_and_no_attempt_is_spent(self):
        self.feed()
        self.fire("shop.OrderPlaced")
        for name, value, said in (("maxmemory", "1", "OOM command not allowed"), ("min-replicas-to-write", "1", "NOREPLICAS")):
            self.broker.ask("CONFIG", "SET", name, value)
            self.addCleanup(self.broker.ask, "CONFIG", "SET", name, "0")
            self.relay()
            [(status, attempts, error)] = self.rows()
            self.assertEqual(("failed", 0), (status, attempts))
            self.assertIn(f"stream {self.topic}: {said}", error)
            self.broker.ask("CONFIG", "SET", name, "0")
            self.sql("update owed_delivery set available_at = 0")
        self.relay()
        self.assertEqual([("succeeded", 1, "")], self.rows())

    def test_what_is_too_large_for_redis_is_a_failed_attempt_and_the_others_go_on(self):
        self.feed("max-attempts = 1")
        self.broker.ask("CONFIG", "SET", "proto-max-bulk-len", "1mb")
        self.addCleanup(self.broker.ask, "CONFIG", "SET", "proto-max-bulk-len", "512mb")
        for n in (1, 1_500_000, 1):
            self.owed("fire", "shop.OrderPlaced", "-", stdin=f'"{"x" * n}"', code=0)
        # Redis hangs up on it, and may do so before its answer is read: then all come again.
        self.relay_that_stays()
        self.until("select count(*) from owed_delivery where status in ('succeeded', 'dead')", 3)
        self.assertEqual([("succeeded", 1), ("dead", 1), ("succeeded", 1)], [row[:2] for row in self.rows()])

    def test_a_relay_that_stops_waits_for_a_frozen_broker_no_longer_than_its_grace(self):
        self.feed()
        self.conf((self.folder / "owed.conf").read_text() + "[relay]\nstop-grace = 300ms\n")
        self.fire("shop.OrderPlaced")
        relay = self.relay_that_stays()
        self.until("select count(*) from owed_delivery where status = 'succeeded'", 1)
        self.freeze()
        self.addCleanup(self.thaw)
        self.fire("shop.OrderPlaced")
        self.until("select count(*) from owed_delivery where status = 'claimed'", 1)
        asked = time.monotonic()
        relay.send_signal(signal.SIGTERM)
        self.assertEqual(0, relay.wait(60))
        self.assertLess(time.monotonic() - asked, 20)  # its time limit is half a minute
        self.assertEqual([("claimed", 0, 0, 0)], self.sql("select status, attempts, losses, lease_expires_at from owed_delivery where id = 2"))

    def test_what_redis_refuses_is_a_failed_attempt_and_the_others_go_on(self):
        self.feed()
        self.broker.ask("SET", "shop.text", "no stream")
        with open(self.folder / "owed.conf", "a") as conf:
            conf.write(f'[receiver "shop.wrong"]\nevent = shop.OrderPlaced\npublish = {self.broker.url()}/0\ntopic = shop.text\n')
        self.fire("shop.OrderPlaced", '{"n":1}')
        self.relay()
        self.assertEqual({"succeeded", "failed"}, {row[0] for row in self.rows()})
        self.assertIn("stream shop.text: WRONGTYPE", self.value("select last_error from owed_delivery where status = 'failed'"))

    def test_a_password_comes_from_its_file_and_is_shown_nowhere(self):
        self.broker.ask("ACL", "SETUSER", "ada", "on", ">lovelace", "~*", "+@all")
        self.write("password", "wrong\n")
        self.feed("password-file = password")
        self.conf((self.folder / "owed.conf").read_text().replace("redis://", "redis://ada@"))
        self.fire("shop.OrderPlaced", '{"n":1}')
        said = self.relay("--log-level", "debug").stderr
        self.assertIn("user ada or its password is refused: WRONGPASS", self.rows()[0][2])
        self.write("password", "lovelace\n")
        self.sql("update owed_delivery set available_at = 0")
        said += self.relay("--log-level", "debug").stderr
        self.assertEqual("succeeded", self.rows()[0][0])
        self.assertNotIn("lovelace", said)

    def test_a_database_that_there_is_not_and_a_password_that_is_missing_are_told(self):
        broker = brokers.Redis()
        self.addCleanup(broker.remove)
        broker.start()
        for command, url, sentence in (
                (["PING"], "/99", "its database 99 is refused: ERR DB index is out of range"),
                (["ACL", "SETUSER", "default", "resetpass", ">lovelace"], "", "it wants a password: NOAUTH")):
            broker.ask(*command)
            self.feed()
            self.conf((self.folder / "owed.conf").read_text().replace(self.broker.url(), broker.url() + url))
            self.sql("delete from owed_delivery")
            self.fire("shop.OrderPlaced")
            said = self.relay().stderr
            self.assertRegex(said, f'msg="the broker refuses this relay" receiver=shop.feed .*{sentence}')
            self.assertNotIn("is away", said)
            self.assertEqual(("failed", 0), self.rows()[0][:2])
            self.assertIn(sentence, self.rows()[0][2])

    def test_a_socket_of_unix_is_as_good(self):
        self.feed()
        socket = str(self.broker.folder / "socket").replace("/", "%2F")
        self.conf((self.folder / "owed.conf").read_text().replace(self.broker.url(), f"redis://{socket}/0"))
        self.fire("shop.OrderPlaced", '{"n":1}')
        self.relay()
        self.assertEqual([("succeeded", 1, "")], self.rows())
        self.assertEqual(['{"n":1}'], [m["payload"] for m in self.broker.messages(self.topic)])


class Nats(Published):
    kind = brokers.Nats

    def prepare(self, topic):
        self.broker.stream(topic)

    def receiver(self, name, topic):
        with open(self.folder / "owed.conf", "a") as conf:
            conf.write(f'[receiver "shop.{name}"]\nevent = shop.OrderPlaced\npublish = {self.broker.url()}\ntopic = {topic}\n')

    def by_receiver(self):
        return dict((key, (status, attempts, error)) for key, status, attempts, error in
                    self.sql("select receiver_key, status, attempts, last_error from owed_delivery"))

    def test_what_a_stream_has_already_is_acknowledged_and_kept_once(self):
        self.feed()
        self.fire("shop.OrderPlaced", '{"n":1}')
        self.relay()
        self.sql("update owed_delivery set status = 'failed', attempts = 0, available_at = 0, completed_at = 0, succeeded_at = 0")
        self.relay()
        self.assertEqual([("succeeded", 1, "")], self.rows())
        self.assertEqual(1, len(self.broker.messages(self.topic)))

    def test_a_subject_that_no_stream_takes_is_a_failed_attempt_and_the_others_go_on(self):
        self.feed()
        self.receiver("wrong", "shop.nowhere")
        self.fire("shop.OrderPlaced", '{"n":1}')
        self.relay_each_once()
        rows = self.by_receiver()
        self.assertEqual(("succeeded", 1, ""), rows["shop.feed"])
        self.assertEqual(("failed", 1), rows["shop.wrong"][:2])
        self.assertIn("subject shop.nowhere: no stream takes it; one with that subject is needed", rows["shop.wrong"][2])

    def test_while_a_stream_is_full_it_is_owed_and_no_attempt_is_spent(self):
        self.broker.stream("shop.full", max_msgs=1, discard="new")
        self.feed(topic="shop.full")
        self.fire("shop.OrderPlaced")
        self.fire("shop.OrderPlaced")
        self.relay()
        self.assertEqual([("succeeded", 1), ("failed", 0)], [row[:2] for row in self.rows()])
        self.assertIn("subject shop.full: maximum messages exceeded", self.rows()[1][2])

    def test_somebody_without_a_stream_who_answers_acknowledges_nothing(self):
        self.feed(topic="shop.listened")
        for answer in ('{"seq":1}', '{"stream":', ""):
            self.sql("delete from owed_delivery")
            self.fire("shop.OrderPlaced", '{"n":1}')
            with self.broker.answering(shop__listened=answer):
                self.relay_each_once()
            self.assertEqual(("failed", 1), self.rows()[0][:2], self.rows())
            self.assertIn("somebody answers who is no stream", self.rows()[0][2])

    def test_what_a_stream_refuses_is_a_failed_attempt_and_what_the_server_never_takes_is_the_end(self):
        self.broker.stream("shop.small", max_msg_size=200)
        self.feed(topic="shop.small")
        self.fire("shop.OrderPlaced", '{"n":1}')
        self.fire("shop.OrderPlaced", f'"{"x" * 1000}"')
        self.fire("shop.OrderPlaced", f'"{"x" * 100000}"')
        self.relay_each_once()
        rows = self.rows()
        self.assertEqual([("succeeded", 1), ("failed", 1), ("dead", 1)], [row[:2] for row in rows])
        self.assertIn("subject shop.small: message size exceeds maximum allowed", rows[1][2])
        self.assertIn("100002 bytes and the facts are more than it takes: its max_payload is 100000", rows[2][2])

    def test_what_may_not_be_published_is_a_failed_attempt_that_says_so(self):
        self.write("password", "b\n")
        self.feed("password-file = password", topic="shop.denied")
        self.conf((self.folder / "owed.conf").read_text().replace("nats://", "nats://bob@"))
        self.fire("shop.OrderPlaced", '{"n":1}')
        self.relay_each_once()
        self.assertEqual(("failed", 1), self.rows()[0][:2], self.rows())
        self.assertIn("Permissions Violation", self.rows()[0][2])

    def test_what_is_to_go_over_tls_never_goes_without(self):
        self.feed()
        self.conf((self.folder / "owed.conf").read_text().replace("nats://", "nats+tls://"))
        self.fire("shop.OrderPlaced", '{"n":1}')
        self.relay()
        self.assertEqual(("failed", 0), self.rows()[0][:2])
        self.assertIn("it cannot be reached: Secure Connection not available", self.rows()[0][2])

    def test_a_header_holds_what_it_is_given_on_one_line(self):
        self.feed()
        self.fire("shop.OrderPlaced", "{}", "--correlation-id", "c-9\r\nNats-Rollup: all")
        self.relay()
        [message] = self.broker.messages(self.topic)
        self.assertNotIn("Nats-Rollup", message)
        self.assertIn("c-9", message["owed-correlation-id"])

    def test_a_password_comes_from_its_file_and_is_shown_nowhere(self):
        self.write("password", "wrong-word\n")
        self.feed("password-file = password")
        self.conf((self.folder / "owed.conf").read_text().replace("nats://", "nats://ada@"))
        self.fire("shop.OrderPlaced", '{"n":1}')
        said = self.relay("--log-level", "debug").stderr
        [(status, attempts, error)] = self.rows()
        self.assertEqual(("failed", 0), (status, attempts))
        self.assertIn("user ada or its password is refused: Authorization Violation", error)
        self.write("password", "lovelace\n")
        self.sql("update owed_delivery set available_at = 0")
        said += self.relay("--log-level", "debug").stderr
        self.assertEqual("succeeded", self.rows()[0][0])
        self.assertNotIn("lovelace", said)
        self.assertNotIn("wrong-word", said + error)


class NatsWithoutStreams(StoreCase):
    def test_where_no_stream_is_ready_it_is_owed_and_no_attempt_is_spent(self):
        broker = brokers.NatsBare()
        self.addCleanup(broker.remove)
        broker.start()
        self.write("token", broker.token)
        self.conf(f'[store]\napp = shop\n[receiver "shop.feed"]\nevent = shop.OrderPlaced\npublish = {broker.url()}\npassword-file = token\n')
        ask = "$JS__API__STREAM__NAMES"
        for answers, sentence in (({}, "JetStream is not enabled there, or not ready"),
                                  ({ask: '{"streams":["feed"]}'}, "its stream takes nothing at the moment"),
                                  ({ask: '{"error":{"code":503}}'}, "which one would is not told"),
                                  ({"shop__OrderPlaced": '{"error":{"code":503,"description":"no \\"space\\""}}'}, ': no "space"')):
            self.sql("delete from owed_delivery")
            self.fire("shop.OrderPlaced")
            with broker.answering(**answers):
                self.owed("relay", "--once", code=0)
            [(attempts, error)] = self.sql("select attempts, last_error from owed_delivery")
            self.assertIn(sentence, error)
            self.assertEqual(0, attempts)


class NatsTls(StoreCase):
    def test_over_tls_only_a_certificate_that_the_host_trusts_and_that_names_the_server_is_good(self):
        broker = brokers.NatsTls()
        self.addCleanup(broker.remove)
        broker.start()
        made = str(broker.folder / "certificate.pem")
        trusted, ca, url = {"SSL_CERT_FILE": made}, f"ca-file = {made}", broker.url()
        elsewhere, short = url.replace("localhost", "127.0.0.1"), url.replace("nats+tls", "tls")
        self.write("seed", broker.user.seed + "\n")
        self.write("other", brokers.NKey("U", self.folder).seed + "\n")
        key = f"{ca}\ncredentials-file = "
        for url, more, env, sentence in ((url, "", {}, "self-signed certificate"),
                                         (url, f"ca-file = {broker.folder}/key.pem", {}, "it cannot be reached"),
                                         (elsewhere, "", trusted, "mismatch"), (elsewhere, ca, {}, "mismatch"),
                                         (url, "", trusted, "no stream takes it"), (short, ca, {}, "no stream takes it"),
                                         (short.replace("//", f"//{broker.user.public}@"), key + "seed", {}, "no stream takes it"),
                                         (short.replace("//", f"//{broker.user.public}@"), key + "other", {}, "Authorization Violation"),
                                         (short.replace("//", f"//{broker.user.public}@"), key + "none", {}, "credentials-file none cannot be read")):
            self.assertIn(sentence, self.error_of(url, more, env))

    def error_of(self, url, more, env):
        self.conf(f'[store]\napp = shop\n[receiver "shop.feed"]\nevent = shop.OrderPlaced\npublish = {url}\n{more}\n')
        self.sql("delete from owed_delivery")
        self.fire("shop.OrderPlaced", "{}")
        self.owed("relay", "--once", env=env, code=0)
        return self.value("select last_error from owed_delivery")

    def test_credentials_prove_who_comes(self):
        broker = brokers.NatsOperator()
        self.addCleanup(broker.remove)
        broker.start()
        self.write("creds", broker.credentials)
        self.assertIn("Authorization Violation", self.error_of(broker.url(), "", {}))
        self.assertIn("JetStream is not enabled there", self.error_of(broker.url(), "credentials-file = creds", {}))
        self.assertIn("it cannot be reached", self.error_of(broker.url(), "credentials-file = nowhere", {}))


class Kafka(Published):
    kind = brokers.Kafka

    def prepare(self, topic):
        self.broker.tell("topic", topic)

    def cut(self):
        """The cluster says where it is itself, so nothing can stand before it: it closes the connection."""
        self.broker.tell("cut")
        return contextlib.nullcontext(types.SimpleNamespace(port=self.broker.port, count=2))

    def test_a_record_has_the_id_as_its_key_and_among_its_headers(self):
        self.feed()
        self.fire("shop.OrderPlaced")
        self.relay()
        [message] = self.broker.messages(self.topic)
        self.assertRegex(message["key"], "^owed_[0-9a-f]{32}$")
        self.assertEqual(message["key"], message["id"])

    def test_what_kafka_forbids_is_a_failed_attempt_and_the_others_go_on(self):
        self.feed()
        self.broker.tell("fail", "shop.denied")
        with open(self.folder / "owed.conf", "a") as conf:
            conf.write(f'[receiver "shop.wrong"]\nevent = shop.OrderPlaced\npublish = {self.broker.url()}\ntopic = shop.denied\n')
        self.fire("shop.OrderPlaced")
        self.relay_each_once()
        self.assertEqual({("succeeded", 1), ("failed", 1)}, {row[:2] for row in self.rows()}, self.rows())
        self.assertIn("topic shop.denied: Broker: Topic authorization failed",
                      self.value("select last_error from owed_delivery where status = 'failed'"))

    def test_nothing_goes_to_kafka_where_records_may_not_be_numbered(self):
        self.feed()
        self.broker.tell("forbid")
        self.fire("shop.OrderPlaced")
        self.relay_each_once()
        self.assertEqual(("failed", 1), self.rows()[0][:2], self.rows())
        self.assertIn("Cluster authorization failed", self.rows()[0][2])
        self.sql("update owed_delivery set available_at = 0")
        self.relay()
        self.assertEqual("succeeded", self.rows()[0][0])

    def test_a_record_that_kafka_never_takes_is_dead_at_once(self):
        self.feed()
        self.broker.tell("refuse")
        self.fire("shop.OrderPlaced")
        self.relay()
        self.assertEqual([("dead", 1)], [row[:2] for row in self.rows()])
        self.assertIn("Message size too large", self.rows()[0][2])

    def test_what_is_to_go_over_tls_never_goes_without(self):
        self.feed("timeout = 2s")
        self.conf((self.folder / "owed.conf").read_text().replace("kafka://", "kafka+tls://"))
        self.fire("shop.OrderPlaced")
        self.relay()
        self.assertEqual(("failed", 0), self.rows()[0][:2])
        self.assertIn("it cannot be reached: ssl://127.0.0.1", self.rows()[0][2])

    def test_of_a_request_that_is_too_large_each_record_goes_alone(self):
        self.feed()
        for n in range(3):
            self.fire("shop.OrderPlaced", f'{{"n":{n}}}')
        self.broker.tell("refuse")
        self.broker.tell("refuse")
        self.relay()
        self.assertEqual(["dead", "succeeded", "succeeded"], [row[0] for row in self.rows()])
        self.assertEqual(['{"n":1}', '{"n":2}'], [m["payload"] for m in self.broker.messages(self.topic)])

    def test_a_password_goes_nowhere_where_nobody_asks_for_it(self):
        self.write("password", "lovelace\n")
        self.feed("password-file = password\ntimeout = 500ms")
        self.conf((self.folder / "owed.conf").read_text().replace("kafka://", "kafka://ada@"))
        self.fire("shop.OrderPlaced")
        said = self.relay("--log-level", "debug").stderr
        self.assertEqual(("failed", 0), self.rows()[0][:2])
        self.assertIn("user ada or its password is refused: ", self.rows()[0][2])
        self.assertNotIn("lovelace", said + self.rows()[0][2])


del Published
run("sqlite")
