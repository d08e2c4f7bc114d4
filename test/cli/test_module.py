#!/usr/bin/python3
"""--module: receivers in C, known to every command that declares."""
import os

from harness import StoreCase, run

MODULES = os.environ["OWED_MODULES"]
MODULE = f"{MODULES}/module.so"


class Module(StoreCase):
    def setUp(self):
        super().setUp()
        self.sql("create table reserved (event_id integer)")

    def test_publish_writes_what_it_declares(self):
        self.owed("publish", "--module", MODULE, code=0)
        self.assertEqual([("shop.credit", "inline"), ("shop.note", "on_commit"), ("shop.reserve", "durable")],
                         self.sql('select "key", mode from owed_receiver order by "key"'))
        self.assertEqual(2, self.value("select version from owed_event_type"))

    def test_fire_takes_the_declared_version_and_runs_what_runs_here(self):
        event = self.fire("shop.OrderPlaced", '{"total_cents": 7}', "--module", MODULE)
        self.assertEqual(2, self.value("select version from owed_event where id = ?", event))
        self.assertEqual(f"{event}\n", (self.folder / "committed").read_text())
        self.assertEqual([("shop.reserve",)], self.sql("select receiver_key from owed_delivery"))

    def test_a_veto_refuses_the_event(self):
        self.refused(65, "9000 is over the credit limit", "fire", "shop.OrderPlaced", '{"total_cents": 9000}',
                     "--module", MODULE)
        self.assertEqual(0, self.value("select count(*) from owed_event"))
        self.assertFalse((self.folder / "committed").exists())

    def test_a_module_of_the_configuration_is_loaded_by_fire_too(self):
        self.conf(f"[store]\nmodule = {MODULE}\n")
        self.refused(65, "9000 is over the credit limit", "fire", "shop.OrderPlaced", '{"total_cents": 9000}')

    def test_a_veto_of_a_line_takes_its_transaction(self):
        lines = "".join('{"name":"shop.OrderPlaced","payload":{"total_cents":%d}}\n' % total
                        for total in (1, 2, 3, 9000, 5))
        done = self.owed("fire", "--lines", "--batch", "2", "--module", MODULE, stdin=lines, code=65)
        self.assertIn("line 4: ", done.stderr)
        self.assertIn("over the credit limit", done.stderr)
        self.assertIn("2 events of the lines before were committed (through line 2), nothing of lines 3 to 4",
                      done.stderr)
        self.assertEqual(2, self.value("select count(*) from owed_event"))

    def test_a_relay_delivers_to_it_inside_the_transaction(self):
        self.only_on_sqlite("the module writes with sqlite3")
        events = [self.fire("shop.OrderPlaced", '{"total_cents": 7}', "--module", MODULE) for _ in range(3)]
        done = self.owed("relay", "--once", "--module", MODULE, code=0)
        self.assertEqual("succeeded: 3\n", done.stdout)
        self.assertEqual([(event,) for event in events], self.sql("select event_id from reserved order by 1"))

    def test_a_relay_without_it_leaves_its_deliveries_to_one_that_has_it(self):
        self.fire("shop.OrderPlaced", '{"total_cents": 7}', "--module", MODULE)
        self.assertEqual("Nothing owed.\n", self.owed("relay", "--once", code=0).stdout)
        self.assertEqual("pending", self.value("select status from owed_delivery"))

    def test_a_module_that_is_linked_with_the_library_uses_the_programs_all_the_same(self):
        self.only_on_sqlite("the module writes with sqlite3")
        # A sanitizer takes the library's variables for twins of the program's.
        self.env["ASAN_OPTIONS"] = "detect_odr_violation=0"
        linked = f"{MODULES}/module_linked.so"
        self.fire("shop.OrderPlaced", '{"total_cents": 7}', "--module", linked)
        self.assertEqual("succeeded: 1\n", self.owed("relay", "--once", "--module", linked, code=0).stdout)
        self.assertEqual(1, self.value("select count(*) from reserved"))

    def test_check_finds_what_it_cannot_read_before_a_relay_does(self):
        self.owed("publish", "--module", MODULE, code=0)
        good = self.fire("shop.OrderPlaced", '{"total_cents": 7}')
        self.assertEqual("ok\n", self.owed("check", "--module", MODULE, code=0).stdout)
        bad = [self.fire("shop.OrderPlaced", '{"total": 7}') for _ in range(4)]
        deliveries = [self.value("select id from owed_delivery where event_id = ?", event) for event in bad]
        done = self.owed("check", "--module", MODULE, code=1)
        self.assertRegex(done.stdout, r"^error: 4 deliveries that are owed cannot be read \(%d, %d, %d, \.\.\.\): "
                         r"shop\.OrderPlaced version 1: field total_cents: expected a whole number .*\n$"
                         % tuple(deliveries[:3]))
        self.assertNotIn("error", self.owed("check", code=0).stdout)  # without the module nobody here reads them
        self.assertEqual("pending", self.value("select status from owed_delivery where event_id = ?", good))

    def test_a_bare_name_is_a_file_of_this_folder(self):
        store = self.store.url.replace("sqlite:", f"sqlite:{self.folder}/")
        self.folder = MODULES
        self.owed("publish", "--module", "module.so", "--store", store, code=0)

    def test_a_module_without_its_function(self):
        self.refused(78, "owed_module_init", "publish", "--module", f"{MODULES}/module_is_none.so")

    def test_one_that_cannot_be_loaded_is_named(self):
        self.conf("this is no module", "broken.so")
        for name in ("missing.so", "broken.so"):
            self.refused(78, f"module {name} cannot be loaded", "publish", "--module", name)

    def test_what_a_module_may_not_declare_is_told_with_its_name(self):
        done = self.refused(78, "shop.credit", "check", "--module", f"{MODULES}/module_refuses.so")
        self.assertIn("module_refuses.so", done.stderr)

    def test_a_module_that_crashes_when_it_is_loaded_ends_a_relay_with_the_signal(self):
        self.refused(78, "SIGABRT", "relay", "--once", "--module", f"{MODULES}/module_crashes.so")


run()
