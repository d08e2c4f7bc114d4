#!/usr/bin/python3
"""A stop is quick and clean: what is in hand ends, the rest is free for others at once."""
import os
import signal
import stat

from doers import DoersCase
from harness import run


class Stop(DoersCase):
    def hold_the_first_of(self, count):
        self.fire("shop.Job", '"hold"')
        for _ in range(count - 1):
            self.fire("shop.Job", '"work"')

    def test_the_delivery_in_hand_ends_and_the_rest_is_free_in_order(self):
        self.hold_the_first_of(6)
        relay = self.relay("--lease", "1h")
        gate, _ = self.catch()
        relay.send_signal(signal.SIGTERM)
        self.read_until(relay, "stopping")
        gate.close()
        self.finish(relay)
        self.assertEqual({"succeeded": 1, "claimed": 5}, self.counts())
        self.assertEqual([(0, 0, 0)], self.sql(
            "select distinct attempts, losses, lease_expires_at from owed_delivery where status = 'claimed'"))
        self.owed("relay", "--once", "--worker-id", "other", code=0)
        self.assertEqual({"succeeded": 6}, self.counts())
        self.assertEqual(sorted(self.effects()), self.effects())

    def test_a_second_signal_ends_it_at_once(self):
        for second, code in ((signal.SIGTERM, 143), (signal.SIGINT, 130)):
            self.hold_the_first_of(1)
            relay = self.relay("--lease", "1h")
            gate, _ = self.catch()
            relay.send_signal(signal.SIGTERM)
            self.read_until(relay, "stopping")
            relay.send_signal(second)
            self.finish(relay, code)
            gate.close()

    def test_a_worker_that_is_told_twice_still_ends_well(self):
        """A service manager signals every process of the group, and the supervisor its workers again."""
        self.hold_the_first_of(2)
        relay = self.relay("--lease", "1h")
        gate, worker = self.catch()
        os.kill(worker, signal.SIGTERM)
        os.kill(worker, signal.SIGINT)
        relay.send_signal(signal.SIGTERM)
        self.read_until(relay, "stopping")
        gate.close()
        self.finish(relay)
        self.assertEqual({"succeeded": 1, "claimed": 1}, self.counts())

    def test_past_the_grace_what_is_in_hand_goes_back_uncounted(self):
        self.hold_the_first_of(3)
        relay = self.relay("--lease", "1h", "--stop-grace", "50ms")
        gate, _ = self.catch()
        relay.send_signal(signal.SIGTERM)
        self.finish(relay)
        gate.close()
        self.assertEqual([("claimed", 0, 0, 0, 3)], self.sql(
            "select status, attempts, losses, lease_expires_at, count(*) from owed_delivery group by 1, 2, 3, 4"))

    def test_once_ends_only_when_what_its_own_work_fired_has_ended(self):
        for length in range(1, 9):
            self.fire("shop.Job", str(length))
        self.owed("relay", "--once", code=0)
        self.assertEqual({"succeeded": sum(range(2, 10))}, self.counts())

    def test_programs_that_a_worker_starts_inherit_nothing(self):
        program = self.write("program", "#!/bin/sh\nls /proc/self/fd >descriptors\nenv >environment\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        self.conf(f'[store]\napp = shop\n[receiver "shop.label"]\nevent = shop.Label\nexec = {program}\n')
        self.fire("shop.Label")
        stray = os.open("/dev/null", os.O_RDONLY)
        os.set_inheritable(stray, True)
        self.addCleanup(os.close, stray)
        self.owed("relay", "--once", code=0, close_fds=False)
        # The fourth is the folder that ls itself reads.
        self.assertEqual("0\n1\n2\n3\n", (self.folder / "descriptors").read_text())
        self.assertNotIn("OWED_SEAT", (self.folder / "environment").read_text())

    def see_renewals(self, count):
        seen = set()
        while len(seen) <= count:
            seen.add(self.value("select lease_expires_at from owed_delivery"))

    def test_a_lease_is_renewed_while_its_receiver_runs_and_during_a_stop_too(self):
        self.hold_the_first_of(1)
        relay = self.relay("--lease", "300ms")
        gate, _ = self.catch()
        self.see_renewals(3)
        relay.send_signal(signal.SIGTERM)
        self.read_until(relay, "stopping")
        self.see_renewals(3)
        gate.close()
        self.finish(relay)
        self.assertEqual({"succeeded": 1}, self.counts())
        self.assertEqual([(1, 0)], self.sql("select attempts, losses from owed_delivery"))
        self.assertEqual(1, len(self.effects()))

    def test_workers_hold_nothing_of_their_supervisor(self):
        self.hold_the_first_of(1)
        stray = os.open("/dev/null", os.O_RDONLY)
        os.set_inheritable(stray, True)
        self.addCleanup(os.close, stray)
        relay = self.relay()
        gate, worker = self.catch()
        links = {fd: os.readlink(f"/proc/{worker}/fd/{fd}") for fd in os.listdir(f"/proc/{worker}/fd")}
        self.assertFalse([link for link in links.values() if "owed-relay" in link or "signalfd" in link], links)
        relay.send_signal(signal.SIGTERM)
        gate.close()
        self.finish(relay)


run()
