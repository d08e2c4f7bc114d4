#!/usr/bin/python3
"""Pushes reach the services that they are meant for, by their protocols and under tokens that hold, and what these say against
one is taken as it was meant."""
import base64
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from arriving import FAILED, GONE, ID, REFUSED, SENT, WAIT, ask, certificate

PROVIDER = pathlib.Path(__file__).with_name("push_provider.js")
UUID = "01234567-89ab-cdef-0123-456789abcdef"
POINT = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
AUTH = "BTBZMqHH6r4Tts7J_aSIgg"


def openssl(*words):
    subprocess.run(["openssl", *words], check=True, capture_output=True)


def make_keys(folder):
    certificate(folder)
    for name in ("apns", "vapid"):
        openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", f"{folder}/{name}.pem")
    openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", f"{folder}/google.pem")
    for name in ("apns", "vapid", "google"):
        openssl("pkey", "-in", f"{folder}/{name}.pem", "-pubout", "-out", f"{folder}/{name}.pub")


class Push(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        held = tempfile.TemporaryDirectory()
        cls.addClassCleanup(held.cleanup)
        cls.folder = pathlib.Path(held.name)
        make_keys(cls.folder)
        cls.says({})
        cls.provider = subprocess.Popen(["node", PROVIDER, cls.folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        cls.addClassCleanup(cls.end)
        cls.base = f"https://localhost:{int(cls.provider.stdout.readline())}"
        account = {"type": "service_account", "project_id": "shop-1", "private_key_id": "k7", "client_email": "owed@shop-1.example",
                   "private_key": (cls.folder / "google.pem").read_text(), "token_uri": f"{cls.base}/token"}
        (cls.folder / "account.json").write_text(json.dumps(account))

    @classmethod
    def end(cls):
        cls.provider.stdin.close()
        cls.provider.stdout.close()
        cls.provider.wait(10)

    @classmethod
    def says(cls, answers):
        (cls.folder / "says.json").write_text(json.dumps(answers))

    def send(self, settings, *messages):
        """What came of each message, and what the provider was asked meanwhile."""
        said = ask({"ca-file": f"{self.folder}/cert", "timeout": "5s", **settings},
                   [{"subject": "Größe", "text": "Ihre Bestellung 📦 ist da", **one} for one in messages])
        self.assertNotIn("hush", json.dumps(said))
        # A request of our own tells where those of this test end.
        ask(self.webpush(), [{"address": self.browser("/end"), "text": "t"}])
        seen = []
        while not seen or seen[-1]["path"] != "/end":
            seen.append(json.loads(self.provider.stdout.readline()))
        for one in seen:
            one["body"] = base64.b64decode(one["body"])
        return said, seen[:-1]

    def apns(self, **more):
        return {"type": "apns", "url": self.base, "key-file": f"{self.folder}/apns.pem", "key-id": "ABC123DEFG", "team-id": "DEF123GHIJ",
                "topic": "example.shop", **more}

    def fcm(self, **more):
        return {"type": "fcm", "url": self.base, "key-file": f"{self.folder}/account.json", **more}

    def webpush(self, **more):
        return {"type": "webpush", "key-file": f"{self.folder}/vapid.pem", "subject": "mailto:ops@shop.example",
                "ca-file": f"{self.folder}/cert", "hosts": "localhost", **more}

    def browser(self, path):
        return json.dumps({"endpoint": self.base + path, "keys": {"p256dh": POINT, "auth": AUTH}})

    def assertNow(self, seconds, ahead=0):
        self.assertLess(abs(seconds - ahead - time.time()), 60)

    # --- Apple ---

    def test_a_push_to_an_apple_device_is_one_http2_request_under_a_signed_token(self):
        said, (one, urgent) = self.send(self.apns(ttl="1h"), {"address": "00fA"}, {"address": "00fa", "urgent": True, "id": "order 7"})
        self.assertEqual([(SENT, UUID)], [(said[0]["verdict"], said[0]["reference"])])
        self.assertEqual(("2.0", "POST", "/3/device/00fA"), (one["version"], one["method"], one["path"]))
        head = one["headers"]
        self.assertEqual(("example.shop", "alert", UUID, "5", ID), tuple(head[f"apns-{name}"] for name in (
            "topic", "push-type", "id", "priority", "collapse-id")))
        self.assertNow(int(head["apns-expiration"]), 3600)
        self.assertEqual({"aps": {"alert": {"title": "Größe", "body": "Ihre Bestellung 📦 ist da"}, "sound": "default"}, "id": ID},
                         json.loads(one["body"]))
        self.assertTrue(one["token"]["holds"])
        self.assertEqual({"alg": "ES256", "typ": "JWT", "kid": "ABC123DEFG"}, one["token"]["head"])
        self.assertEqual("DEF123GHIJ", one["token"]["claims"]["iss"])
        self.assertNow(one["token"]["claims"]["iat"])
        self.assertEqual("10", urgent["headers"]["apns-priority"])
        self.assertEqual("time-sensitive", json.loads(urgent["body"])["aps"]["interruption-level"])
        self.assertEqual(head["authorization"], urgent["headers"]["authorization"], "one token for many")
        self.assertEqual(one["peer"], urgent["peer"], "one connection for many")

    def test_what_apns_says_is_what_it_comes_to(self):
        reasons = [(400, "BadDeviceToken", GONE), (410, "Unregistered", GONE), (400, "DeviceTokenNotForTopic", REFUSED),
                   (413, "PayloadTooLarge", REFUSED), (429, "TooManyRequests", WAIT), (429, "TooManyProviderTokenUpdates", WAIT),
                   (403, "InvalidProviderToken", FAILED), (500, "InternalServerError", FAILED), (503, "Shutdown", FAILED)]
        tokens = [f"aa{number:02x}" for number in range(len(reasons))]
        self.says({f"/3/device/{token}": [[status, {}, json.dumps({"reason": word})]] for token, (status, word, _) in zip(tokens, reasons)})
        said, _ = self.send(self.apns(), *({"address": token} for token in tokens))
        for one, (status, word, verdict) in zip(said, reasons, strict=True):
            self.assertEqual((verdict, f"APNs said {status}: {word}"), (one["verdict"], one["reason"]))
            self.assertEqual(verdict == WAIT, one["wait_us"] > 0)

    def test_a_token_of_apns_that_has_ended_is_made_anew_and_asked_with_once_more(self):
        expired = [403, {}, '{"reason":"ExpiredProviderToken"}']
        self.says({"/3/device/bb01": [expired, [200, {}, ""]], "/3/device/bb02": [expired]})
        said, seen = self.send(self.apns(), {"address": "bb01"}, {"address": "bb02"})
        self.assertEqual([SENT, FAILED], [one["verdict"] for one in said])
        self.assertEqual(["bb01", "bb01", "bb02", "bb02"], [one["path"][-4:] for one in seen])
        self.assertNotEqual(seen[0]["headers"]["authorization"], seen[1]["headers"]["authorization"])

    def test_what_is_no_token_of_an_apple_device_is_asked_of_nobody(self):
        said, seen = self.send(self.apns(), {"address": "../x"}, {"address": "aa", "text": "x" * 4096}, {"address": "aa", "id": "a\r\nb: c"})
        self.assertEqual(([REFUSED] * 3, []), ([one["verdict"] for one in said], seen))

    # --- Google ---

    def test_a_push_by_fcm_goes_under_a_token_that_a_service_account_got(self):
        said, seen = self.send(self.fcm(ttl="90m"), {"address": "dev:ice"}, {"address": "dev:ice", "urgent": True})
        self.assertEqual([(SENT, "projects/shop-1/messages/0:7")] * 2, [(one["verdict"], one["reference"]) for one in said])
        asked, one, urgent = seen
        self.assertEqual(("/token", "application/x-www-form-urlencoded", True),
                         (asked["path"], asked["headers"]["content-type"], asked["token"]["holds"]))
        self.assertIn(b"grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&", asked["body"])
        self.assertEqual({"alg": "RS256", "typ": "JWT", "kid": "k7"}, asked["token"]["head"])
        claims = asked["token"]["claims"]
        self.assertEqual(("owed@shop-1.example", f"{self.base}/token", "https://www.googleapis.com/auth/firebase.messaging", 3600),
                         (claims["iss"], claims["aud"], claims["scope"], claims["exp"] - claims["iat"]))
        self.assertNow(claims["iat"])
        self.assertEqual(("POST", "/v1/projects/shop-1/messages:send", "Bearer ya29.hush-hush-0"),
                         (one["method"], one["path"], one["headers"]["authorization"]))
        message = json.loads(one["body"])["message"]
        self.assertNow(int(message["apns"]["headers"].pop("apns-expiration")), 5400)
        self.assertEqual({"token": "dev:ice", "notification": {"title": "Größe", "body": "Ihre Bestellung 📦 ist da"}, "data": {"id": ID},
                          "android": {"priority": "NORMAL", "ttl": "5400s", "notification": {"tag": ID}},
                          "apns": {"headers": {"apns-priority": "5", "apns-collapse-id": ID}}}, message)
        self.assertEqual("HIGH", json.loads(urgent["body"])["message"]["android"]["priority"])

    def test_what_fcm_says_is_what_it_comes_to(self):
        def error(status, google, own=None, message="no dev:ice"):
            details = [{"@type": "type.googleapis.com/google.rpc.BadRequest"}]
            details += [{"@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": own}] if own else []
            return [status, {"retry-after": "17"}, json.dumps({"error": {"code": status, "status": google, "message": message, "details": details}})]
        answers = [(error(404, "NOT_FOUND", "UNREGISTERED"), GONE), (error(404, "NOT_FOUND", message="no ya29.hush-hush-0"), GONE), ([404, {}, "<p>no page"], REFUSED),
                   (error(429, "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED"), WAIT), (error(429, "RESOURCE_EXHAUSTED"), WAIT),
                   (error(503, "UNAVAILABLE", "UNAVAILABLE"), WAIT), (error(500, "INTERNAL", "INTERNAL"), FAILED),
                   (error(400, "INVALID_ARGUMENT", "INVALID_ARGUMENT", "Too long"), REFUSED),
                   (error(403, "PERMISSION_DENIED", "SENDER_ID_MISMATCH"), REFUSED)]
        self.says({"/v1/projects/p-1/messages:send": [answer for answer, _ in answers]})
        said, _ = self.send(self.fcm(project="p-1"), *({"address": "dev:ice"} for _ in answers))
        for one, (answer, verdict) in zip(said, answers, strict=True):
            self.assertEqual(verdict, one["verdict"], (one, answer))
            self.assertEqual(17_000_000 if verdict == WAIT else 0, one["wait_us"])
            self.assertNotIn("dev:ice", one["reason"])
            self.assertNotIn("ya29", one["reason"])
        self.assertEqual("FCM said 404: UNREGISTERED", said[0]["reason"])
        self.assertEqual("FCM said 400: INVALID_ARGUMENT: Too long", said[7]["reason"])

    def test_a_token_of_fcm_that_was_taken_back_is_thrown_away_and_asked_with_once_more(self):
        self.says({"/v1/projects/p-2/messages:send": [[401, {}, "{}"], [200, {}, '{"name":"n"}'], [401, {}, "{}"]]})
        said, seen = self.send(self.fcm(project="p-2"), {"address": "d"}, {"address": "d"})
        self.assertEqual([SENT, FAILED], [one["verdict"] for one in said])
        self.assertEqual(["token", "send", "token", "send", "send", "token", "send"], [one["path"].split("/")[-1].split(":")[-1] for one in seen])

    def test_where_no_token_is_to_be_had_it_is_not_the_recipients_fault(self):
        account = json.loads((self.folder / "account.json").read_text())
        (self.folder / "other.json").write_text(json.dumps({**account, "token_uri": f"{self.base}/other"}))
        refusal = {"error": "invalid_grant", "error_description": "Invalid JWT Signature."}
        self.says({"/other": [[400, {}, json.dumps(refusal)], [429, {"retry-after": "5"}, "{}"], [200, {}, "{}"]]})
        said, seen = self.send(self.fcm(**{"key-file": f"{self.folder}/other.json"}), *[{"address": "d"}] * 3)
        self.assertEqual([(FAILED, "the token server said 400: invalid_grant: Invalid JWT Signature."), (WAIT, "the token server said 429"),
                          (FAILED, "the token server gave no token")], [(one["verdict"], one["reason"]) for one in said])
        self.assertEqual(5_000_000, said[1]["wait_us"])
        self.assertEqual(["/other"] * 3, [one["path"] for one in seen])

    # --- browsers ---

    def test_a_push_to_a_browser_is_encrypted_and_says_who_pushes(self):
        said, seen = self.send(self.webpush(ttl="2h"), {"address": self.browser("/p/1")}, {"address": self.browser("/p/1"), "urgent": True})
        self.assertEqual([(SENT, "https://push.example/m/7")] * 2, [(one["verdict"], one["reference"]) for one in said])
        one, urgent = seen
        head = one["headers"]
        self.assertEqual(("2.0", "POST", "/p/1"), (one["version"], one["method"], one["path"]))
        self.assertEqual(("aes128gcm", "application/octet-stream", "7200", ID, "normal"),
                         tuple(head[name] for name in ("content-encoding", "content-type", "ttl", "topic", "urgency")))
        self.assertEqual("high", urgent["headers"]["urgency"])
        self.assertEqual(b"\x00\x00\x10\x00\x41\x04", one["body"][16:22])
        self.assertNotIn("Größe".encode(), one["body"])
        self.assertNotEqual(one["body"][:16], urgent["body"][:16])
        self.assertTrue(one["token"]["holds"])
        claims = one["token"]["claims"]
        self.assertEqual((self.base, "mailto:ops@shop.example"), (claims["aud"], claims["sub"]))
        self.assertTrue(time.time() < claims["exp"] <= time.time() + 86400)
        public = subprocess.run(["openssl", "pkey", "-pubin", "-in", f"{self.folder}/vapid.pub", "-outform", "DER"], capture_output=True,
                                check=True).stdout[-65:]
        self.assertEqual(base64.urlsafe_b64encode(public).rstrip(b"=").decode(), head["authorization"].split("k=")[1])

    def test_what_a_push_service_says_is_what_it_comes_to(self):
        answers = [(404, GONE), (410, GONE), (400, REFUSED), (403, REFUSED), (413, REFUSED), (429, WAIT), (401, FAILED), (500, FAILED)]
        self.says({f"/p/hush{status}": [[status, {}, f"no such thing as /p/hush{status}"]] for status, _ in answers})
        said, _ = self.send(self.webpush(), *({"address": self.browser(f"/p/hush{status}")} for status, _ in answers))
        self.assertEqual([(verdict, f"the push service said {status}") for status, verdict in answers],
                         [(one["verdict"], one["reason"]) for one in said])
        self.assertGreater(said[5]["wait_us"], 0)

    def test_a_text_too_long_for_one_push_is_cut_where_that_is_asked_for(self):
        text = 'Größe "7"\n' * 2000
        for settings, address in ((self.apns(), "cc"), (self.fcm(), "d"), (self.webpush(), self.browser("/p/2"))):
            one, cut = ({**settings, "too-long": word} for word in ("refuse", "cut"))
            said, seen = self.send(one, {"address": address, "text": text})
            self.assertEqual(([REFUSED], []), ([one["verdict"] for one in said], seen))
            said, seen = self.send(cut, {"address": address, "text": text})
            self.assertEqual([SENT], [one["verdict"] for one in said])
            self.assertTrue(4050 < len(seen[-1]["body"]) <= 4096, len(seen[-1]["body"]))

    def test_what_is_no_subscription_is_asked_of_nobody(self):
        plain = self.browser("/p/1").replace("https:", "http:")
        far = self.browser("/p/1").replace("localhost", "push.example")
        said, seen = self.send(self.webpush(hosts="localhost"), {"address": "hush"}, {"address": plain}, {"address": far},
                               {"address": self.browser("/p/1"), "text": "x" * 3993})
        self.assertEqual(([REFUSED] * 4, []), ([one["verdict"] for one in said], seen))
        self.assertEqual("the endpoint of the subscription is not https", said[1]["reason"])
        self.assertEqual("the subscription is at a push service that hosts does not name", said[2]["reason"])

    def test_a_subscription_does_not_lead_to_an_address_of_ours(self):
        strangers = self.webpush()
        del strangers["hosts"]
        inside = ["localhost", "127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "0x7f.1", "10.0.0.1", "169.254.169.254", "[fd00:ec2::254]"]
        said, seen = self.send(strangers, *({"address": self.browser("/p/1").replace("localhost", host)} for host in inside))
        self.assertEqual(([REFUSED] * len(inside), []), ([one["verdict"] for one in said], seen))
        self.assertEqual("the push service is not asked: it is at a loopback address", said[0]["reason"])
        self.assertEqual("the push service is not asked: it is at a cloud's metadata service", said[6]["reason"])


if shutil.which("node") is None:
    print("no node: the push services are not asked")
    sys.exit(77)
unittest.main(verbosity=2)
