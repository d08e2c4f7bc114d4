"""A shop whose notifications go to a postman of the test's."""
import email
import email.policy
import json
import socket

from aiosmtpd.controller import Controller
from harness import StoreCase


class Postman:
    def __init__(self):
        self.mails = []

    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("gone"):
            return "550 5.1.1 no such user"
        if address.startswith("busy"):
            return "451 4.3.2 come back later"
        envelope.rcpt_tos.append(address)
        return "250 ok"

    async def handle_DATA(self, server, session, envelope):
        self.mails.append((envelope.rcpt_tos, email.message_from_bytes(envelope.original_content, policy=email.policy.default)))
        return "250 queued"


HEADER = "subject: {subject} {{order_id}}\nvariables: order_id int64\ndefault: en\n\n{text}\n"


class MailCase(StoreCase):
    def setUp(self):
        super().setUp()
        self.postman = Postman()
        self.server = Controller(self.postman, hostname="127.0.0.1", port=0)
        self.server.port = self.free_port()
        self.server.start()
        self.addCleanup(self.server.stop)
        (self.folder / "mails").mkdir()
        self.write("mails/receipt.en.txt", HEADER.format(subject="Order", text="Thank you for {order_id}."))
        self.write("mails/receipt.de.txt", HEADER.format(subject="Bestellung", text="Danke für {order_id}.").replace("default: en\n", ""))

    @staticmethod
    def free_port():
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            return one.getsockname()[1]

    def shop(self, more=""):
        self.conf(f'[templates]\nfolder = mails\n[channel "email"]\nurl = smtp://127.0.0.1:{self.server.port}\ntls = none\n'
                  'from = Shop <orders@shop.example>\n[receiver "shop.receipt"]\nevent = shop.OrderPlaced\nnotify = receipt\n'
                  f"recipient = /customer\n{more}")

    def order(self, number, **customer):
        self.fire("shop.OrderPlaced", json.dumps({"order_id": number, "customer": customer, "total": 1}))

    def relay(self):
        return self.owed("relay", "--once", "--all-lanes", code=0)

    def row(self):
        return self.sql("select status, attempts, last_error from owed_delivery order by id")
