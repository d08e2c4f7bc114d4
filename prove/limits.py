"""limits.py - owed beside the bare loop of its store: in turn, each on a database of its own.

A mode is a word of bench/bare.h. Rates are rows a second. Ours is the program with its defaults, from
start to exit; fire alone, which stands in an application, is called from C.
"""
import os
import statistics
import subprocess
import time

from prove import TOP, check

PAYLOAD = (TOP / "bench/payload.json").read_text().strip()
ROUNDS = 3
# Room for all rows and their log: what is measured are the writes that a commit waits for.
SETTINGS = {
    "sqlite": (),
    "postgres": ("shared_buffers=512MB", "max_wal_size=4GB"),
    "mariadb": ("innodb-buffer-pool-size=512M", "innodb-log-file-size=1G"),
}
MODULE = {kind: f"test/modules/effects{end}.so"
          for kind, end in (("sqlite", ""), ("postgres", "-postgres"), ("mariadb", "-mariadb"))}
SETTLED = {
    "sqlite": "analyze; pragma wal_checkpoint(truncate)",
    "postgres": "vacuum analyze owed_event; vacuum analyze owed_delivery; checkpoint",
    "mariadb": "analyze table owed_event, owed_delivery",
}
EFFECT = {"sqlite": "integer, receiver text", "postgres": "bigint, receiver text", "mariadb": "bigint, receiver varchar(255)"}
INSIDE = ("inside", "inside-grouped")  # the same for us: a receiver that says database_only is grouped


def run(words, env=None, stdin=None):
    done = subprocess.run([str(word) for word in words], env=env, input=stdin, capture_output=True, text=True)
    check(done.returncode == 0, f"{words[0]} ended with {done.returncode}: {(done.stdout + done.stderr)[-600:]}")
    return done.stdout


def rate_of(line):
    """The last word of a bare loop's line."""
    return float(line.split()[-1])


class Ours:
    """The program on an empty store, with the receivers that a mode needs."""

    def __init__(self, made, database, mode, receivers):
        self.made, self.database = made, database
        word = "grouped" if mode in INSIDE else "noop"
        effects = (word, f"{word}2")[:receivers]
        self.env = dict(os.environ, OWED_STORE=database.url, EFFECTS=",".join(effects))
        self.declared = ("--app", "prove", "--module", made / MODULE[database.kind])
        self.owed("init")
        self.owed("publish", *self.declared)

    def owed(self, *words, stdin=None):
        return run([self.made / "src/cli/owed", *words], env=self.env, stdin=stdin)

    def fire(self, rows, connections):
        return rate_of(run([self.made / "bench/ours", self.database.url, "fire", rows, connections]))

    def fire_bulk(self, rows):
        line = f'{{"name":"prove.Event","payload":{PAYLOAD}}}\n'
        started = time.monotonic()
        self.owed("fire", "--lines", stdin=line * rows)
        return rows / (time.monotonic() - started)

    def drain(self, rows, receivers):
        self.fire_bulk(rows // receivers)
        self.database.sql(f"create table effect (delivery {EFFECT[self.database.kind]})")
        self.database.sql(SETTLED[self.database.kind])
        started = time.monotonic()
        self.owed("relay", "--once", "--all-lanes", *self.declared)
        rate = rows / (time.monotonic() - started)
        done = self.database.number("select count(*) from owed_delivery where status = 'succeeded' and attempts = 1")
        check(done == rows, f"{self.database.kind}: {done} of {rows} deliveries succeeded at once")
        return rate


def ours(made, database, mode, rows, connections=1, receivers=1):
    owed = Ours(made, database, mode, receivers)
    if mode == "fire":
        return owed.fire(rows, connections)
    if mode == "fire-bulk":
        return owed.fire_bulk(rows)
    rate = owed.drain(rows, receivers)
    if mode in INSIDE:
        effects = database.number("select count(distinct delivery) from effect")
        check(effects == rows == database.number("select count(*) from effect"), f"{effects} effects of {rows} deliveries")
    return rate


def bare(made, database, mode, rows, connections=1, receivers=1):
    run([made / "src/cli/owed", "init"], env=dict(os.environ, OWED_STORE=database.url))
    return rate_of(run([made / f"bench/bare_{database.kind}", database.url, mode, rows, connections, receivers]))


class Ratio:
    """What some rounds of a mode came to: the middle of the rates, and of the ratios of each round."""

    def __init__(self, kind, mode, rates, connections):
        self.kind = kind
        self.mode = mode if connections == 1 else f"{mode}-{connections}"
        self.ours, self.bare = (statistics.median(each) for each in zip(*rates))
        self.ratio = statistics.median(mine / limit for mine, limit in rates)

    def __str__(self):
        return f"{self.kind} {self.mode} {self.ratio:.2f} ({self.ours:,.0f} of {self.bare:,.0f}/s)"


def measure(made, server, mode, rows, connections=1, receivers=1, rounds=ROUNDS):
    rates = []
    for _ in range(rounds):
        pair = []
        for side in (ours, bare):
            with server.fresh_database() as database:
                pair.append(side(made, database, mode, rows, connections, receivers))
        rates.append(pair)
    return Ratio(server.kind, mode, rates, connections)
