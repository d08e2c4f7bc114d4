#!/usr/bin/python3
"""owed explain: one sentence for every reason why a delivery has or has not run."""
import re
import time

from harness import StoreCase, run

FAR = 4_000_000_000_000_000


def without_ages(sentence):
    """Two runs are not at the same moment."""
    return re.sub(r"\w+ (ago|from now)", r"\1", sentence)


class Explain(StoreCase):
    def setUp(self):
        super().setUp()
        self.receivers("shop.billing")
        self.fire("shop.OrderPlaced")
        self.id = self.value("select id from owed_delivery")
        self.lane = self.value("select lane from owed_delivery")
        self.now = time.time_ns() // 1000

    def set(self, **columns):
        names = ", ".join(f"{name} = moment(?)" if name.endswith("_at") else f"{name} = ?" for name in columns)
        self.sql(f"update owed_delivery set {names} where id = ?", *columns.values(), self.id)

    def relay(self, lanes=None, silent_us=0):
        self.sql("delete from owed_relay where id = 'r.1/0'")
        self.sql("insert into owed_relay (id, host, pid, lanes, started_at, heartbeat_at) values "
                 "(?, 'h', 1, ?, moment(1), moment(?))",
                 "r.1/0", lanes or f'["{self.lane}"]', self.now - silent_us)

    def explained(self, reason, *words):
        """The reason, and every one of these words in the sentence."""
        found = self.json("explain", str(self.id))
        self.assertEqual((self.id, reason), (found["id"], found["reason"]), found)
        for word in words:
            self.assertIn(word, found["sentence"])
        said = self.owed("explain", str(self.id), code=0).stdout
        self.assertEqual(without_ages(found["sentence"]) + "\n", without_ages(said))

    def test_one_that_succeeded_says_when_and_on_which_attempt(self):
        self.set(status="succeeded", attempts=3, succeeded_at=self.now - 120_000_000, completed_at=self.now)
        self.explained("succeeded", "on attempt 3", "(2m")

    def test_one_that_is_dead_says_why_and_what_to_do(self):
        self.set(status="dead", attempts=5, max_attempts=5, completed_at=self.now, last_error="503 Service Unavailable")
        self.explained("dead", "after 5 of 5 attempts", ": 503 Service Unavailable", f"`owed requeue {self.id}`")

    def test_one_that_is_orphaned_says_why_and_what_to_do(self):
        self.set(status="orphaned", completed_at=self.now, last_error="nobody declares it")
        self.explained("orphaned", ": nobody declares it", f"`owed requeue --orphaned {self.id}`")

    def test_one_that_was_cancelled_says_when(self):
        self.set(status="cancelled", completed_at=self.now)
        self.explained("cancelled", "withdrawn at")

    def test_one_that_is_held_says_by_whom_and_until_when(self):
        self.set(status="claimed", claimed_by="box-1.ab/0", claimed_at=self.now, lease_expires_at=FAR)
        self.explained("claimed", "box-1.ab/0 holds it since", "until 2096-")

    def test_one_whose_lease_is_over_says_who_was_not_heard_of_again(self):
        self.set(status="claimed", claimed_by="box-1.ab/0", claimed_at=1, lease_expires_at=self.now - 60_000_000)
        self.explained("lapsed", "box-1.ab/0", "ended 1m", "no relay that is alive")
        self.relay()
        self.explained("lapsed", "the next claim of its lane takes it over")

    def test_one_that_was_handed_back_says_so(self):
        self.set(status="claimed", claimed_by="box-1.ab/0", claimed_at=1, lease_expires_at=0)
        self.explained("handed_back", "free for every relay", "box-1.ab/0", "no relay that is alive")

    def test_one_that_was_handed_to_a_task_says_so_and_until_when_it_waits_for_one(self):
        self.set(status="claimed", kind="task", claimed_by="box-1.ab/0/task", claimed_at=self.now, lease_expires_at=FAR)
        self.explained("handed_on", "runs at a task site", "that was box-1.ab/0/task", "handed on again after 2096-")

    def test_one_that_no_task_took_says_so(self):
        self.set(status="claimed", kind="task", claimed_by="box-1.ab/0/task", claimed_at=1,
                 lease_expires_at=self.now - 60_000_000)
        self.explained("lapsed", "handed it to its task site, and no task took it", "ended 1m")

    def test_one_that_a_task_took_says_which_and_until_when(self):
        self.set(status="claimed", kind="task", claimed_by="task.ab/0", claimed_at=self.now, lease_expires_at=FAR)
        self.explained("taken", "the task that was handed its claim took it", "task.ab/0", "until 2096-")

    def test_one_that_could_not_be_handed_on_says_why(self):
        self.set(status="failed", kind="task", attempts=0, available_at=FAR,
                 last_error="it could not be handed to its task site: no task backend is configured here")
        self.explained("waiting", "after 0 of", "no task backend is configured here")

    def put_off(self, until, receiver="shop.billing", verdict="deferred", target=""):
        """Another delivery of the lane, whose latest attempt came to this."""
        self.fire("shop.OrderPlaced")
        other = self.value("select max(id) from owed_delivery")
        self.sql("update owed_delivery set status = 'failed', available_at = moment(?), receiver_key = ?, target = ? "
                 "where id = ?", until, receiver, target, other)
        self.sql("insert into owed_attempt (delivery_id, attempt, started_at, verdict, error) "
                 "values (?, 1, moment(?), ?, 'quota spent')", other, self.now - 7_200_000_000, verdict)
        return other

    def test_one_whose_lane_is_paused_says_for_which_delivery_and_until_when_at_the_latest(self):
        self.relay()
        other = self.put_off(FAR)
        words = (f"its lane {self.lane} is paused: delivery {other} to shop.billing was put off 2h ago",
                 "(quota spent)", "until 2096-")
        self.explained("lane_paused", *words)
        self.set(status="claimed", claimed_by="box-1.ab/0", claimed_at=1, lease_expires_at=0)
        self.explained("lane_paused", *words)  # it was claimed already, and went back

    def test_one_in_a_side_lane_waits_for_what_that_lane_waits_for(self):
        self.set(lane="shop/+catchup")
        self.explained("no_relay", "lane shop/+catchup", "`owed relay --lane +catchup` does")
        self.relay('["shop/+catchup"]')
        self.explained("next", "comes first in its lane")
        self.set(lane="shop/!+catchup")
        self.explained("paused", "its receiver shop.billing is paused")
        self.set(lane="other/+catchup")
        self.explained("misplaced", "it stands in lane other/+catchup")
        self.set(lane="shop/+catchup")
        other = self.put_off(FAR)
        self.sql("update owed_delivery set lane = 'shop/+catchup' where id = ?", other)
        self.explained("lane_paused", "its lane shop/+catchup is paused")

    def test_only_a_deferral_that_waits_still_pauses_a_lane(self):
        self.relay()
        other = self.put_off(FAR, verdict="failed")
        self.explained("next")
        self.sql("update owed_attempt set verdict = 'deferred'")
        self.explained("lane_paused")
        self.sql("update owed_delivery set available_at = moment(?) where id = ?", self.now - 1, other)
        self.id = other
        self.explained("behind")

    def test_a_deferral_of_a_target_pauses_that_target_alone(self):
        self.relay()
        self.put_off(FAR, target="anna")
        self.sql("update owed_receiver set pause = 'target', targets = 'callback'")  # firing has published
        self.explained("next")
        self.set(target="anna")
        self.explained("lane_paused", "its target anna is paused: delivery ")
        self.sql("update owed_receiver set targets = 'none'")
        self.sql("update owed_delivery set target = ''")
        self.explained("lane_paused", "its receiver shop.billing is paused: delivery ")

    def test_one_of_a_paused_receiver_says_until_when_and_why_and_what_resumes_it(self):
        self.owed("pause", "--receiver", "shop.billing", "--until", "+2h", "--reason", "provider is down", code=0)
        self.explained("paused", "its receiver shop.billing is paused since ", ", until ", " (provider is down); ",
                       "`owed resume --receiver shop.billing` lets it go on")

    def test_one_in_a_paused_lane_says_by_whom_and_what_resumes_it(self):
        self.owed("pause", "default", code=0)
        self.explained("paused", f"its lane {self.lane} is paused since ", ", by ", f"; `owed resume {self.lane}` lets it go on")
        self.owed("resume", self.lane, code=0)
        self.explained("no_relay")

    def test_one_whose_receiver_nobody_published_says_so(self):
        self.sql("delete from owed_receiver")
        self.explained("undeclared", "nobody has published its receiver shop.billing")

    def test_one_whose_receiver_was_removed_says_since_when(self):
        self.sql("update owed_receiver set removed_at = moment(?)", self.now - 60_000_000)
        self.explained("removed", "no longer declares its receiver shop.billing", "(1m")

    def test_one_that_is_not_due_says_until_when(self):
        self.set(available_at=FAR)
        self.explained("not_due", "not due until 2096-")

    def test_one_that_failed_says_what_it_waits_for(self):
        self.set(status="failed", available_at=FAR, attempts=2, max_attempts=5, last_error="timed out")
        self.explained("waiting", "after 2 of 5 attempts", "until 2096-", ": timed out")

    def test_one_in_another_lane_than_its_receiver_says_where_it_goes(self):
        self.sql("update owed_receiver set lane = 'shop/mail'")
        self.explained("misplaced", self.lane, "shop/mail")

    def test_one_that_nobody_serves_says_who_would(self):
        self.explained("no_relay", self.lane, "(0 alive in all)", "`owed relay --lane default`")
        self.relay(lanes='["shop/mail"]')
        self.explained("no_relay", "(1 alive in all)")
        self.relay(silent_us=3_600_000_000)
        self.explained("no_relay", "(0 alive in all)")

    def test_one_that_relays_died_with_says_how_many(self):
        self.relay()
        self.set(losses=2)
        self.explained("suspect", "2 relays in a row died")

    def test_one_behind_others_says_how_many(self):
        self.relay(lanes='["*"]')
        self.fire("shop.OrderPlaced")
        self.fire("shop.OrderPlaced")
        self.id = self.value("select max(id) from owed_delivery")
        self.explained("behind", f"2 deliveries of lane {self.lane} came due before it")

    def test_one_that_comes_first_says_so(self):
        self.relay()
        self.explained("next", "the next claim takes it")

    def test_what_is_not_there_or_no_id_is_refused(self):
        self.refused(65, "no delivery 4711", "explain", "4711")
        self.refused(64, "'x' is no id of a delivery", "explain", "x")
        self.refused(64, "explain wants the id of a delivery", "explain")


run()
