#!/usr/bin/python3
"""owed.conf, the environment and modules: every refusal has its place and its exit code; owed check, publish."""
import json

from harness import StoreCase, run


class Configuration(StoreCase):
    def wrong(self, text, *sentences, command=("check",)):
        self.conf(text)
        done = self.refused(78, "owed.conf", *command)
        for sentence in sentences:
            self.assertIn(sentence, done.stderr)

    def receiver(self, line):
        return f'[receiver "shop.billing"]\nevent = shop.OrderPlaced\n{line}\n'

    def test_an_unknown_section(self):
        self.wrong('\n[reciever "a"]\n', "owed.conf:2", "receiver")

    def test_an_unknown_key_of_a_section(self):
        self.wrong("[relay]\nbatch-sise = 5\n", "owed.conf:2", "batch-size")

    def test_a_key_of_another_section(self):
        self.wrong("[relay]\nurl = sqlite:x.db\n", "owed.conf:2", "url")

    def test_an_unknown_key_of_a_receiver(self):
        self.wrong(self.receiver("webhok = http://localhost/"), "owed.conf:3", "webhook")

    def test_a_notification_says_whom_and_by_what(self):
        channel = '[channel "email"]\nurl = smtp://127.0.0.1\nfrom = shop@shop.example\n'
        self.wrong(self.receiver("notify = receipt"), "owed.conf:1", "shop.billing", "recipient")
        self.wrong(self.receiver("recipient = /customer"), "owed.conf:1", "notify")
        self.wrong(self.receiver("notify = receipt\nrecipient = customer"), "owed.conf:1", "/customer")
        self.wrong(self.receiver("notify = receipt\nrecipient = /c\ndiscard = yes"), "owed.conf:1", "several")
        self.wrong(self.receiver("notify = receipt\nrecipient = /c\nsite = task"), "owed.conf:1", "site relay")
        self.wrong(self.receiver("notify = receipt\nrecipient = /c\nquiet = never"), "owed.conf:5", "wait or refuse")
        self.wrong(self.receiver("notify = receipt\nrecipient = /c"), "owed.conf:1", "channel")
        self.wrong(channel + self.receiver("notify = receipt\nrecipient = /c\nchannel = emial"), "owed.conf:4", "email")

    def test_a_channel_says_what_it_is(self):
        self.wrong('\n[channel "email"]\nurll = smtp://h\n', "owed.conf:3", "url")
        self.wrong('\n[channel "carrier"]\n', "owed.conf:2", "carrier", "type")
        self.wrong('\n[channel "x"]\ntype = smpt\n', "owed.conf:2", "smtp")
        self.wrong('[channel "email"]\n[channel "email"]\n', "owed.conf:2", "owed.conf:1")

    def test_a_bad_duration(self):
        self.wrong("[relay]\nlease = 5 minutes\n", "owed.conf:2", "lease")

    def test_a_bad_number(self):
        self.wrong("[relay]\nbatch-size = 0\n", "owed.conf:2", "batch-size")

    def test_a_line_that_is_no_line(self):
        self.wrong("[store]\nnonsense\n", "owed.conf:2")

    def test_a_receiver_without_an_event(self):
        self.wrong('[receiver "shop.billing"]\ndiscard = yes\n', "owed.conf:1", "shop.billing", "event")

    def test_a_receiver_that_does_nothing(self):
        self.wrong(self.receiver(""), "owed.conf:1", "shop.billing")

    def test_a_receiver_with_two_things_to_do(self):
        self.wrong(self.receiver("discard = yes\nexec = /bin/true"), "owed.conf:1", "shop.billing")

    def test_a_receiver_declared_twice(self):
        self.wrong(self.receiver("discard = yes") + self.receiver("discard = yes"), "line 2")

    def test_a_webhook_that_is_no_url(self):
        self.wrong(self.receiver("webhook = ftp://example.org/"), "owed.conf:1", "http")

    def test_a_program_without_its_path(self):
        self.wrong(self.receiver("exec = print-label"), "owed.conf:1", "absolute")

    def test_a_lane_that_is_none(self):
        self.wrong(self.receiver("discard = yes\nlane = Mail Out"), "owed.conf:1", "lane")

    def test_an_app_that_is_none(self):
        self.conf("[store]\napp = My Shop\n")
        self.refused(78, "My Shop", "check")

    def test_a_wrong_setting_is_told_by_a_command_that_does_not_use_it(self):
        self.wrong("[relay]\nlease = never\n", "owed.conf:2", command=("status",))

    def test_a_file_that_is_named_and_not_there(self):
        self.refused(78, "other.conf", "status", "-c", "other.conf")
        self.refused(78, "other.conf", "status", env={"OWED_CONFIG": "other.conf"})

    def test_a_wrong_variable(self):
        self.refused(78, "OWED_BATCH_SIZE", "status", env={"OWED_BATCH_SIZE": "none"})

    def test_a_wrong_log_level(self):
        self.refused(64, "log-level", "status", "--log-level", "loud")

    def test_no_store_at_all(self):
        self.refused(78, "no store is named", "status", env={"OWED_STORE": ""})

    def test_a_store_of_an_unknown_kind(self):
        self.refused(78, "sqlite", "status", "--store", "oracle:shop")

    def test_a_module_that_is_not_there(self):
        self.refused(78, "none.so", "publish", "--module", "./none.so")

    def test_a_file_that_is_no_module(self):
        self.write("text.so", "not a shared object")
        self.refused(78, "text.so", "check", "--module", "text.so")


