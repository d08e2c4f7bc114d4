#!/usr/bin/python3
"""Whatever dies, every delivery ends, and takes effect once."""
import os
import signal

from doers import DoersCase
from harness import run


class Crash(DoersCase):
    def fire_among_others(self, name, payload):
        """One that misbehaves between others that do not; returns its delivery."""
        for _ in range(5):
            self.fire(name, '"work"')
        event = self.fire(name, f'"{payload}"')
        for _ in range(5):
            self.fire(name, '"work"')
        return event

    def check_dead(self, event, error, verdict="died"):
        rows = self.sql("select status, attempts, losses, last_error from owed_delivery where event_id = ?", event)
        for status, attempts, losses, last_error in rows:
            self.assertEqual(("dead", 2, 0), (status, attempts, losses))
            self.assertIn(error, last_error)
        self.assertEqual(2 * len(rows), self.value("select count(*) from owed_attempt where verdict = ?", verdict))

    def test_a_crash_is_a_failed_attempt_and_harms_no_other(self):
        for word, error in (("segv", "SIGSEGV"), ("abort", "SIGABRT"), ("leave", "exited with status 3")):
            with self.subTest(word):
                self.sql("delete from owed_attempt")
                self.sql("delete from owed_delivery")
                self.sql("delete from effect")
                event = self.fire_among_others("shop.Job", word)
                done = self.owed("relay", "--once", code=0)
                self.assertEqual("dead: 1\nfailed: 1\nsucceeded: 10\n", done.stdout, done.stderr)
                self.check_dead(event, error)
                self.assertEqual(10, len(self.effects()))
                self.assertIn("worker died", done.stderr)
                self.assertIn("kind=died", done.stderr)

    def test_a_receiver_past_its_timeout_is_killed_and_has_failed(self):
        event = self.fire_among_others("shop.Timed", "hang")
        done = self.owed("relay", "--once", code=0)
        self.assertEqual("dead: 1\nfailed: 1\nsucceeded: 10\n", done.stdout, done.stderr)
        self.check_dead(event, "still running after 1s")
        self.assertEqual(10, len(self.effects()))

    def test_outside_receivers_in_c_may_crash_too(self):
        event = self.fire_among_others("shop.Call", "segv")
        done = self.owed("relay", "--once", code=0)
        self.assertEqual("dead: 2\nfailed: 2\nsucceeded: 20\n", done.stdout, done.stderr)
        self.check_dead(event, "SIGSEGV")

    def test_a_worker_killed_from_outside_is_a_loss_and_no_attempt(self):
        self.fire_among_others("shop.Job", "hold")
        relay = self.relay()
        gate, worker = self.catch()
        os.kill(worker, signal.SIGKILL)
        self.lose(gate)
        gate, second = self.catch()
        self.assertNotEqual(worker, second)
        self.assertEqual(1, self.value("select sum(losses) from owed_delivery"))
        self.assertEqual(0, self.value("select count(*) from owed_attempt"))
        relay.send_signal(signal.SIGTERM)
        gate.close()
        self.finish(relay)
        self.owed("relay", "--once", code=0)
        self.assertEqual({"succeeded": 11}, self.counts())
        self.assertEqual((1, 0), self.sql("select max(attempts), max(losses) from owed_delivery")[0])
        self.assertEqual(11, len(self.effects()))

    def test_programs_in_flight_are_run_again_when_their_worker_dies(self):
        program = self.write("program", "#!/bin/sh\n[ -e go ] && exit 0\n"
                             "echo $PPID >held.new; mv held.new held; cat gate\n")
        program.chmod(0o755)
        self.conf(f'[store]\napp = shop\n[receiver "shop.label"]\nevent = shop.Label\nexec = {program}\n')
        for number in (signal.SIGSEGV, signal.SIGKILL):
            self.fire("shop.Label")
            relay = self.relay("--once")
            gate, worker = self.catch()
            self.write("go", "")
            os.kill(worker, number)
            self.assertIn("handed_back=1", self.read_until(relay, "what a dead worker held is free again"))
            gate.close()
            self.finish(relay)
            (self.folder / "go").unlink()
        self.assertEqual({"succeeded": 2}, self.counts())
        self.assertEqual((1, 0), self.sql("select max(attempts), max(losses) from owed_delivery")[0])

    def test_when_the_supervisor_is_killed_nothing_is_lost(self):
        self.fire_among_others("shop.Job", "hold")
        relay = self.relay("--lease", "100ms")
        gate, worker = self.catch()
        relay.kill()
        relay.wait()
        self.lose(gate)  # the workers died with it
        self.assertEqual(1, self.value(
            "select count(*) from owed_delivery where status = 'claimed' and attempts = 0 and event_id = 6"))
        # Not --once: that would end while the dead one's lease still holds.
        relay = self.relay("--lease", "100ms")
        gate, second = self.catch()
        self.assertNotEqual(worker, second)
        gate.close()
        relay.send_signal(signal.SIGTERM)
        self.finish(relay)
        self.owed("relay", "--once", code=0)
        self.assertEqual({"succeeded": 11}, self.counts())
        self.assertEqual(11, len(self.effects()))


run()
