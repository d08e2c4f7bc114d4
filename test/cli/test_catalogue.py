#!/usr/bin/python3
"""owed catalogue: who declares what and who wants what, the same bytes for the same declarations."""
import json
import os
import pathlib

from harness import StoreCase, run

MODULES = pathlib.Path(os.environ["OWED_MODULES"])

CONF = """[store]
app = shop
[event "shop.OrderPlaced"]
retention = 30d
[event "shop.Refunded"]
delete-when = succeeded
[receiver "shop.receipt"]
event = shop.OrderPlaced
webhook = https://billing.example/hooks?key=secret
secret-file = billing.secret
max-attempts = 10
backoff-base = 2m
backoff-cap = 30m
give-up-after = 2d
lane = mail
[receiver "shop.audit"]
event = *
file = /tmp/audit.log
[receiver "shop.later"]
event = shop.Refunded
discard = yes
due = 36h
max-attempts = 1
"""

MARKDOWN = """# Catalogue

## Any event

| Receiver | App | Mode | Site | Lane | Attempts | Waits between them | More |
| --- | --- | --- | --- | --- | --- | --- | --- |
| shop.audit | shop | durable | relay | shop/default | 5 | backoff-base (2s), doubling up to backoff-cap (1h): \
at most 30s in all, 15s on average | appends to /tmp/audit.log |

## shop.OrderPlaced

Declared by shop, version 1. Kept 30d once all that was owed for it has ended.

| Receiver | App | Mode | Site | Lane | Attempts | Waits between them | More |
| --- | --- | --- | --- | --- | --- | --- | --- |
| shop.receipt | shop | durable | relay | shop/mail | 10 | 2m, doubling up to 30m: at most 3h in all, 1h30m on average | \
POST to https://billing.example/hooks, signed; deferred for 2d at most |

## shop.Refunded

Declared by shop, version 1. Deleted as soon as all that was owed for it has succeeded.

| Receiver | App | Mode | Site | Lane | Attempts | Waits between them | More |
| --- | --- | --- | --- | --- | --- | --- | --- |
| shop.later | shop | durable | relay | shop/default | 1 | none | does nothing; due 1d12h after the event |
"""


