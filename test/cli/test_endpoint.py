"""owed endpoint, and what endpoints are sent, over real HTTP."""
import base64
import hashlib
import hmac
import http.server
import json
import os
import pathlib
import shutil
import subprocess
import threading
import unittest

import harness

NODE = shutil.which("node")
MODULES = pathlib.Path(os.environ.get("OWED_NODE_MODULES", "/nonexistent"))
CONF = """[store]
app = shop
[receiver "owed.webhooks"]
event = *
endpoints = yes
allow = 127.0.0.0/8
backoff-base = 1ms
backoff-cap = 1ms
"""


class Sink(http.server.ThreadingHTTPServer):
    """Takes what it is sent; a path /410 and the like is answered with that status."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests = []
        self.headers = {}
        self.thread = threading.Thread(target=self.serve_forever, args=(0.02,))
        self.thread.start()

    def url(self, path="/200"):
        return f"http://127.0.0.1:{self.server_port}{path}"

    def close(self):
        self.shutdown()
        self.server_close()
        self.thread.join()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = {key.lower(): value for key, value in self.headers.items()}
        self.server.requests.append({"path": self.path, "headers": headers, "body": body})
        word = self.path.split("/")[1]
        self.send_response(int(word) if word.isdigit() else 200)
        for key, value in self.server.headers.get(word, {}).items():
            self.send_header(key, value)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *words):
        pass


def signature(secret, request):
    key = base64.b64decode(secret.removeprefix("whsec_"))
    head = request["headers"]
    text = f"{head['webhook-id']}.{head['webhook-timestamp']}.".encode() + request["body"]
    return "v1," + base64.b64encode(hmac.new(key, text, hashlib.sha256).digest()).decode()


class EndpointCase(harness.StoreCase):
    def setUp(self):
        super().setUp()
        self.prepare()

    def prepare(self):
        self.sink = Sink()
        self.addCleanup(self.sink.close)
        self.conf(CONF)

    def add(self, path="/200", *words, event="shop.*"):
        done = self.owed("endpoint", "add", self.sink.url(path), "--event", event, *words, "--json", code=0)
        said = json.loads(done.stdout)
        return said["id"], said.get("secret") or said["public_key"]

    def relay(self, *words):
        return self.owed("relay", "--once", *words, code=0)

    def deliveries(self):
        return self.json_lines("deliveries")

    def attempts(self, delivery):
        return self.json_lines("attempts", str(delivery))

    def shown(self, endpoint):
        return json.loads(self.owed("endpoint", "show", endpoint, "--json", code=0).stdout)


class OnEveryStore(EndpointCase):
    def test_plain_sql_fans_out_alike(self):
        self.add()
        self.owed("publish", code=0)
        if self.store.scheme == "sqlite":
            self.sql("insert into owed_fire (name, payload) values ('shop.Paid', '{}')")
        elif self.store.scheme == "postgres":
            self.sql("select owed_fire('shop.Paid', '{}')")
        else:
            self.sql("call owed_fire('shop.Paid', '{}')")
        self.relay()
        self.assertEqual(1, len(self.sink.requests))

    def test_a_replay_reaches_it_again_under_the_same_id(self):
        self.add("/200/a")
        event = str(self.fire("shop.Paid"))
        self.relay()
        self.assertEqual("reopened: 1, added: 0, still owed: 0, skipped: 0\n", self.owed("replay", event, code=0).stdout)
        delivery, = self.deliveries()
        self.owed("cancel", str(delivery["id"]), code=0)
        self.assertIn(f"`owed replay {event}`", self.owed("explain", str(delivery["id"]), code=0).stdout)
        self.owed("replay", event, code=0)
        self.relay()
        self.assertEqual(2, len(self.sink.requests))
        self.assertEqual(1, len({r["headers"]["webhook-id"] for r in self.sink.requests}))

    def test_while_a_secret_is_rotated_both_sign_the_new_one_first(self):
        endpoint, old = self.add()
        done = self.owed("endpoint", "rotate", endpoint, "--json", code=0)
        new = json.loads(done.stdout)["secret"]
        self.assertNotEqual(old, new)
        self.fire("shop.Paid")
        self.relay()
        request = self.sink.requests[0]
        self.assertEqual(f"{signature(new, request)} {signature(old, request)}", request["headers"]["webhook-signature"])
        until = self.shown(endpoint)["previous_until"]
        self.refused(65, f"signs until {until}: rotate it then, or with an overlap of 0, which ends both",
                     "endpoint", "rotate", endpoint)
        self.assertEqual(until, self.shown(endpoint)["previous_until"])
        self.owed("endpoint", "rotate", endpoint, "--overlap", "0", code=0)
        self.fire("shop.Paid")
        self.relay()
        self.assertNotIn(" ", self.sink.requests[1]["headers"]["webhook-signature"])

    def test_410_disables_at_once_and_says_so_once(self):
        endpoint, _ = self.add("/410/a")
        for _ in range(3):
            self.fire("shop.Paid")
        self.relay()
        shown = self.shown(endpoint)
        self.assertEqual("it answered 410 Gone", shown["disabled_reason"])
        self.assertIsNotNone(shown["disabled_at"])
        events = [e for e in self.json_lines("events") if e["name"] == "owed.EndpointDisabled"]
        self.assertEqual(1, len(events))
        payload = json.loads(self.owed("show", str(events[0]["id"]), "--json").stdout or "{}")
        self.assertIn(endpoint, json.dumps(payload))
        self.fire("shop.Paid")
        self.assertEqual(3, len(self.deliveries()))

    def test_who_tries_an_endpoint_out_does_not_disable_it_unless_it_says_that_it_is_gone(self):
        self.conf(CONF + "disable-after = 2\nmax-attempts = 1\n")
        endpoint, _ = self.add("/400/a")
        for _ in range(3):
            self.owed("endpoint", "test", endpoint, code=1)
        self.assertIsNone(self.shown(endpoint)["disabled_at"])
        gone, _ = self.add("/410/a")
        self.owed("endpoint", "test", gone, code=1)
        self.assertIsNotNone(self.shown(gone)["disabled_at"])

    def test_once_goes_on_until_all_of_a_burst_for_one_endpoint_is_delivered(self):
        self.add()
        self.owed("fire", "--lines", stdin='{"name":"shop.Paid"}\n' * 200, code=0)
        done = self.relay("--log-level", "debug")
        self.assertEqual("succeeded: 200\n", done.stdout)
        later = [line for line in done.stderr.splitlines() if "delivery is due later" in line]
        self.assertTrue(later)
        self.assertIn(" level=debug ", later[0])
        self.assertIn(' reason="its host ', later[0])
        self.assertEqual("Nothing owed.\n", self.relay().stdout)

    def test_once_says_what_it_has_put_off_for_long_and_until_when(self):
        endpoint, _ = self.add()
        self.fire("shop.Paid")
        self.fire("shop.Paid")
        self.owed("endpoint", "pause", endpoint, "--until", "+30m", code=0)
        until = self.shown(endpoint)["paused_until"]
        self.assertEqual(f"put off: 2; the next is due at {until}\n", self.relay().stdout)
        self.assertEqual(f"Nothing delivered; the next is due at {until}.\n", self.relay().stdout)

    def test_so_many_dead_in_a_row_disable_an_endpoint_and_what_was_owed_ends_unsent(self):
        self.conf(CONF + "disable-after = 2\nmax-attempts = 1\n")
        endpoint, _ = self.add("/400/a")
        self.fire("shop.Paid")
        self.relay()
        self.assertIsNone(self.shown(endpoint)["disabled_at"])
        self.fire("shop.Paid")
        self.fire("shop.Paid", "{}", "--due", "+1h")
        self.relay()
        shown = self.shown(endpoint)
        self.assertEqual("2 deliveries to it in a row are dead", shown["disabled_reason"])
        self.assertEqual(1, sum(e["name"] == "owed.EndpointDisabled" for e in self.json_lines("events")))
        self.sql("update owed_delivery set available_at = moment(1), due_at = moment(1) where status = 'pending'")
        self.relay()
        self.assertEqual(2, len(self.sink.requests))
        newest = self.deliveries()[0]
        self.assertEqual("succeeded", newest["status"])
        self.assertIn("the endpoint is disabled", self.attempts(newest["id"])[0]["excerpt"])
        self.owed("endpoint", "enable", endpoint, code=0)
        self.assertEqual((None, 0), (self.shown(endpoint)["disabled_at"], self.shown(endpoint)["dead_in_row"]))

    def test_a_paused_endpoint_keeps_its_rows_and_the_others_go_on(self):
        self.conf(CONF + "give-up-after = 1s\n")
        paused, _ = self.add("/200/paused")
        self.add("/200/other")
        first, second = self.fire("shop.Paid", '{"n":1}'), self.fire("shop.Paid", '{"n":2}')
        self.owed("endpoint", "pause", paused, "--reason", "they asked", code=0)
        # Longer owed than the receiver would wait for a destination that asked for it.
        self.sql("update owed_delivery set due_at = moment(1)")
        self.relay()
        self.assertEqual(["/200/other"] * 2, [r["path"] for r in self.sink.requests])
        kept = [d for d in self.deliveries() if d["target"] == paused]
        self.assertEqual([("pending", 0)] * 2, [(d["status"], d["attempts"]) for d in kept])
        self.assertEqual([], self.attempts(kept[0]["id"]))
        explained = self.json("explain", str(kept[0]["id"]))
        self.assertEqual("endpoint_paused", explained["reason"])
        self.assertIn(f"(they asked); `owed endpoint resume {paused}` lets it go on", explained["sentence"])
        other = next(d for d in self.deliveries() if d["target"] != paused)
        self.assertEqual("succeeded", self.json("explain", str(other["id"]))["reason"])
        self.assertEqual([("owed.webhooks", paused, "they asked")],
                         [(p["receiver"], p["endpoint"], p["reason"]) for p in self.json("status")["paused"]])
        shown = self.shown(paused)
        self.assertEqual(("they asked", None), (shown["paused_reason"], shown["paused_until"]))
        self.assertIsNotNone(shown["paused_at"])
        self.json_lines("endpoint", "test", paused)
        self.owed("endpoint", "resume", paused, code=0)
        self.assertIsNone(self.shown(paused)["paused_at"])
        self.relay()
        self.assertEqual(["owed.Ping", 1, 2],
                         [self.told(self.sink.requests[2]), *sorted(map(self.told, self.sink.requests[3:]))])
        self.assertEqual([f"pause {paused} --reason=they asked", f"resume {paused}"],
                         [w for w, in self.sql("select what from owed_audit where action = 'endpoint' order by id")])
        self.assertLess(first, second)

    def test_what_a_pause_kept_ends_at_once_when_its_endpoint_is_removed_or_disabled(self):
        removed, _ = self.add("/200/removed")
        disabled, _ = self.add("/200/disabled")
        self.fire("shop.Paid")
        for endpoint in (removed, disabled):
            self.owed("endpoint", "pause", endpoint, code=0)
        self.relay()
        kept = {d["target"]: str(d["id"]) for d in self.deliveries()}
        self.owed("endpoint", "remove", removed, code=0)
        self.owed("endpoint", "disable", disabled, "--reason", "they left", code=0)
        for endpoint, words in ((removed, "was removed"), (disabled, "is disabled (they left)")):
            explained = self.json("explain", kept[endpoint])
            self.assertEqual("endpoint_ended", explained["reason"])
            self.assertIn(f"its endpoint {endpoint} {words}: it ends without a request when its turn comes, and it is "
                          "due since ", explained["sentence"])
        self.assertEqual("succeeded: 2\n", self.relay().stdout)
        self.assertEqual({"succeeded"}, {d["status"] for d in self.deliveries()})
        self.assertEqual([], self.sink.requests)

    @staticmethod
    def told(request):
        body = json.loads(request["body"])
        return body["data"].get("n", body["type"])


class OnOne(EndpointCase):
    """What is no matter of the store."""

    def prepare(self):
        self.only_on_sqlite("the store has no part in it")
        super().prepare()

    def test_an_event_reaches_each_endpoint_that_wants_it_signed_with_its_own_secret(self):
        one, secret_one = self.add("/200/one")
        two, secret_two = self.add("/200/two", event="shop.OrderPlaced")
        self.add("/200/three", event="other.*")
        self.fire("shop.OrderPlaced", '{"order_id": 7, "n": 1e400}')
        self.relay()
        self.assertEqual(2, len(self.sink.requests))
        for request in self.sink.requests:
            secret = secret_one if request["path"].endswith("one") else secret_two
            head = request["headers"]
            self.assertEqual(signature(secret, request), head["webhook-signature"])
            self.assertEqual("application/json", head["content-type"])
            self.assertTrue(request["body"].startswith(b'{"data":{"order_id": 7, "n": 1e400},"id":"'), request["body"])
            self.assertTrue(request["body"].endswith(b'"type":"shop.OrderPlaced"}'), request["body"])
            self.assertIn(head["webhook-id"].encode(), request["body"])
        self.assertEqual({"succeeded"}, {d["status"] for d in self.deliveries()})
        self.assertEqual({one, two}, {d["target"] for d in self.deliveries()})
        for delivery in self.deliveries():
            attempt, = self.attempts(delivery["id"])
            self.assertEqual((200, "succeeded", "ok"), (attempt["code"], attempt["verdict"], attempt["excerpt"]))

    def test_a_retry_has_the_same_id_and_body_and_a_log_of_each_attempt(self):
        self.conf(CONF + "max-attempts = 3\n")
        self.add("/503/a")
        self.fire("shop.Paid")
        self.relay("--limit", "1")
        for _ in range(20):
            if len(self.sink.requests) == 3:
                break
            self.relay("--limit", "1")
        self.assertEqual(3, len(self.sink.requests))
        self.assertEqual(1, len({r["headers"]["webhook-id"] for r in self.sink.requests}))
        self.assertEqual(1, len({r["body"] for r in self.sink.requests}))
        delivery, = self.deliveries()
        self.assertEqual("dead", delivery["status"])
        attempts = self.attempts(delivery["id"])
        self.assertEqual([503] * 3, [a["code"] for a in attempts])
        self.assertTrue(all(a["excerpt"] == "ok" and a["duration"] > 0 for a in attempts))

    def test_formats(self):
        for word in ("raw", "cloudevents"):
            self.add(f"/200/{word}", "--format", word)
        self.fire("shop.Paid", '{"a": 1.50, "b":"\\u00e9"}')
        self.relay()
        raw, cloud = sorted(self.sink.requests, key=lambda r: r["path"], reverse=True)
        self.assertEqual(b'{"a": 1.50, "b":"\\u00e9"}', raw["body"])
        self.assertEqual("application/cloudevents+json; charset=UTF-8", cloud["headers"]["content-type"])
        event = json.loads(cloud["body"])
        self.assertEqual(("1.0", "shop.Paid", "/shop", "application/json", cloud["headers"]["webhook-id"]),
                         (event["specversion"], event["type"], event["source"], event["datacontenttype"], event["id"]))
        self.assertEqual({"a": 1.5, "b": "\u00e9"}, event["data"])

    def test_a_filter_wants_what_stands_at_its_pointers(self):
        self.add("/200/f", "--filter", '{"/type":["new","paid"],"/n":2}')
        for payload in ('{"type":"new","n":2}', '{"type":"p\\u0061id","n":2.0}', '{"type":"old","n":2}',
                        '{"type":"new"}', '{"type":"new","n":"2"}'):
            self.fire("shop.Changed", payload)
        self.relay()
        self.assertEqual(2, len(self.sink.requests))
        self.assertEqual({"succeeded"}, {d["status"] for d in self.deliveries()})
        said = [self.attempts(d["id"])[0]["excerpt"] for d in self.deliveries()]
        self.assertEqual(3, sum(s.startswith("ended without a request: its filter wants something else at /") for s in said))
        unsent = [str(d["id"]) for d, s in zip(self.deliveries(), said) if s.startswith("ended")][0]
        explained = self.json("explain", unsent)
        self.assertEqual("unsent", explained["reason"])
        self.assertIn("it ended without a request: its filter wants something else at /", explained["sentence"])
        for words in (["attempts", unsent], ["show", "--delivery", unsent]):
            self.assertIn(" ended without a request: its filter wants something else at /",
                          self.owed(*words, code=0).stdout)

    def test_one_success_forgives_the_dead(self):
        self.conf(CONF + "disable-after = 2\nmax-attempts = 1\n")
        endpoint, _ = self.add("/400/a")
        self.fire("shop.Paid")
        self.relay()
        self.assertEqual(1, self.shown(endpoint)["dead_in_row"])
        self.sql(f"update owed_endpoint set url = '{self.sink.url('/200/a')}'")
        self.fire("shop.Paid")
        self.relay()
        self.assertEqual(0, self.shown(endpoint)["dead_in_row"])

    def test_retry_after_is_obeyed_and_only_that_endpoint_waits(self):
        self.sink.headers["429"] = {"retry-after": "3600"}
        self.conf(CONF + "give-up-after = 2d\n")
        other = Sink()
        self.addCleanup(other.close)
        self.add("/429/a")
        self.owed("endpoint", "add", other.url(), "--event", "*", code=0)
        for _ in range(8):
            self.fire("shop.Paid")
        self.relay()
        # What had begun when the first answer came.
        self.assertLessEqual(len(self.sink.requests), 2)
        self.assertEqual(8, len(other.requests))
        owed = [d for d in self.deliveries() if d["status"] != "succeeded"]
        self.assertEqual((8, {0}), (len(owed), {d["attempts"] for d in owed}))

    def test_the_address_is_checked_when_it_is_added_and_before_the_connection(self):
        self.conf(CONF.replace("allow = 127.0.0.0/8\n", ""))
        done = self.owed("endpoint", "add", self.sink.url(), "--event", "*", code=65)
        self.assertIn("127.0.0.1, a loopback address", done.stderr)
        self.conf(CONF)
        self.add()
        self.conf(CONF.replace("allow = 127.0.0.0/8\n", "max-attempts = 1\n"))
        self.fire("shop.Paid")
        self.relay()
        self.assertEqual([], self.sink.requests)
        delivery, = self.deliveries()
        self.assertIn("a loopback address", delivery["last_error"])

    def test_tenants(self):
        self.conf(CONF + "tenant-key = tenant\n")
        done = self.owed("endpoint", "add", self.sink.url(), "--event", "*", code=65)
        self.assertIn("needs a tenant", done.stderr)
        self.add("/200/acme", "--tenant", "acme")
        self.add("/200/other", "--tenant", "other")
        self.fire("shop.Paid")
        self.fire("shop.Paid", "{}", "--scope", '{"tenant":"acme"}')
        self.relay()
        self.assertEqual(["/200/acme"], [r["path"] for r in self.sink.requests])
        self.assertEqual(1, len(self.json_lines("endpoint", "list", "--tenant", "acme")))

    def test_a_ping_is_sent_at_once_and_its_answer_printed(self):
        endpoint, secret = self.add(event="other.Thing")
        attempt, = self.json_lines("endpoint", "test", endpoint)
        self.assertEqual((200, "succeeded"), (attempt["code"], attempt["verdict"]))
        request, = self.sink.requests
        self.assertEqual(signature(secret, request), request["headers"]["webhook-signature"])
        self.assertEqual("owed.Ping", json.loads(request["body"])["type"])
        bad, _ = self.add("/500/a", event="other.Thing")
        self.owed("endpoint", "test", bad, code=1)

    def test_secrets_are_shown_once_and_urls_without_their_tokens(self):
        self.conf(CONF + "max-attempts = 1\ndisable-after = 1\n")
        endpoint, secret = self.add("/500/x?token=hush", "--name", "Acme")
        done = self.owed("endpoint", "rotate", endpoint, "--json", code=0)
        secrets = [secret.removeprefix("whsec_"), json.loads(done.stdout)["secret"].removeprefix("whsec_"), "hush"]
        self.fire("shop.Paid")
        self.owed("endpoint", "pause", endpoint, code=0)
        self.owed("endpoint", "resume", endpoint, code=0)
        logged = self.relay("--log-level", "debug").stderr
        self.assertIn("endpoint disabled", logged)
        outs = [logged, json.dumps(self.sql("select who, what from owed_audit")), self.owed("events", "--json", code=0).stdout]
        for words in (["list"], ["list", "--json"], ["show", endpoint], ["show", endpoint, "--json"]):
            outs.append(self.owed("endpoint", *words, code=0).stdout)
            self.assertIn("Acme", outs[-1])
        delivery, = [d for d in self.deliveries() if d["status"] == "dead"]
        for words in (["attempts", str(delivery["id"])], ["explain", str(delivery["id"])], ["deliveries"]):
            outs.append(self.owed(*words, code=0).stdout)
        for out in outs:
            for word in secrets:
                self.assertNotIn(word, out)

    def test_what_cannot_be_is_refused_with_a_sentence(self):
        url = self.sink.url()
        for words, sentence in (
                ([url], "wants no event"),
                ([url, "--event", "shop*"], "shop.*"),
                ([url, "--event", "owed.Ping"], "of owed itself"),
                ([url, "--event", "*", "--filter", "[]"], "the filter is no object"),
                ([url, "--event", "*", "--filter", '{"/type":[]}'], "wants one of none at /type"),
                ([url + "#here", "--event", "*"], "has a fragment, which no request carries"),
                ([url, "--event", "*", "--filter", '{"type":1}'], "no JSON pointer"),
                ([url, "--event", "*", "--tenant", "x"], "no tenant-key"),
                (["ftp://h.example/", "--event", "*"], "neither http"),
                (["http://u@h.example/", "--event", "*"], "user"),
                (["http://169.254.169.254/latest", "--event", "*"], "metadata"),
                (["http://[::ffff:10.0.0.1]/", "--event", "*"], "a private address")):
            with self.subTest(words=words):
                self.refused(65, sentence, "endpoint", "add", *words)
        self.refused(64, "3660d at most", "endpoint", "rotate", "ep_x", "--overlap", "9999999d")
        self.refused(64, "neither v1 nor v1a", "endpoint", "add", url, "--signing", "v2")
        self.refused(64, "wants one of add, list", "endpoint")
        self.conf("[store]\napp = shop\n")
        self.refused(78, "nothing here delivers to endpoints", "endpoint", "add", url, "--event", "*")

    def test_a_removed_endpoint_gets_nothing_and_its_log_stays(self):
        endpoint, _ = self.add()
        self.fire("shop.Paid")
        self.relay()
        self.fire("shop.Paid")
        self.owed("endpoint", "remove", endpoint, code=0)
        self.relay()
        self.assertEqual(1, len(self.sink.requests))
        newest, oldest = self.deliveries()
        self.assertIn("not there any more", self.attempts(newest["id"])[0]["excerpt"])
        self.assertEqual(200, self.attempts(oldest["id"])[0]["code"])
        self.refused(65, "there is no endpoint", "endpoint", "show", endpoint)

    def test_a_rate_spreads_requests_without_spending_attempts(self):
        self.add("/200/a", "--rate", "2")
        for _ in range(5):
            self.fire("shop.Paid")
        self.relay("--limit", "5")
        self.assertLessEqual(len(self.sink.requests), 3)
        waiting = [d for d in self.deliveries() if d["status"] == "pending"]
        self.assertGreaterEqual(len(waiting), 2)
        self.assertEqual({0}, {d["attempts"] for d in waiting})

    def test_an_event_that_never_comes_is_refused_and_one_that_nobody_declared_is_warned_of(self):
        url = self.sink.url()
        self.conf(CONF.replace("event = *", "event = shop.Paid"))
        self.owed("endpoint", "add", url, "--event", "shop.Paid", "--event", "shop.*", "--event", "*", code=0)
        for name in ("shop.Piad", "other.*"):
            self.refused(65, f"the event {name} never comes: owed.webhooks is declared for shop.Paid alone",
                         "endpoint", "add", url, "--event", name)
        self.conf(CONF + '[receiver "shop.a"]\nevent = shop.Paid\ndiscard = yes\n')
        done = self.owed("endpoint", "add", url, "--event", "shop.Piad", "--event", "shop.Paid", code=0)
        self.assertEqual("owed: nobody declared the event shop.Piad; the nearest known name is shop.Paid\n",
                         done.stderr.replace("warning: ", ""))

    def test_a_public_key_is_named_so_and_may_be_shown_again(self):
        done = self.owed("endpoint", "add", self.sink.url(), "--event", "*", "--signing", "v1a", code=0)
        endpoint, key = (line.split(": ", 1)[1] for line in done.stdout.splitlines())
        self.assertEqual(f"id: {endpoint}\npublic key: {key}\n", done.stdout)
        self.assertEqual(key, self.shown(endpoint)["public_key"])
        rotated = self.owed("endpoint", "rotate", endpoint, code=0).stdout
        self.assertIn("\npublic key: whpk_", rotated)
        self.assertIn(rotated.split()[-1], self.owed("endpoint", "show", endpoint, code=0).stdout)
        other, _ = self.add()
        self.assertIsNone(self.shown(other)["public_key"])

    def test_the_list_says_until_when_an_endpoint_is_paused_and_why(self):
        endpoint, _ = self.add()
        self.owed("endpoint", "pause", endpoint, "--reason", "they asked", code=0)
        self.owed("endpoint", "pause", endpoint, "--until", "2099-01-01T00:00:00Z", code=0)
        head, line = self.owed("endpoint", "list", code=0).stdout.splitlines()
        self.assertRegex(head, "PAUSED +UNTIL +WHY")
        self.assertRegex(line, "2099-01-01T00:00:00.000000Z +they asked")

    @unittest.skipUnless(NODE, "no node")
    def test_a_pair_of_keys_signs_what_the_public_key_verifies(self):
        _, public = self.add("/200/a", "--signing", "v1a")
        self.assertTrue(public.startswith("whpk_"))
        self.fire("shop.Paid")
        self.relay()
        request, = self.sink.requests
        head = request["headers"]
        text = f"{head['webhook-id']}.{head['webhook-timestamp']}.".encode() + request["body"]
        script = """