class Check(StoreCase):
    def test_ok(self):
        self.receivers("shop.billing")
        self.assertEqual("ok\n", self.owed("check", code=0).stdout)

    def test_where_nothing_is_declared_it_says_so(self):
        self.assertEqual("ok, but no receiver is declared\n", self.owed("check", code=0).stdout)

    def test_it_needs_no_store(self):
        self.receivers("shop.billing")
        self.assertEqual("ok\n", self.owed("check", env={"OWED_STORE": ""}, code=0).stdout)

    def test_a_program_that_is_not_there_is_a_finding(self):
        self.conf('[receiver "shop.label"]\nevent = shop.OrderPlaced\nexec = /nowhere/print-label\n')
        done = self.owed("check", code=1)
        self.assertRegex(done.stdout, r"^(error|warning): .*/nowhere/print-label.*\n$")

    def test_what_is_owed_to_a_receiver_that_nobody_declares_is_a_finding(self):
        self.receivers("shop.billing")
        self.fire("shop.OrderPlaced")
        self.sql("update owed_delivery set receiver_key = 'shop.gone'")
        done = self.owed("check", code=1)
        self.assertRegex(done.stdout, r"^warning: .*shop\.gone.*\n$")
        [found] = map(json.loads, self.owed("check", "--json", code=1).stdout.splitlines())
        self.assertEqual("warning", found["level"])
        self.assertEqual(done.stdout, f"warning: {found['text']}\n")

    def test_what_is_owed_of_an_event_that_its_receiver_no_longer_wants_is_a_finding(self):
        self.receivers("shop.billing")
        self.fire("shop.OrderPlaced")
        self.assertEqual("ok\n", self.owed("check", code=0).stdout)
        self.receivers("shop.billing", event="shop.Refunded")
        done = self.owed("check", code=1)
        self.assertRegex(done.stdout, r'^error: receiver "shop\.billing".*"shop\.Refunded".*"shop\.OrderPlaced" \(1\).*\n$')

    def test_in_json_nothing_found_is_nothing(self):
        self.receivers("shop.billing")
        self.assertEqual("", self.owed("check", "--json", code=0).stdout)


class Publish(StoreCase):
    def test_in_json_it_is_one_document(self):
        self.receivers("shop.billing", "shop.label")
        self.assertEqual({"event_types": 1, "receivers": 2, "changed": 3}, self.json("publish"))
        self.assertEqual({"retired": 3}, self.json("publish", "--retire", "shop"))

    def removed(self):
        return {key: int(at > 0) for key, at in self.sql('select "key", removed_at from owed_receiver')}

    def test_it_says_what_it_wrote_and_writes_nothing_twice(self):
        self.receivers("shop.billing", "shop.label")
        self.assertEqual("published: 1 event type, 2 receivers, 3 changed\n", self.owed("publish", code=0).stdout)
        self.assertEqual("published: 1 event type, 2 receivers, 0 changed\n", self.owed("publish", code=0).stdout)

    def test_a_release_removes_what_it_no_longer_declares_and_no_release_removes_nothing(self):
        self.receivers("shop.billing", "shop.label")
        self.owed("publish", "--release", "1", code=0)
        self.receivers("shop.billing")
        self.owed("publish", code=0)
        self.assertEqual({"shop.billing": 0, "shop.label": 0}, self.removed())
        self.owed("publish", "--release", "2", code=0)
        self.assertEqual({"shop.billing": 0, "shop.label": 1}, self.removed())

    def test_an_app_is_retired(self):
        self.receivers("shop.billing")
        self.owed("publish", code=0)
        done = self.owed("publish", "--retire", "shop", code=0)
        self.assertRegex(done.stdout, r"^retired: [1-9]")
        self.assertEqual({"shop.billing": 1}, self.removed())
        done = self.owed("publish", "--retire", "shpo", code=0)
        self.assertIn("warning", done.stderr)


run()