class Catalogue(StoreCase):
    def catalogue(self, *words):
        return self.owed("catalogue", *words, code=0).stdout

    def published(self, conf=CONF, *words):
        self.conf(conf)
        self.owed("publish", *words, code=0)

    def event(self, name, *words):
        found = json.loads(self.catalogue("--json", *words))
        return next(event for event in found["events"] if event["name"] == name)

    def test_the_declarations_are_one_document_for_people(self):
        self.conf(CONF)
        self.assertEqual(MARKDOWN, self.catalogue("--declared"))
        self.owed("publish", code=0)
        self.assertEqual(MARKDOWN, self.catalogue())
        self.assertEqual(MARKDOWN, self.catalogue("--format", "markdown"))

    def test_json_ends_with_one_line_end_and_is_indented_by_two(self):
        self.published()
        text = self.catalogue("--format", "json")
        self.assertEqual(json.dumps(json.loads(text), indent=2) + "\n", text)
        self.assertEqual(text, self.catalogue("--json"))
        self.assertEqual(text, self.catalogue("--json", "--declared"))

    def test_the_same_declarations_give_the_same_bytes_whatever_their_order_and_release(self):
        self.published()
        first = self.catalogue("--json"), self.catalogue()
        parts = ["[receiver" + part for part in CONF.split("[receiver")[1:]]
        self.published(CONF.split("[receiver")[0] + "".join(reversed(parts)), "--release", "7")
        self.assertEqual(first, (self.catalogue("--json"), self.catalogue()))

    def test_the_curve_has_its_arithmetic(self):
        self.published()
        [receipt] = self.event("shop.OrderPlaced")["receivers"]
        self.assertEqual((10, 120, 1800, 10800, 5400), tuple(receipt[key] for key in (
            "max_attempts", "backoff_base_seconds", "backoff_cap_seconds", "longest_wait_seconds", "mean_wait_seconds")))
        [audit] = json.loads(self.catalogue("--json"))["any_event"]
        self.assertEqual((None, None, 30, 15), tuple(audit[key] for key in (
            "backoff_base_seconds", "backoff_cap_seconds", "longest_wait_seconds", "mean_wait_seconds")))
        self.conf(CONF + "[relay]\nbackoff-base = 500ms\n")
        found = json.loads(self.catalogue("--json"))
        self.assertEqual(0.5, found["settings"]["backoff_base_seconds"])
        self.assertEqual(7.5, found["any_event"][0]["longest_wait_seconds"])
        [later] = self.event("shop.Refunded")["receivers"]
        self.assertIsNone(later["longest_wait_seconds"])

    def test_a_receiver_has_all_that_it_declares_and_no_secret(self):
        self.published()
        [receipt] = self.event("shop.OrderPlaced")["receivers"]
        self.assertEqual(
            {"key": "shop.receipt", "app": "shop", "mode": "durable", "site": "relay", "kind": "outside", "lane": "shop/mail",
             "lease_seconds": None, "timeout_seconds": None, "due_seconds": None, "give_up_after_seconds": 172800,
             "eager": False, "database_only": False, "targets": "none", "pause": "lane",
             "options": {"webhook": "https://billing.example/hooks", "signed": True}},
            {key: value for key, value in receipt.items() if "wait" not in key and "backoff" not in key and "attempts" not in key})
        self.assertEqual({"app": "shop", "version": 1, "retention_seconds": None, "delete_when": "succeeded", "fields": []},
                         self.event("shop.Refunded")["declared"][0])

    def test_every_app_that_published_is_there_and_nothing_that_was_removed(self):
        self.published()
        self.conf('[store]\napp = crm\n[receiver "crm.score"]\nevent = shop.OrderPlaced\ndiscard = yes\n'
                  '[receiver "crm.old"]\nevent = crm.Old\ndiscard = yes\n', "crm.conf")
        self.owed("publish", "-c", "crm.conf", "--release", "1", code=0)
        event = self.event("shop.OrderPlaced")
        self.assertEqual(["crm", "shop"], [declared["app"] for declared in event["declared"]])
        self.assertEqual(["crm.score", "shop.receipt"], [receiver["key"] for receiver in event["receivers"]])
        self.assertIn("crm.Old", self.catalogue())
        self.conf('[store]\napp = crm\n[receiver "crm.score"]\nevent = shop.OrderPlaced\ndiscard = yes\n', "crm.conf")
        self.owed("publish", "-c", "crm.conf", "--release", "2", code=0)
        self.assertNotIn("crm.Old", self.catalogue())
        self.assertNotIn("crm", self.catalogue("--declared"))

    def test_receivers_in_c_of_every_mode_and_fields_are_there(self):
        words = ("--declared", "--module", str(MODULES / "module.so"))
        event = self.event("shop.OrderPlaced", *words)
        self.assertEqual([{"name": "total_cents", "kind": "int64"}], event["declared"][0]["fields"])
        modes = {receiver["key"]: receiver for receiver in event["receivers"]}
        self.assertEqual({"shop.credit": "inline", "shop.note": "on_commit", "shop.reserve": "durable"},
                         {key: receiver["mode"] for key, receiver in modes.items()})
        self.assertEqual({"key", "app", "mode", "options"}, set(modes["shop.note"]))
        text = self.catalogue(*words)
        self.assertIn("| total_cents | int64 | yes |  |\n", text)
        self.assertIn("| shop.note | default | on commit | - | - | - | - |  |\n", text)

    def test_what_somebody_else_wrote_into_the_catalogue_breaks_neither_form(self):
        fields = [{"name": "lines", "kind": "array", "element": "struct", "fields": [
                      {"name": "sku", "kind": "text", "optional": True, "fallback": "a|b\nc"}]},
                  {"name": "state", "kind": "enum", "words": ["new", "paid"]}, {"name": "card", "kind": "text", "secret": True},
                  {"name": "/old/pin", "kind": "pointer", "secret": True}, 7]
        for name, text in (("x.Nested", json.dumps(fields)), ("x.None", "no json | at all")):
            self.sql("insert into owed_event_type (name, app, version, fields, published_at) values (?, 'x', 3, ?, moment(1))",
                     name, text)
        text = self.catalogue()
        self.assertIn("| lines | array of struct | yes |  |\n"
                      "| lines[].sku | text | no | a\\|b c |\n"
                      "| state | enum: new, paid | yes |  |\n"
                      "| card | text (secret) | yes |  |\n"
                      "| /old/pin | pointer (secret) | no |  |\n", text)
        self.assertIn("## x.None\n\nDeclared by x, version 3.\n\nNobody listens to it.\n", text)
        self.assertEqual(fields, self.event("x.Nested")["declared"][0]["fields"])
        self.assertEqual("no json | at all", self.event("x.None")["declared"][0]["fields"])

    def test_an_event_that_only_a_receiver_names_is_declared_by_nobody(self):
        self.published('[store]\napp = shop\n[receiver "shop.a"]\nevent = shop.Lost\ndiscard = yes\n'
                       '[receiver "shop.any"]\nevent = *\ndiscard = yes\n[event "shop.Alone"]\nretention = 1d\n')
        self.sql("delete from owed_event_type where name = 'shop.Lost'")
        self.assertEqual([], self.event("shop.Lost")["declared"])
        self.assertIn("## shop.Lost\n\nNobody declares it.\n", self.catalogue())

    def test_an_empty_store_has_an_empty_catalogue(self):
        self.assertEqual("# Catalogue\n", self.catalogue())
        self.assertEqual({"settings", "any_event", "events"}, set(json.loads(self.catalogue("--json"))))

    def test_another_format_is_refused(self):
        self.refused(64, "neither json nor markdown", "catalogue", "--format", "yaml")

    def test_the_declarations_need_no_store(self):
        self.conf(CONF)
        self.assertEqual(MARKDOWN, self.owed("catalogue", "--declared", env={"OWED_STORE": ""}, code=0).stdout)


run()
