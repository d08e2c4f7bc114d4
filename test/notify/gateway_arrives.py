#!/usr/bin/python3
"""Text messages and chats reach the service that is described, and what it says against one is taken as it was meant."""
import base64
import http.server
import json
import pathlib
import tempfile
import threading
import unittest
import urllib.parse

from arriving import FAILED, GONE, ID, REFUSED, SENT, WAIT, ask

SECRET = "hunter2/s3cret+%"
TOKEN = "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw"
SMS = {"type": "sms", "user": "AC7", "password-file": "password", "token-file": "token", "from": "+1555000"}
HOSTILE = ["", "a\r\nx: y", "a b", "../x", "..", "a/b", "x?y=1", "a\"b", "\u0000".join("ab")]
TO = "+49151000000"


class Service(http.server.BaseHTTPRequestHandler):
    """Keeps what it gets, and answers what the test has put up: (status, headers, body), the last one for ever."""
    protocol_version = "HTTP/1.1"

    def answer(self):
        self.close_connection = False
        got = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
        self.server.got.append((self.command, self.path, self.headers, got))
        says = self.server.says
        status, headers, body = says.pop(0) if len(says) > 1 else says[0]
        body = (body if isinstance(body, str) else json.dumps(body)).replace("ECHO", self.path + str(self.headers) + got).encode()
        self.send_response(status)
        for name, value in {**headers, "content-length": len(body)}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET = do_PUT = answer

    def log_message(self, *_):
        pass


