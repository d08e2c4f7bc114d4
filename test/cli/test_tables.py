#!/usr/bin/python3
"""owed init and owed migrate: tables that are made, kept, printed and refused."""
import sqlite3
import subprocess

from harness import Case, StoreCase, run

TABLES = {"owed_event", "owed_delivery", "owed_receiver", "owed_event_type", "owed_attempt",
          "owed_lane", "owed_relay", "owed_last_success", "owed_schema"}


class Init(Case):
    def tables(self, name="shop.db"):
        db = sqlite3.connect(self.folder / name)
        try:
            return {row[0] for row in db.execute("select name from sqlite_master where type = 'table'")}
        finally:
            db.close()

    def test_init_makes_the_file_and_every_table(self):
        done = self.owed("init", "--store", "sqlite:shop.db", code=0)
        self.assertIn("ready", done.stdout)
        self.assertLessEqual(TABLES, self.tables())

    def dump(self):
        db = sqlite3.connect(self.folder / "shop.db")
        try:
            return sorted(line for line in db.iterdump() if 'INTO "owed_schema"' not in line)
        finally:
            db.close()

    def test_a_second_init_changes_nothing(self):
        self.owed("init", "--store", "sqlite:shop.db", code=0)
        before = self.dump()
        done = self.owed("init", "--store", "sqlite:shop.db", code=0)
        self.assertIn("up to date", done.stdout)
        self.assertEqual(before, self.dump())

    def test_init_leaves_the_tables_of_an_application_alone(self):
        db = sqlite3.connect(self.folder / "shop.db")
        with db:
            db.execute("create table orders (id integer primary key)")
            db.execute("insert into orders values (7)")
        db.close()
        self.owed("init", "--store", "sqlite:shop.db", code=0)
        db = sqlite3.connect(self.folder / "shop.db")
        self.assertEqual([(7,)], db.execute("select id from orders").fetchall())
        db.close()

    def test_the_store_comes_from_the_environment_or_the_file_and_a_flag_wins(self):
        self.write("owed.conf", "[store]\nurl = sqlite:file.db\n")
        self.owed("init", code=0)
        self.owed("init", env={"OWED_STORE": "sqlite:environment.db"}, code=0)
        self.owed("init", "--store", "sqlite:flag.db", env={"OWED_STORE": "sqlite:other.db"}, code=0)
        self.assertEqual(["environment.db", "file.db", "flag.db"],
                         sorted(path.name for path in self.folder.glob("*.db")))

    def test_a_configuration_elsewhere_is_named_by_a_flag_or_the_environment(self):
        self.write("a.conf", "[store]\nurl = sqlite:a.db\n")
        self.write("b.conf", "[store]\nurl = sqlite:b.db\n")
        self.owed("init", "-c", "a.conf", env={"OWED_CONFIG": "b.conf"}, code=0)
        self.owed("init", env={"OWED_CONFIG": "b.conf"}, code=0)
        self.assertEqual(["a.db", "b.db"], sorted(path.name for path in self.folder.glob("*.db")))

    def test_a_file_that_cannot_be_made_is_refused_with_the_reason(self):
        self.refused(69, "its folder does not exist", "init", "--store", "sqlite:nowhere/shop.db")
        self.refused(69, "Is a directory", "init", "--store", "sqlite:.")

    def test_a_store_in_a_folder_that_is_not_there_is_unavailable(self):
        self.refused(69, "nowhere/shop.db", "init", "--store", "sqlite:nowhere/shop.db")


class Migrate(StoreCase):
    def test_migrating_a_store_that_is_up_to_date_does_nothing(self):
        self.assertEqual("migrated: 0\n", self.owed("migrate", code=0).stdout)

    def test_migrate_makes_no_file(self):
        self.refused(69, "other.db", "migrate", "--store", "sqlite:other.db")
        self.assertFalse((self.folder / "other.db").exists())

    def test_what_migrate_prints_makes_the_tables_in_any_client(self):
        printed = self.owed("migrate", "--print", "--store", "sqlite:new.db", code=0).stdout
        subprocess.run(["sqlite3", "-bail", "new.db"], input=printed, text=True, check=True,
                       cwd=self.folder)
        new = {"OWED_STORE": "sqlite:new.db"}
        self.assertEqual("migrated: 0\n", self.owed("migrate", env=new, code=0).stdout)
        self.owed("fire", "shop.OrderPlaced", env=new, code=0)

    def test_print_changes_nothing_and_has_no_table_of_a_store_that_is_up_to_date(self):
        before = (self.folder / "shop.db").read_bytes()
        self.assertNotIn("create table", self.owed("migrate", "--print", code=0).stdout)
        self.assertEqual(before, (self.folder / "shop.db").read_bytes())
        self.assertIn("create table", self.owed("migrate", "--print", "--store", "sqlite:other.db", code=0).stdout)
        self.assertFalse((self.folder / "other.db").exists())

    def test_print_needs_no_store(self):
        self.assertIn("create table owed_event", self.owed("migrate", "--print", env={"OWED_STORE": ""}, code=0).stdout)

    def test_a_schema_newer_than_the_program_is_refused_by_every_command(self):
        columns = [row[1] for row in self.sql("pragma table_info(owed_schema)")]
        rows = self.sql(f"select {', '.join(columns)} from owed_schema")
        newest = dict(zip(columns, max(rows, key=lambda row: row[columns.index("version")])))
        newest.update(version=newest["version"] + 1, name="9999_from_the_future")
        self.sql(f"insert into owed_schema ({', '.join(columns)}) values "
                 f"({', '.join('?' for _ in columns)})", *newest.values())
        for words in (["init"], ["migrate"], ["fire", "shop.OrderPlaced"], ["status"], ["events"]):
            self.refused(78, "newer", *words)

    def test_a_file_without_the_tables_is_refused_with_what_to_do(self):
        sqlite3.connect(self.folder / "empty.db").close()
        (self.folder / "empty.db").touch()
        for words in (["status"], ["events"], ["fire", "shop.OrderPlaced"]):
            self.refused(78, "owed init", *words, "--store", "sqlite:empty.db")


run(only="sqlite")
