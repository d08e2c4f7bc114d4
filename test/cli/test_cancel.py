#!/usr/bin/python3
"""owed cancel and owed replay: what is owed is withdrawn, and events are owed once more."""
from harness import StoreCase, run


class Withdrawn(StoreCase):
    def setUp(self):
        super().setUp()
        self.receivers("shop.billing", "shop.label")
        self.events = [self.fire("shop.OrderPlaced") for _ in range(3)]
        self.d = [row[0] for row in self.sql("select id from owed_delivery order by id")]

    def status(self, place):
        return self.value("select status from owed_delivery where id = ?", self.d[place])

    def count(self, status):
        return self.value("select count(*) from owed_delivery where status = ?", status)

    def end(self, status):
        self.sql("update owed_delivery set status = ?, attempts = 3, last_error = 'boom'", status)

    def test_what_is_named_is_withdrawn_and_said_to_be(self):
        self.assertEqual("cancelled: 2\n", self.owed("cancel", str(self.d[0]), str(self.d[3]), code=0).stdout)
        self.assertEqual(("cancelled", "pending", "cancelled"), (self.status(0), self.status(1), self.status(3)))
        self.assertIn("it was withdrawn at", self.owed("explain", str(self.d[0]), code=0).stdout)
        self.owed("relay", "--once", code=0)
        self.assertEqual((2, 4), (self.count("cancelled"), self.count("succeeded")))

    def test_one_that_runs_is_counted_apart(self):
        self.sql("update owed_delivery set status = 'claimed', lease_expires_at = moment(4102444800000000)"
                 " where id = ?", self.d[0])
        self.assertEqual("cancelled: 3, of which were running: 1\n",
                         self.owed("cancel", "--receiver", self.value(
                             "select receiver_key from owed_delivery where id = ?", self.d[0]), code=0).stdout)

    def test_a_cancel_that_is_dry_changes_nothing(self):
        self.assertEqual("would cancel: 6\n", self.owed("cancel", "--all", "--dry-run", code=0).stdout)
        self.assertEqual(0, self.count("cancelled"))
        self.assertEqual(0, self.value("select count(*) from owed_audit"))

    def test_what_is_cancelled_already_is_named(self):
        self.assertEqual("", self.owed("cancel", str(self.d[0]), code=0).stderr)
        again = self.owed("cancel", str(self.d[0]), code=0)
        self.assertEqual("cancelled: 0\n", again.stdout)
        self.assertIn(f"delivery {self.d[0]} is left alone: it is cancelled, and only what is owed is withdrawn", again.stderr)

    def test_a_cancel_wants_to_know_which_and_is_noted(self):
        self.refused(64, "cancel wants to know which", "cancel")
        self.refused(64, "--all goes with neither", "cancel", "--all", "1")
        self.owed("cancel", "--all", "--limit", "4", code=0)
        self.assertEqual([("cancel", "--all --limit=4", 4)],
                         [tuple(row) for row in self.sql("select action, what, how_many from owed_audit")])

    def test_an_event_is_replayed_and_delivered_again(self):
        self.end("succeeded")
        done = self.owed("replay", str(self.events[0]), "--receiver", "shop.label", code=0)
        self.assertEqual("reopened: 1, added: 0, still owed: 0, skipped: 0\n", done.stdout)
        self.assertEqual(1, self.count("pending"))
        self.owed("relay", "--once", code=0)
        self.assertEqual(6, self.count("succeeded"))

    def test_what_is_owed_is_left_and_what_is_new_is_added(self):
        self.receivers("shop.billing", "shop.label", "shop.late")
        self.owed("publish", code=0)
        done = self.owed("replay", "--event", "shop.OrderPlaced", "--rate", "100000", code=0)
        self.assertEqual("reopened: 0, added: 3, still owed: 6, skipped: 0\n", done.stdout)

    def test_events_that_are_left_alone_are_named(self):
        self.end("dead")
        done = self.owed("replay", "999", str(self.events[1]), "--receiver", "shop.bilin", code=0)
        self.assertEqual("reopened: 0, added: 0, still owed: 0, skipped: 2\n", done.stdout)
        self.assertIn("event 999 is left alone: there is none of that id", done.stderr)
        self.assertIn(f"event {self.events[1]}, shop.OrderPlaced is left alone: no receiver", done.stderr)
        self.assertIn("no receiver shop.bilin; the nearest is shop.billing", done.stderr)

    def test_a_replay_is_narrowed_by_time_and_counted_first(self):
        self.end("cancelled")
        done = self.owed("replay", "--event", "shop.OrderPlaced", "--until", "2020-01-01T00:00:00Z", code=0)
        self.assertEqual("reopened: 0, added: 0, still owed: 0, skipped: 0\n", done.stdout)
        done = self.owed("replay", "--event", "shop.OrderPlaced", "--since", "2020-01-01T00:00:00Z", "--dry-run", code=0)
        self.assertEqual("would be reopened: 6, added: 0, still owed: 0, skipped: 0\n", done.stdout)
        self.assertEqual(6, self.count("cancelled"))
        self.owed("replay", "--event", "shop.OrderPlaced", "--limit", "2", code=0)
        self.assertEqual(4, self.count("pending"))
        self.assertEqual(4, self.value("select max(how_many) from owed_audit where action = 'replay'"))

    def test_a_replay_wants_to_know_which(self):
        self.refused(64, "replay wants to know which", "replay")
        self.refused(64, "replay wants to know which", "replay", "1", "--event", "shop.OrderPlaced")
        self.refused(64, "--since and --until go with --event", "replay", "1", "--since", "2020-01-01T00:00:00Z")

    def test_what_is_replayed_aside_is_served_by_a_relay_of_its_own(self):
        self.end("succeeded")
        done = self.owed("replay", "--event", "shop.OrderPlaced", "--lane", "+catchup", "--rate", "100000", code=0)
        self.assertEqual("reopened: 6, added: 0, still owed: 0, skipped: 0\n", done.stdout)
        waiting = {lane["lane"]: lane["waiting"] for lane in self.json_lines("lanes")}
        self.assertEqual({"shop/default": 0, "shop/+catchup": 6}, waiting)
        self.owed("relay", "--once", code=0)
        self.assertEqual(6, self.count("pending"))
        said = self.owed("explain", str(self.d[0]), code=0).stdout
        self.assertIn("serves lane shop/+catchup", said)
        self.assertIn("`owed relay --lane +catchup` does", said)
        self.owed("pause", "--receiver", "shop.label", code=0)
        self.owed("relay", "--once", "--lane", "+catchup", code=0)
        self.assertEqual((3, 3), (self.count("succeeded"), self.count("pending")))
        held = self.value("select min(id) from owed_delivery where status = 'pending'")
        self.assertIn("its receiver shop.label is paused", self.owed("explain", str(held), code=0).stdout)
        self.owed("resume", "--receiver", "shop.label", code=0)
        self.owed("relay", "--once", "--all-lanes", code=0)
        self.assertEqual(6, self.count("succeeded"))
        self.assertEqual(["shop/default"], [lane["lane"] for lane in self.json_lines("lanes")])

    def test_a_side_lane_is_one_that_nobody_declares(self):
        right = "such as \"+catchup\""
        for word in ("catchup", "+", "shop/+catchup", "+Catchup", "+a/b", "+" + 64 * "x"):
            self.refused(64, right, "replay", "1", "--lane", word)
        self.refused(64, "small letters", "relay", "--once", "--lane", "+Catchup")
        self.refused(64, "begins with \"+\"", "relay", "--once", "--lane", "catchup")
        self.refused(65, "shop/+catchup is a side lane of a replay: stop the relay", "pause", "+catchup")
        self.receivers("shop.billing", extra="lane = +catchup")
        self.refused(78, "lane \"+catchup\"", "publish")

    def test_dead_ones_are_found_by_their_error(self):
        self.end("dead")
        self.sql("update owed_delivery set last_error = 'it timed out' where id = ?", self.d[2])
        self.assertEqual("would requeue: 1\n", self.owed("requeue", "--error", "timed out", "--dry-run", code=0).stdout)
        self.assertEqual("requeued: 1\n", self.owed("requeue", "--error", "timed", code=0).stdout)
        self.assertEqual("pending", self.status(2))
        self.assertEqual("requeued: 0\n", self.owed("requeue", "--since", "2130-01-01T00:00:00Z", code=0).stdout)


run()
