#!/usr/bin/python3
"""What a module adds to attempts, under a real relay: a hook, a record of failures, threads that finish."""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from harness import StoreCase, run  # noqa: E402


class Watch(StoreCase):
    def setUp(self):
        super().setUp()
        self.env["OWED_MODULE"] = os.environ["OWED_WATCHERS"]
        self.sql("create table record (delivery integer, attempt integer, kind text, now text)")
        self.conf("[store]\napp = shop\n")
        self.owed("publish", code=0)

    def test_on_failure_is_told_of_a_crash_by_the_next_worker(self):
        self.owed("fire", "shop.Crash", '"crash"', code=0)
        self.owed("relay", "--once", code=0)
        self.assertEqual([(1, 1, "died", "failed"), (1, 2, "died", "dead")],
                         self.sql("select delivery, attempt, kind, now from record order by attempt"))

    def test_a_module_brings_a_hook_whose_notes_stand_on_the_failure_line(self):
        self.owed("fire", "shop.Crash", '"fail"', code=0)
        done = self.owed("relay", "--once", code=0)
        self.assertIn("attempt=1 kind=failed now=failed tenant=acme", done.stderr)
        self.assertIn("attempt=2 kind=failed now=dead tenant=acme", done.stderr)
        self.assertEqual([("failed", 2)], self.sql("select kind, count(*) from record group by kind"))

    def test_threads_finish_what_was_started(self):
        lines = '{"name":"shop.Async","payload":{}}\n' * 60
        self.owed("fire", "--lines", stdin=lines, code=0)
        done = self.owed("relay", "--once", code=0)
        self.assertEqual("succeeded: 60\n", done.stdout, done.stderr)
        self.assertEqual([(1, 60)], self.sql("select max(attempts), count(*) from owed_delivery"))


run()
