#!/usr/bin/python3
"""What every command that acts on many rows has: it counts first, asks a person, says who did it to how many, and goes on
where it was cut off."""
import os
import pty
import signal
import subprocess

from harness import OWED, StoreCase, run

MANY = 1201
# A command's words; how its rows stand before it and after it; what it says, dry and in earnest.
VERBS = (
    (("requeue", "--all"), "dead", "pending", "would requeue: {}", "requeued: {}"),
    (("cancel", "--all"), "pending", "cancelled", "would cancel: {}", "cancelled: {}"),
    (("replay", "--event", "shop.OrderPlaced"), "succeeded", "pending",
     "would be reopened: {}, added: 0, still owed: 0, skipped: 0", "reopened: {}, added: 0, still owed: 0, skipped: 0"),
    (("prune", "--days", "0"), "succeeded", None, "would delete: {}", "deleted: {}"),
    (("pause", "default"), "pending", "pending", "receivers that would be paused: 1", "receivers paused: 1"),
    (("resume", "default"), "pending", "pending", "receivers that would be resumed: 1", "receivers resumed: 1"),
)


class Acting(StoreCase):
    def setUp(self):
        super().setUp()
        self.receivers("shop.billing")

    def many(self, verb, status, count=MANY):
        self.sql("delete from owed_delivery")
        self.sql("delete from owed_event")
        self.owed("fire", "--lines", stdin='{"name":"shop.OrderPlaced"}\n' * count, code=0)
        self.sql("update owed_delivery set status = ?", status)
        self.sql("update owed_event set recorded_at = moment(1000000)")
        if verb == "resume":
            self.owed("pause", "default", code=0)
        self.sql("delete from owed_audit")

    def rows(self):
        return self.sql("select status, lane, count(*) from owed_delivery group by status, lane order by lane")

    def done(self, verb, after):
        """How many rows stand as they should once it is done."""
        if after is None:
            return MANY - self.value("select count(*) from owed_event")
        lane = "shop/default!shop.billing" if verb == "pause" else "shop/default"
        return self.value("select count(*) from owed_delivery where status = ? and lane = ?", after, lane)

    def on_terminal(self, answer, *words):
        mine, theirs = pty.openpty()
        os.write(mine, answer)
        done = subprocess.run([OWED, *words], stdin=theirs, capture_output=True, text=True, cwd=self.folder,
                              env=self.env, timeout=120)
        os.close(theirs)
        os.close(mine)
        return done

    def test_each_counts_first_asks_above_a_thousand_and_is_noted(self):
        for words, before, after, dry, earnest in VERBS:
            verb = words[0]
            with self.subTest(verb):
                self.many(verb, before)
                stood = self.rows()
                self.assertEqual(dry.format(MANY) + "\n", self.owed(*words, "--dry-run", code=0).stdout)
                self.assertEqual((stood, 0), (self.rows(), self.value("select count(*) from owed_audit")))
                refused = self.on_terminal(b"n\n", *words)
                self.assertEqual((1, stood), (refused.returncode, self.rows()), refused.stderr)
                self.assertIn(str(MANY), refused.stderr)
                self.assertEqual(earnest.format(MANY) + "\n", self.on_terminal(b"y\n", *words).stdout)
                self.assertEqual(MANY, self.done(verb, after))
                action, what, how_many, ended = self.sql("select action, what, how_many, ended_at from owed_audit")[0]
                self.assertEqual((verb, 1 if verb in ("pause", "resume") else MANY), (action, how_many))
                self.assertIn(words[-1], what)
                self.assertTrue(ended > 0)
                self.assertEqual(0, self.on_terminal(b"", *words, "--yes").returncode)

    def test_each_that_is_killed_is_simply_run_again(self):
        for words, before, after, _, _ in VERBS:
            verb = words[0]
            with self.subTest(verb):
                self.many(verb, before)
                cut = subprocess.Popen([OWED, *words], cwd=self.folder, env=self.env, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
                # Killed as soon as something of it can be seen, or it has ended before.
                while cut.poll() is None and self.done(verb, after) == 0:
                    pass
                cut.send_signal(signal.SIGKILL)
                cut.wait()
                self.owed(*words, code=0)
                self.assertEqual(MANY, self.done(verb, after))


run()
