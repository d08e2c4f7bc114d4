#!/usr/bin/python3
"""owed requeue: what is dead is owed again, and nothing else."""
import os
import pty
import subprocess

from harness import OWED, StoreCase, run


class Requeue(StoreCase):
    def setUp(self):
        super().setUp()
        self.receivers("shop.billing", "shop.label")
        for _ in range(3):
            self.fire("shop.OrderPlaced")
        self.sql("update owed_delivery set status = 'dead', attempts = 5, last_error = 'boom', available_at = moment(1), due_at = moment(1)")

        # Ids grow, but not by one: d[1] to d[6] are those of the six deliveries.
        self.d = [0] + [row[0] for row in self.sql("select id from owed_delivery order by id")]

    def names(self, *places):
        return [str(self.d[place]) for place in places]

    def states(self):
        return dict(self.sql("select id, status from owed_delivery"))

    def pending(self):
        return {key for key, status in self.states().items() if status == "pending"}

    def test_a_requeued_delivery_is_as_new(self):
        self.assertEqual("requeued: 1\n", self.owed("requeue", *self.names(2), code=0).stdout)
        self.assertEqual({self.d[2]}, self.pending())
        attempts, error, available, due = self.sql(
            "select attempts, last_error, available_at, due_at from owed_delivery where id = ?", self.d[2])[0]
        self.assertEqual((0, ""), (attempts, error))
        self.assertTrue(available == due > 1_000_000_000_000_000)

    def test_a_receiver_that_is_misspelt_is_warned_of(self):
        done = self.owed("requeue", "--receiver", "shop.biling", code=0)
        self.assertEqual("requeued: 0\n", done.stdout)
        self.assertIn("no receiver shop.biling; the nearest is shop.billing", done.stderr)
        self.sql("update owed_delivery set status = 'succeeded'")
        self.assertEqual("", self.owed("requeue", "--receiver", "shop.label", code=0).stderr)

    def test_ids_that_are_left_alone_are_named(self):
        self.sql("update owed_delivery set status = 'succeeded' where id = ?", self.d[1])
        done = self.owed("requeue", *self.names(1, 2), "999999", code=0)
        self.assertEqual("requeued: 1\n", done.stdout)
        self.assertIn(f"delivery {self.d[1]} is left alone: it is succeeded, and only what is dead is requeued", done.stderr)
        self.assertIn("delivery 999999 is left alone: there is none of that id", done.stderr)
        self.assertNotIn(f"delivery {self.d[2]} ", done.stderr)

    def test_ids_and_receiver_narrow_each_other(self):
        mine = {row[0] for row in self.sql("select id from owed_delivery where receiver_key = 'shop.label'")}
        self.owed("requeue", *self.names(1, 2), "--receiver", "shop.label", code=0)
        self.assertEqual(mine & set(self.d[1:3]), self.pending())

    def test_a_receiver(self):
        self.assertEqual("requeued: 3\n", self.owed("requeue", "--receiver", "shop.billing", code=0).stdout)

    def test_all_with_a_limit_takes_the_lowest_ids(self):
        self.assertEqual("requeued: 4\n", self.owed("requeue", "--all", "--limit", "4", code=0).stdout)
        self.assertEqual(set(self.d[1:5]), self.pending())
        self.assertEqual("requeued: 0\n", self.owed("requeue", "--all", "--limit", "0", code=0).stdout)

    def test_only_dead_ones_are_touched(self):
        for number, status in enumerate(("pending", "claimed", "succeeded", "failed", "orphaned"), 1):
            self.sql("update owed_delivery set status = ? where id = ?", status, self.d[number])
        before = self.states()
        self.assertEqual("requeued: 1\n", self.owed("requeue", *self.names(1, 2, 3, 4, 5, 6), code=0).stdout)
        self.assertEqual({**before, self.d[6]: "pending"}, self.states())

    def test_orphaned_ones_by_request_where_their_receiver_is_declared(self):
        self.sql("update owed_delivery set status = 'orphaned'")
        self.sql("update owed_delivery set receiver_key = 'shop.gone' where id = ?", self.d[1])
        self.assertEqual("requeued: 0\n", self.owed("requeue", "--all", code=0).stdout)
        self.assertEqual("requeued: 5\n", self.owed("requeue", "--all", "--orphaned", code=0).stdout)
        self.assertEqual("orphaned", self.states()[self.d[1]])

    def test_a_dry_run_counts_and_changes_nothing(self):
        self.assertEqual("would requeue: 6\n", self.owed("requeue", "--all", "--dry-run", code=0).stdout)
        self.assertEqual(set(), self.pending())

    def test_it_wants_to_know_which(self):
        self.refused(64, "--all", "requeue")
        self.refused(64, "--all", "requeue", "--all", "7")
        self.refused(64, "'x'", "requeue", "x")
        self.assertEqual(set(), self.pending())

    def many(self):
        self.owed("fire", "--lines", stdin='{"name":"shop.OrderPlaced"}\n' * 600, code=0)
        self.sql("update owed_delivery set status = 'dead'")

    def on_terminal(self, answer, *words):
        mine, theirs = pty.openpty()
        os.write(mine, answer)
        done = subprocess.run([OWED, "requeue", *words], stdin=theirs, capture_output=True, text=True, cwd=self.folder,
                              env=self.env, timeout=60)
        os.close(theirs)
        os.close(mine)
        return done

    def test_on_a_terminal_it_asks_above_a_thousand(self):
        self.many()
        done = self.on_terminal(b"n\n", "--all")
        self.assertEqual(1, done.returncode)
        self.assertIn("1206", done.stderr)
        self.assertEqual(set(), self.pending())
        done = self.on_terminal(b"y\n", "--all")
        self.assertEqual((0, "requeued: 1206\n"), (done.returncode, done.stdout), done.stderr)

    def test_it_does_not_ask_for_few_nor_when_told_yes(self):
        self.assertEqual("requeued: 6\n", self.on_terminal(b"", "--all").stdout)
        self.many()
        self.assertEqual("requeued: 1206\n", self.on_terminal(b"", "--all", "--yes").stdout)


run()
