"""The demo's second act: receipts are mailed from the event's payload alone, by a real SMTP server on loopback.

Six events are fired in plain SQL. Four customers get their mails at once, each in his language; one is asleep, and gets
his when his quiet hours are over; one address is dead, and so is its delivery.
"""
import datetime
import email
import email.policy
import json
import mailbox
import os
import pathlib
import subprocess
import sys
import textwrap
import zoneinfo

try:
    from aiosmtpd.controller import Controller
    from aiosmtpd.handlers import Mailbox
except ImportError:
    sys.exit("demo: needs the mail server python3-aiosmtpd, by Debian's name, for /usr/bin/python3")

HERE = pathlib.Path(__file__).resolve().parent
CONF = """
[templates]
folder = {here}/mails

[channel "email"]
url = smtp://127.0.0.1:{port}
tls = none
from = Shop <orders@shop.example>

[receiver "shop.receipt"]
event = shop.OrderPaid
notify = order_confirmed
recipient = /customer
lane = mail
"""
ASLEEP = {"email": "sato@shop.example", "locale": "en", "time_zone": "Asia/Tokyo"}
NOBODY = {"email": "nobody@shop.example", "locale": "de"}
CUSTOMERS = {
    "Ada": {"email": "ada@shop.example", "locale": "en"},
    "Emmy": {"email": "emmy@shop.example", "locale": "de"},
    "Grace": {"email": "grace@shop.example", "locale": "fr"},  # there is no French: the default is sent
    "Konrad": {"email": "konrad@shop.example", "locale": "de-AT"},
    "Sato": ASLEEP,
    "Nobody": NOBODY,
}
IN_GERMAN = 2
HOURS_LEFT = 2  # of the sleeper's quiet hours
STATUSES = "select status from owed_delivery where receiver_key = 'shop.receipt' order by id"


class Postman(Mailbox):
    """Keeps what it takes in a folder, and knows who is nobody."""

    async def handle_RCPT(self, server, session, envelope, address, options):
        if address == NOBODY["email"]:
            return "550 5.1.1 no such user here"
        envelope.rcpt_tos.append(address)
        return "250 ok"


class Loopback(Controller):
    """On a port that the system chose."""

    def __init__(self, folder):
        super().__init__(Postman(folder), hostname="127.0.0.1", port=0, ready_timeout=60)

    def _trigger_server(self):
        self.port = self.server.sockets[0].getsockname()[1]
        super()._trigger_server()


class Act:
    """What the second act does with the shop's store."""

    def __init__(self, owed, conf, db):
        self.owed, self.conf, self.db = owed, conf, db

    def say(self, *words, clock=()):
        """What a command prints; with a clock, as if it were that late."""
        env = dict(os.environ, FAKETIME_DONT_FAKE_MONOTONIC="1", FAKETIME_DISABLE_SHM="1")
        done = subprocess.run([*clock, str(self.owed), *words, "--config", str(self.conf)], env=env, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        if done.returncode != 0:
            sys.exit(f"demo: owed {' '.join(words)}: exit {done.returncode}:\n{done.stderr[-2000:]}")
        return done.stdout.strip()

    def fire(self):
        """The sleeper's window began an hour ago, by the clock on his wall."""
        wall = datetime.datetime.now(zoneinfo.ZoneInfo(ASLEEP["time_zone"]))
        start, end = (wall + datetime.timedelta(hours=hours) for hours in (-1, HOURS_LEFT))
        window = {"start": f"{start:%H:%M}", "end": f"{end:%H:%M}"}
        with self.db:
            for number, (name, customer) in enumerate(CUSTOMERS.items(), 1):
                if customer is ASLEEP:
                    customer = dict(customer, quiet_hours=[window])
                paid = {"order_id": number, "name": name, "total": "1059.90", "customer": customer}
                self.db.execute("insert into owed_fire (name, payload) values ('shop.OrderPaid', ?)", (json.dumps(paid),))
        return window["end"]

    def relay(self, clock=()):
        """Every receipt that is due is tried once, and what became of each."""
        self.say("relay", "--once", "--lane", "mail", clock=clock)
        return [status for status, in self.db.execute(STATUSES)]

    def explain(self, nth):
        ids = [delivery for delivery, in self.db.execute("select id from owed_delivery where receiver_key = 'shop.receipt' order by id")]
        return self.say("explain", str(ids[nth]))


def letters(folder):
    """The mailbox, as (from, to, subject, first line)."""
    found = []
    for letter in mailbox.Maildir(folder, lambda file: email.message_from_binary_file(file, policy=email.policy.default)):
        first = letter.get_body().get_content().splitlines()[0]
        found.append((letter["From"], letter["To"], letter["Subject"], first))
    return sorted(found, key=lambda letter: letter[1])


def differences(before, after, mails):
    """What should have come of it, against what did."""
    to = [mail[1] for mail in mails]
    facts = [
        ("receipts before the quiet hours are over", before, ["succeeded"] * 4 + ["pending", "dead"]),
        ("receipts afterwards", after, ["succeeded"] * 5 + ["dead"]),
        ("whom a mail has reached", to, sorted(one["email"] for one in CUSTOMERS.values() if one is not NOBODY)),
        ("mails in German", sum(mail[3].startswith("Guten Tag") for mail in mails), IN_GERMAN),
    ]
    return [f"{what}: {got}, not {wanted}" for what, got, wanted in facts if got != wanted]


def deliver(act, mails):
    """The act; what is wrong with it, and its last line."""
    until = act.fire()
    before = act.relay()
    print(f"{len(before)} receipts are owed, and {before.count('succeeded')} are mailed by SMTP at once. In Tokyo one customer sleeps until "
          f"{until};\none address is dead. `owed explain` says:\n")
    print(textwrap.indent(act.explain(4) + "\n" + act.explain(5), "  "))
    after = act.relay(clock=("faketime", "-f", f"+{HOURS_LEFT}h"))
    print(f"\n{HOURS_LEFT} hours later (by faketime) the quiet hours are over, and this is the mailbox:\n")
    found = letters(mails)
    for letter in [("From", "To", "Subject", "First line"), *found]:
        print("{:<27} {:<20} {:<39} {}".format(*letter))
    print()
    dead = after.count("dead")
    line = (f"receipts: {len(after)} owed, {len(found)} mailed in two languages, one of them once its quiet hours were over, "
            f"{dead} dead (550), {len(after) - len(found) - dead} lost")
    return line, differences(before, after, found)


def play(owed, conf, db, mails):
    """The act with its own mail server; its last line, and what is wrong with it."""
    postman = Loopback(mails)
    postman.start()
    try:
        with open(conf, "a") as more:
            more.write(CONF.format(here=HERE, port=postman.port))
        act = Act(owed, conf, db)
        act.say("publish")
        return deliver(act, mails)
    finally:
        postman.stop()
