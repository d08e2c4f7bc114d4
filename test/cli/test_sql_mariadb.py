#!/usr/bin/python3
"""The example in SQL fires into MariaDB, its accounts are as doc/MARIADB.md has them, and what migrate
prints its client can run."""
import re
import shutil
import subprocess
import sys
import urllib.parse

from harness import TOP, StoreCase, run

CLIENT = shutil.which("mariadb")


class Client(StoreCase):
    def setUp(self):
        super().setUp()
        if CLIENT is None:
            self.skipTest("there is no mariadb (Debian: mariadb-client)")
        self.receivers("shop.billing")
        self.owed("publish", code=0)
        self.database = urllib.parse.urlsplit(self.store.url).path[1:]

    def mariadb(self, text, database=None, user=None, refused=None, first="do 0"):
        """What the client prints for these statements; with refused, that they fail and say this."""
        url = urllib.parse.urlsplit(self.store.url)
        done = subprocess.run(
            [CLIENT, "--no-defaults", "-N", "-B", f"-h{url.hostname}", f"-P{url.port}",
             f"-u{user or url.username}", f"--init-command={first}", database or self.database],
            input=text, capture_output=True, text=True, timeout=60)
        if refused is None:
            self.assertEqual(0, done.returncode, done.stderr)
        else:
            self.assertIn(refused, done.stderr)
        return done.stdout

    def test_the_example_fires_once_and_is_delivered(self):
        text = (TOP / "examples" / "sql" / "order_mariadb.sql").read_text()
        first, second = (self.mariadb(text, first="set @order = 7") for _ in range(2))
        self.assertEqual(first, second)
        self.assertEqual(int(first), self.value("select id from owed_event where dedupe_key = 'order-7'"))
        self.assertEqual("1\n", self.mariadb("select count(*) from orders"))
        self.owed("relay", "--once", code=0)
        self.assertEqual([("succeeded",)], self.sql("select status from owed_delivery"))

    def test_what_migrate_prints_makes_the_tables(self):
        empty = f"{self.database}_printed"
        self.mariadb(f"create database {empty}")
        self.addCleanup(self.mariadb, f"drop database {empty}")
        url = self.store.url.replace(f"/{self.database}", f"/{empty}")
        self.mariadb(self.owed("migrate", "--print", "--store", url, code=0).stdout, empty)
        self.owed("fire", "shop.OrderPlaced", "{}", "--store", url, code=0)
        self.assertEqual("1\n", self.mariadb("select count(*) from owed_event", empty))

    def test_what_migrate_prints_for_mysql_is_cut_as_a_client_is_told(self):
        text = self.owed("migrate", "--print", "--store", "mysql://owed@127.0.0.1:1/none", code=0).stdout
        for word in ("nopad", "or replace", "execute immediate", "in_transaction", "persistent", "index if not exists"):
            self.assertNotIn(word, text)
        empty = f"{self.database}_mysql"
        self.mariadb(f"create database {empty}")
        self.addCleanup(self.mariadb, f"drop database {empty}")
        # The one word that this server has not.
        self.mariadb(text.replace("utf8mb4_0900_bin", "utf8mb4_nopad_bin"), empty)
        options = """'{"dedupe_key": "A", "version": 2, "scope": {"shop": 1}, "causation_id": null}'"""
        fire = f"call owed_fire_with('shop.OrderPlaced', '{{}}', {options});"
        self.mariadb(f"begin; call owed_fire('shop.OrderPlaced', '{{}}'); rollback; {fire} {fire}", empty)
        self.assertEqual("1\t2\t{\"shop\": 1}\n",
                         self.mariadb("select count(*), max(version), max(scope) from owed_event", empty))

    def test_the_accounts_of_the_manual(self):
        page = (TOP / "doc" / "MARIADB.md").read_text()
        grants = re.search(r"^```sql\n(grant create.*?)^```$", page, re.M | re.S).group(1)
        grants = grants.replace("shop.", f"{self.database}.")
        for user in ("shop_owner", "shop_relay", "shop_app"):
            self.mariadb(f"create user {user}")
            self.addCleanup(self.mariadb, f"drop user {user}")
        self.addCleanup(self.mariadb, "drop role if exists shop_fires")
        self.mariadb(grants)

        def of(user):
            return re.sub(r"://[^@/]*@", f"://{user}@", self.store.url)

        self.owed("migrate", "--store", of("shop_owner"), code=0)
        self.mariadb("call owed_fire('shop.OrderPlaced', '{}')", user="shop_app")
        for text in ("select 1 from owed_event", "delete from owed_delivery", "drop procedure owed_fire"):
            self.mariadb(text, user="shop_app", refused="denied")
        self.owed("relay", "--once", "--store", of("shop_relay"), code=0)
        self.assertEqual([("succeeded",)], self.sql("select status from owed_delivery"))


sys.exit(run("mariadb"))
