#!/usr/bin/python3
"""Receivers that are long-lived programs, with a real relay: the examples, a crash, and a stop."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time
import unittest

from harness import OWED, TOP, StoreCase, run
from lines import be_patient

EXAMPLES = TOP / "examples/pipe"


class Pipe(StoreCase):
    def shop(self, command, more=""):
        self.conf(f'[store]\napp = shop\n[receiver "shop.label"]\nevent = shop.OrderPlaced\npipe = {command}\n{more}')

    def orders(self, *payloads):
        for payload in payloads:
            self.fire("shop.OrderPlaced", json.dumps(payload))

    def rows(self):
        return self.sql("select status, attempts, last_error from owed_delivery order by id")

    def example(self, name, interpreter=None):
        # As it would be installed: it must run from anywhere.
        path = shutil.copy(EXAMPLES / name, self.folder / name)
        self.shop(f"{interpreter} {path}" if interpreter else path)
        self.orders({"order_id": 7, "total_cents": 1200}, {"order_id": 8, "total_cents": -1},
                    {"order_id": 9, "total_cents": 5, "is_busy": True}, {"order_id": 10, "total_cents": 3})
        said = self.owed("relay", "--once", "--log-level", "info", code=0).stderr
        rows = self.rows()
        self.assertEqual(["succeeded", "dead", "failed", "succeeded"], [row[0] for row in rows], said)
        self.assertIn("total below 0", rows[1][2])
        self.assertIn("the printer is busy", rows[2][2])
        self.assertIn("printing", said)
        self.assertLess(len((EXAMPLES / name).read_text().splitlines()), 40)

    def test_the_example_in_python_delivers(self):
        self.example("handler.py", "/usr/bin/python3")

    def test_the_example_in_shell_delivers(self):
        self.example("handler.sh")

    @unittest.skipIf(shutil.which("node") is None, "there is no node")
    def test_the_example_in_node_delivers(self):
        self.example("handler.cjs", shutil.which("node"))

    def program(self, text):
        path = self.write("program", "#!/bin/sh\n" + text)
        path.chmod(0o755)
        return path

    def test_of_a_program_that_crashes_each_delivery_ends_all_the_same(self):
        self.shop(self.program("read -r hello; echo '{\"hello\":1}'\n"
                               "read -r line; id=${line#*'\"id\":'}; id=${id%%,*}\n"
                               "echo \"{\\\"id\\\":$id,\\\"outcome\\\":\\\"done\\\"}\"\nread -r line && exit 9\n"), "max-attempts = 1")
        self.orders(*({"n": n} for n in range(4)))
        self.owed("relay", "--once", code=0)
        rows = self.rows()
        self.assertEqual(["succeeded", "dead", "succeeded", "dead"], [row[0] for row in rows])
        self.assertIn("ended with exit status 9 with this delivery in hand", rows[1][2])

    def relay(self):
        be_patient(self)
        os.mkfifo(self.folder / "gate")
        relay = subprocess.Popen([OWED, "relay"], cwd=self.folder, env=self.env, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        self.addCleanup(relay.wait)
        self.addCleanup(relay.kill)
        return relay

    def word(self):
        """What the program says next at the gate; both wait for each other there."""
        return (self.folder / "gate").read_text()

    def test_what_no_program_was_given_goes_back_untried_when_the_relay_stops(self):
        self.shop(self.program("read -r hello; : > heard; echo $$ > gate; exec tee heard\n"))
        self.orders({"n": 1}, {"n": 2})
        relay = self.relay()
        pid = int(self.word())
        began = time.monotonic()
        relay.send_signal(signal.SIGTERM)
        self.assertEqual(0, relay.wait(60))
        self.assertLess(time.monotonic() - began, 5)  # no waiting for a hello
        self.assertEqual([0, 0], [row[1] for row in self.rows()])
        self.assertEqual(0, self.value("select losses from owed_delivery where id = 1"))
        self.assertEqual("", (self.folder / "heard").read_text())
        # Its input was closed, and it has ended.
        self.assertFalse(pathlib.Path(f"/proc/{pid}").exists())

    def test_a_program_ends_with_a_relay_that_was_killed(self):
        self.shop(self.program("read -r hello; echo '{\"hello\":1}'; read -r line; echo \"$line\" > gate; cat; echo bye > gate\n"))
        self.orders({"n": 1})
        relay = self.relay()
        self.assertIn('{"n":1}', self.word().replace(" ", ""))
        relay.kill()
        relay.wait(60)
        self.assertEqual("bye\n", self.word())

    def test_check_looks_at_the_program_and_the_words_are_known(self):
        self.shop("/nowhere/handler.py --fast")
        self.assertIn("pipe /nowhere/handler.py: No such file", self.owed("check", code=1).stdout)
        self.shop("handler.py")
        self.refused(78, "does not begin with an absolute path", "check")
        self.shop("/bin/true", "in-flight = 1001")
        self.refused(78, "in-flight", "check")
        self.conf('[receiver "shop.x"]\nevent = a.B\nexec = /bin/true\nin-flight = 2\n')
        self.refused(78, "in-flight is for pipe and publish", "check")
        self.shop("/bin/true", "exec = /bin/true")
        self.refused(78, "several things say what it does", "check")


run("sqlite")
