#!/usr/bin/python3
"""owed pause, resume and lanes."""
from harness import StoreCase, run


class Lanes(StoreCase):
    def setUp(self):
        super().setUp()
        self.conf('[store]\napp = shop\n'
                  '[receiver "shop.billing"]\nevent = shop.OrderPlaced\ndiscard = yes\n'
                  '[receiver "shop.mail"]\nevent = shop.OrderPlaced\ndiscard = yes\nlane = mail\n')
        self.owed("publish", code=0)

    def count(self, status):
        return self.value("select count(*) from owed_delivery where status = ?", status)

    def test_a_paused_lane_waits_and_a_resumed_one_flows_on(self):
        self.fire("shop.OrderPlaced")
        self.assertEqual("receivers paused: 1\n",
                         self.owed("pause", "mail", "--reason", "provider is down", code=0).stdout)
        self.fire("shop.OrderPlaced")
        self.owed("relay", "--once", "--all-lanes", code=0)
        self.assertEqual((2, 2), (self.count("succeeded"), self.count("pending")))
        lane = [lane for lane in self.json_lines("lanes") if lane["lane"] == "shop/mail"][0]
        self.assertEqual((1, 1, 0, 2, "provider is down"), (
            lane["receivers"], lane["paused_receivers"], lane["waiting"], lane["paused_waiting"], lane["reason"]))
        self.assertIn("@", lane["paused_by"])
        held = self.value("select id from owed_delivery where status = 'pending' order by id")
        self.assertIn("its lane shop/mail is paused", self.owed("explain", str(held), code=0).stdout)
        self.assertEqual("receivers resumed: 1\n", self.owed("resume", "mail", code=0).stdout)
        self.owed("relay", "--once", "--all-lanes", code=0)
        self.assertEqual(4, self.count("succeeded"))
        self.assertEqual([("pause", "mail --reason=provider is down", 1), ("resume", "mail", 1)],
                         [tuple(row) for row in self.sql("select action, what, how_many from owed_audit order by id")])

    def test_a_receiver_can_be_paused_alone(self):
        self.owed("pause", "--receiver", "shop.billing", code=0)
        self.fire("shop.OrderPlaced")
        self.owed("relay", "--once", "--all-lanes", code=0)
        self.assertEqual((1, 1), (self.count("succeeded"), self.count("pending")))
        # A publish does not end it.
        self.owed("publish", code=0)
        self.owed("relay", "--once", "--all-lanes", code=0)
        self.assertEqual(1, self.count("pending"))
        self.owed("resume", "--receiver", "shop.billing", code=0)
        self.owed("relay", "--once", "--all-lanes", code=0)
        self.assertEqual(2, self.count("succeeded"))

    def test_a_pause_that_makes_no_sense_is_refused(self):
        self.refused(64, "pause wants to know which", "pause")
        self.refused(64, "resume wants to know which", "resume", "mail", "--receiver", "shop.mail")
        self.refused(65, "no receiver in lane shop/mial; the nearest is shop/mail", "pause", "mial")
        self.refused(65, "no receiver shop.mial; the nearest is shop.mail", "pause", "--receiver", "shop.mial")
        self.refused(64, "--until names a moment that is over", "pause", "mail", "--until", "2020-01-01T00:00:00Z")


run()
