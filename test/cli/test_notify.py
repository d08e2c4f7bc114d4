#!/usr/bin/python3
"""What owed.conf says of notifications is mailed by a relay, in each one's language, with no C at all."""
import datetime
import http.server
import json
import threading

from harness import run
from mailing import MailCase


class Gateway(http.server.BaseHTTPRequestHandler):
    """Takes text messages; numbers that end in 9 are in use no longer, and in 8 there is too much."""
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.got.append((self.headers["authorization"], body))
        is_gone = body["to"].endswith("9")
        is_busy = body["to"].endswith("8")
        said = json.dumps({"error": "unknown"} if is_gone else {"message": {"id": "SM7"}}).encode()
        self.send_response(400 if is_gone else 429 if is_busy else 202)
        self.send_header("retry-after", "3600")
        self.send_header("content-length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *_):
        pass


class Notify(MailCase):
    def test_a_receipt_is_mailed_in_the_language_of_the_customer(self):
        self.shop()
        self.order(7, email="ada@example.com", locale="de-AT", name="Ada")
        self.order(8, email="bob@example.com")
        self.relay()
        self.assertEqual(["succeeded", "succeeded"], [row[0] for row in self.row()])
        mails = {to: (mail["Subject"], mail.get_body().get_content().strip()) for [to], mail in self.postman.mails}
        self.assertEqual({"ada@example.com": ("Bestellung 7", "Danke für 7."),
                          "bob@example.com": ("Order 8", "Thank you for 8.")}, mails)

    def test_an_address_that_is_gone_and_a_payload_without_one_are_dead_at_once(self):
        self.shop()
        self.order(1, email="gone@example.com")
        self.fire("shop.OrderPlaced", json.dumps({"order_id": 2}))
        self.relay()
        rows = self.row()
        self.assertEqual(["dead", "dead"], [row[0] for row in rows])
        self.assertIn("550", rows[0][2])
        self.assertIn("/customer", rows[1][2])
        self.assertEqual([], self.postman.mails)

    def test_a_notification_names_its_channel_which_rests_alone_and_keeps_its_receipt(self):
        self.shop()
        self.order(1, email="ada@example.com")
        self.order(2, phone="+49151000001")
        self.order(3, email="gone@example.com")
        self.relay()
        rows = self.sql("select target, status, result from owed_delivery where receiver_key = 'shop.receipt' order by id")
        self.assertEqual([("email", "succeeded"), ("none", "dead"), ("email", "dead")], [tuple(row[:2]) for row in rows])
        receipt = json.loads(rows[0][2])
        self.assertEqual(("ada@example.com", "sent"), (receipt["address"], receipt["attempts"][0]["verdict"]))
        self.assertIn("gone@example.com", self.value("select payload from owed_event where name = 'owed.AddressGone'"))

    def gateway(self):
        """A gateway, and how owed.conf describes it."""
        gateway = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Gateway)
        gateway.got = []
        threading.Thread(target=gateway.serve_forever, daemon=True).start()
        self.addCleanup(gateway.server_close)
        self.addCleanup(gateway.shutdown)
        self.write("key", "s3cret-key\n")
        described = (f'[channel "sms"]\nurl = http://127.0.0.1:{gateway.server_address[1]}/{{user}}/send  # by us\nuser = shop\n'
                     f'auth = bearer\ntoken-file = {self.folder}/key\nbody = {{"to": "{{to}}", "text": "{{text}}", "key": {{id}}}}\n'
                     "reference = /message/id\ncode = /error\ngone = unknown\n")
        return gateway, described

    def test_a_text_message_goes_by_the_gateway_that_is_described(self):
        gateway, described = self.gateway()
        self.shop(described)
        self.order(7, phone="+49151000001", locale="de")
        self.order(8, phone="+49151000009")
        self.relay()
        rows = self.row()
        self.assertEqual(["succeeded", "dead"], [row[0] for row in rows])
        self.assertIn("the gateway said 400: unknown", rows[1][2])
        texts = {body["to"]: (key, body["text"]) for key, body in gateway.got}
        self.assertEqual({"+49151000001": ("Bearer s3cret-key", "Danke für 7."),
                          "+49151000009": ("Bearer s3cret-key", "Thank you for 8.")}, texts)
        self.assertEqual(2, len({body["key"] for _, body in gateway.got}))
        self.shop(described.replace("{text}", "{txt}"))
        self.assertIn("body: {txt} is no place; the nearest is {text}", self.owed("check", code=1).stdout)

    def test_a_channel_whose_provider_asks_for_a_wait_rests_alone(self):
        gateway, described = self.gateway()
        self.shop(described + "[relay]\nin-flight = 1\nbatch-size = 1\n")
        self.order(1, phone="+49151000008")
        self.order(2, phone="+49151000001")
        self.order(3, email="ada@example.com")
        self.owed("relay", "--once", "--all-lanes", "--concurrency", "1", code=0)
        self.assertEqual([("failed", 0), ("pending", 0), ("succeeded", 1)], [tuple(row[:2]) for row in self.row()])
        self.assertEqual((1, 1), (len(gateway.got), len(self.postman.mails)))

    def quiet_now(self):
        now = datetime.datetime.now(datetime.timezone.utc)
        start, end = (now + datetime.timedelta(hours=hours) for hours in (-1, 2))
        self.order(1, email="ada@example.com", quiet_hours=[{"start": f"{start:%H:%M}", "end": f"{end:%H:%M}"}])
        self.relay()
        return self.row()[0][:2], len(self.postman.mails)

    def test_quiet_hours_are_waited_for_and_spend_no_attempt(self):
        self.shop()
        (row, mails) = self.quiet_now()
        self.assertEqual((["pending", 0], 0), (list(row), mails))

    def test_quiet_hours_may_be_refused(self):
        self.shop("quiet = refuse\n")
        (row, mails) = self.quiet_now()
        self.assertEqual(("dead", 0), (row[0], mails))

    def test_what_is_urgent_is_sent_whatever_the_hour(self):
        self.shop("urgent = yes\n")
        (row, mails) = self.quiet_now()
        self.assertEqual(("succeeded", 1), (row[0], mails))

    def test_check_says_which_template_there_is_not(self):
        self.shop()
        self.assertEqual("ok\n", self.owed("check", code=0).stdout)
        (self.folder / "owed.conf").write_text((self.folder / "owed.conf").read_text().replace("notify = receipt", "notify = reciept"))
        self.assertIn("receipt", self.owed("check", code=1).stdout)
        self.refused(78, "receipt", "relay", "--once")


run()
