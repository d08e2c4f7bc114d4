"""What is published, to any broker: what its cases share, and those that hold of each."""
import contextlib
import hashlib
import signal
import subprocess

import brokers
from harness import OWED, StoreCase
from lines import Lines, be_patient

PAYLOAD = '{"total": 1e400,\n "note": "a\\u0000b \\ud800 é", "total": 2}'


class Published(StoreCase):
    """The same for every broker."""

    kind = None
    extra = ""

    @classmethod
    def setUpClass(cls):
        cls.broker = cls.kind()
        cls.addClassCleanup(cls.broker.remove)
        cls.broker.start()

    def setUp(self):
        super().setUp()
        # One broker serves all cases: each has names of its own.
        self.topic = f"shop.{self._testMethodName[-40:]}"
        self.prepare(self.topic)

    def prepare(self, topic):
        """Make what the topic needs."""

    def feed(self, more="", topic=None):
        self.conf(f'[store]\napp = shop\n[receiver "shop.feed"]\nevent = shop.OrderPlaced\npublish = {self.broker.url()}\n'
                  f"topic = {topic or self.topic}\n{self.extra}{more}\n")

    def relay(self, *words, code=0):
        return self.owed("relay", "--once", *words, code=code)

    def relay_each_once(self):
        """What has failed may be due again at once, by the dice; under a limit no row comes twice."""
        return self.relay("--limit", "1000")

    def rows(self):
        return self.sql("select status, attempts, last_error from owed_delivery order by id")

    def test_a_message_has_the_payload_byte_for_byte_and_the_facts_beside_it(self):
        self.feed()
        self.fire("shop.OrderPlaced", PAYLOAD, "--correlation-id", "c-9")
        self.relay()
        [message] = self.broker.messages(self.topic)
        self.assertEqual(PAYLOAD, message["payload"])
        key = self.value("select uid from owed_event") + b"\0shop.feed\0"
        self.assertEqual("owed_" + hashlib.sha256(key).hexdigest()[:32], message["id"])
        self.assertEqual(("shop.OrderPlaced", "1", "shop.feed", "1", "1", "c-9"),
                         tuple(message["owed-" + name] for name in
                               ("event", "version", "receiver", "delivery", "attempt", "correlation-id")))
        self.assertEqual([("succeeded", 1, "")], self.rows())

    def test_many_go_in_batches_in_the_order_they_were_owed(self):
        self.feed()
        lines = "".join(f'{{"name":"shop.OrderPlaced","payload":{{"n":{n}}}}}\n' for n in range(2000))
        self.owed("fire", "--lines", stdin=lines, code=0)
        self.relay()
        self.assertEqual([f'{{"n":{n}}}' for n in range(2000)], [m["payload"] for m in self.broker.messages(self.topic)])
        self.assertEqual(2000, self.value("select count(*) from owed_delivery where status = 'succeeded'"))

    def test_while_the_broker_is_away_it_is_owed_and_no_attempt_is_spent(self):
        self.feed()
        right, nobody = self.broker.url(), self.broker.url().replace(str(self.broker.port), str(brokers.free_port()))
        self.conf((self.folder / "owed.conf").read_text().replace(right, nobody))
        self.fire("shop.OrderPlaced", '{"n":1}')
        self.relay()
        [(status, attempts, error)] = self.rows()
        self.assertEqual(("failed", 0), (status, attempts))
        self.assertIn(f"publish {nobody}: it cannot be reached", error)
        self.feed()
        self.sql("update owed_delivery set available_at = 0")
        self.relay()
        self.assertEqual([("succeeded", 1, "")], self.rows())
        self.assertEqual(['{"n":1}'], [m["payload"] for m in self.broker.messages(self.topic)])

    def test_a_broker_that_does_not_answer_is_away_and_what_it_had_comes_again_with_the_same_id(self):
        with self.frozen_behind_one() as relay:
            self.until("select count(*) from owed_delivery where last_error is not null", 1)
        self.until("select count(*) from owed_delivery where status = 'succeeded'", 2)
        relay.send_signal(signal.SIGTERM)
        self.assertEqual(0, relay.wait(60))
        self.assertEqual(1, self.value("select attempts from owed_delivery where id = 2"))
        messages = self.broker.messages(self.topic)
        self.assertEqual({'{"n":0}', '{"n":1}'}, {m["payload"] for m in messages})
        self.assertEqual(2, len({m["id"] for m in messages}))

    def test_while_the_broker_is_away_the_relays_row_says_so_and_doctor_names_it(self):
        away = "select count(*) from owed_relay where away <> ''"
        with self.frozen_behind_one() as relay:
            self.until(away, 1)
            found = self.owed("doctor", code=1).stdout
        self.assertRegex(found, rf"(?m)^away: the relay \S+ on \S+ cannot hand on what it should: {self.broker.url()} of receiver shop\.feed "
                                r"since 20\S+Z: \S+")
        self.until("select count(*) from owed_delivery where status = 'succeeded'", 2)
        self.fire("shop.OrderPlaced", '{"n":2}')  # what is handed on next goes after its row was written
        self.until("select count(*) from owed_delivery where status = 'succeeded'", 3)
        self.assertEqual(0, self.value(away))
        relay.send_signal(signal.SIGTERM)
        self.assertEqual(0, relay.wait(60))

    def test_of_a_batch_that_is_cut_off_all_comes_and_what_comes_twice_has_the_same_id(self):
        self.feed()
        lines = "".join(f'{{"name":"shop.OrderPlaced","payload":{{"n":{n}}}}}\n' for n in range(200))
        self.owed("fire", "--lines", stdin=lines, code=0)
        with self.cut() as cut:
            self.conf((self.folder / "owed.conf").read_text().replace(str(self.broker.port), str(cut.port)))
            self.relay()
            self.sql("update owed_delivery set available_at = 0 where status = 'failed'")
            self.relay()
            self.assertGreater(cut.count, 1)
        self.assertEqual({("succeeded", 1, "")}, set(self.rows()))
        messages = self.broker.messages(self.topic)
        self.assertEqual({f'{{"n":{n}}}' for n in range(200)}, {m["payload"] for m in messages})
        self.assertEqual(200, len({(m["payload"], m["id"]) for m in messages}))

    def cut(self):
        return brokers.Cut(self.broker.port, 20_000)

    def relay_that_stays(self):
        be_patient(self)
        self.lines = Lines(self)
        relay = subprocess.Popen([OWED, "relay", "--log-level", "debug"], cwd=self.folder, env=self.env, stderr=self.lines.end)
        self.addCleanup(relay.wait, 60)
        self.addCleanup(relay.kill)
        return relay

    @contextlib.contextmanager
    def frozen_behind_one(self):
        """A relay has published one event, and meanwhile the broker does not answer for the next."""
        self.feed("timeout = 300ms")
        self.fire("shop.OrderPlaced", '{"n":0}')
        relay = self.relay_that_stays()
        try:
            self.until("select count(*) from owed_delivery where status = 'succeeded'", 1)
            self.freeze()
            self.fire("shop.OrderPlaced", '{"n":1}')
            yield relay
        finally:
            self.thaw()

    def freeze(self):
        self.broker.signal(signal.SIGSTOP)

    def thaw(self):
        self.broker.signal(signal.SIGCONT)

    def until(self, query, count):
        self.lines.until(lambda: self.value(query) >= count)