const crypto = require('crypto');
const [key, signature, text] = process.argv.slice(1);
const der = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), Buffer.from(key, 'base64')]);
const public_key = crypto.createPublicKey({key: der, format: 'der', type: 'spki'});
const good = crypto.verify(null, Buffer.from(text, 'base64'), public_key, Buffer.from(signature, 'base64'));
process.exit(good ? 0 : 1);
"""
        entry = head["webhook-signature"]
        self.assertTrue(entry.startswith("v1a,"))
        done = subprocess.run([NODE, "-e", script, public.removeprefix("whpk_"), entry[4:],
                               base64.b64encode(text).decode()], timeout=30)
        self.assertEqual(0, done.returncode)

    @unittest.skipUnless(NODE and (MODULES / "standardwebhooks").is_dir(), "no node, or not the reference library")
    def test_the_reference_library_accepts_our_signatures(self):
        endpoint, old = self.add()
        new = json.loads(self.owed("endpoint", "rotate", endpoint, "--json", code=0).stdout)["secret"]
        self.fire("shop.Paid", '{"a": "\\u00e9"}')
        self.relay()
        request, = self.sink.requests
        script = """
const {Webhook} = require('standardwebhooks');
const {secrets, headers, body, wrong} = JSON.parse(require('fs').readFileSync(0, 'utf8'));
for (const secret of secrets) new Webhook(secret).verify(Buffer.from(body, 'base64').toString(), headers);
try { new Webhook(wrong).verify(Buffer.from(body, 'base64').toString(), headers); process.exit(2); } catch (e) {}
"""
        given = {"secrets": [old, new], "headers": request["headers"],
                 "body": base64.b64encode(request["body"]).decode(),
                 "wrong": "whsec_" + base64.b64encode(bytes(24)).decode()}
        done = subprocess.run([NODE, "-e", script], input=json.dumps(given), text=True, capture_output=True,
                              env={**os.environ, "NODE_PATH": str(MODULES)}, timeout=30)
        self.assertEqual(0, done.returncode, done.stderr)

    @unittest.skipUnless(NODE and (MODULES / "standardwebhooks").is_dir(), "no node, or not the reference library")
    def test_what_the_reference_library_signs_we_accept(self):
        old, new, other = ("whsec_" + base64.b64encode(bytes([n]) * 24).decode() for n in (1, 2, 3))
        body = '{"a": "\u00e9\U0001f600", "big": "' + "x" * 100000 + '"}'
        script = """
