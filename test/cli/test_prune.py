#!/usr/bin/python3
"""owed prune, and a relay that does the same: what nobody needs any more goes, what is owed stays."""
from harness import StoreCase, run

OLD = 1_000_000


class Prune(StoreCase):
    def setUp(self):
        super().setUp()
        self.receivers("shop.billing")
        self.ids = [self.fire("shop.OrderPlaced") for _ in range(4)]
        self.age(*self.ids)
        self.settle("succeeded", *self.ids[:3])

    def age(self, *ids, at=OLD):
        for event in ids:
            self.sql(f"update owed_event set recorded_at = moment({at}) where id = ?", event)

    def settle(self, status, *ids):
        for event in ids:
            self.sql("update owed_delivery set status = ? where event_id = ?", status, event)

    def left(self):
        return [row[0] for row in self.sql("select id from owed_event order by id")]

    def test_what_is_old_goes_and_what_is_owed_stays(self):
        self.assertEqual("deleted: 3\n", self.owed("prune", code=0).stdout)
        self.assertEqual(self.ids[3:], self.left())
        self.assertEqual(1, self.value("select count(*) from owed_delivery"))
        self.assertEqual("deleted: 0\n", self.owed("prune", code=0).stdout)

    def test_a_prune_that_is_dry_counts_and_changes_nothing(self):
        self.assertEqual("would delete: 3\n", self.owed("prune", "--dry-run", code=0).stdout)
        self.assertEqual(self.ids, self.left())
        self.assertEqual(0, self.value("select count(*) from owed_audit"))

    def test_a_limit_takes_the_oldest(self):
        self.assertEqual("deleted: 0\n", self.owed("prune", "--limit", "0", code=0).stdout)
        self.assertEqual("deleted: 2\n", self.owed("prune", "--limit", "2", "--batch-size", "1", code=0).stdout)
        self.assertEqual(self.ids[2:], self.left())

    def test_the_window_is_the_setting_or_what_is_said(self):
        now = self.value("select max(due_at) from owed_delivery")
        self.age(*self.ids, at=now - 3 * 86_400_000_000)
        self.assertEqual("deleted: 0\n", self.owed("prune", code=0).stdout)
        self.assertEqual("deleted: 0\n", self.owed("prune", "--days", "4", code=0).stdout)
        self.conf("[store]\napp = shop\n[relay]\nretention = 2d\n")
        self.assertEqual("would delete: 3\n", self.owed("prune", "--dry-run", code=0).stdout)
        self.assertEqual("would delete: 0\n", self.owed("prune", "--dry-run", "--days", "4", code=0).stdout)
        self.assertEqual("deleted: 3\n", self.owed("prune", "--days", "2", code=0).stdout)

    def test_a_prune_of_a_person_is_noted(self):
        self.owed("prune", "--days", "5", code=0)
        who, action, what, how_many, ended = self.sql(
            "select who, action, what, how_many, ended_at from owed_audit")[0]
        self.assertEqual(("prune", "--days=5", 3), (action, what, how_many))
        self.assertIn("@", who)
        self.assertTrue(ended > 0)

    def test_numbers_that_make_no_sense_are_refused(self):
        self.refused(64, "--batch-size", "prune", "--batch-size", "0")
        self.refused(64, "--days", "prune", "--days", "-1")
        self.refused(64, "prune takes no", "prune", "7")

    def test_a_relay_deletes_old_events_by_itself(self):
        log = self.owed("relay", "--once", code=0).stderr
        self.assertIn("old events were deleted", log)
        self.assertFalse(set(self.ids[:3]) & set(self.left()))

    def test_a_relay_that_shall_not_prune_does_not(self):
        self.owed("relay", "--once", "--prune", "0", code=0)
        self.assertEqual(self.ids, self.left())
        now = self.value("select max(due_at) from owed_delivery")
        self.age(*self.ids, at=now - 100 * 86_400_000_000)
        self.owed("relay", "--once", "--retention", "200d", code=0)
        self.assertEqual(self.ids, self.left())


run()