class Gateway(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        held = tempfile.TemporaryDirectory()
        cls.addClassCleanup(held.cleanup)
        cls.folder = pathlib.Path(held.name)
        cls.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Service)
        cls.server.daemon_threads = True
        cls.base = f"http://127.0.0.1:{cls.server.server_address[1]}"
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()
        cls.addClassCleanup(cls.server.server_close)
        cls.addClassCleanup(cls.server.shutdown)
        for name, text in {"password": SECRET, "token": TOKEN, "hook": f"{cls.base}/hooks/T0/{TOKEN}"}.items():
            (cls.folder / name).write_text(text + "\n")

    def setUp(self):
        self.server.got = []
        self.says((200, {}, {}))

    def says(self, *answers):
        self.server.says = list(answers)

    def send(self, settings, *messages):
        words = {key: self.folder / value if key.endswith("-file") else value for key, value in settings.items()}
        answers = ask(words, [{"address": TO, "text": "t", **message} for message in messages])
        for answer in answers:
            self.assertEqual(answer["verdict"] == SENT, answer["reason"] == "", answer)
        return answers

    def comes_to(self, settings, answers, **message):
        """What each answer of the service comes to."""
        found = []
        for status, headers, body in answers:
            self.says((status, headers, body))
            answer, = self.send(settings, message)
            found.append((answer["verdict"], answer["wait_us"]))
        return found

    # --- text messages ---

    def test_a_described_gateway_gets_what_it_was_said_to_get(self):
        self.says((202, {}, {"data": [{"id": 77}]}))
        words = {"type": "sms", "url": self.base + "/{user}/send?x={to}", "user": "a b", "method": "PUT", "token-file": "token", "from": "Shop",
                 "headers": "x-key: {token}, x-id: {id}", "body": '{"to": {to}, "t": "<{text}>", "n": ["{digits}"]}', "reference": "/data/0/id"}
        answer, = self.send(words, {"text": 'Grüße\n"{to}" \\ 📦'})
        self.assertEqual((SENT, "77"), (answer["verdict"], answer["reference"]))
        (method, path, headers, body), = self.server.got
        self.assertEqual(("PUT", "/a%20b/send?x=%2B49151000000"), (method, path))
        self.assertEqual((TOKEN, ID), (headers["x-key"], headers["x-id"]))
        self.assertEqual("application/json; charset=utf-8", headers["content-type"])
        self.assertEqual({"to": TO, "t": '<Grüße\n"{to}" \\ 📦>', "n": [TO[1:]]}, json.loads(body))

    def test_a_gateway_may_want_a_query(self):
        words = {"type": "sms", "url": self.base + "/send?to={digits}&text={text}", "method": "GET"}
        self.send(words, {"text": "a&b=c d#é+"})
        (method, path, _, body), = self.server.got
        self.assertEqual(("GET", "", {"to": [TO[1:]], "text": ["a&b=c d#é+"]}),
                         (method, body, urllib.parse.parse_qs(path.split("?")[1])))

    def test_each_known_gateway_gets_what_its_manual_says(self):
        basic = "Basic " + base64.b64encode(f"AC7:{SECRET}".encode()).decode()
        text = "a&b=é \"x\""
        form = {"to": TO[1:], "from": "+1555000", "text": text}
        known = {
            "twilio": ("/2010-04-01/Accounts/AC7/Messages.json", basic, {"To": TO, "From": "+1555000", "Body": text}, {"sid": "R"}),
            "vonage": ("/sms/json", None, {"api_key": "AC7", "api_secret": SECRET, "type": "text", "client-ref": ID, **form},
                       {"messages": [{"status": "0", "message-id": "R"}]}),
            "messagebird": ("/messages", f"AccessKey {TOKEN}", {"recipients": [TO[1:]], "originator": "+1555000", "datacoding": "auto",
                                                                "reference": ID, "body": text}, {"id": "R"}),
            "plivo": ("/v1/Account/AC7/Message/", basic, {"src": "+1555000", "dst": TO[1:], "text": text}, {"message_uuid": ["R"]}),
            "telnyx": ("/v2/messages", f"Bearer {TOKEN}", {"from": "+1555000", "to": TO, "text": text}, {"data": {"id": "R"}}),
            "sinch": ("/xms/v1/AC7/batches", f"Bearer {TOKEN}", {"from": "+1555000", "to": [TO], "client_reference": ID, "body": text},
                      {"id": "R"}),
        }
        for name, (path, authorization, wanted, says) in known.items():
            with self.subTest(name):
                self.server.got = []
                self.says((200, {}, says))
                # Where it is, is said otherwise; the rest is the gateway's own.
                answer, = self.send({**SMS, "preset": name, "url": self.base + path.replace("AC7", "{user}")}, {"text": text})
                self.assertEqual((SENT, "R"), (answer["verdict"], answer["reference"]), answer)
                (_, got_path, headers, body), = self.server.got
                self.assertEqual((path, authorization), (got_path, headers["authorization"]))
                is_form = headers["content-type"] == "application/x-www-form-urlencoded"
                self.assertEqual(wanted, dict(urllib.parse.parse_qsl(body)) if is_form else json.loads(body))

    def test_what_a_known_gateway_says_is_what_it_comes_to(self):
        wait = {"retry-after": "7"}
        twilio = {**SMS, "preset": "twilio", "url": self.base}
        self.assertEqual([(GONE, 0), (GONE, 0), (REFUSED, 0), (REFUSED, 0), (WAIT, 7000000), (WAIT, 0), (FAILED, 0), (WAIT, 7000000)],
                         self.comes_to(twilio, [(400, {}, {"code": 21610, "message": "said STOP"}), (400, {}, {"code": 21211}),
                                                (400, {}, {"code": 21602}), (401, {}, {"code": 20003}), (429, wait, {"code": 20429}),
                                                (429, {}, ""), (500, wait, "<html>"), (503, wait, "")]))
        vonage = {**SMS, "preset": "vonage", "url": self.base}
        codes = [(200, {}, {"messages": [{"status": code, "error-text": "no"}]}) for code in ("1", "5", "9", "7", "33", "4", "99")]
        self.assertEqual([(WAIT, 0), (FAILED, 0), (FAILED, 0), (GONE, 0), (GONE, 0), (REFUSED, 0), (REFUSED, 0), (FAILED, 0)],
                         self.comes_to(vonage, codes + [(200, {}, "ok")]))

    def test_codes_mean_what_the_settings_say(self):
        words = {"type": "sms", "url": self.base, "body": '{"t": {text}}', "code": "/c", "reason": "/why", "wait-seconds": "/in", "success": "0, 409",
                 "wait": "9", "gone": "x*, 404", "failed": "4xx"}
        self.assertEqual([(SENT, 0), (WAIT, 1500000), (GONE, 0), (GONE, 0), (FAILED, 0), (REFUSED, 0), (FAILED, 0), (SENT, 0), (REFUSED, 0)],
                         self.comes_to(words, [(200, {}, {"c": 0}), (200, {}, {"c": "9", "in": 1.5}), (200, {}, {"c": "xyz"}), (404, {}, {}),
                                               (400, {}, {"c": 5}), (200, {}, {"c": 5}), (200, {}, {}), (409, {}, {}), (302, {}, {})]))
        self.says((400, {}, {"c": 5, "why": "so\n\x1b"}))
        self.assertEqual("the gateway said 400: 5 so", self.send(words, {})[0]["reason"])

    def test_no_secret_stands_in_a_reason(self):
        for words in ({**SMS, "preset": "twilio", "url": self.base}, {**SMS, "preset": "vonage", "url": self.base},
                      {**SMS, "preset": "telnyx", "url": self.base}, {"type": "telegram", "token-file": "token", "url": self.base},
                      {"type": "slack", "webhook-file": "hook"}):
            # The path, the headers and the body come back, secrets and all.
            self.says((400, {}, "ECHO"))
            answer, = self.send(words, {"address": "+49151000000" if words["type"] == "sms" else "12345"})
            self.assertEqual(REFUSED, answer["verdict"])
            self.assertIn("***", answer["reason"])
            basic = base64.b64encode(f"AC7:{SECRET}".encode()).decode()
            for secret in (SECRET, urllib.parse.quote(SECRET, safe=""), TOKEN, urllib.parse.quote(TOKEN, safe=""), basic):
                self.assertNotIn(secret, answer["reason"])

    def test_a_text_takes_as_many_segments_as_it_may(self):
        words = {"type": "sms", "url": self.base, "body": '{"t": {text}, "a": {alphabet}}', "max-segments": "2"}
        texts = ["x" * 160, "x" * 306, "€" * 152, "é" + "x" * 305, "ж" * 134, "📦" * 66, "x" * 307, "ж" * 135, "€" * 153, "📦" * 67]
        answers = self.send(words, *({"text": text} for text in texts))
        self.assertEqual([SENT] * 6 + [REFUSED] * 4, [answer["verdict"] for answer in answers], answers)
        self.assertIn("SMS segments", answers[6]["reason"])
        self.assertEqual(["text"] * 4 + ["unicode"] * 2, [json.loads(body)["a"] for *_, body in self.server.got])

    def test_what_is_split_goes_on_where_it_stopped(self):
        words = {"type": "sms", "url": self.base, "body": '{"t": {text}, "id": {id}}', "max-segments": "1", "too-long": "split", "reference": "/n"}
        self.says((200, {}, {"n": 1}), (500, {}, {}), (200, {}, {"n": 2}), (200, {}, {"n": 3}))
        text = " ".join(["word"] * 80)
        failed, sent, again = self.send(words, {"text": text}, {"text": text}, {"text": text})
        self.assertEqual((FAILED, SENT, SENT), (failed["verdict"], sent["verdict"], again["verdict"]))
        pieces = [json.loads(body) for *_, body in self.server.got]
        first, lost, second, third, *anew = pieces
        self.assertEqual((text, lost), (first["t"] + second["t"] + third["t"], second))
        self.assertEqual([ID, ID + "-2", ID + "-3"], [piece["id"] for piece in (first, second, third)])
        self.assertEqual([first, second, third], anew, "what was sent whole begins anew")

    def test_what_is_split_goes_on_under_the_longest_id_too(self):
        words = {"type": "sms", "url": self.base, "body": '{"t": {text}, "id": {id}}', "max-segments": "1", "too-long": "split"}
        self.says((200, {}, {}), (500, {}, {}), (200, {}, {}))
        message = {"text": " ".join(["word"] * 80), "id": "i" * 64}
        self.send(words, message, message)
        self.assertEqual(["", "-2", "-2", "-3"], [json.loads(body)["id"][64:] for *_, body in self.server.got])

    def test_no_address_says_more_than_an_address(self):
        self.says((200, {}, {}))
        kinds = [{"type": "sms", "url": self.base + "/{to}", "body": '{"t": {text}}'}, {"type": "http", "url": self.base + "/{to}/x", "body": '{"t": {text}}'}]
        kinds += [{"type": "telegram", "token-file": "token", "url": self.base}, {"type": "discord", "token-file": "token", "url": self.base},
                  {"type": "slack", "token-file": "token", "url": self.base}]
        for words in kinds:
            hostile = [text for text in HOSTILE if "\0" not in text]
            if words["type"] == "http":
                hostile = ["", "a\r\nx: y", "../x", "..", "a/b"]
            answers = self.send(words, *({"address": address} for address in hostile))
            self.assertEqual({REFUSED}, {answer["verdict"] for answer in answers}, (words, answers))
        words = {**kinds[0], "url": self.base + "/x", "headers": "x-subject: {subject}"}
        self.assertEqual(REFUSED, self.send(words, {"subject": "a\r\nx-evil: 1"})[0]["verdict"])
        self.assertEqual([], self.server.got)

    def test_nobody_at_the_port_is_a_failure(self):
        answer, = self.send({"type": "sms", "url": "http://127.0.0.1:9/", "body": "{text}"}, {})
        self.assertEqual((FAILED, "the gateway could not be asked: Connection refused"), (answer["verdict"], answer["reason"]))

    # --- chats ---

    def test_slack_gets_a_text_that_names_nobody(self):
        self.says((200, {}, {"ok": True, "ts": "1503435956.000247"}))
        answer, = self.send({"type": "slack", "token-file": "token", "url": self.base}, {"address": "C024BE91L", "text": "<!channel> a&b *x*"})
        self.assertEqual((SENT, "1503435956.000247"), (answer["verdict"], answer["reference"]))
        (_, path, headers, body), = self.server.got
        self.assertEqual(("/chat.postMessage", f"Bearer {TOKEN}"), (path, headers["authorization"]))
        self.assertEqual({"channel": "C024BE91L", "text": "&lt;!channel&gt; a&amp;b *x*", "mrkdwn": False, "parse": "none"}, json.loads(body))

    def test_slack_says_no_in_its_own_way(self):
        words = {"type": "slack", "token-file": "token", "url": self.base}
        said = [(200, {}, {"ok": False, "error": error}) for error in ("channel_not_found", "is_archived", "invalid_auth", "not_in_channel",
                                                                       "internal_error", "ratelimited")]
        self.assertEqual([(GONE, 0), (GONE, 0), (REFUSED, 0), (REFUSED, 0), (FAILED, 0), (WAIT, 0), (WAIT, 30000000)],
                         self.comes_to(words, said + [(429, {"retry-after": "30"}, "")], address="C1"))

    def test_a_webhook_gets_it_whoever_is_named(self):
        self.says((200, {}, "ok"), (200, {}, {"id": "R"}))
        slack, = self.send({"type": "slack", "webhook-file": "hook"}, {"address": "the office", "text": "a<b"})
        discord, = self.send({"type": "discord", "webhook-file": "hook"}, {"address": "the office"})
        self.assertEqual((SENT, "", SENT, "R"), (slack["verdict"], slack["reference"], discord["verdict"], discord["reference"]))
        self.assertEqual([f"/hooks/T0/{TOKEN}", f"/hooks/T0/{TOKEN}?wait=true"], [path for _, path, *_ in self.server.got])
        self.assertEqual({"text": "a&lt;b", "mrkdwn": False}, json.loads(self.server.got[0][3]))
        self.assertEqual([(REFUSED, 0), (REFUSED, 0), (WAIT, 3000000)],
                         self.comes_to({"type": "slack", "webhook-file": "hook"},
                                       [(404, {}, "no_service"), (410, {}, "channel_is_archived"), (429, {"retry-after": "3"}, "")]))

    def test_telegram_gets_a_text_without_markup(self):
        self.says((200, {}, {"ok": True, "result": {"message_id": 42}, "description": "fine"}))
        words = {"type": "telegram", "token-file": "token", "url": self.base}
        answers = self.send(words, {"address": "-100123", "text": "*a* <b>"}, {"address": "@shop_news"}, {"address": "1", "text": "📦" * 2048},
                            {"address": "1", "text": "📦" * 2048 + "x"})
        self.assertEqual([(SENT, "42")] * 3 + [(REFUSED, "")], [(answer["verdict"], answer["reference"]) for answer in answers])
        _, path, headers, body = self.server.got[0]
        self.assertEqual((f"/bot{TOKEN}/sendMessage", {"chat_id": "-100123", "text": "*a* <b>"}), (path, json.loads(body)))
        self.assertEqual(3, len(self.server.got))

    def test_telegram_says_no_in_its_own_way(self):
        def no(code, description, **more):
            return code, {}, {"ok": False, "error_code": code, "description": description, **more}
        words = {"type": "telegram", "token-file": "token", "url": self.base}
        self.assertEqual([(WAIT, 34000000), (GONE, 0), (GONE, 0), (GONE, 0), (GONE, 0), (REFUSED, 0), (REFUSED, 0), (FAILED, 0)],
                         self.comes_to(words, [no(429, "Too Many Requests: retry after 34", parameters={"retry_after": 34}),
                                               no(403, "Forbidden: bot was blocked by the user"), no(403, "Forbidden: user is deactivated"),
                                               no(400, "Bad Request: chat not found"), no(403, "Forbidden: bot was kicked from the group chat"),
                                               no(400, "Bad Request: message text is empty"), no(401, "Unauthorized"),
                                               no(502, "Bad Gateway")], address="1"))

    def test_discord_gets_a_text_that_names_nobody_and_once(self):
        self.says((200, {}, {"id": "1", "nonce": "n"}))
        text = "*a* <@1> `x` https://x.example/a_b_c\n# no\n- no\na-b #c"
        answer, = self.send({"type": "discord", "token-file": "token", "url": self.base}, {"address": "1039178386623557754", "text": text})
        self.assertEqual((SENT, "1"), (answer["verdict"], answer["reference"]))
        (_, path, headers, body), = self.server.got
        self.assertEqual(("/channels/1039178386623557754/messages", f"Bot {TOKEN}"), (path, headers["authorization"]))
        got = json.loads(body)
        self.assertEqual("\\*a\\* \\<@1\\> \\`x\\` https://x.example/a_b_c\n\\# no\n\\- no\na-b #c", got["content"])
        self.assertEqual(({"parse": []}, True), (got["allowed_mentions"], got["enforce_nonce"]))
        self.assertLessEqual(len(got["nonce"]), 25)

    def test_ids_that_begin_alike_are_not_taken_for_one(self):
        self.says((200, {}, {"id": "1"}))
        ids = ["order-confirmation-for-1", "order-confirmation-for-2", "order-7", "order-confirmation-for-1"]
        self.send({"type": "discord", "token-file": "token", "url": self.base}, *({"address": "1", "id": one} for one in ids))
        first, second, short, again = (json.loads(body)["nonce"] for *_, body in self.server.got)
        self.assertEqual((3, "order-7", first), (len({first, second, short}), short, again))
        self.assertLessEqual(len(first), 25)

    def test_discord_says_no_in_its_own_way(self):
        words = {"type": "discord", "token-file": "token", "url": self.base}
        limit = {"message": "You are being rate limited.", "retry_after": 0.75, "global": False}
        self.assertEqual([(WAIT, 750000), (GONE, 0), (GONE, 0), (REFUSED, 0), (REFUSED, 0), (FAILED, 0)],
                         self.comes_to(words, [(429, {"retry-after": "1"}, limit), (404, {}, {"code": 10003, "message": "Unknown Channel"}),
                                               (403, {}, {"code": 50007}), (403, {}, {"code": 50013}), (401, {}, {"code": 0}), (500, {}, "")],
                                       address="1"))

    def test_a_text_that_its_escapes_make_too_long_is_refused_or_divided(self):
        words = {"type": "discord", "token-file": "token", "url": self.base}
        text = "*" * 1500
        answers = self.send(words, {"address": "1", "text": text}, {"address": "1", "text": "*" * 1000}, {"address": "1", "text": "x" * 2001})
        self.assertEqual([REFUSED, SENT, REFUSED], [answer["verdict"] for answer in answers])
        self.server.got = []
        self.send({**words, "too-long": "split"}, {"address": "1", "text": text})
        contents = [json.loads(body)["content"] for *_, body in self.server.got]
        self.assertEqual("\\*" * 1500, "".join(contents))
        self.assertLessEqual(max(map(len, contents)), 2000)
        nonces = [json.loads(body)["nonce"] for *_, body in self.server.got]
        self.assertEqual(len(nonces), len(set(nonces)))

    def test_any_service_gets_what_the_settings_say(self):
        words = {"type": "http", "url": self.base + "/rooms/{to}?via={template}", "body": '{"body": "{subject}: {text}", "html": {html}}', "max-length": "10"}
        answers = self.send(words, {"address": "room é:1", "subject": "S", "text": "t\t", "html": "<b>"}, {"address": "x", "text": "x" * 11})
        self.assertEqual([SENT, REFUSED], [answer["verdict"] for answer in answers])
        (_, path, _, body), = self.server.got
        self.assertEqual("/rooms/room%20%C3%A9:1?via=test", path)
        self.assertEqual({"body": "S: t\t", "html": "<b>"}, json.loads(body))


unittest.main(verbosity=2)
