#!/usr/bin/python3
"""Mails reach a real server whole, and what it says against one is taken as it was meant."""
import email
import email.policy
import logging
import pathlib
import socket
import ssl
import tempfile
import threading
import unittest

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult
from arriving import FAILED, GONE, REFUSED, SENT, WAIT, ask, certificate

SAYS = {"full": "452 4.2.2 the mailbox is full", "grey": "450 4.2.0 come again", "busy": "421 4.3.2 too many",
        "odd": "432 4.7.12 odd", "gone": "550 5.1.1 no such user", "spam": "550 5.7.1 not wanted", "bare": "554 no"}


class Postman:
    """Takes mails, or says what the local part of the address asks for."""
    def __init__(self):
        self.mails, self.peers, self.options = [], set(), []

    async def handle_RCPT(self, server, session, envelope, address, options):
        said = SAYS.get(address.split("@")[0])
        if said:
            return said
        envelope.rcpt_tos.append(address)
        return "250 ok"

    async def handle_DATA(self, server, session, envelope):
        self.peers.add(session.peer)
        self.options.append(envelope.mail_options)
        self.mails.append((envelope.rcpt_tos, email.message_from_bytes(envelope.original_content, policy=email.policy.default)))
        return "250 queued"


def served_by(folder):
    certificate(folder)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(f"{folder}/cert", f"{folder}/key")
    return context


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Mail(unittest.TestCase):
    def serve(self, **options):
        postman, port = Postman(), free_port()
        controller = Controller(postman, hostname="127.0.0.1", port=port, **options)
        controller.start()
        self.addCleanup(controller.stop)
        self.url = f"smtp://localhost:{port}"
        return postman

    def send(self, *mails, **settings):
        words = {"url": self.url, "from": "Shop <orders@shop.example>", "tls": "none", "timeout": "5s",
                 **{key.replace("_", "-"): value for key, value in settings.items()}}
        return ask(words, [{"address": "ada@example.com", "subject": "s", "text": "t", **mail} for mail in mails])

    def test_a_mail_arrives_with_all_its_parts(self):
        postman = self.serve(enable_SMTPUTF8=True)
        said = self.send({"subject": "Größe 📦", "text": "Grüße\n.\nzwei", "html": "<p>Grüße</p>", "file": "Rechnung №7.bin",
                          "unsubscribe": "https://shop.example/u?id=7"})
        self.assertEqual([(SENT, "0123456789abcdef0123456789abcdef@shop.example")], [(one["verdict"], one["reference"]) for one in said])
        to, mail = postman.mails[0]
        self.assertEqual(["ada@example.com"], to)
        self.assertEqual(("Größe 📦", "Shop <orders@shop.example>", "ada@example.com"), (mail["Subject"], mail["From"], mail["To"]))
        self.assertEqual(f"<{said[0]['reference']}>", mail["Message-ID"])
        self.assertEqual("auto-generated", mail["Auto-Submitted"])
        self.assertIsNotNone(mail["Date"].datetime)
        self.assertEqual(("<https://shop.example/u?id=7>", "List-Unsubscribe=One-Click"),
                         (mail["List-Unsubscribe"], mail["List-Unsubscribe-Post"]))
        self.assertEqual("Grüße\n.\nzwei", mail.get_body(("plain",)).get_content().replace("\r\n", "\n").rstrip("\n"))
        self.assertEqual("<p>Grüße</p>", mail.get_body(("html",)).get_content().strip())
        file, = mail.iter_attachments()
        self.assertEqual(("Rechnung №7.bin", bytes(range(256))), (file.get_filename(), file.get_content()))
        self.assertEqual([], mail.defects)

    def test_without_files_a_text_and_its_html_are_the_mail(self):
        postman = self.serve()
        self.send({"text": "Hello", "html": "<p>Hello</p>"})
        _, mail = postman.mails[0]
        self.assertEqual(["multipart/alternative", "text/plain", "text/html"], [part.get_content_type() for part in mail.walk()])
        self.assertEqual(["Hello", "<p>Hello</p>"], [part.get_content().strip() for part in mail.iter_parts()])
        self.assertEqual([], mail.defects)

    def test_a_text_alone_is_the_mail_whatever_it_is_made_of(self):
        postman = self.serve()
        texts = ["Hello", "", " ", "a = b\t\n. dots\n..\nFrom here \n\n\nend ", "\n\nstarts late", "Grüße, " * 60, "x" * 3000, "ж" * 3000,
                 "📦 " * 500, "soft " * 14 + "=\n" + "y" * 75 + "\n" + "z" * 76 + "\n" + "ü" * 25 + " \nend"]
        self.send(*({"text": text} for text in texts))
        self.assertEqual(["text/plain"] * len(texts), [mail.get_content_type() for _, mail in postman.mails])
        for text, (_, mail) in zip(texts, postman.mails):
            self.assertEqual([], mail.defects)
            self.assertEqual(text.rstrip("\n"), mail.get_content().replace("\r\n", "\n").rstrip("\n"))
            raw = mail.as_bytes(policy=email.policy.SMTP.clone(max_line_length=None))
            self.assertLessEqual(max(len(line) for line in raw.split(b"\r\n")), 78)
            body = raw.split(b"\r\n\r\n", 1)[1]
            self.assertTrue(body.isascii())
            self.assertNotRegex(body, rb"[ \t]\r\n", "what stands at a line's end is lost on the way")

    def test_no_line_is_too_long_whatever_the_text(self):
        postman = self.serve()
        text = "x" * 10000 + "\n" + "ж" * 5000
        self.send({"text": text, "subject": "ж" * 500})
        _, mail = postman.mails[0]
        self.assertEqual(text, mail.get_body(("plain",)).get_content().rstrip("\r\n").replace("\r\n", "\n"))
        self.assertEqual("ж" * 500, mail["Subject"])
        self.assertLessEqual(max(len(line) for line in mail.as_bytes(policy=email.policy.SMTP.clone(max_line_length=None)).split(b"\r\n")), 998)

    def test_an_address_of_other_letters_is_sent_as_its_server_can_read_it(self):
        postman = self.serve(enable_SMTPUTF8=True)
        said = self.send({"address": "ada@bücher.example"}, {"address": "ädä@bücher.example"})
        self.assertEqual([SENT, SENT], [one["verdict"] for one in said], said)
        self.assertEqual([["ada@xn--bcher-kva.example"], ["ädä@xn--bcher-kva.example"]], [to for to, _ in postman.mails])
        self.assertIn("SMTPUTF8", postman.options[1])

    def test_what_the_server_says_is_what_it_comes_to(self):
        self.serve()
        said = self.send(*({"address": f"{word}@example.com"} for word in SAYS), {})
        self.assertEqual([WAIT, WAIT, WAIT, FAILED, GONE, REFUSED, REFUSED, SENT], [one["verdict"] for one in said], said)
        self.assertEqual("the mail server said: 550 5.1.1 no such user", said[4]["reason"])

    def test_a_server_that_does_not_want_us_has_refused_no_mail(self):
        for greets, says in (("554 5.7.1 not from your network", None), ("220 mail", "550 5.7.1 not by that name"), ("421 4.3.2 busy", None)):
            listener = socket.create_server(("127.0.0.1", 0))
            self.addCleanup(listener.close)
            self.url = f"smtp://127.0.0.1:{listener.getsockname()[1]}"

            def answer():
                with listener.accept()[0] as peer:
                    peer.sendall(greets.encode() + b"\r\n")
                    while says and peer.recv(1000):
                        peer.sendall(says.encode() + b"\r\n")
            server = threading.Thread(target=answer)
            server.start()
            said, = self.send({})
            server.join()
            self.assertEqual((WAIT if greets[0] == "4" else FAILED, f"the mail server said: {says or greets}"), (said["verdict"], said["reason"]))

    def test_no_address_says_more_than_an_address(self):
        postman = self.serve()
        said = self.send({"address": "a@example.com> NOTIFY=NEVER"}, {"address": "a@example.com, b@example.com"})
        self.assertEqual([REFUSED, REFUSED], [one["verdict"] for one in said])
        self.assertEqual([], postman.mails)

    def test_one_connection_takes_many_mails(self):
        postman = self.serve()
        self.send(*[{}] * 5)
        self.assertEqual((5, 1), (len(postman.mails), len(postman.peers)))

    def test_nobody_at_the_port_is_a_failure(self):
        self.url = f"smtp://127.0.0.1:{free_port()}"
        said, = self.send({})
        self.assertEqual(FAILED, said["verdict"])
        self.assertIn("could not be asked", said["reason"])

    def test_one_that_hangs_is_given_up(self):
        with socket.create_server(("127.0.0.1", 0)) as deaf:
            self.url = f"smtp://127.0.0.1:{deaf.getsockname()[1]}"
            said, = self.send({}, timeout="1s")
        self.assertEqual(FAILED, said["verdict"])

    def test_one_that_hangs_up_before_it_has_said_yes_has_not(self):
        def hang_up(server):
            peer, _ = server.accept()
            with peer, peer.makefile("rw", newline="\r\n") as lines:
                for answer in ("220 hi", "250 hi", "250 ok", "250 ok", "354 go on"):
                    lines.write(answer + "\r\n")
                    lines.flush()
                    lines.readline()
        with socket.create_server(("127.0.0.1", 0)) as server:
            threading.Thread(target=hang_up, args=(server,), daemon=True).start()
            self.url = f"smtp://127.0.0.1:{server.getsockname()[1]}"
            said, = self.send({})
        self.assertEqual(FAILED, said["verdict"], said)

    def test_tls_and_a_password(self):
        with tempfile.TemporaryDirectory() as folder:
            context, seen = served_by(folder), []

            def log_in(server, session, envelope, mechanism, data):
                seen.append((data.login, data.password))
                return AuthResult(success=data.password == b"right")
            postman = self.serve(tls_context=context, require_starttls=True, auth_required=True, authenticator=log_in)
            for name in ("right", "wrong"):
                pathlib.Path(folder, name).write_text(name + "\n")
            words = {"tls": "required", "user": "shop", "ca_file": f"{folder}/cert"}
            self.assertEqual(SENT, self.send({}, **words, password_file=f"{folder}/right")[0]["verdict"])
            refused, = self.send({}, **words, password_file=f"{folder}/wrong")
            self.assertEqual(FAILED, refused["verdict"])
            self.assertNotIn("wrong", refused["reason"])
            stranger, = self.send({}, tls="required")
            self.assertEqual(FAILED, stranger["verdict"], "whose certificate nobody vouches for")
            self.assertEqual((1, (b"shop", b"right")), (len(postman.mails), seen[0]))

    def test_without_tls_nothing_is_sent_where_it_is_required(self):
        postman = self.serve()
        self.assertEqual(FAILED, self.send({}, tls="required")[0]["verdict"])
        self.assertEqual([], postman.mails)


logging.disable(logging.CRITICAL)
unittest.main(verbosity=2)
