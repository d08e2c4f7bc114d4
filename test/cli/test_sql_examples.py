#!/usr/bin/python3
"""The examples in SQL, Python and JavaScript fire into PostgreSQL, and the roles of doc/SQL.md do."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

from harness import TOP, StoreCase, run

PYTHON = "/usr/bin/python3"
EXAMPLES = TOP / "examples" / "sql"


class Examples(StoreCase):
    def setUp(self):
        super().setUp()
        self.receivers("shop.billing")
        self.owed("publish", code=0)

    def call(self, *words):
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=60)
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        return done.stdout

    def psql(self, *words, url=None):
        return self.call("psql", "-XqAt", "-v", "ON_ERROR_STOP=1", url or self.store.url, *words)

    def fires_once_and_is_delivered(self, *command):
        """Run twice, it has fired once, under the same id, beside the order."""
        first, second = self.call(*command), self.call(*command)
        self.assertEqual(first, second)
        self.assertEqual(int(first), self.value("select id from owed_event where dedupe_key = 'order-7'"))
        self.assertEqual(1, self.value("select count(*) from orders"))
        self.owed("relay", "--once", code=0)
        self.assertEqual([("succeeded",)], self.sql("select status from owed_delivery"))

    def test_psql(self):
        self.fires_once_and_is_delivered("psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-v", "order=7",
                                         "-f", EXAMPLES / "order.sql", self.store.url)

    def test_python(self):
        if subprocess.run([PYTHON, "-c", "import psycopg"], capture_output=True).returncode != 0:
            self.skipTest(f"{PYTHON} has no psycopg (Debian: python3-psycopg)")
        self.fires_once_and_is_delivered(PYTHON, EXAMPLES / "order.py", self.store.url, 7)

    def test_node(self):
        build = pathlib.Path(os.environ["OWED_BIN"]).resolve().parents[2]
        os.environ.setdefault("NODE_PATH", str(build / "node" / "node_modules"))
        if shutil.which("node") is None or subprocess.run(
                ["node", "-e", "require('pg')"], capture_output=True).returncode != 0:
            self.skipTest("there is no node with the module pg (tools/node-modules)")
        self.fires_once_and_is_delivered("node", EXAMPLES / "order.cjs", self.store.url, 7)

    def as_role(self, role):
        return re.sub(r"://[^@/]*@", f"://{role}@", self.store.url)

    def forget_role(self, role):
        self.psql("-c", f"drop owned by {role}", "-c", f"drop role {role}")

    def test_a_producer_may_fire_and_do_nothing_else(self):
        self.addCleanup(self.forget_role, "owed_test_shop")
        self.psql("-v", "producer=owed_test_shop", "-f", EXAMPLES / "roles.sql")
        fired = self.psql("-c", "select owed_fire('shop.OrderPlaced', '{}')", url=self.as_role("owed_test_shop"))
        self.assertEqual(int(fired), self.value("select max(id) from owed_event"))
        for refused in ("select 1 from owed_event", "delete from owed_delivery", "select 1 from owed_receiver"):
            done = subprocess.run(["psql", "-XqAt", self.as_role("owed_test_shop"), "-c", refused],
                                  capture_output=True, text=True)
            self.assertIn("permission denied", done.stderr)
        for command in ("status", "events", "check"):
            self.refused(69, "select, insert, update and delete on the tables of owed", command,
                         "--store", self.as_role("owed_test_shop"))

    def test_the_roles_of_the_manual_fire_and_relay(self):
        page = (TOP / "doc" / "SQL.md").read_text()
        blocks = [block for block in re.findall(r"^```sql\n(.*?)^```$", page, re.M | re.S) if "create role" in block]
        self.assertEqual(2, len(blocks))
        for block in blocks:
            role = re.search(r"create role (\w+)", block).group(1)
            self.addCleanup(self.forget_role, role)
            self.psql("-c", block)
        self.psql("-c", "select owed_fire('shop.OrderPlaced', '{}'::json)", url=self.as_role("shop_producer"))
        self.owed("relay", "--once", "--store", self.as_role("shop_relay"), code=0)
        self.assertEqual([("succeeded",)], self.sql("select status from owed_delivery"))


sys.exit(run("postgres"))