const {Webhook} = require('standardwebhooks');
const {secrets, body, id, ago} = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const at = new Date(Date.now() - 1000 * ago);
console.log(Math.floor(at.getTime() / 1000));
console.log(secrets.map(secret => new Webhook(secret).sign(id, at, body)).join(' '));
"""

        def signed(secrets, ago=0):
            given = json.dumps({"secrets": secrets, "body": body, "id": "msg_1", "ago": ago})
            done = subprocess.run([NODE, "-e", script], input=given, text=True, capture_output=True, check=True,
                                  env={**os.environ, "NODE_PATH": str(MODULES)}, timeout=30)
            return done.stdout.split("\n")[:2]

        def accepted(words, secrets, what=body):
            done = subprocess.run([os.environ["OWED_VERIFY_WEBHOOK"], "msg_1", *words, *secrets], input=what.encode(), timeout=30)
            return done.returncode == 0

        one, both, late = signed([old]), signed([new, old]), signed([old], ago=400)
        self.assertTrue(accepted(one, [old]))
        self.assertTrue(accepted(one, [new, old]))
        for secrets in ([old], [new], [other, new]):
            self.assertTrue(accepted(both, secrets), secrets)
        self.assertFalse(accepted(both, [other]))
        self.assertFalse(accepted(one, [old], body + " "))
        self.assertFalse(accepted(late, [old]))


if __name__ == "__main__":
    harness.run()
