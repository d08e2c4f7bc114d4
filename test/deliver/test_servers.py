#!/usr/bin/python3
"""Relays on a server: several share one database, clocks of hosts differ, and the server goes away.

Cases of a server that goes away have one of their own; the others use the one of this run."""
import collections
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from harness import OWED, StoreCase, now, run_here, stores  # noqa: E402
from lines import Lines, be_patient  # noqa: E402

SERVERS = pathlib.Path(__file__).resolve().parents[2] / "tools" / "servers"
LEASE = 1


class RelayCase(StoreCase):
    def setUp(self):
        super().setUp()
        be_patient(self)
        self.lines = Lines(self)
        module = pathlib.Path(os.environ["OWED_EFFECTS"]) / f"effects-{self.store.scheme}.so"
        self.env.update(OWED_MODULE=str(module), OWED_APP="prove", EFFECTS_MS="5")
        self.sql("create table effect (delivery bigint not null, receiver varchar(100) not null)")
        self.declare(self.effects)

    effects = "grouped"

    def declare(self, effects):
        """Receivers of the module, and none but these."""
        self.env["EFFECTS"] = effects
        self.owed("publish", code=0)

    def relay(self, *words, env=None):
        """A relay in the background, in a process group of its own; it logs into the case's pipe."""
        relay = subprocess.Popen([OWED, "relay", "--log-level", "debug", "--lease", f"{LEASE}s", *words],
                                 stdout=subprocess.DEVNULL, stderr=self.lines.end, cwd=self.folder,
                                 env={**self.env, **(env or {})}, start_new_session=True)
        self.addCleanup(self.end_group, relay)
        return relay

    def end_group(self, relay):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(relay.pid, signal.SIGKILL)
        relay.wait()

    def stop(self, relay):
        """It says more than a pipe holds only while it delivers, and that is over."""
        relay.send_signal(signal.SIGTERM)
        self.assertEqual(0, relay.wait(), self.lines.said)
        self.lines.hear()
        return self.lines.said

    def workers(self, relay):
        return [int(pid) for pid in
                pathlib.Path(f"/proc/{relay.pid}/task/{relay.pid}/children").read_text().split()]

    def fire_many(self, count):
        self.owed("fire", "--lines", stdin='{"name": "prove.Event"}\n' * count, code=0)

    def succeeded(self):
        return self.value("select count(*) from owed_delivery where status = 'succeeded'")

    def assert_each_once(self, count):
        self.assertEqual({"succeeded": count},
                         dict(self.sql("select status, count(*) from owed_delivery group by status")))
        effects = collections.Counter(row[0] for row in self.sql("select delivery from effect"))
        self.assertEqual((count, count), (len(effects), effects.total()))
        self.assertEqual(0, self.value("select count(*) from owed_delivery where attempts <> 1"))


class Together(RelayCase):
    def test_two_relays_with_two_workers_each_share_a_database(self):
        self.fire_many(600)
        relays = [self.relay("--concurrency", "2") for _ in range(2)]
        self.lines.until(lambda: self.succeeded() == 600)
        for relay in relays:
            self.stop(relay)
        self.assert_each_once(600)


class Apart(RelayCase):
    """Receivers that take 5 ms."""
    effects = "slow"

    def test_what_a_killed_relay_held_is_delivered_once_by_the_other(self):
        self.fire_many(200)
        relays = [self.relay("--batch-size", "20") for _ in range(2)]
        self.lines.until(lambda: self.succeeded() >= 20)
        relays[0].kill()
        self.lines.until(lambda: self.succeeded() == 200)
        self.stop(relays[1])
        self.assert_each_once(200)

    def halt(self, relay):
        """Not in the midst of a claim or of what a batch came to: nobody else gets the rows that it has locked."""
        free = "select count(*) from (select id from owed_delivery for update skip locked) as free"
        os.killpg(relay.pid, signal.SIGSTOP)
        while self.value(free) < 195:
            os.killpg(relay.pid, signal.SIGCONT)
            os.killpg(relay.pid, signal.SIGSTOP)

    def test_a_relay_that_was_halted_for_longer_than_its_lease_writes_nothing_late(self):
        self.fire_many(200)
        first = self.relay("--batch-size", "20")
        self.lines.until(lambda: self.succeeded() >= 20)
        self.halt(first)
        second = self.relay("--batch-size", "20")
        self.lines.until(lambda: self.succeeded() >= 190)
        os.killpg(first.pid, signal.SIGCONT)
        self.lines.until(lambda: self.succeeded() == 200)
        self.stop(first)
        self.stop(second)
        self.assert_each_once(200)

    def test_a_worker_that_is_killed_leaves_no_locks(self):
        """The row in hand comes back at once, not when the server notices."""
        self.fire_many(100)
        relay = self.relay("--lease", "1h")
        self.lines.until(lambda: self.succeeded() >= 10)
        os.kill(self.workers(relay)[0], signal.SIGKILL)
        self.lines.until(lambda: self.succeeded() == 100)
        self.stop(relay)
        self.assert_each_once(100)


