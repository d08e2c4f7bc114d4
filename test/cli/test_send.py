#!/usr/bin/python3
"""owed send and owed ticket: one notification, kept in the store or sent at once, and what became of it."""
import json

from harness import run
from mailing import MailCase


class Send(MailCase):
    def setUp(self):
        super().setUp()
        self.shop()
        self.to(email="ada@example.com", locale="de-AT")
        self.write("order.json", '{"order_id": 7}')

    def to(self, **recipient):
        self.write("ada.json", json.dumps(recipient))

    def send(self, *words):
        return self.owed("send", "receipt", "--to", "ada.json", "--context", "order.json", *words, code=0).stdout.strip()

    def ticket(self, ident):
        return json.loads(self.owed("ticket", ident, "--json", code=0).stdout)

    def test_what_is_sent_is_kept_until_a_relay_sends_it_and_found_by_its_id(self):
        ident = self.send()
        self.assertRegex(ident, "^[0-9a-f]{32}$")
        before = self.ticket(ident)
        self.assertEqual(("pending", "pending", 0, None), (before["state"], before["status"], before["attempts"], before["error"]))
        self.assertEqual([], self.postman.mails)
        self.relay()
        after = self.ticket(ident)
        self.assertEqual(("sent", "email", "ada@example.com", 1), tuple(after[key] for key in ("state", "channel", "address", "attempts")))
        self.assertIn(ident, after["reference"])
        self.assertEqual(["Bestellung 7"], [mail["Subject"] for _, mail in self.postman.mails])
        self.assertRegex(self.owed("ticket", ident, code=0).stdout, r"(?m)^sent .*ada@example.com")

    def test_what_failed_says_why(self):
        self.to(email="gone@example.com")
        gone = self.send("--durable")
        self.write("order.json", "{}")
        lacking = json.loads(self.send("--json"))["id"]
        self.relay()
        self.assertEqual(("failed", "dead"), tuple(self.ticket(gone)[key] for key in ("state", "status")))
        self.assertIn("550", self.ticket(gone)["error"])
        self.assertIn("order_id", self.ticket(lacking)["error"])

    def test_what_a_ticket_says_is_shown_to_nobody(self):
        self.write("order.json", '{"order_id": 74839201}')
        ident = self.send()
        event = str(self.ticket(ident)["event_id"])
        self.assertIn("ada@example.com", self.owed("show", event, code=0).stdout)
        self.assertNotIn("74839201", self.owed("show", event, code=0).stdout + self.owed("show", event, "--json", code=0).stdout)

    def test_a_key_is_sent_once(self):
        first, second = self.send("--dedup-key", "order-7"), self.send("--dedup-key", "order-7")
        self.relay()
        self.relay()
        self.assertEqual(1, len(self.postman.mails))
        self.assertEqual("sent", self.ticket(first)["state"])
        self.assertIn(self.ticket(second)["state"], ("sent", "pending"))  # it may wait a second for the first

    def test_now_sends_at_once_and_needs_no_store(self):
        del self.env["OWED_STORE"]
        said = self.send("--now")
        self.assertRegex(said, "^sent by email to ada@example.com, reference [0-9a-f]{32}@shop.example$")
        self.assertEqual(1, len(self.postman.mails))
        self.to(email="gone@example.com")
        self.refused(65, "550", "send", "receipt", "--to", "ada.json", "--context", "order.json", "--now")
        self.to(email="busy@example.com")
        self.refused(75, "451", "send", "receipt", "--to", "ada.json", "--context", "order.json", "--now")

    def test_what_cannot_be_sent_is_refused(self):
        self.refused(64, "a template", "send")
        self.refused(64, "--to FILE", "send", "receipt")
        self.refused(64, "exclude each other", "send", "receipt", "--to", "ada.json", "--now", "--durable")
        self.refused(65, "cannot be read", "send", "receipt", "--to", "bob.json")
        self.refused(65, "fon", "send", "receipt", "--to", "-", stdin='{"fon": "1"}')
        self.refused(65, 'nearest is "receipt"', "send", "receit", "--to", "ada.json", "--now")
        self.refused(64, "one of them may be -", "send", "receipt", "--to", "-", "--context", "-", stdin="{}")
        self.refused(64, "ticket wants the id", "ticket")
        self.assertEqual(65, self.owed("ticket", "00").returncode)

    def test_what_no_relay_could_send_is_refused_before_it_is_kept(self):
        def refuse(sentence, *words, to="ada.json", name="receipt"):
            self.refused(65, sentence, "send", name, "--to", to, "--context", "order.json", *words)

        refuse('nearest is "receipt"', name="receit")
        refuse("no channel is called mail; the nearest is email", "--channel", "mail")
        refuse("1 to 255 bytes", "--dedup-key", "")
        refuse("1 to 255 bytes", "--dedup-key", "k" * 256)
        refuse("no language tag", "--locale", "???")
        refuse("one line", "--subject", "one\ntwo")
        self.write("nobody.json", "{}")
        refuse("has no address", to="nobody.json")
        self.assertEqual(0, self.value("select count(*) from owed_event"))
        self.conf("[store]\napp = shop\n")  # whoever has no channels and templates leaves them to those who have
        self.send("--channel", "pager", "--dedup-key", "k" * 255)
        self.assertEqual(1, self.value("select count(*) from owed_event"))


run()
