"""A fresh store for each case, on every store of this run, and a plain connection to it.

OWED_TEST_STORES lists the stores as URLs; "sqlite:" alone where it is not set. SQL is the same on all of
them: || joins, "key" is a name, moment(n) is the time to store, micros(t) a stored time as a number; a
time that is read is a number already. ? stands for a value.
"""
import json
import os
import sqlite3
import subprocess

RAW_SQL = os.environ.get("OWED_RAW_SQL", "")


def urls():
    return os.environ.get("OWED_TEST_STORES", "sqlite:").split()


def scheme_of(url):
    return url.split(":")[0]


def literal(value):
    if value is None:
        return "null"
    if isinstance(value, int):
        return str(int(value))
    return "'" + str(value).replace("'", "''") + "'"


class Sqlite:
    scheme = "sqlite"

    def __init__(self, url, folder):
        self.url = "sqlite:shop.db"
        self.path = folder / "shop.db"

    def sql(self, text, *values):
        db = sqlite3.connect(self.path)
        for name in ("micros", "moment"):
            db.create_function(name, 1, lambda value: value, deterministic=True)
        try:
            with db:
                return db.execute(text, values).fetchall()
        finally:
            db.close()

    def remove(self):
        """It goes with its folder."""


class Server:
    def __init__(self, url, folder):
        self.scheme = scheme_of(url)
        self.beside = url
        self.url = self.call("new", url).strip()

    def call(self, *words, stdin=""):
        done = subprocess.run([RAW_SQL, *words], input=stdin, text=True, capture_output=True)
        if done.returncode != 0:
            raise RuntimeError(f"{stdin}: {done.stderr}")
        return done.stdout

    def sql(self, text, *values):
        parts = text.split("?")
        if len(parts) != len(values) + 1:
            raise ValueError(f"{text}: {len(values)} values")
        for place, value in enumerate(values):
            parts[place] += literal(value)
        rows = self.call("run", self.url, stdin="".join(parts))
        return [tuple(json.loads(row)) for row in rows.splitlines()]

    def remove(self):
        self.call("drop", self.beside, self.url)


def new(url, folder):
    return (Sqlite if scheme_of(url) == "sqlite" else Server)(url, folder)


def is_served(program, url):
    """Whether the program has a driver for this store."""
    done = subprocess.run([program, "status", "--store", f"{scheme_of(url)}:"], capture_output=True, text=True)
    return "need libowed-" not in done.stderr