@unittest.skipUnless(shutil.which("faketime"), "faketime is not installed")
class Clocks(RelayCase):
    def relay_at(self, offset):
        words = ["faketime", "-f", offset, OWED, "relay", "--once"]
        return subprocess.run(words, env={**self.env, "FAKETIME_DONT_FAKE_MONOTONIC": "1"}, cwd=self.folder,
                              capture_output=True, text=True, timeout=60)

    def test_a_relay_whose_host_is_an_hour_off_delivers_what_is_due_and_nothing_else(self):
        for offset in ("-1h", "+1h"):
            self.fire_many(1)
            self.owed("fire", "prove.Event", "{}", "--due", "+30m", code=0)
            before = self.succeeded()
            done = self.relay_at(offset)
            self.assertEqual(0, done.returncode, done.stderr)
            self.assertEqual(before + 1, self.succeeded(), offset)
        ahead = "select count(*) from owed_delivery where completed_at > {} and status = 'succeeded'"
        later = {"postgres": "now() + interval '1 minute'", "mariadb": "utc_timestamp(6) + interval 1 minute"}
        self.assertEqual(0, self.value(ahead.format(later[self.store.scheme])))

    def test_what_such_a_host_fires_is_due_at_once_everywhere(self):
        for offset in ("-1h", "+1h"):
            words = ["faketime", "-f", offset, OWED, "fire", "prove.Event", "{}"]
            subprocess.run(words, env={**self.env, "FAKETIME_DONT_FAKE_MONOTONIC": "1"}, cwd=self.folder,
                           check=True, capture_output=True, timeout=60)
        self.owed("relay", "--once", code=0)
        self.assertEqual(2, self.succeeded())


class Away(RelayCase):
    """The server is the case's own."""
    effects = "slow,grouped"

    def setUp(self):
        self.host = pathlib.Path(tempfile.mkdtemp(prefix="owed-host-"))
        self.addCleanup(shutil.rmtree, self.host, ignore_errors=True)
        self.host.chmod(0o755)
        self.run_url, scheme = now["store"], stores.scheme_of(now["store"])
        now["store"] = self.tool("start", scheme).strip()
        self.addCleanup(self.tool, "stop")
        self.addCleanup(now.update, store=self.run_url)
        super().setUp()
        self.scheme = scheme

    def tool(self, word, *words):
        done = subprocess.run([str(SERVERS), word, *words[:1 if word == "start" else 0], "--dir",
                               str(self.host / "server"), *words[1 if word == "start" else 0:]],
                              capture_output=True, text=True, timeout=90)
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        return done.stdout

    def test_a_relay_that_starts_before_its_server_waits_and_says_so_once(self):
        self.fire_many(2)
        self.tool("stop")
        relay = self.relay()
        self.lines.until_said("the store is away")
        self.tool("start", self.scheme)
        self.lines.until_said("relay ready")
        self.lines.until(lambda: self.succeeded() == 4)
        said = self.stop(relay).splitlines()
        self.assertEqual(1, sum("the store is away" in line for line in said), said)
        self.assertEqual([], [line for line in said if "died" in line])
        self.assert_each_once(4)

    def test_a_stop_ends_that_wait_at_once(self):
        self.tool("stop")
        relay = self.relay()
        self.lines.until_said("the store is away")
        self.lines.until_said('msg="worker started" slot=', times=2)
        self.stop(relay)
        self.tool("start", self.scheme)

    def test_a_relay_that_is_to_end_does_not_wait(self):
        self.tool("stop")
        done = self.owed("relay", "--once", code=69)
        self.assertEqual(1, len(done.stderr.splitlines()), done.stderr)
        self.tool("start", self.scheme)

    def test_a_restart_in_the_midst_of_it_loses_and_doubles_nothing(self):
        self.fire_many(150)
        relay = self.relay("--batch-size", "20")
        for how, done in (("fast", 20), ("immediate", 100)):
            self.lines.until(lambda done=done: self.succeeded() >= done)
            self.tool("restart", how)
        self.lines.until(lambda: self.succeeded() == 300)
        said = self.stop(relay)
        self.assertIn("the store is back", said)
        self.assert_each_once(300)


def run_on_servers():
    """The cases, on each server of this run; whether all is well."""
    good, any_server = True, False
    for url in stores.urls():
        scheme = stores.scheme_of(url)
        if scheme == "sqlite" or not stores.is_served(OWED, url):
            continue
        any_server = True
        print(f"on {scheme}", flush=True)
        now["store"] = url
        good = run_here() and good
    if not any_server:
        print("left out: no server is at hand in this run", flush=True)
        sys.exit(77)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    run_on_servers()
